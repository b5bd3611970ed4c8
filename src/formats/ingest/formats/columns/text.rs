//! Tables as text: CSV, and TSV with a header.

use csv::{ByteRecord, ReaderBuilder, Terminator};
use serde::de::IgnoredAny;

use super::error::TableError;
use super::layout::Layout;
use super::records::{Cutter, Item, Records};
use super::row::{Link, Row, Rows, Value};
use crate::ingest::decimal::decimal;
use crate::ingest::open::{Input, InputError, Opened};
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::progress::Progress;
use crate::ingest::reject::{Fault, Position, RejectReason};
use crate::ingest::sniff::DetectedFormat;
use crate::ingest::source::{Piece, Pieces, Source, Sources, Stop};
use seedbank_algorithms::watch::Watch;

/// How many bytes of memory a byte of text comes to, with the URLs that are read from it.
const EXPANSION: usize = 2;

/// A row that is none of the table.
const FIRST_ROW: &[u8] = b"x\n";

/// What stands between cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::ingest) enum Delimited {
    /// A comma or a semicolon, whichever the header has.
    Csv,
    /// A tab.
    Tsv,
    /// Any of the three.
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

    /// Each by itself.
    fn each(self) -> std::slice::Chunks<'static, u8> {
        self.delimiters().chunks(1)
    }
}

/// Whether these first bytes of a text are a header that names `url` among other columns.
pub(in crate::ingest) fn is_table(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let Some(end) = head.iter().position(|byte| *byte == b'\n') else {
        return false;
    };
    let header = head.get(..=end).unwrap_or_default();
    Delimited::Any.each().any(|delimiter| {
        let names = names_of(header, delimiter);
        names.is_some_and(|names| names.len() > 1 && has_url(&names))
    })
}

fn has_url(names: &[String]) -> bool {
    names
        .iter()
        .any(|name| name.trim().eq_ignore_ascii_case("url"))
}

/// The cells of a header; `None` where it is no UTF-8.
fn names_of(header: &[u8], delimiter: &[u8]) -> Option<Vec<String>> {
    let mut record = ByteRecord::new();
    let mut reader = reader(header, delimiter);
    reader.read_byte_record(&mut record).ok()?;
    let names =
        cells(&record).map(|cell| std::str::from_utf8(cell).map(|name| name.trim().to_owned()));
    names.collect::<Result<_, _>>().ok()
}

/// Reads rows, one a line but for quotes; their ends are those of a [`Cutter`].
fn reader<'a>(text: &'a [u8], delimiter: &[u8]) -> csv::Reader<&'a [u8]> {
    ReaderBuilder::new()
        .delimiter(delimiter.first().copied().unwrap_or(b','))
        .terminator(Terminator::Any(b'\n'))
        .has_headers(false)
        .flexible(true)
        .from_reader(text)
}

/// The cells of a row, without the carriage return that may stand before the end of its line.
fn cells(record: &ByteRecord) -> impl Iterator<Item = &[u8]> {
    let last = record.len().saturating_sub(1);
    record.iter().enumerate().map(move |(at, cell)| match cell {
        [cell @ .., b'\r'] if at == last => cell,
        _ => cell,
    })
}

/// The sources for tables as text.
pub(in crate::ingest) fn sources(inputs: &[Input], delimited: Delimited) -> Sources {
    let source = |input: &Input| {
        Box::new(Table {
            input: input.clone(),
            delimited,
        }) as Box<dyn Source>
    };
    inputs.iter().map(source).collect()
}

/// A table as text, plain or compressed.
#[derive(Clone, Debug)]
struct Table {
    input: Input,
    delimited: Delimited,
}

impl Source for Table {
    fn name(&self) -> String {
        self.input.to_string()
    }

    fn prepare(&mut self, _: &dyn Watch) -> Result<Option<u64>, Stop> {
        Ok(self.input.length()?)
    }

    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        let mut opened = self.input.open(progress)?;
        if opened
            .peek_format()
            .is_some_and(DetectedFormat::excludes_records)
            && let Some(seen) = opened.detected(opened.ahead())
        {
            return Err(InputError::NotRecords(seen).into());
        }
        pieces(&self.name(), opened, self.delimited, progress)
    }
}

/// The pieces of an open input with this name.
pub(in crate::ingest) fn pieces<'a>(
    file: &str,
    input: Opened,
    delimited: Delimited,
    progress: &Progress<'a>,
) -> Result<Pieces<'a>, Stop> {
    let mut cutter = Cutter::new(input, delimited.delimiters(), progress.clone());
    let (layout, columns) = header(file, &mut cutter, delimited)?;
    let between = cutter.delimiters;
    let shape = std::sync::Arc::new((layout, columns));
    Ok(Box::new(cutter.map(move |records| {
        let records = records?;
        let shape = std::sync::Arc::clone(&shape);
        Ok(Piece {
            bytes: records.bytes,
            records: records.items.len(),
            memory: records.text.len() * EXPANSION,
            read: Box::new(move |parser| {
                let (layout, columns) = &*shape;
                read(&records, layout, *columns, between, parser);
            }),
        })
    })))
}

