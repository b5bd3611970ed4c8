//! PageRank of any link graph.

use rayon::prelude::*;

use crate::graph::PageGraph;
use crate::watch::{Interrupted, Watch};

/// The damping factor.
const DAMPING: f64 = 0.85;
/// Iteration stops when no score changes by more than this, relatively. The remaining error is at
/// most 0.85 / 0.15 times that, far below the 1e-9 within which scores are tied.
const TOLERANCE: f64 = 1e-11;
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

    /// Returns the number of entries that [`received`](Self::received) reads for a page.
    fn entries_into(&self, page: u32) -> u64;

    /// Sums the `spread` of the pages that share a list of targets, one sum for each such list.
    /// Returns the number of entries read.
    fn sum_shared(&self, _spread: &[f64], _shared: &mut Vec<f64>) -> u64 {
        0
    }

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

    fn entries_into(&self, page: u32) -> u64 {
        (self.intra_in.list(page).len() + self.citers.list(page).len()) as u64
    }

    fn sum_shared(&self, spread: &[f64], by_row: &mut Vec<f64>) -> u64 {
        by_row.resize(self.members.len(), 0.0);
        by_row
            .par_iter_mut()
            .zip(0..u32::MAX)
            .for_each(|(sum, row)| *sum = sum_of(self.members.list(row), spread));
        self.members.entries().len() as u64
    }

    fn received(&self, page: u32, spread: &[f64], by_row: &[f64]) -> f64 {
        sum_of(self.intra_in.list(page), spread) + sum_of(self.citers.list(page), by_row)
    }
}

/// Returns the sum of the values of a list: of every fourth entry, and then of these four sums, which a
/// processor adds side by side.
pub(crate) fn sum_of(list: &[u32], values: &[f64]) -> f64 {
    let (fours, rest) = list.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for four in fours {
        for (sum, entry) in sums.iter_mut().zip(four) {
            *sum += values[*entry as usize];
        }
    }
    let rest: f64 = rest.iter().map(|&entry| values[entry as usize]).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// Returns the PageRank of each page (they add up to 1) and the page visits.
///
/// `x = 0.85 (A x + dangling / n) + 0.15 / n`, where `A` spreads a page's score evenly over its
/// targets and `dangling` is the score of pages without links (Brin and Page 1998; uniform
/// teleport, and dangling pages link to all). Power iteration from the uniform vector. The scores
/// of the pages of a row are summed once per row, which changes only the rounding. The result is
/// the same to the bit on any number of threads.
///
/// Of dangling pages only the sum matters to others, which is what other pages leave of 1, so that
/// their scores are computed once, at the end (Lee, Golub and Zenios 2003, *A Fast Two-Stage
/// Algorithm for Computing PageRank*). In a crawl these are most pages: those that are only linked.
///
/// Cost: up to around 160 passes over the pages with links and the lists of links to them. Memory:
/// 16 bytes per page, 8 per row.
pub fn pagerank(graph: &impl LinkGraph, watch: &dyn Watch) -> Result<(Vec<f64>, u64), Interrupted> {
    let pages = graph.pages();
    let count = f64::from(pages);
    let mut scores = vec![1.0 / count; pages as usize];
    let mut spread = vec![0.0; pages as usize];
    let mut shared = Vec::new();
    let mut visits = 0;
    let is_dangling = |page: &u32| graph.out_degree(*page) == 0;
    let linking = (0..pages).filter(|page| !is_dangling(page));
    let entries: u64 = linking.map(|page| graph.entries_into(page)).sum();
    for iteration in 1..=MAX_ITERATIONS {
        watch.proceed()?;
        let (teleport, read) = spread_scores(graph, &scores, &mut spread, &mut shared);
        let new = |page| DAMPING.mul_add(graph.received(page, &spread, &shared), teleport);
        let change = scores
            .par_iter_mut()
            .zip(0..pages)
            .filter(|(_, page)| !is_dangling(page))
            .map(|(score, page)| {
                let old = std::mem::replace(score, new(page));
                (*score - old).abs() / *score
            })
            .reduce(|| 0.0, f64::max);
        visits += u64::from(pages) + read + entries;
        if change <= TOLERANCE || iteration == MAX_ITERATIONS {
            break;
        }
    }
    let (teleport, read) = spread_scores(graph, &scores, &mut spread, &mut shared);
    scores
        .par_iter_mut()
        .zip(0..pages)
        .filter(|(_, page)| is_dangling(page))
        .for_each(|(score, page)| {
            *score = DAMPING.mul_add(graph.received(page, &spread, &shared), teleport);
        });
    let into_dangling = (0..pages).filter(is_dangling);
    let into_dangling: u64 = into_dangling.map(|page| graph.entries_into(page)).sum();
    visits += u64::from(pages) + read + into_dangling;
    Ok((scores, visits))
}

/// Spreads the scores of pages with links over their targets. Returns what every page receives besides, and
/// the number of entries read.
fn spread_scores(
    graph: &impl LinkGraph,
    scores: &[f64],
    spread: &mut [f64],
    shared: &mut Vec<f64>,
) -> (f64, u64) {
    let pages = graph.pages();
    let linking: Vec<f64> = spread
        .par_chunks_mut(CHUNK)
        .zip(scores.par_chunks(CHUNK))
        .zip((0..pages).into_par_iter().step_by(CHUNK))
        .map(|((spread, scores), first)| {
            let mut linking = 0.0;
            for ((page, score), spread) in (first..).zip(scores).zip(spread) {
                let degree = graph.out_degree(page);
                if degree > 0 {
                    linking += score;
                    *spread = score / f64::from(degree);
                }
            }
            linking
        })
        .collect();
    let dangling = (1.0 - linking.iter().sum::<f64>()).max(0.0);
    let teleport = ((1.0 - DAMPING) + DAMPING * dangling) / f64::from(pages);
    (teleport, graph.sum_shared(spread, shared))
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
