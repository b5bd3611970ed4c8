//! Detection of an input's format from its first bytes.
//!
//! The result selects the reader if no format was named, and lets an error message say what the input
//! is. It has no other effect: the reader of a format does not depend on it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// The number of bytes that are examined.
pub(super) const HEAD_BYTES: usize = 64 << 10;

/// The number of lines that are examined.
const HEAD_LINES: usize = 8;

/// A format detected from the first bytes, after decompression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum DetectedFormat {
    /// Apache Parquet.
    Parquet,
    /// Apache Avro.
    Avro,
    /// Apache ORC.
    Orc,
    /// Apache Arrow.
    Arrow,
    /// An `SQLite` database.
    Sqlite,
    /// A ZIP archive.
    Zip,
    /// A 7z archive.
    SevenZip,
    /// A tar archive.
    Tar,
    /// gzip inside a compressed input.
    GzipInside,
    /// zstd inside a compressed input.
    ZstdInside,
    /// xz.
    Xz,
    /// bzip2.
    Bzip2,
    /// LZ4.
    Lz4,
    /// PDF.
    Pdf,
    /// A cpio archive.
    Cpio,
    /// A RAR archive.
    Rar,
    /// An image.
    Image,
    /// Text in UTF-16.
    Utf16,
    /// Text in UTF-32.
    Utf32,
    /// A web archive: WARC with responses.
    Warc,
    /// A web archive: ARC, which came before WARC.
    Arc,
    /// Metadata of a web archive, with links: WAT.
    Wat,
    /// Texts of a web archive: WET.
    Wet,
    /// Any other data with NUL bytes.
    Binary,
    /// HTML.
    Html,
    /// A sitemap.
    Sitemap,
    /// A sitemap index.
    SitemapIndex,
    /// A feed: RSS or Atom.
    Feed,
    /// OPML: a list of feeds.
    Opml,
    /// Other XML.
    Xml,
    /// An index of a web archive: JSON after a key and a time.
    Cdxj,
    /// An index of a web archive: columns.
    Cdx,
    /// A JSON array of objects.
    JsonArray,
    /// JSON objects that span lines.
    JsonSpread,
    /// One JSON string per line.
    JsonStrings,
    /// One JSON object per line.
    JsonLines,
    /// One JSON object per line, with links in a field that is not `outlinks`.
    OtherLinks(&'static str),
    /// Two tab-separated URLs per line.
    Links,
    /// Two space-separated URLs per line.
    LinksBySpace,
    /// A URL and three more tab-separated columns per line.
    Pages,
    /// Tab-separated columns.
    Tabs,
    /// Comma-separated columns.
    Commas,
    /// Semicolon-separated columns.
    Semicolons,
    /// One URL per line, optionally followed by crawler metadata.
    Urls,
    /// One host per line.
    Hosts,
    /// A `robots.txt`.
    Robots,
    /// A JSON array of other values than objects.
    JsonValues,
    /// Other text.
    Text,
    /// The properties file of a graph in the BV format.
    BvProperties,
    /// A dump of a Nutch database.
    Nutch(NutchDump),
    /// A crawl log of Heritrix.
    CrawlLog,
    /// A list of pages of Browsertrix Crawler.
    Browsertrix,
}

impl DetectedFormat {
    /// Returns whether no line of such an input can be a record, so that it need not be read.
    pub(super) const fn excludes_records(self) -> bool {
        matches!(
            self,
            Self::Parquet
                | Self::Avro
                | Self::Orc
                | Self::Arrow
                | Self::Sqlite
                | Self::Zip
                | Self::SevenZip
                | Self::Tar
                | Self::GzipInside
                | Self::ZstdInside
                | Self::Xz
                | Self::Bzip2
                | Self::Lz4
                | Self::Pdf
                | Self::Cpio
                | Self::Rar
                | Self::Image
                | Self::Utf16
                | Self::Utf32
                | Self::Warc
                | Self::Arc
                | Self::Wat
                | Self::Wet
        )
    }

    /// Detects the format of the data that begins with these bytes; `None` if it is unclear.
    pub(super) fn detect(head: &[u8]) -> Option<Self> {
        let head = head.get(..HEAD_BYTES).unwrap_or(head);
        match detect_magic(head) {
            Some(Self::Utf16) => detect_utf16(head),
            found => found.or_else(|| detect_text(head)),
        }
    }
}

