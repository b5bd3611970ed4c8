//! Indexes of web archives: CDX, with columns, and CDXJ, with JSON. They list what was fetched,
//! when, and with which status and digest, but no links.
//!
//! ```text
//!  CDX N b a m s k r M S V g
//! example,a)/ 20261119040000 http://a.example/ text/html 200 ABC... - - 1043 333 a.warc.gz
//! example,a)/ 20261119040000 {"url": "http://a.example/", "mime": "text/html", "status": "200", "digest": "ABC..."}
//! ```
//!
//! Each line shows which of the two it is. A status means the same for its page as in
//! [`fetch`](crate::ingest::fetch); an entry of type `warc/revisit` without a status is a page that
//! was crawled and had the content of the digest.

use std::borrow::Cow;
use std::sync::Arc;

use crate::display::counted;
use crate::ingest::entries::{Entry, EntryFormat};
use crate::ingest::fetch::{Answer, Fetch};
use crate::ingest::formats::capture_entry::{capture_entry, labelled_digest};
use crate::ingest::formats::json_lines::{Fields, parse_structure};
use crate::ingest::formats::tsv::check_no_nul;
use crate::ingest::kind::KindEvidence;
use crate::ingest::location::other_scheme;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::summary::{Fault, RejectReason, SkipReason};

/// An index of a web archive.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cdx;

impl EntryFormat for Cdx {
    type Context = Header;

    fn update(&self, line: &[u8], header: &mut Header) {
        if let Some(columns) = Header::parse(line) {
            *header = columns;
        }
    }

    fn read(&self, line: &str, header: &Header, parser: &mut PieceParser) -> Result<Entry, Fault> {
        // A header of CDXJ begins with `!`.
        if line.starts_with('!') || Header::parse(line.as_bytes()).is_some() {
            return Ok(Entry::Skipped(SkipReason::NoPage));
        }
        let mut parts = line.splitn(3, ' ').skip(1);
        match (parts.next(), parts.next()) {
            (Some(time), Some(json)) if json.starts_with('{') => read_json(time, json, parser),
            _ => header.capture(line)?.entry(parser),
        }
    }
}

// The captures that an index lists.

/// The fields of the JSON that are read.
const FIELDS: [&str; 6] = ["url", "status", "digest", "mime", "redirect", "method"];

/// A capture, as texts.
#[derive(Debug)]
struct Capture<'a> {
    url: Cow<'a, str>,
    time: Option<&'a str>,
    status: Option<Cow<'a, str>>,
    digest: Option<Cow<'a, str>>,
    mime: Option<Cow<'a, str>>,
    /// The target of a redirect.
    location: Option<Cow<'a, str>>,
    /// The method of the request; `None` means GET.
    method: Option<Cow<'a, str>>,
}

/// Reads an entry of CDXJ.
fn read_json(time: &str, json: &str, parser: &mut PieceParser) -> Result<Entry, Fault> {
    let fields = parse_structure(json, &FIELDS, parser)?;
    fields.check(parser)?;
    let url = fields
        .essential("url", fields.text("url"))?
        .ok_or_else(|| Fault::new(RejectReason::MissingUrl, "an entry must have a url"))?;
    let capture = Capture {
        url,
        time: Some(time),
        status: parser.field("status", status(&fields)),
        digest: non_empty(parser.field("digest", fields.text("digest"))),
        mime: parser.field("mime", fields.text("mime")),
        location: non_empty(parser.field("redirect", fields.text("redirect"))),
        method: parser.field("method", fields.text("method")),
    };
    capture.entry(parser)
}

/// Returns the status, which is a number in some indexes.
fn status<'a>(fields: &Fields<'a, { FIELDS.len() }>) -> Result<Option<Cow<'a, str>>, Fault> {
    match fields.raw("status") {
        Some(raw) if raw.starts_with(|c: char| c.is_ascii_digit()) => Ok(Some(Cow::Borrowed(raw))),
        _ => Ok(non_empty(fields.text("status")?)),
    }
}

