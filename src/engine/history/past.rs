//! What pages were after an earlier batch: their state, spam mark and row.
//!
//! A batch keeps what it overwrites (`page_history`, `removed_rows`), so the standing of a page
//! after batch b is the one saved by the first later batch that changed it, or else the present
//! one. When refreshes are deleted, the past that only they could ask for goes with them: from then
//! on nothing is known of batches before the oldest kept refresh.

use std::collections::BTreeMap;

use crate::engine::EngineError;
use crate::engine::plan::Pages;
use crate::engine::plan::Plan;
use seedbank_algorithms::page::{PageId, PageSet, RowId};
use seedbank_store::records::{BatchId, PageState, PreviousPage, RefreshId};
use seedbank_store::tables::{self, PageSetKey};
use seedbank_store::{Changes, Store, StoreError};

/// What a page was to the crawler at some time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Standing {
    /// The state; `None` before the page was first seen.
    pub(crate) state: Option<PageState>,
    pub(crate) spam: bool,
    /// The index of the page's row on its site; `None` without one.
    pub(crate) row: Option<u32>,
}

impl Standing {
    const UNSEEN: Self = Self {
        state: None,
        spam: false,
        row: None,
    };

    fn of(former: PreviousPage) -> Self {
        Self {
            state: Some(former.state),
            spam: former.spam,
            row: former.row,
        }
    }
}

/// Which pages a plan selects from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TakesPart {
    /// Whether pages with the spam mark take part.
    pub(crate) spam: bool,
    /// Whether pages that are only known take part.
    pub(crate) known: bool,
}

impl TakesPart {
    /// What the plan says; on a site cover methods treat spam as pages of little value.
    pub(crate) fn of(plan: &Plan) -> Self {
        match plan {
            Plan::Cores(plan) => Self {
                spam: plan.keep_spam,
                known: plan.pages == Pages::All,
            },
            Plan::Cover(_) => Self {
                spam: true,
                known: false,
            },
            Plan::Web(_) => Self {
                spam: false,
                known: false,
            },
        }
    }

    /// Whether a page takes part.
    pub(crate) fn has(self, page: Standing) -> bool {
        let state = match page.state {
            Some(PageState::Crawled) => true,
            Some(PageState::Known) => self.known,
            _ => false,
        };
        state && (self.spam || !page.spam)
    }
}

/// The standings of a page over time, each with the batch that brought it; the last one still
/// holds.
pub(crate) struct Timeline(Vec<(BatchId, Standing)>);

impl Timeline {
    /// The standing after a batch.
    pub(crate) fn after(&self, batch: BatchId) -> Standing {
        let steps = self.0.iter().rev();
        let mut steps = steps.skip_while(|(from, _)| *from > batch);
        steps.next().map_or(Standing::UNSEEN, |step| step.1)
    }

    /// The last batch, after `low` and up to `high`, that changed the value of `what`.
    pub(crate) fn flip<T: PartialEq>(
        &self,
        low: BatchId,
        high: BatchId,
        what: impl Fn(Standing) -> T,
    ) -> Option<BatchId> {
        let mut before = Standing::UNSEEN;
        let mut last = None;
        for (batch, standing) in &self.0 {
            if (low + 1..=high).contains(batch) && what(before) != what(*standing) {
                last = Some(*batch);
            }
            before = *standing;
        }
        last
    }

    /// The last row that the page had, including the present one.
    pub(crate) fn last_row(&self) -> Option<u32> {
        self.0.iter().rev().find_map(|(_, standing)| standing.row)
    }

    /// Whether a batch brought the page, or changed its standing.
    pub(crate) fn is_changed_by(&self, batch: BatchId) -> bool {
        self.0.iter().any(|(from, _)| *from == batch)
    }

    /// The rows that the page had, in order; `None` for the times without one.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Option<u32>> {
        self.0.iter().map(|(_, standing)| standing.row)
    }
}

/// Reads the past of a bank.
pub(crate) struct Past<'a> {
    store: &'a Store,
    /// The batch after which everything is known.
    since: BatchId,
    /// The pages whose standing each batch changed.
    sets: BTreeMap<BatchId, PageSet>,
}

impl<'a> Past<'a> {
    /// The past after batch `from`. Reads one set for each later batch.
    pub(crate) fn open(store: &'a Store, from: BatchId) -> Result<Self, EngineError> {
        let since = from.max(known_since(store)?);
        let last = store.counters()?.batch;
        let mut sets = BTreeMap::new();
        for batch in (since..last).map(|batch| batch + 1) {
            if let Some(pages) = store.get(&tables::PAGE_SETS, &PageSetKey::History(batch))? {
                sets.insert(batch, pages);
            }
        }
        Ok(Self { store, since, sets })
    }

