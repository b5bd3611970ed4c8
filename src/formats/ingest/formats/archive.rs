//! Web archives (ISO 28500): what WARC files with responses and WAT files with metadata share.
//!
//! ```text
//! text --Splitter, by an ArchiveFormat--> pieces of Records --ArchiveFormat::read, in parallel--> events
//! ```

use std::ffi::OsStr;
use std::path::Path;

use crate::ingest::fetch::alias_target;
use crate::ingest::formats::file_source::FormatError;
use crate::ingest::formats::text_window::TextWindow;
use crate::ingest::interner::UrlNumber;
use crate::ingest::location::{BaseUrl, encode_query};
use crate::ingest::open::{Input, InputError};
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::{Attribute, PageRecord};
use crate::ingest::sniff::{DetectedFormat, HEAD_BYTES};
use crate::ingest::source::{
    MAX_LINE, PIECE_RECORDS, PIECE_SIZE, Piece, Pieces, Stop, line_too_long,
};
use crate::ingest::summary::{DropReason, EXCERPT_CHARS, Fault, RejectReason, SkipReason};

use super::arc::ArcReader;
use super::file_source::{FileFormat, OpenFile};
use encoding_rs::Encoding;

/// Bytes of memory for each byte of an item, including the URLs that are parsed from it.
const EXPANSION: usize = 2;

impl<F: ArchiveFormat> FileFormat for F {
    fn pieces<'a>(&self, file: OpenFile<'a>) -> Result<Pieces<'a>, Stop> {
        let format = *self;
        Ok(Box::new(Splitter::new(format, file).map(move |records| {
            let records = records?;
            Ok(Piece {
                bytes: records.bytes,
                records: records.items.len(),
                memory: records.memory * EXPANSION,
                read: Box::new(move |parser| format.read(records, parser)),
            })
        })))
    }
}

// The trait of formats of web archives.

/// A format of web archives: which records it reads, and how.
pub(super) trait ArchiveFormat: Copy + Send + Sync + 'static {
    /// The part of a record that is read.
    type Item: Send;

    /// The kind that the first bytes of a file must show.
    const KIND: DetectedFormat;

    /// Whether a block may contain lines that begin like a record.
    const MAY_CONTAIN_RECORDS: bool;

    /// The length of the longest block, in bytes; a record with a longer one is rejected. `None` if
    /// the rest of a longer block is skipped.
    const MAX_BLOCK: Option<usize>;

    /// Returns whether more than the first [`BLOCK_PREFIX`] bytes of a block are needed.
    fn needs_block(self, header: &WarcHeader<'_>, prefix: &[u8]) -> bool;

    /// Extracts the item of a record; `Err` if the record does not describe a page. `block` is a
    /// prefix of the block unless it `is_complete`. Adds the bytes that were decoded to `made`.
    fn extract(
        self,
        text: &[u8],
        header: &WarcHeader<'_>,
        block: &[u8],
        is_complete: bool,
        made: &mut u64,
    ) -> Result<Self::Item, SkipReason>;

    /// Returns the approximate memory of an item, in bytes, without the URLs parsed from it.
    fn memory(item: &Self::Item) -> usize;

    /// Returns whether an item must be read together with a preceding one.
    fn belongs(_previous: &Self::Item, _item: &Self::Item) -> bool {
        false
    }

    /// Reads the records of a piece.
    fn read(self, records: Records<Self::Item>, parser: &mut PieceParser);
}

/// Bytes of a block that suffice to decide whether the rest is needed.
pub(super) const BLOCK_PREFIX: usize = 64 << 10;

/// The most skipped records between two that belong together.
pub(super) const MAX_BETWEEN: usize = 4;

// Errors that refuse a web archive as a whole.

#[derive(Debug, thiserror::Error)]
enum ArchiveError {
    #[error("{file} is not a web archive: expected WARC/1.0 at the beginning")]
    NoArchive { file: String },
    #[error("{file} is truncated in record {record}, after {text} bytes of text; {}", advice(.file))]
    CutOff {
        file: String,
        /// The number of the record, from 1.
        record: u64,
        /// Bytes of decompressed text up to the end.
        text: u64,
    },
}

