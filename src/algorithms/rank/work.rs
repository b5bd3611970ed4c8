//! What ranking reads, counted.

use std::ops::AddAssign;

/// Entries of merged rows and citers that were read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Work {
    /// Link visits: entries times the vectors that each reading of them served.
    pub visits: u64,
    /// The same entries, however many vectors a reading served.
    pub products: u64,
}

impl Work {
    /// So many entries were read for so many vectors at once.
    pub(super) const fn read(&mut self, entries: usize, vectors: usize) {
        self.visits += entries as u64 * vectors as u64;
        self.products += entries as u64;
    }
}

impl AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        self.visits += other.visits;
        self.products += other.products;
    }
}

/// So many entries, read for one vector or for none.
impl AddAssign<u64> for Work {
    fn add_assign(&mut self, entries: u64) {
        self.visits += entries;
        self.products += entries;
    }
}
