//! Reads a row of named values, in the same way for all kinds of tables.
//!
//! A row is written as the line of JSON Lines with the same values, which is then read: so both have
//! the same checks and the same reasons for rejection, whatever rules are added. The alternative,
//! separate checks of typed values, would save about a tenth of the time (most of the time of a line
//! goes to its URLs), and would have to be kept in step with JSON Lines.

use std::borrow::Cow;
use std::fmt::Write;

use super::column_map::{ColumnMap, RowKind};
use crate::ingest::blocks::{MAX_LINE, line_too_long};
use crate::ingest::entries::{self, Entry};
use crate::ingest::fetch::{Answer, Fetch};
use crate::ingest::formats::capture_entry::{capture_entry, labelled_digest};
use crate::ingest::formats::json_lines::{JsonLines, wrong_type};
use crate::ingest::lines::read_line;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::reject::{Fault, Position, RejectReason};
use crate::ingest::summary::SkipReason;
use crate::ingest::timestamp::parse_timestamp;

/// The value of a cell.
pub(super) enum Value<'a> {
    Text(Cow<'a, str>),
    /// A number in the syntax of JSON.
    Number(Cow<'a, str>),
    Truth(bool),
    /// JSON that the caller has validated.
    Json(&'a str),
    Links(Box<dyn Iterator<Item = Link<'a>> + 'a>),
}

/// An element of a list of links.
#[cfg_attr(
    not(feature = "parquet"),
    allow(dead_code, reason = "what only Parquet and Arrow need")
)]
pub(super) enum Link<'a> {
    Null,
    Url(&'a str),
    /// A value that is not UTF-8.
    NoText,
    /// An object with its `url` and `href`, if they are present and not null.
    Object(Option<&'a str>, Option<&'a str>),
}

/// A row of any kind of table.
pub(super) trait Row<'a> {
    /// Returns the value of a field in a column, given by its index; `None` if it is absent. A fault
    /// rejects the row.
    fn value(&self, field: &'static str, column: usize) -> Result<Option<Value<'a>>, Fault>;
}

/// Reads rows one after another.
pub(super) struct Rows<'a> {
    columns: &'a ColumnMap,
    /// The current row as JSON.
    line: String,
    /// Number of rows so far.
    read: u64,
}

impl<'a> Rows<'a> {
    pub(super) const fn new(columns: &'a ColumnMap) -> Self {
        Self {
            columns,
            line: String::new(),
            read: 0,
        }
    }

    /// Counts the unknown columns of all rows.
    pub(super) fn finish(self, parser: &mut PieceParser) {
        for name in &self.columns.unknown {
            parser.summary.unknown_fields.count_times(name, self.read);
        }
    }

    /// Adds a row. A rejected row is listed with `text`, or else with its JSON.
    pub(super) fn read(
        &mut self,
        row: &dyn Row<'_>,
        at: Position,
        text: Option<&[u8]>,
        parser: &mut PieceParser,
    ) {
        self.line.clear();
        let written = write_line(self.columns, row, &mut self.line);
        let entry = written.and_then(|()| match self.columns.kind {
            RowKind::Record => read_line(&JsonLines, self.line.as_bytes(), parser).map(Entry::One),
            RowKind::Capture => capture(self.columns, row, parser),
        });
        self.read += 1;
        entries::add_entry(parser, at, entry, text.unwrap_or(self.line.as_bytes()));
    }
}

/// Writes a row as a line of JSON Lines; after a fault, the line has the fields before it.
fn write_line(columns: &ColumnMap, row: &dyn Row<'_>, line: &mut String) -> Result<(), Fault> {
    line.push('{');
    for (field, column) in &columns.fields {
        let Some(value) = row.value(field, *column)? else {
            continue;
        };
        if line.len() > 1 {
            line.push(',');
        }
        // Field names need no escapes.
        line.push('"');
        line.push_str(field);
        line.push_str("\":");
        // Such a line is rejected for its length anyway, so that it need not be written.
        if let Value::Text(text) = &value
            && text.len() > MAX_LINE
        {
            return Err(line_too_long(text.len() as u64));
        }
        write_value(value, line);
    }
    line.push('}');
    Ok(())
}

