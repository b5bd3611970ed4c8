//! The best candidate class, under changes of links and next pages.

use std::ops::Range;

use rayon::prelude::*;

use crate::graph::NONE;
use crate::rank::TIED;

/// The classes of one side by descending score, with a tree that finds the best class that fits.
///
/// A class is a candidate while it has a page left and `links > 0`, the number of chosen pages on the other
/// side that each of its pages is linked with. A query has a least number of links, since the density rule
/// determines how many links the next page must have. Costs: `O(log n)` for a change; `O(log n)` for a query
/// if the tied candidates have equally many links, else up to that for each of them.
#[derive(Clone, Debug)]
pub(super) struct Candidates {
    /// Scores by place, descending.
    scores: Vec<f64>,
    /// Error bounds of the scores, by place.
    errors: Vec<f64>,
    /// By place, the greatest possible score from there on.
    highest: Vec<f64>,
    /// By place, the smallest possible score up to there.
    lowest: Vec<f64>,
    /// Place of each position; [`NONE`] if it can never be a candidate.
    places: Vec<u32>,
    /// Position at each place.
    positions: Vec<u32>,
    leaves: usize,
    tree: Vec<Node>,
}

/// The most and the fewest links, and the smallest page, of the candidates below a node.
#[derive(Clone, Copy, Debug)]
struct Node {
    most: u32,
    fewest: u32,
    page: u32,
}

const EMPTY: Node = Node {
    most: 0,
    fewest: u32::MAX,
    page: NONE,
};

/// The candidate that the tie rule chooses.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Chosen {
    pub(super) position: u32,
    pub(super) page: u32,
    pub(super) links: u32,
    /// The position with the best score among those that fit; the chosen position is tied with it.
    pub(super) best: u32,
    /// An upper bound on the scores of all positions that fit, whatever the errors.
    pub(super) highest: f64,
    /// Positions for which the errors leave open whether they are tied with the best.
    pub(super) unclear: Unclear,
}

/// The positions of the candidates with the smallest pages among those that may be tied with a score.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Tied {
    /// Of those tied whatever the errors, and those with that score.
    pub(super) clear: Option<u32>,
    /// Of those for which the errors leave it open.
    pub(super) unclear: Option<u32>,
    /// The number of the latter that may exceed the score.
    pub(super) possible_winners: u32,
}

/// A set of unclear candidates.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Unclear {
    /// A list, often empty.
    Few(Vec<u32>),
    /// More than [`MAX_LISTED`].
    Many,
}

/// The most unclear candidates that are listed.
const MAX_LISTED: usize = 1000;

impl Candidates {
    /// Creates the set without candidates. `scores` and `errors` are by position; if `among` is given, only
    /// its positions can become candidates.
    pub(super) fn new(scores: &[f64], errors: &[f64], among: Option<&[u32]>) -> Self {
        let mut order: Vec<(f64, u32)> = match among {
            Some(among) => among.iter().map(|&at| (scores[at as usize], at)).collect(),
            None => scores.iter().copied().zip(0..).collect(),
        };
        // Of equal scores, the one with the largest error comes first, so that several processes compare others with
        // the same one.
        let error = |position: u32| errors[position as usize];
        order.par_sort_unstable_by(|a, b| {
            let by_score = b.0.total_cmp(&a.0);
            let by_error = || error(b.1).total_cmp(&error(a.1));
            by_score.then_with(by_error).then(a.1.cmp(&b.1))
        });
        let positions: Vec<u32> = order.iter().map(|(_, position)| *position).collect();
        let mut places = vec![NONE; scores.len()];
        for (place, &position) in positions.iter().enumerate() {
            places[position as usize] = crate::graph::number(place);
        }
        let leaves = positions.len().next_power_of_two();
        let by_place = |values: &[f64]| -> Vec<f64> {
            positions.iter().map(|&p| values[p as usize]).collect()
        };
        let (scores, errors) = (by_place(scores), by_place(errors));
        let mut highest: Vec<f64> = scores.iter().zip(&errors).map(|(s, e)| s + e).collect();
        let mut lowest: Vec<f64> = scores.iter().zip(&errors).map(|(s, e)| s - e).collect();
        for at in (1..highest.len()).rev() {
            highest[at - 1] = highest[at - 1].max(highest[at]);
        }
        for at in 1..lowest.len() {
            lowest[at] = lowest[at].min(lowest[at - 1]);
        }
        Self {
            scores,
            errors,
            highest,
            lowest,
            places,
            positions,
            leaves,
            tree: vec![EMPTY; 2 * leaves],
        }
    }

