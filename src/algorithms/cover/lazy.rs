//! The page with the greatest depth-d weight, exactly, without a search from most pages.
//!
//! Values can be negative, so the weight of a page is *not* monotone: it grows when another seed covers
//! spam within the page's reach. The sum of the positive values left within its reach is monotone, and an
//! upper bound of the weight. Pages are searched in the order of their bounds until no other bound exceeds
//! the best weight found (Minoux's accelerated greedy, 1978, with that bound instead of the outdated
//! gain). Ties by smallest URL are part of the order: a page whose bound equals the best weight is searched
//! only if its URL is smaller.
//!
//! Three things keep searches few and cheap:
//!
//! - They run 256 at a time, with a bit for each ([`multi_source_bfs`](crate::graph::multi_source_bfs)).
//! - When searches have cost more than a pass over the links, the bounds of the other pages are lowered
//!   ([`bounds`](mod@super::bounds)) before the search goes on.
//! - If fewer pages have a value than are still to be searched, the search goes backward from the pages
//!   with a value, which gives the exact weight of every page. While covered pages are only zeroed, these
//!   weights stay exact at little cost: the value of a newly covered page is subtracted from the pages that
//!   reach it.
//!
//! Measured by `benches/cover_visits.rs` on a generated site of 100,000 pages and 1.5 million links whose
//! pages share a menu, 10 greedy picks at h = 5: 128 million page visits; full recomputation takes about
//! 10^12. The ball bound with the menu as its middle left 4,947 pages to search for the first pick, the
//! walk bound alone 82,816.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::argmax_search::{Argmax, BoundFilter, Key, Round, TopTwo, key};
use super::bounds::Bounder;
use super::graph::SiteGraph;
use super::weight_bounds::WeightBounds;
use super::weights::WeightSearch;
use crate::graph::StrongComponents;
use crate::graph::multi_source_bfs::BATCH_SIZE;
use crate::watch::Interrupted;

/// The most searches between two checks of the bounds; fixed, so that results do not depend on the number
/// of threads.
const LARGEST_BATCH: usize = 16 * BATCH_SIZE;
/// The searches of the first batch of a pick; each further batch is four times as large.
const FIRST_BATCH: usize = 16;
/// Up to this many candidates are searched without lower bounds first, since a walk bound costs as much.
const MIN_FOR_WALKS: usize = BATCH_SIZE;
/// A page belongs to the menu if at least one in this many pages links to it.
const MENU_SHARE: usize = 8;
/// Up to this many candidates are not worth a ball bound.
const MIN_FOR_BALLS: usize = 4 * BATCH_SIZE;

/// Finds the best page of each pick.
#[derive(Debug)]
pub(super) struct Lazy<'a> {
    graph: &'a SiteGraph,
    depth: u32,
    bounds: WeightBounds,
    /// The exact weights, once a backward search has computed them.
    exact: Option<Vec<i64>>,
    /// Covered pages with their former values, not yet subtracted from `exact`.
    zeroed: Vec<(u32, i64)>,
    /// The pages with the most inlinks, most first.
    menu: Vec<u32>,
    searches: WeightSearch<'a>,
    pub(super) visits: u64,
}

impl<'a> Lazy<'a> {
    pub(super) fn new(graph: &'a SiteGraph, depth: u32, round: Round<'_>) -> Self {
        let residual = round.residual;
        let mut lazy = Self {
            graph,
            depth,
            bounds: WeightBounds::new(graph.pages(), residual.positive),
            exact: None,
            zeroed: Vec::new(),
            menu: menu(graph),
            searches: WeightSearch::new(graph, depth),
            visits: 0,
        };
        // With at most this many values the first pick searches backward, and needs no bounds.
        if residual.nonzero > BATCH_SIZE {
            lazy.set_first_bounds(round);
        }
        lazy
    }

