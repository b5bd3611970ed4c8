//! What a refresh by coverage keeps of a site that it selected on, so that the next one can follow
//! it when the site changes: the site as it was, and how the bounds of weights fell.
//!
//! ```text
//! block:  128-bit hash of the rest     head: pages of the site, P_uniq, the weights of the picks
//! pages:  (gap of the place, value, covering pick, links, marks: round, weight, positive value)
//! ```
//!
//! Every block has the head, so that a block that is missing or another refresh's shows. Numbers are
//! varints, negative ones folded; links and rounds have gaps. Size: some 8 bytes for each page, one
//! and a half for each link and 7 for each mark.

use super::codec::{self, Malformed};
use super::evidence::ReachKey;
use super::table::{Hash128, Table, Value};

/// What all blocks of a site have in common.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KeptHead {
    /// How many pages the site had.
    pub pages: u32,
    /// Numerator and denominator of `P_uniq`.
    pub p_uniq: (u64, u64),
    /// The weights that the picks were made by, in millionths.
    pub weights: Vec<i64>,
}

/// Upper bounds of a page's weight and of the positive value within its reach, in millionths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeptMark {
    /// How many picks had been made.
    pub round: u32,
    /// The bound of the weight.
    pub weight: i64,
    /// The bound of the positive value, which is no less.
    pub positive: i64,
}

/// A page.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KeptPage {
    /// Its value, in millionths.
    pub value: i64,
    /// The place, from 0, of the pick that was the first to cover it; `None` where none did.
    pub covered: Option<u32>,
    /// The indexes of the crawled pages of the site that it linked to, ascending.
    pub links: Vec<u32>,
    /// Bounds, with rounds that ascend.
    pub marks: Vec<KeptMark>,
}

/// The pages of a block, by their place in it, ascending.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KeptBlock {
    /// What all blocks of the site have in common.
    pub head: KeptHead,
    /// The pages; never empty.
    pub pages: Vec<(u32, KeptPage)>,
}

/// Zero and up to even numbers, negative ones to odd ones.
fn put_signed(value: i64, out: &mut Vec<u8>) {
    codec::put_varint(
        (value.cast_unsigned() << 1) ^ (value >> 63).cast_unsigned(),
        out,
    );
}

fn take_signed(bytes: &mut &[u8]) -> Result<i64, Malformed> {
    let folded = codec::take_varint(bytes)?;
    Ok((folded >> 1).cast_signed() ^ -(folded & 1).cast_signed())
}

fn take_u32(bytes: &mut &[u8]) -> Result<u32, Malformed> {
    let number = codec::take_varint(bytes)?;
    u32::try_from(number).map_err(|_| malformed("number has more than 32 bits"))
}

/// A count of things of which each takes at least one byte.
fn take_count(bytes: &mut &[u8]) -> Result<usize, Malformed> {
    let count = codec::take_varint(bytes)?;
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    if count > bytes.len() {
        return Err(malformed("list is shorter than its count"));
    }
    Ok(count)
}

/// The next of numbers with gaps between them.
fn take_next(bytes: &mut &[u8], next: u64) -> Result<u32, Malformed> {
    let number = next.saturating_add(codec::take_varint(bytes)?);
    u32::try_from(number).map_err(|_| malformed("number has more than 32 bits"))
}

fn malformed(what: &str) -> Malformed {
    Malformed(what.to_owned())
}

/// The same entries by their keys alone, for deleting them, damaged or not.
pub const UNREAD: Table<ReachKey, Unread> = Table::new("kept_sites");

/// A value that is not read.
#[derive(Clone, Copy, Debug)]
pub struct Unread;

impl Value for Unread {
    fn encode(&self, _: &mut Vec<u8>) -> Result<(), Malformed> {
        Err(malformed("what was not read cannot be written"))
    }

    fn decode(_: &[u8]) -> Result<Self, Malformed> {
        Ok(Self)
    }
}

fn hash(bytes: &[u8]) -> Hash128 {
    let mut hash = [0; 16];
    let whole = blake3::hash(bytes);
    hash.copy_from_slice(&whole.as_bytes()[..16]);
    hash
}

