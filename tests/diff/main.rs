//! Changes between refreshes, their causes, and successors of dead seeds, checked against the records
//! alone.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]
#![expect(
    unreachable_pub,
    reason = "what is shared here is reachable by nobody outside"
)]

mod cases;
mod cover;
mod days;
mod succession;
#[path = "../support/mod.rs"]
mod support;
