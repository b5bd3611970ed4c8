//! What fetches of neighbouring pages brought.

use crate::tables::codec::{self, Malformed};
use crate::tables::records::links::BLOCK_LEN;
use crate::tables::table::Value;
use seedbank_algorithms::yields::Yield;

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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn blocks_come_back(
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
        fn any_bytes_are_decoded_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
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