impl FormatError for ArchiveError {
    fn is_truncated(&self) -> bool {
        matches!(self, Self::CutOff { .. })
    }
}

/// Returns what to do about a truncated file. Crawlers name a file `.open` while they write it.
fn advice(file: &str) -> &'static str {
    let is_open = Path::new(file).extension() == Some(OsStr::new("open"));
    if is_open {
        "its crawler is still writing it or was interrupted: ingest it once it is closed, or copy its complete records"
    } else {
        "fetch it again"
    }
}

// Framing of web archives: cuts the text into records.
//
// The length of a record is trusted if the next record, or the end of the file, follows its block
// after nothing but line ends. Otherwise the record is rejected, and reading resumes at the next line
// that can begin a record:
//
// * If blocks are JSON (WAT), that is any line that begins with `WARC/`; no block contains such a line.
// * If blocks are responses of servers (WARC), they may contain such lines, and even complete records.
//   There, the line consists of the version alone; the header has every mandatory field (ISO 28500,
//   5.2: type, identifier, date and length), and each of its lines a name and a value; and its length
//   leads, across two line ends, to another record for which the same holds, or to the end of the file.
//
// So a wrong length costs one record. If a length exceeds the file, the file may also be truncated:
// reading resumes only if the lengths of all records after some point in the block lead exactly to the
// end of the file. A block of more than 16 MiB is not held; if its length turns out to be wrong, the
// file is opened again to read the records that were skipped. Standard input cannot be opened again,
// so there these records are lost together with the rejected one.
//
// Limitation: if the length of a record is damaged and its block contains three consecutive complete
// records, the first of these is read as a record of the file.

/// The most records whose lengths may exceed the file; each costs a search through the rest of it.
const MAX_OVERRUNNING: u32 = 16;

/// How many times the input is opened again for records that a wrong length skipped.
const MAX_REOPENED: u32 = 16;

type Extracted<I> = Result<Option<Content<I>>, Stop>;

/// The records of an input, in pieces.
struct Splitter<'a, F: ArchiveFormat> {
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
    fn new(format: F, mut file: OpenFile<'a>) -> Self {
        let is_arc = F::KIND == DetectedFormat::Warc
            && file.opened.peek_format() == Some(DetectedFormat::Arc);
        if is_arc {
            file.opened.convert(|arc| Box::new(ArcReader::new(arc)));
        }
        // The lengths of records that are made from those of ARC are right.
        let may_reopen = !is_arc && matches!(file.input.length(), Ok(Some(_)));
        Self {
            format,
            file: file.name(),
            source: may_reopen.then_some(file.input),
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
        let header = read(&text);
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
        let mut made = 0;
        let item = match block.get(..BLOCK_PREFIX) {
            Some(prefix) if !self.format.needs_block(header, prefix) => {
                self.format.extract(text, header, prefix, false, &mut made)
            }
            _ => self.format.extract(text, header, block, true, &mut made),
        };
        self.text.expand(made)?;
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
        let mut made = 0;
        let item = self.format.extract(text, header, block, false, &mut made);
        self.text.expand(made)?;
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

// Headers of WARC records (ISO 28500): a line with the version, lines of names and values, a blank
// line. HTTP responses begin with a header of the same shape.
//
// ```text
// WARC/1.0\r\n
// WARC-Type: metadata\r\n
// Content-Type: application/json\r\n
// Content-Length: 1386\r\n
// \r\n
// ```

/// The first bytes of every record.
pub(super) const MAGIC: &[u8] = b"WARC/";

/// The fields of a record's header that are used; a missing value is empty.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct WarcHeader<'a> {
    /// Length of the block, in bytes; `None` if it is missing or not a number.
    pub(crate) length: Option<u64>,
    /// `WARC-Type`.
    pub(crate) kind: &'a [u8],
    /// `Content-Type`, without parameters.
    pub(crate) content: &'a [u8],
    /// `WARC-Target-URI`, without angle brackets.
    pub(crate) url: Option<&'a [u8]>,
    /// `WARC-Date`.
    pub(crate) date: Option<&'a [u8]>,
    /// `WARC-Payload-Digest`.
    pub(crate) digest: Option<&'a [u8]>,
    /// `WARC-Record-ID`.
    pub(crate) id: &'a [u8],
    /// `WARC-Segment-Number`.
    pub(crate) segment: &'a [u8],
    /// `WARC-Truncated`.
    pub(crate) truncated: &'a [u8],
    /// `WARC-Concurrent-To`: the identifier of a record of the same exchange.
    pub(crate) concurrent: &'a [u8],
    /// `WARC-Resource-Type`: what a browser requested.
    pub(crate) resource_type: Option<&'a [u8]>,
    /// `WARC-Refers-To-Target-URI`, without angle brackets: the URL whose content a revisit found.
    pub(crate) refers_to: Option<&'a [u8]>,
}

impl WarcHeader<'_> {
    /// Returns whether the record has this type.
    pub(crate) fn is(&self, kind: &str) -> bool {
        self.kind.eq_ignore_ascii_case(kind.as_bytes())
    }

    /// Returns whether every mandatory field is present.
    fn is_complete(&self) -> bool {
        let texts = [self.kind, self.id, self.date.unwrap_or_default()];
        self.length.is_some() && texts.iter().all(|text| !text.is_empty())
    }
}

