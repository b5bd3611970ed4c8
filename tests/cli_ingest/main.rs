//! Commands that read crawls: formats, rejected records, limits, and what they print. Many tests are the texts beside this file
//! (`tests/support/transcript.rs`).
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
#[cfg(feature = "parquet")]
mod columns;
#[cfg(target_os = "linux")]
mod crawler_texts;
mod fetch_times;
mod kinds;
mod memory;
mod reader_limits;
#[cfg(target_os = "linux")]
mod stalled_inputs;
#[path = "../support/mod.rs"]
mod support;
mod warc;
mod wat;

crate::transcripts!(
    "tests/cli_ingest", besides [],
    bad_fields fetches formats records sites truncated
);
