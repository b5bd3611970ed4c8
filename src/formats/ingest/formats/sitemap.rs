//! XML sitemaps and feeds: the pages that a site lists, which become known pages.
//!
//! ```text
//! <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
//!   <url><loc>http://a.example/</loc><lastmod>2026-11-19</lastmod>
//!     <xhtml:link rel="alternate" hreflang="de" href="http://a.example/de"/></url>
//! </urlset>
//! ```
//!
//! * The `loc` of an entry and its alternates are pages, which changed at its `lastmod`. Change frequencies, priorities,
//!   images, videos and news are ignored.
//! * A sitemap index (`sitemapindex`) lists no pages, and nothing is fetched: its entries are
//!   skipped and counted. A batch of nothing but indexes is refused.
//! * A feed (RSS, Atom) lists the pages of its entries and the page that it belongs to. The page of an entry changed when it
//!   was updated, or else published.
//! * The encoding is that of the byte order mark, or else that of the XML declaration.
//! * Elements are identified by their namespace, which is that of the first element, whatever their
//!   prefix.
//! * The text is read as a stream: only one tag and the URLs of a piece are held.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::display::counted;
use crate::ingest::formats::file_source::{FileFormat, FormatError, OpenFile};
use crate::ingest::formats::text_window::TextWindow;
use crate::ingest::location::MAX_URL;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::{Event, PageRecord};
use crate::ingest::sniff::DetectedFormat;
use crate::ingest::source::{PIECE_RECORDS, PIECE_SIZE, Piece, Pieces, Stop};
use crate::ingest::summary::{Fault, Position, RejectReason, SkipReason};
use crate::ingest::timestamp::{Timestamp, parse_mail_date, parse_timestamp};
use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};
use quick_xml::events::{BytesStart, Event as XmlEvent};
use quick_xml::name::ResolveResult;
use quick_xml::reader::NsReader;
use quick_xml::{Error, XmlVersion};

/// Bytes of memory for each URL besides its text.
const URL_OVERHEAD: usize = 32;

/// The sitemap format, for one batch.
#[derive(Clone, Debug)]
pub(super) struct Sitemap(Arc<IndexTally>);

/// Counts the sitemap indexes of a batch, to find out whether it contains nothing else.
#[derive(Debug)]
struct IndexTally {
    /// Number of inputs that are not, or not yet, known to be indexes.
    others: AtomicUsize,
    /// Number of sitemaps in the indexes.
    sitemaps: AtomicU64,
}

impl Sitemap {
    /// The format of the sitemaps in a batch with this number of inputs.
    pub(super) fn new(inputs: usize) -> Self {
        Self(Arc::new(IndexTally {
            others: AtomicUsize::new(inputs),
            sitemaps: AtomicU64::new(0),
        }))
    }
}

impl IndexTally {
    /// Adds an index of `sitemaps` sitemaps. Returns their number in all indexes if every input of the
    /// batch is an index.
    fn add(&self, sitemaps: u64) -> Option<u64> {
        let all = self.sitemaps.fetch_add(sitemaps, Ordering::Relaxed) + sitemaps;
        (self.others.fetch_sub(1, Ordering::Relaxed) == 1).then_some(all)
    }
}

impl FileFormat for Sitemap {
    fn pieces<'a>(&self, mut file: OpenFile<'a>) -> Result<Pieces<'a>, Stop> {
        match file.opened.peek_format() {
            None
            | Some(
                DetectedFormat::Sitemap
                | DetectedFormat::SitemapIndex
                | DetectedFormat::Feed
                | DetectedFormat::Xml,
            ) => {}
            Some(other) => return Err(file.other_format(other)),
        }
        let name = file.name();
        let text = TextWindow::new(file.opened, file.progress);
        Ok(Box::new(Splitter {
            xml: Xml::new(name.clone(), LimitedBytes::new(text)),
            file: name,
            tally: Arc::clone(&self.0),
            failed: None,
            is_ended: false,
        }))
    }
}

/// The URLs of a sitemap, in pieces.
struct Splitter<'a> {
    file: String,
    xml: Xml<'a>,
    tally: Arc<IndexTally>,
    /// The error to return after the URLs before it.
    failed: Option<Stop>,
    is_ended: bool,
}

