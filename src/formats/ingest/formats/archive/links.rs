//! What the HTML of a page says of its links.

use crate::ingest::fetch::alias_target;
use crate::ingest::interner::UrlNumber;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::PageRecord;
use crate::ingest::resolve_url::BaseUrl;
use crate::ingest::summary::DropReason;
use seedbank_algorithms::page::AliasBy;

/// How many bytes of URLs are made of a page's links at most, whatever the page's size, and for each
/// byte of its text; links beyond are dropped as too long.
const MADE_OF_PAGE: usize = 1 << 20;
const MADE_OF_BYTE: usize = 6;

/// What becomes of links that their page asks not to follow: `rel=nofollow` on the link, `nofollow`
/// or `none` in the page's `meta` for robots.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Nofollow {
    /// They are links as any other.
    #[default]
    Keep,
    /// They are left out, and counted.
    Drop,
}

/// The links of a page, added one after another.
pub(crate) struct PageLinks<'r> {
    page: UrlNumber,
    base: Option<BaseUrl>,
    nofollow: Nofollow,
    /// Whether the page asks not to follow any of its links.
    asks: bool,
    targets: Vec<UrlNumber>,
    /// How many bytes of URLs may still be made of them.
    room: usize,
    pub(crate) parser: &'r mut PieceParser,
}

impl<'r> PageLinks<'r> {
    /// Those of a page with this URL, which are relative to `base`, if it has one; the text that has
    /// them is of `length` bytes.
    pub(crate) fn of(
        page: UrlNumber,
        (url, length): (&str, usize),
        base: Option<&str>,
        nofollow: Nofollow,
        asks: bool,
        parser: &'r mut PieceParser,
    ) -> Self {
        Self {
            page,
            base: BaseUrl::new(url, base),
            nofollow,
            asks,
            targets: Vec::new(),
            room: MADE_OF_PAGE + MADE_OF_BYTE.saturating_mul(length),
            parser,
        }
    }

    /// Whether it matters what the element of a link says of following it.
    pub(crate) fn drops(&self) -> bool {
        self.nofollow == Nofollow::Drop && !self.asks
    }

    /// Adds a link with what its element says of it.
    pub(crate) fn add(&mut self, link: &str, rel: Option<&str>) {
        let asked = || self.asks || has_token(rel, "nofollow");
        if self.nofollow == Nofollow::Drop && asked() {
            self.parser.summary.dropped(DropReason::Nofollow);
            return;
        }
        let absolute = match &mut self.base {
            None => Ok(link.into()),
            Some(base) => base.resolve(link),
        };
        match absolute {
            // A long base makes more of a page's links than the page has text.
            Ok(url) => match self.room.checked_sub(url.len()) {
                Some(room) => {
                    self.room = room;
                    self.targets.extend(self.parser.target(self.page, &url));
                }
                None => self.parser.summary.dropped(DropReason::TooLong),
            },
            Err(problem) => self.parser.summary.dropped(DropReason::from(&problem)),
        }
    }

    /// Says them in the page's record, with its canonical URL.
    pub(crate) fn finish(mut self, canonical: Option<&str>, record: &mut PageRecord<UrlNumber>) {
        let outlinks = self.parser.outlinks(self.targets);
        if let Some(canonical) = canonical {
            let to = alias_target(self.page, canonical, self.base.as_mut(), self.parser);
            record.alias = to.map(|to| (to, AliasBy::Canonical));
        }
        // An alias has none.
        record.outlinks = record.alias.is_none().then_some(outlinks);
    }
}

/// Whether the content of a page's `meta` for robots asks not to follow its links.
pub(crate) fn asks_not_to_follow(content: &str) -> bool {
    content.split(',').any(|word| {
        let word = word.trim();
        word.eq_ignore_ascii_case("nofollow") || word.eq_ignore_ascii_case("none")
    })
}

/// Whether a `meta` is one for robots.
pub(crate) fn is_robots(name: &str) -> bool {
    name.trim().eq_ignore_ascii_case("robots")
}

/// Whether a list of words has this one, in any case.
pub(crate) fn has_token(words: Option<&str>, token: &str) -> bool {
    let mut words = words.unwrap_or_default().split_ascii_whitespace();
    words.any(|word| word.eq_ignore_ascii_case(token))
}
