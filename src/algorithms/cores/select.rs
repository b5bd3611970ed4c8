//! Finds and removes one core after another, until there are enough seeds or no inter-site link is left.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::graph::codec::{Decoder, Encoder};
use crate::graph::exchange::gather;
use crate::graph::{HubGraph, HubShare, Remaining, Role, ShareComponents};
use crate::rank::{
    Approximate, CachedRegion, CachedSteps, Converged, Doubt, IdOfPage, Next, PowerIteration,
    Principal, ProvenStep, Ranker, Work,
};
use crate::watch::{Interrupted, Watch};

use super::cache::{CacheBuilder, ComponentResult, CoreCache};
use super::core::Core;
use super::extract::{Extracted, Grown, PagesOfClasses, extract};
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

/// The result of a selection, as one of the processes knows it. Pages have their numbers in the whole graph.
#[derive(Clone, PartialEq, Debug)]
pub struct Selection {
    /// The cores in the order in which they were found, including those that give no seed.
    pub cores: Vec<Core>,
    /// For each core its authorities that its seed links to; none if the graph does not have the seed.
    pub led_to: Vec<Vec<u32>>,
    /// The entries of rows and citers that ranking has read in all processes.
    pub reads: Work,
    /// Whether every core is proven to be that of an exact computation, or to be within the bound; of classic cores, whether
    /// all ties were decided.
    pub certified: bool,
    /// The rank (from 1) and the doubt of the first core that is not certified.
    pub uncertified_reason: Option<(u32, Doubt)>,
    /// The proven statement about the step of each core within a bound, with entries of own authority classes; empty for
    /// other selections.
    pub steps: Vec<ProvenStep>,
    /// The regions of these steps.
    pub regions: Vec<CachedRegion>,
    /// The own classes near a core.
    pub near: NearClasses,
    /// For each core, whether it is reused from an earlier run; within a bound, whether its cached step is
    /// reused without computation.
    pub reused: Vec<bool>,
    /// For each core, the caller's identifier if it is reused; else `None`.
    pub origins: Vec<Option<u64>>,
    /// The results that a later exact run may reuse, by component of the whole graph.
    pub found: BTreeMap<u32, ComponentResult>,
}

/// What a selection begins with, besides its parameters. The results of earlier runs must come from the same parameters,
/// except for the number of seeds, the pick and the rules.
#[derive(Clone, Copy, Default)]
pub struct SelectionInput<'a> {
    /// The seeds of an earlier run, best first.
    pub previous_seeds: &'a [u32],
    /// The components of the graph; `None` if they are not known yet. Only selections within a bound use them.
    pub components: Option<&'a ShareComponents>,
    /// The id of each page, by which later runs know it; `None` if that is its number. Only selections within a bound use it.
    pub id: Option<&'a IdOfPage<'a>>,
    /// Steps of an earlier run; only selections within a bound use them.
    pub steps: Option<&'a CachedSteps>,
    /// The components of the graph, with results of an earlier run; only exact selections use them.
    pub cache: Option<&'a CoreCache>,
}

/// Returns the whole graph in the form in which one process selects cores with these parameters.
#[must_use]
pub fn whole_graph(graph: HubGraph, params: &CoreParams) -> Arc<HubShare> {
    Arc::new(if params.is_exact() {
        HubShare::of_graph(graph)
    } else {
        HubShare::in_slices(graph)
    })
}

/// Selects cores of a whole graph in one process, with a seed from each. `previous_seeds` are in rank order; only
/// [`Pick::Stable`] uses them.
pub fn select_in_graph(
    graph: &HubGraph,
    params: &CoreParams,
    previous_seeds: &[u32],
    watch: &dyn Watch,
) -> Result<Selection, CoresError> {
    let graph = whole_graph(graph.clone(), params);
    let mut rules = OneSeedPerCore { left: params.seeds };
    let input = SelectionInput {
        previous_seeds,
        ..SelectionInput::default()
    };
    select(&graph, params, input, &mut rules, watch)
}

