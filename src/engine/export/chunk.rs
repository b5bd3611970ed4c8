//! Writes the records of a chunk: some pages of a site, consecutive in URL order.
//!
//! Tables are sorted by id, records by URL. Therefore the data of a chunk of some thousand pages is read in
//! the order of ids, each block of links, each row and each target's URL once, and the records are then
//! written in URL order.
//!
//! URLs of pages of other processes are requested for a group of chunks together.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::limits::Limits;
use super::other_urls::{OtherUrls, OwnersOfUrls};
use super::piece::Piece;
use super::record::{Page, Urls, lost_url, record};
use super::report::Counts;
use crate::engine::EngineError;
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_formats::ingest::{self, MAX_LINE, SiteMode};
use seedbank_store::aliases::{AliasLinks, AliasRecord};
use seedbank_store::links::LinkKey;
use seedbank_store::records::PageState;
use seedbank_store::{Key, LinkCursor, Store, StoreError, Table, Value, tables};

/// The sites that are exported.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sites {
    /// All sites of the bank.
    All,
    /// Those in databases of this process.
    Own,
}

/// Writer of records of a bank.
pub(super) struct Exporter<'a> {
    pub(super) store: &'a Store,
    mode: SiteMode,
    pub(super) limits: Limits,
    /// Which sites it exports.
    pub(super) sites: Sites,
    /// The processes that have the URLs of pages which this one does not have; `None` if the store reads all.
    pub(super) others: Option<OwnersOfUrls<'a>>,
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
    /// The line of the site in a list of sites; `None` if it has none, and after its first chunk.
    pub(super) line: Option<Vec<u8>>,
    /// Index and URL below the site of each page, in URL order.
    pub(super) pages: Vec<(u32, String)>,
}

impl Chunk {
    pub(super) const fn new(site: SiteId, name: Arc<str>) -> Self {
        Self {
            site,
            name,
            line: None,
            pages: Vec::new(),
        }
    }

    fn page(&self, place: usize) -> PageId {
        PageId::new(self.site, self.pages[place].0)
    }
}

/// Records of a chunk.
pub(super) struct Text {
    pub(super) piece: Piece,
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
    /// Remaining pages of the chunk, if all together have too many links.
    rest: Vec<(u32, String)>,
}

impl Gathered {
    /// Returns the pages whose URLs the records have, in any order, some twice.
    fn targets(&self) -> impl Iterator<Item = PageId> {
        let aliases = self.pages.iter().filter_map(|page| page.alias);
        let links = self.links.iter().chain(self.rows.values().flatten());
        links.copied().chain(aliases.map(|alias| alias.to))
    }
}

impl<'a> Exporter<'a> {
    pub(super) fn new(
        store: &'a Store,
        mode: SiteMode,
        limits: Limits,
        sites: Sites,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            store,
            mode,
            limits,
            sites,
            others: None,
            has_aliases: has_entry(store, sites, &tables::ALIASES)?,
            has_failures: has_entry(store, sites, &tables::FAILURES)?,
            has_yields: has_entry(store, sites, &tables::YIELDS)?,
        })
    }

    /// Returns the records of some chunks, each of its first pages if it has too many links. The URLs of pages of other
    /// processes are requested once for all of them.
    pub(super) fn texts(&self, group: Vec<Chunk>) -> Result<Vec<Text>, EngineError> {
        let gather = |mut chunk| Ok((self.gather_first(&mut chunk)?, chunk));
        let group: Vec<(Gathered, Chunk)> = group
            .into_iter()
            .map(gather)
            .collect::<Result<_, EngineError>>()?;
        let others = self
            .others
            .as_ref()
            .map(|others| others.urls(group.iter().flat_map(|(gathered, _)| gathered.targets())));
        let others = others.transpose()?;
        let text = |(gathered, chunk)| self.text(chunk, gathered, others.as_ref());
        group.into_iter().map(text).collect()
    }

    /// Reads the data of a chunk, or of its first pages if it has too many links.
    fn gather_first(&self, chunk: &mut Chunk) -> Result<Gathered, EngineError> {
        let mut rest = Vec::new();
        loop {
            if let Some(gathered) = self.gather(chunk)? {
                return Ok(Gathered { rest, ..gathered });
            }
            let mut second = chunk.pages.split_off(chunk.pages.len() / 2);
            second.append(&mut rest);
            rest = second;
        }
    }

    /// Returns the records of a chunk.
    fn text(
        &self,
        chunk: Chunk,
        mut gathered: Gathered,
        others: Option<&OtherUrls<'_>>,
    ) -> Result<Text, EngineError> {
        let urls = self.urls(&chunk, &gathered, others)?;
        let rest = std::mem::take(&mut gathered.rest);
        let rest = (!rest.is_empty()).then(|| Chunk {
            pages: rest,
            ..Chunk::new(chunk.site, Arc::clone(&chunk.name))
        });
        let mut records = Vec::new();
        let mut counts = Counts {
            sites: chunk.line.is_some().into(),
            ..Counts::default()
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
            if let Some(record) = record(url, page, outlinks, &urls, &mut counts)? {
                let line = record.to_json();
                counts.too_long += u64::from(line.len() > MAX_LINE);
                records.extend_from_slice(line.as_bytes());
                records.push(b'\n');
            }
        }
        let piece = Piece {
            site: chunk.name,
            line: chunk.line,
            records,
            counts,
        };
        Ok(Text { piece, rest })
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
        let Gathered {
            pages, links, rows, ..
        } = &mut gathered;
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
    fn urls(
        &self,
        chunk: &Chunk,
        gathered: &Gathered,
        others: Option<&OtherUrls<'_>>,
    ) -> Result<Urls, EngineError> {
        let mut wanted: Vec<PageId> = gathered.targets().collect();
        wanted.sort_unstable();
        wanted.dedup();
        let place_of: HashMap<PageId, usize> = (0..chunk.pages.len())
            .map(|place| (chunk.page(place), place))
            .collect();
        let is_other = |page: PageId| others.is_some_and(|others| others.has(page));
        let is_read = |page: &PageId| !place_of.contains_key(page) && !is_other(*page);
        let read: Vec<PageId> = wanted.iter().copied().filter(is_read).collect();
        let mut locals = Vec::with_capacity(read.len());
        self.store.records_of(&read, |_, record| {
            locals.push(record.local);
            Ok::<_, StoreError>(())
        })?;
        let mut locals = locals.iter();
        let mut site = (chunk.site, chunk.name.to_string());
        let mut urls = Urls::default();
        for page in wanted {
            if let Some(others) = others.filter(|others| others.has(page)) {
                let url = others.get(page)?;
                urls.push(page, |text| text.push_str(url));
                continue;
            }
            if page.site() != site.0 {
                let record = self.store.need(&tables::SITES, &page.site())?;
                site = (page.site(), record.name);
            }
            let in_chunk = place_of.get(&page).map(|place| &chunk.pages[*place].1);
            let local = in_chunk.or_else(|| locals.next()).ok_or_else(lost_url)?;
            urls.push(page, |text| {
                ingest::push_url(&site.1, local, self.mode, text);
            });
        }
        Ok(urls)
    }
}

/// Returns whether a table has an entry of the sites.
fn has_entry<K: Key, V: Value>(
    store: &Store,
    sites: Sites,
    table: &Table<K, V>,
) -> Result<bool, StoreError> {
    let mut entries = match sites {
        Sites::All => store.scan(table)?,
        Sites::Own => store.scan_local(table)?,
    };
    Ok(entries.next().transpose()?.is_some())
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
