//! Seedbank: from which pages a continuous crawl should start, and why those.
//!
//! A [`Bank`](engine::Bank) is one directory. Crawl snapshots and daily deltas go in
//! ([`ingest`](engine::Bank::ingest)), a plan selects seeds ([`refresh`](engine::Bank::refresh)),
//! and they come out with their reasons ([`seeds`](engine::Bank::seeds),
//! [`cores`](engine::Bank::cores)) and with what changed, and why ([`diff`](engine::Bank::diff),
//! [`page_history`](engine::Bank::page_history)). Any page can be asked why it is one, or why not
//! ([`explain`](engine::Bank::explain)).
//!
//! # Architecture
//!
//! A room (module) has one purpose, and imports point one way, down this list:
//!
//! | room | purpose |
//! | --- | --- |
//! | [`engine`] | joins the rooms below: loads graphs, hands them over, stores what comes back |
//! | [`ingest`] | reads formats into page records; URLs; rejects |
//! | [`synth`] | generates a living crawl |
//! | [`report`] | a refresh as one page for people: data in, HTML out |
//! | [`evaluate`] | judging seeds: searches over the whole graph, statistics of what they find |
//! | [`cores`] | cores and their seeds |
//! | [`cover`] | per-site coverage of page value |
//! | [`rank`] | HITS and its proof: numerics on in-memory graphs |
//! | [`graph`] | the compact graph, built once and read only |
//! | [`storage`] | the only user of RocksDB: tables, commits, published states, check |
//! | [`page`], [`watch`], [`clock`], [`shown`] | the words everyone shares; progress and interruption; times; texts of others |
//!
//! `storage` never sees the algorithms, and they never see it: algorithms are tested without a
//! database, and the database without algorithms.
//!
//! # Promises
//!
//! * A batch or refresh is stored whole or not at all; readers see the state before or after it.
//! * Results do not depend on threads, on the order of input, or on ids, which follow the order of
//!   ingest: whatever a user sees is in URL order or in the order of scores, ties by URL.
//! * No panic is reachable from input, disk or caller; errors say what to do.
//!
//! # Example
//!
//! ```
//! use seedbank::engine::{Bank, IngestRequest, RefreshRequest, Which};
//! use seedbank::ingest::{Input, SiteMode};
//! use seedbank::watch::Unwatched;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let crawl = folder.path().join("day-000.jsonl");
//! std::fs::write(
//!     &crawl,
//!     r#"{"url": "https://example.org/", "outlinks": ["https://example.net/", "https://example.com/"]}"#,
//! )?;
//! let bank = Bank::create(&folder.path().join("bank"), SiteMode::Host)?;
//! let request = IngestRequest {
//!     inputs: vec![Input::named(crawl)],
//!     ..IngestRequest::default()
//! };
//! bank.ingest(&request, &Unwatched)?;
//! bank.refresh(&RefreshRequest::default(), &Unwatched)?;
//! let seeds = bank.seeds(&Which::default())?;
//! assert_eq!(seeds[0].url, "https://example.org/");
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

pub mod clock;
pub mod cores;
pub mod cover;
pub mod engine;
pub mod evaluate;
pub mod graph;
pub mod ingest;
pub mod page;
pub mod rank;
pub mod report;
pub mod shown;
pub mod storage;
pub mod synth;
pub mod watch;
