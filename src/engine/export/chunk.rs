//! Writes the records of a chunk: some pages of a site, consecutive in URL order.
//!
//! Tables are sorted by id, records by URL. Therefore the data of a chunk of some thousand pages is read in
//! the order of ids, each block of links, each row and each target's URL once, and the records are then
//! written in URL order.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::record::{Page, Urls, lost_url, record};
use super::report::Counts;
use crate::engine::EngineError;
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_formats::ingest::{self, MAX_LINE, SiteMode};
use seedbank_store::aliases::{AliasLinks, AliasRecord};
use seedbank_store::links::LinkKey;
use seedbank_store::records::PageState;
use seedbank_store::{LinkCursor, Store, StoreError, tables};

/// Limits of a chunk.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// Maximum number of pages.
    pub(super) pages: usize,
    /// Maximum number of links of its pages together, each row counted once. A single page may have more.
    pub(super) links: usize,
}

/// Writer of records of a bank.
pub(super) struct Exporter<'a> {
    pub(super) store: &'a Store,
    mode: SiteMode,
    pub(super) limits: Limits,
    /// Whether the bank has aliases. Without them no alias is looked up.
    has_aliases: bool,
    /// Whether a page of the bank has failed fetches. Without them none are looked up.
    has_failures: bool,
    /// Whether a page of the bank was fetched twice or more.
    has_yields: bool,
}

/// Some pages of a site, consecutive in URL order.
pub(super) struct Chunk {
    site: SiteId,
    name: Arc<str>,
    /// Index and URL below the site of each page, in URL order.
    pub(super) pages: Vec<(u32, String)>,
}

impl Chunk {
    pub(super) const fn new(site: SiteId, name: Arc<str>) -> Self {
        Self {
            site,
            name,
            pages: Vec::new(),
        }
    }

    fn page(&self, place: usize) -> PageId {
        PageId::new(self.site, self.pages[place].0)
    }
}

/// Records of a chunk.
pub(super) struct Text {
    pub(super) bytes: Vec<u8>,
    pub(super) counts: Counts,
    /// Remaining pages of the chunk, if all together have too many links.
    pub(super) rest: Option<Chunk>,
}

/// Targets of the rows of a site, by row index.
type Rows = BTreeMap<u32, Vec<PageId>>;

/// Data of the pages of a chunk.
#[derive(Default)]
struct Gathered {
    pages: Vec<Page>,
    links: Vec<PageId>,
    rows: Rows,
}

impl<'a> Exporter<'a> {
    pub(super) fn new(
        store: &'a Store,
        mode: SiteMode,
        limits: Limits,
    ) -> Result<Self, StoreError> {
        let first = store.scan(&tables::ALIASES)?.next().transpose()?;
        let failing = store.scan(&tables::FAILURES)?.next().transpose()?;
        let observed = store.scan(&tables::YIELDS)?.next().transpose()?;
        Ok(Self {
            store,
            mode,
            limits,
            has_aliases: first.is_some(),
            has_failures: failing.is_some(),
            has_yields: observed.is_some(),
        })
    }

    /// Returns the records of a chunk, or of its first pages if it has too many links.
    pub(super) fn text(&self, mut chunk: Chunk) -> Result<Text, EngineError> {
        let mut rest = Vec::new();
        let gathered = loop {
            if let Some(gathered) = self.gather(&chunk)? {
                break gathered;
            }
            let mut second = chunk.pages.split_off(chunk.pages.len() / 2);
            second.append(&mut rest);
            rest = second;
        };
        let urls = self.urls(&chunk, &gathered)?;
        let mut text = Text {
            bytes: Vec::new(),
            counts: Counts::default(),
            rest: (!rest.is_empty()).then(|| Chunk {
                site: chunk.site,
                name: Arc::clone(&chunk.name),
                pages: rest,
            }),
        };
        let rows: Result<BTreeMap<u32, Vec<&str>>, EngineError> = gathered
            .rows
            .iter()
            .map(|(row, targets)| Ok((*row, urls.get_all(targets)?)))
            .collect();
        let rows = rows?;
        for page in &gathered.pages {
            let links = &gathered.links[page.links.clone()];
            let mut outlinks = urls.get_all(links)?;
            if let Some(row) = page.row {
                outlinks.extend(rows.get(&row).into_iter().flatten());
            }
            outlinks.sort_unstable();
            let url = ingest::url(&chunk.name, &chunk.pages[page.place].1, self.mode);
            if let Some(record) = record(url, page, outlinks, &urls, &mut text.counts)? {
                let line = record.to_json();
                text.counts.too_long += u64::from(line.len() > MAX_LINE);
                text.bytes.extend_from_slice(line.as_bytes());
                text.bytes.push(b'\n');
            }
        }
        Ok(text)
    }