/// Detects binary formats by their magic numbers, and web archives.
fn detect_magic(head: &[u8]) -> Option<DetectedFormat> {
    let by_magic: [(&[u8], DetectedFormat); 28] = [
        (b"PAR1", DetectedFormat::Parquet),
        (b"PARE", DetectedFormat::Parquet),
        (b"Obj\x01", DetectedFormat::Avro),
        (b"ORC", DetectedFormat::Orc),
        (b"ARROW1\0\0", DetectedFormat::Arrow),
        // An IPC stream, which begins with a message.
        (b"\xff\xff\xff\xff", DetectedFormat::Arrow),
        (b"SQLite format 3\0", DetectedFormat::Sqlite),
        (b"PK\x03\x04", DetectedFormat::Zip),
        (b"PK\x05\x06", DetectedFormat::Zip),
        (b"7z\xbc\xaf\x27\x1c", DetectedFormat::SevenZip),
        (b"\x1f\x8b", DetectedFormat::GzipInside),
        (b"\x28\xb5\x2f\xfd", DetectedFormat::ZstdInside),
        (b"\xfd7zXZ\0", DetectedFormat::Xz),
        (b"\x04\x22\x4d\x18", DetectedFormat::Lz4),
        (b"%PDF-", DetectedFormat::Pdf),
        (b"070701", DetectedFormat::Cpio),
        (b"070702", DetectedFormat::Cpio),
        (b"070707", DetectedFormat::Cpio),
        (b"Rar!\x1a\x07", DetectedFormat::Rar),
        (b"\x89PNG", DetectedFormat::Image),
        (b"GIF8", DetectedFormat::Image),
        (b"\xff\xd8\xff", DetectedFormat::Image),
        (b"\xff\xfe\0\0", DetectedFormat::Utf32),
        (b"\0\0\xfe\xff", DetectedFormat::Utf32),
        (b"\xff\xfe", DetectedFormat::Utf16),
        (b"\xfe\xff", DetectedFormat::Utf16),
        (b"WARC/", DetectedFormat::Warc),
        (b"filedesc://", DetectedFormat::Arc),
    ];
    let found = by_magic.iter().find(|(magic, _)| head.starts_with(magic));
    match found {
        Some((_, DetectedFormat::Warc)) => return Some(detect_warc(head)),
        Some((_, format)) => return Some(*format),
        None => {}
    }
    let bzip2 = head.starts_with(b"BZh") && head.get(4..10) == Some(b"1AY&SY");
    let tar = head.get(257..262) == Some(b"ustar");
    let is_printable = |byte: u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    match head {
        _ if bzip2 => Some(DetectedFormat::Bzip2),
        _ if tar => Some(DetectedFormat::Tar),
        // UTF-16 without a byte order mark: JSON begins with two ASCII characters.
        [0, first, 0, second, ..] | [first, 0, second, 0, ..]
            if is_printable(*first) && is_printable(*second) =>
        {
            Some(DetectedFormat::Utf16)
        }
        _ if head.contains(&0) => Some(DetectedFormat::Binary),
        _ => None,
    }
}

/// Distinguishes the kinds of web archives by their first records.
fn detect_warc(head: &[u8]) -> DetectedFormat {
    // The content of these records is arbitrary, so detection stops at the first one.
    let with_content = ["response", "request", "resource", "revisit"];
    let begins_content = |line: &[u8]| {
        let kind = line
            .get(..b"WARC-Type:".len())
            .filter(|name| name.eq_ignore_ascii_case(b"WARC-Type:"));
        let kind = kind
            .and_then(|name| line.get(name.len()..))
            .unwrap_or_default()
            .trim_ascii();
        with_content
            .iter()
            .any(|name| kind.eq_ignore_ascii_case(name.as_bytes()))
    };
    let mut lines = head.split_inclusive(|byte| *byte == b'\n');
    let length: usize = lines
        .by_ref()
        .take_while(|line| !begins_content(line))
        .map(<[u8]>::len)
        .sum();
    let head = head.get(..length).unwrap_or(head);
    let has = |text: &str| head.windows(text.len()).any(|at| at == text.as_bytes());
    // The blocks of a WAT file are objects that begin with one of these keys.
    let is_object = |line: &[u8]| {
        let inside = line.strip_prefix(b"{").unwrap_or_default().trim_ascii();
        inside.starts_with(b"\"Container\"") || inside.starts_with(b"\"Envelope\"")
    };
    if head.split(|byte| *byte == b'\n').any(is_object) {
        DetectedFormat::Wat
    } else if has("WARC-Type: conversion") {
        DetectedFormat::Wet
    } else {
        DetectedFormat::Warc
    }
}

