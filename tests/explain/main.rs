//! What a bank answers about its pages and sites, judged by a recount from the crawl itself: why each is
//! a seed or not, what it is linked with, and what a search finds.
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
mod linked;
mod page;
mod search;
mod site;
#[path = "../support/mod.rs"]
mod support;
