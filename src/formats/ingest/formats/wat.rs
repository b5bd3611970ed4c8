//! WAT: the metadata of web archives, as Common Crawl publishes it next to each of its archives.
//!
//! ```text
//! gzip --> records --Splitter--> pieces of JSON blocks --capture, in parallel--> a record for each page
//! ```
//!
//! * A WAT file is itself a web archive: first a `warcinfo` record, then, for each record of the
//!   described archive (request, response, metadata), a record of type `metadata` whose block is
//!   JSON. Those that describe a response are read; all others are skipped and counted
//!   ([`SkipReason`]).
//! * A page with a status of 200 to 299 is crawled, with its links, digest and time; 300 to 399
//!   except 304, with a `Location`, is a redirect; 404 and 410 are gone; any other status leaves the
//!   page unchanged.
//! * The position of a rejected record is its number among all records of the file. A wrong length
//!   costs one record (`formats/archive.rs`); a file that ends within a record is refused.
//!
//! Cost: two passes over the JSON of a page, and memory for pieces of half a megabyte, or for the
//! longest record, of at most 16 MiB.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use crate::ingest::entries::utf_8;
use crate::ingest::fetch::{Answer, Fetch, count_if_accepted, mark_crawled};
use crate::ingest::formats::archive::{
    LinkSource, PageLinks, asks_not_to_follow, has_token, is_robots, leads_on, refresh_target,
};
use crate::ingest::formats::json_lines::{decode_string, wrong_type};
use crate::ingest::interner::UrlNumber;
use crate::ingest::kind::KindEvidence;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::Event;
use crate::ingest::sniff::DetectedFormat;
use crate::ingest::source::MAX_LINE;
use crate::ingest::summary::{DropReason, Fault, Position, RejectReason, SkipReason};

use super::archive::{ArchiveFormat, Content, Nofollow, Record, Records, WarcHeader};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The WAT format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wat {
    pub(super) nofollow: Nofollow,
}

impl ArchiveFormat for Wat {
    type Item = Vec<u8>;

    const KIND: DetectedFormat = DetectedFormat::Wat;
    const MAY_CONTAIN_RECORDS: bool = false;
    const MAX_BLOCK: Option<usize> = Some(MAX_LINE);

    fn needs_block(self, header: &WarcHeader<'_>, _: &[u8]) -> bool {
        let is_json =
            header.content.is_empty() || header.content.eq_ignore_ascii_case(b"application/json");
        is_json && header.is("metadata")
    }

    fn extract(
        self,
        _: &[u8],
        header: &WarcHeader<'_>,
        block: &[u8],
        _: bool,
        _: &mut u64,
    ) -> Result<Vec<u8>, SkipReason> {
        if self.needs_block(header, block) {
            Ok(block.to_vec())
        } else {
            Err(SkipReason::NoResponse)
        }
    }

    fn memory(item: &Vec<u8>) -> usize {
        item.len()
    }

    fn read(self, records: Records<Vec<u8>>, parser: &mut PieceParser) {
        read_all(self, records.items.into_iter(), parser);
    }
}

fn read_all(wat: Wat, mut records: std::vec::IntoIter<Record<Vec<u8>>>, parser: &mut PieceParser) {
    while let Some(record) = records.next() {
        if parser.is_full() {
            let rest = std::iter::once(record).chain(records).collect::<Vec<_>>();
            parser.continue_with(move |parser| read_all(wat, rest.into_iter(), parser));
            return;
        }
        let at = Position::Record(record.number);
        match record.content {
            Content::Skipped(reason) => parser.skip_record(reason),
            Content::Rejected(fault, text) => parser.add(at, Err(fault), &text),
            Content::Item(json) => match capture(&json, wat.nofollow, parser) {
                Ok(Ok(event)) => parser.add(at, Ok(event), &json),
                Ok(Err(reason)) => parser.skip_record(reason),
                Err(fault) => parser.add(at, Err(fault), &json),
            },
        }
    }
}

// Reads the capture of a page.

/// The record of a page; `Err` if the WAT record does not describe one.
type Outcome = Result<Event<UrlNumber>, SkipReason>;

/// Reads the block of a record. Nothing of a rejected record is counted.
fn capture(json: &[u8], nofollow: Nofollow, parser: &mut PieceParser) -> Result<Outcome, Fault> {
    let json = utf_8(json)?;
    let document = read(json)?;
    count_if_accepted(parser, |parser| {
        capture_of(&document, json.len(), nofollow, parser)
    })
}

