//! Counts of reading a batch.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};

use super::location::UrlError;
use super::timestamp::TimestampError;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// The maximum number of distinct names in [`UnknownFields`].
pub(super) const MAX_UNKNOWN_FIELDS: usize = 16;

/// The number of characters stored of a name.
const MAX_NAME_CHARS: usize = 64;

/// Why an outlink is dropped. The names (snake case) are stable.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DropReason {
    /// Empty, or only white space.
    Empty,
    /// No scheme.
    Relative,
    /// A scheme other than http and https.
    Scheme,
    /// No host.
    NoHost,
    /// Longer than 65,536 bytes.
    TooLong,
    /// No crawler can fetch from its host, or only one in a private network.
    Unfetchable,
    /// Refused by the URL standard, or not text.
    Invalid,
    /// Neither a URL nor an object with one.
    WrongType,
    /// Several URLs in one text.
    SeveralUrls,
    /// Marked as nofollow, with such links excluded.
    Nofollow,
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl From<&UrlError> for DropReason {
    fn from(problem: &UrlError) -> Self {
        match problem {
            UrlError::Empty => Self::Empty,
            UrlError::Relative => Self::Relative,
            UrlError::Scheme(_) => Self::Scheme,
            UrlError::NoHost => Self::NoHost,
            UrlError::TooLong(_) => Self::TooLong,
            UrlError::Unfetchable(_) => Self::Unfetchable,
            UrlError::NotUtf8 | UrlError::Invalid(_) => Self::Invalid,
        }
    }
}

/// Why a record of a web archive, or a line of a list or log, yields no record. The names (snake case) are
/// stable.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SkipReason {
    /// It describes a request, or anything but a server's response.
    NoResponse,
    /// The response has no status, such as that of a name server.
    NoStatus,
    /// The status says nothing about the page: 304, a redirect whose target is not known, or a
    /// decision of the crawler.
    OtherStatus,
    /// A redirect without another page as its target.
    LeadsNowhere,
    /// It has no page: a comment, a directive, a header, an entry for another kind of resource.
    NoPage,
    /// It names another sitemap, which is not fetched.
    Sitemap,
    /// A prerequisite of the crawler (`robots.txt`, DNS).
    Prerequisite,
    /// It has no link, and only links are read.
    NoLink,
    /// Its URL is not a page URL (`dns:`, `ftp:`, ...).
    OtherScheme,
    /// It continues the content of a previous record.
    Continuation,
    /// It has a crawler's metadata about a response, which is read together with it or says the same.
    BesideResponse,
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// Why the content of a page, in which links are searched, was not read. The names (snake case) are stable.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Unread {
    /// Its content encoding is not supported (such as `compress`); the page's links are unknown.
    Coding,
    /// Its content encoding is damaged; the content before the damage was read.
    Damaged,
    /// It is longer than 16 MiB, of which the first 16 MiB were read, or was stored truncated.
    CutOff,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// Unknown fields by name, so that misspelt fields do not lose data silently.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct UnknownFields {
    /// The number of occurrences of each of at most 16 names.
    #[schemars(schema_with = "counts_by::<String>")]
    pub names: BTreeMap<String, u64>,
    /// Occurrences of other names. If 0, the counts in `names` are exact.
    pub others: u64,
}

impl UnknownFields {
    pub(super) fn count(&mut self, name: &str) {
        self.count_times(name, 1);
    }

    /// Counts a name with `times` occurrences.
    pub(super) fn count_times(&mut self, name: &str, times: u64) {
        if times == 0 {
            return;
        }
        let name = name
            .char_indices()
            .nth(MAX_NAME_CHARS)
            .map_or(name, |(end, _)| name.get(..end).unwrap_or(name));
        self.add(name, times);
    }

    fn add(&mut self, name: &str, times: u64) {
        if let Some(count) = self.names.get_mut(name) {
            *count += times;
        } else if self.names.len() < MAX_UNKNOWN_FIELDS {
            self.names.insert(name.to_owned(), times);
        } else {
            self.others += times;
        }
    }
}

/// Returns the JSON Schema of a map from `K` to positive counts.
pub fn counts_by<K: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "propertyNames": generator.subschema_for::<K>(),
        "additionalProperties": {"type": "integer", "minimum": 1},
    })
}

/// HTML pages that were searched for links.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct HtmlPages {
    /// Their number.
    pub searched: u64,
    /// The number of those that have a link to another page.
    pub with_links: u64,
}

