//! Crawls from seeds within a budget of fetches, in the order of a [`CrawlFrontier`].

use super::contents::{Key, smallest_keys};
use super::graph::WebGraph;
use super::share::first_pages::first_pages;
use super::share::levels::ShareLevels;
use crate::cover::value::UNIT;
use crate::crawl_frontier::{CrawlFrontier, Found, FoundSites};
use crate::crawl_limits::CrawlLimits;
use crate::graph::codec::{Decoder, Encoder};
use crate::graph::number;
use crate::statistics::geometric_mean;
use crate::watch::Interrupted;

/// The pages that a crawl from some seeds fetches, in the order of fetching; in a share, those of this process.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Crawl {
    /// Without those whose fetches failed.
    pages: Vec<u32>,
    /// By page: its round, depth and place, which are ascending.
    keys: Vec<Key>,
    /// The number of fetches of all processes.
    fetched: u64,
}

impl Crawl {
    /// Returns the number of fetches, those of other processes and those that failed included.
    pub(super) const fn fetched(&self) -> u64 {
        self.fetched
    }

    /// The pages of this process, in the order of fetching.
    #[cfg(test)]
    pub(super) fn pages(&self) -> &[u32] {
        &self.pages
    }

    /// Returns the pages of this process that count, each with its value in millionths: of the pages of a content, the
    /// first that the crawl fetches, in any process. All processes call it at the same time.
    pub(super) fn counted(&self, graph: &WebGraph) -> Result<Vec<(u32, i64)>, Interrupted> {
        let mut counted = Vec::with_capacity(self.pages.len());
        let mut shared: Vec<(u32, i64)> = Vec::new();
        let mut keys: Vec<(u32, Key)> = Vec::new();
        for (&page, &key) in self.pages.iter().zip(&self.keys) {
            let contents = graph.contents();
            match contents.and_then(|contents| contents.of_page(page)) {
                None => counted.push((page, graph.values()[page as usize])),
                Some(of) => {
                    shared.push((page, of.value));
                    keys.push((of.shared.content, key));
                }
            }
        }
        if graph.contents().is_some() {
            let smallest = smallest_keys(graph.group(), &keys)?;
            let fetched = shared.into_iter().zip(keys).zip(smallest);
            let first = fetched.filter(|((_, (_, key)), smallest)| key == smallest);
            counted.extend(first.map(|((page, _), _)| page));
        }
        Ok(counted)
    }

    /// The sum of the values of the pages of this process that [count](Self::counted), in millionths.
    pub(super) fn worth(&self, graph: &WebGraph) -> Result<i64, Interrupted> {
        let counted = self.counted(graph)?;
        Ok(counted.iter().map(|(_, value)| value).sum())
    }
}

/// Returns the result of several crawls: the geometric mean of theirs, in millionths, after adding 1. Negative results count as
/// 0. The result of a single crawl is its own.
pub(super) fn result_of_all(results: &[i64]) -> i64 {
    if let [result] = results {
        return *result;
    }
    let results: Vec<f64> = results.iter().map(|&of| of.max(0) as f64).collect();
    #[expect(
        clippy::cast_possible_truncation,
        reason = "between the least and the greatest result"
    )]
    let mean = geometric_mean(&results, UNIT as f64).round() as i64;
    mean
}

/// Simulates crawls, one at a time, with marks that are reused without clearing. Memory: 4 bytes per page and ghost, and that
/// of a [`CrawlFrontier`].
pub(super) struct Crawler<'a> {
    graph: &'a WebGraph,
    frontier: CrawlFrontier,
    sites: FoundSites<'a>,
    met_in: Vec<u32>,
    run: u32,
    /// The searches over several processes.
    levels: Option<ShareLevels>,
    /// Pages met plus links followed, in all crawls, by this process.
    pub(super) visits: u64,
}

impl<'a> Crawler<'a> {
    pub(super) fn new(graph: &'a WebGraph) -> Self {
        Self {
            graph,
            frontier: CrawlFrontier::default(),
            sites: FoundSites::new(graph.sites(), |page| !graph.is_known(number(page))),
            met_in: vec![0; graph.pages() as usize],
            run: 0,
            levels: graph.share().map(ShareLevels::new),
            visits: 0,
        }
    }

    fn begin(&mut self) {
        if let Some(levels) = &mut self.levels {
            levels.begin();
            return;
        }
        self.run = self.run.wrapping_add(1);
        if self.run == 0 {
            self.met_in.fill(0);
            self.run = 1;
        }
    }

    /// Marks a page; returns whether it is met for the first time.
    fn is_new(met_in: &mut [u32], run: u32, page: u32) -> bool {
        std::mem::replace(&mut met_in[page as usize], run) != run
    }

