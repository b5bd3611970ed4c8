//! State between the passes that apply a batch to the bank.
//!
//! ```text
//! input events -> portions -> [distinct URLs] -> ids -> [pieces of records by page]
//!   what records say of aliases -> [pages that link to aliases which change]
//!   records of sites by name, with the ids -> pages, sites
//!   canonical records by page, such pages -> links pass -> targets, new rows, members, pages, fetches
//!   new rows by hash  -> rows pass   -> members, rows
//!   members by row    -> members pass-> rows, row counts
//!   rows by row       -> blocks pass -> targets
//!   fetches by page   -> yields pass -> what fetches brought
//!   fetches by page, their digests -> seed fetches pass
//!   targets by page   -> targets pass-> pages, citers       (in-links, uncrawled counts)
//!   citers by block   -> citers pass -> row counts
//!   pages by page     -> pages pass  -> digests, sites
//!   row counts, row hashes, digests, sites -> the last passes
//! ```
//!
//! Every arrow is a [`Sorter`], or a [`Shuffle`] if entries can belong to sites of other processes
//! ([`exchange`](super::exchange)), so memory is bounded by the budget, every table is read and written
//! in key order, every key is written once, and the result does not depend on the order of the
//! input. Besides a portion of the input, the following are held in memory: one record's outlinks,
//! some blocks of links, the blocks that link to one page, one row's pages, the aliases that the
//! batch names, and a bitmap of the pages that link to changed aliases. The batch is applied after
//! all passes, by one atomic commit.
//!
//! Counts of uncrawled targets are updated by differences: with u = 1 for a known page and 0
//! otherwise, a source adds `u_new` for a target that it gained, subtracts `u_old` for one that it
//! lost, and adds `u_new - u_old` for one that it kept. Equal changes of several pages or rows of a
//! block are emitted once, with a bitmap of their places in the block.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use roaring::{RoaringBitmap, RoaringTreemap};
use serde::{Deserialize, Serialize};

use super::aliases::Aliases;
use super::blocklist::Blocklist;
use super::events::{Bytes, Fields, read_state, state_byte};
use super::exchange::{Exchange, GATHER_SHARES, LARGE, MEDIUM, SMALL, Shuffle, Stream, share_of};
use super::fetch_log::{BatchFetches, FetchLog};
use super::fetch_times::FetchTimes;
use super::gather::InputCollector;
use super::loss::Loss;
use super::pieces::{FailureCounts, PageUpdate};
use super::reject_list::{RejectList, SentRecords};
use super::site_records::SiteCounts;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{Naming, SUFFIX_LIST, SiteMode};
use seedbank_store::links::{BLOCK_LEN, LinkKey};
use seedbank_store::records::{BatchCounts, BatchId, Counters, PageState, SiteDefaults};
use seedbank_store::tables::PageSetKey;
use seedbank_store::{self, Changes, PageSetWriter, SiteIds, Sorted, Sorter, Store, StoreError};

/// Maximum size of a portion, in bytes: its URLs and links have 32-bit numbers.
const MAX_PORTION: usize = 2 << 30;

/// The sorters between the passes, and the results so far.
pub(super) struct Passes<'a> {
    /// The bank before the batch.
    pub(super) store: &'a Store,
    pub(super) watch: &'a dyn Watch,
    /// The processes that run the same passes.
    pub(super) exchange: Arc<Exchange>,
    folder: PathBuf,
    share: usize,
    pub(super) changes: Changes,
    pub(super) counters: Counters,
    pub(super) site_ids: SiteIds,
    pub(super) counts: BatchCounts,
    pub(super) of_sites: SiteCounts,
    pub(super) batch: BatchId,
    /// Pages whose links, state or attributes changed.
    pub(super) changed: BatchPageSet,
    /// Pages whose state, spam mark or row changed.
    pub(super) former: BatchPageSet,
    /// Pages and sites to forget, whose names are removed.
    pub(super) forgotten: Forgotten,
    /// Fetch times of records; stale ones are complete after the links pass.
    pub(super) times: FetchTimes,
    /// Failed fetches; complete after the links pass.
    pub(super) failures: FailureCounts,
    /// What fetches brought, and what they overwrite; complete after the links pass.
    pub(super) fetches: FetchLog,
    /// Fetches by seed; complete after the links pass.
    pub(super) by_seed: BatchFetches,
    /// Loss by the batch; complete after the links pass.
    pub(super) loss: Loss,
    /// Changes of aliases by the batch; complete before the links pass.
    pub(super) aliases: Aliases<'a>,
    /// Records by page: whether the page is new, and pieces of input about it.
    pub(super) records: Shuffle,
    /// Pages whose content fetches of other pages found, with these pages.
    pub(super) same_content: Shuffle,
    /// Rows that the bank does not have yet, by hash, and the pages that will carry them.
    pub(super) new_rows: Sorter,
    /// New rows with their targets, and deleted rows.
    pub(super) rows: Sorter,
    /// Pages that a row gains or loses.
    pub(super) members: Sorter,
    /// Changes of a page as a target.
    pub(super) targets: Shuffle,
    /// Changes of the targets of rows, by block of rows.
    pub(super) citers: Shuffle,
    /// New members and uncrawled counts of rows.
    pub(super) row_counts: Sorter,
    /// Rows that a hash gains or loses.
    pub(super) row_hashes: Sorter,
    /// Changes of a page's record.
    pub(super) pages: Sorter,
    /// Changes of the number of pages with a content digest.
    pub(super) digests: Sorter,
    /// Changes of site records.
    pub(super) sites: Sorter,
}

