//! Deletes a plan with its refreshes.

use std::collections::{BTreeMap, BTreeSet};

use super::cores::{cached_cores, evidence, page_evidence};
use super::cover::{self, reach};
use super::global;
use crate::engine::history::timeline;
use crate::engine::plan::NAME_PATTERN;
use crate::engine::{Bank, EngineError, Result};
use schemars::JsonSchema;
use seedbank_algorithms::page::SiteId;
use seedbank_store::records::RefreshId;
use seedbank_store::tables::{self, PageSetKey};
use seedbank_store::{Changes, Hash128, Store};
use serde::{Deserialize, Serialize};

/// Report of a deleted plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct DeletedPlan {
    /// The plan.
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub deleted: String,
    /// Its refreshes, which were deleted with it. Their numbers are not used again.
    #[schemars(inner(range(min = 1)))]
    pub refreshes: Vec<RefreshId>,
}

impl Bank {
    /// Deletes a plan, its refreshes and all data stored for them. Other plans are not affected.
    ///
    /// Also deletes history of batches that no remaining refresh needs. A refresh of the plan that
    /// is running meanwhile starts again. If `wait` is set, waits for another writer to finish.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// use seedbank::engine::EngineError;
    ///
    /// assert_eq!(bank.delete_plan("default", false)?.refreshes, [1]);
    /// let gone = bank.seeds(1);
    /// assert!(matches!(gone, Err(EngineError::DeletedRefresh(1))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Cost: the stored data of the refreshes, and one scan of the history.
    pub fn delete_plan(&self, plan: &str, wait: bool) -> Result<DeletedPlan> {
        let watch = self.watch();
        let writer = self.open_writer(wait, watch)?;
        let name = plan.to_owned();
        if writer.get(&tables::PLANS, &name)?.is_none() {
            return Err(EngineError::UnknownPlan(name));
        }
        watch.stage("delete", None);
        let counters = writer.counters()?;
        let mut changes = Changes::new(&writer.spill_folder(), 64 << 20);
        changes.delete(&tables::PLANS, &name)?;
        let refreshes = prune(&writer, &mut changes, plan, 0, PickedBy::default())?;
        timeline::prune(&writer, &mut changes, &refreshes, counters.batch)?;
        // No refresh is being stored, so its number is 0, which is never assigned.
        page_evidence::delete_unseen(&writer, &mut changes, &refreshes, 0, None)?;
        delete_unreferenced(&writer, &mut changes, &refreshes, plan, &[])?;
        watch.proceed()?;
        writer.commit(changes, counters)?;
        Ok(DeletedPlan {
            deleted: name,
            refreshes,
        })
    }
}

/// The refreshes that picked the seeds of a refresh. Later refreshes can reuse the seeds.
#[derive(Default)]
pub(super) struct PickedBy {
    /// By site.
    pub(super) of_sites: BTreeMap<SiteId, RefreshId>,
    /// Over the web; `None` for other refreshes.
    pub(super) over_web: Option<RefreshId>,
}

/// Deletes all but the newest `keep` refreshes of a plan, counting the one that is being stored.
///
/// The sets covered by the picks of a deleted refresh are kept if a remaining refresh reuses them.
/// Only consecutive refreshes reuse them, so the oldest remaining one decides. `picked_by` belongs
/// to the one that is being stored.
pub(super) fn prune(
    store: &Store,
    changes: &mut Changes,
    plan: &str,
    keep: u32,
    picked_by: PickedBy,
) -> Result<Vec<RefreshId>> {
    let mut old = Vec::new();
    for entry in store.scan(&tables::REFRESHES)? {
        let (number, record) = entry?;
        if record.plan == plan {
            old.push((number, record));
        }
    }
    let stay = (keep as usize).saturating_sub(1);
    let oldest = old
        .split_off(old.len().saturating_sub(stay))
        .first()
        .map(|(number, _)| *number);
    // Data under an older refresh is still needed if the oldest remaining one reuses it.
    let picked_by = match oldest {
        Some(refresh) => PickedBy {
            of_sites: cover::records(store, refresh)?
                .into_iter()
                .map(|(site, record)| (site, record.since))
                .collect(),
            over_web: global::picked_by(store, refresh)?,
        },
        None => picked_by,
    };
    for (refresh, record) in &old {
        let refresh = *refresh;
        let prefix = refresh.to_be_bytes();
        let over_web = global::picked_by(store, refresh)?;
        if let Some(since) = over_web.filter(|_| over_web != picked_by.over_web) {
            global::evidence::delete_refresh(store, changes, since)?;
        }
        changes.delete(&tables::REFRESHES, &refresh)?;
        changes.delete_page_set(store, PageSetKey::Removed(refresh))?;
        changes.delete_under(store, &tables::CORES, &prefix)?;
        changes.delete_under(store, &tables::CORE_SCORES, &prefix)?;
        changes.delete_list(store, refresh, record)?;
        cached_cores::delete_refresh(store, changes, refresh)?;
        evidence::delete_refresh(store, changes, refresh)?;
        for (site, record) in cover::records(store, refresh)? {
            changes.delete(&tables::COVERS, &(refresh, site))?;
            if picked_by.of_sites.get(&site) != Some(&record.since) {
                let sets = PageSetKey::covered_prefix(record.since, site);
                changes.delete_under(store, &tables::PAGE_SETS, &sets)?;
                reach::delete_site(store, changes, (record.since, site))?;
            }
        }
    }
    Ok(old.into_iter().map(|(number, _)| number).collect())
}

// Deletes lists that no plan or refresh references any more.

/// Deletes the lists that are unreferenced once the refreshes in `gone` are deleted and the plan
/// `of` references exactly the lists `now`.
///
/// Cost: one scan of lists and, if there are any, one of refreshes and plans.
pub(super) fn delete_unreferenced(
    store: &Store,
    changes: &mut Changes,
    gone: &[RefreshId],
    of: &str,
    now: &[Hash128],
) -> Result<()> {
    let mut unnamed = BTreeSet::new();
    for entry in store.scan(&tables::PLAN_LISTS)? {
        unnamed.insert(entry?.0);
    }
    if unnamed.is_empty() {
        return Ok(());
    }
    for hash in now {
        unnamed.remove(hash);
    }
    for entry in store.scan(&tables::REFRESHES)? {
        let (refresh, record) = entry?;
        if !gone.contains(&refresh) {
            unnamed.retain(|hash| !record.lists.contains(hash));
        }
    }
    for entry in store.scan(&tables::PLANS)? {
        let (plan, record) = entry?;
        if plan != of {
            unnamed.retain(|hash| !record.lists.contains(hash));
        }
    }
    for hash in unnamed {
        changes.delete(&tables::PLAN_LISTS, &hash)?;
    }
    Ok(())
}
