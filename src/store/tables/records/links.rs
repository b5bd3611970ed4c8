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
//! interpolative coding (see `BitWriter`).
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

// Bit codes for lists, with less than a byte per number.
//
// * *Truncated binary* for a number below a bound that the decoder knows: log2 of the bound, plus
//   less than one bit.
// * *Zeta* codes (Boldi and Vigna, "Codes for the World-Wide Web", 2005) for an unbounded number; the
//   shrinking parameter is chosen for each list and stored with it.
// * *Interpolative* coding (Moffat and Stuiver, "Binary interpolative coding for effective index
//   compression", 2000) for an ascending list: the middle number first, in truncated binary between
//   the bounds that its neighbours leave, then both halves. The size is close to the information
//   content of the list, zero if the list has every number in its bounds, and there is no parameter.
//
// Bits are written from the most significant bit of each byte. Decoding is checked: truncated or
// trailing bytes are [`Malformed`].

/// The maximum width of a number in bits.
const MAX_WIDTH: u32 = 64;

/// Writes bits to a byte vector.
pub(crate) struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    /// Bits that are not written yet, at the low end.
    pending: u128,
    count: u32,
}

impl<'a> BitWriter<'a> {
    pub(crate) const fn new(out: &'a mut Vec<u8>) -> Self {
        Self {
            out,
            pending: 0,
            count: 0,
        }
    }

    /// Appends the low `width` bits of a number; its other bits must be zero.
    #[expect(clippy::cast_possible_truncation, reason = "extracts one byte")]
    pub(crate) fn bits(&mut self, value: u64, width: u32) {
        assert!(width <= MAX_WIDTH && (width == MAX_WIDTH || value >> width == 0));
        self.pending = (self.pending << width) | u128::from(value);
        self.count += width;
        while self.count >= 8 {
            self.count -= 8;
            self.out.push((self.pending >> self.count) as u8);
        }
        self.pending &= (1 << self.count) - 1;
    }

    /// Appends a number below `bound`.
    pub(crate) fn below(&mut self, value: u64, bound: u64) {
        assert!(value < bound);
        let (width, short) = truncated(bound);
        if value < short {
            self.bits(value, width - 1);
        } else {
            // At most 2^width - 1, and width is at most 64.
            self.bits(value + short, width);
        }
    }

    /// Appends a number below `u64::MAX` in the zeta code with parameter `k`.
    pub(crate) fn zeta(&mut self, value: u64, k: u32) {
        let number = value + 1;
        let group = number.ilog2() / k;
        self.bits(0, group);
        self.bits(1, 1);
        let low = 1_u64 << (group * k);
        self.below(number - low, group_size(group, k));
    }

    /// Appends the parameter of the shortest zeta code for these numbers, and the numbers.
    pub(crate) fn numbers(&mut self, values: &[u64]) {
        let cost = |k: u32| values.iter().map(|&value| zeta_cost(value, k)).sum::<u64>();
        let k = (1..=8).min_by_key(|&k| cost(k)).unwrap_or(1);
        self.bits(u64::from(k - 1), 3);
        for &value in values {
            self.zeta(value, k);
        }
    }

    /// Appends an ascending list of numbers from `low` to `high`; the decoder must know its length.
    pub(crate) fn ascending(&mut self, list: &[u64], low: u64, high: u64) {
        let left = list.len() / 2;
        let Some(&middle) = list.get(left) else {
            return;
        };
        let right = list.len() - left - 1;
        let (from, to) = (low + left as u64, high - right as u64);
        assert!(from <= middle && middle <= to, "the list ascends in bounds");
        if let Some(bound) = (to - from).checked_add(1) {
            self.below(middle - from, bound);
        } else {
            self.bits(middle, MAX_WIDTH);
        }
        if left > 0 {
            self.ascending(&list[..left], low, middle - 1);
        }
        if right > 0 {
            self.ascending(&list[left + 1..], middle + 1, high);
        }
    }

    /// Fills the last byte with zeros.
    pub(crate) fn finish(mut self) {
        let left = (8 - self.count % 8) % 8;
        self.bits(0, left);
    }
}

/// Returns the width in bits of numbers below a bound, and how many numbers take one bit less.
const fn truncated(bound: u64) -> (u32, u64) {
    if bound <= 1 {
        return (0, 0);
    }
    let width = (bound - 1).ilog2() + 1;
    let short = if width == MAX_WIDTH {
        bound.wrapping_neg()
    } else {
        (1 << width) - bound
    };
    (width, short)
}

