//! Rules of new plans: the default budget, and what of a stored plan can change without replacing it.

use super::report::DefaultBudget;
use crate::engine::error::PlanError;
use crate::engine::plan::PlanOptions;
use crate::engine::{EngineError, Result};
use seedbank_store::records::BatchKind;
use seedbank_store::{Store, tables};

/// Returns the number of pages that the last delta fetched, or without a delta half of the crawled pages.
/// Both are at least 1.
pub(super) fn default_budget(store: &Store) -> Result<DefaultBudget> {
    let counters = store.counters()?;
    let mut batch = counters.batch;
    while let Some(record) = store.get(&tables::BATCHES, &batch)? {
        let counts = &record.counts;
        let fetched = counts
            .records
            .saturating_sub(counts.rejected + counts.superseded + record.stale);
        match record.kind {
            BatchKind::Delta if fetched > 0 => {
                return Ok(DefaultBudget {
                    budget: fetched,
                    delta: Some(batch),
                });
            }
            BatchKind::Delta | BatchKind::Forget => batch -= 1,
            // The batch before it is undone.
            BatchKind::Undo => batch = batch.saturating_sub(2),
            BatchKind::Snapshot => break,
        }
    }
    Ok(DefaultBudget {
        budget: (counters.crawled / 2).max(1),
        delta: None,
    })
}

/// Checks that given options do not change the goal, the method or the scope of a stored plan.
pub(super) fn check_same_kind(
    given: &PlanOptions,
    stored: &PlanOptions,
) -> Result<(), EngineError> {
    let is_other_goal = given.goal.is_some() && given.goal != stored.goal;
    let is_other_method = given
        .method
        .is_some_and(|method| method != stored.method.unwrap_or_default());
    let is_other_scope = given
        .scope
        .is_some_and(|scope| scope != stored.scope.unwrap_or_default());
    let changed = [
        ("goal", is_other_goal),
        ("method", is_other_method),
        ("scope", is_other_scope),
    ];
    match changed.into_iter().find(|(_, is_changed)| *is_changed) {
        Some((parameter, _)) => Err(PlanError::NotReplaced(parameter).into()),
        None => Ok(()),
    }
}