    fn bounder<'b>(&self, round: Round<'b>) -> Bounder<'b>
    where
        'a: 'b,
    {
        Bounder {
            graph: self.graph,
            depth: self.depth,
            residual: round.residual,
            covered: round.covered,
        }
    }

    fn set_first_bounds(&mut self, round: Round<'_>) {
        let residual = round.residual;
        let bounder = self.bounder(round);
        let positive = &mut self.bounds.positive;
        if self.depth > 2 {
            let links = self.graph.successor_lists();
            let components = StrongComponents::new(links, &residual.alive);
            *positive = components.reach_bounds(links, &residual.values, residual.positive);
            self.visits += 2 * pass(self.graph);
        }
        self.visits += bounder.lower_by_walks(positive);
    }

    /// The best of the candidates; `None` if there is none, or if a positive weight is required and no
    /// candidate has one.
    pub(super) fn best(
        &mut self,
        candidates: &[u32],
        round: Round<'_>,
    ) -> Result<Option<Argmax>, Interrupted> {
        if round.covered.is_none() {
            self.bounds.forget_weights();
        }
        if !round.admits(round.residual.positive) {
            return Ok(None);
        }
        // Exact weights, or few values: no search from candidates is needed.
        self.update_exact(round);
        if let Some(exact) = &self.exact {
            for (page, &weight) in (0..).zip(exact) {
                self.bounds.lower(page, weight, round.residual.positive);
            }
            return Ok(argmax(candidates, exact, round));
        }
        if round.residual.nonzero <= BATCH_SIZE {
            return Ok(self.best_by_backward_search(candidates, round));
        }
        let mut batch = FIRST_BATCH;
        let keys = candidates.iter().map(|&page| key(&self.bounds, page));
        let mut queue: BinaryHeap<Key> = keys.filter(|key| round.admits(key.0)).collect();
        let mut known = TopTwo::default();
        let mut filter = BoundFilter::default();
        let started = self.visits;
        let mut patience = u64::from(self.depth.max(1)) * pass(self.graph);
        loop {
            round.watch.proceed()?;
            // Search from the pages whose bounds still exceed the best weight found.
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
            let (weights, visits) = self.searches.forward(&sources, round.residual);
            self.visits += visits;
            for (&page, (weight, positive)) in sources.iter().zip(weights) {
                self.bounds.set_exact(page, weight, positive);
                if round.admits(weight) {
                    known.offer((weight, Reverse(page)));
                }
            }
            batch = (4 * batch).min(LARGEST_BATCH);
            if self.visits - started > patience && queue.len() > MIN_FOR_WALKS {
                let Some(filtered) = self.filter(queue, known, &mut filter, round) else {
                    return Ok(self.best_by_backward_search(candidates, round));
                };
                queue = filtered;
                // Four times as much each time, so that bounds stay a fraction of the whole cost.
                patience = 4 * (self.visits - started);
            }
        }
        Ok(known.best(filter.greatest_unsearched(&queue)))
    }

    fn best_by_backward_search(&mut self, candidates: &[u32], round: Round<'_>) -> Option<Argmax> {
        let exact = self.search_backward(round);
        let best = argmax(candidates, &exact, round);
        if round.covered.is_some() {
            self.exact = Some(exact);
        }
        best
    }

    /// Lowers the bounds of the queued pages and drops those that cannot be the best; `None` if a backward
    /// search is cheaper than searches from the others.
    fn filter(
        &mut self,
        queue: BinaryHeap<Key>,
        known: TopTwo,
        filter: &mut BoundFilter,
        round: Round<'_>,
    ) -> Option<BinaryHeap<Key>> {
        let residual = round.residual;
        let bounder = self.bounder(round);
        let mut pages: Vec<u32> = queue.into_iter().map(|key| key.1.0).collect();
        self.visits += bounder.lower_by_walks(&mut self.bounds.positive);
        filter.retain(&mut pages, &self.bounds, known, round);
        if residual.nonzero < pages.len() {
            return None;
        }
        // Balls and losses depend on the pick alone, so once per pick is enough.
        if pages.len() > MIN_FOR_BALLS && !filter.used_balls {
            filter.used_balls = true;
            let mut losses = vec![0; self.bounds.positive.len()];
            let leader = known.first.map(|first| first.1.0);
            let menu = self.menu.iter().copied();
            let menu: Vec<u32> = menu.filter(|&p| residual.alive[p as usize]).collect();
            for &reference in menu.first().into_iter().chain(&leader) {
                self.visits += bounder.raise_losses(reference, &mut losses);
            }
            let balls = [
                (menu.as_slice(), self.depth.saturating_sub(1)),
                (leader.as_slice(), self.depth),
            ];
            for (middle, radius) in balls {
                if !middle.is_empty() {
                    self.visits += bounder.lower_by_ball(middle, radius, &mut self.bounds.positive);
                }
            }
            self.bounds.subtract_losses(&losses);
            filter.retain(&mut pages, &self.bounds, known, round);
        }
        if residual.nonzero < pages.len() {
            return None;
        }
        let keys = pages.into_iter().map(|page| key(&self.bounds, page));
        Some(keys.collect())
    }

    /// The exact weight of every page, by a backward search from all pages with a value. Lowers the bounds
    /// to the weights and their positive parts.
    fn search_backward(&mut self, round: Round<'_>) -> Vec<i64> {
        let residual = round.residual;
        let sources = residual.nonzero_values();
        let (weights, positive, visits) = self.searches.backward(&sources, &residual.alive);
        self.visits += visits;
        for (page, (weight, positive)) in (0..).zip(weights.iter().zip(positive)) {
            self.bounds.lower(page, *weight, positive);
        }
        weights
    }

    /// Accounts for pages whose values, given here, a pick has set to zero.
    pub(super) fn record_zeroed(&mut self, zeroed: &[(u32, i64)]) {
        let negative = zeroed.iter().map(|page| page.1.min(0)).sum::<i64>();
        self.bounds.add_slack(-negative);
        if self.exact.is_some() {
            self.zeroed.extend(zeroed.iter().filter(|page| page.1 != 0));
        }
    }

    /// Subtracts newly covered values from the exact weights, or recomputes these if that is cheaper.
    fn update_exact(&mut self, round: Round<'_>) {
        let mut zeroed = std::mem::take(&mut self.zeroed);
        let Some(mut exact) = self.exact.take() else {
            return;
        };
        if round.residual.nonzero < zeroed.len() {
            exact = self.search_backward(round);
        } else {
            zeroed.sort_unstable();
            let (losses, _, visits) = self.searches.backward(&zeroed, &round.residual.alive);
            self.visits += visits;
            for (weight, loss) in exact.iter_mut().zip(losses) {
                *weight -= loss;
            }
        }
        self.exact = Some(exact);
    }
}

/// The page visits of one pass over all pages and links.
fn pass(graph: &SiteGraph) -> u64 {
    u64::from(graph.pages()) + graph.links() as u64
}

/// The pages that at least one in [`MENU_SHARE`] pages links to, or if there are none, the pages with the
/// most inlinks; most inlinks first.
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

/// The best of the candidates by exact weights.
fn argmax(candidates: &[u32], weights: &[i64], round: Round<'_>) -> Option<Argmax> {
    let mut top = TopTwo::default();
    for &page in candidates {
        let weight = weights[page as usize];
        if round.admits(weight) {
            top.offer((weight, Reverse(page)));
        }
    }
    top.best(None)
}
