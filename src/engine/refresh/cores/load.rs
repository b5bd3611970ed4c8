//! Loads the host-pruned graph for ranking: rows with the pages that carry them, in numbers that
//! follow URL order.
//!
//! A page takes part if it is neither gone nor, unless spam is kept, spam. There are three scans,
//! each of many ranges of sites at the same time: rows and members for the pages on inter-site
//! links, pages for those of them that take part, and rows again for the graph.
//!
//! URL order without holding all URLs: the pages of a site whose URLs agree up to the end of the
//! host are neighbours in URL order, and no other page is among them. So each such *run* is ordered
//! by itself, and the runs by what their URLs begin with. (Ordering by site would not do: of
//! `a.org:8080/`, `a.org/` and `a.org2/` the last comes in the middle.)
//!
//! Memory: a bit for each page of the bank and 8 bytes per site; for each page that takes part 20
//! bytes while pages are numbered and 16 afterwards; some 100 bytes per run; the URLs of the pages
//! on as many sites as there are threads, except for sites that have more than [`SORTED`]; and the
//! graph, twice while its parts are joined.

use std::ops::Range;

use rayon::prelude::*;
use roaring::RoaringBitmap;

use super::linked::LinkedPages;
use crate::engine::error::no_rows;
use crate::engine::plan::{CorePlan, Pages};
use crate::engine::{EngineError, naming};
use seedbank_algorithms::graph::{HubGraph, Rows};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{self, Patterns, SiteMode};
use seedbank_store::evidence::Links;
use seedbank_store::records::{PageRecord, PageState};
use seedbank_store::{Store, StoreError, tables};

/// The most pages of a site that are put in URL order in memory; where there are more, all URLs of
/// the site are read in their order.
const SORTED: usize = 1 << 18;

/// How many parts of the bank are read side by side. The number makes no difference to the result;
/// it is fixed so that the parts are joined at the same places everywhere.
const PARTS: u32 = 64;

/// The graph, and the page that each of its numbers stands for.
pub(crate) struct Hubs {
    pub(crate) graph: HubGraph,
    /// Pages by number, which follows URL order; where only a part is loaded, with others whose
    /// order matters too.
    pub(crate) pages: Vec<PageId>,
    /// Pages on inter-site links that take no part, in the order of their ids, with the reason;
    /// empty where only a part is loaded.
    pub(crate) left_out: LeftOut,
    numbers: PageNumbers,
}

/// Pages that take no part, in the order of their ids, with the reason.
type LeftOut = Vec<(PageId, Links)>;

/// From page ids to numbers.
struct PageNumbers {
    /// Where in the lists below the pages of each site begin, and at the end the length of the
    /// lists.
    sites: Vec<u32>,
    /// The indexes of pages that take part, site by site, ascending on each.
    indexes: Vec<u32>,
    /// The places of these pages in URL order, which are their numbers.
    places: Vec<u32>,
}

impl PageNumbers {
    /// The numbers of pages that are given in the order of their numbers; ids of sites are below
    /// `sites`.
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

    fn of(&self, page: PageId) -> Option<u32> {
        let site = page.site().0 as usize;
        let from = *self.sites.get(site)? as usize;
        let to = *self.sites.get(site + 1)? as usize;
        let at = self.indexes[from..to].binary_search(&page.index()).ok()?;
        Some(self.places[from + at])
    }

    /// The numbers of those that take part, ascending.
    fn of_all(&self, pages: impl Iterator<Item = PageId>) -> Vec<u32> {
        let mut numbers: Vec<u32> = pages.filter_map(|page| self.of(page)).collect();
        numbers.sort_unstable();
        numbers
    }
}

impl Hubs {
    /// The page's number; `None` if it takes no part.
    pub(crate) fn number(&self, page: PageId) -> Option<u32> {
        self.numbers.of(page)
    }

