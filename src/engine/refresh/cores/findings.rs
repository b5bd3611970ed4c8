//! What a refresh by cores leaves to the next one of its plan, on its way to the store.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::kept::{Earlier, names};
use super::load::Hubs;
use super::standings::OfSeries;
use crate::engine::EngineError;
use seedbank_algorithms::cores::{ComponentResult, NearPage, Selection};
use seedbank_algorithms::graph::{Role, WeakComponents};
use seedbank_algorithms::page::PageId;
use seedbank_store::ledger::{
    Ahead, ComponentCore, ComponentRecord, CoreOrigin, NearRecord, NearRecords, OrderKey, OriginKey,
};
use seedbank_store::records::RefreshId;
use seedbank_store::{Changes, Key, Store, StoreError, Table, Value, tables};

/// What was found in one component.
struct Finding {
    pages: u32,
    fingerprint: [u8; 16],
    /// The ranks of its cores that may be taken over, each with the pages that were near the core.
    cores: Vec<(u32, Vec<NearRecord>)>,
    next: f64,
    ahead: Option<Ahead>,
}

/// What later refreshes may take over, on its way to the store.
pub(crate) struct Findings {
    of_graph: BTreeMap<PageId, Finding>,
    /// For each core its origin, if it was taken over, and its sigma.
    cores: Vec<(Option<CoreOrigin>, f64)>,
    changed: Option<Changed>,
}

/// The next step of a component.
pub(crate) fn ahead(hubs: &Hubs, found: &ComponentResult) -> Option<Ahead> {
    let (sigma, best) = found.ahead?;
    let best = *hubs.pages.get(best as usize)?;
    Some(Ahead { sigma, best })
}

/// What is replaced by a refresh that looked at only some components.
pub(crate) struct Changed {
    /// The components that it looked at, as they were before.
    pub(crate) old: BTreeMap<PageId, ComponentRecord>,
    /// Components that it did not look at but keeps less of, as they were and as they are.
    pub(crate) cut: BTreeMap<PageId, (ComponentRecord, ComponentRecord)>,
}

