//! Selection by coverage: per site, the k pages whose h-hop neighbourhoods cover the most page value.
//!
//! The methods are those of Zheng, Dmitriev and Giles (WWW 2009, the poster, and CIKM 2009): the
//! heuristics max-out, max-weight, max-scc and root-scc, the exact greedy that the papers call too
//! expensive, and the baselines random, PageRank and out-degree. A site is a [`SiteGraph`]: its crawled
//! pages, numbered in byte order of their URLs so that ties go to the smallest number, and the links
//! between them. Sites are independent of each other: [`select`] picks on one site, [`select_all`] on many
//! in parallel, and [`apportion`](fn@apportion) distributes a total of seeds over sites.
//!
//! | module | contents |
//! | --- | --- |
//! | [`value`] | the value of a page, in exact millionths |
//! | [`params`], [`limits`], [`error`] | parameters, their ranges, and their validation |
//! | [`graph`], [`pick`] | inputs and results |
//! | [`apportion`](mod@apportion) | distributes a total of seeds over sites |
//! | `site_selection`, `candidate_scope` | the picks of a site by each method, and their candidates |
//! | `lazy`, `argmax_search`, `bounds`, `weight_bounds` | the page with the greatest weight, without a search from most pages |
//! | `weights`, `bfs_ball` | searches, 256 at a time and one at a time |
//! | `coverage`, `residual`, `max_out` | the pages that picks cover, zero or remove |
//! | `baselines` | orders of pages |
//! | [`revisit`] | what pages count for by the time since their last fetch |
//! | [`uncovered_scores`](mod@uncovered_scores) | the scores of the pages that no pick covers |
//! | [`global`] | selection over the whole web instead of per site |
//! | [`reference`](mod@reference) | full recomputation at every pick, for tests |
//!
//! Results and page visits depend on the graph, the name of the site and the parameters alone. Memory:
//! about 100 bytes per page and 8 per link, and 36 to 112 bytes per page for each thread that searches the
//! site at a time. The number of these threads is limited so that their memory stays around 1 GiB.

pub mod apportion;
mod argmax_search;
mod baselines;
mod bfs_ball;
mod bounds;
mod candidate_scope;
mod coverage;
pub mod error;
pub mod global;
pub mod graph;
mod lazy;
pub mod limits;
mod max_out;
pub mod params;
pub mod pick;
pub mod reference;
mod residual;
pub mod revisit;
#[cfg(test)]
mod samples;
mod site_selection;
pub mod uncovered_scores;
pub mod value;
mod weight_bounds;
mod weights;

use rayon::prelude::*;

pub use crate::decimal::BadDecimal;
pub use apportion::{apportion, apportion_bounded, pagerank_weight, value_weight};
pub use baselines::{order_by_score, random_order};
pub use error::{BadParams, CoverError};
pub use graph::{Site, SiteGraph, SiteGraphError};
pub use params::{Choice, CoverParams, Covered, Method, Seats, Share};
pub use pick::{HopGain, Pick, Score, Scored, SiteCover, Stop};
pub use revisit::{Age, Due, Revisit};
pub use uncovered_scores::{UncoveredScores, uncovered_scores};
pub use value::{PUniq, PageFacts, Value, Weights, page_value, pagerank_values};

use crate::watch::{Interrupted, Watch};

/// Picks up to `seats` seeds on one site.
///
/// Ignores the number of seeds in the parameters. Searches of a large site run in parallel. The picks are
/// those of [`reference::select`], at a small part of its cost.
pub fn select(
    site: Site<'_>,
    seats: u32,
    params: &CoverParams,
    watch: &dyn Watch,
) -> Result<SiteCover, CoverError> {
    Ok(site_selection::select_site(
        site,
        seats,
        &params.choose()?,
        watch,
    )?)
}

/// Picks on many sites in parallel, each with its number of seeds. Results are in the order of `sites`.
///
/// The largest sites start first, so that they can use the threads that small sites leave idle.
pub fn select_all(
    sites: &[(Site<'_>, u32)],
    params: &CoverParams,
    watch: &dyn Watch,
) -> Result<Vec<SiteCover>, CoverError> {
    Ok(select_chosen(sites, &params.choose()?, watch)?)
}

/// [`select_all`] with validated parameters.
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
            let cover = site_selection::select_site(site, seats, choice, watch)?;
            watch.advance(1);
            Ok((at, cover))
        })
        .collect();
    let mut covers = covers?;
    covers.sort_unstable_by_key(|&(at, _)| at);
    Ok(covers.into_iter().map(|(_, cover)| cover).collect())
}
