//! JSON Lines: one record per line (`schema/record.schema.json`).
//!
//! A line is parsed in two steps: first its structure, in which the fields stay raw JSON
//! ([`Fields`]), then the fields that matter. So, with `gone: true`, the other fields are truly
//! ignored; a number such as 1e400 gets a reason of its own; and a field or an outlink that cannot be read
//! costs itself and not the record.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::ingest::columns::RECORD_FIELDS;
use crate::ingest::digest::digest_hash;
use crate::ingest::entries::{LineFormat, read_text};
use crate::ingest::fetch::{Outcome, mark_crawled};
use crate::ingest::interner::UrlNumber;
use crate::ingest::location::{BaseUrl, UrlError};
use crate::ingest::number::{integer, quality, ten_thousandths};
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::{
    Attribute, Event, FailedFetches, FetchOrigin, MAX_CLICKS, MAX_UNCRAWLED_OUTLINKS, PageRecord,
    UncrawledOutlinks,
};
use crate::ingest::summary::{DropReason, Fault, RejectReason};

use crate::ingest::timestamp::{Timestamp, parse_timestamp, parse_timestamp_number};
use memchr::{memchr2_iter, memchr3_iter};
use seedbank_algorithms::fetch_status::{FetchStatus, STATUS_EXPECTED};
use seedbank_algorithms::page::PageKind;
use seedbank_algorithms::yields::Yield;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The JSON Lines format.
///
/// Where the format leaves a choice:
///
/// * An unknown field is ignored and counted by name. Null means absent, except in
///   `uncrawled_outlinks`, where it means that the bank counts them, in `quality` and `canonical`, which it
///   removes, and in `kind`, which an earlier record says.
/// * A field that cannot be read, or occurs twice, is absent; it is counted and listed. Without a `url` the record is
///   rejected. Objects within ignored values are not examined.
/// * With `gone: true`, only `url` and the fields of failures and of sums are read, `fetched` to find the latest of
///   several records, and `seed`, `via` and `depth`: the other fields may contain any JSON.
/// * With the `status` of a failed fetch and without `failures`, only `url`, `fetched`, `seed`, `via` and `depth`
///   are read.
/// * A `seed` is a URL, or `true` if the page itself is one, as Browsertrix Crawler writes it; `false` means
///   absent.
/// * An outlink is a string, or an object with a string as `url` or else `href`, whose other fields
///   are ignored. A relative one is resolved against `url`. One that is not a URL is dropped and counted, and so is a
///   string that has several.
/// * A `redirect` or `canonical` is a string like an outlink. One that is not the URL of a page is
///   dropped and counted with the outlinks, and one that is the page itself is ignored.
/// * A redirect and a resource have no outlinks and no canonical URL; they are ignored.
/// * An empty `digest` is a digest like any other. One that is the hash of a digest, as `export`
///   writes it, is used as that hash.
#[derive(Clone, Copy, Debug, Default)]
pub struct JsonLines;

