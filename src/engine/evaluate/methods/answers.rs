//! Results of comparing seed lists by pages fetched.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::evaluate::answers::{Claim, StateView};
use crate::engine::plan::{Measure, PlanOptions};
use seedbank_algorithms::evaluate::Estimate;
use seedbank_store::records::BatchId;

/// Result of `evaluate methods`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct MethodsEvaluation {
    /// The evaluated state.
    pub state: StateView,
    /// Comparison of all methods and baselines.
    pub comparison: Comparison,
    /// The best plan for each number of seeds and fetches at which it gathers any value.
    pub recommended: Vec<Recommended>,
}

/// Comparison of seed lists by what crawls from them gather per page fetched.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Comparison {
    /// The figure that decides.
    pub measure: Measure,
    /// Number of crawled pages.
    pub crawled: u64,
    /// Values of pages: the parameters of a plan that determine them.
    pub value: PlanOptions,
    /// Numbers of seeds.
    #[schemars(length(min = 1))]
    pub seeds: Vec<u32>,
    /// Pages that crawls fetch.
    #[schemars(length(min = 1))]
    pub budgets: Vec<u64>,
    /// Number of times that pages were held out.
    pub draws: u32,
    /// Number of crawled pages held out each time.
    pub held_out: u64,
    /// Seed of all random streams.
    pub rng_seed: u64,
    /// Batch after which crawled pages were also held out; `None` without a history.
    pub since: Option<BatchId>,
    /// Number of current crawled pages that were not crawled yet at that batch.
    pub crawled_since: Option<u64>,
    /// Whether harmonic centralities are exact, not estimated from a sample.
    pub harmonic_is_exact: bool,
    /// Results by number of seeds, then by fetches; plans before baselines.
    pub lists: Vec<ComparedList>,
    /// Whether the best plan exceeds the baselines, and where it does not.
    pub claims: Vec<Claim>,
}

/// Kind of a compared list.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum ListKind {
    /// Selected by a plan, again whenever pages are held out.
    Plan,
    /// Fixed URLs.
    Given,
    /// Selected by a baseline.
    Baseline,
}

/// Result of crawls from a list within a number of fetches.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ComparedList {
    /// Name of the list.
    pub list: String,
    /// Kind of the list.
    pub kind: ListKind,
    /// Parameters of the plan; `None` for other lists.
    pub parameters: Option<PlanOptions>,
    /// Requested number of seeds.
    #[schemars(range(min = 1))]
    pub seeds: u32,
    /// Number of seeds of the list with everything known.
    pub listed: u64,
    /// Maximum number of fetches of a crawl.
    #[schemars(range(min = 1))]
    pub budget: u64,
    /// Selected and evaluated with everything known.
    pub known: ByFetches,
    /// Selected without the pages held out, evaluated with everything known: means over the draws.
    /// `None` for fixed lists, and without draws.
    pub held_out: Option<ByFetches>,
    /// Selected without the pages crawled since a batch, evaluated with everything known.
    pub since: Option<ByFetches>,
    /// For a plan, the ratio of its figure by `measure`, with pages held out, to that of the best
    /// baseline. `None` without draws, and if the baseline's figure is 0.
    pub times_best_baseline: Option<Estimate>,
    /// For a plan, the same ratio for the value of pages. `None` without draws, and if no baseline
    /// gathers a positive value.
    pub times_best_value: Option<Estimate>,
    /// For a plan, whether its figure by `measure` exceeds that of every baseline by more than two
    /// standard errors of the difference, over the draws; `None` with fewer than two draws.
    pub above_baselines: Option<bool>,
}

/// Results with fetches counted in two ways.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ByFetches {
    /// All pages are fetched and count.
    pub all: GatheredView,
    /// Uncrawled pages are neither fetched nor counted.
    pub of_crawled: GatheredView,
}

/// Pages gathered by crawls.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct GatheredView {
    /// Pages fetched: the budget, or fewer if fewer can be reached.
    pub fetched: Estimate,
    /// Their value, in units.
    pub value: Estimate,
    /// Crawled pages among them.
    pub crawled: Estimate,
    /// Distinct contents of the crawled pages. A page without a digest has its own content.
    pub contents: Estimate,
    /// Crawled pages among them that were held out from the selection.
    pub new_pages: Estimate,
    /// Distinct contents that only pages held out from the selection have.
    pub new_contents: Estimate,
    /// Pages fetched, or linked from pages fetched, that were not known at all to the selection.
    pub discovered: Estimate,
    /// Their PageRank, which adds up to 1 over all pages.
    pub pagerank: Estimate,
}

/// Recommended plan.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Recommended {
    /// Number of seeds.
    #[schemars(range(min = 1))]
    pub seeds: u32,
    /// Number of fetches.
    #[schemars(range(min = 1))]
    pub budget: u64,
    /// Name of its list.
    pub list: String,
    /// Number of seeds that it selects with everything known.
    pub listed: u64,
    /// Its parameters.
    pub parameters: PlanOptions,
}

/// Selection of seeds as by today's crawlers, without a plan.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Baseline {
    /// Drawn without replacement; the mean of several lists.
    Random,
    /// Highest PageRank over the whole web.
    Pagerank,
    /// Highest harmonic centrality over the whole web.
    Harmonic,
    /// Most in-links.
    InDegree,
    /// Most out-links.
    OutDegree,
    /// Most out-links to crawled pages, less .3 times all out-links; at most 3 pages of a site.
    NetOutDegree,
    /// Of each site the page with the most crawled pages within two links, less .3 times all pages within two links.
    NetReach,
    /// The page of each site with the highest PageRank over the whole web.
    SitePagerank,
    /// The page of each site with the most out-links.
    SiteOutDegree,
    /// The shortest URL of each of the sites with the most crawled pages.
    HomePages,
    /// A random number times log10 of one more than the in-links, limited for each site; the mean
    /// of several lists.
    CommonCrawl,
    /// Last fetch the longest ago; if the bank has times of fetches of at least two crawls.
    Oldest,
}

impl GatheredView {
    /// Returns the figure that lists are compared by.
    #[must_use]
    pub const fn by(&self, measure: Measure) -> Estimate {
        match measure {
            Measure::Contents => self.contents,
            Measure::Crawled => self.crawled,
            Measure::Discovered => self.discovered,
            Measure::Pagerank => self.pagerank,
        }
    }
}

impl Baseline {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Random,
        Self::Pagerank,
        Self::Harmonic,
        Self::InDegree,
        Self::OutDegree,
        Self::NetOutDegree,
        Self::NetReach,
        Self::SitePagerank,
        Self::SiteOutDegree,
        Self::HomePages,
        Self::CommonCrawl,
        Self::Oldest,
    ];

    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Pagerank => "pagerank",
            Self::Harmonic => "harmonic",
            Self::InDegree => "in-degree",
            Self::OutDegree => "out-degree",
            Self::NetOutDegree => "net-out-degree",
            Self::NetReach => "net-reach",
            Self::SitePagerank => "site-pagerank",
            Self::SiteOutDegree => "site-out-degree",
            Self::HomePages => "home-pages",
            Self::CommonCrawl => "common-crawl",
            Self::Oldest => "oldest",
        }
    }

    /// Returns the number of lists that are averaged.
    pub(super) const fn streams(self) -> u64 {
        match self {
            Self::Random | Self::CommonCrawl => 10,
            _ => 1,
        }
    }
}
