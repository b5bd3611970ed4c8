//! The scores of the pages that no pick covers, once the last seed of a site is picked: how much
//! each would still have brought, by the measure that the method picks by.
//!
//! Where the method confines a pick to one component, the score is what it would be if the page
//! were in that component. Scores are exact, except for weights where more than [`EXACT`] pages are
//! left: then the walk bound (`bounds`), which is never below the weight, takes their place. That
//! limits the cost to 16 groups of searches, or to as many passes over the links as the depth.

use super::bounds;
use super::graph::SiteGraph;
use super::params::{Choice, Covered, Method};
use super::pick::{Score, Scored, SiteCover};
use super::reach::{Direction, Search};
use super::residual::Residual;
use super::weights::Searches;
use crate::rank::pagerank;
use crate::watch::{Interrupted, Watch};

/// The most pages whose weights are searched for.
pub const EXACT: usize = 4096;

/// The pages that no pick covers, ascending, with their scores.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct UncoveredScores {
    /// The pages.
    pub pages: Vec<Scored>,
    /// Whether the scores are exact; if `false`, they are upper bounds.
    pub exact: bool,
}

/// The pages that the picks of a site leave uncovered. Cost: see the module's documentation.
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
            Method::OutDegree => {
                let degrees = pages.iter().map(|&page| graph.out_degree(page));
                degrees.map(Score::OutDegree).collect()
            }
            Method::MaxOut => {
                let alive = left(graph, cover, choice.hops).alive;
                let remains = |page: &&u32| alive[**page as usize];
                let degree = |page: u32| graph.successors(page).iter().filter(remains).count();
                let degrees = pages.iter().map(|&page| degree(page));
                degrees
                    .map(|degree| Score::OutDegree(u32::try_from(degree).unwrap_or(u32::MAX)))
                    .collect()
            }
            Method::MaxWeight | Method::MaxScc | Method::RootScc | Method::Greedy => {
                let residual = if choice.covered == Covered::Remove {
                    left(graph, cover, choice.hops)
                } else {
                    let mut residual = Residual::new(graph);
                    let taken = (0..graph.pages()).filter(|&page| covered[page as usize]);
                    for page in taken {
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
        let (found, _) = Searches::new(graph, depth).weigh(pages, residual);
        return found.into_iter().map(|(weight, _)| weight).collect();
    }
    let mut bound = vec![residual.positive; graph.pages() as usize];
    bounds::walk(graph, depth, residual, None, &mut bound);
    pages.iter().map(|&page| bound[page as usize]).collect()
}

/// What methods that remove covered pages have left.
fn left(graph: &SiteGraph, cover: &SiteCover, hops: u32) -> Residual {
    let mut residual = Residual::new(graph);
    let mut search = Search::new(graph.pages());
    for pick in &cover.picks {
        let mut gone = Vec::new();
        let from = [pick.seed.page];
        if !residual.alive[pick.seed.page as usize] {
            // A pin that another one removed.
            continue;
        }
        let meet = |page: u32, _| gone.push(page);
        search.run(
            graph,
            Direction::Forward,
            &residual.alive,
            &from,
            hops,
            meet,
        );
        for page in gone {
            residual.remove(page);
        }
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

    /// Compares the weights with those of separate searches, and the bounds, which must not be
    /// below.
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
        let mut residual = left(graph, &cover, choice.hops);
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
        fn what_is_left_is_scored_as_it_would_be_picked((graph, _) in site(), seats in 0_u32..4) {
            check(&graph, Method::MaxWeight, None, seats);
            check(&graph, Method::Greedy, None, seats);
            check(&graph, Method::MaxWeight, Some(Covered::Remove), seats);
        }
    }
}
