//! What an input is, by its first bytes.
//!
//! Files of many kinds are handed over in place of records: what an archive of the web publishes,
//! what a database exports, a list of URLs. This tells them apart, so that a refusal can say what
//! the input is, and inputs are taken as what they are where no format was named. Nothing else is read
//! by it: an input that is taken is read by its format alone.

use serde::de::IgnoredAny;

use super::crawler_output::{self, CrawlerOutput, NutchDump};

/// How many bytes from the beginning of a text are looked at.
pub(super) const HEAD: usize = 64 << 10;

/// How many lines of it are looked at.
const LINES: usize = 8;

/// What an input is, by its first bytes. Of what is compressed, the decompressed bytes count.
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
    /// A database of `SQLite`.
    Sqlite,
    /// A ZIP archive.
    Zip,
    /// A 7z archive.
    SevenZip,
    /// A tar archive.
    Tar,
    /// gzip in a compressed input: it is compressed twice.
    GzipInside,
    /// zstd in a compressed input: it is compressed twice.
    ZstdInside,
    /// xz.
    Xz,
    /// bzip2.
    Bzip2,
    /// LZ4.
    Lz4,
    /// PDF.
    Pdf,
    /// Text in UTF-16.
    Utf16,
    /// Text in UTF-32.
    Utf32,
    /// A web archive: WARC with responses.
    Warc,
    /// A web archive's metadata: WAT, which has the links.
    Wat,
    /// A web archive's texts: WET.
    Wet,
    /// Anything else with NUL bytes.
    Binary,
    /// A page: HTML.
    Html,
    /// A sitemap.
    Sitemap,
    /// A list of sitemaps.
    SitemapIndex,
    /// XML of another kind, such as a feed.
    Xml,
    /// The index of a web archive, as JSON after a key and a time.
    Cdxj,
    /// The index of a web archive, with columns.
    Cdx,
    /// One JSON array of objects.
    JsonArray,
    /// JSON objects that are not one on each line.
    JsonSpread,
    /// A JSON string on each line.
    JsonStrings,
    /// One JSON object on each line.
    JsonLines,
    /// Two URLs on each line, with a tab between them.
    Links,
    /// Two URLs on each line, with a space between them.
    LinksBySpace,
    /// A URL and three columns on each line, with tabs between them.
    Pages,
    /// Columns with tabs between them.
    Tabs,
    /// Columns with commas between them.
    Commas,
    /// Columns with semicolons between them.
    Semicolons,
    /// A URL on each line, and nothing else or what crawlers write after it.
    Urls,
    /// The properties of a graph in the BV format.
    BvProperties,
    /// A dump of one of Nutch's databases.
    Nutch(NutchDump),
    /// The log of a crawl by Heritrix.
    CrawlLog,
}

impl DetectedFormat {
    /// Whether no line of such an input can be a record, so that it need not be read.
    pub(super) const fn is_certain(self) -> bool {
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
                | Self::Utf16
                | Self::Utf32
                | Self::Warc
                | Self::Wat
                | Self::Wet
        )
    }

    /// What begins with these bytes; `None` where it is not clear.
    pub(super) fn detect(head: &[u8]) -> Option<Self> {
        let head = head.get(..HEAD).unwrap_or(head);
        of_magic(head).or_else(|| of_text(head))
    }
}

/// By the numbers that formats begin with.
fn of_magic(head: &[u8]) -> Option<DetectedFormat> {
    let by_magic: [(&[u8], DetectedFormat); 20] = [
        (b"PAR1", DetectedFormat::Parquet),
        (b"PARE", DetectedFormat::Parquet),
        (b"Obj\x01", DetectedFormat::Avro),
        (b"ORC", DetectedFormat::Orc),
        (b"ARROW1\0\0", DetectedFormat::Arrow),
        // A stream, which begins with a message.
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
        (b"\xff\xfe\0\0", DetectedFormat::Utf32),
        (b"\0\0\xfe\xff", DetectedFormat::Utf32),
        (b"\xff\xfe", DetectedFormat::Utf16),
        (b"\xfe\xff", DetectedFormat::Utf16),
        (b"WARC/", DetectedFormat::Warc),
    ];
    let found = by_magic.iter().find(|(magic, _)| head.starts_with(magic));
    match found {
        Some((_, DetectedFormat::Warc)) => return Some(of_warc(head)),
        Some((_, foreign)) => return Some(*foreign),
        None => {}
    }
    let bzip2 = head.starts_with(b"BZh") && head.get(4..10) == Some(b"1AY&SY");
    let tar = head.get(257..262) == Some(b"ustar");
    let is_shown = |byte: u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    match head {
        _ if bzip2 => Some(DetectedFormat::Bzip2),
        _ if tar => Some(DetectedFormat::Tar),
        // Without a byte order mark: JSON begins with two characters of ASCII.
        [0, first, 0, second, ..] | [first, 0, second, 0, ..]
            if is_shown(*first) && is_shown(*second) =>
        {
            Some(DetectedFormat::Utf16)
        }
        _ if head.contains(&0) => Some(DetectedFormat::Binary),
        _ => None,
    }
}

