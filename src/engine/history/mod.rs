//! What batches kept of the past: the state of pages after an earlier batch, and who succeeds a
//! dead seed.

pub(crate) mod succession;
pub(crate) mod timeline;
