//! Input events in portions: as much of the input as memory holds, with URLs as numbers.
//!
//! ```text
//! events -> portion: URLs as numbers -+-> distinct URLs by text          -> `resolve` -> page ids
//!                                     +-> pieces of records by portion, URL, fetch time
//! ```
//!
//! A portion's URLs are numbered by rank, in the order of their keys. So only each portion's
//! distinct URLs go through the sorts, once each, and small numbers for everything that links say.

use serde::{Deserialize, Serialize};

use super::barred::{BarredCounts, Bars};
use super::claim::Claim;
use super::fields::Bytes;
use super::sites::{SiteClaims, SiteRecords};
use super::urls::Urls;
use super::weight::{Scales, Weight};
use crate::engine::EngineError;
use seedbank_formats::ingest::{Event, Interner, PageAttributes, PageRecord, ReadPiece, UrlNumber};
use seedbank_store::{self, Sorted, Sorter, StoreError};

/// Marks a URL that has a record, a link or a line of attributes of its own.
pub(super) const HAS_RECORD: u8 = 1;

/// What the input says of one URL, without its links.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Said {
    Record(Claim),
    /// Links from a list of links.
    Links,
    Attributes(Claim),
}

/// A piece of a record in memory.
struct Piece {
    about: u32,
    order: u64,
    said: Said,
    /// Where in `targets` its targets are.
    targets: std::ops::Range<usize>,
}

/// Collects input events.
pub(super) struct Gather {
    memory: usize,
    /// `None` until the first block has come.
    urls: Option<Urls>,
    pieces: Vec<Piece>,
    /// The targets of the pieces.
    targets: Vec<u32>,
    /// Links from a list of links.
    links: Vec<(u32, u32)>,
    portion: u32,
    by_url: Sorter,
    by_portion: Sorter,
    sources: Sorter,
    sites: SiteRecords,
    overruled: u64,
    /// What is left out; `None` where that is nothing.
    bars: Option<Bars>,
}

/// The input events, collected and ready to be sorted.
pub(super) struct Gathered {
    /// Whole records of every portion by the keys of their URLs: fetch time, portion, rank, weight
    /// (0 where there is one portion).
    pub(super) sources: Sorted,
    pub(super) portions: u32,
    /// How many records another one of the same URL and portion overruled.
    pub(super) overruled: u64,
    /// Distinct URLs of every portion by key: portion, rank, flags.
    pub(super) urls: Sorted,
    /// Pieces by portion, rank and fetch time: what is said, ranks of targets.
    pub(super) pieces: Sorted,
    /// What is said of sites, by name.
    pub(super) sites: SiteClaims,
}

impl Gather {
    /// `memory` is the number of bytes for a portion; the sorters have their own.
    pub(super) fn new(
        memory: usize,
        [by_url, by_portion, sources]: [Sorter; 3],
        sites: SiteRecords,
        bars: Option<Bars>,
    ) -> Self {
        Self {
            memory,
            urls: None,
            pieces: Vec::new(),
            targets: Vec::new(),
            links: Vec::new(),
            portion: 0,
            by_url,
            by_portion,
            sources,
            sites,
            overruled: 0,
            bars,
        }
    }

    /// What was left out since it is barred.
    pub(super) fn barred(&self) -> BarredCounts {
        self.bars
            .as_ref()
            .map(|bars| bars.counts)
            .unwrap_or_default()
    }

    /// Adds what a piece of the input says. With `of_links` the piece comes from a list of links,
    /// where a page on its own is one without links.
    pub(super) fn add(&mut self, block: ReadPiece, of_links: bool) -> Result<(), EngineError> {
        let urls = self.urls.take();
        let mut urls = urls.unwrap_or_else(|| Urls::new(block.urls.empty_like()));
        urls.enter(&block.urls);
        let barred = match &self.bars {
            Some(bars) => bars.among(&block.urls),
            None => Vec::new(),
        };
        for (_, event) in block.events {
            let Some(event) = self.allowed(event, &barred) else {
                continue;
            };
            match event {
                Event::Record(record) => self.record(record, &block.urls, &mut urls),
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
                Event::Rejected(_) => {}
                Event::Site(site) => self.sites.add(&site)?,
                Event::Page(PageAttributes {
                    url,
                    spam,
                    clicks,
                    uncrawled_outlinks,
                }) => {
                    let claim = Claim {
                        links: of_links,
                        spam,
                        clicks,
                        uncrawled: uncrawled_outlinks,
                        ..Claim::NAMED
                    };
                    let about = urls.number(&block.urls, url, HAS_RECORD);
                    self.piece(about, 0, Said::Attributes(claim), self.targets.len());
                }
            }
            let held = urls.bytes()
                + self.pieces.len() * size_of::<Piece>()
                + self.targets.len() * size_of::<u32>()
                + self.links.len() * size_of::<(u32, u32)>();
            if held > self.memory {
                self.close(&mut urls, false)?;
            }
        }
        self.urls = Some(urls);
        Ok(())
    }

