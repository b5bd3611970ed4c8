//! Cached cores of the plan's previous refresh in components that have not changed.

use std::collections::BTreeMap;

use super::load::LoadedHubGraph;
use crate::engine::plan::{CorePlan, PlanOptions, ResolvedPlan};
use crate::engine::{EngineError, Result};
use seedbank_algorithms::cores::{CachedComponent, CachedCore, Core, CoreCache, Hits, NearPage};
use seedbank_algorithms::graph::{Fingerprint, Role, WeakComponents};
use seedbank_algorithms::page::PageId;
use seedbank_store::component_cache::{ComponentCore, ComponentRecord, CoreOrigin, CoreOriginKey};
use seedbank_store::records::{BatchId, CoreRecord, RefreshId};
use seedbank_store::tables::{self, CoreScoresKey, CoreScoresPart};
use seedbank_store::{Changes, Store, StoreError, member_order};

/// The fingerprint of components whose results cannot be reused.
pub(super) const NO_FINGERPRINT: Fingerprint = [0; 16];

/// The previous refresh, whose results are reused.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CachedRefresh {
    pub(crate) refresh: RefreshId,
    /// The last batch of the state that it ran on.
    pub(crate) batch: BatchId,
    pub(crate) series: RefreshId,
    /// The number of pages with evidence, and of those the number in components.
    pub(crate) pages: u64,
    pub(crate) counted: u64,
    /// The number of components of its graph.
    pub(crate) components: u32,
    pub(crate) certified: bool,
}

/// Returns `refresh` if its results are valid for this plan: it ran with the same parameters,
/// except for the number of seeds and how they are picked. Classic HITS runs over the whole
/// remaining graph, so none of its results stay valid. A refresh within a tolerance reuses
/// [steps](super::cached_steps) instead. A refresh by several processes that share the graph stores no results
/// by component.
pub(crate) fn find_valid(
    store: &Store,
    refresh: RefreshId,
    plan: &CorePlan,
) -> Result<Option<CachedRefresh>> {
    let record = store.need(&tables::REFRESHES, &refresh)?;
    let previous_plan = PlanOptions::from_stored(&record.settings)?.resolve()?;
    let (ResolvedPlan::Cores(previous_plan), Some(standings)) = (previous_plan, record.standings)
    else {
        return Ok(None);
    };
    let params = &plan.params;
    let is_exact = params.hits == Hits::Converged && params.within.is_exact();
    if !is_exact || !plan.can_reuse(&previous_plan) || !has_fingerprints(store, standings.series)? {
        return Ok(None);
    }
    Ok(Some(CachedRefresh {
        refresh,
        batch: record.batch,
        series: standings.series,
        pages: standings.pages,
        counted: standings.counted,
        components: record.components,
        certified: record.certified,
    }))
}

/// Returns whether components that a series stores have fingerprints: all of them or none.
fn has_fingerprints(store: &Store, series: RefreshId) -> Result<bool> {
    let mut components = store.scan_under(&tables::COMPONENT_CACHE, &series.to_be_bytes())?;
    let first = components.next().transpose()?;
    Ok(first.is_none_or(|(_, record)| record.fingerprint != NO_FINGERPRINT))
}

/// Numbers of weakly connected components of the whole graph.
#[derive(Clone, Copy)]
pub(crate) struct ComponentCounts {
    pub(crate) all: u32,
    /// Those that are unchanged since the previous refresh.
    pub(crate) verified: u32,
}

/// Finds the components of the graph, and loads the results that `cached` stored for them.
///
/// Cost: besides finding the components, one scan of the cached components, and the cores of those
/// that did not change.
pub(crate) fn load(
    store: &Store,
    hubs: &LoadedHubGraph,
    cached: Option<CachedRefresh>,
) -> Result<CoreCache> {
    let components = WeakComponents::new(&hubs.graph, &hubs.pages);
    let mut known = BTreeMap::new();
    if let Some(cached) = cached {
        let mut cores = StoredCores::open(store, cached)?;
        let present: BTreeMap<_, u32> =
            components.fingerprints().iter().copied().zip(0..).collect();
        for entry in store.scan_under(&tables::COMPONENT_CACHE, &cached.series.to_be_bytes())? {
            let (_, record) = entry?;
            if let Some(&component) = present.get(&record.fingerprint) {
                let found = cores.component(hubs, &record, &|page| {
                    components.component_of_page(&hubs.graph, page) == Some(component)
                })?;
                known.insert(component, found);
            }
        }
    }
    Ok(CoreCache::new(components, known))
}

