//! Framing of web archives: cuts the text into records.
//!
//! The length of a record is trusted if the next record, or the end of the file, follows its block
//! after nothing but line ends. Otherwise the record is rejected, and reading resumes at the next line
//! that can begin a record:
//!
//! * If blocks are JSON (WAT), that is any line that begins with `WARC/`; no block contains such a line.
//! * If blocks are responses of servers (WARC), they may contain such lines, and even complete records.
//!   There, the line consists of the version alone; the header has every mandatory field (ISO 28500,
//!   5.2: type, identifier, date and length), and each of its lines a name and a value; and its length
//!   leads, across two line ends, to another record for which the same holds, or to the end of the file.
//!
//! So a wrong length costs one record. If a length exceeds the file, the file may also be truncated:
//! reading resumes only if the lengths of all records after some point in the block lead exactly to the
//! end of the file. A block of more than 16 MiB is not held; if its length turns out to be wrong, the
//! file is opened again to read the records that were skipped. Standard input cannot be opened again,
//! so there these records are lost together with the rejected one.
//!
//! Limitation: if the length of a record is damaged and its block contains three consecutive complete
//! records, the first of these is read as a record of the file.

use super::archive_format::{ArchiveFormat, BLOCK_PREFIX, MAX_BETWEEN};
use super::error::ArchiveError;
use super::header::{self, MAGIC, WarcHeader};
use super::records::{Content, Record, Records};
use super::resync::{
    HeaderEnd, MAX_HEADER, after_line_ends, chain_reaches_end, header_end, next_line,
    skip_line_ends, starts_chain,
};
use crate::ingest::blocks::{MAX_LINE, line_too_long};
use crate::ingest::formats::file_source::OpenFile;
use crate::ingest::formats::text_window::TextWindow;
use crate::ingest::open::{Input, InputError};
use crate::ingest::reject::{EXCERPT_CHARS, Fault, RejectReason};
use crate::ingest::sniff::HEAD_BYTES;
use crate::ingest::source::{PIECE_RECORDS, PIECE_SIZE, Stop};

/// The most records whose lengths may exceed the file; each costs a search through the rest of it.
const MAX_OVERRUNNING: u32 = 16;

/// How many times the input is opened again for records that a wrong length skipped.
const MAX_REOPENED: u32 = 16;

type Extracted<I> = Result<Option<Content<I>>, Stop>;

/// The records of an input, in pieces.
pub(super) struct Splitter<'a, F: ArchiveFormat> {
    format: F,
    file: String,
    /// The input, if it can be opened again.
    source: Option<Input>,
    text: TextWindow<'a>,
    /// Number of records so far.
    number: u64,
    /// Number of records so far whose lengths exceeded the file.
    overrunning: u32,
    reopened: u32,
    /// The first record of the next piece.
    pending: Option<Record<F::Item>>,
    /// The error to return after the records before it.
    error: Option<Stop>,
}

impl<'a, F: ArchiveFormat> Splitter<'a, F> {
    pub(super) fn new(format: F, file: OpenFile<'a>) -> Self {
        Self {
            format,
            file: file.name(),
            source: matches!(file.input.length(), Ok(Some(_))).then_some(file.input),
            text: TextWindow::new(file.opened, file.progress),
            number: 0,
            overrunning: 0,
            reopened: 0,
            pending: None,
            error: None,
        }
    }

    /// Returns the next record; `None` at the end.
    fn next_record(&mut self) -> Result<Option<Record<F::Item>>, Stop> {
        let from = self.text.consumed();
        let content = self.next_content()?;
        Ok(content.map(|content| Record {
            number: self.number,
            content,
            belongs: false,
            bytes: self.text.consumed().saturating_sub(from),
        }))
    }

    fn next_content(&mut self) -> Extracted<F::Item> {
        if !skip_line_ends(&mut self.text) {
            return self.text.failed.take().map_or(Ok(None), Err);
        }
        self.number += 1;
        if self.number == 1 {
            self.check_kind()?;
        }
        if !self.text.have(MAGIC.len()) && MAGIC.starts_with(self.text.rest()) {
            return Err(self.truncated());
        }
        if !self.text.rest().starts_with(MAGIC) {
            return Ok(Some(self.reject("no record begins here", 0)));
        }
        let end = match header_end(&mut self.text, 0, |_| true) {
            HeaderEnd::At(end) => end,
            HeaderEnd::Truncated => return Err(self.truncated()),
            HeaderEnd::Invalid => {
                let detail = format!("expected a header of at most {MAX_HEADER} bytes, found more");
                return Ok(Some(self.reject(&detail, 0)));
            }
        };
        let text = self.text.rest().get(..end).unwrap_or_default().to_vec();
        if next_line(&text).is_some() {
            return Ok(Some(self.reject("a header without an end", 0)));
        }
        let header = header::read(&text);
        let Some(length) = header.length else {
            return Ok(Some(self.reject("no Content-Length", end)));
        };
        match usize::try_from(length) {
            Ok(short) if short <= F::MAX_BLOCK.unwrap_or(MAX_LINE) => {
                self.block(&text, &header, short)
            }
            _ if F::MAX_BLOCK.is_some() => Ok(Some(self.resync(line_too_long(length), end))),
            _ => self.long_block(&text, &header, length),
        }
    }

