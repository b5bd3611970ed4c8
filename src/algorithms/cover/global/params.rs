//! The parameters of plans over the whole web, and their validation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::error::BadParams;
use super::super::limits::{MAX_HOPS, MAX_PRICE, PRICES, WEIGHTS};
use super::super::params::{CoverParams, Covered, Method};
use super::super::revisit::Revisit;
use super::super::value::{UNIT, Value, Weights};
use super::graph::WebGraph;
use crate::crawl_limits::Crawls;
use crate::slack::Slack;

/// The source of page values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ValueBy {
    /// The weights of spam, clicked and other pages, and uncrawled outlinks.
    #[default]
    Weights,
    /// The PageRank on the whole graph, times the number of pages.
    Pagerank,
    /// The new links that a fetch of the page is expected to bring. Plans have the parameter `learned` for it.
    #[serde(skip)]
    Learned,
}

/// The hops, the fetch cost and the value of known pages of a selection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Setting {
    /// A seed reaches the pages within this many hops.
    pub hops: u32,
    /// The cost of fetching a page.
    pub fetch_cost: Value,
    /// The value of a page that is known only from links, by weights.
    pub value_known: Value,
    /// The most seeds of a site; `None` for no limit.
    pub max_per_site: Option<u32>,
}

/// The measure by which a grid search compares settings.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Objective {
    /// The value of the pages that a crawl fetches.
    #[default]
    Value,
    /// The number of pages that a crawl fetches or finds links to and that were not known before.
    Discovery,
}

/// How crawled pages with one content count.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Duplicates {
    /// Together as one page. The page that most pages link to represents the others, which have no value and
    /// cannot be seeds; of equal ones, the shortest URL, then the smallest.
    Once,
    /// Each for itself.
    #[default]
    Each,
}

/// The settings of a grid search; each list of values is ascending.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid {
    /// The numbers of hops.
    pub hops: Vec<u32>,
    /// The fetch costs.
    pub fetch_costs: Vec<Value>,
    /// The values of known pages.
    pub values_known: Vec<Value>,
    /// The limits of the seeds of a site, the strictest last.
    pub max_per_site: Vec<Option<u32>>,
}

/// The default number of seeds.
const SEEDS: u32 = 100;
/// The default hops of methods that search from every candidate.
const SEARCH_HOPS: u32 = 2;
/// The default hops for learned values.
const LEARNED_HOPS: u32 = 1;
/// The default hops of the other methods.
const OTHER_HOPS: u32 = 5;
/// The default limit of the page visits of a grid search: this number, or [`TUNE_VISITS_PER_LINK`] for each
/// link if that is more.
pub const TUNE_VISITS: u64 = 10_000_000_000;
/// The part of the default limit that grows with the web.
pub const TUNE_VISITS_PER_LINK: u64 = 1000;
/// The part of all visits that a pass may take: one in this many.
const PASS_SHARE: u64 = 32;
/// The default number of draws of held-out pages in a grid search.
pub const HOLDOUTS: u32 = 10;
/// A draw holds out one of this many crawled pages.
pub const HELD_OUT_ONE_IN: u32 = 10;
/// With fewer crawled pages, none are held out.
pub const MIN_CRAWLED_TO_HOLD_OUT: usize = 20;

/// The grid of hops.
const HOPS: [u32; 5] = [1, 2, 3, 4, 8];
/// The grid of fetch costs for values by weights, in millionths of the base weight, or of 1 if that is not
/// positive.
const WEIGHT_COSTS: [i64; 11] = [
    0, 50_000, 100_000, 170_000, 250_000, 330_000, 400_000, 500_000, 670_000, 800_000, 900_000,
];
/// The grid of values of known pages, in the same unit. Only a search for pages that were not known before
/// tries the last one, with which crawled pages count little.
const VALUES_KNOWN: [i64; 5] = [0, 100_000, 300_000, 1_000_000, 10_000_000];
/// The grid of fetch costs for values by PageRank, in millionths of the average PageRank.
///
/// Few pages have most of the PageRank, so the fewer pages a crawl fetches, the more each must be worth,
/// and the best cost rises far above the average. `benches/README.md` has the values that these and other
/// costs give.
const RANK_COSTS: [i64; 8] = [
    0, 500_000, 750_000, 1_000_000, 1_500_000, 2_000_000, 3_000_000, 4_000_000,
];

