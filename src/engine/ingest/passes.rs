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
//!   targets by page   -> targets pass-> pages, row counts   (in-links, uncrawled counts)
//!   pages by page     -> pages pass  -> digests, sites
//!   row counts, row hashes, digests, sites -> the last passes
//! ```
//!
//! Every arrow is a [`Sorter`], so memory is bounded by the budget, every table is read and written
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

use roaring::RoaringTreemap;
use serde::{Deserialize, Serialize};

use super::aliases::Aliases;
use super::batch_fetches::BatchFetches;
use super::blocklist::Blocklist;
use super::failed_run::FailureCounts;
use super::fetch_log::FetchLog;
use super::fetch_times::FetchTimes;
use super::fields::{Bytes, Fields};
use super::gather::InputCollector;
use super::loss::Loss;
use super::page_update::PageUpdate;
use super::site_records::{SiteCounts, SiteRecords};
use crate::engine::{EngineError, Result};
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_store::links::{BLOCK_LEN, LinkKey};
use seedbank_store::records::{BatchCounts, BatchId, Counters, PageState, SiteDefaults};
use seedbank_store::tables::PageSetKey;
use seedbank_store::{
    self, Changes, PageSetWriter, SiteIds, Sorted, Sorter, Store, StoreError, Writer,
};

/// Number of shares of the memory budget. Two thirds of them can be in use at the same time; the
/// rest covers allocator overhead and read-ahead.
const SHARES: usize = 48;

/// Number of shares of a sorter: for one that sorts every link, for one that sorts every row, and
/// for most others.
const LARGE: usize = 5;
const MEDIUM: usize = 2;
const SMALL: usize = 1;

/// Number of shares of a portion of the input, while nothing else is in memory.
const GATHER_SHARES: usize = 14;

/// Maximum size of a portion, in bytes: its URLs and links have 32-bit numbers.
const MAX_PORTION: usize = 2 << 30;

/// The sorters between the passes, and the results so far.
pub(super) struct Passes<'a> {
    /// The bank before the batch.
    pub(super) store: &'a Store,
    pub(super) watch: &'a dyn Watch,
    folder: PathBuf,
    share: usize,
    pub(super) changes: Changes,
    pub(super) counters: Counters,
    pub(super) site_ids: SiteIds,
    pub(super) counts: BatchCounts,
    pub(super) of_sites: SiteCounts,
    pub(super) batch: BatchId,
    /// Pages whose links, state or attributes changed.
    pub(super) changed: PageSetWriter,
    /// Pages whose state, spam mark or row changed.
    pub(super) former: PageSetWriter,
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
    pub(super) records: Sorter,
    /// Rows that the bank does not have yet, by hash, and the pages that will carry them.
    pub(super) new_rows: Sorter,
    /// New rows with their targets, and deleted rows.
    pub(super) rows: Sorter,
    /// Pages that a row gains or loses.
    pub(super) members: Sorter,
    /// Changes of a page as a target.
    pub(super) targets: Sorter,
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
    pub(super) fn new(writer: &'a Writer, memory: usize, watch: &'a dyn Watch) -> Result<Self> {
        let counters = writer.counters()?;
        let batch = counters.batch.checked_add(1);
        let batch = batch.ok_or(StoreError::Full("batch"))?;
        let folder = writer.spill_folder();
        let share = memory / SHARES;
        let sorter = || Sorter::new(&folder, SMALL * share);
        let medium = || Sorter::new(&folder, MEDIUM * share);
        let large = || Sorter::new(&folder, LARGE * share);
        Ok(Self {
            store: writer,
            watch,
            share,
            changes: Changes::new(&folder, LARGE * share),
            counters,
            site_ids: SiteIds::load(writer)?,
            counts: BatchCounts::default(),
            of_sites: SiteCounts::default(),
            batch,
            changed: PageSetWriter::new(PageSetKey::Changed(batch)),
            former: PageSetWriter::new(PageSetKey::History(batch)),
            forgotten: Forgotten::default(),
            times: FetchTimes::none(),
            failures: FailureCounts::load(writer)?,
            fetches: FetchLog::new(writer, sorter())?,
            by_seed: BatchFetches::new(sorter(), sorter()),
            loss: Loss::default(),
            aliases: Aliases::load(writer)?,
            records: large(),
            new_rows: medium(),
            rows: medium(),
            members: sorter(),
            targets: large(),
            row_counts: sorter(),
            row_hashes: sorter(),
            pages: large(),
            digests: sorter(),
            sites: sorter(),
            folder,
        })
    }

    /// Creates the collector of the input, which skips blocked pages and sites.
    pub(super) fn collector(&self, blocklist: Option<Blocklist>) -> InputCollector {
        let portion = (self.share * GATHER_SHARES).min(MAX_PORTION);
        let sites = SiteRecords::new(Sorter::new(&self.folder, SMALL * self.share));
        InputCollector::new(
            portion,
            [0; 3].map(|_| self.large_sorter()),
            sites,
            blocklist,
        )
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

const STATES: [PageState; 5] = [
    PageState::Known,
    PageState::Crawled,
    PageState::Gone,
    PageState::Unlinked,
    PageState::Alias,
];

fn state_byte(state: Option<PageState>) -> u8 {
    match state {
        Some(PageState::Known) => 0,
        Some(PageState::Crawled) => 1,
        Some(PageState::Gone) => 2,
        Some(PageState::Unlinked) => 3,
        Some(PageState::Alias) => 4,
        None => 5,
    }
}

fn read_state(byte: u8) -> Result<PageState> {
    let state = STATES.get(usize::from(byte)).copied();
    state.ok_or(EngineError::Internal("an event has no state"))
}

/// Changes of the links from a block of pages or rows to a target: bitmaps of the places in the
/// block that gain or lose a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Places {
    pub(super) gained: u64,
    pub(super) lost: u64,
    /// `Some(true)` if the block gains its first link to the target, `Some(false)` if it loses its
    /// last one.
    pub(super) block: Option<bool>,
}

