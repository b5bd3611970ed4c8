//! Passes the pages of a bank with their links to a writer, in the order of their numbers.
//!
//! Tables are sorted by id, node numbers by URL. Therefore the data of a chunk of some thousand pages is
//! read in the order of ids, each block of links and each row once.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::error::GraphError;
use super::request::GraphReport;
use crate::engine::EngineError;
use crate::engine::chunk_shape::chunk_shape;
use seedbank_algorithms::graph::NONE;
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{self, SiteMode};
use seedbank_store::links::LinkKey;
use seedbank_store::records::{PageRecord, PageState, SiteRecord};
use seedbank_store::{LinkCursor, LinkScan, Store, StoreError, tables};

/// Limits of a chunk.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// Maximum number of pages.
    pub(super) pages: usize,
    /// Maximum number of links of its pages together, each row counted once. A single page may have more.
    pub(super) links: usize,
}

/// Default limits. Chunks with twice the links or four times the pages in total are processed in parallel.
pub(super) const DEFAULT_LIMITS: Limits = Limits {
    pages: 4096,
    links: 1 << 20,
};

/// Node of the graph.
pub(super) struct Node<'a> {
    pub(super) number: u32,
    pub(super) url: &'a str,
    pub(super) site: &'a str,
    pub(super) record: &'a PageRecord,
}

/// Writer of pages, in the order of their numbers.
pub(super) trait Sink {
    /// Returns whether [`page`](Self::page) needs the URLs of targets.
    fn wants_urls(&self) -> bool;

    /// Writes a page and the numbers of its targets, ascending. `urls` has the URLs of the targets if
    /// [`wants_urls`](Self::wants_urls).
    fn page(&mut self, page: &Node<'_>, to: &[u32], urls: &Urls) -> io::Result<()>;

    /// Writes buffered output.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Reader of the pages of a bank.
pub(super) struct Pages<'a> {
    pub(super) store: &'a Store,
    pub(super) numbers: &'a NodeNumbers,
    pub(super) mode: SiteMode,
    pub(super) limits: Limits,
}

/// Some pages of a site, with consecutive numbers.
struct Chunk {
    site: SiteId,
    name: Arc<str>,
    /// Index, number and URL below the site of each page.
    pages: Vec<(u32, u32, String)>,
}

/// Targets of the rows of a site, by row index.
type Rows = BTreeMap<u32, Vec<u32>>;

/// Data of the pages of a chunk.
struct Gathered {
    site: Arc<str>,
    pages: Vec<Page>,
    /// Numbers of the targets of links.
    links: Vec<u32>,
    rows: Rows,
    urls: Urls,
    links_to_gone: u64,
    /// Remaining pages of the chunk, if all together have too many links.
    rest: Option<Chunk>,
}

struct Page {
    number: u32,
    record: PageRecord,
    /// Range of its targets among those of the chunk, without those of its row.
    links: Range<usize>,
}

impl Pages<'_> {
    /// Passes all pages to `sink`.
    pub(super) fn walk(
        &self,
        sink: &mut dyn Sink,
        report: &mut GraphReport,
        watch: &dyn Watch,
    ) -> Result<(), GraphError> {
        watch.stage("write pages", Some(self.numbers.pages.into()));
        let mut wave = Wave {
            source: self,
            chunks: Vec::new(),
            pages: 0,
            links: 0,
            sink,
            report,
            watch,
        };
        for entry in self.store.scan(&tables::SITE_IDS)? {
            watch.proceed()?;
            let (name, id) = entry?;
            let site = self.store.need(&tables::SITES, &id)?;
            wave.site(id, &name, &site)?;
        }
        wave.write()
    }

    /// Reads the data of a chunk, or of its first pages if it has too many links.
    fn gather(&self, mut chunk: Chunk, wants_urls: bool) -> Result<Gathered, EngineError> {
        let mut rest = Vec::new();
        let mut gathered = loop {
            if let Some(gathered) = self.gather_all(&chunk, wants_urls)? {
                break gathered;
            }
            let mut second = chunk.pages.split_off(chunk.pages.len() / 2);
            second.append(&mut rest);
            rest = second;
        };
        gathered.rest = (!rest.is_empty()).then(|| Chunk {
            site: chunk.site,
            name: Arc::clone(&chunk.name),
            pages: rest,
        });
        Ok(gathered)
    }

