//! Streaming encoder of sets of pages.

use roaring::RoaringBitmap;

use super::codec::{self, Malformed};
use crate::error::StoreError;
use seedbank_algorithms::page::{PageId, SiteId};

/// Encodes a [`PageSet`](seedbank_algorithms::page::PageSet) from pages in the order of their sites.
/// Memory: the bitmap of one site, and the bytes of the others: 22 for a site with a single page, for
/// which a set in memory takes some 266.
#[derive(Debug, Default)]
pub struct PageSetWriter {
    /// The bytes after the number of sites.
    of_sites: Vec<u8>,
    sites: u64,
    open: Option<(SiteId, RoaringBitmap)>,
}

impl PageSetWriter {
    /// Returns whether no page was added.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.open.is_none()
    }

    /// Adds a page; fails if its site is before that of the last page.
    pub fn push(&mut self, page: PageId) -> Result<(), StoreError> {
        let site = page.site();
        match &mut self.open {
            Some((open, pages)) if *open == site => {
                pages.insert(page.index());
            }
            Some((open, _)) if *open > site => {
                let what = Malformed(format!("{page} comes after pages of {open}"));
                return Err(StoreError::spilled(&what));
            }
            _ => {
                self.close()?;
                self.open = Some((site, RoaringBitmap::from_iter([page.index()])));
            }
        }
        Ok(())
    }

    /// Returns the bytes of the set, in the portable format of roaring.
    pub fn finish(mut self) -> Result<Vec<u8>, StoreError> {
        self.close()?;
        let count = self.sites.to_le_bytes();
        self.of_sites.splice(0..0, count);
        Ok(self.of_sites)
    }

    fn close(&mut self) -> Result<(), StoreError> {
        if let Some((site, pages)) = self.open.take() {
            self.of_sites.extend(site.0.to_le_bytes());
            let written = codec::put_bitmap(&pages, &mut self.of_sites);
            written.map_err(|e| StoreError::spilled(&e))?;
            self.sites += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use seedbank_algorithms::page::PageSet;

    fn bytes(pages: impl IntoIterator<Item = u64>) -> Vec<u8> {
        let mut set = PageSetWriter::default();
        for page in pages {
            set.push(PageId(page)).unwrap();
        }
        set.finish().unwrap()
    }

    proptest! {
        #[test]
        fn the_bytes_are_those_of_the_set(
            some in prop::collection::btree_set((0_u64..6, 0_u64..40), 0..90),
            run in (0_u64..6, 0_u64..9_000),
        ) {
            let run = (0..run.1).map(|index| run.0 << 32 | index);
            let pages: BTreeSet<u64> = some.into_iter().map(|(s, i)| s << 32 | i).chain(run).collect();
            let mut set = Vec::new();
            codec::put_pages(&pages.iter().collect::<PageSet>(), &mut set).unwrap();
            prop_assert_eq!(bytes(pages), set);
        }
    }

    #[test]
    fn no_site_comes_twice() {
        let mut set = PageSetWriter::default();
        set.push(PageId::new(SiteId(2), 0)).unwrap();
        assert!(set.push(PageId::new(SiteId(1), 9)).is_err());
        assert_eq!(bytes([]), 0_u64.to_le_bytes());
    }
}
