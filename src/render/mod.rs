//! Answers of a bank in words and as lists, the same on the command line and in a browser.
//!
//! Whatever is told holds URLs and names that others chose: before it is printed on a terminal it goes
//! through [`readable`](seedbank_formats::shown::readable) or [`plain`](seedbank_formats::shown::plain), and into HTML only
//! escaped.

mod causes;
mod crawlers;
mod explain;
mod provenance;
mod limits;
mod lines;
mod plans;
mod policy;
mod scores;
mod seed_parquet;
mod seeds;
mod sentence;
mod web;
mod names;

pub use causes::{SummaryLine, cause_text};
pub use explain::{page_evidence, page_explanation, page_sentence, site_explanation, site_in_plan};
pub use provenance::provenance;
pub use limits::{without_limit, write_domain_limits, write_queue_limits};
pub use lines::{Line, Lines, Part};
pub use plans::{PlanWithCommand, plan_flags};
pub use policy::{write_policy, write_shortage, write_stars};
pub use scores::{ScoreFormat, ScoreWriter};
pub use seeds::{SeedFormat, split_seeds, write_seeds};
pub use sentence::page_reason;
pub use names::{kind_name, state_name};
