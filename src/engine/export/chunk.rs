//! Some pages of a site, neighbours in URL order, as records.
//!
//! Tables are in the order of ids, and records are in that of URLs. So of some thousand pages at a time
//! what they have is read in the order of ids, each block of links once, each row once, each target's
//! URL once; then their records are written in URL order.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::line::{Page, Urls, lost, record};
use super::report::Counts;
use crate::engine::EngineError;
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_formats::ingest::{self, MAX_LINE, SiteMode};
use seedbank_store::aliases::{AliasLinks, AliasRecord};
use seedbank_store::links::LinkKey;
use seedbank_store::records::PageState;
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

/// The bank whose pages are written.
pub(super) struct Of<'a> {
    pub(super) store: &'a Store,
    mode: SiteMode,
    pub(super) limits: Limits,
    /// Whether it has any aliases; without them nothing is looked up.
    has_aliases: bool,
}

/// Some pages of a site.
pub(super) struct Chunk {
    site: SiteId,
    name: Arc<str>,
    /// The index and the rest of the URL of each, in URL order.
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

/// The records of a chunk's pages.
pub(super) struct Text {
    pub(super) bytes: Vec<u8>,
    pub(super) counts: Counts,
    /// The last pages of the chunk, where all of them have too many links; they are still to be
    /// written.
    pub(super) rest: Option<Chunk>,
}

/// The targets of rows of a site.
type Rows = BTreeMap<u32, Vec<PageId>>;

/// What the pages of a chunk have.
#[derive(Default)]
struct Gathered {
    pages: Vec<Page>,
    links: Vec<PageId>,
    rows: Rows,
}

impl<'a> Of<'a> {
    pub(super) fn bank(
        store: &'a Store,
        mode: SiteMode,
        limits: Limits,
    ) -> Result<Self, StoreError> {
        let first = store.scan(&tables::ALIASES)?.next().transpose()?;
        Ok(Self {
            store,
            mode,
            limits,
            has_aliases: first.is_some(),
        })
    }

    /// The records of a chunk's pages, or of the first of them.
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
            .map(|(row, targets)| Ok((*row, urls.of_all(targets)?)))
            .collect();
        let rows = rows?;
        for page in &gathered.pages {
            let links = &gathered.links[page.links.clone()];
            let mut outlinks = urls.of_all(links)?;
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

    /// What the pages of a chunk have, in the order of the chunk; `None` where they are several and
    /// have too many links.
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
        let mut blocks = LinkCursor::new(self.store, &tables::INTRA);
        let Gathered { pages, links, rows } = &mut gathered;
        for page in pages.iter_mut() {
            let first = links.len();
            self.gather_page(chunk, page, (links, rows), &mut blocks)?;
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

    /// Adds the links of a page to those of its chunk.
    fn gather_page(
        &self,
        chunk: &Chunk,
        page: &mut Page,
        (links, rows): (&mut Vec<PageId>, &mut Rows),
        blocks: &mut LinkCursor<'_, u32>,
    ) -> Result<(), StoreError> {
        if !matches!(page.record.state, PageState::Crawled | PageState::Alias) {
            return Ok(());
        }
        let id = chunk.page(page.place);
        let about = if self.has_aliases {
            self.store.get(&tables::ALIASES, &id)?
        } else {
            None
        };
        match (page.record.state, about) {
            (PageState::Alias, Some(AliasRecord::Alias(alias))) => page.alias = Some(alias),
            (PageState::Crawled, Some(AliasRecord::Links(aliases))) => {
                let counted = self.store.links_of(id, page.record.row)?;
                links.extend(given(counted, &aliases));
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

    /// The URLs of all pages that the records of a chunk name besides their own.
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
        let is_here = |page: &PageId| place_of.contains_key(page);
        let elsewhere: Vec<PageId> = wanted.iter().copied().filter(|p| !is_here(p)).collect();
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
            let here = place_of.get(&page).map(|place| &chunk.pages[*place].1);
            let local = here.or_else(|| locals.next()).ok_or_else(lost)?;
            urls.push(page, &ingest::url(&site.1, local, self.mode));
        }
        Ok(urls)
    }
}

/// The places of a chunk in the order of ids.
fn by_id(chunk: &Chunk) -> Vec<usize> {
    let mut places: Vec<usize> = (0..chunk.pages.len()).collect();
    places.sort_unstable_by_key(|place| chunk.page(*place));
    places
}

/// The links that a page's record gave, of those that count and what aliases make of them.
fn given(mut links: Vec<PageId>, aliases: &AliasLinks) -> Vec<PageId> {
    links.retain(|target| aliases.reached.binary_search(target).is_err());
    links.extend(&aliases.aliases);
    links
}
