//! Cover methods in memory, without a bank.
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

mod judge;
mod order;
mod properties;
mod shares;
#[path = "../support/mod.rs"]
mod support;
