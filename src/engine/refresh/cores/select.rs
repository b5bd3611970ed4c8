//! Runs the core selection on a loaded graph, and converts its errors.

use super::load::LoadedHubGraph;
use super::seed_rules::{PolicySeedRules, Rejections};
use crate::engine::error::PlanError;
use crate::engine::plan::CorePlan;
use crate::engine::refresh::run_context::RunContext;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::cores::{self, CoreCache, CoresError, Selection};
use seedbank_algorithms::page::PageId;

/// Selects cores and seeds, and counts rejections by policies. `previous` are the seeds of the
/// previous refresh, best first. `cache` contains the results of unchanged components.
pub(crate) fn select(
    context: RunContext<'_, CorePlan>,
    hubs: &LoadedHubGraph,
    previous: &[PageId],
    cache: &CoreCache,
) -> Result<(Selection, Rejections)> {
    let params = &context.plan.params;
    let previous: Vec<u32> = previous
        .iter()
        .filter_map(|page| hubs.number(*page))
        .collect();
    let mut seeds = PolicySeedRules::new(context.store, hubs, context.policy, params.seeds)?;
    let selection = cores::select_warm(
        &hubs.graph,
        params,
        &previous,
        cache,
        &mut seeds,
        context.watch,
    );
    let selection = selection.map_err(cores_error)?;
    Ok((selection, seeds.finish()?.0))
}

/// Converts an error of a selection.
pub(super) fn cores_error(error: CoresError) -> EngineError {
    match error {
        CoresError::Interrupted(e) => e.into(),
        CoresError::Params(e) => PlanError::from(e).into(),
        e @ CoresError::NoHub { .. } => EngineError::Cores(e),
    }
}
