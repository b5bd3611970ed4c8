//! The order of a list for crawls with a part of the budget, over several processes.

use std::cmp::Reverse;

use rayon::prelude::*;

use super::crawl::{Crawl, Crawler};
use super::graph::WebGraph;
use super::share::WebShare;
use super::share::first_pages::{Part, first_pages};
use crate::watch::{Interrupted, Watch};

/// The pages of this process in a crawl joined from two.
struct Joined {
    /// The pages of each depth, ascending.
    levels: Vec<Vec<u32>>,
    /// The number of depths that are fetched completely.
    complete: usize,
    /// The number of pages that all processes fetch at the next depth.
    of_next: u64,
    /// The number of pages in all processes at each depth.
    sizes: Vec<u64>,
    visits: u64,
}

/// Returns the order of a list as [`order_by_crawls`](super::list_order::order_by_crawls) does. `budget_of`
/// returns the share of the budget for a number of seeds; `tried` seeds are tried at each position.
///
/// Crawls are joined without a budget. One round then gives the number of pages at each depth in all processes, and a few
/// more select the pages that are fetched at the depth that exceeds the budget. Memory: that of one process, and once more
/// the crawls that are tried at one position.
pub(super) fn order_in_all(
    graph: &WebGraph,
    share: &WebShare,
    seeds: &[u32],
    budget_of: impl Fn(usize) -> usize,
    tried: usize,
    watch: &dyn Watch,
) -> Result<(Vec<usize>, u64), Interrupted> {
    let mut crawler = Crawler::new(graph);
    let full = budget_of(seeds.len());
    let mut alone = Vec::with_capacity(seeds.len());
    for &seed in seeds {
        watch.proceed()?;
        alone.push(crawler.crawl(&[seed], full)?);
    }
    let [mut visits] = graph.group().total([crawler.visits])?;
    let mut left: Vec<usize> = (0..seeds.len()).collect();
    let mut order = Vec::with_capacity(seeds.len());
    let mut so_far = Crawl::default();
    while !left.is_empty() {
        watch.proceed()?;
        let budget = budget_of(order.len() + 1) as u64;
        let tried: Vec<&Crawl> = left.iter().take(tried).map(|&at| &alone[at]).collect();
        let joined = join(graph, &so_far, &tried, budget)?;
        visits += joined.iter().map(|joined| joined.visits).sum::<u64>();
        let worths = worths(graph, share, &joined)?.into_iter().zip(0..);
        let best = worths.max_by_key(|&(worth, at)| (worth, Reverse(seeds[left[at]])));
        let Some((_, at)) = best else { break };
        let next = left.remove(at);
        for joined in join(graph, &so_far, &[&alone[next]], full as u64)? {
            visits += joined.visits;
            so_far = joined.into_crawl(share)?;
        }
        order.push(next);
    }
    Ok((order, visits))
}

/// Joins a crawl with each of some others, within a budget.
fn join(
    graph: &WebGraph,
    one: &Crawl,
    others: &[&Crawl],
    budget: u64,
) -> Result<Vec<Joined>, Interrupted> {
    let levels: Vec<Vec<(Vec<u32>, u64)>> = others
        .par_iter()
        .map_init(
            || Crawler::new(graph),
            |crawler, other| crawler.join_all(one, other),
        )
        .collect();
    // The number of depths is the same in all processes.
    let counts = levels.iter().flatten();
    let counts = counts.flat_map(|(level, visits)| [level.len() as u64, *visits]);
    let counts = counts.map(|count| i64::try_from(count).unwrap_or(i64::MAX));
    let mut counts = graph
        .group()
        .sums(counts.collect())?
        .into_iter()
        .map(i64::unsigned_abs);
    let joined = levels.into_iter().map(|levels| {
        let mut joined = Joined {
            levels: Vec::with_capacity(levels.len()),
            complete: 0,
            of_next: 0,
            sizes: Vec::with_capacity(levels.len()),
            visits: 0,
        };
        let mut fetched = 0;
        let mut is_over = false;
        for (level, _) in levels {
            let size = counts.next().unwrap_or(0);
            let visits = counts.next().unwrap_or(0);
            if is_over {
                continue;
            }
            joined.visits += visits;
            // After an empty depth, all further depths are empty.
            if size == 0 || fetched >= budget {
                is_over = true;
                continue;
            }
            let left = budget - fetched;
            if size <= left {
                joined.complete += 1;
            } else {
                joined.of_next = left;
            }
            fetched += size.min(left);
            joined.levels.push(level);
            joined.sizes.push(size);
        }
        joined
    });
    Ok(joined.collect())
}

impl Joined {
    /// Returns the pages of this process at the depth that exceeds the budget.
    fn cut(&self) -> Part<'_> {
        Part {
            pages: self.levels.get(self.complete).map_or(&[], Vec::as_slice),
            most: self.of_next,
        }
    }

    fn into_crawl(mut self, share: &WebShare) -> Result<Crawl, Interrupted> {
        let cut = first_pages(share, &[self.cut()])?
            .first()
            .copied()
            .unwrap_or(0);
        if let Some(level) = self.levels.get_mut(self.complete) {
            level.truncate(cut);
        }
        let mut crawl = Crawl::default();
        for (depth, (level, size)) in self.levels.into_iter().zip(self.sizes).enumerate() {
            let is_complete = depth < self.complete;
            crawl.push_all(level, if is_complete { size } else { self.of_next });
        }
        Ok(crawl)
    }
}

/// Returns the sum of the values of the pages that each crawl fetches, in all processes.
fn worths(graph: &WebGraph, share: &WebShare, joined: &[Joined]) -> Result<Vec<i64>, Interrupted> {
    let cuts: Vec<Part<'_>> = joined.iter().map(Joined::cut).collect();
    let cuts = first_pages(share, &cuts)?;
    let own = joined.iter().zip(cuts).map(|(joined, cut)| {
        let complete = joined.levels.iter().take(joined.complete).flatten();
        let of_next = &joined.cut().pages[..cut];
        let pages = complete.chain(of_next);
        pages.map(|&page| graph.values()[page as usize]).sum()
    });
    graph.group().sums(own.collect())
}
