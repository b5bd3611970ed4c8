//! The pages that exist, by site.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use seedbank_algorithms::page::{PageId, PageSet, SiteId};

/// A set of pages in which the bitmap of a site is found by its id.
///
/// [`PageSet`] compares two sets by walking the sites of both, which is quadratic if many sets of a few sites
/// are compared with a set of all sites. Here a comparison costs a lookup for each site of the other set.
#[derive(Default)]
pub(super) struct PageIndex(BTreeMap<u32, RoaringBitmap>);

impl PageIndex {
    pub(super) fn insert(&mut self, page: PageId) {
        self.of_site_mut(page.site()).insert(page.index());
    }

    /// Returns the indexes of the pages of a site; `None` if there are none.
    pub(super) fn of_site(&self, site: SiteId) -> Option<&RoaringBitmap> {
        self.0.get(&site.0)
    }

    pub(super) fn of_site_mut(&mut self, site: SiteId) -> &mut RoaringBitmap {
        self.0.entry(site.0).or_default()
    }

    pub(super) fn into_set(self) -> PageSet {
        PageSet::from_bitmaps(self.0)
    }

    pub(super) fn contains(&self, page: PageId) -> bool {
        let of_site = self.of_site(page.site());
        of_site.is_some_and(|of_site| of_site.contains(page.index()))
    }

    /// Returns whether all pages of a set are in this one.
    pub(super) fn contains_all(&self, pages: &PageSet) -> bool {
        pages.bitmaps().all(|(site, of_site)| {
            let own = self.0.get(&site);
            own.is_some_and(|own| of_site.is_subset(own))
        })
    }

    /// Returns the pages of a set that are not in this one, ascending.
    pub(super) fn missing(&self, pages: &PageSet) -> Vec<PageId> {
        let of_sites = pages.bitmaps().flat_map(|(site, of_site)| {
            let missing = match self.0.get(&site) {
                Some(own) => of_site - own,
                None => of_site.clone(),
            };
            missing
                .into_iter()
                .map(move |index| PageId::new(SiteId(site), index))
        });
        of_sites.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_compared_site_by_site() {
        let page = |site, index| PageId::new(SiteId(site), index);
        let all = [page(0, 7), page(2, 1), page(2, 3), page(u32::MAX, 0)];
        let mut index = PageIndex::default();
        for page in &all {
            index.insert(*page);
        }
        assert!(all.iter().all(|page| index.contains(*page)));
        for other in [page(0, 6), page(1, 7), page(2, 2)] {
            assert!(!index.contains(other));
            let set: PageSet = [page(2, 3).0, other.0].into_iter().collect();
            assert!(!index.contains_all(&set));
            assert_eq!(index.missing(&set), [other]);
        }
        assert!(index.contains_all(&PageSet::new()));
        assert!(index.contains_all(&all[1..].iter().map(|page| page.0).collect()));
    }
}
