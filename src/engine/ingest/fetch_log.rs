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
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exchange::shuffle::{Exchange, Shuffle};
use super::exchange::stream::Stream;
use super::fields::Fields;
use crate::engine::Result;
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::yields::Yield;
use seedbank_store::links::LinkKey;
use seedbank_store::records::{
    BatchId, BatchKind, Observed, PageRecord, PageState, PreviousFetch, PreviousFetches, YieldBlock,
};
use seedbank_store::{self, SiteIds, Sorter, Store, StoreError, tables};

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
    /// The first site that is new; in a cluster bank, the ids of sites before the batch.
    new_sites: NewSites,
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

/// The sites that a batch adds to the bank.
enum NewSites {
    /// Those from this id on.
    From(u32),
    /// Those that are not among these, in a cluster bank.
    After(SiteIds),
}

impl NewSites {
    fn contains(&self, site: SiteId) -> bool {
        match self {
            Self::From(first) => site.0 >= *first,
            Self::After(ids) => ids.is_new(site),
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
            new_sites: {
                let ids = SiteIds::load(store)?;
                if ids.are_ascending() {
                    NewSites::From(counters.next_site)
                } else {
                    NewSites::After(ids)
                }
            },
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
        if self.is_active && !self.new_sites.contains(site) {
            self.new_pages.insert(site, first);
        }
    }

    /// Tells other processes which pages are new.
    pub(super) fn send_new_pages(&self, exchange: &Arc<Exchange>) -> Result<()> {
        let mut sent = Shuffle::of_stream(exchange, Stream::NewPages);
        for (site, first) in &self.new_pages {
            sent.push(&site.0.to_be_bytes(), &first.to_be_bytes())?;
        }
        Ok(sent.flush()?)
    }

    /// Learns which pages of other processes are new.
    pub(super) fn receive_new_pages(&mut self, exchange: &Exchange) -> Result<()> {
        let mut received = exchange.received(Stream::NewPages)?;
        while let Some((site, first)) = received.next_entry()? {
            let first = Fields(first).u32()?;
            self.new_pages.insert(Fields(site).site()?, first);
        }
        Ok(())
    }

    /// Returns the number of pages among the targets that are new to the bank.
    pub(super) fn new_among(&self, targets: &[PageId], store: &Store) -> Result<u64, StoreError> {
        if !self.is_active {
            return Ok(0);
        }
        let is_new = |page: &&PageId| {
            let first = self.new_pages.get(&page.site());
            self.new_sites.contains(page.site())
                || first.is_some_and(|first| page.index() >= *first)
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

/// Whether a page had been fetched, so that its links are those of that fetch.
pub(super) fn was_fetched(page: &PageRecord) -> bool {
    let has_state = matches!(
        page.state,
        PageState::Crawled | PageState::Gone | PageState::Alias
    );
    has_state || page.fetched.is_some()
}
