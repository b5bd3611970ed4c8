//! The fields of one JSON object, unparsed.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::ingest::number::integer;
use crate::ingest::record::Attribute;
use crate::ingest::reject::{Fault, RejectReason};

/// The most fields of an object, which bounds the memory for finding duplicates.
pub(super) const MAX_FIELDS: usize = 1_024;

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
pub(in crate::ingest) struct Fields<'a, const N: usize> {
    names: &'static [&'static str; N],
    /// In the order of the names.
    known: [Option<&'a RawValue>; N],
    /// Names of other fields. Sorted, since a summary keeps only the first ones.
    pub(in crate::ingest) unknown: BTreeSet<Cow<'a, str>>,
    seen: usize,
    duplicate: Option<String>,
}

impl<'a, const N: usize> Fields<'a, N> {
    /// Refuses an object that has too many fields, or a field twice.
    pub(in crate::ingest) fn check(&self) -> Result<(), Fault> {
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
    pub(in crate::ingest) fn raw(&self, name: &str) -> Option<&'a str> {
        self.raw_or_null(name).filter(|raw| *raw != "null")
    }

    /// Returns the JSON of a field, which may be null; `None` if it is absent.
    pub(super) fn raw_or_null(&self, name: &str) -> Option<&'a str> {
        let at = self.names.iter().position(|known| *known == name)?;
        self.known.get(at).copied().flatten().map(RawValue::get)
    }

    /// Returns a string; `None` if it is absent or null.
    pub(in crate::ingest) fn text(&self, name: &str) -> Result<Option<Cow<'a, str>>, Fault> {
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
    pub(super) fn truth(&self, name: &str) -> Result<Option<bool>, Fault> {
        self.raw(name).map(|raw| truth(raw, name)).transpose()
    }

    /// Returns a whole number up to `max`; `None` if it is absent or null.
    pub(in crate::ingest) fn count(&self, name: &str, max: u64) -> Result<Option<u64>, Fault> {
        self.raw(name)
            .map(|raw| integer(raw, name, max))
            .transpose()
    }

    /// Returns an attribute that null removes.
    pub(in crate::ingest) fn attribute<T>(
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
pub(in crate::ingest) fn decode_string(raw: &str) -> Option<Cow<'_, str>> {
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

pub(in crate::ingest) fn wrong_type(name: &str, expected: &str) -> Fault {
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
