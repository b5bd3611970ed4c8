//! Loads the host-pruned graph for ranking: rows with the pages that carry them, numbered in URL
//! order.
//!
//! A page is included unless it is gone, or spam and the plan does not keep spam. Loading takes
//! three scans, each of many ranges of sites in parallel: rows and members, to find the pages on
//! inter-site links; pages, to find those that are included; and rows again, for the graph.
//!
//! Pages are put in URL order without holding all URLs: pages of a site whose URLs agree up to the
//! end of the host are contiguous in URL order, without pages of other sites between them. So each
//! such *run* is sorted separately, and then the runs by the common prefix of their URLs. (Ordering
//! by site would be wrong: of `a.org:8080/`, `a.org/` and `a.org2/` the last is in the middle.)
//!
//! Memory: a bit per page of the bank and 8 bytes per site; per included page 20 bytes while pages
//! are numbered and 16 afterwards; some 100 bytes per run; the URLs of the pages of as many sites
//! as there are threads, except for sites with more than [`MAX_SORTED`] pages; and the graph, twice
//! while its parts are joined.

use std::ops::Range;

use rayon::prelude::*;
use roaring::RoaringBitmap;

use super::linked_pages::LinkedPages;
use crate::engine::error::rows_error;
use crate::engine::plan::{CorePlan, Pages};
use crate::engine::{Result, naming};
use seedbank_algorithms::graph::{HubGraph, Rows};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{self, Patterns, SiteMode};
use seedbank_store::evidence::LinkStatus;
use seedbank_store::records::{PageRecord, PageState};
use seedbank_store::{Store, StoreError, tables};

/// Maximum number of pages of a site that are sorted in memory. For larger sites, all URLs of the
/// site are read in key order.
const MAX_SORTED: usize = 1 << 18;

/// Number of parts of the bank that are read in parallel. It is fixed so that parts are joined at
/// the same places on every machine; the result does not depend on it.
const PARTS: u32 = 64;

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
type Ineligible = Vec<(PageId, LinkStatus)>;

/// Map from page ids to numbers.
struct PageNumbers {
    /// For each site the position of its first page in the lists below, and at the end the length
    /// of the lists.
    sites: Vec<u32>,
    /// Indexes of the included pages, by site, ascending on each site.
    indexes: Vec<u32>,
    /// The numbers of these pages, that is, their positions in URL order.
    places: Vec<u32>,
}

impl PageNumbers {
    /// Builds the map for pages in the order of their numbers. Site ids are below `sites`.
    fn new(pages: &[PageId], sites: u32) -> Result<Self, StoreError> {
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

    fn number_of(&self, page: PageId) -> Option<u32> {
        let site = page.site().0 as usize;
        let from = *self.sites.get(site)? as usize;
        let to = *self.sites.get(site + 1)? as usize;
        let at = self.indexes[from..to].binary_search(&page.index()).ok()?;
        Some(self.places[from + at])
    }

    /// Returns the numbers of included pages, ascending.
    fn numbers_of(&self, pages: impl Iterator<Item = PageId>) -> Vec<u32> {
        let mut numbers: Vec<u32> = pages.filter_map(|page| self.number_of(page)).collect();
        numbers.sort_unstable();
        numbers
    }
}

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
        let numbers = &self.numbers;
        let sites = (0..).zip(numbers.sites.windows(2));
        sites.flat_map(|(site, ends)| {
            let places = ends[0] as usize..ends[1] as usize;
            let indexes = numbers.indexes[places.clone()].iter();
            let pages = indexes.map(move |&index| PageId::new(SiteId(site), index));
            pages.zip(numbers.places[places].iter().copied())
        })
    }

    pub(crate) fn load(
        store: &Store,
        plan: &CorePlan,
        excluded: Option<&Patterns>,
        watch: &dyn Watch,
    ) -> Result<Self> {
        watch.stage("load pages", None);
        let sites = store.counters()?.next_site;
        let rules = PageFilter::new(store, plan, excluded, watch)?;
        let (pages, ineligible) = rules.number(sites)?;
        let numbers = PageNumbers::new(&pages, sites)?;
        watch.stage("load links", None);
        let mut rows = Rows::new();
        for part in in_ranges(sites, |sites| load_rows(store, sites, &numbers, watch))? {
            rows.append(&part).map_err(|e| rows_error(e, &pages))?;
        }
        let graph = rows.graph().map_err(|e| rows_error(e, &pages))?;
        Ok(Self {
            graph,
            pages,
            ineligible,
            numbers,
        })
    }
}

