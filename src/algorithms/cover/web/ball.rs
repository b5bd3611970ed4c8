//! What lies within some hops of one page: breadth-first searches, many at a time.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::graph::Csr;
use crate::graph::multi_source_bfs::{
    BfsPool, BidirectionalLinks, MAX_SOURCES, MultiSourceBfs, Neighbours, SourceSet,
};
use crate::watch::{Interrupted, Watch};

/// What the working memory of all searches that run at a time may take, in bytes.
const MEMORY: usize = 1 << 30;
/// The most searches per task.
const CHUNK: usize = 256;
/// From so many hops on, searches go together.
pub(super) const OVERLAPPING: u32 = 2;
/// The fewest tasks, where there are as many searches: so that the last ones end at about the same
/// time.
const TASKS: usize = 64;

/// A search that can be repeated without clearing: pages are marked with the number of the run.
#[derive(Clone, Debug)]
pub(super) struct Ball {
    seen_in: Vec<u32>,
    run: u32,
    /// Pages in the order in which they were settled.
    queue: Vec<u32>,
}

/// The pages at one distance from where a search began.
pub(super) struct Level<'a> {
    pub(super) hop: u32,
    pub(super) pages: &'a [u32],
    /// The page visits of the search so far: pages settled plus entries of lists scanned.
    pub(super) visits: u64,
}

impl Ball {
    pub(super) fn new(pages: usize) -> Self {
        Self {
            seen_in: vec![0; pages],
            run: 0,
            queue: Vec::new(),
        }
    }

    /// Hands the levels within `hops` of `from` to `meet`, nearest first, as long as they have
    /// pages; returns the page visits.
    pub(super) fn levels(
        &mut self,
        links: &Csr,
        from: u32,
        hops: u32,
        meet: impl FnMut(Level<'_>),
    ) -> u64 {
        self.levels_among(links, &[from], hops, |_| true, meet)
    }

    /// [`Ball::levels`] over those pages that `there` says still count.
    pub(super) fn levels_among(
        &mut self,
        links: &Csr,
        from: &[u32],
        hops: u32,
        there: impl Fn(u32) -> bool,
        mut meet: impl FnMut(Level<'_>),
    ) -> u64 {
        self.run = self.run.wrapping_add(1);
        if self.run == 0 {
            self.seen_in.fill(0);
            self.run = 1;
        }
        self.queue.clear();
        for &page in from {
            let seen = &mut self.seen_in[page as usize];
            if std::mem::replace(seen, self.run) != self.run {
                self.queue.push(page);
            }
        }
        let mut level = 0..self.queue.len();
        let mut visits = level.len() as u64;
        for hop in 0..=hops {
            meet(Level {
                hop,
                pages: &self.queue[level.clone()],
                visits,
            });
            if hop == hops {
                break;
            }
            for at in level.clone() {
                let targets = links.list(self.queue[at]);
                visits += targets.len() as u64;
                for &target in targets {
                    let seen = &mut self.seen_in[target as usize];
                    if *seen != self.run && there(target) {
                        *seen = self.run;
                        self.queue.push(target);
                    }
                }
            }
            level = level.end..self.queue.len();
            visits += level.len() as u64;
            if level.is_empty() {
                break;
            }
        }
        visits
    }
}

/// Searches from several pages at a time.
///
/// Where searches overlap, as those of neighbours do from two hops on, this takes a small part of the
/// time of one after the other. Page visits are counted as if they went one after the other: a page
/// counts for every search that settles it, and so does each entry of its list.
pub(super) struct Together<'a> {
    lanes: &'a mut MultiSourceBfs,
    all: &'a [bool],
}

impl Together<'_> {
    /// Meets every page within `hops` of one of at most [`MAX_SOURCES`] distinct pages, nearest first, with
    /// its distance and the searches that settle it there. Returns the page visits by hops: those of
    /// searches that end at 0 hops, at 1, and so on.
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
        let mut visits = 0;
        let mut before = 0;
        let of_hops = settled.into_iter().zip(scanned);
        of_hops
            .map(|(settled, scanned)| {
                visits += settled + std::mem::replace(&mut before, scanned);
                visits
            })
            .collect()
    }
}