impl<'a> Passes<'a> {
    /// Begins a batch after the last one in `store`. Temporary files are in `folder`.
    pub(super) fn new(
        store: &'a Store,
        folder: PathBuf,
        memory: usize,
        watch: &'a dyn Watch,
        exchange: Arc<Exchange>,
    ) -> Result<Self> {
        let counters = store.counters()?;
        let batch = counters.batch.checked_add(1);
        let batch = batch.ok_or(StoreError::Full("batch"))?;
        let share = share_of(memory);
        let shuffle = |stream| Shuffle::new(&exchange, stream, &folder, share);
        let sorter = || Sorter::new(&folder, SMALL * share);
        let medium = || Sorter::new(&folder, MEDIUM * share);
        let large = || Sorter::new(&folder, LARGE * share);
        Ok(Self {
            store,
            watch,
            share,
            changes: Changes::new(&folder, LARGE * share),
            counters,
            site_ids: SiteIds::load(store)?,
            counts: BatchCounts::default(),
            of_sites: SiteCounts::default(),
            batch,
            changed: BatchPageSet::new(shuffle(Stream::PageSet)),
            former: BatchPageSet::new(shuffle(Stream::PageSet)),
            forgotten: Forgotten::default(),
            times: FetchTimes::none(),
            failures: FailureCounts::load(store)?,
            fetches: FetchLog::new(store, sorter())?,
            by_seed: BatchFetches::new(sorter(), sorter()),
            loss: Loss::default(),
            aliases: Aliases::load(store)?,
            records: shuffle(Stream::Records),
            same_content: shuffle(Stream::SameContent),
            new_rows: medium(),
            rows: medium(),
            members: sorter(),
            targets: shuffle(Stream::Targets),
            citers: shuffle(Stream::Citers),
            row_counts: sorter(),
            row_hashes: sorter(),
            pages: large(),
            digests: sorter(),
            sites: sorter(),
            exchange,
            folder,
        })
    }

    /// Creates the collector of the input, which skips blocked pages and sites.
    pub(super) fn collector(
        &self,
        blocklist: Option<Blocklist>,
        is_snapshot: bool,
    ) -> InputCollector {
        let portion = (self.share * GATHER_SHARES).min(MAX_PORTION);
        let sent = [Stream::Urls, Stream::Sources, Stream::Sites].map(|of| self.shuffle(of));
        let is_compared = self.counters.batch > 0;
        let sorter = self.large_sorter();
        InputCollector::new(portion, is_compared, is_snapshot, sorter, sent, blocklist)
    }

    /// Returns the times of a batch. Process 0 has the list of bad and stale records.
    pub(super) fn times_of(
        &self,
        batch: u64,
        list: Option<RejectList>,
        sites: SiteMode,
    ) -> FetchTimes {
        let sent = || SentRecords::new(self.shuffle(Stream::Stale));
        let sent = (!self.exchange.is_alone()).then(sent);
        FetchTimes::of_batch(batch, list, sent, sites)
    }

    /// Creates the sort of a stream.
    pub(super) fn shuffle(&self, stream: Stream) -> Shuffle {
        Shuffle::new(&self.exchange, stream, &self.folder, self.share)
    }

    /// Creates a sorter for every link of the batch.
    pub(super) fn large_sorter(&self) -> Sorter {
        Sorter::new(&self.folder, LARGE * self.share)
    }

