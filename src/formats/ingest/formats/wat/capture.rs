//! Reads the capture of a page.

use std::borrow::Cow;

use super::envelope::{
    Document, Html, LinkTag, MetaTag, Object, each, first_text, read, status, text,
};
use crate::ingest::entries::utf_8;
use crate::ingest::fetch::{Answer, Fetch, count_if_accepted, mark_crawled};
use crate::ingest::formats::archive::page_links::{
    LinkSource, Nofollow, PageLinks, asks_not_to_follow, has_token, is_robots,
};
use crate::ingest::interner::UrlNumber;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::Event;
use crate::ingest::reject::{Fault, RejectReason};
use crate::ingest::summary::{DropReason, SkipReason};

/// The record of a page; `Err` if the WAT record does not describe one.
pub(super) type Outcome = Result<Event<UrlNumber>, SkipReason>;

/// Reads the block of a record. Nothing of a rejected record is counted.
pub(super) fn capture(
    json: &[u8],
    nofollow: Nofollow,
    parser: &mut PieceParser,
) -> Result<Outcome, Fault> {
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
    let time = text(header.date, "WARC-Date")?;
    let digest = match answer {
        Answer::Crawled => match text(header.digest, "WARC-Payload-Digest")? {
            Some(digest) => Some(digest),
            None => text(response.digest, "Entity-Digest")?,
        },
        _ => None,
    };
    let fetch = Fetch {
        url: &url,
        answer,
        time: time.as_deref(),
        time_field: "WARC-Date",
        digest: digest.as_deref(),
        location: location.as_deref(),
    };
    let mut record = match fetch.record(parser)? {
        Ok(record) => record,
        Err(reason) => return Ok(Err(reason)),
    };
    if answer != Answer::Crawled {
        return Ok(Ok(Event::Record(record)));
    }
    let Some(Object(html)) = &response.html else {
        mark_crawled(&mut record);
        return Ok(Ok(Event::Record(record)));
    };
    let base = text(html.head.0.base, "Base")?;
    let source = LinkSource {
        url: &url,
        base: base.as_deref(),
        nofollow,
        page_nofollow: nofollow == Nofollow::Drop && page_asks_not_to_follow(html)?,
        bytes: length,
    };
    let mut links = PageLinks::new(record.url, &source, parser);
    add_links(html, &mut links)?;
    let canonical = canonical(html)?;
    links.finish(canonical.as_deref(), &mut record);
    Ok(Ok(Event::Record(record)))
}

/// Adds the links of a page in document order.
fn add_links(html: &Html<'_>, links: &mut PageLinks<'_>) -> Result<(), Fault> {
    each(html.links, "Links", |Object(tag): Object<LinkTag<'_>>| {
        let path = text(tag.path, "path")?;
        if !matches!(path.as_deref(), Some("A@/href" | "AREA@/href")) {
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
    })
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
