//! JSON cut into its records.

use std::ops::Range;

use super::error::JsonError;
use super::value::{End, Value};
use crate::ingest::blocks::{MAX_LINE, line_ends};
use crate::ingest::open::{InputError, Opened};
use crate::ingest::progress::Progress;
use crate::ingest::reject::EXCERPT_CHARS;
use crate::ingest::sniff::{DetectedFormat, HEAD_BYTES};
use crate::ingest::source::{PIECE_RECORDS, PIECE_SIZE, Stop};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Some neighbouring records.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// Their texts, one after another.
    pub(super) text: Vec<u8>,
    pub(super) places: Vec<Place>,
    /// The number of the first, from 1.
    pub(super) first: u64,
    /// How many bytes they were cut from.
    pub(super) bytes: u64,
}

/// Where a record stands in the text.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) text: Range<usize>,
    /// Whether that is all of it.
    pub(super) is_whole: bool,
    /// How long it was.
    pub(super) bytes: u64,
}

/// What may come next.
#[derive(Debug)]
enum Next {
    /// An array or a record, or the end: there is no array.
    Anything,
    /// The first record of an array, or its end.
    First,
    /// A record of an array.
    Record,
    /// A comma, or the end of an array.
    Comma,
    /// The rest of a record, in an array or not.
    Rest(Value, bool),
}

/// The records of one input, in pieces.
pub(super) struct Cutter<'a> {
    file: String,
    input: Opened,
    progress: Progress<'a>,
    /// Text that was read, of which the first `at` bytes are done with.
    text: Vec<u8>,
    at: usize,
    next: Next,
    /// The record that is being read, as far as it is held, and its length.
    record: Vec<u8>,
    length: u64,
    /// How many bytes and lines were read so far, and how many records were cut.
    read: u64,
    lines: u64,
    number: u64,
    ended: bool,
    /// The error that is told after the records before it.
    failed: Option<Stop>,
}

impl<'a> Cutter<'a> {
    pub(super) const fn new(file: String, input: Opened, progress: Progress<'a>) -> Self {
        Self {
            file,
            input,
            progress,
            text: Vec::new(),
            at: 0,
            next: Next::Anything,
            record: Vec::new(),
            length: 0,
            read: 0,
            lines: 0,
            number: 0,
            ended: false,
            failed: None,
        }
    }

    /// Reads the next [`PIECE_SIZE`] bytes, or fewer at the end or at an error.
    fn read_more(&mut self) {
        if let Err(interrupted) = self.progress.proceed() {
            self.failed = Some(interrupted.into());
            self.ended = true;
            return;
        }
        let is_first = self.read == 0;
        self.text.clear();
        self.text.resize(PIECE_SIZE, 0);
        self.at = 0;
        let (read, error) = self.input.fill(&mut self.text);
        self.text.truncate(read);
        self.read += read as u64;
        self.lines += line_ends(&self.text) as u64;
        self.ended = read < PIECE_SIZE;
        if let Some(source) = error {
            self.failed = Some(self.input.error(source, self.lines).into());
        } else if is_first {
            self.failed = self.look_at().err().map(Stop::from);
            self.ended |= self.failed.is_some();
        }
        if is_first && self.text.starts_with(BYTE_ORDER_MARK) {
            self.at = BYTE_ORDER_MARK.len();
        }
        if is_first && self.failed.is_some() {
            self.text.clear();
        }
    }

    /// Looks at the first bytes of the text, which is refused where it is no JSON.
    fn look_at(&self) -> Result<(), InputError> {
        let head = self.text.get(..HEAD_BYTES).unwrap_or(&self.text);
        let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
        let is_json = matches!(head.trim_ascii_start().first(), None | Some(b'[' | b'{'));
        match self.input.detected(head) {
            _ if head.is_empty() => Ok(()),
            Some(seen)
                if !matches!(
                    seen.format,
                    DetectedFormat::JsonArray
                        | DetectedFormat::JsonSpread
                        | DetectedFormat::JsonLines
                ) && (seen.format.excludes_records() || !is_json) =>
            {
                Err(InputError::NotRecords(seen))
            }
            _ if !is_json => Err(JsonError::NoJson {
                file: self.file.clone(),
            }
            .into()),
            _ => Ok(()),
        }
    }

