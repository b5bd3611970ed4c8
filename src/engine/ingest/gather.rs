//! Input events in portions that fit in memory, with URLs as numbers.
//!
//! ```text
//! events -> portion: URLs as numbers -+-> distinct URLs by text          -> `resolve` -> page ids
//!                                     +-> pieces of records by portion, URL, fetch time
//! ```
//!
//! A portion's URLs are numbered by rank, in the order of their keys. So the sorts contain each
//! distinct URL of a portion once, and small numbers for links. Records of a graph may name pages by node; then
//! there is one portion, and the nodes are its ranks.

use std::collections::BTreeMap;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::blocklist::{BlockedCounts, Blocklist};
use super::events::Bytes;
use super::exchange::Shuffle;
use super::fetch_times::order_of_time;
use super::page_fields::{MergedRecords, PageFields};
use super::pieces::{LinkHasher, LinkOrder, Origin, PageInput, PageUpdate, Urls, push_piece};
use super::site_records::SiteRecords;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::page::PageKind;
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{
    Attribute, Event, Location, NodeUrls, PageAttributes, PageRecord, Position, ReadPiece,
    UrlNumber,
};
use seedbank_store::{self, Sorted, Sorter, StoreError};

/// Marks a URL that has its own record, link or line of attributes.
pub(super) const HAS_RECORD: u8 = 1;

struct Piece {
    url: u32,
    order: u64,
    input: PageInput,
    /// Range of its targets in `targets`.
    targets: std::ops::Range<usize>,
}

pub(super) struct InputCollector {
    memory: usize,
    /// `None` until the first block arrives.
    urls: Option<Urls>,
    pieces: Vec<Piece>,
    /// Targets of the pieces.
    targets: Vec<u32>,
    links: Vec<(u32, u32)>,
    /// The number of the portion, and the distance to that of the next one: processes that read inputs of the same
    /// batch have numbers of their own.
    portion: u32,
    portion_step: u32,
    /// Number of URLs of each portion so far.
    lengths: BTreeMap<u32, u32>,
    by_url: Shuffle,
    by_portion: Sorter,
    sources: Shuffle,
    sites: SiteRecords,
    superseded: u64,
    /// Whether records with a time are compared with pages of the bank.
    is_compared: bool,
    /// Whether pages of rejected records count as having a record.
    is_snapshot: bool,
    /// Whether a fetch has an origin.
    any_seed: bool,
    /// Pages and sites to skip; `None` if there are none.
    blocklist: Option<Blocklist>,
    /// The nodes by which the records name pages, and those with a record. Then the batch is one portion.
    nodes: Option<Arc<dyn NodeUrls>>,
    recorded_nodes: RoaringBitmap,
}

/// Collected input events, ready to be sorted.
pub(super) struct CollectedInput {
    /// What records of every portion state, by the keys of their URLs: portion, rank, fields.
    pub(super) sources: Shuffle,
    /// Number of URLs of each portion that this process has read.
    pub(super) lengths: BTreeMap<u32, u32>,
    /// Number of records that another one of the same URL and portion completes or supersedes.
    pub(super) superseded: u64,
    /// Distinct URLs of every portion by key: portion, rank, flags.
    pub(super) urls: Shuffle,
    /// Nodes of the first portion without a record; they are named only if others link to them.
    pub(super) unrecorded: RoaringBitmap,
    /// Pieces by portion, rank and fetch time: input about the page, ranks of targets.
    pub(super) pieces: Sorted,
    pub(super) sites: SiteRecords,
}

impl InputCollector {
    /// Creates a collector with portions of `memory` bytes, not counting its sorters. `is_compared` if the bank has pages.
    pub(super) fn new(
        memory: usize,
        is_compared: bool,
        is_snapshot: bool,
        by_portion: Sorter,
        [by_url, sources, sites]: [Shuffle; 3],
        blocklist: Option<Blocklist>,
    ) -> Self {
        Self {
            memory,
            urls: None,
            pieces: Vec::new(),
            targets: Vec::new(),
            links: Vec::new(),
            portion: 0,
            portion_step: 1,
            lengths: BTreeMap::new(),
            by_url,
            by_portion,
            sources,
            sites: SiteRecords::new(sites),
            superseded: 0,
            is_compared,
            is_snapshot,
            any_seed: false,
            blocklist,
            nodes: None,
            recorded_nodes: RoaringBitmap::new(),
        }
    }

