//! Results by component that the next refresh of the plan can reuse.

use std::collections::{BTreeMap, BTreeSet};

use super::cached_cores::{CachedRefresh, NO_FINGERPRINT, names};
use super::load::LoadedHubGraph;
use super::page_evidence::SeriesRefresh;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::cores::{ComponentResult, NearPage, Selection};
use seedbank_algorithms::graph::{Fingerprint, Role, WeakComponents};
use seedbank_algorithms::page::PageId;
use seedbank_store::component_cache::{
    ComponentCore, ComponentOrderKey, ComponentRecord, CoreOrigin, CoreOriginKey, NearGroup,
    NearGroups, NextStep,
};
use seedbank_store::records::RefreshId;
use seedbank_store::{Changes, Key, Store, tables};

/// Results in one component.
struct NewResult {
    pages: u32,
    fingerprint: Fingerprint,
    /// Ranks of the cores that can be reused, each with the pages near the core.
    cores: Vec<(u32, Vec<NearGroup>)>,
    next: f64,
    ahead: Option<NextStep>,
}

/// Results by component, to be stored.
pub(crate) struct ComponentResults {
    by_component: BTreeMap<PageId, NewResult>,
    /// Origin of each core, if it was reused, and its sigma.
    cores: Vec<(Option<CoreOrigin>, f64)>,
    changed: Option<Changed>,
}

/// A component of a graph that several processes share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShareComponent {
    /// The smallest id of its pages.
    pub(crate) name: PageId,
    pub(crate) pages: u32,
    /// The largest row sum of its authorities.
    pub(crate) row_sum: u64,
}

/// Returns the origin of each core, if it was reused, and its sigma.
fn origins_with_sigma(selection: &Selection) -> Vec<(Option<CoreOrigin>, f64)> {
    let origins = selection.origins.iter();
    let origins = origins.map(|origin| origin.map(CoreOrigin::from_packed));
    let sigmas = selection.cores.iter().map(|core| core.sigma);
    origins.zip(sigmas).collect()
}

/// Returns an upper bound on the sigma of a component, given its largest row sum.
fn sigma_bound(row_sum: u64) -> f64 {
    (row_sum as f64).sqrt() * (1.0 + 4.0 * f64::EPSILON)
}

/// Converts the next step of a component.
pub(crate) fn ahead(hubs: &LoadedHubGraph, found: &ComponentResult) -> Option<NextStep> {
    let (sigma, best) = found.ahead?;
    let best = *hubs.pages.get(best as usize)?;
    Some(NextStep { sigma, best })
}

/// Stored results that a run on a part of the graph replaces.
pub(crate) struct Changed {
    /// The components that the run looked at, as stored before.
    pub(crate) old: BTreeMap<PageId, ComponentRecord>,
    /// Components that it did not load but stores less of: before and after.
    pub(crate) cut: BTreeMap<PageId, (ComponentRecord, ComponentRecord)>,
}

impl ComponentResults {
    /// Collects the results of all loaded components. `changed` is `None` if the whole graph was
    /// loaded.
    pub(crate) fn new(
        hubs: &LoadedHubGraph,
        components: &WeakComponents,
        selection: &Selection,
        changed: Option<Changed>,
    ) -> Self {
        let near = |near: &NearPage| NearGroup {
            page: hubs.pages[near.page as usize],
            hub: near.role == Role::Hub,
            links: near.links,
            score: near.score,
        };
        let all = names(hubs, components).into_iter().zip(0_u32..);
        let by_component = all.zip(components.fingerprints());
        let by_component = by_component.map(|(((name, pages), component), fingerprint)| {
            let found = selection.found.get(&component);
            let cores = found.map_or(&[][..], |found| &found.cores).iter();
            let finding = NewResult {
                pages,
                fingerprint: *fingerprint,
                cores: cores
                    .map(|(rank, pages)| (*rank, pages.iter().map(near).collect()))
                    .collect(),
                next: found.map_or_else(|| components.bound(component), |found| found.next),
                ahead: found.and_then(|found| ahead(hubs, found)),
            };
            (name, finding)
        });
        Self {
            by_component: by_component.collect(),
            cores: origins_with_sigma(selection),
            changed,
        }
    }

    /// Returns those of a selection by several processes, which caches no results by component: they are only counted.
    pub(crate) fn of_share(components: &[ShareComponent], selection: &Selection) -> Self {
        let by_component = components.iter().map(|component| {
            let finding = NewResult {
                pages: component.pages,
                fingerprint: NO_FINGERPRINT,
                cores: Vec::new(),
                next: sigma_bound(component.row_sum),
                ahead: None,
            };
            (component.name, finding)
        });
        Self {
            by_component: by_component.collect(),
            cores: origins_with_sigma(selection),
            changed: None,
        }
    }

    /// Returns the number of pages in components of the whole graph.
    pub(crate) fn counted(&self, cached: Option<CachedRefresh>) -> u64 {
        let new = self
            .by_component
            .values()
            .map(|finding| u64::from(finding.pages));
        let new: u64 = new.sum();
        let (Some(part), Some(cached)) = (&self.changed, cached) else {
            return new;
        };
        let old = part.old.values().map(|record| u64::from(record.pages));
        new.saturating_add(cached.counted).saturating_sub(old.sum())
    }

