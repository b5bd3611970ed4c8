//! PageRank of any link graph.

use std::ops::Range;

use rayon::prelude::*;

use crate::graph::PageGraph;
use crate::watch::{Interrupted, Watch};

/// The damping factor.
const DAMPING: f64 = 0.85;
/// A block is settled if neither its last sweep nor what it received since then changed anything by more than
/// this, relatively.
const SETTLED: f64 = 5e-12;
/// The same, for scores that only order pages.
const ROUGHLY_SETTLED: f64 = 1e-6;
/// Sweeps over a block for each pass: the second reads no other blocks.
const SWEEPS: usize = 2;
/// Passes after which blocks are no longer scaled. Sweeps alone are known to converge.
const SCALED_PASSES: usize = 200;
/// A guard that is never reached: sweeps alone shrink the error by at least 0.85 each.
const MAX_PASSES: usize = 1000;
/// Sums run over chunks of this size and then over the chunks, so the number of threads has no
/// effect.
const CHUNK: usize = 4096;

/// A graph that [`pagerank`] can score.
pub trait LinkGraph: Sync {
    /// Returns the number of pages.
    fn pages(&self) -> u32;

    /// Returns the number of links of a page.
    fn out_degree(&self, page: u32) -> u32;

    /// Returns the pages that link to a page and share no list of targets with others, ascending.
    fn sources(&self, page: u32) -> &[u32];

    /// Returns the lists of shared targets that contain a page.
    fn shared_lists(&self, _page: u32) -> &[u32] {
        &[]
    }

    /// Sums the `spread` of the pages that share a list of targets, one sum for each such list.
    /// Returns the number of entries read.
    fn sum_shared(&self, _spread: &[f64], _shared: &mut Vec<f64>) -> u64 {
        0
    }
}

/// The pages of a row share its targets.
impl LinkGraph for PageGraph {
    fn pages(&self) -> u32 {
        self.pages()
    }

    fn out_degree(&self, page: u32) -> u32 {
        self.out_degree[page as usize]
    }

    fn sources(&self, page: u32) -> &[u32] {
        self.intra_in.list(page)
    }

    fn shared_lists(&self, page: u32) -> &[u32] {
        self.citers.list(page)
    }

    fn sum_shared(&self, spread: &[f64], by_row: &mut Vec<f64>) -> u64 {
        by_row.resize(self.members.len(), 0.0);
        by_row
            .par_iter_mut()
            .zip(0..u32::MAX)
            .for_each(|(sum, row)| *sum = sum_of(self.members.list(row), 0, spread));
        self.members.entries().len() as u64
    }
}

/// Returns the sum of the values of a list, whose first value is that of `first`: of every fourth entry, and
/// then of these four sums, which a processor adds side by side.
fn sum_of(list: &[u32], first: u32, values: &[f64]) -> f64 {
    let value = |entry: &u32| values[(entry - first) as usize];
    let (fours, rest) = list.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for four in fours {
        for (sum, entry) in sums.iter_mut().zip(four) {
            *sum += value(entry);
        }
    }
    let rest: f64 = rest.iter().map(value).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// Returns the PageRank of each page (they add up to 1) and the page visits: the pages and entries of lists read.
///
/// `x = 0.85 (A x + dangling / n) + 0.15 / n`, where `A` spreads a page's score evenly over its
/// targets and `dangling` is the score of pages without links (Brin and Page 1998; uniform
/// teleport, and dangling pages link to all). The result is the same to the bit on any number of threads.
///
/// Solved is `y = 0.85 A y + 1`, whose solution is `x` up to a factor (Gleich, Zhukov and Berkhin 2004, *Fast
/// Parallel PageRank: A Linear System Approach*). Scores of dangling pages are in no other page's sum, so they are
/// computed once, at the end (Lee, Golub and Zenios 2003, *A Fast Two-Stage Algorithm for Computing PageRank*). In a
/// crawl these are most pages: those that are only linked.
///
/// Pages are divided into blocks, ranges that links of [`LinkGraph::sources`] do not leave, such as sites. A pass
/// computes what each block receives from shared lists, then sweeps over its pages by Gauss-Seidel, and
/// multiplies its scores by the factor with which the block gives away as much as it gets (aggregation and
/// disaggregation, Koury, McAllister and Stewart 1984, with blocks independent of each other within a pass).
/// Deviation: a block is left out while it is settled (Kamvar, Haveliwala and Golub 2004, *Adaptive Methods for the
/// Computation of PageRank*, by pages). At the end no equation is off by more than 1e-11 of a page's score, so the
/// errors of all scores add up to less than 1.4e-10.
///
/// Cost: on real crawls as much as 10 to 35 passes over the links within blocks, each block on one thread, and 10 to
/// 160 over the others. Memory: 20 bytes per page, 16 per block, 8 per row.
pub fn pagerank(graph: &impl LinkGraph, watch: &dyn Watch) -> Result<(Vec<f64>, u64), Interrupted> {
    pagerank_within(graph, SETTLED, watch)
}

/// Returns scores as [`pagerank`] does, in about half the passes: no equation is off by more than some ten millionths of a page's
/// score, which suffices to order pages.
pub fn rough_pagerank(
    graph: &impl LinkGraph,
    watch: &dyn Watch,
) -> Result<(Vec<f64>, u64), Interrupted> {
    pagerank_within(graph, ROUGHLY_SETTLED, watch)
}

fn pagerank_within(
    graph: &impl LinkGraph,
    settled: f64,
    watch: &dyn Watch,
) -> Result<(Vec<f64>, u64), Interrupted> {
    let mut system = System::new(graph, settled);
    let mut visits = 0;
    for pass in 0..MAX_PASSES {
        watch.proceed()?;
        let Pass { read, swept } = system.pass(pass < SCALED_PASSES);
        visits += read;
        if !swept {
            break;
        }
    }
    let (scores, read) = system.into_scores();
    Ok((scores, visits + read))
}

/// The equations `y = 0.85 A y + 1` of the pages with links, with scores that come nearer to their solution.
struct System<'a, G> {
    graph: &'a G,
    /// A relative change that is too small to count.
    settled: f64,
    /// By page: its score, divided by the number of its links; 0 for dangling pages.
    spread: Vec<f64>,
    /// By page: 1 and what it received from shared lists before the last sweep over its block.
    received: Vec<f64>,
    /// By page: its links to pages of its block with links.
    kept: Vec<u32>,
    /// By list of shared targets: the sum of the spread of the pages that have it.
    shared: Vec<f64>,
    blocks: Vec<Block>,
    /// Successive blocks of at least [`CHUNK`] pages together, which one thread sweeps over.
    groups: Vec<Range<usize>>,
    /// The entries of shared lists of pages with links, and the number of pages.
    read_by_pass: u64,
}