    /// An event without what is barred of it; `None` where nothing is left. `barred` is by the numbers of
    /// URLs; empty where none is.
    fn allowed(
        &mut self,
        mut event: Event<UrlNumber>,
        barred: &[bool],
    ) -> Option<Event<UrlNumber>> {
        let Some(bars) = &mut self.bars else {
            return Some(event);
        };
        let is_barred = |url: &UrlNumber| barred.get(*url as usize) == Some(&true);
        let left_out = match &mut event {
            Event::Record(record) => {
                // Nothing is said of where it leads, as of a redirect to what is no page.
                if record.alias.as_ref().is_some_and(|(to, _)| is_barred(to)) {
                    bars.counts.links += 1;
                    record.alias = None;
                }
                if let Some(outlinks) = &mut record.outlinks {
                    let before = outlinks.len();
                    outlinks.retain(|to| !is_barred(to));
                    bars.counts.links += (before - outlinks.len()) as u64;
                }
                is_barred(&record.url)
            }
            Event::Link { from, to } | Event::Outlink { from, to }
                if is_barred(from) || is_barred(to) =>
            {
                if is_barred(from) {
                    bars.counts.records += 1;
                } else {
                    bars.counts.links += 1;
                }
                return None;
            }
            Event::Page(page) => is_barred(&page.url),
            Event::Site(site) => bars.has_site(&site.site),
            Event::Link { .. } | Event::Outlink { .. } | Event::Rejected(_) => false,
        };
        bars.counts.records += u64::from(left_out);
        (!left_out).then_some(event)
    }

    fn record(&mut self, record: PageRecord<UrlNumber>, block: &Interner, urls: &mut Urls) {
        // Records without a fetch time come before all that have one.
        let order = record
            .fetched
            .map_or(0, |at| (at.cast_unsigned() ^ (1 << 63)).max(1));
        let about = urls.number(block, record.url, HAS_RECORD);
        let first = self.targets.len();
        let claim = if record.gone {
            Claim::GONE
        } else {
            let claim = Claim {
                // An alias has none.
                links: record.outlinks.is_some() || record.alias.is_some(),
                crawled: record.is_crawl(),
                gone: false,
                spam: record.spam,
                clicks: record.clicks,
                uncrawled: record.uncrawled_outlinks,
                digest: record.digest,
                alias: record.alias.map(|(_, by)| by),
                quality: record.quality,
            };
            match record.alias {
                Some((to, _)) => self.targets.push(urls.number(block, to, 0)),
                None => {
                    for target in record.outlinks.unwrap_or_default() {
                        self.targets.push(urls.number(block, target, 0));
                    }
                }
            }
            claim
        };
        self.piece(about, order, Said::Record(claim), first);
    }

    fn piece(&mut self, about: u32, order: u64, said: Said, first: usize) {
        let targets = first..self.targets.len();
        self.pieces.push(Piece {
            about,
            order,
            said,
            targets,
        });
    }

    /// Of several records for one URL keeps the one with the latest fetch time, and of equally late
    /// ones the one of the greatest weight. URLs that only the others link to do not count as named.
    fn keep_latest(&mut self, urls: &Urls, scales: &mut Scales) -> Result<(), EngineError> {
        let is_record = |piece: &Piece| matches!(piece.said, Said::Record(_));
        self.pieces.sort_by_key(|piece| (piece.about, piece.order));
        let mut kept = vec![true; self.pieces.len()];
        let mut first = 0;
        for of_page in self.pieces.chunk_by(|a, b| a.about == b.about) {
            let mut latest = of_page.iter().rposition(is_record);
            let time = latest.map(|at| of_page[at].order);
            let is_latest = |piece: &Piece| is_record(piece) && Some(piece.order) == time;
            if of_page.iter().filter(|piece| is_latest(piece)).count() > 1 {
                let mut greatest = Weight::default();
                for (at, piece) in of_page.iter().enumerate() {
                    if let (Said::Record(claim), true) = (&piece.said, is_latest(piece)) {
                        let targets = &self.targets[piece.targets.clone()];
                        let weight = scales.weigh(claim, targets, urls)?;
                        if weight >= greatest {
                            (greatest, latest) = (weight, Some(at));
                        }
                    }
                }
            }
            // What lists say stays: it may be what the record leaves open.
            for (at, piece) in of_page.iter().enumerate() {
                let is_overruled = is_record(piece) && Some(at) != latest;
                kept[first + at] = !is_overruled;
                self.overruled += u64::from(is_overruled);
            }
            first += of_page.len();
        }
        let mut kept = kept.into_iter();
        self.pieces.retain(|_| kept.next() == Some(true));
        Ok(())
    }

