//! The URLs of a sitemap, one after another.
//!
//! Nothing outside the file is ever read: what a document type declares is passed over, and a
//! reference to an entity other than the five of XML makes its URL a bad one.

use quick_xml::events::{BytesStart, Event};
use quick_xml::name::ResolveResult;
use quick_xml::reader::NsReader;
use quick_xml::{Error, XmlVersion};

use super::limited_bytes::{Ended, LimitedBytes};
use super::error::SitemapError;
use crate::ingest::location::MAX_URL;
use crate::ingest::open::InputError;
use crate::ingest::source::Stop;

/// How deep elements may stand in elements.
const DEEPEST: usize = 64;

/// The namespace of the links by which a page names its translations.
const XHTML: &str = "http://www.w3.org/1999/xhtml";

/// Something that a sitemap names.
#[derive(Debug)]
pub(super) enum SitemapEntry {
    /// A page; or else why the URL is none.
    Page(String, Result<(), &'static str>),
    /// Another sitemap.
    Sitemap,
}

/// A sitemap that is being read.
pub(super) struct Xml<'a> {
    file: String,
    reader: NsReader<LimitedBytes<'a>>,
    /// What an event is read into.
    buffer: Vec<u8>,
    /// Whether the sitemap's own elements stand where the reader is, from outside to inside.
    path: Vec<Step>,
    /// The namespace of the first element.
    namespace: Option<String>,
    is_index: bool,
    /// How many elements `url` or `sitemap` have begun.
    pub(super) number: u64,
    /// The `loc` that is being read, and what is wrong with it.
    loc: Option<(String, Result<(), &'static str>)>,
    /// Whether the element that is being read had a `loc`.
    has_loc: bool,
    is_ended: bool,
}

/// What an element is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Root,
    /// `url` or `sitemap`.
    Entry,
    Loc,
    /// Anything else, with all that is in it.
    Other,
}

impl<'a> Xml<'a> {
    pub(super) fn new(file: String, bytes: LimitedBytes<'a>) -> Self {
        let mut reader = NsReader::from_reader(bytes);
        // Many write the `&` of a query as it is.
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

    /// How many bytes are done with.
    pub(super) fn done(&mut self) -> u64 {
        self.reader.get_mut().done()
    }

    /// The next thing that is named, with the number of its element; `None` at the end.
    pub(super) fn next_named(&mut self) -> Result<Option<SitemapEntry>, Stop> {
        while !self.is_ended {
            self.buffer.clear();
            self.buffer.shrink_to(64 << 10);
            self.reader.get_mut().begin();
            let mut buffer = std::mem::take(&mut self.buffer);
            let event = self.reader.read_event_into(&mut buffer);
            let said = match event {
                Ok(event) => self.event(&event),
                Err(error) => Err(self.failed(&error)),
            };
            self.buffer = buffer;
            if let Some(named) = said? {
                return Ok(Some(named));
            }
        }
        Ok(None)
    }

    fn event(&mut self, event: &Event<'_>) -> Result<Option<SitemapEntry>, Stop> {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::Empty(tag) => {
                let named = self.start(tag)?;
                Ok(self.end()?.or(named))
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
                        if let Some((_, is)) = &mut self.loc {
                            *is = Err("an unknown XML entity");
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
        if self.path.len() >= DEEPEST {
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
                Ok(loc.map(|(url, is)| {
                    if self.is_index {
                        SitemapEntry::Sitemap
                    } else {
                        SitemapEntry::Page(url.trim().to_owned(), is)
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

    /// Adds to the URL that is being read; of what is too long for one, enough to see that.
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

    fn damaged(&mut self, said: &str) -> Stop {
        self.is_ended = true;
        InputError::from(SitemapError::Damaged {
            file: self.file.clone(),
            urls: self.number,
            byte: self
                .reader
                .error_position()
                .max(self.reader.buffer_position()),
            said: said.to_owned(),
        })
        .into()
    }

    fn excess(&mut self, what: &'static str) -> Stop {
        self.is_ended = true;
        InputError::from(SitemapError::Excess {
            file: self.file.clone(),
            byte: self.reader.buffer_position(),
            what,
        })
        .into()
    }

    fn no_sitemap(&mut self) -> Stop {
        self.is_ended = true;
        InputError::from(SitemapError::NoSitemap {
            file: self.file.clone(),
        })
        .into()
    }

    /// Whether it is a list of sitemaps.
    pub(super) const fn is_index(&self) -> bool {
        self.is_index
    }
}

/// The page that a link names as the same in another language or for another screen.
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