    /// Reads the data of the pages of a chunk, in the order of the chunk; `None` if there are several pages
    /// with too many links.
    fn gather(&self, chunk: &Chunk) -> Result<Option<Gathered>, EngineError> {
        let mut gathered = Gathered::default();
        let is_too_much = |links: usize| links > self.limits.links && chunk.pages.len() > 1;
        let places = by_id(chunk);
        let ids: Vec<PageId> = places.iter().map(|place| chunk.page(*place)).collect();
        gathered.pages.reserve_exact(ids.len());
        let mut next = places.into_iter();
        self.store.records_of(&ids, |_, record| {
            gathered
                .pages
                .extend(next.next().map(|place| Page::new(place, record)));
            Ok::<_, StoreError>(())
        })?;
        if self.has_yields {
            self.gather_sums(chunk, &mut gathered.pages)?;
        }
        let mut blocks = LinkCursor::new(self.store, &tables::INTRA);
        let Gathered { pages, links, rows } = &mut gathered;
        for page in pages.iter_mut() {
            let first = links.len();
            self.gather_page(chunk, page, links, rows, &mut blocks)?;
            page.links = first..links.len();
            if is_too_much(links.len()) {
                return Ok(None);
            }
        }
        let mut blocks = LinkCursor::new(self.store, &tables::ROWS);
        let mut all = links.len();
        for (row, targets) in rows.iter_mut() {
            let row = RowId::new(chunk.site, *row);
            let (key, at) = LinkKey::of_row(row);
            targets.extend_from_slice(blocks.list(key, at)?);
            if targets.is_empty() {
                self.store.need_row(row)?;
            }
            all += targets.len();
            if is_too_much(all) {
                return Ok(None);
            }
        }
        pages.sort_unstable_by_key(|page| page.place);
        Ok(Some(gathered))
    }

    /// Reads what the fetches of pages brought; pages come in the order of ids.
    fn gather_sums(&self, chunk: &Chunk, pages: &mut [Page]) -> Result<(), StoreError> {
        let block_of = |page: &Page| LinkKey::of_page(chunk.page(page.place)).0;
        for of_block in pages.chunk_by_mut(|a, b| block_of(a) == block_of(b)) {
            let Some(first) = of_block.first() else {
                continue;
            };
            let sums = self.store.get(&tables::YIELDS, &block_of(first))?;
            let sums = sums.unwrap_or_default();
            for page in of_block {
                page.sums = sums.at(LinkKey::of_page(chunk.page(page.place)).1);
            }
        }
        Ok(())
    }

    /// Adds the links of a page to those of its chunk.
    fn gather_page(
        &self,
        chunk: &Chunk,
        page: &mut Page,
        links: &mut Vec<PageId>,
        rows: &mut Rows,
        blocks: &mut LinkCursor<'_, u32>,
    ) -> Result<(), StoreError> {
        let id = chunk.page(page.place);
        if self.has_failures {
            page.failures = self.store.get(&tables::FAILURES, &id)?;
        }
        if !matches!(page.record.state, PageState::Crawled | PageState::Alias) {
            return Ok(());
        }
        let aliases = if self.has_aliases {
            self.store.get(&tables::ALIASES, &id)?
        } else {
            None
        };
        match (page.record.state, aliases) {
            (PageState::Alias, Some(AliasRecord::Alias(alias))) => page.alias = Some(alias),
            (PageState::Crawled, Some(AliasRecord::Links(aliases))) => {
                let counted = self.store.links_of(id, page.record.row)?;
                links.extend(given_links(counted, &aliases));
            }
            (PageState::Crawled, None) => {
                let (key, at) = LinkKey::of_page(id);
                let targets = blocks.list(key, at)?.iter();
                links.extend(targets.map(|index| PageId::new(chunk.site, *index)));
                page.row = page.record.row;
                rows.extend(page.row.map(|row| (row, Vec::new())));
            }
            _ => {
                return Err(StoreError::Damaged {
                    table: tables::ALIASES.name,
                    key: id.to_string(),
                    what: "it does not fit the page's state".to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Returns the URLs of all pages that the records of a chunk refer to.
    fn urls(&self, chunk: &Chunk, gathered: &Gathered) -> Result<Urls, EngineError> {
        let mut wanted = gathered.links.clone();
        wanted.extend(gathered.rows.values().flatten());
        let aliases = gathered.pages.iter().filter_map(|page| page.alias);
        wanted.extend(aliases.map(|alias| alias.to));
        wanted.sort_unstable();
        wanted.dedup();
        let place_of: HashMap<PageId, usize> = (0..chunk.pages.len())
            .map(|place| (chunk.page(place), place))
            .collect();
        let is_in_chunk = |page: &PageId| place_of.contains_key(page);
        let elsewhere: Vec<PageId> = wanted.iter().copied().filter(|p| !is_in_chunk(p)).collect();
        let mut locals = Vec::with_capacity(elsewhere.len());
        self.store.records_of(&elsewhere, |_, record| {
            locals.push(record.local);
            Ok::<_, StoreError>(())
        })?;
        let mut locals = locals.iter();
        let mut site = (chunk.site, chunk.name.to_string());
        let mut urls = Urls::default();
        for page in wanted {
            if page.site() != site.0 {
                let record = self.store.need(&tables::SITES, &page.site())?;
                site = (page.site(), record.name);
            }
            let in_chunk = place_of.get(&page).map(|place| &chunk.pages[*place].1);
            let local = in_chunk.or_else(|| locals.next()).ok_or_else(lost_url)?;
            urls.push(page, &ingest::url(&site.1, local, self.mode));
        }
        Ok(urls)
    }
}

/// Returns the positions in a chunk in the order of page ids.
fn by_id(chunk: &Chunk) -> Vec<usize> {
    let mut places: Vec<usize> = (0..chunk.pages.len()).collect();
    places.sort_unstable_by_key(|place| chunk.page(*place));
    places
}

/// Returns the links that a page's record gave, from its effective links and its aliases.
fn given_links(mut links: Vec<PageId>, aliases: &AliasLinks) -> Vec<PageId> {
    links.retain(|target| aliases.reached.binary_search(target).is_err());
    links.extend(&aliases.aliases);
    links
}
