//! Cores in memory, without a bank.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod brute;
mod threads;