/// Pages between which and all other pages there are only links by shared lists.
struct Block {
    pages: Range<u32>,
    /// The largest relative change of a score in the last sweep.
    change: f64,
}

/// What a pass did.
struct Pass {
    /// The pages and entries read.
    read: u64,
    /// Whether there was a block that was not settled.
    swept: bool,
}

impl<'a, G: LinkGraph> System<'a, G> {
    fn new(graph: &'a G, settled: f64) -> Self {
        let pages = graph.pages();
        let blocks = blocks(graph);
        let mut groups = Vec::new();
        let (mut first, mut in_group) = (0, 0);
        for (block, end) in blocks.iter().zip(1..) {
            in_group += block.pages.len();
            if in_group >= CHUNK || end == blocks.len() {
                groups.push(first..end);
                (first, in_group) = (end, 0);
            }
        }
        let mut kept = vec![0; pages as usize];
        let mut read_by_pass = u64::from(pages);
        for page in (0..pages).filter(|page| graph.out_degree(*page) > 0) {
            for source in graph.sources(page) {
                kept[*source as usize] += 1;
            }
            read_by_pass += graph.shared_lists(page).len() as u64;
        }
        let spread = (0..pages).map(|page| match graph.out_degree(page) {
            0 => 0.0,
            degree => 1.0 / f64::from(degree),
        });
        Self {
            graph,
            settled,
            spread: spread.collect(),
            received: vec![0.0; pages as usize],
            kept,
            shared: Vec::new(),
            blocks,
            groups,
            read_by_pass,
        }
    }

    /// Sweeps over the blocks that are not settled.
    fn pass(&mut self, scaled: bool) -> Pass {
        let read = self.graph.sum_shared(&self.spread, &mut self.shared) + self.read_by_pass;
        let mut tasks = Vec::with_capacity(self.groups.len());
        let (mut spread, mut received) = (&mut *self.spread, &mut *self.received);
        let mut blocks = &mut *self.blocks;
        for group in &self.groups {
            let (of_group, others) = blocks.split_at_mut(group.len());
            let pages = of_group.iter().map(|block| block.pages.len()).sum();
            let (group_spread, other_spread) = spread.split_at_mut(pages);
            let (group_received, other_received) = received.split_at_mut(pages);
            tasks.push((of_group, group_spread, group_received));
            (blocks, spread, received) = (others, other_spread, other_received);
        }
        let sweep = Sweep {
            graph: self.graph,
            shared: &self.shared,
            kept: &self.kept,
            settled: self.settled,
            scaled,
        };
        let swept = tasks
            .into_par_iter()
            .map(|(blocks, spread, received)| sweep.group(blocks, spread, received));
        let nothing = || Pass {
            read: 0,
            swept: false,
        };
        let both = |a: Pass, b: Pass| Pass {
            read: a.read + b.read,
            swept: a.swept || b.swept,
        };
        let pass = swept.reduce(nothing, both);
        Pass {
            read: read + pass.read,
            ..pass
        }
    }

