//! Disjoint sets of dense numbers.

use super::dense_index::{NONE, number};

/// Disjoint sets of numbers, kept as flat trees (path halving). The smaller number is on top, so
/// that the result does not depend on the order of joining.
pub struct UnionFind {
    above: Vec<u32>,
}

impl UnionFind {
    /// Each of so many numbers alone.
    #[must_use]
    pub fn new(count: usize) -> Self {
        Self {
            above: (0..number(count)).collect(),
        }
    }

    /// The smallest number of a number's set.
    pub fn find(&mut self, mut at: u32) -> u32 {
        while self.above[at as usize] != at {
            let next = self.above[self.above[at as usize] as usize];
            self.above[at as usize] = next;
            at = next;
        }
        at
    }

    /// Makes the sets of two numbers one; whether they were two.
    pub fn union(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        self.above[a.max(b) as usize] = a.min(b);
        a != b
    }

    /// The set of each number, and how many sets there are. Sets are numbered in the order of their
    /// smallest number from `first` on, and each contains such a number.
    pub fn labels(&mut self, first: u32) -> (Vec<u32>, usize) {
        let count = number(self.above.len());
        let mut of_top = vec![NONE; self.above.len()];
        let mut sets = 0;
        for at in first..count {
            let label = &mut of_top[self.find(at) as usize];
            if *label == NONE {
                *label = sets;
                sets += 1;
            }
        }
        let labels = (0..count).map(|at| of_top[self.find(at) as usize]);
        (labels.collect(), sets as usize)
    }
}
