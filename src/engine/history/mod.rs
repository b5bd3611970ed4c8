//! History of the bank: the state of pages after earlier batches, and the successors of dead seeds.

pub(crate) mod succession;
pub(crate) mod timeline;
