//! Tables in text form: CSV, and TSV with a header.

use std::sync::Arc;

use csv::{ByteRecord, ReaderBuilder, Terminator};
use serde::de::IgnoredAny;

use super::column_map::ColumnMap;
use super::error::TableError;
use super::row::{Link, Row, Rows, Value};
use super::splitter::{Item, Records, Splitter};
use crate::ingest::decimal::decimal;
use crate::ingest::entries::utf_8;
use crate::ingest::formats::file_source::{FileFormat, OpenFile};
use crate::ingest::formats::text_window::{BYTE_ORDER_MARK, TextWindow};
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::reject::{Fault, Position, RejectReason};
use crate::ingest::source::{Piece, Pieces, Stop};

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
        let columns = Arc::new(self.read_header(&name, &mut splitter)?);
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
pub(crate) fn is_delimited_table(beginning: &[u8]) -> bool {
    let beginning = beginning.strip_prefix(BYTE_ORDER_MARK).unwrap_or(beginning);
    let Some(end) = beginning.iter().position(|byte| *byte == b'\n') else {
        return false;
    };
    let header = beginning.get(..=end).unwrap_or_default();
    Delimited::Any.each().any(|delimiter| {
        let names = header_names(header, delimiter);
        names.is_some_and(|names| names.len() > 1 && has_url(&names))
    })
}

fn has_url(names: &[String]) -> bool {
    names.iter().any(|name| name.eq_ignore_ascii_case("url"))
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
    fn read_header(self, file: &str, splitter: &mut Splitter<'_>) -> Result<ColumnMap, Stop> {
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
            let is_url = has_url(&names);
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
        Ok(ColumnMap::new(&file(), &names)?)
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
            Item::Rejected(fault, head) => parser.add(at, Err(fault.clone()), head),
            Item::Row(place) => {
                let text = records.text.get(place.clone()).unwrap_or_default();
                // Reading from memory cannot fail, and a row may have any number of cells.
                let is_read = table.read_byte_record(&mut record).unwrap_or(false);
                let begins = record.position().map(csv::Position::byte);
                if !is_read || begins != Some((FIRST_ROW.len() + place.start) as u64) {
                    let fault = Fault::new(RejectReason::Quotes, "its quotes do not match");
                    parser.add(at, Err(fault), text);
                } else if record.len() != columns.count {
                    let (found, expected) = (record.len(), columns.count);
                    let detail = format!("{found} cells; the header has {expected}");
                    let fault = Fault::new(RejectReason::Columns, detail);
                    parser.add(at, Err(fault), text);
                } else {
                    rows.read(&Cells(&record), at, Some(text), parser);
                }
            }
        }
    }
    rows.finish(parser);
}

struct Cells<'a>(&'a ByteRecord);

impl<'a> Row<'a> for Cells<'a> {
    fn value(&self, field: &'static str, column: usize) -> Result<Option<Value<'a>>, Fault> {
        let cell = utf_8(cells(self.0).nth(column).unwrap_or_default())?;
        value(field, cell)
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
