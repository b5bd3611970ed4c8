//! Work of ranking, as counts of entries read.

use std::ops::AddAssign;

/// Entries of merged rows and citers that were read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Work {
    /// Link visits: entries times the vectors that each read served.
    pub visits: u64,
    /// Entries, however many vectors a read served.
    pub products: u64,
}

impl Work {
    /// Counts entries that were read once for several vectors.
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

/// Counts entries that were read for at most one vector.
impl AddAssign<u64> for Work {
    fn add_assign(&mut self, entries: u64) {
        self.visits += entries;
        self.products += entries;
    }
}