/// Selects cores until `rules` has enough seeds, in all processes that share a graph. All of them call it at the same time
/// with equal arguments, and `rules` must give the same answers in all of them. Exact cores are selected by one process, on
/// [`whole_graph`].
///
/// The result does not depend on the number of processes. That with results of an earlier exact run equals the result
/// without them.
///
/// # Errors
///
/// If the parameters are invalid, or exact for several processes, and if the work was stopped.
pub fn select(
    share: &Arc<HubShare>,
    params: &CoreParams,
    input: SelectionInput<'_>,
    rules: &mut dyn SeedRules,
    watch: &dyn Watch,
) -> Result<Selection, CoresError> {
    params.validate()?;
    let processes = share.communicator().processes();
    if params.is_exact() && processes > 1 {
        return Err(BadParams::ExactOnShare.into());
    }
    let mut select = || select_in_pool(share, params, input, rules, watch);
    // Passes over the links are many and short; outside of a thread pool each would wake a thread.
    if processes == 1 {
        return rayon::scope(|_| select());
    }
    // Threads wait for other processes, so it must not be a pool that several of them share.
    let threads = rayon::current_num_threads();
    match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(select),
        Err(_) => select(),
    }
}

/// [`select`] on a thread of a pool.
#[expect(
    clippy::too_many_lines,
    reason = "one loop over cores, whose steps share the state of the selection"
)]
fn select_in_pool(
    share: &Arc<HubShare>,
    params: &CoreParams,
    SelectionInput {
        previous_seeds,
        components,
        id,
        steps,
        cache,
    }: SelectionInput<'_>,
    rules: &mut dyn SeedRules,
    watch: &dyn Watch,
) -> Result<Selection, CoresError> {
    watch.stage("cores", Some(u64::from(params.seeds)));
    let graph = share.graph();
    let mut left = share.all();
    let none = CachedSteps::default();
    let steps = steps.unwrap_or(&none);
    let empty;
    let cache = match cache {
        Some(cache) if params.is_exact() => Some(cache),
        None if params.is_exact() => {
            empty = CoreCache::empty(graph);
            Some(&empty)
        }
        _ => None,
    };
    let found;
    let id = id.unwrap_or(&|page| page.into());
    let mut ranker: Box<dyn Ranker + '_> = match (params.hits, cache) {
        (Hits::Classic, _) => Box::new(PowerIteration::new(share, &left, params.iterations)?),
        (Hits::Converged, None) => {
            let components = if let Some(components) = components {
                components
            } else {
                found = share.components()?;
                &found
            };
            let within = params.within.share();
            Box::new(Approximate::new(share, components, within, steps, id)?)
        }
        (Hits::Converged, Some(cache)) => {
            Box::new(Converged::new(graph, cache.components(), cache.steps()))
        }
    };
    // A core whose step is reused keeps its seed.
    let choice = if params.pick == Pick::Stable || !steps.steps.is_empty() {
        HubChoice::preferring(previous_seeds)
    } else {
        HubChoice::default()
    };
    let mut cores: Vec<Core> = Vec::new();
    let mut led_to = Vec::new();
    let mut origins = Vec::new();
    let mut near = NearClasses::new(graph);
    let mut results = CacheBuilder::default();
    let mut visits = Work::default();
    if let Some(cache) = cache {
        visits += cache.components().link_visits();
    }
    let mut rank = 0;
    while !rules.is_complete() {
        rank += 1;
        watch.proceed()?;
        let Some(next) = ranker.next(graph, &left, watch)? else {
            break;
        };
        let no_hub = CoresError::NoHub { rank };
        let mut extraction = Extraction {
            share,
            left: &left,
            params,
            visits: &mut visits,
            watch,
        };
        let (next, extracted) = extraction.refine_until_clear(&mut *ranker, next, &no_hub)?;
        let is_delicate = ranker.is_order_sensitive();
        let cached = cache.and_then(|cache| cache.core(&next));
        let (component, core, new) = if let Some((component, cached, doubt)) = cached {
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
            let (principal, grown, pages) = extracted.ok_or(no_hub.clone())?;
            let mut core = core(&principal, grown);
            core.convergence = ranker.convergence();
            give_seed(&mut core, rules, &choice).ok_or(no_hub)?;
            let of_core: Vec<u32> = core.pages().collect();
            let losses = share.remove(&mut left, of_core.iter().copied())?;
            ranker.core_taken(&of_core)?;
            ranker.pages_removed(graph, &left, &losses.touched());
            let new = near.add((share, &left), ranker.part(), &principal, rank, &pages);
            origins.push(None);
            let first = core.authorities.first();
            let component = first
                .zip(cache)
                .and_then(|(&page, cache)| cache.components().component_of_page(graph, page));
            (component, core, new)
        };
        if let Some(component) = component {
            results.add(component, rank, &core, new, is_delicate);
        }
        led_to.push(authorities_of_seed(share, &core)?);
        cores.push(core);
        watch.advance(1);
    }
    let mut doubts = cores.iter().zip(1..);
    let first = doubts.find_map(|(core, rank)| core.doubt.map(|doubt| (rank, doubt)));
    visits += ranker.work();
    let [visits, products] = share.sum([visits.visits, visits.products])?;
    let (steps, regions) = ranker.take_proven_steps()?;
    for (core, step) in cores.iter_mut().zip(&steps) {
        core.sigma_bound = Some(step.sigma_bound);
    }
    Ok(Selection {
        cores,
        led_to,
        reads: Work { visits, products },
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
        regions,
        found: results.finish(ranker.residual_bounds()),
    })
}

