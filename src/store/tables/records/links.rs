//! Blocks of links: the links of neighbouring pages or rows under one key.
//!
//! ```text
//! intra:    (site, block of pages) -> for each page its targets on the site
//! intra_in: (site, block of pages) -> for each page the blocks of `intra` with a link to it
//! rows:     (site, block of rows)  -> for each row its targets
//! citers:   (site, block of pages) -> for each page the blocks of `rows` with a link to it
//! ```
//!
//! A block covers [`BLOCK_LEN`] page or row indexes. Neighbouring pages have similar targets, so a
//! block stores its distinct targets once, and for each page their positions in that list, both in
//! interpolative coding (see `bit_codes`).
//!
//! The transposed tables name blocks, not pages: to find the sources of links to a page, the named
//! blocks are read, some hundred bytes each. Naming each source would take as much space as the links
//! themselves.
//!
//! Measured on generated crawls with the proportions of UK-2002, for all link tables with their keys,
//! indexes and filters, in both directions, per distinct link between pages: 10.5 bits at 300,000 pages
//! (4.65 million links), 10.8 at 2 million pages (33.0 million links), of which 7.0 in `intra`, 2.1 in
//! `intra_in`, 0.5 in `rows`, 0.6 in `citers`, 0.6 in `row_hashes` and `row_members`. One key per page
//! with varint lists took 23.1 at 300,000 pages.

use super::RowMembers;
use crate::tables::bit_codes::{BitReader, BitWriter};
use crate::tables::codec::Malformed;
use crate::tables::table::{Key, Value};
use seedbank_algorithms::page::{PageId, RowId, SiteId};

/// The number of page or row indexes that a block covers. A changed page rewrites its block, so large
/// blocks make deltas expensive; small ones make the transposed tables large. Ingest uses a 64-bit mask
/// for the indexes of a block.
pub const BLOCK_LEN: u32 = 64;

/// The maximum number of links of a block, and of distinct targets. It bounds decoding, since a list
/// with every number in its bounds takes no bits.
const MAX_LINKS: u64 = 1 << 26;

/// A block of neighbouring pages or rows of a site.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LinkKey {
    /// The site.
    pub site: SiteId,
    /// The number of the block on the site.
    pub block: u32,
}

impl LinkKey {
    /// Returns the block of a page, and the position of the page in it.
    #[must_use]
    pub const fn of_page(page: PageId) -> (Self, u32) {
        Self::at_index(page.site(), page.index())
    }

    /// Returns the block of a row, and the position of the row in it.
    #[must_use]
    pub const fn of_row(row: RowId) -> (Self, u32) {
        Self::at_index(row.site(), row.index())
    }

    const fn at_index(site: SiteId, index: u32) -> (Self, u32) {
        let block = index / BLOCK_LEN;
        (Self { site, block }, index % BLOCK_LEN)
    }

    /// Returns the page or row index at a position.
    #[must_use]
    pub const fn index(self, place: u32) -> u32 {
        // Cannot overflow: positions are below BLOCK_LEN, and decoding a key checks the block.
        self.block * BLOCK_LEN + place
    }
}

impl Key for LinkKey {
    fn put(&self, out: &mut Vec<u8>) {
        (self.site, self.block).put(out);
    }
    fn take(bytes: &[u8]) -> Option<Self> {
        let (site, block): (SiteId, u32) = Key::take(bytes)?;
        (block <= u32::MAX / BLOCK_LEN).then_some(Self { site, block })
    }
}

/// An entry of a list of a block: two halves, of which the high one is a site or unused.
pub trait Link: Copy + Ord {
    /// Returns the high and the low half.
    fn halves(self) -> (u32, u32);
    /// Joins two halves; `None` if they are no valid entry.
    fn join(high: u32, low: u32) -> Option<Self>;
}

impl Link for u32 {
    fn halves(self) -> (u32, u32) {
        (0, self)
    }
    fn join(high: u32, low: u32) -> Option<Self> {
        (high == 0).then_some(low)
    }
}

