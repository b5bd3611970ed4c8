//! Loads everything that is connected with some pages, by key.
//!
//! From an included page the search follows the rows from it and to it, and from a row all pages
//! that carry it and all its targets. The result consists of whole components of the host-pruned
//! graph: no row links an included page inside with one outside.
//!
//! Cost: the records of these pages and of adjacent ineligible pages, and their blocks of the link
//! tables, each read once. Memory: all of that.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::load::{LoadedHubGraph, PageFilter};
use crate::engine::Result;
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_formats::ingest;
use seedbank_store::evidence::LinkStatus;
use seedbank_store::links::{Link, LinkBlock, LinkKey};
use seedbank_store::{Store, StoreError, Table, tables};

/// A page that was looked up.
struct Seen {
    /// Why the page is ineligible; `None` if it is included.
    reason: Option<LinkStatus>,
    /// The index of the page's row; `None` if it has none.
    row: Option<u32>,
    url: String,
}

/// A row: the pages that carry it, and its targets.
struct Row {
    carriers: Vec<PageId>,
    targets: Vec<PageId>,
}

/// Blocks of a link table, cached.
struct Blocks<T> {
    table: Table<LinkKey, LinkBlock<T>>,
    read: BTreeMap<LinkKey, LinkBlock<T>>,
}

impl<T: Link> Blocks<T> {
    const fn new(table: Table<LinkKey, LinkBlock<T>>) -> Self {
        Self {
            table,
            read: BTreeMap::new(),
        }
    }

    fn get(&mut self, store: &Store, key: LinkKey) -> Result<&LinkBlock<T>, StoreError> {
        if !self.read.contains_key(&key) {
            self.read.insert(key, store.links(&self.table, key)?);
        }
        Ok(&self.read[&key])
    }
}

/// Pages and rows loaded so far.
pub(crate) struct Neighbourhood<'a> {
    filter: PageFilter<'a>,
    /// Maximum number of pages to load.
    max_pages: u64,
    seen: BTreeMap<PageId, Option<Seen>>,
    /// Included pages; once loading ends, whole components.
    included: BTreeSet<PageId>,
    rows: BTreeMap<RowId, Row>,
    row_blocks: Blocks<PageId>,
    citer_blocks: Blocks<LinkKey>,
    names: BTreeMap<SiteId, String>,
}

impl<'a> Neighbourhood<'a> {
    pub(crate) fn new(filter: PageFilter<'a>, max_pages: u64) -> Self {
        Self {
            filter,
            max_pages,
            seen: BTreeMap::new(),
            included: BTreeSet::new(),
            rows: BTreeMap::new(),
            row_blocks: Blocks::new(tables::ROWS),
            citer_blocks: Blocks::new(tables::CITERS),
            names: BTreeMap::new(),
        }
    }

    /// Looks up a page; `None` if it does not exist.
    fn lookup(&mut self, page: PageId) -> Result<Option<&Seen>> {
        if !self.seen.contains_key(&page) {
            let store = self.filter.store;
            let seen = match store.get(&tables::PAGES, &page)? {
                None => None,
                Some(record) => {
                    let name = match self.names.entry(page.site()) {
                        Entry::Occupied(name) => name.into_mut(),
                        Entry::Vacant(place) => {
                            place.insert(store.need(&tables::SITES, &page.site())?.name)
                        }
                    };
                    Some(Seen {
                        reason: self.filter.reason(page.site(), &record)?,
                        row: record.row,
                        url: ingest::url(name, &record.local, self.filter.mode),
                    })
                }
            };
            self.seen.insert(page, seen);
        }
        Ok(self.seen.get(&page).and_then(Option::as_ref))
    }

    /// Returns the rows that link to a page.
    pub(crate) fn citing(&mut self, page: PageId) -> Result<Vec<RowId>> {
        let store = self.filter.store;
        let (key, place) = LinkKey::of_page(page);
        let mut rows = Vec::new();
        for &key in self.citer_blocks.get(store, key)?.at(place) {
            let places = self.row_blocks.get(store, key)?.places_of(page);
            rows.extend(places.map(|place| RowId::new(key.site, key.index(place))));
        }
        Ok(rows)
    }