/// Which of the kinds of web archives this is, by its first records.
fn of_warc(head: &[u8]) -> DetectedFormat {
    // What servers answered may say anything.
    let answers = ["response", "request", "resource", "revisit"];
    let begins = |line: &[u8]| {
        let kind = line
            .get(..b"WARC-Type:".len())
            .filter(|name| name.eq_ignore_ascii_case(b"WARC-Type:"));
        let kind = kind
            .and_then(|name| line.get(name.len()..))
            .unwrap_or_default()
            .trim_ascii();
        answers
            .iter()
            .any(|answer| kind.eq_ignore_ascii_case(answer.as_bytes()))
    };
    let mut lines = head.split_inclusive(|byte| *byte == b'\n');
    let before: usize = lines
        .by_ref()
        .take_while(|line| !begins(line))
        .map(<[u8]>::len)
        .sum();
    let head = head.get(..before).unwrap_or(head);
    let has = |text: &str| head.windows(text.len()).any(|at| at == text.as_bytes());
    // The blocks of a WAT are objects that begin with one of these.
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

/// By the first lines of a text.
fn of_text(head: &[u8]) -> Option<DetectedFormat> {
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start();
    let first = text.lines().next()?.trim_end();
    if first.starts_with("#BVGraph") {
        return Some(DetectedFormat::BvProperties);
    }
    // A line that is cut off says little.
    let whole = match text.rfind('\n') {
        Some(end) => text.get(..end).unwrap_or(text),
        None => text,
    };
    let lines = || {
        let lines = whole.lines().map(|line| line.trim_end_matches('\r'));
        let said = lines.filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
        said.take(LINES)
    };
    match crawler_output::detect(lines) {
        Some(CrawlerOutput::Nutch(dump)) => return Some(DetectedFormat::Nutch(dump)),
        Some(CrawlerOutput::Log) => return Some(DetectedFormat::CrawlLog),
        None => {}
    }
    match text.as_bytes().first()? {
        b'<' => of_markup(text),
        b'[' => of_array(text),
        b'{' => of_objects(text, first),
        b'"' if lines().all(|line| serde_json::from_str::<String>(line).is_ok()) => {
            Some(DetectedFormat::JsonStrings)
        }
        _ => of_index(first, lines().find(|line| !line.starts_with('!')))
            .or_else(|| of_columns(lines)),
    }
}

/// Of a text that begins with a tag.
fn of_markup(text: &str) -> Option<DetectedFormat> {
    let tag = |name: &str| {
        let mut at = text.match_indices('<').map(|(at, _)| at + 1);
        at.any(|at| {
            let found = text.get(at..at + name.len());
            found.is_some_and(|found| found.eq_ignore_ascii_case(name))
        })
    };
    let begins = |tags: &[&str]| tags.iter().any(|name| tag(name));
    // The elements of a sitemap may have a prefix.
    let root = |name: &str| {
        let mut tags = text.split('<').skip(1);
        tags.any(|tag| {
            let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
            let whole = tag.split(|c| !is_name(c)).next().unwrap_or(tag);
            let local = whole.rsplit(':').next().unwrap_or(whole);
            local.eq_ignore_ascii_case(name)
        })
    };
    Some(match text {
        _ if root("sitemapindex") => DetectedFormat::SitemapIndex,
        _ if root("urlset") => DetectedFormat::Sitemap,
        _ if begins(&["html", "!doctype html", "head", "body"]) => DetectedFormat::Html,
        _ if text.starts_with("<?xml") || begins(&["rss", "feed"]) => DetectedFormat::Xml,
        _ => return None,
    })
}

/// Of a text that begins with a bracket: one array, and not one on each line.
fn of_array(text: &str) -> Option<DetectedFormat> {
    let inside = text.strip_prefix('[')?.trim_start();
    let mut arrays = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let first = arrays.next().is_some_and(|array| array.is_ok());
    let second = arrays.next().is_some_and(|array| array.is_ok());
    let is_empty = inside.trim_end() == "]";
    (is_empty || inside.starts_with('{') && !(first && second)).then_some(DetectedFormat::JsonArray)
}

/// Of a text that begins with a brace; its first line is given beside it.
fn of_objects(text: &str, first: &str) -> Option<DetectedFormat> {
    if serde_json::from_str::<IgnoredAny>(first).is_ok() {
        return Some(DetectedFormat::JsonLines);
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    match values.next()? {
        Ok(_) => Some(DetectedFormat::JsonSpread),
        // An object that goes on beyond its line and what is looked at.
        Err(error) if error.is_eof() && first.len() < text.trim_end().len() => {
            Some(DetectedFormat::JsonSpread)
        }
        Err(_) => None,
    }
}

/// Of the index of a web archive: a key of reversed labels, 14 digits, and what stands there.
fn of_index(first: &str, entry: Option<&str>) -> Option<DetectedFormat> {
    if first.starts_with("CDX ") {
        return Some(DetectedFormat::Cdx);
    }
    // Lines that begin so say what the index is.
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

/// Of a text with columns or without, by all of its first lines.
fn of_columns<'a, I: Iterator<Item = &'a str>>(lines: impl Fn() -> I) -> Option<DetectedFormat> {
    // Directives of Heritrix stand among its seeds.
    let lines = || lines().filter(|line| !line.starts_with(['+', '-']));
    let first = lines().next()?;
    // A header is no URL, and names the columns.
    let is_header = |by: char| {
        let mut names = first.split(by);
        first.contains(by) && !is_url(first) && names.all(is_name)
    };
    let all = |holds: &dyn Fn(&str) -> bool| lines().all(holds);
    let begins_with_url = |line: &str| is_url(line.trim_start_matches('"'));
    for (by, of_rows) in [
        ('\t', DetectedFormat::Tabs),
        (';', DetectedFormat::Semicolons),
        (',', DetectedFormat::Commas),
    ] {
        let mut rows = lines().skip(1).peekable();
        if rows.peek().is_some() && is_header(by) && rows.all(|row| row.contains(by)) {
            return Some(of_rows);
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
        // What Nutch's injector reads: metadata after the URL.
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

/// Whether this may be the name of a column.
fn is_name(text: &str) -> bool {
    let text = text.trim().trim_matches('"');
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ' | '.');
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(inner)
}

#[cfg(test)]
#[path = "sniff_tests.rs"]
mod tests;
