//! The tags of a page, as a tokeniser of HTML finds them.
//!
//! The tokeniser has to be told where text begins in which there are no tags (the WHATWG's standard
//! *HTML*, 13.2.6): in scripts, styles, titles, text areas. That is so in HTML alone: within `svg`
//! and `math` an empty `<title/>` is whole, and would else swallow the rest of the page.
//! What stands in `noscript` and `noframes` is content, since crawlers have neither scripts nor frames.

use std::convert::Infallible;
use std::mem::take;

use html5gum::{Emitter, Error, State, Tokenizer};

/// The start tag of an element that is looked at, with those of its attributes that are; of several
/// of a name the first counts.
#[derive(Debug, Default)]
pub(super) struct Tag {
    pub(super) name: Vec<u8>,
    pub(super) href: Option<Vec<u8>>,
    pub(super) rel: Option<Vec<u8>>,
    pub(super) meta_name: Option<Vec<u8>>,
    pub(super) http_equiv: Option<Vec<u8>>,
    pub(super) content: Option<Vec<u8>>,
    pub(super) charset: Option<Vec<u8>>,
}

/// Hands over the tags `a`, `area`, `base`, `link` and `meta` of a page, in their order.
pub(super) fn tags(html: &[u8], take_tag: impl FnMut(&Tag)) {
    let emitter = Tags {
        take_tag,
        tag: Tag::default(),
        last: Vec::new(),
        is_end: false,
        is_empty: false,
        is_looked_at: false,
        attribute: Vec::new(),
        value: Vec::new(),
        foreign: Vec::new(),
    };
    let Ok(()) = Tokenizer::new_with_emitter(html, emitter).finish();
}

struct Tags<F> {
    take_tag: F,
    /// The tag that is read.
    tag: Tag,
    /// The name of the last start tag.
    last: Vec<u8>,
    is_end: bool,
    is_empty: bool,
    /// Whether its attributes are looked at.
    is_looked_at: bool,
    /// The attribute that is read.
    attribute: Vec<u8>,
    value: Vec<u8>,
    /// The elements of another language that are open, from the outermost on: `svg` or not.
    foreign: Vec<Foreign>,
}

/// An element within which the rules are others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Foreign {
    Svg,
    Math,
    /// HTML within `svg`.
    Html,
}

/// The most of these that are told apart; deeper ones count as the last.
const DEEPEST: usize = 64;

impl<F: FnMut(&Tag)> Tags<F> {
    fn start(&mut self, is_end: bool) {
        self.tag.name.clear();
        self.is_end = is_end;
        self.is_empty = false;
        self.attribute.clear();
        self.value.clear();
        self.is_looked_at = false;
    }

    /// Puts the attribute on its tag.
    fn end_attribute(&mut self) {
        if !self.is_looked_at || self.attribute.is_empty() {
            return;
        }
        let place = match &*self.attribute {
            b"href" => &mut self.tag.href,
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

    fn is_foreign(&self) -> bool {
        matches!(self.foreign.last(), Some(Foreign::Svg | Foreign::Math))
    }

    /// Notes which language the content of the element is in.
    fn enter(&mut self) {
        let language = match &*self.tag.name {
            b"svg" => Foreign::Svg,
            b"math" => Foreign::Math,
            b"foreignobject" if self.is_foreign() => Foreign::Html,
            // These end what is not HTML, as its end tag would.
            name if self.is_foreign() && breaks_out(name) => {
                while self.is_foreign() {
                    self.foreign.pop();
                }
                return;
            }
            _ => return,
        };
        if !self.is_empty && self.foreign.len() < DEEPEST {
            self.foreign.push(language);
        }
    }

    fn leave(&mut self) {
        let language = match &*self.tag.name {
            b"svg" => Foreign::Svg,
            b"math" => Foreign::Math,
            b"foreignobject" => Foreign::Html,
            _ => return,
        };
        if let Some(open) = self.foreign.iter().rposition(|open| *open == language) {
            self.foreign.truncate(open);
        }
    }
}

/// Whether the tag of this name cannot stand in `svg` or `math` (13.2.6.5 of the standard).
fn breaks_out(name: &[u8]) -> bool {
    matches!(
        name,
        b"b" | b"big"
            | b"blockquote"
            | b"body"
            | b"br"
            | b"center"
            | b"code"
            | b"dd"
            | b"div"
            | b"dl"
            | b"dt"
            | b"em"
            | b"embed"
            | b"h1"
            | b"h2"
            | b"h3"
            | b"h4"
            | b"h5"
            | b"h6"
            | b"head"
            | b"hr"
            | b"i"
            | b"img"
            | b"li"
            | b"listing"
            | b"menu"
            | b"meta"
            | b"nobr"
            | b"ol"
            | b"p"
            | b"pre"
            | b"ruby"
            | b"s"
            | b"small"
            | b"span"
            | b"strong"
            | b"strike"
            | b"sub"
            | b"sup"
            | b"table"
            | b"tt"
            | b"u"
            | b"ul"
            | b"var"
    )
}

/// How the content of an element of HTML is read.
fn content_of(name: &[u8]) -> Option<State> {
    match name {
        b"textarea" | b"title" => Some(State::RcData),
        b"style" | b"iframe" | b"xmp" | b"noembed" => Some(State::RawText),
        b"script" => Some(State::ScriptData),
        b"plaintext" => Some(State::PlainText),
        _ => None,
    }
}

impl<F: FnMut(&Tag)> Emitter for Tags<F> {
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
            self.leave();
            return None;
        }
        self.last.clone_from(&self.tag.name);
        self.enter();
        if self.is_looked_at {
            (self.take_tag)(&self.tag);
            self.tag = Tag {
                name: take(&mut self.tag.name),
                ..Tag::default()
            };
        }
        if self.is_foreign() {
            return None;
        }
        content_of(&self.last)
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
        let names: [&[u8]; 5] = [b"a", b"area", b"base", b"link", b"meta"];
        self.is_looked_at = !self.is_end && names.contains(&&*self.tag.name);
    }

    fn push_attribute_name(&mut self, s: &[u8]) {
        if self.is_looked_at {
            self.attribute.extend_from_slice(s);
        }
    }

    fn push_attribute_value(&mut self, s: &[u8]) {
        if self.is_looked_at {
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
        self.is_foreign()
    }
}
