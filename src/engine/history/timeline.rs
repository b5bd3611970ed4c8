//! State, spam mark and row of pages after earlier batches.
//!
//! A batch stores what it overwrites, so the status of a page after batch *b* is the one stored by the
//! first later batch that changed it, or else the current one. When refreshes are deleted, the history
//! that only they could need is deleted too; from then on, statuses are known only from the state of the
//! oldest stored refresh on.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::EngineError;
use crate::engine::eligibility::{Admitted, Ineligible};
use seedbank_algorithms::page::{PageId, PageSet, RowId};
use seedbank_store::records::{BatchId, PageState, PreviousPage, RefreshId};
use seedbank_store::tables::{self, PageSetKey};
use seedbank_store::{Changes, PageSetReader, Store, StoreError};

/// Status of a page at some time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PageStatus {
    /// State; `None` before the page was first mentioned.
    pub(crate) state: Option<PageState>,
    pub(crate) spam: bool,
    /// Index of the page's row on its site; `None` without inter-site links.
    pub(crate) row: Option<u32>,
}

impl PageStatus {
    const UNSEEN: Self = Self {
        state: None,
        spam: false,
        row: None,
    };

    fn from_stored(former: PreviousPage) -> Self {
        Self {
            state: Some(former.state),
            spam: former.spam,
            row: former.row,
        }
    }

    /// Returns whether the page was ineligible for a reason that follows from its state.
    pub(crate) fn has(self, reason: Ineligible) -> bool {
        let state = self.state.unwrap_or(PageState::Unlinked);
        reason.is_of(state, self.spam)
    }

    /// Returns whether the page was admitted.
    pub(crate) fn is_admitted(self, admitted: Admitted) -> bool {
        let state = self.state.unwrap_or(PageState::Unlinked);
        admitted.includes(state, self.spam)
    }
}

/// Statuses of a page over time, each with the batch that set it. The last one is the current one.
pub(crate) struct Timeline(Vec<(BatchId, PageStatus)>);

impl Timeline {
    /// Returns the status after a batch.
    pub(crate) fn after(&self, batch: BatchId) -> PageStatus {
        let steps = self.0.iter().rev();
        let mut steps = steps.skip_while(|(from, _)| *from > batch);
        steps.next().map_or(PageStatus::UNSEEN, |step| step.1)
    }

    /// Returns the last batch of `low + 1..=high` that changed the value of `what`.
    pub(crate) fn last_change<T: PartialEq>(
        &self,
        low: BatchId,
        high: BatchId,
        what: impl Fn(PageStatus) -> T,
    ) -> Option<BatchId> {
        let mut before = PageStatus::UNSEEN;
        let mut last = None;
        for (batch, standing) in &self.0 {
            if (low + 1..=high).contains(batch) && what(before) != what(*standing) {
                last = Some(*batch);
            }
            before = *standing;
        }
        last
    }

    /// Returns the last batch of `low + 1..=high` that changed the value of `what` of the statuses of two pages.
    pub(crate) fn last_change_with<T: PartialEq>(
        &self,
        other: &Self,
        low: BatchId,
        high: BatchId,
        what: impl Fn(PageStatus, PageStatus) -> T,
    ) -> Option<BatchId> {
        let after = |batch| what(self.after(batch), other.after(batch));
        let batches = self.0.iter().chain(&other.0).map(|(batch, _)| *batch);
        let between = batches.filter(|batch| (low + 1..=high).contains(batch));
        between
            .filter(|&batch| after(batch) != after(batch - 1))
            .max()
    }

    /// Returns the last row of the page, including the current one.
    pub(crate) fn last_row(&self) -> Option<u32> {
        self.0.iter().rev().find_map(|(_, standing)| standing.row)
    }

    /// Returns whether a batch created the page or changed its status.
    pub(crate) fn is_changed_by(&self, batch: BatchId) -> bool {
        self.0.iter().any(|(from, _)| *from == batch)
    }

    /// Iterates over the rows of the page in order; `None` for times without one.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Option<u32>> {
        self.0.iter().map(|(_, standing)| standing.row)
    }
}

/// A batch, and pages that it changed.
pub(crate) type ChangedPart = Result<(BatchId, PageSet), StoreError>;

