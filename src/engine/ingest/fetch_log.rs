//! What the fetches of a batch brought ([yields](seedbank_algorithms::yields)), and what they overwrite.
//!
//! A fetch of a page that was fetched before is observed: the time since, and the links that the bank sees
//! for the first time in the batch. Pages of one batch that link to the same new URL have all found it. Two
//! fetches of a page in one batch are one.
//!
//! The first fetch of a page is not observed, since all it brings is new. But if the bank knew the
//! page before the batch, it is counted among the first fetches of known pages.
//!
//! The last [`KEPT_BATCHES`] batches keep what they overwrite: fetch times, sums and links of pages that were
//! fetched before.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::events::Bytes;
use super::exchange::Exchange;
use super::fetch_times::FetchTimes;
use super::page_fields::is_undated;
use super::pieces::{Origin, PageUpdate, origin_of};
use crate::engine::Result;
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::yields::Yield;
use seedbank_store::links::LinkKey;
use seedbank_store::records::{
    BatchId, BatchKind, FetchCounts, Observed, PageRecord, PageState, PreviousFetch,
    PreviousFetches, YieldBlock,
};
use seedbank_store::seed_fetches::{SeedFetch, SeedFetches};
use seedbank_store::{self, Hash128, SiteIds, Sorter, Store, StoreError, tables};

/// The number of batches whose overwritten fetches are kept.
pub(in crate::engine) const KEPT_BATCHES: BatchId = 40;

/// A batch is a bulk import if it brings more than this many times the number of new links expected
/// from earlier batches.
pub(super) const BULK: u64 = 10;

/// What a batch does to the sums of a page.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) enum Event {
    /// A fetch: the seconds since the previous fetch, and the number of new links.
    Fetch { seconds: u64, new: u64 },
    /// The record of the page has the sums.
    Given(Yield),
    /// The page is forgotten.
    Forgotten,
}

/// The block that the links pass has reached: its sums before the batch, and what the batch overwrites.
pub(super) type OpenBlock = (LinkKey, YieldBlock, PreviousFetches);

/// The fetches of a batch.
pub(super) struct FetchLog {
    /// Whether pages of the bank have been fetched before. If not, nothing is new in comparison.
    is_active: bool,
    /// The first page that is new, of each site that the bank had before and that has one.
    new_pages: BTreeMap<SiteId, u32>,
    /// The last batch, if it was undone and nothing was ingested since.
    undone: Option<BatchId>,
    /// The ids of sites before the batch.
    site_ids: SiteIds,
    /// Events of pages.
    pub(super) events: Sorter,
    /// The page whose links are being replaced, if it was fetched before.
    pub(super) current: Option<PreviousFetch>,
    /// The block that the links pass has reached.
    pub(super) block: Option<OpenBlock>,
    pub(super) observed: Observed,
    /// The time of the last fetch in the bank before the batch, and that of the last one in the batch.
    pub(super) last_fetches: [u64; 2],
}

/// What is learned from the fetches of a batch.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct LearnedCounts {
    /// Number of pages that were fetched before and are fetched again.
    pub fetched_again: u64,
    /// Total number of days between these fetches and the previous ones.
    #[schemars(range(min = 0))]
    pub days: f64,
    /// Links that the bank saw for the first time in these fetches.
    pub new_links: u64,
    /// Number of known pages that were tried for the first time.
    pub tried: u64,
    /// Those among them whose fetch did not fail.
    pub answered: u64,
    /// Links that the bank saw for the first time in these first fetches.
    pub new_links_of_first: u64,
    /// Whether nothing was learned from the pages fetched again, because the batch looks like a bulk import.
    pub is_bulk: bool,
}

impl From<&Observed> for LearnedCounts {
    fn from(observed: &Observed) -> Self {
        Self {
            fetched_again: observed.fetched_again,
            days: observed.seconds as f64 / 86_400.0,
            new_links: observed.new_links,
            tried: observed.tried,
            answered: observed.answered,
            new_links_of_first: observed.new_links_of_first,
            is_bulk: observed.is_bulk,
        }
    }
}

impl FetchLog {
    pub(super) fn new(store: &Store, events: Sorter) -> Result<Self, StoreError> {
        let counters = store.counters()?;
        Ok(Self {
            is_active: counters.batch > 0,
            new_pages: BTreeMap::new(),
            undone: undone_before(store, counters.batch)?,
            site_ids: SiteIds::load(store)?,
            events,
            current: None,
            block: None,
            observed: Observed::default(),
            last_fetches: [store.last_fetch()?, 0],
        })
    }

    /// Returns the time of the last fetch in the bank after the batch, given the time of the batch.
    pub(super) fn last_fetch(&self, batch: Option<u64>) -> u64 {
        let [before, here] = self.last_fetches;
        before.max(here.min(batch.unwrap_or(0)))
    }