/// Returns the length of the header at the beginning of a text, with its blank line; `None` if the
/// text ends within it.
pub(super) fn end(text: &[u8]) -> Option<usize> {
    let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let mut after = ends.map(|(at, _)| at + 1);
    after.find_map(|at| match text.get(at..)? {
        [b'\n', ..] => Some(at + 1),
        [b'\r', b'\n', ..] => Some(at + 2),
        _ => None,
    })
}

/// Returns, for each name, the value of the first line of a header with this name in any case.
pub(super) fn first_values<'a, const N: usize>(
    header: &'a [u8],
    names: [&str; N],
) -> [Option<&'a [u8]>; N] {
    let mut values = [None; N];
    for line in header.split(|byte| *byte == b'\n').skip(1) {
        let mut parts = line.splitn(2, |byte| *byte == b':').map(<[u8]>::trim_ascii);
        let name = parts.next().unwrap_or_default();
        let known = |known: &&str| name.eq_ignore_ascii_case(known.as_bytes());
        let place = names.iter().position(known);
        if let Some(value) = place.and_then(|at| values.get_mut(at)) {
            value.get_or_insert(parts.next().unwrap_or_default());
        }
    }
    values
}

/// Returns the name of a media type, without its parameters.
pub(super) fn media_type(value: &[u8]) -> &[u8] {
    let end = value.iter().position(|byte| *byte == b';');
    let name = value.get(..end.unwrap_or(value.len()));
    name.unwrap_or_default().trim_ascii()
}

/// Parses a header. Names are compared without case; the first line with a name counts.
pub(super) fn read(header: &[u8]) -> WarcHeader<'_> {
    let [
        length,
        kind,
        content,
        url,
        date,
        digest,
        id,
        segment,
        truncated,
        concurrent,
        resource_type,
        refers_to,
    ] = first_values(
        header,
        [
            "Content-Length",
            "WARC-Type",
            "Content-Type",
            "WARC-Target-URI",
            "WARC-Date",
            "WARC-Payload-Digest",
            "WARC-Record-ID",
            "WARC-Segment-Number",
            "WARC-Truncated",
            "WARC-Concurrent-To",
            "WARC-Resource-Type",
            "WARC-Refers-To-Target-URI",
        ],
    );
    WarcHeader {
        length: length.and_then(number),
        kind: kind.unwrap_or_default(),
        content: content.map(media_type).unwrap_or_default(),
        url: url.map(without_brackets),
        date,
        digest,
        id: id.unwrap_or_default(),
        segment: segment.unwrap_or_default(),
        truncated: truncated.unwrap_or_default(),
        concurrent: concurrent.unwrap_or_default(),
        resource_type,
        refers_to: refers_to.map(without_brackets),
    }
}

/// Returns a URL without the angle brackets in which old writers enclose it.
fn without_brackets(url: &[u8]) -> &[u8] {
    let inside = url.strip_prefix(b"<");
    inside.and_then(|url| url.strip_suffix(b">")).unwrap_or(url)
}

