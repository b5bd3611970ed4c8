//! A table as text, cut into its records.
//!
//! A record ends with its line, unless the end of the line stands in quotes (RFC 4180). A quote
//! that is not closed would so swallow what follows. A record is therefore refused where a closing
//! quote is followed by something else than a delimiter or the end of the line, where it goes on
//! beyond [`MAX_LINE`], and where the text ends in quotes; only its first line goes, and what follows
//! that line is read anew: a line is read once more for each of the lines that are refused before it.
//! After [`MOST_OPEN`] quotes that are not closed a record has to end with its line.

use std::ops::Range;

use crate::ingest::blocks::{MAX_LINE, line_ends, line_too_long};
use crate::ingest::open::Opened;
use crate::ingest::progress::Progress;
use crate::ingest::reject::{EXCERPT_CHARS, Fault, RejectReason};
use crate::ingest::source::{PIECE_RECORDS, PIECE_SIZE, Stop};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The most records that are looked at beyond their line for the end of their quotes in vain; each may
/// cost a look at 16 MiB.
const MOST_OPEN: u32 = 64;

/// Some neighbouring records.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// Those that are whole, one after another.
    pub(super) text: Vec<u8>,
    /// The line in which each begins, from 1, and what it is.
    pub(super) items: Vec<(u64, Item)>,
    /// How many bytes of text they were cut from.
    pub(super) bytes: u64,
}

/// A record, as far as its quotes tell.
#[derive(Debug)]
pub(super) enum Item {
    /// A row: its place in the text, without the end of its line.
    Row(Range<usize>),
    /// A line of nothing but white space.
    Blank,
    /// It is refused; the beginning of its line.
    Refused(Fault, Vec<u8>),
}

/// Where a scan stands within a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Before a cell.
    Start,
    /// In a cell without quotes.
    Bare,
    /// In quotes.
    Quoted,
    /// After a quote in quotes, which closes or is the first of two.
    Quote,
    /// After a carriage return behind a closing quote.
    Return,
}

/// What a scan came to.
enum Scan {
    /// The record ends before this byte, which is that after the end of its line.
    End(usize),
    /// Text is missing.
    More(usize, State),
    /// Text stands behind a closing quote, before this byte.
    Bad(usize),
}

/// Goes on from `at` in this state.
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
pub(super) struct Cutter<'a> {
    input: Opened,
    progress: Progress<'a>,
    /// What stands between cells: any of several until the header was looked at.
    pub(super) delimiters: &'static [u8],
    /// Text that was read, of which the first `at` bytes are done with.
    text: Vec<u8>,
    at: usize,
    /// How many bytes were read so far.
    read: u64,
    /// The number of the next line.
    line: u64,
    /// How many records had quotes that were found not to be closed.
    open: u32,
    started: bool,
    ended: bool,
    /// The error after which no more can be read.
    failed: Option<Stop>,
}

impl<'a> Cutter<'a> {
    pub(super) const fn new(
        input: Opened,
        delimiters: &'static [u8],
        progress: Progress<'a>,
    ) -> Self {
        Self {
            input,
            progress,
            delimiters,
            text: Vec::new(),
            at: 0,
            read: 0,
            line: 1,
            open: 0,
            started: false,
            ended: false,
            failed: None,
        }
    }

    /// The text that is not done with.
    pub(super) fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Reads the next [`PIECE_SIZE`] bytes, or fewer at the end or at an error.
    pub(super) fn read_more(&mut self) {
        if self.ended {
            return;
        }
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
        let free = self.text.get_mut(before..).unwrap_or_default();
        let (read, error) = self.input.fill(free);
        self.text.truncate(before + read);
        self.read += read as u64;
        self.ended = read < PIECE_SIZE;
        if let Some(source) = error {
            let lines = self.line - 1 + line_ends(&self.text) as u64;
            self.failed = Some(self.input.error(source, lines).into());
            self.ended = true;
        }
        if !self.started {
            self.started = true;
            if self.text.starts_with(BYTE_ORDER_MARK) {
                self.at = BYTE_ORDER_MARK.len();
            }
        }
    }

