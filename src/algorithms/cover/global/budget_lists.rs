//! The lists of one plan for several numbers of seeds and budgets at once.
//!
//! The picks of a setting do not depend on the budget, and those for fewer seeds are the first of those for
//! more. So one pass, and one selection per setting of the grid, serve all.

use super::crawl::Crawler;
use super::graph::WebGraph;
use super::grid_search::for_each_setting;
use super::params::WebChoice;
use super::search_pool::SearchPool;
use super::{list_order, run_pass};
use crate::watch::{Interrupted, Watch};

/// The ordered lists of a greedy plan for each pair of a number of seeds and a budget. Each equals the
/// result of [`select`](super::select) for `choice` with that pair.
pub fn budget_lists(
    graph: &WebGraph,
    choice: &WebChoice,
    pairs: &[(u32, u64)],
    watch: &dyn Watch,
) -> Result<Vec<Vec<u32>>, Interrupted> {
    let seeds = pairs.iter().map(|pair| pair.0).max().unwrap_or(0);
    let choice = WebChoice { seeds, ..*choice };
    let pool = SearchPool::new(graph.pages());
    let reaches = run_pass(graph, &choice, &pool, watch)?;
    let mut crawler = Crawler::new(graph);
    let mut best: Vec<Option<(i64, Vec<u32>)>> = vec![None; pairs.len()];
    for_each_setting(graph, &choice, &reaches, &pool, watch, |_, _, cover| {
        for (best, &(seeds, budget)) in best.iter_mut().zip(pairs) {
            let picks = cover.picks.iter().take(seeds as usize);
            let list: Vec<u32> = picks.map(|pick| pick.seed.page).collect();
            let crawl = crawler.crawl(&list, usize::try_from(budget).unwrap_or(usize::MAX));
            let worth = crawl.worth(graph);
            if best.as_ref().is_none_or(|(most, _)| worth > *most) {
                *best = Some((worth, list));
            }
        }
    })?;
    let mut lists = Vec::with_capacity(pairs.len());
    for (best, &(_, budget)) in best.into_iter().zip(pairs) {
        let (_, list) = best.unwrap_or_default();
        let (order, _) =
            list_order::order_by_crawls(graph, &list, budget, choice.tune_visits, watch)?;
        lists.push(order.into_iter().map(|at| list[at]).collect());
    }
    Ok(lists)
}