    /// The pages of which each batch changed anything.
    pub(crate) fn changed(&self) -> Result<BTreeMap<BatchId, PageSet>, StoreError> {
        let mut changed = BTreeMap::new();
        for batch in self.batches()? {
            let key = PageSetKey::Changed(batch);
            changed.insert(batch, self.store.need(&tables::PAGE_SETS, &key)?);
        }
        Ok(changed)
    }

    /// The batches after `since`.
    fn batches(&self) -> Result<impl Iterator<Item = BatchId>, StoreError> {
        let last = self.store.counters()?.batch;
        Ok((self.since..last).map(|batch| batch + 1))
    }

    /// For each batch a set of pages that contains all it brought and all whose standing it
    /// changed. Where it brought none, the set is exact, and only the batch's record is read.
    pub(crate) fn stirred(&self) -> Result<BTreeMap<BatchId, PageSet>, StoreError> {
        let mut stirred = BTreeMap::new();
        for batch in self.batches()? {
            let pages = if self.store.need(&tables::BATCHES, &batch)?.counts.born == 0 {
                self.sets.get(&batch).cloned().unwrap_or_default()
            } else {
                let key = PageSetKey::Changed(batch);
                self.store.need(&tables::PAGE_SETS, &key)?
            };
            stirred.insert(batch, pages);
        }
        Ok(stirred)
    }

    /// The standings of a page over time.
    pub(crate) fn timeline(&self, page: PageId) -> Result<Timeline, StoreError> {
        let record = self.store.need(&tables::PAGES, &page)?;
        let mut steps = Vec::new();
        // The oldest known standing counts as if it had always held.
        let mut from = if record.first_seen > self.since {
            record.first_seen
        } else {
            0
        };
        for (&batch, _) in self.sets.iter().filter(|(_, set)| set.contains(page.0)) {
            let former = self.store.need(&tables::PAGE_HISTORY, &(batch, page))?;
            steps.push((from, Standing::of(former)));
            from = batch;
        }
        let now = Standing {
            state: Some(record.state),
            spam: record.spam,
            row: record.row,
        };
        steps.push((from, now));
        Ok(Timeline(steps))
    }

    /// The targets of a row, present or former; empty without a row.
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

/// How many refreshes there are, leaving out `but`, and the last batch of the oldest state that one
/// of them ran on.
fn kept(store: &Store, but: &[RefreshId]) -> Result<(u32, Option<BatchId>), StoreError> {
    let (mut kept, mut oldest) = (0_u32, None);
    for entry in store.scan(&tables::REFRESHES)? {
        let (number, record) = entry?;
        if !but.contains(&number) {
            kept = kept.saturating_add(1);
            oldest = Some(oldest.map_or(record.batch, |oldest: BatchId| oldest.min(record.batch)));
        }
    }
    Ok((kept, oldest))
}

/// The batch after which all of the past is known. Once a refresh was deleted, what came before the
/// oldest state that a remaining one ran on may be forgotten.
pub(crate) fn known_since(store: &Store) -> Result<BatchId, StoreError> {
    let counters = store.counters()?;
    let (kept, oldest) = kept(store, &[])?;
    let oldest = oldest.map_or(counters.batch, |oldest| oldest.min(counters.batch));
    Ok(if kept < counters.refresh { oldest } else { 0 })
}

/// Deletes what no refresh can ask for any more once some are deleted, and one that ran on the state
/// after `batch` has come: all that was overwritten up to the oldest state. As long as no refresh
/// was ever deleted all of it stays, as [`known_since`] has it.
pub(crate) fn delete_unseen(
    store: &Store,
    changes: &mut Changes,
    pruned: &[RefreshId],
    batch: BatchId,
) -> Result<(), StoreError> {
    let (kept, oldest) = kept(store, pruned)?;
    if kept == store.counters()?.refresh {
        return Ok(());
    }
    let oldest = oldest.map_or(batch, |oldest| oldest.min(batch));
    for entry in store.scan(&tables::PAGE_HISTORY)? {
        let (key, _) = entry?;
        // Entries come in the order of batches.
        if key.0 > oldest {
            break;
        }
        changes.delete(&tables::PAGE_HISTORY, &key)?;
        changes.delete(&tables::PAGE_SETS, &PageSetKey::History(key.0))?;
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

    fn step(state: PageState, spam: bool) -> Standing {
        Standing {
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
        assert_eq!(line.after(1), Standing::UNSEEN);
        assert_eq!(line.after(3).state, Some(PageState::Known));
        assert_eq!(line.after(99).state, Some(PageState::Gone));
        let gone = |s: Standing| s.state == Some(PageState::Gone);
        assert_eq!(line.flip(0, 9, gone), Some(7));
        assert_eq!(line.flip(0, 6, gone), None);
        assert_eq!(line.flip(7, 9, gone), None);
        assert_eq!(line.flip(0, 9, |s| s.spam), Some(4));
        assert_eq!(line.flip(1, 9, |s| s.state.is_some()), Some(2));
    }
}
