//! The pages that `max-out` has not removed yet, and the best of them by out-degree.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::bfs_ball::BallSearch;
use super::pick::{Score, Scored};
use crate::graph::{Csr, number};

/// An out-degree and its page; the best entry is the greatest, ties by smallest URL.
pub(super) type Entry = (u32, Reverse<u32>);

/// An entry as a scored page.
pub(super) const fn scored(entry: Entry) -> Scored {
    let (degree, Reverse(page)) = entry;
    let score = Score::OutDegree(degree);
    Scored { page, score }
}

/// The pages that no pick has removed, with their out-degrees among each other.
pub(super) struct Remaining<'a> {
    successors: &'a Csr,
    predecessors: &'a Csr,
    alive: Vec<bool>,
    degrees: Vec<u32>,
    search: BallSearch,
    pub(super) visits: u64,
}

impl<'a> Remaining<'a> {
    pub(super) fn new(successors: &'a Csr, predecessors: &'a Csr) -> Self {
        let pages = number(successors.len());
        Self {
            successors,
            predecessors,
            alive: vec![true; successors.len()],
            degrees: (0..pages)
                .map(|page| number(successors.list(page).len()))
                .collect(),
            search: BallSearch::new(pages),
            visits: 0,
        }
    }

    pub(super) fn entry(&self, page: u32) -> Entry {
        (self.degrees[page as usize], Reverse(page))
    }

    /// Removes the remaining pages within `hops` of a pick, over remaining pages. Does nothing if an
    /// earlier pick has removed the pick itself, which happens to pins.
    pub(super) fn remove_ball(&mut self, pick: u32, hops: u32) {
        let alive = &self.alive;
        if !alive[pick as usize] {
            return;
        }
        let mut removed = Vec::new();
        self.visits += self.search.levels_among(
            self.successors,
            &[pick],
            hops,
            |page| alive[page as usize],
            |level| removed.extend_from_slice(level.pages),
        );
        for page in removed {
            self.alive[page as usize] = false;
            let sources = self.predecessors.list(page);
            self.visits += sources.len() as u64;
            for &source in sources {
                self.degrees[source as usize] -= 1;
            }
        }
    }

    /// Pops the best entry whose page remains and for which `is_open` holds.
    ///
    /// Out-degrees only fall, so an entry with an outdated degree is pushed back with the present one.
    pub(super) fn pop_best(
        &self,
        queue: &mut BinaryHeap<Entry>,
        is_open: impl Fn(u32) -> bool,
    ) -> Option<Entry> {
        while let Some(entry @ (_, Reverse(page))) = queue.pop() {
            if !self.alive[page as usize] || !is_open(page) {
                continue;
            }
            let present = self.entry(page);
            if entry == present {
                return Some(entry);
            }
            queue.push(present);
        }
        None
    }
}
