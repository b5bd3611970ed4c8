//! Loads the host-pruned graph for ranking: rows with the pages that carry them, numbered in URL
//! order.
//!
//! A page is included unless it is gone, or spam and the plan does not keep spam.
//!
//! Memory: the graph image without intra-site links; per included page 20 bytes; and the graph, twice while it
//! is built.

use rayon::prelude::*;

use crate::engine::error::rows_error;
use crate::engine::page_numbers::PageNumbers;
use crate::engine::plan::{CorePlan, Pages};
use crate::engine::web_graph::{Numbering, load_image, read_records};
use crate::engine::{Result, naming};
use seedbank_algorithms::graph::{HubGraph, Rows, number};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{self, Patterns, SiteMode};
use seedbank_store::evidence::LinkStatus;
use seedbank_store::records::{PageRecord, PageState};
use seedbank_store::{GraphImage, ImageLinks, Store, StoreError, tables};

/// The graph, and the page of each number.
pub(crate) struct LoadedHubGraph {
    pub(crate) graph: HubGraph,
    /// Pages by number, in URL order. If only a part is loaded, they include other pages whose
    /// order matters.
    pub(crate) pages: Vec<PageId>,
    /// Ineligible pages on inter-site links by id, with the reason; empty if only a part is loaded.
    pub(crate) ineligible: Ineligible,
    numbers: PageNumbers,
}

/// Ineligible pages by id, with the reason.
pub(super) type Ineligible = Vec<(PageId, LinkStatus)>;

impl LoadedHubGraph {
    /// Returns the page's number; `None` if it is not included.
    pub(crate) fn number(&self, page: PageId) -> Option<u32> {
        self.numbers.number_of(page)
    }

    /// Builds the part of the graph with these rows, which must be all rows from and to its pages.
    /// `pages` are its pages and any others, in URL order.
    pub(crate) fn from_rows<'a>(
        pages: Vec<PageId>,
        rows: impl Iterator<Item = (&'a [PageId], &'a [PageId])>,
    ) -> Result<Self> {
        let sites = pages.iter().map(|page| page.site().0).max();
        let sites = sites.map_or(0, |last| last.saturating_add(1));
        let numbers = PageNumbers::new(&pages, sites)?;
        let mut of_part = Rows::new();
        for (carriers, targets) in rows {
            let carriers = numbers.numbers_of(carriers.iter().copied());
            let targets = numbers.numbers_of(targets.iter().copied());
            of_part
                .push(&carriers, &targets)
                .map_err(|e| rows_error(e, &pages))?;
        }
        let graph = of_part.graph().map_err(|e| rows_error(e, &pages))?;
        Ok(Self {
            graph,
            pages,
            ineligible: Ineligible::new(),
            numbers,
        })
    }

    /// Iterates over the included pages by id, with their numbers.
    pub(crate) fn by_id(&self) -> impl Iterator<Item = (PageId, u32)> {
        self.numbers.by_id()
    }

    pub(crate) fn load(
        store: &Store,
        plan: &CorePlan,
        excluded: Option<&Patterns>,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let image = load_image(store, ImageLinks::InterSite, watch)?;
        let reasons = Reasons::read(store, plan, excluded, &image, watch)?;
        watch.stage("load links", None);
        let linked = linked_pages(&image);
        let numbering = reasons.number_included(&image, &linked)?;
        let ineligible = reasons.ineligible(&image, &linked);
        let pages = numbering.pages(&image);
        let (rows, members) = numbering.rows(&image);
        let mut all = Rows::new();
        for (row, of_row) in (0..).zip(rows) {
            watch.proceed()?;
            let targets = numbering.numbers_of(image.row(of_row));
            all.push(members.list(row), &targets)
                .map_err(|e| rows_error(e, &pages))?;
        }
        drop((image, numbering, members));
        let graph = all.graph().map_err(|e| rows_error(e, &pages))?;
        let numbers = PageNumbers::new(&pages, store.counters()?.next_site)?;
        Ok(Self {
            graph,
            pages,
            ineligible,
            numbers,
        })
    }
}

/// Why pages of a graph image are ineligible.
pub(super) struct Reasons<'a> {
    filter: PageFilter<'a>,
    /// By slot, whether the plan excludes pages; empty if it has no such list.
    is_excluded: Vec<bool>,
}

