//! Core after core is taken, until there are enough seeds or no inter-site link is left.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::graph::{HubGraph, Remaining};
use crate::rank::{
    Approximate, Converged, Doubt, Next, PowerIteration, Principal, ProvenStep, Ranker, Work,
};
use crate::watch::{Interrupted, Watch};

use super::extract::{Grown, extract};
use super::found::Core;
use super::ledger::{FoundComponent, Keeping, Ledger};
use super::near::NearClasses;
use super::params::{BadParams, CoreParams, Hits, Pick};
use super::seed::{HubChoice, OneEach, SeedRules};

/// The relative accuracy of the scores of a core.
const ACCURATE: f64 = 3e-7;

/// Why no cores were selected.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum CoresError {
    /// The parameters are invalid.
    #[error(transparent)]
    Params(#[from] BadParams),
    /// The caller stopped the work.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// Links were left, but no hub was found: the graph or its scores are damaged.
    #[error("core {rank} has no hub although links are left")]
    NoHub {
        /// The core's rank, from 1.
        rank: u32,
    },
}

/// The cores in the order in which they were found.
#[derive(Clone, PartialEq, Debug)]
pub struct Selection {
    /// One for each seed, and those that give none.
    pub cores: Vec<Core>,
    /// Entries of rows and citers read while ranking.
    pub reads: Work,
    /// Whether every core is what an exact computation would give.
    pub certified: bool,
    /// The rank (from 1) and the doubt of the first core that is not certified.
    pub uncertified_reason: Option<(u32, Doubt)>,
    /// For each core what is proven of its step, where the run is within a bound; else empty.
    pub steps: Vec<ProvenStep>,
    /// The classes that were near a core.
    pub near: NearClasses,
    /// For each core, whether it was taken over from an earlier run; within a bound, whether its step was
    /// kept and nothing had to be computed for it.
    pub reused: Vec<bool>,
    /// For each core, its name where it was taken over; else `None`.
    pub origins: Vec<Option<u64>>,
    /// What a later run may take over, by component of the whole graph.
    pub found: BTreeMap<u32, FoundComponent>,
    /// Where the run ended too early: the absent components, densest first, the first of which
    /// could come next. Empty where it did not.
    pub absent: Vec<u32>,
}

/// Selects cores. `previous_seeds`, in rank order, matter to [`Pick::Stable`] alone.
pub fn select(
    graph: &HubGraph,
    params: &CoreParams,
    previous_seeds: &[u32],
    watch: &dyn Watch,
) -> Result<Selection, CoresError> {
    let ledger = Ledger::empty(graph);
    let mut rules = OneEach { left: params.seeds };
    select_again(graph, params, previous_seeds, &ledger, &mut rules, watch)
}

/// Selects cores until `rules` has enough seeds, and takes over what is known of components of the
/// graph. That has to come from runs with the same parameters, except for the number of seeds, the
/// pick and the rules. The result is that of [`select`]. [`Hits::Classic`] takes nothing over.
pub fn select_again(
    graph: &HubGraph,
    params: &CoreParams,
    previous_seeds: &[u32],
    ledger: &Ledger,
    rules: &mut dyn SeedRules,
    watch: &dyn Watch,
) -> Result<Selection, CoresError> {
    // Passes over the links are many and short: from outside the pool each would wake a thread of it.
    rayon::scope(|_| select_within(graph, params, previous_seeds, ledger, rules, watch))
}

