//! The entries of a sitemap.
//!
//! Nothing outside the file is ever read: document type declarations are ignored, and a reference to
//! an entity other than the five of XML makes its URL invalid.

use quick_xml::events::{BytesStart, Event};
use quick_xml::name::ResolveResult;
use quick_xml::reader::NsReader;
use quick_xml::{Error, XmlVersion};

use super::error::SitemapError;
use super::limited_bytes::{Ended, LimitedBytes};
use crate::ingest::location::MAX_URL;
use crate::ingest::source::Stop;

/// The deepest nesting of elements.
const MAX_DEPTH: usize = 64;

/// The namespace of links to translations of a page.
const XHTML: &str = "http://www.w3.org/1999/xhtml";

#[derive(Debug)]
pub(super) enum SitemapEntry {
    /// A page, and why its URL is invalid.
    Page(String, Result<(), &'static str>),
    /// Another sitemap.
    Sitemap,
}

/// A sitemap that is being parsed.
pub(super) struct Xml<'a> {
    file: String,
    reader: NsReader<LimitedBytes<'a>>,
    /// The text of the current event.
    buffer: Vec<u8>,
    /// The open elements, the outermost first.
    path: Vec<Step>,
    /// The namespace of the first element.
    namespace: Option<String>,
    pub(super) is_index: bool,
    /// Number of `url` or `sitemap` elements so far.
    pub(super) number: u64,
    /// The current `loc`, and why it is invalid.
    loc: Option<(String, Result<(), &'static str>)>,
    /// Whether the current entry had a `loc`.
    has_loc: bool,
    is_ended: bool,
}

/// The role of an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Root,
    /// `url` or `sitemap`.
    Entry,
    Loc,
    /// Any other element.
    Other,
}

impl<'a> Xml<'a> {
    pub(super) fn new(file: String, bytes: LimitedBytes<'a>) -> Self {
        let mut reader = NsReader::from_reader(bytes);
        // Many sitemaps contain unescaped `&` in queries.
        reader.config_mut().allow_dangling_amp = true;
        Self {
            file,
            reader,
            buffer: Vec::new(),
            path: Vec::new(),
            namespace: None,
            is_index: false,
            number: 0,
            loc: None,
            has_loc: false,
            is_ended: false,
        }
    }

    /// Returns the number of bytes consumed so far.
    pub(super) fn consumed(&mut self) -> u64 {
        self.reader.get_mut().consumed()
    }

    /// Returns the next entry; `None` at the end.
    pub(super) fn next_entry(&mut self) -> Result<Option<SitemapEntry>, Stop> {
        while !self.is_ended {
            self.buffer.clear();
            self.buffer.shrink_to(64 << 10);
            self.reader.get_mut().begin_event();
            let mut buffer = std::mem::take(&mut self.buffer);
            let event = self.reader.read_event_into(&mut buffer);
            let entry = match event {
                Ok(event) => self.event(&event),
                Err(error) => Err(self.failed(&error)),
            };
            self.buffer = buffer;
            if let Some(entry) = entry? {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    fn event(&mut self, event: &Event<'_>) -> Result<Option<SitemapEntry>, Stop> {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::Empty(tag) => {
                let entry = self.start(tag)?;
                Ok(self.end()?.or(entry))
            }
            Event::End(_) => self.end(),
            Event::Text(text) => {
                self.text(&text.xml10_content());
                Ok(None)
            }
            Event::CData(text) => {
                self.text(&text.xml10_content());
                Ok(None)
            }
            Event::GeneralRef(reference) => {
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
                Ok(None)
            }
            Event::Eof => {
                self.is_ended = true;
                if self.namespace.is_none() {
                    return Err(self.no_sitemap());
                }
                if !self.path.is_empty() {
                    return Err(self.damaged("it ends within an element"));
                }
                Ok(None)
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => Ok(None),
        }
    }

    fn start(&mut self, tag: &BytesStart<'_>) -> Result<Option<SitemapEntry>, Stop> {
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
            (None, "urlset" | "sitemapindex") if self.namespace.is_none() => {
                self.is_index = name == "sitemapindex";
                self.namespace = Some(namespace);
                Step::Root
            }
            (None, _) => return Err(self.no_sitemap()),
            (Some(Step::Root), "url" | "sitemap")
                if is_own && self.is_index == (name == "sitemap") =>
            {
                self.number += 1;
                self.has_loc = false;
                Step::Entry
            }
            (Some(Step::Entry), "loc") if is_own => {
                self.loc = Some((String::new(), Ok(())));
                Step::Loc
            }
            (Some(Step::Entry), "link") if namespace == XHTML && !self.is_index => {
                self.path.push(Step::Other);
                return Ok(alternate(tag));
            }
            _ => Step::Other,
        };
        self.path.push(step);
        Ok(None)
    }

    fn end(&mut self) -> Result<Option<SitemapEntry>, Stop> {
        match self.path.pop() {
            Some(Step::Loc) => {
                let loc = self.loc.take();
                self.has_loc = true;
                Ok(loc.map(|(url, validity)| {
                    if self.is_index {
                        SitemapEntry::Sitemap
                    } else {
                        SitemapEntry::Page(url.trim().to_owned(), validity)
                    }
                }))
            }
            Some(Step::Entry) if !self.has_loc => Ok(Some(SitemapEntry::Page(
                String::new(),
                Err("an element without a loc"),
            ))),
            Some(_) => Ok(None),
            None => Err(self.damaged("an end tag without a start tag")),
        }
    }

    /// Appends to the current URL. Stops beyond twice the length limit, so that an overlong URL can
    /// be detected.
    fn text(&mut self, text: &str) {
        if self.path.last() == Some(&Step::Loc)
            && let Some((url, _)) = &mut self.loc
            && url.len() <= 2 * MAX_URL
        {
            url.push_str(text);
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
        SitemapError::Damaged {
            file: self.file.clone(),
            urls: self.number,
            byte: self.reader.error_position().max(position),
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

/// Returns the page that a link names as a version in another language or for another device.
fn alternate(tag: &BytesStart<'_>) -> Option<SitemapEntry> {
    let attribute = |name: &str| {
        let found = tag.try_get_attribute(name).ok().flatten()?;
        let value = found.normalized_value(XmlVersion::default()).ok()?;
        Some(value.into_owned())
    };
    let rel = attribute("rel")?;
    if !rel
        .split_ascii_whitespace()
        .any(|word| word.eq_ignore_ascii_case("alternate"))
    {
        return None;
    }
    let url = attribute("href")?;
    Some(SitemapEntry::Page(url.trim().to_owned(), Ok(())))
}
