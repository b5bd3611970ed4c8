//! Fetches that crawlers attributed to seeds, by batch, and what the lists promised.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::applied_batches::applied_batches;
use seedbank_algorithms::page::PageId;
use seedbank_store::records::{
    BatchId, BatchKind, BatchRecord, PageRecord, RefreshId, SeedEvidence,
};
use seedbank_store::seed_fetches::{SeedFetches, SeedFetchesKey};
use seedbank_store::{Key, Store, StoreError, tables};

/// Fetches that crawlers attributed to a seed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SeedCounts {
    /// Fetches that did not fail: they found the page crawled, redirected or gone.
    pub fetched: u64,
    /// Those that crawled a page for the first time.
    pub new: u64,
    /// Fetches that failed.
    pub failed: u64,
    /// Fetches with the content of another page of the same site.
    pub duplicates: u64,
}

impl SeedCounts {
    /// Returns the number of all fetches.
    #[must_use]
    pub const fn fetches(&self) -> u64 {
        self.fetched.saturating_add(self.failed)
    }

    /// Adds the fetch of a page that did not fail.
    pub(crate) fn add_answered(&mut self, page: &SeedFetches) {
        self.fetched += 1;
        self.new += u64::from(page.is_new);
        self.duplicates += u64::from(page.is_duplicate);
    }
}

impl std::ops::Add for SeedCounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            fetched: self.fetched.saturating_add(other.fetched),
            new: self.new.saturating_add(other.new),
            failed: self.failed.saturating_add(other.failed),
            duplicates: self.duplicates.saturating_add(other.duplicates),
        }
    }
}

/// What the evidence of a refresh promised for a seed.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SeedPromise {
    /// Pages that the seed was the first to reach or cover: a crawl of them has as many fetches.
    pub pages: u64,
    /// Those that were not crawled.
    pub known: u64,
    /// Value of the pages.
    pub value: f64,
}

impl SeedPromise {
    /// Returns the promise of a seed; `None` for seeds of cores and those that a policy added.
    pub(crate) fn from_evidence(evidence: &SeedEvidence) -> Option<Self> {
        let (pages, known, millionths) = match evidence {
            SeedEvidence::Core { .. } | SeedEvidence::ByPolicy => return None,
            SeedEvidence::Cover(cover) => (cover.covered_pages(), 0, cover.covered_value()),
            SeedEvidence::Web(web) => {
                let known = web.hops.iter().map(|hop| u64::from(hop.known)).sum();
                (web.reached_pages(), known, web.reached_value())
            }
        };
        Some(Self {
            pages,
            known,
            value: millionths as f64 / 1e6,
        })
    }

    /// Returns the value per page.
    #[must_use]
    pub fn value_per_page(&self) -> Option<f64> {
        (self.pages > 0).then(|| self.value / self.pages as f64)
    }
}

/// Returns the batches after `from` and up to `to` that contain fetches and were not undone.
pub(crate) fn batches(
    store: &Store,
    from: BatchId,
    to: BatchId,
) -> Result<Vec<(BatchId, BatchRecord)>, StoreError> {
    let mut found = applied_batches(store)?;
    let is_wanted = |batch: BatchId| batch > from && batch <= to;
    found.retain(|(batch, record)| is_wanted(*batch) && record.kind != BatchKind::Forget);
    Ok(found)
}

/// Calls `each` with the pages of a batch whose fetches crawlers attributed to seeds, in the order of ids.
pub(crate) fn for_each_page<E: From<StoreError>>(
    store: &Store,
    batch: BatchId,
    mut each: impl FnMut(PageId, &SeedFetches) -> Result<(), E>,
) -> Result<(), E> {
    for entry in store.scan_under(&tables::SEED_FETCHES, &batch.bytes())? {
        let (key, block) = entry?;
        for (place, fetches) in &block.0 {
            if let Some(page) = key.page(*place) {
                each(page, fetches)?;
            }
        }
    }
    Ok(())
}

/// Counts the fetches of a page by seed.
pub(crate) fn count(counts: &mut BTreeMap<PageId, SeedCounts>, page: &SeedFetches) {
    if let Some(fetch) = page.answered {
        counts.entry(fetch.seed).or_default().add_answered(page);
    }
    if let Some(fetch) = page.failed {
        counts.entry(fetch.seed).or_default().failed += 1;
    }
}

/// Counts the fetches of batches by seed.
///
/// Cost: a scan of the attributed fetches of these batches.
pub(crate) fn counts_by_seed(
    store: &Store,
    batches: &[(BatchId, BatchRecord)],
) -> Result<BTreeMap<PageId, SeedCounts>, StoreError> {
    let mut counts: BTreeMap<PageId, SeedCounts> = BTreeMap::new();
    for (batch, _) in batches.iter().filter(|(_, record)| record.attributed > 0) {
        for_each_page(store, *batch, |_, page| {
            count(&mut counts, page);
            Ok::<_, StoreError>(())
        })?;
    }
    Ok(counts)
}

/// Returns the batches for which the list of a refresh was the last one of its plan.
pub(crate) fn batches_of_list(
    store: &Store,
    plan: &str,
    refresh: RefreshId,
    batch: BatchId,
) -> Result<Vec<(BatchId, BatchRecord)>, StoreError> {
    let mut to = BatchId::MAX;
    for entry in store.scan(&tables::REFRESHES)? {
        let (number, record) = entry?;
        if record.plan == plan && number > refresh {
            to = to.min(record.batch);
        }
    }
    batches(store, batch, to)
}

/// Returns the last fetches of a page that crawlers attributed to a seed, and their batch.
///
/// Cost: one read for each batch from the last one with a record of the page back to these fetches, or to the first
/// one that named the page.
pub(crate) fn last_fetches(
    store: &Store,
    page: PageId,
    record: &PageRecord,
) -> Result<Option<(BatchId, SeedFetches)>, StoreError> {
    for batch in (record.first_seen..=record.last_seen.unwrap_or(0)).rev() {
        let (key, place) = SeedFetchesKey::of_page(batch, page);
        let block = store.get(&tables::SEED_FETCHES, &key)?;
        if let Some(fetches) = block.as_ref().and_then(|block| block.at(place)) {
            return Ok(Some((batch, *fetches)));
        }
    }
    Ok(None)
}