/// Reader of the timelines of pages.
pub(crate) struct PageTimelines<'a> {
    store: &'a Store,
    /// Batch after which all statuses are known.
    since: BatchId,
    /// Pages whose status each batch changed.
    sets: BTreeMap<BatchId, PageSetReader<'a>>,
}

impl<'a> PageTimelines<'a> {
    /// Opens the timelines after batch `from`.
    pub(crate) fn open(store: &'a Store, from: BatchId) -> Result<Self, EngineError> {
        let since = from.max(known_since(store)?);
        let last = store.counters()?.batch;
        let mut sets = BTreeMap::new();
        for batch in (since..last).map(|batch| batch + 1) {
            if let Some(pages) = store.page_set_reader(PageSetKey::History(batch))? {
                sets.insert(batch, pages);
            }
        }
        Ok(Self { store, since, sets })
    }

    /// Iterates over the pages that each batch changed, in parts.
    pub(crate) fn changed(&self) -> Result<impl Iterator<Item = ChangedPart>, StoreError> {
        let batches = self.batches()?;
        Ok(self.parts(batches.map(|batch| (batch, true)).collect()))
    }

    /// Iterates over the pages that batches changed, or, with `false`, those whose status they changed.
    fn parts(&self, batches: Vec<(BatchId, bool)>) -> impl Iterator<Item = ChangedPart> {
        batches.into_iter().flat_map(|(batch, all)| {
            let parts = if all {
                let changed = PageSetKey::Changed(batch);
                self.store.need_page_set_parts(changed)
            } else {
                self.store.page_set_parts(PageSetKey::History(batch))
            };
            let (parts, error) = match parts {
                Ok(parts) => (Some(parts), None),
                Err(error) => (None, Some(Err(error))),
            };
            let parts = parts.into_iter().flatten();
            parts.map(move |part| Ok((batch, part?.1))).chain(error)
        })
    }

    /// Iterates over the batches after `since`.
    fn batches(&self) -> Result<impl Iterator<Item = BatchId>, StoreError> {
        let last = self.store.counters()?.batch;
        Ok((self.since..last).map(|batch| batch + 1))
    }

    /// Iterates over a superset of the pages that each batch created or whose status it changed, in parts. For a
    /// batch that created none, the set is exact.
    pub(crate) fn possibly_changed(&self) -> Result<impl Iterator<Item = ChangedPart>, StoreError> {
        let mut sets = Vec::new();
        for batch in self.batches()? {
            let creates = self.store.need(&tables::BATCHES, &batch)?.counts.new_pages > 0;
            sets.push((batch, creates));
        }
        Ok(self.parts(sets))
    }

    /// Returns the timeline of a page.
    pub(crate) fn timeline(&self, page: PageId) -> Result<Timeline, StoreError> {
        let record = self.store.need(&tables::PAGES, &page)?;
        let mut steps = Vec::new();
        // The oldest known status counts from the beginning.
        let mut from = if record.first_seen > self.since {
            record.first_seen
        } else {
            0
        };
        for (&batch, set) in &self.sets {
            if !set.contains(page)? {
                continue;
            }
            let former = self.store.need(&tables::PAGE_HISTORY, &(batch, page))?;
            steps.push((from, PageStatus::from_stored(former)));
            from = batch;
        }
        let now = PageStatus {
            state: Some(record.state),
            spam: record.spam,
            row: record.row,
        };
        steps.push((from, now));
        Ok(Timeline(steps))
    }

    /// Returns the targets of a current or former row; empty without a row.
    pub(crate) fn targets(
        &self,
        page: PageId,
        row: Option<u32>,
    ) -> Result<Vec<PageId>, StoreError> {
        let Some(row) = row.map(|row| RowId::new(page.site(), row)) else {
            return Ok(Vec::new());
        };
        match self.store.row(row)? {
            Some(targets) => Ok(targets),
            None => Ok(self.store.need(&tables::REMOVED_ROWS, &row)?.targets),
        }
    }
}

