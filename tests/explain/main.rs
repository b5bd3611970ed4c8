//! What `explain` answers for every page, judged by a recount from the crawl itself.
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

mod compare;
mod core_links;
mod cores;
mod cover;
mod days;
mod page;
#[path = "../support/mod.rs"]
mod support;