    /// Ends one of the sorters and returns its sorted entries.
    pub(super) fn take(&mut self, which: impl FnOnce(&mut Self) -> &mut Sorter) -> Result<Sorted> {
        // Nothing is added to the sorter from now on.
        let fresh = Sorter::new(&self.folder, 0);
        Ok(std::mem::replace(which(self), fresh).finish()?)
    }

    pub(super) fn site(&mut self, site: SiteId, delta: &SiteDelta) -> Result<()> {
        Ok(self
            .sites
            .push(&site.0.to_be_bytes(), &seedbank_store::pack(delta)?)?)
    }
}

/// Pages and sites whose records keep only their numbers.
#[derive(Default)]
pub(super) struct Forgotten {
    pub(super) pages: RoaringTreemap,
    pub(super) sites: BTreeSet<SiteId>,
}

/// Change of a page's record, in the order of application.
pub(super) enum PageEvent<'a> {
    /// The page is new. Contains the URL after the site.
    New(&'a str),
    /// The page has a record.
    Update(PageUpdate),
    /// Added or removed links change whether the page exists for readers.
    State(PageState),
    /// The page has another row, or none.
    Row(Option<u32>),
    /// Change of the number of intra-site links.
    Intra(i64),
    /// Change of the number of inter-site links.
    Inter(i64),
    /// Attributes of the page's site, if the page or the attributes are new.
    Inherit(SiteDefaults),
}

/// Kinds of events of `pages`. One for several pages of a block comes before those of its first
/// page.
const UNCRAWLED: u8 = 0;
const NEW: u8 = 1;
const UPDATE: u8 = 2;
const STATE: u8 = 3;
const ROW: u8 = 4;
const INTRA: u8 = 5;
const INTER: u8 = 6;
const INHERIT: u8 = 7;

pub(super) fn page_event(pages: &mut Sorter, page: PageId, event: &PageEvent<'_>) -> Result<()> {
    let key = |order: u8| Bytes::default().u64(page.0).byte(order);
    match event {
        PageEvent::New(local) => pages.push(&key(NEW), local.as_bytes()),
        PageEvent::Update(update) => pages.push(&key(UPDATE), &seedbank_store::pack(update)?),
        PageEvent::State(state) => pages.push(&key(STATE), &[state_byte(Some(*state))]),
        PageEvent::Row(Some(row)) => pages.push(&key(ROW), &row.to_be_bytes()),
        PageEvent::Row(None) => pages.push(&key(ROW), &[]),
        PageEvent::Intra(by) => pages.push(&key(INTRA), &by.to_be_bytes()),
        PageEvent::Inter(by) => pages.push(&key(INTER), &by.to_be_bytes()),
        PageEvent::Inherit(given) => pages.push(&key(INHERIT), &seedbank_store::pack(given)?),
    }?;
    Ok(())
}

/// Adds `by` to the number of intra-site targets that are known and not crawled, for the pages of a
/// block at `places`.
pub(super) fn uncrawled_event(
    pages: &mut Sorter,
    site: SiteId,
    block: u32,
    places: u64,
    by: i64,
) -> Result<()> {
    if places == 0 || by == 0 {
        return Ok(());
    }
    let first = PageId::new(site, LinkKey { site, block }.index(0));
    let key = Bytes::default().u64(first.0).byte(UNCRAWLED);
    Ok(pages.push(&key, &Bytes::default().u64(places).i64(by))?)
}

/// An event of `pages`.
pub(super) enum PagesEvent<'a> {
    /// For the page of its key.
    Page(PageEvent<'a>),
    /// For several places in the block of the page of its key: `by` more uncrawled targets.
    Uncrawled { places: u64, by: i64 },
}

/// Parses an event of `pages`. The key's first eight bytes are the page.
pub(super) fn read_page<'a>(key: &[u8], value: &'a [u8]) -> Result<PagesEvent<'a>> {
    let mut key = Fields(key);
    key.page()?;
    let mut fields = Fields(value);
    let broken = |_| EngineError::Internal("a URL in temporary data is invalid");
    Ok(PagesEvent::Page(match key.byte()? {
        UNCRAWLED => {
            return Ok(PagesEvent::Uncrawled {
                places: fields.u64()?,
                by: fields.i64()?,
            });
        }
        NEW => PageEvent::New(std::str::from_utf8(value).map_err(broken)?),
        UPDATE => PageEvent::Update(seedbank_store::unpack(value)?),
        STATE => PageEvent::State(read_state(fields.byte()?)?),
        ROW if value.is_empty() => PageEvent::Row(None),
        ROW => PageEvent::Row(Some(fields.u32()?)),
        INTRA => PageEvent::Intra(fields.i64()?),
        INHERIT => PageEvent::Inherit(seedbank_store::unpack(value)?),
        _ => PageEvent::Inter(fields.i64()?),
    }))
}

