//! A deterministic generator of a living crawl, for demos, tests and benchmarks.
//!
//! [`generate`] writes a snapshot of day 0 and daily deltas as JSON Lines; [`Web::day`] gives one
//! day as a stream. Nothing is kept per page: what a page is, links to, and when it is born,
//! changes and goes, is a function of (rng seed, site, page, day), drawn by counter (`draw`). So
//! memory is a few numbers per site plus 24 units of about 2,048 records, for any number of
//! pages, and a day can be generated alone, in parallel, with the same bytes.
//!
//! **Sites** have power-law sizes. Pages link to home, section, neighbours in the section and
//! others of the site, to frontier pages of their own and to shared ones. **Rolls**: a share of the
//! sections carries a blogroll, so that many pages make one row; its targets come from overlapping
//! topics (runs of sites, each with its own density), popular targets, and copies of a neighbour's
//! roll. **Spam farms** of six sites link to each other; a sixth is not flagged. **Clicks** and
//! link lists are Pareto. A link slot changes its target after its own period, which the next fetch
//! shows.
//!
//! # Rates
//!
//! Defaults, per day: 1.15 % born (Ntoulas, Cho, Olston, *What's new on the Web?*, WWW 2004: about
//! 8 % new pages a week), 0.44 % gone (the same study: 20 % of the pages are still there after a
//! year), 6 % changed (Fetterly and others, WWW 2003: about 65 % of pages did not change in a
//! week). Births are linear in the days, deaths a fraction of the live pages; home and section
//! pages stay; one gone page in 25 returns.
//!
//! # Shape
//!
//! `cargo test --test ingest -- synth_shape:: --nocapture` prints this table and holds the
//! generator to it. Spreads are mean; 50 %, 90 %, 99 %, largest.
//!
//! | mean; 50 %, 90 %, 99 %, max | synth | ku-2017-webir |
//! | --- | --- | --- |
//! | pages, crawled | 71667, 9919 | 63932, 9919 |
//! | sites, crawled | 2201, 275 | 1949, 273 |
//! | pages of a crawled site | 36.1; 8, 50, 710, 1938 | 36.3; 2, 24, 1334, 1954 |
//! | links | 220687 | 216787 |
//! | inter-site links, share | 38837, 0.176 | 36308, 0.167 |
//! | outdegree | 22.2; 9, 54, 182, 587 | 21.9; 5, 80, 193, 2093 |
//! | indegree of crawled pages | 11.1; 6, 11, 145, 2895 | 10.3; 2, 12, 116, 988 |
//! | hubs, authorities | 2564, 7914 | 2981, 9170 |
//! | inter-site outdegree of hubs | 15.1; 14, 26, 84, 550 | 12.2; 10, 20, 83, 544 |
//! | indegree of authorities | 4.9; 1, 3, 111, 1124 | 4.0; 1, 2, 48, 772 |
//! | rows | 1178 | 1311 |
//! | merged links, share | 10031, 0.258 | 7944, 0.219 |
//! | regions, links in the largest | 288, 0.988 | 215, 0.951 |
//! | sigmas | 73.7, 56.8, 47.3, 46.7, 37.9, 32.5, 28.6, 26.6, 25.7, 24.4 | 88.8, 69.0, 47.1, 45.3, 35.6, 31.2, 30.4, 23.4, 22.3, 20.7 |
//! | mean sigma(i+1) / sigma(i) | 0.887 | 0.857 |
//! | pages with a repeated digest | 177 | 132 |
mod address;
mod blogrolls;
mod calibrate;
mod crawl_files;
mod draw;
pub mod hosts;
mod links;
mod options;
mod page_schedule;
mod record_writer;
pub mod shape;
mod site;
mod stream;
mod web;

pub use crawl_files::{DayFile, SynthSummary, generate};
pub use options::{SynthError, SynthOptions};
pub use record_writer::DayCounts;
pub use stream::{DayReader, day_text};
pub use web::Web;
