//! Cores in memory, without a bank.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod brute;
#[path = "../support/properties.rs"]
mod properties;
mod threads;
