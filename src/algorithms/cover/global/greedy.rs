//! Picks by weight over the whole web: decremental greedy.
//!
//! The gain of a candidate is the sum, over the pages within reach that no pick has reached yet, of the
//! value minus the fetch cost. [`first_gains`](super::first_gains) has those before any pick. When a pick reaches a page
//! for the first time, a backward search finds the candidates that have the page within reach, and its value
//! minus the cost is subtracted from their gains. So gains are exact after every pick, whatever the signs of
//! values, and no pair of a candidate and a page is processed twice: all picks together cost at most one
//! more pass. (The bounds of lazy evaluation, which serves single sites, are weak here, since most pages
//! are worth less than their cost.)

use std::cmp::Reverse;
use std::sync::atomic::{AtomicI64, Ordering};

use super::super::argmax_search::{Argmax, Key, TopTwo};
use super::super::bfs_ball::{BallSearch, Level};
use super::super::pick::{HopGain, Pick, Scored, Stop};
use super::constraints::RemainingCaps;
use super::first_gains::{FirstGains, atomic, subtract};
use super::graph::WebGraph;
use super::picks::WebCover;
use super::search_pool::SearchPool;
use super::share::levels::ShareLevels;
use super::share::offer::Offer;
use super::share::standing::Standing;
use crate::graph::codec::{Decoder, Encoder};
use crate::watch::{Interrupted, Watch};
use rayon::prelude::*;

/// Candidates per task in the search for the best one.
const CHUNK: usize = 1 << 14;

/// The options of a greedy selection.
#[derive(Clone, Copy, Debug)]
pub(super) struct GreedyOptions {
    pub(super) seeds: u32,
    /// A pick reaches the pages within this many hops.
    pub(super) hops: u32,
    /// The fetch cost of every page reached, in millionths.
    pub(super) price: i64,
    /// The value of known pages beyond that in the graph, in millionths.
    pub(super) value_known: i64,
    /// The most seeds of a site; `None` for no limit.
    pub(super) max_per_site: Option<u32>,
    /// Whether to stop before a pick that adds no value above the fetch costs.
    pub(super) positive_only: bool,
    /// Whether to fill the places that are left then ([`WebGraph::fills`]).
    pub(super) fill: bool,
    /// Whether to compute the gains of the uncovered candidates after the last pick.
    pub(super) with_uncovered: bool,
}

/// Searches forward from one pick after another.
pub(super) struct Forward<'a> {
    graph: &'a WebGraph,
    hops: u32,
    search: BallSearch,
    /// The search over several processes.
    levels: Option<ShareLevels>,
    /// The page visits of this process.
    pub(super) visits: u64,
}

impl<'a> Forward<'a> {
    pub(super) fn new(graph: &'a WebGraph, hops: u32) -> Self {
        let pages = graph.pages();
        Self {
            graph,
            hops,
            search: BallSearch::new(if graph.share().is_none() { pages } else { 0 }),
            levels: graph.share().map(ShareLevels::new),
            visits: 0,
        }
    }

    /// Calls `visit` with the pages of this process at each distance from a page, given its number in the web, up to the last
    /// one that any process has a page at. In a share, all processes call this at the same time.
    pub(super) fn each_hop(
        &mut self,
        page: u32,
        mut visit: impl FnMut(&[u32]),
    ) -> Result<(), Interrupted> {
        let graph = self.graph;
        let links = graph.successors();
        let (Some(share), Some(levels)) = (graph.share(), &mut self.levels) else {
            let by_level = |level: Level<'_>| visit(level.pages);
            self.visits += self.search.levels(links, page, self.hops, by_level);
            return Ok(());
        };
        levels.begin();
        let mut level: Vec<u32> = graph.local(page).into_iter().collect();
        level.retain(|&page| levels.is_new(page));
        for hop in 0.. {
            self.visits += level.len() as u64;
            if hop == self.hops {
                if graph.group().total([level.len() as u64])? != [0] {
                    visit(&level);
                }
                break;
            }
            let followed = level.iter().map(|&page| links.list(page).len() as u64);
            self.visits += followed.sum::<u64>();
            match levels.next(share, links, &level)? {
                Some(next) => {
                    visit(&level);
                    level = next;
                }
                // No process has a page at this hop.
                None => break,
            }
        }
        Ok(())
    }
}

/// The pages that the picks so far reach; in a share, those of this process.
pub(super) struct Reached<'a> {
    graph: &'a WebGraph,
    /// By page.
    by_page: Vec<bool>,
    forward: Forward<'a>,
}

impl<'a> Reached<'a> {
    pub(super) fn new(graph: &'a WebGraph, hops: u32) -> Self {
        Self {
            graph,
            by_page: vec![false; graph.pages() as usize],
            forward: Forward::new(graph, hops),
        }
    }

