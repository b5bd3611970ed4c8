//! The parts of an image as bytes. Each part is cut into chunks of [`CHUNK`] items, which are encoded
//! independently. Numbers are LEB128 varints; what is signed is zigzag-coded. All chunks are then compressed.
//!
//! | part | an item | values |
//! | --- | --- | --- |
//! | sites | a site | number of pages, number of rows, pages with digest, distinct digests |
//! | runs | a run | difference of the site, number of pages, prefix: length shared with the previous one, rest |
//! | order | a page | difference of the slot |
//! | pages | a page | flags, one byte; then, of pages with a row, the difference of its number |
//! | rows | a row | difference of the index; number of targets; targets |
//! | attributes | a page | clicks, 0 or one more than the uncrawled outlinks, quality |
//! | intra | a page | number of targets; targets |
//!
//! Differences are from the previous item of the chunk. Targets are the difference of the first target from
//! that of the previous list, then the gaps less one: lists of the same template have the same bytes.

use super::order::Run;
use super::{Flags, ImageSite, NO_ROW, PageAttributes};
use crate::tables::codec::{Malformed, put_varint};
use seedbank_algorithms::page::SiteId;

/// The number of items of a chunk.
pub(super) const CHUNK: usize = 1 << 16;

/// Marks a page with a row.
const HAS_ROW: u8 = 1 << 4;

fn malformed() -> Malformed {
    Malformed("a chunk of the graph image is malformed".to_owned())
}

fn put_signed(value: i64, out: &mut Vec<u8>) {
    put_varint(((value << 1) ^ (value >> 63)).cast_unsigned(), out);
}

/// Encodes differences between numbers.
#[derive(Default)]
struct Differences {
    last: i64,
}

impl Differences {
    fn put(&mut self, value: u32, out: &mut Vec<u8>) {
        put_signed(i64::from(value) - self.last, out);
        self.last = i64::from(value);
    }

    fn take(&mut self, from: &mut Bytes<'_>) -> Result<u32, Malformed> {
        let coded = from.varint()?;
        let difference = (coded >> 1).cast_signed() ^ -(coded & 1).cast_signed();
        let value = self.last.wrapping_add(difference);
        self.last = value;
        u32::try_from(value).map_err(|_| malformed())
    }
}

/// The rest of a chunk.
pub(super) struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn varint(&mut self) -> Result<u64, Malformed> {
        let mut value = 0;
        for (at, &byte) in self.0.iter().enumerate().take(10) {
            value |= u64::from(byte & 0x7f) << (7 * at);
            if byte < 0x80 {
                self.0 = &self.0[at + 1..];
                return Ok(value);
            }
        }
        Err(malformed())
    }

    fn number(&mut self) -> Result<u32, Malformed> {
        u32::try_from(self.varint()?).map_err(|_| malformed())
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    /// Fails unless everything was taken.
    pub(super) fn finish(self) -> Result<(), Malformed> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(malformed())
        }
    }
}

pub(super) fn put_sites(sites: &[ImageSite], out: &mut Vec<u8>) {
    for site in sites {
        for value in [
            site.pages,
            site.rows,
            site.with_digest,
            site.distinct_digests,
        ] {
            put_varint(u64::from(value), out);
        }
    }
}

pub(super) fn take_sites(from: &mut Bytes<'_>, count: usize) -> Result<Vec<ImageSite>, Malformed> {
    let site = |_| {
        Ok(ImageSite {
            pages: from.number()?,
            rows: from.number()?,
            with_digest: from.number()?,
            distinct_digests: from.number()?,
            ..ImageSite::default()
        })
    };
    (0..count).map(site).collect()
}

pub(super) fn put_runs(runs: &[Run], out: &mut Vec<u8>) {
    let mut sites = Differences::default();
    let mut last = "";
    for run in runs {
        sites.put(run.site.0, out);
        put_varint(u64::from(run.length), out);
        let pairs = last.bytes().zip(run.begins.bytes());
        let mut shared = pairs.take_while(|(a, b)| a == b).count();
        while !run.begins.is_char_boundary(shared) {
            shared -= 1;
        }
        let rest = &run.begins.as_bytes()[shared..];
        put_varint(shared as u64, out);
        put_varint(rest.len() as u64, out);
        out.extend_from_slice(rest);
        last = &run.begins;
    }
}

