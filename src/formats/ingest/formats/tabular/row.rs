//! Reads a row of named values, in the same way for all kinds of tables.
//!
//! A row is written as the line of JSON Lines with the same values, which is then read: so both have
//! the same checks and the same reasons for rejection, whatever rules are added. The alternative,
//! separate checks of typed values, would save about a tenth of the time (most of the time of a line
//! goes to its URLs), and would have to be kept in step with JSON Lines.

use std::borrow::Cow;
use std::fmt::Write;

use crate::ingest::columns::{ColumnNames, LINK_FIELDS, RECORD_FIELDS, is_named, link_columns};
use crate::ingest::entries::read_json_line;
use crate::ingest::entries::{self, Entry};
use crate::ingest::fetch::{Answer, Fetch};
use crate::ingest::formats::capture_entry::{capture_entry, labelled_digest};
use crate::ingest::formats::file_source::FormatError;
use crate::ingest::formats::json_lines::{JsonLines, LinkingPage, wrong_type};
use crate::ingest::kind::KindEvidence;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::{Event, PageAttributes};
use crate::ingest::source::{MAX_LINE, line_too_long};
use crate::ingest::summary::{Fault, Position, RejectReason, SkipReason, excerpt};

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

/// Splits a text into links.
pub(super) fn split_links<'a>(
    text: &'a str,
    split: &'a str,
) -> impl Iterator<Item = Link<'a>> + 'a {
    let links = text.split(split).map(str::trim);
    links.filter(|link| !link.is_empty()).map(Link::Url)
}

/// A row of any kind of table.
pub(super) trait Row<'a> {
    /// Returns the value of a field in a column, given by its index; `None` if it is absent. After a fault the
    /// field counts as absent.
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
        let entry = match self.columns.kind {
            RowKind::Record => write_line(self.columns, row, &mut self.line, parser)
                .and_then(|()| read_json_line(&JsonLines, self.line.as_bytes(), parser))
                .map(Entry::One),
            RowKind::Capture => capture(self.columns, row, parser),
            RowKind::Link => link(self.columns, row, parser),
        };
        self.read += 1;
        entries::add_entry(parser, at, entry, text.unwrap_or(self.line.as_bytes()));
    }
}

