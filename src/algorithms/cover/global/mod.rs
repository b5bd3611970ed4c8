//! Selection over the whole web: the pages from which a crawl reaches the most value, at a cost for each
//! page that it fetches.
//!
//! There is one graph of all pages and all links, instead of one per site. Crawled pages with links are
//! candidates, unless they are spam. A seed reaches the pages within some number of hops. Each page counts
//! once, for the first pick that reaches it, with its value minus the fetch cost.
//!
//! | module | contents |
//! | --- | --- |
//! | `graph`, `constraints`, `contents` | the input: graph, pins and caps, contents that count once |
//! | `params` | parameters and their validation |
//! | `search_pool` | searches, many at a time |
//! | `reach` | the pass: pages and value within reach of every candidate, for every number of hops |
//! | `first_gains` | the gains before any pick; those of an earlier selection are reused |
//! | `greedy` | picks by gain, decremental |
//! | `keep` | the previous list, as far as it is worth almost as much |
//! | `baselines` | baselines, and max-out |
//! | `picks` | the result |
//! | `crawl` | a crawl from a list within a budget |
//! | `held_out` | the web without some crawled pages, and what a crawl then finds |
//! | `grid_search` | chooses hops, fetch cost and value of known pages by pages held out |
//! | `learned` | picks by learned values |
//! | `budget_lists` | the lists of a plan for several numbers of seeds and budgets |
//! | `share` | what several processes exchange if each of them has a share of the web |
//!
//! Results and page visits depend on the graph and the parameters alone. Memory: 8 bytes per link and 29
//! per page for the graph (37 with a weight of quality); during selection 16 per page, 16 per candidate and
//! number of hops, and 8 per page for each thread. A grid search has the graph twice.

mod baselines;
mod budget_lists;
mod constraints;
#[cfg(test)]
mod constraints_tests;
mod contents;
mod crawl;
mod first_gains;
mod graph;
mod greedy;
mod grid_search;
mod held_out;
mod keep;
mod learned;
mod params;
mod picks;
mod reach;
#[cfg(test)]
mod samples;
mod search_pool;
mod share;
#[cfg(test)]
mod share_tests;
#[cfg(test)]
mod tests;

pub use budget_lists::budget_lists;
pub use constraints::Cap;
pub use contents::SharedContent;
pub use first_gains::CachedGains;
pub use graph::WebGraph;
pub use grid_search::{Trial, Tuning};
pub use keep::Kept;
pub use params::{
    Duplicates, Grid, HELD_OUT_ONE_IN, HOLDOUTS, MIN_CRAWLED_TO_HOLD_OUT, Objective, Setting,
    TUNE_VISITS, TUNE_VISITS_PER_LINK, ValueBy, WebChoice, WebParams,
};
pub use picks::WebCover;
pub use reach::{Reach, ReachByHops};
pub use share::WebShare;

use super::params::Method;
use crate::watch::{Interrupted, Watch};
use first_gains::FirstGains;
use greedy::GreedyOptions;
use search_pool::SearchPool;

/// A selection with the setting that it was made with.
#[derive(Clone, PartialEq, Debug)]
pub struct WebSelection {
    /// The hops, the fetch cost and the value of known pages.
    pub setting: Setting,
    /// The grid search; `None` if all of these were given.
    pub tuning: Option<Tuning>,
    /// The picks, in the order in which they were made. That is the order of the list, so every part of it from the
    /// first pick on is the list for fewer seeds.
    pub cover: WebCover,
    /// The page visits of the pass: one search from each candidate to the greatest depth; 0 for methods
    /// without a pass.
    pub pass_visits: u64,
    /// By page: the gain before any pick, in millionths, meaningless for pages that are not candidates. Empty for methods
    /// without a pass.
    pub gains: Vec<i64>,
    /// The number of candidates that were searched, and of all, in all processes; 0 for methods without a pass.
    pub searched: (u64, u64),
    /// How the list follows from the previous one; `None` if that is not kept.
    pub kept: Option<Kept>,
}

/// What an earlier selection of the plan has left; in a share, for the pages of this process.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Previous {
    /// The gains, with the same setting. They are ignored if a part of the setting is chosen. In a share, all processes have
    /// them or none does.
    pub gains: Option<CachedGains>,
    /// The list, best first; `None` for a page that is not in the web or, in a share, of another process.
    pub list: Vec<Option<u32>>,
}

