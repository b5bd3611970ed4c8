//! JSON Lines: one record per line (`schema/record.schema.json`).
//!
//! A line is parsed in two steps: first its structure, in which the fields stay raw JSON
//! ([`Fields`]), then the fields that matter. So, with `gone: true`, the other fields are truly
//! ignored; a number such as 1e400 gets a reason of its own; and an outlink that cannot be decoded
//! (an unpaired surrogate) costs the outlink and not the record.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::ingest::digest::digest_hash;
use crate::ingest::entries::LineFormat;
use crate::ingest::fetch::{Outcome, mark_crawled};
use crate::ingest::interner::UrlNumber;
use crate::ingest::number::{integer, quality, ten_thousandths};
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::{
    Attribute, Event, FailedFetches, FetchOrigin, MAX_CLICKS, MAX_UNCRAWLED_OUTLINKS, PageRecord,
    UncrawledOutlinks,
};
use crate::ingest::summary::{DropReason, Fault, RejectReason};

use crate::ingest::timestamp::{Timestamp, parse_timestamp, parse_timestamp_number};
use memchr::memchr2_iter;
use seedbank_algorithms::fetch_status::{FetchStatus, STATUS_EXPECTED};
use seedbank_algorithms::page::AliasBy;
use seedbank_algorithms::yields::Yield;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The names of the fields of a record.
pub const RECORD_FIELDS: [&str; 20] = [
    "url",
    "outlinks",
    "spam",
    "clicks",
    "uncrawled_outlinks",
    "quality",
    "digest",
    "fetched",
    "redirect",
    "canonical",
    "gone",
    "status",
    "failures",
    "failing_since",
    "failed",
    "observed_days",
    "new_links",
    "seed",
    "via",
    "depth",
];

/// The JSON Lines format.
///
/// Where the format leaves a choice:
///
/// * An unknown field is ignored and counted by name. Null means absent, except in
///   `uncrawled_outlinks`, where it means that the bank counts them, and in `quality`, which it
///   removes.
/// * A field that occurs twice, known or not, rejects the record; objects within ignored values are
///   not examined.
/// * With `gone: true`, only `url` and the fields of failures and of sums are read, `fetched` if it is a time, to
///   find the latest of several records, and `seed`, `via` and `depth` if all are valid: the other fields may
///   contain any JSON.
/// * With the `status` of a failed fetch and without `failures`, only `url`, `fetched`, `seed`, `via` and `depth`
///   are read.
/// * A `seed` is a URL, or `true` if the page itself is one, as Browsertrix Crawler writes it; `false` means
///   absent.
/// * An outlink is a string, or an object with a string as `url` or else `href`, whose other fields
///   are ignored. One that is not a URL is dropped and counted; any other element rejects the
///   record.
/// * A `redirect` or `canonical` is a string like `url`. One that is not the URL of a page is
///   dropped and counted with the outlinks, and one that is the page itself is ignored.
/// * An empty `digest` is a digest like any other. One that is the hash of a digest, as `export`
///   writes it, is used as that hash.
#[derive(Clone, Copy, Debug, Default)]
pub struct JsonLines;

impl LineFormat for JsonLines {
    fn read(&self, line: &str, parser: &mut PieceParser) -> Result<Event<UrlNumber>, Fault> {
        let fields = parse_structure(line, &RECORD_FIELDS)?;
        for name in &fields.unknown {
            parser.summary.unknown_fields.count(name);
        }
        fields.check()?;
        let url = fields
            .text("url")?
            .ok_or_else(|| Fault::new(RejectReason::MissingUrl, "a record must have a url"))?;
        let url = parser.page(&url)?;
        let mut record = PageRecord::new(url);
        let status = fields.status()?;
        record.failures = fields.failures(status, parser)?;
        record.sums = fields.sums()?;
        // With `failures`, the status is theirs.
        let outcome = status.filter(|_| record.failures.is_none());
        let outcome = outcome.map(|status| (Outcome::from_status(status), status));
        if fields.truth("gone")? == Some(true) || matches!(outcome, Some((Outcome::Gone, _))) {
            record.gone = true;
            // The time only decides which of several records is the latest: it cannot reject this one.
            let fetched = fields.fetched().ok().flatten();
            record.fetched = fetched.map(|time| parser.time(time));
            record.origin = fields.origin(url, parser).ok().flatten();
            return Ok(Event::Record(record));
        }
        let origin = fields.origin(url, parser)?;
        if let Some((Outcome::Failed, status)) = outcome {
            let fetched = fields.fetched()?.map(|time| parser.time(time));
            let failed = PageRecord::failed(url, status, fetched);
            return Ok(Event::Record(PageRecord { origin, ..failed }));
        }
        record.spam = fields.truth("spam")?;
        record.clicks = fields.count("clicks", MAX_CLICKS)?;
        record.uncrawled_outlinks = fields.uncrawled_outlinks()?;
        record.quality = fields.attribute("quality", quality)?;
        record.digest = fields.text("digest")?.map(|digest| digest_hash(&digest));
        let fetched = fields.fetched()?;
        let aliases = [
            (fields.text("redirect")?, AliasBy::Redirect),
            (fields.text("canonical")?, AliasBy::Canonical),
        ];
        // Last, so that nothing is counted for a record that is rejected.
        record.outlinks = fields.outlinks(url, parser)?;
        for (to, by) in aliases {
            let to = to.and_then(|to| parser.alias_target(url, &to));
            if record.alias.is_none() {
                record.alias = to.map(|to| (to, by));
            }
        }
        if record.alias.is_some() {
            record.outlinks = None;
        }
        record.fetched = fetched.map(|time| parser.time(time));
        match outcome {
            Some((Outcome::Redirect, status)) if record.alias.is_none() => {
                record = PageRecord::failed(url, status, record.fetched);
            }
            Some(_) => mark_crawled(&mut record),
            None => {}
        }
        record.origin = origin;
        Ok(Event::Record(record))
    }
}

