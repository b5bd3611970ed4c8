//! What `explain` answers with where seeds are by coverage, of sites or over the web.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::core_answers::ScoredUrl;
use crate::engine::plan::Tuned;
use seedbank_formats::ingest::URL_PATTERN;
use seedbank_store::records::{CoverStop, RefreshId};

/// Value and what makes it up.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ValueBreakdown {
    /// The number of pages.
    pub pages: u64,
    /// How many of the pages are clicked and not spam.
    pub clicked: u64,
    /// How many of the pages are spam.
    pub spam: u64,
    /// The uncrawled outlinks of all the pages, summed.
    pub uncrawled_outlinks: u64,
    /// The value of the pages, in units.
    pub value: f64,
    /// The part of the value that comes from uncrawled outlinks, in units.
    pub uncrawled_value: f64,
}

/// Over the web: value, what makes it up, and what it costs.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct WebValueBreakdown {
    /// All pages, crawled and known.
    #[serde(flatten)]
    pub all: ValueBreakdown,
    /// How many of them are known and not crawled.
    pub known: u64,
    /// What the pages cost, in units: the price of a page for each.
    pub cost: f64,
    /// The value less the cost, in units.
    pub net: f64,
}

/// Over the web: how far seeds reach and what a page costs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct WebTerms {
    /// How many hops from a seed a page is reached.
    pub hops: u32,
    /// What every page reached costs, in units.
    pub fetch_cost: f64,
    /// How many pages the crawl will fetch; `null` where the list is not made for a crawl.
    pub budget: Option<u64>,
    /// How the plan came by hops and price; `null` where they were given.
    pub tuned: Option<Tuned>,
}

/// Why a page was picked over the web.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct WebSeed {
    /// Its rank on the list.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// Whether no more of the list may change, so that the page is not on it: then its rank is that
    /// among the seeds that the method came to. JSON has the field only then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("const" = true))]
    pub deferred: bool,
    /// The refresh that picked it. Later ones may have taken it over, nothing having changed.
    #[schemars(range(min = 1))]
    pub since: RefreshId,
    /// Its place in the order of picks, from 1; with a budget the order of the list is another.
    #[schemars(range(min = 1))]
    pub pick: u32,
    /// The score that it was picked by; `null` where it was drawn at random.
    pub gain: Option<f64>,
    /// What it reaches that no earlier pick does.
    pub reaches: WebValueBreakdown,
    /// What it is the first to reach, by distance from it, from 0 hops on.
    pub hops: Vec<WebValueBreakdown>,
    /// The second best page at that moment; `null` where it is not known.
    pub runner_up: Option<ScoredUrl>,
    /// The earlier pick that reaches the page itself, and its distance; `null` where none does.
    pub reached_by: Option<(SiteSeed, u32)>,
    /// How far seeds reach and what a page costs.
    pub terms: WebTerms,
}

/// A page that could be a seed and that no seed reaches.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Unreached {
    /// What it would have been picked by after the last pick; `null` where pages are drawn.
    pub score: Option<f64>,
    /// The last pick, which outweighed it; `null` where the scores that are left are not positive.
    pub last_pick: Option<SiteSeed>,
    /// How many picks there are.
    pub picks: u32,
    /// How many seeds were asked for.
    #[schemars(range(min = 1))]
    pub seeds_requested: u32,
    /// How far seeds reach and what a page costs.
    pub terms: WebTerms,
}

/// A pick of a site, or over the web.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SiteSeed {
    /// Its rank on the list.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// Whether no more of the list may change, so that the page is not on it: then its rank is that
    /// among the seeds that the method came to. JSON has the field only then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("const" = true))]
    pub deferred: bool,
    /// The page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Its place among the picks of the site, or over the web, from 1.
    #[schemars(range(min = 1))]
    pub pick: u32,
    /// The score that it was picked by; `null` where it was drawn at random.
    pub gain: Option<f64>,
}

/// Why a page was picked on its site.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CoverSeed {
    /// Its rank on the list.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// Whether no more of the list may change, so that the page is not on it: then its rank is that
    /// among the seeds that the method came to. JSON has the field only then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("const" = true))]
    pub deferred: bool,
    /// The refresh that picked it. Later ones may have taken it over, the site being unchanged.
    #[schemars(range(min = 1))]
    pub since: RefreshId,
    /// Its place among the picks of the site, from 1.
    #[schemars(range(min = 1))]
    pub pick: u32,
    /// The number of seeds that the site was to have.
    #[schemars(range(min = 1))]
    pub seats: u32,
    /// The score that it was picked by; `null` where it was drawn at random.
    pub gain: Option<f64>,
    /// What it covers that no earlier pick of the site does.
    pub covers: ValueBreakdown,
    /// What the seed is the first to cover, by distance from it, from 0 hops on.
    pub hops: Vec<ValueBreakdown>,
    /// The second best page at that moment; `null` where it is not known.
    pub runner_up: Option<ScoredUrl>,
    /// The earlier pick that covers the page itself, and its distance; `null` where none does.
    pub covered_by: Option<(SiteSeed, u32)>,
}

/// A crawled page that no seed covers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Uncovered {
    /// Its score after the site's last pick; `null` where pages are drawn.
    pub score: Option<f64>,
    /// Whether the score is exact; if `false`, it is an upper bound.
    pub exact: bool,
    /// The site's last pick.
    pub last_pick: Option<SiteSeed>,
    /// How many picks the site has.
    pub picks: u32,
    /// The number of seeds that the site was to have.
    #[schemars(range(min = 1))]
    pub seats: u32,
    /// Why the site has no more seeds.
    pub stop: CoverStop,
}
