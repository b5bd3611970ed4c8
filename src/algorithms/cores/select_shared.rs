//! Selection of cores in a graph that several processes share.

use std::sync::Arc;

use crate::graph::codec::{Decoder, Encoder};
use crate::graph::exchange::gather;
use crate::graph::{HubShare, Remaining, Role, Touched};
use crate::rank::{
    Approximate, CachedSteps, Doubt, Next, PowerIteration, ProvenStep, Ranker, Work,
};
use crate::watch::{Interrupted, Watch};

use super::core::Core;
use super::exact_share::{CorePlace, ExactCores};
use super::extract::extract_shared;
use super::near_cores::NearClasses;
use super::params::{CoreParams, Hits, Pick};
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

/// What a selection by several processes begins with, besides its parameters.
#[derive(Clone, Copy, Debug)]
pub struct ShareInput<'a> {
    /// The seeds of an earlier run, best first.
    pub previous_seeds: &'a [u32],
    /// Steps of a run within a bound with the same parameters, except for the number of seeds, the pick and the rules.
    /// Other selections use none.
    pub cached: &'a CachedSteps,
    /// The largest number of pages of a component that process 0 ranks alone; pages in both roles count twice. Only for exact
    /// cores.
    pub max_gathered: u64,
}

/// Selects cores until `rules` has enough seeds, in all processes that share a graph. All of them call it at the same time
/// with equal arguments, and `rules` must give the same answers in all of them.
///
/// The result does not depend on the number of processes. Except for those within a bound, its cores are the ones that
/// [`select`](super::select()) finds, with scores that differ in the last digits; and a core can be in doubt here where
/// a symmetry of the graph decides a tie there, or a split of the graph into components.
///
/// # Errors
///
/// If the parameters are invalid, and if the work was stopped.
pub fn select_on_share(
    share: &Arc<HubShare>,
    params: &CoreParams,
    input: ShareInput<'_>,
    rules: &mut dyn SeedRules,
    watch: &dyn Watch,
) -> Result<ShareSelection, CoresError> {
    params.validate()?;
    let mut select = || select_in_pool(share, params, input, rules, watch);
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
    input: ShareInput<'_>,
    rules: &mut dyn SeedRules,
    watch: &dyn Watch,
) -> Result<ShareSelection, CoresError> {
    let ShareInput {
        previous_seeds,
        cached,
        max_gathered,
    } = input;
    watch.stage("cores", Some(u64::from(params.seeds)));
    let mut left = share.all();
    let graph = share.graph();
    let mut source =
        match params.hits {
            Hits::Converged if params.within.is_exact() => Source::Exact(Box::new(
                ExactCores::new(share, &left, params, max_gathered)?,
            )),
            Hits::Converged => {
                let within = params.within.share();
                Source::Ranker(Box::new(Approximate::of_share(
                    share, &left, within, cached,
                )?))
            }
            Hits::Classic => {
                let ranker = PowerIteration::of_share(share, &left, params.iterations)?;
                Source::Ranker(Box::new(ranker))
            }
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
        let next = source.next(share, &left, params, rank, &mut reads, watch)?;
        let Some((mut core, place)) = next else {
            break;
        };
        give_seed(&mut core, rules, &choice).ok_or(CoresError::NoHub { rank })?;
        let losses = share.remove(&mut left, core.pages())?;
        let classes = |losses: &[(u32, u32)]| losses.iter().map(|of| of.0).collect();
        let touched = Touched {
            hubs: classes(&losses.hubs),
            authorities: classes(&losses.authorities),
        };
        match &mut source {
            Source::Ranker(ranker) => ranker.pages_removed(graph, &left, &touched),
            Source::Exact(exact) => exact.core_removed(&left, &touched, &core)?,
        }
        if let CorePlace::Shared(principal, pages) = &place {
            near.add_shared(share, &left, principal, rank, pages);
        } else if let Source::Exact(exact) = &mut source {
            exact.add_near_gathered(&mut near, &core, rank)?;
        }
        led_to.push(authorities_of_seed(share, &core)?);
        cores.push(core);
        watch.advance(1);
    }
    let mut doubts = cores.iter().zip(1..);
    let first = doubts.find_map(|(core, rank)| core.doubt.map(|doubt| (rank, doubt)));
    let (work, steps) = match &mut source {
        Source::Ranker(ranker) => (ranker.work(), ranker.take_proven_steps()),
        Source::Exact(exact) => (exact.work(), Vec::new()),
    };
    reads += work;
    let [visits, products] = share.sum([reads.visits, reads.products])?;
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

/// Where cores come from.
enum Source<'a> {
    Ranker(Box<dyn Ranker>),
    Exact(Box<ExactCores<'a>>),
}

impl Source<'_> {
    /// Returns the next core, without a seed; `None` if no link is left.
    fn next(
        &mut self,
        share: &HubShare,
        left: &Remaining,
        params: &CoreParams,
        rank: u32,
        reads: &mut Work,
        watch: &dyn Watch,
    ) -> Result<Option<(Core, CorePlace)>, CoresError> {
        let ranker = match self {
            Self::Exact(exact) => return exact.next(left, rank, reads, watch),
            Self::Ranker(ranker) => ranker,
        };
        let Some(Next::Solved(principal)) = ranker.next(share.graph(), left, watch)? else {
            return Ok(None);
        };
        let extracted = extract_shared(share, left, &principal, params)?;
        *reads += extracted.grown.visits;
        let core = core(&principal, extracted.grown);
        Ok(Some((core, CorePlace::Shared(principal, extracted.pages))))
    }
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
