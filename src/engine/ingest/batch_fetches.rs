//! Fetches of the batch, by the seeds that crawlers attribute them to.
//!
//! A page counts at most twice in a batch: by the fetch that its record describes, and by the last
//! fetch of it that failed. A fetch counts once: a later record of a page with the same fetch time
//! reports the same one. Nothing is attributed by links or by the page that led to a fetch; only a
//! seed that the crawler names counts.
//!
//! A fetch is a duplicate if its content digest was that of another page of the site before the batch, or
//! is that of an earlier page of the batch in the order of ids. So of equal pages that a batch brings, all but
//! one are duplicates.

use super::fetch_times::FetchTimes;
use super::fields::Bytes;
use super::origins::{Origin, origin_of};
use super::page_update::PageUpdate;
use crate::engine::Result;
use seedbank_algorithms::page::PageId;
use seedbank_store::Sorter;
use seedbank_store::records::{FetchCounts, PageRecord, PageState};
use seedbank_store::seed_fetches::{SeedFetch, SeedFetches};

/// Fetches of the batch so far.
pub(super) struct BatchFetches {
    /// Whether a record of the batch names a seed. If not, fetches are only counted.
    pub(super) any_seed: bool,
    /// Number of fetches with a seed.
    pub(super) attributed: u64,
    /// Fetches without one.
    pub(super) unattributed: FetchCounts,
    /// Fetches with a seed by page.
    pub(super) by_page: Sorter,
    /// Pages with their digests by site and digest; whether the page had the digest before.
    pub(super) digests: Sorter,
}

/// What a batch says about a page.
pub(super) struct PageNews<'a> {
    pub(super) page: PageId,
    /// `None` for a new page.
    pub(super) old: Option<&'a PageRecord>,
    pub(super) update: &'a PageUpdate,
    /// Whether the update has a fetch time of its own.
    pub(super) is_dated: bool,
    /// The time of the last fetch that failed and is not stored yet, in seconds.
    pub(super) failed: Option<u64>,
    pub(super) origins: &'a [(u64, Origin)],
}

impl PageNews<'_> {
    /// Whether the update reports a fetch that no earlier batch reported.
    fn is_answered(&self) -> bool {
        let last = self.old.and_then(|old| old.fetched);
        let is_same = self.is_dated && last.is_some() && last == self.update.fetched;
        self.update.is_fetch() && !is_same
    }

    /// Whether the fetch found the page crawled.
    fn is_crawled(&self) -> bool {
        self.update.crawled && self.update.state_after(None) == PageState::Crawled
    }

    /// Whether no earlier fetch of the page is known that did not fail.
    fn is_first(&self) -> bool {
        self.old.is_none_or(|old| {
            old.fetched.is_none() && matches!(old.state, PageState::Known | PageState::Unlinked)
        })
    }
}

impl BatchFetches {
    pub(super) const fn new(by_page: Sorter, digests: Sorter) -> Self {
        Self {
            any_seed: false,
            attributed: 0,
            unattributed: FetchCounts {
                fetched: 0,
                new: 0,
                failed: 0,
            },
            by_page,
            digests,
        }
    }

    /// Adds the fetches of a page.
    pub(super) fn add(&mut self, news: &PageNews<'_>, times: &FetchTimes) -> Result<()> {
        // Forgotten pages are not fetched.
        if times.batch().is_none() {
            return Ok(());
        }
        let mut fetches = SeedFetches::default();
        if news.is_answered() {
            let is_new = news.is_crawled() && news.is_first();
            fetches.answered = origin_of(news.origins, false, news.update.fetched, times);
            if fetches.answered.is_some() {
                fetches.is_new = is_new;
            } else {
                self.unattributed.fetched += 1;
                self.unattributed.new += u64::from(is_new);
            }
        }
        if news.failed.is_some() {
            fetches.failed = origin_of(news.origins, true, news.failed, times);
            self.unattributed.failed += u64::from(fetches.failed.is_none());
        }
        if !self.any_seed {
            return Ok(());
        }
        if let Some(digest) = news.update.digest.filter(|_| news.is_crawled()) {
            let site = news.page.site();
            let key = Bytes::default().u32(site.0).array(digest).u64(news.page.0);
            let had = news.old.and_then(PageRecord::counted_digest) == Some(digest);
            self.digests.push(&key, &[u8::from(had)])?;
        }
        if fetches.count() > 0 {
            self.attributed += fetches.count();
            let key = Bytes::default().u64(news.page.0);
            self.by_page.push(&key, &packed(fetches)?)?;
        }
        Ok(())
    }
}

type PackedFetch = Option<(u64, Option<u64>, Option<u32>)>;

fn packed(fetches: SeedFetches) -> Result<Vec<u8>> {
    let fetch = |of: Option<SeedFetch>| -> PackedFetch {
        of.map(|of| (of.seed.0, of.via.map(|via| via.0), of.depth))
    };
    let parts = (
        fetch(fetches.answered),
        fetches.is_new,
        fetch(fetches.failed),
    );
    Ok(seedbank_store::pack(&parts)?)
}

pub(super) fn unpacked(bytes: &[u8]) -> Result<SeedFetches> {
    let (answered, is_new, failed): (PackedFetch, bool, PackedFetch) =
        seedbank_store::unpack(bytes)?;
    let fetch = |of: PackedFetch| {
        of.map(|(seed, via, depth)| SeedFetch {
            seed: PageId(seed),
            via: via.map(PageId),
            depth,
        })
    };
    Ok(SeedFetches {
        answered: fetch(answered),
        is_new,
        is_duplicate: false,
        failed: fetch(failed),
    })
}
