//! Tables in text form: CSV, and TSV with a header.

use std::ops::Range;
use std::sync::Arc;

use crate::ingest::decimal::decimal;
use crate::ingest::entries::utf_8;
use crate::ingest::formats::file_source::{FileFormat, OpenFile};
use crate::ingest::formats::text_window::{BYTE_ORDER_MARK, TextWindow};
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::source::{
    MAX_LINE, PIECE_RECORDS, PIECE_SIZE, Piece, Pieces, Stop, line_ends, line_too_long,
};
use crate::ingest::summary::{EXCERPT_CHARS, Fault, Position, RejectReason};

use super::row::{ColumnMap, Link, Row, Rows, TableError, Value, split_links};
use crate::ingest::columns::ColumnNames;
use csv::{ByteRecord, ReaderBuilder, Terminator};
use serde::de::IgnoredAny;

/// Bytes of memory for each byte of text, including the URLs that are parsed from it.
const EXPANSION: usize = 2;

/// A row that is not part of the table.
const FIRST_ROW: &[u8] = b"x\n";

/// The delimiter of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Delimited {
    /// A comma or a semicolon, whichever the header contains.
    Csv,
    /// A tab.
    Tsv,
    /// A tab, a comma or a semicolon.
    Any,
}

impl Delimited {
    const fn delimiters(self) -> &'static [u8] {
        match self {
            Self::Csv => b",;",
            Self::Tsv => b"\t",
            Self::Any => b"\t,;",
        }
    }

    /// Returns the possible delimiters.
    fn each(self) -> std::slice::Chunks<'static, u8> {
        self.delimiters().chunks(1)
    }
}

impl FileFormat for Delimited {
    fn pieces<'a>(&self, mut file: OpenFile<'a>) -> Result<Pieces<'a>, Stop> {
        if let Some(other) = file.opened.peek_format().filter(|is| is.excludes_records()) {
            return Err(file.other_format(other));
        }
        let name = file.name();
        let text = TextWindow::without_mark(file.opened, file.progress);
        let mut splitter = Splitter::new(text, self.delimiters());
        let columns = Arc::new(self.read_header(&name, &file.columns, &mut splitter)?);
        let delimiter = splitter.delimiters;
        Ok(Box::new(splitter.map(move |records| {
            let records = records?;
            let columns = Arc::clone(&columns);
            Ok(Piece {
                bytes: records.bytes,
                records: records.items.len(),
                memory: records.text.len() * EXPANSION,
                read: Box::new(move |parser| read(&records, &columns, delimiter, parser)),
            })
        })))
    }
}

/// Returns whether the first bytes of a text are a header that names `url` and other columns.
pub(crate) fn is_delimited_table(beginning: &[u8], columns: &ColumnNames) -> bool {
    let beginning = beginning.strip_prefix(BYTE_ORDER_MARK).unwrap_or(beginning);
    let Some(end) = beginning.iter().position(|byte| *byte == b'\n') else {
        return false;
    };
    let header = beginning.get(..=end).unwrap_or_default();
    Delimited::Any.each().any(|delimiter| {
        let names = header_names(header, delimiter);
        names.is_some_and(|names| names.len() > 1 && columns.is_table(&names))
    })
}

/// Returns the cells of a header; `None` if it is not UTF-8.
fn header_names(header: &[u8], delimiter: &[u8]) -> Option<Vec<String>> {
    let mut record = ByteRecord::new();
    let mut reader = reader(header, delimiter);
    reader.read_byte_record(&mut record).ok()?;
    let names =
        cells(&record).map(|cell| std::str::from_utf8(cell).map(|name| name.trim().to_owned()));
    names.collect::<Result<_, _>>().ok()
}

/// Returns a reader of rows that end where those of a [`Splitter`] end.
fn reader<'a>(text: &'a [u8], delimiter: &[u8]) -> csv::Reader<&'a [u8]> {
    ReaderBuilder::new()
        .delimiter(delimiter.first().copied().unwrap_or(b','))
        .terminator(Terminator::Any(b'\n'))
        .has_headers(false)
        .flexible(true)
        .from_reader(text)
}

