//! Pieces of records between passes: input about a page, and its targets as gaps.

use rayon::iter::ParallelIterator;
use rayon::slice::ParallelSliceMut;
use serde::{Deserialize, Serialize};

use super::events::Bytes;
use super::fetch_times::{FetchTimes, order_of_time};
use crate::engine::{EngineError, Result};
use seedbank_algorithms::fetch_status::FetchStatus;
use seedbank_algorithms::page::{PageId, PageKind};
use seedbank_algorithms::yields::Yield;
use seedbank_formats::ingest::{Attribute, FailedFetches, Interner, UncrawledOutlinks, UrlNumber};
use seedbank_store::records::{Failures, PageField, PageRecord, PageState};
use seedbank_store::seed_fetches::SeedFetch;
use seedbank_store::{self, Hash128, Sorter, Store, StoreError, tables};

/// Input about one URL, without its links.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum PageInput {
    Record(PageUpdate),
    /// Failed fetches; their time is that of the last one.
    Failures(FailedRun),
    /// How the crawler came to a fetch; its targets are the pages that it names.
    Origin(Origin),
    /// The canonical link of a record. Its only target is the canonical page; without a target, the record removes it.
    Canonical(LinkOrder),
    /// A fetch found the content of another page, its only target.
    SameContent {
        /// The digest of the content, if it is known.
        digest: Option<Hash128>,
    },
    /// Links from a list of links.
    Links,
    Attributes(PageUpdate),
}

/// Appends a piece: input about the page, prefixed by its length, and the gaps between targets.
pub(super) fn push_piece(
    pieces: &mut Sorter,
    portion: u32,
    url: u32,
    order: u64,
    input: &PageInput,
    targets: &[u32],
    bytes: &mut Vec<u8>,
) -> Result<()> {
    let packed = seedbank_store::pack(input)?;
    bytes.clear();
    put_input(&packed, bytes)?;
    let mut last = 0;
    for target in targets {
        put_gap(u64::from(target - last), bytes);
        last = *target;
    }
    let key = Bytes::default().u32(portion).u32(url).u64(order);
    Ok(pieces.push(&key, bytes)?)
}

/// Appends packed input about a page, prefixed by its length. Without links it is a few bytes.
pub(super) fn put_input(packed: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let length = u8::try_from(packed.len());
    out.push(length.map_err(|_| EngineError::Internal("a record is too long"))?);
    out.extend_from_slice(packed);
    Ok(())
}

pub(super) fn take_input<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8]> {
    let cut = || EngineError::Internal("a record in temporary data is truncated");
    let (length, rest) = bytes.split_first().ok_or_else(cut)?;
    let (packed, rest) = rest
        .split_at_checked(usize::from(*length))
        .ok_or_else(cut)?;
    *bytes = rest;
    Ok(packed)
}

/// Appends a number as a varint.
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

/// Iterator over the running sums of numbers that [`put_gap`] appended.
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

// URLs of a portion by number, and in key order.

/// The absence of a number.
const NONE: u32 = u32::MAX;

/// URLs of a portion.
pub(super) struct Urls {
    interner: Interner,
    /// Known flags of each URL.
    flags: Vec<u8>,
    /// Numbers of URLs by their numbers in the current block.
    of_block: Vec<u32>,
}

impl Urls {
    /// Creates an empty set, for blocks whose interners are like this one.
    pub(super) const fn new(interner: Interner) -> Self {
        Self {
            interner,
            flags: Vec::new(),
            of_block: Vec::new(),
        }
    }

    /// Starts another block.
    pub(super) fn start_block(&mut self, block: &Interner) {
        self.of_block.clear();
        self.of_block.resize(block.len(), NONE);
    }

    pub(super) fn len(&self) -> usize {
        self.interner.len()
    }

    /// Returns the number of a URL of the block, and adds `flags` to its flags.
    pub(super) fn number(&mut self, block: &Interner, number: UrlNumber, flags: u8) -> u32 {
        let mut found = self.of_block[number as usize];
        if found == NONE {
            found = self.interner.import(block, number);
            self.of_block[number as usize] = found;
            self.flags.resize(self.interner.len(), 0);
        }
        self.flags[found as usize] |= flags;
        found
    }

