//! Answers of `explain` for plans by coverage, of sites or over the web.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::core_answers::ScoredUrl;
use crate::engine::plan::TuningRecord;
use seedbank_formats::ingest::URL_PATTERN;
use seedbank_store::records::{CoverStop, RefreshId};

/// Value of pages with its components.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ValueBreakdown {
    /// Number of pages.
    pub pages: u64,
    /// Number of clicked pages without the spam mark.
    pub clicked: u64,
    /// Number of spam pages.
    pub spam: u64,
    /// Total number of uncrawled outlinks.
    pub uncrawled_outlinks: u64,
    /// Value of the pages, in units.
    pub value: f64,
    /// Part of the value that comes from uncrawled outlinks, in units.
    pub uncrawled_value: f64,
}

/// Value of pages over the web with its components and cost.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct WebValueBreakdown {
    /// All pages, crawled and known.
    #[serde(flatten)]
    pub all: ValueBreakdown,
    /// Number of known, uncrawled pages.
    pub known: u64,
    /// Total fetch cost, in units.
    pub cost: f64,
    /// Value minus cost, in units.
    pub net: f64,
}

/// Reach and cost parameters of a plan over the web.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct WebTerms {
    /// Maximum distance from a seed at which it reaches a page, in links.
    pub hops: u32,
    /// Cost of every page reached, in units.
    pub fetch_cost: f64,
    /// Number of pages that the crawl will fetch; `null` if the plan has no budget.
    pub budget: Option<u64>,
    /// How hops and fetch cost were tuned; `null` if they were given.
    pub tuned: Option<TuningRecord>,
    /// Whether values are the new links that fetches are expected to bring. Seeds that gain nothing then fill the
    /// list by their own values. JSON has the field only if it is `true`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("const" = true))]
    pub learned: bool,
}

/// Evidence for a page picked over the web.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct WebSeed {
    /// Rank on the list.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// Whether `max-changes` keeps the page off the list. Its rank is then that in the method's selection.
    /// JSON has the field only if it is `true`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("const" = true))]
    pub deferred: bool,
    /// Refresh that picked it. Later refreshes reuse the pick while nothing changes.
    #[schemars(range(min = 1))]
    pub since: RefreshId,
    /// Position in the order of picks, from 1. With a budget, the list has a different order.
    #[schemars(range(min = 1))]
    pub pick: u32,
    /// Score by which it was picked; `null` for a random pick.
    pub gain: Option<f64>,
    /// Pages that it reaches and no earlier pick does.
    pub reaches: WebValueBreakdown,
    /// Those pages by distance from it, from 0 hops on.
    pub hops: Vec<WebValueBreakdown>,
    /// Second-best page at that moment; `null` if unknown.
    pub runner_up: Option<ScoredUrl>,
    /// Earlier pick that reaches the page itself, and the distance in links; `null` if none does.
    pub reached_by: Option<(SiteSeed, u32)>,
    /// Hops, fetch cost and budget of the plan.
    pub terms: WebTerms,
}

/// Page that is eligible as a seed and that no seed reaches.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Unreached {
    /// Score after the last pick; `null` if picks are random.
    pub score: Option<f64>,
    /// Last pick, which scored higher; `null` if no remaining score was positive.
    pub last_pick: Option<SiteSeed>,
    /// Number of picks.
    pub picks: u32,
    /// Number of seeds requested.
    #[schemars(range(min = 1))]
    pub seeds_requested: u32,
    /// Hops, fetch cost and budget of the plan.
    pub terms: WebTerms,
}

/// Pick of a site, or over the web.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SiteSeed {
    /// Rank on the list.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// Whether `max-changes` keeps the page off the list. Its rank is then that in the method's selection.
    /// JSON has the field only if it is `true`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("const" = true))]
    pub deferred: bool,
    /// URL of the page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Position among the picks of the site, or over the web, from 1.
    #[schemars(range(min = 1))]
    pub pick: u32,
    /// Score by which it was picked; `null` for a random pick.
    pub gain: Option<f64>,
}

/// Evidence for a page picked on its site.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CoverSeed {
    /// Rank on the list.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// Whether `max-changes` keeps the page off the list. Its rank is then that in the method's selection.
    /// JSON has the field only if it is `true`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("const" = true))]
    pub deferred: bool,
    /// Refresh that picked it. Later refreshes reuse the pick while the site is unchanged.
    #[schemars(range(min = 1))]
    pub since: RefreshId,
    /// Position among the picks of the site, from 1.
    #[schemars(range(min = 1))]
    pub pick: u32,
    /// Number of seeds allocated to the site.
    #[schemars(range(min = 1))]
    pub seats: u32,
    /// Score by which it was picked; `null` for a random pick.
    pub gain: Option<f64>,
    /// Pages that it covers and no earlier pick of the site does.
    pub covers: ValueBreakdown,
    /// Those pages by distance from it, from 0 hops on.
    pub hops: Vec<ValueBreakdown>,
    /// Second-best page at that moment; `null` if unknown.
    pub runner_up: Option<ScoredUrl>,
    /// Earlier pick that covers the page itself, and the distance in links; `null` if none does.
    pub covered_by: Option<(SiteSeed, u32)>,
}

/// Crawled page that no seed covers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Uncovered {
    /// Score after the site's last pick; `null` if picks are random.
    pub score: Option<f64>,
    /// Whether the score is exact. If not, it is an upper bound.
    pub exact: bool,
    /// Last pick of the site.
    pub last_pick: Option<SiteSeed>,
    /// Number of picks of the site.
    pub picks: u32,
    /// Number of seeds allocated to the site.
    #[schemars(range(min = 1))]
    pub seats: u32,
    /// Why the site has no more seeds.
    pub stop: CoverStop,
}