const _: () = assert!(BLOCK_LEN <= u64::BITS, "a place of a block is a bit");

/// Adds a page to a row, or removes it.
pub(super) fn member_event(
    members: &mut Sorter,
    row: RowId,
    page: u32,
    gained: bool,
) -> Result<()> {
    let key = Bytes::default().u64(row.0).u32(page);
    Ok(members.push(&key, &[u8::from(gained)])?)
}

/// Changes of a site's record. Numbers are differences, except for `next_page` and `next_row`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct SiteDelta {
    pub(super) name: Option<String>,
    pub(super) next_page: u32,
    pub(super) next_row: u32,
    /// Whether a page of the site, its links or its value changed.
    pub(super) changed: bool,
    /// Whether a crawled page of the site, its links or its value changed.
    pub(super) cover_changed: bool,
    pub(super) known: i64,
    pub(super) crawled: i64,
    pub(super) gone: i64,
    pub(super) documents: i64,
    pub(super) resources: i64,
    pub(super) spam: i64,
    pub(super) with_digest: i64,
    pub(super) distinct_digests: i64,
    pub(super) rows: i64,
    pub(super) row_links: i64,
    pub(super) intra_links: i64,
    pub(super) inter_links: i64,
    /// New attributes of the site itself; `None` if they did not change.
    pub(super) given: Option<SiteDefaults>,
    pub(super) known_quality: i64,
    pub(super) crawled_quality: i64,
}

// Sets of pages of a batch.

/// A set of pages that are added in the order of their sites. Process 0 writes it.
pub(super) struct BatchPageSet {
    /// Bitmaps of pages by site.
    sites: Shuffle,
    open: Option<(SiteId, RoaringBitmap)>,
}

impl BatchPageSet {
    pub(super) const fn new(sites: Shuffle) -> Self {
        Self { sites, open: None }
    }

    pub(super) fn push(&mut self, page: PageId) -> Result<()> {
        match &mut self.open {
            Some((site, pages)) if *site == page.site() => {
                pages.insert(page.index());
                Ok(())
            }
            _ => {
                let next = (page.site(), RoaringBitmap::from_iter([page.index()]));
                let full = self.open.replace(next);
                self.add(full)
            }
        }
    }

    fn add(&mut self, full: Option<(SiteId, RoaringBitmap)>) -> Result<()> {
        if let Some((site, pages)) = full {
            let mut bytes = Vec::with_capacity(pages.serialized_size());
            // Writing to memory does not fail.
            pages
                .serialize_into(&mut bytes)
                .map_err(|_| EngineError::Internal("a bitmap cannot be written"))?;
            self.sites.push(&site.0.to_be_bytes(), &bytes)?;
        }
        Ok(())
    }

    /// Ends the set in all processes, and returns it in process 0; elsewhere it is empty.
    pub(super) fn finish(
        &mut self,
        set: PageSetKey,
        changes: &mut Changes,
    ) -> Result<PageSetWriter> {
        let last = self.open.take();
        self.add(last)?;
        let mut sites = self.sites.take()?;
        let invalid = |_| EngineError::Internal("a bitmap in temporary data is invalid");
        let mut writer = PageSetWriter::new(set);
        while let Some((key, value)) = sites.next_entry()? {
            let site = Fields(key).site()?;
            for index in RoaringBitmap::deserialize_from(value).map_err(invalid)? {
                writer.push(PageId::new(site, index), changes)?;
            }
        }
        Ok(writer)
    }
}

// How a bank delimits pages and sites.

/// Returns how the bank delimits pages and sites. Fails if this build does so differently.
///
/// Another suffix list changes thousands of registrable domains. Of bare hosts it changes only
/// those few that are `www.` and a public suffix in only one of the lists, which is not a reason to
/// reject a bank.
pub(super) fn writable_naming(store: &Store) -> Result<Naming> {
    let settings = store.settings()?;
    let naming = crate::engine::naming(&settings)?;
    if naming.sites == SiteMode::Domain && settings.suffix_list != SUFFIX_LIST {
        return Err(EngineError::SuffixList {
            bank: settings.suffix_list,
            build: SUFFIX_LIST.to_owned(),
        });
    }
    Ok(naming)
}
