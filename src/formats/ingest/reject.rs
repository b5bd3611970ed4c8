//! Records that are refused: why, where they stand, where they are listed, and when they are too
//! many.

use std::fmt;
use std::io::{self, Write};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::location::UrlError;
use super::timestamp::TimestampError;

/// How much is kept of a refused record, and of what is said of it, in characters.
pub(super) const REJECTED_TEXT: usize = 200;

/// How many rejects of a batch are listed; these are the first, and all are counted.
pub const MAX_LISTED_REJECTS: u64 = 100_000;

/// Why a record is refused. The names (snake case) are stable.
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
    /// `fetched` is not a time in any form that is taken.
    InvalidTimestamp,
    /// A TSV line with too few or too many columns.
    Columns,
    /// A quote in a table that is not closed, or text after one that is.
    Quotes,
    /// A NUL byte in a TSV line.
    NulByte,
    /// No `site` in a record of a site.
    MissingSite,
    /// A `site` that is no name of one.
    InvalidSite,
    /// A record of a web archive whose head or length is wrong.
    Framing,
    /// A record of WAT that does not say what it describes.
    MissingType,
    /// A rank of a host that is no vertex of its graph.
    UnknownHost,
    /// A second rank of a host.
    RankedTwice,
}

impl fmt::Display for RejectReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// Why a record is refused, with a sentence that says so.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The kind.
    pub reason: RejectReason,
    /// What exactly is wrong.
    pub detail: String,
}

impl Fault {
    /// A fault of this kind.
    pub fn new(reason: RejectReason, detail: impl Into<String>) -> Self {
        Self {
            reason,
            detail: detail.into(),
        }
    }

    /// The fault of a record whose page has this URL problem.
    pub(super) fn page_url(problem: &UrlError) -> Self {
        let reason = match problem {
            UrlError::Empty => RejectReason::EmptyUrl,
            UrlError::Relative => RejectReason::RelativeUrl,
            UrlError::Scheme(_) => RejectReason::UrlScheme,
            UrlError::NoHost => RejectReason::UrlWithoutHost,
            UrlError::TooLong(_) => RejectReason::UrlTooLong,
            UrlError::Invalid(_) => RejectReason::InvalidUrl,
        };
        Self::new(reason, problem.to_string())
    }

    pub(super) fn timestamp(problem: TimestampError) -> Self {
        Self::new(
            RejectReason::InvalidTimestamp,
            format!("fetched: {problem}"),
        )
    }
}

/// Where a record stands in its source, by what its format counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Position {
    /// The record's line, from 1, in the decompressed text; blank lines are counted.
    Line(u64),
    /// The record's number among all records, from 1.
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

/// A refused record; serialised, one line of the rejects file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reject {
    /// The input, as the caller named it.
    pub file: String,
    /// Where the record stands there; serialised as `line` or `number`.
    #[serde(flatten)]
    pub at: Position,
    /// The kind of fault.
    pub reason: RejectReason,
    /// What exactly is wrong; its first 200 characters.
    pub detail: String,
    /// The record's first 200 characters; U+FFFD replaces what is not UTF-8.
    pub record: String,
}

/// Writes rejects as JSON Lines.
#[derive(Debug)]
pub struct RejectWriter<W: Write> {
    out: W,
}

impl<W: Write> RejectWriter<W> {
    /// Writes to `out`, which should be buffered.
    pub const fn new(out: W) -> Self {
        Self { out }
    }

    /// Adds one line.
    pub fn write(&mut self, reject: &Reject) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, reject)?;
        self.out.write_all(b"\n")
    }

    /// Flushes, and gives the writer back.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Whether the rejects are few enough: at most `percent` per cent of the records. Records are all
/// lines that are not blank, the rejected ones included.
///
/// Without records there are no rejects, which is within any limit. So is a number at exactly the
/// limit; a relative 1e-12 allows for percentages that have no exact double. With a limit of NaN
/// the result is `false`.
#[must_use]
pub fn within_limit(rejects: u64, records: u64, percent: f64) -> bool {
    rejects == 0 && !percent.is_nan()
        || rejects as f64 * 100.0 <= percent * records as f64 * (1.0 + 1e-12)
}

/// Whether there is no point in reading on: more than [`MAX_LISTED_REJECTS`] records are bad, and more
/// than half of all so far.
pub(super) const fn is_hopeless(rejects: u64, records: u64) -> bool {
    rejects > MAX_LISTED_REJECTS && rejects > records / 2
}

/// The first [`REJECTED_TEXT`] characters of a text. A character has at most four bytes, so one
/// that is cut off at the end is never among those kept.
pub(super) fn beginning(line: &[u8]) -> String {
    let head = line.get(..REJECTED_TEXT * 4).unwrap_or(line);
    String::from_utf8_lossy(head)
        .chars()
        .take(REJECTED_TEXT)
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
            reason: RejectReason::InvalidUtf8,
            detail: "a\nb".to_owned(),
            record: beginning(b"x\xffy"),
        };
        let mut numbered = reject.clone();
        numbered.at = Position::Record(4);
        assert_eq!(serde_json::to_value(&numbered).unwrap()["number"], 4);
        writer.write(&reject).unwrap();
        assert_eq!(
            String::from_utf8(writer.finish().unwrap()).unwrap(),
            "{\"file\":\"a.jsonl\",\"line\":3,\"reason\":\"invalid_utf8\",\"detail\":\"a\\nb\",\"record\":\"x\u{fffd}y\"}\n"
        );
    }

    #[test]
    fn a_beginning_has_two_hundred_whole_characters() {
        assert_eq!(
            beginning("\u{1f980}".repeat(300).as_bytes()),
            "\u{1f980}".repeat(200)
        );
        assert_eq!(beginning("é".repeat(450).as_bytes()), "é".repeat(200));
        assert_eq!(beginning(b"ab"), "ab");
    }
}
