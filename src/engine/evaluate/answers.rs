//! What the experiments answer with. As JSON the answers have schemas in `schema/`.
//!
//! Shares are parts of one, PageRank adds up to 1 over the whole graph, values are in units.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::plan::NAME_PATTERN;
use seedbank_algorithms::cover;
use seedbank_algorithms::evaluate::Estimate;
use seedbank_formats::ingest::URL_PATTERN;
use seedbank_store::records::{BatchId, RefreshId};

/// The state that was judged on.
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

/// A list of seeds as it stands today.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ListView {
    /// What it is called: the refresh with its plan, or the file.
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
    /// Entries that name a page again.
    pub repeated: u64,
    /// Pages that take part.
    pub seeds: u64,
    /// Seeds that died: gone, unlinked, or spam by now.
    pub dead: u64,
    /// Entries that the bank does not know.
    pub unknown: u64,
    /// Successors that take part in the place of dead seeds, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub succeeded: Option<u64>,
    /// The dead and the unknown ones, in the order of the list.
    pub absent: Vec<AbsentSeed>,
}

/// A seed that takes no part.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AbsentSeed {
    /// As the list has it.
    pub url: String,
    /// Why it takes no part.
    pub why: AbsentReason,
    /// The page that takes part in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = URL_PATTERN))]
    pub successor: Option<String>,
}

/// Why a seed takes no part.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum AbsentReason {
    /// The page is gone.
    Gone,
    /// The page is spam, and its plan takes no spam.
    Spam,
    /// Nobody links to the page any more and it never had a record.
    Unlinked,
    /// The page redirects to another one, or names another one as canonical.
    Alias,
    /// The bank has no such page.
    NotInBank,
    /// It is no URL of a page.
    NoUrl,
}

/// Whether something that is claimed of seeds holds here.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// Its name, which stays the same.
    #[schemars(regex(pattern = "^[a-z0-9-]+$"))]
    pub claim: String,
    /// Whether it holds on this bank.
    pub holds: bool,
    /// One sentence with the figures.
    pub text: String,
}

/// What `evaluate distances` answers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct DistancesEvaluation {
    /// The state that was judged on.
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
    /// Links on the shortest way from any page of a core (row) to any page of another (column);
    /// `null` where there is none.
    pub distances: Vec<Vec<Option<u32>>>,
    /// All ordered pairs of different cores.
    pub all: DistanceSpread,
    /// Pairs of neighbouring ranks, both ways.
    pub neighbours: DistanceSpread,
    /// The whole graph.
    pub graph: GraphDistance,
    /// What is claimed of cores, and whether it holds here.
    pub claims: Vec<Claim>,
}

/// A core whose distances were measured.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CorePlace {
    /// Its rank, from 1.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// Its seed.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub seed: String,
    /// Its sigma.
    #[schemars(range(min = 0))]
    pub sigma: f64,
    /// Its pages: hubs and authorities, each page once.
    #[schemars(range(min = 1))]
    pub pages: u64,
    /// Those of them that are pages today.
    pub live_pages: u64,
}

/// Distances of a set of ordered pairs.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DistanceSpread {
    /// Ordered pairs.
    pub pairs: u64,
    /// Pairs with a way.
    pub reachable: u64,
    /// Pairs without.
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
    /// Pages with links: where a way can begin.
    pub sources: u64,
    /// Those from which distances were measured.
    pub samples: u64,
    /// Mean over the reachable ordered pairs; the error is 0 where every source was measured.
    pub mean: Option<Estimate>,
    /// Share of the other pages that a page with links reaches.
    pub reached: Option<Estimate>,
}

/// What `evaluate coverage` answers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CoverageEvaluation {
    /// The state that was judged on.
    pub state: StateView,
    /// Sites that were measured.
    #[schemars(range(min = 1))]
    pub sites: u64,
    /// Sites that are large enough, of which those were drawn.
    #[schemars(range(min = 1))]
    pub eligible_sites: u64,
    /// Crawled pages that a site must have.
    #[schemars(range(min = 1))]
    pub min_pages: u32,
    /// Crawled pages of the measured sites.
    #[schemars(range(min = 1))]
    pub pages: u64,
    /// Streams of random seeds.
    #[schemars(range(min = 1))]
    pub draws: u32,
    /// The seed of the streams, and of the draw of sites.
    pub rng_seed: u64,
    /// By seeds per site, from 1, at the most hops; `random` first, then the methods.
    pub by_seeds: Vec<CoverageCurve>,
    /// By hops, from 1, at the fixed number of seeds per site.
    pub by_hops: Vec<CoverageCurve>,
    /// What is claimed of the methods, and whether it holds here.
    pub claims: Vec<Claim>,
}

/// What one method covers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CoverageCurve {
    /// The method.
    pub method: cover::Method,
    /// The depth of its weight, where it has one.
    #[schemars(range(min = 1))]
    pub depth: Option<u32>,
    /// Point by point.
    pub points: Vec<CoveragePoint>,
}

/// What one method covers with so many seeds and hops.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CoveragePoint {
    /// Seeds per site.
    #[schemars(range(min = 1))]
    pub seeds: u32,
    /// Hops.
    #[schemars(range(min = 1))]
    pub hops: u32,
    /// Of the crawled pages of a site.
    pub pages: CoverageShare,
    /// Of the positive value of a site.
    pub value: CoverageShare,
}

/// Means over sites, with their standard errors.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CoverageShare {
    /// What is covered, in per cent of the site.
    pub percent: Estimate,
    /// How much that is above random, in percentage points; `null` for random itself.
    pub above_random: Option<Estimate>,
    /// The gain over random seeds, in per cent of what those cover; `None` where they cover nothing.
    pub improvement: Option<Estimate>,
}

/// What `evaluate budget` answers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct BudgetEvaluation {
    /// The state that was judged on.
    pub state: StateView,
    /// At most so many pages are crawled.
    #[schemars(range(min = 1))]
    pub budget: u64,
    /// What each list gives, in the order in which they were asked for.
    #[schemars(length(min = 1))]
    pub lists: Vec<BudgetRow>,
    /// Which list gives most.
    pub claims: Vec<Claim>,
}

/// What a list gives for the budget.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct BudgetRow {
    /// The list.
    pub list: ListView,
    /// Pages crawled.
    pub pages: u64,
    /// Those of them that the bank has crawled.
    pub crawled: u64,
    /// The deepest page's depth; `null` where there is none.
    pub depth: Option<u32>,
    /// Value of the crawled ones.
    pub value: f64,
    /// Clicks on the pages.
    pub clicks: u64,
    /// Pages with clicks.
    pub clicked_pages: u64,
    /// Spam pages.
    pub spam: u64,
    /// PageRank of the pages together.
    #[schemars(range(min = 0))]
    pub pagerank: f64,
}
