//! The breadth-first crawl by pages fetched, read from the store page by page.
//!
//! It is the crawl of [`spend`](seedbank_algorithms::evaluate::crawl::spend), which `evaluate_budget` counts on the whole
//! graph in memory: the starts in the order of their list, then depth by depth, each in the order of
//! URLs; pages that are not known or crawled are no pages, and links to them lead nowhere. What comes
//! first is fetched first, so the first N pages of one crawl are those of a crawl of N fetches, and
//! one crawl serves every number of fetches. Only where such a number ends within a depth does the
//! order there matter.

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

/// After so many pages the watch is asked whether to go on.
const STEP: usize = 1 << 9;

/// A page that is known or crawled.
pub(super) struct LivePage {
    pub(super) page: PageId,
    record: PageRecord,
}

impl LivePage {
    /// `None` where the page is no page any more.
    pub(super) fn new(page: PageId, record: PageRecord) -> Option<Self> {
        record.state.is_live().then_some(Self { page, record })
    }
}

/// What a crawl from `starts`, which are distinct, finds within each of `fetches`, which ascend.
///
/// Cost: for each page fetched the block that its links are in, each row once, and a read for each
/// distinct page that these lead to. Memory: the records of one depth, and a set of the pages met.
pub(super) fn crawl(
    views: &Views,
    starts: &[LivePage],
    fetches: &[u64],
    watch: &dyn Watch,
) -> Result<Vec<CrawlResult>, EngineError> {
    let mut going = Going {
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
    going.take(starts.iter(), 0);
    level.extend(starts.iter().map(|start| (start.page, start.record.row)));
    level.sort_unstable();
    for depth in 1.. {
        if going.room() == 0 || level.is_empty() {
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
        if going.ends_within(next.len() as u64) {
            let next = in_url_order(views, next, watch)?;
            going.take(next.iter(), depth);
        } else {
            going.take(next.iter(), depth);
        }
    }
    Ok(going.end())
}

/// A crawl that is under way.
struct Going<'a> {
    now: CrawlResult,
    sites: BTreeSet<SiteId>,
    /// The numbers of fetches, ascending.
    fetches: &'a [u64],
    /// What was found within the first of them, which are spent.
    found: Vec<CrawlResult>,
}

impl Going<'_> {
    /// How many pages can still be fetched.
    fn room(&self) -> u64 {
        let most = self.fetches.last().copied().unwrap_or(0);
        most.saturating_sub(self.now.pages)
    }

    /// Whether a number of fetches is spent within so many pages more, but not by all of them.
    fn ends_within(&self, pages: u64) -> bool {
        let (from, to) = (self.now.pages, self.now.pages.saturating_add(pages));
        self.fetches.iter().any(|&at| from < at && at < to)
    }

    /// Fetches pages of a depth in their order, as long as there is room.
    fn take<'p>(&mut self, pages: impl Iterator<Item = &'p LivePage>, depth: u32) {
        for LivePage { page, record } in pages {
            if self.room() == 0 {
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

    /// What was found; where there was no more to fetch, a number of fetches is not spent.
    fn end(mut self) -> Vec<CrawlResult> {
        self.found.resize(self.fetches.len(), self.now);
        self.found
    }
}

/// The pages that pages of a depth, which ascend, link to and that were not met before, ascending.
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
        for &index in blocks.list(LinkKey::of_page(page))? {
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
        for &target in blocks.list(LinkKey::of_row(row))? {
            if seen.insert(target.0) {
                met.push(target);
            }
        }
    }
    met.sort_unstable();
    Ok(met)
}

/// Lists of links, of which neighbours are asked for one after the other: their block is read once.
struct Blocks<'a, T: 'static> {
    store: &'a Store,
    table: &'static Table<LinkKey, LinkBlock<T>>,
    held: Option<(LinkKey, LinkBlock<T>)>,
}

impl<'a, T: Link> Blocks<'a, T> {
    const fn new(store: &'a Store, table: &'static Table<LinkKey, LinkBlock<T>>) -> Self {
        Self {
            store,
            table,
            held: None,
        }
    }

    fn list(&mut self, (key, place): (LinkKey, u32)) -> Result<&[T], StoreError> {
        if self.held.as_ref().is_none_or(|held| held.0 != key) {
            self.held = Some((key, self.store.links(self.table, key)?));
        }
        Ok(self.held.as_ref().map_or(&[], |held| held.1.at(place)))
    }
}

/// Pages, which come by site, in the order of their URLs.
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
