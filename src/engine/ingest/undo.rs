//! Undo: reverses the last batch by another one, which restores overwritten entries.
//!
//! Everything that the batch wrote of sites, pages and links gets its previous value, with these
//! exceptions, since ids are never reused and refreshes stay:
//!
//! * A page that the batch added stays as an unlinked page, which does not exist for readers; it
//!   keeps its id for evidence of refreshes that ran on it.
//! * A site keeps the numbers that it has assigned, and counts as changed now, so that the next
//!   refresh reads it.
//! * The versions of pages between the two batches, and rows that only they had, become history as
//!   with any batch (`former_pages`, `former_rows`).

use std::collections::BTreeMap;
use std::time::Instant;

use roaring::RoaringTreemap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pages::history_of;
use crate::engine::clock::now;
use crate::engine::error::UndoError;
use crate::engine::{Bank, EngineError, Result};
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_store::records::{
    BatchCounts, BatchId, BatchKind, BatchRecord, Counters, FetchCounts, Observed, PageRecord,
    PageState, RemovedRow, SiteDefaults, SiteRecord, UndoRecord,
};
use seedbank_store::tables::{self, PageSetKey};
use seedbank_store::{Changes, Key, StoreError, Value, Writer};

/// Report of an undo.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct UndoReport {
    /// The batch that was undone.
    #[schemars(range(min = 1))]
    pub undone: BatchId,
    /// Its name.
    pub name: String,
    /// The number of the undo in the history, as a batch of its own.
    #[schemars(range(min = 1))]
    pub batch: BatchId,
    /// Changes by the undo.
    pub counts: BatchCounts,
    /// Elapsed time, in seconds.
    #[schemars(range(min = 0))]
    pub seconds: f64,
}

impl Bank {
    /// Undoes the last batch: pages, links and attributes become what they were before it. The undo
    /// is a batch of its own, with its own number. Refreshes stay, and the next one sees the
    /// changes. The same records can be ingested again afterwards.
    ///
    /// An undo and a batch that forgot pages cannot be undone: [`EngineError::CannotUndo`]. If
    /// `wait` is set, waits for another writer to finish. `memory` is the memory for sorting, in
    /// bytes, besides the store's own.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// assert_eq!(bank.undo(false, 64 << 20)?.undone, 1);
    /// assert_eq!(bank.status()?.counters.crawled, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Cost: reads what the batch wrote and writes it once more; for the bank's first batch, all of
    /// its pages and links.
    pub fn undo(&self, wait: bool, memory: usize) -> Result<UndoReport> {
        let watch = self.watch();
        let begun = Instant::now();
        let writer = self.open_writer(wait, watch)?;
        let counters = writer.counters()?;
        let (undo, undone) = undoable(&writer, counters.batch)?;
        let batch = counters.batch.checked_add(1);
        let batch = batch.ok_or(StoreError::Full("batch"))?;
        watch.stage("undo", (!undo.is_first()).then_some(undo.entries));
        let changes = Changes::new(&writer.spill_folder(), memory);
        let mut reversal = Reversal {
            writer: &writer,
            changes,
            batch,
            undone: undo.batch,
            given: BTreeMap::new(),
            former: RoaringTreemap::new(),
            counts: BatchCounts::default(),
        };
        writer.overwritten_entries(&undo, |table, key, former| {
            watch.proceed()?;
            watch.advance(1);
            reversal.restore(table, key, former)
        })?;
        let Reversal {
            mut changes,
            former,
            mut counts,
            ..
        } = reversal;
        // The undo changes the same pages as the undone batch, in reverse.
        counts.changed = undone.counts.changed;
        counts.links_added = undone.counts.links_removed;
        counts.links_removed = undone.counts.links_added;
        let (from, to) = (PageSetKey::Changed(undo.batch), PageSetKey::Changed(batch));
        changes.copy_page_set(&writer, from, to)?;
        if !former.is_empty() {
            changes.put_page_set(PageSetKey::History(batch), &former)?;
        }
        let before = writer.get(&tables::BATCHES, &undo.before.batch)?;
        let (failing, last_fetch) =
            before.map_or((0, 0), |before| (before.failing, before.last_fetch));
        let seconds = begun.elapsed().as_secs_f64();
        let record = BatchRecord {
            name: undone.name.clone(),
            kind: BatchKind::Undo,
            inputs: Vec::new(),
            digest: [0; 32],
            at: now(),
            seconds,
            counts: counts.clone(),
            stale: 0,
            failed: 0,
            failing,
            last_fetch,
            observed: Observed::default(),
            attributed: 0,
            unattributed: FetchCounts::default(),
        };
        changes.put(&tables::BATCHES, &batch, &record)?;
        watch.stage("commit", None);
        watch.proceed()?;
        // Numbers that were given out are never used again.
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

/// Returns the last batch, if it can be undone.
fn undoable(writer: &Writer, last: BatchId) -> Result<(UndoRecord, BatchRecord)> {
    if last == 0 {
        return Err(EngineError::CannotUndo(UndoError::NoBatch));
    }
    let record = writer.need(&tables::BATCHES, &last)?;
    let why = match record.kind {
        BatchKind::Undo => UndoError::IsUndo(last),
        BatchKind::Forget => UndoError::IsForget(last),
        BatchKind::Snapshot | BatchKind::Delta => UndoError::NotStored(last),
    };
    match writer.undo_record()? {
        Some(undo) => Ok((undo, record)),
        None => Err(EngineError::CannotUndo(why)),
    }
}

/// The changes that undo a batch.
struct Reversal<'a> {
    writer: &'a Writer,
    changes: Changes,
    /// The number of the undo, and of the undone batch.
    batch: BatchId,
    undone: BatchId,
    /// Attributes of sites before the undone batch.
    given: BTreeMap<SiteId, SiteDefaults>,
    /// Pages whose state, spam mark or row changes.
    former: RoaringTreemap,
    counts: BatchCounts,
}

impl Reversal<'_> {
    /// Restores an entry of a table. Entries come by table, sites before pages.
    fn restore(&mut self, table: &'static str, key: &[u8], former: Option<&[u8]>) -> Result<()> {
        if table == tables::SITES.name {
            let (site, record) = typed(table, key, former)?;
            return self.restore_site(site, record);
        }
        if table == tables::PAGES.name {
            let (page, record) = typed(table, key, former)?;
            return self.restore_page(page, record);
        }
        if table == tables::ROW_MEMBERS.name && former.is_none() {
            self.keep_row(key_of(table, key)?)?;
        }
        Ok(self.changes.put_raw(table, key, former)?)
    }

