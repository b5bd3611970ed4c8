//! Cover over the whole web: the pages from which a crawl reaches the most value, at a price for each
//! page that it fetches.
//!
//! One graph of all pages and all links takes the place of one graph for each site. Crawled pages
//! with links can be seeds, unless they are spam. A seed reaches the pages within so many hops; each
//! page counts once, for the pick that reaches it first, and is worth its value less the price.
//!
//! | module | what it does |
//! | --- | --- |
//! | `graph` | what goes in |
//! | `params` | what a plan may say, and what makes no sense |
//! | `ball` | searches, many at a time |
//! | `reach` | the one pass: what every candidate reaches, for every number of hops at once |
//! | `greedy` | picks by gain, decremental |
//! | `others` | baselines, and the best out-degree in what remains |
//! | `terms` | pins and caps |
//! | `picks` | what comes out |
//! | `crawl` | what a crawl from a list gathers within a budget |
//! | `tune` | hops and price by the crawls that they lead to |
//! | `lists` | the lists of a plan for several numbers of seeds and budgets |
//! | `order` | a list whose head is good for its share of the budget |
//!
//! Results depend on the graph and the parameters alone; so do the page visits. Memory: 8 bytes per
//! link, 28 per page for the graph, 16 per page and 12 per candidate and number of hops while picks
//! are made, and 8 per page for every thread.

mod bfs_ball;
mod crawl;
mod graph;
mod greedy;
mod budget_lists;
mod list_order;
mod baselines;
mod params;
mod picks;
mod reach;
#[cfg(test)]
mod samples;
mod constraints;
#[cfg(test)]
mod constraints_tests;
#[cfg(test)]
mod tests;
mod grid_search;

pub use graph::WebGraph;
pub use budget_lists::budget_lists;
pub use params::{Setting, TUNE_VISITS, ValueBy, WebChoice, WebParams};
pub use picks::{WebCover, WebPick};
pub use reach::{Reach, ReachByHops};
pub use constraints::Cap;
pub use grid_search::{Trial, Tuning};

use super::params::Method;
use crate::watch::{Interrupted, Watch};
use bfs_ball::SearchPool;
use greedy::GreedyOptions;

/// A list with hops and price decided, in two orders.
#[derive(Clone, PartialEq, Debug)]
pub struct WebSelection {
    /// Its hops and price.
    pub setting: Setting,
    /// What trying others came to; `None` where hops and price were given.
    pub tuning: Option<Tuning>,
    /// The picks.
    pub cover: WebCover,
    /// The places of the picks in the order of the list.
    pub order: Vec<usize>,
    /// The page visits of the pass: of a search from each candidate, as deep as any was; 0 where the
    /// method needs none.
    pub pass_visits: u64,
}

/// Puts picks in the order of the list.
fn listed(
    graph: &WebGraph,
    choice: &WebChoice,
    setting: Setting,
    mut cover: WebCover,
    watch: &dyn Watch,
) -> Result<WebSelection, Interrupted> {
    let mut order: Vec<usize> = (0..cover.picks.len()).collect();
    if let Some(budget) = choice.budget {
        watch.stage("order", None);
        // Pins stay first.
        let pins = graph.pins().len().min(cover.picks.len());
        let others = cover.picks[pins..].iter();
        let seeds: Vec<u32> = others.map(|pick| pick.seed.page).collect();
        let (by_crawls, visits) =
            list_order::order_by_crawls(graph, &seeds, budget, choice.tune_visits, watch)?;
        cover.page_visits += visits;
        order.truncate(pins);
        order.extend(by_crawls.into_iter().map(|at| pins + at));
    }
    Ok(WebSelection {
        setting,
        tuning: None,
        cover,
        order,
        pass_visits: 0,
    })
}

/// The pass, as deep as the plan looks.
fn passed(
    graph: &WebGraph,
    choice: &WebChoice,
    balls: &SearchPool,
    watch: &dyn Watch,
) -> Result<ReachByHops, Interrupted> {
    watch.stage("search", Some(graph.candidates().len() as u64));
    let (hops, _) = choice.grid();
    let deepest = hops.iter().copied().max().unwrap_or(0);
    // Hops that were asked for are not left out.
    let most = choice.hops.map_or(choice.tune_visits, |_| u64::MAX);
    reach::reaches(graph, choice.depth_within(deepest), most, balls, watch)
}

/// Picks seeds over the web. `ranks` has the PageRank of each page where the method is
/// [`Method::Pagerank`], and is not looked at otherwise.
pub fn select(
    graph: &WebGraph,
    choice: &WebChoice,
    ranks: &[f64],
    watch: &dyn Watch,
) -> Result<WebSelection, Interrupted> {
    if !matches!(choice.method, Method::Greedy | Method::MaxWeight) {
        let setting = choice.setting().unwrap_or(Setting {
            hops: 0,
            fetch_cost: super::Value(0),
        });
        watch.stage("select", None);
        let cover = match choice.method {
            Method::MaxOut => baselines::max_out(graph, choice, setting.hops, watch)?,
            _ => baselines::baseline(graph, choice, setting.hops, ranks, watch)?,
        };
        return Ok(WebSelection {
            setting,
            tuning: None,
            order: (0..cover.picks.len()).collect(),
            cover,
            pass_visits: 0,
        });
    }
    let balls = SearchPool::new(graph.pages());
    let (hops, prices) = choice.grid();
    let deepest = hops.iter().copied().max().unwrap_or(0);
    let is_open = choice.setting().is_none();
    let reaches = passed(graph, choice, &balls, watch)?;
    let mut page_visits = reaches.visits;
    let mut tuning = None;
    let mut setting = choice.setting();
    if let (true, Some(budget)) = (is_open, choice.budget) {
        watch.stage("try settings", Some((hops.len() * prices.len()) as u64));
        let tried = grid_search::grid_search(graph, choice, budget, &reaches, &balls, watch)?;
        page_visits += tried.page_visits;
        setting = tried.best().map(|best| best.setting);
        tuning = Some(tried);
    }
    // A grid is never empty, and its fewest hops are never left out.
    let setting = setting.unwrap_or(Setting {
        hops: deepest,
        fetch_cost: super::Value(0),
    });
    watch.stage("select", None);
    let none = Reach::default();
    let depth = choice.depth_within(setting.hops);
    let reach = reaches.within(depth).unwrap_or(&none);
    let wanted = GreedyOptions {
        seeds: choice.seeds,
        hops: setting.hops,
        price: setting.fetch_cost.0,
        positive_only: choice.positive_only,
        rest: true,
    };
    let mut cover = greedy::greedy(graph, reach, wanted, &balls, watch)?;
    cover.page_visits += page_visits;
    let pass_visits = reaches.visits;
    // What the pass found and the searches' working memory make room for the crawls of the order.
    drop((reaches, balls));
    Ok(WebSelection {
        tuning,
        pass_visits,
        ..listed(graph, choice, setting, cover, watch)?
    })
}