impl Link for PageId {
    fn halves(self) -> (u32, u32) {
        (self.site().0, self.index())
    }
    fn join(high: u32, low: u32) -> Option<Self> {
        Some(Self::new(SiteId(high), low))
    }
}

impl Link for LinkKey {
    fn halves(self) -> (u32, u32) {
        (self.site.0, self.block)
    }
    fn join(high: u32, low: u32) -> Option<Self> {
        let site = SiteId(high);
        (low <= u32::MAX / BLOCK_LEN).then_some(Self { site, block: low })
    }
}

/// The lists of a block with their positions, both ascending; no list is empty.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkBlock<T>(pub(crate) Vec<(u32, Vec<T>)>);

impl<T> Default for LinkBlock<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Link> LinkBlock<T> {
    /// Returns the list at a position; empty if there is none.
    #[must_use]
    pub fn at(&self, place: u32) -> &[T] {
        let found = self.0.binary_search_by_key(&place, |list| list.0);
        found.map_or(&[], |at| &self.0[at].1)
    }

    /// Replaces the list at a position; an empty list removes it.
    pub fn set(&mut self, place: u32, list: Vec<T>) {
        match self.0.binary_search_by_key(&place, |list| list.0) {
            Ok(at) if list.is_empty() => {
                self.0.remove(at);
            }
            Ok(at) => self.0[at].1 = list,
            Err(_) if list.is_empty() => {}
            Err(at) => self.0.insert(at, (place, list)),
        }
    }

    /// Returns whether there is no list.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over the lists and their positions, ascending.
    pub fn lists(&self) -> impl Iterator<Item = (u32, &[T])> {
        self.0.iter().map(|(place, list)| (*place, list.as_slice()))
    }

