//! Encoding and decoding of values.
//!
//! * *Records* (structs with many fields, read one at a time) are a version byte and bincode 1.3.3,
//!   with variable-length integers, a size limit and no trailing bytes. No other module uses bincode,
//!   so another codec would only need another version byte.
//! * *Hot arrays* (links, scores, bitmaps) have compact encodings of their own. An ascending list is
//!   a count, the first number and then gaps minus one, each as a LEB128 varint: on real crawls about
//!   one byte per intra-site link.
//!
//! Decoding validates everything: bytes that this module did not write result in [`Malformed`], never
//! in a panic or a large allocation.

use bincode::Options;
use roaring::RoaringBitmap;
use serde::Serialize;
use serde::de::DeserializeOwned;

use seedbank_algorithms::page::PageSet;

/// The version byte of a record.
const RECORD_VERSION: u8 = 1;

/// The maximum size of a record in bytes.
const RECORD_LIMIT: u64 = 1 << 30;

/// The error of bytes that are not a valid value.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub(crate) String);

fn malformed(what: &str) -> Malformed {
    Malformed(what.to_owned())
}

fn options() -> impl Options {
    bincode::DefaultOptions::new()
        .with_limit(RECORD_LIMIT)
        .with_varint_encoding()
        .reject_trailing_bytes()
}

/// Appends a record: the version byte and the bincode.
pub(crate) fn put_record<T: Serialize>(record: &T, out: &mut Vec<u8>) -> Result<(), Malformed> {
    out.push(RECORD_VERSION);
    options()
        .serialize_into(out, record)
        .map_err(|e| Malformed(format!("record cannot be encoded: {e}")))
}

/// Decodes a record that [`put_record`] wrote.
pub(crate) fn take_record<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Malformed> {
    match bytes.split_first() {
        Some((&RECORD_VERSION, rest)) => options()
            .deserialize(rest)
            .map_err(|e| Malformed(format!("record cannot be decoded: {e}"))),
        Some((version, _)) => Err(Malformed(format!(
            "expected record version {RECORD_VERSION}, found version {version}"
        ))),
        None => Err(malformed("record is empty")),
    }
}