impl Splitter<'_> {
    /// Returns the error of a sitemap that was read to its end, if there is one.
    fn check_end(&self) -> Option<Stop> {
        if self.xml.kind != Kind::Index {
            return None;
        }
        let sitemaps = self.tally.add(self.xml.number)?;
        let file = self.file.clone();
        Some(SitemapError::NoPages { file, sitemaps }.into())
    }
}

impl<'a> Iterator for Splitter<'a> {
    type Item = Result<Piece<'a>, Stop>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(failed) = self.failed.take() {
            return Some(Err(failed));
        }
        let from = self.xml.consumed();
        let mut entries: Vec<(u64, SitemapEntry)> = Vec::new();
        let mut memory = 0;
        while !self.is_ended && memory < PIECE_SIZE && entries.len() < PIECE_RECORDS {
            match self.xml.next_entry() {
                Ok(Some((number, next))) => {
                    memory += URL_OVERHEAD;
                    if let SitemapEntry::Page { url, .. } = &next {
                        memory += url.len();
                    }
                    entries.push((number, next));
                }
                Ok(None) => {
                    self.is_ended = true;
                    self.failed = self.check_end();
                }
                Err(error) => {
                    self.is_ended = true;
                    self.failed = Some(error);
                }
            }
        }
        if entries.is_empty() {
            return self.failed.take().map(Err);
        }
        Some(Ok(Piece {
            bytes: self.xml.consumed() - from,
            records: entries.len(),
            memory,
            read: Box::new(move |parser| read(&entries, parser)),
        }))
    }
}

fn read(entries: &[(u64, SitemapEntry)], parser: &mut PieceParser) {
    for (number, entry) in entries {
        match entry {
            SitemapEntry::Sitemap => parser.skip_record(SkipReason::Sitemap),
            SitemapEntry::Page {
                url,
                validity,
                changed,
            } => {
                let page = match validity {
                    Ok(()) => parser.page(url),
                    Err(detail) => Err(Fault::new(RejectReason::InvalidUrl, *detail)),
                };
                let event = page.map(|page| {
                    let changed = changed.and_then(|time| parser.time("lastmod", time));
                    Event::Record(PageRecord {
                        changed,
                        ..PageRecord::new(page)
                    })
                });
                parser.add(Position::Record(*number), event, url.as_bytes());
            }
        }
    }
}

// Errors that refuse a sitemap as a whole.

#[derive(Debug, thiserror::Error)]
enum SitemapError {
    #[error(
        "{file} is not a sitemap: expected <urlset>, <sitemapindex>, or the first element of a feed"
    )]
    NoSitemap { file: String },
    /// It is not well-formed XML.
    #[error("{file} is damaged XML at byte {byte}, after {}: {detail}", counted(*urls, "URL"))]
    Damaged {
        file: String,
        /// Number of `url` or `sitemap` elements before.
        urls: u64,
        byte: u64,
        /// Whether nothing follows.
        is_end: bool,
        detail: String,
    },
    /// A tag or text is too long, or elements are nested too deeply.
    #[error("{file} has {what} at byte {byte}, which is not valid in a sitemap")]
    Excess {
        file: String,
        byte: u64,
        what: &'static str,
    },
    /// All inputs of the batch are sitemap indexes.
    #[error(
        "{file} is an index of {} without pages; fetch the sitemaps that it lists and give them as further files",
        counted(*sitemaps, "sitemap")
    )]
    NoPages { file: String, sitemaps: u64 },
}

impl FormatError for SitemapError {
    fn is_truncated(&self) -> bool {
        matches!(self, Self::Damaged { is_end: true, .. })
    }
}

// The bytes of a sitemap, as a stream for its parser that ends if one event of the parser takes more
// than a sitemap can have.

/// The most bytes of one tag, text or comment.
const MAX_EVENT: usize = 1 << 20;

/// Bytes at the beginning that contain the declaration of the encoding.
const MAX_DECLARATION: usize = 1 << 10;

/// Why the stream ended early.
#[derive(Debug)]
enum Ended {
    /// The input cannot be read.
    Failed(Stop),
    /// An event is too long.
    TooLong,
}

