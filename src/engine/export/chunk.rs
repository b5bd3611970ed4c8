//! Writes the records of a chunk: some pages of a site, consecutive in URL order.
//!
//! Tables are sorted by id, records by URL. Therefore the data of a chunk of some thousand pages is read in
//! the order of ids, each block of links, each row and each target's URL once, and the records are then
//! written in URL order.
//!
//! URLs of pages of other processes are requested for a group of chunks together.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::piece::{Counts, Piece, malformed, quality, split_head, with_head};
use crate::engine::processes::Processes;
use crate::engine::request_topic::RequestTopic;
use crate::engine::site_owners::OtherOwners;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::page::{PageId, PageKind, RowId, SiteId};
use seedbank_algorithms::yields::Yield;
use seedbank_formats::clock::time;
use seedbank_formats::ingest::{self, MAX_LINE, Record, SiteMode, digest_text};
use seedbank_store::aliases::{AliasLinks, AliasRecord};
use seedbank_store::links::LinkKey;
use seedbank_store::records::{Failures, PageField, PageRecord, PageState};
use seedbank_store::{
    Key, LinkCursor, PublishedState, RemoteProcess, Store, StoreError, Table, Value, tables,
};

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
        let canonicals = self.pages.iter().filter_map(|page| page.record.canonical);
        links.copied().chain(aliases).chain(canonicals)
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
        let mut json = Vec::new();
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
            for record in records(&url, page, &outlinks, &urls, &mut counts)? {
                let line = record.to_json();
                counts.too_long += u64::from(line.len() > MAX_LINE);
                json.extend_from_slice(line.as_bytes());
                json.push(b'\n');
            }
        }
        let piece = Piece {
            site: chunk.name,
            line: chunk.line,
            records: json,
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

// Builds the record of one page.

/// Page of a chunk.
pub(super) struct Page {
    /// Position in the chunk.
    pub(super) place: usize,
    pub(super) record: PageRecord,
    /// Range of its outlinks among those of the chunk, without those of its row.
    pub(super) links: Range<usize>,
    /// Row whose targets are also outlinks.
    pub(super) row: Option<u32>,
    pub(super) alias: Option<PageId>,
    pub(super) failures: Option<Failures>,
    /// What its fetches brought, if it was fetched twice or more.
    pub(super) sums: Option<Yield>,
}

impl Page {
    pub(super) const fn new(place: usize, record: PageRecord) -> Self {
        Self {
            place,
            record,
            links: 0..0,
            row: None,
            alias: None,
            failures: None,
            sums: None,
        }
    }
}

/// Returns the records of a page: that of its last fetch, then one for each earlier time of its fields.
pub(super) fn records(
    url: &str,
    page: &Page,
    outlinks: &[&str],
    urls: &Urls,
    counts: &mut Counts,
) -> Result<Vec<Record>, EngineError> {
    let stored = &page.record;
    let mut record = Record::new(url);
    // A time would turn a known page into a crawled one. Without it, nothing says until when the sums are.
    let fetched = stored.fetched.filter(|_| stored.state != PageState::Known);
    if let Some(at) = fetched {
        record = record.fetched(time(at));
        if let Some(sums) = page.sums {
            record = record.sums(sums);
        }
    }
    if let Some(at) = stored.changed {
        record = record.changed(time(at));
    }
    if let Some(failures) = page.failures {
        let earlier = failures.earlier().map(time);
        record = record.failures(failures.status, time(failures.last), earlier);
    }
    match stored.state {
        PageState::Unlinked => return Ok(Vec::new()),
        PageState::Known if stored.last_seen.is_none() => {
            counts.without_record += 1;
            return Ok(Vec::new());
        }
        PageState::Gone => {
            counts.gone += 1;
            return Ok(vec![record.gone()]);
        }
        PageState::Known => {
            counts.known += 1;
            counts.dropped_attributes +=
                u64::from(stored.digest.is_some() || stored.fetched.is_some());
        }
        PageState::Alias => counts.aliases += 1,
        PageState::Resource => counts.resources += 1,
        PageState::Crawled => counts.crawled += 1,
    }
    counts.digests += u64::from(stored.digest.is_some() && stored.state != PageState::Known);
    let canonical = stored.canonical.map(|to| urls.get(to)).transpose()?;
    let links = (outlinks, canonical);
    let mut record = with_fields(record, stored, fetched, links, counts);
    if let Some(to) = page.alias {
        record = record.redirect(urls.get(to)?);
    }
    let mut records = vec![record];
    let gone = stored
        .time_of(PageField::Gone)
        .filter(|_| fetched.is_some());
    let times = PageField::ALL.iter().filter_map(|of| stored.time_of(*of));
    let earlier: BTreeSet<u64> = times.filter(|at| fetched > Some(*at)).collect();
    for at in earlier.iter().rev() {
        let record = Record::new(url).fetched(time(*at));
        // There is no other field of a time at which the page was gone, unless a fetch of the same second found it.
        let mut fields = PageField::ALL.iter().filter(|of| **of != PageField::Gone);
        if fields.any(|of| stored.time_of(*of) == Some(*at)) {
            records.push(with_fields(record, stored, Some(*at), links, counts));
        }
    }
    records.extend(gone.map(|at| Record::new(url).fetched(time(at)).gone()));
    counts.earlier += records.len() as u64 - 1;
    Ok(records)
}

/// Adds the fields of a page that have this time, or all of them without one.
fn with_fields(
    mut record: Record,
    stored: &PageRecord,
    at: Option<u64>,
    (outlinks, canonical): (&[&str], Option<&str>),
    counts: &mut Counts,
) -> Record {
    let has = |field| at.is_none() || stored.time_of(field) == at;
    let is_crawled = stored.state == PageState::Crawled;
    let has_links = is_crawled && has(PageField::Outlinks);
    if has_links {
        counts.links += outlinks.len() as u64;
        record = record.exact_outlinks(outlinks.iter().copied());
    }
    // Links say that there is no canonical page.
    match canonical {
        _ if !is_crawled || !has(PageField::Canonical) => {}
        Some(to) => record = record.canonical(to),
        None if has_links || at.is_none() => {}
        None => record = record.no_canonical(),
    }
    if is_crawled || stored.state == PageState::Resource {
        // Links say that it is a page.
        record = match stored.kind {
            kind if has(PageField::Kind) && kind != PageKind::Page => record.kind(kind),
            _ if has(PageField::Kind) || has_links => record,
            _ => record.same_kind(),
        };
    }
    if let Some(spam) = stored.spam_given.filter(|_| has(PageField::Spam)) {
        record = record.spam(spam);
    }
    if has(PageField::Clicks) && stored.is_stated(PageField::Clicks) {
        record = record.clicks(stored.clicks);
    }
    match stored
        .uncrawled_given
        .filter(|_| has(PageField::UncrawledOutlinks))
    {
        Some(count) => record = record.uncrawled_outlinks(count.into()),
        None if has(PageField::UncrawledOutlinks)
            && stored.is_stated(PageField::UncrawledOutlinks) =>
        {
            record = record.count_uncrawled_outlinks();
        }
        None => {}
    }
    match stored.quality_given.filter(|_| has(PageField::Quality)) {
        Some(steps) => record = record.quality(quality(steps)),
        None if has(PageField::Quality) && stored.is_stated(PageField::Quality) => {
            record = record.no_quality();
        }
        None => {}
    }
    // A digest would turn a known page into a crawled one.
    let digest = stored
        .digest
        .filter(|_| at.is_some() && has(PageField::Digest));
    if let Some(digest) = digest {
        record = record.digest(digest_text(digest));
    }
    record
}

pub(super) const fn lost_url() -> EngineError {
    EngineError::Internal("a link lost its URL while it was exported")
}

/// Map from pages to URLs.
#[derive(Default)]
pub(super) struct Urls {
    /// Page ids, ascending.
    pages: Vec<PageId>,
    /// End of each URL in `text`.
    ends: Vec<usize>,
    text: String,
}

impl Urls {
    /// Adds a page with a larger id than all others. `put_url` appends its URL.
    pub(super) fn push(&mut self, page: PageId, put_url: impl FnOnce(&mut String)) {
        put_url(&mut self.text);
        self.pages.push(page);
        self.ends.push(self.text.len());
    }

    pub(super) fn get(&self, page: PageId) -> Result<&str, EngineError> {
        let at = self.pages.binary_search(&page).map_err(|_| lost_url())?;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.text.get(start..self.ends[at]).ok_or_else(lost_url)
    }

    /// Returns the URLs of the pages, in the same order.
    pub(super) fn get_all(&self, pages: &[PageId]) -> Result<Vec<&str>, EngineError> {
        pages.iter().map(|page| self.get(*page)).collect()
    }
}

// URLs of pages of other processes.
//
// A process requests many URLs at once. The answer has those of the first pages of the request, as many as fit.

/// The most pages of a request.
const REQUEST_PAGES: usize = 1 << 14;

/// Pages that are read at once to answer a request.
const READ_PAGES: usize = 256;

/// A request for URLs. It starts with its [topic](RequestTopic).
#[derive(Serialize, Deserialize)]
pub(in crate::engine) struct UrlRequest {
    state: PublishedState,
    /// The size in bytes from which the answer has no further URLs.
    bytes: usize,
    /// The first page, and what is to be added to each page for the next one.
    steps: Vec<u64>,
}

/// An answer without the URLs below their sites.
#[derive(Serialize, Deserialize)]
struct UrlHead {
    /// The names of the sites of the pages, in their order.
    sites: Vec<String>,
    /// The length in bytes of the URL of each page below its site.
    lengths: Vec<usize>,
}

/// The processes that have the URLs of a bank.
pub(super) struct OwnersOfUrls<'a> {
    sites: OtherOwners<'a>,
    state: PublishedState,
    mode: SiteMode,
    /// The size in bytes of an answer.
    bytes: usize,
}

