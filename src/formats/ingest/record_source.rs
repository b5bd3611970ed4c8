//! Records that a caller hands over, without a file.
//!
//! A record becomes the line of JSON Lines that a file would have, and is read as one: what holds
//! for records from files holds for these, whatever rules come to be added.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde_json::{Number, Value};

use super::blocks::lines;
use super::formats::json_lines::JsonLines;
use super::lines::{read_any, read_line};
use super::piece_parser::PieceParser;
use super::progress::Progress;
use super::reject::Position;
use super::source::{PIECE_RECORDS, PIECE_SIZE, Piece, Pieces, Source, Stop};

/// A record with URLs as texts, as a crawler has it.
///
/// What is not said of the page stays as it was. Nothing is checked here: a record that makes no
/// sense is refused and listed when it is read, as one in a file.
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
    outlinks: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spam: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clicks: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uncrawled_outlinks: Option<Uncrawled>,
    /// A number, null, or what is no number and is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    quality: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fetched: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    redirect: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    canonical: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    gone: bool,
}

/// What a record says of uncrawled outlinks; as JSON a number or null.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(untagged)]
enum Uncrawled {
    /// So many there are.
    Given(u64),
    /// The bank is to count them.
    Counted,
}

impl Record {
    /// A record that names a page and says nothing of it.
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
            redirect: None,
            canonical: None,
            gone: false,
        }
    }

    /// The page's links, which replace those that the bank has; texts that are no URLs of pages are
    /// left out and counted.
    #[must_use]
    pub fn outlinks<T: Into<String>>(mut self, urls: impl IntoIterator<Item = T>) -> Self {
        self.outlinks = Some(urls.into_iter().map(Into::into).collect());
        self
    }

    /// Whether the page is spam.
    #[must_use]
    pub const fn spam(mut self, spam: bool) -> Self {
        self.spam = Some(spam);
        self
    }

    /// The page's clicks, at most [`MAX_CLICKS`](super::MAX_CLICKS).
    #[must_use]
    pub const fn clicks(mut self, clicks: u64) -> Self {
        self.clicks = Some(clicks);
        self
    }

    /// How many outlinks of the page were not crawled, at most
    /// [`MAX_UNCRAWLED_OUTLINKS`](super::MAX_UNCRAWLED_OUTLINKS); from now on the bank does not
    /// count them.
    #[must_use]
    pub const fn uncrawled_outlinks(mut self, count: u64) -> Self {
        self.uncrawled_outlinks = Some(Uncrawled::Given(count));
        self
    }

    /// From now on the bank counts itself how many outlinks of the page were not crawled.
    #[must_use]
    pub const fn count_uncrawled_outlinks(mut self) -> Self {
        self.uncrawled_outlinks = Some(Uncrawled::Counted);
        self
    }

    /// How good the page is, from 0 to 1, in steps of 1/10,000 to the nearest of which it is
    /// rounded: what a classifier says of it, a match of languages, a probability of spam turned
    /// round. It beats that of the page's site.
    #[must_use]
    pub fn quality(mut self, quality: f64) -> Self {
        // What JSON has no number for is refused as a text.
        let number = Number::from_f64(quality).map(Value::Number);
        self.quality = Some(number.unwrap_or_else(|| Value::String(quality.to_string())));
        self
    }

    /// From now on the page has no quality of its own.
    #[must_use]
    pub fn no_quality(mut self) -> Self {
        self.quality = Some(Value::Null);
        self
    }

    /// A text that is the same for pages of the same content, such as a hash.
    #[must_use]
    pub fn digest(mut self, digest: impl Into<String>) -> Self {
        self.digest = Some(digest.into());
        self
    }

    /// When the page was fetched, in any form that
    /// [`parse_timestamp`](super::parse_timestamp) takes.
    #[must_use]
    pub fn fetched(mut self, time: impl Into<String>) -> Self {
        self.fetched = Some(time.into());
        self
    }

    /// When the page was fetched, by a clock; a time before 1970 counts as its beginning.
    #[must_use]
    pub fn fetched_at(self, time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let day = crate::clock::time(since.as_secs());
        let seconds = day.trim_end_matches('Z');
        self.fetched(format!("{seconds}.{:06}Z", since.subsec_micros()))
    }

    /// The page that fetching this one led to. Where that is another page, this one is an alias.
    #[must_use]
    pub fn redirect(mut self, url: impl Into<String>) -> Self {
        self.redirect = Some(url.into());
        self
    }

    /// The page that this one names as canonical; it counts where there is no redirect.
    #[must_use]
    pub fn canonical(mut self, url: impl Into<String>) -> Self {
        self.canonical = Some(url.into());
        self
    }

    /// The page is gone; all else that the record says is ignored, but its fetch time tells which
    /// of several records is the latest.
    #[must_use]
    pub const fn gone(mut self) -> Self {
        self.gone = true;
        self
    }

    /// The record as a line of JSON Lines, without the line's end.
    #[must_use]
    pub fn to_json(&self) -> String {
        // A record has nothing that cannot be written; an empty line would be no record.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Some records, as lines.
#[derive(Default)]
pub struct RecordChunk {
    text: Vec<u8>,
    records: usize,
}

impl RecordChunk {
    /// Adds a record; `true` once there are enough for a piece.
    pub fn add(&mut self, record: &Record) -> bool {
        self.text.extend_from_slice(record.to_json().as_bytes());
        self.text.push(b'\n');
        self.records += 1;
        self.text.len() >= PIECE_SIZE || self.records >= PIECE_RECORDS
    }

    /// Whether there is no record yet.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// The piece of these records, the first of which has this number.
    fn piece<'a>(self, first: u64, length: Length) -> Piece<'a> {
        Piece {
            bytes: self.text.len() as u64,
            records: self.records,
            memory: self.text.len(),
            read: Box::new(move |parser| read(&self.text, (first, length), parser)),
        }
    }
}

/// How long the line of a record may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Length {
    /// As long as that of a file.
    OfLine,
    /// As long as it is: a page of the bank may have more links than a line has room for.
    Any,
}

