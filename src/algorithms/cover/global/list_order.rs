//! Orders a list for crawls with a part of the budget.
//!
//! With K seeds and a budget of N pages, the first i seeds have a share of `N i / K` pages. Position i goes
//! to the seed that, together with the seeds before it, gives the crawl of that share with the most value;
//! ties go to the smallest URL.

use rayon::prelude::*;

use super::crawl::{Crawl, Crawler};
use super::graph::WebGraph;
use super::share_order::order_in_all;
use crate::watch::{Interrupted, Watch};

/// Returns the order as indexes of `seeds`, and the page visits.
///
/// If trying every seed at every position takes more than `most` visits, each position goes to one of the
/// first seeds left, as many as `most` allows. Cost: one crawl of N pages per seed, then at most
/// `K^2 N / 2` page visits without links. Memory: 4 bytes for each page of those crawls.
pub(super) fn order_by_crawls(
    graph: &WebGraph,
    seeds: &[u32],
    budget: u64,
    most: u64,
    watch: &dyn Watch,
) -> Result<(Vec<usize>, u64), Interrupted> {
    let count = seeds.len();
    // A crawl fetches at most all pages, and at least its seeds.
    let budget = budget.min(graph.pages_in_all()).max(count as u64);
    let share = |seeds: usize| {
        let share = u128::from(budget) * seeds as u128 / count.max(1) as u128;
        usize::try_from(share).unwrap_or(usize::MAX).max(seeds)
    };
    let full_share = share(count);
    if let Some(of_process) = graph.share() {
        let tried = seeds_per_position(count, budget, most);
        return order_in_all(graph, of_process, seeds, share, tried, watch);
    }
    let mut visits = 0;
    let alone: Result<Vec<(Crawl, u64)>, Interrupted> = seeds
        .par_iter()
        .map_init(
            || Crawler::new(graph),
            |crawler, &seed| {
                watch.proceed()?;
                let before = crawler.visits;
                let crawl = crawler.crawl(&[seed], full_share)?;
                Ok((crawl, crawler.visits - before))
            },
        )
        .collect();
    let alone = alone?;
    visits += alone.iter().map(|crawl| crawl.1).sum::<u64>();
    let tried = seeds_per_position(count, budget, most);
    // Greedily extend the order, joining the crawls instead of following links again.
    let mut left: Vec<usize> = (0..count).collect();
    let mut order = Vec::with_capacity(count);
    let mut so_far = Crawl::default();
    let mut joiner = Crawler::new(graph);
    while !left.is_empty() {
        let share = share(order.len() + 1);
        let scores: Result<Vec<(i64, u64)>, Interrupted> = left
            .par_iter()
            .take(tried)
            .map_init(
                || Crawler::new(graph),
                |crawler, &at| {
                    watch.proceed()?;
                    let before = crawler.visits;
                    let crawl = crawler.join(&so_far, &alone[at].0, share);
                    Ok((crawl.worth(graph), crawler.visits - before))
                },
            )
            .collect();
        let scores = scores?;
        visits += scores.iter().map(|score| score.1).sum::<u64>();
        let best = scores.iter().map(|score| score.0).zip(0..);
        let best = best.max_by_key(|&(worth, at)| (worth, std::cmp::Reverse(seeds[left[at]])));
        let Some((_, at)) = best else { break };
        let next = left.remove(at);
        so_far = joiner.join(&so_far, &alone[next].0, full_share);
        order.push(next);
    }
    Ok((order, visits + joiner.visits))
}

/// Returns the number of seeds that are tried at each position.
fn seeds_per_position(seeds: usize, budget: u64, most: u64) -> usize {
    // Each trial visits two crawls of the share, which is half the budget on average.
    let each = u128::from(budget) * seeds as u128;
    let fitting = u128::from(most) / each.max(1);
    usize::try_from(fitting)
        .unwrap_or(usize::MAX)
        .clamp(1, seeds.max(1))
}