impl LineFormat for JsonLines {
    fn read(&self, line: &str, parser: &mut PieceParser) -> Result<Event<UrlNumber>, Fault> {
        let (fields, fault) = parse_fields(line, &RECORD_FIELDS, parser);
        if let Some(fault) = fault {
            fields.read_page(parser);
            return Err(fault);
        }
        for name in &fields.unknown {
            parser.summary.unknown_fields.count(name);
        }
        let no_url = || Fault::new(RejectReason::MissingUrl, "a record must have a url");
        let address = fields.essential("url", fields.text("url"))?;
        let address = address.ok_or_else(no_url)?;
        let url = parser.page(&address)?;
        fields.check(parser)?;
        let mut record = PageRecord::new(url);
        let status = parser.field("status", fields.status());
        record.failures = fields.failures(status, parser);
        record.sums = fields.sums(parser);
        record.changed = fields.time("changed", parser);
        // With `failures`, the status is theirs.
        let outcome = status.filter(|_| record.failures.is_none());
        let outcome = outcome.map(|status| (Outcome::from_status(status), status));
        let is_gone = parser.field("gone", fields.truth("gone")) == Some(true);
        record.fetched = fields.time("fetched", parser);
        record.origin = fields.origin(url, parser);
        if is_gone || matches!(outcome, Some((Outcome::Gone, _))) {
            record.gone = true;
            return Ok(Event::Record(record));
        }
        if let Some((Outcome::Failed, status)) = outcome {
            let failed = PageRecord::failed(url, status, record.fetched);
            let origin = record.origin;
            return Ok(Event::Record(PageRecord { origin, ..failed }));
        }
        record.spam = parser.field("spam", fields.truth("spam"));
        record.clicks = parser.field("clicks", fields.count("clicks", MAX_CLICKS));
        record.uncrawled_outlinks = parser.field("uncrawled_outlinks", fields.uncrawled_outlinks());
        record.quality = parser.field("quality", fields.attribute("quality", quality));
        let digest = parser.field("digest", fields.text("digest"));
        record.digest = digest.map(|digest| digest_hash(&digest));
        let has_kind = fields.raw("kind").is_some();
        record.kind = fields.kind(parser);
        let mut page = LinkingPage::new(url, &address);
        record.outlinks = fields.outlinks(&mut page, parser);
        let [redirect, canonical] = ["redirect", "canonical"].map(|name| {
            let to = parser.field(name, fields.text(name))?;
            page.alias_target(&to, parser)
        });
        record.redirect = redirect;
        let is_page = record.redirect.is_none() && !record.is_resource();
        if is_page {
            let is_removed = fields.raw_or_null("canonical") == Some("null");
            record.canonical = match canonical {
                Some(to) => Attribute::Given(to),
                None if is_removed => Attribute::Removed,
                None => Attribute::Absent,
            };
        } else {
            record.outlinks = None;
        }
        let is_fetch = outcome.is_some() || has_kind || !record.canonical.is_absent();
        match outcome {
            Some((Outcome::Redirect, status)) if record.redirect.is_none() => {
                record = PageRecord {
                    origin: record.origin,
                    ..PageRecord::failed(url, status, record.fetched)
                };
            }
            _ if is_fetch => mark_crawled(&mut record),
            _ => {}
        }
        Ok(Event::Record(record))
    }

    fn read_page(&self, beginning: &[u8], parser: &mut PieceParser) {
        read_text(beginning, parser, |beginning, parser| {
            parse_fields(beginning, &RECORD_FIELDS, parser)
                .0
                .read_page(parser);
        });
    }
}

