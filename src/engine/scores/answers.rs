//! Request and answer of `scores`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use seedbank_formats::ingest::URL_PATTERN;
use seedbank_store::records::{BatchId, PageState, RefreshId};

/// Request for scores.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ScoresRequest {
    /// Plan whose last refresh provides seeds, cores and coverage; `None` for `default`, if it exists.
    pub plan: Option<String>,
    /// Seed of the random sample of source pages for harmonic centrality, if there are too many pages.
    pub rng_seed: u64,
}

/// Scores of a page.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PageScore {
    /// Normalised URL of the page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Site of the page.
    pub site: String,
    /// Crawled or known.
    pub state: PageState,
    /// Number of pages that link to it.
    pub in_degree: u64,
    /// Number of pages that it links to.
    pub out_degree: u64,
    /// PageRank on the whole graph, with a sum of 1 over all pages.
    pub pagerank: f64,
    /// Harmonic centrality: the sum of 1 / distance in links from all other pages; an estimate if only a sample of
    /// them was searched.
    pub harmonic: f64,
    /// Standard error of `harmonic`; 0 if it is exact, and for a page that no sampled page leads to.
    pub harmonic_error: f64,
    /// Rank on the plan's seed list, from 1; `null` if it is not a seed.
    pub seed_rank: Option<u32>,
    /// Rank of its core, for a plan by cores; `null` if it is in none.
    pub core: Option<u32>,
    /// Hub score in that core; `null` if it is not a hub.
    pub hub_score: Option<f64>,
    /// Authority score in that core; `null` if it is not an authority.
    pub authority_score: Option<f64>,
    /// First pick that covers it, for a plan by coverage: the page itself if it is a pick that no earlier one
    /// covers; `null` if none does. The pick may be deferred by `max-changes`.
    #[schemars(inner(regex(pattern = URL_PATTERN)))]
    pub covered_by: Option<String>,
    /// Distance from that pick, in links; `null` if none covers it.
    pub covered_at: Option<u32>,
}

/// How scores were computed, and on which state.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ScoresReport {
    /// Last batch of the state; 0 for an empty bank.
    pub batch: BatchId,
    /// Number of pages.
    pub pages: u64,
    /// Plan whose evidence is included; `None` without one.
    pub plan: Option<String>,
    /// Last refresh of the plan.
    pub refresh: Option<RefreshId>,
    /// Last batch of the state that it ran on.
    pub state_batch: Option<BatchId>,
    /// Number of source pages for harmonic centrality.
    pub harmonic_sources: u64,
    /// Whether the sources are all pages with links. If not, harmonic centralities are estimates from a sample, each
    /// with its standard error.
    pub harmonic_is_exact: bool,
}
