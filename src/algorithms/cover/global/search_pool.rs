//! Breadth-first searches from many pages, in parallel, with pooled working memory.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::super::bfs_ball::BallSearch;
use super::graph::WebGraph;
use super::share::wave::SharePool;
use crate::graph::multi_source_bfs::{
    BATCH_SIZE, BfsPool, BidirectionalLinks, MultiSourceBfs, Neighbours, SourceSet,
};
use crate::watch::{Interrupted, Watch};

/// The limit of the working memory of all concurrent searches, in bytes.
const MEMORY: usize = 1 << 30;
/// The most searches per task.
const CHUNK: usize = 256;
/// From this many hops on, searches run in batches: those of neighbours overlap.
pub(super) const MIN_BATCHED_HOPS: u32 = 2;
/// The fewest tasks, if there are as many searches, so that threads finish at about the same time.
const TASKS: usize = 64;

/// Searches from several pages at a time.
///
/// Where searches overlap, this takes a small part of the time of separate searches. Page visits are
/// counted as if they were separate: a page counts for every search that settles it, and so does each entry
/// of its list.
pub(super) struct BatchSearch<'a> {
    lanes: &'a mut MultiSourceBfs,
    all: &'a [bool],
}

impl BatchSearch<'_> {
    /// Calls `meet` for every page within `hops` of at most [`BATCH_SIZE`] distinct pages, nearest first, with
    /// its distance and the searches that settle it there. Returns the page visits by number of hops, from
    /// 0 on.
    pub(super) fn run(
        &mut self,
        links: &BidirectionalLinks<'_>,
        from: &[u32],
        hops: u32,
        mut meet: impl FnMut(u32, u32, SourceSet),
    ) -> Vec<u64> {
        let mut settled = vec![0; hops as usize + 1];
        let mut scanned = vec![0; hops as usize + 1];
        self.lanes
            .run(links, self.all, from, hops, |hop, page, bits| {
                let searches = u64::from(bits.len());
                settled[hop as usize] += searches;
                scanned[hop as usize] += searches * links.successors(page).len() as u64;
                meet(hop, page, bits);
            });
        // A search of h hops scans the lists of the pages that it settles within h - 1 hops.
        let mut visits = 0;
        let mut scanned_before = 0;
        let by_hop = settled.into_iter().zip(scanned);
        by_hop
            .map(|(settled, scanned)| {
                visits += settled + std::mem::replace(&mut scanned_before, scanned);
                visits
            })
            .collect()
    }
}

/// Working memory for the searches that run at a time.
#[derive(Debug)]
pub(super) struct SearchPool {
    pages: u32,
    idle: Mutex<Vec<BallSearch>>,
    lanes: BfsPool,
    /// `true` for every page, as batches require.
    all: Vec<bool>,
    /// For searches over several processes.
    share: SharePool,
}

impl SearchPool {
    pub(super) fn new(graph: &WebGraph) -> Self {
        let pages = graph.pages();
        let batched = if graph.share().is_none() { pages } else { 0 };
        Self {
            pages,
            idle: Mutex::new(Vec::new()),
            lanes: BfsPool::new(pages),
            all: vec![true; batched as usize],
            share: SharePool::default(),
        }
    }

    /// Returns the working memory of searches over several processes.
    pub(super) const fn share(&self) -> &SharePool {
        &self.share
    }

    /// Calls `work` for batches of `pages` in parallel, and `take` with the results, in order.
    ///
    /// Memory: 36 bytes per page and 36 for each page of a frontier, for each concurrent batch, of which
    /// there are at most as many as threads, limited to about 1 GiB; and the results of these batches.
    pub(super) fn in_batches<T: Send>(
        &self,
        pages: &[u32],
        watch: &dyn Watch,
        work: impl Fn(&mut BatchSearch<'_>, &[u32]) -> T + Sync,
        mut take: impl FnMut(T),
    ) -> Result<(), Interrupted> {
        // If there are few searches, each thread gets some; the size does not depend on their number.
        let chunk = (pages.len() / 8).clamp(BATCH_SIZE / 4, BATCH_SIZE);
        for parts in pages.chunks(chunk * self.lanes.concurrency()) {
            let found: Result<Vec<T>, Interrupted> = parts
                .par_chunks(chunk)
                .map(|part| {
                    watch.proceed()?;
                    let all = &self.all;
                    Ok(self
                        .lanes
                        .with(|lanes| work(&mut BatchSearch { lanes, all }, part)))
                })
                .collect();
            found?.into_iter().for_each(&mut take);
        }
        Ok(())
    }

    /// Calls `work` for chunks of `pages` in parallel, each with a working memory. Results are in order.
    ///
    /// Memory: 8 bytes per page for each concurrent chunk, of which there are at most as many as threads,
    /// limited to 1 GiB.
    pub(super) fn in_chunks<T: Send>(
        &self,
        pages: &[u32],
        watch: &dyn Watch,
        work: impl Fn(&mut BallSearch, &[u32]) -> T + Sync,
    ) -> Result<Vec<T>, Interrupted> {
        let at_a_time = (MEMORY / (8 * self.pages.max(1) as usize)).max(1);
        let chunk = (pages.len() / TASKS).clamp(1, CHUNK);
        let parts = pages.len().div_ceil(chunk);
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        pages
            .par_chunks(chunk)
            .with_min_len(if at_a_time < rayon::current_num_threads() {
                parts.div_ceil(at_a_time)
            } else {
                1
            })
            .map(|part| {
                watch.proceed()?;
                // A statement of its own, so that the lock is released before the work begins.
                let pooled = idle().pop();
                let mut search = pooled.unwrap_or_else(|| BallSearch::new(self.pages));
                let result = work(&mut search, part);
                idle().push(search);
                Ok(result)
            })
            .collect()
    }
}
