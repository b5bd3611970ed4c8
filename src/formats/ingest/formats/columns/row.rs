//! What a row of named values says: the one place for all kinds of tables.
//!
//! A row becomes the line of JSON Lines that has the same values, and is read as one: the same
//! checks, the same reasons where it is refused, whatever rules come to be added. The alternative,
//! checks of their own on typed values, would save about a tenth of the time (what a line costs is
//! its URLs), and would have to be kept in step with those of JSON Lines for ever.

use std::borrow::Cow;
use std::fmt::Write;

use super::layout::{Layout, RowKind};
use crate::ingest::blocks::{MAX_LINE, line_too_long};
use crate::ingest::fetch::{Answer, Fetch, count_if_accepted, mark_crawled};
use crate::ingest::formats::json_lines::JsonLines;
use crate::ingest::interner::UrlNumber;
use crate::ingest::lines::read_line;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::Event;
use crate::ingest::reject::{Fault, Position, RejectReason};
use crate::ingest::summary::SkipReason;
use crate::ingest::timestamp::parse_timestamp;

/// What a cell holds.
pub(super) enum Value<'a> {
    /// A text.
    Text(Cow<'a, str>),
    /// A number as JSON writes it.
    Number(Cow<'a, str>),
    /// True or false.
    Truth(bool),
    /// JSON, of which the caller has made sure that it is.
    Json(&'a str),
    /// A list of links.
    Links(Box<dyn Iterator<Item = Link<'a>> + 'a>),
}

/// An element of a list of links.
#[cfg_attr(
    not(feature = "parquet"),
    allow(dead_code, reason = "what only Parquet and Arrow need")
)]
pub(super) enum Link<'a> {
    /// None at all.
    Null,
    /// A URL.
    Url(&'a str),
    /// What is no text.
    NoText,
    /// An object, with its `url` and `href`; `None` where it has no such field or that is null.
    Object(Option<&'a str>, Option<&'a str>),
}

/// A row, of whatever kind of table.
pub(super) trait Row<'a> {
    /// What stands in a column, by its place; `None` where there is nothing. A fault refuses the row.
    fn value(&self, field: &'static str, column: usize) -> Result<Option<Value<'a>>, Fault>;
}

/// Reads rows one after another.
pub(super) struct Rows<'a> {
    layout: &'a Layout,
    /// The line that the row is.
    line: String,
    /// How many rows were read.
    read: u64,
}

impl<'a> Rows<'a> {
    pub(super) const fn new(layout: &'a Layout) -> Self {
        Self {
            layout,
            line: String::new(),
            read: 0,
        }
    }

    /// Counts the columns that no record has, of all rows that were read.
    pub(super) fn finish(self, parser: &mut PieceParser) {
        for name in &self.layout.unknown {
            parser.summary.unknown_fields.count_times(name, self.read);
        }
    }

    /// Adds what a row says. A row that is refused is listed by `text`, or by the line that it is.
    pub(super) fn read(
        &mut self,
        row: &dyn Row<'_>,
        at: Position,
        text: Option<&[u8]>,
        parser: &mut PieceParser,
    ) {
        self.line.clear();
        let written = write_line(self.layout, row, &mut self.line);
        let said = written.and_then(|()| match self.layout.kind {
            RowKind::Record => read_line(&JsonLines, self.line.as_bytes(), parser).map(Ok),
            RowKind::Capture => capture(self.layout, row, parser),
        });
        self.read += 1;
        let text = text.unwrap_or(self.line.as_bytes());
        match said {
            Ok(Ok(event)) => parser.add(at, Ok(event), text),
            Ok(Err(reason)) => parser.skip_record(reason),
            Err(fault) => parser.add(at, Err(fault), text),
        }
    }
}

/// Writes the row as a line of JSON Lines; after a fault it has the fields before.
fn write_line(layout: &Layout, row: &dyn Row<'_>, line: &mut String) -> Result<(), Fault> {
    line.push('{');
    for (field, column) in &layout.fields {
        let Some(value) = row.value(field, *column)? else {
            continue;
        };
        if line.len() > 1 {
            line.push(',');
        }
        // Names of fields have nothing to escape.
        line.push('"');
        line.push_str(field);
        line.push_str("\":");
        // The line is refused for its length, and is not to be written before.
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
                // The line is refused for its length, whatever else it has.
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
        // The string that no text is: half a pair of surrogates.
        Link::NoText => json.push_str(r#""\ud800""#),
        Link::Object(url, href) => {
            json.push('{');
            let given = [("\"url\":", url), ("\"href\":", href)];
            let given = given
                .into_iter()
                .filter_map(|(n, text)| Some((n, (*text)?)));
            for (number, (name, text)) in given.enumerate() {
                if number > 0 {
                    json.push(',');
                }
                json.push_str(name);
                write_text(text, json);
            }
            json.push('}');
        }
    }
}

/// A string of JSON.
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

/// What a row of an index says: its links stay as they were.
fn capture(
    layout: &Layout,
    row: &dyn Row<'_>,
    parser: &mut PieceParser,
) -> Result<Result<Event<UrlNumber>, SkipReason>, Fault> {
    let text = |field: &'static str| {
        let column = layout.fields.iter().find(|(name, _)| *name == field);
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
        return Ok(Err(SkipReason::NoStatus));
    };
    let status: u16 = status
        .parse()
        .map_err(|_| wrong_type("fetch_status", "a status"))?;
    let Some(answer) = Answer::from_status(status) else {
        return Ok(Err(SkipReason::OtherStatus));
    };
    let url = text("url")?
        .ok_or_else(|| Fault::new(RejectReason::MissingUrl, "a row must have a url"))?;
    let time = text("fetch_time")?.map(in_utc);
    let digest = text("content_digest")?.map(with_algorithm);
    let location = text("fetch_redirect")?;
    let fetch = Fetch {
        url: &url,
        answer,
        time: time.as_deref(),
        time_field: "fetch_time",
        digest: digest.as_deref(),
        location: location.as_deref(),
    };
    let record = count_if_accepted(parser, |parser| fetch.record(parser))?;
    Ok(record.map(|mut record| {
        if answer == Answer::Crawled {
            mark_crawled(&mut record);
        }
        Event::Record(record)
    }))
}

/// Times of an index are UTC, whether they say so or not; query engines write that out.
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

/// The digest as archives of the web write it: an index leaves its algorithm out.
fn with_algorithm(digest: Cow<'_, str>) -> Cow<'_, str> {
    let is_base_32 = |byte: u8| byte.is_ascii_uppercase() || matches!(byte, b'2'..=b'7');
    if digest.len() == 32 && digest.bytes().all(is_base_32) {
        return format!("sha1:{digest}").into();
    }
    digest
}

pub(super) fn wrong_type(field: &str, expected: &str) -> Fault {
    Fault::new(
        RejectReason::WrongType,
        format!("{field}: must be {expected}"),
    )
}
