//! The hubs, or the authorities, of a region while a core grows.

use std::collections::BTreeMap;

use crate::graph::NONE;

use super::super::candidates::{BoundedScore, Candidates};

/// The state of one role: hubs or authorities.
pub(super) struct Side<'a> {
    pub(super) scores: &'a [f64],
    pub(super) errors: &'a [f64],
    pub(super) candidates: Candidates,
    /// The number of chosen pages of the other side that each page of the class is linked with. In a complete
    /// core, it stops growing at the first chosen page that the class is not linked with.
    links: Vec<u32>,
    /// In a complete core, where every hub links to every authority, the classes that are linked with all
    /// chosen pages of the other side: they are candidates with one link, all others with none. `None` if the
    /// core need not be complete.
    fitting: Option<Vec<u32>>,
    /// The last page taken of each class; pages are taken in URL order.
    taken: BTreeMap<u32, u32>,
    /// The first remaining page of a class, after the given page if there is one.
    next: Box<dyn Fn(u32, Option<u32>) -> Option<u32> + 'a>,
}

impl<'a> Side<'a> {
    pub(super) fn new(
        scores: &'a [f64],
        errors: &'a [f64],
        rivals: Option<&[u32]>,
        next: impl Fn(u32, Option<u32>) -> Option<u32> + 'a,
    ) -> Self {
        Self {
            scores,
            errors,
            candidates: Candidates::new(scores, errors, rivals),
            links: vec![0; scores.len()],
            fitting: rivals.map(|_| Vec::new()),
            taken: BTreeMap::new(),
            next: Box::new(next),
        }
    }

    pub(super) fn score(&self, position: u32) -> BoundedScore {
        BoundedScore {
            score: self.scores[position as usize],
            error: self.errors[position as usize],
        }
    }

    /// The next page of the class; [`NONE`] if all are taken.
    pub(super) fn next_page(&self, position: u32) -> u32 {
        (self.next)(position, self.taken.get(&position).copied()).unwrap_or(NONE)
    }

    /// Takes `page`, the next page of the class.
    pub(super) fn take(&mut self, position: u32, page: u32) {
        self.taken.insert(position, page);
        let next = self.next_page(position);
        let links = self.links[position as usize];
        self.candidates.set(position, links, next);
    }

    /// Makes classes candidates as if they were linked with a chosen page, or no candidates.
    pub(super) fn offer(&mut self, positions: &[u32], is_offered: bool) {
        for &position in positions {
            let (links, page) = if is_offered {
                (1, self.next_page(position))
            } else {
                (0, NONE)
            };
            self.candidates.set(position, links, page);
        }
    }

    /// The last page taken of the class.
    pub(super) fn last_taken(&self, position: u32) -> Option<u32> {
        self.taken.get(&position).copied()
    }

    /// Gives back the pages of the class that were taken after `last`.
    pub(super) fn give_back(&mut self, position: u32, last: Option<u32>) {
        match last {
            Some(page) => self.taken.insert(position, page),
            None => self.taken.remove(&position),
        };
        let next = self.next_page(position);
        let links = self.links[position as usize];
        self.candidates.set(position, links, next);
    }

    /// Accounts for a page chosen on the other side, now with `chosen` pages, that these classes are linked
    /// with.
    pub(super) fn link(&mut self, positions: &[u32], chosen: usize) {
        if let Some(fitting) = self.fitting.take() {
            self.fitting = Some(self.narrowed(fitting, positions, chosen));
            return;
        }
        for &position in positions {
            let links = &mut self.links[position as usize];
            *links += 1;
            // A class with links already knows its next page, or that it has none.
            let (links, page) = match *links {
                1 => (1, self.next_page(position)),
                more => (more, self.candidates.at(position).0),
            };
            self.candidates.set(position, links, page);
        }
    }

    /// Returns the fitting classes that are also at `positions`. No other class can be a candidate of a
    /// complete core again.
    fn narrowed(&mut self, mut fitting: Vec<u32>, positions: &[u32], chosen: usize) -> Vec<u32> {
        if chosen == 1 {
            self.candidates = Candidates::new(self.scores, self.errors, Some(positions));
            for &position in positions {
                self.links[position as usize] = 1;
                self.candidates.set(position, 1, self.next_page(position));
            }
            return positions.to_vec();
        }
        for &position in positions {
            let links = &mut self.links[position as usize];
            *links += u32::from(*links as usize + 1 == chosen);
        }
        fitting.retain(|&position| {
            let fits = self.links[position as usize] as usize == chosen;
            if !fits {
                self.candidates.set(position, 0, NONE);
            }
            fits
        });
        fitting
    }
}