    /// Returns the memory usage in bytes, including sorting and the hashes for comparing records.
    pub(super) fn bytes(&self) -> usize {
        let of_url = size_of::<Ordered>() + 2 * size_of::<u32>() + size_of::<u128>();
        self.interner.bytes() + self.interner.len() * of_url
    }

    /// Writes a URL's key (site, NUL byte, the rest) to `key`, and returns its flags.
    pub(super) fn key(&self, number: u32, key: &mut Vec<u8>) -> u8 {
        let (site, local) = self.interner.parts(number);
        key.clear();
        key.extend_from_slice(site.as_bytes());
        key.push(0);
        key.extend_from_slice(local.as_bytes());
        self.flags[number as usize]
    }

    /// Returns the length of a URL's key, in bytes.
    pub(super) fn key_length(&self, number: u32) -> usize {
        let (site, local) = self.interner.parts(number);
        site.len() + 1 + local.len()
    }

    /// Returns the URLs that are used or have one of the flags, in key order.
    pub(super) fn order(&self, used: &[bool], flags: u8) -> Vec<u32> {
        // Names contain no NUL byte, so they sort as the keys, in which one follows them.
        let ranks = self.interner.site_ranks();
        let wanted = (0..).zip(&self.flags).zip(used);
        let wanted = wanted.filter(|((_, of_url), used)| **used || **of_url & flags != 0);
        let of_url = wanted.map(|((number, _), _)| Ordered {
            site: ranks[self.interner.site_of(number) as usize],
            number,
            head: 0,
        });
        let mut order: Vec<Ordered> = of_url.collect();
        order.par_sort_unstable_by_key(|url| (url.site, url.number));
        order
            .par_chunk_by_mut(|a, b| a.site == b.site)
            .for_each(|of_site| self.sort_site(of_site));
        order.into_iter().map(|url| url.number).collect()
    }

    /// Sorts the URLs of a site. They share a prefix, so the 16 bytes after it decide most
    /// comparisons.
    fn sort_site(&self, urls: &mut [Ordered]) {
        let text = |number: u32| self.interner.local(number).as_bytes();
        let Some((first, others)) = urls.split_first() else {
            return;
        };
        let first = text(first.number);
        let alike = others.iter().fold(first.len(), |alike, other| {
            let both = first[..alike].iter().zip(text(other.number));
            both.take_while(|(a, b)| a == b).count()
        });
        let after = |number: u32| &text(number)[alike..];
        for url in &mut *urls {
            let mut head = [0; 16];
            let rest = after(url.number);
            let length = rest.len().min(head.len());
            head[..length].copy_from_slice(&rest[..length]);
            url.head = u128::from_be_bytes(head);
        }
        urls.par_sort_unstable_by(|a, b| {
            let texts = || after(a.number).cmp(after(b.number));
            a.head.cmp(&b.head).then_with(texts)
        });
    }

    /// Removes all URLs, but stays in the block.
    pub(super) fn clear(&mut self) {
        self.interner.clear();
        self.flags.clear();
        self.of_block.fill(NONE);
    }
}

/// A URL that is being sorted.
struct Ordered {
    /// The rank of its site.
    site: u32,
    number: u32,
    head: u128,
}

// Order of links that records of one page state at the same time: the largest count.
//
// The result of a batch must not depend on the order of its records, nor on ids, so lists of links need a total order
// that depends only on their URLs. They are compared by the length of their URLs; at equal lengths by a hash. These URLs
// are normalised, so their spelling does not matter, nor does their order: the hash covers the sum of their hashes.

/// The size of a list of links, and its hash. Lists of equal order have the same URLs; the default is that of no links.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub(super) struct LinkOrder {
    bytes: u64,
    hash: [u8; 16],
}

