//! Links in the HTML of a page.

use std::borrow::Cow;
use std::convert::Infallible;
use std::mem::take;
use std::ops::Range;

use crate::ingest::formats::archive::{
    asks_not_to_follow, has_token, is_robots, leads_on, refresh_target,
};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use html5gum::{Emitter, Error, State, Tokenizer};

/// The links of a page and how its header qualifies them.
#[derive(Debug, Default)]
pub(super) struct Html {
    /// The `href` of the first `base` element that has one.
    pub(super) base: Option<String>,
    /// The first canonical URL.
    pub(super) canonical: Option<String>,
    /// Whether a `meta` element for robots asks not to follow links.
    pub(super) asks_not_to_follow: bool,
    /// The links of `a`, `area` and `frame` elements, of `link` elements that lead on, and of redirects by `meta`
    /// elements, each followed by its `rel`.
    text: String,
    /// Where each link, and its `rel`, ends in the text.
    ends: Vec<(u32, u32)>,
}

impl Html {
    /// Parses a page.
    pub(super) fn read(page: &[u8]) -> Self {
        let mut html = Self::default();
        tags(page, |tag| html.tag(tag));
        html
    }

    /// Returns the links in document order, each with its `rel`.
    pub(super) fn links(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut from = 0;
        self.ends.iter().map(move |(link, rel)| {
            let (link, rel) = (*link as usize, *rel as usize);
            let texts = (self.slice(from..link), self.slice(link..rel));
            from = rel;
            texts
        })
    }

    fn slice(&self, place: Range<usize>) -> &str {
        self.text.get(place).unwrap_or_default()
    }

    fn tag(&mut self, tag: &Tag) {
        let text = |value: &Option<Vec<u8>>| {
            let value = value.as_deref();
            value.map(|value| String::from_utf8_lossy(value).into_owned())
        };
        let rel = || text(&tag.rel);
        match &*tag.name {
            b"base" if self.base.is_none() => self.base = text(&tag.href),
            b"link" => {
                let rel = rel();
                if self.canonical.is_none() && has_token(rel.as_deref(), "canonical") {
                    self.canonical = text(&tag.href);
                } else if leads_on(rel.as_deref()) {
                    self.add_link(tag.href.as_deref(), tag.rel.as_deref());
                }
            }
            b"meta" if is_robots(&text(&tag.meta_name).unwrap_or_default()) => {
                let content = text(&tag.content).unwrap_or_default();
                self.asks_not_to_follow |= asks_not_to_follow(&content);
            }
            b"meta" if is_named(tag.http_equiv.as_deref(), b"refresh") => {
                let content = text(&tag.content).unwrap_or_default();
                self.add_link(refresh_target(&content).map(str::as_bytes), None);
            }
            b"frame" => self.add_link(tag.src.as_deref(), None),
            b"a" | b"area" => self.add_link(tag.href.as_deref(), tag.rel.as_deref()),
            _ => {}
        }
    }

    fn add_link(&mut self, link: Option<&[u8]>, rel: Option<&[u8]>) {
        let Some(link) = link else { return };
        self.text.push_str(&String::from_utf8_lossy(link));
        let link = self.text.len();
        let rel = rel.unwrap_or_default();
        self.text.push_str(&String::from_utf8_lossy(rel));
        let ends = (u32::try_from(link), u32::try_from(self.text.len()));
        if let (Ok(link), Ok(rel)) = ends {
            self.ends.push((link, rel));
        }
    }
}

/// Returns whether an attribute has this value in any case.
fn is_named(attribute: Option<&[u8]>, name: &[u8]) -> bool {
    attribute.is_some_and(|value| value.trim_ascii().eq_ignore_ascii_case(name))
}

// The tags of a page that matter for its links.
//
// The tokeniser must be told where text without tags begins (WHATWG *HTML*, 13.2.6): in scripts,
// styles, titles and text areas. That holds in HTML alone: within `svg` and `math`, `<title/>` is
// an empty element and must not swallow the rest of the page. The contents of `noscript` and
// `noframes` are parsed, since crawlers have neither scripts nor frames.

/// A start tag of interest, with the attributes of interest; the first of several with a name
/// counts.
#[derive(Debug, Default)]
pub(super) struct Tag {
    pub(super) name: Vec<u8>,
    pub(super) href: Option<Vec<u8>>,
    pub(super) src: Option<Vec<u8>>,
    pub(super) rel: Option<Vec<u8>>,
    pub(super) meta_name: Option<Vec<u8>>,
    pub(super) http_equiv: Option<Vec<u8>>,
    pub(super) content: Option<Vec<u8>>,
    pub(super) charset: Option<Vec<u8>>,
}