    /// Records that the pages of a site are new from this index on.
    pub(super) fn add_site(&mut self, site: SiteId, first: u32) {
        if self.is_active && !self.site_ids.is_new(site) {
            self.new_pages.insert(site, first);
        }
    }

    /// Adds the new pages of other processes.
    pub(super) fn gather_new_pages(&mut self, exchange: &Exchange) -> Result<()> {
        self.new_pages = exchange.gather_maps(std::mem::take(&mut self.new_pages))?;
        Ok(())
    }

    /// Returns the number of pages among the targets that are new to the bank.
    pub(super) fn new_among(&self, targets: &[PageId], store: &Store) -> Result<u64, StoreError> {
        if !self.is_active {
            return Ok(0);
        }
        let is_new = |page: &&PageId| {
            let first = self.new_pages.get(&page.site());
            self.site_ids.is_new(page.site()) || first.is_some_and(|first| page.index() >= *first)
        };
        let mut new = targets.iter().filter(is_new).count() as u64;
        if let Some(undone) = self.undone {
            // Pages of an undone batch keep their ids, and are no longer known.
            for page in targets.iter().filter(|page| !is_new(page)) {
                let record = store.need(&tables::PAGES, page)?;
                let is_undone = record.first_seen == undone && record.state == PageState::Unlinked;
                new += u64::from(is_undone);
            }
        }
        Ok(new)
    }

    /// Begins the update of a page. Links that it gains and loses are collected until its end (`yields::end_page`).
    pub(super) fn begin_page(&mut self, old: Option<&PageRecord>, is_fetch: bool) {
        self.current = old.filter(|old| was_fetched(old)).map(|old| PreviousFetch {
            is_fetch,
            fetched: old.fetched,
            ..PreviousFetch::default()
        });
    }

    /// Collects links that the page gained and lost.
    pub(super) fn add_links(
        &mut self,
        gained: impl Iterator<Item = PageId>,
        lost: impl Iterator<Item = PageId>,
    ) {
        if let Some(current) = &mut self.current {
            current.gained.extend(gained);
            current.lost.extend(lost);
        }
    }

    /// Counts the first try of a page that the bank knew before, and what it brought if it did not fail.
    pub(super) fn add_first(&mut self, answered: Option<u64>) {
        self.observed.tried += 1;
        if let Some(new) = answered {
            self.observed.answered += 1;
            self.observed.new_links_of_first += new;
        }
    }

    pub(super) fn push(&mut self, page: PageId, event: Event) -> Result<()> {
        let value = seedbank_store::pack(&event)?;
        Ok(self.events.push(&page.0.to_be_bytes(), &value)?)
    }
}

/// Returns the batch that the last batch undid; `None` if it is no undo.
fn undone_before(store: &Store, last: BatchId) -> Result<Option<BatchId>, StoreError> {
    let is_undo = |batch| {
        let record = store.get(&tables::BATCHES, &batch)?;
        Ok::<_, StoreError>(record.is_some_and(|record| record.kind == BatchKind::Undo))
    };
    // An undo reverses the batch right before it.
    Ok(if last > 0 && is_undo(last)? {
        last.checked_sub(1)
    } else {
        None
    })
}

/// Whether an update and the page before it describe one fetch: one is of a list of links without times, the other of a log
/// without links, at most a day apart.
pub(super) fn is_same_fetch(old: &PageRecord, update: &PageUpdate) -> bool {
    let Some((before, now)) = old.fetched.zip(update.fetched) else {
        return false;
    };
    let of_list = [is_undated(&old.earlier), is_undated(&update.times)];
    let is_pair = match of_list {
        [true, false] => update.crawled && !update.links,
        [false, true] => update.links && !update.alias && !update.gone && old.has_no_outlinks(),
        _ => false,
    };
    is_pair && now.abs_diff(before) <= 86_400
}

/// Whether a page had been fetched, so that its links are those of that fetch.
pub(super) fn was_fetched(page: &PageRecord) -> bool {
    let has_state = matches!(
        page.state,
        PageState::Crawled | PageState::Gone | PageState::Alias | PageState::Resource
    );
    has_state || page.fetched.is_some()
}

// Fetches of the batch, by the seeds that crawlers attribute them to.
//
// A page counts at most twice in a batch: by the fetch that its record describes, and by the last
// fetch of it that failed. A fetch counts once: a later record of a page with the same fetch time
// reports the same one. Nothing is attributed by links or by the page that led to a fetch; only a
// seed that the crawler names counts.
//
// A fetch is a duplicate if its content digest was that of another page of the site before the batch, or
// is that of an earlier page of the batch in the order of ids. So of equal pages that a batch brings, all but
// one are duplicates.

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
    /// The digest of the content that the fetch found.
    pub(super) digest: Option<Hash128>,
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
        let has_two = self.old.is_some_and(|old| is_same_fetch(old, self.update));
        self.update.is_fetch() && !is_same && !has_two
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
        if let Some(digest) = news.digest.filter(|_| news.is_crawled()) {
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
