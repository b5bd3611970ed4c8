//! What the fetches of neighbouring pages brought, and what batches overwrote of it.

use serde::{Deserialize, Serialize};

use super::links::BLOCK_LEN;
use crate::tables::codec::{self, Malformed};
use crate::tables::table::Value;
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::yields::Yield;

/// What a batch overwrote of the last fetch of a page, and how it changed the links of the page.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PreviousFetch {
    /// Whether the batch contains a fetch of the page that did not fail; else its links changed with aliases.
    pub is_fetch: bool,
    /// The time of the fetch before, in seconds since 1970 (UTC); `None` if it is not known.
    pub fetched: Option<u64>,
    /// The sums before; `None` if there were none.
    pub sums: Option<Yield>,
    /// Links that the batch added, ascending.
    pub gained: Vec<PageId>,
    /// Links that the batch removed, ascending.
    pub lost: Vec<PageId>,
}

/// Bits of the first byte of an entry.
const FETCH: u64 = 1;
const FETCHED: u64 = 2;
const SUMS: u64 = 4;
const GAINED: u64 = 8;
const LOST: u64 = 16;

/// The pages of a block that were fetched before, with their positions, ascending; never empty.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PreviousFetches(pub Vec<(u32, PreviousFetch)>);

fn put_links(links: &[PageId], out: &mut Vec<u8>) {
    if !links.is_empty() {
        codec::put_ascending(links.iter().map(|page| page.0), out);
    }
}

/// Decodes an ascending list from the front of `bytes` and advances it.
fn take_links(bytes: &mut &[u8]) -> Result<Vec<PageId>, Malformed> {
    let bad = || Malformed("list of links is invalid".to_owned());
    let length = codec::take_varint(bytes)?;
    // Every entry takes a byte, so a length cannot ask for more memory than there is input.
    let length = usize::try_from(length).ok().filter(|n| *n <= bytes.len());
    let mut links = Vec::with_capacity(length.ok_or_else(bad)?);
    let mut next = Some(0_u64);
    for _ in 0..length.unwrap_or(0) {
        let gap = codec::take_varint(bytes)?;
        let page = next
            .and_then(|next| next.checked_add(gap))
            .ok_or_else(bad)?;
        links.push(PageId(page));
        next = page.checked_add(1);
    }
    Ok(links)
}

impl Value for PreviousFetches {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        let mut next = 0;
        for (place, fetch) in &self.0 {
            if *place < next || *place >= BLOCK_LEN {
                return Err(Malformed("positions of a block do not ascend".to_owned()));
            }
            codec::put_varint(u64::from(*place - next), out);
            next = *place + 1;
            let flags = [
                (fetch.is_fetch, FETCH),
                (fetch.fetched.is_some(), FETCHED),
                (fetch.sums.is_some(), SUMS),
                (!fetch.gained.is_empty(), GAINED),
                (!fetch.lost.is_empty(), LOST),
            ];
            let flags = flags.iter().filter(|(is_set, _)| *is_set);
            codec::put_varint(flags.map(|(_, bit)| bit).sum(), out);
            if let Some(fetched) = fetch.fetched {
                codec::put_varint(fetched, out);
            }
            if let Some(sums) = fetch.sums {
                put_sums(sums, out);
            }
            put_links(&fetch.gained, out);
            put_links(&fetch.lost, out);
        }
        Ok(())
    }

    fn decode(mut bytes: &[u8]) -> Result<Self, Malformed> {
        let bytes = &mut bytes;
        let mut block = Vec::new();
        let mut next = 0;
        while !bytes.is_empty() {
            let place = place_after(next, codec::take_varint(bytes)?)?;
            next = place + 1;
            let flags = codec::take_varint(bytes)?;
            let is_set = |bit| flags & bit != 0;
            if flags > FETCH | FETCHED | SUMS | GAINED | LOST {
                return Err(Malformed("flags of a fetch are unknown".to_owned()));
            }
            let mut fetch = PreviousFetch {
                is_fetch: is_set(FETCH),
                ..PreviousFetch::default()
            };
            if is_set(FETCHED) {
                fetch.fetched = Some(codec::take_varint(bytes)?);
            }
            if is_set(SUMS) {
                fetch.sums = Some(take_sums(bytes)?);
            }
            for (bit, links) in [(GAINED, &mut fetch.gained), (LOST, &mut fetch.lost)] {
                if is_set(bit) {
                    *links = take_links(bytes)?;
                    if links.is_empty() {
                        return Err(Malformed("list of links is empty".to_owned()));
                    }
                }
            }
            block.push((place, fetch));
        }
        if block.is_empty() {
            return Err(Malformed("block is empty".to_owned()));
        }
        Ok(Self(block))
    }
}

/// The sums of the pages of a block with their positions, ascending; never empty.
///
/// Each takes 3 to 8 bytes: the gap of its position, and the two sums.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct YieldBlock(pub Vec<(u32, Yield)>);

impl YieldBlock {
    /// Returns the sums at a position; `None` if there are none.
    #[must_use]
    pub fn at(&self, place: u32) -> Option<Yield> {
        let found = self.0.binary_search_by_key(&place, |entry| entry.0).ok()?;
        Some(self.0[found].1)
    }

    /// Replaces the sums at a position, or removes them.
    pub fn set(&mut self, place: u32, sums: Option<Yield>) {
        let found = self.0.binary_search_by_key(&place, |entry| entry.0);
        match (found, sums) {
            (Ok(at), Some(sums)) => self.0[at].1 = sums,
            (Ok(at), None) => {
                self.0.remove(at);
            }
            (Err(at), Some(sums)) => self.0.insert(at, (place, sums)),
            (Err(_), None) => {}
        }
    }
}