    fn restore_site(&mut self, site: SiteId, former: Option<SiteRecord>) -> Result<()> {
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

    fn restore_page(&mut self, page: PageId, former: Option<PageRecord>) -> Result<()> {
        let now = self.writer.need(&tables::PAGES, &page)?;
        let record = match former {
            Some(record) => record,
            None => self.unlinked(page, &now)?,
        };
        let was = history_of(&now);
        if was != history_of(&record) {
            self.former.insert(page.0);
            let key = (self.batch, page);
            self.changes.put(&tables::PAGE_HISTORY, &key, &was)?;
        }
        if now.state != record.state {
            match record.state {
                PageState::Crawled => self.counts.became_crawled += 1,
                PageState::Gone => self.counts.became_gone += 1,
                PageState::Resource => self.counts.became_resources += 1,
                PageState::Known | PageState::Unlinked | PageState::Alias => {}
            }
        }
        Ok(self.changes.put(&tables::PAGES, &page, &record)?)
    }

    /// Returns the record of a page that the undone batch added.
    fn unlinked(&mut self, page: PageId, now: &PageRecord) -> Result<PageRecord> {
        let site = page.site();
        let given = match self.given.get(&site) {
            Some(given) => *given,
            None => self.writer.need(&tables::SITES, &site)?.defaults,
        };
        let mut record = PageRecord::unlinked(now.local.clone(), now.first_seen);
        record.inherit(&given);
        Ok(record)
    }

    /// Stores a row that the undone batch added as a former row.
    fn keep_row(&mut self, row: RowId) -> Result<()> {
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

fn key_of<K: Key>(table: &'static str, key: &[u8]) -> Result<K> {
    K::take(key).ok_or_else(|| damaged(table, "a key cannot be read".to_owned()))
}

/// Parses an entry of a table that a batch overwrote: its key and its former value.
fn typed<K: Key, V: Value>(
    table: &'static str,
    key: &[u8],
    former: Option<&[u8]>,
) -> Result<(K, Option<V>)> {
    let value = former.map(V::decode).transpose();
    let value = value.map_err(|e| damaged(table, e.to_string()))?;
    Ok((key_of(table, key)?, value))
}