    /// Sets the links and the next page of a class; [`NONE`] if no page is left.
    pub(super) fn set(&mut self, position: u32, links: u32, page: u32) {
        let place = self.places[position as usize];
        if place == NONE {
            return;
        }
        let mut index = self.leaves + place as usize;
        self.tree[index] = if links == 0 || page == NONE {
            EMPTY
        } else {
            Node {
                most: links,
                fewest: links,
                page,
            }
        };
        while index > 1 {
            index /= 2;
            let (a, b) = (self.tree[2 * index], self.tree[2 * index + 1]);
            self.tree[index] = Node {
                most: a.most.max(b.most),
                fewest: a.fewest.min(b.fewest),
                page: a.page.min(b.page),
            };
        }
    }

    /// The best candidate with at least `need` links (`need > 0`): of those tied with the best score, the
    /// one with the smallest page.
    pub(super) fn best(&self, need: u32) -> Option<Chosen> {
        let first = self.leftmost(need)?;
        let (best, error) = (self.scores[first], self.errors[first]);
        Some(self.tied(first, best - error, need))
    }

    /// The candidates with at least `need` links that are tied with a score that none exceeds, up to its error.
    ///
    /// Cost: besides a query, the candidates for which the errors may leave it open.
    pub(super) fn tied_with(&self, best: f64, error: f64, need: u32) -> Tied {
        let (most, least) = (best + error, best - error);
        let (clear, end) = self.tied_places(most, least);
        let (tied, possible) = (most * (1.0 - TIED), least * (1.0 - TIED));
        let mut found = (NONE, 0);
        self.smallest_page(1, 0, self.leaves, &(0..clear), need, &mut found);
        let mut others = Vec::new();
        self.collect(
            1,
            0,
            self.leaves,
            &(clear..end),
            need,
            &mut others,
            usize::MAX,
        );
        let (mut unclear, mut possible_winners) = ((NONE, 0), 0);
        for place in others {
            let place = place as usize;
            let (score, error) = (self.scores[place], self.errors[place]);
            let page = (self.tree[self.leaves + place].page, place);
            let is_clear = score - error >= tied;
            if is_clear || score >= best {
                found = found.min(page);
            }
            if !is_clear && score + error >= possible {
                unclear = unclear.min(page);
                possible_winners += u32::from(score + error > least);
            }
        }
        let position = |(page, place): (u32, usize)| (page != NONE).then(|| self.positions[place]);
        Tied {
            clear: position(found),
            unclear: position(unclear),
            possible_winners,
        }
    }

    /// The places before which classes are tied with a best score whatever the errors, and before which they may be,
    /// given the largest and the smallest possible value of that score.
    fn tied_places(&self, most: f64, least: f64) -> (usize, usize) {
        let (tied, possible) = (most * (1.0 - TIED), least * (1.0 - TIED));
        (
            self.lowest.partition_point(|&score| score >= tied),
            self.highest.partition_point(|&score| score >= possible),
        )
    }