    /// Gives the portions of process number `process` numbers that no other of `processes` processes gives.
    pub(super) fn number_portions(&mut self, process: usize, processes: usize) -> Result<()> {
        let full = || StoreError::Full("process");
        self.portion = u32::try_from(process).map_err(|_| full())?;
        self.portion_step = u32::try_from(processes).map_err(|_| full())?;
        Ok(())
    }

    /// Returns whether records may name pages by node, if they come from a single source
    /// ([`number_nodes`](seedbank_formats::ingest::Source::number_nodes)).
    pub(super) const fn may_number_nodes(&self) -> bool {
        self.blocklist.is_none()
    }

    /// Whether a fetch has an origin.
    pub(super) const fn any_seed(&self) -> bool {
        self.any_seed
    }

    pub(super) fn blocked(&self) -> BlockedCounts {
        self.blocklist
            .as_ref()
            .map(|blocklist| blocklist.counts)
            .unwrap_or_default()
    }

    /// Adds a piece of the input. With `of_links` it comes from a list of links, in which a page on
    /// its own has no links.
    pub(super) fn add(&mut self, block: ReadPiece, of_links: bool) -> Result<()> {
        if let Some(nodes) = block.nodes {
            self.nodes = Some(nodes);
            return self.add_nodes(block.events);
        }
        let urls = self.urls.take();
        let mut urls = urls.unwrap_or_else(|| Urls::new(block.urls.empty_like()));
        urls.start_block(&block.urls);
        let blocked = match &self.blocklist {
            Some(blocklist) => blocklist.blocked_urls(&block.urls),
            None => Vec::new(),
        };
        for (_, event) in block.events {
            let event = match &mut self.blocklist {
                Some(blocklist) => blocklist.allowed(event, &blocked),
                None => Some(event),
            };
            let Some(event) = event else {
                continue;
            };
            match event {
                Event::Record(record) => {
                    let mut number = |url, flags| urls.number(&block.urls, url, flags);
                    self.record(record, &mut number);
                }
                Event::Link { from, to } => {
                    let from = urls.number(&block.urls, from, HAS_RECORD);
                    let to = urls.number(&block.urls, to, HAS_RECORD);
                    self.links.push((from, to));
                }
                Event::Outlink { from, to } => {
                    let from = urls.number(&block.urls, from, HAS_RECORD);
                    let to = urls.number(&block.urls, to, 0);
                    self.links.push((from, to));
                }
                Event::Seen(page) => {
                    if self.is_snapshot {
                        let mut number = |url, flags| urls.number(&block.urls, url, flags);
                        self.record(PageRecord::new(page), &mut number);
                    }
                }
                Event::Rejected(_) | Event::BadField(_) => {}
                Event::Site(site) => self.sites.add(&site)?,
                Event::Page(PageAttributes {
                    url,
                    spam,
                    clicks,
                    uncrawled_outlinks,
                }) => {
                    let update = PageUpdate {
                        links: of_links,
                        spam,
                        clicks,
                        uncrawled: uncrawled_outlinks,
                        ..PageUpdate::NAMED
                    };
                    let url = urls.number(&block.urls, url, HAS_RECORD);
                    self.add_piece(url, 0, PageInput::Attributes(update), self.targets.len());
                }
            }
            // Close the portion as soon as it exceeds the memory budget.
            if urls.bytes() + self.held() > self.memory {
                self.close(&mut urls, false)?;
            }
        }
        self.urls = Some(urls);
        Ok(())
    }

