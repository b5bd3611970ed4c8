//! Answers of a bank in words and as lists, the same on the command line and in a browser.
//!
//! Whatever is told holds URLs and names that others chose: before it is printed on a terminal it goes
//! through [`readable`](seedbank_formats::shown::readable) or [`plain`](seedbank_formats::shown::plain), and into HTML only
//! escaped.

mod causes;
mod crawlers;
mod explain;
mod how;
mod limits;
mod lines;
mod plans;
mod policy;
mod scores;
mod seed_table;
mod seeds;
mod sentence;
mod web;
mod words;

pub use causes::{SummaryLine, because};
pub use explain::{evidence_of_page, of_page, of_site, of_site_in_plan, sentence_of_page};
pub use how::how;
pub use limits::{without_limit, write_domain_limits, write_queue_limits};
pub use lines::{Line, Lines, Part};
pub use plans::{PlanWithCommand, flags};
pub use policy::{policy, shortage, stars};
pub use scores::{ScoreFormat, ScoreWriter};
pub use seeds::{SeedFormat, split_seeds, write_seeds};
pub use sentence::sentence;
pub use words::{kind_name, state_name};
