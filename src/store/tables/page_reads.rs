//! Reads of the records of many pages.

use super::records::PageRecord;
use super::schema as tables;
use super::store::Store;
use crate::error::StoreError;
use seedbank_algorithms::page::PageId;

/// The maximum gap between the indexes of two pages that one scan reads: a lookup costs as much as some
/// twenty steps of a scan.
const MAX_GAP: u64 = 16;

/// The minimum number of pages for a scan, since starting one costs as much as some lookups.
const MIN_SCAN: usize = 4;

impl Store {
    /// Calls `each` with the records of pages, which must ascend, in order.
    ///
    /// Cost: a lookup for each page, or a scan for pages with small gaps.
    pub fn records_of<E: From<StoreError>>(
        &self,
        pages: &[PageId],
        mut each: impl FnMut(PageId, PageRecord) -> Result<(), E>,
    ) -> Result<(), E> {
        let is_near = |a: &PageId, b: &PageId| {
            a.site() == b.site() && b.0.checked_sub(a.0).is_some_and(|gap| gap <= MAX_GAP)
        };
        for run in pages.chunk_by(is_near) {
            let mut left = run.iter().copied().peekable();
            if run.len() >= MIN_SCAN {
                let prefix = run[0].site().0.to_be_bytes();
                let mut scan = self.scan_from(&tables::PAGES, &run[0], &prefix)?;
                while let Some(page) = left.peek().copied() {
                    match scan.next_where(|other| *other >= page).transpose()? {
                        Some((found, record)) if found == page => each(page, record)?,
                        // The lookup below reports the missing record.
                        _ => break,
                    }
                    left.next();
                }
            }
            for page in left {
                each(page, self.need(&tables::PAGES, &page)?)?;
            }
        }
        Ok(())
    }
}