/// The same, on a thread of the pool.
fn select_within(
    graph: &HubGraph,
    params: &CoreParams,
    previous_seeds: &[u32],
    ledger: &Ledger,
    rules: &mut dyn SeedRules,
    watch: &dyn Watch,
) -> Result<Selection, CoresError> {
    params.validate()?;
    watch.stage("cores", Some(u64::from(params.seeds)));
    let mut left = Remaining::all(graph);
    let mut ranker: Box<dyn Ranker> = match params.hits {
        Hits::Converged if !params.within.is_exact() => {
            let (share, past) = (params.within.share(), ledger.kept_steps());
            Box::new(Approximate::new(graph, &left, share, past))
        }
        Hits::Converged => Box::new(Converged::new(graph, ledger.components(), ledger.steps())),
        Hits::Classic => Box::new(PowerIteration::new(graph, params.iterations)),
    };
    let choice = match params.pick {
        // A core that is kept keeps its seed.
        _ if !ledger.kept_steps().steps.is_empty() => HubChoice::preferring(previous_seeds),
        Pick::Stable => HubChoice::preferring(previous_seeds),
        Pick::Best => HubChoice::default(),
    };
    let mut cores: Vec<Core> = Vec::new();
    let mut origins = Vec::new();
    let mut absent = Vec::new();
    let mut near = NearClasses::new(graph);
    let mut keeping = Keeping::default();
    let mut visits = Work::default();
    visits += ledger.components().link_visits();
    let mut rank = 0;
    while !rules.is_complete() {
        rank += 1;
        watch.proceed()?;
        let Some(next) = ranker.next(graph, &left, watch)? else {
            break;
        };
        let no_hub = CoresError::NoHub { rank };
        let mut growing = Growing {
            graph,
            left: &left,
            params,
            visits: &mut visits,
            watch,
        };
        let (next, grown) = growing.grow(&mut *ranker, next, &no_hub)?;
        if let Next::Absent(components) = next {
            absent = components;
            break;
        }
        let delicate = ranker.is_order_sensitive();
        let (component, core, new) = if let Some((component, known, doubt)) = ledger.core(&next) {
            let mut core = known.core.clone();
            core.doubt = doubt;
            give_seed(&mut core, rules, &choice).ok_or(no_hub)?;
            left.remove(graph, core.pages());
            ranker.cached_step_taken(component);
            near.take(graph, &known.near, rank);
            origins.push(known.origin);
            (Some(component), core, known.near.clone())
        } else {
            let (principal, grown) = grown.ok_or(no_hub.clone())?;
            let mut core = core(&principal, grown);
            give_seed(&mut core, rules, &choice).ok_or(no_hub)?;
            let touched = left.remove(graph, core.pages());
            ranker.pages_removed(graph, &left, &touched);
            let new = near.note(graph, &left, &principal, (rank, &core));
            origins.push(None);
            let first = core.authorities.first();
            let component =
                first.and_then(|&page| ledger.components().component_of_page(graph, page));
            (component, core, new)
        };
        if let Some(component) = component
            && params.hits == Hits::Converged
            && params.within.is_exact()
        {
            keeping.note(component, (rank, &core), new, delicate);
        }
        cores.push(core);
        watch.advance(1);
    }
    let mut doubts = cores.iter().zip(1..);
    let first = doubts.find_map(|(core, rank)| core.doubt.map(|doubt| (rank, doubt)));
    let mut reads = ranker.work();
    reads += visits;
    let steps = ranker.take_proven_steps();
    for (core, step) in cores.iter_mut().zip(&steps) {
        core.sigma_bound = Some(step.sigma_bound);
    }
    Ok(Selection {
        cores,
        reads,
        certified: first.is_none(),
        uncertified_reason: first,
        near,
        reused: if steps.is_empty() {
            origins.iter().map(Option::is_some).collect()
        } else {
            steps.iter().map(|step| step.origin.is_cached()).collect()
        },
        origins,
        steps,
        absent,
        found: keeping.finish(ranker.residual_bounds()),
    })
}

/// A core as it grew, and the scores that it grew by.
type Extracted = (Arc<Principal>, Grown);

/// What extraction needs.
struct Growing<'a> {
    graph: &'a HubGraph,
    left: &'a Remaining,
    params: &'a CoreParams,
    visits: &'a mut Work,
    watch: &'a dyn Watch,
}

impl Growing<'_> {
    /// Extracts the core, from more accurate scores where a decision could not be made; these may
    /// put another place first. Does nothing where the core is known.
    fn grow(
        &mut self,
        ranker: &mut dyn Ranker,
        mut next: Next,
        no_hub: &CoresError,
    ) -> Result<(Next, Option<Extracted>), CoresError> {
        loop {
            let Next::Solved(principal) = &next else {
                return Ok((next, None));
            };
            let principal = Arc::clone(principal);
            let grown = self.extract(&principal);
            let is_unsure = grown.doubt.is_some() || grown.error > ACCURATE;
            if !is_unsure || principal.is_exact {
                return Ok((next, Some((principal, grown))));
            }
            drop((principal, grown));
            let finer = ranker.refine(self.graph, self.left, next, self.watch)?;
            next = finer.ok_or_else(|| no_hub.clone())?;
        }
    }

    fn extract(&mut self, principal: &Principal) -> Grown {
        let grown = extract(self.graph, self.left, principal, self.params);
        *self.visits += grown.visits;
        grown
    }
}

fn core(principal: &Principal, grown: Grown) -> Core {
    let pairs = grown.hubs.len() as f64 * grown.authorities.len() as f64;
    Core {
        sigma: principal.sigma,
        sigma_bound: None,
        density: 100.0 * grown.edges as f64 / pairs,
        edges: grown.edges,
        seed: 0,
        gives_seed: false,
        hubs: grown.hubs,
        authorities: grown.authorities,
        hub_scores: grown.hub_scores,
        authority_scores: grown.authority_scores,
        sides: grown.sides,
        doubt: principal.doubt.or(grown.doubt),
    }
}

/// Chooses the core's seed; `None` where it has no hub.
fn give_seed(core: &mut Core, rules: &mut dyn SeedRules, choice: &HubChoice) -> Option<()> {
    let best = choice.best(core, |_| true)?;
    let seed = rules.seed_of(core, choice);
    core.gives_seed = seed.is_some();
    core.seed = seed.unwrap_or(best);
    Some(())
}
