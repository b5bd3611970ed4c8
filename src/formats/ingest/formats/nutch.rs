//! Dumps of Nutch's databases: pages by `readdb -dump`, as text, CSV or JSON, and links by
//! `readlinkdb -dump`.
//!
//! ```text
//! http://a.example/<TAB>Version: 7         http://b.example/<TAB>Inlinks:
//! Status: 2 (db_fetched)                    fromUrl: http://a.example/ anchor: b
//! Fetch time: Thu Nov 19 04:00:00 UTC 2026
//! ...
//! Metadata:
//!  <TAB>_pst_=success(1), lastModified=0
//! ```
//!
//! The first lines of a file show which of the four it is. [`Datum`] explains what statuses and
//! times of pages mean. The source of a link counts as crawled, and its target as linked to.

use std::sync::{Arc, OnceLock};

use crate::ingest::entries::{self, Entry, EntryFormat, add_entry, utf_8};
use crate::ingest::fetch::{Answer, Fetch};
use crate::ingest::formats::capture_entry::capture_entry;
use crate::ingest::formats::json_lines::parse_structure;
use crate::ingest::kind::KindEvidence;
use crate::ingest::number::integer;
use crate::ingest::open::{DetectedInput, Opened};
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::progress::Progress;
use crate::ingest::record::{Event, PageAttributes, PageRecord};
use crate::ingest::sniff::{DetectedFormat, FROM, HEADER, INLINKS, NutchDump, VERSION};
use crate::ingest::source::{
    Block, Blocks, MAX_LINE, PIECE_RECORDS, Piece, Pieces, Stop, line_ends, line_too_long, lines,
};
use crate::ingest::summary::{Fault, Position, RejectReason, SkipReason};

use super::file_source::{FileFormat, OpenFile};
use crate::ingest::timestamp::{Timestamp, parse_named};
use seedbank_algorithms::fetch_status::FetchStatus;

/// A dump of one of the databases.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dump;

impl FileFormat for Dump {
    fn pieces<'a>(&self, mut file: OpenFile<'a>) -> Result<Pieces<'a>, Stop> {
        let dump = match file.opened.peek_format() {
            Some(DetectedFormat::Nutch(dump)) => dump,
            // An empty part of a dump, or a file that is rejected line by line.
            None => NutchDump::Text,
            Some(other) => return Err(file.other_format(other)),
        };
        let (input, seen, progress) = (file.opened, file.seen, &file.progress);
        Ok(match dump {
            NutchDump::Text => pieces(input, seen, progress),
            NutchDump::Csv => entries::pieces(input, Csv, seen, progress),
            NutchDump::Json => entries::pieces(input, Json, seen, progress),
            NutchDump::Links => entries::pieces(input, Links, seen, progress),
        })
    }
}

// `readdb -dump -format csv`: a header, then one page per line.

/// A line of the dump. Texts are quoted, but quotes within them are not escaped, so a CSV reader
/// cannot parse every line; only the first and the last column may contain any.
#[derive(Clone, Copy, Debug)]
struct Csv;

impl EntryFormat for Csv {
    type Context = ();

    fn read(&self, line: &str, _context: &(), parser: &mut PieceParser) -> Result<Entry, Fault> {
        if line.starts_with(HEADER) {
            return Ok(Entry::Skipped(SkipReason::NoPage));
        }
        csv_datum(line)
            .ok_or_else(|| {
                Fault::new(
                    RejectReason::Columns,
                    "not the columns of the header: Url,Status code,Status name,...",
                )
            })?
            .entry(parser)
    }
}

fn csv_datum(line: &str) -> Option<Datum<'_>> {
    let (url, rest) = line.strip_prefix('"')?.split_once("\",")?;
    let mut columns = rest.splitn(10, ',');
    let [
        _code,
        status,
        due,
        _modified,
        _retries,
        interval,
        _days,
        _score,
        signature,
        metadata,
    ] = [(); 10].map(|()| columns.next());
    let metadata = metadata?.trim_start_matches('"');
    let mut values = metadata.split("|||");
    Some(Datum {
        url,
        status: Some(status?.trim_matches('"')),
        due,
        interval,
        signature: Some(signature?.trim_matches('"')),
        protocol: values
            .clone()
            .find_map(|value| value.strip_prefix("_pst_:")),
        mime: values.find_map(|value| value.strip_prefix("Content-Type:")),
    })
}

// Times in the form of Java's `Date`: `Thu Nov 19 04:00:00 UTC 2026`.