fn capture_of(
    document: &Document<'_>,
    length: usize,
    nofollow: Nofollow,
    parser: &mut PieceParser,
) -> Result<Outcome, Fault> {
    let envelope = &document.envelope.0;
    let header = &envelope.header.0;
    let kind = text(header.kind, "WARC-Type")?.ok_or_else(|| {
        Fault::new(
            RejectReason::MissingType,
            "an Envelope must have a WARC-Type in its WARC-Header-Metadata",
        )
    })?;
    if !kind.eq_ignore_ascii_case("response") {
        return Ok(Err(SkipReason::NoResponse));
    }
    let response = &envelope.payload.0.response.0;
    let Some(status) = status(response.message.0.status)? else {
        return Ok(Err(SkipReason::NoStatus));
    };
    let Some(answer) = Answer::from_status(status) else {
        return Ok(Err(SkipReason::OtherStatus));
    };
    let location = if answer == Answer::Redirect {
        first_text(response.headers.0.location, "Location")?
    } else {
        None
    };
    if answer == Answer::Redirect && location.is_none() {
        return Ok(Err(SkipReason::OtherStatus));
    }
    let url = text(header.url, "WARC-Target-URI")?.ok_or_else(|| {
        Fault::new(
            RejectReason::MissingUrl,
            "a response must have a WARC-Target-URI",
        )
    })?;
    let mut optional = |name, raw| parser.field(name, text(raw, name));
    let time = optional("WARC-Date", header.date);
    let digest = match answer {
        Answer::Crawled => optional("WARC-Payload-Digest", header.digest)
            .or_else(|| optional("Entity-Digest", response.digest)),
        _ => None,
    };
    let mime = first_text(response.headers.0.mime, "Content-Type")
        .ok()
        .flatten();
    let fetch = Fetch {
        url: &url,
        answer,
        time: time.as_deref(),
        digest: digest.as_deref(),
        location: location.as_deref(),
        kind: KindEvidence {
            mime: mime.as_deref(),
            status: Some(status),
            ..KindEvidence::default()
        },
    };
    let mut record = match fetch.record(parser)? {
        Ok(record) => record,
        Err(reason) => return Ok(Err(reason)),
    };
    if answer != Answer::Crawled {
        return Ok(Ok(Event::Record(record)));
    }
    let Some(Object(html)) = response.html.as_ref().filter(|_| !record.is_resource()) else {
        mark_crawled(&mut record);
        return Ok(Ok(Event::Record(record)));
    };
    let base = parser.field("Base", text(html.head.0.base, "Base"));
    let source = LinkSource {
        url: &url,
        base: base.as_deref(),
        nofollow,
        page_nofollow: nofollow == Nofollow::Drop && page_asks_not_to_follow(html)?,
        bytes: length,
        encoding: None,
    };
    let mut links = PageLinks::new(record.url, &source, parser);
    let is_read = add_links(html, &mut links);
    links.parser.field("Links", is_read);
    let canonical = links.parser.field("Link", canonical(html));
    links.finish(canonical.as_deref(), &mut record);
    Ok(Ok(Event::Record(record)))
}

/// Adds the links of a page: those of its text, then those of its head.
fn add_links(html: &Html<'_>, links: &mut PageLinks<'_>) -> Result<(), Fault> {
    each(html.links, "Links", |Object(tag): Object<LinkTag<'_>>| {
        let path = text(tag.path, "path")?;
        if !matches!(
            path.as_deref(),
            Some("A@/href" | "AREA@/href" | "FRAME@/src")
        ) {
            return Ok(());
        }
        let Some(raw) = tag.url else { return Ok(()) };
        let Some(link) = text(Some(raw), "url")? else {
            links.parser.summary.dropped(DropReason::Invalid);
            return Ok(());
        };
        let rel = if links.drops() {
            text(tag.rel, "rel")?
        } else {
            None
        };
        links.add(&link, rel.as_deref());
        Ok(())
    })?;
    each(
        html.head.0.links,
        "Link",
        |Object(tag): Object<LinkTag<'_>>| {
            let rel = text(tag.rel, "rel")?;
            if leads_on(rel.as_deref())
                && let Some(link) = text(tag.url, "url")?
            {
                links.add(&link, rel.as_deref());
            }
            Ok(())
        },
    )?;
    each(
        html.head.0.metas,
        "Metas",
        |Object(tag): Object<MetaTag<'_>>| {
            let name = text(tag.http_equiv, "http-equiv")?.unwrap_or_default();
            if name.trim_ascii().eq_ignore_ascii_case("refresh") {
                let content = text(tag.content, "content")?.unwrap_or_default();
                if let Some(link) = refresh_target(&content) {
                    links.add(link, None);
                }
            }
            Ok(())
        },
    )
}