/// The stream of an open input.
struct LimitedBytes<'a> {
    text: TextWindow<'a>,
    /// Its text, if that is not in UTF-8.
    decoded: Option<Decoded>,
    /// Bytes of the current event.
    event_bytes: usize,
    ended: Option<Ended>,
}

/// Bytes that are decoded at a time.
const DECODED: usize = 16 << 10;

/// Text in UTF-8, decoded from the encoding that a file declares.
struct Decoded {
    decoder: Decoder,
    text: String,
    /// Bytes of the text that are consumed.
    at: usize,
}

impl Decoded {
    fn rest(&self) -> &[u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn has_text(&self) -> bool {
        !self.rest().is_empty()
    }

    /// Replaces the text, which is consumed, by the next; at the end, by an empty one.
    fn decode(&mut self, from: &mut TextWindow<'_>) {
        self.text.clear();
        self.at = 0;
        while self.text.is_empty() && from.have(1) {
            let stored = from.rest();
            let stored = stored.get(..DECODED).unwrap_or(stored);
            self.text
                .reserve(self.decoder.max_utf8_buffer_length(DECODED).unwrap_or(0));
            let (_, read, _) = self.decoder.decode_to_string(stored, &mut self.text, false);
            from.advance(read);
        }
    }
}

/// Returns the encoding of a file by its first bytes (XML 1.0, appendix F); `None` is UTF-8.
fn encoding_of(head: &[u8]) -> Option<&'static Encoding> {
    let encoding = match head {
        [b'<', 0, ..] => UTF_16LE,
        [0, b'<', ..] => UTF_16BE,
        _ => match Encoding::for_bom(head) {
            Some((encoding, _)) => encoding,
            None => declared_encoding(head)?,
        },
    };
    (encoding != UTF_8).then_some(encoding)
}

/// Returns the encoding that an XML declaration names. It was read as ASCII, so it is none of two bytes.
fn declared_encoding(head: &[u8]) -> Option<&'static Encoding> {
    let declaration = head
        .strip_prefix(b"<?xml")?
        .split(|byte| *byte == b'>')
        .next()?;
    let name = declaration
        .windows(8)
        .position(|name| name == b"encoding")?
        + 8;
    let value = declaration
        .get(name..)?
        .trim_ascii_start()
        .strip_prefix(b"=")?
        .trim_ascii_start();
    let (quote, value) = value.split_first()?;
    let encoding = Encoding::for_label(value.split(|byte| byte == quote).next()?)?;
    (encoding != UTF_16LE && encoding != UTF_16BE).then_some(encoding)
}

impl<'a> LimitedBytes<'a> {
    fn new(mut text: TextWindow<'a>) -> Self {
        text.have(MAX_DECLARATION);
        let encoding = encoding_of(text.rest());
        Self {
            decoded: encoding.map(|encoding| Decoded {
                decoder: encoding.new_decoder_with_bom_removal(),
                text: String::new(),
                at: 0,
            }),
            text,
            event_bytes: 0,
            ended: None,
        }
    }

    const fn begin_event(&mut self) {
        self.event_bytes = 0;
    }

    /// Returns the number of bytes consumed so far.
    fn consumed(&self) -> u64 {
        self.text.consumed()
    }

    /// Returns whether everything is consumed.
    fn is_at_end(&mut self) -> bool {
        !self.decoded.as_ref().is_some_and(Decoded::has_text) && !self.text.have(1)
    }
}

impl BufRead for LimitedBytes<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.event_bytes > MAX_EVENT {
            self.ended.get_or_insert(Ended::TooLong);
            return Err(io::Error::other("an event is too long"));
        }
        if self.decoded.as_ref().is_some_and(Decoded::has_text) {
            return Ok(self.decoded.as_ref().map_or(&[], Decoded::rest));
        }
        if !self.text.have(1)
            && let Some(failed) = self.text.failed.take()
        {
            self.ended = Some(Ended::Failed(failed));
        }
        if self.ended.is_some() {
            return Err(io::Error::other("the input cannot be read"));
        }
        match &mut self.decoded {
            Some(decoded) => {
                decoded.decode(&mut self.text);
                Ok(decoded.rest())
            }
            None => Ok(self.text.rest()),
        }
    }

    fn consume(&mut self, count: usize) {
        match &mut self.decoded {
            Some(decoded) => decoded.at += count,
            None => self.text.advance(count),
        }
        self.event_bytes = self.event_bytes.saturating_add(count);
    }
}

