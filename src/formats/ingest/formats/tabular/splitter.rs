//! Splits a table in text form into its records.
//!
//! A record ends at the end of its line, unless that is within quotes (RFC 4180). An unclosed quote
//! would therefore swallow the records after it. So a record is rejected if a closing quote is
//! followed by anything other than a delimiter or the end of the line, if the record is longer than
//! [`MAX_LINE`], or if the text ends within quotes. Only its first line is skipped then, and the
//! lines after it are read again: a line is read once more for each rejected line before it. After
//! [`MAX_UNCLOSED`] unclosed quotes, a record must end on its line.

use std::ops::Range;

use crate::ingest::blocks::{MAX_LINE, line_ends, line_too_long};
use crate::ingest::formats::text_window::TextWindow;
use crate::ingest::reject::{EXCERPT_CHARS, Fault, RejectReason};
use crate::ingest::source::{PIECE_RECORDS, PIECE_SIZE, Stop};

/// The most records that are searched beyond their line for a closing quote in vain; each may cost a
/// scan of 16 MiB.
const MAX_UNCLOSED: u32 = 64;

/// Consecutive records.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// The texts of the complete records.
    pub(super) text: Vec<u8>,
    /// The first line of each record, from 1, and what it is.
    pub(super) items: Vec<(u64, Item)>,
    /// Bytes of text that they were cut from.
    pub(super) bytes: u64,
}

/// What a record is.
#[derive(Debug)]
pub(super) enum Item {
    /// A row: its place in the text, without the line end.
    Row(Range<usize>),
    /// A line of nothing but white space.
    Blank,
    /// A rejected record; the beginning of its line.
    Rejected(Fault, Vec<u8>),
}

/// The state of a scan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Before a cell.
    Start,
    /// In a cell without quotes.
    Bare,
    /// In quotes.
    Quoted,
    /// After a quote within quotes, which either closes them or is the first of two.
    Quote,
    /// After a carriage return that follows a closing quote.
    Return,
}

/// The result of a scan.
enum Scan {
    /// The record ends before this offset, which is behind its line end.
    End(usize),
    /// More text is needed.
    More(usize, State),
    /// Text follows a closing quote, before this offset.
    Bad(usize),
}

/// Scans on from an offset, in this state.
fn scan(text: &[u8], mut at: usize, mut state: State, delimiters: &[u8]) -> Scan {
    for byte in text.get(at..).unwrap_or_default() {
        at += 1;
        state = match (state, *byte) {
            (State::Quoted, b'"') => State::Quote,
            (State::Quoted, _) | (State::Start | State::Quote, b'"') => State::Quoted,
            (_, b'\n') => return Scan::End(at),
            (State::Return, _) => return Scan::Bad(at),
            (State::Quote, b'\r') => State::Return,
            (_, byte) if delimiters.contains(&byte) => State::Start,
            (State::Quote, _) => return Scan::Bad(at),
            (State::Start | State::Bare, _) => State::Bare,
        };
    }
    Scan::More(at, state)
}

/// The records of an input, in pieces.
pub(super) struct Splitter<'a> {
    /// The characters that separate cells: several candidates until the header is read.
    pub(super) delimiters: &'static [u8],
    text: TextWindow<'a>,
    /// The number of the next line.
    line: u64,
    /// Number of records with unclosed quotes so far.
    unclosed: u32,
}

impl<'a> Splitter<'a> {
    pub(super) const fn new(text: TextWindow<'a>, delimiters: &'static [u8]) -> Self {
        Self {
            delimiters,
            text,
            line: 1,
            unclosed: 0,
        }
    }

