//! Turns the records of a piece into page records.

use std::borrow::Cow;

use super::charset::in_utf8;
use super::html::Html;
use super::http_response::HttpResponse;
use super::item::{Kind, NotedOrigin, Warc, WarcItem, has_outlinks, outlink};
use crate::ingest::fetch::{Answer, Fetch, count_if_accepted, mark_crawled};
use crate::ingest::formats::archive::header::WarcHeader;
use crate::ingest::formats::archive::page_links::{LinkSource, Nofollow, PageLinks};
use crate::ingest::formats::archive::records::{Content, Record};
use crate::ingest::interner::UrlNumber;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::{Event, PageRecord};
use crate::ingest::reject::{Fault, Position, RejectReason};
use crate::ingest::summary::SkipReason;

/// The record of a page; `Err` if the WARC record does not describe one.
type Outcome = Result<PageRecord<UrlNumber>, SkipReason>;

/// Reads the records of a piece from an index on.
pub(super) fn read(
    from: usize,
    warc: Warc,
    mut records: Vec<Record<WarcItem>>,
    parser: &mut PieceParser,
) {
    // Metadata whose response comes next.
    let mut metadata: Option<WarcItem> = None;
    for at in from..records.len() {
        if parser.is_full() && metadata.is_none() {
            parser.continue_with(move |parser| read(at, warc, records, parser));
            return;
        }
        let is_item = |record: &Record<WarcItem>| matches!(record.content, Content::Item(_));
        let after = match records.get(at) {
            Some(record) if is_item(record) => records.get(at + 1..).unwrap_or_default(),
            _ => &[],
        };
        let next = after.iter().position(is_item).map(|next| at + 1 + next);
        let partner = next.filter(|next| records.get(*next).is_some_and(|next| next.belongs));
        // Metadata that was read with the response before it is skipped here.
        let mut take = |at: usize| {
            let record = records.get_mut(at)?;
            let taken = Content::Skipped(SkipReason::BesideResponse);
            Some((record.number, std::mem::replace(&mut record.content, taken)))
        };
        let Some((number, content)) = take(at) else {
            continue;
        };
        let number = Position::Record(number);
        match content {
            Content::Skipped(reason) => parser.skip_record(reason),
            Content::Rejected(fault, text) => parser.add(number, Err(fault), &text),
            Content::Item(item) => {
                if item.is_metadata() && partner.is_some() {
                    metadata = Some(item);
                    parser.skip_record(SkipReason::BesideResponse);
                    continue;
                }
                let partner = partner.filter(|_| !item.is_metadata());
                let metadata = match partner.and_then(&mut take) {
                    Some((_, Content::Item(metadata))) => Some(metadata),
                    _ => metadata.take(),
                };
                let outcome = count_if_accepted(parser, |parser| {
                    page(&item, metadata.as_ref(), warc.nofollow, parser)
                });
                match outcome {
                    Ok(Ok(record)) => parser.add(number, Ok(Event::Record(record)), &item.text),
                    Ok(Err(reason)) => parser.skip_record(reason),
                    Err(fault) => parser.add(number, Err(fault), &item.text),
                }
            }
        }
    }
}