/// Parses a time. A zone whose name is ambiguous or unknown counts as UTC, as a missing zone does.
fn java_date(text: &str) -> Option<Timestamp> {
    let mut parts = text.split_ascii_whitespace();
    let [_, month, day, time, zone, year] = [(); 6].map(|()| parts.next());
    let (month, day, time, zone, year) = (month?, day?, time?, zone?, year?);
    if parts.next().is_some() {
        return None;
    }
    parse_named(
        year,
        month,
        day,
        time,
        zone.strip_prefix("GMT")
            .filter(|zone| !zone.is_empty())
            .unwrap_or(zone),
    )
}

// A page of Nutch's database, in any form of dump.
//
// | status | in the bank |
// | --- | --- |
// | `db_fetched`, `db_notmodified`, `db_duplicate` | crawled, with the signature as digest |
// | `db_parse_failed` | crawled; the signature is ignored, since it may be that of an earlier fetch |
// | `db_redir_perm`, `db_redir_temp` | a redirect, to the URL in `_pst_` of the metadata |
// | `db_gone` | gone; a failed fetch if `_pst_` is anything other than `gone` or `notfound` |
// | `db_unfetched`, `db_orphan` | known; a failed fetch if `_pst_` says so |
//
// Nutch stores when a page is due, not when it was fetched. Its schedules add the interval to the
// time of the fetch, so the interval is subtracted again. A page whose fetch failed for the moment is
// unfetched, and due a day later.

const MICROS: i64 = 1_000_000;

/// Parts of the names and messages of Java's exceptions, and what they mean.
const EXCEPTIONS: [(&str, FetchStatus); 6] = [
    ("Timeout", FetchStatus::Timeout),
    ("timed out", FetchStatus::Timeout),
    ("UnknownHost", FetchStatus::Dns),
    ("SSL", FetchStatus::Tls),
    ("Connect", FetchStatus::Connect),
    ("Socket", FetchStatus::Connect),
];

/// A page, as texts.
#[derive(Clone, Copy, Debug, Default)]
struct Datum<'a> {
    url: &'a str,
    /// The name of the status.
    status: Option<&'a str>,
    /// When the page is due.
    due: Option<&'a str>,
    /// Seconds until it is fetched again.
    interval: Option<&'a str>,
    signature: Option<&'a str>,
    /// The status of the last fetch: `moved(12), lastModified=0: http://b.example/`.
    protocol: Option<&'a str>,
    /// The media type that Nutch found.
    mime: Option<&'a str>,
}