impl Read for LimitedBytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

// The entries of a sitemap.
//
// Nothing outside the file is ever read: document type declarations are ignored, and a reference to
// an entity other than the five of XML makes its URL invalid.

/// The deepest nesting of elements.
const MAX_DEPTH: usize = 64;

/// The namespace of RSS 1.0.
const RSS_1: &str = "http://purl.org/rss/1.0/";

/// The namespace of dates in RSS 1.0.
const DUBLIN_CORE: &str = "http://purl.org/dc/elements/1.1/";

/// The namespace of links to translations of a page.
const XHTML: &str = "http://www.w3.org/1999/xhtml";

#[derive(Debug)]
enum SitemapEntry {
    Page {
        url: String,
        /// Why the URL is invalid.
        validity: Result<(), &'static str>,
        changed: Option<Timestamp>,
    },
    /// Another sitemap.
    Sitemap,
}

/// A sitemap that is being parsed.
struct Xml<'a> {
    file: String,
    reader: NsReader<LimitedBytes<'a>>,
    /// The text of the current event.
    buffer: Vec<u8>,
    /// The open elements, the outermost first.
    path: Vec<Step>,
    /// The namespace of the first element.
    namespace: Option<String>,
    kind: Kind,
    /// Number of `url` or `sitemap` elements so far.
    number: u64,
    /// The current `loc`, and why it is invalid.
    loc: Option<(String, Result<(), &'static str>)>,
    /// The text of the current time.
    time: String,
    /// Pages of the current entry, which may yet say when they changed.
    pages: Vec<(String, Result<(), &'static str>)>,
    /// When the pages of the current entry changed.
    changed: Option<Timestamp>,
    /// Entries that are complete, with their numbers.
    complete: VecDeque<(u64, SitemapEntry)>,
    /// Whether the current entry had a `loc`.
    has_loc: bool,
    is_ended: bool,
}

/// What the first element says that the file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// A sitemap.
    Urls,
    /// A list of sitemaps.
    Index,
    /// RSS 0.91 to 2.0: items within the channel.
    Rss,
    /// RSS 0.9 and 1.0: items beside the channel.
    Rdf,
    Atom,
}

impl Kind {
    fn of(name: &str) -> Option<Self> {
        match name {
            "urlset" => Some(Self::Urls),
            "sitemapindex" => Some(Self::Index),
            "rss" => Some(Self::Rss),
            "RDF" => Some(Self::Rdf),
            "feed" => Some(Self::Atom),
            _ => None,
        }
    }

    const fn is_rss(self) -> bool {
        matches!(self, Self::Rss | Self::Rdf)
    }

    const fn is_feed(self) -> bool {
        matches!(self, Self::Rss | Self::Rdf | Self::Atom)
    }
}

/// The role of an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Root,
    /// `url` or `sitemap`, or `channel`, `item` or `entry` of a feed.
    Entry,
    Loc,
    /// The time at which the page of an entry changed.
    Changed,
    /// Any other element.
    Other,
}

impl<'a> Xml<'a> {
    fn new(file: String, bytes: LimitedBytes<'a>) -> Self {
        let mut reader = NsReader::from_reader(bytes);
        // Many sitemaps contain unescaped `&` in queries.
        reader.config_mut().allow_dangling_amp = true;
        Self {
            file,
            reader,
            buffer: Vec::new(),
            path: Vec::new(),
            namespace: None,
            kind: Kind::Urls,
            number: 0,
            loc: None,
            time: String::new(),
            pages: Vec::new(),
            changed: None,
            complete: VecDeque::new(),
            has_loc: false,
            is_ended: false,
        }
    }

    /// Returns the number of bytes consumed so far.
    fn consumed(&mut self) -> u64 {
        self.reader.get_mut().consumed()
    }

