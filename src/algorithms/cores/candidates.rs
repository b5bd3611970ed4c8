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

/// The classes among which the smallest page is searched for.
struct Wanted {
    /// Their places.
    range: Range<usize>,
    /// The fewest links.
    need: u32,
    /// What the score may be, or exceed.
    least: f64,
}

/// The candidate that the tie rule chooses.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Chosen {
    pub(super) position: u32,
    pub(super) page: u32,
    pub(super) links: u32,
    /// The position with the best score among those that fit; the chosen position is tied with it.
    pub(super) best: u32,
    /// Positions for which the errors leave open whether they are tied with the best.
    pub(super) unclear: Unclear,
}

/// A score with the bound of its error.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct BoundedScore {
    pub(super) score: f64,
    pub(super) error: f64,
}

impl BoundedScore {
    /// The largest possible score.
    pub(super) fn most(self) -> f64 {
        self.score + self.error
    }

    /// The smallest possible score.
    pub(super) fn least(self) -> f64 {
        self.score - self.error
    }
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
        let first = self.next_place(0, need)?;
        let chosen = self.tied(first, self.at_place(first).least(), need);
        if chosen.unclear == Unclear::Few(Vec::new()) {
            return Some(chosen);
        }
        // A candidate with a smaller error can exceed what is certain of the first one, and then others are clearly not tied.
        Some(self.tied(first, self.largest_least(need)?, need))
    }

    /// The position with the largest score among the candidates with at least `need` links, and a bound that none of
    /// their scores exceeds, whatever the errors.
    pub(super) fn top(&self, need: u32) -> Option<(u32, f64)> {
        let first = self.next_place(0, need)?;
        Some((self.positions[first], self.highest[first]))
    }

    /// The position with the smallest page among the candidates with at least `need` links whose score may be `least`
    /// or larger.
    pub(super) fn first_possible(&self, least: f64, need: u32) -> Option<u32> {
        let end = self.highest.partition_point(|&score| score >= least);
        self.first_page(&Wanted {
            range: 0..end,
            need,
            least,
        })
    }

    /// The position with the smallest page among the candidates with at least `need` links whose score, without its
    /// error, is `least` or larger.
    pub(super) fn first_scored(&self, least: f64, need: u32) -> Option<u32> {
        let end = self.scores.partition_point(|&score| score >= least);
        self.first_page(&Wanted {
            range: 0..end,
            need,
            least: f64::NEG_INFINITY,
        })
    }

    fn first_page(&self, wanted: &Wanted) -> Option<u32> {
        let mut found = (NONE, 0);
        self.smallest_page(1, 0, self.leaves, wanted, &mut found);
        (found.0 != NONE).then(|| self.positions[found.1])
    }

    /// The largest score that a candidate with at least `need` links has whatever the errors.
    ///
    /// Cost: the candidates with larger scores.
    pub(super) fn largest_least(&self, need: u32) -> Option<f64> {
        let least = |place| self.at_place(place).least();
        let place = self.largest(need, &self.scores, least)?;
        Some(least(place))
    }

    /// The position with the largest possible score among the candidates with at least `need` links, except for one; of
    /// several, the one with the largest score.
    ///
    /// Cost: the candidates before it.
    pub(super) fn largest_most(&self, need: u32, except: u32) -> Option<u32> {
        let most = |place: usize| {
            if self.positions[place] == except {
                f64::NEG_INFINITY
            } else {
                self.at_place(place).most()
            }
        };
        let place = self.largest(need, &self.highest, most)?;
        Some(self.positions[place]).filter(|position| *position != except)
    }

    /// The first place with the largest value among the candidates with at least `need` links, given a bound on the values
    /// from each place on.
    fn largest(&self, need: u32, bounds: &[f64], value: impl Fn(usize) -> f64) -> Option<usize> {
        let mut found = self.next_place(0, need)?;
        let mut next = self.next_place(found + 1, need);
        while let Some(place) = next.filter(|&place| bounds[place] > value(found)) {
            if value(place) > value(found) {
                found = place;
            }
            next = self.next_place(place + 1, need);
        }
        Some(found)
    }

    fn at_place(&self, place: usize) -> BoundedScore {
        BoundedScore {
            score: self.scores[place],
            error: self.errors[place],
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

    /// The candidate that the tie rule chooses, given the first place with enough links and a score that the best
    /// one has whatever the errors.
    fn tied(&self, first: usize, least: f64, need: u32) -> Chosen {
        let (clear, end) = self.tied_places(self.highest[first], least);
        let clear = clear.max(first + 1);
        let possible = least * (1.0 - TIED);
        let mut chosen = (NONE, first);
        let wanted = Wanted {
            range: first..clear,
            need,
            least: f64::NEG_INFINITY,
        };
        self.smallest_page(1, 0, self.leaves, &wanted, &mut chosen);
        let (page, place) = chosen;
        let mut few = Vec::new();
        let all = clear..end;
        let unclear = if self.collect(1, 0, self.leaves, &all, need, &mut few, MAX_LISTED) {
            few.retain(|&place| self.at_place(place as usize).most() >= possible);
            Unclear::Few(few.iter().map(|&p| self.positions[p as usize]).collect())
        } else {
            Unclear::Many
        };
        Chosen {
            position: self.positions[place],
            page,
            links: self.tree[self.leaves + place].most,
            best: self.positions[first],
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

    /// The first place from `from` on with at least `need` links; `None` if there is none.
    fn next_place(&self, from: usize, need: u32) -> Option<usize> {
        if from >= self.leaves {
            return None;
        }
        let mut index = self.leaves + from;
        while self.tree[index].most < need {
            // The next node of this level or, after a right child, of the nearest level above that has one.
            index >>= index.trailing_ones();
            if index == 0 {
                return None;
            }
            index += 1;
        }
        while index < self.leaves {
            index *= 2;
            if self.tree[index].most < need {
                index += 1;
            }
        }
        Some(index - self.leaves)
    }

    /// Updates `found` with the smallest page of the wanted classes, and its place.
    fn smallest_page(
        &self,
        index: usize,
        from: usize,
        width: usize,
        wanted: &Wanted,
        found: &mut (u32, usize),
    ) {
        let node = self.tree[index];
        let Wanted { range, need, least } = wanted;
        let end = from + width;
        if from >= range.end || end <= range.start || node.most < *need || node.page >= found.0 {
            return;
        }
        if width == 1 {
            if self.at_place(from).most() >= *least {
                *found = (node.page, from);
            }
            return;
        }
        let half = width / 2;
        let is_inside = from >= range.start && end <= range.end;
        if is_inside && node.fewest >= *need && self.lowest[end - 1] >= *least {
            // All fit, so only the half with the smallest page matters.
            let left = self.tree[2 * index].page == node.page;
            let start = if left { from } else { from + half };
            let child = 2 * index + usize::from(!left);
            self.smallest_page(child, start, half, wanted, found);
            return;
        }
        self.smallest_page(2 * index, from, half, wanted, found);
        self.smallest_page(2 * index + 1, from + half, half, wanted, found);
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