/// Picks seeds over the web. `scores` has those of the methods pagerank and oldest, which alone
/// read them: the PageRank of each page, or the days since its last fetch.
///
/// The value of known pages that a grid search chooses is added to the values of `graph`.
///
/// If `graph` is a share, all processes call this with the same choice, at the same time. Seeds and runners-up are then
/// numbers in the web; the pages that picks reach and the uncovered candidates are those of this process. All else is the
/// same in all of them, and in one process that has the whole web. Of the methods, these are those by gain or weight,
/// and of the values all but PageRanks.
///
/// # Errors
///
/// If the watch stops it, and in a share if another process fails or the method is another one.
pub fn select(
    graph: &mut WebGraph,
    choice: &WebChoice,
    scores: &[f64],
    watch: &dyn Watch,
) -> Result<WebSelection, Interrupted> {
    select_after(graph, choice, scores, Previous::default(), watch)
}

/// Picks seeds as [`select`] does, after an earlier selection. Gains are reused, with the same result; with
/// [`WebChoice::keep_seeds`], the list of the method greedy stays as far as it is worth almost as much as a new one.
///
/// # Errors
///
/// As `select`.
pub fn select_after(
    graph: &mut WebGraph,
    choice: &WebChoice,
    scores: &[f64],
    previous: Previous,
    watch: &dyn Watch,
) -> Result<WebSelection, Interrupted> {
    let is_by_gain = matches!(choice.method, Method::Greedy | Method::MaxWeight);
    if let Some(share) = graph.share()
        && (!is_by_gain || choice.value_by == ValueBy::Pagerank)
    {
        return Err(share.refuse());
    }
    if !is_by_gain {
        graph.apply_ages();
        let setting = choice.setting().unwrap_or_default();
        watch.stage("select", None);
        let cover = match choice.method {
            Method::MaxOut => baselines::max_out(graph, choice, setting.hops, watch)?,
            _ => baselines::baseline(graph, choice, setting.hops, scores, watch)?,
        };
        return Ok(WebSelection {
            setting,
            tuning: None,
            cover,
            pass_visits: 0,
            gains: Vec::new(),
            searched: (0, 0),
            kept: None,
        });
    }
    if choice.value_by == ValueBy::Learned && choice.fetch_cost.is_none() {
        return learned::select_learned(graph, choice, watch);
    }
    let pool = SearchPool::new(graph);
    let mut page_visits = 0;
    let mut tuning = None;
    let mut setting = choice.setting();
    // Without a given setting, choose the one whose crawl finds the most.
    if let (None, Some(budget)) = (setting, choice.budget) {
        let lists = [(choice.seeds, budget)];
        tuning = grid_search::grid_search(graph, choice, &lists, &pool, watch)?.pop();
        page_visits += tuning.as_ref().map_or(0, |tuning| tuning.page_visits);
        let best = tuning.as_ref().and_then(Tuning::best);
        setting = best.map(|best| best.setting);
    }
    // The grid is never empty, and its first setting is always tried.
    let setting = setting.unwrap_or_default();
    graph.add_to_known(choice.added_to_known(setting));
    graph.apply_ages();
    let graph = &*graph;
    let price = setting.fetch_cost.0;
    let depth = choice.depth_within(setting.hops);
    let cached = previous.gains.filter(|_| tuning.is_none());
    let first = FirstGains::new(graph, depth, price, cached, &pool, watch)?;
    page_visits += first.visits;
    watch.stage("select", None);
    let options = GreedyOptions {
        seeds: choice.seeds,
        hops: setting.hops,
        price,
        // The values of the graph contain it.
        value_known: 0,
        max_per_site: setting.max_per_site,
        positive_only: choice.positive_only,
        fill: choice.fills(graph),
        with_uncovered: true,
    };
    let mut cover = greedy::greedy(graph, &first, options, &pool, watch)?;
    let mut kept = None;
    if !choice.keep_seeds.is_exact() && choice.method == Method::Greedy {
        let list = keep::in_web(graph, &previous.list)?;
        if !list.is_empty() {
            let list = (&list[..], choice.keep_seeds);
            let found = keep::keep((graph, &first), options, list, cover, &pool, watch)?;
            cover = found.0;
            kept = Some(found.1);
        }
    }
    cover.page_visits += page_visits;
    Ok(WebSelection {
        setting,
        tuning,
        cover,
        pass_visits: first.visits,
        gains: first.by_page,
        searched: (first.searched, graph.candidates_in_all()),
        kept,
    })
}
