//! Disjoint sets of dense numbers.

use super::dense_index::{NONE, number};

/// Disjoint-set forest with path halving. The root of a set is its smallest number, so that the
/// result does not depend on the order of unions.
pub struct UnionFind {
    parents: Vec<u32>,
}

impl UnionFind {
    /// Returns `count` sets of one number each.
    #[must_use]
    pub fn new(count: usize) -> Self {
        Self {
            parents: (0..number(count)).collect(),
        }
    }

    /// Returns the smallest number of the set that contains `at`.
    pub fn find(&mut self, mut at: u32) -> u32 {
        while self.parents[at as usize] != at {
            let next = self.parents[self.parents[at as usize] as usize];
            self.parents[at as usize] = next;
            at = next;
        }
        at
    }

    /// Merges the sets of two numbers; returns whether they were distinct.
    pub fn union(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        self.parents[a.max(b) as usize] = a.min(b);
        a != b
    }

    /// Returns the label of each number's set, and the number of labels. Sets are labelled in the
    /// order of their smallest number that is at least `first`; every set must contain such a
    /// number.
    pub fn labels(&mut self, first: u32) -> (Vec<u32>, usize) {
        let count = number(self.parents.len());
        let mut label_of_root = vec![NONE; self.parents.len()];
        let mut sets = 0;
        for at in first..count {
            let label = &mut label_of_root[self.find(at) as usize];
            if *label == NONE {
                *label = sets;
                sets += 1;
            }
        }
        let labels = (0..count).map(|at| label_of_root[self.find(at) as usize]);
        (labels.collect(), sets as usize)
    }
}
