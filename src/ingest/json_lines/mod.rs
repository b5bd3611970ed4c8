//! JSON Lines: one record per line (`schema/record.schema.json`).
//!
//! A line is parsed in two steps: first its structure, where every field stays text ([`RawValue`]);
//! then the fields that matter. So with `gone: true` the others really are ignored, a number such
//! as 1e400 gets a reason of its own, and an outlink that cannot be decoded (a lone surrogate)
//! costs the outlink and not the record ([`outlinks`](mod@outlinks)).

mod outlinks;
mod strings;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::interner::UrlNumber;
use super::lines::{LineFormat, each};
use super::number::whole_number;
use super::open::Input;
use super::reading::Reading;
use super::record::{Event, MAX_CLICKS, MAX_UNCRAWLED_OUTLINKS, PageRecord, UncrawledOutlinks};
use super::reject::{Fault, RejectReason};
use super::source::Sources;
use super::timestamp::{Timestamp, parse_timestamp, timestamp_of_number};
use crate::page::AliasBy;
use outlinks::outlinks;
use strings::decode;

/// The fields of a record.
pub const RECORD_FIELDS: [&str; 10] = [
    "url",
    "outlinks",
    "spam",
    "clicks",
    "uncrawled_outlinks",
    "digest",
    "fetched",
    "redirect",
    "canonical",
    "gone",
];

/// An object with more fields than this is refused; bounds what looking for duplicates holds.
pub(super) const MAX_FIELDS: usize = 1_024;

/// The sources for files of JSON Lines.
pub(super) fn sources(inputs: &[Input]) -> Sources {
    each(inputs, JsonLines)
}

/// JSON Lines.
///
/// Where the format leaves a choice:
///
/// * an unknown field is ignored and counted by name; null is absent, except for
///   `uncrawled_outlinks`, where it means that the bank counts;
/// * a field given twice, known or not, rejects the record; objects inside ignored values are
///   not looked at;
/// * with `gone: true` only `url` is read, and `fetched` where it is a time, to find the
///   latest of several records: the other fields may hold any JSON;
/// * an outlink is a string, or an object with a string as `url` or else `href`, of which nothing
///   else is looked at; one that is not a URL is dropped and counted, and any other element rejects
///   the record;
/// * a `redirect` or `canonical` is a string as `url` is; one that is no page's URL is dropped and
///   counted with the outlinks, and one that is the page itself is none;
/// * an empty `digest` is a digest like any other.
#[derive(Clone, Copy, Debug, Default)]
pub struct JsonLines;

impl LineFormat for JsonLines {
    fn read(&self, line: &str, reading: &mut Reading) -> Result<Event<UrlNumber>, Fault> {
        let fields: Fields = parse_structure(line)?;
        for name in &fields.unknown {
            reading.summary.unknown_fields.count(name);
        }
        fields.check()?;
        let url = fields
            .text("url")?
            .ok_or_else(|| Fault::new(RejectReason::MissingUrl, "a record must have a url"))?;
        let url = reading.page(&url)?;
        let mut record = PageRecord::new(url);
        if fields.truth("gone")? == Some(true) {
            record.gone = true;
            // It says which of several records is the latest, and cannot reject this one.
            let fetched = fields.fetched().ok().flatten();
            record.fetched = fetched.map(|time| reading.time(time));
            return Ok(Event::Record(record));
        }
        record.spam = fields.truth("spam")?;
        record.clicks = fields.count("clicks", MAX_CLICKS)?;
        record.uncrawled_outlinks = fields.uncrawled_outlinks()?;
        record.digest = fields.text("digest")?.map(|digest| short_hash(&digest));
        let fetched = fields.fetched()?;
        let leads = [
            (fields.text("redirect")?, AliasBy::Redirect),
            (fields.text("canonical")?, AliasBy::Canonical),
        ];
        // Last, so that nothing is counted for a record that is rejected.
        record.outlinks = fields.outlinks(url, reading)?;
        for (to, by) in leads {
            let to = to.and_then(|to| reading.lead(url, &to));
            if record.alias.is_none() {
                record.alias = to.map(|to| (to, by));
            }
        }
        if record.alias.is_some() {
            record.outlinks = None;
        }
        record.fetched = fetched.map(|time| reading.time(time));
        Ok(Event::Record(record))
    }
}

/// The first 128 bits of the BLAKE3 hash.
fn short_hash(text: &str) -> [u8; 16] {
    let mut short = [0; 16];
    for (to, from) in short
        .iter_mut()
        .zip(blake3::hash(text.as_bytes()).as_bytes())
    {
        *to = *from;
    }
    short
}

