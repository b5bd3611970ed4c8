//! The list of outlinks of a JSON record.
//!
//! An element is a URL as a string, or an object with the URL as `url` or `href`, as written by
//! extractors that keep the text of a link with it. The list is never held: each URL becomes a
//! number, or is dropped and counted, as it is read.

use std::borrow::Cow;
use std::fmt;

use memchr::memchr2_iter;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::fields::decode_string;
use crate::ingest::interner::UrlNumber;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::reject::{Fault, RejectReason};
use crate::ingest::summary::DropReason;

const EXPECTED: &str = "expected a URL as a string, or an object with the URL as its url or href";

/// Returns the links of a list, ascending and without duplicates; counts what is dropped. The text
/// must be valid JSON.
///
/// A fault rejects the record, and nothing of it is counted.
pub(super) fn outlinks(
    raw: &str,
    page: UrlNumber,
    parser: &mut PieceParser,
) -> Result<Vec<UrlNumber>, Fault> {
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
#[path = "outlinks_tests.rs"]
mod tests;
