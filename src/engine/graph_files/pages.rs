//! The pages of a bank with their links, in the order of their numbers.
//!
//! Tables are in the order of ids, and pages come in that of URLs. So of some thousand pages at a time
//! what they have is read in the order of ids, each block of links and each row once.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::failed::Failed;
use super::numbers::Numbers;
use super::request::GraphReport;
use super::urls::Urls;
use crate::engine::EngineError;
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{self, SiteMode};
use seedbank_store::links::LinkKey;
use seedbank_store::records::{PageRecord, PageState, SiteRecord};
use seedbank_store::{LinkCursor, Store, StoreError, tables};

/// How much is held at a time.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// How many pages a chunk has at most.
    pub(super) pages: usize,
    /// How many links the pages of a chunk may have together, each row counted once; a single page
    /// may have more.
    pub(super) links: usize,
}

/// Twice the links and four times the pages are worked on side by side.
pub(super) const AT_A_TIME: Limits = Limits {
    pages: 4096,
    links: 1 << 20,
};

/// A page of the graph.
pub(super) struct Node<'a> {
    pub(super) number: u32,
    pub(super) url: &'a str,
    pub(super) site: &'a str,
    pub(super) record: &'a PageRecord,
}

/// What takes the pages, in the order of their numbers.
pub(super) trait Sink {
    /// Whether it is told the URLs of targets.
    fn wants_urls(&self) -> bool;

