//! An incremental refresh equals a refresh from scratch.
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

mod again;
mod aliases;
mod cores;
mod cover;
mod deleted;
mod goals;
mod held_back;
mod lists_with;
mod long;
mod plans;
mod policies;
mod random;
#[path = "../support/mod.rs"]
mod support;
mod unchanged;
mod undo;
mod web;
mod within;
