//! Check of the history of pages: the sets in `page_sets` have exactly the pages in `page_history`, and every
//! row in it exists.

use std::collections::BTreeMap;

use roaring::RoaringTreemap;

use super::Walk;
use crate::error::StoreError;
use crate::tables;
use crate::tables::records::Counters;
use seedbank_algorithms::page::{PageId, PageSet, RowId};

impl Walk<'_> {
    pub(super) fn page_history(&mut self, counters: &Counters) -> Result<(), StoreError> {
        // Rows that no longer exist, each with the last batch that removed it from a page.
        let mut removed: BTreeMap<RowId, u32> = BTreeMap::new();
        self.walk(&tables::PAGE_HISTORY, |walk, (batch, page), previous| {
            walk.history.entry(batch).or_default().insert(page.0);
            if batch > counters.batch {
                let name = format!("batch {batch}, {page}");
                let what = "it refers to a batch that does not exist";
                walk.find("page_history", name, what);
            }
            let row = previous.row.map(|row| RowId::new(page.site(), row));
            if let Some(row) = row.filter(|row| !walk.rows.contains(row.0)) {
                let last = removed.entry(row).or_default();
                *last = batch.max(*last);
            }
            Ok(())
        })?;
        self.walk(&tables::REMOVED_ROWS, |walk, row, removed_row| {
            if walk.rows.contains(row.0) {
                walk.find("removed_rows", row, "pages have it");
            } else if removed.remove(&row) != Some(removed_row.until) {
                let what = "no page had it until the recorded batch";
                walk.find("removed_rows", row, what);
            }
            let mut targets = removed_row.targets.iter();
            if let Some(target) = targets.find(|target| !walk.pages.contains(**target)) {
                walk.find("removed_rows", row, format!("{target} does not exist"));
            }
            Ok(())
        })?;
        for row in removed.keys() {
            self.find("page_history", row, "a page had it, but it is missing");
        }
        Ok(())
    }

    /// Compares a part of the set of a batch in `page_sets` with the pages found in `page_history`: what is only
    /// in one of them remains.
    pub(super) fn history_set(&mut self, batch: u32, pages: &PageSet) {
        *self.history.entry(batch).or_default() ^= pages;
    }

    /// Reports pages that are only in `page_history`, or only in the set of a batch in `page_sets`.
    pub(super) fn history_differences(&mut self) {
        for (batch, pages) in std::mem::take(&mut self.history) {
            self.history_differs(batch, &pages);
        }
    }

    fn history_differs(&mut self, batch: u32, pages: &RoaringTreemap) {
        if let Some(page) = pages.min() {
            let name = format!("batch {batch}, {}", PageId(page));
            let what = format!(
                "{} pages are either here or in the set of the batch, not in both",
                pages.len()
            );
            self.find("page_history", name, what);
        }
    }
}