/// Calls `take_tag` with each `a`, `area`, `base`, `frame`, `link` and `meta` tag of a page, in
/// document order.
pub(super) fn tags(html: &[u8], take_tag: impl FnMut(&Tag)) {
    let emitter = TagEmitter {
        take_tag,
        tag: Tag::default(),
        last: Vec::new(),
        is_end: false,
        is_empty: false,
        is_relevant: false,
        attribute: Vec::new(),
        value: Vec::new(),
        open: OpenElements::default(),
    };
    let Ok(()) = Tokenizer::new_with_emitter(html, emitter).finish();
}

struct TagEmitter<F> {
    take_tag: F,
    /// The current tag.
    tag: Tag,
    /// The name of the last start tag.
    last: Vec<u8>,
    is_end: bool,
    is_empty: bool,
    /// Whether attributes of the current tag are of interest.
    is_relevant: bool,
    /// The current attribute.
    attribute: Vec<u8>,
    value: Vec<u8>,
    open: OpenElements,
}

impl<F: FnMut(&Tag)> TagEmitter<F> {
    fn start(&mut self, is_end: bool) {
        self.tag.name.clear();
        self.is_end = is_end;
        self.is_empty = false;
        self.attribute.clear();
        self.value.clear();
        self.is_relevant = false;
    }

    /// Adds the current attribute to its tag.
    fn end_attribute(&mut self) {
        if !self.is_relevant || self.attribute.is_empty() {
            return;
        }
        let place = match &*self.attribute {
            b"href" => &mut self.tag.href,
            b"src" => &mut self.tag.src,
            b"rel" => &mut self.tag.rel,
            b"name" => &mut self.tag.meta_name,
            b"http-equiv" => &mut self.tag.http_equiv,
            b"content" => &mut self.tag.content,
            b"charset" => &mut self.tag.charset,
            _ => return,
        };
        if place.is_none() {
            *place = Some(take(&mut self.value));
        }
    }
}

/// Returns the tokeniser state for the content of an HTML element.
fn content_state(name: &[u8]) -> Option<State> {
    match name {
        b"textarea" | b"title" => Some(State::RcData),
        b"style" | b"iframe" | b"xmp" | b"noembed" => Some(State::RawText),
        b"script" => Some(State::ScriptData),
        b"plaintext" => Some(State::PlainText),
        _ => None,
    }
}

impl<F: FnMut(&Tag)> Emitter for TagEmitter<F> {
    type Token = Infallible;

    fn set_last_start_tag(&mut self, last_start_tag: Option<&[u8]>) {
        self.last.clear();
        self.last
            .extend_from_slice(last_start_tag.unwrap_or_default());
    }

    fn emit_eof(&mut self) {}

    fn emit_error(&mut self, _: Error) {}

    fn should_emit_errors(&mut self) -> bool {
        false
    }

    fn pop_token(&mut self) -> Option<Infallible> {
        None
    }

    fn emit_string(&mut self, _: &[u8]) {}

    fn init_start_tag(&mut self) {
        self.start(false);
    }

    fn init_end_tag(&mut self) {
        self.start(true);
    }

    fn init_comment(&mut self) {}

    fn emit_current_tag(&mut self) -> Option<State> {
        self.end_attribute();
        if self.is_end {
            self.open.end(&self.tag.name);
            return None;
        }
        self.last.clone_from(&self.tag.name);
        let is_html = self.open.start(&self.tag.name, self.is_empty);
        if self.is_relevant {
            (self.take_tag)(&self.tag);
            self.tag = Tag {
                name: take(&mut self.tag.name),
                ..Tag::default()
            };
        }
        if is_html {
            content_state(&self.last)
        } else {
            None
        }
    }

    fn emit_current_comment(&mut self) {}

    fn emit_current_doctype(&mut self) {}

    fn set_self_closing(&mut self) {
        self.is_empty = true;
    }

    fn set_force_quirks(&mut self) {}

    fn push_tag_name(&mut self, s: &[u8]) {
        self.tag.name.extend_from_slice(s);
    }

    fn push_comment(&mut self, _: &[u8]) {}

    fn push_doctype_name(&mut self, _: &[u8]) {}

    fn init_doctype(&mut self) {}