    /// Goes on to the end of a record, which is added to `records`; `false` where more text is
    /// needed.
    fn next_record(&mut self, records: &mut Records) -> Result<bool, JsonError> {
        loop {
            if let Next::Rest(value, in_array) = &mut self.next {
                let rest = self.text.get(self.at..).unwrap_or_default();
                let (taken, is_end) = match value.end(rest) {
                    End::At(end) => (end, true),
                    End::Later => (rest.len(), false),
                };
                let taken = rest.get(..taken).unwrap_or(rest);
                self.length += taken.len() as u64;
                self.at += taken.len();
                // Of what is too long only the beginning is kept.
                if self.record.len() <= MAX_LINE {
                    self.record.extend_from_slice(taken);
                }
                if !is_end {
                    return Ok(false);
                }
                self.next = if *in_array {
                    Next::Comma
                } else {
                    Next::Anything
                };
                self.close(records);
                return Ok(true);
            }
            let rest = self.text.get(self.at..).unwrap_or_default();
            let space = rest.iter().position(|byte| !byte.is_ascii_whitespace());
            let Some(space) = space else {
                self.at = self.text.len();
                return Ok(false);
            };
            self.at += space;
            let first = rest.get(space).copied().unwrap_or_default();
            self.next = match (&self.next, first) {
                (Next::Anything, b'[') => {
                    self.at += 1;
                    Next::First
                }
                (Next::First | Next::Comma, b']') => {
                    self.at += 1;
                    Next::Anything
                }
                (Next::Comma, b',') => {
                    self.at += 1;
                    Next::Record
                }
                (Next::Comma, _) => return Err(self.between("a comma, or the end of the array")),
                (_, b',' | b':' | b']' | b'}') => return Err(self.between("a record")),
                (next, first) => {
                    let in_array = !matches!(next, Next::Anything);
                    Next::Rest(Value::new(first), in_array)
                }
            };
        }
    }

    /// Adds the record that is read.
    fn close(&mut self, records: &mut Records) {
        self.number += 1;
        if records.places.is_empty() {
            records.first = self.number;
        }
        let is_whole = self.record.len() <= MAX_LINE;
        if !is_whole {
            self.record.truncate(EXCERPT_CHARS * 4);
        }
        let from = records.text.len();
        records.text.append(&mut self.record);
        // What a long record took is given back.
        self.record.shrink_to(PIECE_SIZE);
        records.places.push(Place {
            text: from..records.text.len(),
            is_whole,
            bytes: self.length,
        });
        self.length = 0;
    }

    fn between(&self, wanted: &'static str) -> JsonError {
        let left = self.text.len().saturating_sub(self.at) as u64;
        JsonError::Between {
            file: self.file.clone(),
            record: self.number,
            byte: self.read - left + 1,
            wanted,
        }
    }

    /// What is wrong with a text that ends here.
    fn at_end(&mut self, records: &mut Records) -> Result<(), JsonError> {
        let is_whole = match &self.next {
            Next::Anything => return Ok(()),
            Next::Rest(value, false) => value.may_end(),
            _ => false,
        };
        if is_whole {
            self.next = Next::Anything;
            self.close(records);
            return Ok(());
        }
        Err(JsonError::CutOff {
            file: self.file.clone(),
            record: self.number,
            bytes: self.read,
        })
    }

    /// The next records: those that end within some [`PIECE_SIZE`] bytes, but no more than
    /// [`PIECE_RECORDS`].
    fn cut(&mut self) -> Result<Option<Records>, Stop> {
        let mut records = Records::default();
        let from = self.done();
        while records.places.len() < PIECE_RECORDS && self.done() - from < PIECE_SIZE as u64 {
            match self.next_record(&mut records) {
                Ok(true) => continue,
                Ok(false) if !self.ended => {
                    self.read_more();
                    continue;
                }
                Ok(false) => {}
                Err(error) => {
                    self.failed = Some(InputError::from(error).into());
                    self.stop();
                    break;
                }
            }
            if self.failed.is_none()
                && let Err(error) = self.at_end(&mut records)
            {
                self.failed = Some(InputError::from(error).into());
            }
            self.stop();
            break;
        }
        records.bytes = self.done() - from;
        if records.places.is_empty() {
            if let Some(failed) = self.failed.take() {
                self.stop();
                return Err(failed);
            }
            if self.ended && self.at >= self.text.len() && matches!(self.next, Next::Anything) {
                return Ok(None);
            }
        }
        Ok(Some(records))
    }

    /// Reads no more.
    fn stop(&mut self) {
        self.ended = true;
        self.text.clear();
        self.at = 0;
        self.next = Next::Anything;
    }

    /// How many bytes of text are done with.
    fn done(&self) -> u64 {
        self.read - self.text.len().saturating_sub(self.at) as u64
    }
}

impl Iterator for Cutter<'_> {
    type Item = Result<Records, Stop>;

    fn next(&mut self) -> Option<Self::Item> {
        self.cut().transpose()
    }
}