/// Fields that only records of pages have.
impl Fields<'_, { RECORD_FIELDS.len() }> {
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
    ) -> Result<Option<FailedFetches>, Fault> {
        let Some(count) = self.count("failures", u64::from(u32::MAX))? else {
            return Ok(None);
        };
        let times = [self.time("failing_since")?, self.time("failed")?];
        let Some(count) = u32::try_from(count).ok().filter(|count| *count > 0) else {
            return Ok(None);
        };
        // A redirect without a target is a failed fetch.
        let is_failure = |status: &_| {
            matches!(
                Outcome::from_status(*status),
                Outcome::Failed | Outcome::Redirect
            )
        };
        let status = status.filter(is_failure);
        let status = status.ok_or_else(|| {
            wrong_type("failures", "given with the status of a fetch that failed")
        })?;
        let [since, last] = times.map(|time| time.map(|time| parser.time(time)));
        Ok(Some(FailedFetches {
            status,
            count,
            since,
            last,
        }))
    }

    /// Returns what fetches of the page brought so far.
    fn sums(&self) -> Result<Option<Yield>, Fault> {
        let sum = |name: &'static str| {
            let raw = self.raw(name);
            raw.map(|raw| ten_thousandths(raw, name)).transpose()
        };
        let (days, new) = (sum("observed_days")?, sum("new_links")?);
        Ok((days.is_some() || new.is_some()).then(|| Yield {
            days: days.unwrap_or(0),
            new: new.unwrap_or(0),
        }))
    }

    /// Returns how the crawler came to the page.
    fn origin(
        &self,
        page: UrlNumber,
        parser: &mut PieceParser,
    ) -> Result<Option<Box<FetchOrigin<UrlNumber>>>, Fault> {
        let depth = self.count("depth", u64::from(u32::MAX))?;
        let seed = match self.raw("seed") {
            None | Some("false") => None,
            Some("true") => Some(page),
            Some(raw) if raw.starts_with('"') => self.page("seed", parser)?,
            Some(_) => return Err(wrong_type("seed", "a URL, or true for the page itself")),
        };
        let origin = FetchOrigin {
            seed,
            via: self.page("via", parser)?,
            depth: depth.and_then(|depth| u32::try_from(depth).ok()),
        };
        Ok(origin.known())
    }

    /// Returns the page that a field names.
    fn page(
        &self,
        name: &'static str,
        parser: &mut PieceParser,
    ) -> Result<Option<UrlNumber>, Fault> {
        let url = self.text(name)?;
        url.map(|url| parser.other_page(name, &url)).transpose()
    }

    /// Returns the time of the fetch.
    fn fetched(&self) -> Result<Option<Timestamp>, Fault> {
        self.time("fetched")
    }

    /// Returns a time, which is a string or a number.
    fn time(&self, name: &'static str) -> Result<Option<Timestamp>, Fault> {
        let time = match self.raw(name) {
            None => return Ok(None),
            Some(raw) if raw.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
                parse_timestamp_number(raw)
            }
            Some(raw) if raw.starts_with('"') => match self.text(name)? {
                Some(text) => parse_timestamp(&text),
                None => return Ok(None),
            },
            Some(_) => return Err(wrong_type(name, "a time, as a string or a number")),
        };
        time.map(Some)
            .map_err(|error| Fault::timestamp(name, error))
    }

    fn outlinks(
        &self,
        page: UrlNumber,
        parser: &mut PieceParser,
    ) -> Result<Option<Vec<UrlNumber>>, Fault> {
        match self.raw("outlinks") {
            None => Ok(None),
            Some(raw) if raw.starts_with('[') => outlinks(raw, page, parser).map(Some),
            Some(_) => Err(wrong_type("outlinks", "a list of URLs")),
        }
    }
}