    fn init_attribute(&mut self) {
        self.end_attribute();
        self.attribute.clear();
        self.value.clear();
        let names: [&[u8]; 6] = [b"a", b"area", b"base", b"frame", b"link", b"meta"];
        self.is_relevant = !self.is_end && names.contains(&&*self.tag.name);
    }

    fn push_attribute_name(&mut self, s: &[u8]) {
        if self.is_relevant {
            self.attribute.extend_from_slice(s);
        }
    }

    fn push_attribute_value(&mut self, s: &[u8]) {
        if self.is_relevant {
            self.value.extend_from_slice(s);
        }
    }

    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}

    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}

    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}

    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.is_end && !self.last.is_empty() && self.tag.name == self.last
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.open.is_in_foreign()
    }
}

// The stack of open elements of a page, as far as it is needed to know where `svg` and `math` end.
//
// Within these, tags are read by other rules than in HTML (WHATWG *HTML*, 13.2.6.5). They end at
// their own end tag, at a tag that cannot occur in them, and at the end of an HTML element around
// them: `<div><svg></div>` ends the `svg`, `<svg></div>` does not.
//
// Simplifications compared with a browser: an element whose end tag was omitted (`p`, `li`) is open
// until an element around it ends; `form`, elements that a page has once, and `annotation-xml` are
// not tracked; and names are compared by their first [`NAME_BYTES`] bytes. Where they differ, an
// `svg` stays open for longer than in a browser.

/// Bytes of a name that are compared.
const NAME_BYTES: usize = 16;
/// The most open elements that are tracked; beyond it the outer half is dropped.
const MAX_OPEN: usize = 256;

type Name = [u8; NAME_BYTES];

/// Which end tags an open element stops, in ascending order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ElementKind {
    /// `svg` and elements in it.
    Svg,
    /// `math` and elements in it.
    Math,
    /// A formatting or unknown element of HTML.
    Plain,
    /// Stops the end tags of plain elements.
    Special,
    /// Stops all end tags except those of tables and their parts.
    Scope,
    Table,
    /// An element of `svg` or `math` that contains HTML.
    Island,
    /// An HTML element that is empty, or not closed by its end tag.
    Untracked,
}

#[derive(Clone, Copy)]
struct Element {
    name: Name,
    kind: ElementKind,
}

/// The open elements, the outermost first.
#[derive(Default)]
pub(super) struct OpenElements(Vec<Element>);

impl OpenElements {
    /// Returns whether the innermost element belongs to `svg` or `math`, including elements that
    /// contain HTML.
    pub(super) fn is_in_foreign(&self) -> bool {
        let kind = self.0.last().map(|open| open.kind);
        matches!(
            kind,
            Some(ElementKind::Svg | ElementKind::Math | ElementKind::Island)
        )
    }

    /// Returns the language whose rules apply to a start tag; `None` for HTML.
    fn foreign(&self) -> Option<ElementKind> {
        let kind = self.0.last()?.kind;
        matches!(kind, ElementKind::Svg | ElementKind::Math).then_some(kind)
    }

    /// Processes a start tag. Returns whether it is read by the rules of HTML.
    pub(super) fn start(&mut self, name: &[u8], is_empty: bool) -> bool {
        if self.foreign().is_some() && breaks_out(name) {
            self.break_out();
        }
        let foreign = self.foreign();
        let kind = match (foreign, name) {
            (Some(ElementKind::Svg), b"foreignobject" | b"desc" | b"title")
            | (Some(ElementKind::Math), b"mi" | b"mo" | b"mn" | b"ms" | b"mtext") => {
                ElementKind::Island
            }
            (Some(kind), _) => kind,
            (None, b"svg") => ElementKind::Svg,
            (None, b"math") => ElementKind::Math,
            (None, _) => kind_of(name),
        };
        let is_tracked = match kind {
            ElementKind::Svg | ElementKind::Math | ElementKind::Island => !is_empty,
            kind => kind != ElementKind::Untracked,
        };
        if is_tracked {
            if self.0.len() >= MAX_OPEN {
                self.0.drain(..MAX_OPEN / 2);
            }
            let name = compared(name);
            self.0.push(Element { name, kind });
        }
        foreign.is_none()
    }