    /// Returns the next record and its line, and appends its text to `into` if it is a row; `None`
    /// at the end.
    pub(super) fn next(&mut self, into: &mut Vec<u8>) -> Result<Option<(u64, Item)>, Stop> {
        let (mut at, mut state) = (0, State::Start);
        if self.unclosed >= MAX_UNCLOSED
            && let Some(end) = self.text.rest().iter().position(|byte| *byte == b'\n')
            && let line = self.text.rest().get(..=end).unwrap_or_default()
            && let Scan::More(..) = scan(line, at, state, self.delimiters)
        {
            return self.reject("a quote that is not closed").map(Some);
        }
        let end = loop {
            match scan(self.text.rest(), at, state, self.delimiters) {
                Scan::End(end) => break end,
                Scan::Bad(to) => {
                    self.unclosed += u32::from(self.is_beyond_line(to));
                    return self.reject("text follows a closing quote").map(Some);
                }
                Scan::More(to, next) if !self.text.ended && to <= MAX_LINE => {
                    (at, state) = (to, next);
                    self.text.read_more();
                }
                Scan::More(to, next) => {
                    // After an error, an incomplete record does not count.
                    if let Some(error) = self.text.failed.take() {
                        return Err(error);
                    }
                    match next {
                        _ if to == 0 => return Ok(None),
                        State::Quoted => {
                            self.unclosed += 1;
                            return self.reject("a quote that is not closed").map(Some);
                        }
                        _ if to > MAX_LINE => return self.skip_line().map(Some),
                        _ => break to,
                    }
                }
            }
        };
        let record = self.text.rest().get(..end).unwrap_or_default();
        let lines = line_ends(record).max(1) as u64;
        let bare = record.strip_suffix(b"\n").unwrap_or(record);
        let bare = bare.strip_suffix(b"\r").unwrap_or(bare);
        let item = if bare.trim_ascii().is_empty() {
            Item::Blank
        } else if bare.len() > MAX_LINE {
            let head = bare.get(..EXCERPT_CHARS * 4).unwrap_or(bare).to_vec();
            Item::Rejected(line_too_long(bare.len() as u64), head)
        } else {
            let from = into.len();
            into.extend_from_slice(bare);
            into.push(b'\n');
            Item::Row(from..from + bare.len())
        };
        let line = self.line;
        self.line += lines;
        self.text.advance(end);
        Ok(Some((line, item)))
    }

    /// Returns whether the first `length` bytes of the record extend beyond its first line.
    fn is_beyond_line(&self, length: usize) -> bool {
        let text = self.text.rest().get(..length).unwrap_or_default();
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        text.contains(&b'\n')
    }

    /// Rejects the first line of the record and continues after it.
    fn reject(&mut self, detail: &str) -> Result<(u64, Item), Stop> {
        // Many lines may be read again.
        self.text.proceed()?;
        let Some(end) = self.text.rest().iter().position(|byte| *byte == b'\n') else {
            return self.skip_line();
        };
        let head = self.text.rest().get(..end.min(EXCERPT_CHARS * 4));
        let head = head.unwrap_or_default().to_vec();
        let item = Item::Rejected(Fault::new(RejectReason::Quotes, detail), head);
        let line = self.line;
        self.line += 1;
        self.text.advance(end + 1);
        Ok((line, item))
    }

    /// Skips a line without an end in the window: it is too long, or the last.
    fn skip_line(&mut self) -> Result<(u64, Item), Stop> {
        let head = self.text.rest().get(..EXCERPT_CHARS * 4);
        let head = head.unwrap_or_else(|| self.text.rest()).to_vec();
        let mut bytes = 0;
        loop {
            if let Some(end) = self.text.rest().iter().position(|byte| *byte == b'\n') {
                bytes += end as u64;
                self.text.advance(end + 1);
                break;
            }
            bytes += self.text.rest().len() as u64;
            self.text.advance(usize::MAX);
            if self.text.ended {
                break;
            }
            self.text.read_more();
        }
        if self.text.rest().is_empty()
            && let Some(error) = self.text.failed.take()
        {
            return Err(error);
        }
        let line = self.line;
        self.line += 1;
        let fault = if bytes > MAX_LINE as u64 {
            line_too_long(bytes)
        } else {
            Fault::new(RejectReason::Quotes, "a quote that is not closed")
        };
        Ok((line, Item::Rejected(fault, head)))
    }

    /// Returns the records that begin within the next [`PIECE_SIZE`] bytes, at most
    /// [`PIECE_RECORDS`].
    fn next_piece(&mut self) -> Result<Option<Records>, Stop> {
        let mut records = Records::default();
        let from = self.text.consumed();
        while records.bytes < PIECE_SIZE as u64 && records.items.len() < PIECE_RECORDS {
            match self.next(&mut records.text) {
                Ok(Some(item)) => {
                    records.items.push(item);
                    records.bytes = self.text.consumed() - from;
                }
                Ok(None) => break,
                Err(error) if records.items.is_empty() => return Err(error),
                Err(error) => {
                    self.text.failed = Some(error);
                    break;
                }
            }
        }
        Ok((!records.items.is_empty()).then_some(records))
    }
}

impl Iterator for Splitter<'_> {
    type Item = Result<Records, Stop>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_piece().transpose()
    }
}
