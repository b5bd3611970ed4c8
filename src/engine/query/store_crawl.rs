//! Simulated crawls that read the store page by page.
//!
//! Pages are fetched in the order of a [`CrawlFrontier`], in which `evaluate` simulates crawls on the whole graph in memory. Links
//! to pages that are neither known nor crawled are ignored. With `fail`, other pages fail than there, since pages have no
//! numbers in URL order here.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use crate::engine::EngineError;
use crate::engine::query::views::Views;
use schemars::JsonSchema;
use seedbank_algorithms::crawl_frontier::{CrawlFrontier, Found, FoundSite};
use seedbank_algorithms::crawl_limits::CrawlLimits;
use seedbank_algorithms::graph::number;
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_algorithms::statistics::mean_count;
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest;
use seedbank_store::links::{Link, LinkBlock, LinkKey};
use seedbank_store::records::{Hash128, PageRecord, PageState};
use seedbank_store::{Store, StoreError, Table, tables};
use serde::{Deserialize, Serialize};

/// Result of a simulated crawl. Every fetched page counts, whether the bank has crawled it or not.
///
/// Figures of several crawls are their geometric means, computed after adding 1 to each number and rounded; the depth is the
/// greatest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CrawlResult {
    /// Number of start pages.
    pub starts: u64,
    /// Number of fetches, also of those that fail.
    pub pages: u64,
    /// Number of fetched pages that the bank has crawled.
    pub crawled: u64,
    /// Number of distinct contents of these.
    pub contents: u64,
    /// Number of the sites of the fetched pages.
    pub sites: u64,
    /// Sum of their clicks.
    pub clicks: u64,
    /// Number of them with clicks.
    pub clicked_pages: u64,
    /// Number of them with the spam mark.
    pub spam: u64,
    /// The greatest distance of a page from the start pages, in links; `null` if no page was fetched.
    pub depth: Option<u32>,
}

impl CrawlResult {
    /// A crawl that has fetched nothing.
    fn of_starts(starts: u64) -> Self {
        Self {
            starts,
            ..Self::default()
        }
    }

    /// Returns the figures of several crawls from the same pages.
    pub(super) fn mean(results: &[Self]) -> Self {
        let mean = |number: fn(&Self) -> u64| {
            let numbers: Vec<u64> = results.iter().map(number).collect();
            mean_count(&numbers)
        };
        Self {
            starts: results.first().map_or(0, |of| of.starts),
            pages: mean(|of| of.pages),
            crawled: mean(|of| of.crawled),
            contents: mean(|of| of.contents),
            sites: mean(|of| of.sites),
            clicks: mean(|of| of.clicks),
            clicked_pages: mean(|of| of.clicked_pages),
            spam: mean(|of| of.spam),
            depth: results.iter().filter_map(|of| of.depth).max(),
        }
    }
}

/// Number of pages between two checks for interruption.
const STEP: usize = 1 << 9;

/// The part of the web that crawls have read. Pages are numbered in the order in which they are read.
///
/// Memory: some 200 bytes for each page that a fetched page links to, and 4 for each of these links.
pub(super) struct ReadWeb<'a> {
    views: &'a Views,
    watch: &'a dyn Watch,
    pages: Vec<ReadPage>,
    /// `None` for pages that are neither known nor crawled.
    numbers: HashMap<PageId, Option<u32>>,
    /// The pages of the rows whose links were read.
    rows: HashMap<RowId, Vec<u32>>,
    /// With their names.
    sites: HashMap<SiteId, (FoundSite, String)>,
}

/// A known or crawled page.
struct ReadPage {
    id: PageId,
    url: Rc<str>,
    row: Option<RowId>,
    site: FoundSite,
    is_crawled: bool,
    spam: bool,
    clicks: u64,
    digest: Option<Hash128>,
    /// The pages of its site that it links to; `None` if they were not read.
    intra: Option<Vec<u32>>,
}

/// The place of a page among those of its depth: of a seed its place in the list, of other pages their URL.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Place(u32, Option<Rc<str>>);