fn read(text: &[u8], (first, length): (u64, Length), parser: &mut PieceParser) {
    for (line, number) in lines(text).zip(first..) {
        let said = match length {
            Length::OfLine => read_line(&JsonLines, line, parser),
            Length::Any => read_any(&JsonLines, line, parser),
        };
        parser.add(Position::Record(number), said, line);
    }
}

/// A source of records that come in portions, in order.
pub struct RecordSource<I> {
    name: String,
    portions: I,
    length: Length,
}

impl<I: Iterator<Item = Result<RecordChunk, Stop>> + Send> RecordSource<I> {
    /// A source of this name.
    pub const fn new(name: String, portions: I) -> Self {
        Self {
            name,
            portions,
            length: Length::OfLine,
        }
    }

    /// A source of what the bank itself says of its pages.
    pub const fn of_bank(name: String, portions: I) -> Self {
        Self {
            name,
            portions,
            length: Length::Any,
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
        let length = self.length;
        let pieces = self.portions.by_ref().map(move |portion| {
            progress.proceed()?;
            let portion = portion?;
            let first = next;
            next += portion.records as u64;
            Ok(portion.piece(first, length))
        });
        Ok(Box::new(pieces))
    }
}

/// Records cut into portions.
pub struct RecordChunks<I>(pub I);

impl<I: Iterator<Item = Record>> Iterator for RecordChunks<I> {
    type Item = Result<RecordChunk, Stop>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut portion = RecordChunk::default();
        for record in self.0.by_ref() {
            if portion.add(&record) {
                break;
            }
        }
        (!portion.is_empty()).then_some(Ok(portion))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::ingest::parse_timestamp;

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
        let before = Record::new("u").fetched_at(UNIX_EPOCH - Duration::from_secs(1));
        assert_eq!(before, Record::new("u").fetched_at(UNIX_EPOCH));
    }

    #[test]
    fn portions_are_bounded() {
        let short = std::iter::repeat_n(Record::new("u"), 2 * PIECE_RECORDS + 1);
        let portions: Vec<_> = RecordChunks(short).map(|p| p.map(|p| p.records)).collect();
        let counts: Vec<_> = portions.into_iter().filter_map(Result::ok).collect();
        assert_eq!(counts, [PIECE_RECORDS, PIECE_RECORDS, 1]);
        let long = std::iter::repeat_n(Record::new("u".repeat(PIECE_SIZE)), 3);
        assert_eq!(RecordChunks(long).count(), 3);
        assert_eq!(RecordChunks(std::iter::empty()).count(), 0);
    }
}
