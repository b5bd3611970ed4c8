//! How the lists of one state changed from refresh to refresh: read once, however often it is asked.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::engine::{Bank, EngineError, Turnover};
use seedbank_algorithms::watch::Watch;

/// Changes of one state that were found, by the earlier and the later refresh.
#[derive(Default)]
pub(super) struct Turnovers(Mutex<BTreeMap<(u32, u32), Turnover>>);

impl Turnovers {
    /// How the list changed from each of these refreshes to the next one.
    ///
    /// Cost: the first time one scan of the seeds of each.
    pub(super) fn between(
        &self,
        bank: &Bank,
        refreshes: &[u32],
        watch: &dyn Watch,
    ) -> Result<Vec<Turnover>, EngineError> {
        // Whoever asks meanwhile waits, and does not read the same lists.
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = |pair: &[u32]| (pair[0], pair[1]);
        let is_missing = |pair: &[u32]| !found.contains_key(&key(pair));
        let first = refreshes.windows(2).position(is_missing);
        let last = refreshes.windows(2).rposition(is_missing);
        if let (Some(first), Some(last)) = (first, last) {
            for change in bank.turnover(&refreshes[first..last + 2], watch)? {
                found.insert((change.previous, change.refresh), change);
            }
        }
        let pairs = refreshes.windows(2);
        Ok(pairs
            .filter_map(|pair| found.get(&key(pair)).copied())
            .collect())
    }
}
