//! History of the bank: the state of pages after earlier batches, fetches by seed, and the successors of dead seeds.

pub(crate) mod seed_counts;
pub(crate) mod succession;
pub(crate) mod timeline;