impl Datum<'_> {
    /// Reads the page. Nothing of a rejected page is counted.
    fn entry(&self, parser: &mut PieceParser) -> Result<Entry, Fault> {
        let status = self
            .status
            .ok_or_else(|| Fault::new(RejectReason::MissingType, "a page must have a status"))?;
        let answer = match status {
            "db_fetched" | "db_notmodified" | "db_duplicate" | "db_parse_failed" => Answer::Crawled,
            "db_redir_perm" | "db_redir_temp" => Answer::Redirect,
            "db_gone" if self.is_gone() => Answer::Gone,
            "db_gone" => match self.failure() {
                Some(status) => Answer::Failed(status),
                None => return Ok(Entry::Skipped(SkipReason::OtherStatus)),
            },
            "db_unfetched" | "db_orphan" => {
                if let Some(status) = self.failure() {
                    let day = Self {
                        interval: Some("86400"),
                        ..*self
                    };
                    return day.capture(Answer::Failed(status), parser);
                }
                let page = parser.page(self.url)?;
                return Ok(Entry::One(Event::Record(PageRecord::new(page))));
            }
            other => {
                let head: String = other.chars().take(40).collect();
                return Err(Fault::new(
                    RejectReason::WrongType,
                    format!("{head} is not a status of Nutch's database"),
                ));
            }
        };
        self.capture(answer, parser)
    }

    /// Reads the page as a capture.
    fn capture(&self, answer: Answer, parser: &mut PieceParser) -> Result<Entry, Fault> {
        let signature = self.signature.filter(|text| !matches!(*text, "" | "null"));
        let is_unparsed = self.status == Some("db_parse_failed");
        let fetch = Fetch {
            url: self.url,
            answer,
            time: None,
            digest: signature.filter(|_| !is_unparsed),
            location: self.target(),
            kind: KindEvidence {
                mime: self.mime,
                ..KindEvidence::default()
            },
        };
        let fetched = self.fetched(parser);
        capture_entry(&fetch, fetched, parser)
    }

    /// Returns when the page was fetched; `None` if that is unknown, or cannot be read, which is counted.
    fn fetched(&self, parser: &mut PieceParser) -> Option<Timestamp> {
        let (due, interval) = self.due.zip(self.interval)?;
        // CSV writes the seconds as a double.
        let seconds = integer(interval, "interval", i64::MAX.cast_unsigned());
        let seconds = seconds.ok().map(u64::cast_signed);
        let Some((due, seconds)) = java_date(due).zip(seconds) else {
            let detail = format!("{due} is not a time, or {interval} not a number of seconds");
            let fault = Fault::new(RejectReason::InvalidTimestamp, detail);
            return parser.field("fetch time", Err(fault));
        };
        let micros = seconds.checked_mul(MICROS);
        let micros = micros.and_then(|interval| due.micros.checked_sub(interval));
        let micros = micros.filter(|at| *at > 0)?;
        Some(Timestamp { micros, ..due })
    }

    /// Returns whether the page is permanently gone, or its protocol status is unknown.
    fn is_gone(&self) -> bool {
        self.protocol
            .is_none_or(|status| status.starts_with("gone(") || status.starts_with("notfound("))
    }

    /// Returns why the last fetch failed; `None` if it did not, or was not tried.
    fn failure(&self) -> Option<FetchStatus> {
        let (name, rest) = self.protocol?.split_once('(')?;
        match name {
            "robots_denied" => Some(FetchStatus::Robots),
            "unknown_host" => Some(FetchStatus::Dns),
            "connection_timed_out" => Some(FetchStatus::Timeout),
            "access_denied" | "failed" | "proto_not_found" | "redir_exceeded" => {
                Some(FetchStatus::Other)
            }
            // The message has the status, or the class of the exception.
            "exception" | "retry" => {
                let reason = EXCEPTIONS.iter().find(|(text, _)| rest.contains(text));
                let reason = reason.map_or(FetchStatus::Other, |(_, status)| *status);
                let code = rest.split_once("Http code=").map(|(_, code)| code);
                let code = code.and_then(|code| code.get(..3)?.parse().ok());
                Some(code.and_then(FetchStatus::http).unwrap_or(reason))
            }
            _ => None,
        }
    }

    /// Returns the target of a redirect.
    fn target(&self) -> Option<&str> {
        let status = self.protocol?;
        if !(status.starts_with("moved(") || status.starts_with("temp_moved(")) {
            return None;
        }
        let (_, after) = status.split_once("lastModified=")?;
        after.split_once(": ").map(|(_, url)| url.trim())
    }
}

// `readdb -dump -format json`: one page per line.

const FIELDS: [&str; 6] = [
    "url",
    "statusName",
    "fetchTime",
    "retryIntervalSeconds",
    "signature",
    "metadata",
];

const METADATA: [&str; 2] = ["_pst_", "Content-Type"];

/// A line of the dump.
#[derive(Clone, Copy, Debug)]
struct Json;

impl EntryFormat for Json {
    type Context = ();

    fn read(&self, line: &str, _context: &(), parser: &mut PieceParser) -> Result<Entry, Fault> {
        let fields = parse_structure(line, &FIELDS, parser)?;
        fields.check(parser)?;
        let url = fields
            .essential("url", fields.text("url"))?
            .ok_or_else(|| Fault::new(RejectReason::MissingUrl, "a page must have a url"))?;
        let mut text = |name| parser.field(name, fields.text(name));
        let status = text("statusName");
        let due = text("fetchTime");
        let signature = text("signature");
        // Empty metadata is an empty string.
        let metadata = fields.raw("metadata").filter(|raw| raw.starts_with('{'));
        let (protocol, mime) = match metadata {
            Some(raw) => {
                let metadata = parse_structure(raw, &METADATA, parser);
                let mut text = |name| match &metadata {
                    Ok(fields) => parser.field(name, fields.text(name)),
                    Err(_) => None,
                };
                let texts = (text("_pst_"), text("Content-Type"));
                if let Err(fault) = metadata {
                    parser.field("metadata", Err::<Option<()>, _>(fault));
                }
                texts
            }
            None => (None, None),
        };
        let datum = Datum {
            url: &url,
            status: status.as_deref(),
            due: due.as_deref(),
            interval: fields.raw("retryIntervalSeconds"),
            signature: signature.as_deref(),
            protocol: protocol.as_deref(),
            mime: mime.as_deref(),
        };
        datum.entry(parser)
    }
}

// `readlinkdb -dump`: each page, followed by the pages that link to it.

/// A line of the dump: a page, or one that links to the last page.
#[derive(Clone, Copy, Debug)]
struct Links;

impl EntryFormat for Links {
    type Context = Option<Arc<str>>;

