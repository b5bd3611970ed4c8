//! The parameters of plans over the whole web, and their validation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::error::BadParams;
use super::super::limits::{MAX_HOPS, MAX_PRICE, PRICES, WEIGHTS};
use super::super::params::{CoverParams, Covered, Method};
use super::super::value::{UNIT, Value, Weights};

/// The source of page values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ValueBy {
    /// The weights of spam, clicked and other pages, and uncrawled outlinks.
    #[default]
    Weights,
    /// The PageRank on the whole graph, times the number of pages.
    Pagerank,
}

/// The hops and the fetch cost of a selection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Setting {
    /// A seed reaches the pages within this many hops.
    pub hops: u32,
    /// The cost of fetching a page.
    pub fetch_cost: Value,
}

/// The default number of seeds.
const SEEDS: u32 = 100;
/// The default hops of methods that search from every candidate.
const SEARCH_HOPS: u32 = 2;
/// The default hops of the other methods.
const OTHER_HOPS: u32 = 5;
/// The default limit of the page visits of a pass of the grid search.
pub const TUNE_VISITS: u64 = 10_000_000_000;

/// The grid of fetch costs for values by weights, in millionths of the base weight, or of 1 if that is not
/// positive.
const WEIGHT_COSTS: [i64; 5] = [0, 170_000, 330_000, 500_000, 670_000];
/// The grid of fetch costs for values by PageRank, in millionths of the average PageRank.
///
/// Few pages have most of the PageRank, so the fewer pages a crawl fetches, the more each must be worth,
/// and the best cost rises far above the average. `benches/README.md` has the values that these and other
/// costs give.
const RANK_COSTS: [i64; 8] = [
    0, 500_000, 750_000, 1_000_000, 1_500_000, 2_000_000, 3_000_000, 4_000_000,
];

/// The parameters of a plan over the web, as in plan files. `None` stands for the default.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WebParams {
    /// The parameters in common with plans that cover sites; `hops` is ignored.
    pub cover: CoverParams,
    /// A seed reaches the pages within this many hops.
    pub hops: Option<u32>,
    /// The value of a known, not crawled, page.
    pub value_known: Value,
    /// The source of page values.
    pub value_by: ValueBy,
    /// The cost of fetching a page.
    pub fetch_cost: Option<Value>,
    /// The number of pages that the crawl will fetch.
    pub budget: Option<u64>,
    /// The limit of the page visits of a pass of the grid search.
    pub tune_visits: Option<u64>,
}

/// Validated parameters, with all defaults filled in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WebChoice {
    /// The method that picks pages.
    pub method: Method,
    /// The number of seeds.
    pub seeds: u32,
    /// A seed reaches the pages within this many hops; `None` if a grid search chooses them.
    pub hops: Option<u32>,
    /// The depth of the weight that max-weight picks by.
    pub depth: Option<u32>,
    /// The cost of fetching a page; `None` if a grid search chooses it.
    pub fetch_cost: Option<Value>,
    /// The weights of page values.
    pub weights: Weights,
    /// Overrides `P_uniq` of every site.
    pub p_uniq: Option<Value>,
    /// The value of a known, not crawled, page.
    pub value_known: Value,
    /// The source of page values.
    pub value_by: ValueBy,
    /// The number of pages that the crawl will fetch; `None` if the list is not made for a budget.
    pub budget: Option<u64>,
    /// The limit of the page visits of a pass of the grid search.
    pub tune_visits: u64,
    /// Whether to stop before a pick whose score is not positive; false for baselines.
    pub positive_only: bool,
    /// The seed of the random stream of [`Method::Random`].
    pub rng_seed: u64,
}

impl WebChoice {
    /// The hops and the fetch cost; `None` if a grid search chooses one of them.
    #[must_use]
    pub fn setting(&self) -> Option<Setting> {
        Some(Setting {
            hops: self.hops?,
            fetch_cost: self.fetch_cost?,
        })
    }

    /// The depth of the weight that pages are picked by, for this number of hops.
    #[must_use]
    pub fn depth_within(&self, hops: u32) -> u32 {
        self.depth.unwrap_or(hops).min(hops)
    }

