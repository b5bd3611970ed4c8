//! The lists of one plan for several numbers of seeds and budgets at once.
//!
//! The picks of a setting do not depend on the budget, and with fewer seeds they are the first of
//! those with more. So one pass and one selection for each setting of the grid serve all.

use super::bfs_ball::SearchPool;
use super::crawl::Crawler;
use super::graph::WebGraph;
use super::params::WebChoice;
use super::grid_search::each_setting;
use super::{list_order, passed};
use crate::watch::{Interrupted, Watch};

/// The seeds of a greedy plan in the order of its list, for each of these numbers of seeds and budgets:
/// those that [`select`](super::select) gives for `choice` with them.
pub fn budget_lists(
    graph: &WebGraph,
    choice: &WebChoice,
    asked: &[(u32, u64)],
    watch: &dyn Watch,
) -> Result<Vec<Vec<u32>>, Interrupted> {
    let seeds = asked.iter().map(|asked| asked.0).max().unwrap_or(0);
    let choice = WebChoice { seeds, ..*choice };
    let balls = SearchPool::new(graph.pages());
    let reaches = passed(graph, &choice, &balls, watch)?;
    let mut crawler = Crawler::new(graph);
    let mut best: Vec<Option<(i64, Vec<u32>)>> = vec![None; asked.len()];
    each_setting(graph, &choice, &reaches, &balls, watch, |_, _, cover| {
        for (best, &(seeds, budget)) in best.iter_mut().zip(asked) {
            let picks = cover.picks.iter().take(seeds as usize);
            let list: Vec<u32> = picks.map(|pick| pick.seed.page).collect();
            let crawl = crawler.crawl(&list, usize::try_from(budget).unwrap_or(usize::MAX));
            let worth = crawl.worth(graph);
            if best.as_ref().is_none_or(|(most, _)| worth > *most) {
                *best = Some((worth, list));
            }
        }
    })?;
    let mut lists = Vec::with_capacity(asked.len());
    for (best, &(_, budget)) in best.into_iter().zip(asked) {
        let (_, list) = best.unwrap_or_default();
        let (order, _) = list_order::order_by_crawls(graph, &list, budget, choice.tune_visits, watch)?;
        lists.push(order.into_iter().map(|at| list[at]).collect());
    }
    Ok(lists)
}
