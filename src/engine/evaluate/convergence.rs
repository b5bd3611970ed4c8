//! How far a plan with a fixed number of iterations of HITS has converged.

use std::collections::{BTreeMap, BTreeSet};

use super::answers::Claim;
use super::crawl_answers::{Convergence, CoreConvergence};

use crate::engine::plan::{CorePlan, ResolvedPlan};
use crate::engine::policy::LoadedPolicy;
use crate::engine::refresh::cores::{self, CoresRun};
use crate::engine::refresh::run_context::RunContext;
use crate::engine::{EngineError, PlanOptions};
use seedbank_algorithms::cores::{Core, CoreParams, Hits};
use seedbank_algorithms::graph::number;
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_formats::display::counted;
use seedbank_store::records::RefreshId;
use seedbank_store::{Store, tables};

/// The pages of a core: hubs and authorities.
type Members = (BTreeSet<PageId>, BTreeSet<PageId>);

/// Selects the cores of a refresh again in the current state, and those of converged HITS; `None` if its plan does not have a
/// fixed number of iterations.
pub(super) fn of_refresh(
    store: &Store,
    refresh: RefreshId,
    watch: &dyn Watch,
) -> Result<Option<Convergence>, EngineError> {
    let record = store.need(&tables::REFRESHES, &refresh)?;
    let options = PlanOptions::from_stored(&record.settings)?;
    let ResolvedPlan::Cores(plan) = options.resolve()? else {
        return Ok(None);
    };
    if plan.params.hits != Hits::Classic {
        return Ok(None);
    }
    let policy = LoadedPolicy::load(store, options.policy()?, options.lists(), watch)?;
    let policy = policy.with_failing(store)?;
    let select = |hits| {
        let params = CoreParams {
            hits,
            ..plan.params
        };
        let plan = CorePlan { params, ..plan };
        cores::run(RunContext::new(store, &plan, &policy, watch), None, true)
    };
    let converged = select(Hits::Converged)?;
    let mut ranks: BTreeMap<Members, u32> = BTreeMap::new();
    for (rank, core) in (1..).zip(&converged.selection.cores) {
        ranks.insert(members(&converged, core), rank);
    }
    let classic = select(Hits::Classic)?;
    let mut cores = Vec::new();
    for (rank, core) in (1..).zip(&classic.selection.cores) {
        let lost = EngineError::Internal("a core after a number of iterations has no residual");
        let of_core = core.convergence.ok_or(lost)?;
        cores.push(CoreConvergence {
            rank,
            hubs: number(core.hubs.len()),
            authorities: number(core.authorities.len()),
            sigma: core.sigma,
            residual: of_core.residual,
            sigma_change: of_core.sigma_change,
            converged_rank: ranks.get(&members(&classic, core)).copied(),
        });
    }
    let differs = |core: &&CoreConvergence| core.converged_rank != Some(core.rank);
    Ok(Some(Convergence {
        iterations: plan.params.iterations,
        first_difference: cores.iter().find(differs).map(|core| core.rank),
        cores,
    }))
}

fn members(run: &CoresRun, core: &Core) -> Members {
    let pages = run.pages();
    let of = |numbers: &[u32]| numbers.iter().map(|&page| pages[page as usize]).collect();
    (of(&core.hubs), of(&core.authorities))
}

/// Checks the claim of Daneshpajouh, Mohammadi Nasiri and Ghodsi, section 3.2, that a number of iterations is enough: it is if
/// it finds the cores of converged HITS, in any order.
pub(super) fn claim(found: &Convergence) -> Claim {
    let cores = found.cores.len();
    let same = found
        .cores
        .iter()
        .filter(|core| core.converged_rank.is_some());
    let same = same.count();
    let iterations = counted(found.iterations, "iteration");
    let first = match found.first_difference {
        Some(rank) => format!("core {rank} is the first that differs"),
        None => "in the same order".to_owned(),
    };
    Claim {
        claim: "iterations-are-enough".to_owned(),
        holds: same == cores,
        text: format!(
            "Of {} after {iterations}, {same} are cores of converged HITS: {first}.",
            counted(cores, "core")
        ),
    }
}
