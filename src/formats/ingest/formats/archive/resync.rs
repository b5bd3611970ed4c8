//! Resynchronisation: finding the records of a web archive by following their lengths.

use super::header::{self, MAGIC};
use crate::ingest::blocks::MAX_LINE;
use crate::ingest::formats::text_window::TextWindow;

/// The longest header of a record, in bytes.
pub(super) const MAX_HEADER: usize = 64 << 10;

/// How many lengths in a row must be right for a position to be accepted as a record.
const HOPS: usize = 2;

/// Where the length of a record leads.
enum Hop {
    /// To another record, at this offset.
    Record(usize),
    /// To the end of the text.
    End,
    /// Beyond the text that is examined.
    Unknown,
    /// There is no record, or none follows it.
    Invalid,
}

/// Where the header of a record ends.
pub(super) enum HeaderEnd {
    /// After this many bytes.
    At(usize),
    /// It is implausible or too long.
    Invalid,
    /// The text ends within it.
    Truncated,
}

/// Returns whether a record begins at an offset and leads to others.
pub(super) fn starts_chain(text: &mut TextWindow<'_>, mut at: usize) -> bool {
    for _ in 0..HOPS {
        match hop(text, at) {
            Hop::Record(next) => at = next,
            Hop::End | Hop::Unknown => return true,
            Hop::Invalid => return false,
        }
    }
    true
}

/// Returns whether the lengths of all records from some record after `from` on lead exactly to the
/// end of the text.
pub(super) fn chain_reaches_end(text: &mut TextWindow<'_>, from: usize) -> bool {
    let mut from = from.saturating_sub(1);
    while let Some(line) = next_line(text.from(from)) {
        let mut at = from + line;
        loop {
            match hop(text, at) {
                Hop::Record(next) => at = next,
                Hop::End => return true,
                // Every record of this chain ends here too, so the search continues after it.
                Hop::Unknown | Hop::Invalid => break,
            }
        }
        from = at;
    }
    false
}

/// Follows the length of the record at an offset.
fn hop(text: &mut TextWindow<'_>, at: usize) -> Hop {
    let end = match header_end(text, at, is_plausible_header) {
        HeaderEnd::At(end) => end,
        HeaderEnd::Invalid => return Hop::Invalid,
        HeaderEnd::Truncated => return Hop::Unknown,
    };
    let header = header::read(text.from(at).get(..end).unwrap_or_default());
    let Some(length) = header.length.filter(|_| header.is_complete()) else {
        return Hop::Invalid;
    };
    let length = usize::try_from(length).ok();
    let Some(length) = length.filter(|length| *length <= MAX_LINE) else {
        return Hop::Unknown;
    };
    let block_end = at + end + length;
    if !text.have(block_end) {
        return Hop::Unknown;
    }
    text.have(block_end + 4 + MAGIC.len());
    // Exactly two line ends, as the standard demands: an archive within a block is followed by more.
    let after = text.from(block_end);
    let line_ends: [&[u8]; 2] = [b"\r\n\r\n", b"\n\n"];
    let Some(line_ends) = line_ends.iter().find(|ends| after.starts_with(ends)) else {
        return Hop::Invalid;
    };
    match after.get(line_ends.len()..) {
        Some([]) if text.ended => Hop::End,
        Some(next) if next.starts_with(MAGIC) => Hop::Record(block_end + line_ends.len()),
        _ => Hop::Invalid,
    }
}

/// Finds the end of the header at an offset, of which each prefix must be plausible.
pub(super) fn header_end(
    text: &mut TextWindow<'_>,
    at: usize,
    is_plausible: impl Fn(&[u8]) -> bool,
) -> HeaderEnd {
    let mut wanted = 1 << 10;
    loop {
        let has_more = text.have(at + wanted);
        let prefix = text.from(at);
        let prefix = prefix.get(..MAX_HEADER).unwrap_or(prefix);
        if !is_plausible(prefix) {
            return HeaderEnd::Invalid;
        }
        match header::end(prefix) {
            Some(end) => return HeaderEnd::At(end),
            None if prefix.len() == MAX_HEADER => return HeaderEnd::Invalid,
            None if !has_more => return HeaderEnd::Truncated,
            None => wanted *= 2,
        }
    }
}

/// Returns whether a text can be a prefix of a header: a version, then lines with names.
fn is_plausible_header(text: &[u8]) -> bool {
    let mut lines = text.split_inclusive(|byte| *byte == b'\n');
    let version = lines.next().unwrap_or_default();
    let is_version = matches!(
        version.strip_prefix(MAGIC),
        Some(
            [b'0'..=b'9', b'.', b'0'..=b'9', b'\n']
                | [b'0'..=b'9', b'.', b'0'..=b'9', b'\r', b'\n']
        )
    );
    if !is_version {
        // The text may end within the version.
        return !version.ends_with(b"\n") && version.len() < MAGIC.len() + 5;
    }
    for line in lines {
        match line {
            [b'\n'] | [b'\r', b'\n'] => return true,
            [b' ' | b'\t', ..] => {}
            _ if line.starts_with(MAGIC) => return false,
            _ if line.ends_with(b"\n") && !line.contains(&b':') => return false,
            _ => {}
        }
    }
    true
}

/// Returns the offset of the first line, other than the first one, that begins like a record.
pub(super) fn next_line(text: &[u8]) -> Option<usize> {
    let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let mut after = ends.map(|(at, _)| at + 1);
    after.find(|at| text.get(*at..).is_some_and(|line| line.starts_with(MAGIC)))
}

/// Returns the offset of the first byte from `from` on that is not part of a line end, and makes
/// enough text available after it to recognise a record. Stops after `most` line ends, since these
/// may go on without an end.
pub(super) fn after_line_ends(text: &mut TextWindow<'_>, from: usize, most: usize) -> usize {
    let mut at = from;
    loop {
        let rest = text.from(at);
        // Bounded, so that a long run of line ends is not scanned once for each of many records.
        let rest = rest.get(..=most).unwrap_or(rest);
        let other = rest.iter().position(|byte| !is_line_end(*byte));
        at += other.unwrap_or(rest.len());
        if other.is_some() {
            text.have(at + MAGIC.len());
            return at;
        }
        if at - from > most || !text.have(at + 1) {
            return at;
        }
    }
}

/// Consumes line ends. Returns whether anything follows them.
pub(super) fn skip_line_ends(text: &mut TextWindow<'_>) -> bool {
    loop {
        let other = text.rest().iter().position(|byte| !is_line_end(*byte));
        text.advance(other.unwrap_or(usize::MAX));
        if other.is_some() {
            return true;
        }
        if !text.have(1) {
            return false;
        }
    }
}

const fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}