fn number(digits: &[u8]) -> Option<u64> {
    let is_number = digits.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(digits).ok().filter(|_| is_number)?;
    text.parse().ok()
}

// The links of a page, as found in its HTML.

/// The maximum size of the absolute URLs of the links of a page, in bytes: a constant, plus a
/// number for each byte of its text. Further links are dropped as too long.
const URL_BYTES_PER_PAGE: usize = 1 << 20;
const URL_BYTES_PER_BYTE: usize = 6;

/// What happens to links that a page asks crawlers not to follow: `rel=nofollow` on the link,
/// `nofollow` or `none` in the `meta` element for robots.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Nofollow {
    /// They are kept like any other link.
    #[default]
    Keep,
    /// They are dropped and counted.
    Drop,
}

/// A page whose links are collected.
#[derive(Default)]
pub(super) struct LinkSource<'a> {
    pub(crate) url: &'a str,
    /// The URL in its `base` element, if any.
    pub(crate) base: Option<&'a str>,
    pub(crate) nofollow: Nofollow,
    /// Whether the page asks not to follow any of its links.
    pub(crate) page_nofollow: bool,
    /// Length of the text that contains the links, in bytes.
    pub(crate) bytes: usize,
    /// The encoding of the queries of its links; `None` is UTF-8.
    pub(crate) encoding: Option<&'static Encoding>,
}

/// Collects the links of a page.
pub(super) struct PageLinks<'r> {
    page: UrlNumber,
    base: Option<BaseUrl>,
    nofollow: Nofollow,
    page_nofollow: bool,
    encoding: Option<&'static Encoding>,
    targets: Vec<UrlNumber>,
    /// Bytes of URLs that the links may still make.
    url_budget: usize,
    pub(crate) parser: &'r mut PieceParser,
}

impl<'r> PageLinks<'r> {
    pub(crate) fn new(page: UrlNumber, html: &LinkSource<'_>, parser: &'r mut PieceParser) -> Self {
        Self {
            page,
            base: BaseUrl::new(html.url, html.base),
            nofollow: html.nofollow,
            page_nofollow: html.page_nofollow,
            encoding: html.encoding,
            targets: Vec::new(),
            url_budget: URL_BYTES_PER_PAGE + URL_BYTES_PER_BYTE.saturating_mul(html.bytes),
            parser,
        }
    }

    /// Returns whether the `rel` of a link decides if it is kept.
    pub(crate) fn drops(&self) -> bool {
        self.nofollow == Nofollow::Drop && !self.page_nofollow
    }

    /// Adds a link with its `rel` attribute.
    pub(crate) fn add(&mut self, link: &str, rel: Option<&str>) {
        if self.nofollow == Nofollow::Drop && (self.page_nofollow || has_token(rel, "nofollow")) {
            self.parser.summary.dropped(DropReason::Nofollow);
            return;
        }
        let link = match self.encoding {
            None => link.into(),
            Some(encoding) => encode_query(link, encoding),
        };
        let absolute = match &mut self.base {
            None => Ok(link),
            Some(base) => base.resolve(&link),
        };
        match absolute {
            // With a long base, the absolute URLs are much longer than the page.
            Ok(url) => match self.url_budget.checked_sub(url.len()) {
                Some(left) => {
                    self.url_budget = left;
                    self.targets.extend(self.parser.target(self.page, &url));
                }
                None => self.parser.summary.dropped(DropReason::TooLong),
            },
            Err(problem) => self.parser.summary.dropped(DropReason::from(&problem)),
        }
    }

    /// Stores the links and the canonical URL in the page's record.
    pub(crate) fn finish(mut self, canonical: Option<&str>, record: &mut PageRecord<UrlNumber>) {
        let outlinks = self.parser.outlinks(self.targets);
        let html = &mut self.parser.summary.html;
        html.searched += 1;
        html.with_links += u64::from(!outlinks.is_empty());
        if let Some(canonical) = canonical {
            let to = alias_target(self.page, canonical, self.base.as_mut(), self.parser);
            record.canonical = to.map_or(Attribute::Absent, Attribute::Given);
        }
        record.outlinks = Some(outlinks);
    }
}

