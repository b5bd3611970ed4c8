//! Numbers of pages by their ids.

use rayon::prelude::*;

use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_store::StoreError;

/// Map from page ids to numbers.
///
/// Memory: 8 bytes per page, and 4 per site.
pub(super) struct PageNumbers {
    /// For each site the position of its first page in the lists below, and at the end the length
    /// of the lists.
    sites: Vec<u32>,
    /// Indexes of the pages, by site, ascending on each site.
    indexes: Vec<u32>,
    /// The numbers of these pages.
    places: Vec<u32>,
}

impl PageNumbers {
    /// Builds the map for pages in the order of their numbers. Site ids are below `sites`.
    pub(super) fn new(pages: &[PageId], sites: u32) -> Result<Self, StoreError> {
        let count = u32::try_from(pages.len()).map_err(|_| StoreError::Full("page to rank"))?;
        let mut by_id: Vec<u32> = (0..count).collect();
        by_id.par_sort_unstable_by_key(|&number| pages[number as usize]);
        let indexes: Vec<u32> = by_id
            .iter()
            .map(|&number| pages[number as usize].index())
            .collect();
        let mut firsts = Vec::with_capacity(sites as usize + 1);
        let mut next = 0;
        for site in 0..=sites {
            let rest = by_id[next..].iter();
            next += rest
                .take_while(|&&number| pages[number as usize].site() < SiteId(site))
                .count();
            firsts.push(u32::try_from(next).unwrap_or(count));
        }
        Ok(Self {
            sites: firsts,
            indexes,
            places: by_id,
        })
    }

    /// Returns the number of a page; `None` if it is not in the map.
    pub(super) fn number_of(&self, page: PageId) -> Option<u32> {
        let site = page.site().0 as usize;
        let from = *self.sites.get(site)? as usize;
        let to = *self.sites.get(site + 1)? as usize;
        let at = self.indexes[from..to].binary_search(&page.index()).ok()?;
        Some(self.places[from + at])
    }

    /// Iterates over the pages by id, with their numbers.
    pub(super) fn by_id(&self) -> impl Iterator<Item = (PageId, u32)> {
        let sites = (0..).zip(self.sites.windows(2));
        sites.flat_map(|(site, ends)| {
            let places = ends[0] as usize..ends[1] as usize;
            let indexes = self.indexes[places.clone()].iter();
            let pages = indexes.map(move |&index| PageId::new(SiteId(site), index));
            pages.zip(self.places[places].iter().copied())
        })
    }

    /// Returns the pages in the order of their numbers.
    pub(super) fn pages(&self) -> Vec<PageId> {
        let mut pages = vec![PageId::new(SiteId(0), 0); self.places.len()];
        for (page, number) in self.by_id() {
            pages[number as usize] = page;
        }
        pages
    }
}
