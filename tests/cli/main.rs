//! Commands as a user types them: output, exit statuses, rejected arguments, and the page of a report.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]
#![expect(
    unreachable_pub,
    reason = "what is shared here is reachable by nobody outside"
)]

#[cfg(unix)]
mod backups;
mod bad_inputs;
mod ccgraph;
#[cfg(feature = "parquet")]
mod columns;
mod commands;
mod compare;
mod cover;
#[cfg(target_os = "linux")]
mod crawler_texts;
mod daily;
mod diff;
mod evaluate;
mod evaluate_methods;
mod explain;
mod explain_many;
mod explain_texts;
mod export;
mod failures;
mod forget;
mod if_changed;
#[cfg(unix)]
mod interrupts;
mod limits;
#[cfg(unix)]
mod links;
mod lists_to_files;
mod log_lines;
mod lookups;
mod made_up_reports;
mod malformed;
mod memory;
mod metrics;
mod page;
#[cfg(target_os = "linux")]
mod plan_lists;
mod plans;
mod policies;
mod read_back;
mod reader_limits;
mod refresh;
mod rejects;
mod report;
mod report_browser;
mod report_page;
mod report_paper;
mod schemas;
mod search;
mod seeds;
#[cfg(target_os = "linux")]
mod serve;
#[cfg(target_os = "linux")]
mod serve_bodies;
mod serve_browser;
#[cfg(target_os = "linux")]
mod serve_crowds;
#[cfg(target_os = "linux")]
mod serve_hostile;
#[cfg(target_os = "linux")]
mod serve_markup;
#[cfg(target_os = "linux")]
mod serve_pages;
mod serve_person;
#[cfg(target_os = "linux")]
mod serve_places;
#[cfg(target_os = "linux")]
mod serve_requests;
#[cfg(target_os = "linux")]
mod serve_slow;
#[cfg(target_os = "linux")]
mod serve_states;
mod site;
mod sites;
mod status;
#[path = "../support/mod.rs"]
mod support;
mod undo;
#[cfg(unix)]
mod upkeep;
mod warc;
mod wat;
mod wrong_formats;