/// Working memories for the searches that run at a time.
#[derive(Debug)]
pub(super) struct Balls {
    pages: usize,
    idle: Mutex<Vec<Ball>>,
    lanes: BfsPool,
    /// By page: that it takes part.
    all: Vec<bool>,
}

impl Balls {
    pub(super) fn new(pages: u32) -> Self {
        Self {
            pages: pages as usize,
            idle: Mutex::new(Vec::new()),
            lanes: BfsPool::new(pages),
            all: vec![true; pages as usize],
        }
    }

    /// Searches from parts of `pages` at a time, each with a bit of its own, in parallel. `work` gets
    /// what searches from a part, `take` the results, in the order of the parts.
    ///
    /// Memory: 36 bytes per page and 36 for each page of a frontier, for each part at work, of which
    /// there are as many as there are threads, but no more than fit into about 1 GiB; and the results
    /// of these parts.
    pub(super) fn together<T: Send>(
        &self,
        pages: &[u32],
        watch: &dyn Watch,
        work: impl Fn(&mut Together<'_>, &[u32]) -> T + Sync,
        mut take: impl FnMut(T),
    ) -> Result<(), Interrupted> {
        // Of few searches some for each thread, however many there are.
        let chunk = (pages.len() / 8).clamp(MAX_SOURCES / 4, MAX_SOURCES);
        for parts in pages.chunks(chunk * self.lanes.concurrency()) {
            let found: Result<Vec<T>, Interrupted> = parts
                .par_chunks(chunk)
                .map(|part| {
                    watch.proceed()?;
                    let all = &self.all;
                    Ok(self
                        .lanes
                        .with(|lanes| work(&mut Together { lanes, all }, part)))
                })
                .collect();
            found?.into_iter().for_each(&mut take);
        }
        Ok(())
    }

    /// Runs `work` with a working memory that nobody else uses.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Ball) -> T) -> T {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        // The lock must be released before the work begins.
        let kept = idle().pop();
        let mut ball = kept.unwrap_or_else(|| Ball::new(self.pages));
        let result = work(&mut ball);
        idle().push(ball);
        result
    }

    /// Hands parts of `items`, with a working memory each, to `work`, in parallel; the results are
    /// in the order of the parts.
    ///
    /// Memory: 8 bytes per page for each part at work, of which there are as many as there are
    /// threads, but no more than fit into 1 GiB.
    pub(super) fn each<I: Sync, T: Send>(
        &self,
        items: &[I],
        watch: &dyn Watch,
        work: impl Fn(&mut Ball, &[I]) -> T + Sync,
    ) -> Result<Vec<T>, Interrupted> {
        let at_a_time = (MEMORY / (8 * self.pages.max(1))).max(1);
        let chunk = (items.len() / TASKS).clamp(1, CHUNK);
        let parts = items.len().div_ceil(chunk);
        items
            .par_chunks(chunk)
            .with_min_len(if at_a_time < rayon::current_num_threads() {
                parts.div_ceil(at_a_time)
            } else {
                1
            })
            .map(|part| {
                watch.proceed()?;
                Ok(self.with(|ball| work(ball, part)))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_met_nearest_first_and_their_work_is_counted() {
        // 0 to 1 and 2, both to 3, and 3 back to 0.
        let mut links = Csr::default();
        for list in [&[1, 2][..], &[3], &[3], &[0]] {
            links.push(list.iter().copied());
        }
        let mut ball = Ball::new(4);
        for (hops, wanted, visits) in [
            (0, vec![vec![0]], 1),
            (1, vec![vec![0], vec![1, 2]], 5),
            (2, vec![vec![0], vec![1, 2], vec![3]], 8),
            (9, vec![vec![0], vec![1, 2], vec![3]], 9),
        ] {
            let mut found = Vec::new();
            let counted = ball.levels(&links, 0, hops, |level| {
                assert_eq!(level.hop as usize, found.len());
                found.push(level.pages.to_vec());
            });
            assert_eq!((found, counted), (wanted, visits));
        }
    }
}
