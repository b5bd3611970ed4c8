//! Finds and removes one core after another, until there are enough seeds or no inter-site link is left.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::graph::{HubGraph, Remaining};
use crate::rank::{
    Approximate, Converged, Doubt, Next, PowerIteration, Principal, ProvenStep, Ranker, Work,
};
use crate::watch::{Interrupted, Watch};

use super::cache::{CacheBuilder, ComponentResult, CoreCache};
use super::core::Core;
use super::extract::{Grown, extract};
use super::near_cores::NearClasses;
use super::params::{BadParams, CoreParams, Hits, Pick};
use super::seed_rules::{HubChoice, OneSeedPerCore, SeedRules};

/// An error of a selection.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum CoresError {
    /// The parameters are invalid.
    #[error(transparent)]
    Params(#[from] BadParams),
    /// The caller interrupted the work.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// Links are left, but no hub was found: the graph or its scores are damaged.
    #[error("core {rank} has no hub although links are left")]
    NoHub {
        /// The core's rank, from 1.
        rank: u32,
    },
}

/// The result of a selection.
#[derive(Clone, PartialEq, Debug)]
pub struct Selection {
    /// The cores in the order in which they were found, including those that give no seed.
    pub cores: Vec<Core>,
    /// The entries of rows and citers that ranking has read.
    pub reads: Work,
    /// Whether every core is proven to be that of an exact computation.
    pub certified: bool,
    /// The rank (from 1) and the doubt of the first core that is not certified.
    pub uncertified_reason: Option<(u32, Doubt)>,
    /// The proven statement about the step of each core; empty unless the run is within a bound.
    pub steps: Vec<ProvenStep>,
    /// The classes near a core.
    pub near: NearClasses,
    /// For each core, whether it is reused from an earlier run; within a bound, whether its cached step is
    /// reused without computation.
    pub reused: Vec<bool>,
    /// For each core, the caller's identifier if it is reused; else `None`.
    pub origins: Vec<Option<u64>>,
    /// The results that a later run may reuse, by component of the whole graph.
    pub found: BTreeMap<u32, ComponentResult>,
    /// Non-empty if the run ended early because the next core could come from an absent component: these
    /// components, densest first.
    pub absent: Vec<u32>,
}

/// Selects cores. `previous_seeds` are in rank order; only [`Pick::Stable`] uses them.
pub fn select(
    graph: &HubGraph,
    params: &CoreParams,
    previous_seeds: &[u32],
    watch: &dyn Watch,
) -> Result<Selection, CoresError> {
    let cache = CoreCache::empty(graph);
    let mut rules = OneSeedPerCore { left: params.seeds };
    select_warm(graph, params, previous_seeds, &cache, &mut rules, watch)
}

/// Selects cores until `rules` has enough seeds, with a warm start from cached results. These must come from
/// runs with the same parameters, except for the number of seeds, the pick and the rules. The result equals
/// that of a selection without a cache. [`Hits::Classic`] ignores the cache.
pub fn select_warm(
    graph: &HubGraph,
    params: &CoreParams,
    previous_seeds: &[u32],
    cache: &CoreCache,
    rules: &mut dyn SeedRules,
    watch: &dyn Watch,
) -> Result<Selection, CoresError> {
    // Passes over the links are many and short; outside of the thread pool each would wake a thread.
    rayon::scope(|_| select_in_pool(graph, params, previous_seeds, cache, rules, watch))
}