/// Appends a LEB128 varint.
#[expect(
    clippy::cast_possible_truncation,
    reason = "only the low seven bits are used"
)]
pub(crate) fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push((value as u8 & 0x7f) | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Takes a LEB128 varint from the front of `bytes`.
pub(crate) fn take_varint(bytes: &mut &[u8]) -> Result<u64, Malformed> {
    let mut value = 0_u64;
    for (position, &byte) in bytes.iter().enumerate() {
        let part = u64::from(byte & 0x7f);
        let shift = 7 * position;
        if shift > 63 || (shift == 63 && part > 1) {
            return Err(malformed("varint is too long"));
        }
        value |= part << shift;
        if byte & 0x80 == 0 {
            *bytes = &bytes[position + 1..];
            return Ok(value);
        }
    }
    Err(malformed("varint is truncated"))
}

/// Takes a LEB128 varint of at most 32 bits from the front of `bytes`.
pub(crate) fn take_u32(bytes: &mut &[u8]) -> Result<u32, Malformed> {
    u32::try_from(take_varint(bytes)?).map_err(|_| malformed("number exceeds 32 bits"))
}

/// Takes a byte from the front of `bytes`.
pub(crate) fn take_byte(bytes: &mut &[u8]) -> Result<u8, Malformed> {
    let (byte, rest) = bytes
        .split_first()
        .ok_or_else(|| malformed("value is truncated"))?;
    *bytes = rest;
    Ok(*byte)
}

/// Appends a strictly ascending list.
pub(crate) fn put_ascending(values: impl ExactSizeIterator<Item = u64>, out: &mut Vec<u8>) {
    put_varint(values.len() as u64, out);
    let mut next = 0;
    for value in values {
        assert!(value >= next, "the list ascends strictly");
        put_varint(value - next, out);
        next = value.saturating_add(1);
    }
}

/// Decodes a strictly ascending list of numbers up to `largest`.
pub(crate) fn take_ascending(mut bytes: &[u8], largest: u64) -> Result<Vec<u64>, Malformed> {
    let count = take_varint(&mut bytes)?;
    // Every entry takes at least one byte, which bounds the allocation.
    if count > bytes.len() as u64 {
        return Err(malformed("list is shorter than its count"));
    }
    let mut values = Vec::with_capacity(bytes.len().min(usize::try_from(count).unwrap_or(0)));
    let mut next = 0_u64;
    for place in 0..count {
        let gap = take_varint(&mut bytes)?;
        let value = next
            .checked_add(gap)
            .filter(|value| *value <= largest)
            .ok_or_else(|| malformed("list exceeds the largest number"))?;
        if value == u64::MAX && place + 1 < count {
            return Err(malformed("list does not ascend"));
        }
        values.push(value);
        next = value.wrapping_add(1);
    }
    if bytes.is_empty() {
        Ok(values)
    } else {
        Err(malformed("list has trailing bytes"))
    }
}

/// Appends scores as little-endian doubles.
pub(crate) fn put_scores(scores: &[f64], out: &mut Vec<u8>) {
    for score in scores {
        out.extend_from_slice(&score.to_le_bytes());
    }
}

/// Decodes scores that [`put_scores`] wrote.
pub(crate) fn take_scores(bytes: &[u8]) -> Result<Vec<f64>, Malformed> {
    let (chunks, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() {
        return Err(malformed("scores are truncated"));
    }
    let scores: Vec<f64> = chunks.iter().map(|c| f64::from_le_bytes(*c)).collect();
    if scores.iter().all(|score| score.is_finite()) {
        Ok(scores)
    } else {
        Err(malformed("a score is not finite"))
    }
}

/// Appends a bitmap in roaring's portable format.
pub(crate) fn put_bitmap(bitmap: &RoaringBitmap, out: &mut Vec<u8>) -> Result<(), Malformed> {
    bitmap
        .serialize_into(out)
        .map_err(|e| Malformed(format!("bitmap cannot be encoded: {e}")))
}

/// Decodes a bitmap and validates its structure.
pub(crate) fn take_bitmap(mut bytes: &[u8]) -> Result<RoaringBitmap, Malformed> {
    let bitmap = RoaringBitmap::deserialize_from(&mut bytes)
        .map_err(|e| Malformed(format!("bitmap cannot be decoded: {e}")))?;
    if bytes.is_empty() {
        Ok(bitmap)
    } else {
        Err(malformed("bitmap has trailing bytes"))
    }
}

/// Appends a set of pages in roaring's portable format.
pub(crate) fn put_pages(pages: &PageSet, out: &mut Vec<u8>) -> Result<(), Malformed> {
    pages
        .serialize_into(out)
        .map_err(|e| Malformed(format!("set of pages cannot be encoded: {e}")))
}

/// Decodes a set of pages and validates its structure.
pub(crate) fn take_pages(bytes: &[u8]) -> Result<PageSet, Malformed> {
    let pages = PageSet::deserialize_from(bytes)
        .map_err(|e| Malformed(format!("set of pages cannot be decoded: {e}")))?;
    // Of a duplicate site, roaring keeps only the last entry, so the length differs.
    if pages.serialized_size() == bytes.len() {
        Ok(pages)
    } else {
        Err(malformed(
            "set of pages has a duplicate site or trailing bytes",
        ))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lists_come_back(list in proptest::collection::btree_set(any::<u64>(), 0..200)) {
            let mut bytes = Vec::new();
            put_ascending(list.iter().copied().collect::<Vec<_>>().into_iter(), &mut bytes);
            prop_assert_eq!(take_ascending(&bytes, u64::MAX).unwrap(), list.into_iter().collect::<Vec<_>>());
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            if let Ok(list) = take_ascending(&bytes, u64::from(u32::MAX)) {
                prop_assert!(list.windows(2).all(|pair| pair[0] < pair[1]));
            }
            let _ = take_bitmap(&bytes);
            let _ = take_pages(&bytes);
            let _ = take_scores(&bytes);
            let _ = take_record::<(String, Vec<u64>)>(&bytes);
        }

        #[test]
        fn varints_come_back(value in any::<u64>()) {
            let mut bytes = Vec::new();
            put_varint(value, &mut bytes);
            let mut rest = bytes.as_slice();
            prop_assert_eq!(take_varint(&mut rest).unwrap(), value);
            prop_assert!(rest.is_empty());
        }
    }

    #[test]
    fn a_record_of_another_version_is_refused() {
        let mut bytes = Vec::new();
        put_record(&7_u32, &mut bytes).unwrap();
        assert_eq!(take_record::<u32>(&bytes), Ok(7));
        bytes[0] = 9;
        let said = take_record::<u32>(&bytes).unwrap_err().to_string();
        assert!(said.contains("version 9"), "{said}");
    }

    #[test]
    fn a_site_that_is_there_twice_is_refused() {
        let mut once = Vec::new();
        put_pages(&[3, 9].into_iter().collect(), &mut once).unwrap();
        assert!(take_pages(&once).is_ok());
        let twice = [&[2, 0, 0, 0, 0, 0, 0, 0], &once[8..], &once[8..]].concat();
        assert!(take_pages(&twice).is_err());
        assert!(take_pages(&[&once[..], &[0]].concat()).is_err());
    }

    #[test]
    fn a_truncated_bitmap_is_refused() {
        let mut bytes = Vec::new();
        put_bitmap(&(0..5000).collect(), &mut bytes).unwrap();
        assert!(take_bitmap(&bytes[..bytes.len() - 1]).is_err());
        assert!(take_bitmap(&bytes).is_ok());
    }
}
