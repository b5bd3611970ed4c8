//! Result of `evaluate crawl`: by pages fetched and by depth.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answers::{Claim, ListView, StateView};
use super::methods::Comparison;
use seedbank_algorithms::evaluate::Estimate;
use seedbank_formats::ingest::URL_PATTERN;

/// Result of `evaluate crawl`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CrawlEvaluation {
    /// The evaluated state.
    pub state: StateView,
    /// The seeds.
    pub list: ListView,
    /// Number of random seed sets, each of as many crawled pages as there are live seeds.
    #[schemars(range(min = 1))]
    pub draws: u32,
    /// Seed of the random sets.
    pub rng_seed: u64,
    /// Comparison by pages fetched; `null` if it was not requested.
    pub fetches: Option<Comparison>,
    /// Results by depth, until neither the seeds nor a random set of pages or hubs reach more pages.
    #[schemars(length(min = 1))]
    pub depths: Vec<CrawlDepth>,
    /// How far the cores have converged; `null` if the seeds are not those of a plan with `hits` = classic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub convergence: Option<Convergence>,
    /// The pages of the highest PageRank.
    pub top_pages: Vec<TopPage>,
    /// Claims about the seeds of cores, checked for this list.
    pub claims: Vec<Claim>,
}

/// Result of a crawl at one depth.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CrawlDepth {
    /// Links from the seeds, which have depth 0.
    pub depth: u32,
    /// Pages at this depth.
    pub new_pages: u64,
    /// Pages up to this depth.
    pub pages: u64,
    /// Share of all crawled and known pages.
    #[schemars(range(min = 0, max = 1))]
    pub share: f64,
    /// Total PageRank of the new pages.
    #[schemars(range(min = 0))]
    pub pagerank: f64,
    /// Mean PageRank of the new pages; `null` without new pages.
    #[schemars(range(min = 0))]
    pub mean_pagerank: Option<f64>,
    /// Share of spam among the new pages; `null` without new pages.
    #[schemars(range(min = 0, max = 1))]
    pub spam_share: Option<f64>,
    /// Value of the new pages that are crawled.
    pub value: f64,
    /// Result of the random seeds.
    pub random: RandomDepth,
    /// Result of as many hubs of the same cores, drawn at random as the papers do; `null` without cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hubs: Option<RandomDepth>,
}

/// Result of crawls from random seeds at one depth: means over the draws.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct RandomDepth {
    /// Pages at this depth.
    pub new_pages: Estimate,
    /// Pages up to this depth.
    pub pages: Estimate,
    /// Share of all crawled and known pages.
    pub share: Estimate,
    /// Total PageRank of the new pages.
    pub pagerank: Estimate,
    /// Mean PageRank of the new pages, over the draws with new pages.
    pub mean_pagerank: Option<Estimate>,
    /// Share of spam among the new pages, over the draws with new pages.
    pub spam_share: Option<Estimate>,
    /// Value of the new pages that are crawled.
    pub value: Estimate,
}

/// Cores after a fixed number of iterations of HITS, which the plan selects again in the current state, compared with those
/// of converged HITS.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Convergence {
    /// Number of iterations for each core.
    #[schemars(range(min = 1))]
    pub iterations: u32,
    /// Rank of the first core that is not the core of converged HITS with the same rank; `null` if all are.
    #[schemars(range(min = 1))]
    pub first_difference: Option<u32>,
    /// The cores, in order.
    pub cores: Vec<CoreConvergence>,
}

/// A core after a fixed number of iterations.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CoreConvergence {
    /// Rank, from 1.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// Number of hubs.
    #[schemars(range(min = 1))]
    pub hubs: u32,
    /// Number of authorities.
    #[schemars(range(min = 1))]
    pub authorities: u32,
    /// Sigma after the last iteration.
    #[schemars(range(min = 0))]
    pub sigma: f64,
    /// `||A^T A a - sigma^2 a|| / sigma^2` of the authority scores a after the last iteration.
    #[schemars(range(min = 0))]
    pub residual: f64,
    /// Share of sigma that the last iteration added.
    #[schemars(range(min = 0))]
    pub sigma_change: f64,
    /// Rank of the core of converged HITS with the same hubs and authorities; `null` if its rank would be above the number of
    /// cores compared, or if there is no such core.
    #[schemars(range(min = 1))]
    pub converged_rank: Option<u32>,
}

/// A page of high PageRank.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TopPage {
    /// The page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// PageRank.
    #[schemars(range(min = 0))]
    pub pagerank: f64,
    /// Depth at which the crawl reaches it; `null` if it does not.
    pub depth: Option<u32>,
}
