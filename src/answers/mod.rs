//! The answers of a bank, declared once for the command line, files and the browser.
//!
//! ```text
//! table.rs     a table of typed columns, and records: text, CSV, Parquet and Arrow; pages show the same tables
//! facts.rs     statements with values
//! seeds.rs, records.rs  seeds; quotas, cores and scores, with the formats of crawlers
//! explain.rs, sentence.rs          why a page is a seed or not: the evidence, and one sentence
//! places.rs, compare.rs            pages and sites; a list compared with a plan
//! phrases.rs, plans.rs             phrases that several answers share; plans as commands
//! ```
//!
//! The output contains URLs and names that third parties chose. Callers pass it through
//! [`readable`](seedbank_formats::display::readable) or [`escape_controls`](seedbank_formats::display::escape_controls) before they print it on a
//! terminal, and escape it in HTML.

mod compare;
mod explain;
mod facts;
mod phrases;
mod places;
mod plans;
mod records;
mod seeds;
mod sentence;
mod table;

pub use compare::{
    crawl_table, line_relation, line_state, list_states, listed_page, rejected_lines,
};
pub use explain::{
    page_evidence, page_explanation, page_sentence, site_explanation, site_in_plan, stop_reason,
};
pub use facts::{Facts, Line, Part};
pub use phrases::{
    SummaryLine, cause_text, change_reason, crawl_note, dated_verdict, failed_fetches,
    failing_pages, fetch_origin, kind_name, mirrored_hosts, page_yield, proof, provenance, refusal,
    repeated_content, reuse, site_limit_flag, state_name, times_with_error, verdict_advice,
    verdict_figures, verdict_ratio, verdict_sentence, without_new_pages, write_policy,
    write_shortage, write_stars,
};
pub use places::{canonical_evidence, kind_counts};
pub use places::{linked_pages, page_attributes, page_facts, site_attributes, site_facts};
#[cfg(feature = "serve")]
pub(crate) use plans::shell_word;
pub use plans::{PlanWithCommand, flags_of_list, plan_flags};
pub use records::{
    CorePage, ScoreFormat, ScoreWriter, without_limit, write_domain_limits, write_queue_limits,
};
pub use seeds::{SeedFormat, split_seeds, write_seeds};
pub use sentence::{page_reason, seed_reason};
pub use table::{Cell, Column, Declaration, Look, Record, Style, Table, with_error};
