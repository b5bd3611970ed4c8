//! The scores of pages, and how they were measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use seedbank_formats::ingest::URL_PATTERN;
use seedbank_store::records::{BatchId, PageState, RefreshId};

/// Which scores are asked for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ScoresRequest {
    /// The plan whose last refresh tells of cores, covers and seeds; `None` for the one named
    /// `default`, where there is one.
    pub plan: Option<String>,
    /// The seed of the draw of pages that distances are measured from, where they are too many.
    pub rng_seed: u64,
}

/// What a page comes to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PageScore {
    /// The page, normalised.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Its site.
    pub site: String,
    /// Crawled or known.
    pub state: PageState,
    /// How many pages link to it, of its own site and of others.
    pub in_degree: u64,
    /// How many pages it links to, of its own site and of others.
    pub out_degree: u64,
    /// Its PageRank over the whole graph; those of all pages add up to 1.
    pub pagerank: f64,
    /// Its harmonic centrality: the sum of 1 / distance to it in links, over the pages that distances are
    /// measured from.
    pub harmonic: f64,
    /// Its rank on the plan's list of seeds, from 1; `null` where it is none of them.
    pub seed_rank: Option<u32>,
    /// The rank of the core that it is in, of a plan by cores; `null` where it is in none.
    pub core: Option<u32>,
    /// Its score as a hub of that core; `null` where it is none.
    pub hub_score: Option<f64>,
    /// Its score as an authority of that core; `null` where it is none.
    pub authority_score: Option<f64>,
    /// The first pick that covers it, of a plan by what seeds cover: itself where it is one that no
    /// earlier one covers; `null` where none does. A pick that a policy holds back is no seed.
    #[schemars(inner(regex(pattern = URL_PATTERN)))]
    pub covered_by: Option<String>,
    /// How many links lead there from that seed; `null` where none covers it.
    pub covered_at: Option<u32>,
}

/// How the scores of pages were measured, and of which state.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ScoresReport {
    /// The last batch of the state; 0 for an empty bank.
    pub batch: BatchId,
    /// How many pages there are.
    pub pages: u64,
    /// The plan whose last refresh is told of; `None` where there is none.
    pub plan: Option<String>,
    /// That refresh.
    pub refresh: Option<RefreshId>,
    /// The last batch of the state that it ran on.
    pub state_batch: Option<BatchId>,
    /// How many pages distances were measured from.
    pub harmonic_sources: u64,
    /// Whether these are all pages with links; else harmonic centralities are those of a sample.
    pub harmonic_is_exact: bool,
}
