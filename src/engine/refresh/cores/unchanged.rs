//! A refresh by cores of a graph that no batch has changed since the plan's previous refresh, for
//! example after a delta of clicks. Copies the stored results under the new number.
//!
//! Neither pages nor links are read: the same graph and parameters lead to the same cores, and
//! stable seeds stay. A plan with policies runs in full, since policies can depend on clicks and
//! qualities, unless its only policies are conditions on cores, or on failed fetches without an
//! effect.

use crate::engine::Result;
use crate::engine::history::timeline::{self, PageTimelines};
use crate::engine::plan::CorePlan;
use seedbank_algorithms::graph::number;
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_store::component_cache::CoreOriginKey;
use seedbank_store::records::{EvidenceSeries, RefreshId, RefreshRecord};
use seedbank_store::tables::{self, CoreScoresKey, PageSetKey};
use seedbank_store::{Changes, Key, Store, StoreError, Table, Value};

use super::page_evidence::Written;

/// Stored results of a refresh, to be copied.
pub(crate) struct UnchangedRun {
    pub(crate) refresh: RefreshId,
    pub(crate) record: RefreshRecord,
    standings: EvidenceSeries,
    pub(crate) seeds: Vec<PageId>,
    /// Numbers of hubs and authorities of each core.
    pub(crate) sizes: Vec<(u32, u32)>,
}

/// Returns `refresh` if it ran with the parameters of this plan, without policies, and no batch has
/// since added a page or changed a state, spam mark or links.
///
/// Cost: the records of the batches since, the sets of pages that they changed, and one page; then
/// the cores.
pub(crate) fn find(
    store: &Store,
    plan: &CorePlan,
    refresh: RefreshId,
    watch: &dyn Watch,
) -> Result<Option<UnchangedRun>> {
    let record = store.need(&tables::REFRESHES, &refresh)?;
    let Some(standings) = record.standings else {
        return Ok(None);
    };
    let is_past_known =
        timeline::known_since(store)? <= record.batch && record.batch <= store.counters()?.batch;
    // Successors of dead seeds are reported only by the refresh that found them.
    if plan.succeed || !record.certified || !is_past_known {
        return Ok(None);
    }
    // Any changed page can change the graph.
    let past = PageTimelines::open(store, record.batch)?;
    for part in past.possibly_changed()? {
        let (batch, pages) = part?;
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
        sizes.push((number(core.hubs.len()), number(core.authorities.len())));
    }
    let seeds = store.scan_under(&tables::SEEDS, &prefix)?;
    let seeds = seeds.map(|entry| Ok(entry?.1.page));
    let seeds: Result<Vec<PageId>, StoreError> = seeds.collect();
    Ok(Some(UnchangedRun {
        refresh,
        record,
        standings,
        seeds: seeds?,
        sizes,
    }))
}

impl UnchangedRun {
    /// Adds copies of all results to `changes` under the number `refresh`. Returns what was written
    /// of page evidence, which is nothing.
    ///
    /// Cost: one scan of the stored results.
    pub(crate) fn put(
        &self,
        store: &Store,
        changes: &mut Changes,
        refresh: RefreshId,
    ) -> Result<Written> {
        let prefix = self.refresh.to_be_bytes();
        for entry in store.scan_under(&tables::SEEDS, &prefix)? {
            let ((_, rank), seed) = entry?;
            changes.put_seed(refresh, rank, &seed)?;
        }
        let (from, to) = (
            PageSetKey::Removed(self.refresh),
            PageSetKey::Removed(refresh),
        );
        changes.copy_page_set(store, from, to)?;
        let of = refresh;
        let ranked = |(_, rank)| (refresh, rank);
        copy(store, changes, &tables::CORES, &prefix, ranked)?;
        copy(store, changes, &tables::CORE_SCORES, &prefix, |key| {
            CoreScoresKey { refresh, ..key }
        })?;
        copy(store, changes, &tables::CORE_ORIGINS, &prefix, |key| {
            CoreOriginKey { of, ..key }
        })?;
        copy(
            store,
            changes,
            &tables::CORE_MEMBERS,
            &prefix,
            |(_, page)| (refresh, page),
        )?;
        copy(store, changes, &tables::CORE_EVIDENCE, &prefix, ranked)?;
        Ok(Written::nothing(self.standings))
    }
}

/// Copies the entries under a prefix to other keys.
fn copy<K: Key, V: Value>(
    store: &Store,
    changes: &mut Changes,
    table: &Table<K, V>,
    prefix: &[u8],
    new_key: impl Fn(K) -> K,
) -> Result<(), StoreError> {
    for entry in store.scan_under(table, prefix)? {
        let (key, value) = entry?;
        changes.put(table, &new_key(key), &value)?;
    }
    Ok(())
}
