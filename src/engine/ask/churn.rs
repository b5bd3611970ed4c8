//! How a plan's list changed from refresh to refresh.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::diff::refreshes_of;
use super::views::Views;
use crate::engine::{Bank, EngineError};
use crate::page::PageId;
use crate::storage::records::{BatchId, RefreshId};

/// A refresh beside the plan's kept refresh before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Churn {
    /// The refresh.
    #[schemars(range(min = 1))]
    pub refresh: RefreshId,
    /// The last batch of the state that it ran on; 0 before the first.
    pub batch: BatchId,
    /// When it ran, in seconds since 1970 (UTC).
    pub at: u64,
    /// Seeds on its list.
    pub seeds: u32,
    /// Pages on its list and on that of the refresh before.
    pub kept: u32,
    /// Pages on its list and not on that of the refresh before.
    pub gained: u32,
    /// Pages on the list of the refresh before and not on its own.
    pub lost: u32,
}

impl Bank {
    /// How the list of a plan changed at its last kept refreshes, at most `last` of them, oldest first;
    /// the very first that is kept has none before it and is left out.
    ///
    /// Cost: the lists of one refresh more than are told.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// ingest(&bank, "day-1.jsonl", r#"{"url": "http://a.example/", "gone": true}"#)?;
    /// bank.refresh(&RefreshRequest::default(), &Unwatched)?;
    /// let churn = bank.churn("default", 10)?;
    /// assert_eq!((churn.len(), churn[0].gained, churn[0].lost), (1, 1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn churn(&self, plan: &str, last: usize) -> Result<Vec<Churn>, EngineError> {
        let views = Views::open(self)?;
        let kept = refreshes_of(&views, plan)?;
        let last = &kept[kept.len().saturating_sub(last.saturating_add(1))..];
        let mut before: Option<BTreeSet<PageId>> = None;
        let mut churn = Vec::new();
        for (refresh, record) in last {
            let seeds = views.reader.list(*refresh)?;
            let pages: BTreeSet<PageId> = seeds.into_iter().map(|(_, seed)| seed.page).collect();
            if let Some(before) = before {
                let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
                let kept = pages.intersection(&before).count();
                churn.push(Churn {
                    refresh: *refresh,
                    batch: record.batch,
                    at: record.at,
                    seeds: count(pages.len()),
                    kept: count(kept),
                    gained: count(pages.len() - kept),
                    lost: count(before.len() - kept),
                });
            }
            before = Some(pages);
        }
        Ok(churn)
    }
}