/// Returns the number of values in a group of a zeta code.
fn group_size(group: u32, k: u32) -> u64 {
    let low = 1_u64 << (group * k);
    1_u64
        .checked_shl((group + 1) * k)
        .map_or(low.wrapping_neg(), |high| high - low)
}

fn zeta_cost(value: u64, k: u32) -> u64 {
    let group = value.saturating_add(1).ilog2() / k;
    u64::from(group + 1) + u64::from((group + 1) * k)
}

/// Reads bits from a byte slice.
pub(crate) struct BitReader<'a> {
    bytes: &'a [u8],
    /// The number of bits read.
    at: usize,
}

fn truncated_list() -> Malformed {
    Malformed("list is truncated".to_owned())
}

impl<'a> BitReader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Returns the number of remaining bits.
    pub(crate) const fn remaining(&self) -> u64 {
        (8 * self.bytes.len() - self.at) as u64
    }

    pub(crate) fn bits(&mut self, width: u32) -> Result<u64, Malformed> {
        if width == 0 {
            return Ok(0);
        }
        if width > 56 {
            let high = self.bits(width - 32)?;
            return Ok((high << 32) | self.bits(32)?);
        }
        if self.at + width as usize > 8 * self.bytes.len() {
            return Err(truncated_list());
        }
        let rest = &self.bytes[self.at / 8..];
        let window = match rest.first_chunk::<8>() {
            Some(chunk) => u64::from_be_bytes(*chunk),
            None => rest.iter().enumerate().fold(0, |window, (place, byte)| {
                window | u64::from(*byte) << (56 - 8 * place)
            }),
        };
        let value = (window << (self.at % 8)) >> (64 - width);
        self.at += width as usize;
        Ok(value)
    }

    pub(crate) fn below(&mut self, bound: u64) -> Result<u64, Malformed> {
        let (width, short) = truncated(bound);
        if width == 0 {
            return Ok(0);
        }
        let value = self.bits(width - 1)?;
        if value < short {
            return Ok(value);
        }
        let value = (value << 1) | self.bits(1)?;
        Ok(value - short)
    }

    pub(crate) fn zeta(&mut self, k: u32) -> Result<u64, Malformed> {
        let mut group = 0;
        while self.bits(1)? == 0 {
            group += 1;
            if group * k >= MAX_WIDTH {
                return Err(Malformed("number is too long".to_owned()));
            }
        }
        let low = 1_u64 << (group * k);
        let number = self.below(group_size(group, k))?.checked_add(low);
        number
            .map(|number| number - 1)
            .ok_or_else(|| Malformed("number is too large".to_owned()))
    }

    /// Reads numbers that [`BitWriter::numbers`] wrote; each must be at most `largest`.
    pub(crate) fn numbers(&mut self, count: usize, largest: u64) -> Result<Vec<u64>, Malformed> {
        let k = u32::try_from(self.bits(3)?).unwrap_or(0) + 1;
        let mut values = Vec::new();
        for _ in 0..count {
            let value = self.zeta(k)?;
            if value > largest {
                return Err(Malformed("number is too large".to_owned()));
            }
            values.push(value);
        }
        Ok(values)
    }

    /// Reads `count` ascending numbers from `low` to `high` and appends them to `list`.
    pub(crate) fn ascending(
        &mut self,
        count: usize,
        low: u64,
        high: u64,
        list: &mut Vec<u64>,
    ) -> Result<(), Malformed> {
        if count == 0 {
            return Ok(());
        }
        let span = high.checked_sub(low);
        if span.is_none_or(|span| span < count as u64 - 1) {
            return Err(Malformed("list does not fit its bounds".to_owned()));
        }
        self.ascending_within(count, low, high, list)
    }

    /// Reads `count` ascending numbers between bounds that fit them. Then each half fits its bounds too.
    fn ascending_within(
        &mut self,
        count: usize,
        low: u64,
        high: u64,
        list: &mut Vec<u64>,
    ) -> Result<(), Malformed> {
        let left = count / 2;
        let right = count - left - 1;
        let (from, to) = (low + left as u64, high - right as u64);
        let middle = match (to - from).checked_add(1) {
            Some(bound) => from + self.below(bound)?,
            None => self.bits(MAX_WIDTH)?,
        };
        if left > 0 {
            self.ascending_within(left, low, middle - 1, list)?;
        }
        list.push(middle);
        if right > 0 {
            self.ascending_within(right, middle + 1, high, list)?;
        }
        Ok(())
    }

    /// Fails unless only zero bits up to the end of the current byte remain.
    pub(crate) fn finish(mut self) -> Result<(), Malformed> {
        let left = 8 * self.bytes.len() - self.at;
        if left >= 8 || self.bits(u32::try_from(left).unwrap_or(0))? != 0 {
            return Err(Malformed("list has trailing bits".to_owned()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    //! Tests of blocks of links.

    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    /// Lists by place, kept in a map that blocks are compared with.
    type Lists<T> = BTreeMap<u32, BTreeSet<T>>;

    fn lists<T: Ord + std::fmt::Debug>(
        entry: impl Strategy<Value = T>,
    ) -> impl Strategy<Value = Lists<T>> {
        let list = prop::collection::btree_set(entry, 1..40);
        prop::collection::btree_map(0..BLOCK_LEN, list, 1..20)
    }

    fn block<T: Link>(lists: &Lists<T>) -> LinkBlock<T> {
        let mut block = LinkBlock::default();
        // In whatever order they are set.
        for (place, list) in lists.iter().rev() {
            block.set(*place, vec![*list.iter().next().unwrap()]);
            block.set(*place, list.iter().copied().collect());
        }
        block
    }

    fn comes_back<T: Link + std::fmt::Debug>(lists: &Lists<T>) {
        let block = block(lists);
        let mut bytes = Vec::new();
        block.encode(&mut bytes).unwrap();
        let back = LinkBlock::<T>::decode(&bytes).unwrap();
        let found: Lists<T> = back
            .lists()
            .map(|(place, list)| (place, list.iter().copied().collect()))
            .collect();
        assert_eq!(found, *lists);
        let all: BTreeSet<T> = lists.values().flatten().copied().collect();
        assert_eq!(back.distinct(), all.iter().copied().collect::<Vec<_>>());
        for entry in all {
            let has = lists.iter().filter(|(_, list)| list.contains(&entry));
            let places: Vec<u32> = has.map(|(place, _)| *place).collect();
            assert_eq!(back.places_of(entry).collect::<Vec<_>>(), places);
        }
        assert!(LinkBlock::<T>::decode(&bytes[..bytes.len() - 1]).is_err());
        bytes.push(0);
        assert!(LinkBlock::<T>::decode(&bytes).is_err());
    }

    fn page() -> impl Strategy<Value = PageId> {
        let site = prop_oneof![0_u32..4, any::<u32>()];
        let index = prop_oneof![0_u32..4, any::<u32>()];
        (site, index).prop_map(|(site, index)| PageId::new(SiteId(site), index))
    }

    proptest! {
        #[test]
        fn blocks_come_back(
            near in lists(0_u32..90),
            far in lists(any::<u32>()),
            pages in lists(page()),
        ) {
            comes_back(&near);
            comes_back(&far);
            let keys = pages.iter().map(|(place, list)| {
                (*place, list.iter().map(|page| LinkKey::of_page(*page).0).collect())
            });
            comes_back(&keys.collect::<Lists<LinkKey>>());
            comes_back(&pages);
        }

        #[test]
        fn any_bytes_are_read_or_refused(
            bytes in prop::collection::vec(any::<u8>(), 0..60),
            flips in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..8), 1..4),
            good in lists(0_u32..500),
        ) {
            let mut damaged = Vec::new();
            block(&good).encode(&mut damaged).unwrap();
            for (at, bit) in flips {
                *at.get_mut(&mut damaged) ^= 1 << bit;
            }
            for bytes in [bytes, damaged] {
                let _ = LinkBlock::<PageId>::decode(&bytes);
                let _ = LinkBlock::<LinkKey>::decode(&bytes);
                if let Ok(block) = LinkBlock::<u32>::decode(&bytes) {
                    // Bytes that can be read are those that the block would be written as.
                    let mut again = Vec::new();
                    block.encode(&mut again).unwrap();
                    prop_assert_eq!(LinkBlock::decode(&again).unwrap(), block);
                }
            }
        }
    }

    #[test]
    fn a_list_that_is_emptied_is_gone() {
        let mut block = LinkBlock::default();
        block.set(3, vec![1_u32, 5]);
        block.set(9, Vec::new());
        assert_eq!((block.at(3), block.at(9)), (&[1, 5][..], &[][..]));
        block.set(3, Vec::new());
        assert!(block.is_empty());
        assert!(block.encode(&mut Vec::new()).is_err());
    }

    #[test]
    fn a_list_that_does_not_ascend_is_refused() {
        let mut block = LinkBlock::default();
        block.set(0, vec![2_u32, 2]);
        assert!(block.encode(&mut Vec::new()).is_err());
        block.set(0, vec![2]);
        block.set(BLOCK_LEN, vec![2]);
        assert!(block.encode(&mut Vec::new()).is_err());
    }

    #[test]
    fn keys_cover_all_indexes() {
        for index in [0, 63, 64, u32::MAX] {
            let (key, place) = LinkKey::of_page(PageId::new(SiteId(7), index));
            assert_eq!(key.index(place), index);
            assert_eq!(LinkKey::take(&key.bytes()), Some(key));
        }
        assert_eq!(LinkKey::take(&[0, 0, 0, 1, 255, 0, 0, 0]), None);
    }

    /// High halves that fill their range take no bits, so only the numbers after them show that they
    /// are missing.
    #[test]
    fn a_few_bytes_do_not_make_a_long_list() {
        let mut bytes = Vec::new();
        let mut out = BitWriter::new(&mut bytes);
        out.zeta(MAX_LINKS - 1, 3);
        out.zeta(MAX_LINKS - 1, 5);
        out.bits(0, 40);
        out.finish();
        let refused = LinkBlock::<PageId>::decode(&bytes).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "block exceeds the maximum number of targets"
        );
    }
}

