//! Seedbank selects the pages from which a continuous crawl should start, and explains the selection.
//!
//! A [`Bank`](engine::Bank) is one directory. [`ingest`](engine::Bank::ingest) stores crawl snapshots
//! and daily deltas; [`refresh`](engine::Bank::refresh) selects seeds according to a plan;
//! [`seeds`](engine::Bank::seeds) and [`cores`](engine::Bank::cores) return them with reasons;
//! [`diff`](engine::Bank::diff) and [`page_history`](engine::Bank::page_history) return what changed
//! and why; [`explain`](engine::Bank::explain) returns why any page is or is not a seed.
//!
//! # Guarantees
//!
//! * Batches and refreshes are atomic: readers see the state before or after one, never in between.
//! * Results do not depend on the number of threads, the order of input, or page ids. Output is sorted
//!   by URL, or by score with ties by URL.
//! * No input, disk content or caller can cause a panic; every error says what to do.
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
//! The map below names the files that answer a question about the code; the pages of the
//! [guide](mod@guide) contain the rules.
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
//! [maintenance]: crate::guide::maintenance
//! [browser]: crate::guide::browser
//! [scrapy]: crate::guide::scrapy
#![doc = include_str!("guide/map.md")]
#![forbid(unsafe_code)]

pub mod engine;
pub mod guide;
pub mod named_enum;
pub mod render;
pub mod report;
pub mod serve;

mod html;

#[doc(inline)]
pub use seedbank_algorithms::watch;
#[doc(inline)]
pub use seedbank_formats::{clock, display, ingest, synth};
