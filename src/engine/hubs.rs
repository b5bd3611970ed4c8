//! Loads the host-pruned graph for ranking: rows with the pages that carry them, in numbers that
//! follow URL order.
//!
//! A page takes part that is neither gone nor, unless kept, spam. Three scans: rows and members
//! for the pages on inter-site links, pages for those of them that take part, rows again for the
//! graph. Memory: the URLs of the pages that take part while they are sorted, then 12 bytes for
//! each page, and the graph.

use rayon::slice::ParallelSliceMut;

use super::plan::Pages;
use super::{EngineError, site_mode};
use crate::graph::{HubGraph, Rows};
use crate::ingest;
use crate::page::{PageId, PageSet, RowId};
use crate::storage::evidence::Links;
use crate::storage::records::{PageState, RowMembers};
use crate::storage::{Store, StoreError, tables};
use crate::watch::Watch;

/// The graph, and which page each of its numbers is.
pub(super) struct Hubs {
    pub(super) graph: HubGraph,
    /// Pages by number, that is in URL order.
    pub(super) pages: Vec<PageId>,
    /// Pages on inter-site links that take no part, in no particular order, with the reason.
    pub(super) left_out: Vec<(PageId, Links)>,
    numbers: Numbers,
}

/// From page ids to numbers.
struct Numbers {
    /// Pages that take part, ascending, each with its number.
    by_id: Vec<(PageId, u32)>,
}

impl Numbers {
    fn of(&self, page: PageId) -> Option<u32> {
        let at = self.by_id.binary_search_by_key(&page, |(id, _)| *id).ok()?;
        Some(self.by_id[at].1)
    }

    /// The numbers of those that take part, ascending.
    fn of_all(&self, pages: impl Iterator<Item = PageId>) -> Vec<u32> {
        let mut numbers: Vec<u32> = pages.filter_map(|page| self.of(page)).collect();
        numbers.sort_unstable();
        numbers
    }
}

impl Hubs {
    /// The page's number, if it takes part.
    pub(super) fn number(&self, page: PageId) -> Option<u32> {
        self.numbers.of(page)
    }

    pub(super) fn load(
        store: &Store,
        keep_spam: bool,
        pages: Pages,
        watch: &dyn Watch,
    ) -> Result<Self, EngineError> {
        watch.stage("load pages", None);
        let mode = site_mode(&store.settings()?)?;
        let mut linked = PageSet::new();
        each_row(store, watch, |row, members, targets| {
            linked.extend(
                members
                    .pages
                    .iter()
                    .map(|index| PageId::new(row.site(), index).0),
            );
            linked.extend(targets.iter().map(|target| target.0));
            Ok(())
        })?;
        let mut urls: Vec<(String, PageId)> = Vec::new();
        let mut left_out = Vec::new();
        let mut site = None;
        let mut name = String::new();
        for entry in store.scan(&tables::PAGES)? {
            watch.proceed()?;
            let (page, record) = entry?;
            if !linked.contains(page.0) {
                continue;
            }
            let reason = match record.state {
                PageState::Gone | PageState::Unlinked => Some(Links::Gone),
                _ if record.spam && !keep_spam => Some(Links::Spam),
                PageState::Known if pages == Pages::Crawled => Some(Links::NotCrawled),
                PageState::Known | PageState::Crawled => None,
            };
            if let Some(reason) = reason {
                left_out.push((page, reason));
                continue;
            }
            if site != Some(page.site()) {
                site = Some(page.site());
                name = store.need(&tables::SITES, &page.site())?.name;
            }
            urls.push((ingest::url(&name, &record.local, mode), page));
        }
        urls.par_sort_unstable();
        let pages: Vec<PageId> = urls.into_iter().map(|(_, page)| page).collect();
        let mut by_id = Vec::with_capacity(pages.len());
        for (number, page) in pages.iter().enumerate() {
            let number = u32::try_from(number).map_err(|_| StoreError::Full("page to rank"))?;
            by_id.push((*page, number));
        }
        by_id.par_sort_unstable();
        let numbers = Numbers { by_id };
        watch.stage("load links", None);
        let mut rows = Rows::new();
        each_row(store, watch, |row, members, targets| {
            let carriers = members.pages.iter();
            let carriers = numbers.of_all(carriers.map(|index| PageId::new(row.site(), index)));
            let targets = numbers.of_all(targets.iter().copied());
            rows.push(&carriers, &targets)
                .map_err(|e| EngineError::Plan(e.to_string()))
        })?;
        let graph = rows.graph().map_err(|e| EngineError::Plan(e.to_string()))?;
        Ok(Self {
            graph,
            pages,
            left_out,
            numbers,
        })
    }
}

/// Hands every row with its pages and targets to `each`.
fn each_row(
    store: &Store,
    watch: &dyn Watch,
    mut each: impl FnMut(RowId, &RowMembers, &[PageId]) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    for entry in store.carried_rows(&[])? {
        watch.proceed()?;
        let (row, members, targets) = entry?;
        each(row, &members, &targets)?;
    }
    Ok(())
}