    /// The page visits of this process.
    pub(super) const fn visits(&self) -> u64 {
        self.forward.visits
    }

    /// Adds a pick, given its number in the web. Returns its gain by hop, and the pages that it is the first to reach.
    pub(super) fn add(&mut self, pick: u32) -> Result<(Vec<HopGain>, Vec<u32>), Interrupted> {
        let mut gains = Vec::new();
        let mut added = Vec::new();
        self.forward.each_hop(pick, |pages| {
            let is_new = |page: &u32| !std::mem::replace(&mut self.by_page[*page as usize], true);
            let new: Vec<u32> = pages.iter().copied().filter(is_new).collect();
            added.extend(&new);
            gains.push(HopGain::new(self.graph.values(), new));
        })?;
        Ok((gains, added))
    }

    /// Takes back the last pick, which was the first to reach these pages.
    fn take_back(&mut self, added: &[u32]) {
        for &page in added {
            self.by_page[page as usize] = false;
        }
    }

    /// The candidates that no pick reaches, ascending.
    pub(super) fn others(&self) -> impl Iterator<Item = u32> {
        let candidates = self.graph.candidates().iter().copied();
        candidates.filter(|&page| !self.by_page[page as usize])
    }
}

/// Picks by the gain within `first.hops`, starting from these gains.
pub(super) fn greedy(
    graph: &WebGraph,
    first: &FirstGains,
    options: GreedyOptions,
    pool: &SearchPool,
    watch: &dyn Watch,
) -> Result<WebCover, Interrupted> {
    Run::new(graph, first, options, pool, watch).select(&[])
}