/// The grid of limits of the seeds of a site.
const MAX_PER_SITE: [Option<u32>; 3] = [None, Some(3), Some(1)];

/// The parameters of a plan over the web, as in plan files. `None` stands for the default.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WebParams {
    /// The parameters in common with plans that cover sites; `hops` is ignored.
    pub cover: CoverParams,
    /// A seed reaches the pages within this many hops.
    pub hops: Option<u32>,
    /// The value of a known, not crawled, page. `None` is 0 if `hops` and `fetch_cost` are given.
    pub value_known: Option<Value>,
    /// The source of page values.
    pub value_by: ValueBy,
    /// The cost of fetching a page.
    pub fetch_cost: Option<Value>,
    /// How crawled pages with one content count.
    pub duplicates: Option<Duplicates>,
    /// The period after which a fetched page has its whole value again.
    pub revisit: Revisit,
    /// By how much a list that keeps seeds of the previous one may be worth less than a new one.
    pub keep_seeds: Slack,
    /// The number of pages that the crawl will fetch.
    pub budget: Option<u64>,
    /// The limit of the page visits of the grid search.
    pub tune_visits: Option<u64>,
    /// The number of draws of held-out pages in the grid search.
    pub holdouts: Option<u32>,
    /// The measure by which the grid search compares settings.
    pub objective: Objective,
    /// The crawl in which the grid search compares settings.
    pub crawl: Crawls,
    /// The most seeds of a site; `None` for no limit.
    pub max_per_site: Option<u32>,
    /// Whether a grid search that chooses hops or fetch cost also chooses that limit. The graph needs sites for it.
    pub tunes_max_per_site: bool,
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
    /// The value of a known, not crawled, page; `None` if a grid search chooses it.
    pub value_known: Option<Value>,
    /// The source of page values.
    pub value_by: ValueBy,
    /// How crawled pages with one content count: the contents of the graph follow it.
    pub duplicates: Duplicates,
    /// The period after which a fetched page has its whole value again: values of the graph follow it.
    pub revisit: Revisit,
    /// By how much a list that keeps seeds of the previous one may be worth less than a new one; 0 to keep none.
    pub keep_seeds: Slack,
    /// The number of pages that the crawl will fetch; `None` if the list is not made for a budget.
    pub budget: Option<u64>,
    /// The limit of the page visits of the grid search; `None` for one that grows with the web.
    pub tune_visits: Option<u64>,
    /// The number of draws of held-out pages in the grid search; 0 to judge settings by known pages.
    pub holdouts: u32,
    /// The measure by which the grid search compares settings.
    pub objective: Objective,
    /// The crawl in which the grid search compares settings.
    pub crawl: Crawls,
    /// The most seeds of a site; `None` for no limit, or if a grid search chooses it.
    pub max_per_site: Option<u32>,
    /// Whether a grid search chooses the limit of the seeds of a site.
    pub tunes_max_per_site: bool,
    /// Whether to stop before a pick that adds nothing: no page with max-out, else no value above the fetch costs;
    /// false for baselines.
    pub positive_only: bool,
    /// Whether the places that picks by gain leave empty are filled by the values of candidates.
    pub fill: bool,
    /// The seed of the random stream of [`Method::Random`].
    pub rng_seed: u64,
}

impl WebChoice {
    /// The setting; `None` if a grid search chooses a part of it.
    #[must_use]
    pub fn setting(&self) -> Option<Setting> {
        Some(Setting {
            hops: self.hops?,
            fetch_cost: self.fetch_cost?,
            value_known: self.value_known?,
            max_per_site: self.max_per_site,
        })
    }