/// Fields that only records of pages have.
impl Fields<'_, { RECORD_FIELDS.len() }> {
    /// Reads the URL of a rejected record, whose page exists whatever else is wrong.
    fn read_page(&self, parser: &mut PieceParser) {
        if let Ok(Some(url)) = self.text("url") {
            let _ = parser.page(&url);
        }
    }

    fn uncrawled_outlinks(&self) -> Result<UncrawledOutlinks, Fault> {
        let name = "uncrawled_outlinks";
        if self.raw_or_null(name) == Some("null") {
            return Ok(UncrawledOutlinks::Counted);
        }
        let count = self.count(name, u64::from(MAX_UNCRAWLED_OUTLINKS))?;
        Ok(match count.map(u32::try_from) {
            Some(Ok(count)) => UncrawledOutlinks::Given(count),
            _ => UncrawledOutlinks::Absent,
        })
    }

    /// Returns the result of the last fetch, which is a string or a number.
    fn status(&self) -> Result<Option<FetchStatus>, Fault> {
        let name = "status";
        let status = match self.raw(name) {
            None => return Ok(None),
            Some(raw) if raw.starts_with('"') => {
                let text = self.text(name)?.unwrap_or_default();
                FetchStatus::from_str(&text).ok()
            }
            Some(raw) => integer(raw, name, u64::from(u16::MAX))
                .ok()
                .and_then(|code| u16::try_from(code).ok())
                .and_then(FetchStatus::http),
        };
        status
            .map(Some)
            .ok_or_else(|| wrong_type(name, STATUS_EXPECTED))
    }

    /// Returns the failed fetches that the record counts, whose last one has this status.
    fn failures(
        &self,
        status: Option<FetchStatus>,
        parser: &mut PieceParser,
    ) -> Option<FailedFetches> {
        let name = "failures";
        let count = parser.field(name, self.count(name, u64::from(u32::MAX)))?;
        let count = Some(count).filter(|count| *count > 0)?;
        // A redirect without a target is a failed fetch.
        let is_failure = |status: &_| {
            matches!(
                Outcome::from_status(*status),
                Outcome::Failed | Outcome::Redirect
            )
        };
        let Some(status) = status.filter(is_failure) else {
            let fault = wrong_type(name, "given with the status of a fetch that failed");
            return parser.field(name, Err(fault));
        };
        let [since, last] = ["failing_since", "failed"].map(|name| self.time(name, parser));
        let earlier = self
            .raw("failed_before")
            .map(|raw| times_of(raw, "failed_before"));
        let earlier = parser.field("failed_before", earlier.transpose());
        let half_days = match (earlier, last) {
            (Some(earlier), Some(last)) => earlier
                .into_iter()
                .filter_map(|time| parser.time("failed_before", time))
                .fold(1, |days, time| days | half_day_before(time, last)),
            _ => half_days_of(count, since.zip(last)),
        };
        Some(FailedFetches {
            status,
            half_days,
            last,
        })
    }

    /// Returns what fetches of the page brought so far.
    fn sums(&self, parser: &mut PieceParser) -> Option<Yield> {
        let mut sum = |name: &'static str| {
            let sum = self.raw(name).map(|raw| ten_thousandths(raw, name));
            parser.field(name, sum.transpose())
        };
        let (days, new) = (sum("observed_days"), sum("new_links"));
        (days.is_some() || new.is_some()).then(|| Yield {
            days: days.unwrap_or(0),
            new: new.unwrap_or(0),
        })
    }

    /// Returns how the crawler came to the page.
    fn origin(
        &self,
        page: UrlNumber,
        parser: &mut PieceParser,
    ) -> Option<Box<FetchOrigin<UrlNumber>>> {
        let depth = parser.field("depth", self.count("depth", u64::from(u32::MAX)));
        let seed = match self.raw("seed") {
            None | Some("false") => None,
            Some("true") => Some(page),
            Some(raw) if raw.starts_with('"') => self.page("seed", parser),
            Some(_) => {
                let fault = wrong_type("seed", "a URL, or true for the page itself");
                parser.field("seed", Err(fault))
            }
        };
        let origin = FetchOrigin {
            seed,
            via: self.page("via", parser),
            depth: depth.and_then(|depth| u32::try_from(depth).ok()),
        };
        origin.known()
    }

    /// Returns the page that a field names.
    fn page(&self, name: &'static str, parser: &mut PieceParser) -> Option<UrlNumber> {
        let url = parser.field(name, self.text(name))?;
        let page = parser.other_page(name, &url);
        parser.field(name, page.map(Some))
    }

    /// Returns the kind of the answer; `None` if an earlier record says it.
    fn kind(&self, parser: &mut PieceParser) -> Option<PageKind> {
        let name = "kind";
        match self.raw_or_null(name) {
            None => Some(PageKind::Page),
            Some("null") => None,
            Some(raw) => {
                let kind = serde_json::from_str(raw).map(Some);
                let fault = |_| wrong_type(name, "page, document or resource");
                parser
                    .field(name, kind.map_err(fault))
                    .or(Some(PageKind::Page))
            }
        }
    }

    /// Returns a time, which is a string or a number, in microseconds since 1970.
    fn time(&self, name: &'static str, parser: &mut PieceParser) -> Option<i64> {
        let read = self.raw(name).map(|raw| time(raw, name));
        let time = parser.field(name, read.transpose())?;
        parser.time(name, time)
    }

    fn outlinks(
        &self,
        page: &mut LinkingPage<'_>,
        parser: &mut PieceParser,
    ) -> Option<Vec<UrlNumber>> {
        match self.raw("outlinks")? {
            raw if raw.starts_with('[') => Some(outlinks(raw, page, parser)),
            _ => parser.field("outlinks", Err(wrong_type("outlinks", "a list of URLs"))),
        }
    }
}

// The fields of one JSON object, unparsed.

/// The most fields of an object, which bounds the memory for finding duplicates.
const MAX_FIELDS: usize = 1_024;

