//! PageRank on a site's own graph.

use rayon::prelude::*;

use super::graph::SiteGraph;
use crate::watch::{Interrupted, Watch};

/// The damping factor.
const DAMPING: f64 = 0.85;
/// Stop when no page's score moved by more than this, relative to itself. The error that remains is
/// at most 0.85 / 0.15 times that, far inside the 1e-9 within which scores are tied.
const TOLERANCE: f64 = 1e-13;
/// Only a guard: the error shrinks by 0.85 each time, so this many iterations are never needed.
const MAX_ITERATIONS: usize = 1000;
/// Sums run over chunks of this size and then over the chunks, so the number of threads has no
/// effect.
const CHUNK: usize = 4096;

/// The PageRank of each page (they add up to 1) and the page visits it took.
///
/// `x = 0.85 (A x + dangling / n) + 0.15 / n`, where `A` spreads a page's score evenly over its
/// successors and `dangling` is the score of pages without successors (Brin and Page 1998; uniform
/// teleport, and dangling pages link to all). Power iteration from the uniform vector; each score
/// is summed over the predecessors in URL order, so the result is the same on any number of
/// threads. Cost: around 200 passes over the links; memory: 24 bytes a page.
pub(super) fn pagerank(
    graph: &SiteGraph,
    watch: &dyn Watch,
) -> Result<(Vec<f64>, u64), Interrupted> {
    let pages = graph.pages();
    let count = f64::from(pages);
    let mut scores = vec![1.0 / count; pages as usize];
    let mut spread = vec![0.0; pages as usize];
    let mut visits = 0;
    for _ in 0..MAX_ITERATIONS {
        watch.proceed()?;
        let dangling: Vec<f64> = spread
            .par_chunks_mut(CHUNK)
            .zip(scores.par_chunks(CHUNK))
            .zip((0..pages).into_par_iter().step_by(CHUNK))
            .map(|((spread, scores), first)| {
                let mut dangling = 0.0;
                for ((page, score), spread) in (first..).zip(scores).zip(spread) {
                    match graph.out_degree(page) {
                        0 => dangling += score,
                        degree => *spread = score / f64::from(degree),
                    }
                }
                dangling
            })
            .collect();
        let dangling: f64 = dangling.iter().sum();
        let everywhere = ((1.0 - DAMPING) + DAMPING * dangling) / count;
        let moved = scores
            .par_iter_mut()
            .zip(0..pages)
            .map(|(score, page)| {
                let sources = graph.predecessors(page).iter();
                let received: f64 = sources.map(|&source| spread[source as usize]).sum();
                let old = std::mem::replace(score, DAMPING.mul_add(received, everywhere));
                (*score - old).abs() / *score
            })
            .reduce(|| 0.0, f64::max);
        visits += u64::from(pages) + graph.links() as u64;
        if moved <= TOLERANCE {
            break;
        }
    }
    Ok((scores, visits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Unwatched;

    fn scores(pages: usize, links: &[(u32, u32)]) -> Vec<f64> {
        let graph = SiteGraph::new(vec![1; pages], links.iter().copied()).unwrap();
        pagerank(&graph, &Unwatched).unwrap().0
    }

    fn close(found: &[f64], wanted: &[f64]) {
        for (a, b) in found.iter().zip(wanted) {
            assert!((a - b).abs() < 1e-12, "{found:?} is not {wanted:?}");
        }
    }

    #[test]
    fn a_ring_and_a_site_without_links_are_uniform() {
        close(&scores(3, &[(0, 1), (1, 2), (2, 0)]), &[1.0 / 3.0; 3]);
        close(&scores(4, &[]), &[0.25; 4]);
    }

    #[test]
    fn a_star_with_a_dangling_centre() {
        // Leaves l, centre c, n = 4: l = (0.15 + 0.85 c) / 4, c = l + 0.85 * 3 l, 3 l + c = 1.
        let leaf = 1.0 / 6.55;
        let centre = 3.55 * leaf;
        close(
            &scores(4, &[(1, 0), (2, 0), (3, 0)]),
            &[centre, leaf, leaf, leaf],
        );
    }
}