/// Detects text formats by their first lines.
fn detect_text(head: &[u8]) -> Option<DetectedFormat> {
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start();
    let first = text.lines().next()?.trim_end();
    if first.starts_with("#BVGraph") {
        return Some(DetectedFormat::BvProperties);
    }
    // Ignore the last line, which may be cut off.
    let whole = match text.rfind('\n') {
        Some(end) => text.get(..end).unwrap_or(text),
        None => text,
    };
    let lines = || {
        let lines = whole.lines().map(|line| line.trim_end_matches('\r'));
        let content = lines.filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
        content.take(HEAD_LINES)
    };
    match detect(lines) {
        Some(CrawlerOutput::Nutch(dump)) => return Some(DetectedFormat::Nutch(dump)),
        Some(CrawlerOutput::Log) => return Some(DetectedFormat::CrawlLog),
        Some(CrawlerOutput::PageList) => return Some(DetectedFormat::Browsertrix),
        None => {}
    }
    // Text that a program wrote before its records.
    let has_objects = || whole.lines().any(|line| line.starts_with('{'));
    let found = match text.as_bytes().first()? {
        b'<' => detect_markup(text),
        b'[' => detect_array(text),
        b'{' => match detect_objects(text, first) {
            DetectedFormat::JsonLines => other_links(lines).or(Some(DetectedFormat::JsonLines)),
            other => Some(other),
        },
        b'"' if lines().all(|line| serde_json::from_str::<String>(line).is_ok()) => {
            Some(DetectedFormat::JsonStrings)
        }
        _ => detect_index(first, lines().find(|line| !line.starts_with('!')))
            .or_else(|| detect_columns(lines))
            .or_else(|| detect_names(lines)),
    };
    found.or_else(|| {
        Some(if has_objects() {
            DetectedFormat::JsonLines
        } else {
            DetectedFormat::Text
        })
    })
}

/// Detects lists of hosts, and `robots.txt`.
fn detect_names<'a, I: Iterator<Item = &'a str>>(lines: impl Fn() -> I) -> Option<DetectedFormat> {
    let is_rule = |line: &str| {
        let name = line.split(':').next().unwrap_or_default().trim();
        ["user-agent", "disallow", "allow", "sitemap", "crawl-delay"]
            .iter()
            .any(|rule| name.eq_ignore_ascii_case(rule) && line.len() > name.len())
    };
    let is_host = |line: &str| {
        let name = line.trim();
        let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.' | '_');
        name.contains('.') && name.chars().all(is_letter) && !name.starts_with('.')
    };
    lines().next()?;
    if lines().all(is_rule) {
        Some(DetectedFormat::Robots)
    } else {
        lines().all(is_host).then_some(DetectedFormat::Hosts)
    }
}

/// Detects XML that may be in UTF-16, since it declares its encoding.
fn detect_utf16(head: &[u8]) -> Option<DetectedFormat> {
    let encoding = match head {
        [0xfe, 0xff, ..] | [0, ..] => encoding_rs::UTF_16BE,
        _ => encoding_rs::UTF_16LE,
    };
    let (text, _) = encoding.decode_with_bom_removal(head);
    let text = text.trim_start();
    let found = if text.starts_with('<') {
        detect_markup(text)
    } else {
        None
    };
    let is_read = |format: &DetectedFormat| {
        use DetectedFormat::{Feed, Sitemap, SitemapIndex};
        matches!(format, Feed | Sitemap | SitemapIndex)
    };
    found.filter(is_read).or(Some(DetectedFormat::Utf16))
}

/// Detects formats that begin with a tag.
fn detect_markup(text: &str) -> Option<DetectedFormat> {
    let tag = |name: &str| {
        let mut at = text.match_indices('<').map(|(at, _)| at + 1);
        at.any(|at| {
            let found = text.get(at..at + name.len());
            found.is_some_and(|found| found.eq_ignore_ascii_case(name))
        })
    };
    let has_any = |tags: &[&str]| tags.iter().any(|name| tag(name));
    // The elements of a sitemap may have a namespace prefix.
    let element = |name: &str| {
        let mut tags = text.split('<').skip(1);
        tags.any(|tag| {
            let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
            let whole = tag.split(|c| !is_name(c)).next().unwrap_or(tag);
            let local = whole.rsplit(':').next().unwrap_or(whole);
            local.eq_ignore_ascii_case(name)
        })
    };
    Some(match text {
        _ if element("sitemapindex") => DetectedFormat::SitemapIndex,
        _ if element("urlset") => DetectedFormat::Sitemap,
        _ if is_feed(first_element(text)) => DetectedFormat::Feed,
        _ if first_element(text).eq_ignore_ascii_case("opml") => DetectedFormat::Opml,
        _ if has_any(&["html", "!doctype html", "head", "body"]) => DetectedFormat::Html,
        _ if text.starts_with("<?xml") => DetectedFormat::Xml,
        _ => return None,
    })
}

