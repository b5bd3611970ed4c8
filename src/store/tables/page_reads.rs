//! Reads of the records of many pages.

use super::records::PageRecord;
use super::schema as tables;
use super::store::Store;
use crate::error::StoreError;
use seedbank_algorithms::page::PageId;

/// Pages are read by a scan where at most so many others are between two of them: a lookup costs as
/// much as some twenty steps of a scan.
const NEAR: u64 = 16;

/// The fewest pages for which a scan is begun, which costs as much as some lookups.
const FEWEST: usize = 4;

impl Store {
    /// Hands the records of pages, which ascend, to `each` in their order.
    ///
    /// Cost: a lookup for each, or a scan where several are near each other.
    pub fn records_of<E: From<StoreError>>(
        &self,
        pages: &[PageId],
        mut each: impl FnMut(PageId, PageRecord) -> Result<(), E>,
    ) -> Result<(), E> {
        let is_near = |a: &PageId, b: &PageId| {
            a.site() == b.site() && b.0.checked_sub(a.0).is_some_and(|gap| gap <= NEAR)
        };
        for run in pages.chunk_by(is_near) {
            let mut left = run.iter().copied().peekable();
            if run.len() >= FEWEST {
                let prefix = run[0].site().0.to_be_bytes();
                let mut scan = self.scan_from(&tables::PAGES, &run[0], &prefix)?;
                while let Some(page) = left.peek().copied() {
                    match scan.next_where(|other| *other >= page).transpose()? {
                        Some((found, record)) if found == page => each(page, record)?,
                        // The lookup says what is missing.
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
