//! What batches kept of the past: the state of pages after an earlier batch, and who follows a seed
//! that is dead.

pub(crate) mod past;
pub(crate) mod succession;
