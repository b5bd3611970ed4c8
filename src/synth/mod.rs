//! A deterministic generator of a living crawl, for demos, tests and benchmarks.
//!
//! [`generate`] writes a snapshot of day 0 and daily deltas as JSON Lines; [`Web::day`] gives one
//! day as a stream. Nothing is kept per page: what a page is, links to, and when it is born,
//! changes and goes, is a function of (rng seed, site, page, day), drawn by counter (`draw`). So
//! memory is a few numbers per site plus 24 units of about 2,048 records, for any number of
//! pages, and a day can be generated alone, in parallel, with the same bytes.
//!
//! **Sites** have power-law sizes. Pages link to home, section, neighbours in the section and
//! others of the site, to frontier pages of their own and to shared ones. **Rolls**: a share of
//! the sections carries a blogroll, so that many pages make one row; its targets come from
//! overlapping topics (runs of sites of their own density), popular targets, and a neighbour's
//! roll, copied. **Spam farms** of six sites link to each other; a sixth is not flagged.
//! **Clicks** and link lists are Pareto. A link slot changes its target after its own period,
//! which a fetch after that shows.
//!
//! # Rates
//!
//! Defaults, a day: 1.15 % born (Ntoulas, Cho, Olston, *What's new on the Web?*, WWW 2004: about
//! 8 % new pages a week), 0.44 % gone (the same: 20 % of the pages are still there after a year),
//! 6 % changed (Fetterly and others, WWW 2003: about 65 % of pages did not change in a week).
//! Births are linear in the days, deaths a fraction of the live pages; home and section pages
//! stay; one gone page in 25 returns.
//!
//! # Shape
//!
//! `cargo test --test synth_shape -- --nocapture` prints this table and holds the generator to
//! it. Spreads are mean; 50 %, 90 %, 99 %, largest.
//!
// TABLE
mod address;
mod calibrate;
mod draw;
mod files;
mod life;
mod links;
mod options;
mod record;
mod rolls;
pub mod shape;
mod stream;
mod web;

pub use files::{DayFile, SynthSummary, generate};
pub use options::{SynthError, SynthOptions};
pub use record::DayCounts;
pub use stream::{DayReader, day_text};
pub use web::Web;
