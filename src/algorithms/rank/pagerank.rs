//! PageRank of any link graph.

use rayon::prelude::*;

use crate::graph::PageGraph;
use crate::watch::{Interrupted, Watch};

/// The damping factor.
const DAMPING: f64 = 0.85;
/// Iteration stops when no score changes by more than this, relatively. The remaining error is at
/// most 0.85 / 0.15 times that, far below the 1e-9 within which scores are tied.
const TOLERANCE: f64 = 1e-13;
/// A guard that is never reached: the error shrinks by 0.85 per iteration.
const MAX_ITERATIONS: usize = 1000;
/// Sums run over chunks of this size and then over the chunks, so the number of threads has no
/// effect.
const CHUNK: usize = 4096;

/// A graph that [`pagerank`] can score.
pub trait LinkGraph: Sync {
    /// Returns the number of pages.
    fn pages(&self) -> u32;

    /// Returns the number of links of a page.
    fn out_degree(&self, page: u32) -> u32;

    /// Returns the number of entries read by one iteration.
    fn entries(&self) -> u64;

    /// Sums the `spread` of the pages that share a list of targets, one sum for each such list.
    fn sum_shared(&self, _spread: &[f64], _shared: &mut Vec<f64>) {}

    /// Returns the sum over the pages that link to a page: `spread` by page, `shared` by list. Sums
    /// follow the order of the lists, so that they do not depend on threads.
    fn received(&self, page: u32, spread: &[f64], shared: &[f64]) -> f64;
}

/// The pages of a row share its targets.
impl LinkGraph for PageGraph {
    fn pages(&self) -> u32 {
        self.pages()
    }

    fn out_degree(&self, page: u32) -> u32 {
        self.out_degree[page as usize]
    }

    fn entries(&self) -> u64 {
        self.entries()
    }

    fn sum_shared(&self, spread: &[f64], by_row: &mut Vec<f64>) {
        by_row.resize(self.members.len(), 0.0);
        by_row
            .par_iter_mut()
            .zip(0..u32::MAX)
            .for_each(|(sum, row)| *sum = sum_of(self.members.list(row), spread));
    }

    fn received(&self, page: u32, spread: &[f64], by_row: &[f64]) -> f64 {
        sum_of(self.intra_in.list(page), spread) + sum_of(self.citers.list(page), by_row)
    }
}

/// Returns the sum of the values of a list, in its order.
pub(crate) fn sum_of(list: &[u32], values: &[f64]) -> f64 {
    list.iter().map(|&entry| values[entry as usize]).sum()
}

/// Returns the PageRank of each page (they add up to 1) and the page visits.
///
/// `x = 0.85 (A x + dangling / n) + 0.15 / n`, where `A` spreads a page's score evenly over its
/// targets and `dangling` is the score of pages without links (Brin and Page 1998; uniform
/// teleport, and dangling pages link to all). Power iteration from the uniform vector. The scores
/// of the pages of a row are summed once per row, which changes only the rounding. The result is
/// the same to the bit on any number of threads.
///
/// Cost: up to around 200 passes over pages and lists. Memory: 16 bytes per page, 8 per row.
pub fn pagerank(graph: &impl LinkGraph, watch: &dyn Watch) -> Result<(Vec<f64>, u64), Interrupted> {
    let pages = graph.pages();
    let count = f64::from(pages);
    let mut scores = vec![1.0 / count; pages as usize];
    let mut spread = vec![0.0; pages as usize];
    let mut shared = Vec::new();
    let mut visits = 0;
    for _ in 0..MAX_ITERATIONS {
        watch.proceed()?;
        // Pages with links spread their scores; the others are dangling.
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
        let teleport = ((1.0 - DAMPING) + DAMPING * dangling) / count;
        graph.sum_shared(&spread, &mut shared);
        let change = scores
            .par_iter_mut()
            .zip(0..pages)
            .map(|(score, page)| {
                let received = graph.received(page, &spread, &shared);
                let old = std::mem::replace(score, DAMPING.mul_add(received, teleport));
                (*score - old).abs() / *score
            })
            .reduce(|| 0.0, f64::max);
        visits += u64::from(pages) + graph.entries();
        if change <= TOLERANCE {
            break;
        }
    }
    Ok((scores, visits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Csr;
    use crate::watch::Unwatched;

    fn csr(lists: &[&[u32]]) -> Csr {
        let mut csr = Csr::default();
        for list in lists {
            csr.push(list.iter().copied());
        }
        csr
    }

    fn scores(intra_in: &[&[u32]], members: &[&[u32]], targets: &[&[u32]]) -> Vec<f64> {
        let graph = PageGraph::new(csr(intra_in), csr(members), &csr(targets)).unwrap();
        pagerank(&graph, &Unwatched).unwrap().0
    }

    fn close(found: &[f64], wanted: &[f64]) {
        assert_eq!(found.len(), wanted.len());
        for (a, b) in found.iter().zip(wanted) {
            assert!((a - b).abs() < 1e-12, "{found:?} is not {wanted:?}");
        }
    }

    #[test]
    fn rings_are_uniform_whatever_links_make_them() {
        close(&scores(&[&[2], &[0], &[1]], &[], &[]), &[1.0 / 3.0; 3]);
        let none: &[u32] = &[];
        let rows: [&[u32]; 3] = [&[0], &[1], &[2]];
        close(
            &scores(&[none; 3], &rows, &[&[1], &[2], &[0]]),
            &[1.0 / 3.0; 3],
        );
        close(&scores(&[none; 4], &[], &[]), &[0.25; 4]);
        assert!(scores(&[], &[], &[]).is_empty());
    }

    #[test]
    fn a_star_is_the_same_by_rows_and_by_links() {
        // Leaves l, dangling centre c, n = 4: l = (0.15 + 0.85 c) / 4, c = l + 0.85 * 3 l, 3 l + c = 1.
        let leaf = 1.0 / 6.55;
        let wanted = [3.55 * leaf, leaf, leaf, leaf];
        let none: &[u32] = &[];
        close(&scores(&[&[1, 2, 3], none, none, none], &[], &[]), &wanted);
        close(&scores(&[none; 4], &[&[1, 2, 3]], &[&[0]]), &wanted);
        close(
            &scores(&[&[2], none, none, none], &[&[1, 3]], &[&[0]]),
            &wanted,
        );
    }

    #[test]
    fn numbers_beyond_the_pages_are_refused() {
        assert!(PageGraph::new(csr(&[&[1]]), csr(&[]), &csr(&[])).is_err());
        assert!(PageGraph::new(csr(&[&[0]]), csr(&[&[0]]), &csr(&[])).is_err());
    }
}