    /// Returns the scores of all pages, which add up to 1, and the pages and entries read.
    fn into_scores(mut self) -> (Vec<f64>, u64) {
        let graph = self.graph;
        let mut read = graph.sum_shared(&self.spread, &mut self.shared);
        (self.received, self.kept) = (Vec::new(), Vec::new());
        let pages = graph.pages();
        let score = |page| {
            let from_links = sum_of(graph.sources(page), 0, &self.spread);
            DAMPING.mul_add(
                from_links + sum_of(graph.shared_lists(page), 0, &self.shared),
                1.0,
            )
        };
        let mut scores: Vec<f64> = (0..pages).into_par_iter().map(score).collect();
        let sums: Vec<f64> = scores
            .par_chunks(CHUNK)
            .map(|chunk| chunk.iter().sum())
            .collect();
        let sum: f64 = sums.iter().sum();
        scores.par_iter_mut().for_each(|score| *score /= sum);
        read += (0..pages)
            .map(|page| 1 + (graph.sources(page).len() + graph.shared_lists(page).len()) as u64)
            .sum::<u64>();
        (scores, read)
    }
}

/// One sweep over the blocks of a group.
struct Sweep<'a, G> {
    graph: &'a G,
    shared: &'a [f64],
    kept: &'a [u32],
    settled: f64,
    /// Whether blocks are scaled after it.
    scaled: bool,
}

impl<G: LinkGraph> Sweep<'_, G> {
    /// Sweeps over the blocks of a group that are not settled. The other slices have an entry for each of its
    /// pages.
    fn group(&self, blocks: &mut [Block], spread: &mut [f64], received: &mut [f64]) -> Pass {
        let mut pass = Pass {
            read: 0,
            swept: false,
        };
        let Some(first) = blocks.first().map(|block| block.pages.start) else {
            return pass;
        };
        let mut new = Vec::new();
        for block in blocks {
            let range = (block.pages.start - first) as usize..(block.pages.end - first) as usize;
            let (spread, received) = (&mut spread[range.clone()], &mut received[range]);
            new.clear();
            let mut moved = 0.0_f64;
            for (page, old) in block.pages.clone().zip(&*received) {
                if self.graph.out_degree(page) == 0 {
                    new.push(0.0);
                    continue;
                }
                let lists = self.graph.shared_lists(page);
                let now = DAMPING.mul_add(sum_of(lists, 0, self.shared), 1.0);
                moved = moved.max((now - old).abs() / now);
                new.push(now);
            }
            if moved <= self.settled && block.change <= self.settled {
                continue;
            }
            pass.swept = true;
            received.copy_from_slice(&new);
            for _ in 0..SWEEPS {
                let (change, read) = self.sweep(&block.pages, spread, received);
                block.change = change;
                pass.read += read;
                if change <= self.settled {
                    break;
                }
                if self.scaled {
                    self.scale(&block.pages, spread, received);
                }
            }
        }
        pass
    }

    /// Computes the scores of a block from those before it in the block, which are new, and those after it.
    /// Returns the largest relative change and the entries read.
    fn sweep(&self, pages: &Range<u32>, spread: &mut [f64], received: &[f64]) -> (f64, u64) {
        let (mut change, mut read) = (0.0_f64, 0);
        for (at, page) in pages.clone().enumerate() {
            let degree = f64::from(self.graph.out_degree(page));
            if degree > 0.0 {
                let sources = self.graph.sources(page);
                read += sources.len() as u64;
                let score = DAMPING.mul_add(sum_of(sources, pages.start, spread), received[at]);
                let old = std::mem::replace(&mut spread[at], score / degree);
                change = change.max((score - old * degree).abs() / score);
            }
        }
        (change, read)
    }

    /// Multiplies the scores of a block by the factor with which what it gives away and keeps is what it gets.
    fn scale(&self, pages: &Range<u32>, spread: &mut [f64], received: &[f64]) {
        let given = pages.clone().zip(&*spread).map(|(page, spread)| {
            let kept = DAMPING * f64::from(self.kept[page as usize]);
            spread * (f64::from(self.graph.out_degree(page)) - kept)
        });
        let (given, got): (f64, f64) = (given.sum(), received.iter().sum());
        if given > 0.0 {
            let factor = got / given;
            for spread in spread {
                *spread *= factor;
            }
        }
    }
}

/// Returns the smallest ranges of pages that links of [`LinkGraph::sources`] between pages with links do not leave.
fn blocks(graph: &impl LinkGraph) -> Vec<Block> {
    let pages = graph.pages();
    let mut starts: Vec<u32> = Vec::new();
    // The end of the pages that links of earlier pages join with them.
    let mut joined = 0;
    for page in 0..pages {
        if page >= joined {
            starts.push(page);
        }
        if graph.out_degree(page) == 0 {
            continue;
        }
        if let [first, ..] = graph.sources(page) {
            while starts.last().is_some_and(|start| start > first) {
                starts.pop();
            }
        }
        if let [.., last] = graph.sources(page) {
            joined = joined.max(last + 1);
        }
    }
    let ends = starts.iter().skip(1).copied().chain([pages]);
    let ranges = starts.iter().zip(ends).map(|(start, end)| *start..end);
    ranges
        .map(|pages| Block {
            pages,
            change: f64::INFINITY,
        })
        .collect()
}

#[cfg(test)]
#[path = "pagerank_tests.rs"]
mod tests;
