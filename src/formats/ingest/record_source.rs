//! Records passed by a caller, without a file.
//!
//! A record is converted to a line of JSON Lines and parsed like a line of a file, so that the same rules
//! apply to both.

use std::time::{SystemTime, UNIX_EPOCH};

use super::entries::{LineFormat, Lines, read_any, read_json_line};
use super::formats::json_lines::{JsonLines, has_several_urls, parse_structure, truth};
use super::formats::tsv::{columns, flag};
use super::interner::UrlNumber;
use super::location::{MAX_URL, Naming, SiteMode, parse};
use super::number::{integer, quality};
use super::open::Input;
use super::piece_parser::PieceParser;
use super::progress::Progress;
use super::record::{Attribute, Event, SiteAttributes};
use super::source::{PIECE_RECORDS, PIECE_SIZE, Piece, Pieces, Source, Stop, lines};
use super::summary::{Fault, Position, RejectReason};
use seedbank_algorithms::fetch_status::FetchStatus;
use seedbank_algorithms::page::PageKind;
use seedbank_algorithms::yields::{YIELD_UNIT, Yield};
use serde::Serialize;
use serde_json::{Number, Value};

/// A record of a page, with URLs as text.
///
/// Attributes that are not set leave the bank unchanged. Nothing is checked here: an invalid record is
/// rejected and listed when it is read, like one in a file.
///
/// ```
/// use seedbank_formats::ingest::Record;
///
/// let page = Record::new("https://example.org/")
///     .outlinks(["https://example.net/a", "mailto:x@example.net"])
///     .digest("9f86d081")
///     .fetched("2026-11-19T04:00:00Z");
/// assert_eq!(
///     page.to_json(),
///     r#"{"url":"https://example.org/","outlinks":["https://example.net/a","mailto:x@example.net"],"digest":"9f86d081","fetched":"2026-11-19T04:00:00Z"}"#
/// );
/// let gone = Record::new("https://example.org/old").gone();
/// assert_eq!(gone.to_json(), r#"{"url":"https://example.org/old","gone":true}"#);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Record {
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    outlinks: Option<Vec<Outlink>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spam: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clicks: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[expect(
        clippy::option_option,
        reason = "absent, null and a number are three things in JSON"
    )]
    uncrawled_outlinks: Option<Option<u64>>,
    /// A number, null, or a text that will be rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    quality: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fetched: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    redirect: Option<String>,
    /// A URL, or null.
    #[serde(skip_serializing_if = "Option::is_none")]
    canonical: Option<Value>,
    /// A kind, or null.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<Value>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    gone: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<FetchStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failures: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failing_since: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed_before: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observed_days: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new_links: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    via: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
}

/// A link of a record.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(untagged)]
enum Outlink {
    /// A text, which should be one URL.
    Text(String),
    /// One URL, whatever it contains.
    Url { url: String },
}

