//! The lists of one plan for several numbers of seeds and budgets at once.
//!
//! The picks of a setting do not depend on the budget, and those for fewer seeds are the first of those for
//! more. So one grid search serves all.

use super::graph::WebGraph;
use super::grid_search::{Tuning, grid_search};
use super::params::WebChoice;
use super::search_pool::SearchPool;
use super::select;
use crate::watch::{Interrupted, Watch};

/// The lists of a greedy plan for each pair of a number of seeds and a budget. Each has the seeds that
/// [`select`] gives for `choice` with that pair, unless visits run out.
///
/// Cost: that of one grid search, and of a selection for each pair.
pub fn budget_lists(
    graph: &WebGraph,
    choice: &WebChoice,
    pairs: &[(u32, u64)],
    watch: &dyn Watch,
) -> Result<Vec<Vec<u32>>, Interrupted> {
    let tuned = match choice.setting() {
        Some(_) => Vec::new(),
        None => grid_search(graph, choice, pairs, &SearchPool::new(graph), watch)?,
    };
    let mut lists = Vec::with_capacity(pairs.len());
    for (at, &(seeds, budget)) in pairs.iter().enumerate() {
        let best = tuned.get(at).and_then(Tuning::best);
        let setting = best.map(|best| best.setting).or(choice.setting());
        let setting = setting.unwrap_or_default();
        let mut graph = graph.clone();
        graph.add_to_known(choice.added_to_known(setting));
        let choice = WebChoice {
            seeds,
            budget: Some(budget),
            hops: Some(setting.hops),
            fetch_cost: Some(setting.fetch_cost),
            value_known: Some(setting.value_known),
            max_per_site: setting.max_per_site,
            tunes_max_per_site: false,
            ..*choice
        };
        let selected = select(&mut graph, &choice, &[], watch)?;
        let picks = selected.cover.picks.iter();
        lists.push(picks.map(|pick| pick.seed.page).collect());
    }
    Ok(lists)
}
