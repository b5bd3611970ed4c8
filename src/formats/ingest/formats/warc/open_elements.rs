//! The elements of a page that are open, as far as they say where `svg` and `math` end.
//!
//! Within these, tags are read by other rules than in HTML (the WHATWG's standard *HTML*, 13.2.6.5). They
//! end with their own end tag, with a tag that cannot stand in them, and with the end of an
//! element of HTML around them: `<div><svg></div>` ends the `svg`, `<svg></div>` does not.
//!
//! This is less than a browser's tree. An element whose end tag was left out (`p`, `li`) is open
//! until something around it ends, `form` and what a page has once are not followed, nor is `annotation-xml`, and names
//! count by their first [`NAMED`] bytes. Where it matters, an `svg` is open for longer than in a browser.

/// Bytes of a name that count.
const NAMED: usize = 16;
/// The most open elements that are followed; past it the outer half is forgotten.
const MOST: usize = 256;

type Name = [u8; NAMED];

/// What an element is to the end tags of those around it, from what stops none of them to what stops all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// `svg` and what is in it.
    Svg,
    /// `math` and what is in it.
    Math,
    /// Of HTML: formatting, and what the standard does not know.
    Plain,
    /// Stops end tags of plain elements.
    Special,
    /// Stops all end tags but those of tables and their parts.
    Scope,
    Table,
    /// An element of `svg` or `math` whose content is HTML.
    Island,
}

#[derive(Clone, Copy)]
struct Element {
    name: Name,
    kind: Kind,
}

/// The open elements, from the outermost on.
#[derive(Default)]
pub(super) struct OpenElements(Vec<Element>);

impl OpenElements {
    /// Whether what comes next stands in an element of `svg` or `math`, HTML within these included.
    pub(super) fn is_in_foreign(&self) -> bool {
        let kind = self.0.last().map(|open| open.kind);
        matches!(kind, Some(Kind::Svg | Kind::Math | Kind::Island))
    }

    /// The language by whose rules a start tag is read; `None` for HTML.
    fn foreign(&self) -> Option<Kind> {
        let kind = self.0.last()?.kind;
        matches!(kind, Kind::Svg | Kind::Math).then_some(kind)
    }

    /// Takes a start tag up. Whether it is one of HTML.
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
        let is_followed = match kind {
            Kind::Svg | Kind::Math | Kind::Island => !is_empty,
            _ => !is_unfollowed(name),
        };
        if is_followed {
            if self.0.len() >= MOST {
                self.0.drain(..MOST / 2);
            }
            let name = counted(name);
            self.0.push(Element { name, kind });
        }
        foreign.is_none()
    }

    /// Takes an end tag up.
    pub(super) fn end(&mut self, name: &[u8]) {
        if matches!(name, b"p" | b"br") && self.foreign().is_some() {
            self.break_out();
        }
        let ended = counted(name);
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

    /// Ends what is not HTML.
    fn break_out(&mut self) {
        while self.foreign().is_some() {
            self.0.pop();
        }
    }
}

/// The part of a name that counts.
fn counted(name: &[u8]) -> Name {
    let mut counted = [0; NAMED];
    let length = name.len().min(NAMED);
    counted[..length].copy_from_slice(&name[..length]);
    counted
}

fn is_heading(name: &Name) -> bool {
    name[0] == b'h' && (b'1'..=b'6').contains(&name[1]) && name[2] == 0
}

/// Whether an element of HTML has no content, or is not ended by its end tag.
fn is_unfollowed(name: &[u8]) -> bool {
    matches!(
        name,
        b"area"
            | b"base"
            | b"basefont"
            | b"bgsound"
            | b"br"
            | b"col"
            | b"embed"
            | b"frame"
            | b"hr"
            | b"image"
            | b"img"
            | b"input"
            | b"keygen"
            | b"link"
            | b"meta"
            | b"param"
            | b"source"
            | b"track"
            | b"wbr"
            | b"body"
            | b"form"
            | b"frameset"
            | b"head"
            | b"html"
    )
}

/// What an element of HTML is to the end tags of others (13.2.4.2 of the standard).
fn kind_of(name: &[u8]) -> Kind {
    match name {
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

/// The least kind of open element that an end tag of HTML does not reach beyond.
fn stop_of(name: &[u8]) -> Kind {
    match name {
        b"caption" | b"table" | b"tbody" | b"td" | b"template" | b"tfoot" | b"th" | b"thead"
        | b"tr" => Kind::Table,
        _ if kind_of(name) == Kind::Plain => Kind::Special,
        _ => Kind::Scope,
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
