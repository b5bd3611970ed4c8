//! The answer of `evaluate methods --next`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::evaluate::answers::StateView;
use seedbank_algorithms::statistics::Estimate;
use seedbank_store::records::BatchId;

/// A list that is chosen for the next crawls.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum NextList {
    /// Greedy by the expected number of new links: the goal discovery with `learned`.
    Learned,
    /// Greedy by page value, with hops and fetch cost tuned on the day before.
    Coverage,
    /// Pages with the most links.
    OutDegree,
    /// Pages whose last fetch is the longest ago.
    Oldest,
    /// Pages with the most links times days since the last fetch.
    OutDegreeDays,
    /// Pages with the most links to them.
    InDegree,
    /// Pages with the highest PageRank.
    Pagerank,
    /// Pages drawn at random.
    Random,
}

impl NextList {
    /// All lists; baselines come last.
    pub const ALL: [Self; 8] = [
        Self::Learned,
        Self::Coverage,
        Self::OutDegree,
        Self::Oldest,
        Self::OutDegreeDays,
        Self::InDegree,
        Self::Pagerank,
        Self::Random,
    ];

    /// Whether it learns nothing and has no parameters.
    #[must_use]
    pub const fn is_baseline(self) -> bool {
        !matches!(self, Self::Learned | Self::Coverage)
    }

    /// Returns the name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Learned => "learned",
            Self::Coverage => "coverage",
            Self::OutDegree => "out-degree",
            Self::Oldest => "oldest first",
            Self::OutDegreeDays => "out-degree x days",
            Self::InDegree => "in-degree",
            Self::Pagerank => "pagerank",
            Self::Random => "random",
        }
    }
}

/// New pages of a crawl: URLs that the bank did not know when the list was chosen.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct NewPages {
    /// Those that fetched pages link to, or that were fetched.
    #[schemars(range(min = 0))]
    pub found: f64,
    /// Those that were fetched.
    #[schemars(range(min = 0))]
    pub fetched: f64,
}

/// The results of a list, as means over the days.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NextRow {
    /// The list.
    pub list: NextList,
    /// New pages if every page is fetched.
    pub replayed: NewPages,
    /// New pages if only pages are fetched that the bank ever fetched.
    pub replayed_crawled: NewPages,
    /// New pages of a crawl in the closed loop, in which each list knows only what its own crawls found.
    pub closed_loop: NewPages,
}

/// A comparison of the learned list with the baseline that found the most in hindsight, by pages found.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NextComparison {
    /// The baseline.
    pub baseline: NextList,
    /// Number of days.
    pub days: u64,
    /// Days on which the learned list found more.
    pub won: u64,
    /// Ratio of the means, with its standard error; `null` if the baseline found nothing.
    pub ratio: Option<Estimate>,
    /// Geometric mean of the ratios of days, each with half a page added to both; `null` without days.
    #[schemars(range(min = 0))]
    pub day_ratio: Option<f64>,
    /// The logarithm of `day_ratio`, with its standard error over the days; `null` without days.
    pub log_day_ratio: Option<Estimate>,
    /// The share of the pages found by the learned list that it found on its best day, from 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub largest_day: f64,
    /// What follows.
    pub verdict: NextVerdict,
}

/// Whether learned values find more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NextVerdict {
    /// Both ratios are above 1, that of the days by more than its standard error.
    Better,
    /// Both ratios are below 1, that of the days by more than its standard error.
    Worse,
    /// There are fewer than 10 days, the two ratios disagree, or the difference is within the error.
    Undecided,
}

/// The result of `evaluate methods --next`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct NextEvaluation {
    /// The state.
    pub state: StateView,
    /// Number of seeds of each list.
    #[schemars(range(min = 1))]
    pub seeds: u32,
    /// Number of fetches of each crawl.
    #[schemars(range(min = 1))]
    pub budget: u64,
    /// The number of days before the last fetch in the bank within which a fetched page cannot be a seed.
    pub rest: u32,
    /// The seed of random draws.
    pub rng_seed: u64,
    /// The batches after which lists were chosen, each to be replayed over the three batches after it.
    pub batches: Vec<BatchId>,
    /// The batches of the closed loop.
    pub batches_in_loop: Vec<BatchId>,
    /// The lists.
    pub rows: Vec<NextRow>,
    /// The learned list beside the best baseline when replayed.
    pub replayed: NextComparison,
    /// The same in the closed loop. Replays favour lists that have the same pages every day, since
    /// what these missed the day before counts again; in the closed loop it does not.
    pub closed_loop: NextComparison,
}