/// Reads a record, together with the metadata of its response if there is any.
fn page(
    item: &WarcItem,
    metadata: Option<&WarcItem>,
    nofollow: Nofollow,
    parser: &mut PieceParser,
) -> Result<Outcome, Fault> {
    let header = item.header();
    let Kind::Response {
        header: http,
        is_revisit,
        is_html,
        unread,
    } = item.kind
    else {
        return metadata_page(item, &header, parser);
    };
    let (http, body) = item.block().split_at_checked(http).unwrap_or_default();
    let response = HttpResponse::read(http);
    let answer = match response.status {
        // A revisit need not repeat the response, or repeats that the page is unchanged.
        None | Some(304) if is_revisit => Answer::Crawled,
        None => return Ok(Err(SkipReason::NoStatus)),
        Some(status) => match Answer::from_status(status) {
            Some(answer) => answer,
            None => return Ok(Err(SkipReason::OtherStatus)),
        },
    };
    if answer == Answer::Redirect && response.location.is_none() {
        return Ok(Err(SkipReason::OtherStatus));
    }
    let url = url(&header)?;
    let date = text(header.date, "WARC-Date")?;
    let digest = text(header.digest, "WARC-Payload-Digest")?;
    let location = response.location.map(header_text);
    let fetch = Fetch {
        url,
        answer,
        time: date,
        time_field: "WARC-Date",
        digest,
        location: location.as_deref(),
    };
    let mut record = match fetch.record(parser)? {
        Ok(record) => record,
        Err(reason) => return Ok(Err(reason)),
    };
    if let Some(metadata) = metadata {
        add_origin(metadata, url, &mut record, parser);
    }
    if answer != Answer::Crawled {
        return Ok(Ok(record));
    }
    if let Some(reason) = unread {
        *parser.summary.unread.entry(reason).or_default() += 1;
    }
    if is_html {
        let html = Html::read(&in_utf8(body, response.content));
        let source = LinkSource {
            url,
            base: html.base.as_deref(),
            nofollow,
            page_nofollow: html.asks_not_to_follow,
            bytes: body.len(),
        };
        let mut links = PageLinks::new(record.url, &source, parser);
        for (link, rel) in html.links() {
            links.add(link, Some(rel));
        }
        links.finish(html.canonical.as_deref(), &mut record);
    } else if let Some(metadata) = metadata.filter(|metadata| has_outlinks(metadata.block())) {
        add_outlinks(metadata, url, &mut record, parser);
    } else {
        mark_crawled(&mut record);
    }
    Ok(Ok(record))
}

/// Reads metadata without a response.
fn metadata_page(
    metadata: &WarcItem,
    header: &WarcHeader<'_>,
    parser: &mut PieceParser,
) -> Result<Outcome, Fault> {
    // The response may be anywhere, or was not archived.
    if !has_outlinks(metadata.block()) {
        return Ok(Err(SkipReason::NoResponse));
    }
    let url = url(header)?;
    let fetch = Fetch {
        url,
        answer: Answer::Crawled,
        time: text(header.date, "WARC-Date")?,
        time_field: "WARC-Date",
        digest: None,
        location: None,
    };
    let Ok(mut record) = fetch.record(parser)? else {
        return Err(Fault::new(RejectReason::MissingUrl, "no page is named"));
    };
    // So that the response takes precedence, wherever it is.
    record.fetched = record.fetched.map(|at| at.saturating_sub(1));
    add_origin(metadata, url, &mut record, parser);
    add_outlinks(metadata, url, &mut record, parser);
    Ok(Ok(record))
}

/// Adds how the crawler came to the page.
fn add_origin(
    metadata: &WarcItem,
    url: &str,
    record: &mut PageRecord<UrlNumber>,
    parser: &mut PieceParser,
) {
    let origin = NotedOrigin::read(metadata.block());
    let [seed, via] =
        [origin.seed, origin.via].map(|url| url.and_then(|url| std::str::from_utf8(url).ok()));
    let seed = if origin.is_seed { Some(url) } else { seed };
    record.origin = parser.noted_origin(seed, via, origin.depth());
}

/// Adds the links that metadata lists.
fn add_outlinks(
    metadata: &WarcItem,
    url: &str,
    record: &mut PageRecord<UrlNumber>,
    parser: &mut PieceParser,
) {
    let source = LinkSource {
        url,
        bytes: metadata.block().len(),
        ..LinkSource::default()
    };
    let mut links = PageLinks::new(record.url, &source, parser);
    for line in metadata.block().split(|byte| *byte == b'\n') {
        if let Some((link, b"L")) = outlink(line) {
            links.add(&String::from_utf8_lossy(link), None);
        }
    }
    links.finish(None, record);
}

fn url<'a>(header: &WarcHeader<'a>) -> Result<&'a str, Fault> {
    text(header.url, "WARC-Target-URI")?.ok_or_else(|| {
        Fault::new(
            RejectReason::MissingUrl,
            "a response must have a WARC-Target-URI",
        )
    })
}

fn text<'a>(value: Option<&'a [u8]>, name: &str) -> Result<Option<&'a str>, Fault> {
    let text = value.map(std::str::from_utf8).transpose();
    text.map_err(|error| Fault::new(RejectReason::InvalidUtf8, format!("{name}: {error}")))
}

/// Decodes the value of a header as UTF-8 or, if it is not valid, as Latin-1.
fn header_text(value: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(value) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => value
            .iter()
            .map(|byte| char::from(*byte))
            .collect::<String>()
            .into(),
    }
}
