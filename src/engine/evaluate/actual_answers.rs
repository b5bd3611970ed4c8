//! Results of `evaluate actual`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answers::StateView;
use crate::engine::history::seed_counts::{SeedCounts, SeedPromise};
use crate::engine::plan::NAME_PATTERN;
use seedbank_formats::ingest::URL_PATTERN;
use seedbank_store::records::{BatchId, FetchCounts, RefreshId};

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