    /// Reads the data of a chunk; `None` if there are several pages with too many links.
    fn gather_all(&self, chunk: &Chunk, wants_urls: bool) -> Result<Option<Gathered>, EngineError> {
        let is_too_much = |links: usize| links > self.limits.links && chunk.pages.len() > 1;
        let mut by_id: Vec<(PageId, u32)> = chunk
            .pages
            .iter()
            .map(|(index, number, _)| (PageId::new(chunk.site, *index), *number))
            .collect();
        by_id.sort_unstable();
        let ids: Vec<PageId> = by_id.iter().map(|(id, _)| *id).collect();
        let mut gathered = Gathered {
            site: Arc::clone(&chunk.name),
            pages: Vec::with_capacity(ids.len()),
            links: Vec::new(),
            rows: Rows::new(),
            urls: Urls::default(),
            links_to_gone: 0,
            rest: None,
        };
        let Gathered {
            pages,
            links,
            rows,
            links_to_gone,
            ..
        } = &mut gathered;
        let mut targets = Vec::new();
        let mut numbers = by_id.iter().map(|(_, number)| *number);
        self.store.records_of(&ids, |_, record| {
            pages.extend(numbers.next().map(|number| Page {
                number,
                record,
                links: 0..0,
            }));
            Ok::<_, StoreError>(())
        })?;
        let mut blocks = LinkCursor::new(self.store, &tables::INTRA);
        for (page, id) in pages.iter_mut().zip(&ids) {
            let first = links.len();
            let (key, at) = LinkKey::of_page(*id);
            let of_page = blocks.list(key, at)?.iter();
            let of_page = of_page.map(|index| PageId::new(chunk.site, *index));
            let gone = self.push(of_page, links, wants_urls.then_some(&mut targets));
            *links_to_gone += gone;
            page.links = first..links.len();
            rows.extend(page.record.row.map(|row| (row, Vec::new())));
            if is_too_much(links.len()) {
                return Ok(None);
            }
        }
        let mut gone_of = BTreeMap::new();
        let mut blocks = LinkCursor::new(self.store, &tables::ROWS);
        let mut all = links.len();
        for (row, to) in rows.iter_mut() {
            let id = RowId::new(chunk.site, *row);
            let (key, at) = LinkKey::of_row(id);
            let of_row = blocks.list(key, at)?;
            if of_row.is_empty() {
                self.store.need_row(id)?;
            }
            let of_row = of_row.iter().copied();
            let gone = self.push(of_row, to, wants_urls.then_some(&mut targets));
            gone_of.insert(*row, gone);
            all += to.len();
            if is_too_much(all) {
                return Ok(None);
            }
        }
        let gone = pages
            .iter()
            .filter_map(|page| gone_of.get(&page.record.row?));
        *links_to_gone += gone.sum::<u64>();
        pages.sort_unstable_by_key(|page| page.number);
        gathered.urls = Urls::load(self.store, self.mode, targets)?;
        Ok(Some(gathered))
    }

    /// Appends the numbers of targets, ascending; returns the number of targets that are not nodes.
    fn push(
        &self,
        from: impl Iterator<Item = PageId>,
        to: &mut Vec<u32>,
        mut targets: Option<&mut Vec<(PageId, u32)>>,
    ) -> u64 {
        let first = to.len();
        let mut gone = 0;
        for page in from {
            let Some(number) = self.numbers.get(page) else {
                gone += 1;
                continue;
            };
            to.push(number);
            if let Some(targets) = &mut targets {
                targets.push((page, number));
            }
        }
        to[first..].sort_unstable();
        gone
    }
}

/// Chunks that are processed in parallel and passed on in order.
struct Wave<'a> {
    source: &'a Pages<'a>,
    chunks: Vec<Chunk>,
    pages: usize,
    /// Estimated number of their links.
    links: u64,
    sink: &'a mut dyn Sink,
    report: &'a mut GraphReport,
    watch: &'a dyn Watch,
}

