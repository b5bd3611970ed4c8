//! Lists of refreshes: seeds and cores one by one, what crawlers fetched, and what changed since the previous list.

use std::collections::{BTreeSet, HashSet};
use std::ops::RangeInclusive;
use std::vec;

use super::answers::{CoreView, Seed, Which};
use super::diff::refreshes_of;
use super::views::{SeedRun, Views, core_view, seed_view};
use crate::engine::history::seed_counts::{
    SeedCounts, SeedPromise, batches_of_list, counts_by_seed,
};
use crate::engine::plan::{Method, NAME_PATTERN};
use crate::engine::policy::pinned_urls;
use crate::engine::{Bank, EngineError, Result};
use schemars::JsonSchema;
use seedbank_algorithms::page::PageId;
use seedbank_formats::ingest::{FORGOTTEN_URL, URL_PATTERN};
use seedbank_store::records::{BatchId, BatchRecord, RefreshId, RefreshRecord, SeedRecord};
use seedbank_store::tables;
use serde::{Deserialize, Serialize};

// Iterators over the seeds and the cores of a refresh.

/// The seeds of a refresh, best first; see [`Bank::seeds`].
///
/// All of them come from the state that was published when the iterator was made. That state occupies
/// disk space until the iterator is dropped.
pub struct Seeds {
    views: Views,
    plan: String,
    method: Method,
    refresh: RefreshId,
    pinned: HashSet<String>,
    list: vec::IntoIter<(u32, SeedRecord)>,
}

impl Seeds {
    pub(super) fn new(
        views: Views,
        refresh: RefreshId,
        record: RefreshRecord,
    ) -> Result<Self, EngineError> {
        let options = views.options(&record.settings)?;
        Ok(Self {
            pinned: pinned_urls(&views.reader, options.lists(), views.naming)?,
            list: views.reader.list(refresh)?.into_iter(),
            plan: record.plan,
            method: options.method.unwrap_or_default(),
            refresh,
            views,
        })
    }
}

impl Iterator for Seeds {
    type Item = Result<Seed, EngineError>;

    fn next(&mut self) -> Option<Self::Item> {
        let run = SeedRun {
            plan: &self.plan,
            method: self.method,
            refresh: self.refresh,
        };
        loop {
            let (rank, seed) = self.list.next()?;
            match seed_view(&self.views, run, &self.pinned, rank, &seed) {
                // Forgotten pages have no URL that a crawler could fetch.
                Ok(seed) if seed.url == FORGOTTEN_URL => {}
                seed => return Some(seed),
            }
        }
    }
}

/// The cores of a refresh, in order; see [`Bank::cores`].
///
/// All of them come from the state that was published when the iterator was made. That state occupies
/// disk space until the iterator is dropped.
pub struct Cores {
    views: Views,
    refresh: RefreshId,
    ranks: RangeInclusive<u32>,
}

impl Iterator for Cores {
    type Item = Result<CoreView, EngineError>;

    fn next(&mut self) -> Option<Self::Item> {
        let rank = self.ranks.next()?;
        let key = (self.refresh, rank);
        let core = self.views.reader.need(&tables::CORES, &key);
        let view = core.map_err(EngineError::from);
        Some(view.and_then(|core| core_view(&self.views, self.refresh, rank, &core)))
    }
}

impl Bank {
    /// Returns the seeds of a refresh, best first. Seeds of cores follow the order of the cores. With
    /// cover methods the first picks of all sites come first, then the second picks, and so on; each round
    /// is ordered by the value that the seeds cover, ties by site name.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// for seed in bank.seeds("default")? {
    ///     let seed = seed?;
    ///     println!("{} {}", seed.rank, seed.url);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Cost: one scan of the list, and for each seed three reads. Memory: the list without its URLs.
    pub fn seeds(&self, which: impl Into<Which>) -> Result<Seeds, EngineError> {
        let views = Views::open(self)?;
        let (refresh, record) = views.find(&which.into())?;
        Seeds::new(views, refresh, record)
    }

    /// Returns the cores of a refresh, in order.
    ///
    /// Cost: for each core one read of its record, and two for each of its pages.
    pub fn cores(&self, which: impl Into<Which>) -> Result<Cores, EngineError> {
        let views = Views::open(self)?;
        let (refresh, record) = views.find(&which.into())?;
        Ok(Cores {
            views,
            refresh,
            ranks: 1..=record.cores,
        })
    }
}

// What crawlers fetched from the seeds of a list, beside what the list promised.

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

