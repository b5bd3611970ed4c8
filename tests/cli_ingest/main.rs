//! Commands that read crawls: formats, rejected records, limits, and what they print.
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

mod archives;
mod bad_inputs;
mod ccgraph;
#[cfg(feature = "parquet")]
mod columns;
#[cfg(target_os = "linux")]
mod crawler_texts;
mod failures;
mod fetch_times;
mod if_changed;
mod malformed;
mod memory;
mod reader_limits;
mod rejects;
mod sites;
#[path = "../support/mod.rs"]
mod support;
mod warc;
mod wat;
mod wrong_formats;
