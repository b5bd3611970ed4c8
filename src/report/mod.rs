//! A refresh as one page for people: gathered from what a [`Bank`](crate::engine::Bank) answers,
//! told as data and as HTML.
//!
//! ```text
//! gather.rs    asks the bank: seeds, cores, history; measure.rs the experiments
//! answers.rs   what a report tells; the JSON file beside the page
//! changes.rs   why seeds came and went, in words
//! turnover.rs  how many seeds each refresh kept, gained and lost
//! truncate.rs      lists that are cut, and how many items are left out
//! verdict.rs     whether it is worth it, and by which figures
//! page.rs      the page, and what its templates cannot compute themselves; seeds.rs its list
//! seeds.js     searches and sorts the list; the page is complete without it
//! experiments.rs, fetches.rs, crawl.rs, coverage.rs  what was measured, as figures
//! map.rs       distances between cores as inline SVG
//! html/        templates: page.html with its sections, on top of those in src/html
//! ```
//!
//! The page needs nothing but itself: no request to anywhere, and no script but the one that searches
//! and sorts a list of seeds (a content security policy in it forbids all others). Only links that the
//! reader follows lead out of it. Text from the web is hostile until it is escaped. The same report
//! gives the same bytes: nothing tells the time of day or the machine.

mod answers;
mod changes;
mod coverage;
mod crawl;
mod distance_map;
mod experiments;
mod fetches;
mod gather;
mod measure;
mod page;
mod seeds;
mod truncate;
mod turnover;
mod verdict;

pub use answers::{CoreMembers, CoreSummary, Report, ReportSeed, SiteShare};
pub use gather::ReportRequest;
pub use page::{Commands, page};
