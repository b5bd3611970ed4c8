//! The JSON of WAT, as far as it is used.
//!
//! ```text
//! {"Container": ..., "Envelope": {
//!   "WARC-Header-Metadata": {"WARC-Type": "response", "WARC-Target-URI": ..., "WARC-Date": ..., "WARC-Payload-Digest": ...},
//!   "Payload-Metadata": {"HTTP-Response-Metadata": {
//!     "Response-Message": {"Status": "200"}, "Headers": {"Location": ...}, "Entity-Digest": ...,
//!     "HTML-Metadata": {
//!       "Head": {"Base": ..., "Link": [{"rel": ..., "url": ...}], "Metas": [{"name": ..., "content": ...}]},
//!       "Links": [{"path": "A@/href", "url": ..., "rel": ...}]}}}}}
//! ```
//!
//! Objects are parsed down to the fields above, whose values stay raw JSON until they are needed. So
//! invalid values that are not needed do not reject a record, and lists are never held. Null means
//! absent.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::ingest::formats::json_lines::{decode_string, wrong_type};
use crate::ingest::reject::{Fault, RejectReason};

/// The raw JSON of a value; `None` if it is absent or null.
pub(super) type Raw<'a> = Option<&'a RawValue>;

/// An object with the fields of `T`; null is an object without fields.
#[derive(Debug, Default)]
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for ObjectVisitor<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Object::default())
            }
        }
        deserializer.deserialize_any(ObjectVisitor(PhantomData))
    }
}

/// Declares structures whose fields are all optional.
macro_rules! objects {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $kind:ty = $key:literal),+ $(,)? })+) => {$(
        $(#[$doc])*
        #[derive(Debug, Default, serde::Deserialize)]
        #[serde(default)]
        pub(super) struct $name<'a> {
            $(#[serde(borrow, rename = $key)] pub(super) $field: $kind,)+
        }
    )+};
}

objects! {
    /// The block of a record.
    Document { envelope: Object<Envelope<'a>> = "Envelope" }

    Envelope {
        header: Object<RecordHeader<'a>> = "WARC-Header-Metadata",
        payload: Object<Payload<'a>> = "Payload-Metadata",
    }

    /// The header of the record that is described.
    RecordHeader {
        kind: Raw<'a> = "WARC-Type",
        url: Raw<'a> = "WARC-Target-URI",
        date: Raw<'a> = "WARC-Date",
        digest: Raw<'a> = "WARC-Payload-Digest",
    }

    Payload { response: Object<Response<'a>> = "HTTP-Response-Metadata" }

    /// The response of the server.
    Response {
        message: Object<Message<'a>> = "Response-Message",
        headers: Object<Headers<'a>> = "Headers",
        digest: Raw<'a> = "Entity-Digest",
        html: Option<Object<Html<'a>>> = "HTML-Metadata",
    }

    Message { status: Raw<'a> = "Status" }

    /// The links of an HTML page that could be parsed.
    Html {
        head: Object<HtmlHead<'a>> = "Head",
        links: Raw<'a> = "Links",
    }

    HtmlHead {
        base: Raw<'a> = "Base",
        links: Raw<'a> = "Link",
        metas: Raw<'a> = "Metas",
    }

    /// An element of `Links` or of `Link`.
    LinkTag {
        path: Raw<'a> = "path",
        url: Raw<'a> = "url",
        rel: Raw<'a> = "rel",
    }

    /// An element of `Metas`.
    MetaTag {
        name: Raw<'a> = "name",
        content: Raw<'a> = "content",
    }
}

/// The headers of a response, whose names may be in any case.
#[derive(Debug, Default)]
pub(super) struct Headers<'a> {
    /// A string, or a list of strings if the header occurred several times.
    pub(super) location: Raw<'a>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Headers<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct HeadersVisitor;
        impl<'de> Visitor<'de> for HeadersVisitor {
            type Value = Headers<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("headers")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut location = None;
                // Raw, since ignored names may contain unpaired surrogates.
                while let Some(name) = map.next_key::<&RawValue>()? {
                    let name = decode_string(name.get());
                    if name.is_some_and(|name| name.eq_ignore_ascii_case("location")) {
                        let given: Raw<'de> = map.next_value()?;
                        location = location.or(given);
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(Headers { location })
            }
        }
        deserializer.deserialize_map(HeadersVisitor)
    }
}

/// Parses the block of a record.
pub(super) fn read(json: &str) -> Result<Document<'_>, Fault> {
    let mut json = serde_json::Deserializer::from_str(json);
    let document = Object::deserialize(&mut json);
    let document = document.and_then(|document| json.end().map(|()| document));
    document
        .map(|Object(document)| document)
        .map_err(|error| fault(&error))
}

fn fault(error: &serde_json::Error) -> Fault {
    let text = error.to_string();
    let reason = if !error.is_data() {
        RejectReason::InvalidJson
    } else if text.starts_with("duplicate field") {
        RejectReason::DuplicateField
    } else {
        RejectReason::WrongType
    };
    Fault::new(reason, text.replace(" at line 1 column ", " at column "))
}

/// Parses a string; `None` if it is absent or has an unpaired surrogate.
pub(super) fn text<'a>(raw: Raw<'a>, name: &str) -> Result<Option<Cow<'a, str>>, Fault> {
    match raw.map(RawValue::get) {
        None => Ok(None),
        Some(raw) if raw.starts_with('"') => Ok(decode_string(raw)),
        Some(_) => Err(wrong_type(name, "a string")),
    }
}

