//! What goes from pass to pass while a batch is worked into the bank.
//!
//! ```text
//! input events -> portions -> [distinct URLs] -> ids -> [pieces of records by URL]
//!   canonical records -> links pass  -> new intra-site links, targets, new rows, members, pages
//!   new links by page -> intra pass  -> targets, pages
//!   new rows by hash  -> rows pass   -> members, rows
//!   members by row    -> members pass-> rows, row counts
//!   rows by row       -> blocks pass -> targets
//!   targets by page   -> targets pass-> pages, row counts   (in-links, uncrawled counts)
//!   pages by page     -> pages pass  -> digests, sites
//!   row counts, row hashes, digests, sites -> the last passes
//! ```
//!
//! Every arrow is a [`Sorter`], so memory is bounded by the budget, every table is read and
//! written in key order, every key is written once, and the result does not depend on the order
//! of the input. Held whole are only: one record's outlinks, one page's in-links, one row's
//! pages. The batch is applied when all passes are through, by one atomic commit.
//!
//! The counts of uncrawled targets are kept by difference: with u = 1 for a known page and 0
//! otherwise, a source gains `u_new` for a target that it gained, loses `u_old` for one that it
//! lost, and changes by `u_new - u_old` for one that it kept.

use std::path::Path;

use roaring::RoaringTreemap;
use serde::{Deserialize, Serialize};

use super::canonical::Claim;
use super::fields::{Bytes, Fields};
use super::portions::Gather;
use crate::engine::EngineError;
use crate::page::{PageId, RowId, SiteId};
use crate::storage::links::LinkKey;
use crate::storage::records::{BatchCounts, BatchId, Counters, PageState};
use crate::storage::{self, Changes, Sorted, Sorter};

/// The budget is cut into so many shares. What is held at the same time comes to two thirds of them:
/// the rest is for what the allocator cannot give back, and for what is read ahead.
const SHARES: usize = 44;

/// Shares of a sorter through which every link goes, and of most others.
const LARGE: usize = 5;
const SMALL: usize = 1;

/// Shares that a portion of the input may take while nothing but it is collected.
const GATHER_SHARES: usize = 14;

/// The most bytes of a portion: positions in its texts are numbers of 32 bits.
const MOST_PORTION: usize = 2 << 30;

/// The sorters between the passes, and what the batch has come to so far.
pub(super) struct Passes<'a> {
    folder: &'a Path,
    share: usize,
    pub(super) changes: Changes,
    pub(super) counters: Counters,
    pub(super) counts: BatchCounts,
    pub(super) batch: BatchId,
    /// Pages whose links, state or attributes changed.
    pub(super) changed: RoaringTreemap,
    /// Pages whose state, spam mark or row changed.
    pub(super) former: RoaringTreemap,
    /// Records by number, in URL order: own page, and pieces of what is said of it.
    pub(super) records: Sorter,
    /// Rows that the bank does not have yet, by hash; and pages that shall carry them.
    pub(super) new_rows: Sorter,
    /// What links of pages are replaced by, within their sites.
    pub(super) new_intra: Sorter,
    /// Rows that are made, with their targets, or deleted.
    pub(super) rows: Sorter,
    /// Pages that a row gains or loses.
    pub(super) members: Sorter,
    /// What happens to a page as a target.
    pub(super) targets: Sorter,
    /// New members and uncrawled counts of rows.
    pub(super) row_counts: Sorter,
    /// Rows that a hash gains or loses.
    pub(super) row_hashes: Sorter,
    /// What happens to a page's record.
    pub(super) pages: Sorter,
    /// Pages that a content digest gains or loses.
    pub(super) digests: Sorter,
    /// Changes of site records.
    pub(super) sites: Sorter,
}

impl<'a> Passes<'a> {
    pub(super) fn new(folder: &'a Path, memory: usize, counters: Counters, batch: BatchId) -> Self {
        let share = memory / SHARES;
        let sorter = || Sorter::new(folder, SMALL * share);
        let large = || Sorter::new(folder, LARGE * share);
        Self {
            folder,
            share,
            changes: Changes::new(folder, LARGE * share),
            counters,
            counts: BatchCounts::default(),
            batch,
            changed: RoaringTreemap::new(),
            former: RoaringTreemap::new(),
            records: large(),
            new_rows: sorter(),
            new_intra: sorter(),
            rows: sorter(),
            members: sorter(),
            targets: large(),
            row_counts: sorter(),
            row_hashes: sorter(),
            pages: large(),
            digests: sorter(),
            sites: sorter(),
        }
    }

    /// Collects the input, before there is anything else to hold.
    pub(super) fn gather(&self) -> Gather {
        let portion = (self.share * GATHER_SHARES).min(MOST_PORTION);
        Gather::new(portion, [0; 3].map(|_| self.large_sorter()))
    }

    /// A sorter for every link of the batch.
    pub(super) fn large_sorter(&self) -> Sorter {
        Sorter::new(self.folder, LARGE * self.share)
    }

    /// Ends one of the sorters and gives what it collected.
    pub(super) fn take(
        &mut self,
        which: impl FnOnce(&mut Self) -> &mut Sorter,
    ) -> Result<Sorted, EngineError> {
        // Nobody adds to it any more.
        let fresh = Sorter::new(self.folder, 0);
        Ok(std::mem::replace(which(self), fresh).finish()?)
    }

    pub(super) fn site(&mut self, site: SiteId, delta: &SiteDelta) -> Result<(), EngineError> {
        Ok(self
            .sites
            .push(&site.0.to_be_bytes(), &storage::pack(delta)?)?)
    }
}

