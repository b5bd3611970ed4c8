//! What crawlers fetched from the seeds of a list, beside what the list promised.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answers::Which;
use super::views::Views;
use crate::engine::history::seed_counts::{
    SeedCounts, SeedPromise, batches_of_list, counts_by_seed,
};
use crate::engine::plan::NAME_PATTERN;
use crate::engine::{Bank, EngineError};
use seedbank_formats::ingest::{FORGOTTEN_URL, URL_PATTERN};
use seedbank_store::records::{BatchId, BatchRecord, RefreshId, RefreshRecord};
use seedbank_store::tables;

/// What crawlers fetched from the seeds of a list, according to their own records.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SeedResults {
    /// The refresh that made the list.
    #[schemars(range(min = 1))]
    pub refresh: RefreshId,
    /// Its plan.
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub plan: String,
    /// The batches that were ingested while the list was the last one of its plan, undone ones left out.
    pub batches: Vec<BatchId>,
    /// The seeds in the order of the list.
    pub seeds: Vec<SeedResult>,
    /// Fetches from pages that are not on the list.
    pub others: SeedCounts,
    /// Fetches that no crawler attributed to a seed: those that did not fail, and those that did.
    pub unattributed: u64,
}

/// A seed, and what was fetched from it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SeedResult {
    /// Its rank.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// Its normalised URL.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Fetches that crawlers attributed to it.
    pub counts: SeedCounts,
    /// What the list promised; absent for seeds of cores and those that a policy added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promised: Option<SeedPromise>,
}

impl Bank {
    /// Returns what crawlers fetched from the seeds of a list; `None` if they attributed no fetch to a seed while it
    /// was the last list of its plan.
    ///
    /// Cost: a scan of the list, and of the attributed fetches of these batches.
    pub fn seed_results(
        &self,
        which: impl Into<Which>,
    ) -> Result<Option<SeedResults>, EngineError> {
        let views = Views::open(self)?;
        let (refresh, record) = views.find(&which.into())?;
        results(&views, refresh, record, u64::MAX)
    }

    /// Returns the results of the last list of a plan, up to a refresh, that has any; `None` also if more than
    /// `max_fetches` would have to be read.
    ///
    /// Cost: that of [`seed_results`](Self::seed_results), and a scan of the batches for each later list.
    pub fn last_seed_results(
        &self,
        which: impl Into<Which>,
        max_fetches: u64,
    ) -> Result<Option<SeedResults>, EngineError> {
        let views = Views::open(self)?;
        let (last, record) = views.find(&which.into())?;
        let plan = record.plan;
        let mut lists: Vec<(RefreshId, RefreshRecord)> = Vec::new();
        for entry in views.reader.scan(&tables::REFRESHES)? {
            let (refresh, record) = entry?;
            if record.plan == plan && refresh <= last {
                lists.push((refresh, record));
            }
        }
        while let Some((refresh, record)) = lists.pop() {
            let batches = attributed_batches(&views, refresh, &record)?;
            if !batches.is_empty() {
                return results(&views, refresh, record, max_fetches);
            }
        }
        Ok(None)
    }
}

/// Returns the batches of a list, or none if no fetch of them is attributed to a seed.
fn attributed_batches(
    views: &Views,
    refresh: RefreshId,
    record: &RefreshRecord,
) -> Result<Vec<(BatchId, BatchRecord)>, EngineError> {
    let batches = batches_of_list(&views.reader, &record.plan, refresh, record.batch)?;
    let is_attributed = batches.iter().any(|(_, batch)| batch.attributed > 0);
    Ok(if is_attributed { batches } else { Vec::new() })
}

fn results(
    views: &Views,
    refresh: RefreshId,
    record: RefreshRecord,
    max_fetches: u64,
) -> Result<Option<SeedResults>, EngineError> {
    let store = &views.reader;
    let batches = attributed_batches(views, refresh, &record)?;
    let fetches = batches.iter().map(|(_, batch)| batch.attributed);
    let fetches = fetches.fold(0, u64::saturating_add);
    if batches.is_empty() || fetches > max_fetches {
        return Ok(None);
    }
    let mut counts = counts_by_seed(store, &batches)?;
    let mut seeds = Vec::new();
    for (rank, seed) in store.list(refresh)? {
        let (_, url) = views.name(seed.page)?;
        if url == FORGOTTEN_URL {
            continue;
        }
        seeds.push(SeedResult {
            rank,
            url,
            counts: counts.remove(&seed.page).unwrap_or_default(),
            promised: SeedPromise::from_evidence(&seed.evidence),
        });
    }
    let all = counts.into_values();
    let fetches = batches.iter().map(|(_, batch)| batch.unattributed);
    Ok(Some(SeedResults {
        refresh,
        plan: record.plan,
        seeds,
        others: all.fold(SeedCounts::default(), |sum, of| sum + of),
        unattributed: fetches
            .map(|of| of.fetched.saturating_add(of.failed))
            .fold(0, u64::saturating_add),
        batches: batches.into_iter().map(|(batch, _)| batch).collect(),
    }))
}