    /// The candidate that the tie rule chooses, given the first place with enough links and its least possible score.
    fn tied(&self, first: usize, least: f64, need: u32) -> Chosen {
        let (clear, end) = self.tied_places(self.highest[first], least);
        let clear = clear.max(first + 1);
        let possible = least * (1.0 - TIED);
        let mut chosen = (NONE, first);
        self.smallest_page(1, 0, self.leaves, &(first..clear), need, &mut chosen);
        let (page, place) = chosen;
        let mut few = Vec::new();
        let all = clear..end;
        let unclear = if self.collect(1, 0, self.leaves, &all, need, &mut few, MAX_LISTED) {
            few.retain(|&place| {
                let place = place as usize;
                self.scores[place] + self.errors[place] >= possible
            });
            Unclear::Few(few.iter().map(|&p| self.positions[p as usize]).collect())
        } else {
            Unclear::Many
        };
        Chosen {
            position: self.positions[place],
            page,
            links: self.tree[self.leaves + place].most,
            best: self.positions[first],
            highest: self.highest[first],
            unclear,
        }
    }

    /// The next page and the links of a position; [`NONE`] and 0 if it is not a candidate.
    pub(super) fn at(&self, position: u32) -> (u32, u32) {
        let place = self.places[position as usize];
        if place == NONE {
            return (NONE, 0);
        }
        let leaf = &self.tree[self.leaves + place as usize];
        (leaf.page, leaf.most)
    }

    /// Appends the places in `range` with at least `need` links; returns `false` if there are more than `max`.
    #[expect(
        clippy::too_many_arguments,
        reason = "those of a recursion over a tree"
    )]
    fn collect(
        &self,
        index: usize,
        from: usize,
        width: usize,
        range: &Range<usize>,
        need: u32,
        found: &mut Vec<u32>,
        max: usize,
    ) -> bool {
        if from >= range.end || from + width <= range.start || self.tree[index].most < need {
            return true;
        }
        if width == 1 {
            found.push(crate::graph::number(from));
            return found.len() <= max;
        }
        let half = width / 2;
        self.collect(2 * index, from, half, range, need, found, max)
            && self.collect(2 * index + 1, from + half, half, range, need, found, max)
    }

    /// The first place with at least `need` links; `None` if there is none.
    fn leftmost(&self, need: u32) -> Option<usize> {
        let mut index = 1;
        if self.tree[index].most < need {
            return None;
        }
        while index < self.leaves {
            index *= 2;
            if self.tree[index].most < need {
                index += 1;
            }
        }
        Some(index - self.leaves)
    }

    /// Updates `found` with the smallest page in `range` with at least `need` links, and its place.
    fn smallest_page(
        &self,
        index: usize,
        from: usize,
        width: usize,
        range: &Range<usize>,
        need: u32,
        found: &mut (u32, usize),
    ) {
        let node = self.tree[index];
        if from >= range.end
            || from + width <= range.start
            || node.most < need
            || node.page >= found.0
        {
            return;
        }
        if width == 1 {
            *found = (node.page, from);
            return;
        }
        let half = width / 2;
        if node.fewest >= need && from >= range.start && from + width <= range.end {
            // All fit, so only the half with the smallest page matters.
            let left = self.tree[2 * index].page == node.page;
            let start = if left { from } else { from + half };
            let child = 2 * index + usize::from(!left);
            self.smallest_page(child, start, half, range, need, found);
            return;
        }
        self.smallest_page(2 * index, from, half, range, need, found);
        self.smallest_page(2 * index + 1, from + half, half, range, need, found);
    }
}

/// The positions whose scores may be tied with the greatest of all.
pub(super) fn rivals(scores: &[f64], errors: &[f64]) -> Vec<u32> {
    let top = scores.iter().copied().fold(0.0, f64::max);
    let best = scores.iter().zip(errors).filter(|of| *of.0 >= top);
    let Some(error) = best.map(|of| *of.1).reduce(f64::max) else {
        return Vec::new();
    };
    let possible = (top - error) * (1.0 - TIED);
    let may_be = |at: &u32| scores[*at as usize] + errors[*at as usize] >= possible;
    (0..crate::graph::number(scores.len()))
        .filter(may_be)
        .collect()
}

#[cfg(test)]
#[path = "candidates_tests.rs"]
mod tests;