/// Returns the name of the first element, without its prefix.
fn first_element(text: &str) -> &str {
    let mut tags = text.split('<').skip(1);
    let tag = tags.find(|tag| tag.starts_with(|c: char| c.is_ascii_alphabetic()));
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    let name = tag
        .and_then(|tag| tag.split(|c| !is_name(c)).next())
        .unwrap_or_default();
    name.rsplit(':').next().unwrap_or(name)
}

fn is_feed(element: &str) -> bool {
    ["rss", "rdf", "feed"]
        .iter()
        .any(|name| element.eq_ignore_ascii_case(name))
}

/// Detects a single array, or arrays that were appended to each other, as opposed to one array per line.
fn detect_array(text: &str) -> Option<DetectedFormat> {
    let inside = text.strip_prefix('[')?.trim_start();
    let mut arrays = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let first = arrays.next().is_some_and(|array| array.is_ok());
    let end = arrays.byte_offset();
    let second = arrays.next().is_some_and(|array| array.is_ok());
    // Scrapers that append to a file write `][`, on a line that is not the first one.
    let spans_lines = text.get(..end).is_some_and(|array| array.contains('\n'));
    let is_appended = text.get(end..).is_some_and(|rest| rest.starts_with('['));
    let is_array = !(first && second) || spans_lines || is_appended;
    if inside.trim_end() == "]" || inside.starts_with('{') && is_array {
        return Some(DetectedFormat::JsonArray);
    }
    let is_value = inside.starts_with(['"', '[', '-']) || inside.starts_with(char::is_numeric);
    is_value.then_some(DetectedFormat::JsonValues)
}

/// Detects whether objects occupy one line each; `first` is the first line of the text.
fn detect_objects(text: &str, first: &str) -> DetectedFormat {
    if serde_json::from_str::<IgnoredAny>(first).is_ok() {
        return DetectedFormat::JsonLines;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Ok(_)) => DetectedFormat::JsonSpread,
        // The object continues beyond its line and the examined bytes.
        Some(Err(error)) if error.is_eof() && first.len() < text.trim_end().len() => {
            DetectedFormat::JsonSpread
        }
        // A record that is damaged.
        _ => DetectedFormat::JsonLines,
    }
}

/// Fields that may contain the links of a page.
const OTHER_LINKS: [&str; 6] = [
    "links",
    "urls",
    "hrefs",
    "out_links",
    "outgoing_links",
    "external_links",
];

/// Detects records that have no outlinks, but links in another field.
fn other_links<'a, I: Iterator<Item = &'a str>>(lines: impl Fn() -> I) -> Option<DetectedFormat> {
    let mut found = None;
    for line in lines() {
        let fields: BTreeMap<&str, &RawValue> = serde_json::from_str(line).ok()?;
        if !fields.contains_key("url") || fields.contains_key("outlinks") {
            return None;
        }
        let is_list = |name: &&str| {
            let value = fields.get(name).map_or("", |value| value.get());
            value.starts_with('[') && value.contains('"')
        };
        found = found.or(OTHER_LINKS.into_iter().find(is_list));
    }
    found.map(DetectedFormat::OtherLinks)
}