impl<'a> Reasons<'a> {
    /// Cost: a scan of all pages of the image if the plan excludes pages.
    pub(super) fn read(
        store: &'a Store,
        plan: &CorePlan,
        excluded: Option<&'a Patterns>,
        image: &GraphImage,
        watch: &'a dyn Watch,
    ) -> Result<Self> {
        let filter = PageFilter::new(store, plan, excluded, watch)?;
        let is_excluded = match excluded {
            Some(_) => read_records(store, image, watch, |site, page| {
                filter.is_excluded(site, page)
            })?,
            None => Vec::new(),
        };
        Ok(Self {
            filter,
            is_excluded,
        })
    }

    /// Returns why the page of a slot is ineligible; `None` if it is included.
    fn reason(&self, image: &GraphImage, slot: u32) -> Option<LinkStatus> {
        let is_excluded = self.is_excluded.get(slot as usize).is_some_and(|is| *is);
        let state = match (image.is_live(slot), image.is_crawled(slot)) {
            (true, true) => PageState::Crawled,
            (true, false) => PageState::Known,
            (false, _) => PageState::Gone,
        };
        self.filter
            .reason_for(state, image.is_spam(slot), is_excluded)
    }

    /// Numbers the included pages of an image, without ghosts, that are on inter-site links. `linked` has by slot whether
    /// they are.
    pub(super) fn number_included(&self, image: &GraphImage, linked: &[bool]) -> Result<Numbering> {
        Numbering::by_url(image, |slot| {
            linked[slot as usize] && self.reason(image, slot).is_none()
        })
    }

    /// Returns the ineligible pages of an image, without ghosts, that are on inter-site links.
    pub(super) fn ineligible(&self, image: &GraphImage, linked: &[bool]) -> Ineligible {
        let ineligible = image.order().iter().copied();
        let mut ineligible: Ineligible = ineligible
            .filter(|slot| linked[*slot as usize])
            .filter_map(|slot| Some((image.page(slot), self.reason(image, slot)?)))
            .collect();
        ineligible.par_sort_unstable_by_key(|of| of.0);
        ineligible
    }
}

/// Returns by slot whether pages are on inter-site links.
pub(super) fn linked_pages(image: &GraphImage) -> Vec<bool> {
    let mut linked = vec![false; image.slots()];
    let mut is_read = vec![false; image.row_count()];
    for slot in 0..number(image.slots()) {
        let Some(row) = image.row_of(slot) else {
            continue;
        };
        linked[slot as usize] = true;
        if !std::mem::replace(&mut is_read[row as usize], true) {
            for &target in image.row(row) {
                linked[target as usize] = true;
            }
        }
    }
    linked
}

/// Decides which pages are included.
pub(crate) struct PageFilter<'a> {
    pub(crate) store: &'a Store,
    pub(crate) watch: &'a dyn Watch,
    keep_spam: bool,
    pages: Pages,
    /// Pages that the plan excludes from the graph; `None` if it has no such list.
    excluded: Option<&'a Patterns>,
    pub(crate) mode: SiteMode,
}

impl<'a> PageFilter<'a> {
    pub(crate) fn new(
        store: &'a Store,
        plan: &CorePlan,
        excluded: Option<&'a Patterns>,
        watch: &'a dyn Watch,
    ) -> Result<Self> {
        Ok(Self {
            store,
            watch,
            keep_spam: plan.keep_spam,
            pages: plan.pages,
            excluded,
            mode: naming(&store.settings()?)?.sites,
        })
    }

    /// Returns why a page is ineligible; `None` if it is included.
    pub(crate) fn reason(
        &self,
        site: SiteId,
        record: &PageRecord,
    ) -> Result<Option<LinkStatus>, StoreError> {
        let is_excluded = match self.excluded {
            Some(_) => {
                let site = self.store.need(&tables::SITES, &site)?;
                self.is_excluded(&site.name, record)
            }
            None => false,
        };
        Ok(self.reason_for(record.state, record.spam, is_excluded))
    }

    /// Whether the plan excludes a page from the graph.
    fn is_excluded(&self, site: &str, record: &PageRecord) -> bool {
        let url = || ingest::url(site, &record.local, self.mode);
        self.excluded.is_some_and(|list| list.has(site, &url()))
    }

    /// Returns why a page is ineligible by its state, its spam mark, and whether the plan excludes it.
    fn reason_for(&self, state: PageState, spam: bool, is_excluded: bool) -> Option<LinkStatus> {
        match state {
            PageState::Gone | PageState::Unlinked | PageState::Alias => Some(LinkStatus::Gone),
            _ if spam && !self.keep_spam => Some(LinkStatus::Spam),
            PageState::Known if self.pages == Pages::Crawled => Some(LinkStatus::NotCrawled),
            PageState::Known | PageState::Crawled => is_excluded.then_some(LinkStatus::Excluded),
        }
    }
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