/// Parses a line that is an object and keeps its fields `names`. If the line is not valid, returns the fields before the
/// fault.
pub(crate) fn parse_fields<'a, const N: usize>(
    line: &'a str,
    names: &'static [&'static str; N],
    parser: &PieceParser,
) -> (Fields<'a, N>, Option<Fault>) {
    let mut fields = Fields {
        names,
        known: [None; N],
        unknown: BTreeSet::new(),
        seen: 0,
        twice: [false; N],
        is_repaired: parser.is_repaired(),
    };
    let mut json = serde_json::Deserializer::from_str(line);
    let parsed = json
        .deserialize_map(FieldsVisitor(&mut fields))
        .and_then(|()| json.end());
    let fault = parsed.err().map(|error| {
        let is_other_json =
            !line.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(line).is_ok();
        if is_other_json {
            Fault::new(RejectReason::NotAnObject, "a record must be a JSON object")
        } else if error.is_data() {
            Fault::new(RejectReason::InvalidJson, "a record must be a JSON object")
        } else {
            // The position of the reject says which line it is.
            let text = error.to_string();
            let text = text.replace(" at line 1 column ", " at column ");
            Fault::new(RejectReason::InvalidJson, text)
        }
    });
    (fields, fault)
}

/// Like [`parse_fields`], for an object that must be valid.
pub(crate) fn parse_structure<'a, const N: usize>(
    line: &'a str,
    names: &'static [&'static str; N],
    parser: &PieceParser,
) -> Result<Fields<'a, N>, Fault> {
    let (fields, fault) = parse_fields(line, names, parser);
    fault.map_or(Ok(fields), Err)
}

/// The fields of one object, as raw JSON.
pub(in super::super) struct Fields<'a, const N: usize> {
    names: &'static [&'static str; N],
    /// In the order of the names.
    known: [Option<&'a RawValue>; N],
    /// Names of other fields. Sorted, since a summary keeps only the first ones.
    pub(in super::super) unknown: BTreeSet<Cow<'a, str>>,
    seen: usize,
    /// Which of the names occur twice; then the field counts as absent.
    twice: [bool; N],
    /// Whether U+FFFD replaces what is not UTF-8.
    is_repaired: bool,
}

impl<'a, const N: usize> Fields<'a, N> {
    /// Returns a field without which the object is rejected.
    pub(in super::super) fn essential<T>(
        &self,
        name: &str,
        value: Result<T, Fault>,
    ) -> Result<T, Fault> {
        match self.position(name).and_then(|at| self.twice.get(at)) {
            Some(true) => Err(occurs_twice(name)),
            _ => value,
        }
    }

    /// Refuses an object that has too many fields, and drops fields that it has twice.
    pub(in super::super) fn check(&self, parser: &mut PieceParser) -> Result<(), Fault> {
        if self.seen > MAX_FIELDS {
            return Err(Fault::new(
                RejectReason::TooManyFields,
                format!("expected at most {MAX_FIELDS} fields, found {}", self.seen),
            ));
        }
        for (name, _) in self
            .names
            .iter()
            .zip(self.twice)
            .filter(|(_, twice)| *twice)
        {
            parser.field(*name, Err::<(), _>(occurs_twice(name)));
        }
        Ok(())
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| *known == name)
    }

    /// Returns the JSON of a field; `None` if it is absent or null.
    pub(in super::super) fn raw(&self, name: &str) -> Option<&'a str> {
        self.raw_or_null(name).filter(|raw| *raw != "null")
    }

    /// Returns the JSON of a field, which may be null; `None` if it is absent.
    fn raw_or_null(&self, name: &str) -> Option<&'a str> {
        let at = self.position(name)?;
        self.known.get(at).copied().flatten().map(RawValue::get)
    }

    /// Returns a string; `None` if it is absent or null.
    pub(in super::super) fn text(&self, name: &str) -> Result<Option<Cow<'a, str>>, Fault> {
        let Some(raw) = self.raw(name) else {
            return Ok(None);
        };
        match text(raw, name)? {
            text if self.is_repaired && text.contains(char::REPLACEMENT_CHARACTER) => {
                let detail = format!("{name}: not UTF-8");
                Err(Fault::new(RejectReason::InvalidUtf8, detail))
            }
            text => Ok(Some(text)),
        }
    }

    /// Returns a boolean; `None` if it is absent or null.
    fn truth(&self, name: &str) -> Result<Option<bool>, Fault> {
        self.raw(name).map(|raw| truth(raw, name)).transpose()
    }

    /// Returns a whole number up to `max`; `None` if it is absent or null.
    pub(in super::super) fn count(&self, name: &str, max: u64) -> Result<Option<u64>, Fault> {
        self.raw(name)
            .map(|raw| integer(raw, name, max))
            .transpose()
    }

    /// Returns an attribute that null removes.
    pub(in super::super) fn attribute<T>(
        &self,
        name: &str,
        read: impl FnOnce(&str, &str) -> Result<T, Fault>,
    ) -> Result<Attribute<T>, Fault> {
        match self.raw_or_null(name) {
            None => Ok(Attribute::Absent),
            Some("null") => Ok(Attribute::Removed),
            Some(raw) => read(raw, name).map(Attribute::Given),
        }
    }
}

