//! Turns the records of a piece into page records.

use std::borrow::Cow;
use std::io::Read;

use crate::ingest::fetch::{Answer, Fetch, count_if_accepted, mark_crawled};
use crate::ingest::formats::archive::{
    self, ArchiveFormat, Content, LinkSource, Nofollow, PageLinks, Record, Records, WarcHeader,
    header_links, leads_on, refresh_target,
};
use crate::ingest::interner::UrlNumber;
use crate::ingest::kind::KindEvidence;
use crate::ingest::location::other_scheme;
use crate::ingest::open::brotli;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::{Event, PageRecord};
use crate::ingest::sniff::DetectedFormat;
use crate::ingest::source::MAX_LINE;
use crate::ingest::summary::{Fault, Position, RejectReason, SkipReason, Unread};

use super::html::{Html, in_utf8};
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

/// The record of a page; `Err` if the WARC record does not describe one.
type Outcome = Result<PageRecord<UrlNumber>, SkipReason>;

/// Reads the records of a piece from an index on.
pub(super) fn read(
    from: usize,
    warc: Warc,
    mut records: Vec<Record<WarcItem>>,
    parser: &mut PieceParser,
) {
    // A note whose response comes next.
    let mut note: Option<WarcItem> = None;
    for at in from..records.len() {
        if parser.is_full() && note.is_none() {
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
        // A note that was read with the response before it is skipped here.
        let mut take = |at: usize| {
            let record = records.get_mut(at)?;
            let reason = match &record.content {
                Content::Item(item) => item.reason(),
                _ => SkipReason::BesideResponse,
            };
            let taken = Content::Skipped(reason);
            Some((record.number, std::mem::replace(&mut record.content, taken)))
        };
        let Some((number, content)) = take(at) else {
            continue;
        };
        let number = Position::Record(number);
        match content {
            Content::Skipped(reason) => parser.skip_record(reason),
            Content::Rejected(fault, text) => {
                let header = archive::read(&text);
                if header.is("response")
                    && let Ok(url) = url(&header)
                {
                    let _ = parser.page(url);
                }
                parser.add(number, Err(fault), &text);
            }
            Content::Item(item) => {
                if item.is_note() && partner.is_some() {
                    parser.skip_record(item.reason());
                    note = Some(item);
                    continue;
                }
                let partner = partner.filter(|_| !item.is_note());
                let note = match partner.and_then(&mut take) {
                    Some((_, Content::Item(note))) => Some(note),
                    _ => note.take(),
                };
                let outcome = count_if_accepted(parser, |parser| {
                    page(&item, note.as_ref(), warc.nofollow, parser)
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

/// Reads a record, together with what is noted of its response if there is anything.
fn page(
    item: &WarcItem,
    note: Option<&WarcItem>,
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
        return match item.kind {
            Kind::Request => Ok(Err(SkipReason::NoResponse)),
            _ => metadata_page(item, &header, parser),
        };
    };
    if note.is_some_and(|note| matches!(note.kind, Kind::Request)) {
        return Ok(Err(SkipReason::NoPage));
    }
    let metadata = note;
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
    let date = parser.field("WARC-Date", text(header.date, "WARC-Date"));
    let name = "WARC-Payload-Digest";
    let digest = parser.field(name, text(header.digest, name));
    let location = response.location.map(header_text);
    let mime = response.content.map(header_text);
    let resource_type = header.resource_type.map(header_text);
    let hops = metadata.map(|note| NotedOrigin::read(note.block()).path);
    let hops = hops.map(header_text);
    let fetch = Fetch {
        url,
        answer,
        time: date,
        digest,
        location: location.as_deref(),
        kind: KindEvidence {
            // Content without a type can be HTML all the same.
            mime: mime.as_deref().or(is_html.then_some("text/html")),
            resource_type: resource_type.as_deref(),
            hops: hops.as_deref(),
            status: response.status,
            is_revisit,
        },
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
    if is_revisit {
        record.same_content = same_content(&header, record.url, parser);
    }
    if let Some(reason) = unread {
        *parser.summary.unread.entry(reason).or_default() += 1;
    }
    if record.is_resource() {
        mark_crawled(&mut record);
    } else if is_html {
        let (body, encoding) = in_utf8(body, response.content);
        let html = Html::read(&body);
        let source = LinkSource {
            url,
            base: html.base.as_deref(),
            nofollow,
            page_nofollow: html.asks_not_to_follow,
            bytes: body.len(),
            encoding,
        };
        let mut links = PageLinks::new(record.url, &source, parser);
        let refresh = response.refresh.map(header_text).unwrap_or_default();
        let link = response.link.map(header_text).unwrap_or_default();
        let of_header = header_links(&link).filter(|(_, rel)| leads_on(Some(rel)));
        let of_header = refresh_target(&refresh)
            .map(|url| (url, ""))
            .into_iter()
            .chain(of_header);
        for (link, rel) in of_header.chain(html.links()) {
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

/// Returns the other page whose content a revisit found.
fn same_content(
    header: &WarcHeader<'_>,
    page: UrlNumber,
    parser: &mut PieceParser,
) -> Option<UrlNumber> {
    let name = "WARC-Refers-To-Target-URI";
    let url = parser.field(name, text(header.refers_to, name))?;
    let other = parser.other_page(name, url).map(Some);
    parser.field(name, other).filter(|other| *other != page)
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
        time: parser.field("WARC-Date", text(header.date, "WARC-Date")),
        digest: None,
        location: None,
        kind: KindEvidence {
            is_revisit: true,
            ..KindEvidence::default()
        },
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

// The parts of WARC records that are read.

/// The WARC format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Warc {
    pub(crate) nofollow: Nofollow,
}

/// A record that describes a page.
#[derive(Debug)]
pub(crate) struct WarcItem {
    /// The header of the record, and the part of its block that is read.
    pub(super) text: Vec<u8>,
    /// Length of the header, in bytes.
    pub(super) header_length: usize,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    /// The header of a response, and its body if that is HTML.
    Response {
        /// Length of the response's header, in bytes.
        header: usize,
        is_revisit: bool,
        is_html: bool,
        /// Why the body was not read completely.
        unread: Option<Unread>,
    },
    /// What a crawler noted about a response: links that it found, and how it came to the page.
    Metadata,
    /// A request by another method than GET: what it was answered is not the page.
    Request,
}

impl WarcItem {
    pub(super) fn header(&self) -> WarcHeader<'_> {
        archive::read(self.text.get(..self.header_length).unwrap_or_default())
    }

    /// Returns the part of the block that is read.
    pub(super) fn block(&self) -> &[u8] {
        self.text.get(self.header_length..).unwrap_or_default()
    }

    /// Returns whether it says something of a response, with which it is read.
    pub(super) const fn is_note(&self) -> bool {
        matches!(self.kind, Kind::Metadata | Kind::Request)
    }

    /// Returns why it yields no record itself where it is read with a response.
    const fn reason(&self) -> SkipReason {
        match self.kind {
            Kind::Request => SkipReason::NoResponse,
            _ => SkipReason::BesideResponse,
        }
    }

    /// Returns whether a request and a response are of one exchange: one of them names the other or, where neither names
    /// any, they have the same time.
    fn is_exchange(request: &WarcHeader<'_>, response: &WarcHeader<'_>) -> bool {
        match (request.concurrent, response.concurrent) {
            ([], []) => request.date == response.date,
            (to, from) => {
                !to.is_empty() && to == response.id || !from.is_empty() && from == request.id
            }
        }
    }
}

/// How a crawler came to a page, as Heritrix notes it.
#[derive(Default)]
pub(super) struct NotedOrigin<'a> {
    /// Whether the page is a seed. Then nothing else is noted.
    pub(super) is_seed: bool,
    /// The seed that the page was found from, if the crawler tags seeds.
    pub(super) seed: Option<&'a [u8]>,
    pub(super) via: Option<&'a [u8]>,
    /// The discovery path: one letter per step from the seed.
    path: &'a [u8],
}

impl<'a> NotedOrigin<'a> {
    /// Reads the lines of metadata.
    pub(super) fn read(block: &'a [u8]) -> Self {
        let mut origin = Self::default();
        for line in block.split(|byte| *byte == b'\n') {
            let line = line.trim_ascii();
            let colon = line.iter().position(|byte| *byte == b':');
            let (name, value) = line.split_at(colon.unwrap_or(line.len()));
            let value = value.strip_prefix(b":").unwrap_or_default().trim_ascii();
            match name {
                b"seed" if value.is_empty() => origin.is_seed = true,
                b"sourceTag" => origin.seed = Some(value),
                b"via" => origin.via = Some(value),
                b"hopsFromSeed" => origin.path = value,
                _ => {}
            }
        }
        origin
    }

    /// Returns whether it names a seed, or says that the page is a part of another one.
    fn is_telling(&self) -> bool {
        self.is_seed
            || self.seed.is_some()
            || self.path.ends_with(b"E")
            || self.path.ends_with(b"X")
    }

    /// Returns the number of steps from the seed.
    pub(super) fn depth(&self) -> Option<u32> {
        u32::try_from(self.path.len()).ok()
    }
}

/// Returns whether metadata lists links that a crawler found.
pub(super) fn has_outlinks(block: &[u8]) -> bool {
    let mut lines = block.split(|byte| *byte == b'\n');
    lines.any(|line| outlink(line).is_some())
}

/// Parses a line `outlink: URL kind context` into the URL and the kind.
pub(super) fn outlink(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let (name, value) = line.split_at_checked(b"outlink:".len())?;
    if !name.eq_ignore_ascii_case(b"outlink:") {
        return None;
    }
    let mut words = value
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    Some((words.next()?, words.next()?))
}

// HTTP responses, up to their content.
//
// The header has the same shape as that of a record, and is parsed as one: lines that are not a
// name and a value are ignored. So is the version (`HTTP/2 200`).

/// The header of a response; `None` stands for a missing value.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct HttpResponse<'a> {
    /// The status, from 100 to 599.
    pub(super) status: Option<u16>,
    /// `Location`.
    pub(super) location: Option<&'a [u8]>,
    /// `Content-Type`, with parameters.
    pub(super) content: Option<&'a [u8]>,
    /// `Refresh`.
    pub(super) refresh: Option<&'a [u8]>,
    /// `Link`.
    pub(super) link: Option<&'a [u8]>,
    /// `Content-Encoding`.
    pub(super) content_encoding: &'a [u8],
    /// `Transfer-Encoding`.
    pub(super) transfer_encoding: &'a [u8],
    /// Length of the header with its blank line, in bytes.
    pub(super) end: usize,
}

impl<'a> HttpResponse<'a> {
    /// Parses the header of a response, which may be followed by content.
    pub(super) fn read(block: &'a [u8]) -> Self {
        let end = archive::end(block).unwrap_or(block.len());
        let text = block.get(..end).unwrap_or_default();
        let [location, content, refresh, link, coding, transfer] = archive::first_values(
            text,
            [
                "Location",
                "Content-Type",
                "Refresh",
                "Link",
                "Content-Encoding",
                "Transfer-Encoding",
            ],
        );
        Self {
            status: status(text),
            location,
            content: content.filter(|content| !content.is_empty()),
            refresh,
            link,
            content_encoding: coding.unwrap_or_default(),
            transfer_encoding: transfer.unwrap_or_default(),
            end,
        }
    }

    /// Returns whether the response has a status of 200 to 299.
    pub(super) fn is_page(&self) -> bool {
        self.status
            .is_some_and(|status| (200..300).contains(&status))
    }

    /// Returns whether the content type is HTML or missing.
    pub(super) fn may_be_html(&self) -> bool {
        self.content
            .is_none_or(|content| is_html_type(archive::media_type(content)))
    }

    /// Returns whether the content, given by its beginning, is HTML.
    pub(super) fn is_html(&self, content: &[u8]) -> bool {
        self.may_be_html() && (self.content.is_some() || begins_as_html(content))
    }
}

/// The header of the response that a resource stands for.
const RESOURCE_HEADER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";

/// Returns whether a media type, without parameters, is HTML.
fn is_html_type(name: &[u8]) -> bool {
    let types: [&[u8]; 2] = [b"text/html", b"application/xhtml+xml"];
    types.iter().any(|html| name.eq_ignore_ascii_case(html))
}

/// Parses the status of a line such as `HTTP/1.1 200 OK`.
fn status(head: &[u8]) -> Option<u16> {
    let line = head.split(|byte| *byte == b'\n').next()?;
    let (protocol, line) = line.split_at_checked(b"HTTP/".len())?;
    if !protocol.eq_ignore_ascii_case(b"HTTP/") {
        return None;
    }
    let space = line.iter().position(|byte| *byte == b' ')?;
    let digits = line.get(space..)?.trim_ascii_start().get(..3)?;
    let status = std::str::from_utf8(digits).ok()?.parse().ok();
    status.filter(|status| (100..600).contains(status))
}

/// Returns whether content without a type begins with a tag by which browsers recognise HTML (WHATWG
/// *MIME Sniffing*, 7.1).
pub(super) fn begins_as_html(content: &[u8]) -> bool {
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
    let content = content.trim_ascii_start();
    let tags: [&[u8]; 17] = [
        b"<!doctype html",
        b"<html",
        b"<head",
        b"<script",
        b"<iframe",
        b"<h1",
        b"<div",
        b"<font",
        b"<table",
        b"<a",
        b"<style",
        b"<title",
        b"<b",
        b"<body",
        b"<br",
        b"<p",
        b"<!--",
    ];
    tags.iter().any(|tag| {
        let begins = content.get(..tag.len());
        let ends = content
            .get(tag.len())
            .is_none_or(|end| matches!(end, b' ' | b'>'));
        begins.is_some_and(|begin| begin.eq_ignore_ascii_case(tag)) && (ends || *tag == b"<!--")
    })
}

// Decoding of the content of a response.
//
// Some crawlers store bodies as they were sent, others decode them and keep the headers. So an
// encoding is removed only if the body begins like one in this encoding.

/// The most encodings that are removed, one after another.
const MAX_ENCODINGS: usize = 4;

/// The largest window of zstd, as a power of two, that RFC 9659 allows servers.
const ZSTD_WINDOW: u32 = 23;

/// A body, and why the rest of it is missing.
type Decoded<'a> = (Cow<'a, [u8]>, Option<Unread>);

/// Returns the first 16 MiB of a response's content; `Err` if an encoding is not supported. Adds the bytes that were
/// decompressed, in all steps, to `made`.
pub(super) fn decoded<'a>(
    response: &HttpResponse<'_>,
    body: &'a [u8],
    made: &mut u64,
) -> Result<Decoded<'a>, Unread> {
    let mut content: Cow<'a, [u8]> = Cow::Borrowed(body);
    let mut missing = None;
    let transfer = tokens(response.transfer_encoding);
    let codings = transfer.chain(tokens(response.content_encoding));
    for (number, coding) in codings.enumerate() {
        if number == MAX_ENCODINGS {
            return Err(Unread::Coding);
        }
        let is = |names: &[&str]| {
            let mut names = names.iter();
            names.any(|name| coding.eq_ignore_ascii_case(name.as_bytes()))
        };
        let step = match () {
            () if is(&["identity"]) => None,
            () if is(&["chunked"]) => unchunked(&content),
            () if is(&["gzip", "x-gzip"]) => gunzipped(&content, made),
            () if is(&["deflate"]) => inflated(&content, made),
            () if is(&["zstd"]) => unzstd(&content, made),
            () if is(&["br"]) => unbrotli(&content, made)?,
            // Whoever wrote the archive may have decoded it.
            () if begins_as_html(&content) => None,
            () => return Err(Unread::Coding),
        };
        if let Some((body, reason)) = step {
            content = Cow::Owned(body);
            missing = missing.or(reason);
        }
    }
    Ok((content, missing))
}

/// Returns the names in a list of encodings, the one that was applied last first.
fn tokens(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let names = list.rsplit(|byte| *byte == b',');
    names
        .map(<[u8]>::trim_ascii)
        .filter(|name| !name.is_empty())
}

/// The result of removing one encoding: the body, and why the rest of it is missing; `None` if the
/// body does not have the encoding.
type Step = Option<(Vec<u8>, Option<Unread>)>;

/// Joins the chunks of a body (RFC 9112, 7.1) as far as they are valid; `None` if there is not one
/// complete chunk.
fn unchunked(body: &[u8]) -> Step {
    let mut content = Vec::new();
    let mut rest = body;
    loop {
        let has_chunk = !content.is_empty();
        let ends = |content, why| has_chunk.then_some((content, Some(why)));
        let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
            // The body ends between chunks, or within a length.
            let mut bytes = rest.iter();
            let is_length = bytes.all(|byte| byte.is_ascii_hexdigit() || *byte == b'\r');
            return ends(
                content,
                if is_length {
                    Unread::CutOff
                } else {
                    Unread::Damaged
                },
            );
        };
        let line = rest.get(..end)?;
        let extension = line.iter().position(|byte| *byte == b';');
        let digits = line.get(..extension.unwrap_or(line.len()))?.trim_ascii();
        let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
        let digits = std::str::from_utf8(digits).ok().filter(|_| is_number);
        let Some(length) = digits.and_then(|digits| usize::from_str_radix(digits, 16).ok()) else {
            return ends(content, Unread::Damaged);
        };
        rest = rest.get(end + 1..)?;
        if length == 0 {
            return Some((content, None));
        }
        let chunk = rest.get(..length).unwrap_or(rest);
        rest = rest.get(chunk.len()..)?;
        let is_whole = chunk.len() == length;
        let follows = match rest {
            [b'\r', b'\n', ..] => Some(2),
            [b'\n', ..] => Some(1),
            _ => None,
        };
        if let Some(line_end) = follows.filter(|_| is_whole) {
            content.extend_from_slice(chunk);
            rest = rest.get(line_end..)?;
        } else if rest.is_empty() || rest == b"\r" {
            content.extend_from_slice(chunk);
            return Some((content, Some(Unread::CutOff)));
        } else if has_chunk {
            // The length or the data is wrong: only the chunks before are certain.
            return Some((content, Some(Unread::Damaged)));
        } else {
            return None;
        }
    }
}

fn gunzipped(body: &[u8], made: &mut u64) -> Step {
    body.starts_with(b"\x1f\x8b")
        .then(|| bounded(MultiGzDecoder::new(body), made))
}

/// Decodes what servers call `deflate`: zlib, or raw deflate.
fn inflated(body: &[u8], made: &mut u64) -> Step {
    let is_zlib = match body {
        [method, flags, ..] => {
            let both = u16::from_be_bytes([*method, *flags]);
            method & 0x0f == 8 && both.is_multiple_of(31)
        }
        _ => return None,
    };
    let (content, missing) = if is_zlib {
        bounded(ZlibDecoder::new(body), made)
    } else {
        bounded(DeflateDecoder::new(body), made)
    };
    // A body that is damaged from its first byte on is not deflate.
    let is_none = begins_as_html(body) || content.is_empty() && missing.is_some();
    (!is_none).then_some((content, missing))
}

fn unzstd(body: &[u8], made: &mut u64) -> Step {
    if !body.starts_with(b"\x28\xb5\x2f\xfd") {
        return None;
    }
    let mut decoder = zstd::stream::read::Decoder::with_buffer(body).ok()?;
    decoder.window_log_max(ZSTD_WINDOW).ok()?;
    Some(bounded(decoder, made))
}

/// Decodes brotli, which has no magic number; but no stream begins with `<`. `Err` if nothing of a body
/// can be decoded.
fn unbrotli(body: &[u8], made: &mut u64) -> Result<Step, Unread> {
    if begins_as_html(body) || body.trim_ascii_start().starts_with(b"<") {
        return Ok(None);
    }
    match bounded(brotli(body), made) {
        (content, Some(missing)) if content.is_empty() => Err(missing),
        step => Ok(Some(step)),
    }
}

/// Reads the first 16 MiB, or as much as can be decoded.
fn bounded(mut from: impl Read, made: &mut u64) -> (Vec<u8>, Option<Unread>) {
    let mut content = Vec::new();
    // Data before an error is kept.
    let read = (&mut from).take(MAX_LINE as u64).read_to_end(&mut content);
    *made += content.len() as u64;
    let missing = match read {
        Err(_) => Some(Unread::Damaged),
        Ok(_) if content.len() < MAX_LINE => None,
        Ok(_) => match from.read(&mut [0]) {
            Ok(0) => None,
            _ => Some(Unread::CutOff),
        },
    };
    (content, missing)
}

// Which WARC records are read, and what is extracted from them.

impl ArchiveFormat for Warc {
    type Item = WarcItem;

    const KIND: DetectedFormat = DetectedFormat::Warc;
    const MAY_CONTAIN_RECORDS: bool = true;
    const MAX_BLOCK: Option<usize> = None;

    fn needs_block(self, header: &WarcHeader<'_>, prefix: &[u8]) -> bool {
        if header.is("response") {
            let response = HttpResponse::read(prefix);
            response.is_page() && response.may_be_html()
        } else if header.is("resource") {
            is_html_type(header.content)
        } else {
            header.is("metadata") && has_notes(header, prefix)
        }
    }

    fn extract(
        self,
        text: &[u8],
        header: &WarcHeader<'_>,
        block: &[u8],
        is_complete: bool,
        made: &mut u64,
    ) -> Result<WarcItem, SkipReason> {
        if header.is("continuation") || !matches!(header.segment, b"" | b"1") {
            return Err(SkipReason::Continuation);
        }
        let url = String::from_utf8_lossy(header.url.unwrap_or_default());
        if header.is("metadata") {
            if !has_notes(header, block) || other_scheme(&url).is_some() {
                return Err(SkipReason::NoResponse);
            }
            return Ok(WarcItem {
                text: [text, block].concat(),
                header_length: text.len(),
                kind: Kind::Metadata,
            });
        }
        if header.is("request") {
            let method = block.split(|byte| *byte == b' ').next().unwrap_or_default();
            let is_method = !method.is_empty() && method.iter().all(u8::is_ascii_uppercase);
            if !is_method || method == b"GET" || other_scheme(&url).is_some() {
                return Err(SkipReason::NoResponse);
            }
            return Ok(WarcItem {
                text: text.to_vec(),
                header_length: text.len(),
                kind: Kind::Request,
            });
        }
        let is_revisit = header.is("revisit");
        let is_resource = header.is("resource") && is_html_type(header.content);
        if !is_revisit && !is_resource && !header.is("response") {
            return Err(SkipReason::NoResponse);
        }
        if other_scheme(&url).is_some() {
            return Err(SkipReason::OtherScheme);
        }
        if is_resource {
            let is_truncated =
                !is_complete || !header.segment.is_empty() || !header.truncated.is_empty();
            // A page that was stored without the response that it came in.
            let block = [RESOURCE_HEADER, block].concat();
            return Ok(response_item(text, &block, false, is_truncated, made));
        }
        let is_http = header.content.is_empty()
            || header.content.eq_ignore_ascii_case(b"application/http")
            || is_revisit && block.is_empty();
        if !is_http {
            return Err(SkipReason::NoResponse);
        }
        let is_truncated =
            !is_complete || !header.segment.is_empty() || !header.truncated.is_empty();
        Ok(response_item(text, block, is_revisit, is_truncated, made))
    }

    fn memory(item: &WarcItem) -> usize {
        item.text.len()
    }

    fn belongs(previous: &WarcItem, item: &WarcItem) -> bool {
        let (before, after) = (previous.header(), item.header());
        let is_pair = previous.is_note() != item.is_note();
        let is_exchange = match (&previous.kind, &item.kind) {
            (Kind::Request, _) => WarcItem::is_exchange(&before, &after),
            (_, Kind::Request) => WarcItem::is_exchange(&after, &before),
            _ => true,
        };
        is_pair && is_exchange && before.url.is_some() && before.url == after.url
    }

    fn read(self, records: Records<WarcItem>, parser: &mut PieceParser) {
        read(0, self, records.items, parser);
    }
}

/// Returns whether a record lists links that a crawler found, or says how the crawler came to the page.
fn has_notes(header: &WarcHeader<'_>, block: &[u8]) -> bool {
    header
        .content
        .eq_ignore_ascii_case(b"application/warc-fields")
        && (has_outlinks(block) || NotedOrigin::read(block).is_telling())
}

/// Extracts the item of a response.
fn response_item(
    header: &[u8],
    block: &[u8],
    is_revisit: bool,
    is_truncated: bool,
    made: &mut u64,
) -> WarcItem {
    let response = HttpResponse::read(block);
    let (http, body) = block.split_at_checked(response.end).unwrap_or((block, &[]));
    let mut text = [header, http].concat();
    let mut is_html = false;
    let mut unread = None;
    if response.is_page() && response.may_be_html() && !is_revisit {
        match decoded(&response, body, made) {
            Ok((body, reason)) => {
                is_html = response.is_html(&body);
                text.extend_from_slice(if is_html { &body } else { &[] });
                unread = is_truncated.then_some(Unread::CutOff).or(reason);
            }
            Err(reason) => unread = Some(reason),
        }
        if response.content.is_none() && !is_html {
            unread = None;
        }
    }
    WarcItem {
        text,
        header_length: header.len(),
        kind: Kind::Response {
            header: http.len(),
            is_revisit,
            is_html,
            unread,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_as_servers_write_them() {
        let text =
            b"HTTP/2 200\ncontent-type: Text/HTML; charset=x\nodd line\nLocation:  /x \n\n<p>";
        let response = HttpResponse::read(text);
        assert_eq!(response.status, Some(200));
        assert_eq!(response.location, Some(&b"/x"[..]));
        assert_eq!(text.get(response.end..), Some(&b"<p>"[..]));
        assert!(response.is_page() && response.may_be_html());
        for (line, status) in [
            ("HTTP/1.1 404 Not Found\r\n\r\n", Some(404)),
            ("HTTP/1.0  301\r\n", Some(301)),
            ("http/1.1 200 ok\r\n", Some(200)),
            ("HTTP/1.1 20", None),
            ("HTTP/1.1 999 no", None),
            ("HTTP/1.1 +20 no", None),
            ("ICY 200 OK\r\n", None),
            ("", None),
        ] {
            assert_eq!(HttpResponse::read(line.as_bytes()).status, status, "{line}");
        }
    }

    #[test]
    fn a_content_without_a_type_is_known_by_its_first_tag() {
        for (content, is) in [
            ("\u{feff}\n <!DOCTYPE html><p>", true),
            ("<a href=/x>", true),
            ("<!--x-->", true),
            ("<abbr>", false),
            ("<?xml version='1.0'?>", false),
            ("%PDF-1.7", false),
            ("", false),
        ] {
            assert_eq!(begins_as_html(content.as_bytes()), is, "{content}");
        }
    }
}

#[cfg(test)]
#[path = "content_encoding_tests.rs"]
mod content_encoding_tests;