fn write_value(value: Value<'_>, line: &mut String) {
    match value {
        Value::Text(text) => write_text(&text, line),
        Value::Number(number) => line.push_str(&number),
        Value::Truth(truth) => line.push_str(if truth { "true" } else { "false" }),
        Value::Json(json) => line.push_str(json),
        Value::Links(links) => {
            line.push('[');
            for (number, link) in links.enumerate() {
                // The line is rejected for its length, whatever follows.
                if line.len() > MAX_LINE {
                    break;
                }
                if number > 0 {
                    line.push(',');
                }
                write_link(&link, line);
            }
            line.push(']');
        }
    }
}

fn write_link(link: &Link<'_>, json: &mut String) {
    match link {
        Link::Null => json.push_str("null"),
        Link::Url(url) if url.len() > MAX_LINE => json.push_str(r#""\ud800""#),
        Link::Url(url) => write_text(url, json),
        // An unpaired surrogate: the JSON string that is not a text.
        Link::NoText => json.push_str(r#""\ud800""#),
        Link::Object(url, href) => {
            json.push('{');
            let fields = [("\"url\":", url), ("\"href\":", href)];
            for (name, text) in fields {
                let Some(text) = text else { continue };
                if !json.ends_with('{') {
                    json.push(',');
                }
                json.push_str(name);
                write_text(text, json);
            }
            json.push('}');
        }
    }
}

/// Writes a JSON string.
fn write_text(text: &str, line: &mut String) {
    line.push('"');
    let mut rest = text;
    let is_special = |byte: u8| byte < b' ' || byte == b'"' || byte == b'\\';
    while let Some(at) = rest.bytes().position(is_special) {
        let (before, after) = rest.split_at(at);
        line.push_str(before);
        let mut characters = after.chars();
        if let Some(special) = characters.next() {
            // Writing to a String cannot fail.
            let _ = write!(line, "\\u{:04x}", u32::from(special));
        }
        rest = characters.as_str();
    }
    line.push_str(rest);
    line.push('"');
}

/// Reads a row of an index, which leaves the links of its page unchanged.
fn capture(
    columns: &ColumnMap,
    row: &dyn Row<'_>,
    parser: &mut PieceParser,
) -> Result<Entry, Fault> {
    let text = |field: &'static str| {
        let column = columns.fields.iter().find(|(name, _)| *name == field);
        let value = match column {
            Some((field, column)) => row.value(field, *column)?,
            None => None,
        };
        match value {
            None => Ok(None),
            Some(Value::Text(text) | Value::Number(text)) => Ok(Some(text)),
            Some(_) => Err(wrong_type(field, "a text or a number")),
        }
    };
    let Some(status) = text("fetch_status")? else {
        return Ok(Entry::Skipped(SkipReason::NoStatus));
    };
    let status: u16 = status
        .parse()
        .map_err(|_| wrong_type("fetch_status", "a status"))?;
    let Some(answer) = Answer::from_status(status) else {
        return Ok(Entry::Skipped(SkipReason::OtherStatus));
    };
    let url = text("url")?
        .ok_or_else(|| Fault::new(RejectReason::MissingUrl, "a row must have a url"))?;
    let time = text("fetch_time")?.map(in_utc);
    let digest = text("content_digest")?;
    let digest = digest.as_deref().map(labelled_digest);
    let location = text("fetch_redirect")?;
    let fetch = Fetch {
        url: &url,
        answer,
        time: time.as_deref(),
        time_field: "fetch_time",
        digest: digest.as_deref(),
        location: location.as_deref(),
    };
    capture_entry(&fetch, None, parser)
}

/// Adds the zone to a time of an index: it is UTC, whether or not the time says so. Query engines
/// write it out.
fn in_utc(time: Cow<'_, str>) -> Cow<'_, str> {
    if let Some(bare) = time.strip_suffix(" UTC") {
        return format!("{bare}Z").into();
    }
    let is_bare = parse_timestamp(&time).is_ok_and(|time| time.zone_assumed);
    if is_bare && time.contains(':') {
        return format!("{time}Z").into();
    }
    time
}