/// Counts of reading a batch.
///
/// `lines = records + blank_lines`, and `records` = rejects + events of other kinds.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ReadSummary {
    /// Lines of all inputs except skipped ones; in formats that are not line-based, records and blank lines.
    pub lines: u64,
    /// Blank lines.
    pub blank_lines: u64,
    /// Records, including rejected ones; in text formats, lines that are not blank.
    pub records: u64,
    /// Bytes of decompressed text; for a graph, the bytes of its lists in memory.
    pub bytes: u64,
    /// Records of web archives, and lines of lists and logs, that yield no record, by reason; not included in
    /// `records`.
    #[schemars(schema_with = "counts_by::<SkipReason>")]
    pub passed_over: BTreeMap<SkipReason, u64>,
    /// Pages of web archives whose content was not, or only partly, read, by reason.
    #[serde(default)]
    #[schemars(schema_with = "counts_by::<Unread>")]
    pub unread: BTreeMap<Unread, u64>,
    /// Rejected records by reason.
    #[schemars(schema_with = "counts_by::<RejectReason>")]
    pub rejects: BTreeMap<RejectReason, u64>,
    /// Fields of accepted records that cannot be read and count as absent, by reason.
    #[serde(default)]
    #[schemars(schema_with = "counts_by::<RejectReason>")]
    pub bad_fields: BTreeMap<RejectReason, u64>,
    /// Truncated inputs whose complete records were read.
    #[serde(default)]
    pub truncated: u64,
    /// Pages of web archives whose HTML was searched for links, and how many of them have links.
    #[serde(default)]
    pub html: HtmlPages,
    /// Outlinks of accepted records that were dropped, by reason.
    #[schemars(schema_with = "counts_by::<DropReason>")]
    pub dropped_outlinks: BTreeMap<DropReason, u64>,
    /// Repeated outlinks in a record. In links TSV, duplicates are not known until a page's links are
    /// consolidated, and are not counted here.
    pub duplicate_outlinks: u64,
    /// Outlinks of a page to itself.
    pub self_links: u64,
    /// Fetch times of accepted records without a time zone, which count as UTC.
    pub zones_assumed: u64,
    /// Unknown fields, which are ignored and may be misspelt.
    pub unknown_fields: UnknownFields,
}

impl ReadSummary {
    /// Returns the number of rejected records.
    #[must_use]
    pub fn rejected(&self) -> u64 {
        self.rejects.values().sum()
    }

    /// Returns the number of bad records and bad fields. The first ones are listed.
    pub(super) fn listed(&self) -> u64 {
        self.rejected() + self.bad_fields.values().sum::<u64>()
    }

    /// Returns whether more than [`MAX_LISTED_REJECTS`] records, and more than half of all
    /// records so far, are rejected.
    #[must_use]
    pub fn is_hopeless(&self) -> bool {
        is_hopeless(self.rejected(), self.records)
    }

    pub(super) fn dropped(&mut self, reason: DropReason) {
        *self.dropped_outlinks.entry(reason).or_default() += 1;
    }

    /// Adds the counts of another part of the input.
    pub fn merge(&mut self, other: &Self) {
        fn add<K: Copy + Ord>(sums: &mut BTreeMap<K, u64>, counts: &BTreeMap<K, u64>) {
            for (reason, count) in counts {
                *sums.entry(*reason).or_default() += count;
            }
        }
        self.lines += other.lines;
        self.blank_lines += other.blank_lines;
        self.records += other.records;
        self.bytes += other.bytes;
        add(&mut self.passed_over, &other.passed_over);
        add(&mut self.unread, &other.unread);
        add(&mut self.rejects, &other.rejects);
        add(&mut self.bad_fields, &other.bad_fields);
        self.truncated += other.truncated;
        self.html.searched += other.html.searched;
        self.html.with_links += other.html.with_links;
        add(&mut self.dropped_outlinks, &other.dropped_outlinks);
        self.duplicate_outlinks += other.duplicate_outlinks;
        self.self_links += other.self_links;
        self.zones_assumed += other.zones_assumed;
        for (name, count) in &other.unknown_fields.names {
            self.unknown_fields.add(name, *count);
        }
        self.unknown_fields.others += other.unknown_fields.others;
    }
}

// Rejected records: reasons, positions, listing, and limits.

/// The number of characters stored of a rejected record and of its detail.
pub(super) const EXCERPT_CHARS: usize = 200;

/// The maximum number of listed bad records and fields of a batch. The first ones are listed; all are counted.
pub const MAX_LISTED_REJECTS: u64 = 100_000;