/// Change of a page as a target.
pub(super) enum TargetEvent {
    /// The state before and after the batch's records, and whether the page ever had a record.
    State {
        old: Option<PageState>,
        new: PageState,
        has_record: bool,
    },
    /// An alias begins (true) or ceases (false) to lead to the page.
    Lead(bool),
    /// Pages of a block of `intra` gain or lose a link to the page.
    Intra { block: u32, places: Places },
    /// Rows of a block of `rows` gain or lose a link to the page.
    Citers { block: LinkKey, places: Places },
}

pub(super) fn target_event(
    targets: &mut Sorter,
    page: PageId,
    old: Option<PageState>,
    new: PageState,
    has_record: bool,
) -> Result<()> {
    let key = Bytes::default().u64(page.0).byte(0);
    let value = [state_byte(old), state_byte(Some(new)), u8::from(has_record)];
    Ok(targets.push(&key, &value)?)
}

/// Records that an alias begins or ceases to lead to a page.
pub(super) fn lead_event(targets: &mut Sorter, page: PageId, begins: bool) -> Result<()> {
    let key = Bytes::default().u64(page.0).byte(LEAD);
    Ok(targets.push(&key, &[u8::from(begins)])?)
}

pub(super) fn intra_event(
    targets: &mut Sorter,
    target: u32,
    block: LinkKey,
    places: Places,
) -> Result<()> {
    let target = PageId::new(block.site, target);
    let key = Bytes::default().u64(target.0).byte(1).u32(block.block);
    Ok(targets.push(&key, &put_places(places))?)
}

pub(super) fn citers_event(
    targets: &mut Sorter,
    target: PageId,
    block: LinkKey,
    places: Places,
) -> Result<()> {
    let key = Bytes::default().u64(target.0).byte(2);
    let key = key.u32(block.site.0).u32(block.block);
    Ok(targets.push(&key, &put_places(places))?)
}

/// The kind of an event of `targets` about aliases.
const LEAD: u8 = 3;

fn put_places(places: Places) -> Bytes {
    let block = match places.block {
        None => 0,
        Some(false) => 1,
        Some(true) => 2,
    };
    let bytes = Bytes::default().byte(block).u64(places.gained);
    // Most blocks only gain links.
    if places.lost == 0 {
        bytes
    } else {
        bytes.u64(places.lost)
    }
}

fn read_places(value: &[u8]) -> Result<Places> {
    let mut fields = Fields(value);
    let block = match fields.byte()? {
        0 => None,
        block => Some(block == 2),
    };
    let gained = fields.u64()?;
    let lost = if fields.0.is_empty() {
        0
    } else {
        fields.u64()?
    };
    Ok(Places {
        gained,
        lost,
        block,
    })
}

/// Parses an event of `targets`. The key's first eight bytes are the page.
pub(super) fn read_target(key: &[u8], value: &[u8]) -> Result<TargetEvent> {
    let mut key = Fields(key);
    key.page()?;
    Ok(match key.byte()? {
        0 => {
            let mut value = Fields(value);
            TargetEvent::State {
                old: STATES.get(usize::from(value.byte()?)).copied(),
                new: read_state(value.byte()?)?,
                has_record: value.byte()? == 1,
            }
        }
        LEAD => TargetEvent::Lead(value == [1]),
        1 => TargetEvent::Intra {
            block: key.u32()?,
            places: read_places(value)?,
        },
        _ => TargetEvent::Citers {
            block: LinkKey {
                site: key.site()?,
                block: key.u32()?,
            },
            places: read_places(value)?,
        },
    })
}

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