fn parse_structure(line: &str) -> Result<Fields<'_>, Fault> {
    let mut json = serde_json::Deserializer::from_str(line);
    let parsed = json
        .deserialize_map(FieldsVisitor)
        .and_then(|fields| json.end().map(|()| fields));
    parsed.map_err(|error| {
        let other =
            !line.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(line).is_ok();
        if other {
            Fault::new(RejectReason::NotAnObject, "a record must be a JSON object")
        } else {
            // There is one line, and the reject says which.
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

/// The fields of one object, unparsed.
#[derive(Default)]
struct Fields<'a> {
    /// In the order of [`RECORD_FIELDS`]; null counts as absent, except for `uncrawled_outlinks`.
    known: [Option<&'a RawValue>; RECORD_FIELDS.len()],
    /// Sorted, since only the first names are kept.
    unknown: BTreeSet<Cow<'a, str>>,
    seen: usize,
    duplicate: Option<String>,
}

impl<'a> Fields<'a> {
    fn check(&self) -> Result<(), Fault> {
        if self.seen > MAX_FIELDS {
            return Err(Fault::new(
                RejectReason::TooManyFields,
                format!("{} fields; at most {MAX_FIELDS} are read", self.seen),
            ));
        }
        match &self.duplicate {
            Some(name) => Err(Fault::new(
                RejectReason::DuplicateField,
                format!("{name} is given twice"),
            )),
            None => Ok(()),
        }
    }

    /// The JSON text of a field that is there and not null.
    fn raw(&self, name: &str) -> Option<&'a str> {
        self.given(name).filter(|raw| *raw != "null")
    }

    fn given(&self, name: &str) -> Option<&'a str> {
        let at = RECORD_FIELDS.iter().position(|known| *known == name)?;
        self.known.get(at).copied().flatten().map(RawValue::get)
    }

    fn text(&self, name: &str) -> Result<Option<Cow<'a, str>>, Fault> {
        match self.raw(name) {
            None => Ok(None),
            Some(raw) if raw.starts_with('"') => match decode(raw) {
                Some(text) => Ok(Some(text)),
                None => Err(Fault::new(
                    RejectReason::InvalidJson,
                    format!("{name}: a string with an unpaired surrogate"),
                )),
            },
            Some(_) => Err(wrong_type(name, "a string")),
        }
    }

    fn truth(&self, name: &str) -> Result<Option<bool>, Fault> {
        match self.raw(name) {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(_) => Err(wrong_type(name, "true or false")),
        }
    }

    fn count(&self, name: &str, max: u64) -> Result<Option<u64>, Fault> {
        self.raw(name)
            .map(|raw| whole_number(raw, name, max))
            .transpose()
    }

    fn uncrawled_outlinks(&self) -> Result<UncrawledOutlinks, Fault> {
        let name = "uncrawled_outlinks";
        if self.given(name) == Some("null") {
            return Ok(UncrawledOutlinks::Counted);
        }
        let count = self.count(name, u64::from(MAX_UNCRAWLED_OUTLINKS))?;
        Ok(match count.map(u32::try_from) {
            Some(Ok(count)) => UncrawledOutlinks::Given(count),
            _ => UncrawledOutlinks::Absent,
        })
    }

    /// A time, as text or as a number.
    fn fetched(&self) -> Result<Option<Timestamp>, Fault> {
        let name = "fetched";
        let time = match self.raw(name) {
            None => return Ok(None),
            Some(raw) if raw.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
                timestamp_of_number(raw)
            }
            Some(raw) if raw.starts_with('"') => match self.text(name)? {
                Some(text) => parse_timestamp(&text),
                None => return Ok(None),
            },
            Some(_) => return Err(wrong_type(name, "a time, as a string or a number")),
        };
        time.map(Some).map_err(Fault::timestamp)
    }

    fn outlinks(
        &self,
        page: UrlNumber,
        reading: &mut Reading,
    ) -> Result<Option<Vec<UrlNumber>>, Fault> {
        match self.raw("outlinks") {
            None => Ok(None),
            Some(raw) if raw.starts_with('[') => outlinks(raw, page, reading).map(Some),
            Some(_) => Err(wrong_type("outlinks", "a list of URLs")),
        }
    }
}

fn wrong_type(name: &str, expected: &str) -> Fault {
    Fault::new(
        RejectReason::WrongType,
        format!("{name}: must be {expected}"),
    )
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Fields::default();
        while let Some(Name(name)) = map.next_key()? {
            fields.seen += 1;
            if fields.seen > MAX_FIELDS {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let place = RECORD_FIELDS.iter().position(|known| *known == name);
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

/// A field's name, borrowed where it has no escapes.
struct Name<'a>(Cow<'a, str>);

impl<'de> serde::Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl<'de> Visitor<'de> for NameVisitor {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a field name")
            }

            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Borrowed(name)))
            }

            fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Owned(name.to_owned())))
            }
        }
        deserializer.deserialize_str(NameVisitor)
    }
}

#[cfg(test)]
mod tests;