    /// Adds a record. `number` returns the number of a URL, and adds flags to its flags.
    fn record(
        &mut self,
        mut record: PageRecord<UrlNumber>,
        number: &mut impl FnMut(UrlNumber, u8) -> u32,
    ) {
        // Records without a fetch time sort before all others.
        let order = record.fetched.map_or(0, order_of_time);
        let url = number(record.url, HAS_RECORD);
        // Without a seed, nothing is attributed.
        let origin = record.origin.take().and_then(|origin| {
            let seed = number(origin.seed?, 0);
            let via = origin.via.map(|via| number(via, 0));
            Some((seed, via, origin.depth))
        });
        if let Some(failures) = record.failures {
            let order = failures.last.map_or(0, order_of_time);
            let input = PageInput::Failures(failures.into());
            self.add_piece(url, order, input, self.targets.len());
            if record.is_only_failures() {
                self.add_origin(url, order, true, origin);
                return;
            }
        }
        let first = self.targets.len();
        let changed = record.changed.map(order_of_time);
        let update = if record.gone {
            PageUpdate {
                sums: record.sums,
                changed,
                ..PageUpdate::GONE
            }
        } else {
            let is_crawl = record.is_crawl();
            let of_page = record.outlinks.is_some() || record.redirect.is_some();
            // Links, redirects and canonical links are those of a page.
            let is_page = of_page || matches!(record.canonical, Attribute::Given(_));
            let kind = match (record.redirect, record.kind) {
                (None, Some(kind)) => Some(kind).filter(|_| is_crawl),
                _ => is_page.then_some(PageKind::Page),
            };
            let update = PageUpdate {
                // Neither aliases nor resources have links.
                links: of_page || kind == Some(PageKind::Resource),
                crawled: is_crawl,
                gone: false,
                spam: record.spam,
                clicks: record.clicks,
                uncrawled: record.uncrawled_outlinks,
                digest: record.digest,
                alias: record.redirect.is_some(),
                quality: record.quality,
                kind,
                changed,
                sums: record.sums,
                ..PageUpdate::NAMED
            };
            match record.redirect {
                Some(to) => self.targets.push(number(to, 0)),
                None => {
                    for target in record.outlinks.unwrap_or_default() {
                        self.targets.push(number(target, 0));
                    }
                }
            }
            update
        };
        let is_fetch = update.is_fetch();
        let same_content = record
            .same_content
            .filter(|_| update.crawled && !update.links);
        let digest = update.digest;
        self.add_piece(url, order, PageInput::Record(update), first);
        if let Some(page) = same_content {
            let first = self.targets.len();
            self.targets.push(number(page, 0));
            self.add_piece(url, order, PageInput::SameContent { digest }, first);
        }
        if is_fetch {
            self.add_origin(url, order, false, origin);
        }
        if !record.gone && !record.canonical.is_absent() {
            let first = self.targets.len();
            if let Attribute::Given(to) = record.canonical {
                self.targets.push(number(to, 0));
            }
            self.add_piece(
                url,
                order,
                PageInput::Canonical(LinkOrder::default()),
                first,
            );
        }
    }

    /// Adds the origin of a fetch: the seed, the page that led to it, and the depth.
    fn add_origin(
        &mut self,
        url: u32,
        order: u64,
        failed: bool,
        origin: Option<(u32, Option<u32>, Option<u32>)>,
    ) {
        let Some((seed, via, depth)) = origin else {
            return;
        };
        let first = self.targets.len();
        self.targets.push(seed);
        self.targets.extend(via);
        let origin = Origin::new(failed, seed, via, depth);
        self.add_piece(url, order, PageInput::Origin(origin), first);
        self.any_seed = true;
    }

    fn add_piece(&mut self, url: u32, order: u64, input: PageInput, first: usize) {
        let targets = first..self.targets.len();
        self.pieces.push(Piece {
            url,
            order,
            input,
            targets,
        });
    }

