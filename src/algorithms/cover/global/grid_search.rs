//! Chooses hops and fetch cost for a budget: makes the lists of a small grid of settings, and compares the
//! value of simulated crawls from them.

use super::crawl::Crawler;
use super::graph::WebGraph;
use super::greedy::{GreedyOptions, greedy};
use super::params::{Setting, WebChoice};
use super::picks::WebCover;
use super::reach::{Reach, ReachByHops};
use super::search_pool::SearchPool;
use crate::watch::{Interrupted, Watch};

/// The result of one setting of the grid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trial {
    /// The setting.
    pub setting: Setting,
    /// The number of seeds of its list.
    pub seeds: usize,
    /// The number of pages that a crawl from the list fetches: the budget, or all pages that the list
    /// reaches if these are fewer.
    pub fetched: u64,
    /// The sum of the values of these pages, in millionths.
    pub gathered: i64,
    /// The page visits of the pass with this number of hops, which serves all fetch costs.
    pub pass_visits: u64,
    /// The page visits of its picks, without the pass.
    pub page_visits: u64,
}

/// The result of a grid search.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tuning {
    /// One for each setting, in ascending order of hops and then fetch cost.
    pub trials: Vec<Trial>,
    /// Numbers of hops that were skipped because a pass takes too many visits.
    pub left_out: Vec<u32>,
    /// The page visits of all trials, without the pass.
    pub page_visits: u64,
}

impl Tuning {
    /// The first trial with the greatest value; `None` if there are no trials.
    #[must_use]
    pub fn best(&self) -> Option<&Trial> {
        let mut best: Option<&Trial> = None;
        for trial in &self.trials {
            if best.is_none_or(|best| trial.gathered > best.gathered) {
                best = Some(trial);
            }
        }
        best
    }
}

/// Calls `each` with the picks of every setting of a plan's grid, in ascending order of hops and then fetch
/// cost. Returns the numbers of hops that were skipped.
pub(super) fn for_each_setting(
    graph: &WebGraph,
    choice: &WebChoice,
    reaches: &ReachByHops,
    pool: &SearchPool,
    watch: &dyn Watch,
    mut each: impl FnMut(Setting, &Reach, WebCover),
) -> Result<Vec<u32>, Interrupted> {
    let (hops, prices) = choice.grid();
    let mut left_out = Vec::new();
    for hops in hops {
        let Some(reach) = reaches.within(hops) else {
            left_out.push(hops);
            continue;
        };
        for &fetch_cost in &prices {
            let options = GreedyOptions {
                seeds: choice.seeds,
                hops,
                price: fetch_cost.0,
                positive_only: choice.positive_only,
                with_uncovered: false,
            };
            let cover = greedy(graph, reach, options, pool, watch)?;
            each(Setting { hops, fetch_cost }, reach, cover);
            watch.advance(1);
        }
    }
    Ok(left_out)
}

/// Searches the grid of a plan.
pub(super) fn grid_search(
    graph: &WebGraph,
    choice: &WebChoice,
    budget: u64,
    reaches: &ReachByHops,
    pool: &SearchPool,
    watch: &dyn Watch,
) -> Result<Tuning, Interrupted> {
    let mut crawler = Crawler::new(graph);
    let mut tuning = Tuning::default();
    let budget = usize::try_from(budget).unwrap_or(usize::MAX);
    let left_out = for_each_setting(
        graph,
        choice,
        reaches,
        pool,
        watch,
        |setting, reach, cover| {
            let list: Vec<u32> = cover.picks.iter().map(|pick| pick.seed.page).collect();
            let before = crawler.visits;
            let crawl = crawler.crawl(&list, budget);
            tuning.page_visits += cover.page_visits + crawler.visits - before;
            tuning.trials.push(Trial {
                setting,
                seeds: list.len(),
                fetched: crawl.fetched() as u64,
                gathered: crawl.worth(graph),
                pass_visits: reach.visits,
                page_visits: cover.page_visits,
            });
        },
    )?;
    tuning.left_out = left_out;
    Ok(tuning)
}