/// Appends two sums.
pub(super) fn put_sums(sums: Yield, out: &mut Vec<u8>) {
    codec::put_varint(sums.days, out);
    codec::put_varint(sums.new, out);
}

/// Decodes two sums from the front of `bytes` and advances it.
pub(super) fn take_sums(bytes: &mut &[u8]) -> Result<Yield, Malformed> {
    Ok(Yield {
        days: codec::take_varint(bytes)?,
        new: codec::take_varint(bytes)?,
    })
}

/// Returns the position that follows `next` by a gap.
pub(super) fn place_after(next: u32, gap: u64) -> Result<u32, Malformed> {
    let place = u64::from(next).checked_add(gap);
    let place = place.and_then(|place| u32::try_from(place).ok());
    place
        .filter(|place| *place < BLOCK_LEN)
        .ok_or_else(|| Malformed("a position is not in the block".to_owned()))
}

impl Value for YieldBlock {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        let mut next = 0;
        for (place, sums) in &self.0 {
            if *place < next || *place >= BLOCK_LEN {
                return Err(Malformed("positions of a block do not ascend".to_owned()));
            }
            codec::put_varint(u64::from(*place - next), out);
            put_sums(*sums, out);
            next = *place + 1;
        }
        Ok(())
    }

    fn decode(mut bytes: &[u8]) -> Result<Self, Malformed> {
        let bytes = &mut bytes;
        let mut block = Vec::new();
        let mut next = 0;
        while !bytes.is_empty() {
            let place = place_after(next, codec::take_varint(bytes)?)?;
            block.push((place, take_sums(bytes)?));
            next = place + 1;
        }
        if block.is_empty() {
            return Err(Malformed("block is empty".to_owned()));
        }
        Ok(Self(block))
    }
}

/// What the fetches of a batch brought.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Observed {
    /// The number of pages that were fetched before and are fetched again.
    pub fetched_again: u64,
    /// The total number of seconds between these fetches and the previous ones.
    pub seconds: u64,
    /// The links that the bank saw for the first time in these fetches.
    pub new_links: u64,
    /// The number of known pages that were tried for the first time.
    pub tried: u64,
    /// The number of known pages that were fetched for the first time.
    pub answered: u64,
    /// The links that the bank saw for the first time in these first fetches.
    pub new_links_of_first: u64,
    /// Whether the batch looks like a bulk import, so that the sums of pages do not contain its fetches.
    pub is_bulk: bool,
}

impl Observed {
    /// Adds what other fetches brought.
    pub fn add(&mut self, other: &Self) {
        self.fetched_again += other.fetched_again;
        self.seconds = self.seconds.saturating_add(other.seconds);
        self.new_links += other.new_links;
        self.tried += other.tried;
        self.answered += other.answered;
        self.new_links_of_first += other.new_links_of_first;
        self.is_bulk |= other.is_bulk;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn links() -> impl Strategy<Value = Vec<PageId>> {
        let pages = prop::collection::btree_set(any::<u64>(), 0..5);
        pages.prop_map(|pages| pages.into_iter().map(PageId).collect())
    }

    prop_compose! {
        fn fetch()(
            is_fetch in any::<bool>(),
            fetched in any::<Option<u64>>(),
            sums in any::<Option<(u64, u64)>>(),
            gained in links(),
            lost in links(),
        ) -> PreviousFetch {
            let sums = sums.map(|(days, new)| Yield { days, new });
            PreviousFetch { is_fetch, fetched, sums, gained, lost }
        }
    }

    proptest! {
        #[test]
        fn blocks_come_back(
            entries in prop::collection::btree_map(0..BLOCK_LEN, fetch(), 1..9),
            cut in any::<prop::sample::Index>(),
        ) {
            let block = PreviousFetches(entries.into_iter().collect());
            let mut bytes = Vec::new();
            block.encode(&mut bytes).unwrap();
            prop_assert_eq!(PreviousFetches::decode(&bytes), Ok(block.clone()));
            let shorter = PreviousFetches::decode(&bytes[..cut.index(bytes.len())]);
            prop_assert!(shorter.is_err() || shorter != Ok(block));
        }

        #[test]
        fn any_bytes_are_decoded_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = PreviousFetches::decode(&bytes);
        }
    }

    proptest! {
        #[test]
        fn yields_come_back(
            entries in prop::collection::btree_map(0..BLOCK_LEN, (any::<u64>(), any::<u64>()), 1..64),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut block = YieldBlock::default();
            for (place, (days, new)) in &entries {
                block.set(*place, Some(Yield { days: *days, new: *new }));
            }
            let mut bytes = Vec::new();
            block.encode(&mut bytes).unwrap();
            prop_assert_eq!(YieldBlock::decode(&bytes), Ok(block.clone()));
            // A truncated block is refused or has fewer pages; nothing panics.
            let shorter = YieldBlock::decode(&bytes[..cut.index(bytes.len())]);
            prop_assert!(shorter.is_err() || shorter != Ok(block));
        }

        #[test]
        fn any_bytes_are_decoded_as_yields_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = YieldBlock::decode(&bytes);
        }
    }

    #[test]
    fn pages_are_replaced_and_removed() {
        let mut block = YieldBlock::default();
        let sums = |days| Yield { days, new: 0 };
        block.set(5, Some(sums(1)));
        block.set(3, Some(sums(2)));
        block.set(5, Some(sums(3)));
        block.set(9, None);
        assert_eq!(block.0, [(3, sums(2)), (5, sums(3))]);
        assert_eq!((block.at(5), block.at(4)), (Some(sums(3)), None));
        block.set(3, None);
        assert_eq!(block.0, [(5, sums(3))]);
        assert!(YieldBlock::decode(&[]).is_err());
    }
}
