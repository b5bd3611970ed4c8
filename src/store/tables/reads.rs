//! Reads of links in both directions, of aliases, and of many pages.

use std::collections::BTreeSet;
use std::ops::Range;

use roaring::{RoaringBitmap, RoaringTreemap};

use super::records::aliases::{AliasRecord, AliasReference, resolve_alias};
use super::records::links::{Link, LinkBlock, LinkKey, RowWithMembers};
use super::records::{PageRecord, RowMembers};
use super::schema as tables;
use super::schema::{ALIAS_REFERENCES, ALIASES, CANONICAL_REFERENCES};
use super::store::{SiteScan, Store};
use super::table::{Key, Table, Value};
use crate::error::StoreError;
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_algorithms::watch::Watch;

impl Store {
    /// Returns a block of links; empty if it does not exist.
    pub fn links<T: Link>(
        &self,
        table: &Table<LinkKey, LinkBlock<T>>,
        key: LinkKey,
    ) -> Result<LinkBlock<T>, StoreError> {
        Ok(self.get(table, &key)?.unwrap_or_default())
    }

    /// Returns the intra-site targets of a page, ascending.
    pub fn intra(&self, page: PageId) -> Result<Vec<u32>, StoreError> {
        let (key, place) = LinkKey::of_page(page);
        Ok(self.links(&tables::INTRA, key)?.at(place).to_vec())
    }

    /// Returns all targets of a page, ascending; `row` is the index of its row.
    pub fn links_of(&self, page: PageId, row: Option<u32>) -> Result<Vec<PageId>, StoreError> {
        let intra = self.intra(page)?.into_iter();
        let mut links: Vec<PageId> = intra.map(|index| PageId::new(page.site(), index)).collect();
        if let Some(row) = row {
            links.extend(self.need_row(RowId::new(page.site(), row))?);
        }
        links.sort_unstable();
        Ok(links)
    }

    /// Iterates over the pages of a site with intra-site links and their targets, both ascending.
    pub fn intra_of(
        &self,
        site: SiteId,
    ) -> Result<impl Iterator<Item = Result<(PageId, Vec<u32>), StoreError>>, StoreError> {
        let blocks = self.scan_under(&tables::INTRA, &site.0.to_be_bytes())?;
        Ok(lists_of(blocks).map(move |list| {
            let (_, index, targets) = list?;
            Ok((PageId::new(site, index), targets))
        }))
    }

    /// Returns the targets of a row, ascending; `None` if the row does not exist.
    pub fn row(&self, row: RowId) -> Result<Option<Vec<PageId>>, StoreError> {
        let (key, place) = LinkKey::of_row(row);
        let targets = self.links(&tables::ROWS, key)?.at(place).to_vec();
        Ok((!targets.is_empty()).then_some(targets))
    }

    /// Returns the targets of a row that must exist, since another record refers to it.
    pub fn need_row(&self, row: RowId) -> Result<Vec<PageId>, StoreError> {
        let missing =
            || StoreError::damaged(tables::ROWS.name, row.to_string(), "the row is missing");
        self.row(row)?.ok_or_else(missing)
    }

    /// Returns the pages that link to any of these pages, in any state.
    ///
    /// Cost: reads each block with such a link once.
    pub fn linking_any(
        &self,
        pages: &RoaringTreemap,
        watch: &dyn Watch,
    ) -> Result<RoaringTreemap, StoreError> {
        // The blocks with links to the pages are collected first, so that each is read once.
        let mut inside = BTreeSet::new();
        let mut blocks = BTreeSet::new();
        for page in pages.iter().map(PageId) {
            watch.proceed()?;
            let (key, place) = LinkKey::of_page(page);
            let of_site = |&block: &u32| LinkKey {
                site: page.site(),
                block,
            };
            let own = self.links(&tables::INTRA_IN, key)?;
            inside.extend(own.at(place).iter().map(of_site));
            blocks.extend(self.links(&tables::CITERS, key)?.at(place));
        }
        let mut linking = RoaringTreemap::new();
        for key in inside {
            watch.proceed()?;
            for (place, targets) in self.links(&tables::INTRA, key)?.lists() {
                let mut targets = targets.iter().map(|&index| PageId::new(key.site, index));
                if targets.any(|target| pages.contains(target.0)) {
                    linking.insert(PageId::new(key.site, key.index(place)).0);
                }
            }
        }
        for key in blocks {
            watch.proceed()?;
            for (place, targets) in self.links(&tables::ROWS, key)?.lists() {
                if !targets.iter().any(|target| pages.contains(target.0)) {
                    continue;
                }
                let row = RowId::new(key.site, key.index(place));
                let members = self.need(&tables::ROW_MEMBERS, &row)?.pages;
                linking.extend(members.iter().map(|index| PageId::new(key.site, index).0));
            }
        }
        Ok(linking)
    }