/// Why a record is rejected, or a field of a record counts as absent. The names (snake case) are stable.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RejectReason {
    /// The line is longer than 16 MiB.
    LineTooLong,
    /// The line is not UTF-8.
    InvalidUtf8,
    /// The line is not JSON.
    InvalidJson,
    /// The line is JSON, but not an object.
    NotAnObject,
    /// An object with more than 1,024 fields.
    TooManyFields,
    /// A field given twice.
    DuplicateField,
    /// No `url`.
    MissingUrl,
    /// The page's URL is empty.
    EmptyUrl,
    /// The page's URL is relative.
    RelativeUrl,
    /// The page's URL is neither http nor https.
    UrlScheme,
    /// The page's URL has no host.
    UrlWithoutHost,
    /// The page's URL is longer than 65,536 bytes.
    UrlTooLong,
    /// No crawler can fetch from the host of the page's URL, or only one in a private network.
    UnfetchableUrl,
    /// The page's URL is refused by the URL standard.
    InvalidUrl,
    /// A field has the wrong type.
    WrongType,
    /// A count or a quality is below zero.
    NegativeNumber,
    /// A count is not a whole number.
    FractionalNumber,
    /// A count or a quality is above its limit.
    NumberTooLarge,
    /// A time is not in an accepted form.
    InvalidTimestamp,
    /// A time more than a day after the batch and after now.
    FutureTimestamp,
    /// A text that should be one URL has several.
    SeveralUrls,
    /// A TSV line with too few or too many columns.
    Columns,
    /// A quote in a table that is not closed, or is followed by text.
    Quotes,
    /// A NUL byte in a TSV line.
    NulByte,
    /// No `site` in a site record.
    MissingSite,
    /// A `site` that is not a site name.
    InvalidSite,
    /// A record of a web archive with an invalid header or length.
    Framing,
    /// A WAT record without the type of the record that it describes.
    MissingType,
    /// A rank of a host that is not a vertex of the graph.
    UnknownHost,
    /// A second rank of a host.
    RankedTwice,
}

impl fmt::Display for RejectReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// The reason for rejecting a record or dropping a field, with a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The reason.
    pub reason: RejectReason,
    /// The message.
    pub detail: String,
}

impl Fault {
    /// Creates a fault.
    pub fn new(reason: RejectReason, detail: impl Into<String>) -> Self {
        Self {
            reason,
            detail: detail.into(),
        }
    }

    /// Creates the fault of a record whose page URL is invalid.
    pub(super) fn page_url(error: &UrlError) -> Self {
        let reason = match error {
            UrlError::Empty => RejectReason::EmptyUrl,
            UrlError::Relative => RejectReason::RelativeUrl,
            UrlError::Scheme(_) => RejectReason::UrlScheme,
            UrlError::NoHost => RejectReason::UrlWithoutHost,
            UrlError::TooLong(_) => RejectReason::UrlTooLong,
            UrlError::Unfetchable(_) => RejectReason::UnfetchableUrl,
            UrlError::NotUtf8 => RejectReason::InvalidUtf8,
            UrlError::Invalid(_) => RejectReason::InvalidUrl,
        };
        Self::new(reason, error.to_string())
    }

    /// Creates the fault of a record with an invalid URL in this field.
    pub(super) fn url(field: &str, error: &UrlError) -> Self {
        let Self { reason, detail } = Self::page_url(error);
        Self::new(reason, format!("{field}: {detail}"))
    }

    /// Creates the fault of a record with an invalid time in this field.
    pub(super) fn timestamp(field: &str, error: TimestampError) -> Self {
        Self::new(RejectReason::InvalidTimestamp, format!("{field}: {error}"))
    }
}

/// The position of a record in its source, in the unit of its format.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Position {
    /// The line number from 1, in the decompressed text, including blank lines.
    Line(u64),
    /// The number of the record, from 1.
    #[serde(rename = "number")]
    Record(u64),
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(number) => write!(f, "line {number}"),
            Self::Record(number) => write!(f, "record {number}"),
        }
    }
}

/// A rejected record, or a field of another record that cannot be read; a line of the rejects file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reject {
    /// The input, as the caller named it.
    pub file: String,
    /// The position of the record, serialised as `line` or `number`.
    #[serde(flatten)]
    pub at: Position,
    /// The field that counts as absent; `None` if the whole record is rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The reason.
    pub reason: RejectReason,
    /// The first 200 characters of the message.
    pub detail: String,
    /// The first 200 characters of the record; U+FFFD replaces invalid UTF-8.
    pub record: String,
}

/// Writes rejects as JSON Lines.
#[derive(Debug)]
pub struct RejectWriter<W: Write> {
    out: W,
}

impl<W: Write> RejectWriter<W> {
    /// Creates a writer to `out`, which should be buffered.
    pub const fn new(out: W) -> Self {
        Self { out }
    }

    /// Writes a reject, or something else about a record, as a line.
    pub fn write(&mut self, reject: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, reject)?;
        self.out.write_all(b"\n")
    }

    /// Flushes and returns the underlying writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Returns whether at most `percent` per cent of the records, rejected ones included, are rejected.
