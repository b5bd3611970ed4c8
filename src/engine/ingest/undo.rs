//! Undo: the last batch is taken back by another one, which puts back what it overwrote.
//!
//! Everything that the batch wrote of sites, pages and links gets the value it had, with these
//! exceptions, since ids are never given out twice and refreshes stay:
//!
//! * A page that the batch brought stays as one that nobody links to, which outside the store is
//!   none; it keeps its id for evidence of refreshes that ran on it.
//! * A site keeps the numbers it has given out, and counts as changed now, so that the next refresh
//!   looks at it.
//! * What pages were between the two batches, and rows that only they had, go to the past as those
//!   of any batch do (`page_history`, `removed_rows`).

use std::collections::BTreeMap;
use std::time::Instant;

use roaring::RoaringTreemap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::clock::now;
use crate::engine::{Bank, EngineError, NoUndo};
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_store::records::{
    BatchCounts, BatchId, BatchKind, BatchRecord, Counters, PageRecord, PageState, PreviousPage,
    RemovedRow, SiteDefaults, SiteRecord, UndoRecord,
};
use seedbank_store::tables::{self, PageSetKey};
use seedbank_store::{Changes, Key, StoreError, Value, Writer};

/// A batch that was taken back.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct UndoReport {
    /// The batch that was taken back.
    #[schemars(range(min = 1))]
    pub undone: BatchId,
    /// Its name.
    pub name: String,
    /// The number under which that stands in the history, as a batch of its own.
    #[schemars(range(min = 1))]
    pub batch: BatchId,
    /// What it changed.
    pub counts: BatchCounts,
    /// How long it took, in seconds.
    #[schemars(range(min = 0))]
    pub seconds: f64,
}

impl Bank {
    /// Takes the last batch back: pages, links and attributes are what they were before it. That is
    /// a batch of its own, with a number of its own; refreshes stay, and the next one sees what has
    /// changed. The same records can be ingested again afterwards.
    ///
    /// A batch that took another one back, or that forgot pages on demand, cannot be taken back:
    /// [`EngineError::NoUndo`]. With `wait` it waits for another writer to finish. `memory` is how many
    /// bytes sorting may take, besides the store's own.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// assert_eq!(bank.undo(false, 64 << 20, &Unwatched)?.undone, 1);
    /// assert_eq!(bank.status()?.counters.crawled, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Cost: what the batch wrote, read and written once more; for the bank's first batch, all of
    /// its pages and links.
    pub fn undo(
        &self,
        wait: bool,
        memory: usize,
        watch: &dyn Watch,
    ) -> Result<UndoReport, EngineError> {
        let begun = Instant::now();
        let writer = Writer::open(self.path(), wait, watch)?;
        let counters = writer.counters()?;
        let (undo, undone) = undoable(&writer, counters.batch)?;
        let batch = counters.batch.checked_add(1);
        let batch = batch.ok_or(StoreError::Full("batch"))?;
        watch.stage("undo", (!undo.is_first()).then_some(undo.entries));
        let changes = Changes::new(&writer.spill_folder(), memory);
        let mut back = TakingBack::new(&writer, changes, batch, undo.batch);
        writer.overwritten_entries(&undo, |table, key, former| {
            watch.proceed()?;
            watch.advance(1);
            back.put(table, key, former)
        })?;
        let TakingBack {
            mut changes,
            former,
            mut counts,
            ..
        } = back;
        let of_batch = writer.need(&tables::PAGE_SETS, &PageSetKey::Changed(undo.batch))?;
        counts.changed = undone.counts.changed;
        counts.links_added = undone.counts.links_removed;
        counts.links_removed = undone.counts.links_added;
        changes.put(&tables::PAGE_SETS, &PageSetKey::Changed(batch), &of_batch)?;
        if !former.is_empty() {
            changes.put(&tables::PAGE_SETS, &PageSetKey::History(batch), &former)?;
        }
        let seconds = begun.elapsed().as_secs_f64();
        let record = BatchRecord {
            name: undone.name.clone(),
            kind: BatchKind::Undo,
            inputs: Vec::new(),
            digest: [0; 32],
            at: now(),
            seconds,
            counts: counts.clone(),
        };
        changes.put(&tables::BATCHES, &batch, &record)?;
        watch.stage("commit", None);
        watch.proceed()?;
        let counters = Counters {
            batch,
            refresh: counters.refresh,
            next_site: counters.next_site,
            ..undo.before
        };
        writer.commit_irreversible(changes, counters)?;
        Ok(UndoReport {
            undone: undo.batch,
            name: undone.name,
            batch,
            counts,
            seconds: begun.elapsed().as_secs_f64(),
        })
    }
}

/// The last batch, if it can be taken back.
fn undoable(writer: &Writer, last: BatchId) -> Result<(UndoRecord, BatchRecord), EngineError> {
    if last == 0 {
        return Err(EngineError::NoUndo(NoUndo::NoBatch));
    }
    let record = writer.need(&tables::BATCHES, &last)?;
    let why = match record.kind {
        BatchKind::Undo => NoUndo::Undone(last),
        BatchKind::Forget => NoUndo::Forgot(last),
        BatchKind::Snapshot | BatchKind::Delta => NoUndo::NotKept(last),
    };
    match writer.undo_record()? {
        Some(undo) => Ok((undo, record)),
        None => Err(EngineError::NoUndo(why)),
    }
}