pub(super) fn take_runs(from: &mut Bytes<'_>, count: usize) -> Result<Vec<Run>, Malformed> {
    let mut sites = Differences::default();
    let mut runs: Vec<Run> = Vec::with_capacity(count);
    for _ in 0..count {
        let site = SiteId(sites.take(from)?);
        let length = from.number()?;
        let shared = from.number()? as usize;
        let rest = from.number()? as usize;
        let rest = std::str::from_utf8(from.take(rest)?).map_err(|_| malformed())?;
        let last = runs.last().map_or("", |run| run.begins.as_str());
        let begins = [last.get(..shared).ok_or_else(malformed)?, rest].concat();
        runs.push(Run {
            begins,
            site,
            start: 0,
            length,
        });
    }
    Ok(runs)
}

pub(super) fn put_order(order: &[u32], out: &mut Vec<u8>) {
    let mut slots = Differences::default();
    for &slot in order {
        slots.put(slot, out);
    }
}

pub(super) fn take_order(from: &mut Bytes<'_>, count: usize) -> Result<Vec<u32>, Malformed> {
    let mut slots = Differences::default();
    (0..count).map(|_| slots.take(from)).collect()
}

pub(super) fn put_pages(flags: &[Flags], row_of: &[u32], out: &mut Vec<u8>) {
    for (flags, &row) in flags.iter().zip(row_of) {
        out.push(flags.0 | if row == NO_ROW { 0 } else { HAS_ROW });
    }
    let mut rows = Differences::default();
    for &row in row_of.iter().filter(|row| **row != NO_ROW) {
        rows.put(row, out);
    }
}

pub(super) fn take_pages(
    from: &mut Bytes<'_>,
    count: usize,
) -> Result<(Vec<Flags>, Vec<u32>), Malformed> {
    let bytes = from.take(count)?;
    let mut rows = Differences::default();
    let mut row_of = Vec::with_capacity(count);
    for byte in bytes {
        row_of.push(if byte & HAS_ROW == 0 {
            NO_ROW
        } else {
            rows.take(from)?
        });
    }
    let flags = bytes.iter().map(|byte| Flags(byte & !HAS_ROW));
    Ok((flags.collect(), row_of))
}

pub(super) fn put_attributes(attributes: &[PageAttributes], out: &mut Vec<u8>) {
    for of_page in attributes {
        let given = of_page
            .uncrawled_given
            .map_or(0, |given| u64::from(given) + 1);
        for value in [of_page.clicks, given, u64::from(of_page.quality)] {
            put_varint(value, out);
        }
    }
}

pub(super) fn take_attributes(
    from: &mut Bytes<'_>,
    count: usize,
) -> Result<Vec<PageAttributes>, Malformed> {
    let attributes = |_| {
        let clicks = from.varint()?;
        let given = from.varint()?.checked_sub(1);
        let given = given.map(u32::try_from).transpose();
        let quality = u16::try_from(from.varint()?);
        Ok(PageAttributes {
            clicks,
            uncrawled_given: given.map_err(|_| malformed())?,
            quality: quality.map_err(|_| malformed())?,
        })
    };
    (0..count).map(attributes).collect()
}

/// Encodes lists that ascend strictly.
pub(super) fn put_lists<'a>(lists: impl Iterator<Item = &'a [u32]> + Clone, out: &mut Vec<u8>) {
    for list in lists.clone() {
        put_varint(list.len() as u64, out);
    }
    let mut firsts = Differences::default();
    for list in lists {
        if let Some((&first, rest)) = list.split_first() {
            firsts.put(first, out);
            let mut next = first.saturating_add(1);
            for &entry in rest {
                put_varint(u64::from(entry.saturating_sub(next)), out);
                next = entry.saturating_add(1);
            }
        }
    }
}

/// Decodes lists of numbers below `end`. Returns their lengths and all entries.
pub(super) fn take_lists(
    from: &mut Bytes<'_>,
    count: usize,
    end: u32,
) -> Result<(Vec<u32>, Vec<u32>), Malformed> {
    let lengths: Vec<u32> = (0..count)
        .map(|_| from.number())
        .collect::<Result<_, _>>()?;
    let total: usize = lengths.iter().map(|length| *length as usize).sum();
    // Every entry takes at least one byte, which bounds the allocation.
    if total > from.0.len() {
        return Err(malformed());
    }
    let mut entries = Vec::with_capacity(total);
    let mut firsts = Differences::default();
    for &length in lengths.iter().filter(|length| **length > 0) {
        let mut entry = firsts.take(from)?;
        entries.push(entry);
        for _ in 1..length {
            let gap = from.number()?;
            entry = entry
                .checked_add(gap)
                .and_then(|e| e.checked_add(1))
                .ok_or_else(malformed)?;
            entries.push(entry);
        }
        if entry >= end {
            return Err(malformed());
        }
    }
    Ok((lengths, entries))
}
