//! Splits JSON into records.

use std::ops::Range;

use super::error::JsonError;
use super::value_scanner::{End, ValueScanner};
use crate::ingest::blocks::MAX_LINE;
use crate::ingest::formats::file_source::OpenFile;
use crate::ingest::formats::text_window::TextWindow;
use crate::ingest::open::InputError;
use crate::ingest::reject::EXCERPT_CHARS;
use crate::ingest::sniff::{DetectedFormat, HEAD_BYTES};
use crate::ingest::source::{PIECE_RECORDS, PIECE_SIZE, Stop};

/// Consecutive records.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// The texts of the records, without the text between them.
    pub(super) text: Vec<u8>,
    pub(super) places: Vec<Place>,
    /// The number of the first record, from 1.
    pub(super) first: u64,
    /// Bytes of input that they were cut from.
    pub(super) bytes: u64,
}

/// The place of a record in the text.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) text: Range<usize>,
    /// Whether the text is complete, and not only the beginning of a record that is too long.
    pub(super) is_complete: bool,
    /// Length of the record, in bytes.
    pub(super) bytes: u64,
}

/// What may come next.
#[derive(Debug)]
enum Next {
    /// An array, a record that is not in an array, or the end.
    Anything,
    /// The first record of an array, or its end.
    First,
    /// A record of an array.
    Record,
    /// A comma, or the end of an array.
    Comma,
    /// The rest of a record, which may be in an array.
    Rest { value: ValueScanner, in_array: bool },
}

/// The records of an input, in pieces.
pub(super) struct Splitter<'a> {
    file: String,
    text: TextWindow<'a>,
    next: Next,
    /// The current record, up to the length limit.
    record: Vec<u8>,
    /// Length of the current record so far, in bytes.
    length: u64,
    /// Number of records so far.
    number: u64,
}

impl<'a> Splitter<'a> {
    pub(super) fn new(file: OpenFile<'a>) -> Self {
        Self {
            file: file.name(),
            text: TextWindow::without_mark(file.opened, file.progress),
            next: Next::Anything,
            record: Vec::new(),
            length: 0,
            number: 0,
        }
    }

    fn read_more(&mut self) {
        let is_first = self.text.bytes_read() == 0;
        self.text.read_more();
        if !is_first {
            return;
        }
        if self.text.failed.is_none() {
            self.text.failed = self.check_format().err().map(Stop::from);
        }
        if self.text.failed.is_some() {
            self.text.stop();
        }
    }

    /// Refuses a text whose first bytes are not JSON.
    fn check_format(&self) -> Result<(), InputError> {
        let beginning = self.text.rest();
        let beginning = beginning.get(..HEAD_BYTES).unwrap_or(beginning);
        let first = beginning.trim_ascii_start().first();
        let is_json = matches!(first, None | Some(b'[' | b'{'));
        match self.text.detect(beginning) {
            _ if beginning.is_empty() => Ok(()),
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

    /// Reads on to the end of a record and adds it to `records`. Returns `false` if more text is needed.
    fn next_record(&mut self, records: &mut Records) -> Result<bool, JsonError> {
        loop {
            let rest = self.text.rest();
            if let Next::Rest { value, in_array } = &mut self.next {
                let (end, is_end) = match value.end(rest) {
                    End::At(end) => (end, true),
                    End::Later => (rest.len(), false),
                };
                let taken = rest.get(..end).unwrap_or(rest);
                self.length += taken.len() as u64;
                // Of a record that is too long, only the beginning is kept.
                if self.record.len() <= MAX_LINE {
                    self.record.extend_from_slice(taken);
                }
                self.text.advance(end);
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
            let space = rest.iter().position(|byte| !byte.is_ascii_whitespace());
            let Some(space) = space else {
                self.text.advance(usize::MAX);
                return Ok(false);
            };
            let first = rest.get(space).copied().unwrap_or_default();
            self.text.advance(space);
            self.next = match (&self.next, first) {
                (Next::Anything, b'[') => {
                    self.text.advance(1);
                    Next::First
                }
                (Next::First | Next::Comma, b']') => {
                    self.text.advance(1);
                    Next::Anything
                }
                (Next::Comma, b',') => {
                    self.text.advance(1);
                    Next::Record
                }
                (Next::Comma, _) => return Err(self.invalid("a comma, or the end of the array")),
                (_, b',' | b':' | b']' | b'}') => return Err(self.invalid("a record")),
                (next, first) => Next::Rest {
                    value: ValueScanner::new(first),
                    in_array: !matches!(next, Next::Anything),
                },
            };
        }
    }

    /// Adds the current record.
    fn close(&mut self, records: &mut Records) {
        self.number += 1;
        if records.places.is_empty() {
            records.first = self.number;
        }
        let is_complete = self.record.len() <= MAX_LINE;
        if !is_complete {
            self.record.truncate(EXCERPT_CHARS * 4);
        }
        let from = records.text.len();
        records.text.append(&mut self.record);
        // The memory of a long record is released.
        self.record.shrink_to(PIECE_SIZE);
        records.places.push(Place {
            text: from..records.text.len(),
            is_complete,
            bytes: self.length,
        });
        self.length = 0;
    }

    fn invalid(&self, wanted: &'static str) -> JsonError {
        JsonError::Invalid {
            file: self.file.clone(),
            record: self.number,
            byte: self.text.consumed() + 1,
            wanted,
        }
    }

    /// Checks that the text may end here.
    fn check_end(&mut self, records: &mut Records) -> Result<(), JsonError> {
        let is_complete = match &self.next {
            Next::Anything => return Ok(()),
            Next::Rest {
                value,
                in_array: false,
            } => value.may_end(),
            _ => false,
        };
        if is_complete {
            self.next = Next::Anything;
            self.close(records);
            return Ok(());
        }
        Err(JsonError::CutOff {
            file: self.file.clone(),
            record: self.number,
            bytes: self.text.bytes_read(),
        })
    }

    /// Returns the records that end within the next [`PIECE_SIZE`] bytes, at most [`PIECE_RECORDS`].
    fn next_piece(&mut self) -> Result<Option<Records>, Stop> {
        let mut records = Records::default();
        let from = self.text.consumed();
        while records.places.len() < PIECE_RECORDS
            && self.text.consumed() - from < PIECE_SIZE as u64
        {
            match self.next_record(&mut records) {
                Ok(true) => continue,
                Ok(false) if !self.text.ended => {
                    self.read_more();
                    continue;
                }
                Ok(false) => {
                    if self.text.failed.is_none() {
                        self.text.failed = self.check_end(&mut records).err().map(Stop::from);
                    }
                }
                Err(error) => self.text.failed = Some(error.into()),
            }
            self.stop();
            break;
        }
        records.bytes = self.text.consumed() - from;
        if records.places.is_empty() {
            if let Some(failed) = self.text.failed.take() {
                self.stop();
                return Err(failed);
            }
            let is_end = self.text.ended && self.text.rest().is_empty();
            if is_end && matches!(self.next, Next::Anything) {
                return Ok(None);
            }
        }
        Ok(Some(records))
    }

    /// Reads no more.
    fn stop(&mut self) {
        self.text.stop();
        self.next = Next::Anything;
    }
}

impl Iterator for Splitter<'_> {
    type Item = Result<Records, Stop>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_piece().transpose()
    }
}
