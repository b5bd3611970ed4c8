//! The best of many candidate classes, while their links and next pages change.

use crate::graph::NONE;
use crate::rank::TIED;

/// One side's classes, best score first, under a tree that finds the best one that fits without
/// looking at those that do not.
///
/// A class is a candidate while it has a page left and links to the other side (`links > 0`: the
/// number of pages of the other side's chosen set that each of its pages is linked with). A query
/// asks for at least so many links: the density rule says, exactly, how many a page must bring.
/// Costs: a change `O(log n)`; a query `O(log n)` where the tied candidates are equally linked,
/// else up to that for each of them.
#[derive(Clone, Debug)]
pub(super) struct Candidates {
    /// Scores by place, descending.
    scores: Vec<f64>,
    /// Place of each position.
    places: Vec<u32>,
    /// Position at each place.
    positions: Vec<u32>,
    leaves: usize,
    tree: Vec<Node>,
}

/// Of the candidates below a node: the most and the fewest links, and the smallest page.
#[derive(Clone, Copy, Debug)]
struct Node {
    most: u32,
    fewest: u32,
    page: u32,
}

const NOBODY: Node = Node {
    most: 0,
    fewest: u32::MAX,
    page: NONE,
};

/// The candidate taken by the tie rule.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Chosen {
    pub(super) position: u32,
    pub(super) page: u32,
    pub(super) links: u32,
    /// The best score among those that fit; the chosen one is tied with it.
    pub(super) best: f64,
    /// Some score lies so near the bound of a tie that the error does not decide it.
    pub(super) undecided: bool,
}

impl Candidates {
    /// No candidate yet; `scores` by position.
    pub(super) fn new(scores: &[f64]) -> Self {
        let mut positions: Vec<u32> = (0..crate::graph::number(scores.len())).collect();
        positions.sort_by(|&a, &b| scores[b as usize].total_cmp(&scores[a as usize]));
        let mut places = vec![0; scores.len()];
        for (place, &position) in positions.iter().enumerate() {
            places[position as usize] = crate::graph::number(place);
        }
        let leaves = scores.len().next_power_of_two();
        Self {
            scores: positions.iter().map(|&p| scores[p as usize]).collect(),
            places,
            positions,
            leaves,
            tree: vec![NOBODY; 2 * leaves],
        }
    }

    /// A class now has so many links and this next page ([`NONE`]: no page left).
    pub(super) fn set(&mut self, position: u32, links: u32, page: u32) {
        let mut index = self.leaves + self.places[position as usize] as usize;
        self.tree[index] = if links == 0 || page == NONE {
            NOBODY
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

    /// The best candidate with at least `need` links (`need > 0`): among those tied with the best
    /// score, the one with the smallest page. `error` is the relative error of the scores.
    pub(super) fn best(&self, need: u32, error: f64) -> Option<Chosen> {
        let first = self.leftmost(need)?;
        let best = self.scores[first];
        let end = self
            .scores
            .partition_point(|&score| score >= best * (1.0 - TIED));
        let mut chosen = (NONE, first);
        self.smallest_page(1, 0, self.leaves, (first, end), need, &mut chosen);
        let (page, place) = chosen;
        let within = |distance: f64| {
            self.scores
                .partition_point(|&s| s >= best * (1.0 - distance))
        };
        Some(Chosen {
            position: self.positions[place],
            page,
            links: self.tree[self.leaves + place].most,
            best,
            undecided: within(TIED - 2.0 * error) != within(TIED + 2.0 * error),
        })
    }

    /// The first place with at least `need` links.
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

    /// The smallest page among places in `range` with at least `need` links, with its place.
    fn smallest_page(
        &self,
        index: usize,
        from: usize,
        width: usize,
        range: (usize, usize),
        need: u32,
        found: &mut (u32, usize),
    ) {
        let node = self.tree[index];
        if from >= range.1 || from + width <= range.0 || node.most < need || node.page >= found.0 {
            return;
        }
        if width == 1 {
            *found = (node.page, from);
            return;
        }
        let half = width / 2;
        if node.fewest >= need && from >= range.0 && from + width <= range.1 {
            // All fit: only the half that has the page needs to be walked.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_best_is_the_best_of_a_scan(
            classes in prop::collection::vec((0_u32..4, 0_u32..4, 0_u32..1000), 1..40),
            need in 1_u32..4,
        ) {
            let scores: Vec<f64> = classes.iter()
                .enumerate()
                .map(|(i, c)| f64::from(c.0) * (1.0 + 1e-12 * i as f64))
                .collect();
            let mut candidates = Candidates::new(&scores);
            for (i, &(_, links, page)) in (0_u32..).zip(&classes) {
                candidates.set(i, 9, 0);
                candidates.set(i, links, 1000 * page + i);
            }
            let fit: Vec<(f64, u32)> = (0_u32..).zip(&classes)
                .filter(|(_, c)| c.1 >= need)
                .map(|(i, c)| (scores[i as usize], 1000 * c.2 + i))
                .collect();
            let best = fit.iter().map(|f| f.0).fold(-1.0, f64::max);
            let page = fit.iter().filter(|f| f.0 >= best * (1.0 - TIED)).map(|f| f.1).min();
            let chosen = candidates.best(need, 1e-13);
            prop_assert_eq!(chosen.map(|c| c.page), page);
            if let Some(chosen) = chosen {
                let class = classes[chosen.position as usize];
                prop_assert_eq!(chosen.links, class.1);
                prop_assert!(!chosen.undecided);
            }
        }
    }
}