/// Parses a string.
fn text<'a>(raw: &'a str, name: &str) -> Result<Cow<'a, str>, Fault> {
    if !raw.starts_with('"') {
        return Err(wrong_type(name, "a string"));
    }
    decode_string(raw).ok_or_else(|| {
        let detail = format!("{name}: a string with an unpaired surrogate");
        Fault::new(RejectReason::InvalidJson, detail)
    })
}

/// Parses a time.
fn time(raw: &str, name: &str) -> Result<Timestamp, Fault> {
    let time = if raw.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
        parse_timestamp_number(raw)
    } else if raw.starts_with('"') {
        parse_timestamp(&text(raw, name)?)
    } else {
        return Err(wrong_type(name, "a time, as a string or a number"));
    };
    time.map_err(|error| Fault::timestamp(name, error))
}

/// Parses a list of times.
fn times_of(raw: &str, name: &str) -> Result<Vec<Timestamp>, Fault> {
    let all: Vec<&RawValue> =
        serde_json::from_str(raw).map_err(|_| wrong_type(name, "a list of times"))?;
    all.into_iter().map(|of| time(of.get(), name)).collect()
}

/// Returns the bit of the half-day of a time, given the time of the last failed fetch, both in microseconds; 0 if it is too
/// early to count.
fn half_day_before(time: i64, last: i64) -> u64 {
    const HALF_DAY: i64 = 43_200_000_000;
    let before = last.div_euclid(HALF_DAY) - time.div_euclid(HALF_DAY);
    let bit = u32::try_from(before.max(0)).unwrap_or(u32::MAX);
    1_u64.checked_shl(bit).unwrap_or(0)
}

/// Returns the half-days with a failed fetch, given their number, and the times of the first and the last one. Nothing else
/// is known of them, so the latest ones count; those right before the last one if the first one is not known.
fn half_days_of(count: u64, times: Option<(i64, i64)>) -> u64 {
    let first = times.map_or(0, |(since, last)| half_day_before(since, last));
    let is_last = |bit: u32| first == 0 || 1 << bit < first;
    let mut half_days = 1 | first;
    for bit in (1..u64::BITS).take_while(|bit| is_last(*bit)) {
        if u64::from(half_days.count_ones()) < count {
            half_days |= 1 << bit;
        }
    }
    half_days
}

/// Decodes a JSON string; `None` if it has an unpaired surrogate.
pub(super) fn decode_string(raw: &str) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str(raw).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}

/// Parses a boolean.
pub(crate) fn truth(raw: &str, name: &str) -> Result<bool, Fault> {
    match raw {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(wrong_type(name, "true or false")),
    }
}

pub(super) fn wrong_type(name: &str, expected: &str) -> Fault {
    Fault::new(
        RejectReason::WrongType,
        format!("{name}: must be {expected}"),
    )
}

fn occurs_twice(name: &str) -> Fault {
    Fault::new(RejectReason::DuplicateField, format!("{name} occurs twice"))
}

struct FieldsVisitor<'f, 'a, const N: usize>(&'f mut Fields<'a, N>);

impl<'de, const N: usize> Visitor<'de> for FieldsVisitor<'_, 'de, N> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let fields = self.0;
        while let Some(Name(name)) = map.next_key()? {
            fields.seen += 1;
            if fields.seen > MAX_FIELDS {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let place = fields.position(&name);
            let Some((slot, twice)) =
                place.and_then(|at| Some((fields.known.get_mut(at)?, fields.twice.get_mut(at)?)))
            else {
                map.next_value::<IgnoredAny>()?;
                fields.unknown.insert(name);
                continue;
            };
            let value = map.next_value()?;
            *twice |= slot.replace(value).is_some();
        }
        // Which of the values is meant is not known.
        for (value, twice) in fields.known.iter_mut().zip(fields.twice) {
            *value = value.filter(|_| !twice);
        }
        Ok(())
    }
}