/// The changes that take a batch back.
struct TakingBack<'a> {
    writer: &'a Writer,
    changes: Changes,
    /// The number of the batch that takes back, and of the one that is taken back.
    batch: BatchId,
    undone: BatchId,
    /// What is given of sites, once the batch is taken back.
    given: BTreeMap<SiteId, SiteDefaults>,
    /// Pages whose state, spam mark or row changes.
    former: RoaringTreemap,
    counts: BatchCounts,
}

impl<'a> TakingBack<'a> {
    fn new(writer: &'a Writer, changes: Changes, batch: BatchId, undone: BatchId) -> Self {
        Self {
            writer,
            changes,
            batch,
            undone,
            given: BTreeMap::new(),
            former: RoaringTreemap::new(),
            counts: BatchCounts::default(),
        }
    }

    /// Puts an entry of a table back. Entries come by table, sites before pages.
    fn put(
        &mut self,
        table: &'static str,
        key: &[u8],
        former: Option<&[u8]>,
    ) -> Result<(), EngineError> {
        if table == tables::SITES.name {
            let (site, record) = typed(table, key, former)?;
            return self.put_site(site, record);
        }
        if table == tables::PAGES.name {
            let (page, record) = typed(table, key, former)?;
            return self.put_page(page, record);
        }
        if table == tables::ROW_MEMBERS.name && former.is_none() {
            self.keep_row(key_of(table, key)?)?;
        }
        Ok(self.changes.put_raw(table, key, former)?)
    }

    fn put_site(&mut self, site: SiteId, former: Option<SiteRecord>) -> Result<(), EngineError> {
        let now = self.writer.need(&tables::SITES, &site)?;
        let as_of = |changed: BatchId, before: BatchId| {
            if changed == self.undone {
                self.batch
            } else {
                before
            }
        };
        let before = former.unwrap_or_default();
        self.given.insert(site, before.defaults);
        let record = SiteRecord {
            name: now.name,
            next_page: now.next_page,
            next_row: now.next_row,
            changed: as_of(now.changed, before.changed),
            cover_changed: as_of(now.cover_changed, before.cover_changed),
            ..before
        };
        Ok(self.changes.put(&tables::SITES, &site, &record)?)
    }

    fn put_page(&mut self, page: PageId, former: Option<PageRecord>) -> Result<(), EngineError> {
        let now = self.writer.need(&tables::PAGES, &page)?;
        let record = match former {
            Some(record) => record,
            None => self.unlinked(page, &now)?,
        };
        let standing = |record: &PageRecord| PreviousPage {
            state: record.state,
            spam: record.spam,
            row: record.row,
        };
        let was = standing(&now);
        if was != standing(&record) {
            self.former.insert(page.0);
            let key = (self.batch, page);
            self.changes.put(&tables::PAGE_HISTORY, &key, &was)?;
        }
        if now.state != record.state {
            match record.state {
                PageState::Crawled => self.counts.became_crawled += 1,
                PageState::Gone => self.counts.became_gone += 1,
                PageState::Known | PageState::Unlinked | PageState::Alias => {}
            }
        }
        Ok(self.changes.put(&tables::PAGES, &page, &record)?)
    }

    /// What is left of a page that came with the batch.
    fn unlinked(&mut self, page: PageId, now: &PageRecord) -> Result<PageRecord, EngineError> {
        let site = page.site();
        let given = match self.given.get(&site) {
            Some(given) => *given,
            None => self.writer.need(&tables::SITES, &site)?.defaults,
        };
        let mut record = PageRecord::unlinked(now.local.clone(), now.first_seen);
        record.inherit(&given);
        Ok(record)
    }

    /// Keeps a row that came with the batch, as one that nobody carries any more.
    fn keep_row(&mut self, row: RowId) -> Result<(), EngineError> {
        let targets = self.writer.need_row(row)?;
        let former = RemovedRow {
            until: self.batch,
            targets,
        };
        Ok(self.changes.put(&tables::REMOVED_ROWS, &row, &former)?)
    }
}

fn damaged(table: &'static str, what: String) -> EngineError {
    EngineError::Store(StoreError::Damaged {
        table: tables::UNDO.name,
        key: table.to_owned(),
        what,
    })
}

fn key_of<K: Key>(table: &'static str, key: &[u8]) -> Result<K, EngineError> {
    K::take(key).ok_or_else(|| damaged(table, "a key cannot be read".to_owned()))
}

/// An entry of a table that a batch overwrote: its key and its former value.
fn typed<K: Key, V: Value>(
    table: &'static str,
    key: &[u8],
    former: Option<&[u8]>,
) -> Result<(K, Option<V>), EngineError> {
    let value = former.map(V::decode).transpose();
    let value = value.map_err(|e| damaged(table, e.to_string()))?;
    Ok((key_of(table, key)?, value))
}
