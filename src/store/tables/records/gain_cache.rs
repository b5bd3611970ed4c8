//! What a selection over the web leaves for the next refresh of its plan: the links and the value of pages, and the gains of
//! candidates before any pick.

use super::page_blocks::BLOCK;
use crate::tables::codec::{self, Malformed};
use crate::tables::table::Value;

/// What a selection leaves of a page. A page without links and with the value of a page that is known only from links is left
/// out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CachedGain {
    /// A hash of the pages of the web that the page links to, never 0; 0 if there are none.
    pub links: u64,
    /// The value, in millionths.
    pub value: i64,
    /// The gain before any pick, in millionths; `None` if the page was no candidate.
    pub gain: Option<i64>,
}

/// The pages of a block of [`BLOCK`] indexes with their positions, ascending; never empty.
///
/// A candidate takes about 14 bytes: the gap of its position, 8 bytes of the hash, the difference between its value and that of
/// the page before, and the gain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GainBlock(pub Vec<(u32, CachedGain)>);

const HAS_LINKS: u64 = 1;
const HAS_GAIN: u64 = 2;

/// Appends a signed number; numbers near 0 take the fewest bytes.
fn put_signed(value: i64, out: &mut Vec<u8>) {
    codec::put_varint(
        (value.cast_unsigned() << 1) ^ (value >> 63).cast_unsigned(),
        out,
    );
}

fn take_signed(bytes: &mut &[u8]) -> Result<i64, Malformed> {
    let value = codec::take_varint(bytes)?;
    Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
}

impl Value for GainBlock {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        let (mut next, mut last) = (0, 0_i64);
        for (place, cached) in &self.0 {
            if *place < next || *place >= BLOCK {
                return Err(Malformed("positions of a block do not ascend".to_owned()));
            }
            let links = if cached.links == 0 { 0 } else { HAS_LINKS };
            let gain = cached.gain.map_or(0, |_| HAS_GAIN);
            codec::put_varint(u64::from(*place - next) << 2 | links | gain, out);
            if cached.links != 0 {
                out.extend_from_slice(&cached.links.to_le_bytes());
            }
            put_signed(cached.value.wrapping_sub(last), out);
            if let Some(gain) = cached.gain {
                put_signed(gain, out);
            }
            (next, last) = (*place + 1, cached.value);
        }
        Ok(())
    }

    fn decode(mut bytes: &[u8]) -> Result<Self, Malformed> {
        let bytes = &mut bytes;
        let bad = |what: &str| Malformed(what.to_owned());
        let mut block = Vec::new();
        let (mut next, mut last) = (0, 0_i64);
        while !bytes.is_empty() {
            let head = codec::take_varint(bytes)?;
            let place = u64::from(next) + (head >> 2);
            let place = u32::try_from(place).unwrap_or(BLOCK);
            if place >= BLOCK {
                return Err(bad("a position is not in the block"));
            }
            let mut cached = CachedGain::default();
            if head & HAS_LINKS != 0 {
                let (links, rest) = bytes
                    .split_first_chunk()
                    .ok_or_else(|| bad("block is truncated"))?;
                (cached.links, *bytes) = (u64::from_le_bytes(*links), rest);
                if cached.links == 0 {
                    return Err(bad("the hash of links is 0"));
                }
            }
            cached.value = last.wrapping_add(take_signed(bytes)?);
            if head & HAS_GAIN != 0 {
                cached.gain = Some(take_signed(bytes)?);
            }
            (next, last) = (place + 1, cached.value);
            block.push((place, cached));
        }
        if block.is_empty() {
            return Err(bad("block is empty"));
        }
        Ok(Self(block))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn blocks_come_back_and_damaged_ones_are_refused(
            pages in prop::collection::btree_map(
                0..BLOCK,
                (0_u64..3, any::<i64>(), prop::option::of(any::<i64>())),
                1..40,
            ),
            cut in any::<prop::sample::Index>(),
        ) {
            let pages = pages.into_iter().map(|(place, (links, value, gain))| {
                (place, CachedGain { links, value, gain })
            });
            let block = GainBlock(pages.collect());
            let mut bytes = Vec::new();
            block.encode(&mut bytes).unwrap();
            prop_assert_eq!(GainBlock::decode(&bytes).unwrap(), block.clone());
            // A part of the pages, or nothing.
            let fewer = GainBlock::decode(&bytes[..cut.index(bytes.len())]);
            prop_assert!(fewer.is_err() || block.0.starts_with(&fewer.unwrap().0));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            if let Ok(block) = GainBlock::decode(&bytes) {
                prop_assert!(block.0.windows(2).all(|pair| pair[0].0 < pair[1].0));
            }
        }
    }
}
