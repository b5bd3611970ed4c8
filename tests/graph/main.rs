//! Exported tables and graphs: links of pages and of sites, scores, seeds as Parquet.
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

mod commands;
mod judge;
mod scores;
#[path = "../support/mod.rs"]
mod support;
mod there_and_back;
