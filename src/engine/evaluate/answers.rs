//! Results of the experiments. Their JSON forms have schemas in `schema/`.
//!
//! Shares are fractions of 1, PageRank adds up to 1 over the whole graph, values are in units.

use crate::engine::Which;
use crate::engine::history::seed_counts::{SeedCounts, SeedPromise};
use crate::engine::plan::{Crawls, Goal, NAME_PATTERN, PlanOptions};
use schemars::JsonSchema;
use seedbank_algorithms::cover;
use seedbank_algorithms::evaluate::Estimate;
use seedbank_algorithms::evaluate::distances::AverageDistance;
use seedbank_formats::ingest::URL_PATTERN;
use seedbank_store::records::{BatchId, FetchCounts, RefreshId};
use serde::{Deserialize, Serialize};

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
    /// The page redirects to another one.
    Alias,
    /// It is a resource, such as a script or an image.
    Resource,
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

impl From<AverageDistance> for GraphDistance {
    fn from(found: AverageDistance) -> Self {
        Self {
            sources: found.sources,
            samples: found.samples,
            mean: found.mean,
            reached: found.reached,
        }
    }
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
    /// Sites with enough crawled pages and a link from another site, from which the measured ones were drawn.
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
    /// Treatment of covered pages; `null` for methods that look at pages alone.
    pub covered: Option<cover::Covered>,
    /// Points of the curve.
    pub points: Vec<CoveragePoint>,
}

impl CoverageCurve {
    /// Returns the name of the method, and the one that it has on the authors' poster, if any.
    #[must_use]
    pub fn name(&self) -> String {
        let mut name = self.method.name().to_owned();
        // The depth of greedy is always the number of hops.
        let depth = self.depth.filter(|_| self.method != cover::Method::Greedy);
        name.extend(depth.map(|depth| format!(", depth {depth}")));
        let removes = self.covered == Some(cover::Covered::Remove);
        match (self.method, self.depth) {
            (cover::Method::MaxOut, _) => name.push_str(" (L1)"),
            (cover::Method::MaxWeight, Some(1)) if removes => name.push_str(", remove (L2)"),
            (cover::Method::MaxWeight, Some(2)) if removes => name.push_str(", remove (L3)"),
            (cover::Method::MaxScc, Some(1)) if removes => name.push_str(", remove (SCC)"),
            _ => {}
        }
        name
    }
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
    /// Improvement over random seeds, in percent, as published: the mean of the improvements on each site on which random
    /// seeds cover something; `null` for random itself, or if there is no such site.
    pub mean_improvement: Option<Estimate>,
    /// Improvement of the mean coverage over that of random seeds, in percent; `null` for random itself, or if random seeds
    /// cover nothing.
    pub improvement_of_means: Option<Estimate>,
}

/// Result of `evaluate budget`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct BudgetEvaluation {
    /// The evaluated state.
    pub state: StateView,
    /// Maximum number of fetches.
    #[schemars(range(min = 1))]
    pub budget: u64,
    /// The crawls from each list.
    pub crawl: Crawls,
    /// Results of the lists, in the order of the request.
    #[schemars(length(min = 1))]
    pub lists: Vec<BudgetRow>,
    /// Which list is best.
    pub claims: Vec<Claim>,
}

/// Result of one list. Figures of several crawls are their geometric means, computed after adding 1 to each number except
/// PageRank; the depth is the greatest.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct BudgetRow {
    /// The list.
    pub list: ListView,
    /// Fetches, also those that fail.
    pub pages: u64,
    /// Fetched pages that are crawled in the bank.
    pub crawled: u64,
    /// Distinct contents of these.
    pub contents: u64,
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

// Results of `evaluate actual`.

/// What crawlers fetched from each seed according to their own records, beside what the lists
/// promised.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ActualEvaluation {
    /// The state whose attributes determine the values of pages.
    pub state: StateView,
    /// The batches with fetches, undone ones left out.
    pub batches: Vec<BatchId>,
    /// The plans, by name.
    pub plans: Vec<PlanActual>,
    /// Seeds of fetches that were on no plan's list at that time, by URL.
    pub others: Vec<SeedActual>,
    /// Fetches that no crawler attributed to a seed.
    pub unattributed: FetchCounts,
    /// Fetches from seeds that were forgotten since.
    pub forgotten: SeedCounts,
}