/// Returns the first canonical URL of a page, as written.
fn canonical<'a>(html: &Html<'a>) -> Result<Option<Cow<'a, str>>, Fault> {
    let mut found = None;
    each(
        html.head.0.links,
        "Link",
        |Object(tag): Object<LinkTag<'a>>| {
            if found.is_none() && has_token(text(tag.rel, "rel")?.as_deref(), "canonical") {
                found = text(tag.url, "url")?;
            }
            Ok(())
        },
    )?;
    Ok(found)
}

/// Returns whether a `meta` element for robots asks not to follow the links of the page.
fn page_asks_not_to_follow(html: &Html<'_>) -> Result<bool, Fault> {
    let mut asks = false;
    each(
        html.head.0.metas,
        "Metas",
        |Object(tag): Object<MetaTag<'_>>| {
            if is_robots(&text(tag.name, "name")?.unwrap_or_default()) {
                asks |= asks_not_to_follow(&text(tag.content, "content")?.unwrap_or_default());
            }
            Ok(())
        },
    )?;
    Ok(asks)
}

// The JSON of WAT, as far as it is used.
//
// ```text
// {"Container": ..., "Envelope": {
//   "WARC-Header-Metadata": {"WARC-Type": "response", "WARC-Target-URI": ..., "WARC-Date": ..., "WARC-Payload-Digest": ...},
//   "Payload-Metadata": {"HTTP-Response-Metadata": {
//     "Response-Message": {"Status": "200"}, "Headers": {"Location": ...}, "Entity-Digest": ...,
//     "HTML-Metadata": {
//       "Head": {"Base": ..., "Link": [{"rel": ..., "url": ...}], "Metas": [{"name" or "http-equiv": ..., "content": ...}]},
//       "Links": [{"path": "A@/href", "url": ..., "rel": ...}]}}}}}
// ```
//
// Objects are parsed down to the fields above, whose values stay raw JSON until they are needed. So
// invalid values that are not needed do not reject a record, and lists are never held. Null means
// absent.

/// The raw JSON of a value; `None` if it is absent or null.
type Raw<'a> = Option<&'a RawValue>;

/// An object with the fields of `T`; null is an object without fields.
#[derive(Debug, Default)]
struct Object<T>(T);

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
        struct $name<'a> {
            $(#[serde(borrow, rename = $key)] $field: $kind,)+
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
        http_equiv: Raw<'a> = "http-equiv",
        content: Raw<'a> = "content",
    }
}

/// The headers of a response, whose names may be in any case.
#[derive(Debug, Default)]
struct Headers<'a> {
    /// A string, or a list of strings if the header occurred several times.
    location: Raw<'a>,
    /// `Content-Type`, likewise.
    mime: Raw<'a>,
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
                let mut headers = Headers::default();
                // Raw, since ignored names may contain unpaired surrogates.
                while let Some(name) = map.next_key::<&RawValue>()? {
                    let name = decode_string(name.get()).unwrap_or_default();
                    let value = if name.eq_ignore_ascii_case("location") {
                        &mut headers.location
                    } else if name.eq_ignore_ascii_case("content-type") {
                        &mut headers.mime
                    } else {
                        map.next_value::<IgnoredAny>()?;
                        continue;
                    };
                    let given: Raw<'de> = map.next_value()?;
                    *value = value.or(given);
                }
                Ok(headers)
            }
        }
        deserializer.deserialize_map(HeadersVisitor)
    }
}

/// Parses the block of a record.
fn read(json: &str) -> Result<Document<'_>, Fault> {
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
fn text<'a>(raw: Raw<'a>, name: &str) -> Result<Option<Cow<'a, str>>, Fault> {
    match raw.map(RawValue::get) {
        None => Ok(None),
        Some(raw) if raw.starts_with('"') => Ok(decode_string(raw)),
        Some(_) => Err(wrong_type(name, "a string")),
    }
}

/// Parses a status, as a string or a number; `None` if it is absent or not from 100 to 599.
fn status(raw: Raw<'_>) -> Result<Option<u16>, Fault> {
    let text = match raw.map(RawValue::get) {
        Some(number) if number.starts_with(|c: char| c.is_ascii_digit()) => Cow::Borrowed(number),
        _ => text(raw, "Status")?.unwrap_or_default(),
    };
    let status = text.trim().parse().ok();
    Ok(status.filter(|status| (100..600).contains(status)))
}

/// Returns a string, or the first string of a list.
fn first_text<'a>(raw: Raw<'a>, name: &str) -> Result<Option<Cow<'a, str>>, Fault> {
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
fn each<'a, T: Deserialize<'a>>(
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
