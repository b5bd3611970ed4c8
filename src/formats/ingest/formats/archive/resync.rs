//! Records that are looked for in a text, each of which leads by its length to the next.

use super::header::{self, MAGIC};
use super::archive_text::ArchiveText;
use crate::ingest::blocks::MAX_LINE;

/// The longest head of a record, in bytes.
pub(super) const MAX_HEAD: usize = 64 << 10;

/// How many lengths must be right for a record to be one that was looked for.
const HOPS: usize = 2;

/// Where the length of a record leads.
enum Hop {
    /// To another record.
    To(usize),
    /// To the end of the text.
    End,
    /// Further than is looked.
    Far,
    /// It is no record, or none follows it.
    Nowhere,
}

/// Whether a record begins there that leads to others.
pub(super) fn leads_on(text: &mut ArchiveText<'_>, at: usize) -> bool {
    let mut at = at;
    for _ in 0..HOPS {
        match hop(text, at) {
            Hop::To(next) => at = next,
            Hop::End | Hop::Far => return true,
            Hop::Nowhere => return false,
        }
    }
    true
}

/// Whether a record within the rest leads, by the lengths of all that follow, to the end of it,
/// where the text ends.
pub(super) fn chain_to_end(text: &mut ArchiveText<'_>, from: usize) -> bool {
    let mut from = from.saturating_sub(1);
    while let Some(line) = next_line(text.from(from)) {
        let mut at = from + line;
        loop {
            match hop(text, at) {
                Hop::To(next) => at = next,
                Hop::End => return true,
                // All from there on lead here too.
                Hop::Far | Hop::Nowhere => break,
            }
        }
        from = at;
    }
    false
}

/// Where the length of the record that begins there leads, if it is one.
fn hop(text: &mut ArchiveText<'_>, at: usize) -> Hop {
    let mut wanted = 1 << 10;
    let end = loop {
        let more = text.have(at + wanted);
        let window = text.from(at);
        let window = window.get(..MAX_HEAD).unwrap_or(window);
        if !may_be_head(window) {
            return Hop::Nowhere;
        }
        if let Some(end) = header::end(window) {
            break end;
        }
        if window.len() == MAX_HEAD {
            return Hop::Nowhere;
        }
        // It is cut off in its head.
        if !more {
            return Hop::Far;
        }
        wanted *= 2;
    };
    let head = header::read(text.from(at).get(..end).unwrap_or_default());
    let Some(length) = head.length.filter(|_| head.is_whole()) else {
        return Hop::Nowhere;
    };
    let short = usize::try_from(length)
        .ok()
        .filter(|length| *length <= MAX_LINE);
    let Some(length) = short else {
        return Hop::Far;
    };
    let whole = at + end + length;
    if !text.have(whole) {
        return Hop::Far;
    }
    text.have(whole + 4 + MAGIC.len());
    // As the standard has it: an archive within a block is followed by more line ends.
    let after = text.from(whole);
    let ends: [&[u8]; 2] = [b"\r\n\r\n", b"\n\n"];
    let length = ends.iter().find(|ends| after.starts_with(ends));
    let length = length.map_or(0, |ends| ends.len());
    match after.get(length..) {
        _ if length == 0 => Hop::Nowhere,
        Some([]) if text.has_ended() => Hop::End,
        Some(follows) if follows.starts_with(MAGIC) => Hop::To(whole + length),
        _ => Hop::Nowhere,
    }
}

/// Whether a text may be the head of a record, as far as it goes: a version and lines with names.
fn may_be_head(text: &[u8]) -> bool {
    let mut lines = text.split_inclusive(|byte| *byte == b'\n');
    let version = lines.next().unwrap_or_default();
    let is_version = matches!(
        version.strip_prefix(MAGIC),
        Some(
            [b'0'..=b'9', b'.', b'0'..=b'9', b'\n']
                | [b'0'..=b'9', b'.', b'0'..=b'9', b'\r', b'\n']
        )
    );
    // A version that is cut off at the end of the text.
    let is_cut = !version.ends_with(b"\n") && version.len() < MAGIC.len() + 5;
    if !is_version {
        return is_cut;
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

/// Where a line after the first begins as a record does.
pub(super) fn next_line(text: &[u8]) -> Option<usize> {
    let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let mut after = ends.map(|(at, _)| at + 1);
    after.find(|at| text.get(*at..).is_some_and(|line| line.starts_with(MAGIC)))
}