/// Adds up the order of a list of links.
#[derive(Default)]
pub(super) struct LinkSum {
    bytes: u64,
    hashes: u128,
}

impl LinkSum {
    /// Adds a link with a key of this length and hash.
    const fn add(&mut self, length: usize, hash: u128) {
        self.bytes += length as u64;
        self.hashes = self.hashes.wrapping_add(hash);
    }

    /// Adds a link to a page of a site, by the rest of its URL.
    pub(super) fn add_url(&mut self, site: &str, local: &str) {
        let key = [site.as_bytes(), b"\0", local.as_bytes()].concat();
        self.add(key.len(), first_half(&blake3::hash(&key)));
    }

    pub(super) fn order(&self) -> LinkOrder {
        if self.bytes == 0 {
            return LinkOrder::default();
        }
        let hash = blake3::hash(&self.hashes.to_be_bytes());
        LinkOrder {
            bytes: self.bytes,
            hash: first_half(&hash).to_be_bytes(),
        }
    }
}

/// Computes the order of the links of a portion. Each URL is hashed once.
pub(super) struct LinkHasher {
    /// Hashes of URLs by number; 0 if not computed. Empty until the first record.
    hashes: Vec<u128>,
    key: Vec<u8>,
}

impl LinkHasher {
    pub(super) const fn new() -> Self {
        Self {
            hashes: Vec::new(),
            key: Vec::new(),
        }
    }

    /// Returns the order of distinct `targets`, given by their numbers among `urls`.
    pub(super) fn order_of(&mut self, targets: &[u32], urls: &Urls) -> LinkOrder {
        let mut sum = LinkSum::default();
        for target in targets {
            sum.add(urls.key_length(*target), self.hash_of(*target, urls));
        }
        sum.order()
    }

    /// Returns the hash of a URL's key.
    pub(super) fn hash_of(&mut self, url: u32, urls: &Urls) -> u128 {
        self.hashes.resize(urls.len(), 0);
        let hash = &mut self.hashes[url as usize];
        if *hash == 0 {
            urls.key(url, &mut self.key);
            *hash = first_half(&blake3::hash(&self.key));
        }
        *hash
    }
}

fn first_half(hash: &blake3::Hash) -> u128 {
    let mut half = [0; 16];
    half.copy_from_slice(&hash.as_bytes()[..16]);
    u128::from_be_bytes(half)
}

// How crawlers came to the fetches of a batch, in the input.

/// How a crawler came to a fetch. Pages are numbers of URLs in a portion, then ranks, then ids.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Origin {
    /// Whether the fetch failed.
    pub(super) failed: bool,
    seed: u64,
    via: Option<u64>,
    depth: Option<u32>,
    /// Hash of the URLs and the depth, which does not depend on ids.
    hash: u64,
}

impl Origin {
    pub(super) const fn new(failed: bool, seed: u32, via: Option<u32>, depth: Option<u32>) -> Self {
        let via = match via {
            Some(via) => Some(via as u64),
            None => None,
        };
        Self {
            failed,
            seed: seed as u64,
            via,
            depth,
            hash: 0,
        }
    }

    /// Replaces the numbers of pages.
    pub(super) fn renumbered(self, mut number: impl FnMut(u64) -> Result<u64>) -> Result<Self> {
        Ok(Self {
            seed: number(self.seed)?,
            via: self.via.map(number).transpose()?,
            ..self
        })
    }

    /// Sets the hash, given that of a URL by its number.
    pub(super) fn hashed(self, mut hash: impl FnMut(u64) -> Result<u128>) -> Result<Self> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&hash(self.seed)?.to_be_bytes());
        let via = self.via.map(hash).transpose()?;
        hasher.update(&via.unwrap_or(0).to_be_bytes());
        hasher.update(&self.depth.map_or(u64::MAX, u64::from).to_be_bytes());
        let mut first = [0; 8];
        first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
        Ok(Self {
            hash: u64::from_be_bytes(first),
            ..self
        })
    }

    const fn fetch(self) -> SeedFetch {
        SeedFetch {
            seed: PageId(self.seed),
            via: match self.via {
                Some(via) => Some(PageId(via)),
                None => None,
            },
            depth: self.depth,
        }
    }
}