/// Detects an index of a web archive: a key of reversed labels, 14 digits, then JSON or columns.
fn detect_index(first: &str, entry: Option<&str>) -> Option<DetectedFormat> {
    if first.starts_with("CDX ") {
        return Some(DetectedFormat::Cdx);
    }
    // Lines that begin with `!` describe the index.
    let line = match entry {
        Some(entry) if first.starts_with('!') => entry,
        _ => first,
    };
    let mut parts = line.splitn(3, ' ');
    let (key, time, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let is_time = time.len() == 14 && time.bytes().all(|byte| byte.is_ascii_digit());
    match rest.as_bytes().first() {
        _ if !is_time || key.is_empty() => None,
        Some(b'{') => Some(DetectedFormat::Cdxj),
        _ => is_url(rest).then_some(DetectedFormat::Cdx),
    }
}

/// Detects tables and lists of URLs; all examined lines must agree.
fn detect_columns<'a, I: Iterator<Item = &'a str>>(
    lines: impl Fn() -> I,
) -> Option<DetectedFormat> {
    // Skip directives in a seed list of Heritrix.
    let lines = || lines().filter(|line| !line.starts_with(['+', '-']));
    let first = lines().next()?;
    // A header contains column names and no URL.
    let is_header = |by: char| {
        let mut names = first.split(by);
        first.contains(by) && !is_url(first) && names.all(is_name)
    };
    let all = |holds: &dyn Fn(&str) -> bool| lines().all(holds);
    let begins_with_url = |line: &str| is_url(line.trim_start_matches('"'));
    for (by, format) in [
        ('\t', DetectedFormat::Tabs),
        (';', DetectedFormat::Semicolons),
        (',', DetectedFormat::Commas),
    ] {
        let mut rows = lines().skip(1).peekable();
        if rows.peek().is_some() && is_header(by) && rows.all(|row| row.contains(by)) {
            return Some(format);
        }
    }
    if !all(&begins_with_url) {
        return None;
    }
    let columns = |line: &str| line.split('\t').count();
    let two_urls = |line: &str, by| line.split_once(by).is_some_and(|(_, to)| is_url(to));
    Some(match first {
        _ if all(&|line| columns(line) == 2 && two_urls(line, '\t')) => DetectedFormat::Links,
        _ if all(&|line| two_urls(line, ' ')) => DetectedFormat::LinksBySpace,
        // Seed lists of Nutch's injector have metadata after the URL.
        _ if all(&|line| line.split('\t').skip(1).all(|more| more.contains('='))) => {
            if all(&|line| line.contains("\",") || two_urls(line, ',')) {
                DetectedFormat::Commas
            } else if all(&|line| {
                // A comment may follow.
                let (url, comment) = line.split_once(" #").unwrap_or((line, ""));
                let (url, _) = url.split_once('\t').unwrap_or((url, comment));
                !url.trim().contains(' ')
            }) {
                DetectedFormat::Urls
            } else {
                return None;
            }
        }
        _ if all(&|line| columns(line) == 4) => DetectedFormat::Pages,
        _ if all(&|line| columns(line) > 1) => DetectedFormat::Tabs,
        _ => return None,
    })
}

fn is_url(text: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| {
        let found = text.get(..scheme.len());
        found.is_some_and(|found| found.eq_ignore_ascii_case(scheme))
    })
}

/// Returns whether a text may be the name of a column.
fn is_name(text: &str) -> bool {
    let text = text.trim().trim_matches('"');
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ' | '.');
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(inner)
}

// Detection of crawler output (Nutch dumps, Heritrix logs, lists of Browsertrix) from the first lines.

/// The form of a dump of a Nutch database.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NutchDump {
    /// Pages, each on several lines.
    Text,
    /// Pages as CSV.
    Csv,
    /// Pages as JSON, one per line.
    Json,
    /// Links, grouped below their target page.
    Links,
}

/// A kind of crawler output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CrawlerOutput {
    Nutch(NutchDump),
    /// Heritrix's `crawl.log`.
    Log,
    /// A list of pages of Browsertrix.
    PageList,
}

/// The beginning of the header of Nutch's CSV.
pub(super) const HEADER: &str = "Url,Status code,Status name,Fetch Time,";

/// Follows the URL of a page in a text dump.
pub(super) const VERSION: &str = "\tVersion: ";

/// Follows the URL of a page in a dump of links.
pub(super) const INLINKS: &str = "\tInlinks:";

/// The beginning of a line that names a linking page.
pub(super) const FROM: &str = " fromUrl: ";

/// The fields that distinguish a page of a Nutch database from other objects.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NutchPage {
    #[serde(rename = "url")]
    _url: String,
    #[serde(rename = "statusCode")]
    _status_code: u8,
    status_name: String,
    #[serde(rename = "fetchTime")]
    _fetch_time: String,
    #[serde(rename = "retriesSinceFetch")]
    _retries_since_fetch: IgnoredAny,
}

/// The header of a list of pages of Browsertrix.
#[derive(Deserialize)]
struct PageListHeader<'a> {
    format: &'a str,
}

