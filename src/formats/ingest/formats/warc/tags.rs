//! The tags of a page that matter for its links.
//!
//! The tokeniser must be told where text without tags begins (WHATWG *HTML*, 13.2.6): in scripts,
//! styles, titles and text areas. That holds in HTML alone: within `svg` and `math`, `<title/>` is
//! an empty element and must not swallow the rest of the page. The contents of `noscript` and
//! `noframes` are parsed, since crawlers have neither scripts nor frames.

use std::convert::Infallible;
use std::mem::take;

use html5gum::{Emitter, Error, State, Tokenizer};

use super::open_elements::OpenElements;

/// A start tag of interest, with the attributes of interest; the first of several with a name
/// counts.
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

/// Calls `take_tag` with each `a`, `area`, `base`, `link` and `meta` tag of a page, in document
/// order.
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
        let names: [&[u8]; 5] = [b"a", b"area", b"base", b"link", b"meta"];
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