    /// The grid: the hops and the fetch costs to try, each ascending. A parameter that the plan gives has only
    /// that value.
    #[must_use]
    pub fn grid(&self) -> (Vec<u32>, Vec<Value>) {
        let hops = self
            .hops
            .map_or_else(|| (1..=4).collect(), |hops| vec![hops]);
        // By PageRank, the average page is worth 1.
        let (unit, shares): (i64, &[i64]) = match self.value_by {
            ValueBy::Pagerank => (UNIT, &RANK_COSTS),
            ValueBy::Weights if self.weights.base.0 > 0 => (self.weights.base.0, &WEIGHT_COSTS),
            ValueBy::Weights => (UNIT, &WEIGHT_COSTS),
        };
        let cost = |share: &i64| {
            let cost = share * (unit / UNIT) + share * (unit % UNIT) / UNIT;
            Value(cost.min(MAX_PRICE * UNIT))
        };
        let costs = || shares.iter().map(cost).collect();
        (hops, self.fetch_cost.map_or_else(costs, |cost| vec![cost]))
    }
}

impl WebParams {
    /// Validates the parameters and fills in the defaults.
    pub fn choose(&self) -> Result<WebChoice, BadParams> {
        let method = self.cover.method;
        if matches!(method, Method::MaxScc | Method::RootScc) {
            return Err(BadParams::OnlyPerSite(method.name()));
        }
        if self.cover.per_site.is_some() {
            return Err(BadParams::PerSiteOverWeb);
        }
        if self.cover.share.is_some() {
            return Err(BadParams::ShareOverWeb);
        }
        let searches = matches!(method, Method::Greedy | Method::MaxWeight);
        if self.fetch_cost.is_some() && !searches {
            return Err(BadParams::NoGain(method.name()));
        }
        if self.budget.is_some() && method != Method::Greedy {
            return Err(BadParams::NoBudget(method.name()));
        }
        if self.budget == Some(0) {
            return Err(BadParams::OutOfRange("budget"));
        }
        if self.budget.is_none() && self.tune_visits.is_some() {
            return Err(BadParams::NothingToTune);
        }
        if self.value_by == ValueBy::Pagerank && self.cover.weights.quality.0 != 0 {
            return Err(BadParams::QualityByPagerank);
        }
        if !WEIGHTS.contains(&self.value_known) {
            return Err(BadParams::OutOfRange("value-known"));
        }
        if self.fetch_cost.is_some_and(|cost| !PRICES.contains(&cost)) {
            return Err(BadParams::OutOfRange("fetch-cost"));
        }
        // The other parameters follow the rules of plans that cover sites.
        let has_grid = self.budget.is_some();
        let default = if searches { SEARCH_HOPS } else { OTHER_HOPS };
        let hops = self
            .hops
            .unwrap_or(if has_grid { MAX_HOPS } else { default });
        let of_site = CoverParams {
            hops,
            seeds: Some(self.cover.seeds.unwrap_or(SEEDS)),
            ..self.cover.clone()
        };
        let of_site = of_site.choose()?;
        if of_site.covered == Covered::Remove && method != Method::MaxOut {
            return Err(BadParams::RemoveOverWeb);
        }
        Ok(WebChoice {
            method,
            seeds: self.cover.seeds.unwrap_or(SEEDS),
            hops: self.hops.or((!has_grid).then_some(default)),
            depth: (method == Method::MaxWeight).then_some(of_site.depth),
            fetch_cost: self.fetch_cost.or((!has_grid).then_some(Value(0))),
            weights: of_site.weights,
            p_uniq: of_site.p_uniq,
            value_known: self.value_known,
            value_by: self.value_by,
            budget: self.budget,
            tune_visits: self.tune_visits.unwrap_or(TUNE_VISITS),
            positive_only: of_site.positive_only,
            rng_seed: of_site.rng_seed,
        })
    }
}

#[cfg(test)]
#[path = "params_tests.rs"]
mod tests;