impl<'a> ReadWeb<'a> {
    pub(super) fn new(views: &'a Views, watch: &'a dyn Watch) -> Self {
        Self {
            views,
            watch,
            pages: Vec::new(),
            numbers: HashMap::new(),
            rows: HashMap::new(),
            sites: HashMap::new(),
        }
    }

    /// Simulates a crawl of at most `fetches` pages from known or crawled pages, without duplicates.
    ///
    /// Cost: for each page that no earlier crawl fetched the block of its links and a read per page that it links to, each once.
    pub(super) fn crawl(
        &mut self,
        starts: &[PageId],
        limits: &CrawlLimits,
        fetches: u64,
    ) -> Result<CrawlResult, EngineError> {
        self.read_pages(starts.to_vec())?;
        let starts = self.numbers_of(starts);
        let mut frontier = CrawlFrontier::default();
        frontier.begin(limits, fetches);
        let mut seen: HashSet<u32> = starts.iter().copied().collect();
        for (place, &page) in (0..).zip(&starts) {
            let (depth, place) = (0, Place(place, None));
            let site = || self.pages[page as usize].site;
            frontier.add(Found { depth, place, page }, site);
        }
        let mut now = CrawlResult::of_starts(starts.len() as u64);
        let (mut sites, mut contents) = (HashSet::new(), HashSet::new());
        while now.pages < fetches {
            let site = |page: u32| self.pages[page as usize].site.number;
            let mut round = frontier.next_round(fetches - now.pages, site);
            if round.is_empty() {
                break;
            }
            now.pages += round.len() as u64;
            round.retain(|found| !limits.fails_at(&self.pages[found.page as usize].url));
            for found in &round {
                let page = &self.pages[found.page as usize];
                let is_new = |digest| contents.insert(digest);
                let is_first = page.is_crawled && page.digest.is_none_or(is_new);
                now.crawled += u64::from(page.is_crawled);
                now.contents += u64::from(is_first);
                now.spam += u64::from(page.spam);
                now.clicked_pages += u64::from(page.clicks > 0);
                now.clicks = now.clicks.saturating_add(page.clicks);
                now.depth = now.depth.max(Some(found.depth));
                sites.insert(page.site.number);
            }
            if now.pages == fetches {
                break;
            }
            self.read_links(&round)?;
            for found in &round {
                for target in self.targets(found.page) {
                    if seen.insert(target) {
                        let page = &self.pages[target as usize];
                        let place = Place(0, Some(Rc::clone(&page.url)));
                        let (depth, site) = (found.depth + 1, page.site);
                        let page = target;
                        frontier.add(Found { depth, place, page }, || site);
                    }
                }
            }
        }
        now.sites = sites.len() as u64;
        Ok(now)
    }

    /// Returns the pages that a page links to, whose links were read.
    fn targets(&self, page: u32) -> impl Iterator<Item = u32> {
        let page = &self.pages[page as usize];
        let of_row = page.row.and_then(|row| self.rows.get(&row));
        let all = page.intra.iter().chain(of_row);
        all.flatten().copied()
    }

