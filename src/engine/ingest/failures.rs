//! Failed fetches of pages.
//!
//! A failed fetch changes neither the state nor the links of its page. The bank counts those after the last
//! fetch that did not fail: one that found the page crawled, redirected or gone ends the count. Within a
//! batch all of them count, besides the record of the page, each second once. A failed fetch is stale if the
//! page was fetched at the same second or later, or if a later one is counted already. So the same log, read
//! twice, counts once.

use super::failed_run::FailedRun;
use super::page_update::PageUpdate;
use super::passes::Passes;
use crate::engine::Result;
use seedbank_algorithms::page::PageId;
use seedbank_store::records::{Failures, PageRecord, PageState};
use seedbank_store::{StoreError, tables};

/// Failed fetches of a page in the input.
#[derive(Clone, Copy, Default)]
pub(super) struct FailedNews {
    /// Whether any of them are new.
    pub(super) is_news: bool,
    /// The time of the last one that is not stored yet, in seconds. A later fetch of the batch may not have
    /// failed.
    pub(super) last: Option<u64>,
}

/// Updates the failed fetches of a page. `answered` is the time of an update that reports a fetch,
/// else `None`; `runs` are the failed fetches in the input. Returns what is new among `runs`.
pub(super) fn update_failures(
    page: PageId,
    old: Option<&PageRecord>,
    update: &mut PageUpdate,
    answered: Option<u64>,
    runs: &[FailedRun],
    passes: &mut Passes<'_>,
) -> Result<FailedNews> {
    let stored = match old {
        Some(_) if passes.failures.any => passes.store.get(&tables::FAILURES, &page)?,
        _ => None,
    };
    if stored.is_none() && runs.is_empty() {
        return Ok(FailedNews::default());
    }
    let fetched = old.and_then(|record| record.fetched);
    let mut new = match answered {
        Some(time) => stored.and_then(|failures| failures.after(time)),
        None => stored,
    };
    let mut found: Vec<Failures> = runs
        .iter()
        .filter_map(|run| run.resolve(&passes.times))
        .collect();
    found.sort_unstable_by_key(|run| (run.last, run.status, run.count, run.since));
    let mut news = FailedNews::default();
    for run in found {
        let last = stored.map(|failures| failures.last);
        let is_stale = fetched.is_some_and(|time| run.last <= time)
            || last.is_some_and(|last| run.last < last);
        if let (Some(record), true) = (old, is_stale) {
            let page_time = fetched.max(last).unwrap_or(0);
            passes
                .times
                .skip(passes.store, page, record, run.last, page_time)?;
            continue;
        }
        if last != Some(run.last) {
            news.last = news.last.max(Some(run.last));
        }
        // The part after the last fetch that did not fail, which may be in the same batch.
        let later = fetched
            .max(answered)
            .map_or(Some(run), |time| run.after(time));
        if let Some(run) = later {
            new = Some(new.map_or(run, |failures| failures.and(run)));
            news.is_news = true;
        }
    }
    passes.failures.failed += u64::from(news.is_news);
    let is_known = old.is_some_and(|old| old.state == PageState::Known);
    if news.is_news && is_known && stored.is_none() && answered.is_none() {
        passes.fetches.add_first(None);
    }
    if new != stored {
        update.failures_change = true;
        match new {
            Some(failures) => passes.changes.put(&tables::FAILURES, &page, &failures)?,
            None => passes.changes.delete(&tables::FAILURES, &page)?,
        }
        let more = i64::from(new.is_some()) - i64::from(stored.is_some());
        let failing = passes.failures.failing.checked_add_signed(more);
        passes.failures.failing = failing.ok_or_else(|| StoreError::Damaged {
            table: tables::FAILURES.name,
            key: page.to_string(),
            what: "the count of the last batch does not match".to_owned(),
        })?;
    }
    Ok(news)
}
