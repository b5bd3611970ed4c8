//! A web archive's text cut into its records.
//!
//! A record's length is believed where the next record, or the end, follows: only blank lines may
//! stand between, and no record may begin within. Otherwise the record is refused, and the next is
//! the one that begins at the next line with `WARC/`, which no line of JSON is. So a wrong length
//! costs one record.

use std::ops::Range;

use super::error::WatError;
use super::head::{self, MAGIC};
use crate::ingest::blocks::{MAX_LINE, line_ends, line_too_long};
use crate::ingest::foreign::{Foreign, HEAD};
use crate::ingest::open::{InputError, Opened};
use crate::ingest::progress::Progress;
use crate::ingest::reject::{Fault, REJECTED_TEXT, RejectReason};
use crate::ingest::source::{PIECE_RECORDS, PIECE_SIZE, Stop};

/// The longest head of a record, in bytes.
const MAX_HEAD: usize = 64 << 10;

/// Some neighbouring records.
#[derive(Debug, Default)]
pub(super) struct Frames {
    /// The blocks of those that are metadata, one after another.
    pub(super) text: Vec<u8>,
    /// The number of each record, from 1, and what it is.
    pub(super) records: Vec<(u64, Frame)>,
    /// How many bytes of decompressed text they were cut from.
    pub(super) bytes: u64,
}

/// A record, as far as its frame tells.
#[derive(Debug)]
pub(super) enum Frame {
    /// JSON that describes another record: its place in the text.
    Metadata(Range<usize>),
    /// Anything else.
    Other,
    /// It is refused; the beginning of its text.
    Refused(Fault, Vec<u8>),
}

/// The records of one input, in pieces.
pub(super) struct Cutter<'a> {
    file: String,
    input: Opened,
    progress: Progress<'a>,
    /// Text that was read, of which the first `at` bytes are done with.
    text: Vec<u8>,
    at: usize,
    /// How many bytes were read so far, and how many lines.
    read: u64,
    lines: u64,
    /// How many records there were so far.
    number: u64,
    ended: bool,
    /// The error after which no more can be read.
    failed: Option<Stop>,
    /// The error that is told after the records before it.
    ready: Option<Stop>,
}

impl<'a> Cutter<'a> {
    pub(super) const fn new(file: String, input: Opened, progress: Progress<'a>) -> Self {
        Self {
            file,
            input,
            progress,
            text: Vec::new(),
            at: 0,
            read: 0,
            lines: 0,
            number: 0,
            ended: false,
            failed: None,
            ready: None,
        }
    }

    /// The text that is not done with.
    fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Reads on until at least `length` bytes are not done with; `false` where the text ends before.
    fn have(&mut self, length: usize) -> bool {
        while self.rest().len() < length && !self.ended {
            self.read_more();
        }
        self.rest().len() >= length
    }

    /// Reads the next [`PIECE_SIZE`] bytes, or fewer at the end or at an error.
    fn read_more(&mut self) {
        // Asked here and not once per piece, since a record or a stream may have no end.
        if let Err(interrupted) = self.progress.proceed() {
            self.failed = Some(interrupted.into());
            self.ended = true;
            return;
        }
        self.text.drain(..self.at);
        self.at = 0;
        let before = self.text.len();
        self.text.resize(before + PIECE_SIZE, 0);
        let (read, error) = self
            .input
            .fill(self.text.get_mut(before..).unwrap_or_default());
        self.text.truncate(before + read);
        self.read += read as u64;
        self.lines += line_ends(self.text.get(before..).unwrap_or_default()) as u64;
        self.ended = read < PIECE_SIZE;
        if let Some(source) = error {
            self.failed = Some(self.input.error(source, self.lines).into());
            self.ended = true;
        }
    }

    /// The error of a text that ends here, within a record.
    fn cut_off(&mut self) -> Stop {
        self.failed.take().unwrap_or_else(|| {
            let error = WatError::CutOff {
                file: self.file.clone(),
                record: self.number,
                text: self.read,
            };
            InputError::from(error).into()
        })
    }

    /// The next record, its block appended to `text`; `None` at the end.
    fn next_frame(&mut self, text: &mut Vec<u8>) -> Result<Option<Frame>, Stop> {
        if !self.skip_line_ends() {
            return self.failed.take().map_or(Ok(None), Err);
        }
        self.number += 1;
        if self.number == 1 {
            self.look_at()?;
        }
        if !self.have(MAGIC.len()) && MAGIC.starts_with(self.rest()) {
            return Err(self.cut_off());
        }
        if !self.rest().starts_with(MAGIC) {
            return Ok(Some(self.refuse("no record begins here", 0)));
        }
        let mut wanted = 1 << 10;
        let end = loop {
            let more = self.have(wanted);
            let head = self.rest();
            let head = head.get(..MAX_HEAD).unwrap_or(head);
            if let Some(end) = head::end(head) {
                break end;
            }
            if head.len() == MAX_HEAD {
                let said = format!("a head of more than {MAX_HEAD} bytes");
                return Ok(Some(self.refuse(&said, 0)));
            }
            if !more {
                return Err(self.cut_off());
            }
            wanted *= 2;
        };
        let text_of_head = self.rest().get(..end).unwrap_or_default();
        if next_record(text_of_head).is_some() {
            return Ok(Some(self.refuse("a head without an end", 0)));
        }
        let head = head::read(text_of_head);
        match head.length {
            None => Ok(Some(self.refuse("no Content-Length", end))),
            Some(length) => match usize::try_from(length) {
                Ok(length) if length <= MAX_LINE => self.block(&head, end, length, text),
                _ => Ok(Some(self.skip_to_record(line_too_long(length), end))),
            },
        }
    }

