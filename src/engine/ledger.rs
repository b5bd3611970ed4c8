//! What the plan's previous refresh found in components that are as they were then.

use std::collections::BTreeMap;

use super::EngineError;
use super::hubs::Hubs;
use super::plan::{CorePlan, Plan, PlanOptions};
use super::refresh_cores::unpack_sides;
use crate::cores::{
    Core, FoundComponent, Hits, KnownComponent, KnownCore, Ledger, NearPage, Selection,
};
use crate::graph::{Role, WeakComponents};
use crate::page::PageId;
use crate::storage::ledger::{ComponentCore, ComponentRecord, NearRecord};
use crate::storage::records::RefreshId;
use crate::storage::tables::{self, VectorKey, VectorSide};
use crate::storage::{Changes, Store, StoreError};

/// Whether what `refresh` found holds for this plan: it ran with the same parameters, but for the
/// number of seeds and how they are picked. Classic HITS runs over all that remains, so nothing of
/// it holds.
pub(super) fn fits(
    store: &Store,
    refresh: RefreshId,
    plan: &CorePlan,
) -> Result<bool, EngineError> {
    let record = store.need(&tables::REFRESHES, &refresh)?;
    let then = PlanOptions::from_kept(&record.settings)?.decide()?;
    let Plan::Cores(mut then) = then else {
        return Ok(false);
    };
    (then.params.seeds, then.params.pick) = (plan.params.seeds, plan.params.pick);
    then.succeed = plan.succeed;
    Ok(then == *plan && plan.params.hits == Hits::Converged)
}

/// What is known of the components of this graph; `refresh` is the earlier one, if any is to be
/// taken over from.
///
/// Cost: beside finding the components, one scan of what the earlier refresh kept of them, and its
/// cores in those that did not change.
pub(super) fn load(
    store: &Store,
    hubs: &Hubs,
    refresh: Option<RefreshId>,
) -> Result<Ledger, EngineError> {
    let components = WeakComponents::of(&hubs.graph, &hubs.pages);
    let mut known = BTreeMap::new();
    if let Some(refresh) = refresh {
        let present: BTreeMap<_, u32> =
            components.fingerprints().iter().copied().zip(0..).collect();
        for entry in store.scan_under(&tables::COMPONENTS, &refresh.to_be_bytes())? {
            let ((_, fingerprint), record) = entry?;
            if let Some(&component) = present.get(&fingerprint) {
                let found = known_component(store, hubs, refresh, &record, &|page| {
                    components.of_page(&hubs.graph, page) == Some(component)
                })?;
                known.insert(component, found);
            }
        }
    }
    Ok(Ledger::new(components, known))
}

fn known_component(
    store: &Store,
    hubs: &Hubs,
    refresh: RefreshId,
    record: &ComponentRecord,
    is_in_it: &dyn Fn(u32) -> bool,
) -> Result<KnownComponent, EngineError> {
    let cores = record.cores.iter();
    let cores: Result<_, EngineError> = cores
        .map(|core| known_core(store, hubs, refresh, core, is_in_it))
        .collect();
    Ok(KnownComponent {
        cores: cores?,
        next: record.next,
    })
}

fn known_core(
    store: &Store,
    hubs: &Hubs,
    refresh: RefreshId,
    kept: &ComponentCore,
    is_in_it: &dyn Fn(u32) -> bool,
) -> Result<KnownCore, EngineError> {
    let rank = kept.rank;
    let record = store.need(&tables::CORES, &(refresh, rank))?;
    let damaged = || {
        EngineError::Store(StoreError::Damaged {
            table: tables::COMPONENTS.name,
            key: format!("refresh {refresh}, core {rank}"),
            what: "it does not fit its core; `refresh --cold` does without it".to_owned(),
        })
    };
    let number = |page: &PageId| {
        let number = hubs.number(*page).filter(|number| is_in_it(*number));
        number.ok_or_else(damaged)
    };
    let numbers = |pages: &[PageId]| pages.iter().map(number).collect::<Result<Vec<u32>, _>>();
    let scores = |side, pages: usize| {
        let key = VectorKey {
            refresh,
            rank,
            side,
        };
        let scores = store.need(&tables::VECTORS, &key)?;
        if scores.len() == pages && pages > 0 {
            Ok(scores)
        } else {
            Err(damaged())
        }
    };
    let near = |near: &NearRecord| -> Result<NearPage, EngineError> {
        Ok(NearPage {
            role: if near.hub { Role::Hub } else { Role::Authority },
            page: number(&near.page)?,
            links: near.links,
            score: near.score,
        })
    };
    let (h, a) = (record.hubs.len(), record.authorities.len());
    let core = Core {
        sigma: record.sigma,
        density: 100.0 * record.edges as f64 / (h as f64 * a as f64),
        edges: record.edges,
        hubs: numbers(&record.hubs)?,
        authorities: numbers(&record.authorities)?,
        hub_scores: scores(VectorSide::Hubs, h)?,
        authority_scores: scores(VectorSide::Authorities, a)?,
        sides: unpack_sides(&record.sides, h + a),
        seed: number(&record.seed)?,
        doubt: None,
    };
    let near: Result<_, EngineError> = kept.near.iter().map(near).collect();
    Ok(KnownCore { core, near: near? })
}

/// Hands what later refreshes may take over to `changes`.
pub(super) fn put(
    changes: &mut Changes,
    refresh: RefreshId,
    hubs: &Hubs,
    components: &WeakComponents,
    selection: &Selection,
) -> Result<(), EngineError> {
    let near = |near: &NearPage| NearRecord {
        page: hubs.pages[near.page as usize],
        hub: near.role == Role::Hub,
        links: near.links,
        score: near.score,
    };
    for (component, found) in &selection.found {
        let FoundComponent { cores, next } = found;
        let Some(fingerprint) = components.fingerprints().get(*component as usize) else {
            continue;
        };
        let cores = cores.iter().map(|(rank, pages)| ComponentCore {
            rank: *rank,
            near: pages.iter().map(near).collect(),
        });
        let record = ComponentRecord {
            cores: cores.collect(),
            next: *next,
        };
        changes.put(&tables::COMPONENTS, &(refresh, *fingerprint), &record)?;
    }
    Ok(())
}
