//! Breadth-first searches from pages of all processes at once, with one bit for each search.
//!
//! As [`MultiSourceBfs`](crate::graph::multi_source_bfs::MultiSourceBfs), but each hop has two halves, between which
//! the searches that are at pages of other processes go there. Forward, a process scans the links of its pages; those
//! that find a ghost go to its owner. Backward, the searches at a page first go to the processes that have it as a ghost,
//! and each scans the links from its own pages to the page or the ghost. So every page is settled by its owner alone.

use super::WebShare;
use super::codec::{Decoder, Encoder};
use crate::graph::multi_source_bfs::SourceSet;
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
/// Memory: 36 bytes for each page and ghost, 4 for each one that is found, and 36 for each one of the two frontiers.
#[derive(Debug)]
pub(super) struct ShareSearch {
    /// By page and ghost: the searches that have found it.
    seen: Vec<SourceSet>,
    /// By page and ghost: one plus its place in `next`; 0 if it has none.
    places: Vec<u32>,
    frontier: Vec<u32>,
    /// The searches that are at each page of `frontier`.
    visit: Vec<SourceSet>,
    next: Vec<u32>,
    /// The searches that find each page of `next`.
    visit_next: Vec<SourceSet>,
    found: Vec<u32>,
    /// For each of the searches at a page, one, and one for each link followed, on the last hop.
    pub(super) visits: u64,
}

impl ShareSearch {
    pub(super) fn new(share: &WebShare) -> Self {
        let targets = share.numbers.len() + share.ghosts() as usize;
        Self {
            seen: vec![SourceSet::NONE; targets],
            places: vec![0; targets],
            frontier: Vec::new(),
            visit: Vec::new(),
            next: Vec::new(),
            visit_next: Vec::new(),
            found: Vec::new(),
            visits: 0,
        }
    }

    /// Adds the source of a search, a page that is no source of another. [`settle`](Self::settle) begins.
    pub(super) fn add_source(&mut self, search: usize, page: u32) {
        self.find(page, SourceSet::one(search));
    }

    /// Returns the number of pages at which searches are, or which they find on this hop.
    pub(super) const fn pages(&self) -> usize {
        self.frontier.len() + self.next.len()
    }

    pub(super) fn is_done(&self) -> bool {
        self.frontier.is_empty()
    }

    /// Adds searches to those that find a page or a ghost on this hop, unless they have found it before.
    fn find(&mut self, page: u32, set: SourceSet) {
        let at = page as usize;
        let fresh = set.without(self.seen[at]);
        if fresh.is_empty() {
            return;
        }
        let place = &mut self.places[at];
        if let Some(found) = place.checked_sub(1) {
            self.visit_next[found as usize].add(fresh);
        } else {
            self.next.push(page);
            self.visit_next.push(fresh);
            *place = number(self.next.len());
        }
    }

    /// Follows the links of the frontier.
    fn scan(&mut self, links: &Csr) {
        let frontier = std::mem::take(&mut self.frontier);
        let visit = std::mem::take(&mut self.visit);
        for (&page, &set) in frontier.iter().zip(&visit) {
            let targets = links.list(page);
            self.visits += u64::from(set.len()) * targets.len() as u64;
            for &target in targets {
                self.find(target, set);
            }
        }
        (self.frontier, self.visit) = (frontier, visit);
        self.frontier.clear();
        self.visit.clear();
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
                self.take_ghosts(share, &mut sent);
            }
            Direction::Backward => {
                for (&page, &set) in self.frontier.iter().zip(&self.visit) {
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

    /// Moves the ghosts of the next frontier to `sent`.
    fn take_ghosts(&mut self, share: &WebShare, sent: &mut Vec<(usize, u32, SourceSet)>) {
        let pages = number(share.numbers.len());
        let mut kept = 0;
        for at in 0..self.next.len() {
            let (page, found_by) = (self.next[at], self.visit_next[at]);
            if let Some(ghost) = page.checked_sub(pages) {
                self.places[page as usize] = 0;
                let seen = &mut self.seen[page as usize];
                if seen.is_empty() {
                    self.found.push(page);
                }
                seen.add(found_by);
                let (process, place) = share.ghost(ghost);
                sent.push((process, place, found_by));
            } else {
                self.next[kept] = page;
                self.visit_next[kept] = found_by;
                kept += 1;
                self.places[page as usize] = number(kept);
            }
        }
        self.next.truncate(kept);
        self.visit_next.truncate(kept);
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
                    self.find(page, set);
                }
                Direction::Backward => {
                    let ghost = share.ghost_of(process, place)?;
                    self.frontier.push(number(share.numbers.len()) + ghost);
                    self.visit.push(set);
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
        for (&page, &fresh) in self.next.iter().zip(&self.visit_next) {
            self.places[page as usize] = 0;
            let seen = &mut self.seen[page as usize];
            if seen.is_empty() {
                self.found.push(page);
            }
            seen.add(fresh);
            self.visits += u64::from(fresh.len());
            meet(page, fresh);
        }
        std::mem::swap(&mut self.visit, &mut self.visit_next);
        std::mem::swap(&mut self.frontier, &mut self.next);
        self.visit_next.clear();
        self.next.clear();
    }

    /// Returns the visits since the last call.
    pub(super) fn take_visits(&mut self) -> u64 {
        std::mem::take(&mut self.visits)
    }

    /// Ends the run.
    pub(super) fn clear(&mut self) {
        self.frontier.clear();
        self.visit.clear();
        for page in self.found.drain(..) {
            self.seen[page as usize] = SourceSet::NONE;
        }
        self.visits = 0;
    }
}