/// Writes a row as a line of JSON Lines, without fields that cannot be read.
fn write_line(
    columns: &ColumnMap,
    row: &dyn Row<'_>,
    line: &mut String,
    parser: &mut PieceParser,
) -> Result<(), Fault> {
    line.push('{');
    for (field, column) in &columns.fields {
        let value = row.value(field, *column);
        let value = match *field {
            "url" => value?,
            field => parser.field(field, value),
        };
        let Some(value) = value else { continue };
        // It makes no line that can be read.
        if let Value::Text(text) = &value
            && text.len() > MAX_LINE
        {
            parser.field(*field, Err::<(), _>(line_too_long(text.len() as u64)));
            continue;
        }
        if line.len() > 1 {
            line.push(',');
        }
        // Field names need no escapes.
        line.push('"');
        line.push_str(field);
        line.push_str("\":");
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
    let status = text("fetch_status").ok().flatten();
    let Some(status) = status.and_then(|status| status.parse().ok()) else {
        return Ok(Entry::Skipped(SkipReason::NoStatus));
    };
    let Some(answer) = Answer::from_status(status) else {
        return Ok(Entry::Skipped(SkipReason::OtherStatus));
    };
    let url = text("url")?
        .ok_or_else(|| Fault::new(RejectReason::MissingUrl, "a row must have a url"))?;
    let time = parser.field("fetch_time", text("fetch_time")).map(in_utc);
    let digest = parser.field("content_digest", text("content_digest"));
    let digest = digest.as_deref().map(labelled_digest);
    let location = parser.field("fetch_redirect", text("fetch_redirect"));
    // What a detector found in the content is better than what the server says.
    let mut mime = parser.field("content_mime_detected", text("content_mime_detected"));
    if mime.as_deref().is_none_or(str::is_empty) {
        mime = parser.field("content_mime_type", text("content_mime_type"));
    }
    let fetch = Fetch {
        url: &url,
        answer,
        time: time.as_deref(),
        digest: digest.as_deref(),
        location: location.as_deref(),
        kind: KindEvidence {
            mime: mime.as_deref(),
            status: Some(status),
            ..KindEvidence::default()
        },
    };
    capture_entry(&fetch, None, parser)
}

/// Reads a row as a link: its source was crawled, its target was seen.
fn link(columns: &ColumnMap, row: &dyn Row<'_>, parser: &mut PieceParser) -> Result<Entry, Fault> {
    let mut urls = [None, None];
    for ((field, column), url) in columns.fields.iter().zip(&mut urls) {
        *url = match parser.field(*field, row.value(field, *column)) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        };
    }
    let [Some(source), target] = urls else {
        return Err(Fault::new(
            RejectReason::MissingUrl,
            "a link must have a source",
        ));
    };
    let from = parser.page(&source)?;
    let mut page = LinkingPage::new(from, &source);
    Ok(Entry::One(
        match target.and_then(|target| page.target(&target, parser)) {
            Some(to) => Event::Outlink { from, to },
            None => Event::Page(PageAttributes::named(from)),
        },
    ))
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

// Maps the columns of a table to fields, by their names.

/// The fields of Common Crawl's index that are read.
pub(super) const INDEX_FIELDS: [&str; 7] = [
    "url",
    "fetch_time",
    "fetch_status",
    "fetch_redirect",
    "content_digest",
    "content_mime_type",
    "content_mime_detected",
];

/// The other columns of this index. They are not reported as unknown.
const IGNORED_INDEX_FIELDS: [&str; 26] = [
    "url_surtkey",
    "url_host_name",
    "url_host_tld",
    "url_host_2nd_last_part",
    "url_host_3rd_last_part",
    "url_host_4th_last_part",
    "url_host_5th_last_part",
    "url_host_registry_suffix",
    "url_host_registered_domain",
    "url_host_private_suffix",
    "url_host_private_domain",
    "url_host_name_reversed",
    "url_protocol",
    "url_port",
    "url_path",
    "url_query",
    "content_charset",
    "content_languages",
    "content_truncated",
    "warc_record_id",
    "warc_filename",
    "warc_record_offset",
    "warc_record_length",
    "warc_segment",
    "crawl",
    "subset",
];

/// The most bytes of names in an error.
const MAX_LISTED_BYTES: usize = 200;

/// What a row describes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RowKind {
    Record,
    /// A capture in Common Crawl's index.
    Capture,
    /// A link.
    Link,
}

