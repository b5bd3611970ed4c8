//! Deletes older refreshes of a plan.

use std::collections::BTreeMap;

use super::cores::{cached_cores, evidence};
use super::cover::{self, reach};
use super::global;
use crate::engine::Result;
use seedbank_algorithms::page::SiteId;
use seedbank_store::records::RefreshId;
use seedbank_store::tables::{self, PageSetKey};
use seedbank_store::{Changes, Store};

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