/// Returns the number of stored refreshes except those in `except`, and the last batch of the oldest state
/// that one of them ran on.
fn stored_refreshes(
    store: &Store,
    except: &[RefreshId],
) -> Result<(u32, Option<BatchId>), StoreError> {
    let (mut count, mut oldest) = (0_u32, None);
    for entry in store.scan(&tables::REFRESHES)? {
        let (number, record) = entry?;
        if !except.contains(&number) {
            count = count.saturating_add(1);
            oldest = Some(oldest.map_or(record.batch, |oldest: BatchId| oldest.min(record.batch)));
        }
    }
    Ok((count, oldest))
}

/// Returns the batch after which all statuses are known. Once a refresh was deleted, the history before the
/// oldest state of a stored refresh may be deleted.
pub(crate) fn known_since(store: &Store) -> Result<BatchId, StoreError> {
    let counters = store.counters()?;
    let (stored, oldest) = stored_refreshes(store, &[])?;
    let oldest = oldest.map_or(counters.batch, |oldest| oldest.min(counters.batch));
    Ok(if stored < counters.refresh { oldest } else { 0 })
}

/// Deletes the history before the oldest state of a stored refresh, after the refreshes in `pruned` were
/// deleted and one on the state after `batch` was added. Does nothing if no refresh was ever deleted; see
/// [`known_since`].
pub(crate) fn prune(
    store: &Store,
    changes: &mut Changes,
    pruned: &[RefreshId],
    batch: BatchId,
) -> Result<(), StoreError> {
    let (stored, oldest) = stored_refreshes(store, pruned)?;
    if stored == store.counters()?.refresh {
        return Ok(());
    }
    let oldest = oldest.map_or(batch, |oldest| oldest.min(batch));
    let mut deleted_sets = BTreeSet::new();
    for entry in store.scan(&tables::PAGE_HISTORY)? {
        let (key, _) = entry?;
        // Entries are sorted by batch.
        if key.0 > oldest {
            break;
        }
        changes.delete(&tables::PAGE_HISTORY, &key)?;
        if deleted_sets.insert(key.0) {
            changes.delete_page_set(store, PageSetKey::History(key.0))?;
        }
    }
    for entry in store.scan(&tables::REMOVED_ROWS)? {
        let (row, former) = entry?;
        if former.until <= oldest {
            changes.delete(&tables::REMOVED_ROWS, &row)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(state: PageState, spam: bool) -> PageStatus {
        PageStatus {
            state: Some(state),
            spam,
            row: None,
        }
    }

    #[test]
    fn a_timeline_tells_what_was_when_and_which_batch_changed_it() {
        let line = Timeline(vec![
            (2, step(PageState::Known, false)),
            (4, step(PageState::Crawled, true)),
            (7, step(PageState::Gone, true)),
        ]);
        assert_eq!(line.after(1), PageStatus::UNSEEN);
        assert_eq!(line.after(3).state, Some(PageState::Known));
        assert_eq!(line.after(99).state, Some(PageState::Gone));
        let gone = |s: PageStatus| s.state == Some(PageState::Gone);
        assert_eq!(line.last_change(0, 9, gone), Some(7));
        assert_eq!(line.last_change(0, 6, gone), None);
        assert_eq!(line.last_change(7, 9, gone), None);
        assert_eq!(line.last_change(0, 9, |s| s.spam), Some(4));
        assert_eq!(line.last_change(1, 9, |s| s.state.is_some()), Some(2));
    }

    #[test]
    fn a_change_of_two_pages_is_that_of_what_both_come_to() {
        let line = |steps: &[(BatchId, PageState)]| {
            let steps = steps.iter();
            Timeline(
                steps
                    .map(|&(from, state)| (from, step(state, false)))
                    .collect(),
            )
        };
        let (crawled, gone) = (PageState::Crawled, PageState::Gone);
        let one = line(&[(0, gone), (3, crawled)]);
        let other = line(&[(1, crawled), (3, gone), (5, crawled), (7, gone)]);
        let both = |low, high| {
            let is_crawled = |page: PageStatus| page.state == Some(crawled);
            one.last_change_with(&other, low, high, |a, b| is_crawled(a) && is_crawled(b))
        };
        // Both are crawled after batches 5 and 6.
        assert_eq!(both(0, 4), None);
        assert_eq!(both(0, 6), Some(5));
        assert_eq!(both(0, 9), Some(7));
        assert_eq!(both(5, 6), None);
    }
}
