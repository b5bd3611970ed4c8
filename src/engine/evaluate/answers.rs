//! Results of the experiments. Their JSON forms have schemas in `schema/`.
//!
//! Shares are fractions of 1, PageRank adds up to 1 over the whole graph, values are in units.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::plan::NAME_PATTERN;
use seedbank_algorithms::cover;
use seedbank_algorithms::evaluate::Estimate;
use seedbank_formats::ingest::URL_PATTERN;
use seedbank_store::records::{BatchId, RefreshId};

/// State that an experiment ran on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct StateView {
    /// The last batch.
    pub batch: BatchId,
    /// Pages of the whole graph: crawled and known.
    pub pages: u64,
    /// Crawled pages.
    pub crawled: u64,
    /// Links between pages of the whole graph.
    pub links: u64,
}

/// List of seeds, resolved in the current state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ListView {
    /// Name: the refresh with its plan, or the file.
    pub name: String,
    /// The plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub plan: Option<String>,
    /// The refresh.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub refresh: Option<RefreshId>,
    /// The last batch of the state that the refresh ran on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<BatchId>,
    /// Entries of the list.
    #[schemars(range(min = 1))]
    pub given: u64,
    /// Entries that repeat a page.
    pub repeated: u64,
    /// Live pages, and successors of dead ones.
    pub seeds: u64,
    /// Seeds that are gone, unlinked, aliases, or spam.
    pub dead: u64,
    /// Entries that are not pages of the bank.
    pub unknown: u64,
    /// Successors that are used in place of dead seeds; `None` if none were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub succeeded: Option<u64>,
    /// Dead and unknown entries, in the order of the list.
    pub absent: Vec<AbsentSeed>,
}

/// Entry that is not a live page.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AbsentSeed {
    /// The URL, as in the list.
    pub url: String,
    /// Reason of its absence.
    pub why: AbsentReason,
    /// Page that is used in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = URL_PATTERN))]
    pub successor: Option<String>,
}

/// Reason why an entry of a list is not a live page.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum AbsentReason {
    /// The page is gone.
    Gone,
    /// The page is spam, and its plan excludes spam.
    Spam,
    /// The page never had a record and is no longer linked.
    Unlinked,
    /// The page redirects to another one, or names another one as canonical.
    Alias,
    /// The bank has no such page.
    NotInBank,
    /// The entry is not a page URL.
    NoUrl,
}

/// Claim about seeds, checked on this bank.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// Stable name of the claim.
    #[schemars(regex(pattern = "^[a-z0-9-]+$"))]
    pub claim: String,
    /// Whether it holds on this bank.
    pub holds: bool,
    /// One sentence with the figures.
    pub text: String,
}

/// Result of `evaluate distances`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct DistancesEvaluation {
    /// The evaluated state.
    pub state: StateView,
    /// The plan.
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub plan: String,
    /// The refresh.
    #[schemars(range(min = 1))]
    pub refresh: RefreshId,
    /// The cores, in order.
    #[schemars(length(min = 1))]
    pub cores: Vec<CorePlace>,
    /// Links on the shortest path from any page of a core (row) to any page of another (column);
    /// `null` without a path.
    pub distances: Vec<Vec<Option<u32>>>,
    /// All ordered pairs of different cores.
    pub all: DistanceSpread,
    /// Pairs of neighbouring ranks, in both directions.
    pub neighbours: DistanceSpread,
    /// The whole graph.
    pub graph: GraphDistance,
    /// Claims about cores.
    pub claims: Vec<Claim>,
}

/// Measured core.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CorePlace {
    /// Rank, from 1.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// Seed.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub seed: String,
    /// Sigma.
    #[schemars(range(min = 0))]
    pub sigma: f64,
    /// Pages: hubs and authorities, each page once.
    #[schemars(range(min = 1))]
    pub pages: u64,
    /// Pages that are live in the current state.
    pub live_pages: u64,
}