/// A core of an earlier refresh.
pub(crate) struct StoredCore {
    pub(crate) record: CoreRecord,
    hub_scores: Vec<f64>,
    authority_scores: Vec<f64>,
}

/// Cores of an earlier refresh by origin, each read once.
pub(crate) struct StoredCores<'a> {
    store: &'a Store,
    cached: CachedRefresh,
    ranks: BTreeMap<CoreOrigin, u32>,
    read: BTreeMap<CoreOrigin, StoredCore>,
}

impl<'a> StoredCores<'a> {
    /// Cost: one scan of the ranks of the cores.
    pub(crate) fn open(store: &'a Store, cached: CachedRefresh) -> Result<Self, StoreError> {
        let mut ranks = BTreeMap::new();
        let prefix = cached.refresh.to_be_bytes();
        for entry in store.scan_under(&tables::CORE_ORIGINS, &prefix)? {
            let (key, rank) = entry?;
            ranks.insert(key.origin, rank);
        }
        Ok(Self {
            store,
            cached,
            ranks,
            read: BTreeMap::new(),
        })
    }

    /// Returns the number of cores.
    pub(crate) fn len(&self) -> usize {
        self.ranks.len()
    }

    fn damaged(&self, origin: CoreOrigin) -> EngineError {
        EngineError::DamagedCache(StoreError::Damaged {
            table: tables::COMPONENT_CACHE.name,
            key: format!("series {}, core {origin:?}", self.cached.series),
            what: "the component does not match its core".to_owned(),
        })
    }

    /// Returns a core of the earlier refresh.
    pub(crate) fn core(&mut self, origin: CoreOrigin) -> Result<&StoredCore> {
        if !self.read.contains_key(&origin) {
            let refresh = self.cached.refresh;
            let rank = self.ranks.get(&origin).copied();
            let rank = rank.ok_or_else(|| self.damaged(origin))?;
            let record = self.store.need(&tables::CORES, &(refresh, rank))?;
            let scores = |side, pages: usize| {
                let key = CoreScoresKey {
                    refresh,
                    rank,
                    side,
                };
                let scores = self.store.need(&tables::CORE_SCORES, &key)?;
                if scores.len() == pages && pages > 0 {
                    Ok(scores)
                } else {
                    Err(self.damaged(origin))
                }
            };
            let core = StoredCore {
                hub_scores: scores(CoreScoresPart::Hubs, record.hubs.len())?,
                authority_scores: scores(CoreScoresPart::Authorities, record.authorities.len())?,
                record,
            };
            self.read.insert(origin, core);
        }
        self.read.get(&origin).ok_or_else(|| self.damaged(origin))
    }

    /// Returns what is known of a loaded component, in the numbers of `hubs`. `is_in_it` tests
    /// whether a page belongs to the component.
    pub(crate) fn component(
        &mut self,
        hubs: &LoadedHubGraph,
        record: &ComponentRecord,
        is_in_it: &dyn Fn(u32) -> bool,
    ) -> Result<CachedComponent> {
        let mut known = self.unloaded_component(hubs, record, is_in_it)?;
        for core in &mut known.cores {
            let origin = CoreOrigin::from_packed(core.origin.unwrap_or_default());
            let of = self.cached.series;
            let near = self
                .store
                .need(&tables::NEAR_CORE_CACHE, &CoreOriginKey { of, origin })?;
            for near in near.0 {
                let number = hubs.number(near.page).filter(|number| is_in_it(*number));
                core.near.push(NearPage {
                    role: if near.hub { Role::Hub } else { Role::Authority },
                    page: number.ok_or_else(|| self.damaged(origin))?,
                    links: near.links,
                    score: near.score,
                });
            }
        }
        Ok(known)
    }