    /// Crawls at most `budget` pages from distinct seeds, given their numbers in the web.
    pub(super) fn crawl(
        &mut self,
        limits: &CrawlLimits,
        seeds: &[u32],
        budget: u64,
    ) -> Result<Crawl, Interrupted> {
        let graph = self.graph;
        self.frontier.begin(limits, budget);
        self.begin();
        for (place, &seed) in (0..).zip(seeds) {
            let Some(page) = graph.local(seed) else {
                continue;
            };
            let is_new = match &mut self.levels {
                Some(levels) => levels.is_new(page),
                None => Self::is_new(&mut self.met_in, self.run, page),
            };
            if is_new {
                let depth = 0;
                let found = Found { depth, place, page };
                self.frontier.add(found, || self.sites.site(page));
            }
        }
        let mut crawl = Crawl::default();
        for number in 0.. {
            if crawl.fetched >= budget {
                break;
            }
            let (mut round, fetched) = self.next_round(budget - crawl.fetched)?;
            if fetched == 0 {
                break;
            }
            self.visits += round.len() as u64;
            crawl.fetched += fetched;
            round.retain(|found| !limits.fails(graph.number(found.page)));
            crawl.pages.extend(round.iter().map(|found| found.page));
            let key = |found: &Found| [number, found.depth, found.place];
            crawl.keys.extend(round.iter().map(key));
            if crawl.fetched < budget {
                self.follow(&round)?;
            }
        }
        Ok(crawl)
    }

    /// Returns the pages of this process in the next round, and the number of pages of all processes.
    fn next_round(&mut self, left: u64) -> Result<(Vec<Found>, u64), Interrupted> {
        let graph = self.graph;
        let site = |page: u32| self.sites.number(page);
        let Some(share) = graph.share() else {
            let round = self.frontier.next_round(left, site);
            let pages = round.len() as u64;
            return Ok((round, pages));
        };
        if !self.frontier.has_rounds() {
            let mut round = self.frontier.next_round(u64::MAX, site);
            let [pages] = graph.group().total([round.len() as u64])?;
            if pages > left {
                let places: Vec<u32> = round.iter().map(|found| found.place).collect();
                round.truncate(first_pages(share, &places, left)?);
            }
            return Ok((round, pages.min(left)));
        }
        // Each process sends at most as many pages as a round can have. The first ones of all processes are the round.
        let mut round = self.frontier.next_round(left, site);
        let mut message = Encoder::default();
        for found in &round {
            message.number(found.depth.into());
            message.number(found.place.into());
        }
        let mut all = Vec::new();
        for message in graph.group().gather(message.0)? {
            let mut message = Decoder(&message);
            while !message.0.is_empty() {
                let pair = message.index().zip(message.index());
                all.push(pair.ok_or_else(|| share.malformed())?);
            }
        }
        let most = usize::try_from(self.frontier.pages_of_round(left)).unwrap_or(usize::MAX);
        if all.len() > most {
            all.sort_unstable();
            all.truncate(most);
            let last = all.last().copied();
            let first = round.partition_point(|found| Some((found.depth, found.place)) <= last);
            let rest = round.split_off(first);
            self.frontier.put_back(&rest, site);
        }
        Ok((round, all.len() as u64))
    }

    /// Adds the pages to which the pages of a round link.
    fn follow(&mut self, round: &[Found]) -> Result<(), Interrupted> {
        let (graph, sites, frontier) = (self.graph, &self.sites, &mut self.frontier);
        let links = graph.successors();
        let followed = round
            .iter()
            .map(|found| links.list(found.page).len() as u64);
        self.visits += followed.sum::<u64>();
        let mut add = |page: u32, depth: u32| {
            let place = graph.number(page);
            let found = Found { depth, place, page };
            frontier.add(found, || sites.site(page));
        };
        let (Some(share), Some(levels)) = (graph.share(), &mut self.levels) else {
            for found in round {
                for &target in links.list(found.page) {
                    if Self::is_new(&mut self.met_in, self.run, target) {
                        add(target, found.depth + 1);
                    }
                }
            }
            return Ok(());
        };
        // Pages of several depths are followed in all processes one depth after another.
        let mut of_depth = round
            .chunk_by(|one, other| one.depth == other.depth)
            .peekable();
        loop {
            let mut message = Encoder::default();
            if let Some(pages) = of_depth.peek() {
                message.number(pages[0].depth.into());
            }
            let mut depths = Vec::new();
            for message in graph.group().gather(message.0)? {
                let mut message = Decoder(&message);
                if !message.0.is_empty() {
                    depths.push(message.index().ok_or_else(|| share.malformed())?);
                }
            }
            let Some(depth) = depths.into_iter().min() else {
                return Ok(());
            };
            let pages = of_depth.next_if(|pages| pages[0].depth == depth);
            let pages: Vec<u32> = pages
                .unwrap_or_default()
                .iter()
                .map(|found| found.page)
                .collect();
            for page in levels.next(share, links, &pages)?.unwrap_or_default() {
                add(page, depth + 1);
            }
        }
    }

    /// Returns the pages of this process that a crawl fetches, and those to which pages link that it fetches in any
    /// process, without duplicates.
    pub(super) fn with_targets(&mut self, crawl: &Crawl) -> Result<Vec<u32>, Interrupted> {
        let graph = self.graph;
        let links = graph.successors();
        let mut pages = crawl.pages.clone();
        if let (Some(share), Some(levels)) = (graph.share(), &mut self.levels) {
            levels.begin();
            pages.retain(|&page| levels.is_new(page));
            pages.extend(levels.next(share, links, &crawl.pages)?.unwrap_or_default());
            return Ok(pages);
        }
        self.begin();
        let (met_in, run) = (&mut self.met_in, self.run);
        pages.retain(|&page| Self::is_new(met_in, run, page));
        let targets = crawl.pages.iter().flat_map(|&page| links.list(page));
        pages.extend(targets.filter(|&&page| Self::is_new(met_in, run, page)));
        Ok(pages)
    }
}