/// Returns the cells of a row, without the carriage return of its line end.
fn cells(record: &ByteRecord) -> impl Iterator<Item = &[u8]> {
    let last = record.len().saturating_sub(1);
    record.iter().enumerate().map(move |(at, cell)| match cell {
        [cell @ .., b'\r'] if at == last => cell,
        _ => cell,
    })
}

impl Delimited {
    /// Reads the header and sets the delimiter of the splitter.
    fn read_header(
        self,
        file: &str,
        columns: &ColumnNames,
        splitter: &mut Splitter<'_>,
    ) -> Result<ColumnMap, Stop> {
        let file = || file.to_owned();
        let refuse = |problem| {
            TableError::Header {
                file: file(),
                problem,
            }
            .into()
        };
        let line: Vec<u8> = loop {
            let mut line = Vec::new();
            match splitter.next(&mut line)? {
                None => return Err(TableError::NoHeader { file: file() }.into()),
                Some((_, Item::Blank)) => {}
                Some((_, Item::Row(_))) => break line,
                Some((_, Item::Rejected(..))) => {
                    return Err(refuse("its quotes are not closed, or it is too long"));
                }
            }
        };
        let mut found = None;
        for delimiter in self.each() {
            let Some(names) = header_names(&line, delimiter) else {
                return Err(refuse("it is not UTF-8"));
            };
            let is_url = columns.is_table(&names);
            // If no delimiter gives a column url, the error lists the columns of the one with the most.
            if is_url
                || found
                    .as_ref()
                    .is_none_or(|(_, most): &(&[u8], Vec<_>)| most.len() < names.len())
            {
                found = Some((delimiter, names));
            }
            if is_url {
                break;
            }
        }
        let (delimiter, names) = found.unwrap_or_default();
        splitter.delimiters = delimiter;
        Ok(ColumnMap::new(&file(), &names, columns, &|_| false)?)
    }
}

fn read(records: &Records, columns: &ColumnMap, delimiter: &[u8], parser: &mut PieceParser) {
    // The reader skips a byte order mark at its beginning, where this text is not at its own: so an
    // artificial row comes first.
    let text = [FIRST_ROW, &records.text].concat();
    let mut table = reader(&text, delimiter);
    let mut record = ByteRecord::new();
    let _ = table.read_byte_record(&mut record);
    let mut rows = Rows::new(columns);
    for (line, item) in &records.items {
        let at = Position::Line(*line);
        match item {
            Item::Blank => parser.summary.blank_lines += 1,
            Item::Rejected(fault, head) => {
                read_page(head, columns, delimiter, parser);
                parser.add(at, Err(fault.clone()), head);
            }
            Item::Row(place) => {
                let text = records.text.get(place.clone()).unwrap_or_default();
                // Reading from memory cannot fail, and a row may have any number of cells.
                let is_read = table.read_byte_record(&mut record).unwrap_or(false);
                let begins = record.position().map(csv::Position::byte);
                if !is_read || begins != Some((FIRST_ROW.len() + place.start) as u64) {
                    let fault = Fault::new(RejectReason::Quotes, "its quotes do not match");
                    read_page(text, columns, delimiter, parser);
                    parser.add(at, Err(fault), text);
                } else if record.len() != columns.count {
                    let (found, expected) = (record.len(), columns.count);
                    let detail = format!("{found} cells; the header has {expected}");
                    let fault = Fault::new(RejectReason::Columns, detail);
                    read_page(text, columns, delimiter, parser);
                    parser.add(at, Err(fault), text);
                } else {
                    let row = Cells {
                        record: &record,
                        split: columns.split.as_deref(),
                    };
                    rows.read(&row, at, Some(text), parser);
                }
            }
        }
    }
    rows.finish(parser);
}

