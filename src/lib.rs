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
#![cfg_attr(
    not(feature = "internals"),
    allow(
        dead_code,
        unreachable_pub,
        unused_imports,
        reason = "what only tests and benches use is public in rooms that are not"
    )
)]

pub mod clock;
pub mod engine;
pub mod guide;
pub mod ingest;
pub mod named;
pub mod report;
pub mod serve;
pub mod shown;
pub mod synth;
pub mod told;
pub mod watch;

// Rooms that callers do not need: the engine re-exports those of their types that appear in
// requests and answers. The package's own tests and benches use them directly.
mod columns;
#[cfg(not(feature = "internals"))]
mod cores;
#[cfg(not(feature = "internals"))]
mod cover;
#[cfg(not(feature = "internals"))]
mod evaluate;
#[cfg(not(feature = "internals"))]
mod graph;
mod html;
#[cfg(not(feature = "internals"))]
mod page;
#[cfg(not(feature = "internals"))]
mod rank;
#[cfg(not(feature = "internals"))]
mod storage;

#[cfg(feature = "internals")]
pub mod cores;
#[cfg(feature = "internals")]
pub mod cover;
#[cfg(feature = "internals")]
pub mod evaluate;
#[cfg(feature = "internals")]
pub mod graph;
#[cfg(feature = "internals")]
pub mod page;
#[cfg(feature = "internals")]
pub mod rank;
#[cfg(feature = "internals")]
pub mod storage;

/// Compiles the README's Rust block.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
