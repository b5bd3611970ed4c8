//! Breadth-first searches from pages of all processes at once, with one bit for each search.
//!
//! Each hop of a [`MultiSourceBfs`] has two halves. Between them, searches that are at pages of other processes are sent
//! there. Forward, a process follows the links of its pages, and sends the searches that find a ghost to its owner.
//! Backward, it first sends the searches at a page to the processes that have it as a ghost, and each follows the links
//! from its own pages to the page or the ghost. So every page is settled by its owner alone.

use super::WebShare;
use crate::graph::codec::{Decoder, Encoder};
use crate::graph::multi_source_bfs::{MultiSourceBfs, SourceSet};
use crate::graph::{Csr, number};

/// Whether searches follow links or go against them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Direction {
    /// From a page to the pages that it links to.
    Forward,
    /// From a page to the pages that link to it.
    Backward,
}

/// The part of up to 256 searches on the pages of this process. Clean between runs.
///
/// Memory: that of [`MultiSourceBfs`] for each page and ghost.
#[derive(Debug)]
pub(super) struct ShareSearch {
    /// Ghosts follow the pages.
    bfs: MultiSourceBfs,
    /// The page visits since they were last taken: a page counts for every search that settles it, and so does each link
    /// that is followed.
    visits: u64,
}

impl ShareSearch {
    pub(super) fn new(share: &WebShare) -> Self {
        let targets = share.numbers.len() + share.ghosts() as usize;
        Self {
            bfs: MultiSourceBfs::new(targets),
            visits: 0,
        }
    }

    /// Adds the source of a search, a page that is no source of another. [`settle`](Self::settle) begins.
    pub(super) fn add_source(&mut self, search: usize, page: u32) {
        self.bfs.find(page, SourceSet::one(search));
    }

    /// Returns the number of pages at which searches are, or which they find on this hop.
    pub(super) const fn pages(&self) -> usize {
        self.bfs.pages()
    }

    /// Whether no search is at a page of this process.
    pub(super) fn is_done(&self) -> bool {
        self.bfs.frontier().next().is_none()
    }

    /// Follows the links of the frontier.
    fn scan(&mut self, links: &Csr) {
        for (page, set) in self.bfs.frontier() {
            self.visits += u64::from(set.len()) * links.list(page).len() as u64;
        }
        self.bfs.expand(|page| links.list(page), |_| true);
    }

    /// The first half of a hop: appends what each process has to know to its message.
    pub(super) fn send(
        &mut self,
        direction: Direction,
        share: &WebShare,
        links: &Csr,
        messages: &mut [Encoder],
    ) {
        // The process, the place among its mirrors or ghosts, and the searches.
        let mut sent: Vec<(usize, u32, SourceSet)> = Vec::new();
        match direction {
            Direction::Forward => {
                self.scan(links);
                let pages = number(share.numbers.len());
                self.bfs.take_from(pages, |page, set| {
                    let (process, place) = share.ghost(page - pages);
                    sent.push((process, place, set));
                });
            }
            Direction::Backward => {
                for (page, set) in self.bfs.frontier() {
                    let places = share.places.list(page).iter();
                    sent.extend(places.map(|&place| {
                        let (process, place) = share.mirror(place);
                        (process, place, set)
                    }));
                }
            }
        }
        sent.sort_unstable_by_key(|(process, place, _)| (*process, *place));
        for (process, message) in messages.iter_mut().enumerate() {
            let from = sent.partition_point(|of| of.0 < process);
            let to = sent.partition_point(|of| of.0 <= process);
            message.number((to - from) as u64);
            let mut last = 0;
            for (_, place, set) in &sent[from..to] {
                message.number((place - last).into());
                message.set(*set);
                last = *place;
            }
        }
    }

    /// The second half of a hop: takes what one process has sent. Returns `None` if that cannot be decoded.
    pub(super) fn receive(
        &mut self,
        direction: Direction,
        share: &WebShare,
        process: usize,
        message: &mut Decoder<'_>,
    ) -> Option<()> {
        let count = message.number()?;
        let mut place: u32 = 0;
        for _ in 0..count {
            place = place.checked_add(message.index()?)?;
            let set = message.set()?;
            match direction {
                Direction::Forward => {
                    let page = *share.mirrors.get(process)?.get(place as usize)?;
                    self.bfs.find(page, set);
                }
                Direction::Backward => {
                    let ghost = share.ghost_of(process, place)?;
                    let ghost = number(share.numbers.len()) + ghost;
                    self.bfs.add_to_frontier(ghost, set);
                }
            }
        }
        Some(())
    }

    /// Ends a hop: calls `meet` with every page that is found on it, and the searches that find it.
    pub(super) fn settle(
        &mut self,
        direction: Direction,
        links: &Csr,
        mut meet: impl FnMut(u32, SourceSet),
    ) {
        if direction == Direction::Backward {
            self.scan(links);
        }
        let visits = &mut self.visits;
        self.bfs.settle(|page, fresh| {
            *visits += u64::from(fresh.len());
            meet(page, fresh);
        });
    }

    /// Returns the visits since the last call.
    pub(super) fn take_visits(&mut self) -> u64 {
        std::mem::take(&mut self.visits)
    }

    /// Ends the run.
    pub(super) fn clear(&mut self) {
        self.bfs.clear();
        self.visits = 0;
    }
}
