//! Builds the record of one page.

use std::ops::Range;

use super::report::{Counts, quality};
use crate::engine::EngineError;
use seedbank_algorithms::page::{AliasBy, PageId};
use seedbank_algorithms::yields::Yield;
use seedbank_formats::clock::time;
use seedbank_formats::ingest::{Record, digest_text};
use seedbank_store::aliases::Alias;
use seedbank_store::records::{Failures, PageRecord, PageState};

/// Page of a chunk.
pub(super) struct Page {
    /// Position in the chunk.
    pub(super) place: usize,
    pub(super) record: PageRecord,
    /// Range of its outlinks among those of the chunk, without those of its row.
    pub(super) links: Range<usize>,
    /// Row whose targets are also outlinks.
    pub(super) row: Option<u32>,
    pub(super) alias: Option<Alias>,
    pub(super) failures: Option<Failures>,
    /// What its fetches brought, if it was fetched twice or more.
    pub(super) sums: Option<Yield>,
}

impl Page {
    pub(super) const fn new(place: usize, record: PageRecord) -> Self {
        Self {
            place,
            record,
            links: 0..0,
            row: None,
            alias: None,
            failures: None,
            sums: None,
        }
    }
}

/// Returns the record of a page; `None` if it has none.
pub(super) fn record(
    url: String,
    page: &Page,
    outlinks: Vec<&str>,
    urls: &Urls,
    counts: &mut Counts,
) -> Result<Option<Record>, EngineError> {
    let stored = &page.record;
    let has_attributes = stored.clicks > 0
        || stored.spam_given.is_some()
        || stored.quality_given.is_some()
        || stored.uncrawled_given.is_some();
    let mut record = Record::new(url);
    // A time would turn a known page into a crawled one. Without it, nothing says until when the sums are.
    if let Some(at) = stored.fetched.filter(|_| stored.state != PageState::Known) {
        record = record.fetched(time(at));
        if let Some(sums) = page.sums {
            record = record.sums(sums);
        }
    }
    if let Some(failures) = page.failures {
        let (since, last) = (time(failures.since), time(failures.last));
        record = record.failures(failures.count, failures.status, since, last);
    }
    match stored.state {
        PageState::Unlinked => return Ok(None),
        PageState::Known if stored.last_seen.is_none() => {
            counts.without_record += 1;
            return Ok(None);
        }
        PageState::Gone => {
            counts.gone += 1;
            counts.dropped_attributes += u64::from(has_attributes || stored.digest.is_some());
            return Ok(Some(record.gone()));
        }
        PageState::Known => {
            counts.known += 1;
            counts.dropped_attributes +=
                u64::from(stored.digest.is_some() || stored.fetched.is_some());
        }
        PageState::Alias => counts.aliases += 1,
        PageState::Crawled => {
            counts.crawled += 1;
            counts.links += outlinks.len() as u64;
            record = record.outlinks(outlinks);
        }
    }
    if let Some(spam) = stored.spam_given {
        record = record.spam(spam);
    }
    if stored.clicks > 0 {
        record = record.clicks(stored.clicks);
    }
    if let Some(count) = stored.uncrawled_given {
        record = record.uncrawled_outlinks(count.into());
    }
    if let Some(steps) = stored.quality_given {
        record = record.quality(quality(steps));
    }
    // A digest would turn a known page into a crawled one.
    if let Some(digest) = stored.digest.filter(|_| stored.state != PageState::Known) {
        counts.digests += 1;
        record = record.digest(digest_text(digest));
    }
    if let Some(alias) = page.alias {
        let to = urls.get(alias.to)?;
        record = match alias.by {
            AliasBy::Redirect => record.redirect(to),
            AliasBy::Canonical => record.canonical(to),
        };
    }
    Ok(Some(record))
}

pub(super) const fn lost_url() -> EngineError {
    EngineError::Internal("a link lost its URL while it was exported")
}

/// Map from pages to URLs.
#[derive(Default)]
pub(super) struct Urls {
    /// Page ids, ascending.
    pages: Vec<PageId>,
    /// End of each URL in `text`.
    ends: Vec<usize>,
    text: String,
}

impl Urls {
    /// Adds a page with a larger id than all others. `put_url` appends its URL.
    pub(super) fn push(&mut self, page: PageId, put_url: impl FnOnce(&mut String)) {
        put_url(&mut self.text);
        self.pages.push(page);
        self.ends.push(self.text.len());
    }

    pub(super) fn get(&self, page: PageId) -> Result<&str, EngineError> {
        let at = self.pages.binary_search(&page).map_err(|_| lost_url())?;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.text.get(start..self.ends[at]).ok_or_else(lost_url)
    }

    /// Returns the URLs of the pages, in the same order.
    pub(super) fn get_all(&self, pages: &[PageId]) -> Result<Vec<&str>, EngineError> {
        pages.iter().map(|page| self.get(*page)).collect()
    }
}