    /// Returns the next entry with its number; `None` at the end.
    fn next_entry(&mut self) -> Result<Option<(u64, SitemapEntry)>, Stop> {
        loop {
            if let Some(entry) = self.complete.pop_front() {
                return Ok(Some(entry));
            }
            if self.is_ended {
                return Ok(None);
            }
            self.buffer.clear();
            self.buffer.shrink_to(64 << 10);
            self.reader.get_mut().begin_event();
            let mut buffer = std::mem::take(&mut self.buffer);
            let event = self.reader.read_event_into(&mut buffer);
            let read = match event {
                Ok(event) => self.event(&event),
                Err(error) => Err(self.failed(&error)),
            };
            self.buffer = buffer;
            read?;
        }
    }

    fn event(&mut self, event: &XmlEvent<'_>) -> Result<(), Stop> {
        match event {
            XmlEvent::Start(tag) => self.start(tag)?,
            XmlEvent::Empty(tag) => {
                self.start(tag)?;
                self.end()?;
            }
            XmlEvent::End(_) => self.end()?,
            XmlEvent::Text(text) => self.text(&text.xml10_content()),
            XmlEvent::CData(text) => self.text(&text.xml10_content()),
            XmlEvent::GeneralRef(reference) => {
                let name = reference.xml10_content();
                match (reference.resolve_char_ref(), &*name) {
                    (Ok(Some(character)), _) => self.text(character.encode_utf8(&mut [0; 4])),
                    (_, "amp") => self.text("&"),
                    (_, "lt") => self.text("<"),
                    (_, "gt") => self.text(">"),
                    (_, "quot") => self.text("\""),
                    (_, "apos") => self.text("'"),
                    _ => {
                        if let Some((_, validity)) = &mut self.loc {
                            *validity = Err("an unknown XML entity");
                        }
                    }
                }
            }
            XmlEvent::Eof => {
                self.is_ended = true;
                if self.namespace.is_none() {
                    return Err(self.no_sitemap());
                }
                if !self.path.is_empty() {
                    return Err(self.damaged("it ends within an element"));
                }
            }
            XmlEvent::Comment(_) | XmlEvent::Decl(_) | XmlEvent::PI(_) | XmlEvent::DocType(_) => {}
        }
        Ok(())
    }

    fn start(&mut self, tag: &BytesStart<'_>) -> Result<(), Stop> {
        if self.path.len() >= MAX_DEPTH {
            return Err(self.excess("elements that are nested too deeply"));
        }
        let (resolved, local) = self.reader.resolver().resolve_element(tag.name());
        let namespace = match resolved {
            ResolveResult::Bound(namespace) => namespace.0.to_owned(),
            ResolveResult::Unbound | ResolveResult::Unknown(_) => String::new(),
        };
        let name = local.into_inner();
        let is_own = self.namespace.as_ref() == Some(&namespace);
        let step = match (self.path.last(), name) {
            (None, _) if self.namespace.is_none() => {
                let Some(kind) = Kind::of(name) else {
                    return Err(self.no_sitemap());
                };
                self.kind = kind;
                self.namespace = Some(match kind {
                    // The root is of another namespace than what it contains.
                    Kind::Rdf => RSS_1.to_owned(),
                    _ => namespace,
                });
                Step::Root
            }
            (None, _) => return Err(self.no_sitemap()),
            // Generators that join sitemaps put one into another.
            (Some(Step::Root), "urlset" | "sitemapindex") if is_own => Step::Root,
            (Some(Step::Root), "url") if is_own && self.kind == Kind::Urls => self.entry(),
            (Some(Step::Root), "sitemap") if is_own && self.kind == Kind::Index => self.entry(),
            (Some(Step::Entry), "loc") if is_own && !self.kind.is_feed() => self.loc(),
            (Some(Step::Entry), "link") if namespace == XHTML && self.kind == Kind::Urls => {
                self.pages.extend(alternate(tag, &["alternate"]));
                Step::Other
            }
            (Some(Step::Entry), "lastmod") if is_own && !self.kind.is_feed() => Step::Changed,
            (Some(Step::Entry), "pubDate") if is_own && self.kind == Kind::Rss => Step::Changed,
            (Some(Step::Entry), "date") if namespace == DUBLIN_CORE && self.kind.is_rss() => {
                Step::Changed
            }
            (Some(Step::Entry), "updated" | "published") if is_own && self.kind == Kind::Atom => {
                Step::Changed
            }
            (Some(Step::Root), "channel" | "item") if is_own && self.kind.is_rss() => self.entry(),
            (Some(Step::Entry), "item") if is_own && self.kind == Kind::Rss => self.entry(),
            (Some(Step::Entry), "link") if is_own && self.kind.is_rss() => self.loc(),
            (Some(Step::Root), "entry") if is_own && self.kind == Kind::Atom => self.entry(),
            (Some(Step::Root | Step::Entry), "link") if is_own && self.kind == Kind::Atom => {
                // A link without a relation is an alternate (RFC 4287, 4.2.7.2).
                let page = alternate(tag, &["alternate", ""]);
                let is_of_feed = page.is_some() && self.path.len() == 1;
                self.pages.extend(page);
                if is_of_feed {
                    self.number += 1;
                    self.complete();
                }
                Step::Other
            }
            _ => Step::Other,
        };
        if step == Step::Changed {
            self.time.clear();
        }
        // The entry ends far away, or never.
        if self.pages.len() >= PIECE_RECORDS {
            self.complete();
        }
        self.path.push(step);
        Ok(())
    }

