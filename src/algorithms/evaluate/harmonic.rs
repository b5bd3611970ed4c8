//! Harmonic centrality: how near a page is to all that can be walked from to it.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::draw;
use crate::graph::multi_source_bfs::{BfsPool, BidirectionalLinks, MAX_SOURCES};
use crate::graph::{Csr, number};
use crate::watch::{Interrupted, Watch};

/// The most pages that distances are measured from. Where more pages have links, so many of them are
/// drawn.
pub const MOST_SOURCES: usize = 1 << 12;

/// One in fixed point: distances below 2^20 and up to 2^12 sources keep their sums in 64 bits, and
/// sums of whole numbers do not depend on their order.
const ONE: u64 = 1 << 40;

/// Where harmonic centralities were measured from.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Harmonic {
    /// The centrality of each page: the sum over the sources of 1 / distance to the page, in links.
    /// A page is no source of its own.
    pub scores: Vec<f64>,
    /// The pages that distances were measured from.
    pub sources: usize,
    /// Whether these are all pages with links, so that the scores are exact up to 1e-9.
    pub exact: bool,
}

/// The harmonic centrality of every page (Boldi and Vigna, Axioms for Centrality, 2014): the sum of
/// `1 / d(y, x)` over all other pages `y`, where `d` counts links along their direction and 1 /
/// infinity is 0.
///
/// Deviation: where more than `most` pages have links, distances are measured from that many of
/// them, drawn without replacement, which estimates the sum up to a factor that is the same for all
/// pages. Cost: searches from 256 sources at a time (`graph::multi_source_bfs`). Memory: 9 bytes per page, and 96
/// for each thread.
pub fn harmonic(
    successors: &Csr,
    predecessors: &Csr,
    most: usize,
    rng_seed: u64,
    watch: &dyn Watch,
) -> Result<Harmonic, Interrupted> {
    let pages = successors.len();
    let linking: Vec<u32> = (0..number(pages))
        .filter(|&page| !successors.list(page).is_empty())
        .collect();
    let drawn = draw("harmonic", rng_seed, 0, number(linking.len()), most);
    let sources: Vec<u32> = drawn.iter().map(|&at| linking[at as usize]).collect();
    let mut sums: Vec<AtomicU64> = Vec::new();
    sums.resize_with(pages, AtomicU64::default);
    let links = BidirectionalLinks(successors, predecessors);
    let all = vec![true; pages];
    let pool = BfsPool::new(number(pages));
    for parts in sources.chunks(MAX_SOURCES * pool.concurrency()) {
        parts.par_chunks(MAX_SOURCES).try_for_each(|part| {
            watch.proceed()?;
            pool.with(|lanes| {
                lanes.run(&links, &all, part, u32::MAX, |distance, page, searches| {
                    if let Some(share) = ONE.checked_div(distance.into()) {
                        let share = u64::from(searches.len()) * share;
                        sums[page as usize].fetch_add(share, Ordering::Relaxed);
                    }
                })
            });
            Ok(())
        })?;
    }
    Ok(Harmonic {
        scores: sums
            .into_iter()
            .map(|sum| sum.into_inner() as f64 / ONE as f64)
            .collect(),
        exact: sources.len() == linking.len(),
        sources: sources.len(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::evaluate::samples::{csr, distances};
    use crate::watch::Unwatched;

    #[test]
    fn a_path_and_a_star_have_their_closed_forms() {
        let path = csr(&[&[1], &[2], &[3], &[]]);
        let found = harmonic(&path, &path.transpose(4), MOST_SOURCES, 0, &Unwatched).unwrap();
        for (score, wanted) in found.scores.iter().zip([0.0, 1.0, 1.5, 11.0 / 6.0]) {
            assert!((score - wanted).abs() < 1e-9, "{score} is not {wanted}");
        }
        assert!(found.exact && found.sources == 3);
        // 99 leaves link to page 0, in two batches of searches.
        let lists: Vec<&[u32]> = (0..100)
            .map(|at| [&[0_u32][1..], &[0]][usize::from(at > 0)])
            .collect();
        let star = csr(&lists);
        let back = star.transpose(100);
        let all = harmonic(&star, &back, MOST_SOURCES, 0, &Unwatched).unwrap();
        assert!((all.scores[0] - 99.0).abs() < 1e-9);
        assert!(all.scores[1..].iter().all(|&score| score == 0.0));
        let some = harmonic(&star, &back, 10, 0, &Unwatched).unwrap();
        assert!((some.scores[0] - 10.0).abs() < 1e-9 && !some.exact);
    }

    proptest! {
        #[test]
        fn it_is_the_sum_over_searches_from_every_page(
            links in proptest::collection::vec(proptest::collection::btree_set(0_u32..90, 0..4), 90),
        ) {
            let mut graph = Csr::default();
            for (page, targets) in (0..).zip(&links) {
                graph.push(targets.iter().copied().filter(|&to| to != page));
            }
            let found = harmonic(&graph, &graph.transpose(90), MOST_SOURCES, 0, &Unwatched).unwrap();
            let mut wanted = vec![0.0; 90];
            for from in 0..90 {
                for (page, distance) in distances(&graph, from).into_iter().enumerate() {
                    if let Some(distance @ 1..) = distance {
                        wanted[page] += 1.0 / f64::from(distance);
                    }
                }
            }
            for (score, wanted) in found.scores.iter().zip(&wanted) {
                prop_assert!((score - wanted).abs() < 1e-8);
            }
        }
    }
}