/// Turns an empty field or `-` into `None`.
fn non_empty(field: Option<Cow<'_, str>>) -> Option<Cow<'_, str>> {
    field.filter(|text| !matches!(&**text, "" | "-"))
}

impl Capture<'_> {
    /// Reads the capture. Nothing of a rejected entry is counted.
    fn entry(&self, parser: &mut PieceParser) -> Result<Entry, Fault> {
        // DNS responses, screenshots and crawler metadata; and responses to forms.
        let is_get = self.method.as_deref().is_none_or(|method| method == "GET");
        if other_scheme(&self.url).is_some() || !is_get {
            return Ok(Entry::Skipped(SkipReason::NoPage));
        }
        let is_revisit = self.mime.as_deref() == Some("warc/revisit");
        let status = self.status.as_deref().map(str::parse).transpose();
        let Ok(status) = status else {
            return Ok(Entry::Skipped(SkipReason::NoStatus));
        };
        let answer = match status {
            // The page was crawled and is unchanged.
            None | Some(304) if is_revisit => Some(Answer::Crawled),
            Some(status) => Answer::from_status(status),
            None => return Ok(Entry::Skipped(SkipReason::NoStatus)),
        };
        let Some(answer) = answer else {
            return Ok(Entry::Skipped(SkipReason::OtherStatus));
        };
        let digest = self.digest.as_deref().map(labelled_digest);
        let fetch = Fetch {
            url: &self.url,
            answer,
            time: self.time,
            digest: digest.as_deref(),
            location: self.location.as_deref(),
            kind: KindEvidence {
                mime: self.mime.as_deref(),
                status,
                is_revisit,
                ..KindEvidence::default()
            },
        };
        capture_entry(&fetch, None, parser)
    }
}

// The columns of CDX, by the letters of its header.

/// The layouts of indexes without a header, which are identified by their number of columns.
const DEFAULT_LAYOUTS: [&str; 3] = [
    "N b a m s k r M S V g",
    "N b a m s k r M V g",
    "N b a m s k r V g",
];

/// The most columns.
const MAX_COLUMNS: usize = 64;

/// The header above a line; `None` if there is none.
#[derive(Clone, Debug, Default)]
pub(super) struct Header(Option<Arc<Columns>>);

#[derive(Debug)]
struct Columns {
    /// The character between columns.
    separator: char,
    letters: Vec<char>,
}

impl Header {
    /// Parses a header.
    fn parse(line: &[u8]) -> Option<Self> {
        // The character before the word `CDX` also separates the columns.
        let (separator, names) = match line {
            [b'C', b'D', b'X', separator, names @ ..] => (*separator, names),
            [separator, b'C', b'D', b'X', again, names @ ..] if separator == again => {
                (*separator, names)
            }
            _ => return None,
        };
        if !matches!(separator, b' ' | b'\t') || names.len() > 2 * MAX_COLUMNS {
            return None;
        }
        let names = std::str::from_utf8(names).ok()?;
        let mut letters = Vec::new();
        for name in names.split_ascii_whitespace() {
            let mut name = name.chars();
            letters.push(name.next()?);
            if name.next().is_some() {
                return None;
            }
        }
        Some(Self(Some(Arc::new(Columns {
            separator: char::from(separator),
            letters,
        }))))
    }

    /// Parses a line with the columns of this header.
    fn capture<'a>(&self, line: &'a str) -> Result<Capture<'a>, Fault> {
        check_no_nul(line)?;
        let separator = self.0.as_ref().map_or(' ', |columns| columns.separator);
        let fields: Vec<&str> = line.split(separator).take(MAX_COLUMNS + 1).collect();
        let wrong = |wanted: &str| {
            let found = counted(fields.len(), "column");
            Err(Fault::new(
                RejectReason::Columns,
                format!("expected {wanted}, found {found}"),
            ))
        };
        if let Some(columns) = &self.0 {
            if columns.letters.len() != fields.len() {
                return wrong(&counted(columns.letters.len(), "column"));
            }
            return pick(&columns.letters, &fields);
        }
        let layouts = DEFAULT_LAYOUTS.iter().map(|letters| letters.split(' '));
        let mut layouts = layouts.filter(|letters| letters.clone().count() == fields.len());
        match layouts.next() {
            Some(letters) => {
                let letters: Vec<char> =
                    letters.filter_map(|letter| letter.chars().next()).collect();
                pick(&letters, &fields)
            }
            None => wrong("9, 10 or 11 columns, or a header"),
        }
    }
}

/// Picks the fields of a capture by the letters of their columns.
fn pick<'a>(letters: &[char], fields: &[&'a str]) -> Result<Capture<'a>, Fault> {
    let field = |letter: char| {
        let mut columns = letters.iter().zip(fields);
        let found = columns.find(|(name, _)| **name == letter);
        found.map(|(_, field)| *field).filter(|field| *field != "-")
    };
    let url = field('a').ok_or_else(|| {
        Fault::new(
            RejectReason::MissingUrl,
            "an entry must have a URL, in the column a",
        )
    })?;
    Ok(Capture {
        url: Cow::Borrowed(url),
        time: field('b'),
        status: field('s').map(Cow::Borrowed),
        digest: field('k').map(Cow::Borrowed),
        mime: field('m').map(Cow::Borrowed),
        location: field('r').map(Cow::Borrowed),
        method: None,
    })
}

#[cfg(test)]
#[path = "cdx_tests.rs"]
mod tests;