    /// The part of the graph that has these rows, which are all that lead from and to its pages.
    /// `pages` are its pages and any others, in URL order.
    pub(crate) fn of_part<'a>(
        pages: Vec<PageId>,
        rows: impl Iterator<Item = (&'a [PageId], &'a [PageId])>,
    ) -> Result<Self, EngineError> {
        let sites = pages.iter().map(|page| page.site().0).max();
        let sites = sites.map_or(0, |last| last.saturating_add(1));
        let numbers = PageNumbers::new(&pages, sites)?;
        let mut of_part = Rows::new();
        for (carriers, targets) in rows {
            let carriers = numbers.of_all(carriers.iter().copied());
            let targets = numbers.of_all(targets.iter().copied());
            of_part
                .push(&carriers, &targets)
                .map_err(|e| no_rows(e, &pages))?;
        }
        let graph = of_part.graph().map_err(|e| no_rows(e, &pages))?;
        Ok(Self {
            graph,
            pages,
            left_out: LeftOut::new(),
            numbers,
        })
    }

    /// The pages that take part in the order of their ids, with their numbers.
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
        left_out: Option<&Patterns>,
        watch: &dyn Watch,
    ) -> Result<Self, EngineError> {
        watch.stage("load pages", None);
        let sites = store.counters()?.next_site;
        let rules = Rules::new(store, plan, left_out, watch)?;
        let (pages, left_out) = rules.number(sites)?;
        let numbers = PageNumbers::new(&pages, sites)?;
        watch.stage("load links", None);
        let mut rows = Rows::new();
        for part in in_parts(sites, |sites| rows_of(store, sites, &numbers, watch))? {
            rows.append(&part).map_err(|e| no_rows(e, &pages))?;
        }
        let graph = rows.graph().map_err(|e| no_rows(e, &pages))?;
        Ok(Self {
            graph,
            pages,
            left_out,
            numbers,
        })
    }
}

/// Works through ranges of sites side by side; the results are in the order of the ranges.
fn in_parts<T: Send>(
    sites: u32,
    work: impl Fn(Range<u32>) -> Result<T, EngineError> + Sync,
) -> Result<Vec<T>, EngineError> {
    let step = sites.div_ceil(PARTS).max(1);
    let parts: Vec<Result<T, EngineError>> = (0..sites.div_ceil(step))
        .into_par_iter()
        .map(|part| {
            let from = part * step;
            work(from..from.saturating_add(step).min(sites))
        })
        .collect();
    // The first error in the order of sites, whichever happened first.
    parts.into_iter().collect()
}

/// Pages of one site whose URLs agree up to the end of the host.
struct Stretch {
    /// What their URLs begin with, up to the character after the host.
    begins: String,
    site: SiteId,
    /// The indexes of the pages, in URL order.
    indexes: Vec<u32>,
}

/// A part of the pages: runs of those that take part, and the others.
type SitesPart = (Vec<Stretch>, LeftOut);

/// Which pages take part, and how URLs are put together.
pub(crate) struct Rules<'a> {
    pub(crate) store: &'a Store,
    pub(crate) watch: &'a dyn Watch,
    keep_spam: bool,
    pages: Pages,
    /// Pages that the plan leaves out; `None` where it names none.
    left_out: Option<&'a Patterns>,
    pub(crate) mode: SiteMode,
    sorted: usize,
}

impl<'a> Rules<'a> {
    pub(crate) fn new(
        store: &'a Store,
        plan: &CorePlan,
        left_out: Option<&'a Patterns>,
        watch: &'a dyn Watch,
    ) -> Result<Self, EngineError> {
        Ok(Self {
            store,
            watch,
            keep_spam: plan.keep_spam,
            pages: plan.pages,
            left_out,
            mode: naming(&store.settings()?)?.sites,
            sorted: SORTED,
        })
    }

    /// The pages on inter-site links that take part, in URL order, and those that do not.
    fn number(&self, sites: u32) -> Result<(Vec<PageId>, LeftOut), EngineError> {
        let linked = LinkedPages::none(self.store, sites, self.watch)?;
        in_parts(sites, |sites| link(self.store, sites, &linked, self.watch))?;
        let mut runs = Vec::new();
        let mut left_out = Vec::new();
        for part in in_parts(sites, |sites| self.part(sites, &linked))? {
            runs.extend(part.0);
            left_out.extend(part.1);
        }
        runs.par_sort_unstable_by(|a, b| a.begins.cmp(&b.begins));
        let count = runs.iter().map(|run| run.indexes.len()).sum();
        let mut pages = Vec::with_capacity(count);
        for run in runs {
            let of_run = run.indexes.iter();
            pages.extend(of_run.map(|&index| PageId::new(run.site, index)));
        }
        Ok((pages, left_out))
    }

