//! Results by component that the next refresh of the plan can reuse.

use std::collections::{BTreeMap, BTreeSet};

use super::cached_cores::names;
use super::load::LoadedHubs;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::cores::{NearPage, Selection};
use seedbank_algorithms::graph::{Fingerprint, Role, WeakComponents};
use seedbank_algorithms::page::PageId;
use seedbank_store::component_cache::{
    ComponentCore, ComponentRecord, CoreOrigin, CoreOriginKey, NearGroup, NearGroups,
};
use seedbank_store::records::RefreshId;
use seedbank_store::{Changes, Store, tables};

/// The fingerprint of components whose results cannot be reused.
const NO_FINGERPRINT: Fingerprint = [0; 16];

/// Results in one component.
struct NewResult {
    pages: u32,
    fingerprint: [u8; 16],
    /// Ranks of the cores that can be reused, each with the pages near the core.
    cores: Vec<(u32, Vec<NearGroup>)>,
    next: f64,
}

/// Results by component, to be stored.
pub(crate) struct ComponentResults {
    by_component: BTreeMap<PageId, NewResult>,
    /// Origin of each core, if it was reused, and its sigma.
    cores: Vec<(Option<CoreOrigin>, f64)>,
}

/// A component of the whole graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ComponentSummary {
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

impl ComponentResults {
    /// Collects the results of all components.
    pub(crate) fn new(
        hubs: &LoadedHubs,
        components: &WeakComponents,
        selection: &Selection,
    ) -> Self {
        let near = |near: &NearPage| NearGroup {
            page: hubs.pages.list()[near.page as usize],
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
            };
            (name, finding)
        });
        Self {
            by_component: by_component.collect(),
            cores: origins_with_sigma(selection),
        }
    }

    /// Returns the counts of components alone. The next refresh reuses steps of cores within a tolerance, and nothing of
    /// classic cores.
    pub(crate) fn counted_only(components: &[ComponentSummary], selection: &Selection) -> Self {
        let by_component = components.iter().map(|component| {
            let finding = NewResult {
                pages: component.pages,
                fingerprint: NO_FINGERPRINT,
                cores: Vec::new(),
                next: sigma_bound(component.row_sum),
            };
            (component.name, finding)
        });
        Self {
            by_component: by_component.collect(),
            cores: origins_with_sigma(selection),
        }
    }

    /// Returns the number of pages in components.
    pub(crate) fn counted(&self) -> u64 {
        let findings = self.by_component.values();
        findings.map(|finding| u64::from(finding.pages)).sum()
    }

    /// Adds to `changes` the results that differ from those of the plan's previous refresh.
    ///
    /// Cost: one scan of the stored results.
    pub(crate) fn put(
        &self,
        store: &Store,
        changes: &mut Changes,
        series: RefreshId,
        refresh: RefreshId,
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
            };
            new.insert(name, record);
        }
        put_all(store, changes, series, &new)
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
    let cores = new.values().flat_map(|record| &record.cores);
    let named: BTreeSet<CoreOrigin> = cores.map(|core| core.origin).collect();
    for key in store.keys_under(&tables::NEAR_CORE_CACHE, &prefix)? {
        if !named.contains(&key.origin) {
            changes.delete(&tables::NEAR_CORE_CACHE, &key)?;
        }
    }
    Ok(())
}