    /// Adds to `changes` the results that differ from those of the plan's previous refresh.
    ///
    /// Cost: the loaded components; if the whole graph was loaded, one scan of the stored results.
    pub(crate) fn put(
        &self,
        store: &Store,
        changes: &mut Changes,
        SeriesRefresh { series, refresh }: SeriesRefresh,
    ) -> Result<()> {
        for ((origin, _), rank) in self.cores.iter().zip(1..) {
            let origin = origin.unwrap_or(CoreOrigin { refresh, rank });
            let key = CoreOriginKey {
                of: refresh,
                origin,
            };
            changes.put(&tables::CORE_ORIGINS, &key, &rank)?;
        }
        let mut new = BTreeMap::new();
        for (&name, finding) in &self.by_component {
            let mut cores = Vec::new();
            for &(rank, ref near) in &finding.cores {
                let core = self.cores.get(rank as usize - 1);
                let &(origin, sigma) =
                    core.ok_or(EngineError::Internal("a component has no such core"))?;
                let origin = origin.unwrap_or(CoreOrigin { refresh, rank });
                if origin.refresh == refresh {
                    let key = CoreOriginKey { of: series, origin };
                    let near = NearGroups(near.clone());
                    changes.put(&tables::NEAR_CORE_CACHE, &key, &near)?;
                }
                cores.push(ComponentCore { origin, sigma });
            }
            let record = ComponentRecord {
                fingerprint: finding.fingerprint,
                pages: finding.pages,
                cores,
                next: finding.next,
                ahead: finding.ahead,
            };
            new.insert(name, record);
        }
        // If only a part was loaded, components outside it stay as stored.
        let Some(part) = &self.changed else {
            return put_all(store, changes, series, &new);
        };
        for (&name, old) in &part.old {
            let new = new.remove(&name);
            replace(changes, series, name, Some(old), new.as_ref())?;
        }
        for (&name, (old, cut)) in &part.cut {
            replace(changes, series, name, Some(old), Some(cut))?;
        }
        for (name, record) in &new {
            replace(changes, series, *name, None, Some(record))?;
        }
        Ok(())
    }
}

/// Replaces all stored results of a series, including damaged ones.
fn put_all(
    store: &Store,
    changes: &mut Changes,
    series: RefreshId,
    new: &BTreeMap<PageId, ComponentRecord>,
) -> Result<()> {
    let prefix = series.to_be_bytes();
    let mut same = BTreeSet::new();
    for key in store.keys_under(&tables::COMPONENT_CACHE, &prefix)? {
        match (new.get(&key.1), store.get(&tables::COMPONENT_CACHE, &key)) {
            (Some(new), Ok(Some(old))) if *new == old => {
                same.insert(key.1);
            }
            (Some(_), _) => {}
            (None, _) => changes.delete(&tables::COMPONENT_CACHE, &key)?,
        }
    }
    for (&name, record) in new.iter().filter(|(name, _)| !same.contains(*name)) {
        changes.put(&tables::COMPONENT_CACHE, &(series, name), record)?;
    }
    let keys = new
        .iter()
        .map(|(&name, record)| record.order_key(series, name));
    let mut missing: BTreeMap<Vec<u8>, ComponentOrderKey> =
        keys.map(|key| (key.bytes(), key)).collect();
    for key in store.keys_under(&tables::COMPONENT_CACHE_ORDER, &prefix)? {
        if missing.remove(&key.bytes()).is_none() {
            changes.delete(&tables::COMPONENT_CACHE_ORDER, &key)?;
        }
    }
    for key in missing.values() {
        changes.put(&tables::COMPONENT_CACHE_ORDER, key, &())?;
    }
    let cores = new.values().flat_map(|record| &record.cores);
    let named: BTreeSet<CoreOrigin> = cores.map(|core| core.origin).collect();
    for key in store.keys_under(&tables::NEAR_CORE_CACHE, &prefix)? {
        if !named.contains(&key.origin) {
            changes.delete(&tables::NEAR_CORE_CACHE, &key)?;
        }
    }
    Ok(())
}

/// Replaces the stored results of a component.
fn replace(
    changes: &mut Changes,
    series: RefreshId,
    component: PageId,
    old: Option<&ComponentRecord>,
    new: Option<&ComponentRecord>,
) -> Result<()> {
    if old == new {
        return Ok(());
    }
    let order = |record: &ComponentRecord| record.order_key(series, component);
    let (before, after) = (old.map(order), new.map(order));
    if before != after {
        if let Some(key) = before {
            changes.delete(&tables::COMPONENT_CACHE_ORDER, &key)?;
        }
        if let Some(key) = after {
            changes.put(&tables::COMPONENT_CACHE_ORDER, &key, &())?;
        }
    }
    let stays = |core: &ComponentCore| {
        let cores = new.map_or(&[][..], |new| &new.cores);
        cores.iter().any(|other| other.origin == core.origin)
    };
    let old_cores = old.map_or(&[][..], |old| &old.cores).iter();
    for core in old_cores.filter(|core| !stays(core)) {
        let key = CoreOriginKey {
            of: series,
            origin: core.origin,
        };
        changes.delete(&tables::NEAR_CORE_CACHE, &key)?;
    }
    let key = (series, component);
    match new {
        Some(new) => changes.put(&tables::COMPONENT_CACHE, &key, new)?,
        None => changes.delete(&tables::COMPONENT_CACHE, &key)?,
    }
    Ok(())
}
