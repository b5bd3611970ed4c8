//! Commands that refresh, list, explain, compare and evaluate seeds, and the files that they write.
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

mod actual;
mod compare;
mod cover;
mod diff;
mod evaluate;
mod evaluate_methods;
mod explain;
mod explain_many;
mod explain_texts;
mod export;
mod failures;
mod goals;
mod lists_to_files;
mod lookups;
mod next;
mod page;
#[cfg(target_os = "linux")]
mod plan_lists;
mod plans;
mod policies;
mod read_back;
mod readme_tour;
mod refresh;
mod search;
mod seeds;
mod site;
mod status;
#[path = "../support/mod.rs"]
mod support;
