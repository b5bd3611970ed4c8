//! Splits a text into blocks of whole lines.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use super::open::{DetectedInput, InputError, Opened};
use super::progress::Progress;
use super::reject::{EXCERPT_CHARS, Fault, RejectReason};
use super::source::{PIECE_RECORDS, PIECE_SIZE, Stop};

/// The maximum length of a line in bytes, without its end. A longer line is rejected and never held in
/// memory as a whole.
pub const MAX_LINE: usize = 16 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Whole lines, optionally followed by a line that exceeds the limit.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// Number of the first line, from 1.
    pub first_line: u64,
    /// The lines with their ends; the last may lack one. A line may exceed [`MAX_LINE`] by less than
    /// [`PIECE_SIZE`].
    pub text: Vec<u8>,
    /// The overlong line after them.
    pub overlong: Option<Overlong>,
    /// The number of lines, at most [`PIECE_RECORDS`].
    pub lines: usize,
}

/// A line that was skipped because of its length.
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
    /// Text that was read but is not part of a block yet.
    pending: Vec<u8>,
    /// Blocks that were cut already; their text precedes `pending`.
    ready: VecDeque<Block>,
    next_line: u64,
    started: bool,
    ended: bool,
    failed: Option<Stop>,
    /// Receives the detected format; `None` disables detection.
    detected: Option<Arc<OnceLock<DetectedInput>>>,
}

impl<'a> Blocks<'a> {
    /// Creates the blocks of an input. The detected format is stored in `detected`, if given.
    pub(super) const fn new(
        input: Opened,
        progress: Progress<'a>,
        detected: Option<Arc<OnceLock<DetectedInput>>>,
    ) -> Self {
        Self {
            input,
            progress,
            pending: Vec::new(),
            ready: VecDeque::new(),
            next_line: 1,
            started: false,
            ended: false,
            failed: None,
            detected,
        }
    }

    /// Returns the next block, or `None` at the end. A read error is returned once, after all lines that
    /// were complete before it.
    fn cut(&mut self) -> Result<Option<Block>, Stop> {
        if let Some(block) = self.ready.pop_front() {
            return Ok(Some(block));
        }
        let mut text = std::mem::take(&mut self.pending);
        let mut searched = 0;
        loop {
            self.read_more(&mut text);
            let fresh = text.get(searched..).unwrap_or_default();
            if let Some(end) = fresh.iter().rposition(|b| *b == b'\n') {
                self.pending = text.split_off(searched + end + 1);
                return Ok(Some(self.split_block(text)));
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

    /// Returns a block of these lines; if they are too many, of the first of them, queueing the others.
    fn split_block(&mut self, text: Vec<u8>) -> Block {
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
        let head = text.get(..EXCERPT_CHARS * 4).unwrap_or_default().to_vec();
        loop {
            text.clear();
            self.read_more(&mut text);
            if let Some(end) = text.iter().position(|b| *b == b'\n') {
                self.pending = text.split_off(end + 1);
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
        // Checked here and not once per block: a line or a stream may be endless.
        if let Err(interrupted) = self.progress.proceed() {
            self.failed = Some(interrupted.into());
            self.ended = true;
            return;
        }
        let start = text.len();
        text.resize(start + PIECE_SIZE, 0);
        let (read, error) = self.input.fill(text.get_mut(start..).unwrap_or_default());
        text.truncate(start + read);
        self.ended = read < PIECE_SIZE;
        if let Some(source) = error {
            // The complete lines are those of earlier blocks and those in `text`.
            let lines = self.next_line - 1 + line_ends(text) as u64;
            self.failed = Some(self.input.error(source, lines).into());
        }
        if !self.started {
            self.started = true;
            self.detect_format(text);
            if text.starts_with(BYTE_ORDER_MARK) {
                text.drain(..BYTE_ORDER_MARK.len());
            }
        }
    }

    /// Detects the format from the first bytes. If it cannot contain records, it becomes the input's error.
    fn detect_format(&mut self, text: &mut Vec<u8>) {
        let Some(cell) = &self.detected else { return };
        let head = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let Some(detected) = self.input.detected(head) else {
            return;
        };
        if detected.format.excludes_records() {
            text.clear();
            self.ended = true;
            self.failed = Some(InputError::NotRecords(detected).into());
        } else {
            // The cell is unset: an input is opened once.
            let _ = cell.set(detected);
        }
    }
}

impl Iterator for Blocks<'_> {
    type Item = Result<Block, Stop>;

    fn next(&mut self) -> Option<Self::Item> {
        self.cut().transpose()
    }
}

/// Returns the fault of a line of this length.
pub(super) fn line_too_long(bytes: u64) -> Fault {
    Fault::new(
        RejectReason::LineTooLong,
        format!("expected a line of at most {MAX_LINE} bytes, found {bytes}"),
    )
}

/// Counts line feeds.
#[expect(
    clippy::naive_bytecount,
    reason = "the compiler vectorises it, and parsing costs a hundred times as much"
)]
pub(super) fn line_ends(text: &[u8]) -> usize {
    text.iter().filter(|b| **b == b'\n').count()
}

/// Splits a text into lines without their ends (LF or CRLF).
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|b| *b == b'\n').map(|line| {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        line.strip_suffix(b"\r").unwrap_or(line)
    })
}