/// Returns whether the `rel` of a `link` element or of a `Link` header names a page that leads on from this one.
pub(super) fn leads_on(rel: Option<&str>) -> bool {
    let is_page = ["next", "prev", "alternate"]
        .iter()
        .any(|word| has_token(rel, word));
    is_page && !has_token(rel, "stylesheet")
}

/// Returns the URL to which a `Refresh` header, or a `meta` element in its place, leads (WHATWG *HTML*, shared
/// declarative refresh steps); `None` if the page only reloads itself.
pub(super) fn refresh_target(content: &str) -> Option<&str> {
    let content = content.trim_ascii_start();
    let rest = content.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is_separator = |c: char| matches!(c, ';' | ',') || c.is_ascii_whitespace();
    if rest.len() == content.len() || !rest.starts_with(is_separator) {
        return None;
    }
    let rest = rest.trim_ascii_start();
    let rest = rest
        .strip_prefix([';', ','])
        .unwrap_or(rest)
        .trim_ascii_start();
    let value = match rest.split_at_checked(3) {
        Some((name, value)) if name.eq_ignore_ascii_case("url") => {
            let value = value.trim_ascii_start().strip_prefix('=');
            value.map_or(rest, str::trim_ascii_start)
        }
        _ => rest,
    };
    let url = match value.chars().next()? {
        quote @ ('"' | '\'') => value.get(1..)?.split(quote).next()?,
        _ => value,
    };
    Some(url.trim_ascii()).filter(|url| !url.is_empty())
}

/// Returns the links of a `Link` header (RFC 8288), each with its `rel`.
pub(super) fn header_links(value: &str) -> impl Iterator<Item = (&str, &str)> {
    value.split('<').skip(1).filter_map(|link| {
        let (url, parameters) = link.split_once('>')?;
        let rel = parameters.split(';').find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            let value = value.trim_matches(|c: char| c.is_ascii_whitespace() || c == ',');
            let is_rel = name.trim_ascii().eq_ignore_ascii_case("rel");
            is_rel.then(|| value.trim_matches('"'))
        });
        Some((url, rel.unwrap_or_default()))
    })
}

/// Returns whether the content of a `meta` element for robots asks not to follow links.
pub(super) fn asks_not_to_follow(content: &str) -> bool {
    content.split(',').any(|word| {
        let word = word.trim();
        word.eq_ignore_ascii_case("nofollow") || word.eq_ignore_ascii_case("none")
    })
}

/// Returns whether a `meta` element with this name is for robots.
pub(super) fn is_robots(name: &str) -> bool {
    name.trim().eq_ignore_ascii_case("robots")
}

/// Returns whether a list of words contains a token, in any case.
pub(super) fn has_token(words: Option<&str>, token: &str) -> bool {
    let mut words = words.unwrap_or_default().split_ascii_whitespace();
    words.any(|word| word.eq_ignore_ascii_case(token))
}

// Records of an archive, cut from its text.

/// Consecutive records.
#[derive(Debug)]
pub(super) struct Records<I> {
    pub(crate) items: Vec<Record<I>>,
    /// Bytes of decompressed text that they were cut from.
    pub(crate) bytes: u64,
    /// Memory of the items, in bytes.
    pub(crate) memory: usize,
}

/// A record that was cut from the text.
#[derive(Debug)]
pub(super) struct Record<I> {
    /// Its number in the file, from 1.
    pub(crate) number: u64,
    pub(crate) content: Content<I>,
    /// Whether it must be read together with the item before it.
    pub(crate) belongs: bool,
    bytes: u64,
}

/// What was extracted from a record.
#[derive(Debug)]
pub(super) enum Content<I> {
    Item(I),
    /// Nothing: the record does not describe a page.
    Skipped(SkipReason),
    /// The record is rejected; with the beginning of its text.
    Rejected(Fault, Vec<u8>),
}

// Resynchronisation: finding the records of a web archive by following their lengths.

/// The longest header of a record, in bytes.
const MAX_HEADER: usize = 64 << 10;

/// How many lengths in a row must be right for a position to be accepted as a record.
const HOPS: usize = 2;