/// The seeds of a plan.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PlanActual {
    /// Name of the plan.
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub plan: String,
    /// The refreshes whose list was the last one when a batch was ingested.
    pub refreshes: Vec<RefreshId>,
    /// Whether the evidence of any of these refreshes promises pages. Cores promise nothing.
    pub promises: bool,
    /// Whether fetches have values; `false` if the plan values pages by PageRank.
    pub valued: bool,
    /// The seeds of these lists: those of the last list in its order, then the others by URL.
    pub seeds: Vec<SeedActual>,
}

/// A seed, and what was fetched from it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SeedActual {
    /// Normalised URL of the seed.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Rank on the last list; absent if it is not on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub rank: Option<u32>,
    /// Fetches that crawlers attributed to it while it was on the last list.
    pub counts: SeedCounts,
    /// Sum over these fetches of the value of the page, if it is crawled today and not a duplicate;
    /// `null` if pages are not valued.
    pub value: Option<f64>,
    /// This sum divided by the number of all fetches, including failed ones; `null` without
    /// fetches.
    pub value_per_fetch: Option<f64>,
    /// What the lists promised, added up over the refreshes; absent if they promised nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promised: Option<SeedPromise>,
}

// Requests of the experiments.

/// List of seeds to evaluate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SeedList {
    /// The seeds of a refresh; dead ones are left out.
    Refresh(Which),
    /// The seeds of a refresh, with each dead one replaced by its current successor, if it has one
    /// that is not a seed already.
    Succeeded(Which),
    /// Any URLs.
    Urls {
        /// Name of the list in the result.
        name: String,
        /// The URLs, best first.
        urls: Vec<String>,
    },
}

/// The request of `evaluate actual`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ActualRequest {
    /// The plan; `None` for all plans.
    pub plan: Option<String>,
    /// The first batch; `None` for all batches.
    pub since: Option<BatchId>,
}

/// The request of `evaluate crawl`.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::evaluate::CrawlRequest;
///
/// let request = CrawlRequest { depth: 2, draws: 4, holdouts: 0, ..CrawlRequest::default() };
/// let found = bank.evaluate_crawl(&request)?;
/// // The seed, and the two pages that it links to.
/// assert_eq!((found.depths[0].pages, found.depths[1].pages), (1, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CrawlRequest {
    /// The seeds.
    pub list: SeedList,
    /// Depth of the crawl, in links.
    pub depth: u32,
    /// Number of random seed sets of the same size to compare with.
    pub draws: u32,
    /// Seed of the random streams.
    pub rng_seed: u64,
    /// Number of pages with the highest PageRank to report, with the depth at which they are
    /// reached.
    pub top: u32,
    /// Lists that the seeds are compared with by pages fetched.
    pub compared_with: ComparedWith,
    /// Number of times that a tenth of the crawled pages is held out for that while the plan
    /// selects again. URLs are only evaluated with everything known.
    pub holdouts: u32,
    /// Pages that crawls fetch; empty as in [`MethodsRequest::budgets`].
    pub budgets: Vec<u64>,
}

/// Lists that seeds are compared with by pages fetched.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ComparedWith {
    /// No comparison.
    Nothing,
    /// The baselines of today's crawlers.
    #[default]
    Baselines,
    /// Those, and a plan of every method.
    Methods,
}

impl Default for CrawlRequest {
    fn default() -> Self {
        Self {
            list: SeedList::Refresh(Which::default()),
            depth: 6,
            draws: 100,
            rng_seed: 0,
            top: 10,
            compared_with: ComparedWith::default(),
            holdouts: 5,
            budgets: Vec::new(),
        }
    }
}

/// The request of `evaluate distances`.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::evaluate::DistancesRequest;
///
/// let found = bank.evaluate_distances(&DistancesRequest::default())?;
/// assert_eq!((found.cores.len(), found.all.pairs), (1, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DistancesRequest {
    /// The refresh, which must have cores.
    pub which: Which,
    /// Maximum number of cores to measure, in order.
    pub cores: u32,
    /// Number of pages from which the graph's average distance is sampled.
    pub samples: u32,
    /// Seed of the sample.
    pub rng_seed: u64,
}

impl Default for DistancesRequest {
    fn default() -> Self {
        Self {
            which: Which::default(),
            cores: 100,
            samples: 400,
            rng_seed: 0,
        }
    }
}

