//! The scores of the pages that no pick covers, after the last pick of a site: the score that the method
//! would have picked each of them by.
//!
//! Methods that confine a pick to one component are scored as if the page were in that component. Scores
//! are exact, except for weights if more than [`EXACT`] pages are uncovered: then the walk bound
//! (`bounds`), which is never below the weight, is used instead. That limits the cost to 16 groups of
//! searches, or to as many passes over the links as the depth.

use super::bfs_ball::BallSearch;
use super::bounds::Bounder;
use super::graph::SiteGraph;
use super::max_out::Remaining;
use super::params::{Choice, Covered, Method};
use super::pick::{Score, Scored, SiteCover};
use super::residual::Residual;
use super::weights::WeightSearch;
use crate::rank::pagerank;
use crate::watch::{Interrupted, Watch};

/// The most pages whose exact weights are computed.
pub const EXACT: usize = 4096;

/// The scores of the pages that no pick covers.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct UncoveredScores {
    /// The pages, ascending.
    pub pages: Vec<Scored>,
    /// Whether the scores are exact; otherwise they are upper bounds.
    pub exact: bool,
}

/// Computes the scores of the uncovered pages of a site. The module's documentation has the cost.
pub fn uncovered_scores(
    graph: &SiteGraph,
    cover: &SiteCover,
    choice: &Choice,
    watch: &dyn Watch,
) -> Result<UncoveredScores, Interrupted> {
    let mut covered = vec![false; graph.pages() as usize];
    for pick in &cover.picks {
        for page in &pick.covered() {
            covered[page as usize] = true;
        }
    }
    let pages: Vec<u32> = (0..graph.pages())
        .filter(|&page| !covered[page as usize])
        .collect();
    let mut exact = true;
    let scores: Vec<Score> = if pages.is_empty() {
        Vec::new()
    } else {
        match choice.method {
            Method::Random => vec![Score::Drawn; pages.len()],
            Method::Pagerank => {
                let (scores, _) = pagerank(graph, watch)?;
                let scores = pages.iter().map(|&page| scores[page as usize]);
                scores.map(Score::Pagerank).collect()
            }
            // Only over the web is a page picked by its last fetch.
            Method::OutDegree | Method::Oldest => {
                let degrees = pages.iter().map(|&page| graph.out_degree(page));
                degrees.map(Score::OutDegree).collect()
            }
            Method::MaxOut => {
                let mut remaining =
                    Remaining::new(graph.successor_lists(), graph.predecessor_lists());
                for pick in &cover.picks {
                    remaining.remove_ball(pick.seed.page, choice.hops);
                }
                let degrees = pages.iter().map(|&page| remaining.entry(page).0);
                degrees.map(Score::OutDegree).collect()
            }
            Method::MaxWeight | Method::MaxScc | Method::RootScc | Method::Greedy => {
                let residual = if choice.covered == Covered::Remove {
                    residual_after_removal(graph, cover, choice.hops)
                } else {
                    let mut residual = Residual::new(graph);
                    for page in (0..graph.pages()).filter(|&page| covered[page as usize]) {
                        residual.zero(page);
                    }
                    residual
                };
                watch.proceed()?;
                exact = pages.len() <= EXACT;
                let weights = weights(graph, choice.depth, &pages, &residual, exact);
                weights.into_iter().map(Score::Weight).collect()
            }
        }
    };
    let pages = pages.into_iter().zip(scores);
    Ok(UncoveredScores {
        pages: pages.map(|(page, score)| Scored { page, score }).collect(),
        exact,
    })
}

fn weights(
    graph: &SiteGraph,
    depth: u32,
    pages: &[u32],
    residual: &Residual,
    exact: bool,
) -> Vec<i64> {
    if exact {
        let (found, _) = WeightSearch::new(graph, depth).forward(pages, residual);
        return found.into_iter().map(|(weight, _)| weight).collect();
    }
    let mut bound = vec![residual.positive; graph.pages() as usize];
    let bounder = Bounder {
        graph,
        depth,
        residual,
        covered: None,
    };
    bounder.lower_by_walks(&mut bound);
    pages.iter().map(|&page| bound[page as usize]).collect()
}

/// The residual after all picks, for methods that remove covered pages.
fn residual_after_removal(graph: &SiteGraph, cover: &SiteCover, hops: u32) -> Residual {
    let mut residual = Residual::new(graph);
    let mut search = BallSearch::new(graph.pages());
    for pick in &cover.picks {
        residual.remove_ball(graph, &mut search, pick.seed.page, hops);
    }
    residual
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::samples::{site, within};
    use super::super::{CoverParams, Pick, Site, site_selection};
    use super::*;
    use crate::page::SiteId;
    use crate::watch::Unwatched;

    /// Compares the weights with those of separate searches, and checks that no bound is below its weight.
    fn check(graph: &SiteGraph, method: Method, covered: Option<Covered>, seats: u32) {
        let params = CoverParams {
            method,
            covered,
            hops: 2,
            positive_only: false,
            ..CoverParams::default()
        };
        let choice = params.choose().unwrap();
        let site = Site {
            id: SiteId(0),
            name: "a.example",
            graph,
        };
        let cover = site_selection::select_site(site, seats, &choice, &Unwatched).unwrap();
        let found = uncovered_scores(graph, &cover, &choice, &Unwatched).unwrap();
        let mut all: Vec<u32> = found.pages.iter().map(|scored| scored.page).collect();
        let covers = cover.picks.iter().flat_map(Pick::covered);
        all.extend(covers);
        all.sort_unstable();
        assert_eq!(all, (0..graph.pages()).collect::<Vec<_>>());
        let mut residual = residual_after_removal(graph, &cover, choice.hops);
        if choice.covered == Covered::Zero {
            residual = Residual::new(graph);
            for page in cover.picks.iter().flat_map(Pick::covered) {
                residual.zero(page);
            }
        }
        let pages: Vec<u32> = found.pages.iter().map(|scored| scored.page).collect();
        let bounds = weights(graph, choice.depth, &pages, &residual, false);
        for (scored, bound) in found.pages.iter().zip(bounds) {
            let (weight, _) = within(graph, &residual, scored.page, choice.depth);
            assert_eq!(scored.score, Score::Weight(weight));
            assert!(bound >= weight);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn uncovered_pages_have_the_scores_of_the_next_pick((graph, _) in site(), seats in 0_u32..4) {
            check(&graph, Method::MaxWeight, None, seats);
            check(&graph, Method::Greedy, None, seats);
            check(&graph, Method::MaxWeight, Some(Covered::Remove), seats);
        }
    }
}
