//! JSON that is not one object per line: an array of records, or records that follow each other,
//! with any white space in and between them.
//!
//! ```text
//! [{"url": ...}, {"url": ...}]        jq -s .; exports of scrapers and databases
//! {                                   jq .
//!   "url": ...
//! }{"url": ...}
//! ```
//!
//! The text is read as a stream and cut at the end of each record, which is found by brackets and
//! strings alone. So a record that is invalid inside (an unknown word, a wrong type) costs only
//! itself. If brackets or quotes are missing, the end of the record cannot be found, and the batch
//! is refused with the number of the last record.

use std::ops::Range;

use crate::display::counted;
use crate::ingest::entries::{LineFormat, read_text};
use crate::ingest::formats::file_source::{FileFormat, FormatError, OpenFile};
use crate::ingest::source::{
    MAX_LINE, PIECE_RECORDS, PIECE_SIZE, Piece, Pieces, Stop, line_too_long,
};

use crate::ingest::formats::json_lines::JsonLines;
use crate::ingest::formats::text_window::TextWindow;

use crate::ingest::open::InputError;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::sniff::{DetectedFormat, HEAD_BYTES};
use crate::ingest::summary::{EXCERPT_CHARS, Position};

/// The least memory that a piece is accounted with, which bounds the number of pieces in flight.
const MIN_PIECE_MEMORY: usize = 8 << 10;

/// JSON records that are not one per line.
#[derive(Clone, Copy, Debug)]
pub(super) struct JsonArray;

impl FileFormat for JsonArray {
    fn pieces<'a>(&self, file: OpenFile<'a>) -> Result<Pieces<'a>, Stop> {
        Ok(Box::new(Splitter::new(file).map(|records| {
            let records = records?;
            Ok(Piece {
                bytes: records.bytes,
                records: records.places.len(),
                memory: records.text.len().max(MIN_PIECE_MEMORY),
                read: Box::new(move |parser| read(&records, parser)),
            })
        })))
    }
}

fn read(records: &Records, parser: &mut PieceParser) {
    for (number, place) in (records.first..).zip(&records.places) {
        let at = Position::Record(number);
        let text = records.text.get(place.text.clone()).unwrap_or_default();
        let event = if place.is_complete {
            read_text(text, parser, |text, parser| JsonLines.read(text, parser))
        } else {
            JsonLines.read_page(text, parser);
            Err(line_too_long(place.bytes))
        };
        parser.add(at, event, text);
    }
}

// Errors that refuse a JSON file as a whole.

#[derive(Debug, thiserror::Error)]
enum JsonError {
    #[error("{file} is not JSON: expected an array or an object at the beginning")]
    NoJson { file: String },
    /// The text between two records is not valid JSON.
    #[error("{file} is not valid JSON after record {record}, at byte {byte}: expected {wanted}")]
    Invalid {
        file: String,
        record: u64,
        byte: u64,
        wanted: &'static str,
    },
    #[error("{file} is truncated after record {record}; it ends after {}", counted(*bytes, "byte"))]
    CutOff {
        file: String,
        record: u64,
        bytes: u64,
    },
}

impl FormatError for JsonError {
    fn is_truncated(&self) -> bool {
        matches!(self, Self::CutOff { .. })
    }
}

// Splits JSON into records.

/// Consecutive records.
#[derive(Debug, Default)]
struct Records {
    /// The texts of the records, without the text between them.
    text: Vec<u8>,
    places: Vec<Place>,
    /// The number of the first record, from 1.
    first: u64,
    /// Bytes of input that they were cut from.
    bytes: u64,
}

/// The place of a record in the text.
#[derive(Debug)]
struct Place {
    text: Range<usize>,
    /// Whether the text is complete, and not only the beginning of a record that is too long.
    is_complete: bool,
    /// Length of the record, in bytes.
    bytes: u64,
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
struct Splitter<'a> {
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
    fn new(file: OpenFile<'a>) -> Self {
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

// Finds the end of a JSON value by brackets and strings alone.

/// A value whose first byte is known.
#[derive(Debug)]
struct ValueScanner {
    kind: Kind,
    /// Number of open brackets.
    depth: u64,
    in_string: bool,
    /// Whether the previous byte was a backslash that escapes the next one.
    escaped: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// An object or an array.
    Nested,
    Text,
    /// A number or a word, which ends before any other token.
    Word,
}

/// Where a value ends in a slice of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    /// After this many bytes.
    At(usize),
    /// Beyond the slice.
    Later,
}

impl ValueScanner {
    /// A value that begins with this byte, which must be passed to [`end`](Self::end) too.
    const fn new(first: u8) -> Self {
        Self {
            kind: match first {
                b'{' | b'[' => Kind::Nested,
                b'"' => Kind::Text,
                _ => Kind::Word,
            },
            depth: 0,
            in_string: false,
            escaped: false,
        }
    }

    /// Returns whether the value is complete if the text ends here.
    fn may_end(&self) -> bool {
        self.kind == Kind::Word
    }

    /// Scans the next bytes.
    fn end(&mut self, bytes: &[u8]) -> End {
        if self.kind == Kind::Word {
            let ends = |byte: &u8| {
                matches!(byte, b',' | b']' | b'}' | b'[' | b'{' | b'"')
                    || byte.is_ascii_whitespace()
            };
            return bytes.iter().position(ends).map_or(End::Later, End::At);
        }
        for (at, byte) in bytes.iter().enumerate() {
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => {
                        self.in_string = false;
                        if self.kind == Kind::Text {
                            return End::At(at + 1);
                        }
                    }
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return End::At(at + 1);
                    }
                }
                _ => {}
            }
        }
        End::Later
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_ends_wherever_its_bytes_are_cut() {
        for (text, rest) in [
            (r#"{"a": "}\"]\\"}"#, " x"),
            (r#"[[], {"b": [1]}]"#, "]"),
            (r#""a\\""#, "\""),
            ("12.5e3", ", 1"),
            ("null", "]"),
            ("true", "\n{"),
            // Brackets that do not fit are found when the value is read.
            ("{]", "}"),
        ] {
            let whole = [text, rest].concat();
            for cut in 0..whole.len() {
                let (before, after) = whole.as_bytes().split_at(cut);
                let mut value = ValueScanner::new(whole.as_bytes()[0]);
                let end = match value.end(before) {
                    End::At(end) => end,
                    End::Later => match value.end(after) {
                        End::At(end) => cut + end,
                        End::Later => panic!("{whole} has no end"),
                    },
                };
                assert_eq!(end, text.len(), "{whole} cut at {cut}");
            }
        }
    }
}
