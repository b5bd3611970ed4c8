//! Cutting a text into blocks of whole lines.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use super::open::{DetectedInput, InputError, Opened};
use super::progress::Progress;
use super::reject::{Fault, REJECTED_TEXT, RejectReason};
use super::source::{PIECE_RECORDS, PIECE_SIZE, Stop};

/// The longest line, in bytes without its end; a longer one is refused and never held whole.
pub const MAX_LINE: usize = 16 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Whole lines, followed perhaps by one that is too long to be held.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// Number of the first line, from 1.
    pub first_line: u64,
    /// The lines with their ends; the last may lack its end. One may exceed [`MAX_LINE`] by less
    /// than [`PIECE_SIZE`].
    pub text: Vec<u8>,
    /// The line after them, where it is too long.
    pub overlong: Option<Overlong>,
    /// How many lines there are, at most [`PIECE_RECORDS`].
    pub lines: usize,
}

/// A line that was skipped for its length.
#[derive(Debug)]
pub(super) struct Overlong {
    /// The beginning of the line.
    pub head: Vec<u8>,
    /// The length of the line in bytes, without its end.
    pub bytes: u64,
}

/// The blocks of one input, in order.
pub(super) struct Blocks<'a> {
    input: Opened,
    progress: Progress<'a>,
    /// Text that was read but is not yet part of a block.
    rest: Vec<u8>,
    /// Blocks that were cut already; their text comes before `rest`.
    ready: VecDeque<Block>,
    next_line: u64,
    started: bool,
    ended: bool,
    failed: Option<Stop>,
    /// Where it is left what the input is by its first bytes; `None` where they are not looked at.
    detected: Option<Arc<OnceLock<DetectedInput>>>,
}

impl<'a> Blocks<'a> {
    /// The blocks of an input; what it is by its first bytes is left in `seen`, if that is given.
    pub(super) const fn new(
        input: Opened,
        progress: Progress<'a>,
        detected: Option<Arc<OnceLock<DetectedInput>>>,
    ) -> Self {
        Self {
            input,
            progress,
            rest: Vec::new(),
            ready: VecDeque::new(),
            next_line: 1,
            started: false,
            ended: false,
            failed: None,
            detected,
        }
    }

    /// The next block, or `None` at the end. An error that stopped the reading is returned once,
    /// after all lines that were complete before it.
    fn cut(&mut self) -> Result<Option<Block>, Stop> {
        if let Some(block) = self.ready.pop_front() {
            return Ok(Some(block));
        }
        let mut text = std::mem::take(&mut self.rest);
        let mut searched = 0;
        loop {
            self.read_more(&mut text);
            let fresh = text.get(searched..).unwrap_or_default();
            if let Some(end) = fresh.iter().rposition(|b| *b == b'\n') {
                self.rest = text.split_off(searched + end + 1);
                return Ok(Some(self.first_of(text)));
            }
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            if self.ended {
                return Ok((!text.is_empty()).then(|| self.block(text, None)));
            }
            if text.len() > MAX_LINE {
                return self.skip_line(text).map(Some);
            }
            searched = text.len();
        }
    }

    /// A block of these lines, or of the first of them where there are too many.
    fn first_of(&mut self, text: Vec<u8>) -> Block {
        if line_ends(&text) <= PIECE_RECORDS {
            return self.block(text, None);
        }
        let mut rest = &text[..];
        while !rest.is_empty() {
            let mut ends = rest.iter().enumerate().filter(|(_, b)| **b == b'\n');
            let end = ends
                .nth(PIECE_RECORDS - 1)
                .map_or(rest.len(), |(at, _)| at + 1);
            let (piece, after) = rest.split_at(end);
            let block = self.block(piece.to_vec(), None);
            self.ready.push_back(block);
            rest = after;
        }
        self.ready.pop_front().unwrap_or_default()
    }

    fn block(&mut self, text: Vec<u8>, overlong: Option<Overlong>) -> Block {
        let first_line = self.next_line;
        let ends = line_ends(&text);
        let open = usize::from(text.last().is_some_and(|b| *b != b'\n'));
        let lines = ends + open + usize::from(overlong.is_some());
        self.next_line += lines as u64;
        Block {
            first_line,
            text,
            overlong,
            lines,
        }
    }

    /// Skips the rest of a line that begins with `text`.
    fn skip_line(&mut self, mut text: Vec<u8>) -> Result<Block, Stop> {
        let mut bytes = text.len() as u64;
        let head = text.get(..REJECTED_TEXT * 4).unwrap_or_default().to_vec();
        loop {
            text.clear();
            self.read_more(&mut text);
            if let Some(end) = text.iter().position(|b| *b == b'\n') {
                self.rest = text.split_off(end + 1);
                bytes += end as u64;
                break;
            }
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            bytes += text.len() as u64;
            if self.ended {
                break;
            }
        }
        Ok(self.block(Vec::new(), Some(Overlong { head, bytes })))
    }

    /// Appends the next [`PIECE_SIZE`] bytes, or fewer at the end or at an error.
    fn read_more(&mut self, text: &mut Vec<u8>) {
        if self.ended {
            return;
        }
        // Asked here and not once per block, since a line or a stream may have no end.
        if let Err(interrupted) = self.progress.proceed() {
            self.failed = Some(interrupted.into());
            self.ended = true;
            return;
        }
        let before = text.len();
        text.resize(before + PIECE_SIZE, 0);
        let (read, error) = self.input.fill(text.get_mut(before..).unwrap_or_default());
        text.truncate(before + read);
        self.ended = read < PIECE_SIZE;
        if let Some(source) = error {
            // Lines that are complete so far: those of earlier blocks, and those in `text`.
            let whole = line_ends(text) as u64;
            let lines = self.next_line - 1 + whole;
            self.failed = Some(self.input.error(source, lines).into());
        }
        if !self.started {
            self.started = true;
            self.look_at(text);
            if text.starts_with(BYTE_ORDER_MARK) {
                text.drain(..BYTE_ORDER_MARK.len());
            }
        }
    }
}

impl Blocks<'_> {
    /// Looks at the first bytes. Where no record can be among them, that is the input's error.
    fn look_at(&mut self, text: &mut Vec<u8>) {
        let Some(place) = &self.detected else { return };
        let head = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let Some(detected) = self.input.detected(head) else {
            return;
        };
        if detected.format.is_certain() {
            text.clear();
            self.ended = true;
            self.failed = Some(InputError::NotRecords(detected).into());
        } else {
            // Nobody else sets it: an input is opened once.
            let _ = place.set(detected);
        }
    }
}

impl Iterator for Blocks<'_> {
    type Item = Result<Block, Stop>;

    fn next(&mut self) -> Option<Self::Item> {
        self.cut().transpose()
    }
}

/// Why a line of this many bytes is refused.
pub(super) fn line_too_long(bytes: u64) -> Fault {
    Fault::new(
        RejectReason::LineTooLong,
        format!("expected a line of at most {MAX_LINE} bytes, found {bytes}"),
    )
}

#[expect(
    clippy::naive_bytecount,
    reason = "the compiler vectorises it, and parsing costs a hundred times as much"
)]
pub(super) fn line_ends(text: &[u8]) -> usize {
    text.iter().filter(|b| **b == b'\n').count()
}

/// The lines of a block's text, without their ends (LF or CRLF).
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|b| *b == b'\n').map(|line| {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        line.strip_suffix(b"\r").unwrap_or(line)
    })
}
