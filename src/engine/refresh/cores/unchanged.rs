//! A refresh by cores of a graph in which no batch has changed anything since the plan's last one, as after
//! a delta of clicks: what that one left is written again under the new number.
//!
//! Neither pages nor links are read, whatever the method: the same graph and the same parameters lead to the
//! same cores, and seeds that are to stay do. Policies may look at what clicks and qualities have changed,
//! so a plan that has any runs as ever.

use crate::engine::EngineError;
use crate::engine::history::timeline::{self, PageTimelines};
use crate::engine::plan::CorePlan;
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_store::ledger::OriginKey;
use seedbank_store::records::{RefreshId, RefreshRecord, SeriesRecord};
use seedbank_store::tables::{self, BitmapKey, VectorKey};
use seedbank_store::{Changes, Key, Store, StoreError, Table, Value};

use super::standings::Written;

/// What a refresh left, to be taken over whole.
pub(crate) struct Unchanged {
    pub(crate) refresh: RefreshId,
    pub(crate) record: RefreshRecord,
    standings: SeriesRecord,
    /// The seeds, best first.
    pub(crate) seeds: Vec<PageId>,
    /// How many hubs and authorities each core has.
    pub(crate) sizes: Vec<(u32, u32)>,
}

/// What `refresh` left, if it ran with the parameters of today's plan, without policies, and no batch has
/// brought a page since or changed a state, a spam mark or links.
///
/// Cost: the records of the batches since, the sets of pages that they changed, and one page; then the
/// cores.
pub(crate) fn find(
    store: &Store,
    plan: &CorePlan,
    refresh: RefreshId,
    watch: &dyn Watch,
) -> Result<Option<Unchanged>, EngineError> {
    let record = store.need(&tables::REFRESHES, &refresh)?;
    let Some(standings) = record.standings else {
        return Ok(None);
    };
    let is_past_known =
        timeline::known_since(store)? <= record.batch && record.batch <= store.counters()?.batch;
    // The successors of dead seeds are told by the refresh that found them.
    if plan.succeed || !record.certified || !is_past_known {
        return Ok(None);
    }
    let past = PageTimelines::open(store, record.batch)?;
    for (batch, pages) in past.possibly_changed()? {
        for page in pages.into_iter().map(PageId) {
            watch.proceed()?;
            if past.timeline(page)?.is_changed_by(batch) {
                return Ok(None);
            }
        }
    }
    let prefix = refresh.to_be_bytes();
    let mut sizes = Vec::new();
    for entry in store.scan_under(&tables::CORES, &prefix)? {
        let (_, core) = entry?;
        let count = |pages: &[PageId]| u32::try_from(pages.len()).unwrap_or(u32::MAX);
        sizes.push((count(&core.hubs), count(&core.authorities)));
    }
    let seeds = store.scan_under(&tables::SEEDS, &prefix)?;
    let seeds = seeds.map(|entry| Ok(entry?.1.page));
    let seeds: Result<Vec<PageId>, StoreError> = seeds.collect();
    Ok(Some(Unchanged {
        refresh,
        record,
        standings,
        seeds: seeds?,
        sizes,
    }))
}

impl Unchanged {
    /// Hands all that the earlier refresh left to `changes` again, as what `refresh` leaves; returns what
    /// was written of standings, which is nothing.
    ///
    /// Cost: one scan of what it left.
    pub(crate) fn put(
        &self,
        store: &Store,
        changes: &mut Changes,
        refresh: RefreshId,
    ) -> Result<Written, EngineError> {
        let prefix = self.refresh.to_be_bytes();
        for entry in store.scan_under(&tables::SEEDS, &prefix)? {
            let ((_, rank), seed) = entry?;
            changes.put_seed((refresh, rank), &seed)?;
        }
        let removed = store.need(&tables::BITMAPS, &BitmapKey::Removed(self.refresh))?;
        changes.put(&tables::BITMAPS, &BitmapKey::Removed(refresh), &removed)?;
        let of = refresh;
        let mut again = Again {
            store,
            changes,
            prefix,
        };
        again.put(&tables::CORES, |(_, rank)| (refresh, rank))?;
        again.put(&tables::VECTORS, |key| VectorKey { refresh, ..key })?;
        again.put(&tables::CORE_ORIGINS, |key| OriginKey { of, ..key })?;
        again.put(&tables::MEMBERS, |(_, page)| (refresh, page))?;
        again.put(&tables::CORE_EVIDENCE, |(_, rank)| (refresh, rank))?;
        again.put(&tables::KEPT_STEPS, |(_, rank)| (refresh, rank))?;
        // Only the last refresh of a plan keeps its steps.
        changes.delete_under(store, &tables::KEPT_STEPS, &prefix)?;
        Ok(Written::nothing(self.standings))
    }
}

/// Writes the entries of a refresh again.
struct Again<'a> {
    store: &'a Store,
    changes: &'a mut Changes,
    prefix: [u8; 4],
}

impl Again<'_> {
    fn put<K: Key, V: Value>(
        &mut self,
        table: &Table<K, V>,
        key: impl Fn(K) -> K,
    ) -> Result<(), StoreError> {
        for entry in self.store.scan_under(table, &self.prefix)? {
            let (old, value) = entry?;
            self.changes.put(table, &key(old), &value)?;
        }
        Ok(())
    }
}
