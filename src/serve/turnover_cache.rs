//! Cache of how the lists of one state changed from refresh to refresh.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::engine::query::Turnover;
use crate::engine::{Bank, EngineError};

/// Turnovers by the numbers of the earlier and the later refresh.
#[derive(Default)]
pub(super) struct TurnoverCache(Mutex<BTreeMap<(u32, u32), Turnover>>);

impl TurnoverCache {
    /// Returns how the list changed from each of these refreshes to the next.
    ///
    /// Cost: scans the seeds of the refreshes between the first and the last pair that is not cached.
    pub(super) fn between(
        &self,
        bank: &Bank,
        refreshes: &[u32],
    ) -> Result<Vec<Turnover>, EngineError> {
        // The lock is held during the scan, so that concurrent requests do not repeat it.
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = |pair: &[u32]| (pair[0], pair[1]);
        let is_missing = |pair: &[u32]| !cached.contains_key(&key(pair));
        let first = refreshes.windows(2).position(is_missing);
        let last = refreshes.windows(2).rposition(is_missing);
        if let (Some(first), Some(last)) = (first, last) {
            for turnover in bank.turnover(&refreshes[first..last + 2])? {
                cached.insert((turnover.previous, turnover.refresh), turnover);
            }
        }
        let pairs = refreshes.windows(2);
        Ok(pairs
            .filter_map(|pair| cached.get(&key(pair)).copied())
            .collect())
    }
}