/// [`select_warm`] on a thread of the pool.
fn select_in_pool(
    graph: &HubGraph,
    params: &CoreParams,
    previous_seeds: &[u32],
    cache: &CoreCache,
    rules: &mut dyn SeedRules,
    watch: &dyn Watch,
) -> Result<Selection, CoresError> {
    params.validate()?;
    watch.stage("cores", Some(u64::from(params.seeds)));
    let mut left = Remaining::all(graph);
    let mut ranker: Box<dyn Ranker> = match params.hits {
        Hits::Converged if !params.within.is_exact() => {
            let (share, steps) = (params.within.share(), cache.cached_steps());
            Box::new(Approximate::new(graph, &left, share, steps))
        }
        Hits::Converged => Box::new(Converged::new(graph, cache.components(), cache.steps())),
        Hits::Classic => Box::new(PowerIteration::new(graph, params.iterations)),
    };
    let choice = match params.pick {
        // A core whose step is reused keeps its seed.
        _ if !cache.cached_steps().steps.is_empty() => HubChoice::preferring(previous_seeds),
        Pick::Stable => HubChoice::preferring(previous_seeds),
        Pick::Best => HubChoice::default(),
    };
    let mut cores: Vec<Core> = Vec::new();
    let mut origins = Vec::new();
    let mut absent = Vec::new();
    let mut near = NearClasses::new(graph);
    let mut results = CacheBuilder::default();
    let mut visits = Work::default();
    visits += cache.components().link_visits();
    let mut rank = 0;
    while !rules.is_complete() {
        rank += 1;
        watch.proceed()?;
        let Some(next) = ranker.next(graph, &left, watch)? else {
            break;
        };
        let no_hub = CoresError::NoHub { rank };
        let mut extraction = Extraction {
            graph,
            left: &left,
            params,
            visits: &mut visits,
            watch,
        };
        let (next, grown) = extraction.refine_until_clear(&mut *ranker, next, &no_hub)?;
        if let Next::Absent(components) = next {
            absent = components;
            break;
        }
        let is_delicate = ranker.is_order_sensitive();
        let (component, core, new) = if let Some((component, cached, doubt)) = cache.core(&next) {
            // A cached core: replay it.
            let mut core = cached.core.clone();
            core.doubt = doubt;
            give_seed(&mut core, rules, &choice).ok_or(no_hub)?;
            left.remove(graph, core.pages());
            ranker.cached_step_taken(component);
            near.add_cached(graph, &cached.near, rank);
            origins.push(cached.origin);
            (Some(component), core, cached.near.clone())
        } else {
            // A new core: remove it, and tell the ranker which classes changed.
            let (principal, grown) = grown.ok_or(no_hub.clone())?;
            let mut core = core(&principal, grown);
            give_seed(&mut core, rules, &choice).ok_or(no_hub)?;
            let touched = left.remove(graph, core.pages());
            ranker.pages_removed(graph, &left, &touched);
            let new = near.add(graph, &left, &principal, rank, &core);
            origins.push(None);
            let first = core.authorities.first();
            let component =
                first.and_then(|&page| cache.components().component_of_page(graph, page));
            (component, core, new)
        };
        if let Some(component) = component
            && params.hits == Hits::Converged
            && params.within.is_exact()
        {
            results.add(component, rank, &core, new, is_delicate);
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
        found: results.finish(ranker.residual_bounds()),
    })
}

/// A core with the scores that it was extracted by.
type Extracted = (Arc<Principal>, Grown);

/// The inputs of an extraction.
pub(super) struct Extraction<'a> {
    pub(super) graph: &'a HubGraph,
    pub(super) left: &'a Remaining,
    pub(super) params: &'a CoreParams,
    pub(super) visits: &'a mut Work,
    pub(super) watch: &'a dyn Watch,
}

impl Extraction<'_> {
    /// Extracts the core, and again from more accurate scores as long as a decision is unclear. These may
    /// rank another region first. Does nothing for a cached core.
    pub(super) fn refine_until_clear(
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
            let grown = self.extract(&principal)?;
            if !grown.is_unsure() || principal.is_exact {
                return Ok((next, Some((principal, grown))));
            }
            drop((principal, grown));
            let finer = ranker.refine(self.graph, self.left, next, self.watch)?;
            next = finer.ok_or_else(|| no_hub.clone())?;
        }
    }

    fn extract(&mut self, principal: &Principal) -> Result<Grown, Interrupted> {
        let grown = extract(self.graph, self.left, principal, self.params)?;
        *self.visits += grown.visits;
        Ok(grown)
    }
}

pub(super) fn core(principal: &Principal, grown: Grown) -> Core {
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

/// Chooses the core's seed; `None` if the core has no hub.
pub(super) fn give_seed(
    core: &mut Core,
    rules: &mut dyn SeedRules,
    choice: &HubChoice,
) -> Option<()> {
    let best = choice.best(core, |_| true)?;
    let seed = rules.seed_of(core, choice);
    core.gives_seed = seed.is_some();
    core.seed = seed.unwrap_or(best);
    Some(())
}
