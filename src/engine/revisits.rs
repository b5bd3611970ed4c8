//! What pages count for in a state of a bank, by the times since their last fetches.

use super::Result;
use super::applied_batches::{applied_batches, crawl_times, pause};
use super::web_graph::read_records;
use seedbank_algorithms::cover::global::WebChoice;
use seedbank_algorithms::cover::revisit::DAY;
use seedbank_algorithms::cover::{Age, Due, Revisit};
use seedbank_algorithms::watch::Watch;
use seedbank_store::records::{PageRecord, PageState, RevisitTimes};
use seedbank_store::{GraphImage, Store};

/// The time after which a fetched page has its whole value again, in a state, and the time of the last fetch in the bank. So values depend on
/// the state alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Revisits {
    /// In seconds; `None` if all pages count whole.
    period: Option<u64>,
    now: u64,
}

impl Revisits {
    /// Finds the period of a plan. A bank without times of fetches has none, and that of [`Revisit::Auto`] begins with the second
    /// crawl.
    ///
    /// Cost: a scan of all batches, unless it is off.
    pub(super) fn new(store: &Store, choice: &WebChoice) -> Result<Self> {
        if choice.revisit == Revisit::Off {
            return Ok(Self::default());
        }
        let times = crawl_times(&applied_batches(store)?);
        let crawled = store.counters()?.crawled;
        Ok(Self::of_times(choice, crawled, &times))
    }

    /// Finds the period of a plan with this number of crawled pages, after crawls that ended at these times.
    pub(super) fn of_times(choice: &WebChoice, crawled: u64, times: &[u64]) -> Self {
        let now = times.last().copied().unwrap_or(0);
        let span = now.saturating_sub(times.first().copied().unwrap_or(now));
        let period = choice.revisit;
        let period = period.period(crawled, choice.budget, pause(times), span);
        Self {
            period: period.filter(|_| now > 0),
            now,
        }
    }

    /// Returns those that a refresh stored.
    pub(super) const fn of_refresh(stored: RevisitTimes) -> Self {
        Self {
            period: Some(stored.period),
            now: stored.now,
        }
    }

    /// Returns the times to store; `None` if all pages count whole.
    pub(super) fn times(self) -> Option<RevisitTimes> {
        let now = self.now;
        self.period.map(|period| RevisitTimes { period, now })
    }

    /// Returns the period in seconds; `None` if all pages count whole.
    pub(super) const fn period(self) -> Option<u64> {
        self.period
    }

    /// Returns what a page counts for, given whether it is crawled, and the times of its last fetch and of the last change of its
    /// content that is known. Pages that are not crawled count whole.
    pub(super) fn age(self, crawled: bool, fetched: Option<u64>, changed: Option<u64>) -> Age {
        let fetched = fetched.filter(|_| crawled);
        Age {
            due: Due::at(self.now, self.period, fetched, changed),
            seconds: fetched.map_or(u64::MAX, |at| self.now.saturating_sub(at)),
        }
    }

    /// Returns what a page counts for.
    pub(super) fn of_page(self, page: &PageRecord) -> Age {
        let crawled = page.state == PageState::Crawled;
        self.age(crawled, page.fetched, page.changed)
    }

    /// Returns the days from the last fetch of a page to that of the bank.
    pub(super) fn days_since(self, fetched: Option<u64>) -> f64 {
        days_between(fetched, self.now)
    }

    /// Returns what pages count for, by slot; `None` if all count whole. Cost: a scan of all pages, in parallel.
    pub(super) fn read(
        self,
        store: &Store,
        image: &GraphImage,
        watch: &dyn Watch,
    ) -> Result<Option<Vec<Age>>> {
        self.period
            .map(|_| read_records(store, image, watch, |_, _, page| self.of_page(page)))
            .transpose()
    }
}

/// Returns the days from the last fetch of a page, or without a known one from 1970, until a time in seconds since 1970.
pub(super) fn days_between(fetched: Option<u64>, now: u64) -> f64 {
    now.saturating_sub(fetched.unwrap_or(0)) as f64 / DAY as f64
}