    /// Refuses a text whose first bytes are not those of the format.
    fn check_kind(&mut self) -> Result<(), Stop> {
        self.text.have(HEAD_BYTES);
        let error = match self.text.detect(self.text.rest()) {
            Some(seen) if seen.format == F::KIND => return Ok(()),
            Some(seen) => InputError::NotRecords(seen),
            None => ArchiveError::NoArchive {
                file: self.file.clone(),
            }
            .into(),
        };
        Err(self.text.failed.take().unwrap_or_else(|| error.into()))
    }

    /// Returns the error of a text that ends within the current record.
    fn truncated(&mut self) -> Stop {
        let error = ArchiveError::CutOff {
            file: self.file.clone(),
            record: self.number,
            text: self.text.bytes_read(),
        };
        self.text.failed.take().unwrap_or_else(|| error.into())
    }

    /// Extracts a record whose block has `length` bytes according to its header, few enough to hold.
    fn block(&mut self, text: &[u8], header: &WarcHeader<'_>, length: usize) -> Extracted<F::Item> {
        let end = text.len();
        let block_end = end + length;
        let is_complete = self.text.have(block_end);
        let block = self.text.from(end);
        let block = block.get(..length).unwrap_or(block);
        // In a format without records in blocks, any line that begins like a record disproves the length.
        if !F::MAY_CONTAIN_RECORDS
            && let Some(inside) = next_line(block)
        {
            let detail = format!(
                "Content-Length is {length}, but the next record begins {inside} bytes after the header"
            );
            return Ok(Some(self.reject(&detail, end)));
        }
        if !is_complete {
            // Either the length is wrong or the file is truncated. Records that lead to the end of
            // the file show that only the length is wrong.
            let may_resume = F::MAY_CONTAIN_RECORDS && self.overrunning < MAX_OVERRUNNING;
            if may_resume && chain_reaches_end(&mut self.text, end) {
                self.overrunning += 1;
                let detail = format!("Content-Length is {length}, but the file ends before");
                return Ok(Some(self.reject(&detail, end)));
            }
            return Err(self.truncated());
        }
        let next = after_line_ends(&mut self.text, block_end, MAX_HEADER);
        if !self.follows(next) {
            return Ok(Some(self.reject(&wrong_length(length as u64), end)));
        }
        let block = self.text.from(end).get(..length).unwrap_or_default();
        let item = match block.get(..BLOCK_PREFIX) {
            Some(prefix) if !self.format.needs_block(header, prefix) => {
                self.format.extract(text, header, prefix, false)
            }
            _ => self.format.extract(text, header, block, true),
        };
        self.text.advance(next);
        Ok(Some(item.map_or_else(Content::Skipped, Content::Item)))
    }

    /// Extracts a record from the beginning of a block that is too long to hold.
    fn long_block(
        &mut self,
        text: &[u8],
        header: &WarcHeader<'_>,
        length: u64,
    ) -> Extracted<F::Item> {
        let start = self.text.consumed();
        let end = text.len();
        self.text.have(end + BLOCK_PREFIX);
        let block = self.text.from(end);
        let mut most = BLOCK_PREFIX;
        let prefix = block.get(..BLOCK_PREFIX).unwrap_or(block);
        if self.format.needs_block(header, prefix) {
            most = MAX_LINE;
            self.text.have(end + most);
        }
        let block = self.text.from(end);
        let block = block.get(..most).unwrap_or(block);
        let item = self.format.extract(text, header, block, false);
        let beginning = rejected_text(self.text.rest());
        // Skip the block, and note the first record within it in case the length is wrong. Most blocks
        // contain none.
        let mut within = None;
        let stop = start.saturating_add(end as u64).saturating_add(length);
        self.text.advance(end);
        loop {
            let left = stop.saturating_sub(self.text.consumed());
            if within.is_none() {
                let line = next_line(self.text.rest());
                if let Some(line) = line.filter(|line| (*line as u64) < left) {
                    if self.is_record(line) {
                        within = Some(self.text.consumed() + line as u64);
                    }
                    self.text.advance(line);
                    continue;
                }
            }
            let rest = self.text.rest().len();
            if rest as u64 >= left {
                self.text.advance(usize::try_from(left).unwrap_or(rest));
                break;
            }
            if !self.advance_to_tail() {
                break;
            }
        }
        let is_complete = self.text.consumed() == stop;
        if is_complete {
            let next = after_line_ends(&mut self.text, 0, MAX_HEADER);
            if self.follows(next) {
                self.text.advance(next);
                return Ok(Some(item.map_or_else(Content::Skipped, Content::Item)));
            }
        }
        // The length is wrong: go back to the first record within.
        drop(item);
        let returned = match within {
            Some(place) => self.return_to(place)?,
            None => false,
        };
        // As for a shorter block: in a truncated file no records lead to its end.
        let may_resume = is_complete || returned && chain_reaches_end(&mut self.text, 0);
        if !may_resume {
            return Err(self.truncated());
        }
        let fault = Fault::new(RejectReason::Framing, wrong_length(length));
        if !returned {
            self.resync(fault.clone(), 0);
        }
        Ok(Some(Content::Rejected(fault, beginning)))
    }