    /// Processes an end tag.
    pub(super) fn end(&mut self, name: &[u8]) {
        if matches!(name, b"p" | b"br") && self.foreign().is_some() {
            self.break_out();
        }
        let ended = compared(name);
        let is_html =
            |open: &Element| (ElementKind::Plain..ElementKind::Island).contains(&open.kind);
        let innermost_html = self.0.iter().rposition(is_html).map_or(0, |at| at + 1);
        let inner = &self.0[innermost_html..];
        if let Some(at) = inner.iter().rposition(|open| open.name == ended) {
            self.0.truncate(innermost_html + at);
            return;
        }
        let stop = stop_of(name);
        let ends_heading = is_heading(&ended);
        for (at, open) in self.0.iter().enumerate().rev() {
            let is_it = open.name == ended || ends_heading && is_heading(&open.name);
            if is_it && is_html(open) {
                self.0.truncate(at);
                return;
            }
            if open.kind >= stop || name == b"li" && matches!(&open.name[..3], b"ul\0" | b"ol\0") {
                return;
            }
        }
    }

    /// Closes elements up to the innermost that contains HTML.
    fn break_out(&mut self) {
        while self.foreign().is_some() {
            self.0.pop();
        }
    }
}

/// Returns the part of a name that is compared.
fn compared(name: &[u8]) -> Name {
    let mut compared = [0; NAME_BYTES];
    let length = name.len().min(NAME_BYTES);
    compared[..length].copy_from_slice(&name[..length]);
    compared
}

fn is_heading(name: &Name) -> bool {
    name[0] == b'h' && (b'1'..=b'6').contains(&name[1]) && name[2] == 0
}

/// Returns which end tags an HTML element stops (13.2.4.2 of the standard).
fn kind_of(name: &[u8]) -> ElementKind {
    match name {
        b"area" | b"base" | b"basefont" | b"bgsound" | b"br" | b"col" | b"embed" | b"frame"
        | b"hr" | b"image" | b"img" | b"input" | b"keygen" | b"link" | b"meta" | b"param"
        | b"source" | b"track" | b"wbr" | b"body" | b"form" | b"frameset" | b"head" | b"html" => {
            ElementKind::Untracked
        }
        b"table" | b"template" => ElementKind::Table,
        b"applet" | b"caption" | b"marquee" | b"object" | b"select" | b"td" | b"th" => {
            ElementKind::Scope
        }
        b"address" | b"article" | b"aside" | b"blockquote" | b"button" | b"center"
        | b"colgroup" | b"dd" | b"details" | b"dir" | b"div" | b"dl" | b"dt" | b"fieldset"
        | b"figcaption" | b"figure" | b"footer" | b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6"
        | b"header" | b"hgroup" | b"iframe" | b"li" | b"listing" | b"main" | b"menu" | b"nav"
        | b"noembed" | b"noframes" | b"noscript" | b"ol" | b"p" | b"plaintext" | b"pre"
        | b"script" | b"search" | b"section" | b"style" | b"summary" | b"tbody" | b"textarea"
        | b"tfoot" | b"thead" | b"title" | b"tr" | b"ul" | b"xmp" => ElementKind::Special,
        _ => ElementKind::Plain,
    }
}

/// Returns the least kind of open element that stops the end tag of an HTML element.
fn stop_of(name: &[u8]) -> ElementKind {
    match name {
        b"caption" | b"table" | b"tbody" | b"td" | b"template" | b"tfoot" | b"th" | b"thead"
        | b"tr" => ElementKind::Table,
        _ if matches!(kind_of(name), ElementKind::Plain | ElementKind::Untracked) => {
            ElementKind::Special
        }
        _ => ElementKind::Scope,
    }
}

/// Returns whether a start tag closes `svg` and `math` (13.2.6.5 of the standard).
fn breaks_out(name: &[u8]) -> bool {
    const NAMES: [&[u8]; 42] = [
        b"b", b"big", b"body", b"br", b"center", b"code", b"dd", b"div", b"dl", b"dt", b"em",
        b"embed", b"h1", b"h2", b"h3", b"h4", b"h5", b"h6", b"head", b"hr", b"i", b"img", b"li",
        b"listing", b"menu", b"meta", b"nobr", b"ol", b"p", b"pre", b"ruby", b"s", b"small",
        b"span", b"strong", b"strike", b"sub", b"sup", b"table", b"tt", b"u", b"ul",
    ];
    name == b"blockquote" || name == b"var" || NAMES.contains(&name)
}

// Character encodings of pages.

/// Number of bytes that are searched for the name of the encoding.
const PRESCAN: usize = 1_024;

