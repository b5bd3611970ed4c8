//! The stack of open elements of a page, as far as it is needed to know where `svg` and `math` end.
//!
//! Within these, tags are read by other rules than in HTML (WHATWG *HTML*, 13.2.6.5). They end at
//! their own end tag, at a tag that cannot occur in them, and at the end of an HTML element around
//! them: `<div><svg></div>` ends the `svg`, `<svg></div>` does not.
//!
//! Simplifications compared with a browser: an element whose end tag was omitted (`p`, `li`) is open
//! until an element around it ends; `form`, elements that a page has once, and `annotation-xml` are
//! not tracked; and names are compared by their first [`NAME_BYTES`] bytes. Where they differ, an
//! `svg` stays open for longer than in a browser.

/// Bytes of a name that are compared.
const NAME_BYTES: usize = 16;
/// The most open elements that are tracked; beyond it the outer half is dropped.
const MAX_OPEN: usize = 256;

type Name = [u8; NAME_BYTES];

/// Which end tags an open element stops, in ascending order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
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
    kind: Kind,
}

/// The open elements, the outermost first.
#[derive(Default)]
pub(super) struct OpenElements(Vec<Element>);

impl OpenElements {
    /// Returns whether the innermost element belongs to `svg` or `math`, including elements that
    /// contain HTML.
    pub(super) fn is_in_foreign(&self) -> bool {
        let kind = self.0.last().map(|open| open.kind);
        matches!(kind, Some(Kind::Svg | Kind::Math | Kind::Island))
    }

    /// Returns the language whose rules apply to a start tag; `None` for HTML.
    fn foreign(&self) -> Option<Kind> {
        let kind = self.0.last()?.kind;
        matches!(kind, Kind::Svg | Kind::Math).then_some(kind)
    }

    /// Processes a start tag. Returns whether it is read by the rules of HTML.
    pub(super) fn start(&mut self, name: &[u8], is_empty: bool) -> bool {
        if self.foreign().is_some() && breaks_out(name) {
            self.break_out();
        }
        let foreign = self.foreign();
        let kind = match (foreign, name) {
            (Some(Kind::Svg), b"foreignobject" | b"desc" | b"title")
            | (Some(Kind::Math), b"mi" | b"mo" | b"mn" | b"ms" | b"mtext") => Kind::Island,
            (Some(kind), _) => kind,
            (None, b"svg") => Kind::Svg,
            (None, b"math") => Kind::Math,
            (None, _) => kind_of(name),
        };
        let is_tracked = match kind {
            Kind::Svg | Kind::Math | Kind::Island => !is_empty,
            kind => kind != Kind::Untracked,
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
        let is_html = |open: &Element| (Kind::Plain..Kind::Island).contains(&open.kind);
        let innermost_html = self.0.iter().rposition(is_html).map_or(0, |at| at + 1);
        let inner = &self.0[innermost_html..];
        if let Some(at) = inner.iter().rposition(|open| open.name == ended) {
            self.0.truncate(innermost_html + at);
            return;
        }
        let stop = stop_of(name);
        let is_heading = is_heading(&ended);
        for (at, open) in self.0.iter().enumerate().rev() {
            let is_it = open.name == ended || is_heading && self::is_heading(&open.name);
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
fn kind_of(name: &[u8]) -> Kind {
    match name {
        b"area" | b"base" | b"basefont" | b"bgsound" | b"br" | b"col" | b"embed" | b"frame"
        | b"hr" | b"image" | b"img" | b"input" | b"keygen" | b"link" | b"meta" | b"param"
        | b"source" | b"track" | b"wbr" | b"body" | b"form" | b"frameset" | b"head" | b"html" => {
            Kind::Untracked
        }
        b"table" | b"template" => Kind::Table,
        b"applet" | b"caption" | b"marquee" | b"object" | b"select" | b"td" | b"th" => Kind::Scope,
        b"address" | b"article" | b"aside" | b"blockquote" | b"button" | b"center"
        | b"colgroup" | b"dd" | b"details" | b"dir" | b"div" | b"dl" | b"dt" | b"fieldset"
        | b"figcaption" | b"figure" | b"footer" | b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6"
        | b"header" | b"hgroup" | b"iframe" | b"li" | b"listing" | b"main" | b"menu" | b"nav"
        | b"noembed" | b"noframes" | b"noscript" | b"ol" | b"p" | b"plaintext" | b"pre"
        | b"script" | b"search" | b"section" | b"style" | b"summary" | b"tbody" | b"textarea"
        | b"tfoot" | b"thead" | b"title" | b"tr" | b"ul" | b"xmp" => Kind::Special,
        _ => Kind::Plain,
    }
}

/// Returns the least kind of open element that stops the end tag of an HTML element.
fn stop_of(name: &[u8]) -> Kind {
    match name {
        b"caption" | b"table" | b"tbody" | b"td" | b"template" | b"tfoot" | b"th" | b"thead"
        | b"tr" => Kind::Table,
        _ if matches!(kind_of(name), Kind::Plain | Kind::Untracked) => Kind::Special,
        _ => Kind::Scope,
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