/// Reads the URL of the page of a rejected row, as far as its column has one.
fn read_page(text: &[u8], columns: &ColumnMap, delimiter: &[u8], parser: &mut PieceParser) {
    let mut record = ByteRecord::new();
    let is_read = reader(text, delimiter).read_byte_record(&mut record);
    if is_read.unwrap_or(false)
        && let Some(column) = columns.page()
        && let Ok(url) = utf_8(cells(&record).nth(column).unwrap_or_default())
    {
        let _ = parser.page(url);
    }
}

struct Cells<'a> {
    record: &'a ByteRecord,
    /// What separates the links in a cell, instead of white space.
    split: Option<&'a str>,
}

impl<'a> Row<'a> for Cells<'a> {
    fn value(&self, field: &'static str, column: usize) -> Result<Option<Value<'a>>, Fault> {
        let cell = utf_8(cells(self.record).nth(column).unwrap_or_default())?;
        match self.split {
            Some(split) if field == "outlinks" && !cell.is_empty() => {
                Ok(Some(Value::Links(Box::new(split_links(cell, split)))))
            }
            _ => value(field, cell),
        }
    }
}

/// Converts a cell; an empty one is absent.
fn value<'a>(field: &'static str, cell: &'a str) -> Result<Option<Value<'a>>, Fault> {
    if cell.is_empty() {
        return Ok(None);
    }
    Ok(Some(match field {
        "spam" | "gone" | "seed" => boolean(cell.trim()),
        "clicks" | "uncrawled_outlinks" | "quality" | "failures" | "observed_days"
        | "new_links" | "depth" | "status" | "fetch_status" => number(cell.trim()),
        "outlinks" => match cell.trim() {
            "" => return Ok(None),
            list if list.starts_with('[') => {
                // Validated, since it becomes part of the JSON of the row.
                serde_json::from_str::<IgnoredAny>(list).map_err(|error| {
                    let detail = format!(
                        "outlinks: begins like a list, but is not JSON ({error}); expected URLs with spaces between them, or a JSON array"
                    );
                    Fault::new(RejectReason::InvalidJson, detail)
                })?;
                Value::Json(list)
            }
            list => Value::Links(Box::new(list.split_whitespace().map(Link::Url))),
        },
        _ => Value::Text(cell.into()),
    }))
}

/// Converts a boolean. Anything else stays a text, and is rejected.
fn boolean(cell: &str) -> Value<'_> {
    match cell {
        "1" => Value::Truth(true),
        "0" => Value::Truth(false),
        _ if cell.eq_ignore_ascii_case("true") => Value::Truth(true),
        _ if cell.eq_ignore_ascii_case("false") => Value::Truth(false),
        _ => Value::Text(cell.into()),
    }
}

/// Converts a number to the syntax of JSON, which has no leading zeros. Anything else stays a text,
/// and is rejected.
fn number(cell: &str) -> Value<'_> {
    let is_plain = cell.bytes().all(|byte| byte.is_ascii_digit()) && !cell.starts_with('0');
    if is_plain && !cell.is_empty() {
        return Value::Number(cell.into());
    }
    if decimal(cell).is_none() {
        return Value::Text(cell.into());
    }
    let (sign, digits) = match cell.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", cell),
    };
    let bare = digits.trim_start_matches('0');
    let has_digit = bare.starts_with(|c: char| c.is_ascii_digit());
    let zero = if has_digit { "" } else { "0" };
    Value::Number(format!("{sign}{zero}{bare}").into())
}

// Splits a table in text form into its records.
//
// A record ends at the end of its line, unless that is within quotes (RFC 4180). An unclosed quote
// would therefore swallow the records after it. So a record is rejected if a closing quote is
// followed by anything other than a delimiter or the end of the line, if the record is longer than
// [`MAX_LINE`], or if the text ends within quotes. Only its first line is skipped then, and the
// lines after it are read again: a line is read once more for each rejected line before it. After
// [`MAX_UNCLOSED`] unclosed quotes, a record must end on its line.

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
