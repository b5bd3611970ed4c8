//! The server and the report: requests, pages, and hostile clients.
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

mod made_up_reports;
mod report;
mod report_browser;
mod report_page;
mod report_paper;
#[cfg(target_os = "linux")]
mod serve;
#[cfg(target_os = "linux")]
mod serve_api;
mod serve_browser;
#[cfg(target_os = "linux")]
mod serve_crowds;
#[cfg(target_os = "linux")]
mod serve_hostile;
#[cfg(target_os = "linux")]
mod serve_markup;
#[cfg(all(target_os = "linux", feature = "mcp"))]
mod serve_mcp;
#[cfg(target_os = "linux")]
mod serve_metrics;
#[cfg(target_os = "linux")]
mod serve_pages;
mod serve_person;
#[cfg(target_os = "linux")]
mod serve_places;
#[cfg(target_os = "linux")]
mod serve_states;
#[path = "../support/mod.rs"]
mod support;