/// Where the length of a record leads.
enum Hop {
    /// To another record, at this offset.
    Record(usize),
    /// To the end of the text.
    End,
    /// Beyond the text that is examined.
    Unknown,
    /// There is no record, or none follows it.
    Invalid,
}

/// Where the header of a record ends.
enum HeaderEnd {
    /// After this many bytes.
    At(usize),
    /// It is implausible or too long.
    Invalid,
    /// The text ends within it.
    Truncated,
}

/// Returns whether a record begins at an offset and leads to others.
fn starts_chain(text: &mut TextWindow<'_>, mut at: usize) -> bool {
    for _ in 0..HOPS {
        match hop(text, at) {
            Hop::Record(next) => at = next,
            Hop::End | Hop::Unknown => return true,
            Hop::Invalid => return false,
        }
    }
    true
}

/// Returns whether the lengths of all records from some record after `from` on lead exactly to the
/// end of the text.
fn chain_reaches_end(text: &mut TextWindow<'_>, from: usize) -> bool {
    let mut from = from.saturating_sub(1);
    while let Some(line) = next_line(text.from(from)) {
        let mut at = from + line;
        loop {
            match hop(text, at) {
                Hop::Record(next) => at = next,
                Hop::End => return true,
                // Every record of this chain ends here too, so the search continues after it.
                Hop::Unknown | Hop::Invalid => break,
            }
        }
        from = at;
    }
    false
}

/// Follows the length of the record at an offset.
fn hop(text: &mut TextWindow<'_>, at: usize) -> Hop {
    let end = match header_end(text, at, is_plausible_header) {
        HeaderEnd::At(end) => end,
        HeaderEnd::Invalid => return Hop::Invalid,
        HeaderEnd::Truncated => return Hop::Unknown,
    };
    let header = read(text.from(at).get(..end).unwrap_or_default());
    let Some(length) = header.length.filter(|_| header.is_complete()) else {
        return Hop::Invalid;
    };
    let length = usize::try_from(length).ok();
    let Some(length) = length.filter(|length| *length <= MAX_LINE) else {
        return Hop::Unknown;
    };
    let block_end = at + end + length;
    if !text.have(block_end) {
        return Hop::Unknown;
    }
    text.have(block_end + 4 + MAGIC.len());
    // Exactly two line ends, as the standard demands: an archive within a block is followed by more.
    let after = text.from(block_end);
    let line_ends: [&[u8]; 2] = [b"\r\n\r\n", b"\n\n"];
    let Some(line_ends) = line_ends.iter().find(|ends| after.starts_with(ends)) else {
        return Hop::Invalid;
    };
    match after.get(line_ends.len()..) {
        Some([]) if text.ended => Hop::End,
        Some(next) if next.starts_with(MAGIC) => Hop::Record(block_end + line_ends.len()),
        _ => Hop::Invalid,
    }
}

/// Finds the end of the header at an offset, of which each prefix must be plausible.
fn header_end(
    text: &mut TextWindow<'_>,
    at: usize,
    is_plausible: impl Fn(&[u8]) -> bool,
) -> HeaderEnd {
    let mut wanted = 1 << 10;
    loop {
        let has_more = text.have(at + wanted);
        let prefix = text.from(at);
        let prefix = prefix.get(..MAX_HEADER).unwrap_or(prefix);
        if !is_plausible(prefix) {
            return HeaderEnd::Invalid;
        }
        match end(prefix) {
            Some(end) => return HeaderEnd::At(end),
            None if prefix.len() == MAX_HEADER => return HeaderEnd::Invalid,
            None if !has_more => return HeaderEnd::Truncated,
            None => wanted *= 2,
        }
    }
}

