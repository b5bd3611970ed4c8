//! Weights by search: of some pages by forward search, of all pages by backward search.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use rayon::prelude::*;

use super::graph::SiteGraph;
use super::reach::{Direction, OfSite};
use super::residual::Residual;
use crate::graph::multi_source_bfs::{BfsPool, MAX_SOURCES, SourceSet, SourceSums, SourceValues};

/// A sum for each page.
type Sums = Vec<i64>;

/// Searches of one depth on one site, in groups, in parallel.
#[derive(Debug)]
pub(super) struct Searches<'a> {
    graph: &'a SiteGraph,
    depth: u32,
    pool: BfsPool,
}

impl<'a> Searches<'a> {
    pub(super) fn new(graph: &'a SiteGraph, depth: u32) -> Self {
        Self {
            graph,
            depth,
            pool: BfsPool::new(graph.pages()),
        }
    }

    /// The weight of each source and the positive part of it, by forward search, and the page
    /// visits.
    pub(super) fn weigh(&self, sources: &[u32], residual: &Residual) -> (Vec<(i64, i64)>, u64) {
        let visits = AtomicU64::new(0);
        let weigh = |group: &[u32]| -> Vec<(i64, i64)> {
            let mut weight = SourceSums::new(group.len());
            let mut positive = weight.clone();
            let meet = |_: u32, page: u32, bits: SourceSet| {
                let value = residual.values[page as usize];
                if value != 0 {
                    weight.add(bits, value);
                    if value > 0 {
                        positive.add(bits, value);
                    }
                }
            };
            let links = OfSite(self.graph, Direction::Forward);
            let (alive, depth) = (&residual.alive, self.depth);
            let made = self
                .pool
                .with(|lanes| lanes.run(&links, alive, group, depth, meet));
            visits.fetch_add(made, Ordering::Relaxed);
            let lanes = 0..group.len();
            lanes
                .map(|lane| (weight.get(lane), positive.get(lane)))
                .collect()
        };
        let mut weights = Vec::with_capacity(sources.len());
        for groups in sources.chunks(MAX_SOURCES * self.pool.concurrency()) {
            let groups: Vec<_> = groups.par_chunks(MAX_SOURCES).map(weigh).collect();
            weights.extend(groups.into_iter().flatten());
        }
        (weights, visits.into_inner())
    }

    /// For every page the sum of the values of the sources within its reach, and the sum of the
    /// positive ones among them, by backward search from the sources; and the page visits.
    pub(super) fn spread(&self, sources: &[(u32, i64)], alive: &[bool]) -> (Sums, Sums, u64) {
        let zeros = || {
            let mut zeros = Vec::new();
            zeros.resize_with(alive.len(), AtomicI64::default);
            zeros
        };
        let (weights, positive) = (zeros(), zeros());
        let visits = AtomicU64::new(0);
        let spread = |group: &[(u32, i64)]| {
            let values = SourceValues::new(group.iter().map(|source| source.1).collect());
            let gains = SourceValues::new(group.iter().map(|source| source.1.max(0)).collect());
            let pages: Vec<u32> = group.iter().map(|source| source.0).collect();
            // These are whole numbers, so the order in which threads add makes no difference.
            let meet = |_: u32, page: u32, bits: SourceSet| {
                weights[page as usize].fetch_add(values.sum(bits), Ordering::Relaxed);
                positive[page as usize].fetch_add(gains.sum(bits), Ordering::Relaxed);
            };
            let (links, depth) = (OfSite(self.graph, Direction::Backward), self.depth);
            let made = self
                .pool
                .with(|lanes| lanes.run(&links, alive, &pages, depth, meet));
            visits.fetch_add(made, Ordering::Relaxed);
        };
        for groups in sources.chunks(MAX_SOURCES * self.pool.concurrency()) {
            groups.par_chunks(MAX_SOURCES).for_each(spread);
        }
        let plain = |sums: Vec<AtomicI64>| sums.into_iter().map(AtomicI64::into_inner).collect();
        (plain(weights), plain(positive), visits.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{site, within};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn both_ways_find_what_a_search_from_each_page_finds(
            (graph, residual) in site(),
            depth in 0_u32..6,
        ) {
            let pages: Vec<u32> = (0..graph.pages()).filter(|&p| residual.alive[p as usize]).collect();
            let searches = Searches::new(&graph, depth);
            let (forward, _) = searches.weigh(&pages, &residual);
            let sources: Vec<(u32, i64)> = residual
                .nonzero_pages()
                .iter()
                .map(|&page| (page, residual.values[page as usize]))
                .collect();
            let (weights, positive, _) = searches.spread(&sources, &residual.alive);
            for (&page, found) in pages.iter().zip(forward) {
                let wanted = within(&graph, &residual, page, depth);
                prop_assert_eq!(found, wanted);
                prop_assert_eq!((weights[page as usize], positive[page as usize]), wanted);
            }
            // The working memory is clean after use.
            let again = searches.weigh(&pages, &residual).0;
            prop_assert_eq!(again, searches.weigh(&pages, &residual).0);
        }
    }
}
