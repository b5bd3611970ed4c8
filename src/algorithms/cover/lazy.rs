//! The best depth-d weight, exactly, without searching from most pages.
//!
//! Values can be negative, so the weight of a page is *not* monotone: it grows when another seed
//! has already paid for the spam. The sum of the positive values left within its reach is monotone,
//! and bounds the weight from above. Pages are searched in the order of their bounds until no bound
//! left beats the best weight found (Minoux's accelerated greedy, 1978, with that bound in place of
//! the stale gain). Ties by smallest URL are part of the order: a page whose bound equals the best
//! weight is searched only if its URL is smaller.
//!
//! Three things keep the searches few and cheap:
//!
//! - They run 256 at a time, a bit for each ([`multi_source_bfs`](crate::graph::multi_source_bfs)).
//! - Where searches cost more than a pass over the links, bounds are lowered
//!   ([`bounds`](mod@super::bounds)) before searching goes on.
//! - Where fewer pages have any value left than are still to be searched, the search goes backward
//!   from those pages: it gives the exact weight of every page. While pages are only zeroed, these
//!   stay exact at little cost, since covering a page takes its value from those that reach it.
//!
//! Measured by `benches/cover_visits.rs` on a made site of 100,000 pages and 1.5 million links
//! whose pages share a menu, 10 greedy picks at h = 5: 128 million page visits; full recomputation takes about 10^12. The ball bound with the menu as its
//! middle left 4,947 pages to search for the first pick, the walk bound alone 82,816.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::bounds;
use super::components::Components;
use super::graph::SiteGraph;
use super::known::Known;
use super::lead::{Best, Key, Lead, Round, Sieve, key};
use super::weigh::Searches;
use crate::graph::multi_source_bfs::MAX_SOURCES;
use crate::watch::Interrupted;

/// The most searches between two looks at the bounds; fixed, so that results do not depend on
/// threads.
const LARGEST_BATCH: usize = 16 * MAX_SOURCES;
/// The first batch of a pick, in searches; each further one is four times as large.
const FIRST_BATCH: usize = 16;
/// So few contenders are searched at once, since a walk bound would cost as much.
const FEW: usize = MAX_SOURCES;
/// A page belongs to the menu if at least one page in this many links to it.
const MENU_SHARE: usize = 8;
/// So few contenders are not worth a ball bound.
const SEVERAL: usize = 4 * MAX_SOURCES;

/// Finds the best page, from pick to pick.
#[derive(Debug)]
pub(super) struct Lazy<'a> {
    graph: &'a SiteGraph,
    depth: u32,
    bounds: Known,
    /// The exact weights, from when they are kept.
    exact: Option<Vec<i64>>,
    /// The value that pages lost and that `exact` does not account for yet.
    lost: Vec<(u32, i64)>,
    /// The pages with the most links to them, most first: the menu that much of the site leads to.
    menu: Vec<u32>,
    searches: Searches<'a>,
    pub(super) visits: u64,
}

impl<'a> Lazy<'a> {
    pub(super) fn new(graph: &'a SiteGraph, depth: u32, round: Round<'_>) -> Self {
        let residual = round.residual;
        let mut lazy = Self {
            graph,
            depth,
            bounds: Known::new(graph.pages(), residual.positive),
            exact: None,
            lost: Vec::new(),
            menu: menu(graph),
            searches: Searches::new(graph, depth),
            visits: 0,
        };
        // Of so few pages with a value the first pick searches backward, and needs no bounds.
        if residual.nonzero > MAX_SOURCES {
            lazy.open(round);
        }
        lazy
    }

    /// Bounds to begin with where nothing is known.
    fn open(&mut self, round: Round<'_>) {
        let (graph, depth, residual) = (self.graph, self.depth, round.residual);
        let positive = &mut self.bounds.positive;
        if depth > 2 {
            let components = Components::new(graph, &residual.alive);
            *positive = components.reach_bounds(graph, &residual.values, residual.positive);
            self.visits += 2 * pass(graph);
        }
        self.visits += bounds::walk(graph, depth, residual, round.zones, positive);
    }

    /// The best of the candidates; `None` where there is none, or where a positive weight is wanted
    /// and none has one.
    pub(super) fn best(
        &mut self,
        candidates: &[u32],
        round: Round<'_>,
    ) -> Result<Option<Best>, Interrupted> {
        if round.zones.is_none() {
            self.bounds.forget_weights();
        }
        if !round.wanted(round.residual.positive) {
            return Ok(None);
        }
        self.catch_up(round);
        if let Some(exact) = &self.exact {
            for (page, &weight) in (0..).zip(exact) {
                self.bounds.lower(page, weight, round.residual.positive);
            }
            return Ok(lead(candidates, exact, round));
        }
        if round.residual.nonzero <= MAX_SOURCES {
            return Ok(self.exactly(candidates, round));
        }
        let mut batch = FIRST_BATCH;
        let keys = candidates.iter().map(|&page| key(&self.bounds, page));
        let mut queue: BinaryHeap<Key> = keys.filter(|key| round.wanted(key.0)).collect();
        let mut known = Lead::default();
        let mut sieve = Sieve::default();
        let started = self.visits;
        let mut patience = u64::from(self.depth.max(1)) * pass(self.graph);
        loop {
            round.watch.proceed()?;
            let mut sources = Vec::new();
            while sources.len() < batch
                && let Some(&top) = queue.peek()
                && known.first.is_none_or(|first| top > first)
            {
                queue.pop();
                sources.push(top.1.0);
            }
            if sources.is_empty() {
                break;
            }
            sources.sort_unstable();
            let (weights, visits) = self.searches.weigh(&sources, round.residual);
            self.visits += visits;
            for (&page, found) in sources.iter().zip(weights) {
                self.bounds.searched(page, found);
                if round.wanted(found.0) {
                    known.offer((found.0, Reverse(page)));
                }
            }
            batch = (4 * batch).min(LARGEST_BATCH);
            if self.visits - started > patience && queue.len() > FEW {
                let Some(rest) = self.sift(queue, known, &mut sieve, round) else {
                    return Ok(self.exactly(candidates, round));
                };
                queue = rest;
                // Four times as patient each time, so that the cost of bounds stays a fraction of
                // the whole.
                patience = 4 * (self.visits - started);
            }
        }
        Ok(known.best(sieve.open(&queue)))
    }

