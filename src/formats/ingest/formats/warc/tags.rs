//! The tags of a page, as a tokeniser of HTML finds them.
//!
//! The tokeniser has to be told where text begins in which there are no tags (the WHATWG's standard
//! *HTML*, 13.2.6): in scripts, styles, titles, text areas. That is so in HTML alone: within `svg`
//! and `math` an empty `<title/>` is whole, and would else swallow the rest of the page.
//! What stands in `noscript` and `noframes` is content, since crawlers have neither scripts nor frames.

use std::convert::Infallible;
use std::mem::take;

use html5gum::{Emitter, Error, State, Tokenizer};

use super::open_elements::OpenElements;

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
        open: OpenElements::default(),
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
    open: OpenElements,
}

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
            self.open.end(&self.tag.name);
            return None;
        }
        self.last.clone_from(&self.tag.name);
        let is_html = self.open.start(&self.tag.name, self.is_empty);
        if self.is_looked_at {
            (self.take_tag)(&self.tag);
            self.tag = Tag {
                name: take(&mut self.tag.name),
                ..Tag::default()
            };
        }
        if is_html {
            content_of(&self.last)
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
        self.open.is_in_foreign()
    }
}