    /// Counts the pages of each site that link to a page, in the order of the sites.
    ///
    /// Memory: a few bytes for each site. Cost: reads the rows that link to the page, and their members.
    pub fn linking_sites(&self, page: PageId) -> Result<Vec<(SiteId, u64)>, StoreError> {
        let (key, place) = LinkKey::of_page(page);
        let citers = self.links(&tables::CITERS, key)?;
        let mut sites = Vec::new();
        let own = self.linking_inside(page)?.len();
        if own > 0 {
            sites.push((page.site(), own));
        }
        for blocks in citers.at(place).chunk_by(|a, b| a.site == b.site) {
            let mut pages = 0;
            for block in blocks {
                for row in self.citing_rows(page, std::slice::from_ref(block))? {
                    pages += self.need(&tables::ROW_MEMBERS, &row)?.pages.len();
                }
            }
            sites.extend(blocks.first().map(|block| (block.site, pages)));
        }
        sites.sort_unstable();
        Ok(sites)
    }

    /// Returns the indexes of the pages of a site that link to a page.
    pub fn linking_from(&self, page: PageId, site: SiteId) -> Result<RoaringBitmap, StoreError> {
        if site == page.site() {
            return self.linking_inside(page);
        }
        let (key, place) = LinkKey::of_page(page);
        let citers = self.links(&tables::CITERS, key)?;
        let mut linking = RoaringBitmap::new();
        let of_site = citers.at(place).iter().filter(|block| block.site == site);
        for block in of_site {
            for row in self.citing_rows(page, std::slice::from_ref(block))? {
                linking |= self.need(&tables::ROW_MEMBERS, &row)?.pages;
            }
        }
        Ok(linking)
    }

    /// Returns the indexes of the pages of the same site that link to a page.
    fn linking_inside(&self, page: PageId) -> Result<RoaringBitmap, StoreError> {
        let (key, place) = LinkKey::of_page(page);
        let mut linking = RoaringBitmap::new();
        for &block in self.links(&tables::INTRA_IN, key)?.at(place) {
            let of_block = LinkKey {
                site: page.site(),
                block,
            };
            let targets = self.links(&tables::INTRA, of_block)?;
            let places = targets.places_of(page.index());
            linking.extend(places.map(|at| of_block.index(at)));
        }
        Ok(linking)
    }

    /// Returns the rows that link to a page, ascending; `blocks` are the blocks with such rows.
    pub fn citing_rows(&self, page: PageId, blocks: &[LinkKey]) -> Result<Vec<RowId>, StoreError> {
        let mut rows = Vec::new();
        for &key in blocks {
            let links = self.links(&tables::ROWS, key)?;
            let places = links.places_of(page);
            rows.extend(places.map(|place| RowId::new(key.site, key.index(place))));
        }
        Ok(rows)
    }

    /// Iterates over the rows of sites and their targets, ascending.
    pub fn rows_of(
        &self,
        sites: Range<u32>,
    ) -> Result<impl Iterator<Item = Result<(RowId, Vec<PageId>), StoreError>>, StoreError> {
        Ok(
            lists_of(self.scan_sites(&tables::ROWS, sites)?).map(|list| {
                let (site, index, targets) = list?;
                Ok((RowId::new(site, index), targets))
            }),
        )
    }
}

/// Scans of the links of sites, one site after another.
pub struct LinkScan<'a> {
    intra: SiteScan<'a, LinkKey, LinkBlock<u32>>,
    rows: SiteScan<'a, LinkKey, LinkBlock<PageId>>,
    members: SiteScan<'a, RowId, RowMembers>,
}

impl<'a> LinkScan<'a> {
    /// Opens the tables of links.
    pub fn new(store: &'a Store) -> Result<Self, StoreError> {
        Ok(Self {
            intra: store.scan_by_site(&tables::INTRA)?,
            rows: store.scan_by_site(&tables::ROWS)?,
            members: store.scan_by_site(&tables::ROW_MEMBERS)?,
        })
    }

    /// Iterates over the pages of a site with intra-site links and their targets, both ascending.
    pub fn intra_of(
        &mut self,
        site: SiteId,
    ) -> impl Iterator<Item = Result<(PageId, Vec<u32>), StoreError>> {
        lists_of(self.intra.of_site(site)).map(move |list| {
            let (_, index, targets) = list?;
            Ok((PageId::new(site, index), targets))
        })
    }