impl KeptPage {
    fn put(&self, out: &mut Vec<u8>) {
        put_signed(self.value, out);
        codec::put_varint(self.covered.map_or(0, |pick| u64::from(pick) + 1), out);
        codec::put_varint(self.links.len() as u64, out);
        let mut next = 0;
        for &link in &self.links {
            codec::put_varint(u64::from(link).saturating_sub(next), out);
            next = u64::from(link) + 1;
        }
        codec::put_varint(self.marks.len() as u64, out);
        let mut next = 0;
        for mark in &self.marks {
            codec::put_varint(u64::from(mark.round).saturating_sub(next), out);
            put_signed(mark.weight, out);
            put_signed(mark.positive.saturating_sub(mark.weight), out);
            next = u64::from(mark.round) + 1;
        }
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, Malformed> {
        let value = take_signed(bytes)?;
        let covered = take_u32(bytes)?.checked_sub(1);
        let mut links = Vec::new();
        let mut next = 0;
        for _ in 0..take_count(bytes)? {
            let link = take_next(bytes, next)?;
            next = u64::from(link) + 1;
            links.push(link);
        }
        let mut marks = Vec::new();
        let mut next = 0;
        for _ in 0..take_count(bytes)? {
            let round = take_next(bytes, next)?;
            next = u64::from(round) + 1;
            let weight = take_signed(bytes)?;
            let positive = weight.checked_add(take_signed(bytes)?);
            marks.push(KeptMark {
                round,
                weight,
                positive: positive.ok_or_else(|| malformed("a bound is too large"))?,
            });
        }
        Ok(Self {
            value,
            covered,
            links,
            marks,
        })
    }
}

impl Value for KeptBlock {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        let mut rest = Vec::new();
        codec::put_varint(u64::from(self.head.pages), &mut rest);
        codec::put_varint(self.head.p_uniq.0, &mut rest);
        codec::put_varint(self.head.p_uniq.1, &mut rest);
        codec::put_varint(self.head.weights.len() as u64, &mut rest);
        for &weight in &self.head.weights {
            put_signed(weight, &mut rest);
        }
        codec::put_varint(self.pages.len() as u64, &mut rest);
        let mut next = 0;
        for (place, page) in &self.pages {
            codec::put_varint(u64::from(*place).saturating_sub(next), &mut rest);
            page.put(&mut rest);
            next = u64::from(*place) + 1;
        }
        out.extend_from_slice(&hash(&rest));
        out.extend_from_slice(&rest);
        Ok(())
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let cut_off = || malformed("it is cut off");
        let (wanted, mut bytes) = bytes.split_at_checked(16).ok_or_else(cut_off)?;
        if hash(bytes) != wanted {
            return Err(malformed("it is not what its hash says"));
        }
        let bytes = &mut bytes;
        let mut head = KeptHead {
            pages: take_u32(bytes)?,
            p_uniq: (codec::take_varint(bytes)?, codec::take_varint(bytes)?),
            weights: Vec::new(),
        };
        for _ in 0..take_count(bytes)? {
            head.weights.push(take_signed(bytes)?);
        }
        let mut pages = Vec::new();
        let mut next = 0;
        for _ in 0..take_count(bytes)? {
            let place = take_next(bytes, next)?;
            next = u64::from(place) + 1;
            if place >= super::blocks::BLOCK {
                return Err(malformed("it names no page of the block"));
            }
            pages.push((place, KeptPage::take(bytes)?));
        }
        if !bytes.is_empty() || pages.is_empty() || head.p_uniq.1 == 0 {
            return Err(malformed("it has no pages, no P_uniq, or trailing bytes"));
        }
        Ok(Self { head, pages })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block() -> KeptBlock {
        let page = KeptPage {
            value: -9_000_000,
            covered: Some(0),
            links: vec![0, 7, 5000],
            marks: vec![
                KeptMark {
                    round: 0,
                    weight: -3,
                    positive: 12,
                },
                KeptMark {
                    round: 4,
                    weight: i64::MIN / 4,
                    positive: i64::MAX / 4,
                },
            ],
        };
        KeptBlock {
            head: KeptHead {
                pages: 70_000,
                p_uniq: (11, 12),
                weights: vec![5, -1],
            },
            pages: vec![(0, page), (4095, KeptPage::default())],
        }
    }

    #[test]
    fn a_block_comes_back_and_a_damaged_one_does_not() {
        let mut bytes = Vec::new();
        block().encode(&mut bytes).unwrap();
        assert_eq!(KeptBlock::decode(&bytes).unwrap(), block());
        for at in 0..bytes.len() {
            assert!(KeptBlock::decode(&bytes[..at]).is_err(), "{at}");
            let mut other = bytes.clone();
            other[at] ^= 1;
            assert!(KeptBlock::decode(&other).is_err(), "{at}");
        }
    }

    #[test]
    fn nonsense_with_a_right_hash_is_refused() {
        for rest in [&[1, 1, 1, 0, 0][..], &[1, 1, 0, 0, 1], &[1, 1, 1, 200], &[]] {
            let bytes = [&hash(rest)[..], rest].concat();
            assert!(KeptBlock::decode(&bytes).is_err(), "{rest:?}");
        }
    }
}
