//! What pages were before the batches that changed them: the sets in `page_sets` name exactly the
//! pages with a former record, and every row in such a record exists.

use std::collections::BTreeMap;

use roaring::RoaringTreemap;

use super::Walk;
use crate::error::StoreError;
use crate::tables;
use crate::tables::records::Counters;
use seedbank_algorithms::page::{PageId, PageSet, RowId};

impl Walk<'_> {
    pub(super) fn former(&mut self, counters: &Counters) -> Result<(), StoreError> {
        // Rows that no longer exist, each with the last batch that took it from a page.
        let mut left: BTreeMap<RowId, u32> = BTreeMap::new();
        self.walk(&tables::PAGE_HISTORY, |walk, (batch, page), former| {
            walk.former.entry(batch).or_default().insert(page.0);
            if batch > counters.batch {
                let name = format!("batch {batch}, {page}");
                let what = "it names a batch that does not exist";
                walk.report.find("page_history", name, what);
            }
            let row = former.row.map(|row| RowId::new(page.site(), row));
            if let Some(row) = row.filter(|row| !walk.rows.contains(row.0)) {
                let last = left.entry(row).or_default();
                *last = batch.max(*last);
            }
            Ok(())
        })?;
        self.walk(&tables::REMOVED_ROWS, |walk, row, former| {
            if walk.rows.contains(row.0) {
                walk.report
                    .find("removed_rows", row, "it is carried by pages");
            } else if left.remove(&row) != Some(former.until) {
                walk.report
                    .find("removed_rows", row, "no page had it until its batch");
            }
            let mut targets = former.targets.iter();
            if let Some(target) = targets.find(|target| !walk.pages.contains(target.0)) {
                walk.report
                    .find("removed_rows", row, format!("{target} does not exist"));
            }
            Ok(())
        })?;
        for row in left.keys() {
            self.report
                .find("page_history", row, "a page had it, and it is not there");
        }
        Ok(())
    }

    /// Compares the set of a batch in `page_sets` with the pages found in `page_history`.
    pub(super) fn of_former(&mut self, batch: u32, pages: &PageSet) {
        let found = self.former.remove(&batch).unwrap_or_default();
        self.differ(batch, &(&found ^ pages));
    }

    /// Reports batches whose set is missing from `page_sets`.
    pub(super) fn former_left(&mut self) {
        for (batch, pages) in std::mem::take(&mut self.former) {
            self.differ(batch, &pages);
        }
    }

    fn differ(&mut self, batch: u32, pages: &RoaringTreemap) {
        if let Some(page) = pages.min() {
            let name = format!("batch {batch}, {}", PageId(page));
            let what = format!(
                "{} pages are either here or in the batch's set in bitmaps, not in both",
                pages.len()
            );
            self.report.find("page_history", name, what);
        }
    }
}