    /// Whether a selection needs the sites of pages ([`WebGraph::with_sites`](super::WebGraph::with_sites)).
    #[must_use]
    pub fn needs_sites(&self) -> bool {
        self.tunes_max_per_site || self.max_per_site.is_some() || self.crawl.need_sites()
    }

    /// The limits of the page visits of a grid search and of one of its passes, on a web with this number of links.
    ///
    /// With fewer visits than by default, fewer settings are tried; the hops that are tried stay the same, wherever a pass fits.
    pub(super) fn tune_limits(&self, links: u64) -> (u64, u64) {
        let by_default = TUNE_VISITS.max(TUNE_VISITS_PER_LINK.saturating_mul(links));
        let all = self.tune_visits.unwrap_or(by_default);
        (all, all.min(all.max(by_default) / PASS_SHARE))
    }

    /// The value of known pages before a grid search, as the graph has to contain it.
    #[must_use]
    pub fn given_value_known(&self) -> Value {
        self.value_known.unwrap_or_default()
    }

    /// The difference between the value of known pages in a setting and in the graph, in millionths.
    pub(super) fn added_to_known(&self, setting: Setting) -> i64 {
        setting.value_known.0 - self.given_value_known().0
    }

    /// The depth of the weight that pages are picked by, for this number of hops.
    #[must_use]
    pub fn depth_within(&self, hops: u32) -> u32 {
        self.depth.unwrap_or(hops).min(hops)
    }

    /// Whether the places that are left once no page adds value are filled ([`WebGraph::fills`]).
    pub(super) fn fills(&self, graph: &WebGraph) -> bool {
        self.fill || graph.has_ages()
    }

    /// Whether a list with a setting is the one that the search for a setting tried.
    #[must_use]
    pub fn selects_as_tried(&self, graph: &WebGraph) -> bool {
        !self.fills(graph) && self.depth.is_none()
    }