/// Returns the origin of the fetch of a page at a time, in seconds. Another record of the same fetch may tell it,
/// such as a line of a log beside an archive. Of several, the first in the order of hashes counts.
pub(super) fn origin_of(
    origins: &[(u64, Origin)],
    failed: bool,
    at: Option<u64>,
    times: &FetchTimes,
) -> Option<SeedFetch> {
    let at = at?;
    let is_same = |(order, origin): &&(u64, Origin)| {
        origin.failed == failed && times.seconds(*order) == Some(at)
    };
    let first = origins.iter().filter(is_same).min_by_key(|of| of.1.hash);
    first.map(|(_, origin)| origin.fetch())
}

/// Appends origins to the bytes of a record in a batch's digest. Without any, the digest is that of before they
/// existed.
pub(super) fn put_origins(origins: &[(u64, Origin)], bytes: &mut Vec<u8>) {
    let key = |(order, origin): &(u64, Origin)| (*order, origin.failed, origin.hash);
    let mut keys: Vec<_> = origins.iter().map(key).collect();
    keys.sort_unstable();
    for (order, failed, hash) in keys {
        bytes.extend_from_slice(&order.to_le_bytes());
        bytes.push(u8::from(failed));
        bytes.extend_from_slice(&hash.to_le_bytes());
    }
}

// Update of a page by a canonical record, without URL and outlinks.

/// Update of a page by a canonical record, without URL and outlinks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent properties of a record"
)]
pub(super) struct PageUpdate {
    /// Whether it replaces the page's outlinks.
    pub(super) links: bool,
    pub(super) crawled: bool,
    pub(super) gone: bool,
    pub(super) spam: Option<bool>,
    pub(super) clicks: Option<u64>,
    pub(super) uncrawled: UncrawledOutlinks,
    pub(super) digest: Option<Hash128>,
    /// Whether the page becomes an alias of its only target.
    pub(super) alias: bool,
    /// The quality, in ten-thousandths.
    pub(super) quality: Attribute<u16>,
    /// What the answer is, if the record says it. After the links pass, that of the page.
    pub(super) kind: Option<PageKind>,
    /// A time at which the content changed, as an ascending number; after the links pass, in seconds, the last one if the page
    /// had an earlier one.
    pub(super) changed: Option<u64>,
    /// The canonical page. Unless it is given or removed, links remove it.
    pub(super) canonical: Attribute<(LinkOrder, PageId)>,
    /// The time of the fetch in seconds since 1970; `None` if the page keeps its time. Set in the links pass.
    pub(super) fetched: Option<u64>,
    /// The order of its links, or of the page that it leads to; `None` if it is not compared with others.
    pub(super) order: Option<LinkOrder>,
    /// Fields that it states at another time than the record's, as an ascending number; after the links pass, in seconds,
    /// the times of all fields of the page.
    pub(super) times: Vec<(PageField, u64)>,
    /// Whether it removes the attributes that it does not have. Set in the links pass.
    pub(super) clears: bool,
    /// What fetches of the page brought so far, if the record has it.
    pub(super) sums: Option<Yield>,
    /// Whether fetches failed, and nothing else is known: the page keeps its state.
    pub(super) only_failed: bool,
    /// Whether it is of an earlier fetch than that of the page, which keeps its state. Set in the links pass.
    pub(super) is_earlier: bool,
    /// Whether the failed fetches of the page change. Set in the links pass.
    pub(super) failures_change: bool,
}

impl PageUpdate {
    /// Returns the state of a page after the update. `old` is `None` for a new page.
    pub(super) fn state_after(&self, old: Option<PageState>) -> PageState {
        match old {
            _ if self.gone => PageState::Gone,
            _ if self.alias => PageState::Alias,
            Some(PageState::Resource) if !self.crawled && self.kind.is_none() => {
                PageState::Resource
            }
            Some(PageState::Crawled | PageState::Resource) => self.answered(),
            _ if self.crawled => self.answered(),
            // Attributes alone do not change this state.
            Some(PageState::Alias) => PageState::Alias,
            Some(PageState::Gone) if self.only_failed || self.is_earlier => PageState::Gone,
            _ => PageState::Known,
        }
    }

