//! How much of a plan's list changed from refresh to refresh, in numbers alone.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::views::Views;
use crate::engine::{Bank, EngineError};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_store::records::RefreshId;

/// How many seeds a refresh shares with an earlier one, and how many it does not, as `diff` of the two
/// counts them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Turnover {
    /// The refresh.
    #[schemars(range(min = 1))]
    pub refresh: RefreshId,
    /// The refresh that it is compared with.
    #[schemars(range(min = 1))]
    pub previous: RefreshId,
    /// Seeds of both.
    pub kept: u64,
    /// Seeds that only the later one has.
    pub gained: u64,
    /// Seeds that only the earlier one has.
    pub lost: u64,
}

impl Bank {
    /// How the list changed from each of these refreshes to the next one.
    ///
    /// Cost: one scan of the seeds of each; two lists are in memory.
    pub(crate) fn turnover(
        &self,
        refreshes: &[RefreshId],
        watch: &dyn Watch,
    ) -> Result<Vec<Turnover>, EngineError> {
        let views = Views::open(self)?;
        let mut found = Vec::new();
        let mut earlier: Option<(RefreshId, BTreeSet<PageId>)> = None;
        for &refresh in refreshes {
            watch.proceed()?;
            let list = views.reader.list(refresh)?;
            let list: BTreeSet<PageId> = list.into_iter().map(|(_, seed)| seed.page).collect();
            if let Some((since, before)) = &earlier {
                let kept = list.intersection(before).count();
                found.push(Turnover {
                    refresh,
                    previous: *since,
                    kept: kept as u64,
                    gained: (list.len() - kept) as u64,
                    lost: (before.len() - kept) as u64,
                });
            }
            earlier = Some((refresh, list));
        }
        Ok(found)
    }
}