/// Processes ranges of sites in parallel. Returns the results in the order of the ranges.
fn in_ranges<T: Send>(sites: u32, work: impl Fn(Range<u32>) -> Result<T> + Sync) -> Result<Vec<T>> {
    let step = sites.div_ceil(PARTS).max(1);
    let parts: Vec<Result<T>> = (0..sites.div_ceil(step))
        .into_par_iter()
        .map(|part| {
            let from = part * step;
            work(from..from.saturating_add(step).min(sites))
        })
        .collect();
    // Returns the first error in the order of sites, whichever happened first.
    parts.into_iter().collect()
}

/// Pages of one site whose URLs agree up to the end of the host.
struct Run {
    /// Common prefix of the URLs, up to the character after the host.
    begins: String,
    site: SiteId,
    /// Page indexes, in URL order.
    indexes: Vec<u32>,
}

/// Runs of included pages, and ineligible pages, of a range of sites.
type PageRuns = (Vec<Run>, Ineligible);

/// Decides which pages are included.
pub(crate) struct PageFilter<'a> {
    pub(crate) store: &'a Store,
    pub(crate) watch: &'a dyn Watch,
    keep_spam: bool,
    pages: Pages,
    /// Pages that the plan excludes from the graph; `None` if it has no such list.
    excluded: Option<&'a Patterns>,
    pub(crate) mode: SiteMode,
    max_sorted: usize,
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
            max_sorted: MAX_SORTED,
        })
    }

    /// Returns the included pages on inter-site links in URL order, and the ineligible ones.
    fn number(&self, sites: u32) -> Result<(Vec<PageId>, Ineligible)> {
        let linked = LinkedPages::empty(self.store, sites, self.watch)?;
        in_ranges(sites, |sites| {
            add_linked_pages(self.store, sites, &linked, self.watch)
        })?;
        let mut runs = Vec::new();
        let mut ineligible = Vec::new();
        for part in in_ranges(sites, |sites| self.scan_pages(sites, &linked))? {
            runs.extend(part.0);
            ineligible.extend(part.1);
        }
        runs.par_sort_unstable_by(|a, b| a.begins.cmp(&b.begins));
        let count = runs.iter().map(|run| run.indexes.len()).sum();
        let mut pages = Vec::with_capacity(count);
        for run in runs {
            let of_run = run.indexes.iter();
            pages.extend(of_run.map(|&index| PageId::new(run.site, index)));
        }
        Ok((pages, ineligible))
    }

    /// Returns why a page is ineligible; `None` if it is included.
    pub(crate) fn reason(
        &self,
        site: SiteId,
        record: &PageRecord,
    ) -> Result<Option<LinkStatus>, StoreError> {
        let name = match self.excluded {
            Some(_) => self.store.need(&tables::SITES, &site)?.name,
            None => String::new(),
        };
        Ok(self.reason_on(&name, record))
    }

    /// As [`reason`](Self::reason), for a known site name. The name is used only if the plan
    /// excludes pages.
    fn reason_on(&self, site: &str, record: &PageRecord) -> Option<LinkStatus> {
        let url = || ingest::url(site, &record.local, self.mode);
        match record.state {
            PageState::Gone | PageState::Unlinked | PageState::Alias => Some(LinkStatus::Gone),
            _ if record.spam && !self.keep_spam => Some(LinkStatus::Spam),
            PageState::Known if self.pages == Pages::Crawled => Some(LinkStatus::NotCrawled),
            PageState::Known | PageState::Crawled => {
                let is_out = self.excluded.is_some_and(|list| list.has(site, &url()));
                is_out.then_some(LinkStatus::Excluded)
            }
        }
    }

    fn scan_pages(&self, sites: Range<u32>, linked: &LinkedPages) -> Result<PageRuns> {
        let mut part = (Vec::new(), Vec::new());
        let mut at = SitePages::new(SiteId(sites.start));
        let mut name = String::new();
        let mut pages = self.store.scan_sites(&tables::PAGES, sites)?;
        // Most pages are on no inter-site link, so their records are skipped.
        while let Some(entry) = {
            let is_wanted = |page: &PageId| linked.contains(*page) || self.watch.stopped();
            pages.next_where(is_wanted)
        } {
            self.watch.proceed()?;
            let (page, record) = entry?;
            if page.site() != at.site {
                let done = std::mem::replace(&mut at, SitePages::new(page.site()));
                self.push_runs(done, &mut part.0)?;
                name.clear();
            }
            if self.excluded.is_some() && name.is_empty() {
                name = self.store.need(&tables::SITES, &page.site())?.name;
            }
            if let Some(reason) = self.reason_on(&name, &record) {
                part.1.push((page, reason));
            } else {
                at.add(page.index(), record.local, self.max_sorted);
            }
        }
        self.push_runs(at, &mut part.0)?;
        Ok(part)
    }

    /// Appends the runs of a site.
    fn push_runs(&self, mut of_site: SitePages, runs: &mut Vec<Run>) -> Result<()> {
        if of_site.indexes.is_empty() {
            return Ok(());
        }
        let site = of_site.site;
        let name = self.store.need(&tables::SITES, &site)?.name;
        let first = runs.len();
        let mut add = |local: &str, index: u32| {
            let url = ingest::url(&name, local, self.mode);
            let begins = &url[..ingest::host_end(&url)];
            match runs[first..].last_mut() {
                Some(run) if run.begins == begins => run.indexes.push(index),
                _ => runs.push(Run {
                    begins: begins.to_owned(),
                    site,
                    indexes: vec![index],
                }),
            }
        };
        if of_site.is_large {
            let of_index = site.0.to_be_bytes();
            for entry in self.store.scan_under(&tables::PAGE_IDS, &of_index)? {
                self.watch.proceed()?;
                let ((_, local), index) = entry?;
                if of_site.indexes.contains(index) {
                    add(&local, index);
                }
            }
        } else {
            of_site.urls.sort_unstable();
            for (local, index) in &of_site.urls {
                add(local, *index);
            }
        }
        Ok(())
    }
}