    /// The settings to try. A parameter that the plan gives has only that value.
    #[must_use]
    pub fn grid(&self) -> Grid {
        // By PageRank, the average page is worth 1.
        let (unit, costs): (i64, &[i64]) = match self.value_by {
            ValueBy::Pagerank => (UNIT, &RANK_COSTS),
            ValueBy::Weights if self.weights.base.0 > 0 => (self.weights.base.0, &WEIGHT_COSTS),
            ValueBy::Weights | ValueBy::Learned => (UNIT, &WEIGHT_COSTS),
        };
        let of_unit = |share: &i64| {
            let value = share * (unit / UNIT) + share * (unit % UNIT) / UNIT;
            Value(value.min(MAX_PRICE * UNIT))
        };
        let given_or = |given: Option<Value>, shares: &[i64]| {
            given.map_or_else(|| shares.iter().map(of_unit).collect(), |value| vec![value])
        };
        let values_known = match self.objective {
            Objective::Value => &VALUES_KNOWN[..VALUES_KNOWN.len() - 1],
            Objective::Discovery => &VALUES_KNOWN[..],
        };
        Grid {
            hops: self.hops.map_or_else(|| HOPS.to_vec(), |hops| vec![hops]),
            fetch_costs: given_or(self.fetch_cost, costs),
            values_known: given_or(self.value_known, values_known),
            max_per_site: if self.tunes_max_per_site {
                MAX_PER_SITE.to_vec()
            } else {
                vec![self.max_per_site]
            },
        }
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
        if !self.keep_seeds.is_exact() && method != Method::Greedy {
            return Err(BadParams::KeepsNoSeeds(method.name()));
        }
        if self.duplicates.is_some() && method != Method::Greedy {
            return Err(BadParams::NoContents(method.name()));
        }
        if self.budget == Some(0) {
            return Err(BadParams::OutOfRange("budget"));
        }
        let is_limited = self.crawl != Crawls::default();
        if self.budget.is_none()
            && (self.tune_visits.is_some() || self.holdouts.is_some() || is_limited)
        {
            return Err(BadParams::NothingToTune);
        }
        if self.revisit == Revisit::Auto && self.budget.is_none() {
            return Err(BadParams::RevisitNeedsBudget);
        }
        let learned = self.value_by == ValueBy::Learned;
        if learned {
            self.check_learned()?;
        }
        if self.value_by == ValueBy::Pagerank && self.cover.weights.quality.0 != 0 {
            return Err(BadParams::QualityByPagerank);
        }
        if !WEIGHTS.contains(&self.value_known.unwrap_or_default()) {
            return Err(BadParams::OutOfRange("value-known"));
        }
        if self.fetch_cost.is_some_and(|cost| !PRICES.contains(&cost)) {
            return Err(BadParams::OutOfRange("fetch-cost"));
        }
        // The other parameters follow the rules of plans that cover sites.
        let has_grid = self.budget.is_some();
        let default = match (learned, searches) {
            (true, _) => LEARNED_HOPS,
            (false, true) => SEARCH_HOPS,
            (false, false) => OTHER_HOPS,
        };
        let hops = self.hops.unwrap_or(if has_grid && !learned {
            MAX_HOPS
        } else {
            default
        });
        // By PageRank, known pages have their own value. A plan that gives the other parameters is not
        // tuned for this one alone: plans may have been stored before it could be tuned.
        let is_tuned = has_grid && (self.hops.is_none() || self.fetch_cost.is_none());
        let tunes_known = is_tuned && self.value_by == ValueBy::Weights;
        let of_site = CoverParams {
            hops,
            seeds: Some(self.cover.seeds.unwrap_or(SEEDS)),
            ..self.cover.clone()
        };
        let of_site = of_site.choose_any()?;
        if of_site.covered == Covered::Remove && method != Method::MaxOut {
            return Err(BadParams::RemoveOverWeb);
        }
        Ok(WebChoice {
            method,
            seeds: self.cover.seeds.unwrap_or(SEEDS),
            hops: self.hops.or((!has_grid || learned).then_some(default)),
            depth: (method == Method::MaxWeight).then_some(of_site.depth),
            // Without a given cost, it follows from learned values.
            fetch_cost: self
                .fetch_cost
                .or((!has_grid && !learned).then_some(Value(0))),
            weights: of_site.weights,
            p_uniq: of_site.p_uniq,
            value_known: self.value_known.or((!tunes_known).then_some(Value(0))),
            value_by: self.value_by,
            duplicates: self.duplicates.unwrap_or_default(),
            revisit: self.revisit,
            keep_seeds: self.keep_seeds,
            budget: self.budget,
            tune_visits: self.tune_visits,
            holdouts: self.holdouts.unwrap_or(HOLDOUTS),
            objective: self.objective,
            crawl: self.crawl,
            max_per_site: self.max_per_site,
            tunes_max_per_site: self.tunes_max_per_site && is_tuned && !learned,
            positive_only: of_site.positive_only || learned,
            fill: learned,
            rng_seed: of_site.rng_seed,
        })
    }

    /// Checks that nothing is given that learned values exclude.
    fn check_learned(&self) -> Result<(), BadParams> {
        let given = [
            (self.cover.method != Method::Greedy, "method"),
            (self.value_known.is_some(), "value-known"),
            (self.duplicates.is_some(), "duplicates"),
            (self.revisit != Revisit::Off, "revisit"),
            (!self.keep_seeds.is_exact(), "keep-seeds"),
            (self.tune_visits.is_some(), "tune-visits"),
            (self.holdouts.is_some(), "holdouts"),
        ];
        match given.into_iter().find(|(is_given, _)| *is_given) {
            Some((_, parameter)) => Err(BadParams::ExcludedByLearned(parameter)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
#[path = "params_tests.rs"]
mod tests;
