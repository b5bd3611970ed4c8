//! Core after core, until there are enough seeds or no inter-site link is left.

use std::collections::BTreeMap;

use crate::graph::{HubGraph, Remaining, number};
use crate::rank::{Classic, Converged, Doubt, Principal, Ranker, TIED};
use crate::watch::{Interrupted, Watch};

use super::extract::{Grown, extract};
use super::near::NearClasses;
use super::params::{BadParams, CoreParams, Hits, Pick};

/// The relative accuracy of the scores of a core.
const ACCURATE: f64 = 3e-7;

/// Why no cores were selected.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum CoresError {
    /// The parameters make no sense.
    #[error(transparent)]
    Params(#[from] BadParams),
    /// The caller stopped the work.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// Links were left, and yet no hub was found: the graph or its scores are damaged.
    #[error("core {rank} came out without a hub though links are left; run `seedbank check`")]
    NoHub {
        /// The core's rank, from 1.
        rank: usize,
    },
}

/// A dense bipartite subgraph: its hubs, its authorities, where it came from. Pages are numbers
/// in URL order.
#[derive(Clone, PartialEq, Debug)]
pub struct Core {
    /// The largest singular value of the region it came from.
    pub sigma: f64,
    /// `100 edges / (hubs * authorities)`, in percent.
    pub density: f64,
    /// Links from its hubs to its authorities.
    pub edges: u64,
    /// In the order taken.
    pub hubs: Vec<u32>,
    /// In the order taken.
    pub authorities: Vec<u32>,
    /// Of `hubs`; L2-normalised over all pages of the region.
    pub hub_scores: Vec<f64>,
    /// Of `authorities`; L2-normalised over all pages of the region.
    pub authority_scores: Vec<f64>,
    /// The order in which the two sides were added to, as `a` and `h`.
    pub sides: String,
    /// The hub that is the seed.
    pub seed: u32,
    /// Why this core is not certified, if it is not.
    pub doubt: Option<Doubt>,
}

/// The cores in the order in which they were found.
#[derive(Clone, PartialEq, Debug)]
pub struct Selection {
    /// One for each seed.
    pub cores: Vec<Core>,
    /// Entries of rows and citers read while ranking.
    pub link_visits: u64,
    /// Whether every core is what an exact computation would give.
    pub certified: bool,
    /// The rank (from 1) and the doubt of the first core that is not certified.
    pub uncertified_reason: Option<(usize, Doubt)>,
    /// The classes that were near a core.
    pub near: NearClasses,
}

/// Selects cores. `previous_seeds`, in rank order, matter to [`Pick::Stable`] only.
pub fn select(
    graph: &HubGraph,
    params: &CoreParams,
    previous_seeds: &[u32],
    watch: &dyn Watch,
) -> Result<Selection, CoresError> {
    params.validate()?;
    watch.stage("cores", Some(u64::from(params.seeds)));
    let mut left = Remaining::all(graph);
    let mut ranker: Box<dyn Ranker> = match params.hits {
        Hits::Converged => Box::new(Converged::new(graph, &left)),
        Hits::Classic => Box::new(Classic::new(graph, params.iterations)),
    };
    let mut previous = BTreeMap::new();
    if params.pick == Pick::Stable {
        for (rank, &page) in previous_seeds.iter().enumerate() {
            previous.entry(page).or_insert(rank);
        }
    }
    let mut cores = Vec::new();
    let mut near = NearClasses::new(graph);
    let mut visits = 0;
    for rank in 1..=params.seeds as usize {
        watch.proceed()?;
        let Some(mut principal) = ranker.principal(graph, &left, watch)? else {
            break;
        };
        let mut grown = extract(graph, &left, &principal, params);
        visits += grown.visits;
        while grown.doubt.is_some() || grown.error > ACCURATE {
            let Some(finer) = ranker.refine(graph, &left, watch)? else {
                break;
            };
            principal = finer;
            grown = extract(graph, &left, &principal, params);
            visits += grown.visits;
        }
        let core = core(&principal, grown, &previous).ok_or(CoresError::NoHub { rank })?;
        let pages = core.hubs.iter().chain(&core.authorities).copied();
        let touched = left.remove(graph, pages);
        ranker.removed(graph, &left, &touched);
        near.note(graph, &left, &principal, (number(rank), &core));
        cores.push(core);
        watch.advance(1);
    }
    let mut doubts = cores.iter().zip(1..);
    let first = doubts.find_map(|(core, rank)| core.doubt.map(|doubt| (rank, doubt)));
    Ok(Selection {
        cores,
        link_visits: visits + ranker.link_visits(),
        certified: first.is_none(),
        uncertified_reason: first,
        near,
    })
}

fn core(principal: &Principal, grown: Grown, previous: &BTreeMap<u32, usize>) -> Option<Core> {
    let stable = grown
        .hubs
        .iter()
        .filter_map(|page| previous.get(page).map(|rank| (rank, *page)))
        .min();
    let limit = grown.hub_scores.iter().copied().fold(0.0, f64::max) * (1.0 - TIED);
    let tied = grown.hubs.iter().zip(&grown.hub_scores);
    let best = tied
        .filter(|(_, score)| **score >= limit)
        .map(|(page, _)| *page)
        .min();
    let pairs = grown.hubs.len() as f64 * grown.authorities.len() as f64;
    Some(Core {
        sigma: principal.sigma,
        density: 100.0 * grown.edges as f64 / pairs,
        edges: grown.edges,
        seed: stable.map(|(_, page)| page).or(best)?,
        hubs: grown.hubs,
        authorities: grown.authorities,
        hub_scores: grown.hub_scores,
        authority_scores: grown.authority_scores,
        sides: grown.sides,
        doubt: principal.doubt.or(grown.doubt),
    })
}