/// A field name, borrowed if it has no escapes.
#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

// The list of outlinks of a JSON record.
//
// An element is a URL as a string, or an object with the URL as `url` or `href`, as written by
// extractors that keep the text of a link with it. The list is never held: each URL becomes a
// number, or is dropped and counted, as it is read.

/// Returns the links of a list, ascending and without duplicates; counts what is dropped. The text
/// must be valid JSON.
fn outlinks(raw: &str, page: &mut LinkingPage<'_>, parser: &mut PieceParser) -> Vec<UrlNumber> {
    let mut list = Outlinks { page, parser };
    let targets = match list.simple(raw) {
        Some(targets) => targets,
        None => list.parsed(raw),
    };
    parser.outlinks(targets)
}

struct Outlinks<'a, 'p> {
    page: &'a mut LinkingPage<'p>,
    parser: &'a mut PieceParser,
}

impl Outlinks<'_, '_> {
    /// Reads a list of strings without escapes, in which only quotes have to be found; `None` for
    /// any other list.
    fn simple(&mut self, raw: &str) -> Option<Vec<UrlNumber>> {
        // Counted separately, since the list may turn out to be another one.
        let before = std::mem::take(&mut self.parser.summary);
        let bad_fields = self.parser.bad_fields();
        let targets = self.strings(raw);
        let counted = std::mem::replace(&mut self.parser.summary, before);
        if targets.is_some() {
            self.parser.summary.merge(&counted);
        } else {
            self.parser.drop_bad_fields(bad_fields);
            self.page.has_several = false;
        }
        targets
    }

    /// Does what [`simple`](Self::simple) does, except that `None` leaves counts of the links before.
    fn strings(&mut self, raw: &str) -> Option<Vec<UrlNumber>> {
        let is = |between: &str, expected: &str| {
            between == expected || between.trim_matches([' ', '\t', '\n', '\r']) == expected
        };
        let mut targets = Vec::new();
        // Text between strings and text within strings alternate.
        let (mut from, mut within, mut expected) = (0, false, "[");
        for at in memchr2_iter(b'"', b'\\', raw.as_bytes()) {
            let text = raw.get(from..at)?;
            if raw.as_bytes()[at] == b'\\' || !within && !is(text, expected) {
                return None;
            }
            if within {
                targets.extend(self.page.text_target(text, self.parser));
                expected = ",";
            }
            (from, within) = (at + 1, !within);
        }
        let end = if expected == "[" { "[]" } else { "]" };
        is(raw.get(from..)?, end).then_some(targets)
    }

    /// Reads any list.
    fn parsed(&mut self, raw: &str) -> Vec<UrlNumber> {
        let list = serde_json::Deserializer::from_str(raw).deserialize_seq(self);
        // The list is valid JSON, and its elements cost only themselves.
        list.unwrap_or_default()
    }
}

impl<'de> Visitor<'de> for &mut Outlinks<'_, '_> {
    type Value = Vec<UrlNumber>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of links")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut targets = Vec::new();
        while let Some(raw) = list.next_element::<&RawValue>()? {
            let raw = raw.get();
            let (page, parser) = (&mut *self.page, &mut *self.parser);
            let link = match raw.as_bytes().first() {
                Some(b'"') => Ok((decode_string(raw), true)),
                Some(b'{') => match LinkObject::parse(raw) {
                    Some(url) => Ok((decode_string(url), false)),
                    None => Err(DropReason::WrongType),
                },
                _ => Err(DropReason::WrongType),
            };
            let target = match &link {
                Ok((Some(text), true)) => page.text_target(text, parser),
                Ok((Some(text), false)) => page.target(text, parser),
                Ok((None, _)) | Err(_) => {
                    parser
                        .summary
                        .dropped(link.err().unwrap_or(DropReason::Invalid));
                    None
                }
            };
            targets.extend(target);
        }
        Ok(targets)
    }
}

/// A page whose links are read. Relative links are resolved against its URL.
pub(super) struct LinkingPage<'a> {
    page: UrlNumber,
    url: &'a str,
    /// Parsed with the first relative link.
    base: Option<BaseUrl>,
    /// Whether a link was several URLs.
    has_several: bool,
}