/// Distances of a set of ordered pairs.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DistanceSpread {
    /// Ordered pairs.
    pub pairs: u64,
    /// Pairs with a path.
    pub reachable: u64,
    /// Pairs without a path.
    pub unreachable: u64,
    /// The shortest distance.
    pub min: Option<u32>,
    /// The mean over reachable pairs.
    #[schemars(range(min = 0))]
    pub mean: Option<f64>,
    /// The longest distance.
    pub max: Option<u32>,
}

/// The average distance between pages of the whole graph.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GraphDistance {
    /// Pages with links.
    pub sources: u64,
    /// Sources from which distances were measured.
    pub samples: u64,
    /// Mean over the reachable ordered pairs; its error is 0 if every source was measured.
    pub mean: Option<Estimate>,
    /// Share of the other pages that a page with links reaches.
    pub reached: Option<Estimate>,
}

/// Result of `evaluate coverage`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CoverageEvaluation {
    /// The evaluated state.
    pub state: StateView,
    /// Measured sites.
    #[schemars(range(min = 1))]
    pub sites: u64,
    /// Sites with enough crawled pages, from which the measured ones were drawn.
    #[schemars(range(min = 1))]
    pub eligible_sites: u64,
    /// Minimum number of crawled pages of a site.
    #[schemars(range(min = 1))]
    pub min_pages: u32,
    /// Crawled pages of the measured sites.
    #[schemars(range(min = 1))]
    pub pages: u64,
    /// Number of random lists that are averaged.
    #[schemars(range(min = 1))]
    pub draws: u32,
    /// Seed of the random streams, and of the draw of sites.
    pub rng_seed: u64,
    /// Coverage by seeds per site, from 1, at the most hops; `random` first, then the methods.
    pub by_seeds: Vec<CoverageCurve>,
    /// Coverage by hops, from 1, at the fixed number of seeds per site.
    pub by_hops: Vec<CoverageCurve>,
    /// Claims about the methods.
    pub claims: Vec<Claim>,
}

/// Coverage of one method.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CoverageCurve {
    /// The method.
    pub method: cover::Method,
    /// Depth of its weight; `null` for methods without one.
    #[schemars(range(min = 1))]
    pub depth: Option<u32>,
    /// Points of the curve.
    pub points: Vec<CoveragePoint>,
}

/// Coverage for one number of seeds and hops.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CoveragePoint {
    /// Seeds per site.
    #[schemars(range(min = 1))]
    pub seeds: u32,
    /// Hops.
    #[schemars(range(min = 1))]
    pub hops: u32,
    /// Coverage of the crawled pages of a site.
    pub pages: CoverageShare,
    /// Coverage of the positive value of a site.
    pub value: CoverageShare,
}

/// Means over sites, with their standard errors.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CoverageShare {
    /// Coverage, in percent of the site.
    pub percent: Estimate,
    /// Difference from random seeds, in percentage points; `null` for random itself.
    pub above_random: Option<Estimate>,
    /// Relative gain over random seeds, in percent; `null` for random itself, or if random seeds
    /// cover nothing.
    pub improvement: Option<Estimate>,
}

/// Result of `evaluate budget`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct BudgetEvaluation {
    /// The evaluated state.
    pub state: StateView,
    /// Maximum number of crawled pages.
    #[schemars(range(min = 1))]
    pub budget: u64,
    /// Results of the lists, in the order of the request.
    #[schemars(length(min = 1))]
    pub lists: Vec<BudgetRow>,
    /// Which list is best.
    pub claims: Vec<Claim>,
}

/// Result of one list.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct BudgetRow {
    /// The list.
    pub list: ListView,
    /// Pages fetched.
    pub pages: u64,
    /// Pages crawled in the bank, among them.
    pub crawled: u64,
    /// Depth of the deepest page; `null` without pages.
    pub depth: Option<u32>,
    /// Value of the pages that are crawled in the bank.
    pub value: f64,
    /// Clicks on the pages.
    pub clicks: u64,
    /// Pages with clicks.
    pub clicked_pages: u64,
    /// Spam pages.
    pub spam: u64,
    /// Total PageRank of the pages.
    #[schemars(range(min = 0))]
    pub pagerank: f64,
}