impl Record {
    /// Creates a record without attributes.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            outlinks: None,
            spam: None,
            clicks: None,
            uncrawled_outlinks: None,
            quality: None,
            digest: None,
            fetched: None,
            changed: None,
            redirect: None,
            canonical: None,
            kind: None,
            gone: false,
            status: None,
            failures: None,
            failing_since: None,
            failed: None,
            failed_before: Vec::new(),
            observed_days: None,
            new_links: None,
            seed: None,
            via: None,
            depth: None,
        }
    }

    /// Sets the page's links, which replace those in the bank. Texts that are not page URLs are dropped and
    /// counted.
    #[must_use]
    pub fn outlinks<T: Into<String>>(mut self, urls: impl IntoIterator<Item = T>) -> Self {
        let links = urls.into_iter().map(|url| Outlink::Text(url.into()));
        self.outlinks = Some(links.collect());
        self
    }

    /// Sets the page's links. Each text is one URL, even if it contains `,http://`.
    #[must_use]
    pub fn exact_outlinks<'a>(mut self, urls: impl IntoIterator<Item = &'a str>) -> Self {
        let links = urls.into_iter().map(|url| {
            let is_ambiguous = has_several_urls(url);
            let url = url.to_owned();
            if is_ambiguous {
                Outlink::Url { url }
            } else {
                Outlink::Text(url)
            }
        });
        self.outlinks = Some(links.collect());
        self
    }

    /// Sets whether the page is spam.
    #[must_use]
    pub const fn spam(mut self, spam: bool) -> Self {
        self.spam = Some(spam);
        self
    }

    /// Sets the page's clicks, at most [`MAX_CLICKS`](super::MAX_CLICKS).
    #[must_use]
    pub const fn clicks(mut self, clicks: u64) -> Self {
        self.clicks = Some(clicks);
        self
    }

    /// Sets the number of the page's outlinks that were not crawled, at most
    /// [`MAX_UNCRAWLED_OUTLINKS`](super::MAX_UNCRAWLED_OUTLINKS). The bank stops counting them.
    #[must_use]
    pub const fn uncrawled_outlinks(mut self, count: u64) -> Self {
        self.uncrawled_outlinks = Some(Some(count));
        self
    }

    /// Lets the bank count the page's uncrawled outlinks from now on.
    #[must_use]
    pub const fn count_uncrawled_outlinks(mut self) -> Self {
        self.uncrawled_outlinks = Some(None);
        self
    }

    /// Sets the page's quality from 0 to 1, rounded to the nearest 1/10,000. It may come from a classifier,
    /// a language match or the complement of a spam probability, and overrides the quality of the site.
    #[must_use]
    pub fn quality(mut self, quality: f64) -> Self {
        // NaN and infinities, which JSON lacks, are rejected as text.
        let number = Number::from_f64(quality).map(Value::Number);
        self.quality = Some(number.unwrap_or_else(|| Value::String(quality.to_string())));
        self
    }

    /// Removes the page's own quality.
    #[must_use]
    pub fn no_quality(mut self) -> Self {
        self.quality = Some(Value::Null);
        self
    }

    /// Sets a text that is equal for pages with equal content, such as a hash.
    #[must_use]
    pub fn digest(mut self, digest: impl Into<String>) -> Self {
        self.digest = Some(digest.into());
        self
    }

    /// Sets the fetch time, in any form accepted by [`parse_timestamp`](super::parse_timestamp).
    #[must_use]
    pub fn fetched(mut self, time: impl Into<String>) -> Self {
        self.fetched = Some(time.into());
        self
    }

    /// Sets a time at which the content is known to have changed, in any form accepted by
    /// [`parse_timestamp`](super::parse_timestamp).
    #[must_use]
    pub fn changed(mut self, time: impl Into<String>) -> Self {
        self.changed = Some(time.into());
        self
    }

    /// Sets the fetch time; times before 1970 count as 1970-01-01.
    #[must_use]
    pub fn fetched_at(self, time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let time = crate::clock::time(since.as_secs());
        let seconds = time.trim_end_matches('Z');
        self.fetched(format!("{seconds}.{:06}Z", since.subsec_micros()))
    }

    /// Sets the target of the page's redirect. If it is another page, this one becomes an alias.
    #[must_use]
    pub fn redirect(mut self, url: impl Into<String>) -> Self {
        self.redirect = Some(url.into());
        self
    }

    /// Sets the canonical URL of the page; ignored if there is a redirect. With outlinks and without a canonical URL the
    /// page has none.
    #[must_use]
    pub fn canonical(mut self, url: impl Into<String>) -> Self {
        self.canonical = Some(Value::String(url.into()));
        self
    }

    /// Removes the canonical URL of the page.
    #[must_use]
    pub fn no_canonical(mut self) -> Self {
        self.canonical = Some(Value::Null);
        self
    }

    /// Sets what the answer to the fetch is. The default is a page.
    #[must_use]
    pub fn kind(mut self, kind: PageKind) -> Self {
        self.kind = Some(Value::String(kind.name().to_owned()));
        self
    }

    /// Leaves what the answer to the fetch is to earlier records, as for an answer that the content is unchanged.
    #[must_use]
    pub fn same_kind(mut self) -> Self {
        self.kind = Some(Value::Null);
        self
    }

    /// Marks the page as gone. All other attributes are ignored, except that the fetch time orders several
    /// records of the page.
    #[must_use]
    pub const fn gone(mut self) -> Self {
        self.gone = true;
        self
    }

    /// Sets the result of the fetch. If it failed, all other attributes except the fetch time are ignored.
    #[must_use]
    pub const fn status(mut self, status: FetchStatus) -> Self {
        self.status = Some(status);
        self
    }

    /// Sets the number of half-days (UTC) with a fetch that failed after the one that the other attributes describe, with the
    /// result and the time of the last one, and the times of one in each earlier half-day, ascending.
    #[must_use]
    pub fn failures(
        mut self,
        status: FetchStatus,
        last: impl Into<String>,
        earlier: impl IntoIterator<Item = String>,
    ) -> Self {
        let mut earlier: Vec<String> = earlier.into_iter().collect();
        let last = last.into();
        self.status = Some(status);
        self.failures = Some(u32::try_from(earlier.len() + 1).unwrap_or(u32::MAX));
        self.failing_since = Some(earlier.first().unwrap_or(&last).clone());
        self.failed = Some(last);
        // Two times say it all.
        if earlier.len() == 1 {
            earlier.clear();
        }
        self.failed_before = earlier;
        self
    }

    /// Sets what fetches of the page after the first brought so far, at the time of the last one. It replaces
    /// what the bank has learned of the page, and is ignored if the bank has no fetch of it.
    #[must_use]
    pub fn sums(mut self, sums: Yield) -> Self {
        let number = |sum: u64| Number::from_f64(sum as f64 / YIELD_UNIT as f64);
        self.observed_days = number(sums.days);
        self.new_links = number(sums.new);
        self
    }

    /// Sets the seed that the crawl came from when it fetched the page.
    #[must_use]
    pub fn seed(mut self, url: impl Into<String>) -> Self {
        self.seed = Some(url.into());
        self
    }

    /// Sets the page by which the crawler found this one.
    #[must_use]
    pub fn via(mut self, url: impl Into<String>) -> Self {
        self.via = Some(url.into());
        self
    }

    /// Sets the number of links from the seed.
    #[must_use]
    pub const fn depth(mut self, depth: u32) -> Self {
        self.depth = Some(depth);
        self
    }

    /// Returns the record as a line of JSON Lines, without a line end.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Serialisation cannot fail: all keys are strings.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Consecutive records as lines of JSON.