/// Returns whether a text can be a prefix of a header: a version, then lines with names.
fn is_plausible_header(text: &[u8]) -> bool {
    let mut lines = text.split_inclusive(|byte| *byte == b'\n');
    let version = lines.next().unwrap_or_default();
    let is_version = matches!(
        version.strip_prefix(MAGIC),
        Some(
            [b'0'..=b'9', b'.', b'0'..=b'9', b'\n']
                | [b'0'..=b'9', b'.', b'0'..=b'9', b'\r', b'\n']
        )
    );
    if !is_version {
        // The text may end within the version.
        return !version.ends_with(b"\n") && version.len() < MAGIC.len() + 5;
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

/// Returns the offset of the first line, other than the first one, that begins like a record.
fn next_line(text: &[u8]) -> Option<usize> {
    let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let mut after = ends.map(|(at, _)| at + 1);
    after.find(|at| text.get(*at..).is_some_and(|line| line.starts_with(MAGIC)))
}

/// Returns the offset of the first byte from `from` on that is not part of a line end, and makes
/// enough text available after it to recognise a record. Stops after `most` line ends, since these
/// may go on without an end.
fn after_line_ends(text: &mut TextWindow<'_>, from: usize, most: usize) -> usize {
    let mut at = from;
    loop {
        let rest = text.from(at);
        // Bounded, so that a long run of line ends is not scanned once for each of many records.
        let rest = rest.get(..=most).unwrap_or(rest);
        let other = rest.iter().position(|byte| !is_line_end(*byte));
        at += other.unwrap_or(rest.len());
        if other.is_some() {
            text.have(at + MAGIC.len());
            return at;
        }
        if at - from > most || !text.have(at + 1) {
            return at;
        }
    }
}

/// Consumes line ends. Returns whether anything follows them.
fn skip_line_ends(text: &mut TextWindow<'_>) -> bool {
    loop {
        let other = text.rest().iter().position(|byte| !is_line_end(*byte));
        text.advance(other.unwrap_or(usize::MAX));
        if other.is_some() {
            return true;
        }
        if !text.have(1) {
            return false;
        }
    }
}

const fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refresh_leads_where_browsers_go() {
        for (content, url) in [
            ("0;url=/a", Some("/a")),
            (" 5.5 , URL = /a b ", Some("/a b")),
            ("0; '/a' x", Some("/a")),
            ("0;url=\"/a", Some("/a")),
            ("0 /a", Some("/a")),
            ("0;urls/x", Some("urls/x")),
            ("0;/a;b", Some("/a;b")),
            ("30", None),
            ("30;", None),
            ("30;url=''", None),
            ("url=/a", None),
            ("0x;url=/a", None),
            ("", None),
        ] {
            assert_eq!(refresh_target(content), url, "{content}");
        }
    }

    #[test]
    fn links_of_a_header_have_relations() {
        let links = |value| header_links(value).collect::<Vec<_>>();
        assert_eq!(
            links("</a>; rel=\"next\", <https://b.example/?x=1,2>;title=x; REL=prev,</c>"),
            [
                ("/a", "next"),
                ("https://b.example/?x=1,2", "prev"),
                ("/c", "")
            ]
        );
        assert_eq!(links("none"), []);
        assert!(leads_on(Some("NEXT nofollow")) && !leads_on(Some("preload")) && !leads_on(None));
    }

    #[test]
    fn a_head_ends_at_its_blank_line() {
        assert_eq!(end(b"WARC/1.0\r\nA: b\r\n\r\n{}"), Some(18));
        assert_eq!(end(b"WARC/1.0\nA: b\n\n{}"), Some(15));
        assert_eq!(end(b"WARC/1.0\r\nA: b\r\n\r"), None);
        assert_eq!(end(b"WARC/1.0"), None);
    }

    #[test]
    fn names_have_no_case_and_lengths_are_numbers() {
        let lines = "WARC/1.0\r\nwarc-type: Metadata\r\nCONTENT-LENGTH: 12\r\nContent-Length: 13\r\n\
            warc-target-uri: <http://a.example/>\r\nContent-Type: application/JSON; charset=utf-8\r\n";
        let head = read(lines.as_bytes());
        assert!(head.is("metadata") && !head.is_complete());
        assert_eq!(head.length, Some(12));
        assert_eq!(head.url, Some(&b"http://a.example/"[..]));
        assert_eq!(head.content, b"application/JSON");
        for length in ["", "-1", "+1", "1e3", "18446744073709551616", "0x1", "1 2"] {
            let head = format!("WARC/1.0\r\nContent-Length: {length}\r\n");
            assert_eq!(read(head.as_bytes()), WarcHeader::default(), "{length}");
        }
    }
}
