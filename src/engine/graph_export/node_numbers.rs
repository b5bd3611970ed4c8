//! The numbers of pages: from 0, in the order of site names and of the URLs of each site.

use crate::engine::EngineError;
use seedbank_algorithms::graph::NONE;
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_store::{Store, StoreError, tables};

/// From pages to numbers. Memory: 4 bytes for each page that the bank ever knew, and 8 for each site.
pub(super) struct NodeNumbers {
    /// Where the pages of each site begin in `by_place`, by the site's id.
    begins: Vec<usize>,
    /// By site and index; `NONE` for a page that is no node.
    by_place: Vec<u32>,
    pub(super) pages: u32,
}

impl NodeNumbers {
    /// NodeNumbers the pages that are crawled or known. Cost: a scan of pages and one of their URLs.
    pub(super) fn load(store: &Store, watch: &dyn Watch) -> Result<Self, EngineError> {
        let totals = store.counters()?;
        watch.stage("number pages", Some(totals.known + totals.crawled));
        let mut room = vec![0_usize; totals.next_site as usize + 1];
        for entry in store.scan(&tables::SITES)? {
            let (site, record) = entry?;
            if let Some(room) = room.get_mut(site.0 as usize) {
                *room = record.next_page as usize;
            }
        }
        let mut end = 0;
        for room in &mut room {
            end += std::mem::replace(room, end);
        }
        let mut numbers = Self {
            begins: room,
            by_place: vec![NONE; end],
            pages: 0,
        };
        for entry in store.scan(&tables::SITE_IDS)? {
            watch.proceed()?;
            let (_, site) = entry?;
            let before = numbers.pages;
            numbers.number(store, site)?;
            watch.advance((numbers.pages - before).into());
        }
        Ok(numbers)
    }

    fn number(&mut self, store: &Store, site: SiteId) -> Result<(), EngineError> {
        let prefix = site.0.to_be_bytes();
        for entry in store.scan_under(&tables::PAGES, &prefix)? {
            let (page, record) = entry?;
            if record.state.is_live() {
                // Any number will do until the pages are met in the order of their URLs.
                *self.place(page)? = 0;
            }
        }
        for entry in store.scan_under(&tables::PAGE_IDS, &prefix)? {
            let (_, index) = entry?;
            let next = self.pages;
            let number = self.place(PageId::new(site, index))?;
            if *number == NONE {
                continue;
            }
            *number = next;
            // The last number is that of no page.
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

    /// The number of a page; `None` where it is no node.
    pub(super) fn get(&self, page: PageId) -> Option<u32> {
        let begin = *self.begins.get(page.site().0 as usize)?;
        let number = *self.by_place.get(begin + page.index() as usize)?;
        (number != NONE).then_some(number)
    }

    /// How many pages link to each, by number. Cost: a scan of links.
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
        for entry in store.scan(&tables::SITE_IDS)? {
            watch.proceed()?;
            let (_, site) = entry?;
            for list in store.intra_of(site)? {
                let (page, targets) = list?;
                if self.get(page).is_some() {
                    for index in targets {
                        add(PageId::new(site, index), 1);
                    }
                }
            }
            for row in store.carried_rows(site.alone())? {
                let (row, members, targets) = row?;
                let links = self.carriers(row, &members.pages);
                for target in targets {
                    add(target, links);
                }
            }
        }
        Ok(counts)
    }

    /// How many nodes carry a row.
    pub(super) fn carriers(&self, row: RowId, pages: &roaring::RoaringBitmap) -> u32 {
        let carriers = pages.iter().map(|index| PageId::new(row.site(), index));
        seedbank_algorithms::graph::number(
            carriers.filter(|page| self.get(*page).is_some()).count(),
        )
    }
}
