//! Simulates a breadth-first crawl with a limit of fetches, reading the store page by page.
//!
//! It is the crawl of [`crawl_within_budget`](seedbank_algorithms::evaluate::crawl::crawl_within_budget), which `evaluate_budget` counts on the whole
//! graph in memory: the start pages in list order, then depth by depth in URL order. Links to pages that
//! are neither known nor crawled are ignored. The first N pages of a crawl are those of a crawl of N
//! fetches, so one crawl serves all limits. Pages of a depth are sorted only if a limit ends within it.

use std::collections::BTreeSet;

use super::answers::CrawlResult;
use crate::engine::EngineError;
use crate::engine::query::views::Views;
use seedbank_algorithms::page::{PageId, PageSet, RowId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest;
use seedbank_store::links::{Link, LinkBlock, LinkKey};
use seedbank_store::records::{PageRecord, PageState};
use seedbank_store::{Store, StoreError, Table, tables};

/// Number of pages between two checks for interruption.
const STEP: usize = 1 << 9;

/// Known or crawled page.
pub(super) struct LivePage {
    pub(super) page: PageId,
    record: PageRecord,
}

impl LivePage {
    /// Creates a live page; `None` if it is neither known nor crawled.
    pub(super) fn new(page: PageId, record: PageRecord) -> Option<Self> {
        record.state.is_live().then_some(Self { page, record })
    }
}

/// Simulates a crawl from distinct `starts`, and returns its results within each of the ascending
/// `fetches`.
///
/// Cost: per fetched page the block of its links, each row once, and a read per distinct linked page.
/// Memory: the records of one depth, and the set of pages seen.
pub(super) fn crawl(
    views: &Views,
    starts: &[LivePage],
    fetches: &[u64],
    watch: &dyn Watch,
) -> Result<Vec<CrawlResult>, EngineError> {
    let mut state = Crawl {
        now: CrawlResult {
            starts: starts.len() as u64,
            ..CrawlResult::default()
        },
        sites: BTreeSet::new(),
        fetches,
        found: Vec::with_capacity(fetches.len()),
    };
    let mut seen: PageSet = starts.iter().map(|start| start.page.0).collect();
    let mut walked = BTreeSet::new();
    let mut level: Vec<(PageId, Option<u32>)> = Vec::new();
    state.fetch(starts.iter(), 0);
    level.extend(starts.iter().map(|start| (start.page, start.record.row)));
    level.sort_unstable();
    for depth in 1.. {
        if state.remaining() == 0 || level.is_empty() {
            break;
        }
        let met = linked(&views.reader, &level, &mut seen, &mut walked, watch)?;
        let mut next = Vec::new();
        let mut read = 0_usize;
        views.reader.records_of(&met, |page, record| {
            read += 1;
            if read.is_multiple_of(STEP) {
                watch.proceed()?;
            }
            next.extend(LivePage::new(page, record));
            Ok::<_, EngineError>(())
        })?;
        level = next
            .iter()
            .map(|page| (page.page, page.record.row))
            .collect();
        if state.ends_within(next.len() as u64) {
            let next = in_url_order(views, next, watch)?;
            state.fetch(next.iter(), depth);
        } else {
            state.fetch(next.iter(), depth);
        }
    }
    Ok(state.finish())
}

/// State of a simulated crawl.
struct Crawl<'a> {
    now: CrawlResult,
    sites: BTreeSet<SiteId>,
    /// Limits of fetches, ascending.
    fetches: &'a [u64],
    /// Results of the limits reached so far.
    found: Vec<CrawlResult>,
}

impl Crawl<'_> {
    /// Returns how many pages can still be fetched.
    fn remaining(&self) -> u64 {
        let most = self.fetches.last().copied().unwrap_or(0);
        most.saturating_sub(self.now.pages)
    }

    /// Returns whether a limit is reached after some, but not all, of the next `pages` pages.
    fn ends_within(&self, pages: u64) -> bool {
        let (from, to) = (self.now.pages, self.now.pages.saturating_add(pages));
        self.fetches.iter().any(|&at| from < at && at < to)
    }

    /// Fetches pages of a depth in order, up to the last limit.
    fn fetch<'p>(&mut self, pages: impl Iterator<Item = &'p LivePage>, depth: u32) {
        for LivePage { page, record } in pages {
            if self.remaining() == 0 {
                break;
            }
            let now = &mut self.now;
            now.pages += 1;
            now.crawled += u64::from(record.state == PageState::Crawled);
            now.spam += u64::from(record.spam);
            now.clicked_pages += u64::from(record.clicks > 0);
            now.clicks = now.clicks.saturating_add(record.clicks);
            now.depth = Some(depth);
            self.sites.insert(page.site());
            now.sites = self.sites.len() as u64;
            if self.fetches.get(self.found.len()) == Some(&now.pages) {
                self.found.push(*now);
            }
        }
    }

    /// Returns the results. Limits that were not reached have the final result.
    fn finish(mut self) -> Vec<CrawlResult> {
        self.found.resize(self.fetches.len(), self.now);
        self.found
    }
}

/// Returns the unseen pages that the pages of a depth link to, ascending. `level` ascends.
fn linked(
    store: &Store,
    level: &[(PageId, Option<u32>)],
    seen: &mut PageSet,
    walked: &mut BTreeSet<RowId>,
    watch: &dyn Watch,
) -> Result<Vec<PageId>, EngineError> {
    let mut met = Vec::new();
    let mut rows = BTreeSet::new();
    let mut blocks = Blocks::new(store, &tables::INTRA);
    for (at, &(page, row)) in level.iter().enumerate() {
        if at.is_multiple_of(STEP) {
            watch.proceed()?;
        }
        let (key, place) = LinkKey::of_page(page);
        for &index in blocks.list(key, place)? {
            let target = PageId::new(page.site(), index);
            if seen.insert(target.0) {
                met.push(target);
            }
        }
        let row = row.map(|row| RowId::new(page.site(), row));
        rows.extend(row.filter(|row| walked.insert(*row)));
    }
    let mut blocks = Blocks::new(store, &tables::ROWS);
    for (at, row) in rows.into_iter().enumerate() {
        if at.is_multiple_of(STEP) {
            watch.proceed()?;
        }
        let (key, place) = LinkKey::of_row(row);
        for &target in blocks.list(key, place)? {
            if seen.insert(target.0) {
                met.push(target);
            }
        }
    }
    met.sort_unstable();
    Ok(met)
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

/// Sorts pages by URL. The input is grouped by site.
fn in_url_order(
    views: &Views,
    pages: Vec<LivePage>,
    watch: &dyn Watch,
) -> Result<Vec<LivePage>, EngineError> {
    let mut named = Vec::with_capacity(pages.len());
    let mut site: Option<(SiteId, String)> = None;
    for (at, page) in pages.into_iter().enumerate() {
        if at.is_multiple_of(STEP) {
            watch.proceed()?;
        }
        let id = page.page.site();
        let name = match site.take_if(|site| site.0 == id) {
            Some((_, name)) => name,
            None => views.reader.need(&tables::SITES, &id)?.name,
        };
        named.push((
            ingest::url(&name, &page.record.local, views.naming.sites),
            page,
        ));
        site = Some((id, name));
    }
    named.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    Ok(named.into_iter().map(|(_, page)| page).collect())
}
