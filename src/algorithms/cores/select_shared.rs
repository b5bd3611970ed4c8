//! Selection of cores in a graph that several processes share.

use std::sync::Arc;

use crate::graph::codec::{Decoder, Encoder};
use crate::graph::exchange::gather;
use crate::graph::{HubShare, Role, Touched};
use crate::rank::{
    Approximate, CachedSteps, Doubt, Next, PowerIteration, ProvenStep, Ranker, Work,
};
use crate::watch::{Interrupted, Watch};

use super::core::Core;
use super::extract::extract_shared;
use super::near_cores::NearClasses;
use super::params::{BadParams, CoreParams, Hits, Pick};
use super::seed_rules::{HubChoice, SeedRules};
use super::select::{CoresError, core, give_seed};

/// The result of a selection by several processes, as one of them knows it. Pages have their numbers in the whole graph.
#[derive(Clone, PartialEq, Debug)]
pub struct ShareSelection {
    /// The cores in the order in which they were found, including those that give no seed.
    pub cores: Vec<Core>,
    /// For each core its authorities that its seed links to.
    pub led_to: Vec<Vec<u32>>,
    /// The entries of rows and citers that all processes have read.
    pub reads: Work,
    /// Whether every core is proven to be within the bound; of classic cores, whether all ties were decided.
    pub certified: bool,
    /// The rank (from 1) and the doubt of the first core that is not certified.
    pub uncertified_reason: Option<(u32, Doubt)>,
    /// For each core, whether its cached step is reused without computation.
    pub reused: Vec<bool>,
    /// The own classes near a core, by local number.
    pub near: NearClasses,
    /// The proven statement about the step of each core within a bound, with entries of own authority classes, by local number.
    pub steps: Vec<ProvenStep>,
}

/// Selects cores within a bound, or by [`Hits::Classic`], until `rules` has enough seeds, in all processes that share a
/// graph. All of them call it at the same time with equal arguments, and `rules` must give the same answers in all of them.
/// `cached` are steps of a run with the same parameters, except for the number of seeds, the pick and the rules;
/// [`Hits::Classic`] has none.
///
/// The result does not depend on the number of processes. With [`Hits::Classic`] it has the cores that
/// [`select`](super::select()) finds, with scores that differ in the last digits; and a core can be in doubt here where
/// a symmetry of the graph decides a tie there.
///
/// # Errors
///
/// If the parameters are invalid or those of an exact converged selection, and if the work was stopped.
pub fn select_on_share(
    share: &Arc<HubShare>,
    params: &CoreParams,
    previous_seeds: &[u32],
    cached: &CachedSteps,
    rules: &mut dyn SeedRules,
    watch: &dyn Watch,
) -> Result<ShareSelection, CoresError> {
    params.validate()?;
    if params.hits == Hits::Converged && params.within.is_exact() {
        return Err(BadParams::ExactOnShare.into());
    }
    let mut select = || select_in_pool(share, params, previous_seeds, cached, rules, watch);
    // As in a selection by one process, passes over the links begin in a pool. Threads wait for other processes there, so it
    // must not be a pool that several of them share.
    let threads = rayon::current_num_threads();
    match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(select),
        Err(_) => select(),
    }
}

/// [`select_on_share`] on a thread of a pool.
fn select_in_pool(
    share: &Arc<HubShare>,
    params: &CoreParams,
    previous_seeds: &[u32],
    cached: &CachedSteps,
    rules: &mut dyn SeedRules,
    watch: &dyn Watch,
) -> Result<ShareSelection, CoresError> {
    watch.stage("cores", Some(u64::from(params.seeds)));
    let mut left = share.all();
    let graph = share.graph();
    let mut ranker: Box<dyn Ranker> = match params.hits {
        Hits::Converged => {
            let within = params.within.share();
            Box::new(Approximate::of_share(share, &left, within, cached)?)
        }
        Hits::Classic => Box::new(PowerIteration::of_share(share, &left, params.iterations)?),
    };
    // A core whose step is reused keeps its seed.
    let choice = if params.pick == Pick::Stable || !cached.steps.is_empty() {
        HubChoice::preferring(previous_seeds)
    } else {
        HubChoice::default()
    };
    let mut cores: Vec<Core> = Vec::new();
    let mut led_to = Vec::new();
    let mut near = NearClasses::new(graph);
    let mut reads = Work::default();
    let mut rank = 0;
    while !rules.is_complete() {
        rank += 1;
        watch.proceed()?;
        let Some(Next::Solved(principal)) = ranker.next(graph, &left, watch)? else {
            break;
        };
        let extracted = extract_shared(share, &left, &principal, params)?;
        reads += extracted.grown.visits;
        let mut core = core(&principal, extracted.grown);
        give_seed(&mut core, rules, &choice).ok_or(CoresError::NoHub { rank })?;
        let losses = share.remove(&mut left, core.pages())?;
        let classes = |losses: &[(u32, u32)]| losses.iter().map(|of| of.0).collect();
        let touched = Touched {
            hubs: classes(&losses.hubs),
            authorities: classes(&losses.authorities),
        };
        ranker.pages_removed(graph, &left, &touched);
        near.add_shared(share, &left, &principal, rank, &extracted.pages);
        led_to.push(authorities_of_seed(share, &core)?);
        cores.push(core);
        watch.advance(1);
    }
    let mut doubts = cores.iter().zip(1..);
    let first = doubts.find_map(|(core, rank)| core.doubt.map(|doubt| (rank, doubt)));
    reads += ranker.work();
    let [visits, products] = share.sum([reads.visits, reads.products])?;
    let steps = ranker.take_proven_steps();
    for (core, step) in cores.iter_mut().zip(&steps) {
        core.sigma_bound = Some(step.sigma_bound);
    }
    Ok(ShareSelection {
        led_to,
        reads: Work { visits, products },
        certified: first.is_none(),
        uncertified_reason: first,
        reused: if steps.is_empty() {
            vec![false; cores.len()]
        } else {
            steps.iter().map(|step| step.origin.is_cached()).collect()
        },
        cores,
        near,
        steps,
    })
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
    // Each process knows it of the pages whose authority classes are its own.
    let mut message = Encoder::default();
    for (place, page) in (0_u64..).zip(&core.authorities) {
        let class = graph.authority_class(*page);
        if let Some((class, seed)) = class.zip(seed)
            && graph.citers().list(class).contains(&seed)
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
