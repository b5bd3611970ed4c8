//! What a refresh within a bound keeps of its steps for the next one of its plan.

use roaring::RoaringBitmap;

use super::load::Hubs;
use crate::engine::EngineError;
use crate::engine::plan::{CorePlan, Plan, PlanOptions};
use crate::page::PageId;
use crate::rank::{KeptStep, ProvenStep};
use crate::storage::kept_steps::KeptRecord;
use crate::storage::records::RefreshId;
use crate::storage::{Changes, Store, tables};

/// The steps that a refresh kept, in order, in numbers of the present graph; none where the plan is exact,
/// or was another one then.
pub(super) fn load(
    store: &Store,
    refresh: Option<RefreshId>,
    (plan, hubs): (&CorePlan, &Hubs),
) -> Result<Vec<KeptStep>, EngineError> {
    let Some(refresh) = refresh.filter(|_| !plan.params.within.is_exact()) else {
        return Ok(Vec::new());
    };
    let record = store.need(&tables::REFRESHES, &refresh)?;
    let Plan::Cores(mut then) = PlanOptions::from_kept(&record.settings)?.decide()? else {
        return Ok(Vec::new());
    };
    (then.params.seeds, then.params.pick) = (plan.params.seeds, plan.params.pick);
    then.succeed = plan.succeed;
    if then != *plan {
        return Ok(Vec::new());
    }
    let mut steps = Vec::new();
    let mut numbers: Vec<Option<u32>> = Vec::new();
    for entry in store.scan_under(&tables::KEPT_STEPS, &refresh.to_be_bytes())? {
        let ((_, rank), record) = entry?;
        if rank == 0 {
            numbers = record.pages.iter().map(|page| hubs.number(*page)).collect();
            continue;
        }
        let number = |place: u32| numbers.get(place as usize).copied().flatten();
        let scores = record.scores.into_iter();
        let scores = scores.filter_map(|(place, code)| Some((number(place)?, code)));
        let weights = record.weights.into_iter();
        let weights = weights.filter_map(|(place, code)| Some((number(place)?, code)));
        steps.push(KeptStep {
            scores: scores.collect(),
            weights: weights.collect(),
        });
    }
    Ok(steps)
}

/// Keeps the steps of a refresh, and no longer those of the one before it.
pub(super) fn put(
    store: &Store,
    changes: &mut Changes,
    (plan, refresh): (&str, RefreshId),
    (hubs, steps): (&Hubs, &[ProvenStep]),
) -> Result<(), EngineError> {
    if let Some(plan) = store.get(&tables::PLANS, &plan.to_owned())? {
        let before = plan.last_refresh.to_be_bytes();
        changes.delete_under(store, &tables::KEPT_STEPS, &before)?;
    }
    if steps.is_empty() {
        return Ok(());
    }
    let mut named = RoaringBitmap::new();
    for step in steps {
        named.extend(step.kept.scores.iter().map(|entry| entry.0));
        named.extend(step.kept.weights.iter().map(|entry| entry.0));
    }
    let mut pages: Vec<(PageId, u32)> = named
        .iter()
        .map(|number| (hubs.pages[number as usize], number))
        .collect();
    pages.sort_unstable();
    let mut places = vec![0; hubs.pages.len()];
    for (&(_, number), place) in pages.iter().zip(0..) {
        places[number as usize] = place;
    }
    let record = KeptRecord {
        pages: pages.iter().map(|(page, _)| *page).collect(),
        ..KeptRecord::default()
    };
    changes.put(&tables::KEPT_STEPS, &(refresh, 0), &record)?;
    for (rank, step) in (1_u32..).zip(steps) {
        let record = KeptRecord {
            pages: Vec::new(),
            scores: by_place(&step.kept.scores, &places, pages.len()),
            weights: by_place(&step.kept.weights, &places, pages.len()),
        };
        changes.put(&tables::KEPT_STEPS, &(refresh, rank), &record)?;
    }
    Ok(())
}

/// What pages have, by their places among so many, ascending.
fn by_place<T: Copy + Default + PartialEq>(
    of: &[(u32, T)],
    places: &[u32],
    count: usize,
) -> Vec<(u32, T)> {
    let mut codes = vec![T::default(); count];
    for &(number, code) in of {
        codes[places[number as usize] as usize] = code;
    }
    let codes = (0..).zip(codes);
    codes.filter(|(_, code)| *code != T::default()).collect()
}
