//! Breadth-first crawls from seeds within a budget of fetches.
//!
//! A crawl fetches the seeds in the order of their list, then depth by depth; if a depth exceeds the
//! budget, its first pages in URL order. That is the order of `evaluate budget`. Limits of the crawl leave out pages
//! in that order: a page of a site that has reached its limit is not fetched.

use super::graph::WebGraph;
use super::share::WebShare;
use super::share::first_pages::first_pages;
use super::share::levels::ShareLevels;
use crate::crawl_limits::{CrawlLimits, SiteCounter};
use crate::watch::Interrupted;

/// The pages that a crawl from some seeds fetches, depth by depth; in a share, those of this process.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Crawl {
    /// By depth, and in URL order within each depth.
    pages: Vec<u32>,
    /// The number of pages of all processes.
    fetched: u64,
}

impl Crawl {
    /// Returns the number of pages, those of other processes included.
    pub(super) const fn fetched(&self) -> u64 {
        self.fetched
    }

    /// The pages of this process, depth by depth and in URL order within each depth.
    pub(super) fn pages(&self) -> &[u32] {
        &self.pages
    }

    /// The sum of the values of the pages of this process, in millionths.
    pub(super) fn worth(&self, graph: &WebGraph) -> i64 {
        let values = self.pages.iter().map(|&page| graph.values()[page as usize]);
        values.sum()
    }

    /// Appends the pages of the next depth, within the budget.
    fn push(&mut self, pages: &[u32], budget: usize) {
        let left = budget.saturating_sub(self.pages.len());
        let mut pages = pages.to_vec();
        if pages.len() > left && left > 0 {
            pages.select_nth_unstable(left - 1);
        }
        pages.truncate(left);
        pages.sort_unstable();
        let fetched = pages.len() as u64;
        self.push_all(pages, fetched);
    }

    /// Appends the next depth: its pages in this process, ascending, and the number of its pages in all processes.
    fn push_all(&mut self, pages: Vec<u32>, fetched: u64) {
        self.pages.extend(pages);
        self.fetched += fetched;
    }
}

/// Simulates crawls, one at a time, with marks that are reused without clearing. Memory: 4 bytes per page and ghost.
pub(super) struct Crawler<'a> {
    graph: &'a WebGraph,
    limits: CrawlLimits,
    sites: SiteCounter,
    met_in: Vec<u32>,
    run: u32,
    level: Vec<u32>,
    next: Vec<u32>,
    /// The searches over several processes.
    levels: Option<ShareLevels>,
    /// Pages met plus links followed, in all crawls, by this process.
    pub(super) visits: u64,
}

impl<'a> Crawler<'a> {
    pub(super) fn new(graph: &'a WebGraph, limits: CrawlLimits) -> Self {
        Self {
            graph,
            limits,
            sites: SiteCounter::default(),
            met_in: vec![0; graph.pages() as usize],
            run: 0,
            level: Vec::new(),
            next: Vec::new(),
            levels: graph.share().map(ShareLevels::new),
            visits: 0,
        }
    }

    fn begin(&mut self) {
        self.run = self.run.wrapping_add(1);
        if self.run == 0 {
            self.met_in.fill(0);
            self.run = 1;
        }
        self.level.clear();
    }

    /// Marks a page; returns whether it is met for the first time.
    fn is_new(met_in: &mut [u32], run: u32, page: u32) -> bool {
        std::mem::replace(&mut met_in[page as usize], run) != run
    }

    /// Crawls at most `budget` pages from distinct seeds, given their numbers in the web.
    pub(super) fn crawl(&mut self, seeds: &[u32], budget: usize) -> Result<Crawl, Interrupted> {
        let (graph, limits) = (self.graph, self.limits);
        let site_count = graph
            .sites()
            .iter()
            .max()
            .map_or(0, |&last| last as usize + 1);
        self.sites.begin(&limits, budget as u64, site_count);
        if let Some(share) = graph.share() {
            return self.crawl_share(share, seeds, budget);
        }
        self.begin();
        let mut crawl = Crawl::default();
        let (run, sites) = (self.run, &mut self.sites);
        let mut admits = |page: u32| sites.admits(|| graph.sites()[page as usize]);
        for &seed in seeds {
            if self.level.len() < budget
                && Self::is_new(&mut self.met_in, run, seed)
                && admits(seed)
            {
                self.level.push(seed);
            }
        }
        for depth in 1.. {
            self.visits += self.level.len() as u64;
            crawl.push(&self.level, budget);
            if self.level.is_empty() || crawl.pages.len() >= budget || !limits.reach(depth) {
                break;
            }
            self.next.clear();
            for &page in &self.level {
                let targets = graph.successors().list(page);
                self.visits += targets.len() as u64;
                for &target in targets {
                    if Self::is_new(&mut self.met_in, run, target) {
                        self.next.push(target);
                    }
                }
            }
            std::mem::swap(&mut self.level, &mut self.next);
            if limits.per_site.is_some() {
                self.level.sort_unstable();
                self.level.retain(|&page| admits(page));
            }
        }
        Ok(crawl)
    }

    /// Crawls in all processes.
    fn crawl_share(
        &mut self,
        share: &WebShare,
        seeds: &[u32],
        budget: usize,
    ) -> Result<Crawl, Interrupted> {
        let (graph, limits) = (self.graph, self.limits);
        let levels = self.levels.get_or_insert_with(|| ShareLevels::new(share));
        let sites = &mut self.sites;
        let mut admits = |page: u32| sites.admits(|| graph.sites()[page as usize]);
        let mut admitted = seeds.to_vec();
        if limits.per_site.is_some() {
            // A site is in one process, which knows whether it admits a seed.
            let own = seeds
                .iter()
                .map(|&seed| graph.local(seed).is_some_and(&mut admits));
            let of_all = graph.group().sums(own.map(i64::from).collect())?;
            let seeds = seeds.iter().zip(of_all).filter(|(_, count)| *count > 0);
            admitted = seeds.map(|(seed, _)| *seed).collect();
        }
        levels.begin();
        let own = admitted
            .iter()
            .take(budget)
            .filter_map(|&seed| graph.local(seed));
        let mut level: Vec<u32> = own.filter(|&page| levels.is_new(page)).collect();
        let budget = budget as u64;
        let mut crawl = Crawl::default();
        for depth in 1.. {
            let [size] = graph.group().total([level.len() as u64])?;
            if size == 0 {
                break;
            }
            self.visits += level.len() as u64;
            level.sort_unstable();
            let left = budget.saturating_sub(crawl.fetched);
            let mut first = level.len();
            if size > left {
                first = first_pages(share, &level, left)?;
            }
            crawl.push_all(level[..first].to_vec(), size.min(left));
            if crawl.fetched >= budget || !limits.reach(depth) {
                break;
            }
            let links = graph.successors();
            let followed = level.iter().map(|&page| links.list(page).len() as u64);
            self.visits += followed.sum::<u64>();
            level = levels.next(share, links, &level)?.unwrap_or_default();
            level.sort_unstable();
            level.retain(|&page| admits(page));
        }
        Ok(crawl)
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