    /// Looks at the first bytes of the text, which is refused where it is no WAT.
    fn look_at(&mut self) -> Result<(), Stop> {
        self.have(HEAD);
        let error = match self.input.seen(self.rest()) {
            Some(seen) if seen.is == Foreign::Wat => return Ok(()),
            Some(seen) => InputError::Foreign(seen),
            None => WatError::NoArchive {
                file: self.file.clone(),
            }
            .into(),
        };
        Err(self.failed.take().unwrap_or_else(|| error.into()))
    }

    /// The record whose head ends at `end` and whose block has `length` bytes, as the head says.
    fn block(
        &mut self,
        head: &head::Head,
        end: usize,
        length: usize,
        text: &mut Vec<u8>,
    ) -> Result<Option<Frame>, Stop> {
        let whole = end + length;
        let is_there = self.have(whole);
        let block = self.rest().get(end..).unwrap_or_default();
        let block = block.get(..length).unwrap_or(block);
        if let Some(inside) = next_record(block) {
            let said = format!(
                "Content-Length is {length}, and the next record begins {inside} bytes after the head"
            );
            return Ok(Some(self.refuse(&said, end)));
        }
        if !is_there {
            return Err(self.cut_off());
        }
        let next = self.after_line_ends(whole);
        let follows = self.rest().get(next..).unwrap_or_default();
        if !(follows.starts_with(MAGIC) || MAGIC.starts_with(follows)) {
            let said = format!("Content-Length is {length}, and no record begins after as many");
            return Ok(Some(self.refuse(&said, end)));
        }
        let frame = if head.is_metadata {
            let from = text.len();
            text.extend_from_slice(self.rest().get(end..whole).unwrap_or_default());
            Frame::Metadata(from..text.len())
        } else {
            Frame::Other
        };
        self.at += next;
        Ok(Some(frame))
    }

    /// Where, from `from` on, the first byte stands that ends no line; there are as many bytes after
    /// it as a record begins with, unless the text ends before. It stops after more line ends than a
    /// head may have bytes: these may go on without an end.
    fn after_line_ends(&mut self, from: usize) -> usize {
        let mut at = from;
        loop {
            let rest = self.rest().get(at..).unwrap_or_default();
            let other = rest.iter().position(|byte| !is_line_end(*byte));
            at += other.unwrap_or(rest.len());
            if other.is_some() {
                self.have(at + MAGIC.len());
                return at;
            }
            if at - from > MAX_HEAD || !self.have(at + 1) {
                return at;
            }
        }
    }

    /// Skips the ends of lines; whether anything comes after them.
    fn skip_line_ends(&mut self) -> bool {
        loop {
            let other = self.rest().iter().position(|byte| !is_line_end(*byte));
            self.at += other.unwrap_or_else(|| self.rest().len());
            if other.is_some() {
                return true;
            }
            if !self.have(1) {
                return false;
            }
        }
    }

    /// Refuses the record for its frame; the next is looked for `from` bytes further on.
    fn refuse(&mut self, said: &str, from: usize) -> Frame {
        self.skip_to_record(Fault::new(RejectReason::Framing, said), from)
    }

    /// Refuses the record, and goes to the next line after the first `from` bytes that begins one.
    fn skip_to_record(&mut self, fault: Fault, from: usize) -> Frame {
        let head = self.rest().get(..REJECTED_TEXT * 4);
        let head = head.unwrap_or_else(|| self.rest()).to_vec();
        // The line end before the magic is kept.
        self.at += from.saturating_sub(1);
        loop {
            if let Some(next) = next_record(self.rest()) {
                self.at += next;
                break;
            }
            if self.ended {
                self.at = self.text.len();
                break;
            }
            // What may be the beginning of a record stays.
            self.at += self.rest().len().saturating_sub(MAGIC.len());
            self.read_more();
        }
        Frame::Refused(fault, head)
    }

    /// The next records: as many as begin within [`PIECE_SIZE`] bytes, but no more than
    /// [`PIECE_RECORDS`].
    fn cut(&mut self) -> Result<Option<Frames>, Stop> {
        if let Some(error) = self.ready.take() {
            return Err(error);
        }
        let mut frames = Frames::default();
        let from = self.done();
        while frames.bytes < PIECE_SIZE as u64 && frames.records.len() < PIECE_RECORDS {
            match self.next_frame(&mut frames.text) {
                Ok(Some(frame)) => {
                    frames.records.push((self.number, frame));
                    frames.bytes = self.done() - from;
                }
                Ok(None) => break,
                Err(error) if frames.records.is_empty() => return Err(error),
                Err(error) => {
                    self.ready = Some(error);
                    break;
                }
            }
        }
        Ok((!frames.records.is_empty()).then_some(frames))
    }

    /// How many bytes of text are done with.
    fn done(&self) -> u64 {
        self.read - self.rest().len() as u64
    }
}

impl Iterator for Cutter<'_> {
    type Item = Result<Frames, Stop>;

    fn next(&mut self) -> Option<Self::Item> {
        self.cut().transpose()
    }
}

const fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// Where a line after the first begins as a record does.
fn next_record(text: &[u8]) -> Option<usize> {
    let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let mut after = ends.map(|(at, _)| at + 1);
    after.find(|at| text.get(*at..).is_some_and(|line| line.starts_with(MAGIC)))
}