/// A selection by gain.
pub(super) struct Run<'a> {
    pub(super) graph: &'a WebGraph,
    /// The gain of a candidate counts the pages within this many hops.
    depth: u32,
    pub(super) options: GreedyOptions,
    /// By page; meaningless for pages that are not candidates.
    gains: Vec<AtomicI64>,
    picked: Vec<bool>,
    caps: RemainingCaps<'a>,
    /// The number of unreached pages of this process whose value differs from the fetch cost.
    unreached: usize,
    pool: &'a SearchPool,
    pub(super) watch: &'a dyn Watch,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        graph: &'a WebGraph,
        first: &FirstGains,
        options: GreedyOptions,
        pool: &'a SearchPool,
        watch: &'a dyn Watch,
    ) -> Self {
        let mut run = Self {
            graph,
            depth: first.hops,
            options,
            gains: atomic(first.by_page.clone()),
            picked: vec![false; graph.pages() as usize],
            caps: RemainingCaps::new(graph.caps(), graph.site_limit(options.max_per_site)),
            unreached: 0,
            pool,
            watch,
        };
        let pages = 0..graph.pages();
        run.unreached = pages.filter(|&page| run.worth(page) != 0).count();
        run
    }

    /// Picks to the end: first pins, then the candidates among `kept`, then the others. `kept` has numbers in the web.
    pub(super) fn select(&mut self, kept: &[u32]) -> Result<WebCover, Interrupted> {
        let graph = self.graph;
        let options = self.options;
        let mut reached = Reached::new(graph, options.hops);
        let mut picks: Vec<Pick> = Vec::new();
        let mut visits = 0;
        for (&pin, groups) in graph.pins().iter().zip(self.groups_of(graph.pins())?) {
            self.watch.proceed()?;
            let (hops, added) = self.take(&mut reached, pin, &groups)?;
            picks.push(Pick::pinned(pin, hops));
            visits += self.subtract(added)?;
        }
        let groups_of_kept = self.groups_of(kept)?;
        let stop = loop {
            self.watch.proceed()?;
            let Standing {
                unreached,
                top,
                mut groups,
            } = self.standing()?;
            if !picks.is_empty() && unreached == 0 {
                break Stop::NoValueLeft;
            }
            let Some(mut best) = top.best(None) else {
                break Stop::NoPageLeft;
            };
            if picks.len() >= options.seeds as usize {
                break Stop::Complete;
            }
            let mut gain = top.first.map_or(0, |(gain, _)| gain);
            if let Some((gain_of_kept, Reverse(page))) = self.best_of(kept)?
                && (gain_of_kept > 0 || !options.positive_only)
            {
                gain = gain_of_kept;
                let place = kept.iter().position(|of| *of == page);
                groups.clone_from(&groups_of_kept[place.unwrap_or_default()]);
                let seed = Scored::by_weight(page, gain);
                // The page that would be picked if none were kept, or the second best one.
                let other = Some(best.seed).filter(|of| of.page != seed.page);
                best = Argmax {
                    seed,
                    runner_up: other.or(best.runner_up),
                };
            }
            // A gain that looks as far as a pick reaches is what the pick adds, which saves the search.
            let is_what_it_adds = self.depth == options.hops;
            if options.positive_only && is_what_it_adds && gain <= 0 {
                break Stop::NotPositive;
            }
            let (hops, added) = self.take(&mut reached, best.seed.page, &groups)?;
            if options.positive_only && !is_what_it_adds && self.net_value(&added)? <= 0 {
                reached.take_back(&added);
                break Stop::NotPositive;
            }
            picks.push(Pick {
                seed: best.seed,
                runner_up: best.runner_up,
                hops,
            });
            if options.with_uncovered || picks.len() < options.seeds as usize {
                visits += self.subtract(added)?;
            }
        };
        let stop = if options.fill && stop != Stop::Complete {
            self.fill(&mut reached, &mut picks, &mut visits)?
        } else {
            stop
        };
        let uncovered = if options.with_uncovered {
            let scored = |page| Scored::by_weight(page, self.gain(page));
            reached.others().map(scored).collect()
        } else {
            Vec::new()
        };
        let [page_visits] = graph.group().total([visits + reached.visits()])?;
        Ok(WebCover {
            picks,
            stop,
            uncovered,
            page_visits,
        })
    }

    /// Records a seed of these groups, given its number in the web. Returns its gain by hop, and the pages that it is the
    /// first to reach.
    fn take(
        &mut self,
        reached: &mut Reached<'_>,
        page: u32,
        groups: &[u32],
    ) -> Result<(Vec<HopGain>, Vec<u32>), Interrupted> {
        self.occupy(page, groups);
        reached.add(page)
    }

    /// Marks a page of these groups as a seed, given its number in the web.
    pub(super) fn occupy(&mut self, page: u32, groups: &[u32]) {
        if let Some(local) = self.graph.local(page) {
            self.picked[local as usize] = true;
            self.caps.add_seed_of_site(local);
        }
        self.caps.add_seed_of(groups);
    }

    /// Takes back [`occupy`](Self::occupy).
    pub(super) fn release(&mut self, page: u32, groups: &[u32]) {
        if let Some(local) = self.graph.local(page) {
            self.picked[local as usize] = false;
            self.caps.remove_seed_of_site(local);
        }
        self.caps.remove_seed_of(groups);
    }

    /// The value minus the fetch cost of pages, in millionths; in a share, of those of all processes.
    fn net_value(&self, pages: &[u32]) -> Result<i64, Interrupted> {
        let own = pages.iter().map(|&page| self.worth(page)).sum();
        Ok(self.graph.group().sum([own])?[0])
    }

    /// The value of a page minus the fetch cost, in millionths.
    pub(super) fn worth(&self, page: u32) -> i64 {
        let GreedyOptions {
            price, value_known, ..
        } = self.options;
        let worth = self.graph.values()[page as usize] - price;
        if value_known != 0 && self.graph.is_known(page) {
            worth + value_known
        } else {
            worth
        }
    }

    /// Returns the groups of pages, given their numbers in the web.
    pub(super) fn groups_of(&self, pages: &[u32]) -> Result<Vec<Vec<u32>>, Interrupted> {
        let graph = self.graph;
        let caps = graph.caps().len();
        let own = pages.iter().flat_map(|&page| match graph.local(page) {
            Some(page) => self.caps.groups(page),
            None => vec![0; caps],
        });
        if caps == 0 {
            return Ok(vec![Vec::new(); pages.len()]);
        }
        // Each page has one process, so that the sums are the groups.
        let all = graph.group().sums(own.map(i64::from).collect())?;
        let group = |group: &i64| u32::try_from(*group).unwrap_or(u32::MAX);
        let by_page = all.chunks(caps);
        Ok(by_page
            .map(|of_page| of_page.iter().map(group).collect())
            .collect())
    }

    /// Returns the best page of a list that can be picked, all by their numbers in the web.
    fn best_of(&self, list: &[u32]) -> Result<Option<Key>, Interrupted> {
        let graph = self.graph;
        let open = list.iter().filter_map(|&page| {
            let local = graph.local(page).filter(|page| self.is_open(*page))?;
            Some((self.gain(local), Reverse(page)))
        });
        let own = open.max();
        let Some(share) = graph.share().filter(|_| !list.is_empty()) else {
            return Ok(own);
        };
        let mut message = Encoder::default();
        if let Some((gain, Reverse(page))) = own {
            message.signed(gain);
            message.number(page.into());
        }
        let mut best = None;
        for message in graph.group().gather(message.0)? {
            let mut message = Decoder(&message);
            if !message.0.is_empty() {
                let key = message.signed().zip(message.index());
                let (gain, page) = key.ok_or_else(|| share.malformed())?;
                best = best.max(Some((gain, Reverse(page))));
            }
        }
        Ok(best)
    }

    /// Returns what decides about the next pick.
    pub(super) fn standing(&self) -> Result<Standing, Interrupted> {
        let mut top = TopTwo::default();
        let own = self.best();
        let in_web = |key: Key| (key.0, Reverse(self.graph.number(key.1.0)));
        own.first
            .into_iter()
            .chain(own.second)
            .for_each(|key| top.offer(in_web(key)));
        let groups = own.first.map(|(_, page)| self.caps.groups(page.0));
        let own = Standing {
            unreached: self.unreached as u64,
            top,
            groups: groups.unwrap_or_default(),
        };
        match self.graph.share() {
            None => Ok(own),
            Some(share) => own.of_all(share),
        }
    }

    /// Whether a candidate can be the next pick.
    fn is_open(&self, page: u32) -> bool {
        !self.picked[page as usize] && self.caps.admits(page)
    }

    fn gain(&self, page: u32) -> i64 {
        self.gains[page as usize].load(Ordering::Relaxed)
    }

    /// The two best candidates that can be picked.
    fn best(&self) -> TopTwo {
        let best_of = |part: &[u32]| {
            let mut top = TopTwo::default();
            for &page in part {
                let key = (self.gain(page), Reverse(page));
                // Few candidates are good enough, so the others need no further look.
                if top.second.is_none_or(|second| key > second) && self.is_open(page) {
                    top.offer(key);
                }
            }
            top
        };
        let merge = |mut one: TopTwo, other: TopTwo| {
            for key in other.first.into_iter().chain(other.second) {
                one.offer(key);
            }
            one
        };
        let parts = self.graph.candidates().par_chunks(CHUNK);
        parts.map(best_of).reduce(TopTwo::default, merge)
    }

    /// Fills the places that are left with other candidates, whatever their gains.
    fn fill(
        &mut self,
        reached: &mut Reached<'_>,
        picks: &mut Vec<Pick>,
        visits: &mut u64,
    ) -> Result<Stop, Interrupted> {
        let graph = self.graph;
        let mut order: Vec<u32> = graph.candidates().to_vec();
        order.retain(|page| !self.picked[*page as usize]);
        // The greatest and the smaller URLs first.
        let key = |page: u32| (graph.fills(page), Reverse(graph.number(page)));
        order.sort_unstable_by_key(|page| Reverse(key(*page)));
        let last = order.last().map(|page| key(*page));
        let mut left = order.into_iter().peekable();
        let mut lowest: Option<Key> = None;
        loop {
            self.watch.proceed()?;
            while left.next_if(|page| !self.is_open(*page)).is_some() {}
            let own = Offer {
                has_more: last.is_some_and(|last| lowest.is_none_or(|lowest| last < lowest)),
                best: left.peek().map(|&page| key(page)),
                gain: left.peek().map_or(0, |page| self.gain(*page)),
                groups: left
                    .peek()
                    .map(|page| self.caps.groups(*page))
                    .unwrap_or_default(),
            };
            let offer = match graph.share() {
                None => own,
                Some(share) => own.of_all(share)?,
            };
            if picks.len() >= self.options.seeds as usize && offer.has_more {
                return Ok(Stop::Complete);
            }
            let Some(best) = offer
                .best
                .filter(|_| picks.len() < self.options.seeds as usize)
            else {
                return Ok(Stop::NoPageLeft);
            };
            lowest = Some(best);
            let page = best.1.0;
            let (hops, added) = self.take(reached, page, &offer.groups)?;
            picks.push(Pick {
                seed: Scored::by_weight(page, offer.gain),
                runner_up: None,
                hops,
            });
            *visits += self.subtract(added)?;
        }
    }

    /// Subtracts the value minus the fetch cost of newly reached pages from the gains of the candidates that
    /// have them within reach. Returns the page visits.
    pub(super) fn subtract(&mut self, mut pages: Vec<u32>) -> Result<u64, Interrupted> {
        pages.retain(|&page| self.worth(page) != 0);
        self.unreached -= pages.len();
        let worth = |page: u32| self.worth(page);
        let from = (&pages[..], self.depth);
        subtract(self.graph, &self.gains, worth, from, self.pool, self.watch)
    }

    /// Adds the value minus the fetch cost of pages that are reached no more to the gains. Returns the page visits.
    pub(super) fn give_back(&mut self, mut pages: Vec<u32>) -> Result<u64, Interrupted> {
        pages.retain(|&page| self.worth(page) != 0);
        self.unreached += pages.len();
        let worth = |page: u32| -self.worth(page);
        let from = (&pages[..], self.depth);
        subtract(self.graph, &self.gains, worth, from, self.pool, self.watch)
    }
}