// Compares a seed list with the previous one of the plan, to tell whether a crawler needs it.

/// Seed list and the previous one of the same plan, read from one published state.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct ListWithPrevious {
    /// Number of the refresh.
    pub refresh: RefreshId,
    /// Plan of the refresh.
    pub plan: String,
    /// Seeds, best first.
    pub seeds: Vec<Seed>,
    /// Previous stored refresh of the plan; `None` if there is none.
    pub previous: Option<PreviousList>,
}

/// Seed list of the previous refresh.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct PreviousList {
    /// Number of the refresh.
    pub refresh: RefreshId,
    /// URLs of its seeds, best first. A seed that was forgotten since has a placeholder that no page has, so
    /// that a list without it counts as different.
    pub urls: Vec<String>,
}

impl ListWithPrevious {
    /// Returns whether the first `limit` seeds (all if `None`) are the same pages in the same order as in
    /// the previous list; `false` without a previous list.
    #[must_use]
    pub fn is_unchanged(&self, limit: Option<usize>) -> bool {
        let limit = limit.unwrap_or(usize::MAX);
        let Some(previous) = &self.previous else {
            return false;
        };
        let before = previous.urls.iter().take(limit);
        before.eq(self.seeds.iter().take(limit).map(|seed| &seed.url))
    }
}

impl Bank {
    /// Returns the seeds of a refresh, as [`seeds`](Bank::seeds) does, and the list of the previous refresh
    /// of the same plan.
    ///
    /// Cost: one scan of the refresh records, and a read per seed of both lists.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// assert_eq!(bank.seeds_with_previous("default")?.previous, None);
    /// bank.refresh(&RefreshRequest::default())?;
    /// let both = bank.seeds_with_previous("default")?;
    /// assert!(both.is_unchanged(None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn seeds_with_previous(
        &self,
        which: impl Into<Which>,
    ) -> Result<ListWithPrevious, EngineError> {
        let views = Views::open(self)?;
        let (refresh, record) = views.find(&which.into())?;
        let before = refreshes_of(&views, &record.plan)?
            .into_iter()
            .rfind(|(number, _)| *number < refresh);
        let previous = match before {
            Some((number, _)) => {
                let list = views.reader.list(number)?;
                let urls = list.iter().map(|(_, seed)| Ok(views.name(seed.page)?.1));
                Some(PreviousList {
                    refresh: number,
                    urls: urls.collect::<Result<_, EngineError>>()?,
                })
            }
            None => None,
        };
        let plan = record.plan.clone();
        let seeds = Seeds::new(views, refresh, record)?;
        Ok(ListWithPrevious {
            seeds: seeds.collect::<Result<_, _>>()?,
            refresh,
            plan,
            previous,
        })
    }
}

// Counts how many seeds of a plan's list changed from refresh to refresh.

/// Seeds kept, gained and lost between two refreshes, counted as in `diff`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Turnover {
    /// Number of the refresh.
    #[schemars(range(min = 1))]
    pub refresh: RefreshId,
    /// Number of the refresh that it is compared with.
    #[schemars(range(min = 1))]
    pub previous: RefreshId,
    /// Seeds of both refreshes.
    pub kept: u64,
    /// Seeds of the later refresh alone.
    pub gained: u64,
    /// Seeds of the previous refresh alone.
    pub lost: u64,
}

impl Bank {
    /// Counts the changes between each pair of consecutive `refreshes`. An unknown refresh has no seeds.
    ///
    /// Cost: one scan of the seeds of each refresh. Memory: two lists.
    pub fn turnover(&self, refreshes: &[RefreshId]) -> Result<Vec<Turnover>, EngineError> {
        let watch = self.watch();
        let views = Views::open(self)?;
        let mut found = Vec::new();
        let mut previous_list: Option<(RefreshId, BTreeSet<PageId>)> = None;
        for &refresh in refreshes {
            watch.proceed()?;
            let list = views.reader.list(refresh)?;
            let list: BTreeSet<PageId> = list.into_iter().map(|(_, seed)| seed.page).collect();
            if let Some((previous, previous_seeds)) = &previous_list {
                let kept = list.intersection(previous_seeds).count();
                found.push(Turnover {
                    refresh,
                    previous: *previous,
                    kept: kept as u64,
                    gained: (list.len() - kept) as u64,
                    lost: (previous_seeds.len() - kept) as u64,
                });
            }
            previous_list = Some((refresh, list));
        }
        Ok(found)
    }
}
