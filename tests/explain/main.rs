//! Answers about pages and sites, compared with a recount from the crawl: why each is a seed or not,
//! its links, and search results.
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
mod lookups;
mod reads;
#[path = "../support/mod.rs"]
mod support;
