//! The JSON of WAT, as far as it is taken.
//!
//! ```text
//! {"Container": ..., "Envelope": {
//!   "WARC-Header-Metadata": {"WARC-Type": "response", "WARC-Target-URI": ..., "WARC-Date": ..., "WARC-Payload-Digest": ...},
//!   "Payload-Metadata": {"HTTP-Response-Metadata": {
//!     "Response-Message": {"Status": "200"}, "Headers": {"Location": ...}, "Entity-Digest": ...,
//!     "HTML-Metadata": {
//!       "Head": {"BaseUrl": ..., "Link": [{"rel": ..., "url": ...}], "Metas": [{"name": ..., "content": ...}]},
//!       "Links": [{"path": "A@/href", "url": ..., "rel": ...}]}}}}}
//! ```
//!
//! Objects are read to their fields at once, and what is in those stays text until it is asked for:
//! so nothing that a page says makes a record bad that does not need it, and lists are never held.
//! Null is absent.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::ingest::formats::json_lines::decode;
use crate::ingest::reject::{Fault, RejectReason};

/// The text of a value; `None` where there is none, or null.
pub(super) type Raw<'a> = Option<&'a RawValue>;

/// An object with the fields of `T`; without any of them where there is null.
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

/// Structures of which every field may be missing.
macro_rules! objects {
    ($($(#[$about:meta])* $name:ident { $($field:ident: $kind:ty = $key:literal),+ $(,)? })+) => {$(
        $(#[$about])*
        #[derive(Debug, Default, serde::Deserialize)]
        #[serde(default)]
        pub(super) struct $name<'a> {
            $(#[serde(borrow, rename = $key)] pub(super) $field: $kind,)+
        }
    )+};
}

objects! {
    /// What the block of a record is.
    Document { envelope: Object<Envelope<'a>> = "Envelope" }

    Envelope {
        head: Object<RecordHead<'a>> = "WARC-Header-Metadata",
        payload: Object<Payload<'a>> = "Payload-Metadata",
    }

    /// The head of the record that is described.
    RecordHead {
        kind: Raw<'a> = "WARC-Type",
        url: Raw<'a> = "WARC-Target-URI",
        date: Raw<'a> = "WARC-Date",
        digest: Raw<'a> = "WARC-Payload-Digest",
    }

    Payload { response: Object<Response<'a>> = "HTTP-Response-Metadata" }

    /// What the server answered.
    Response {
        message: Object<Message<'a>> = "Response-Message",
        headers: Object<Headers<'a>> = "Headers",
        digest: Raw<'a> = "Entity-Digest",
        html: Option<Object<Html<'a>>> = "HTML-Metadata",
    }

    Message { status: Raw<'a> = "Status" }

    /// What is in the page, where it is HTML that could be parsed.
    Html {
        head: Object<HtmlHead<'a>> = "Head",
        links: Raw<'a> = "Links",
    }

    HtmlHead {
        base: Raw<'a> = "BaseUrl",
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

/// The headers of an answer, of which servers write the names as they like.
#[derive(Debug, Default)]
pub(super) struct Headers<'a> {
    /// A text, or a list of texts where the header was there more than once.
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
                // Read as text, since a name that is ignored may be one that cannot be decoded.
                while let Some(name) = map.next_key::<&RawValue>()? {
                    let name = decode(name.get());
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

/// Reads the block of a record.
pub(super) fn read(json: &str) -> Result<Document<'_>, Fault> {
    let mut json = serde_json::Deserializer::from_str(json);
    let document = Object::deserialize(&mut json);
    let document = document.and_then(|document| json.end().map(|()| document));
    document
        .map(|Object(document)| document)
        .map_err(|error| fault(&error))
}

fn fault(error: &serde_json::Error) -> Fault {
    let said = error.to_string();
    let reason = if !error.is_data() {
        RejectReason::InvalidJson
    } else if said.starts_with("duplicate field") {
        RejectReason::DuplicateField
    } else {
        RejectReason::WrongType
    };
    Fault::new(reason, said.replace(" at line 1 column ", " at column "))
}

/// A value that is a string; `None` where there is none, or it has half a surrogate pair.
pub(super) fn text<'a>(raw: Raw<'a>, name: &str) -> Result<Option<Cow<'a, str>>, Fault> {
    match raw.map(RawValue::get) {
        None => Ok(None),
        Some(raw) if raw.starts_with('"') => Ok(decode(raw)),
        Some(_) => Err(wrong_type(name, "a string")),
    }
}

/// A status, as a string or a number; `None` where there is none that servers give.
pub(super) fn status(raw: Raw<'_>) -> Result<Option<u16>, Fault> {
    let text = match raw.map(RawValue::get) {
        Some(number) if number.starts_with(|c: char| c.is_ascii_digit()) => Cow::Borrowed(number),
        _ => text(raw, "Status")?.unwrap_or_default(),
    };
    let status = text.trim().parse().ok();
    Ok(status.filter(|status| (100..600).contains(status)))
}

/// The first string of a list of strings, or the string itself.
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

/// Hands over the elements of a list, one after another; of none where there is no list.
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

pub(super) fn wrong_type(name: &str, expected: &str) -> Fault {
    Fault::new(
        RejectReason::WrongType,
        format!("{name}: must be {expected}"),
    )
}
