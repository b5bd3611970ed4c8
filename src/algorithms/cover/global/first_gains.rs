//! The gains of all candidates before any pick. Those of an earlier selection are reused where nothing changed.
//!
//! With `N_h(c)` the pages within h hops of a candidate c, its gain is the sum, over `N_h(c)`, of the value minus the fetch
//! cost. Let G be the web of the earlier selection, which had the same number of hops h and the same fetch cost, and G' that
//! of this one. A page that is not in G counts there as one without links. A page of G' *has other links* if it links to
//! other pages in G' than in G.
//!
//! **Which balls stay.** If c is in both webs, and in G' no page with other links is within h - 1 hops of c, then `N_i(c)` is the
//! same in both webs for every i up to h. This holds for i = 0. If it holds for some i < h, then the pages of `N_i(c)` are in
//! both webs and within h - 1 hops of c in G', so they have the same links in both, and `N_(i+1)(c)` is the same. Links that G'
//! has no more need no search of their own: the page that had them has other links, and the argument reaches it by links that
//! did not change.
//!
//! **What their gains are.** The gain of such a c changes by the sum, over the pages of `N_h(c)`, of the value in G' minus that in
//! G. A backward search from each page with another value finds the candidates that have it within h hops in G'.
//!
//! So the other candidates are searched again, those without an earlier gain too, and all gains are exactly those of a selection
//! from scratch.

use std::sync::atomic::{AtomicI64, Ordering};

use super::graph::WebGraph;
use super::reach::{Reach, pass};
use super::search_pool::{BatchSearch, MIN_BATCHED_HOPS, SearchPool};
use super::share::subtract::subtract as subtract_in_all;
use crate::graph::multi_source_bfs::{BidirectionalLinks, SourceValues};
use crate::watch::{Interrupted, Watch};

/// All candidates are searched if more pages than one in this number of candidates changed: then that takes less.
const MOST_CHANGED: u64 = 4;

/// What an earlier selection with the same number of hops and the same fetch cost has left, for the pages of this web; in a
/// share, for those of this process.
///
/// Memory: 17 bytes for each page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CachedGains {
    /// By page: its gain before any pick, in millionths.
    pub gains: Vec<i64>,
    /// By page: whether it was a candidate, so that it has a gain.
    pub has_gain: Vec<bool>,
    /// By page: its value, in millionths; anything for a page that the earlier web did not have.
    pub values: Vec<i64>,
    /// The pages that had other links, ascending. A page that the earlier web did not have had none.
    pub other_links: Vec<u32>,
}

/// The gains before any pick.
#[derive(Debug)]
pub(super) struct FirstGains {
    /// A gain counts the pages within this many hops.
    pub(super) hops: u32,
    /// By page, in millionths; meaningless for pages that are not candidates.
    pub(super) by_page: Vec<i64>,
    /// The number of candidates that were searched, in all processes.
    pub(super) searched: u64,
    /// The page visits, in all processes.
    pub(super) visits: u64,
}

impl FirstGains {
    /// Computes the gains at a fetch cost, in millionths, by searches from the candidates whose gains `cached` does not give.
    /// All processes call this at the same time, all of them with an earlier selection or none.
    pub(super) fn new(
        graph: &WebGraph,
        hops: u32,
        price: i64,
        cached: Option<CachedGains>,
        pool: &SearchPool,
        watch: &dyn Watch,
    ) -> Result<Self, Interrupted> {
        let mut gains = Self {
            hops,
            by_page: vec![0; graph.pages() as usize],
            searched: graph.candidates_in_all(),
            visits: 0,
        };
        let mut stale = None;
        if let Some(cached) = cached {
            stale = gains.reuse(graph, cached, pool, watch)?;
        }
        let stale = stale.as_deref().unwrap_or(graph.candidates());
        watch.stage("search", Some(stale.len() as u64));
        let found = pass(graph, stale, hops, pool, watch)?;
        gains.visits += found.visits;
        if let Some(reach) = found.within(hops) {
            gains.set(stale, reach, price, 0);
        }
        Ok(gains)
    }

    /// Returns the gains that a pass has found, with `value_known` added to the value of each known page.
    pub(super) fn of_reach(graph: &WebGraph, reach: &Reach, price: i64, value_known: i64) -> Self {
        let mut gains = Self {
            hops: reach.hops,
            by_page: vec![0; graph.pages() as usize],
            searched: 0,
            visits: 0,
        };
        gains.set(graph.candidates(), reach, price, value_known);
        gains
    }

    /// Sets the gains of some candidates.
    fn set(&mut self, candidates: &[u32], reach: &Reach, price: i64, value_known: i64) {
        let found = reach.value.iter().zip(&reach.pages).zip(&reach.known);
        for (&candidate, ((value, pages), known)) in candidates.iter().zip(found) {
            let of_known = value_known * i64::from(*known);
            self.by_page[candidate as usize] = value + of_known - price * i64::from(*pages);
        }
    }

