//! Cached cores of the plan's previous refresh in components that have not changed.

use std::collections::BTreeMap;

use super::load::LoadedHubs;
use crate::engine::plan::{CorePlan, PlanOptions, ResolvedPlan};
use crate::engine::{EngineError, Result};
use seedbank_algorithms::cores::{CachedComponent, CachedCore, Core, CoreCache, Hits, NearPage};
use seedbank_algorithms::graph::{Role, WeakComponents};
use seedbank_algorithms::page::PageId;
use seedbank_store::component_cache::{ComponentCore, ComponentRecord, CoreOrigin, CoreOriginKey};
use seedbank_store::records::{CoreRecord, RefreshId};
use seedbank_store::tables::{self, CoreScoresKey, CoreScoresPart};
use seedbank_store::{Changes, Store, StoreError, member_order};

/// The previous refresh, whose results are reused.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CachedRefresh {
    pub(crate) refresh: RefreshId,
    pub(crate) series: RefreshId,
}

/// Returns `refresh` if its results are valid for this plan: it ran with the same parameters,
/// except for the number of seeds and how they are picked. Classic HITS runs over the whole
/// remaining graph, so none of its results stay valid. A refresh within a tolerance reuses
/// [steps](super::cached_steps) instead.
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
    let fits = is_exact && plan.can_reuse(&previous_plan);
    Ok(fits.then_some(CachedRefresh {
        refresh,
        series: standings.series,
    }))
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
    hubs: &LoadedHubs,
    cached: Option<CachedRefresh>,
) -> Result<CoreCache> {
    let components = WeakComponents::new(hubs.graph(), hubs.pages.list());
    let mut known = BTreeMap::new();
    if let Some(cached) = cached {
        let mut cores = StoredCores::open(store, cached)?;
        let present: BTreeMap<_, u32> =
            components.fingerprints().iter().copied().zip(0..).collect();
        for entry in store.scan_under(&tables::COMPONENT_CACHE, &cached.series.to_be_bytes())? {
            let (_, record) = entry?;
            if let Some(&component) = present.get(&record.fingerprint) {
                let found = cores.component(hubs, &record, &|page| {
                    components.component_of_page(hubs.graph(), page) == Some(component)
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
        hubs: &LoadedHubs,
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
                convergence: None,
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
        for core in &mut cores {
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
        Ok(CachedComponent {
            cores,
            next: record.next,
        })
    }
}

/// Whether a value can be an upper bound on a sigma.
fn is_bound(value: f64) -> bool {
    value.is_sign_positive() && value.is_finite()
}

/// Returns for each component the smallest id of its pages, which identifies it, and its number of
/// pages.
pub(crate) fn names(hubs: &LoadedHubs, components: &WeakComponents) -> Vec<(PageId, u32)> {
    let mut names = vec![(PageId(u64::MAX), 0); components.len()];
    for (&page, number) in hubs.pages.list().iter().zip(0..) {
        let component = components.component_of_page(hubs.graph(), number);
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
