//! Counts how many seeds of a plan's list changed from refresh to refresh.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::views::Views;
use crate::engine::{Bank, EngineError};
use seedbank_algorithms::page::PageId;
use seedbank_store::records::RefreshId;

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