    /// Merges the records of each URL. URLs that are targets only of links that do not count do not count as named.
    fn merge_records(&mut self, urls: &Urls, hasher: &mut LinkHasher) {
        let is_record = |piece: &Piece| matches!(piece.input, PageInput::Record(_));
        self.pieces.sort_by_key(|piece| (piece.url, piece.order));
        let mut keep = vec![true; self.pieces.len()];
        let mut merged = Vec::new();
        let mut first = 0;
        for of_page in self.pieces.chunk_by(|a, b| a.url == b.url) {
            let at = first;
            first += of_page.len();
            if of_page.iter().filter(|piece| is_record(piece)).count() < 2 {
                continue;
            }
            let mut records = MergedRecords::default();
            // Input from lists stays, since it can complete the record, and failures are counted.
            for (at, piece) in (at..).zip(of_page) {
                if let PageInput::Record(update) = &piece.input {
                    let targets = piece.targets.clone();
                    let order = hasher.order_of(&self.targets[targets.clone()], urls);
                    let update = PageUpdate {
                        order: Some(order),
                        ..update.clone()
                    };
                    records.add(&update, piece.order, targets);
                    keep[at] = false;
                    self.superseded += 1;
                }
            }
            let (update, order, targets) = records.finish(false);
            self.superseded -= 1;
            merged.push(Piece {
                url: of_page[0].url,
                order,
                input: PageInput::Record(update),
                targets: targets.unwrap_or_default(),
            });
        }
        let mut keep = keep.into_iter();
        self.pieces.retain(|_| keep.next() == Some(true));
        self.pieces.extend(merged);
    }

    /// Emits a portion to the sorters. The `only` portion needs no comparison with records of
    /// others.
    fn close(&mut self, urls: &mut Urls, only: bool) -> Result<()> {
        let mut hasher = LinkHasher::new();
        self.merge_records(urls, &mut hasher);
        let mut used = vec![false; urls.len()];
        for piece in &self.pieces {
            for target in &self.targets[piece.targets.clone()] {
                used[*target as usize] = true;
            }
        }
        for (_, target) in &self.links {
            used[*target as usize] = true;
        }
        // Only URLs that remaining records use get a rank.
        let order = urls.order(&used, HAS_RECORD);
        let mut ranks = vec![0_u32; urls.len()];
        let mut key = Vec::new();
        for (rank, number) in (0_u32..).zip(&order) {
            ranks[*number as usize] = rank;
            let flags = urls.key(*number, &mut key);
            let value = Bytes::default().u32(self.portion).u32(rank).byte(flags);
            self.by_url.push(&key, &value)?;
        }
        let length =
            u32::try_from(order.len()).map_err(|_| StoreError::Full("URL of a portion"))?;
        // The portion of a graph has its nodes already.
        let known = self.lengths.entry(self.portion).or_default();
        *known = (*known).max(length);
        drop(order);
        for piece in &mut self.pieces {
            if let PageInput::Canonical(order) = &mut piece.input {
                *order = hasher.order_of(&self.targets[piece.targets.clone()], urls);
            }
            if let PageInput::Origin(origin) = &mut piece.input {
                let lost = || EngineError::Internal("an origin has no URL");
                let number = |of: u64| u32::try_from(of).map_err(|_| lost());
                let rank = |of: u32| ranks.get(of as usize).copied().ok_or_else(lost);
                *origin = origin
                    .hashed(|of| Ok(hasher.hash_of(number(of)?, urls)))?
                    .renumbered(|of| rank(number(of)?).map(u64::from))?;
            }
        }
        let mut bytes = Vec::new();
        for piece in &mut self.pieces {
            let numbers = &self.targets[piece.targets.clone()];
            let mut targets: Vec<u32> = numbers
                .iter()
                .map(|target| ranks[*target as usize])
                .collect();
            targets.sort_unstable();
            let url = ranks[piece.url as usize];
            if let PageInput::Record(update) = &mut piece.input {
                if !only || self.is_compared && piece.order > 0 {
                    let order = || hasher.order_of(numbers, urls);
                    update.order.get_or_insert_with(order);
                }
                if !only {
                    urls.key(piece.url, &mut key);
                    let mut value = Bytes::default().u32(self.portion).u32(url).to_vec();
                    let fields = PageFields::of_update(update, piece.order);
                    value.extend(seedbank_store::pack(&fields)?);
                    self.sources.push(&key, &value)?;
                }
            }
            let by_portion = &mut self.by_portion;
            push_piece(
                by_portion,
                self.portion,
                url,
                piece.order,
                &piece.input,
                &targets,
                &mut bytes,
            )?;
        }
        for (from, to) in &mut self.links {
            (*from, *to) = (ranks[*from as usize], ranks[*to as usize]);
        }
        // Links of lists become one piece per page.
        self.links.sort_unstable();
        self.links.dedup();
        for of_page in self.links.chunk_by(|a, b| a.0 == b.0) {
            let targets: Vec<u32> = of_page.iter().map(|(_, to)| *to).collect();
            push_piece(
                &mut self.by_portion,
                self.portion,
                of_page[0].0,
                0,
                &PageInput::Links,
                &targets,
                &mut bytes,
            )?;
        }
        self.pieces.clear();
        self.targets.clear();
        self.links.clear();
        urls.clear();
        self.portion = self
            .portion
            .checked_add(self.portion_step)
            .ok_or(StoreError::Full("portion of a batch"))?;
        Ok(())
    }