/// The meaning of the columns of a table.
#[derive(Clone, Debug)]
pub(super) struct ColumnMap {
    pub(super) kind: RowKind,
    /// Number of columns.
    pub(super) count: usize,
    /// The columns that are read, in the order of the fields: the field and the column's index.
    pub(super) fields: Vec<(&'static str, usize)>,
    /// The names of unknown columns, sorted.
    pub(super) unknown: Vec<String>,
    /// What separates the links in a cell, instead of white space.
    pub(super) split: Option<String>,
}

impl ColumnMap {
    /// Maps columns with these names, in order, to fields; `given` maps some of them. Names are compared without case.
    /// `is_list` tells whether a column has lists.
    pub(super) fn new(
        file: &str,
        names: &[String],
        given: &ColumnNames,
        is_list: &dyn Fn(usize) -> bool,
    ) -> Result<Self, TableError> {
        let place = |column: &str| names.iter().position(|name| is_named(name, column));
        for (_, column) in &given.fields {
            if place(column).is_none() {
                return Err(TableError::NoColumn {
                    file: file.to_owned(),
                    column: column.clone(),
                    columns: list_names(names),
                });
            }
        }
        let of_links = given.link_columns().map(|columns| columns.map(place));
        if let Some([Some(source), Some(target)]) = of_links
            && !is_list(target)
        {
            return Ok(Self {
                kind: RowKind::Link,
                count: names.len(),
                fields: LINK_FIELDS.into_iter().zip([source, target]).collect(),
                unknown: Vec::new(),
                split: None,
            });
        }
        let index = |field: &str| place(given.column(field).unwrap_or(field));
        if index("url").is_none() {
            if let Some(columns) = link_columns(names) {
                return Ok(Self {
                    kind: RowKind::Link,
                    count: names.len(),
                    fields: LINK_FIELDS.into_iter().zip(columns).collect(),
                    // What else is said of a link is not meant for a record.
                    unknown: Vec::new(),
                    split: None,
                });
            }
            return Err(TableError::NoUrl {
                file: file.to_owned(),
                columns: list_names(names),
            });
        }
        let is_index = index("fetch_status").is_some() && index("outlinks").is_none();
        let (kind, all, others): (_, &[&'static str], &[&str]) = if is_index {
            (RowKind::Capture, &INDEX_FIELDS, &IGNORED_INDEX_FIELDS)
        } else {
            (RowKind::Record, &RECORD_FIELDS, &[])
        };
        let mut columns = all.iter().map(|field| given.column(field).unwrap_or(field));
        let is_twice =
            |column: &&str| names.iter().filter(|name| is_named(name, column)).count() > 1;
        if let Some(column) = columns.find(is_twice) {
            return Err(TableError::Twice {
                file: file.to_owned(),
                column: column.to_owned(),
            });
        }
        let fields = all.iter().filter_map(|field| Some((*field, index(field)?)));
        let is_given = |name: &str| {
            given
                .fields
                .iter()
                .any(|(_, column)| is_named(name, column))
        };
        let is_known = |name: &str| {
            is_given(name) || all.iter().chain(others).any(|known| is_named(name, known))
        };
        let mut unknown: Vec<String> = names.iter().filter(|n| !is_known(n)).cloned().collect();
        unknown.sort_unstable();
        unknown.dedup();
        Ok(Self {
            kind,
            count: names.len(),
            fields: fields.collect(),
            unknown,
            split: given.split.clone(),
        })
    }
}

impl ColumnMap {
    /// Returns the column of the page that a row describes.
    pub(super) fn page(&self) -> Option<usize> {
        let is_page = |field: &str| matches!(field, "url" | "source");
        let found = self.fields.iter().find(|(field, _)| is_page(field));
        found.map(|(_, column)| *column)
    }
}

/// Lists names for an error.
fn list_names(names: &[String]) -> String {
    let mut list = String::new();
    for name in names {
        if list.len() > MAX_LISTED_BYTES {
            list.push_str(", ...");
            break;
        }
        if !list.is_empty() {
            list.push_str(", ");
        }
        list.push_str(&excerpt(name.as_bytes()));
    }
    list
}

// Errors that refuse a table as a whole.

#[derive(Debug, thiserror::Error)]
#[cfg_attr(
    not(feature = "parquet"),
    allow(dead_code, reason = "needed by Parquet and Arrow alone")
)]
pub(super) enum TableError {
    #[error("{file} has no column url; its columns are {columns}")]
    NoUrl {
        file: String,
        /// The names of the first columns.
        columns: String,
    },
    #[error("{file} has no column {column}; its columns are {columns}")]
    NoColumn {
        file: String,
        column: String,
        /// The names of the first columns.
        columns: String,
    },
    #[error("{file} has two columns named {column}")]
    Twice { file: String, column: String },
    /// The type of a column does not fit its field.
    #[error("{file}: column {column}: expected {wanted}, found {is}")]
    ColumnType {
        file: String,
        column: String,
        /// Its type, in the terms of Arrow.
        is: String,
        wanted: &'static str,
    },
    #[error("{file} is empty; expected column names on the first line")]
    NoHeader { file: String },
    /// The first line does not contain column names.
    #[error("{file}: expected column names on the first line: {problem}")]
    Header { file: String, problem: &'static str },
    #[error("{file} is not {kind}")]
    OtherKind { file: String, kind: &'static str },
    /// The file is compressed as a whole, so that the reader cannot seek in it.
    #[error(
        "{file} is {kind} that is compressed as a whole; decompress it first (columns are compressed within the format)"
    )]
    Compressed { file: String, kind: &'static str },
    #[error("{file} is an encrypted Parquet file; decrypt it first")]
    Encrypted { file: String },
    #[error("{file}: expected snappy, gzip, zstd or LZ4 compression, found {codec}")]
    Codec { file: String, codec: String },
    /// Long lists in an encoding by shared prefixes, which may expand without limit.
    #[error(
        "{file} has long lists in the encoding DELTA_BYTE_ARRAY; write them with dictionary or plain encoding"
    )]
    Prefixed { file: String },
    #[error("{file} is truncated after row {rows}; fetch or write it again")]
    CutOff {
        file: String,
        /// Number of rows that could be read.
        rows: u64,
    },
    #[error("{file} is damaged after row {rows}: {problem}")]
    Damaged {
        file: String,
        /// Number of rows that could be read.
        rows: u64,
        problem: String,
    },
    /// The library that yields the batches failed.
    #[error("cannot read {name} after row {rows}: {problem}")]
    Batches {
        name: String,
        /// Number of rows that could be read.
        rows: u64,
        problem: String,
    },
    /// Standard input could not be copied to a temporary file.
    #[error("cannot copy standard input to a temporary file in $TMPDIR")]
    Spool(#[source] std::io::Error),
    /// The program was built without support for the format.
    #[cfg(not(feature = "parquet"))]
    #[error(
        "cannot read {file}: this program was built without support for {kind} (feature parquet)"
    )]
    NotBuilt { file: String, kind: &'static str },
}