    /// Takes over the gains of an earlier selection. Returns the candidates that have to be searched; `None` if so much has
    /// changed that all are.
    fn reuse(
        &mut self,
        graph: &WebGraph,
        cached: CachedGains,
        pool: &SearchPool,
        watch: &dyn Watch,
    ) -> Result<Option<Vec<u32>>, Interrupted> {
        let values = cached.values.iter().zip(graph.values());
        let other_values: Vec<u32> = (0..)
            .zip(values)
            .filter_map(|(page, (value, now))| (value != now).then_some(page))
            .collect();
        let own = cached.other_links.len() + other_values.len();
        let [changed] = graph.group().total([own as u64])?;
        if changed > graph.candidates_in_all() / MOST_CHANGED {
            return Ok(None);
        }
        watch.stage("compare with the previous refresh", None);
        let (is_near, mut visits) = match self.hops.checked_sub(1) {
            Some(hops) => leading_to(graph, &cached.other_links, hops)?,
            None => (vec![false; graph.pages() as usize], 0),
        };
        let gains = atomic(cached.gains);
        let lost = |page: u32| cached.values[page as usize] - graph.values()[page as usize];
        let from = (&other_values[..], self.hops);
        visits += subtract(graph, &gains, lost, from, pool, watch)?;
        self.by_page = gains.into_iter().map(AtomicI64::into_inner).collect();
        let is_stale = |page: &u32| is_near[*page as usize] || !cached.has_gain[*page as usize];
        let candidates = graph.candidates().iter().copied();
        let stale: Vec<u32> = candidates.filter(is_stale).collect();
        [self.visits, self.searched] = graph.group().total([visits, stale.len() as u64])?;
        Ok(Some(stale))
    }
}

/// Returns by page whether one of some pages is within `hops` of it, and the page visits of this process: a single search,
/// backward. In a share, all processes call this at the same time, each with pages of its own.
fn leading_to(graph: &WebGraph, pages: &[u32], hops: u32) -> Result<(Vec<bool>, u64), Interrupted> {
    let mut is_met = vec![false; graph.pages() as usize];
    let mut level = pages.to_vec();
    for page in pages {
        is_met[*page as usize] = true;
    }
    let mut visits = level.len() as u64;
    for _ in 0..hops {
        let ghosts = match graph.share() {
            Some(share) => share.tell_mirrors(&level)?,
            None => Vec::new(),
        };
        // The pages of this process that link to a ghost follow those that link to its own pages.
        let ghosts = ghosts.iter().map(|ghost| graph.pages() + ghost);
        let mut next = Vec::new();
        for target in level.iter().copied().chain(ghosts) {
            let sources = graph.predecessors().list(target);
            visits += sources.len() as u64;
            for &source in sources {
                if !std::mem::replace(&mut is_met[source as usize], true) {
                    next.push(source);
                }
            }
        }
        visits += next.len() as u64;
        level = next;
    }
    Ok((is_met, visits))
}

/// Returns numbers that several threads can change.
pub(super) fn atomic(numbers: Vec<i64>) -> Vec<AtomicI64> {
    numbers.into_iter().map(AtomicI64::new).collect()
}

/// Subtracts the worth of each of some pages from the gains of all pages that have it within `depth` hops. Returns the page
/// visits of this process. In a share, all processes call this at the same time, each with pages of its own.
pub(super) fn subtract(
    graph: &WebGraph,
    gains: &[AtomicI64],
    worth: impl Fn(u32) -> i64 + Sync,
    (pages, depth): (&[u32], u32),
    pool: &SearchPool,
    watch: &dyn Watch,
) -> Result<u64, Interrupted> {
    if let Some(share) = graph.share() {
        let links = graph.predecessors();
        let from = (pages, depth);
        return subtract_in_all(share, links, worth, gains, from, pool.share(), watch);
    }
    if depth >= MIN_BATCHED_HOPS {
        let links = BidirectionalLinks(graph.predecessors(), graph.successors());
        let mut all_visits = 0;
        let add_visits = |visits: u64| all_visits += visits;
        let subtract = |searches: &mut BatchSearch<'_>, part: &[u32]| {
            let values = SourceValues::new(part.iter().map(|&page| worth(page)).collect());
            let visits = searches.run(&links, part, depth, |_, source, bits| {
                // Sums of integers do not depend on their order.
                gains[source as usize].fetch_sub(values.sum(bits), Ordering::Relaxed);
            });
            visits.last().copied().unwrap_or(0)
        };
        pool.in_batches(pages, watch, subtract, add_visits)?;
        return Ok(all_visits);
    }
    let visits = pool.in_chunks(pages, watch, |search, part| {
        let mut visits = 0;
        for &page in part {
            let worth = worth(page);
            visits += search.levels(graph.predecessors(), page, depth, |level| {
                for &source in level.pages {
                    // Sums of integers do not depend on their order.
                    gains[source as usize].fetch_sub(worth, Ordering::Relaxed);
                }
            });
        }
        visits
    })?;
    Ok(visits.into_iter().sum())
}