/// Converts a page to UTF-8, and returns the encoding that it was in; `None` is UTF-8. Bytes that are not
/// valid UTF-8 in a page that claims to be UTF-8 stay as they are.
///
/// The encoding is that of the byte order mark, else that of the header `Content-Type`, else that of
/// a `meta` element in the first 1,024 bytes, else UTF-8 (WHATWG *HTML*, 13.2.3.2).
pub(super) fn in_utf8<'a>(
    page: &'a [u8],
    content_type: Option<&[u8]>,
) -> (Cow<'a, [u8]>, Option<&'static Encoding>) {
    let (encoding, page) = if let Some((encoding, length)) = Encoding::for_bom(page) {
        (encoding, page.get(length..).unwrap_or_default())
    } else {
        let header_encoding = content_type.and_then(charset);
        let named = header_encoding.or_else(|| encoding_of_meta(page));
        (named.unwrap_or(UTF_8), page)
    };
    if encoding == UTF_8 {
        return (Cow::Borrowed(page), None);
    }
    let text = match encoding.decode_without_bom_handling(page).0 {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    };
    (text, Some(encoding))
}

/// Returns the encoding that a media type names.
fn charset(content_type: &[u8]) -> Option<&'static Encoding> {
    let place = content_type
        .windows(b"charset".len())
        .position(|name| name.eq_ignore_ascii_case(b"charset"))?;
    let rest = content_type.get(place + b"charset".len()..)?;
    let value = rest
        .trim_ascii_start()
        .strip_prefix(b"=")?
        .trim_ascii_start();
    let (value, end): (_, &[u8]) = match value {
        [b'"', value @ ..] => (value, b"\""),
        [b'\'', value @ ..] => (value, b"'"),
        _ => (value, b"; \t\r\n"),
    };
    Encoding::for_label_no_replacement(value.split(|byte| end.contains(byte)).next()?)
}

/// Returns the encoding that a `meta` element of the page names.
fn encoding_of_meta(page: &[u8]) -> Option<&'static Encoding> {
    let mut found = None;
    let head = page.get(..PRESCAN).unwrap_or(page);
    tags(head, |tag| {
        if found.is_some() || tag.name != b"meta" {
            return;
        }
        let is_type = is_named(tag.http_equiv.as_deref(), b"content-type");
        found = match (&tag.charset, &tag.content) {
            (Some(label), _) => Encoding::for_label_no_replacement(label),
            (None, Some(content)) if is_type => charset(content),
            _ => None,
        };
    });
    // The page was readable as ASCII up to here, so it is in neither of these.
    found.map(|encoding| match encoding {
        encoding if encoding == UTF_16LE || encoding == UTF_16BE => UTF_8,
        encoding if encoding.name() == "x-user-defined" => WINDOWS_1252,
        encoding => encoding,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_in_the_encoding_that_it_says() {
        let utf16 =
            |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_be_bytes).collect() };
        for (page, header, text) in [
            (&b"\xe4"[..], Some("text/html; charset=iso-8859-1"), "\u{e4}"),
            (b"\xe4", Some("text/html; Charset = \"latin1\" ; x"), "\u{e4}"),
            (b"\xc3\xa4", Some("text/html"), "\u{e4}"),
            (b"\xc3\xa4", Some("text/html;charset=nonsense"), "\u{e4}"),
            (b"\xef\xbb\xbf\xc3\xa4", Some("text/html;charset=latin1"), "\u{e4}"),
            (b"<meta charset=windows-1251>\xe4", None, "<meta charset=windows-1251>\u{434}"),
            (
                b"<!-- <meta charset=latin1> --><META http-equiv=Content-Type content='text/html; charset=koi8-r'>\xc4",
                None,
                "<!-- <meta charset=latin1> --><META http-equiv=Content-Type content='text/html; charset=koi8-r'>\u{434}",
            ),
            (b"<meta charset=utf-16>\xc3\xa4", None, "<meta charset=utf-16>\u{e4}"),
            (&[b"\xfe\xff", &utf16("<a>")[..]].concat(), None, "<a>"),
            (&utf16("<a>"), Some("text/html; charset=utf-16be"), "<a>"),
        ] {
            let (page, _) = in_utf8(page, header.map(str::as_bytes));
            assert_eq!(String::from_utf8_lossy(&page), text, "{header:?}");
        }
        let late = [&[b' '; PRESCAN][..], b"<meta charset=latin1>\xc3\xa4"].concat();
        assert!(in_utf8(&late, None).0.ends_with(b"\xc3\xa4"));
    }
}

#[cfg(test)]
#[path = "html_tests.rs"]
mod html_tests;