    fn update(&self, line: &[u8], to: &mut Option<Arc<str>>) {
        // A line that begins with a space is a link, whatever its anchor ends with.
        let is_link = line.starts_with(b" ");
        if line.ends_with(INLINKS.as_bytes()) && line.len() <= MAX_LINE && !is_link {
            // The links of a page whose URL is not UTF-8 are rejected.
            let page = std::str::from_utf8(line).ok().and_then(page_of);
            *to = page.map(Arc::from);
        }
    }

    fn read(
        &self,
        line: &str,
        to: &Option<Arc<str>>,
        parser: &mut PieceParser,
    ) -> Result<Entry, Fault> {
        if page_of(line).is_some() {
            return Ok(Entry::Skipped(SkipReason::NoPage));
        }
        let wrong = |detail| Err(Fault::new(RejectReason::Columns, detail));
        let Some(rest) = line.strip_prefix(FROM) else {
            return wrong("expected a page with inlinks, or a page that links to one");
        };
        let Some(to) = to else {
            return wrong("expected a page with inlinks before the pages that link to it");
        };
        let from = rest.split_once(' ').map_or(rest, |(from, _)| from);
        let from = parser.page(from)?;
        Ok(Entry::One(match parser.target(from, to) {
            Some(to) => Event::Outlink { from, to },
            None => Event::Page(PageAttributes::named(from)),
        }))
    }
}

/// Returns the page whose inlinks follow the line.
fn page_of(line: &str) -> Option<&str> {
    line.strip_suffix(INLINKS)
        .filter(|url| !url.starts_with(' '))
}

// `readdb -dump` as text: a page takes several lines, and its URL is in the first.

/// Cuts an open dump into pieces.
fn pieces<'a>(
    input: Opened<'a>,
    seen: Arc<OnceLock<DetectedInput>>,
    progress: &Progress<'a>,
) -> Pieces<'a> {
    let blocks = Blocks::new(input, progress.clone(), Some(seen));
    let splitter = Splitter {
        blocks,
        rest: Block::default(),
        failed: None,
        is_ended: false,
    };
    Box::new(splitter.map(|block| {
        let block = block?;
        let skipped = block.overlong.as_ref().map_or(0, |line| line.bytes);
        Ok(Piece {
            bytes: block.text.len() as u64 + skipped,
            records: block.lines.min(PIECE_RECORDS),
            memory: block.text.len(),
            read: Box::new(move |parser| read(&block, parser)),
        })
    }))
}

/// Blocks of complete pages.
struct Splitter<'a> {
    blocks: Blocks<'a>,
    /// The beginning of a page that may continue in the next block.
    rest: Block,
    failed: Option<Stop>,
    is_ended: bool,
}

impl Splitter<'_> {
    /// Returns the pages up to the last one, which may continue.
    fn cut(&mut self, block: Block) -> Block {
        let mut whole = std::mem::take(&mut self.rest);
        if whole.text.is_empty() {
            whole.first_line = block.first_line;
        }
        let before = whole.text.len();
        whole.text.extend_from_slice(&block.text);
        whole.overlong = block.overlong;
        // The rest of a page that is too long is read separately, and rejected.
        if whole.overlong.is_none() && whole.text.len() <= MAX_LINE {
            let at = last_page(&whole.text, before);
            self.rest.text = whole.text.split_off(at);
            self.rest.first_line = whole.first_line + line_ends(&whole.text) as u64;
        }
        whole.lines = line_ends(&whole.text) + 1;
        whole
    }
}

impl Iterator for Splitter<'_> {
    type Item = Result<Block, Stop>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.is_ended {
                return self.failed.take().map(Err);
            }
            match self.blocks.next() {
                Some(Ok(block)) => {
                    let cut = self.cut(block);
                    if !cut.text.is_empty() || cut.overlong.is_some() {
                        return Some(Ok(cut));
                    }
                }
                end => {
                    self.is_ended = true;
                    self.failed = end.and_then(Result::err);
                    let mut rest = std::mem::take(&mut self.rest);
                    // The last page of a damaged input may be incomplete.
                    if !rest.text.is_empty() && self.failed.is_none() {
                        rest.lines = line_ends(&rest.text) + 1;
                        return Some(Ok(rest));
                    }
                }
            }
        }
    }
}

/// Returns where the last page begins. The text before `from` has no page except the one at its
/// beginning.
fn last_page(text: &[u8], from: usize) -> usize {
    let mut at = from;
    let mut last = 0;
    for line in text
        .get(from..)
        .unwrap_or_default()
        .split_inclusive(|byte| *byte == b'\n')
    {
        if is_page(line) {
            last = at;
        }
        at += line.len();
    }
    last
}