    /// The best of the candidates by searching backward.
    fn exactly(&mut self, candidates: &[u32], round: Round<'_>) -> Option<Best> {
        let exact = self.backward(round);
        let best = lead(candidates, &exact, round);
        if round.zones.is_some() {
            self.exact = Some(exact);
        }
        best
    }

    /// Lowers the bounds of what is left to search; `None` where searching backward is cheaper.
    fn sift(
        &mut self,
        queue: BinaryHeap<Key>,
        known: Lead,
        sieve: &mut Sieve,
        round: Round<'_>,
    ) -> Option<BinaryHeap<Key>> {
        let Round {
            residual, zones, ..
        } = round;
        let (graph, depth) = (self.graph, self.depth);
        let mut rest: Vec<u32> = queue.into_iter().map(|key| key.1.0).collect();
        self.visits += bounds::walk(graph, depth, residual, zones, &mut self.bounds.positive);
        sieve.pass(&mut rest, &self.bounds, known, round);
        if residual.nonzero < rest.len() {
            return None;
        }
        if rest.len() > SEVERAL && !sieve.spent {
            sieve.spent = true;
            let mut paid = vec![0; self.bounds.positive.len()];
            let leader = known.first.map(|first| first.1.0);
            let menu: Vec<u32> = self
                .menu
                .iter()
                .copied()
                .filter(|&p| residual.alive[p as usize])
                .collect();
            for &reference in menu.first().into_iter().chain(&leader) {
                self.visits += bounds::toll(graph, depth, residual, reference, &mut paid);
            }
            let (menu, leader) = (menu.as_slice(), leader.as_slice());
            for ball in [(menu, depth.saturating_sub(1)), (leader, depth)] {
                if !ball.0.is_empty() {
                    self.visits += bounds::ball(
                        graph,
                        depth,
                        residual,
                        zones,
                        ball,
                        &mut self.bounds.positive,
                    );
                }
            }
            self.bounds.pays(&paid);
            sieve.pass(&mut rest, &self.bounds, known, round);
        }
        if residual.nonzero < rest.len() {
            return None;
        }
        let keys = rest.into_iter().map(|page| key(&self.bounds, page));
        Some(keys.collect())
    }

    /// The exact weight of every page, by searching backward from all pages with a value; their
    /// positive parts become the bounds.
    fn backward(&mut self, round: Round<'_>) -> Vec<i64> {
        let residual = round.residual;
        let sources = residual.nonzero_pages();
        let sources: Vec<(u32, i64)> = sources
            .into_iter()
            .map(|page| (page, residual.values[page as usize]))
            .collect();
        let (weights, positive, visits) = self.searches.spread(&sources, &residual.alive);
        self.visits += visits;
        for (page, found) in (0..).zip(weights.iter().zip(positive)) {
            self.bounds.lower(page, *found.0, found.1);
        }
        weights
    }

    /// Notes that these pages lost these values and now have zero.
    pub(super) fn zeroed(&mut self, lost: &[(u32, i64)]) {
        let negative = lost.iter().map(|page| page.1.min(0)).sum::<i64>();
        self.bounds.spare(-negative);
        if self.exact.is_some() {
            self.lost.extend(lost.iter().filter(|page| page.1 != 0));
        }
    }

    /// Brings the exact weights up to date.
    fn catch_up(&mut self, round: Round<'_>) {
        let mut lost = std::mem::take(&mut self.lost);
        let Some(mut exact) = self.exact.take() else {
            return;
        };
        if round.residual.nonzero < lost.len() {
            exact = self.backward(round);
        } else {
            lost.sort_unstable();
            let (taken, _, visits) = self.searches.spread(&lost, &round.residual.alive);
            self.visits += visits;
            for (weight, taken) in exact.iter_mut().zip(taken) {
                *weight -= taken;
            }
        }
        self.exact = Some(exact);
    }
}

/// How many page visits one pass over all pages and links takes.
fn pass(graph: &SiteGraph) -> u64 {
    u64::from(graph.pages()) + graph.links() as u64
}

/// The pages that at least one page in [`MENU_SHARE`] links to, or else the most linked ones; those
/// with the most links come first.
fn menu(graph: &SiteGraph) -> Vec<u32> {
    let links = |page: u32| graph.predecessors(page).len();
    let most = (0..graph.pages()).map(links).max().unwrap_or(0);
    let least = most.min(graph.pages() as usize / MENU_SHARE);
    let mut menu: Vec<u32> = (0..graph.pages())
        .filter(|&page| links(page) >= least)
        .collect();
    menu.sort_by_key(|&page| Reverse(links(page)));
    menu
}

/// The best of the candidates, where all weights are known.
fn lead(candidates: &[u32], weights: &[i64], round: Round<'_>) -> Option<Best> {
    let mut lead = Lead::default();
    for &page in candidates {
        let weight = weights[page as usize];
        if round.wanted(weight) {
            lead.offer((weight, Reverse(page)));
        }
    }
    lead.best(None)
}
