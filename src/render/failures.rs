//! Renders failed fetches, and what others brought, as text.

use crate::engine::query::{FailingPages, Failures, PageYield};
use seedbank_formats::clock::time;
use seedbank_formats::display::counted;

/// Describes the failed fetches of a page.
#[must_use]
pub fn failed_fetches(failures: &Failures) -> String {
    let Failures {
        status,
        count,
        since,
        last,
    } = *failures;
    if count == 1 {
        return format!("1 failed fetch, {}: {status}", time(last));
    }
    let since = time(since);
    let last = time(last);
    format!("{count} failed fetches since {since}, the last one {last}: {status}")
}

/// Describes what fetches of a page after the first brought.
#[must_use]
pub fn page_yield(yields: &PageYield) -> String {
    format!(
        "fetches after the first brought {:.1} new links in {:.1} days (decayed with a half-life of 64 days)",
        yields.new_links, yields.observed_days
    )
}

/// Counts the failing pages of a site by the result of the last fetch.
#[must_use]
pub fn failing_pages(failing: &[FailingPages]) -> String {
    let pages = failing.iter().map(|of| of.pages).sum::<u64>();
    let by_status: Vec<String> = failing
        .iter()
        .map(|of| format!("{} {}", of.pages, of.status))
        .collect();
    format!(
        "{} with failed fetches since the last one that did not fail, by the last result: {}",
        counted(pages, "page"),
        by_status.join(", ")
    )
}
