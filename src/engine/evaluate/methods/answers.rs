//! What a comparison of seed lists by fetches answers with.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::evaluate::answers::{Claim, StateView};
use crate::engine::plan::PlanOptions;
use seedbank_algorithms::evaluate::Estimate;
use seedbank_store::records::BatchId;

/// What `evaluate methods` answers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct MethodsEvaluation {
    /// The state that was judged on.
    pub state: StateView,
    /// Every method and baseline side by side.
    pub comparison: Comparison,
    /// The plan to take for each number of seeds and fetches, if any gathers anything.
    pub recommended: Vec<Recommended>,
}

/// Lists of seeds side by side, by what crawls from them gather per page fetched.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Comparison {
    /// What pages are worth: the parameters of a plan that values follow from.
    pub value: PlanOptions,
    /// Numbers of seeds.
    #[schemars(length(min = 1))]
    pub seeds: Vec<u32>,
    /// Pages that crawls fetch.
    #[schemars(length(min = 1))]
    pub budgets: Vec<u64>,
    /// How often pages were held out.
    pub draws: u32,
    /// How many crawled pages were held out each time.
    pub held_out: u64,
    /// The seed of all random streams.
    pub rng_seed: u64,
    /// The batch at which seeds were also chosen; `None` where the bank has no past.
    pub since: Option<BatchId>,
    /// How many of today's crawled pages were not crawled after that batch.
    pub crawled_since: Option<u64>,
    /// Whether harmonic centralities are exact, and not estimated from a sample of pages.
    pub harmonic_is_exact: bool,
    /// By number of seeds and then by fetches; plans before baselines.
    pub lists: Vec<ComparedList>,
    /// Which plan is best, and what it loses by.
    pub claims: Vec<Claim>,
}

/// What stands beside each other.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum ListKind {
    /// Chosen by a plan, anew wherever pages are held out.
    Plan,
    /// URLs that were given; they are judged as they are.
    Given,
    /// Chosen by a baseline.
    Baseline,
}

/// What crawls from a list gather within a number of fetches.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ComparedList {
    /// What it is called.
    pub list: String,
    /// What it is.
    pub kind: ListKind,
    /// The parameters of the plan; `None` for other lists.
    pub parameters: Option<PlanOptions>,
    /// How many seeds were asked for.
    #[schemars(range(min = 1))]
    pub seeds: u32,
    /// How many the list has where nothing is held out.
    pub listed: u64,
    /// How many pages a crawl fetches at most.
    #[schemars(range(min = 1))]
    pub budget: u64,
    /// Chosen and judged with everything that the bank has.
    pub known: ByFetches,
    /// Chosen without the pages held out, judged with everything: means over the draws. `None` for
    /// lists that were given, and without draws.
    pub held_out: Option<ByFetches>,
    /// Chosen without what was crawled since a batch, judged with everything.
    pub since: Option<ByFetches>,
    /// For a plan, its value where pages are held out beside that of the baseline that is best
    /// there: their ratio. `None` without draws, and where the baseline's value is not positive.
    pub times_best_baseline: Option<Estimate>,
    /// For a plan, whether its value is above that of every baseline by more than two standard errors
    /// of the difference, over the draws; `None` with fewer than two.
    pub above_baselines: Option<bool>,
}

/// What is gathered, with fetches counted in two ways.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ByFetches {
    /// All pages are fetched and count.
    pub all: GatheredView,
    /// Pages that nobody has crawled are neither fetched nor counted.
    pub of_crawled: GatheredView,
}

/// What crawls gather.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct GatheredView {
    /// Pages fetched: the budget, or fewer where the list leads to fewer.
    pub fetched: Estimate,
    /// Their value, in units.
    pub value: Estimate,
    /// Those of them that are crawled.
    pub crawled: Estimate,
    /// Those of them that are crawled and were held out while the list was chosen.
    pub new_pages: Estimate,
    /// Their PageRank, which adds up to 1 over all pages.
    pub pagerank: Estimate,
}

/// A plan to take.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Recommended {
    /// How many seeds.
    #[schemars(range(min = 1))]
    pub seeds: u32,
    /// For how many fetches.
    #[schemars(range(min = 1))]
    pub budget: u64,
    /// What its list is called.
    pub list: String,
    /// Its parameters.
    pub parameters: PlanOptions,
}

/// How seeds are chosen without a plan: what crawlers use today.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Baseline {
    /// Drawn without replacement; the mean of several lists.
    Random,
    /// The best PageRank over the whole web.
    Pagerank,
    /// The best harmonic centrality over the whole web.
    Harmonic,
    /// The most pages that link to it.
    InDegree,
    /// The most pages that it links to.
    OutDegree,
    /// The shortest URL of each of the sites with most crawled pages.
    HomePages,
    /// A random number times log10 of one more than the in-links, limited for each site; the mean of
    /// several lists.
    CommonCrawl,
}

impl Baseline {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Random,
        Self::Pagerank,
        Self::Harmonic,
        Self::InDegree,
        Self::OutDegree,
        Self::HomePages,
        Self::CommonCrawl,
    ];

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Pagerank => "pagerank",
            Self::Harmonic => "harmonic",
            Self::InDegree => "in-degree",
            Self::OutDegree => "out-degree",
            Self::HomePages => "home-pages",
            Self::CommonCrawl => "common-crawl",
        }
    }

    /// How many lists the mean is taken of.
    pub(super) const fn streams(self) -> u64 {
        match self {
            Self::Random | Self::CommonCrawl => 10,
            _ => 1,
        }
    }
}
