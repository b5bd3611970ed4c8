//! Loads everything that is connected with some pages, by key.
//!
//! A page that takes part leads to the rows that lead from it and to it, and a row leads to all
//! pages that carry it and all its targets. In the end the result is whole components of the
//! host-pruned graph: no row leads from there to a page elsewhere that takes part, and none from
//! elsewhere to there.
//!
//! Cost: the records of the pages and of adjacent pages that take no part, and the blocks of the
//! link tables that they are in, each read once. Memory: all of that.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::load::{Hubs, Rules};
use crate::engine::EngineError;
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_formats::ingest;
use seedbank_store::evidence::LinkStatus;
use seedbank_store::links::{Link, LinkBlock, LinkKey};
use seedbank_store::{Store, StoreError, Table, tables};

/// What is known of a page that was looked at.
struct Seen {
    /// Why it takes no part; `None` if it does.
    reason: Option<LinkStatus>,
    /// The index of its row; `None` without one.
    row: Option<u32>,
    url: String,
}

/// A row: who carries it, and where it leads.
struct Row {
    carriers: Vec<PageId>,
    targets: Vec<PageId>,
}

/// Blocks of a link table that were read.
struct Blocks<T> {
    table: Table<LinkKey, LinkBlock<T>>,
    read: BTreeMap<LinkKey, LinkBlock<T>>,
}

impl<T: Link> Blocks<T> {
    const fn of(table: Table<LinkKey, LinkBlock<T>>) -> Self {
        Self {
            table,
            read: BTreeMap::new(),
        }
    }

    fn at(&mut self, store: &Store, key: LinkKey) -> Result<&LinkBlock<T>, StoreError> {
        if !self.read.contains_key(&key) {
            self.read.insert(key, store.links(&self.table, key)?);
        }
        Ok(&self.read[&key])
    }
}

/// What was loaded so far.
pub(crate) struct Neighbourhood<'a> {
    rules: Rules<'a>,
    /// The most pages that are loaded.
    most: u64,
    seen: BTreeMap<PageId, Option<Seen>>,
    /// The pages that take part, each with all of its component once it is loaded.
    part: BTreeSet<PageId>,
    rows: BTreeMap<RowId, Row>,
    row_blocks: Blocks<PageId>,
    citer_blocks: Blocks<LinkKey>,
    names: BTreeMap<SiteId, String>,
}

impl<'a> Neighbourhood<'a> {
    pub(crate) fn new(rules: Rules<'a>, most: u64) -> Self {
        Self {
            rules,
            most,
            seen: BTreeMap::new(),
            part: BTreeSet::new(),
            rows: BTreeMap::new(),
            row_blocks: Blocks::of(tables::ROWS),
            citer_blocks: Blocks::of(tables::CITERS),
            names: BTreeMap::new(),
        }
    }