    /// Returns the pages that carry a row.
    pub(crate) fn carriers(&self, row: RowId) -> Result<Vec<PageId>> {
        let members = self.filter.store.need(&tables::ROW_MEMBERS, &row)?;
        let carriers = members.pages.iter();
        let carriers = carriers.map(|index| PageId::new(row.site(), index));
        Ok(carriers.collect())
    }

    /// Returns the rows from a page and to it.
    fn rows_at(&mut self, page: PageId) -> Result<Vec<RowId>> {
        let mut rows = self.citing(page)?;
        let own = self.lookup(page)?.and_then(|seen| seen.row);
        rows.extend(own.map(|row| RowId::new(page.site(), row)));
        Ok(rows)
    }

    /// Loads everything that is connected with these pages through included pages. Returns `false`
    /// if that is too much.
    pub(crate) fn load_connected(
        &mut self,
        from: impl IntoIterator<Item = PageId>,
    ) -> Result<bool> {
        let mut next: BTreeSet<PageId> = from.into_iter().collect();
        while let Some(page) = next.pop_first() {
            self.filter.watch.proceed()?;
            let is_included = self.lookup(page)?.is_some_and(|seen| seen.reason.is_none());
            if !is_included || !self.included.insert(page) {
                continue;
            }
            // Adjacent ineligible pages are read too, so they count, but less.
            let seen = self.seen.len() as u64 / 4;
            if seen.max(self.included.len() as u64) > self.max_pages {
                return Ok(false);
            }
            for row in self.rows_at(page)? {
                if self.rows.contains_key(&row) {
                    continue;
                }
                let (key, place) = LinkKey::of_row(row);
                let block = self.row_blocks.get(self.filter.store, key)?;
                let targets = block.at(place).to_vec();
                let carriers = self.carriers(row)?;
                let both = carriers.iter().chain(&targets);
                next.extend(both.filter(|page| !self.included.contains(page)));
                self.rows.insert(row, Row { carriers, targets });
            }
        }
        Ok(true)
    }

    /// Included pages, ascending.
    pub(crate) const fn included(&self) -> &BTreeSet<PageId> {
        &self.included
    }

    /// Builds the graph of what was loaded. Its numbers follow URL order, and include `others`.
    pub(crate) fn graph(&mut self, others: &BTreeSet<PageId>) -> Result<LoadedHubGraph> {
        for &page in others {
            self.lookup(page)?;
        }
        let pages = self.included.union(others);
        let url = |page: &PageId| self.seen.get(page)?.as_ref().map(|seen| seen.url.as_str());
        let mut by_url: Vec<(&str, PageId)> =
            pages.filter_map(|page| Some((url(page)?, *page))).collect();
        by_url.sort_unstable();
        let pages = by_url.into_iter().map(|(_, page)| page).collect();
        let is_included = |page: &&PageId| self.included.contains(*page);
        let rows: Vec<(Vec<PageId>, Vec<PageId>)> = self
            .rows
            .values()
            .map(|row| {
                let of_part =
                    |pages: &[PageId]| pages.iter().filter(is_included).copied().collect();
                (of_part(&row.carriers), of_part(&row.targets))
            })
            .collect();
        let rows = rows.iter();
        LoadedHubGraph::from_rows(pages, rows.map(|row| (row.0.as_slice(), row.1.as_slice())))
    }

    /// Returns the targets of a page's row.
    pub(crate) fn targets(&mut self, page: PageId) -> Result<Vec<PageId>> {
        let Some(row) = self.lookup(page)?.and_then(|seen| seen.row) else {
            return Ok(Vec::new());
        };
        let (key, place) = LinkKey::of_row(RowId::new(page.site(), row));
        let block = self.row_blocks.get(self.filter.store, key)?;
        Ok(block.at(place).to_vec())
    }

    /// Returns why a page on inter-site links is ineligible, or `Alone` if it is included; `None`
    /// if it is on no inter-site link.
    pub(crate) fn link_state(&mut self, page: PageId) -> Result<Option<LinkStatus>> {
        if self.rows_at(page)?.is_empty() {
            return Ok(None);
        }
        let seen = self.lookup(page)?;
        Ok(seen.map(|seen| seen.reason.unwrap_or(LinkStatus::Isolated)))
    }
}