/// A core with the scores that it was extracted by.
type Solved = (Arc<Principal>, Grown, PagesOfClasses);

/// The inputs of an extraction.
struct Extraction<'a> {
    share: &'a HubShare,
    left: &'a Remaining,
    params: &'a CoreParams,
    visits: &'a mut Work,
    watch: &'a dyn Watch,
}

impl Extraction<'_> {
    /// Extracts the core, and again from more accurate scores as long as a decision is unclear. These may
    /// rank another region first. Does nothing for a cached core.
    fn refine_until_clear(
        &mut self,
        ranker: &mut dyn Ranker,
        mut next: Next,
        no_hub: &CoresError,
    ) -> Result<(Next, Option<Solved>), CoresError> {
        loop {
            let Next::Solved(principal) = &next else {
                return Ok((next, None));
            };
            let principal = Arc::clone(principal);
            let (share, left) = match ranker.part() {
                Some(part) => (&*part.share, &part.left),
                None => (self.share, self.left),
            };
            let Extracted { grown, pages } = extract(share, left, &principal, self.params)?;
            *self.visits += grown.visits;
            if !grown.is_unsure() || principal.is_exact {
                return Ok((next, Some((principal, grown, pages))));
            }
            drop((principal, grown));
            let finer = ranker.refine(self.share.graph(), self.left, next, self.watch)?;
            next = finer.ok_or_else(|| no_hub.clone())?;
        }
    }
}

fn core(principal: &Principal, grown: Grown) -> Core {
    let pairs = grown.hubs.len() as f64 * grown.authorities.len() as f64;
    Core {
        sigma: principal.sigma,
        sigma_bound: None,
        convergence: None,
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
fn give_seed(core: &mut Core, rules: &mut dyn SeedRules, choice: &HubChoice) -> Option<()> {
    let best = choice.best(core, |_| true)?;
    let seed = rules.seed_of(core, choice);
    core.gives_seed = seed.is_some();
    core.seed = seed.unwrap_or(best);
    Some(())
}

/// Returns the authorities of a core that its seed links to, in the order in which they were taken.
fn authorities_of_seed(share: &HubShare, core: &Core) -> Result<Vec<u32>, Interrupted> {
    let graph = share.graph();
    let ids = share.side(Role::Hub).ids();
    let mut message = Encoder::default();
    if let Some(class) = graph.hub_class(core.seed) {
        message.number(ids[class as usize].into());
    }
    let mut seed = None;
    for (process, message) in gather(share.communicator(), message)?.iter().enumerate() {
        if !message.is_empty() {
            let id = Decoder(message).index();
            let id = id.ok_or_else(|| share.malformed())?;
            seed = share.local(Role::Hub, process, id);
        }
    }
    let is_cited_by = |class: u32, seed: u32| {
        let citers = graph.citers().list(class);
        let by_id = citers.binary_search_by_key(&ids[seed as usize], |hub| ids[*hub as usize]);
        by_id.is_ok()
    };
    // Each process knows it of the pages whose authority classes are its own.
    let mut message = Encoder::default();
    for (place, page) in (0_u64..).zip(&core.authorities) {
        let class = graph.authority_class(*page);
        if let Some(class) = class
            && let Some(seed) = seed
            && is_cited_by(class, seed)
        {
            message.number(place);
        }
    }
    let mut places = Vec::new();
    for message in gather(share.communicator(), message)? {
        let mut message = Decoder(&message);
        while !message.0.is_empty() {
            let place = message.index().ok_or_else(|| share.malformed())?;
            places.push(place);
        }
    }
    places.sort_unstable();
    let page = |place: &u32| core.authorities.get(*place as usize).copied();
    let pages: Option<Vec<u32>> = places.iter().map(page).collect();
    pages.ok_or_else(|| share.malformed())
}