    /// A page, and the pages that it links to, ascending. The URLs are those of its targets at least.
    fn page(&mut self, page: &Node<'_>, to: &[u32], urls: &Urls) -> io::Result<()>;

    /// Writes what is left.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// The pages of a bank.
pub(super) struct Pages<'a> {
    pub(super) store: &'a Store,
    pub(super) numbers: &'a Numbers,
    pub(super) mode: SiteMode,
    pub(super) limits: Limits,
}

/// Some pages of a site, neighbours in the order of their numbers.
struct Chunk {
    site: SiteId,
    name: Arc<str>,
    /// The index, the number and the rest of the URL of each.
    pages: Vec<(u32, u32, String)>,
}

/// The targets of rows of a site.
type Rows = BTreeMap<u32, Vec<u32>>;

/// What the pages of a chunk have.
struct Gathered {
    site: Arc<str>,
    pages: Vec<Page>,
    /// The targets of links, by number.
    links: Vec<u32>,
    rows: Rows,
    urls: Urls,
    to_gone: u64,
    /// The last pages of the chunk, where all of them have too many links; they are still to come.
    rest: Option<Chunk>,
}

struct Page {
    number: u32,
    record: PageRecord,
    /// Its targets among those of the chunk, without those of its row.
    links: Range<usize>,
}

impl Pages<'_> {
    /// Hands all pages to `sink`.
    pub(super) fn walk(
        &self,
        sink: &mut dyn Sink,
        report: &mut GraphReport,
        watch: &dyn Watch,
    ) -> Result<(), Failed> {
        watch.stage("write pages", Some(self.numbers.pages.into()));
        let mut wave = Wave {
            of: self,
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

    /// What the pages of a chunk have, or the first of them.
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

    /// What the pages of a chunk have; `None` where they are several and have too many links.
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
            to_gone: 0,
            rest: None,
        };
        let Gathered {
            pages,
            links,
            rows,
            to_gone,
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
            *to_gone += gone;
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
        *to_gone += gone.sum::<u64>();
        pages.sort_unstable_by_key(|page| page.number);
        gathered.urls = Urls::of(self.store, self.mode, targets)?;
        Ok(Some(gathered))
    }

    /// Appends the numbers of targets, ascending; returns how many of them are gone.
    fn push(
        &self,
        from: impl Iterator<Item = PageId>,
        to: &mut Vec<u32>,
        mut targets: Option<&mut Vec<(PageId, u32)>>,
    ) -> u64 {
        let first = to.len();
        let mut gone = 0;
        for page in from {
            let Some(number) = self.numbers.of(page) else {
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

/// Chunks that are worked on side by side, and handed on in their order.
struct Wave<'a> {
    of: &'a Pages<'a>,
    chunks: Vec<Chunk>,
    pages: usize,
    /// About how many links they have.
    links: u64,
    sink: &'a mut dyn Sink,
    report: &'a mut GraphReport,
    watch: &'a dyn Watch,
}

impl Wave<'_> {
    /// Adds a site's pages.
    fn site(&mut self, id: SiteId, name: &str, site: &SiteRecord) -> Result<(), Failed> {
        let name: Arc<str> = name.into();
        let new = || Chunk {
            site: id,
            name: Arc::clone(&name),
            pages: Vec::new(),
        };
        let mut chunk = new();
        let (most, links) = shape(site, self.of.limits);
        let prefix = id.0.to_be_bytes();
        for entry in self.of.store.scan_under(&tables::PAGE_IDS, &prefix)? {
            let ((_, local), index) = entry?;
            let Some(number) = self.of.numbers.of(PageId::new(id, index)) else {
                continue;
            };
            chunk.pages.push((index, number, local));
            if chunk.pages.len() >= most {
                self.add(std::mem::replace(&mut chunk, new()), links)?;
            }
        }
        self.add(chunk, links)
    }

    /// Adds a chunk whose pages have about so many links each.
    fn add(&mut self, chunk: Chunk, links: u64) -> Result<(), Failed> {
        if chunk.pages.is_empty() {
            return Ok(());
        }
        let limits = self.of.limits;
        self.pages += chunk.pages.len();
        self.links += chunk.pages.len() as u64 * links;
        self.chunks.push(chunk);
        if self.pages >= 4 * limits.pages || self.links >= 2 * limits.links as u64 {
            self.write()?;
        }
        Ok(())
    }

    fn write(&mut self) -> Result<(), Failed> {
        self.watch.proceed()?;
        let chunks = std::mem::take(&mut self.chunks);
        (self.pages, self.links) = (0, 0);
        let (of, wants_urls) = (self.of, self.sink.wants_urls());
        let gathered = chunks.into_par_iter();
        let gathered = gathered.map(|chunk| of.gather(chunk, wants_urls));
        for mut gathered in gathered.collect::<Result<Vec<_>, _>>()? {
            // What was left of a chunk with too many links comes before the next one.
            loop {
                self.hand_on(&gathered)?;
                let Some(rest) = gathered.rest.take() else {
                    break;
                };
                self.watch.proceed()?;
                gathered = of.gather(rest, wants_urls)?;
            }
        }
        Ok(())
    }

    fn hand_on(&mut self, of: &Gathered) -> Result<(), Failed> {
        let mut to = Vec::new();
        for page in &of.pages {
            to.clear();
            to.extend_from_slice(&of.links[page.links.clone()]);
            let row = page.record.row.and_then(|row| of.rows.get(&row));
            if let Some(row) = row {
                to.extend_from_slice(row);
                to.sort_unstable();
            }
            let url = ingest::url(&of.site, &page.record.local, self.of.mode);
            let node = Node {
                number: page.number,
                url: &url,
                site: &of.site,
                record: &page.record,
            };
            self.sink
                .page(&node, &to, &of.urls)
                .map_err(Failed::Write)?;
            self.report.nodes += 1;
            self.report.crawled += u64::from(page.record.state == PageState::Crawled);
            self.report.links += to.len() as u64;
        }
        self.report.to_gone += of.to_gone;
        self.watch.advance(of.pages.len() as u64);
        Ok(())
    }
}

/// How many pages of a site a chunk has at most, and how many links each has on average, rounded up.
fn shape(site: &SiteRecord, limits: Limits) -> (usize, u64) {
    let pages = u64::from(site.known) + u64::from(site.crawled) + u64::from(site.gone);
    let links = (site.intra_links + site.inter_links).div_ceil(pages.max(1));
    let most = limits.links as u64 / links.max(1);
    let most = usize::try_from(most).unwrap_or(limits.pages);
    (most.clamp(1, limits.pages), links)
}