// The fields of one JSON object, unparsed.

/// The most fields of an object, which bounds the memory for finding duplicates.
const MAX_FIELDS: usize = 1_024;

/// Parses the structure of a line that is an object, of which the fields `names` are kept.
pub(crate) fn parse_structure<'a, const N: usize>(
    line: &'a str,
    names: &'static [&'static str; N],
) -> Result<Fields<'a, N>, Fault> {
    let mut json = serde_json::Deserializer::from_str(line);
    let parsed = json
        .deserialize_map(FieldsVisitor { names })
        .and_then(|fields| json.end().map(|()| fields));
    parsed.map_err(|error| {
        let is_other_json =
            !line.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(line).is_ok();
        if is_other_json {
            Fault::new(RejectReason::NotAnObject, "a record must be a JSON object")
        } else {
            // The position of the reject says which line it is.
            let text = if error.is_data() {
                "a record must be a JSON object".to_owned()
            } else {
                error
                    .to_string()
                    .replace(" at line 1 column ", " at column ")
            };
            Fault::new(RejectReason::InvalidJson, text)
        }
    })
}

/// The fields of one object, as raw JSON.
pub(in super::super) struct Fields<'a, const N: usize> {
    names: &'static [&'static str; N],
    /// In the order of the names.
    known: [Option<&'a RawValue>; N],
    /// Names of other fields. Sorted, since a summary keeps only the first ones.
    pub(in super::super) unknown: BTreeSet<Cow<'a, str>>,
    seen: usize,
    duplicate: Option<String>,
}

impl<'a, const N: usize> Fields<'a, N> {
    /// Refuses an object that has too many fields, or a field twice.
    pub(in super::super) fn check(&self) -> Result<(), Fault> {
        if self.seen > MAX_FIELDS {
            return Err(Fault::new(
                RejectReason::TooManyFields,
                format!("expected at most {MAX_FIELDS} fields, found {}", self.seen),
            ));
        }
        match &self.duplicate {
            Some(name) => Err(Fault::new(
                RejectReason::DuplicateField,
                format!("{name} occurs twice"),
            )),
            None => Ok(()),
        }
    }

    /// Returns the JSON of a field; `None` if it is absent or null.
    pub(in super::super) fn raw(&self, name: &str) -> Option<&'a str> {
        self.raw_or_null(name).filter(|raw| *raw != "null")
    }

    /// Returns the JSON of a field, which may be null; `None` if it is absent.
    fn raw_or_null(&self, name: &str) -> Option<&'a str> {
        let at = self.names.iter().position(|known| *known == name)?;
        self.known.get(at).copied().flatten().map(RawValue::get)
    }

    /// Returns a string; `None` if it is absent or null.
    pub(in super::super) fn text(&self, name: &str) -> Result<Option<Cow<'a, str>>, Fault> {
        match self.raw(name) {
            None => Ok(None),
            Some(raw) if raw.starts_with('"') => match decode_string(raw) {
                Some(text) => Ok(Some(text)),
                None => Err(Fault::new(
                    RejectReason::InvalidJson,
                    format!("{name}: a string with an unpaired surrogate"),
                )),
            },
            Some(_) => Err(wrong_type(name, "a string")),
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

struct FieldsVisitor<const N: usize> {
    names: &'static [&'static str; N],
}

impl<'de, const N: usize> Visitor<'de> for FieldsVisitor<N> {
    type Value = Fields<'de, N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Fields {
            names: self.names,
            known: [None; N],
            unknown: BTreeSet::new(),
            seen: 0,
            duplicate: None,
        };
        while let Some(Name(name)) = map.next_key()? {
            fields.seen += 1;
            if fields.seen > MAX_FIELDS {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let place = self.names.iter().position(|known| *known == name);
            let slot = place.and_then(|at| fields.known.get_mut(at));
            let fresh = if let Some(slot) = slot {
                slot.replace(map.next_value()?).is_none()
            } else {
                map.next_value::<IgnoredAny>()?;
                fields.unknown.insert(name.clone())
            };
            if !fresh && fields.duplicate.is_none() {
                fields.duplicate = Some(name.into_owned());
            }
        }
        Ok(fields)
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

const EXPECTED: &str = "expected a URL as a string, or an object with the URL as its url or href";

/// Returns the links of a list, ascending and without duplicates; counts what is dropped. The text
/// must be valid JSON.
///
/// A fault rejects the record, and nothing of it is counted.
fn outlinks(raw: &str, page: UrlNumber, parser: &mut PieceParser) -> Result<Vec<UrlNumber>, Fault> {
    let mut list = Outlinks {
        page,
        parser,
        read: 0,
        fault: None,
    };
    let targets = match list.simple(raw) {
        Some(targets) => targets,
        None => list.parsed(raw)?,
    };
    Ok(parser.outlinks(targets))
}

struct Outlinks<'a> {
    page: UrlNumber,
    parser: &'a mut PieceParser,
    /// Number of elements that were parsed.
    read: usize,
    /// What was wrong with the last of them.
    fault: Option<Fault>,
}

