//! What `evaluate crawl` answers with: first by pages fetched, then by depth.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answers::{Claim, ListView, StateView};
use super::methods::Comparison;
use seedbank_algorithms::evaluate::Estimate;
use seedbank_formats::ingest::URL_PATTERN;

/// What `evaluate crawl` answers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CrawlEvaluation {
    /// The state that was judged on.
    pub state: StateView,
    /// The seeds.
    pub list: ListView,
    /// Random seed sets, each of as many crawled pages as there are seeds that take part.
    #[schemars(range(min = 1))]
    pub draws: u32,
    /// The seed of their streams.
    pub rng_seed: u64,
    /// What crawls from the seeds gather per page fetched, beside what crawlers use today; `null`
    /// where that was left out.
    pub fetches: Option<Comparison>,
    /// Depth by depth, until neither the seeds nor any random set reach more pages.
    #[schemars(length(min = 1))]
    pub depths: Vec<CrawlDepth>,
    /// The pages of the highest PageRank.
    pub top_pages: Vec<TopPage>,
    /// What is claimed of seeds by cores, and whether it holds for this list.
    pub claims: Vec<Claim>,
}

/// What a crawl finds at one depth.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CrawlDepth {
    /// Links from the seeds; the seeds themselves have depth 0.
    pub depth: u32,
    /// Pages at this depth.
    pub new_pages: u64,
    /// Pages up to this depth.
    pub pages: u64,
    /// Their share of the web: all crawled and known pages.
    #[schemars(range(min = 0, max = 1))]
    pub share: f64,
    /// PageRank of the new pages together.
    #[schemars(range(min = 0))]
    pub pagerank: f64,
    /// Mean PageRank of the new pages; `null` where there are none.
    #[schemars(range(min = 0))]
    pub mean_pagerank: Option<f64>,
    /// Share of spam among the new pages; `null` where there are none.
    #[schemars(range(min = 0, max = 1))]
    pub spam_share: Option<f64>,
    /// Value of the new pages that are crawled.
    pub value: f64,
    /// What random seeds reach at this depth.
    pub random: RandomDepth,
}

/// What crawls from random seeds find at one depth: means over the draws.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct RandomDepth {
    /// Pages at this depth.
    pub new_pages: Estimate,
    /// Pages up to this depth.
    pub pages: Estimate,
    /// Their share of the web.
    pub share: Estimate,
    /// PageRank of the new pages together.
    pub pagerank: Estimate,
    /// Mean PageRank of the new pages, over the draws that have any.
    pub mean_pagerank: Option<Estimate>,
    /// Share of spam among the new pages, over the draws that have any.
    pub spam_share: Option<Estimate>,
    /// Value of the new pages that are crawled.
    pub value: Estimate,
}

/// A page of high PageRank.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TopPage {
    /// The page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Its PageRank.
    #[schemars(range(min = 0))]
    pub pagerank: f64,
    /// The depth at which the crawl reaches it; `null` where it does not.
    pub depth: Option<u32>,
}
