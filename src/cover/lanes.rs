//! Breadth-first search from up to 64 pages at once, a bit for each.
//!
//! After MS-BFS (Then et al., PVLDB 8(4), 2014): a scanned link serves all searches that are at its
//! source at that hop, which on sites, where everything leads through the same few pages, is most
//! of them. Deviation: the next frontier is kept as a list, so that a search of a small
//! neighbourhood costs what it touches, not the size of the site.

use std::sync::{Mutex, PoisonError};

use super::graph::SiteGraph;
use super::reach::Direction;

/// How many searches run at once.
pub(super) const LANES: usize = 64;

/// The working memory of one such search: 24 bytes a page, clean between runs.
#[derive(Debug)]
pub(super) struct Lanes {
    seen: Vec<u64>,
    here: Vec<u64>,
    next: Vec<u64>,
    frontier: Vec<u32>,
    coming: Vec<u32>,
    touched: Vec<u32>,
}

impl Lanes {
    fn new(pages: usize) -> Self {
        Self {
            seen: vec![0; pages],
            here: vec![0; pages],
            next: vec![0; pages],
            frontier: Vec::new(),
            coming: Vec::new(),
            touched: Vec::new(),
        }
    }

    /// Searches from at most [`LANES`] distinct `alive` pages to `depth`; `meet` gets every page
    /// once a hop with the bits of the searches that reach it first at that hop. Gives the page
    /// visits: a page settled by several searches at one hop, or a link scanned for them, is one.
    pub(super) fn run(
        &mut self,
        graph: &SiteGraph,
        direction: Direction,
        alive: &[bool],
        sources: &[u32],
        depth: u32,
        mut meet: impl FnMut(u32, u64),
    ) -> u64 {
        for (lane, &page) in sources.iter().take(LANES).enumerate() {
            let bit = 1 << lane;
            self.seen[page as usize] = bit;
            self.here[page as usize] = bit;
            self.frontier.push(page);
            meet(page, bit);
        }
        self.touched.extend(&self.frontier);
        let mut visits = self.frontier.len();
        for _ in 0..depth {
            for &page in &self.frontier {
                let bits = std::mem::take(&mut self.here[page as usize]);
                let targets = direction.next(graph, page);
                visits += targets.len();
                for &target in targets {
                    let at = target as usize;
                    let fresh = bits & !self.seen[at];
                    if fresh != 0 && alive[at] {
                        if self.next[at] == 0 {
                            self.coming.push(target);
                        }
                        self.next[at] |= fresh;
                    }
                }
            }
            self.frontier.clear();
            visits += self.coming.len();
            for &page in &self.coming {
                let fresh = self.next[page as usize];
                let seen = &mut self.seen[page as usize];
                if *seen == 0 {
                    self.touched.push(page);
                }
                *seen |= fresh;
                meet(page, fresh);
            }
            std::mem::swap(&mut self.here, &mut self.next);
            std::mem::swap(&mut self.frontier, &mut self.coming);
            if self.frontier.is_empty() {
                break;
            }
        }
        for &page in &self.frontier {
            self.here[page as usize] = 0;
        }
        self.frontier.clear();
        for page in self.touched.drain(..) {
            self.seen[page as usize] = 0;
        }
        visits as u64
    }
}

/// Working memory for as many searches as run at a time: as many as there are threads at most.
#[derive(Debug)]
pub(super) struct Pool {
    pages: usize,
    idle: Mutex<Vec<Lanes>>,
}

impl Pool {
    pub(super) fn new(pages: u32) -> Self {
        Self {
            pages: pages as usize,
            idle: Mutex::new(Vec::new()),
        }
    }

    /// Runs `work` with a working memory of its own.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Lanes) -> T) -> T {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        // The guard must be gone before the work begins.
        let kept = idle().pop();
        let mut lanes = kept.unwrap_or_else(|| Lanes::new(self.pages));
        let result = work(&mut lanes);
        idle().push(lanes);
        result
    }
}

/// A sum for each lane, where what all lanes but a few share is added once.
#[derive(Clone, Debug)]
pub(super) struct LaneSums {
    all: u64,
    common: i64,
    own: [i64; LANES],
}

impl LaneSums {
    pub(super) fn new(lanes: usize) -> Self {
        Self {
            all: all_lanes(lanes),
            common: 0,
            own: [0; LANES],
        }
    }

    /// Adds `value` to the lanes in `bits`.
    pub(super) fn add(&mut self, bits: u64, value: i64) {
        if 2 * bits.count_ones() > self.all.count_ones() {
            self.common += value;
            self.each(self.all & !bits, -value);
        } else {
            self.each(bits, value);
        }
    }

    fn each(&mut self, mut bits: u64, value: i64) {
        while bits != 0 {
            self.own[bits.trailing_zeros() as usize] += value;
            bits &= bits - 1;
        }
    }

    pub(super) fn of(&self, lane: usize) -> i64 {
        self.common + self.own[lane]
    }
}

/// The bits of the first so many lanes.
pub(super) fn all_lanes(lanes: usize) -> u64 {
    if lanes >= LANES {
        u64::MAX
    } else {
        (1 << lanes) - 1
    }
}