/// Reads the header, which says what stands between cells; what the columns are, and how many.
fn header(
    file: &str,
    cutter: &mut Cutter<'_>,
    delimited: Delimited,
) -> Result<(Layout, usize), Stop> {
    let refuse = |error: TableError| Stop::from(InputError::from(error));
    let file = || file.to_owned();
    cutter.read_more();
    let line: Vec<u8> = loop {
        let mut line = Vec::new();
        match cutter.next(&mut line)? {
            None => return Err(refuse(TableError::NoHeader { file: file() })),
            Some((_, Item::Blank)) => {}
            Some((_, Item::Row(_))) => break line,
            Some((_, Item::Refused(..))) => {
                let problem = "its quotes are not closed, or it is too long";
                return Err(refuse(TableError::Header {
                    file: file(),
                    problem,
                }));
            }
        }
    };
    let mut found = None;
    for between in delimited.each() {
        let Some(names) = names_of(&line, between) else {
            let problem = "it is not UTF-8";
            return Err(refuse(TableError::Header {
                file: file(),
                problem,
            }));
        };
        let is_url = has_url(&names);
        // Where no delimiter gives a column url, the columns that are told are those of the most.
        if is_url
            || found
                .as_ref()
                .is_none_or(|(_, most): &(&[u8], Vec<_>)| most.len() < names.len())
        {
            found = Some((between, names));
        }
        if is_url {
            break;
        }
    }
    let (between, names) = found.unwrap_or_default();
    cutter.delimiters = between;
    let layout = Layout::of(&file(), &names).map_err(refuse)?;
    Ok((layout, names.len()))
}

fn read(
    records: &Records,
    layout: &Layout,
    columns: usize,
    delimiter: &[u8],
    parser: &mut PieceParser,
) {
    // The reader takes a byte order mark away where it begins, which is within the text here: so it
    // begins with a row of its own.
    let text = [FIRST_ROW, &records.text].concat();
    let mut table = reader(&text, delimiter);
    let mut record = ByteRecord::new();
    let _ = table.read_byte_record(&mut record);
    let mut rows = Rows::new(layout);
    for (line, item) in &records.items {
        let at = Position::Line(*line);
        match item {
            Item::Blank => parser.summary.blank_lines += 1,
            Item::Refused(fault, head) => parser.add(at, Err(fault.clone()), head),
            Item::Row(place) => {
                let text = records.text.get(place.clone()).unwrap_or_default();
                // Reading from memory cannot fail, and rows may have any number of cells.
                let is_there = table.read_byte_record(&mut record).unwrap_or(false);
                let begins = record.position().map(csv::Position::byte);
                if !is_there || begins != Some((FIRST_ROW.len() + place.start) as u64) {
                    let fault = Fault::new(RejectReason::Quotes, "its quotes do not match");
                    parser.add(at, Err(fault), text);
                } else if record.len() != columns {
                    let detail = format!("{} cells; the header has {columns}", record.len());
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

/// A row of a text.
struct Cells<'a>(&'a ByteRecord);

impl<'a> Row<'a> for Cells<'a> {
    fn value(&self, field: &'static str, column: usize) -> Result<Option<Value<'a>>, Fault> {
        let cell = std::str::from_utf8(cells(self.0).nth(column).unwrap_or_default())
            .map_err(|error| Fault::new(RejectReason::InvalidUtf8, error.to_string()))?;
        value(field, cell)
    }
}

/// What a cell says; an empty one says nothing.
fn value<'a>(field: &'static str, cell: &'a str) -> Result<Option<Value<'a>>, Fault> {
    if cell.is_empty() {
        return Ok(None);
    }
    Ok(Some(match field {
        "spam" | "gone" => truth(cell.trim()),
        "clicks" | "uncrawled_outlinks" | "quality" | "fetch_status" => number(cell.trim()),
        "outlinks" => match cell.trim() {
            "" => return Ok(None),
            list if list.starts_with('[') => {
                // The cell is all of the list, and nothing of the record around it.
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

/// What is none stays a text, and is refused.
fn truth(cell: &str) -> Value<'_> {
    match cell {
        "1" => Value::Truth(true),
        "0" => Value::Truth(false),
        _ if cell.eq_ignore_ascii_case("true") => Value::Truth(true),
        _ if cell.eq_ignore_ascii_case("false") => Value::Truth(false),
        _ => Value::Text(cell.into()),
    }
}

/// A number as JSON writes it, without leading zeros; what is none stays a text, and is refused.
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
    let zero = if bare.starts_with(|c: char| c.is_ascii_digit()) {
        ""
    } else {
        "0"
    };
    Value::Number(format!("{sign}{zero}{bare}").into())
}