    /// Hands a portion to the sorters. Where it is the `only` one, nothing in it has to compare with
    /// records of others.
    fn close(&mut self, urls: &mut Urls, only: bool) -> Result<(), EngineError> {
        let mut scales = Scales::new();
        self.keep_latest(urls, &mut scales)?;
        let mut used = vec![false; urls.len()];
        for piece in &self.pieces {
            for target in &self.targets[piece.targets.clone()] {
                used[*target as usize] = true;
            }
        }
        for (_, target) in &self.links {
            used[*target as usize] = true;
        }
        let order = urls.order(&used, HAS_RECORD);
        let mut ranks = vec![0_u32; urls.len()];
        let mut key = Vec::new();
        for (rank, number) in (0_u32..).zip(&order) {
            ranks[*number as usize] = rank;
            let flags = urls.key(*number, &mut key);
            let value = Bytes::default().u32(self.portion).u32(rank).byte(flags);
            self.by_url.push(&key, &value)?;
        }
        drop(order);
        let mut bytes = Vec::new();
        for piece in &self.pieces {
            let mut targets: Vec<u32> = self.targets[piece.targets.clone()]
                .iter()
                .map(|target| ranks[*target as usize])
                .collect();
            targets.sort_unstable();
            let about = ranks[piece.about as usize];
            if let Said::Record(claim) = &piece.said {
                let weight = if only {
                    Weight::default()
                } else {
                    scales.weigh(claim, &self.targets[piece.targets.clone()], urls)?
                };
                urls.key(piece.about, &mut key);
                let value = Bytes::default().u64(piece.order).u32(self.portion);
                let value = value.u32(about).u64(weight.bytes).array(weight.hash);
                self.sources.push(&key, &value)?;
            }
            let by_portion = &mut self.by_portion;
            push_piece(
                by_portion,
                (self.portion, about, piece.order),
                &piece.said,
                &targets,
                &mut bytes,
            )?;
        }
        for (from, to) in &mut self.links {
            (*from, *to) = (ranks[*from as usize], ranks[*to as usize]);
        }
        self.links.sort_unstable();
        self.links.dedup();
        for of_page in self.links.chunk_by(|a, b| a.0 == b.0) {
            let targets: Vec<u32> = of_page.iter().map(|(_, to)| *to).collect();
            let at = (self.portion, of_page[0].0, 0);
            push_piece(&mut self.by_portion, at, &Said::Links, &targets, &mut bytes)?;
        }
        self.pieces.clear();
        self.targets.clear();
        self.links.clear();
        urls.clear();
        self.portion = self
            .portion
            .checked_add(1)
            .ok_or(StoreError::Full("portion of a batch"))?;
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Gathered, EngineError> {
        if let Some(mut urls) = self.urls.take() {
            let only = self.portion == 0;
            self.close(&mut urls, only)?;
        }
        Ok(Gathered {
            urls: self.by_url.finish()?,
            pieces: self.by_portion.finish()?,
            sources: self.sources.finish()?,
            sites: self.sites.finish()?,
            portions: self.portion,
            overruled: self.overruled,
        })
    }
}

/// Appends what is said, with its length before it, and the targets as gaps.
fn push_piece(
    pieces: &mut Sorter,
    (portion, about, order): (u32, u32, u64),
    said: &Said,
    targets: &[u32],
    bytes: &mut Vec<u8>,
) -> Result<(), EngineError> {
    let packed = seedbank_store::pack(said)?;
    bytes.clear();
    put_said(&packed, bytes)?;
    let mut last = 0;
    for target in targets {
        put_gap(u64::from(target - last), bytes);
        last = *target;
    }
    let key = Bytes::default().u32(portion).u32(about).u64(order);
    Ok(pieces.push(&key, bytes)?)
}

/// Appends what is said, with its length before it: a record without its links takes a few bytes.
pub(super) fn put_said(packed: &[u8], out: &mut Vec<u8>) -> Result<(), EngineError> {
    let length = u8::try_from(packed.len());
    out.push(length.map_err(|_| EngineError::Internal("a record is too long"))?);
    out.extend_from_slice(packed);
    Ok(())
}

/// Reads what [`put_said`] wrote.
pub(super) fn take_said<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8], EngineError> {
    let cut = || EngineError::Internal("a record between two passes is cut off");
    let (length, rest) = bytes.split_first().ok_or_else(cut)?;
    let (packed, rest) = rest
        .split_at_checked(usize::from(*length))
        .ok_or_else(cut)?;
    *bytes = rest;
    Ok(packed)
}

/// Appends a number, seven bits to a byte.
pub(super) fn put_gap(mut gap: u64, out: &mut Vec<u8>) {
    loop {
        let low = gap.to_le_bytes()[0] & 0x7f;
        gap >>= 7;
        if gap == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

/// Reads numbers that [`put_gap`] appended, adding them up.
pub(super) struct Gaps<'a> {
    bytes: &'a [u8],
    last: u64,
}

impl<'a> Gaps<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, last: 0 }
    }
}

impl Iterator for Gaps<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let mut gap = 0_u64;
        for (place, byte) in self.bytes.iter().take(10).enumerate() {
            gap |= u64::from(byte & 0x7f) << (7 * place);
            if byte & 0x80 == 0 {
                self.bytes = &self.bytes[place + 1..];
                self.last = self.last.wrapping_add(gap);
                return Some(self.last);
            }
        }
        None
    }
}