    /// Returns to a place in the text, given in bytes from its beginning. Returns `false`, and changes
    /// nothing, if the input cannot be opened again.
    fn return_to(&mut self, place: u64) -> Result<bool, Stop> {
        let Some(source) = &self.source else {
            return Ok(false);
        };
        // An input that cannot be read to its end is refused anyway.
        if self.text.failed.is_some() || self.reopened == MAX_REOPENED {
            return Ok(false);
        }
        self.reopened += 1;
        self.text.reopen_at(source, place)?;
        Ok(true)
    }

    /// Returns whether a record begins at an offset, or the text ends there.
    fn follows(&self, at: usize) -> bool {
        let follows = self.text.from(at);
        follows.starts_with(MAGIC) || MAGIC.starts_with(follows)
    }

    /// Returns whether a line that begins like a record is one.
    fn is_record(&mut self, at: usize) -> bool {
        !F::MAY_CONTAIN_RECORDS || starts_chain(&mut self.text, at)
    }

    /// Rejects the record for its framing and resumes at the next one after its first `from` bytes.
    fn reject(&mut self, detail: &str, from: usize) -> Content<F::Item> {
        self.resync(Fault::new(RejectReason::Framing, detail), from)
    }

    fn resync(&mut self, fault: Fault, from: usize) -> Content<F::Item> {
        let beginning = rejected_text(self.text.rest());
        // The line end before the next record must stay.
        self.text.advance(from.saturating_sub(1));
        loop {
            if let Some(next) = next_line(self.text.rest()) {
                let found = self.is_record(next);
                self.text.advance(next);
                if found {
                    break;
                }
            } else if !self.advance_to_tail() {
                break;
            }
        }
        Content::Rejected(fault, beginning)
    }

    /// Consumes all but what may be the beginning of a record, and reads more. At the end, consumes
    /// everything and returns `false`.
    fn advance_to_tail(&mut self) -> bool {
        let rest = self.text.rest().len();
        if self.text.ended {
            self.text.advance(rest);
            return false;
        }
        self.text.advance(rest.saturating_sub(MAGIC.len()));
        self.text.have(rest.min(MAGIC.len()) + 1);
        true
    }

    /// Returns the records that begin within the next [`PIECE_SIZE`] bytes, at most [`PIECE_RECORDS`],
    /// and the one that belongs to the last of them.
    fn next_piece(&mut self) -> Result<Option<Records<F::Item>>, Stop> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let mut piece = Records {
            items: Vec::new(),
            bytes: 0,
            memory: 0,
        };
        // The last item to which another may belong.
        let mut open = None;
        if let Some(record) = self.pending.take() {
            piece.add::<F>(record, &mut open);
        }
        loop {
            let is_full = piece.bytes.max(piece.memory as u64) >= PIECE_SIZE as u64
                || piece.items.len() + MAX_BETWEEN + 2 >= PIECE_RECORDS;
            // A full piece is extended as long as the item that belongs to its last one may follow.
            if is_full && open.is_none() {
                break;
            }
            match self.next_record() {
                Ok(Some(mut record)) => {
                    let previous = open.and_then(|open| piece.item(open));
                    if let (Some(previous), Content::Item(item)) = (previous, &record.content) {
                        record.belongs = F::belongs(previous, item);
                    }
                    let is_item = matches!(record.content, Content::Item(_));
                    if is_full && is_item && !record.belongs {
                        self.pending = Some(record);
                        break;
                    }
                    piece.add::<F>(record, &mut open);
                }
                Ok(None) => break,
                Err(error) if piece.items.is_empty() => return Err(error),
                Err(error) => {
                    self.error = Some(error);
                    break;
                }
            }
        }
        Ok((!piece.items.is_empty()).then_some(piece))
    }
}

impl<F: ArchiveFormat> Iterator for Splitter<'_, F> {
    type Item = Result<Records<F::Item>, Stop>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_piece().transpose()
    }
}

impl<I> Records<I> {
    fn item(&self, at: usize) -> Option<&I> {
        match &self.items.get(at)?.content {
            Content::Item(item) => Some(item),
            _ => None,
        }
    }

    fn add<F: ArchiveFormat<Item = I>>(&mut self, record: Record<I>, open: &mut Option<usize>) {
        let at = self.items.len();
        self.bytes += record.bytes;
        match &record.content {
            Content::Item(item) => {
                self.memory += F::memory(item);
                *open = (F::MAY_CONTAIN_RECORDS && !record.belongs).then_some(at);
            }
            _ => *open = open.filter(|open| at - open <= MAX_BETWEEN),
        }
        self.items.push(record);
    }
}

fn wrong_length(length: u64) -> String {
    format!("Content-Length is {length}, but no record follows after as many bytes")
}

/// Returns the beginning of a rejected record.
fn rejected_text(text: &[u8]) -> Vec<u8> {
    text.get(..EXCERPT_CHARS * 4).unwrap_or(text).to_vec()
}