/// Returns whether a line contains the URL of a page.
fn is_page(line: &[u8]) -> bool {
    let version = VERSION.as_bytes();
    !line.starts_with(b"\t") && line.windows(version.len()).any(|at| at == version)
}

/// The current page.
struct Page<'a> {
    first_line: u64,
    lines: Vec<&'a [u8]>,
    bytes: usize,
}

fn read(block: &Block, parser: &mut PieceParser) {
    let mut number = block.first_line;
    let mut page: Option<Page<'_>> = None;
    for line in lines(&block.text) {
        if is_page(line) {
            close(page.take(), parser);
            page = Some(Page {
                first_line: number,
                lines: vec![line],
                bytes: line.len(),
            });
        } else if line.trim_ascii().is_empty() {
            parser.summary.blank_lines += 1;
        } else if let Some(page) = &mut page {
            page.bytes += line.len();
            page.lines.push(line);
        } else {
            let detail = "expected the first line of a page: URL, tab, Version";
            let fault = Fault::new(RejectReason::Columns, detail);
            parser.add(Position::Line(number), Err(fault), line);
        }
        number += 1;
    }
    close(page, parser);
    if let Some(overlong) = &block.overlong {
        let fault = line_too_long(overlong.bytes);
        parser.add(Position::Line(number), Err(fault), &overlong.head);
    }
}

/// Adds a page.
fn close(page: Option<Page<'_>>, parser: &mut PieceParser) {
    let Some(page) = page else { return };
    let entry = if page.bytes > MAX_LINE {
        Err(line_too_long(page.bytes as u64))
    } else {
        text_datum(&page.lines).and_then(|datum| datum.entry(parser))
    };
    let text = page.lines.first().copied().unwrap_or_default();
    add_entry(parser, Position::Line(page.first_line), entry, text);
}

fn text_datum<'a>(lines: &[&'a [u8]]) -> Result<Datum<'a>, Fault> {
    let mut datum = Datum::default();
    for line in lines {
        let line = utf_8(line)?;
        if let Some((url, _)) = line.split_once(VERSION) {
            datum.url = url;
        } else if let Some(status) = line.strip_prefix("Status: ") {
            let name = status.split_once('(').map(|(_, name)| name);
            datum.status = name.and_then(|name| name.strip_suffix(')'));
        } else if let Some(due) = line.strip_prefix("Fetch time: ") {
            datum.due = Some(due);
        } else if let Some(interval) = line.strip_prefix("Retry interval: ") {
            datum.interval = interval.split(' ').next();
        } else if let Some(signature) = line.strip_prefix("Signature: ") {
            datum.signature = Some(signature);
        } else if let Some(value) = line.trim_start().strip_prefix("_pst_=") {
            datum.protocol = Some(value);
        } else if let Some(value) = line.trim_start().strip_prefix("Content-Type=") {
            datum.mime = Some(value);
        }
    }
    Ok(datum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::timestamp::parse_timestamp;

    #[test]
    fn java_s_times_are_read() {
        let of = |text| java_date(text).map(|time| (time.micros, time.zone_assumed));
        let time = |text| parse_timestamp(text).map(|time| time.micros).unwrap();
        for (text, is, assumed) in [
            (
                "Thu Nov 19 04:00:00 UTC 2026",
                "2026-11-19T04:00:00Z",
                false,
            ),
            (
                "Thu Nov 19 04:00:00 CET 2026",
                "2026-11-19T03:00:00Z",
                false,
            ),
            (
                "Sun Jul 19 04:00:00 PDT 2026",
                "2026-07-19T11:00:00Z",
                false,
            ),
            (
                "Thu Nov 19 04:00:00 GMT+05:30 2026",
                "2026-11-18T22:30:00Z",
                false,
            ),
            ("Thu Nov 19 04:00:00 IST 2026", "2026-11-19T04:00:00Z", true),
            (
                "Thu Jan 01 00:00:00 UTC 1970",
                "1970-01-01T00:00:00Z",
                false,
            ),
        ] {
            assert_eq!(of(text), Some((time(is), assumed)), "{text}");
        }
        for text in [
            "",
            "Thu Nov 19 04:00:00 2026",
            "Thu Nov 19 04:00:00 UTC 2026 x",
            "Thu Nov 31 04:00:00 UTC 2026",
            "Thu Non 19 04:00:00 UTC 2026",
            "2026-11-19T04:00:00Z",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}

#[cfg(test)]
#[path = "nutch_tests.rs"]
mod nutch_tests;