    /// Why a page takes no part; `None` if it does.
    pub(crate) fn reason(
        &self,
        site: SiteId,
        record: &PageRecord,
    ) -> Result<Option<Links>, StoreError> {
        let name = match self.left_out {
            Some(_) => self.store.need(&tables::SITES, &site)?.name,
            None => String::new(),
        };
        Ok(self.reason_on(&name, record))
    }

    /// The same where the name of the site is known; it matters only where the plan leaves pages out.
    fn reason_on(&self, site: &str, record: &PageRecord) -> Option<Links> {
        let url = || ingest::url(site, &record.local, self.mode);
        match record.state {
            PageState::Gone | PageState::Unlinked | PageState::Alias => Some(Links::Gone),
            _ if record.spam && !self.keep_spam => Some(Links::Spam),
            PageState::Known if self.pages == Pages::Crawled => Some(Links::NotCrawled),
            PageState::Known | PageState::Crawled => {
                let is_out = self.left_out.is_some_and(|list| list.has(site, &url()));
                is_out.then_some(Links::Excluded)
            }
        }
    }

    fn part(&self, sites: Range<u32>, linked: &LinkedPages) -> Result<SitesPart, EngineError> {
        let mut part = (Vec::new(), Vec::new());
        let mut at = OfSite::new(SiteId(sites.start));
        let mut name = String::new();
        let mut pages = self.store.scan_sites(&tables::PAGES, sites)?;
        // Most pages are on no inter-site link: their records are not worth reading.
        while let Some(entry) = {
            let is_wanted = |page: &PageId| linked.contains(*page) || self.watch.stopped();
            pages.next_where(is_wanted)
        } {
            self.watch.proceed()?;
            let (page, record) = entry?;
            if page.site() != at.site {
                let done = std::mem::replace(&mut at, OfSite::new(page.site()));
                self.order(done, &mut part.0)?;
                name.clear();
            }
            if self.left_out.is_some() && name.is_empty() {
                name = self.store.need(&tables::SITES, &page.site())?.name;
            }
            if let Some(reason) = self.reason_on(&name, &record) {
                part.1.push((page, reason));
            } else {
                at.add(page.index(), record.local, self.sorted);
            }
        }
        self.order(at, &mut part.0)?;
        Ok(part)
    }

    /// Appends the runs of a site.
    fn order(&self, mut of_site: OfSite, runs: &mut Vec<Stretch>) -> Result<(), EngineError> {
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
                _ => runs.push(Stretch {
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

/// The pages of one site that take part.
struct OfSite {
    site: SiteId,
    indexes: RoaringBitmap,
    /// The rest of their URLs; empty if there are too many.
    urls: Vec<(String, u32)>,
    is_large: bool,
}

impl OfSite {
    fn new(site: SiteId) -> Self {
        Self {
            site,
            indexes: RoaringBitmap::new(),
            urls: Vec::new(),
            is_large: false,
        }
    }

    fn add(&mut self, index: u32, local: String, most: usize) {
        self.indexes.insert(index);
        if !self.is_large {
            self.urls.push((local, index));
        }
        if self.urls.len() > most {
            self.is_large = true;
            self.urls = Vec::new();
        }
    }
}

/// Adds the pages on inter-site links from these sites.
fn link(
    store: &Store,
    sites: Range<u32>,
    linked: &LinkedPages,
    watch: &dyn Watch,
) -> Result<(), EngineError> {
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

/// The rows of these sites, in numbers.
fn rows_of(
    store: &Store,
    sites: Range<u32>,
    numbers: &PageNumbers,
    watch: &dyn Watch,
) -> Result<Rows, EngineError> {
    let mut rows = Rows::new();
    for entry in store.carried_rows(sites)? {
        watch.proceed()?;
        let (row, members, targets) = entry?;
        let carriers = members.pages.iter();
        let carriers = numbers.of_all(carriers.map(|index| PageId::new(row.site(), index)));
        let targets = numbers.of_all(targets.into_iter());
        // At this point no row has been compared with another.
        rows.push(&carriers, &targets)
            .map_err(|e| no_rows(e, &[]))?;
    }
    Ok(rows)
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