/// The `format` of a list of pages, without its version.
const PAGE_LIST: &str = "json-pages-";

/// Detects the kind of output from the first lines that are neither blank nor comments.
pub(super) fn detect<'a, I: Iterator<Item = &'a str>>(
    lines: impl Fn() -> I,
) -> Option<CrawlerOutput> {
    let mut head = lines();
    let first = head.next()?;
    let second = head.next();
    let second_begins = |text: &str| second.is_none_or(|line| line.starts_with(text));
    let dump = if first.starts_with(HEADER) {
        NutchDump::Csv
    } else if first.contains(VERSION) && second_begins("Status: ") {
        NutchDump::Text
    } else if first.ends_with(INLINKS) && second_begins(FROM) {
        NutchDump::Links
    } else if first.starts_with('{') {
        let header = serde_json::from_str(first);
        if header.is_ok_and(|header: PageListHeader<'_>| header.format.starts_with(PAGE_LIST)) {
            return Some(CrawlerOutput::PageList);
        }
        let page: NutchPage = serde_json::from_str(first).ok()?;
        if !page.status_name.starts_with("db_") {
            return None;
        }
        NutchDump::Json
    } else {
        let is_log = lines().all(|line| LogLine::parse(line).is_some());
        return is_log.then_some(CrawlerOutput::Log);
    };
    Some(CrawlerOutput::Nutch(dump))
}

// Lines of Heritrix's `crawl.log`.

/// The fields of a log line.
#[derive(Debug)]
pub(super) struct LogLine<'a> {
    time: &'a str,
    /// The HTTP status, or a status code of Heritrix.
    pub(super) status: i32,
    pub(super) url: &'a str,
    /// The discovery path: one letter per step from a seed.
    pub(super) path: &'a str,
    pub(super) via: Option<&'a str>,
    /// The media type of the answer.
    pub(super) mime: Option<&'a str>,
    /// The start time of the fetch.
    started: Option<&'a str>,
    pub(super) digest: Option<&'a str>,
    /// The source tag: the seed that the URL was found from, if the crawler tags seeds.
    pub(super) source: Option<&'a str>,
}

impl<'a> LogLine<'a> {
    /// Parses a line; `None` if it is not a line of the log.
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        let mut fields = line.split_ascii_whitespace();
        let [
            time,
            status,
            size,
            url,
            path,
            via,
            mime,
            thread,
            started,
            digest,
        ] = [(); 10].map(|()| fields.next());
        let size = size?;
        let is_size = size == "-" || size.bytes().all(|byte| byte.is_ascii_digit());
        let is_time = |time: &str| time.starts_with(|c: char| c.is_ascii_digit());
        let present = |field: &&str| *field != "-";
        Some(Self {
            time: time.filter(|time| is_size && is_time(time))?,
            status: status?.parse().ok()?,
            url: url?,
            path: path?,
            via: via.filter(present),
            mime: mime.filter(present),
            started: thread
                .filter(|thread| thread.starts_with('#'))
                .and(started)?
                .split(['+', ';'])
                .next()
                .filter(present),
            digest: Some(digest?).filter(present),
            source: fields.next().filter(present),
        })
    }

    /// Returns the last step of the discovery path.
    pub(super) fn last_step(&self) -> Option<char> {
        self.path.chars().next_back().filter(|step| *step != '-')
    }

    /// Returns the number of steps from a seed.
    pub(super) fn depth(&self) -> Option<u32> {
        let steps = self.path.chars().filter(|step| *step != '-').count();
        u32::try_from(steps).ok()
    }

    /// Returns whether the fetch was a prerequisite of the crawler (`robots.txt`, a DNS lookup), or a
    /// redirect of one.
    pub(super) fn is_prerequisite(&self) -> bool {
        self.path.trim_end_matches('R').ends_with('P')
    }

    /// Returns the start time of the fetch, as archives record it, or else the time of the line.
    pub(super) fn time(&self) -> String {
        let time = self.started.unwrap_or(self.time);
        let is_number = time.len() > 14 && time.bytes().all(|byte| byte.is_ascii_digit());
        match time.split_at_checked(14).zip(time.split_at_checked(8)) {
            Some(((second, fraction), (day, _))) if is_number => {
                let clock = second.get(8..).unwrap_or_default();
                format!("{day}T{clock}.{fraction}Z")
            }
            _ => time.to_owned(),
        }
    }
}

#[cfg(test)]
#[path = "sniff_tests.rs"]
mod tests;