#[derive(Default)]
pub struct RecordChunk {
    text: Vec<u8>,
    records: usize,
}

impl RecordChunk {
    /// Adds a record; returns `true` once the chunk is large enough for a piece.
    pub fn add(&mut self, record: &Record) -> bool {
        self.add_json(&record.to_json())
    }

    /// Adds a record as a line of JSON Lines, without a line end. Returns `true` once the chunk is large
    /// enough for a piece.
    pub fn add_json(&mut self, line: &str) -> bool {
        self.text.extend_from_slice(line.as_bytes());
        self.text.push(b'\n');
        self.records += 1;
        self.text.len() >= PIECE_SIZE || self.records >= PIECE_RECORDS
    }

    /// Returns whether the chunk has no records.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// Creates the piece of these records, numbered from `first`.
    fn piece<'a>(self, first: u64, max_line: MaxLine) -> Piece<'a> {
        Piece {
            bytes: self.text.len() as u64,
            records: self.records,
            memory: self.text.len(),
            read: Box::new(move |parser| {
                for (line, number) in lines(&self.text).zip(first..) {
                    let event = match max_line {
                        MaxLine::OfFile => read_json_line(&JsonLines, line, parser),
                        MaxLine::Unlimited => read_any(&JsonLines, line, parser),
                    };
                    parser.add(Position::Record(number), event, line);
                }
            }),
        }
    }
}

/// The maximum length of the line of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum MaxLine {
    /// The limit of lines in files.
    OfFile,
    /// No limit: a page of the bank may have more links than fit into a line of a file.
    Unlimited,
}

/// A source of records in chunks.
pub struct RecordSource<I> {
    name: String,
    chunks: I,
    max_line: MaxLine,
}

impl<I: Iterator<Item = Result<RecordChunk, Stop>> + Send> RecordSource<I> {
    /// Creates a source; lines are limited as in files.
    pub const fn new(name: String, chunks: I) -> Self {
        Self {
            name,
            chunks,
            max_line: MaxLine::OfFile,
        }
    }