/// The request of `evaluate coverage`.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::evaluate::CoverageRequest;
///
/// ingest(&bank, "day-1.jsonl", r#"{"url": "http://x.example/", "outlinks": ["http://a.example/"]}"#)?;
/// let request = CoverageRequest { min_pages: 1, per_site: 1, hops: 1, ..CoverageRequest::default() };
/// let found = bank.evaluate_coverage(&request)?;
/// // No other site links to b.example.
/// assert_eq!(found.sites, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct CoverageRequest {
    /// Maximum number of seeds per site: they go from 1 to this, at `hops`.
    pub per_site: u32,
    /// Maximum number of hops: they go from 1 to this, at `fixed_seeds`.
    pub hops: u32,
    /// Seeds per site while the hops vary.
    pub fixed_seeds: u32,
    /// Minimum number of crawled pages of a site. Nearly any seeds cover smaller sites. Sites to which no other site links
    /// are left out too.
    pub min_pages: u32,
    /// Maximum number of sites; if there are more, this many are drawn at random.
    pub max_sites: u32,
    /// Number of random lists that are averaged.
    pub draws: u32,
    /// Seed of the random streams, and of the draw of sites.
    pub rng_seed: u64,
    /// Values of pages: the weights and `p_uniq`; other parameters are ignored.
    pub value: PlanOptions,
}

impl Default for CoverageRequest {
    fn default() -> Self {
        Self {
            per_site: 10,
            hops: 5,
            fixed_seeds: 5,
            min_pages: 100,
            max_sites: 1000,
            draws: 20,
            rng_seed: 0,
            value: PlanOptions::default(),
        }
    }
}

/// The request of `evaluate budget`.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::Which;
/// use seedbank::engine::evaluate::{BudgetRequest, SeedList};
///
/// let request = BudgetRequest {
///     lists: vec![
///         SeedList::Refresh(Which::default()),
///         SeedList::Urls { name: "today".to_owned(), urls: vec!["http://x.example/".to_owned()] },
///     ],
///     pages: 10,
///     crawl: None,
/// };
/// let found = bank.evaluate_budget(&request)?;
/// assert_eq!((found.lists[0].pages, found.lists[1].pages), (3, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BudgetRequest {
    /// Lists to compare, at least one.
    pub lists: Vec<SeedList>,
    /// Maximum number of pages fetched from each list.
    pub pages: u64,
    /// The crawls from each list; `None` for those of the plan of the first list, breadth-first if it has none.
    pub crawl: Option<Crawls>,
}

/// The request of `evaluate methods`.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::evaluate::MethodsRequest;
///
/// let request = MethodsRequest { seeds: vec![1], budgets: vec![2], ..MethodsRequest::default() };
/// let found = bank.evaluate_methods(&request)?;
/// let random = found.comparison.lists.iter().find(|list| list.list == "random");
/// assert_eq!(random.map(|list| list.known.all.crawled.mean), Some(1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct MethodsRequest {
    /// Numbers of seeds, at least one.
    pub seeds: Vec<u32>,
    /// Pages that crawls fetch; if empty, a tenth, half and twice as many as are crawled, rounded
    /// to one digit.
    pub budgets: Vec<u64>,
    /// Number of times that a tenth of the crawled pages is held out; 0 selects with everything
    /// known only.
    pub draws: u32,
    /// Seed of all random streams.
    pub rng_seed: u64,
    /// Plan of the bank that is also compared. Its goal and its values of pages apply unless `goal` and
    /// `value` override them.
    pub plan: Option<String>,
    /// The goal, which determines the figure that decides and the values of pages; `None` for that of
    /// the plan, or coverage.
    pub goal: Option<Goal>,
    /// The crawls from each list; `None` for those of the plan, or the panel.
    pub crawl: Option<Crawls>,
    /// Values of pages; other parameters are ignored.
    pub value: PlanOptions,
    /// Batch after which crawled pages are also held out; `None` for the first with a complete
    /// history after it.
    pub since: Option<BatchId>,
}

impl Default for MethodsRequest {
    fn default() -> Self {
        Self {
            seeds: vec![20, 100],
            budgets: Vec::new(),
            draws: 5,
            rng_seed: 0,
            plan: None,
            goal: None,
            crawl: None,
            value: PlanOptions::default(),
            since: None,
        }
    }
}