/// URLs of pages of other processes.
pub(super) struct OtherUrls<'a> {
    owners: &'a OwnersOfUrls<'a>,
    by_owner: BTreeMap<usize, Urls>,
}

impl<'a> OwnersOfUrls<'a> {
    pub(super) fn new(
        processes: &'a Processes,
        store: &Store,
        state: PublishedState,
        mode: SiteMode,
        bytes: usize,
    ) -> Result<Self> {
        Ok(Self {
            sites: OtherOwners::new(processes, store)?,
            state,
            mode,
            bytes,
        })
    }

    /// Requests the URLs of those pages that other processes have.
    ///
    /// Cost: a request to each of these processes for every 16,384 pages, or more if the URLs are long.
    pub(super) fn urls(&self, pages: impl Iterator<Item = PageId>) -> Result<OtherUrls<'_>> {
        let mut by_owner: BTreeMap<usize, (&Arc<dyn RemoteProcess>, Vec<PageId>)> = BTreeMap::new();
        for page in pages {
            if let Some((owner, process)) = self.sites.of_site(page.site()) {
                let (_, pages) = by_owner.entry(owner).or_insert((process, Vec::new()));
                pages.push(page);
            }
        }
        let mut all = BTreeMap::new();
        for (owner, (process, mut pages)) in by_owner {
            pages.sort_unstable();
            pages.dedup();
            let mut urls = Urls::default();
            let mut left = pages.as_slice();
            while !left.is_empty() {
                let asked = &left[..left.len().min(REQUEST_PAGES)];
                let request = UrlRequest::new(self.state, self.bytes, asked);
                let answer = process.call(&request.encode()?)?;
                left = &left[self.read(asked, &answer, &mut urls)?..];
            }
            all.insert(owner, urls);
        }
        Ok(OtherUrls {
            owners: self,
            by_owner: all,
        })
    }

    /// Adds the URLs of an answer. Returns the number of pages that it has, at least one.
    fn read(&self, asked: &[PageId], answer: &[u8], urls: &mut Urls) -> Result<usize> {
        let (head, text): (UrlHead, _) = split_head(answer)?;
        let mut text = std::str::from_utf8(text).map_err(|_| malformed())?;
        let UrlHead { sites, lengths } = head;
        if lengths.is_empty() || lengths.len() > asked.len() {
            return Err(malformed().into());
        }
        let mut names = sites.iter();
        let mut site = None;
        for (page, length) in asked.iter().zip(&lengths) {
            let name = match site {
                Some((id, name)) if id == page.site() => name,
                _ => names.next().ok_or_else(malformed)?,
            };
            site = Some((page.site(), name));
            let (local, rest) = text.split_at_checked(*length).ok_or_else(malformed)?;
            text = rest;
            urls.push(*page, |text| ingest::push_url(name, local, self.mode, text));
        }
        if !text.is_empty() || names.next().is_some() {
            return Err(malformed().into());
        }
        Ok(lengths.len())
    }
}

