//! Fetch times: an older fetch never overwrites a newer one.
//!
//! A page keeps the time of its last fetch, in whole seconds. A record of an older fetch gives the fields that no newer one
//! states ([`page_fields`](super::page_fields)); if there are none it is *stale*: it is counted and listed. A record of a
//! fetch without a time has the time of its batch. A record with attributes only has no time and always applies.
//!
//! A page that a snapshot omits becomes gone, unless it was fetched after the time of the snapshot.
//! It keeps its time, since it was not fetched: a corrected snapshot with the same record brings it
//! back.

use super::reject_list::{RejectList, SentRecords, StaleRecord};
use crate::engine::Result;
use seedbank_algorithms::page::PageId;
use seedbank_formats::clock::time;
use seedbank_formats::ingest::{self, SiteMode};
use seedbank_store::records::PageRecord;
use seedbank_store::{Store, tables};

const MICROS: i64 = 1_000_000;

/// The end of the year 9999, the latest time that a record can have.
const LATEST: u64 = 253_402_300_799;

/// Returns a fetch time in microseconds since 1970 as an ascending number, at least 1, of whole seconds: the bank keeps no
/// more, and records of one second compare in the same way within a batch and between batches.
pub(super) fn order_of_time(micros: i64) -> u64 {
    u64::try_from(micros.div_euclid(MICROS)).unwrap_or(0) + 1
}

/// Returns the whole seconds since 1970 of an ascending number; 0 for times before.
const fn seconds_of_order(order: u64) -> u64 {
    order.saturating_sub(1)
}

/// The time of a batch, and its stale records.
pub(super) struct FetchTimes {
    /// The time of records without one, in seconds since 1970; `None` if records have no times,
    /// such as those that forget pages.
    batch: Option<u64>,
    /// The list of skipped records; `None` if they are only counted, or if process 0 lists them.
    list: Option<RejectList>,
    /// Skipped records on their way to process 0; `None` if there is no other process.
    sent: Option<SentRecords>,
    sites: SiteMode,
    /// Number of stale records.
    pub(super) stale: u64,
}

impl FetchTimes {
    /// Creates the times of a batch. Process 0 has the list of skipped records, to which others send theirs in `sent`.
    pub(super) fn of_batch(
        batch: u64,
        list: Option<RejectList>,
        sent: Option<SentRecords>,
        sites: SiteMode,
    ) -> Self {
        Self {
            batch: Some(batch.min(LATEST)),
            list,
            sent,
            sites,
            stale: 0,
        }
    }

    /// Lists the skipped records of all processes, in the order of pages. All processes call it.
    pub(super) fn list_sent(&mut self) -> Result<()> {
        let Self { list, sent, .. } = self;
        match sent {
            Some(sent) => sent.list(|_, record| match list {
                Some(list) => list.list_stale(|| Ok(record)),
                None => Ok(()),
            }),
            None => Ok(()),
        }
    }

    /// Creates times for records that do not report fetches, such as the list of pages to forget.
    pub(super) const fn none() -> Self {
        Self {
            batch: None,
            list: None,
            sent: None,
            sites: SiteMode::BareHost,
            stale: 0,
        }
    }

    /// Returns the fetch time of a record; `None` if it does not report a fetch. `order` is its time as an ascending
    /// number, or 0 if it has none.
    pub(super) fn of_record(&self, order: u64, is_fetch: bool) -> Option<u64> {
        if is_fetch { self.seconds(order) } else { None }
    }

    /// Returns a time given as an ascending number, or that of the batch for 0; `None` if records have no
    /// times.
    pub(super) fn seconds(&self, order: u64) -> Option<u64> {
        let batch = self.batch?;
        Some(match order {
            0 => batch,
            order => seconds_of_order(order),
        })
    }

    /// Returns the time of the batch; `None` if records have no times.
    pub(super) const fn batch(&self) -> Option<u64> {
        self.batch
    }

    /// Whether a page was fetched after the time of the batch, so that a snapshot cannot tell that it
    /// is gone.
    pub(super) fn is_after_batch(&self, page: &PageRecord) -> bool {
        self.batch.is_some_and(|batch| is_stale(page, batch))
    }

    /// Counts and lists a stale record, given its time and that of the page.
    pub(super) fn skip(
        &mut self,
        store: &Store,
        page: PageId,
        record: &PageRecord,
        fetched: u64,
        page_fetched: u64,
    ) -> Result<()> {
        self.stale += 1;
        let site_mode = self.sites;
        let record = || {
            let site = store.need(&tables::SITES, &page.site())?.name;
            Ok(StaleRecord {
                url: ingest::url(&site, &record.local, site_mode),
                reason: "stale".to_owned(),
                fetched: time(fetched),
                page_fetched: time(page_fetched),
            })
        };
        match (&mut self.sent, &mut self.list) {
            (Some(sent), _) => sent.push(page.0, record),
            (None, Some(list)) => list.list_stale(record),
            (None, None) => Ok(()),
        }
    }

    /// Returns the list of bad and stale records.
    pub(super) fn take_list(&mut self) -> Option<RejectList> {
        self.list.take()
    }
}

/// Whether a page was fetched after a time.
pub(super) fn is_stale(page: &PageRecord, time: u64) -> bool {
    page.fetched.is_some_and(|fetched| fetched > time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_whole_seconds() {
        for (micros, seconds) in [
            (0, 0),
            (-1, 0),
            (i64::MIN, 0),
            (999_999, 0),
            (1_795_060_800_999_999, 1_795_060_800),
            (i64::MAX, 9_223_372_036_854),
        ] {
            assert_eq!(seconds_of_order(order_of_time(micros)), seconds, "{micros}");
        }
    }
}
