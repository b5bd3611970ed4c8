//! Renders failed fetches, what others brought, and how crawlers came to pages, as text.

use super::lines::Line;
use crate::engine::query::{FailingPages, Failures, FetchOrigin, PageYield, SeedCounts};
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

/// Describes how a crawler came to the last fetch of a page that it attributed to a seed.
#[must_use]
pub fn fetch_origin(origin: &FetchOrigin) -> Line {
    let fetch = if origin.failed {
        "failed fetch"
    } else {
        "fetch"
    };
    let begin = format!("{fetch} in batch {} from seed ", origin.batch);
    let mut line = Line::from(begin).and_page(&origin.seed);
    if let Some(via) = &origin.via {
        line = line.and(", via ").and_page(via);
    }
    if let Some(depth) = origin.depth {
        line = line.and(format_args!(", {} deep", counted(depth, "link")));
    }
    line
}

/// Says that crawls brought no new page from a seed; `None` if they did, or did not start from it.
#[must_use]
pub fn without_new_pages(counts: &SeedCounts) -> Option<String> {
    (counts.new == 0 && counts.fetches() > 0).then(|| {
        let fetches = counted(counts.fetches(), "fetch");
        format!("{fetches} from it brought no new page")
    })
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
        "{} whose last fetch failed, by its result: {}",
        counted(pages, "page"),
        by_status.join(", ")
    )
}
