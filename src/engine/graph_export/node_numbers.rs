//! Numbers the pages from 0, by site name and URL.

use crate::engine::EngineError;
use seedbank_algorithms::graph::NONE;
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_store::records::PageRecord;
use seedbank_store::{LinkScan, Store, StoreError, tables};

/// Map from pages to node numbers. Memory: 4 bytes per page that the bank ever knew, and 8 per site.
pub(super) struct NodeNumbers {
    /// Start of each site's pages in `by_place`, by site id.
    begins: Vec<usize>,
    /// Numbers by site and page index; `NONE` for a page that is not a node.
    by_place: Vec<u32>,
    pub(super) pages: u32,
}

impl NodeNumbers {
    /// Numbers the pages that are crawled or known. Cost: a scan of pages and one of their URLs.
    pub(super) fn load(store: &Store, watch: &dyn Watch) -> Result<Self, EngineError> {
        let totals = store.counters()?;
        watch.stage("number pages", Some(totals.known + totals.crawled));
        let mut sizes = vec![0_usize; totals.next_site as usize + 1];
        for entry in store.scan(&tables::SITES)? {
            let (site, record) = entry?;
            if let Some(size) = sizes.get_mut(site.0 as usize) {
                *size = record.next_page as usize;
            }
        }
        let mut end = 0;
        // Turn the sizes into start offsets.
        for size in &mut sizes {
            end += std::mem::replace(size, end);
        }
        let mut numbers = Self {
            begins: sizes,
            by_place: vec![NONE; end],
            pages: 0,
        };
        let mut pages = store.scan_by_site(&tables::PAGES)?;
        let mut by_url = store.scan_by_site(&tables::PAGE_IDS)?;
        for entry in store.scan(&tables::SITE_IDS)? {
            watch.proceed()?;
            let (_, site) = entry?;
            let before = numbers.pages;
            numbers.number(site, pages.of_site(site), by_url.of_site(site))?;
            watch.advance((numbers.pages - before).into());
        }
        Ok(numbers)
    }

    /// Numbers the pages of a site, given its entries in both tables of pages.
    fn number(
        &mut self,
        site: SiteId,
        pages: impl Iterator<Item = Result<(PageId, PageRecord), StoreError>>,
        by_url: impl Iterator<Item = Result<((SiteId, String), u32), StoreError>>,
    ) -> Result<(), EngineError> {
        for entry in pages {
            let (page, record) = entry?;
            if record.state.is_live() {
                // A placeholder marks nodes until the scan by URL numbers them.
                *self.place(page)? = 0;
            }
        }
        for entry in by_url {
            let (_, index) = entry?;
            let next = self.pages;
            let number = self.place(PageId::new(site, index))?;
            if *number == NONE {
                continue;
            }
            *number = next;
            // The largest number is reserved for `NONE`.
            let after = next.checked_add(1).filter(|after| *after != NONE);
            self.pages = after.ok_or(StoreError::Full("page of a graph"))?;
        }
        Ok(())
    }

    fn place(&mut self, page: PageId) -> Result<&mut u32, EngineError> {
        let place = self.begins.get(page.site().0 as usize);
        let place = place.and_then(|begin| begin.checked_add(page.index() as usize));
        let number = place.and_then(|place| self.by_place.get_mut(place));
        number.ok_or(EngineError::Internal("a page has no place on its site"))
    }

    /// Returns the number of a page; `None` if it is not a node.
    pub(super) fn get(&self, page: PageId) -> Option<u32> {
        let begin = *self.begins.get(page.site().0 as usize)?;
        let number = *self.by_place.get(begin + page.index() as usize)?;
        (number != NONE).then_some(number)
    }

    /// Counts the pages that link to each node, by number. Cost: a scan of links.
    pub(super) fn in_links(
        &self,
        store: &Store,
        watch: &dyn Watch,
    ) -> Result<Vec<u32>, EngineError> {
        watch.stage("count links", None);
        let mut counts = vec![0_u32; self.pages as usize];
        let mut add = |page: PageId, links: u32| {
            if let Some(number) = self.get(page) {
                counts[number as usize] += links;
            }
        };
        let mut scan = LinkScan::new(store)?;
        for entry in store.scan(&tables::SITE_IDS)? {
            watch.proceed()?;
            let (_, site) = entry?;
            for list in scan.intra_of(site) {
                let (page, targets) = list?;
                if self.get(page).is_some() {
                    for index in targets {
                        add(PageId::new(site, index), 1);
                    }
                }
            }
            for row in scan.carried_rows(site) {
                let (row, members, targets) = row?;
                let links = self.carriers(row, &members.pages);
                for target in targets {
                    add(target, links);
                }
            }
        }
        Ok(counts)
    }

    /// Returns the number of nodes with this row.
    pub(super) fn carriers(&self, row: RowId, pages: &roaring::RoaringBitmap) -> u32 {
        let carriers = pages.iter().map(|index| PageId::new(row.site(), index));
        seedbank_algorithms::graph::number(
            carriers.filter(|page| self.get(*page).is_some()).count(),
        )
    }
}