    /// Creates a source of records exported from a bank; lines are not limited.
    pub const fn from_bank(name: String, chunks: I) -> Self {
        Self {
            name,
            chunks,
            max_line: MaxLine::Unlimited,
        }
    }
}

impl<I: Iterator<Item = Result<RecordChunk, Stop>> + Send> Source for RecordSource<I> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        let mut next = 1;
        let progress = progress.clone();
        let max_line = self.max_line;
        let pieces = self.chunks.by_ref().map(move |chunk| {
            progress.proceed()?;
            let chunk = chunk?;
            let first = next;
            next += chunk.records as u64;
            Ok(chunk.piece(first, max_line))
        });
        Ok(Box::new(pieces))
    }
}

/// Splits records into chunks.
pub struct RecordChunks<I>(pub I);

impl<I: Iterator<Item = Record>> Iterator for RecordChunks<I> {
    type Item = Result<RecordChunk, Stop>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut chunk = RecordChunk::default();
        for record in self.0.by_ref() {
            if chunk.add(&record) {
                break;
            }
        }
        (!chunk.is_empty()).then_some(Ok(chunk))
    }
}

// Site lists: attributes of one site per line, as JSON or tab-separated.

/// The fields of a site record.
pub const SITE_FIELDS: [&str; 4] = ["site", "quality", "spam", "quota"];

/// Creates the source of a site list.
#[must_use]
pub fn site_list_source(input: &Input) -> Box<dyn Source> {
    Box::new(Lines::new(input.clone(), SiteList))
}

/// The format of site lists. A line is a JSON object (`schema/site.schema.json`) or
/// `site<TAB>quality<TAB>spam<TAB>quota`. A list may mix both, since no site name begins with a brace.
///
/// A field that is absent, or empty in TSV, is unchanged; a JSON null removes it. `spam` is 0 or 1 in
/// TSV. Unknown and duplicate fields are treated as in [`JsonLines`].
#[derive(Clone, Copy, Debug, Default)]
pub struct SiteList;

impl LineFormat for SiteList {
    fn read(&self, line: &str, parser: &mut PieceParser) -> Result<Event<UrlNumber>, Fault> {
        let site = if line.trim_start().starts_with('{') {
            parse_object(line, parser)
        } else {
            parse_tsv(line, parser)
        };
        site.map(Event::Site)
    }
}

fn parse_object(line: &str, parser: &mut PieceParser) -> Result<SiteAttributes, Fault> {
    let fields = parse_structure(line, &SITE_FIELDS, parser)?;
    for name in &fields.unknown {
        parser.summary.unknown_fields.count(name);
    }
    fields.check(parser)?;
    let name = fields.essential("site", fields.text("site"))?;
    let name = name.ok_or_else(|| {
        Fault::new(
            RejectReason::MissingSite,
            "expected a field `site`, found none",
        )
    })?;
    let mut site = SiteAttributes::new(site_name(&name, parser.naming)?);
    site.quality = parser.field("quality", fields.attribute("quality", quality));
    site.spam = parser.field("spam", fields.attribute("spam", truth));
    site.quota = parser.field("quota", fields.attribute("quota", quota));
    Ok(site)
}

fn parse_tsv(line: &str, parser: &mut PieceParser) -> Result<SiteAttributes, Fault> {
    let [name, quality_text, spam, quota_text] = columns(line)?;
    let mut site = SiteAttributes::new(site_name(name, parser.naming)?);
    site.quality = attribute(quality_text, "quality", quality, parser);
    let spam = parser.field("spam", flag(spam, "spam"));
    site.spam = spam.map_or(Attribute::Absent, Attribute::Given);
    site.quota = attribute(quota_text, "quota", quota, parser);
    Ok(site)
}

/// Parses a TSV attribute; an empty text is absent.
fn attribute<T>(
    text: &str,
    name: &'static str,
    read: impl FnOnce(&str, &str) -> Result<T, Fault>,
    parser: &mut PieceParser,
) -> Attribute<T> {
    if text.is_empty() {
        return Attribute::Absent;
    }
    parser.field(name, read(text, name).map(Attribute::Given))
}