    /// Returns the distinct entries of all lists, ascending.
    #[must_use]
    pub fn distinct(&self) -> Vec<T> {
        let mut all: Vec<T> = self.0.iter().flat_map(|list| &list.1).copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Iterates over the positions of the lists with this entry.
    pub fn places_of(&self, entry: T) -> impl Iterator<Item = u32> {
        let has = move |list: &&(u32, Vec<T>)| list.1.binary_search(&entry).is_ok();
        self.0.iter().filter(has).map(|list| list.0)
    }
}

/// A row, the pages that have it, and its targets.
pub type RowWithMembers = (RowId, RowMembers, Vec<PageId>);

fn malformed(what: &str) -> Malformed {
    Malformed(what.to_owned())
}

/// Appends distinct ascending entries: the high halves, the number of entries with each, and their low
/// halves.
fn put_distinct<T: Link>(all: &[T], out: &mut BitWriter<'_>) {
    let halves: Vec<(u32, u32)> = all.iter().map(|entry| entry.halves()).collect();
    let groups: Vec<&[(u32, u32)]> = halves.chunk_by(|a, b| a.0 == b.0).collect();
    let highs: Vec<u64> = groups.iter().map(|group| u64::from(group[0].0)).collect();
    let counts: Vec<u64> = groups.iter().map(|group| group.len() as u64 - 1).collect();
    let largest: Vec<u64> = groups
        .iter()
        .filter_map(|group| group.last())
        .map(|entry| u64::from(entry.1))
        .collect();
    let last_high = highs.last().copied().unwrap_or(0);
    out.zeta(highs.len() as u64 - 1, 3);
    out.zeta(last_high, 5);
    out.ascending(&highs[..highs.len() - 1], 0, last_high.saturating_sub(1));
    out.numbers(&counts);
    out.numbers(&largest);
    for group in groups {
        let lows: Vec<u64> = group.iter().map(|entry| u64::from(entry.1)).collect();
        let last = lows[lows.len() - 1];
        out.ascending(&lows[..lows.len() - 1], 0, last.saturating_sub(1));
    }
}

fn take_distinct<T: Link>(from: &mut BitReader<'_>) -> Result<Vec<T>, Malformed> {
    let half = u64::from(u32::MAX);
    let groups = from.zeta(3)?;
    let last_high = from.zeta(5)?;
    // High halves that fill their range take no bits, but at least two bits follow for each of them, so
    // the remaining bits bound the allocation.
    if groups > last_high || last_high > half || groups >= MAX_LINKS.min(from.remaining() / 2) {
        return Err(malformed("block exceeds the maximum number of targets"));
    }
    let groups = usize::try_from(groups).unwrap_or(usize::MAX);
    let mut highs = Vec::new();
    from.ascending(groups, 0, last_high.saturating_sub(1), &mut highs)?;
    highs.push(last_high);
    let counts = from.numbers(highs.len(), MAX_LINKS)?;
    if counts.iter().sum::<u64>() + highs.len() as u64 > MAX_LINKS {
        return Err(malformed("block exceeds the maximum number of targets"));
    }
    let largest = from.numbers(highs.len(), half)?;
    let mut all = Vec::new();
    let mut lows = Vec::new();
    let narrow = |half: u64| u32::try_from(half).unwrap_or(u32::MAX);
    for ((high, more), last) in highs.into_iter().zip(counts).zip(largest) {
        lows.clear();
        let more = usize::try_from(more).unwrap_or(usize::MAX);
        from.ascending(more, 0, last.saturating_sub(1), &mut lows)?;
        if more > 0 && last == 0 {
            return Err(malformed("targets of a block do not ascend"));
        }
        lows.push(last);
        for &low in &lows {
            let entry = T::join(narrow(high), narrow(low));
            all.push(entry.ok_or_else(|| malformed("a block has an invalid target"))?);
        }
    }
    Ok(all)
}

impl<T: Link> Value for LinkBlock<T> {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        let links: u64 = self.0.iter().map(|list| list.1.len() as u64).sum();
        let lists = &self.0;
        let ordered = lists.windows(2).all(|pair| pair[0].0 < pair[1].0)
            && lists.last().is_some_and(|last| last.0 < BLOCK_LEN)
            && lists
                .iter()
                .all(|list| !list.1.is_empty() && list.1.is_sorted_by(|a, b| a < b));
        if !ordered || links > MAX_LINKS {
            return Err(malformed("lists of a block do not ascend or are too long"));
        }
        let all = self.distinct();
        let mut out = BitWriter::new(out);
        put_distinct(&all, &mut out);
        let places: Vec<u64> = lists.iter().map(|list| u64::from(list.0)).collect();
        out.below(places.len() as u64 - 1, u64::from(BLOCK_LEN));
        out.ascending(&places, 0, u64::from(BLOCK_LEN) - 1);
        let lengths: Vec<u64> = lists.iter().map(|list| list.1.len() as u64 - 1).collect();
        out.numbers(&lengths);
        let mut numbers = Vec::new();
        for (_, list) in lists {
            numbers.clear();
            let mut at = 0;
            for entry in list {
                at += all[at..].partition_point(|one| one < entry);
                numbers.push(at as u64);
            }
            out.ascending(&numbers, 0, all.len() as u64 - 1);
        }
        out.finish();
        Ok(())
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut from = BitReader::new(bytes);
        let all: Vec<T> = take_distinct(&mut from)?;
        let count = usize::try_from(from.below(u64::from(BLOCK_LEN))?).unwrap_or(0) + 1;
        let mut places = Vec::new();
        from.ascending(count, 0, u64::from(BLOCK_LEN) - 1, &mut places)?;
        let lengths = from.numbers(count, all.len() as u64 - 1)?;
        if lengths.iter().sum::<u64>() > MAX_LINKS {
            return Err(malformed("block exceeds the maximum number of links"));
        }
        let mut lists = Vec::with_capacity(count);
        let mut numbers = Vec::new();
        for (place, length) in places.into_iter().zip(lengths) {
            numbers.clear();
            let length = usize::try_from(length).unwrap_or(usize::MAX) + 1;
            from.ascending(length, 0, all.len() as u64 - 1, &mut numbers)?;
            let entries = numbers
                .iter()
                .filter_map(|&n| all.get(usize::try_from(n).ok()?));
            lists.push((
                u32::try_from(place).unwrap_or(0),
                entries.copied().collect(),
            ));
        }
        from.finish()?;
        Ok(Self(lists))
    }
}

#[cfg(test)]
#[path = "links_tests.rs"]
mod tests;
