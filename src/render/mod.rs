//! Renders answers of a bank as text and lists, the same for the command line and the browser.
//!
//! The output contains URLs and names that third parties chose. Callers pass it through
//! [`readable`](seedbank_formats::display::readable) or [`escape_controls`](seedbank_formats::display::escape_controls) before they print it on a
//! terminal, and escape it in HTML.

mod causes;
mod crawlers;
mod explain;
mod failures;
mod global;
mod limits;
mod lines;
mod names;
mod plans;
mod policy;
mod provenance;
mod refusal;
mod scores;
mod seed_parquet;
mod seeds;
mod sentence;
mod table_rows;
mod verdict;

pub use causes::{SummaryLine, cause_text, change_reason};
pub use explain::{
    page_evidence, page_explanation, page_sentence, site_explanation, site_in_plan, stop_reason,
};
pub use failures::{failed_fetches, failing_pages, fetch_origin, page_yield, without_new_pages};
pub use limits::{without_limit, write_domain_limits, write_queue_limits};
pub use lines::{Line, Lines, Part};
pub use names::{kind_name, state_name};
#[cfg(feature = "serve")]
pub(crate) use plans::shell_word;
pub use plans::{PlanWithCommand, plan_flags};
pub use policy::{write_policy, write_shortage, write_stars};
pub use provenance::{proof, provenance, reuse};
pub use refusal::refusal;
pub use scores::{ScoreFormat, ScoreWriter};
pub use seeds::{SeedFormat, split_seeds, write_seeds};
pub use sentence::{page_reason, seed_reason};
pub use table_rows::CorePage;
pub use verdict::{times_with_error, verdict_advice, verdict_ratio, verdict_sentence};