/// Parses a status, as a string or a number; `None` if it is absent or not from 100 to 599.
pub(super) fn status(raw: Raw<'_>) -> Result<Option<u16>, Fault> {
    let text = match raw.map(RawValue::get) {
        Some(number) if number.starts_with(|c: char| c.is_ascii_digit()) => Cow::Borrowed(number),
        _ => text(raw, "Status")?.unwrap_or_default(),
    };
    let status = text.trim().parse().ok();
    Ok(status.filter(|status| (100..600).contains(status)))
}

/// Returns a string, or the first string of a list.
pub(super) fn first_text<'a>(raw: Raw<'a>, name: &str) -> Result<Option<Cow<'a, str>>, Fault> {
    let mut first = None;
    match raw {
        Some(list) if list.get().starts_with('[') => each(raw, name, |element: Raw<'a>| {
            if first.is_none() {
                first = text(element, name)?;
            }
            Ok(())
        })?,
        _ => first = text(raw, name)?,
    }
    Ok(first)
}

/// Calls `take` with each element of a list, if there is one.
pub(super) fn each<'a, T: Deserialize<'a>>(
    raw: Raw<'a>,
    name: &str,
    mut take: impl FnMut(T) -> Result<(), Fault>,
) -> Result<(), Fault> {
    struct Elements<'f, T, F> {
        take: &'f mut F,
        number: usize,
        fault: Option<Fault>,
        of: PhantomData<T>,
    }
    impl<'de, T, F> Visitor<'de> for &mut Elements<'_, T, F>
    where
        T: Deserialize<'de>,
        F: FnMut(T) -> Result<(), Fault>,
    {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
            loop {
                self.number += 1;
                let Some(element) = list.next_element()? else {
                    return Ok(());
                };
                if let Err(fault) = (self.take)(element) {
                    self.fault = Some(fault);
                    return Err(serde::de::Error::custom("an invalid element"));
                }
            }
        }
    }
    let Some(raw) = raw else { return Ok(()) };
    if !raw.get().starts_with('[') {
        return Err(wrong_type(name, "a list"));
    }
    let mut elements = Elements {
        take: &mut take,
        number: 0,
        fault: None,
        of: PhantomData,
    };
    let mut json = serde_json::Deserializer::from_str(raw.get());
    json.deserialize_seq(&mut elements).map_err(|error| {
        let of_element = elements.fault.take();
        let mut fault = of_element.unwrap_or_else(|| fault(&error));
        fault.detail = format!("{name}, element {}: {}", elements.number, fault.detail);
        fault
    })
}
