//! A deterministic generator of a crawl that changes daily, for demos, tests and benchmarks.
//!
//! [`stream::generate`] writes a snapshot of day 0 and daily deltas as JSON Lines; [`Web::day`] streams one
//! day. No state is stored per page: content, links and lifetime of a page are functions of
//! (rng seed, site, page, day), computed by counter-based random numbers (`draw`). Memory is a few
//! numbers per site and 24 units of about 2,048 records, for any number of pages. A day can be generated
//! alone and in parallel, with the same bytes.
//!
//! **Sites** have power-law sizes. Pages link to the home page, their section, neighbours in the
//! section, other pages of the site, and frontier pages, some of them shared. **Blogrolls**: a share of
//! the sections has a list of inter-site links on all its pages, so that many pages have one row. Targets
//! come from overlapping topics (runs of sites, each with its own density), popular targets, and copies
//! of a neighbour's blogroll. **Spam farms** of six sites link to each other; a sixth of their pages is
//! not marked as spam. **Clicks** and link lists are Pareto-distributed. Each link slot changes its target
//! after its own period, visible at the next fetch.
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
//! `cargo test --test ingest -- synth_shape:: --nocapture` prints this table and compares the generator
//! with it.
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
pub mod hosts;
mod options;
mod stream;
mod web_model;

pub use options::{SynthError, SynthOptions};
pub use stream::DayCounts;
pub use stream::{DayFile, SynthSummary, generate};
pub use stream::{DayReader, day_text};
pub use web_model::Web;
