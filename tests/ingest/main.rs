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

mod bvgraph;
mod ccgraph;
mod ccgraph_bad;
#[cfg(feature = "parquet")]
mod columns;
#[cfg(feature = "parquet")]
mod columns_bad;
#[cfg(feature = "parquet")]
mod columns_text;
#[cfg(feature = "parquet")]
mod columns_types;
mod crawler_texts;
mod crawler_texts_bad;
mod dated_bank;
mod deltas;
mod export;
mod failures;
mod fetch_times;
mod forget;
mod loss;
mod loss_refused;
mod model;
mod pushed;
mod real;
mod record_schema;
mod seed_fetches;
mod shape;
#[path = "../support/mod.rs"]
mod support;
mod synth_days;
mod synth_hosts;
mod synth_shape;
mod undo;
mod warc;
mod warc_bad;
mod warc_origins;
mod wat;
mod wat_bad;
mod yields;