impl<'a> LinkingPage<'a> {
    pub(super) const fn new(page: UrlNumber, url: &'a str) -> Self {
        Self {
            page,
            url,
            base: None,
            has_several: false,
        }
    }

    /// Returns the target of a link that may also be several URLs with separators between them.
    fn text_target(&mut self, link: &str, parser: &mut PieceParser) -> Option<UrlNumber> {
        if has_several_urls(link) {
            // Once for each record, which bounds the memory.
            if !self.has_several {
                let detail = "outlinks: expected one URL, found several in one text; give them as a list, or say what separates them in a column";
                let fault = Fault::new(RejectReason::SeveralUrls, detail);
                parser.field("outlinks", Err::<(), _>(fault));
            }
            self.has_several = true;
            parser.summary.dropped(DropReason::SeveralUrls);
            return None;
        }
        self.target(link, parser)
    }

    /// Returns the target of a link; `None` if it is the page itself or not a URL, which is counted.
    pub(super) fn target(&mut self, link: &str, parser: &mut PieceParser) -> Option<UrlNumber> {
        let page = self.page;
        match self.resolve(link, parser) {
            Ok(url) => parser.target(page, &url),
            Err(problem) => {
                parser.summary.dropped(DropReason::from(&problem));
                None
            }
        }
    }

    /// Returns the target of a redirect or canonical link.
    fn alias_target(&mut self, link: &str, parser: &mut PieceParser) -> Option<UrlNumber> {
        let page = self.page;
        match self.resolve(link, parser) {
            Ok(url) => parser.alias_target(page, &url),
            Err(problem) => {
                parser.summary.dropped(DropReason::from(&problem));
                None
            }
        }
    }

    /// Returns the absolute URL of a link.
    fn resolve<'l>(
        &'l mut self,
        link: &'l str,
        parser: &PieceParser,
    ) -> Result<Cow<'l, str>, UrlError> {
        let is_absolute = link.starts_with("http://") || link.starts_with("https://");
        if is_absolute || link.trim_matches(|c: char| c <= ' ').is_empty() {
            return Ok(Cow::Borrowed(link));
        }
        parser.check_utf_8(link)?;
        if self.base.is_none() {
            self.base = BaseUrl::new(self.url, None);
        }
        match &mut self.base {
            Some(base) => base.resolve(link),
            None => Ok(Cow::Borrowed(link)),
        }
    }
}

/// Returns whether a text has several URLs, with a separator that a URL may contain too. In a query or a fragment, which
/// can be any text, they are part of one URL.
pub(in super::super) fn has_several_urls(text: &str) -> bool {
    // Almost no URL has a separator.
    memchr3_iter(b',', b';', b'|', text.as_bytes()).any(|at| {
        let (before, after) = text.split_at_checked(at + 1).unwrap_or_default();
        let next = after.trim_start();
        let is_url = next.starts_with("http://") || next.starts_with("https://");
        is_url && !before.contains(['?', '#'])
    })
}

/// The `url` and `href` of a link that is an object.
#[derive(Default)]
struct LinkObject<'a> {
    url: Option<&'a RawValue>,
    href: Option<&'a RawValue>,
}

impl<'a> LinkObject<'a> {
    /// Returns the JSON string of `url` or else of `href`; `None` if neither is one. Null means absent.
    fn parse(element: &'a str) -> Option<&'a str> {
        let parsed = serde_json::Deserializer::from_str(element).deserialize_map(LinkVisitor);
        let object = parsed.ok()?;
        let given = [object.url, object.href].into_iter().flatten();
        let text = given.map(RawValue::get).find(|raw| *raw != "null");
        text.filter(|raw| raw.starts_with('"'))
    }
}

struct LinkVisitor;

impl<'de> Visitor<'de> for LinkVisitor {
    type Value = LinkObject<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a url")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut object = LinkObject::default();
        // Raw, since ignored names may contain unpaired surrogates.
        while let Some(name) = map.next_key::<&RawValue>()? {
            let slot = match decode_string(name.get()).as_deref() {
                Some("url") => &mut object.url,
                Some("href") => &mut object.href,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if slot.replace(map.next_value()?).is_some() {
                return Err(serde::de::Error::custom("a field that occurs twice"));
            }
        }
        Ok(object)
    }
}

#[cfg(test)]
#[path = "json_lines_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "json_lines_outlinks_tests.rs"]
mod outlinks_tests;
