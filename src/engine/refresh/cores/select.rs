//! Runs the selection of cores on a loaded graph, and tells its errors in the engine's words.

use super::load::Hubs;
use super::seeds::{CoreSeeds, Held};
use crate::engine::plan::CorePlan;
use crate::engine::policy::Rules;
use crate::engine::{EngineError, PlanError};
use seedbank_algorithms::cores::{self, CoreCache, CoresError, Selection};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_store::Store;

/// The cores and seeds of the loaded graph. `previous` are the seeds of the previous refresh, best
/// first, and the ledger is what is known of components that did not change. Tells too what policies
/// held back.
pub(crate) fn select(
    store: &Store,
    hubs: &Hubs,
    (plan, rules): (&CorePlan, &Rules),
    previous: &[PageId],
    ledger: &CoreCache,
    watch: &dyn Watch,
) -> Result<(Selection, Held), EngineError> {
    let previous: Vec<u32> = previous
        .iter()
        .filter_map(|page| hubs.number(*page))
        .collect();
    let mut seeds = CoreSeeds::new(store, hubs, rules, plan.params.seeds)?;
    let selection = cores::select_warm(
        &hubs.graph,
        &plan.params,
        &previous,
        ledger,
        &mut seeds,
        watch,
    );
    let selection = selection.map_err(|e| match e {
        CoresError::Interrupted(e) => e.into(),
        CoresError::Params(e) => PlanError::from(e).into(),
        e @ CoresError::NoHub { .. } => EngineError::Cores(e),
    })?;
    Ok((selection, seeds.finish()?))
}