    /// Returns the memory of the portion in bytes, without its URLs.
    fn held(&self) -> usize {
        self.pieces.len() * size_of::<Piece>()
            + self.targets.len() * size_of::<u32>()
            + self.links.len() * size_of::<(u32, u32)>()
    }

    /// Ends the collection.
    pub(super) fn finish(mut self, watch: &dyn Watch) -> Result<CollectedInput> {
        let mut unrecorded = RoaringBitmap::new();
        if let Some(nodes) = self.nodes.take() {
            self.put_nodes()?;
            unrecorded = self.put_node_urls(&*nodes, watch)?;
        }
        if let Some(mut urls) = self.urls.take() {
            let only = self.lengths.is_empty() && self.portion_step == 1;
            self.close(&mut urls, only)?;
        }
        Ok(CollectedInput {
            urls: self.by_url,
            pieces: self.by_portion.finish()?,
            sources: self.sources,
            sites: self.sites,
            lengths: self.lengths,
            superseded: self.superseded,
            unrecorded,
        })
    }
}

// Records of a graph, which name pages by node.

impl InputCollector {
    /// Adds events that name pages by node.
    fn add_nodes(&mut self, events: Vec<(Position, Event<UrlNumber>)>) -> Result<()> {
        for (_, event) in events {
            match event {
                Event::Record(record) => {
                    self.recorded_nodes.insert(record.url);
                    self.record(record, &mut |node, _| node);
                }
                Event::Rejected(_) | Event::BadField(_) | Event::Seen(_) => {}
                _ => {
                    return Err(EngineError::Internal(
                        "a graph has an event that is not a record",
                    ));
                }
            }
        }
        if self.held() > self.memory {
            self.put_nodes()?;
        }
        Ok(())
    }

    /// Emits records that name pages by node. The ranks of the URLs of the portion are the nodes.
    fn put_nodes(&mut self) -> Result<()> {
        let mut bytes = Vec::new();
        for piece in &self.pieces {
            let mut targets = self.targets[piece.targets.clone()].to_vec();
            targets.sort_unstable();
            push_piece(
                &mut self.by_portion,
                self.portion,
                piece.url,
                piece.order,
                &piece.input,
                &targets,
                &mut bytes,
            )?;
        }
        self.pieces.clear();
        self.targets.clear();
        Ok(())
    }

    /// Emits the URLs of all nodes. Returns the nodes without a record.
    fn put_node_urls(&mut self, nodes: &dyn NodeUrls, watch: &dyn Watch) -> Result<RoaringBitmap> {
        let mut unrecorded = RoaringBitmap::new();
        let mut key = Vec::new();
        let mut length = 0;
        for (node, Location { site, local }) in nodes.locations() {
            watch.proceed()?;
            // Nodes ascend.
            length = node.saturating_add(1);
            let is_recorded = self.recorded_nodes.contains(node);
            if !is_recorded {
                unrecorded.insert(node);
            }
            key.clear();
            key.extend_from_slice(site.as_bytes());
            key.push(0);
            key.extend_from_slice(local.as_bytes());
            let flags = if is_recorded { HAS_RECORD } else { 0 };
            let value = Bytes::default().u32(self.portion).u32(node).byte(flags);
            self.by_url.push(&key, &value)?;
        }
        self.lengths.insert(self.portion, length);
        Ok(unrecorded)
    }
}