    /// The next record, appended to `into` where it is a row; `None` at the end.
    pub(super) fn next(&mut self, into: &mut Vec<u8>) -> Result<Option<(u64, Item)>, Stop> {
        let (mut at, mut state) = (0, State::Start);
        if self.open >= MOST_OPEN
            && let Some(end) = self.rest().iter().position(|byte| *byte == b'\n')
            && let line = self.rest().get(..=end).unwrap_or_default()
            && let Scan::More(..) = scan(line, at, state, self.delimiters)
        {
            return self.refuse("a quote that is not closed").map(Some);
        }
        let end = loop {
            match scan(self.rest(), at, state, self.delimiters) {
                Scan::End(end) => break end,
                Scan::Bad(to) => {
                    self.open += u32::from(self.is_beyond_line(to));
                    return self.refuse("text follows a closing quote").map(Some);
                }
                Scan::More(to, then) if !self.ended && to <= MAX_LINE => {
                    (at, state) = (to, then);
                    self.read_more();
                }
                Scan::More(to, then) => {
                    // After an error what is not whole is no record.
                    if let Some(error) = self.failed.take() {
                        return Err(error);
                    }
                    match then {
                        _ if to == 0 => return Ok(None),
                        State::Quoted => {
                            self.open += 1;
                            return self.refuse("a quote that is not closed").map(Some);
                        }
                        _ if to > MAX_LINE => return self.skip_line().map(Some),
                        _ => break to,
                    }
                }
            }
        };
        let record = self.rest().get(..end).unwrap_or_default();
        let lines = line_ends(record).max(1) as u64;
        let bare = record.strip_suffix(b"\n").unwrap_or(record);
        let bare = bare.strip_suffix(b"\r").unwrap_or(bare);
        let item = if bare.trim_ascii().is_empty() {
            Item::Blank
        } else if bare.len() > MAX_LINE {
            let head = bare.get(..EXCERPT_CHARS * 4).unwrap_or(bare).to_vec();
            Item::Refused(line_too_long(bare.len() as u64), head)
        } else {
            let from = into.len();
            into.extend_from_slice(bare);
            into.push(b'\n');
            Item::Row(from..from + bare.len())
        };
        let line = self.line;
        self.line += lines;
        self.at += end;
        Ok(Some((line, item)))
    }

    /// Whether the first so many bytes of the record are more than its first line.
    fn is_beyond_line(&self, length: usize) -> bool {
        let text = self.rest().get(..length).unwrap_or_default();
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        text.contains(&b'\n')
    }

    /// Refuses the first line of the record, and goes on after it.
    fn refuse(&mut self, said: &str) -> Result<(u64, Item), Stop> {
        // What is read anew may be long.
        self.progress.proceed()?;
        let Some(end) = self.rest().iter().position(|byte| *byte == b'\n') else {
            return self.skip_line();
        };
        let head = self.rest().get(..end.min(EXCERPT_CHARS * 4));
        let head = head.unwrap_or_default().to_vec();
        let item = Item::Refused(Fault::new(RejectReason::Quotes, said), head);
        let line = self.line;
        self.line += 1;
        self.at += end + 1;
        Ok((line, item))
    }

    /// Skips a line whose end is not there yet; it is too long, or the last.
    fn skip_line(&mut self) -> Result<(u64, Item), Stop> {
        let head = self.rest().get(..EXCERPT_CHARS * 4);
        let head = head.unwrap_or_else(|| self.rest()).to_vec();
        let mut bytes = 0;
        loop {
            if let Some(end) = self.rest().iter().position(|byte| *byte == b'\n') {
                bytes += end as u64;
                self.at += end + 1;
                break;
            }
            bytes += self.rest().len() as u64;
            self.at = self.text.len();
            if self.ended {
                break;
            }
            self.read_more();
        }
        if self.rest().is_empty()
            && let Some(error) = self.failed.take()
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
        Ok((line, Item::Refused(fault, head)))
    }

    /// The next records: as many as begin within [`PIECE_SIZE`] bytes, but no more than
    /// [`PIECE_RECORDS`].
    fn cut(&mut self) -> Result<Option<Records>, Stop> {
        let mut records = Records::default();
        let from = self.done();
        while records.bytes < PIECE_SIZE as u64 && records.items.len() < PIECE_RECORDS {
            match self.next(&mut records.text) {
                Ok(Some(item)) => {
                    records.items.push(item);
                    records.bytes = self.done() - from;
                }
                Ok(None) => break,
                Err(error) if records.items.is_empty() => return Err(error),
                Err(error) => {
                    self.failed = Some(error);
                    break;
                }
            }
        }
        Ok((!records.items.is_empty()).then_some(records))
    }

    /// How many bytes of text are done with.
    fn done(&self) -> u64 {
        self.read - self.rest().len() as u64
    }
}

impl Iterator for Cutter<'_> {
    type Item = Result<Records, Stop>;

    fn next(&mut self) -> Option<Self::Item> {
        self.cut().transpose()
    }
}