    /// Returns the state of a page that was answered with content.
    fn answered(&self) -> PageState {
        if self.kind == Some(PageKind::Resource) {
            PageState::Resource
        } else {
            PageState::Crawled
        }
    }

    /// Returns the canonical page of a page after the update.
    pub(super) fn canonical_after(&self, old: Option<PageId>) -> Option<PageId> {
        let canonical = self.canonical.map(|(_, to)| to);
        canonical.apply_to(old.filter(|_| !self.clears && !self.gone))
    }

    /// Whether it determines the page's links. A page that is gone or an alias has none.
    pub(super) const fn sets_links(&self) -> bool {
        self.links || self.gone || self.alias
    }

    /// Whether it reports what a fetch found. Attributes alone do not.
    pub(super) const fn is_fetch(&self) -> bool {
        self.crawled || self.gone || self.alias
    }

    /// Returns its bytes in a batch's digest. Absent attributes add no bytes.
    pub(super) fn digest_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = seedbank_store::pack(&(
            self.links,
            self.crawled,
            self.gone,
            self.spam,
            self.clicks,
            self.uncrawled,
            self.digest,
            self.alias,
        ))?;
        if !self.quality.is_absent() {
            bytes.extend(seedbank_store::pack(&self.quality)?);
        }
        if self.kind != Some(PageKind::Page) {
            bytes.extend(seedbank_store::pack(&self.kind)?);
        }
        if !self.canonical.is_absent() {
            let page = self.canonical.map(|(_, to)| to);
            bytes.extend(seedbank_store::pack(&page)?);
        }
        if let Some(changed) = self.changed {
            bytes.extend(changed.to_le_bytes());
        }
        if let Some(sums) = &self.sums {
            bytes.extend(seedbank_store::pack(sums)?);
        }
        if !self.times.is_empty() {
            bytes.extend(seedbank_store::pack(&self.times)?);
        }
        Ok(bytes)
    }

    /// Removes what a fetch found, or the links, since they do not count; `order` is the time of the record. Returns whether
    /// its targets remain.
    pub(super) fn lose(&mut self, [found, links]: [bool; 2], order: u64) -> bool {
        let was_alias = self.alias;
        if found {
            if self.gone {
                // It still clears what was stated before.
                self.links = false;
                self.times.push((PageField::Gone, order));
            }
            self.crawled = false;
            self.gone = false;
            self.alias = false;
        }
        self.links &= !links;
        self.alias || self.links && !was_alias
    }

    /// Creates an update that says nothing.
    const fn nothing() -> Self {
        Self {
            links: false,
            crawled: false,
            gone: false,
            spam: None,
            clicks: None,
            uncrawled: UncrawledOutlinks::Absent,
            digest: None,
            alias: false,
            quality: Attribute::Absent,
            kind: None,
            changed: None,
            canonical: Attribute::Absent,
            fetched: None,
            order: None,
            times: Vec::new(),
            clears: false,
            sums: None,
            only_failed: false,
            is_earlier: false,
            failures_change: false,
        }
    }

    pub(super) const GONE: Self = {
        let mut update = Self::nothing();
        (update.links, update.gone) = (true, true);
        update
    };

    /// Update of a page whose fetches failed.
    pub(super) const FAILED: Self = {
        let mut update = Self::nothing();
        update.only_failed = true;
        update
    };

    /// Update of a page that a list of links contains as a target, which keeps the page's own
    /// links.
    pub(super) const NAMED: Self = {
        let mut update = Self::nothing();
        update.crawled = true;
        update.kind = Some(PageKind::Page);
        update
    };

    /// Returns the update of a page whose fetches failed, which keeps what the page has.
    pub(super) fn failed(page: Option<&PageRecord>) -> Self {
        Self {
            times: page.map_or_else(Vec::new, |page| page.earlier.clone()),
            ..Self::FAILED
        }
    }

    /// Returns the digest of the fetch; `None` if it has none of its own.
    pub(super) fn own_digest(&self) -> Option<Hash128> {
        let mut times = self.times.iter();
        self.digest
            .filter(|_| times.all(|(field, _)| *field != PageField::Digest))
    }
}