fn quota(text: &str, field: &str) -> Result<u32, Fault> {
    let pages = integer(text, field, u32::MAX.into())?;
    Ok(u32::try_from(pages).unwrap_or(u32::MAX))
}

/// Normalises a site name for a bank with this naming: lower case, punycode, and without a leading `www.`
/// if the bank removes it.
fn site_name(text: &str, naming: Naming) -> Result<String, Fault> {
    let name = text.trim_matches(|c: char| c <= ' ');
    let fault = |detail: String| Err(Fault::new(RejectReason::InvalidSite, detail));
    // Ignore the colons of an IPv6 address in brackets.
    let outside = name
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
        .map_or(name, |(_, rest)| rest);
    if outside.contains(['/', '\\', ':', '?', '#', '@']) {
        return fault(
            "site: expected a host name without scheme, port and path, such as example.org"
                .to_owned(),
        );
    }
    if name.is_empty() || name.len() > MAX_URL || name.contains(char::is_whitespace) {
        return fault("site: expected a host name, such as example.org".to_owned());
    }
    let url = format!("http://{name}/");
    let site = match parse(&url, naming) {
        Ok(location) => location.site,
        Err(problem) => return fault(format!("site: not a host name: {problem}")),
    };
    if naming.sites == SiteMode::Domain {
        let host = parse(&url, SiteMode::Host.with(naming.urls)).map(|location| location.site);
        if host.as_ref() != Ok(&site) {
            return fault(format!(
                "site: expected a registrable domain, as in all sites of this bank, found a host of {site}"
            ));
        }
    }
    Ok(site)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::parse_timestamp;
    use std::time::Duration;

    #[test]
    fn a_record_is_the_line_that_a_file_would_have() {
        let record = Record::new("u")
            .outlinks(["a\n", "b"])
            .spam(false)
            .clicks(3)
            .uncrawled_outlinks(2)
            .digest("d")
            .fetched("1795060800");
        let line = r#"{"url":"u","outlinks":["a\n","b"],"spam":false,"clicks":3,"uncrawled_outlinks":2,"digest":"d","fetched":"1795060800"}"#;
        assert_eq!(record.to_json(), line);
        let record = Record::new("u").quality(0.25);
        assert_eq!(record.to_json(), r#"{"url":"u","quality":0.25}"#);
        let record = Record::new("u").no_quality();
        assert_eq!(record.to_json(), r#"{"url":"u","quality":null}"#);
        // Refused as no number.
        let record = Record::new("u").quality(f64::NAN);
        assert_eq!(record.to_json(), r#"{"url":"u","quality":"NaN"}"#);
        let record = Record::new("u").count_uncrawled_outlinks().gone();
        let line = r#"{"url":"u","uncrawled_outlinks":null,"gone":true}"#;
        assert_eq!(record.to_json(), line);
    }

    #[test]
    fn a_clock_s_time_keeps_its_microseconds() {
        let at = |micros| {
            let record = Record::new("u").fetched_at(UNIX_EPOCH + Duration::from_micros(micros));
            parse_timestamp(&record.fetched.unwrap_or_default()).map(|time| time.micros)
        };
        assert_eq!(at(0), Ok(0));
        assert_eq!(at(1_795_060_800_000_001), Ok(1_795_060_800_000_001));
        let earlier = Record::new("u").fetched_at(UNIX_EPOCH - Duration::from_secs(1));
        assert_eq!(earlier, Record::new("u").fetched_at(UNIX_EPOCH));
    }

    #[test]
    fn chunks_are_bounded() {
        let short = std::iter::repeat_n(Record::new("u"), 2 * PIECE_RECORDS + 1);
        let chunks: Vec<_> = RecordChunks(short).map(|p| p.map(|p| p.records)).collect();
        let counts: Vec<_> = chunks.into_iter().filter_map(Result::ok).collect();
        assert_eq!(counts, [PIECE_RECORDS, PIECE_RECORDS, 1]);
        let long = std::iter::repeat_n(Record::new("u".repeat(PIECE_SIZE)), 3);
        assert_eq!(RecordChunks(long).count(), 3);
        assert_eq!(RecordChunks(std::iter::empty()).count(), 0);
    }
}

#[cfg(test)]
#[path = "site_list_tests.rs"]
mod site_list_tests;