impl Wave<'_> {
    /// Adds a site's pages.
    fn site(&mut self, id: SiteId, name: &str, site: &SiteRecord) -> Result<(), GraphError> {
        let name: Arc<str> = name.into();
        let new = || Chunk {
            site: id,
            name: Arc::clone(&name),
            pages: Vec::new(),
        };
        let mut chunk = new();
        let (most, links) = chunk_shape(site, self.source.limits.pages, self.source.limits.links);
        let prefix = id.0.to_be_bytes();
        for entry in self.source.store.scan_under(&tables::PAGE_IDS, &prefix)? {
            let ((_, local), index) = entry?;
            let Some(number) = self.source.numbers.get(PageId::new(id, index)) else {
                continue;
            };
            chunk.pages.push((index, number, local));
            if chunk.pages.len() >= most {
                self.add(std::mem::replace(&mut chunk, new()), links)?;
            }
        }
        self.add(chunk, links)
    }

    /// Adds a chunk whose pages have about `links` links each.
    fn add(&mut self, chunk: Chunk, links: u64) -> Result<(), GraphError> {
        if chunk.pages.is_empty() {
            return Ok(());
        }
        let limits = self.source.limits;
        self.pages += chunk.pages.len();
        self.links += chunk.pages.len() as u64 * links;
        self.chunks.push(chunk);
        if self.pages >= 4 * limits.pages || self.links >= 2 * limits.links as u64 {
            self.write()?;
        }
        Ok(())
    }

    fn write(&mut self) -> Result<(), GraphError> {
        self.watch.proceed()?;
        let chunks = std::mem::take(&mut self.chunks);
        (self.pages, self.links) = (0, 0);
        let (source, wants_urls) = (self.source, self.sink.wants_urls());
        let gathered = chunks.into_par_iter();
        let gathered = gathered.map(|chunk| source.gather(chunk, wants_urls));
        for mut gathered in gathered.collect::<Result<Vec<_>, _>>()? {
            // The rest of a chunk with too many links is passed on before the next chunk.
            loop {
                self.emit(&gathered)?;
                let Some(rest) = gathered.rest.take() else {
                    break;
                };
                self.watch.proceed()?;
                gathered = source.gather(rest, wants_urls)?;
            }
        }
        Ok(())
    }

    fn emit(&mut self, gathered: &Gathered) -> Result<(), GraphError> {
        let mut to = Vec::new();
        for page in &gathered.pages {
            to.clear();
            to.extend_from_slice(&gathered.links[page.links.clone()]);
            let row = page.record.row.and_then(|row| gathered.rows.get(&row));
            if let Some(row) = row {
                to.extend_from_slice(row);
                to.sort_unstable();
            }
            let url = ingest::url(&gathered.site, &page.record.local, self.source.mode);
            let node = Node {
                number: page.number,
                url: &url,
                site: &gathered.site,
                record: &page.record,
            };
            self.sink
                .page(&node, &to, &gathered.urls)
                .map_err(GraphError::Write)?;
            self.report.nodes += 1;
            self.report.crawled += u64::from(page.record.state == PageState::Crawled);
            self.report.links += to.len() as u64;
        }
        self.report.links_to_gone += gathered.links_to_gone;
        self.watch.advance(gathered.pages.len() as u64);
        Ok(())
    }
}

// URLs of pages by node number.

/// Map from node numbers to URLs.
#[derive(Default)]
pub(super) struct Urls {
    /// Number, and start and end of the URL in `text`, sorted by number.
    pages: Vec<(u32, usize, usize)>,
    text: String,
}

impl Urls {
    /// Reads the URLs of the pages. Cost: a lookup per page.
    pub(super) fn load(
        store: &Store,
        mode: SiteMode,
        mut pages: Vec<(PageId, u32)>,
    ) -> Result<Self, EngineError> {
        pages.sort_unstable();
        pages.dedup();
        let ids: Vec<PageId> = pages.iter().map(|(page, _)| *page).collect();
        let mut urls = Self::default();
        let mut numbers = pages.iter().map(|(_, number)| *number);
        let mut site: Option<(SiteId, String)> = None;
        store.records_of(&ids, |page, record| {
            let name = match site.take() {
                Some((of, name)) if of == page.site() => name,
                _ => store.need(&tables::SITES, &page.site())?.name,
            };
            let url = ingest::url(&name, &record.local, mode);
            site = Some((page.site(), name));
            if let Some(number) = numbers.next() {
                let begin = urls.text.len();
                urls.text.push_str(&url);
                urls.pages.push((number, begin, urls.text.len()));
            }
            Ok::<_, StoreError>(())
        })?;
        urls.pages.sort_unstable();
        Ok(urls)
    }

    /// Returns the URL of a page.
    pub(super) fn get(&self, number: u32) -> io::Result<&str> {
        let found = self.pages.binary_search_by_key(&number, |page| page.0);
        let place = found.ok().and_then(|at| self.pages.get(at));
        let url = place.and_then(|(_, begin, end)| self.text.get(*begin..*end));
        url.ok_or_else(|| io::Error::other("a link lost its URL"))
    }
}

// Numbers the pages from 0, by site name and URL.

/// Map from pages to node numbers. Memory: 4 bytes per page that the bank ever knew, and 8 per site.
pub(super) struct NodeNumbers {
    /// Start of each site's pages in `by_place`, by site id.
    begins: Vec<usize>,
    /// Numbers by site and page index; `NONE` for a page that is not a node.
    by_place: Vec<u32>,
    pub(super) pages: u32,
}