/// Included pages of one site.
struct SitePages {
    site: SiteId,
    indexes: RoaringBitmap,
    /// The parts of their URLs after the site; empty if there are too many.
    urls: Vec<(String, u32)>,
    is_large: bool,
}

impl SitePages {
    fn new(site: SiteId) -> Self {
        Self {
            site,
            indexes: RoaringBitmap::new(),
            urls: Vec::new(),
            is_large: false,
        }
    }

    fn add(&mut self, index: u32, local: String, max_sorted: usize) {
        self.indexes.insert(index);
        if !self.is_large {
            self.urls.push((local, index));
        }
        if self.urls.len() > max_sorted {
            self.is_large = true;
            self.urls = Vec::new();
        }
    }
}

/// Adds the pages on inter-site links from these sites.
fn add_linked_pages(
    store: &Store,
    sites: Range<u32>,
    linked: &LinkedPages,
    watch: &dyn Watch,
) -> Result<()> {
    for entry in store.carried_rows(sites)? {
        watch.proceed()?;
        let (row, members, targets) = entry?;
        for index in &members.pages {
            linked.insert(PageId::new(row.site(), index));
        }
        for target in targets {
            linked.insert(target);
        }
    }
    Ok(())
}

/// Returns the rows of these sites, with page numbers.
fn load_rows(
    store: &Store,
    sites: Range<u32>,
    numbers: &PageNumbers,
    watch: &dyn Watch,
) -> Result<Rows> {
    let mut rows = Rows::new();
    for entry in store.carried_rows(sites)? {
        watch.proceed()?;
        let (row, members, targets) = entry?;
        let carriers = members.pages.iter();
        let carriers = numbers.numbers_of(carriers.map(|index| PageId::new(row.site(), index)));
        let targets = numbers.numbers_of(targets.into_iter());
        // Rows are not compared with each other yet, so errors name no pages.
        rows.push(&carriers, &targets)
            .map_err(|e| rows_error(e, &[]))?;
    }
    Ok(rows)
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