/// What happens to a page's record, in the order in which it is applied.
#[derive(Serialize, Deserialize)]
pub(super) enum PageEvent {
    /// The page is new; the rest of its URL.
    Born(String),
    /// It has a record.
    Claim(Claim),
    /// Links came or went that make it a page, or none.
    State(PageState),
    /// Its row is another.
    Row(Option<u32>),
    /// Its intra-site links changed: by so many in number.
    Intra(i64),
    /// Its inter-site links changed: by so many in number.
    Inter(i64),
    /// More or fewer of its intra-site targets are known and not crawled.
    Uncrawled(i64),
}

pub(super) fn page_event(
    pages: &mut Sorter,
    page: PageId,
    event: &PageEvent,
) -> Result<(), EngineError> {
    let order = match event {
        PageEvent::Born(_) => 0,
        PageEvent::Claim(_) => 1,
        PageEvent::State(_) => 2,
        PageEvent::Row(_) => 3,
        PageEvent::Intra(_) => 4,
        PageEvent::Inter(_) => 5,
        PageEvent::Uncrawled(_) => 6,
    };
    let key = Bytes::default().u64(page.0).byte(order).done();
    Ok(pages.push(&key, &storage::pack(event)?)?)
}

/// What happens to a page as a target.
pub(super) enum TargetEvent {
    /// Its state before and after the batch's records, and whether it ever had a record.
    State {
        old: Option<PageState>,
        new: PageState,
        has_record: bool,
    },
    /// A page of its site gains or loses a link to it.
    Intra { source: u32, gained: bool },
    /// A row gains or loses it.
    Citer { row: RowId, gained: bool },
    /// A block of `intra` gains its first link to it, or loses its last.
    IntraBlock { block: u32, gained: bool },
    /// A block of `rows` does.
    CiterBlock { block: LinkKey, gained: bool },
}

const STATES: [PageState; 4] = [
    PageState::Known,
    PageState::Crawled,
    PageState::Gone,
    PageState::Unlinked,
];

fn state_byte(state: Option<PageState>) -> u8 {
    match state {
        Some(PageState::Known) => 0,
        Some(PageState::Crawled) => 1,
        Some(PageState::Gone) => 2,
        Some(PageState::Unlinked) => 3,
        None => 4,
    }
}

pub(super) fn target_event(
    targets: &mut Sorter,
    page: PageId,
    old: Option<PageState>,
    new: PageState,
    has_record: bool,
) -> Result<(), EngineError> {
    let key = Bytes::default().u64(page.0).byte(0).done();
    let value = [state_byte(old), state_byte(Some(new)), u8::from(has_record)];
    Ok(targets.push(&key, &value)?)
}

pub(super) fn intra_event(
    targets: &mut Sorter,
    target: PageId,
    source: u32,
    gained: bool,
) -> Result<(), EngineError> {
    let key = Bytes::default().u64(target.0).byte(1).u32(source).done();
    Ok(targets.push(&key, &[u8::from(gained)])?)
}

pub(super) fn citer_event(
    targets: &mut Sorter,
    target: PageId,
    row: RowId,
    gained: bool,
) -> Result<(), EngineError> {
    let key = Bytes::default().u64(target.0).byte(2).u64(row.0).done();
    Ok(targets.push(&key, &[u8::from(gained)])?)
}

pub(super) fn intra_block_event(
    targets: &mut Sorter,
    target: PageId,
    block: u32,
    gained: bool,
) -> Result<(), EngineError> {
    let key = Bytes::default().u64(target.0).byte(3).u32(block).done();
    Ok(targets.push(&key, &[u8::from(gained)])?)
}

pub(super) fn citer_block_event(
    targets: &mut Sorter,
    target: PageId,
    block: LinkKey,
    gained: bool,
) -> Result<(), EngineError> {
    let key = Bytes::default().u64(target.0).byte(4);
    let key = key.u32(block.site.0).u32(block.block).done();
    Ok(targets.push(&key, &[u8::from(gained)])?)
}

/// Reads an event of `targets`; the key's first eight bytes are the page.
pub(super) fn read_target(key: &[u8], value: &[u8]) -> Result<TargetEvent, EngineError> {
    let mut key = Fields(key);
    let mut value = Fields(value);
    key.page()?;
    Ok(match key.byte()? {
        0 => {
            let old = STATES.get(usize::from(value.byte()?)).copied();
            let new = STATES.get(usize::from(value.byte()?)).copied();
            TargetEvent::State {
                old,
                new: new.ok_or(EngineError::Internal("an event has no state"))?,
                has_record: value.byte()? == 1,
            }
        }
        1 => TargetEvent::Intra {
            source: key.u32()?,
            gained: value.byte()? == 1,
        },
        2 => TargetEvent::Citer {
            row: key.row()?,
            gained: value.byte()? == 1,
        },
        3 => TargetEvent::IntraBlock {
            block: key.u32()?,
            gained: value.byte()? == 1,
        },
        _ => TargetEvent::CiterBlock {
            block: LinkKey {
                site: key.site()?,
                block: key.u32()?,
            },
            gained: value.byte()? == 1,
        },
    })
}

/// Replaces the intra-site links of a page.
pub(super) fn new_links_event(
    new_intra: &mut Sorter,
    page: PageId,
    targets: &[PageId],
) -> Result<(), EngineError> {
    let bytes = targets
        .iter()
        .fold(Bytes::default(), |bytes, target| bytes.u32(target.index()));
    Ok(new_intra.push(&page.0.to_be_bytes(), &bytes.done())?)
}

/// Gives a row a page, or takes it away.
pub(super) fn member_event(
    members: &mut Sorter,
    row: RowId,
    page: u32,
    gained: bool,
) -> Result<(), EngineError> {
    let key = Bytes::default().u64(row.0).u32(page).done();
    Ok(members.push(&key, &[u8::from(gained)])?)
}

/// Changes of a site's record; sums, but for the name and the last numbers.
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
}
