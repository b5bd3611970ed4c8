//! Cover: per site, the k pages whose h-hop neighbourhoods cover the most page value.
//!
//! The methods are those of Zheng, Dmitriev and Giles (WWW 2009, the poster, and CIKM 2009): the
//! heuristics max-out, max-weight, max-scc and root-scc, the exact greedy that the papers call too
//! expensive, and the baselines random, PageRank and out-degree. A site is one [`SiteGraph`]: its
//! crawled pages numbered in byte order of their URLs, so that the smallest number is the smallest
//! URL wherever a tie is broken, and the links between them. Sites are independent of each other:
//! [`select`] picks on one of them, [`select_all`] on many in parallel, [`share_out`] says how many
//! seeds each gets when a total is shared out.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`value`] | what a page is worth, in exact millionths |
//! | [`params`], [`error`] | what a plan may say, and what makes no sense |
//! | [`graph`], [`pick`] | what goes in, what comes out |
//! | [`share`] | a total of seeds over the sites |
//! | `run`, `places` | the picks of a site by each method, and where each looks |
//! | `lazy`, `lead`, `bounds`, `known` | the best weight without searching from most pages |
//! | `weigh`, `reach` | weights by search, 256 at a time (`graph::multi_source_bfs`), and what picks cover |
//! | `components`, `baselines` | orders and places that methods pick by |
//! | [`rest`](mod@rest) | the scores of the pages that no pick covers |
//! | [`web`] | seeds over the whole web in the place of sites |
//! | [`plain`] | everything recomputed at every pick: what the others are judged by |
//!
//! Results depend on the graph, the name of the site and the parameters alone; so do the page
//! visits. Memory: some 100 bytes per page and 8 per link, and 36 to 112 bytes per page for every
//! thread that searches the site at the time. The number of these threads is limited so that their memory
//! stays around 1 GiB; nothing grows with the square of a site.

mod baselines;
mod bounds;
mod components;
pub mod error;
pub mod graph;
mod known;
mod lazy;
mod lead;
pub mod limits;
pub mod params;
pub mod pick;
mod places;
pub mod plain;
mod reach;
mod residual;
pub mod rest;
mod run;
#[cfg(test)]
mod samples;
pub mod share;
pub mod value;
pub mod web;
mod weigh;

use rayon::prelude::*;

pub use baselines::{below, by_score, random};
pub use error::{BadParams, CoverError};
pub use graph::{Site, SiteGraph, SiteGraphError};
pub use params::{Choice, CoverParams, Covered, Method, Seats, Share};
pub use pick::{HopGain, Pick, Score, Scored, SiteCover, Stop};
pub use rest::{Rest, rest};
pub use share::{pagerank_weight, share_out, shares_within, value_weight};
pub use value::{PUniq, PageFacts, Value, Weights, page_value};

use crate::watch::{Interrupted, Watch};

/// Picks up to `seats` seeds on one site.
///
/// The seat count in the parameters is ignored: the caller knows the site's share. Searches of a
/// large site run in parallel. Cost: see [`SiteCover::page_visits`]; small next to
/// [`plain::select`], which gives the same picks.
pub fn select(
    site: Site<'_>,
    seats: u32,
    params: &CoverParams,
    watch: &dyn Watch,
) -> Result<SiteCover, CoverError> {
    Ok(run::run(site, seats, &params.choose()?, watch)?)
}

/// Picks on many sites in parallel, each with its seats; results in the order of `sites`.
///
/// The largest sites begin first, and use the threads that small sites leave free.
pub fn select_all(
    sites: &[(Site<'_>, u32)],
    params: &CoverParams,
    watch: &dyn Watch,
) -> Result<Vec<SiteCover>, CoverError> {
    Ok(select_chosen(sites, &params.choose()?, watch)?)
}

/// [`select_all`] with parameters that were validated before.
pub fn select_chosen(
    sites: &[(Site<'_>, u32)],
    choice: &Choice,
    watch: &dyn Watch,
) -> Result<Vec<SiteCover>, Interrupted> {
    let mut order: Vec<usize> = (0..sites.len()).collect();
    order.sort_by_key(|&at| {
        let graph = sites[at].0.graph;
        std::cmp::Reverse(u64::from(graph.pages()) + graph.links() as u64)
    });
    let covers: Result<Vec<_>, Interrupted> = order
        .into_par_iter()
        .with_max_len(1)
        .map(|at| {
            let (site, seats) = sites[at];
            let cover = run::run(site, seats, choice, watch)?;
            watch.advance(1);
            Ok((at, cover))
        })
        .collect();
    let mut covers = covers?;
    covers.sort_unstable_by_key(|&(at, _)| at);
    Ok(covers.into_iter().map(|(_, cover)| cover).collect())
}
