//! The formats of Seedbank: what goes in and comes out, before and after any bank.
//!
//! | module | what it has |
//! | --- | --- |
//! | [`ingest`] | readers of crawl formats, page records, URLs, bad records |
//! | [`synth`] | the generators of a living crawl and of graphs of hosts |
//! | [`columns`] | tables written as Parquet files |
//! | [`shown`] | texts of others, URLs and counts, made safe to print |
//! | [`clock`] | times for people, and the lengths of months |
//!
//! Of the algorithms it uses the shared words alone: `seedbank_algorithms::page` and
//! `seedbank_algorithms::watch`. A test looks that it stays so.

#![forbid(unsafe_code)]

pub mod clock;
pub mod display;
pub mod ingest;
pub mod parquet_writer;
pub mod synth;
