//! Input and output formats of Seedbank; independent of the store.
//!
//! | module | contents |
//! | --- | --- |
//! | [`ingest`] | readers of crawl formats, page records, URLs, rejected records |
//! | [`synth`] | generators of crawls that change daily, and of host graphs |
//! | [`parquet_writer`] | tables written as Parquet files |
//! | [`display`] | formatting of untrusted text, URLs and counts for people |
//! | [`clock`] | times as text, and the lengths of months |
//!
//! Of the crate `seedbank-algorithms` this one uses only `page` and `watch`; a test checks this.

#![forbid(unsafe_code)]

pub mod clock;
pub mod display;
pub mod ingest;
pub mod parquet_writer;
pub mod synth;