impl OtherUrls<'_> {
    /// Whether another process has the URL of a page.
    pub(super) fn has(&self, page: PageId) -> bool {
        self.owners.sites.of_site(page.site()).is_some()
    }

    /// Returns the URL of a page that was requested.
    pub(super) fn get(&self, page: PageId) -> Result<&str> {
        let (owner, _) = self
            .owners
            .sites
            .of_site(page.site())
            .ok_or_else(lost_url)?;
        self.by_owner.get(&owner).ok_or_else(lost_url)?.get(page)
    }
}

impl UrlRequest {
    /// Requests the URLs of pages, which must ascend.
    pub(super) fn new(state: PublishedState, bytes: usize, pages: &[PageId]) -> Self {
        Self {
            state,
            bytes,
            steps: steps(pages),
        }
    }

    /// Encodes the request.
    pub(super) fn encode(&self) -> Result<Vec<u8>> {
        Ok([
            &[RequestTopic::Export as u8][..],
            &seedbank_store::pack(self)?,
        ]
        .concat())
    }

    /// Decodes a request; `None` if it is about something else.
    pub(in crate::engine) fn parse(request: &[u8]) -> Result<Option<Self>> {
        let body = RequestTopic::Export.strip(request);
        let parsed = body.map(|body| seedbank_store::unpack(body).map_err(|_| malformed()));
        Ok(parsed.transpose()?)
    }