    /// Returns the cores and the next step of a component that is not loaded, without the pages
    /// near the cores.
    pub(crate) fn unloaded_component(
        &mut self,
        hubs: &LoadedHubGraph,
        record: &ComponentRecord,
        is_in_it: &dyn Fn(u32) -> bool,
    ) -> Result<CachedComponent> {
        let mut cores = Vec::new();
        if !is_bound(record.next) {
            return Err(self.damaged(CoreOrigin::from_packed(0)));
        }
        for ComponentCore { origin, sigma } in &record.cores {
            let damaged = self.damaged(*origin);
            let StoredCore {
                record,
                hub_scores,
                authority_scores,
            } = self.core(*origin)?;
            let number = |page: &PageId| hubs.number(*page).filter(|number| is_in_it(*number));
            let numbers = |pages: &[PageId]| pages.iter().map(number).collect::<Option<Vec<u32>>>();
            // Check everything that the selection relies on: the cache may be damaged.
            let (h, a) = (record.hubs.len(), record.authorities.len());
            if record.sigma.to_bits() != sigma.to_bits() || !is_bound(*sigma) || *sigma == 0.0 {
                return Err(damaged);
            }
            let (Some(of_hubs), Some(authorities), Some(seed)) = (
                numbers(&record.hubs),
                numbers(&record.authorities),
                number(&record.seed),
            ) else {
                return Err(damaged);
            };
            let core = Core {
                sigma: record.sigma,
                sigma_bound: None,
                density: 100.0 * record.edges as f64 / (h as f64 * a as f64),
                edges: record.edges,
                hubs: of_hubs,
                authorities,
                hub_scores: hub_scores.clone(),
                authority_scores: authority_scores.clone(),
                sides: member_order::unpack(&record.sides, h + a),
                seed,
                gives_seed: record.gives_seed,
                doubt: None,
            };
            cores.push(CachedCore {
                core,
                near: Vec::new(),
                origin: Some(origin.packed()),
            });
        }
        let ahead = match &record.ahead {
            None => None,
            Some(ahead) => {
                let best = hubs.number(ahead.best).filter(|best| is_in_it(*best));
                let known = best.filter(|_| ahead.fits(record.next));
                let best = known.ok_or_else(|| self.damaged(CoreOrigin::from_packed(0)))?;
                Some((ahead.sigma, best))
            }
        };
        Ok(CachedComponent {
            cores,
            next: record.next,
            ahead,
        })
    }
}

/// Whether a value can be an upper bound on a sigma.
fn is_bound(value: f64) -> bool {
    value.is_sign_positive() && value.is_finite()
}

/// Returns for each component the smallest id of its pages, which identifies it, and its number of
/// pages.
pub(crate) fn names(hubs: &LoadedHubGraph, components: &WeakComponents) -> Vec<(PageId, u32)> {
    let mut names = vec![(PageId(u64::MAX), 0); components.len()];
    for (&page, number) in hubs.pages.iter().zip(0..) {
        let component = components.component_of_page(&hubs.graph, number);
        let name = component.and_then(|component| names.get_mut(component as usize));
        if let Some((name, pages)) = name {
            *name = page.min(*name);
            *pages += 1;
        }
    }
    names
}

/// Deletes the cached results of a series that no refresh belongs to any more.
pub(crate) fn delete_series(
    store: &Store,
    changes: &mut Changes,
    series: RefreshId,
) -> Result<(), StoreError> {
    let prefix = series.to_be_bytes();
    changes.delete_under(store, &tables::COMPONENT_CACHE, &prefix)?;
    changes.delete_under(store, &tables::COMPONENT_CACHE_ORDER, &prefix)?;
    changes.delete_under(store, &tables::NEAR_CORE_CACHE, &prefix)?;
    changes.delete_under(store, &tables::STEP_CACHE, &prefix)?;
    Ok(())
}

/// Deletes the ranks of the cores of a refresh.
pub(crate) fn delete_refresh(
    store: &Store,
    changes: &mut Changes,
    refresh: RefreshId,
) -> Result<(), StoreError> {
    changes.delete_under(store, &tables::CORE_ORIGINS, &refresh.to_be_bytes())?;
    Ok(())
}
