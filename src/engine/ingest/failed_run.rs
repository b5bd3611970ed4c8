//! Failed fetches in the input, and their counts.

use serde::{Deserialize, Serialize};

use super::fetch_times::{FetchTimes, order_of_time};
use seedbank_algorithms::fetch_status::FetchStatus;
use seedbank_formats::ingest::FailedFetches;
use seedbank_store::records::Failures;
use seedbank_store::{Store, StoreError, tables};

/// Consecutive failed fetches of a page in the input. Times are ascending numbers
/// ([`order_of_time`]); 0 for that of the batch, or for the first one if it is the last one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(super) struct FailedRun {
    last: u64,
    status: FetchStatus,
    count: u32,
    since: u64,
}

impl From<FailedFetches> for FailedRun {
    fn from(failures: FailedFetches) -> Self {
        Self {
            last: failures.last.map_or(0, order_of_time),
            status: failures.status,
            count: failures.count,
            since: failures.since.map_or(0, order_of_time),
        }
    }
}

impl FailedRun {
    /// Whether its time is known.
    pub(super) const fn is_dated(&self) -> bool {
        self.last > 0
    }

    /// Returns them with times in seconds; `None` if records have no times.
    pub(super) fn resolve(&self, times: &FetchTimes) -> Option<Failures> {
        let last = times.seconds(self.last)?;
        let since = if self.since > 0 {
            times.seconds(self.since)?.min(last)
        } else {
            last
        };
        Some(Failures {
            status: self.status,
            count: self.count,
            since,
            last,
        })
    }
}

/// Appends failed fetches to the bytes of a record in a batch's digest. Without any, the digest is that of
/// before they existed.
pub(super) fn put(runs: &[FailedRun], bytes: &mut Vec<u8>) {
    let mut runs = runs.to_vec();
    runs.sort_unstable();
    for run in runs {
        bytes.extend_from_slice(&run.last.to_le_bytes());
        bytes.extend_from_slice(&run.status.code().to_le_bytes());
        bytes.extend_from_slice(&run.count.to_le_bytes());
        bytes.extend_from_slice(&run.since.to_le_bytes());
    }
}

/// Counts of failed fetches.
pub(super) struct FailureCounts {
    /// Whether a page of the bank had failed fetches before the batch. If not, nothing is looked up.
    pub(super) any: bool,
    /// Number of pages with a failed fetch in the batch.
    pub(super) failed: u64,
    /// Number of pages with failed fetches after the batch.
    pub(super) failing: u64,
}

impl FailureCounts {
    pub(super) fn load(store: &Store) -> Result<Self, StoreError> {
        let last = store.counters()?.batch;
        let failing = match last {
            0 => 0,
            last => store.need(&tables::BATCHES, &last)?.failing,
        };
        Ok(Self {
            any: failing > 0,
            failed: 0,
            failing,
        })
    }
}