    /// Reads the links of pages, as far as they were not read.
    fn read_links(&mut self, round: &[Found<Place>]) -> Result<(), EngineError> {
        let pages = round.iter().map(|found| found.page);
        let mut pages: Vec<u32> = pages
            .filter(|&page| self.pages[page as usize].intra.is_none())
            .collect();
        pages.sort_unstable_by_key(|&page| self.pages[page as usize].id);
        let store: &Store = &self.views.reader;
        let (mut intra, mut inter) = (Vec::new(), Vec::new());
        let mut blocks = Blocks::new(store, &tables::INTRA);
        for (at, &page) in pages.iter().enumerate() {
            self.proceed(at)?;
            let id = self.pages[page as usize].id;
            let (key, place) = LinkKey::of_page(id);
            let targets = blocks.list(key, place)?.iter();
            let targets: Vec<PageId> = targets
                .map(|&index| PageId::new(id.site(), index))
                .collect();
            intra.push((page, targets));
        }
        let rows = pages
            .iter()
            .filter_map(|&page| self.pages[page as usize].row);
        let rows: BTreeSet<RowId> = rows.filter(|row| !self.rows.contains_key(row)).collect();
        let mut blocks = Blocks::new(store, &tables::ROWS);
        for (at, row) in rows.into_iter().enumerate() {
            self.proceed(at)?;
            let (key, place) = LinkKey::of_row(row);
            inter.push((row, blocks.list(key, place)?.to_vec()));
        }
        let of_pages = intra.iter().flat_map(|(_, targets)| targets);
        let of_rows = inter.iter().flat_map(|(_, targets)| targets);
        self.read_pages(of_pages.chain(of_rows).copied().collect())?;
        for (page, targets) in intra {
            self.pages[page as usize].intra = Some(self.numbers_of(&targets));
        }
        for (row, targets) in inter {
            let numbers = self.numbers_of(&targets);
            self.rows.insert(row, numbers);
        }
        Ok(())
    }

    /// Returns the numbers of pages that were read, without those that are neither known nor crawled.
    fn numbers_of(&self, pages: &[PageId]) -> Vec<u32> {
        let number = |page| self.numbers.get(page).copied().flatten();
        pages.iter().filter_map(number).collect()
    }

    /// Reads the records of pages, as far as they were not read.
    fn read_pages(&mut self, mut pages: Vec<PageId>) -> Result<(), EngineError> {
        pages.retain(|page| !self.numbers.contains_key(page));
        pages.sort_unstable();
        pages.dedup();
        let (views, mut read) = (self.views, 0);
        views.reader.records_of(&pages, |id, record| {
            self.proceed(read)?;
            read += 1;
            self.add(id, &record)
        })
    }

    fn proceed(&self, at: usize) -> Result<(), EngineError> {
        if at.is_multiple_of(STEP) {
            self.watch.proceed()?;
        }
        Ok(())
    }

    fn add(&mut self, id: PageId, record: &PageRecord) -> Result<(), EngineError> {
        if !record.state.is_live() {
            self.numbers.insert(id, None);
            return Ok(());
        }
        let next = self.sites.len();
        let (site, name) = match self.sites.entry(id.site()) {
            Entry::Occupied(site) => site.into_mut(),
            Entry::Vacant(site) => {
                let record = self.views.reader.need(&tables::SITES, &id.site())?;
                let found = FoundSite {
                    number: number(next),
                    has_crawled: record.crawled > 0,
                };
                site.insert((found, record.name))
            }
        };
        self.numbers.insert(id, Some(number(self.pages.len())));
        self.pages.push(ReadPage {
            id,
            url: ingest::url(name, &record.local, self.views.naming.sites).into(),
            row: record.row.map(|row| RowId::new(id.site(), row)),
            site: *site,
            is_crawled: record.state == PageState::Crawled,
            spam: record.spam,
            clicks: record.clicks,
            digest: record.digest,
            intra: None,
        });
        Ok(())
    }
}

/// Reader of link lists that caches the last block, because neighbours are read one after the other.
struct Blocks<'a, T: 'static> {
    store: &'a Store,
    table: &'static Table<LinkKey, LinkBlock<T>>,
    cached: Option<(LinkKey, LinkBlock<T>)>,
}

impl<'a, T: Link> Blocks<'a, T> {
    const fn new(store: &'a Store, table: &'static Table<LinkKey, LinkBlock<T>>) -> Self {
        Self {
            store,
            table,
            cached: None,
        }
    }

    fn list(&mut self, key: LinkKey, place: u32) -> Result<&[T], StoreError> {
        if self.cached.as_ref().is_none_or(|cached| cached.0 != key) {
            self.cached = Some((key, self.store.links(self.table, key)?));
        }
        Ok(self
            .cached
            .as_ref()
            .map_or(&[], |cached| cached.1.at(place)))
    }
}
