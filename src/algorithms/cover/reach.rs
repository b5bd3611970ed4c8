//! Breadth-first search, and what picks cover.

use roaring::RoaringBitmap;

use super::graph::SiteGraph;
use super::pick::HopGain;
use crate::graph::multi_source_bfs::Neighbours;

/// A search that can be repeated without clearing: pages are marked with the number of the run.
#[derive(Clone, Debug)]
pub(super) struct Search {
    seen_in: Vec<u32>,
    run: u32,
    /// Pages in the order in which they were settled.
    queue: Vec<u32>,
}

/// Which way a search follows links.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Direction {
    Forward,
    Backward,
}

impl Direction {
    pub(super) fn reverse(self) -> Self {
        match self {
            Self::Forward => Self::Backward,
            Self::Backward => Self::Forward,
        }
    }

    pub(super) fn next(self, graph: &SiteGraph, page: u32) -> &[u32] {
        match self {
            Self::Forward => graph.successors(page),
            Self::Backward => graph.predecessors(page),
        }
    }
}

/// The links of a site, one way or the other.
pub(super) struct OfSite<'a>(pub(super) &'a SiteGraph, pub(super) Direction);

impl Neighbours for OfSite<'_> {
    fn successors(&self, page: u32) -> &[u32] {
        self.1.next(self.0, page)
    }

    fn predecessors(&self, page: u32) -> &[u32] {
        self.1.reverse().next(self.0, page)
    }
}

impl Search {
    pub(super) fn new(pages: u32) -> Self {
        Self {
            seen_in: vec![0; pages as usize],
            run: 0,
            queue: Vec::new(),
        }
    }

    /// Meets every page within `depth` hops of one of `from`, which are distinct, over `alive`
    /// pages, nearest first, with its distance; returns the page visits.
    pub(super) fn run(
        &mut self,
        graph: &SiteGraph,
        direction: Direction,
        alive: &[bool],
        from: &[u32],
        depth: u32,
        mut meet: impl FnMut(u32, u32),
    ) -> u64 {
        self.run = self.run.wrapping_add(1);
        if self.run == 0 {
            self.seen_in.fill(0);
            self.run = 1;
        }
        self.queue.clear();
        self.queue.extend(from);
        for &page in from {
            self.seen_in[page as usize] = self.run;
            meet(page, 0);
        }
        let mut scanned = 0;
        let mut level = 0..self.queue.len();
        for hop in 1..=depth {
            for at in level.clone() {
                let targets = direction.next(graph, self.queue[at]);
                scanned += targets.len();
                for &target in targets {
                    let seen = &mut self.seen_in[target as usize];
                    if *seen != self.run && alive[target as usize] {
                        *seen = self.run;
                        self.queue.push(target);
                        meet(target, hop);
                    }
                }
            }
            level = level.end..self.queue.len();
            if level.is_empty() {
                break;
            }
        }
        (self.queue.len() + scanned) as u64
    }
}

/// What the picks so far cover on the whole site graph.
#[derive(Clone, Debug)]
pub(super) struct Coverage {
    /// The distance of each page from the nearest pick; `u32::MAX` beyond h hops.
    pub(super) near: Vec<u32>,
    /// Pages in the order in which the last pick came near them.
    queue: Vec<u32>,
}

impl Coverage {
    pub(super) fn new(pages: u32) -> Self {
        Self {
            near: vec![u32::MAX; pages as usize],
            queue: Vec::new(),
        }
    }

    /// Covers what is within `hops` of a new pick; returns what it adds hop by hop, the pages
    /// added, and the page visits.
    ///
    /// A page that an earlier pick is as near to is not walked through: what lies behind it is as
    /// near to that pick, too. So all picks together cost one search for the first, and for the
    /// others what they are nearer to than all before.
    pub(super) fn add(
        &mut self,
        graph: &SiteGraph,
        pick: u32,
        hops: u32,
    ) -> (Vec<HopGain>, Vec<u32>, u64) {
        let (near, queue) = (&mut self.near, &mut self.queue);
        let mut added = Vec::new();
        let mut gains = Gains::default();
        queue.clear();
        queue.push(pick);
        if std::mem::replace(&mut near[pick as usize], 0) == u32::MAX {
            added.push(pick);
        }
        gains.close(graph, &added);
        let mut scanned = 0;
        let mut level = 0..queue.len();
        for hop in 1..=hops {
            for at in level.clone() {
                let targets = graph.successors(queue[at]);
                scanned += targets.len();
                for &target in targets {
                    let known = &mut near[target as usize];
                    if *known > hop {
                        if *known == u32::MAX {
                            added.push(target);
                        }
                        *known = hop;
                        queue.push(target);
                    }
                }
            }
            level = level.end..queue.len();
            if level.is_empty() {
                break;
            }
            gains.close(graph, &added);
        }
        (gains.found(), added, (queue.len() + scanned) as u64)
    }
}

/// What a pick adds, hop by hop.
#[derive(Default)]
pub(super) struct Gains {
    hops: Vec<HopGain>,
    /// How many of the pages added are in `hops`.
    told: usize,
}

impl Gains {
    /// Ends a hop: what was added since the last one is at its distance.
    pub(super) fn close(&mut self, graph: &SiteGraph, added: &[u32]) {
        let mut pages = added[self.told..].to_vec();
        self.told = added.len();
        pages.sort_unstable();
        self.hops.push(HopGain {
            value: pages
                .iter()
                .map(|&page| graph.values()[page as usize])
                .sum(),
            pages: pages.into_iter().collect::<RoaringBitmap>(),
        });
    }

    /// The hops up to the last one that adds a page; the pick itself is always there.
    pub(super) fn found(mut self) -> Vec<HopGain> {
        let last = self.hops.iter().rposition(|hop| !hop.pages.is_empty());
        self.hops.truncate(last.unwrap_or(0) + 1);
        self.hops
    }
}
