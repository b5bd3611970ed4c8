//! Seedbank selects the pages from which a continuous crawl should start, and explains the selection.
//!
//! A [`Bank`] is one directory. [`ingest`](Bank::ingest) stores crawl snapshots
//! and daily deltas; [`refresh`](Bank::refresh) selects seeds according to a plan;
//! [`seeds`](Bank::seeds) and [`cores`](Bank::cores) return them with reasons;
//! [`diff`](Bank::diff) and [`page_history`](Bank::page_history) return what changed
//! and why; [`explain`](Bank::explain) returns why any page is or is not a seed.
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
//! use seedbank::ingest::{Naming, Record};
//! use seedbank::{Bank, IngestRequest, Plan, RefreshRequest};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("crawl.bank");
//! let bank = Bank::create(&path, Naming::default())?;
//! let page = Record::new("https://example.org/").outlinks(["https://example.net/"]);
//! bank.ingest_records(&IngestRequest::default(), [page])?;
//!
//! let plan = Plan::coverage().seeds(20).budget(2_000);
//! bank.refresh(&RefreshRequest::with("default", plan))?;
//! for seed in bank.seeds("default")? {
//!     println!("{}", seed?.url);
//! }
//! # assert_eq!(bank.seeds("default")?.count(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! All but `mcp` and `remote` are on by default. `cli` is the command and `serve` the module of that name;
//! without them, the packages that only they need are not built. `report` is part of both, `parquet` reads and
//! writes Parquet and reads Arrow, `mcp` answers assistants, `remote` reads and writes files in object storage
//! ([remote]). The page [rust] of the guide says more.
//!
//! # The guide
//!
//! The map below names the files that answer a question about the code; the pages of the
//! [guide](mod@guide) contain the rules.
//!
//! [map]: crate::guide::map
//! [not]: crate::guide::not
//! [design]: crate::guide::design
//! [commits]: crate::guide::commits
//! [formats]: crate::guide::formats
//! [formats_records]: crate::guide::formats_records
//! [formats_tables]: crate::guide::formats_tables
//! [formats_archives]: crate::guide::formats_archives
//! [formats_graphs]: crate::guide::formats_graphs
//! [formats_crawlers]: crate::guide::formats_crawlers
//! [formats_outputs]: crate::guide::formats_outputs
//! [goals]: crate::guide::goals
//! [cores]: crate::guide::cores
//! [cover]: crate::guide::cover
//! [refresh]: crate::guide::refresh
//! [answers]: crate::guide::answers
//! [evaluation]: crate::guide::evaluation
//! [papers]: crate::guide::papers
//! [operation]: crate::guide::operation
//! [install]: crate::guide::install
//! [daily]: crate::guide::daily
//! [maintenance]: crate::guide::maintenance
//! [api]: crate::guide::api
//! [remote]: crate::guide::remote
//! [cluster]: crate::guide::cluster
//! [spark]: crate::guide::spark
//! [browser]: crate::guide::browser
//! [scrapy]: crate::guide::scrapy
//! [rust]: crate::guide::rust
//! [python]: crate::guide::python
#![doc = include_str!("guide/map.md")]
#![forbid(unsafe_code)]

pub mod answers;
pub mod engine;
pub mod guide;
pub mod named_enum;
#[cfg(feature = "report")]
pub mod report;
#[cfg(feature = "serve")]
pub mod serve;

#[cfg(feature = "report")]
mod html;

#[doc(inline)]
pub use engine::{Bank, EngineError, IngestRequest, Plan, RefreshRequest, Which};
#[doc(inline)]
pub use seedbank_algorithms::watch;
#[doc(inline)]
pub use seedbank_formats::{clock, display, ingest, synth};