    /// Iterates over the rows of a site with their members and targets, ascending.
    pub fn carried_rows(
        &mut self,
        site: SiteId,
    ) -> impl Iterator<Item = Result<RowWithMembers, StoreError>> {
        with_members(self.rows.of_site(site), self.members.of_site(site))
    }
}

/// Joins rows with their members.
fn with_members(
    rows: impl Iterator<Item = Result<(LinkKey, LinkBlock<PageId>), StoreError>>,
    mut members: impl Iterator<Item = Result<(RowId, RowMembers), StoreError>>,
) -> impl Iterator<Item = Result<RowWithMembers, StoreError>> {
    lists_of(rows).map(move |list| {
        let (site, index, targets) = list?;
        let row = RowId::new(site, index);
        match members.next().transpose()? {
            Some((other, members)) if other == row => Ok((row, members, targets)),
            _ => Err(StoreError::damaged(
                tables::ROW_MEMBERS.name,
                row.to_string(),
                "the row has no pages",
            )),
        }
    })
}

/// A list of a block: the site, the index of the page or row, and the entries.
type SiteList<T> = (SiteId, u32, Vec<T>);

fn lists_of<T: Link>(
    blocks: impl Iterator<Item = Result<(LinkKey, LinkBlock<T>), StoreError>>,
) -> impl Iterator<Item = Result<SiteList<T>, StoreError>> {
    blocks.flat_map(|entry| {
        let (key, lists, error) = match entry {
            Ok((key, block)) => (Some(key), block.0, None),
            Err(e) => (None, Vec::new(), Some(Err(e))),
        };
        let lists = lists.into_iter().filter_map(move |(place, list)| {
            let key = key?;
            Some(Ok((key.site, key.index(place), list)))
        });
        error.into_iter().chain(lists)
    })
}

/// Reads the links of pages or rows in ascending order, each block once.
pub struct LinkCursor<'a, T: 'static> {
    store: &'a Store,
    table: &'static Table<LinkKey, LinkBlock<T>>,
    block: Option<(LinkKey, LinkBlock<T>)>,
}

impl<'a, T: Link> LinkCursor<'a, T>
where
    LinkBlock<T>: Value,
{
    /// Creates a cursor over a table of links.
    #[must_use]
    pub const fn new(store: &'a Store, table: &'static Table<LinkKey, LinkBlock<T>>) -> Self {
        Self {
            store,
            table,
            block: None,
        }
    }

    /// Returns the list at a position of a block.
    pub fn list(&mut self, key: LinkKey, place: u32) -> Result<&[T], StoreError> {
        let block = match self.block.take() {
            Some((at, block)) if at == key => block,
            _ => self.store.links(self.table, key)?,
        };
        Ok(self.block.insert((key, block)).1.at(place))
    }
}

impl Store {
    /// Returns the page to which a page redirects; `None` if the page is no alias.
    pub fn alias(&self, page: PageId) -> Result<Option<PageId>, StoreError> {
        Ok(match self.get(&ALIASES, &page)? {
            Some(AliasRecord::Alias(to)) => Some(to),
            _ => None,
        })
    }

    /// Follows a chain of at most [`MAX_CHAIN`](super::records::aliases::MAX_CHAIN) aliases and returns
    /// its end; the page itself if it is no alias. `None` if the chain is longer or a loop.
    pub fn resolve_alias(&self, page: PageId) -> Result<Option<PageId>, StoreError> {
        resolve_alias(page, |page| self.alias(page))
    }

    /// Returns the pages whose alias records refer to a page, ascending, with the kind of reference.
    pub fn alias_references(
        &self,
        page: PageId,
    ) -> Result<Vec<(PageId, AliasReference)>, StoreError> {
        let found = self.scan_under(&ALIAS_REFERENCES, &page.bytes())?;
        found
            .map(|entry| entry.map(|((_, other), why)| (other, why)))
            .collect()
    }

    /// Returns the pages that name a page as canonical, ascending; at most `limit`.
    pub fn canonical_references(
        &self,
        page: PageId,
        limit: usize,
    ) -> Result<Vec<PageId>, StoreError> {
        let found = self.scan_under(&CANONICAL_REFERENCES, &page.bytes())?;
        let pages = found.take(limit).map(|entry| Ok(entry?.0.1));
        pages.collect()
    }
}

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