#[cfg(test)]
mod bit_codes_tests {
    use proptest::prelude::*;

    use super::*;

    fn written(write: impl FnOnce(&mut BitWriter<'_>)) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = BitWriter::new(&mut bytes);
        write(&mut writer);
        writer.finish();
        bytes
    }

    proptest! {
        #[test]
        fn numbers_come_back(values in prop::collection::vec((any::<u64>(), 0_u32..64), 0..50)) {
            let values: Vec<u64> = values.into_iter().map(|(v, by)| (v >> by).min(u64::MAX - 1)).collect();
            let bytes = written(|writer| writer.numbers(&values));
            let mut reader = BitReader::new(&bytes);
            prop_assert_eq!(reader.numbers(values.len(), u64::MAX).unwrap(), values);
            prop_assert!(reader.finish().is_ok());
        }

        #[test]
        fn bounded_numbers_come_back(bound in 1..=u64::MAX, by in 0_u32..64, part in any::<u64>()) {
            let bound = (bound >> by).max(1);
            let value = part % bound;
            let bytes = written(|writer| writer.below(value, bound));
            let mut reader = BitReader::new(&bytes);
            prop_assert_eq!(reader.below(bound).unwrap(), value);
            prop_assert!(reader.finish().is_ok());
        }

        #[test]
        fn lists_come_back(list in prop::collection::btree_set(any::<u64>(), 0..80), by in 0_u32..64) {
            let mut list: Vec<u64> = list.into_iter().map(|value| value >> by).collect();
            list.dedup();
            let high = u64::MAX >> by;
            let bytes = written(|writer| writer.ascending(&list, 0, high));
            let mut reader = BitReader::new(&bytes);
            let mut found = Vec::new();
            reader.ascending(list.len(), 0, high, &mut found).unwrap();
            prop_assert_eq!(found, list);
            prop_assert!(reader.finish().is_ok());
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..60), count in 0_usize..200, bound in any::<u64>()) {
            let mut list = Vec::new();
            let mut reader = BitReader::new(&bytes);
            if reader.ascending(count, 7, bound, &mut list).is_ok() {
                prop_assert_eq!(list.len(), count);
                prop_assert!(list.windows(2).all(|pair| pair[0] < pair[1]));
                prop_assert!(list.iter().all(|value| (7..=bound).contains(value)));
            }
            let _ = reader.numbers(count, 1000);
            let _ = reader.finish();
        }
    }

    #[test]
    fn a_list_of_all_that_fits_takes_nothing() {
        let all: Vec<u64> = (3..90).collect();
        assert!(written(|writer| writer.ascending(&all, 3, 89)).is_empty());
    }
}