impl Outlinks<'_> {
    /// Reads a list of strings without escapes, in which only quotes have to be found; `None` for
    /// any other list.
    fn simple(&mut self, raw: &str) -> Option<Vec<UrlNumber>> {
        // Counted separately, since the list may turn out to be another one.
        let before = std::mem::take(&mut self.parser.summary);
        let targets = self.strings(raw);
        let counted = std::mem::replace(&mut self.parser.summary, before);
        if targets.is_some() {
            self.parser.summary.merge(&counted);
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
                targets.extend(self.parser.target(self.page, text));
                expected = ",";
            }
            (from, within) = (at + 1, !within);
        }
        let end = if expected == "[" { "[]" } else { "]" };
        is(raw.get(from..)?, end).then_some(targets)
    }

    /// Reads any list.
    fn parsed(&mut self, raw: &str) -> Result<Vec<UrlNumber>, Fault> {
        // Counted separately, since a later element may reject the record. URLs that were already
        // numbered do no harm: a number has no effect until an event refers to it.
        let before = std::mem::take(&mut self.parser.summary);
        let targets = self.deserialize(&mut serde_json::Deserializer::from_str(raw));
        let counted = std::mem::replace(&mut self.parser.summary, before);
        let targets = targets.map_err(|error| {
            let fault = self.fault.take();
            fault.unwrap_or_else(|| Fault::new(RejectReason::InvalidJson, error.to_string()))
        })?;
        self.parser.summary.merge(&counted);
        Ok(targets)
    }
}

impl<'de> DeserializeSeed<'de> for &mut Outlinks<'_> {
    type Value = Vec<UrlNumber>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for &mut Outlinks<'_> {
    type Value = Vec<UrlNumber>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of links")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut targets = Vec::new();
        while let Some(raw) = list.next_element::<&RawValue>()? {
            self.read += 1;
            match url_of(raw.get(), self.read) {
                Ok(Some(text)) => targets.extend(self.parser.target(self.page, &text)),
                Ok(None) => self.parser.summary.dropped(DropReason::Invalid),
                Err(fault) => {
                    self.fault = Some(fault);
                    return Err(serde::de::Error::custom("an element is not a link"));
                }
            }
        }
        Ok(targets)
    }
}

/// Returns the URL of an element; `None` if it has an unpaired surrogate.
fn url_of(element: &str, number: usize) -> Result<Option<Cow<'_, str>>, Fault> {
    let found = match element.as_bytes().first() {
        Some(b'"') => return Ok(decode_string(element)),
        Some(b'{') => {
            let object = LinkObject::parse(element, number)?;
            match object.text() {
                Some(raw) if raw.starts_with('"') => return Ok(decode_string(raw)),
                Some(_) => "an object whose url or href is not a string",
                None => "an object without url and href",
            }
        }
        Some(b'[') => "a list",
        Some(b'n') => "null",
        Some(b't' | b'f') => "true or false",
        _ => "a number",
    };
    Err(Fault::new(
        RejectReason::WrongType,
        format!("outlinks: element {number} is {found}; {EXPECTED}"),
    ))
}

/// The fields of an object that stands for a link.
#[derive(Default)]
struct LinkObject<'a> {
    url: Option<&'a RawValue>,
    href: Option<&'a RawValue>,
    /// The field that occurs twice.
    twice: Option<&'static str>,
}

impl<'a> LinkObject<'a> {
    fn parse(element: &'a str, number: usize) -> Result<Self, Fault> {
        let parsed = serde_json::Deserializer::from_str(element).deserialize_map(LinkVisitor);
        let object =
            parsed.map_err(|error| Fault::new(RejectReason::InvalidJson, error.to_string()))?;
        match object.twice {
            Some(name) => Err(Fault::new(
                RejectReason::DuplicateField,
                format!("outlinks: element {number} has {name} twice"),
            )),
            None => Ok(object),
        }
    }

    /// Returns the JSON of `url` or else of `href`; null means absent.
    fn text(&self) -> Option<&'a str> {
        let given = [self.url, self.href].into_iter().flatten();
        given.map(RawValue::get).find(|raw| *raw != "null")
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
            let (slot, name) = match decode_string(name.get()).as_deref() {
                Some("url") => (&mut object.url, "url"),
                Some("href") => (&mut object.href, "href"),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if slot.replace(map.next_value()?).is_some() {
                object.twice = Some(name);
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