    /// Completes the pages so far.
    fn complete(&mut self) {
        let changed = self.changed.take();
        for (url, validity) in self.pages.drain(..) {
            let page = SitemapEntry::Page {
                url,
                validity,
                changed,
            };
            self.complete.push_back((self.number, page));
        }
    }

    fn entry(&mut self) -> Step {
        // The entries of a feed are within that of its page.
        self.complete();
        self.number += 1;
        self.has_loc = false;
        Step::Entry
    }

    fn loc(&mut self) -> Step {
        self.loc = Some((String::new(), Ok(())));
        Step::Loc
    }

    fn end(&mut self) -> Result<(), Stop> {
        match self.path.pop() {
            Some(Step::Loc) => {
                self.has_loc = true;
                if self.kind == Kind::Index {
                    self.complete
                        .push_back((self.number, SitemapEntry::Sitemap));
                } else if let Some((url, validity)) = self.loc.take() {
                    self.pages.push((url.trim().to_owned(), validity));
                }
            }
            Some(Step::Changed) => {
                let time = self.time.trim();
                let time = parse_timestamp(time).ok().or_else(|| parse_mail_date(time));
                self.changed = [self.changed, time]
                    .into_iter()
                    .flatten()
                    .max_by_key(|time| time.micros);
            }
            Some(Step::Entry) => {
                if !self.has_loc && !self.kind.is_feed() {
                    self.pages
                        .push((String::new(), Err("an element without a loc")));
                }
                self.complete();
            }
            Some(_) => {}
            None => return Err(self.damaged("an end tag without a start tag")),
        }
        Ok(())
    }

    /// Appends to the current URL or time. Stops beyond twice the length limit, so that an overlong URL can
    /// be detected.
    fn text(&mut self, text: &str) {
        let to = match (self.path.last(), &mut self.loc) {
            (Some(Step::Loc), Some((url, _))) => url,
            (Some(Step::Changed), _) => &mut self.time,
            _ => return,
        };
        if to.len() <= 2 * MAX_URL {
            to.push_str(text);
        }
    }

    fn failed(&mut self, error: &Error) -> Stop {
        self.is_ended = true;
        match self.reader.get_mut().ended.take() {
            Some(Ended::Failed(stop)) => stop,
            Some(Ended::TooLong) => self.excess("a tag or a text of more than a megabyte"),
            None => self.damaged(&error.to_string()),
        }
    }

    fn damaged(&mut self, detail: &str) -> Stop {
        self.is_ended = true;
        let position = self.reader.buffer_position();
        let byte = self.reader.error_position().max(position);
        SitemapError::Damaged {
            file: self.file.clone(),
            urls: self.number,
            byte,
            is_end: self.reader.get_mut().is_at_end(),
            detail: detail.to_owned(),
        }
        .into()
    }

    fn excess(&mut self, what: &'static str) -> Stop {
        self.is_ended = true;
        SitemapError::Excess {
            file: self.file.clone(),
            byte: self.reader.buffer_position(),
            what,
        }
        .into()
    }