    /// What is known of a page; `None` where there is no such page.
    fn look(&mut self, page: PageId) -> Result<Option<&Seen>, EngineError> {
        if !self.seen.contains_key(&page) {
            let store = self.rules.store;
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
                        reason: self.rules.reason(page.site(), &record)?,
                        row: record.row,
                        url: ingest::url(name, &record.local, self.rules.mode),
                    })
                }
            };
            self.seen.insert(page, seen);
        }
        Ok(self.seen.get(&page).and_then(Option::as_ref))
    }

    /// The rows that lead to a page.
    pub(crate) fn citing(&mut self, page: PageId) -> Result<Vec<RowId>, EngineError> {
        let store = self.rules.store;
        let (key, place) = LinkKey::of_page(page);
        let mut rows = Vec::new();
        for &key in self.citer_blocks.at(store, key)?.at(place) {
            let places = self.row_blocks.at(store, key)?.places_of(page);
            rows.extend(places.map(|place| RowId::new(key.site, key.index(place))));
        }
        Ok(rows)
    }

    /// The pages that carry a row.
    pub(crate) fn carriers(&self, row: RowId) -> Result<Vec<PageId>, EngineError> {
        let members = self.rules.store.need(&tables::ROW_MEMBERS, &row)?;
        let carriers = members.pages.iter();
        let carriers = carriers.map(|index| PageId::new(row.site(), index));
        Ok(carriers.collect())
    }

    /// The rows that lead from a page and to it.
    fn rows_at(&mut self, page: PageId) -> Result<Vec<RowId>, EngineError> {
        let mut rows = self.citing(page)?;
        let own = self.look(page)?.and_then(|seen| seen.row);
        rows.extend(own.map(|row| RowId::new(page.site(), row)));
        Ok(rows)
    }

    /// Loads everything that is connected with these pages, as far as it takes part; `false` where
    /// that is too much.
    pub(crate) fn spread(
        &mut self,
        from: impl IntoIterator<Item = PageId>,
    ) -> Result<bool, EngineError> {
        let mut next: BTreeSet<PageId> = from.into_iter().collect();
        while let Some(page) = next.pop_first() {
            self.rules.watch.proceed()?;
            let takes_part = self.look(page)?.is_some_and(|seen| seen.reason.is_none());
            if !takes_part || !self.part.insert(page) {
                continue;
            }
            // Adjacent pages that take no part are read too.
            let seen = self.seen.len() as u64 / 4;
            if seen.max(self.part.len() as u64) > self.most {
                return Ok(false);
            }
            for row in self.rows_at(page)? {
                if self.rows.contains_key(&row) {
                    continue;
                }
                let (key, place) = LinkKey::of_row(row);
                let block = self.row_blocks.at(self.rules.store, key)?;
                let targets = block.at(place).to_vec();
                let carriers = self.carriers(row)?;
                let both = carriers.iter().chain(&targets);
                next.extend(both.filter(|page| !self.part.contains(page)));
                self.rows.insert(row, Row { carriers, targets });
            }
        }
        Ok(true)
    }

    /// The pages that take part, ascending.
    pub(crate) const fn part(&self) -> &BTreeSet<PageId> {
        &self.part
    }

    /// The graph of what was loaded, in numbers that follow URL order and are also given to
    /// `others`.
    pub(crate) fn hubs(&mut self, others: &BTreeSet<PageId>) -> Result<Hubs, EngineError> {
        for &page in others {
            self.look(page)?;
        }
        let pages = self.part.union(others);
        let url = |page: &PageId| self.seen.get(page)?.as_ref().map(|seen| seen.url.as_str());
        let mut by_url: Vec<(&str, PageId)> =
            pages.filter_map(|page| Some((url(page)?, *page))).collect();
        by_url.sort_unstable();
        let pages = by_url.into_iter().map(|(_, page)| page).collect();
        let takes_part = |page: &&PageId| self.part.contains(*page);
        let rows: Vec<(Vec<PageId>, Vec<PageId>)> = self
            .rows
            .values()
            .map(|row| {
                let of_part = |pages: &[PageId]| pages.iter().filter(takes_part).copied().collect();
                (of_part(&row.carriers), of_part(&row.targets))
            })
            .collect();
        let rows = rows.iter();
        Hubs::of_part(pages, rows.map(|row| (row.0.as_slice(), row.1.as_slice())))
    }

    /// The targets of a page's row.
    pub(crate) fn targets(&mut self, page: PageId) -> Result<Vec<PageId>, EngineError> {
        let Some(row) = self.look(page)?.and_then(|seen| seen.row) else {
            return Ok(Vec::new());
        };
        let (key, place) = LinkKey::of_row(RowId::new(page.site(), row));
        let block = self.row_blocks.at(self.rules.store, key)?;
        Ok(block.at(place).to_vec())
    }

    /// Why a page on inter-site links takes no part, or `Isolated` where it does; `None` where it is
    /// on no inter-site link.
    pub(crate) fn bare_standing(
        &mut self,
        page: PageId,
    ) -> Result<Option<LinkStatus>, EngineError> {
        if self.rows_at(page)?.is_empty() {
            return Ok(None);
        }
        let seen = self.look(page)?;
        Ok(seen.map(|seen| seen.reason.unwrap_or(LinkStatus::Isolated)))
    }
}
