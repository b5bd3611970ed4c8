//! Hops and price for a budget: the lists of a small grid are made, and judged by the crawls that
//! they lead to.

use super::bfs_ball::SearchPool;
use super::crawl::Crawler;
use super::graph::WebGraph;
use super::greedy::{GreedyOptions, greedy};
use super::params::{Setting, WebChoice};
use super::picks::WebCover;
use super::reach::{Reach, ReachByHops};
use crate::watch::{Interrupted, Watch};

/// A setting that was tried, and what its list came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trial {
    /// The setting.
    pub setting: Setting,
    /// How many seeds its list has.
    pub seeds: usize,
    /// How many pages the crawl from the list fetches: the budget, or fewer where the list leads to
    /// fewer.
    pub fetched: u64,
    /// What these pages are worth together, in millionths.
    pub gathered: i64,
    /// The page visits of a pass of so many hops, which serves all prices.
    pub pass_visits: u64,
    /// The page visits of its picks, beside those of the pass.
    pub page_visits: u64,
}

/// What came of trying the grid.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tuning {
    /// The settings, fewest hops and then the lowest price first.
    pub trials: Vec<Trial>,
    /// Hops that were not tried, since a pass takes too many visits.
    pub left_out: Vec<u32>,
    /// The page visits of all trials, without the pass.
    pub page_visits: u64,
}

impl Tuning {
    /// The trial whose crawl gathers most, the first of several; `None` where nothing was tried.
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

/// Hands the picks of every setting of a plan's grid to `each`, fewest hops and then the lowest price
/// first; returns the hops that a pass was left out for.
pub(super) fn each_setting(
    graph: &WebGraph,
    choice: &WebChoice,
    reaches: &ReachByHops,
    balls: &SearchPool,
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
            let wanted = GreedyOptions {
                seeds: choice.seeds,
                hops,
                price: fetch_cost.0,
                positive_only: choice.positive_only,
                rest: false,
            };
            let cover = greedy(graph, reach, wanted, balls, watch)?;
            each(Setting { hops, fetch_cost }, reach, cover);
            watch.advance(1);
        }
    }
    Ok(left_out)
}

/// Tries the grid of a plan.
pub(super) fn grid_search(
    graph: &WebGraph,
    choice: &WebChoice,
    budget: u64,
    reaches: &ReachByHops,
    balls: &SearchPool,
    watch: &dyn Watch,
) -> Result<Tuning, Interrupted> {
    let mut crawler = Crawler::new(graph);
    let mut tuning = Tuning::default();
    let budget = usize::try_from(budget).unwrap_or(usize::MAX);
    let left_out = each_setting(
        graph,
        choice,
        reaches,
        balls,
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
