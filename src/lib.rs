//! Seedbank: from which pages a continuous crawl should start, and why those.
//!
//! A [`Bank`](engine::Bank) is one directory. Crawl snapshots and daily deltas go in
//! ([`ingest`](engine::Bank::ingest)), a plan selects seeds ([`refresh`](engine::Bank::refresh)),
//! and they come out with their reasons ([`seeds`](engine::Bank::seeds),
//! [`cores`](engine::Bank::cores)) and with what changed, and why ([`diff`](engine::Bank::diff),
//! [`page_history`](engine::Bank::page_history)). Of any page one can ask why it is a seed, or why
//! not ([`explain`](engine::Bank::explain)).
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
//! use seedbank::ingest::{Input, Naming};
//! use seedbank::watch::Unwatched;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let crawl = folder.path().join("day-000.jsonl");
//! std::fs::write(
//!     &crawl,
//!     r#"{"url": "https://example.org/", "outlinks": ["https://example.net/", "https://example.com/"]}"#,
//! )?;
//! let bank = Bank::create(&folder.path().join("bank"), Naming::default())?;
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
//!
//! # The guide
//!
//! The map below leads from a question to the file; the pages of the [guide](mod@guide) hold the
//! rules.
//!
//! [map]: crate::guide::map
//! [design]: crate::guide::design
//! [commits]: crate::guide::commits
//! [formats]: crate::guide::formats
//! [cores]: crate::guide::cores
//! [cover]: crate::guide::cover
//! [refresh]: crate::guide::refresh
//! [answers]: crate::guide::answers
//! [evaluation]: crate::guide::evaluation
//! [operation]: crate::guide::operation
//! [daily]: crate::guide::daily
//! [upkeep]: crate::guide::upkeep
//! [browser]: crate::guide::browser
//! [scrapy]: crate::guide::scrapy
#![doc = include_str!("guide/map.md")]
#![forbid(unsafe_code)]

pub mod engine;
pub mod guide;
pub mod named;
pub mod render;
pub mod report;
pub mod serve;

mod html;

#[doc(inline)]
pub use seedbank_algorithms::watch;
#[doc(inline)]
pub use seedbank_formats::{clock, ingest, shown, synth};

/// Compiles the README's Rust block.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