// Failed fetches in the input, and their counts.

/// Consecutive failed fetches of a page in the input.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(super) struct FailedRun {
    /// The time of the last one as an ascending number ([`order_of_time`]); 0 for that of the batch.
    last: u64,
    status: FetchStatus,
    half_days: u64,
}

impl From<FailedFetches> for FailedRun {
    fn from(failures: FailedFetches) -> Self {
        Self {
            last: failures.last.map_or(0, order_of_time),
            status: failures.status,
            half_days: failures.half_days,
        }
    }
}

impl FailedRun {
    /// Whether its time is known.
    pub(super) const fn is_dated(&self) -> bool {
        self.last > 0
    }

    /// Returns them with times in seconds; `None` if records have no times.
    pub(super) fn resolve(&self, times: &FetchTimes) -> Option<Failures> {
        Some(Failures {
            status: self.status,
            half_days: self.half_days,
            last: times.seconds(self.last)?,
        })
    }
}

/// Appends failed fetches to the bytes of a record in a batch's digest. Without any, the digest is that of
/// before they existed.
pub(super) fn put_failed_runs(runs: &[FailedRun], bytes: &mut Vec<u8>) {
    let mut runs = runs.to_vec();
    runs.sort_unstable();
    for run in runs {
        bytes.extend_from_slice(&run.last.to_le_bytes());
        bytes.extend_from_slice(&run.status.code().to_le_bytes());
        bytes.extend_from_slice(&run.half_days.to_le_bytes());
    }
}

/// Counts of failed fetches.
pub(super) struct FailureCounts {
    /// Whether a page of the bank had failed fetches before the batch. If not, nothing is looked up.
    pub(super) any: bool,
    /// Number of pages with a failed fetch in the batch.
    pub(super) failed: u64,
    /// Number of pages with failed fetches after the batch.
    pub(super) failing: u64,
}

impl FailureCounts {
    pub(super) fn load(store: &Store) -> Result<Self, StoreError> {
        let last = store.counters()?.batch;
        let failing = match last {
            0 => 0,
            last => store.need(&tables::BATCHES, &last)?.failing,
        };
        Ok(Self {
            any: failing > 0,
            failed: 0,
            failing,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use seedbank_formats::ingest::Location;
    use std::collections::BTreeMap;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Compares with keys in a map: names that are prefixes of others, URLs that are, and URLs
        /// that agree in more bytes than a head has.
        #[test]
        fn urls_come_in_the_order_of_their_keys(
            urls in proptest::collection::btree_map(
                ("[a-b.]{1,3}", "0(/aaaaaaaaaaaaaaaaaaa|/b)?[a-b/]{0,14}"),
                (0_u8..4, any::<bool>()),
                0..300,
            ),
        ) {
            let mut portion = Urls::new(Interner::default());
            let mut used = Vec::new();
            let mut expected = BTreeMap::new();
            // In another order than that of the keys.
            let mut urls: Vec<_> = urls.into_iter().collect();
            urls.sort_by_key(|((_, local), _)| local.bytes().rev().collect::<Vec<u8>>());
            for ((site, local), (flags, is_used)) in urls {
                let number = portion.interner.number(&Location { site, local });
                portion.flags.push(flags);
                used.push(is_used);
                let mut key = Vec::new();
                portion.key(number, &mut key);
                if is_used || flags & 2 != 0 {
                    expected.insert(key, number);
                }
            }
            let expected: Vec<u32> = expected.into_values().collect();
            prop_assert_eq!(portion.order(&used, 2), expected);
        }
    }
}
