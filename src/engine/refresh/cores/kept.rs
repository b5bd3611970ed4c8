//! What the plan's previous refresh found in components that have not changed since.

use std::collections::BTreeMap;

use super::load::Hubs;
use crate::engine::EngineError;
use crate::engine::plan::{CorePlan, Plan, PlanOptions};
use seedbank_algorithms::cores::{CachedComponent, CachedCore, Core, CoreCache, Hits, NearPage};
use seedbank_algorithms::graph::{Role, WeakComponents};
use seedbank_algorithms::page::PageId;
use seedbank_store::ledger::{ComponentCore, ComponentRecord, CoreOrigin, OriginKey};
use seedbank_store::records::{BatchId, CoreRecord, RefreshId};
use seedbank_store::tables::{self, VectorKey, VectorSide};
use seedbank_store::{Changes, Store, StoreError, sides};

/// The earlier refresh that is taken over from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Earlier {
    pub(crate) refresh: RefreshId,
    /// The last batch of the state that it ran on.
    pub(crate) batch: BatchId,
    pub(crate) series: RefreshId,
    /// How many pages have a standing, and how many of them are in components.
    pub(crate) pages: u64,
    pub(crate) counted: u64,
    /// How many components its graph had.
    pub(crate) components: u32,
    pub(crate) certified: bool,
}

/// What `refresh` left, if it is valid for this plan: it ran with the same parameters, except for
/// the number of seeds and how they are picked. Classic HITS runs over all that remains, so nothing
/// of it stays valid; a refresh within a bound takes over [steps](super::kept_steps) instead.
pub(crate) fn earlier(
    store: &Store,
    refresh: RefreshId,
    plan: &CorePlan,
) -> Result<Option<Earlier>, EngineError> {
    let record = store.need(&tables::REFRESHES, &refresh)?;
    let then = PlanOptions::from_kept(&record.settings)?.decide()?;
    let (Plan::Cores(mut then), Some(standings)) = (then, record.standings) else {
        return Ok(None);
    };
    (then.params.seeds, then.params.pick) = (plan.params.seeds, plan.params.pick);
    then.succeed = plan.succeed;
    let params = &plan.params;
    let is_exact = params.hits == Hits::Converged && params.within.is_exact();
    let fits = then == *plan && is_exact;
    Ok(fits.then_some(Earlier {
        refresh,
        batch: record.batch,
        series: standings.series,
        pages: standings.pages,
        counted: standings.counted,
        components: record.components,
        certified: record.certified,
    }))
}

/// How many weakly connected components the whole graph has.
#[derive(Clone, Copy)]
pub(crate) struct ComponentCounts {
    pub(crate) all: u32,
    /// Those that are what they were in the previous refresh.
    pub(crate) verified: u32,
}

impl ComponentCounts {
    /// Of all components, `changed` are not what they were.
    pub(crate) const fn without(all: u32, changed: u32) -> Self {
        Self {
            all,
            verified: all.saturating_sub(changed),
        }
    }
}

/// All that is known of the components of this graph; `earlier` is the refresh to take over from,
/// if any.
///
/// Cost: besides finding the components, one scan of what the earlier refresh kept of them, and its
/// cores in those that did not change.
pub(crate) fn load(
    store: &Store,
    hubs: &Hubs,
    earlier: Option<Earlier>,
) -> Result<CoreCache, EngineError> {
    let components = WeakComponents::of(&hubs.graph, &hubs.pages);
    let mut known = BTreeMap::new();
    if let Some(earlier) = earlier {
        let mut kept = KeptCores::open(store, earlier)?;
        let present: BTreeMap<_, u32> =
            components.fingerprints().iter().copied().zip(0..).collect();
        for entry in store.scan_under(&tables::COMPONENTS, &earlier.series.to_be_bytes())? {
            let (_, record) = entry?;
            if let Some(&component) = present.get(&record.fingerprint) {
                let found = kept.component(hubs, &record, &|page| {
                    components.of_page(&hubs.graph, page) == Some(component)
                })?;
                known.insert(component, found);
            }
        }
    }
    Ok(CoreCache::new(components, known))
}

/// A core as an earlier refresh kept it.
pub(crate) struct KeptCore {
    pub(crate) record: CoreRecord,
    hub_scores: Vec<f64>,
    authority_scores: Vec<f64>,
}

/// The cores of an earlier refresh by origin; each is read once.
pub(crate) struct KeptCores<'a> {
    store: &'a Store,
    earlier: Earlier,
    ranks: BTreeMap<CoreOrigin, u32>,
    read: BTreeMap<CoreOrigin, KeptCore>,
}