impl Findings {
    /// The findings in all components of the graph; `changed` where the series has others.
    pub(crate) fn new(
        hubs: &Hubs,
        components: &WeakComponents,
        selection: &Selection,
        changed: Option<Changed>,
    ) -> Self {
        let near = |near: &NearPage| NearRecord {
            page: hubs.pages[near.page as usize],
            hub: near.role == Role::Hub,
            links: near.links,
            score: near.score,
        };
        let all = names(hubs, components).into_iter().zip(0_u32..);
        let of_graph = all.zip(components.fingerprints());
        let of_graph = of_graph.map(|(((name, pages), component), fingerprint)| {
            let found = selection.found.get(&component);
            let cores = found.map_or(&[][..], |found| &found.cores).iter();
            let finding = Finding {
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
        let origins = selection.origins.iter();
        let origins = origins.map(|origin| origin.map(CoreOrigin::of_packed));
        Self {
            of_graph: of_graph.collect(),
            cores: origins
                .zip(selection.cores.iter().map(|core| core.sigma))
                .collect(),
            changed,
        }
    }

    /// How many pages are in components.
    pub(crate) fn counted(&self, earlier: Option<Earlier>) -> u64 {
        let new = self
            .of_graph
            .values()
            .map(|finding| u64::from(finding.pages));
        let new: u64 = new.sum();
        let (Some(part), Some(earlier)) = (&self.changed, earlier) else {
            return new;
        };
        let old = part.old.values().map(|record| u64::from(record.pages));
        new.saturating_add(earlier.counted)
            .saturating_sub(old.sum())
    }

    /// Hands the findings to `changes`, where they differ from what the plan's last refresh kept.
    ///
    /// Cost: what was looked at; where that was everything, one scan of what is kept.
    pub(crate) fn put(
        &self,
        store: &Store,
        changes: &mut Changes,
        OfSeries { series, refresh }: OfSeries,
    ) -> Result<(), EngineError> {
        for ((origin, _), rank) in self.cores.iter().zip(1..) {
            let origin = origin.unwrap_or(CoreOrigin { refresh, rank });
            let key = OriginKey {
                of: refresh,
                origin,
            };
            changes.put(&tables::CORE_ORIGINS, &key, &rank)?;
        }
        let mut new = BTreeMap::new();
        for (&name, finding) in &self.of_graph {
            let core = |rank: u32| {
                let (origin, sigma) = self.cores.get(rank as usize - 1)?;
                let origin = origin.unwrap_or(CoreOrigin { refresh, rank });
                let sigma = *sigma;
                Some(ComponentCore { origin, sigma })
            };
            let mut cores = Vec::new();
            for (rank, near) in &finding.cores {
                let core = core(*rank);
                let core = core.ok_or(EngineError::Internal("a component has no such core"))?;
                if core.origin.refresh == refresh {
                    let key = OriginKey {
                        of: series,
                        origin: core.origin,
                    };
                    let near = NearRecords(near.clone());
                    changes.put(&tables::NEAR_CORES, &key, &near)?;
                }
                cores.push(core);
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

/// The keys of a series in a table, whether or not their values can be read.
fn keys_of<K: Key + Clone, V: Value>(
    store: &Store,
    table: &Table<K, V>,
    series: RefreshId,
) -> Result<Vec<K>, StoreError> {
    let keys = RefCell::new(Vec::new());
    let mut entries = store.scan_under(table, &series.to_be_bytes())?;
    // An unreadable key is an error, and for `check` to report.
    while let Some(entry) = entries.next_where(|key| {
        keys.borrow_mut().push(key.clone());
        false
    }) {
        entry?;
    }
    Ok(keys.into_inner())
}

/// Makes these components all that is kept of a series, whatever was kept before, damage included.
fn put_all(
    store: &Store,
    changes: &mut Changes,
    series: RefreshId,
    new: &BTreeMap<PageId, ComponentRecord>,
) -> Result<(), EngineError> {
    let mut same = BTreeSet::new();
    for key in keys_of(store, &tables::COMPONENTS, series)? {
        match (new.get(&key.1), store.get(&tables::COMPONENTS, &key)) {
            (Some(new), Ok(Some(old))) if *new == old => {
                same.insert(key.1);
            }
            (Some(_), _) => {}
            (None, _) => changes.delete(&tables::COMPONENTS, &key)?,
        }
    }
    for (&name, record) in new.iter().filter(|(name, _)| !same.contains(*name)) {
        changes.put(&tables::COMPONENTS, &(series, name), record)?;
    }
    let keys = new.iter().map(|(&name, record)| record.order(series, name));
    let mut missing: BTreeMap<Vec<u8>, OrderKey> = keys.map(|key| (key.bytes(), key)).collect();
    for key in keys_of(store, &tables::COMPONENT_ORDER, series)? {
        if missing.remove(&key.bytes()).is_none() {
            changes.delete(&tables::COMPONENT_ORDER, &key)?;
        }
    }
    for key in missing.values() {
        changes.put(&tables::COMPONENT_ORDER, key, &())?;
    }
    let cores = new.values().flat_map(|record| &record.cores);
    let named: BTreeSet<CoreOrigin> = cores.map(|core| core.origin).collect();
    for key in keys_of(store, &tables::NEAR_CORES, series)? {
        if !named.contains(&key.origin) {
            changes.delete(&tables::NEAR_CORES, &key)?;
        }
    }
    Ok(())
}

/// Replaces what is kept of a component.
fn replace(
    changes: &mut Changes,
    series: RefreshId,
    component: PageId,
    old: Option<&ComponentRecord>,
    new: Option<&ComponentRecord>,
) -> Result<(), EngineError> {
    if old == new {
        return Ok(());
    }
    let order = |record: &ComponentRecord| record.order(series, component);
    let (before, after) = (old.map(order), new.map(order));
    if before != after {
        if let Some(key) = before {
            changes.delete(&tables::COMPONENT_ORDER, &key)?;
        }
        if let Some(key) = after {
            changes.put(&tables::COMPONENT_ORDER, &key, &())?;
        }
    }
    let stays = |core: &ComponentCore| {
        let cores = new.map_or(&[][..], |new| &new.cores);
        cores.iter().any(|other| other.origin == core.origin)
    };
    let gone = old.map_or(&[][..], |old| &old.cores).iter();
    for core in gone.filter(|core| !stays(core)) {
        let key = OriginKey {
            of: series,
            origin: core.origin,
        };
        changes.delete(&tables::NEAR_CORES, &key)?;
    }
    let key = (series, component);
    match new {
        Some(new) => changes.put(&tables::COMPONENTS, &key, new)?,
        None => changes.delete(&tables::COMPONENTS, &key)?,
    }
    Ok(())
}