///
/// Zero rejects are within any limit, and so is a number at exactly the limit; a relative tolerance of
/// 1e-12 allows for percentages without an exact double. Returns `false` for a limit of NaN.
#[must_use]
pub fn within_limit(rejects: u64, records: u64, percent: f64) -> bool {
    rejects == 0 && !percent.is_nan()
        || rejects as f64 * 100.0 <= percent * records as f64 * (1.0 + 1e-12)
}

/// The number of bad records that never refuse a batch with good ones, unless its limit is 0.
pub const MIN_MAX_REJECTS: u64 = 10;

/// Returns whether a batch with `rejects` bad ones among its records is accepted: at most `percent` per cent are bad, or at
/// most [`MIN_MAX_REJECTS`] and not all. With a limit of 0, none may be bad.
#[must_use]
pub fn accepts_rejects(rejects: u64, records: u64, percent: f64) -> bool {
    let are_few = percent > 0.0 && rejects <= MIN_MAX_REJECTS && rejects < records;
    are_few || within_limit(rejects, records, percent)
}

/// Returns whether reading should stop: more than [`MAX_LISTED_REJECTS`] records, and more than half of
/// all records so far, are rejected.
pub(super) const fn is_hopeless(rejects: u64, records: u64) -> bool {
    rejects > MAX_LISTED_REJECTS && rejects > records / 2
}

/// Returns the first [`EXCERPT_CHARS`] characters of a text. A character has at most four bytes, so the
/// result never contains one that was cut.
pub(super) fn excerpt(line: &[u8]) -> String {
    let head = line.get(..EXCERPT_CHARS * 4).unwrap_or(line);
    String::from_utf8_lossy(head)
        .chars()
        .take(EXCERPT_CHARS)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_itself_is_within() {
        assert!(within_limit(0, 0, 1.0));
        assert!(within_limit(0, 10, 0.0));
        assert!(!within_limit(1, 10, 0.0));
        assert!(within_limit(1, 100, 1.0));
        assert!(!within_limit(2, 199, 1.0));
        assert!(within_limit(57, 10_000, 0.57));
        assert!(within_limit(10, 10, 100.0));
        assert!(!within_limit(1, 1, f64::NAN));
        assert!(!within_limit(0, 1, f64::NAN));
    }

    #[test]
    fn few_bad_records_are_accepted() {
        assert!(accepts_rejects(10, 11, 1.0) && accepts_rejects(1, 2, 1e-9));
        assert!(!accepts_rejects(11, 12, 1.0) && !accepts_rejects(10, 10, 1.0));
        assert!(!accepts_rejects(1, 1000, 0.0) && !accepts_rejects(1, 2, f64::NAN));
        assert!(accepts_rejects(0, 1, 0.0) && accepts_rejects(3, 3, 100.0));
    }

    #[test]
    fn reading_ends_where_most_is_bad() {
        assert!(!is_hopeless(100_000, 100_000));
        assert!(is_hopeless(100_001, 100_001));
        assert!(is_hopeless(100_001, 200_001));
        assert!(!is_hopeless(100_001, 200_002));
        assert!(is_hopeless(u64::MAX, u64::MAX));
    }

    #[test]
    fn reasons_have_one_name() {
        assert_eq!(RejectReason::InvalidUtf8.to_string(), "invalid_utf8");
        assert_eq!(RejectReason::LineTooLong.to_string(), "line_too_long");
    }

    #[test]
    fn a_reject_is_one_json_line() {
        let mut writer = RejectWriter::new(Vec::new());
        let reject = Reject {
            file: "a.jsonl".to_owned(),
            at: Position::Line(3),
            field: None,
            reason: RejectReason::InvalidUtf8,
            detail: "a\nb".to_owned(),
            record: excerpt(b"x\xffy"),
        };
        let mut numbered = reject.clone();
        numbered.at = Position::Record(4);
        numbered.field = Some("clicks".to_owned());
        let value = serde_json::to_value(&numbered).unwrap();
        assert_eq!(
            (&value["number"], &value["field"]),
            (&4.into(), &"clicks".into())
        );
        writer.write(&reject).unwrap();
        assert_eq!(
            String::from_utf8(writer.finish().unwrap()).unwrap(),
            "{\"file\":\"a.jsonl\",\"line\":3,\"reason\":\"invalid_utf8\",\"detail\":\"a\\nb\",\"record\":\"x\u{fffd}y\"}\n"
        );
    }

    #[test]
    fn a_beginning_has_two_hundred_whole_characters() {
        assert_eq!(
            excerpt("\u{1f980}".repeat(300).as_bytes()),
            "\u{1f980}".repeat(200)
        );
        assert_eq!(excerpt("é".repeat(450).as_bytes()), "é".repeat(200));
        assert_eq!(excerpt(b"ab"), "ab");
    }
}
