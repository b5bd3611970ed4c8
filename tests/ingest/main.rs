//! Ingest: readers of input, batches of records, and generated crawls.
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

mod bad_fields;
mod bvgraph;
mod cases;
mod ccgraph;
#[cfg(feature = "parquet")]
mod columns;
mod damages;
mod export;
mod fetches;
mod forget;
mod formats;
mod loss;
mod model;
mod orders;
mod pushed;
mod record_schema;
#[path = "../support/mod.rs"]
mod support;
mod synth;
mod synth_shape;
mod threads;