impl FormatError for TableError {
    fn is_of_columns(&self) -> bool {
        matches!(self, Self::NoUrl { .. } | Self::NoColumn { .. })
    }

    fn is_truncated(&self) -> bool {
        matches!(self, Self::CutOff { .. })
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::fs;

    use seedbank_algorithms::watch::Unwatched;

    use super::*;
    use crate::ingest::open::Input;
    use crate::ingest::{Format, SiteMode, UrlRules, read_batch};

    #[test]
    fn columns_say_what_a_row_is() {
        let kind = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let given = ColumnNames::default();
            let map = ColumnMap::new("x", &names, &given, &|_| false).ok()?;
            assert!(given.is_table(&names));
            let columns = map.fields.iter().map(|(_, column)| *column);
            Some((map.kind, columns.collect::<Vec<_>>()))
        };
        assert_eq!(kind(&["x", "URL"]), Some((RowKind::Record, vec![1])));
        assert_eq!(
            kind(&["url", "source", "target"]),
            Some((RowKind::Record, vec![0]))
        );
        assert_eq!(
            kind(&["Type", "Source", "Destination", "Target"]),
            Some((RowKind::Link, vec![1, 2]))
        );
        assert_eq!(
            kind(&["Type", "Source", "Destination"]),
            Some((RowKind::Link, vec![1, 2]))
        );
        assert_eq!(kind(&["to", "from"]), Some((RowKind::Link, vec![1, 0])));
        for none in [&["source", "source", "target"][..], &["source", "x"], &[]] {
            assert_eq!(kind(none), None);
        }
    }

    #[test]
    fn columns_may_have_other_names() {
        let names = ["Source", "Destination", "URL", "Fetched"].map(str::to_owned);
        let map = |given: &str, is_list| {
            let given: ColumnNames = given.parse().unwrap();
            assert!(given.is_table(&names));
            ColumnMap::new("x", &names, &given, &|_| is_list).unwrap()
        };
        let links = map("url=source,outlinks=Destination", false);
        assert_eq!((links.kind, links.page()), (RowKind::Link, Some(0)));
        let lists = map("url=source,outlinks=Destination", true);
        assert_eq!(lists.kind, RowKind::Record);
        let split = map("url=Source,outlinks=Destination,split=,", false);
        assert_eq!(split.fields, [("url", 0), ("outlinks", 1), ("fetched", 3)]);
        assert_eq!(
            (split.split.as_deref(), &*split.unknown),
            (Some(","), &[][..])
        );
        for none in ["url", "url=", "x=y", "url=a,url=b", "=a"] {
            assert!(none.parse::<ColumnNames>().is_err(), "{none}");
        }
        let given = "url=Address".parse().unwrap();
        assert!(ColumnMap::new("x", &names, &given, &|_| false).is_err());
    }

    #[test]
    fn a_row_may_be_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("links.csv");
        let text = "\"Type\",\"Source\",\"Destination\"\n\
            x,http://a.example/,http://b.example/\n\
            x,http://a.example/,/relative\nx,,http://b.example/\n";
        fs::write(&place, text).unwrap();
        let mut sources = Format::named("auto")
            .unwrap()
            .sources(&[Input::File(place)]);
        let mut found = Vec::new();
        let naming = SiteMode::Host.with(UrlRules::Whatwg);
        let read = read_batch(&mut sources, naming, &Unwatched, &mut |_, event| {
            found.push(match event {
                Event::Outlink { .. } => "link",
                Event::Page(_) => "page",
                Event::Rejected(_) => "rejected",
                _ => "other",
            });
            Ok::<_, Infallible>(())
        });
        assert_eq!(found, ["link", "link", "rejected"]);
        assert!(read.unwrap().unknown_fields.names.is_empty());
    }
}