    /// Returns the answer of a process: the URLs of the first pages.
    pub(in crate::engine) fn answer(&self, processes: &Processes) -> Result<Vec<u8>> {
        let store = processes.open_published(self.state)?;
        let pages = pages(&self.steps)?;
        let mut head = UrlHead {
            sites: Vec::new(),
            lengths: Vec::new(),
        };
        let mut text = String::new();
        let mut site = None;
        for some in pages.chunks(READ_PAGES) {
            store.records_of(some, |page, record| {
                if site != Some(page.site()) {
                    let of_page = store.need(&tables::SITES, &page.site())?;
                    head.sites.push(of_page.name);
                    site = Some(page.site());
                }
                text.push_str(&record.local);
                head.lengths.push(record.local.len());
                Ok::<_, StoreError>(())
            })?;
            if text.len() >= self.bytes {
                break;
            }
        }
        let mut answer = with_head(&head)?;
        answer.extend_from_slice(text.as_bytes());
        Ok(answer)
    }
}

/// Returns the first page, and what is to be added to each page, which must ascend, for the next one.
fn steps(pages: &[PageId]) -> Vec<u64> {
    let mut last = 0;
    let step = |page: &PageId| page.0 - std::mem::replace(&mut last, page.0);
    pages.iter().map(step).collect()
}

/// Returns the pages of [`steps`]; an error unless they ascend.
fn pages(steps: &[u64]) -> Result<Vec<PageId>> {
    let mut last = 0_u64;
    let mut pages = Vec::with_capacity(steps.len());
    for step in steps {
        if *step == 0 && !pages.is_empty() {
            return Err(malformed().into());
        }
        last = last.checked_add(*step).ok_or_else(malformed)?;
        pages.push(PageId(last));
    }
    Ok(pages)
}

// How much is processed at a time.

/// Limits of what is processed at a time. None of them is 0.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Limits {
    /// Maximum number of pages of a chunk.
    pub(super) pages: usize,
    /// Maximum number of links of its pages together, each row counted once. A single page may have more.
    pub(super) links: usize,
    /// Bytes of text in a batch, and of URLs in the answer of another process.
    pub(super) bytes: usize,
}

impl Limits {
    /// Fails if a limit is 0.
    pub(super) fn ensure_positive(self) -> Result<(), StoreError> {
        let is_positive = self.pages.min(self.links).min(self.bytes) > 0;
        is_positive.then_some(()).ok_or_else(malformed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pages_are_read_back(ids in prop::collection::btree_set(any::<u64>(), 0..20)) {
            let ids: Vec<PageId> = ids.into_iter().map(PageId).collect();
            prop_assert_eq!(pages(&steps(&ids)).unwrap(), ids);
        }
    }

    #[test]
    fn steps_without_an_order_are_errors() {
        assert!(pages(&[5, 0]).is_err());
        assert!(pages(&[u64::MAX, 1]).is_err());
        assert_eq!(pages(&[0, 1]).unwrap(), [PageId(0), PageId(1)]);
    }
}
