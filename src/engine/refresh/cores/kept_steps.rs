//! What a refresh within a bound keeps of its steps for the next one of its plan.

use super::load::Hubs;
use crate::engine::EngineError;
use crate::engine::plan::{CorePlan, Plan, PlanOptions};
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
    for entry in store.scan_under(&tables::KEPT_STEPS, &refresh.to_be_bytes())? {
        let (_, record) = entry?;
        let scores = record.scores.into_iter();
        let scores = scores.filter_map(|(page, code)| Some((hubs.number(page)?, code)));
        let weights = record.weights.into_iter();
        let weights = weights.filter_map(|(page, code)| Some((hubs.number(page)?, code)));
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
    for (rank, step) in (1_u32..).zip(steps) {
        let page = |number: u32| hubs.pages[number as usize];
        let scores = step.kept.scores.iter();
        let weights = step.kept.weights.iter();
        let mut record = KeptRecord {
            scores: scores.map(|&(number, code)| (page(number), code)).collect(),
            weights: weights
                .map(|&(number, code)| (page(number), code))
                .collect(),
        };
        record.scores.sort_unstable_by_key(|entry| entry.0);
        record.weights.sort_unstable_by_key(|entry| entry.0);
        changes.put(&tables::KEPT_STEPS, &(refresh, rank), &record)?;
    }
    Ok(())
}