impl NodeNumbers {
    /// Numbers the pages that are crawled or known. Cost: a scan of pages and one of their URLs.
    pub(super) fn load(store: &Store, watch: &dyn Watch) -> Result<Self, EngineError> {
        let totals = store.counters()?;
        watch.stage("number pages", Some(totals.known + totals.crawled));
        let mut sizes = vec![0_usize; totals.next_site as usize + 1];
        for entry in store.scan(&tables::SITES)? {
            let (site, record) = entry?;
            if let Some(size) = sizes.get_mut(site.0 as usize) {
                *size = record.next_page as usize;
            }
        }
        let mut end = 0;
        // Turn the sizes into start offsets.
        for size in &mut sizes {
            end += std::mem::replace(size, end);
        }
        let mut numbers = Self {
            begins: sizes,
            by_place: vec![NONE; end],
            pages: 0,
        };
        let mut pages = store.scan_by_site(&tables::PAGES)?;
        let mut by_url = store.scan_by_site(&tables::PAGE_IDS)?;
        for entry in store.scan(&tables::SITE_IDS)? {
            watch.proceed()?;
            let (_, site) = entry?;
            let before = numbers.pages;
            numbers.number(site, pages.of_site(site), by_url.of_site(site))?;
            watch.advance((numbers.pages - before).into());
        }
        Ok(numbers)
    }

    /// Numbers the pages of a site, given its entries in both tables of pages.
    fn number(
        &mut self,
        site: SiteId,
        pages: impl Iterator<Item = Result<(PageId, PageRecord), StoreError>>,
        by_url: impl Iterator<Item = Result<((SiteId, String), u32), StoreError>>,
    ) -> Result<(), EngineError> {
        for entry in pages {
            let (page, record) = entry?;
            if record.state.is_live() {
                // A placeholder marks nodes until the scan by URL numbers them.
                *self.place(page)? = 0;
            }
        }
        for entry in by_url {
            let (_, index) = entry?;
            let next = self.pages;
            let number = self.place(PageId::new(site, index))?;
            if *number == NONE {
                continue;
            }
            *number = next;
            // The largest number is reserved for `NONE`.
            let after = next.checked_add(1).filter(|after| *after != NONE);
            self.pages = after.ok_or(StoreError::Full("page of a graph"))?;
        }
        Ok(())
    }

    fn place(&mut self, page: PageId) -> Result<&mut u32, EngineError> {
        let place = self.begins.get(page.site().0 as usize);
        let place = place.and_then(|begin| begin.checked_add(page.index() as usize));
        let number = place.and_then(|place| self.by_place.get_mut(place));
        number.ok_or(EngineError::Internal("a page has no place on its site"))
    }

    /// Returns the number of a page; `None` if it is not a node.
    pub(super) fn get(&self, page: PageId) -> Option<u32> {
        let begin = *self.begins.get(page.site().0 as usize)?;
        let number = *self.by_place.get(begin + page.index() as usize)?;
        (number != NONE).then_some(number)
    }

    /// Counts the pages that link to each node, by number. Cost: a scan of links.
    pub(super) fn in_links(
        &self,
        store: &Store,
        watch: &dyn Watch,
    ) -> Result<Vec<u32>, EngineError> {
        watch.stage("count links", None);
        let mut counts = vec![0_u32; self.pages as usize];
        let mut add = |page: PageId, links: u32| {
            if let Some(number) = self.get(page) {
                counts[number as usize] += links;
            }
        };
        let mut scan = LinkScan::new(store)?;
        for entry in store.scan(&tables::SITE_IDS)? {
            watch.proceed()?;
            let (_, site) = entry?;
            for list in scan.intra_of(site) {
                let (page, targets) = list?;
                if self.get(page).is_some() {
                    for index in targets {
                        add(PageId::new(site, index), 1);
                    }
                }
            }
            for row in scan.carried_rows(site) {
                let (row, members, targets) = row?;
                let links = self.carriers(row, &members.pages);
                for target in targets {
                    add(target, links);
                }
            }
        }
        Ok(counts)
    }

    /// Returns the number of nodes with this row.
    pub(super) fn carriers(&self, row: RowId, pages: &roaring::RoaringBitmap) -> u32 {
        let carriers = pages.iter().map(|index| PageId::new(row.site(), index));
        seedbank_algorithms::graph::number(
            carriers.filter(|page| self.get(*page).is_some()).count(),
        )
    }
}