impl<'a> KeptCores<'a> {
    /// Cost: one scan of the ranks of its cores.
    pub(crate) fn open(store: &'a Store, earlier: Earlier) -> Result<Self, StoreError> {
        let mut ranks = BTreeMap::new();
        let prefix = earlier.refresh.to_be_bytes();
        for entry in store.scan_under(&tables::CORE_ORIGINS, &prefix)? {
            let (key, rank) = entry?;
            ranks.insert(key.origin, rank);
        }
        Ok(Self {
            store,
            earlier,
            ranks,
            read: BTreeMap::new(),
        })
    }

    /// How many cores there are.
    pub(crate) fn len(&self) -> usize {
        self.ranks.len()
    }

    fn damaged(&self, origin: CoreOrigin) -> EngineError {
        EngineError::Ledger(StoreError::Damaged {
            table: tables::COMPONENTS.name,
            key: format!("series {}, core {origin:?}", self.earlier.series),
            what: "it does not fit its core".to_owned(),
        })
    }

    /// A core of the earlier refresh.
    pub(crate) fn core(&mut self, origin: CoreOrigin) -> Result<&KeptCore, EngineError> {
        if !self.read.contains_key(&origin) {
            let refresh = self.earlier.refresh;
            let rank = self.ranks.get(&origin).copied();
            let rank = rank.ok_or_else(|| self.damaged(origin))?;
            let record = self.store.need(&tables::CORES, &(refresh, rank))?;
            let scores = |side, pages: usize| {
                let key = VectorKey {
                    refresh,
                    rank,
                    side,
                };
                let scores = self.store.need(&tables::VECTORS, &key)?;
                if scores.len() == pages && pages > 0 {
                    Ok(scores)
                } else {
                    Err(self.damaged(origin))
                }
            };
            let core = KeptCore {
                hub_scores: scores(VectorSide::Hubs, record.hubs.len())?,
                authority_scores: scores(VectorSide::Authorities, record.authorities.len())?,
                record,
            };
            self.read.insert(origin, core);
        }
        self.read.get(&origin).ok_or_else(|| self.damaged(origin))
    }

    /// What is known of a component, in the numbers of `hubs`; `is_in_it` says which pages it has.
    pub(crate) fn component(
        &mut self,
        hubs: &Hubs,
        record: &ComponentRecord,
        is_in_it: &dyn Fn(u32) -> bool,
    ) -> Result<CachedComponent, EngineError> {
        let mut known = self.absent(hubs, record, is_in_it)?;
        for core in &mut known.cores {
            let origin = CoreOrigin::of_packed(core.origin.unwrap_or_default());
            let of = self.earlier.series;
            let near = self
                .store
                .need(&tables::NEAR_CORES, &OriginKey { of, origin })?;
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

    /// A component that is not loaded: its cores and its next step, without what was near the
    /// cores.
    pub(crate) fn absent(
        &mut self,
        hubs: &Hubs,
        record: &ComponentRecord,
        is_in_it: &dyn Fn(u32) -> bool,
    ) -> Result<CachedComponent, EngineError> {
        let mut cores = Vec::new();
        if !is_bound(record.next) {
            return Err(self.damaged(CoreOrigin::of_packed(0)));
        }
        for ComponentCore { origin, sigma } in &record.cores {
            let damaged = self.damaged(*origin);
            let KeptCore {
                record,
                hub_scores,
                authority_scores,
            } = self.core(*origin)?;
            let number = |page: &PageId| hubs.number(*page).filter(|number| is_in_it(*number));
            let numbers = |pages: &[PageId]| pages.iter().map(number).collect::<Option<Vec<u32>>>();
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
                sides: sides::unpack(&record.sides, h + a),
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
                let best = known.ok_or_else(|| self.damaged(CoreOrigin::of_packed(0)))?;
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

/// Whether a value can bound a sigma.
fn is_bound(value: f64) -> bool {
    value.is_sign_positive() && value.is_finite()
}

/// For each component of the graph the smallest id of its pages, which is its name, and how many
/// pages it has.
pub(crate) fn names(hubs: &Hubs, components: &WeakComponents) -> Vec<(PageId, u32)> {
    let mut names = vec![(PageId(u64::MAX), 0); components.len()];
    for (&page, number) in hubs.pages.iter().zip(0..) {
        let component = components.of_page(&hubs.graph, number);
        let name = component.and_then(|component| names.get_mut(component as usize));
        if let Some((name, pages)) = name {
            *name = page.min(*name);
            *pages += 1;
        }
    }
    names
}

/// Deletes what is kept of a series that no refresh belongs to any more.
pub(crate) fn delete_series(
    store: &Store,
    changes: &mut Changes,
    series: RefreshId,
) -> Result<(), StoreError> {
    let prefix = series.to_be_bytes();
    changes.delete_under(store, &tables::COMPONENTS, &prefix)?;
    changes.delete_under(store, &tables::COMPONENT_ORDER, &prefix)?;
    changes.delete_under(store, &tables::NEAR_CORES, &prefix)?;
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
