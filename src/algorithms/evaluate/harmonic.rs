//! Harmonic centrality, which measures how near a page is to the pages that have a path to it.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::draw;
use crate::graph::multi_source_bfs::{BATCH_SIZE, BfsPool, BidirectionalLinks};
use crate::graph::{Csr, number};
use crate::watch::{Interrupted, Watch};

/// The default limit of the number of sources; a larger set is sampled.
pub const MAX_SOURCES: usize = 1 << 12;

/// 1 in fixed point. Sums over up to 2^12 sources fit into 64 bits, and sums of integers do not depend on
/// their order.
const ONE: u64 = 1 << 40;

/// The harmonic centralities of all pages.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Harmonic {
    /// By page: the sum, over the sources other than the page, of 1 / distance from the source, in links.
    pub scores: Vec<f64>,
    /// By page: the sum of the squares of what `scores` sums.
    squares: Vec<f64>,
    /// The number of pages with links.
    linking: usize,
    /// The number of sources.
    pub sources: usize,
    /// Whether all pages with links are sources, so that the scores are exact up to 1e-9.
    pub exact: bool,
}

impl Harmonic {
    /// Returns those of some pages, in this order.
    #[must_use]
    pub fn of_pages(&self, pages: &[u32]) -> Self {
        let of = |all: &[f64]| pages.iter().map(|&page| all[page as usize]).collect();
        Self {
            scores: of(&self.scores),
            squares: of(&self.squares),
            ..*self
        }
    }

    /// Estimates the sum over all pages with links from the sample of sources, with its standard error, which is 0
    /// if the score is exact. A page to which no source has a path gets 0 with the error 0.
    #[must_use]
    pub fn estimate(&self, page: usize) -> (f64, f64) {
        let sum = self.scores[page];
        if self.exact {
            return (sum, 0.0);
        }
        let (sources, linking) = (self.sources as f64, self.linking as f64);
        // Sampled without replacement, so the error vanishes if all are drawn.
        let deviations = (self.squares[page] - sum * sum / sources).max(0.0);
        let variance = deviations / (sources - 1.0).max(1.0);
        let error = linking * (variance / sources * (1.0 - sources / linking)).sqrt();
        (sum * linking / sources, error)
    }
}

/// Computes the harmonic centrality of every page (Boldi and Vigna, Axioms for Centrality, 2014): the sum of
/// `1 / d(y, x)` over all other pages `y`, where `d` is the distance in links along their direction, and 1 /
/// infinity is 0.
///
/// Deviation: if more than `most` pages have links, the sources are `most` of them, drawn without
/// replacement (Eppstein and Wang, Fast Approximation of Centrality, 2004); [`Harmonic::estimate`] has the sum over
/// all pages and its error. Cost: searches from 256 sources at a time (`graph::multi_source_bfs`). Memory: 33
/// bytes per page, and 96 for each thread.
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
    // Sums of shares and of their squares.
    let mut sums: Vec<[AtomicU64; 2]> = Vec::new();
    sums.resize_with(pages, Default::default);
    let links = BidirectionalLinks(successors, predecessors);
    let all = vec![true; pages];
    let pool = BfsPool::new(number(pages));
    for parts in sources.chunks(BATCH_SIZE * pool.concurrency()) {
        parts.par_chunks(BATCH_SIZE).try_for_each(|part| {
            watch.proceed()?;
            pool.with(|lanes| {
                lanes.run(&links, &all, part, u32::MAX, |distance, page, searches| {
                    if let Some(share) = ONE.checked_div(distance.into()) {
                        let searches = u64::from(searches.len());
                        let [shares, squares] = &sums[page as usize];
                        shares.fetch_add(searches * share, Ordering::Relaxed);
                        let square = searches * (share / u64::from(distance));
                        squares.fetch_add(square, Ordering::Relaxed);
                    }
                })
            });
            Ok(())
        })?;
    }
    let number_of = |sum: AtomicU64| sum.into_inner() as f64 / ONE as f64;
    let sums = sums.into_iter().map(|sums| sums.map(number_of));
    let (scores, squares) = sums.map(<(f64, f64)>::from).unzip();
    Ok(Harmonic {
        scores,
        squares,
        linking: linking.len(),
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
        let found = harmonic(&path, &path.transpose(4), MAX_SOURCES, 0, &Unwatched).unwrap();
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
        let all = harmonic(&star, &back, MAX_SOURCES, 0, &Unwatched).unwrap();
        assert!((all.scores[0] - 99.0).abs() < 1e-9);
        assert!(all.scores[1..].iter().all(|&score| score == 0.0));
        let some = harmonic(&star, &back, 10, 0, &Unwatched).unwrap();
        assert!((some.scores[0] - 10.0).abs() < 1e-9 && !some.exact);
        // All leaves are at the same distance, so the estimate is exact.
        let (estimate, error) = some.estimate(0);
        assert!((estimate - 99.0).abs() < 1e-9 && error < 1e-6);
        assert_eq!(all.estimate(0), (all.scores[0], 0.0));
    }

    /// A chain of 400 pages: the estimates of many samples scatter as their errors say.
    #[test]
    fn standard_errors_are_those_of_many_samples() {
        let lists: Vec<Vec<u32>> = (0..400_u32)
            .map(|at| if at < 399 { vec![at + 1] } else { Vec::new() })
            .collect();
        let slices: Vec<&[u32]> = lists.iter().map(Vec::as_slice).collect();
        let chain = csr(&slices);
        let back = chain.transpose(400);
        let exact = harmonic(&chain, &back, MAX_SOURCES, 0, &Unwatched).unwrap();
        let samples: Vec<(f64, f64)> = (0..1_000)
            .map(|seed| {
                harmonic(&chain, &back, 100, seed, &Unwatched)
                    .unwrap()
                    .estimate(399)
            })
            .collect();
        let count = samples.len() as f64;
        let mean = samples.iter().map(|sample| sample.0).sum::<f64>() / count;
        let scatter = samples
            .iter()
            .map(|sample| (sample.0 - exact.scores[399]).powi(2));
        let scatter = (scatter.sum::<f64>() / count).sqrt();
        let error = (samples.iter().map(|sample| sample.1.powi(2)).sum::<f64>() / count).sqrt();
        assert!((mean / exact.scores[399] - 1.0).abs() < 0.05, "{mean}");
        assert!((error / scatter - 1.0).abs() < 0.25, "{error} {scatter}");
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
            let found = harmonic(&graph, &graph.transpose(90), MAX_SOURCES, 0, &Unwatched).unwrap();
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
