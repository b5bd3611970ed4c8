//! Exact weights: of some pages by forward search, of all pages by backward search.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use rayon::prelude::*;

use super::graph::SiteGraph;
use super::residual::Residual;
use crate::graph::multi_source_bfs::{
    BATCH_SIZE, BfsPool, BidirectionalLinks, SourceSet, SourceSums, SourceValues,
};

/// One sum per page.
type Sums = Vec<i64>;

/// Searches of a fixed depth on one site, in groups that run in parallel.
#[derive(Debug)]
pub(super) struct WeightSearch<'a> {
    graph: &'a SiteGraph,
    depth: u32,
    pool: BfsPool,
}

impl<'a> WeightSearch<'a> {
    pub(super) fn new(graph: &'a SiteGraph, depth: u32) -> Self {
        Self {
            graph,
            depth,
            pool: BfsPool::new(graph.pages()),
        }
    }

    /// The weight of each source and the positive value within its reach, by forward search, and the
    /// page visits.
    pub(super) fn forward(&self, sources: &[u32], residual: &Residual) -> (Vec<(i64, i64)>, u64) {
        let visits = AtomicU64::new(0);
        let search = |group: &[u32]| -> Vec<(i64, i64)> {
            // The weight, and the positive part of it.
            let mut sums = SourceSums::new(group.len());
            let meet = |_: u32, page: u32, bits: SourceSet| {
                let value = residual.values[page as usize];
                if value != 0 {
                    sums.add(bits, [value, value.max(0)]);
                }
            };
            let links =
                BidirectionalLinks(self.graph.successor_lists(), self.graph.predecessor_lists());
            let (alive, depth) = (&residual.alive, self.depth);
            let group_visits = self
                .pool
                .with(|lanes| lanes.run(&links, alive, group, depth, meet));
            visits.fetch_add(group_visits, Ordering::Relaxed);
            let lanes = 0..group.len();
            lanes.map(|lane| sums.get(lane).into()).collect()
        };
        let mut weights = Vec::with_capacity(sources.len());
        for groups in sources.chunks(BATCH_SIZE * self.pool.concurrency()) {
            let groups: Vec<_> = groups.par_chunks(BATCH_SIZE).map(search).collect();
            weights.extend(groups.into_iter().flatten());
        }
        (weights, visits.into_inner())
    }

    /// For every page, the sum of the values of the sources within its reach and the sum of the positive
    /// ones, by backward search from the sources; and the page visits.
    pub(super) fn backward(&self, sources: &[(u32, i64)], alive: &[bool]) -> (Sums, Sums, u64) {
        let zeros = || {
            let mut zeros = Vec::new();
            zeros.resize_with(alive.len(), AtomicI64::default);
            zeros
        };
        let (weights, positive) = (zeros(), zeros());
        let visits = AtomicU64::new(0);
        let search = |group: &[(u32, i64)]| {
            let values = SourceValues::new(group.iter().map(|source| source.1).collect());
            let gains = SourceValues::new(group.iter().map(|source| source.1.max(0)).collect());
            let pages: Vec<u32> = group.iter().map(|source| source.0).collect();
            // Sums of integers do not depend on the order in which threads add.
            let meet = |_: u32, page: u32, bits: SourceSet| {
                weights[page as usize].fetch_add(values.sum(bits), Ordering::Relaxed);
                positive[page as usize].fetch_add(gains.sum(bits), Ordering::Relaxed);
            };
            let links =
                BidirectionalLinks(self.graph.predecessor_lists(), self.graph.successor_lists());
            let depth = self.depth;
            let group_visits = self
                .pool
                .with(|lanes| lanes.run(&links, alive, &pages, depth, meet));
            visits.fetch_add(group_visits, Ordering::Relaxed);
        };
        for groups in sources.chunks(BATCH_SIZE * self.pool.concurrency()) {
            groups.par_chunks(BATCH_SIZE).for_each(search);
        }
        let into_sums =
            |sums: Vec<AtomicI64>| sums.into_iter().map(AtomicI64::into_inner).collect();
        (into_sums(weights), into_sums(positive), visits.into_inner())
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
        fn both_directions_give_the_weights_of_separate_searches(
            (graph, residual) in site(),
            depth in 0_u32..6,
        ) {
            let pages: Vec<u32> = (0..graph.pages()).filter(|&p| residual.alive[p as usize]).collect();
            let searches = WeightSearch::new(&graph, depth);
            let (forward, _) = searches.forward(&pages, &residual);
            let sources = residual.nonzero_values();
            let (weights, positive, _) = searches.backward(&sources, &residual.alive);
            for (&page, found) in pages.iter().zip(forward) {
                let wanted = within(&graph, &residual, page, depth);
                prop_assert_eq!(found, wanted);
                prop_assert_eq!((weights[page as usize], positive[page as usize]), wanted);
            }
            // The working memory is clean after use.
            let again = searches.forward(&pages, &residual).0;
            prop_assert_eq!(again, searches.forward(&pages, &residual).0);
        }
    }
}