    fn no_sitemap(&mut self) -> Stop {
        self.is_ended = true;
        let file = self.file.clone();
        SitemapError::NoSitemap { file }.into()
    }
}

/// Returns the page that a link with one of these relations names: a version in another language or for another
/// device, or what an entry of a feed is about.
fn alternate(
    tag: &BytesStart<'_>,
    relations: &[&str],
) -> Option<(String, Result<(), &'static str>)> {
    let attribute = |name: &str| {
        let found = tag.try_get_attribute(name).ok().flatten()?;
        let value = found.normalized_value(XmlVersion::default()).ok()?;
        Some(value.into_owned())
    };
    let rel = attribute("rel").unwrap_or_default();
    let is_one = |word: &str| relations.iter().any(|one| word.eq_ignore_ascii_case(one));
    if !is_one(&rel) && !rel.split_ascii_whitespace().any(is_one) {
        return None;
    }
    let url = attribute("href")?;
    Some((url.trim().to_owned(), Ok(())))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::fs;

    use seedbank_algorithms::watch::Unwatched;

    use crate::ingest::open::Input;
    use crate::ingest::{Event, Format, SiteMode, UrlRules, read_batch};

    #[test]
    fn a_feed_lists_its_entries_and_its_page() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("feed");
        for (text, pages) in [
            (
                "<?xml version='1.0'?><rss xmlns:a='http://www.w3.org/2005/Atom'><channel><link>http://a.example/</link>\
                 <a:link rel='self' href='http://a.example/rss'/><image><link>http://a.example/i</link></image>\
                 <item><link> http://a.example/1?x&amp;y </link><guid>1</guid>\
                 <pubDate>Thu, 19 Nov 2026 06:00 +0200</pubDate></item><item><title>none</title></item>\
                 <item><link><![CDATA[http://a.example/2]]></link></item></channel></rss>",
                &[
                    ("0/", None),
                    ("0/1?x&y", Some(1_795_060_800)),
                    ("0/2", None),
                ][..],
            ),
            (
                "<feed xmlns='http://www.w3.org/2005/Atom'><link href='http://a.example/'/>\
                 <link rel='self' href='http://a.example/atom'/><entry><published>2026-11-19T04:00:00Z</published>\
                 <updated>2026-11-19T04:00:01Z</updated><link rel='alternate' href='http://a.example/1'/>\
                 <link rel='enclosure' href='http://a.example/1.mp3'/></entry></feed>",
                &[("0/", None), ("0/1", Some(1_795_060_801))],
            ),
            (
                "<r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/'>\
                 <channel><link>http://a.example/</link></channel><item><link>http://a.example/1</link>\
                 <d:date xmlns:d='http://purl.org/dc/elements/1.1/'>2026-11-19</d:date></item></r:RDF>",
                &[("0/", None), ("0/1", Some(1_795_046_400))],
            ),
            (
                "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' xmlns:x='http://www.w3.org/1999/xhtml'>\
                 <url><lastmod>2026-11-19</lastmod><loc>http://a.example/</loc>\
                 <x:link rel='alternate' href='http://a.example/de'/></url>\
                 <url><loc>http://a.example/1</loc><lastmod>never</lastmod></url></urlset>",
                &[
                    ("0/", Some(1_795_046_400)),
                    ("0/de", Some(1_795_046_400)),
                    ("0/1", None),
                ],
            ),
        ] {
            fs::write(&place, text).unwrap();
            let input = Input::File(place.clone());
            let mut sources = Format::named("auto").unwrap().sources(&[input]);
            let mut found = Vec::new();
            let naming = SiteMode::Host.with(UrlRules::Whatwg);
            let read = read_batch(&mut sources, naming, &Unwatched, &mut |_, event| {
                match event {
                    Event::Record(record) => {
                        let changed = record.changed.map(|micros| micros / 1_000_000);
                        found.push((record.url.local.clone(), changed));
                    }
                    other => panic!("{other:?}"),
                }
                Ok::<_, Infallible>(())
            });
            assert!(read.is_ok(), "{read:?}");
            let found: Vec<_> = found.iter().map(|(page, at)| (&**page, *at)).collect();
            assert_eq!(found, pages, "{text}");
        }
    }
}
