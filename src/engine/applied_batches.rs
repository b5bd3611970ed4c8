//! The batches that were not undone, and what follows from them together.

use seedbank_algorithms::cover::revisit::DAY;
use seedbank_algorithms::yields::FirstFetches;
use seedbank_store::records::{BatchId, BatchKind, BatchRecord};
use seedbank_store::{Store, StoreError, tables};

/// The number of last batches whose times determine that of the next crawl.
const LAST_BATCHES: usize = 10;

/// Returns the batches that were not undone, with their records. Cost: a scan of all batches.
pub(super) fn applied_batches(store: &Store) -> Result<Vec<(BatchId, BatchRecord)>, StoreError> {
    let mut batches = Vec::new();
    for entry in store.scan(&tables::BATCHES)? {
        let (batch, record) = entry?;
        if record.kind == BatchKind::Undo {
            batches.pop();
        } else {
            batches.push((batch, record));
        }
    }
    Ok(batches)
}

/// Returns the first fetches of all of these batches.
pub(super) fn first_fetches(batches: &[(BatchId, BatchRecord)]) -> FirstFetches {
    let mut first = FirstFetches::default();
    for (_, record) in batches {
        first.tried += record.observed.tried;
        first.answered += record.observed.answered;
        first.new += record.observed.new_links_of_first;
    }
    first
}

/// Returns the times of the last fetches of crawls, ascending, in seconds since 1970 (UTC). A batch without a later fetch is no
/// crawl.
pub(super) fn crawl_times(batches: &[(BatchId, BatchRecord)]) -> Vec<u64> {
    let times = batches.iter().map(|(_, record)| record.last_fetch);
    let mut times: Vec<u64> = times.filter(|time| *time > 0).collect();
    times.dedup();
    times
}

/// Returns the median time between the last crawls, in seconds; `None` with fewer than two.
pub(super) fn pause(times: &[u64]) -> Option<u64> {
    let recent = &times[times.len().saturating_sub(LAST_BATCHES)..];
    let mut gaps: Vec<u64> = recent
        .windows(2)
        .map(|pair| pair[1].saturating_sub(pair[0]))
        .collect();
    gaps.sort_unstable();
    gaps.get(gaps.len() / 2).copied()
}

/// Returns the time at which the next crawl is expected, in seconds since 1970 (UTC): that of the last fetch and
/// the median time between the last batches, or a day.
pub(super) fn next_crawl(batches: &[(BatchId, BatchRecord)]) -> u64 {
    let times = crawl_times(batches);
    let last = times.last().copied().unwrap_or(0);
    last.saturating_add(pause(&times).unwrap_or(DAY))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seedbank_store::records::{BatchCounts, FetchCounts, Observed};

    fn batch(last_fetch: u64) -> (BatchId, BatchRecord) {
        let record = BatchRecord {
            name: String::new(),
            kind: BatchKind::Delta,
            inputs: Vec::new(),
            digest: [0; 32],
            at: 0,
            seconds: 0.0,
            counts: BatchCounts::default(),
            stale: 0,
            failed: 0,
            failing: 0,
            last_fetch,
            observed: Observed::default(),
            attributed: 0,
            unattributed: FetchCounts::default(),
        };
        (1, record)
    }

    #[test]
    fn the_next_crawl_is_expected_after_the_median_pause() {
        for (times, next) in [
            (&[][..], DAY),
            (&[500], 500 + DAY),
            (&[500, 700], 900),
            // A batch without a later fetch is not a crawl, and a single long pause does not change
            // the median.
            (&[0, 500, 700, 700, 900, 90_000, 90_210], 90_420),
        ] {
            let batches: Vec<_> = times.iter().map(|time| batch(*time)).collect();
            assert_eq!(next_crawl(&batches), next, "{times:?}");
        }
    }
}
