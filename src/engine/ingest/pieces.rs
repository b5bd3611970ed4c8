//! Pieces of records between passes: input about a page, and its targets as gaps.

use serde::{Deserialize, Serialize};

use super::failed_run::FailedRun;
use super::fields::Bytes;
use super::origins::Origin;
use super::page_update::PageUpdate;
use crate::engine::{EngineError, Result};
use seedbank_store::Sorter;

/// Input about one URL, without its links.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum PageInput {
    Record(PageUpdate),
    /// Failed fetches; their time is that of the last one.
    Failures(FailedRun),
    /// How the crawler came to a fetch; its targets are the pages that it names.
    Origin(Origin),
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
