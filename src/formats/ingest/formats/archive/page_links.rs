//! The links of a page, as found in its HTML.

use crate::ingest::fetch::alias_target;
use crate::ingest::interner::UrlNumber;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::PageRecord;
use crate::ingest::resolve_url::BaseUrl;
use crate::ingest::summary::DropReason;
use seedbank_algorithms::page::AliasBy;

/// The maximum size of the absolute URLs of the links of a page, in bytes: a constant, plus a
/// number for each byte of its text. Further links are dropped as too long.
const URL_BYTES_PER_PAGE: usize = 1 << 20;
const URL_BYTES_PER_BYTE: usize = 6;

/// What happens to links that a page asks crawlers not to follow: `rel=nofollow` on the link,
/// `nofollow` or `none` in the `meta` element for robots.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Nofollow {
    /// They are kept like any other link.
    #[default]
    Keep,
    /// They are dropped and counted.
    Drop,
}

/// A page whose links are collected.
#[derive(Default)]
pub(crate) struct LinkSource<'a> {
    pub(crate) url: &'a str,
    /// The URL in its `base` element, if any.
    pub(crate) base: Option<&'a str>,
    pub(crate) nofollow: Nofollow,
    /// Whether the page asks not to follow any of its links.
    pub(crate) page_nofollow: bool,
    /// Length of the text that contains the links, in bytes.
    pub(crate) bytes: usize,
}

/// Collects the links of a page.
pub(crate) struct PageLinks<'r> {
    page: UrlNumber,
    base: Option<BaseUrl>,
    nofollow: Nofollow,
    page_nofollow: bool,
    targets: Vec<UrlNumber>,
    /// Bytes of URLs that the links may still make.
    url_budget: usize,
    pub(crate) parser: &'r mut PieceParser,
}

impl<'r> PageLinks<'r> {
    pub(crate) fn new(page: UrlNumber, html: &LinkSource<'_>, parser: &'r mut PieceParser) -> Self {
        Self {
            page,
            base: BaseUrl::new(html.url, html.base),
            nofollow: html.nofollow,
            page_nofollow: html.page_nofollow,
            targets: Vec::new(),
            url_budget: URL_BYTES_PER_PAGE + URL_BYTES_PER_BYTE.saturating_mul(html.bytes),
            parser,
        }
    }

    /// Returns whether the `rel` of a link decides if it is kept.
    pub(crate) fn drops(&self) -> bool {
        self.nofollow == Nofollow::Drop && !self.page_nofollow
    }

    /// Adds a link with its `rel` attribute.
    pub(crate) fn add(&mut self, link: &str, rel: Option<&str>) {
        if self.nofollow == Nofollow::Drop && (self.page_nofollow || has_token(rel, "nofollow")) {
            self.parser.summary.dropped(DropReason::Nofollow);
            return;
        }
        let absolute = match &mut self.base {
            None => Ok(link.into()),
            Some(base) => base.resolve(link),
        };
        match absolute {
            // With a long base, the absolute URLs are much longer than the page.
            Ok(url) => match self.url_budget.checked_sub(url.len()) {
                Some(left) => {
                    self.url_budget = left;
                    self.targets.extend(self.parser.target(self.page, &url));
                }
                None => self.parser.summary.dropped(DropReason::TooLong),
            },
            Err(problem) => self.parser.summary.dropped(DropReason::from(&problem)),
        }
    }

    /// Stores the links and the canonical URL in the page's record.
    pub(crate) fn finish(mut self, canonical: Option<&str>, record: &mut PageRecord<UrlNumber>) {
        let outlinks = self.parser.outlinks(self.targets);
        if let Some(canonical) = canonical {
            let to = alias_target(self.page, canonical, self.base.as_mut(), self.parser);
            record.alias = to.map(|to| (to, AliasBy::Canonical));
        }
        // An alias has no links of its own.
        record.outlinks = record.alias.is_none().then_some(outlinks);
    }
}

/// Returns whether the content of a `meta` element for robots asks not to follow links.
pub(crate) fn asks_not_to_follow(content: &str) -> bool {
    content.split(',').any(|word| {
        let word = word.trim();
        word.eq_ignore_ascii_case("nofollow") || word.eq_ignore_ascii_case("none")
    })
}

/// Returns whether a `meta` element with this name is for robots.
pub(crate) fn is_robots(name: &str) -> bool {
    name.trim().eq_ignore_ascii_case("robots")
}

/// Returns whether a list of words contains a token, in any case.
pub(crate) fn has_token(words: Option<&str>, token: &str) -> bool {
    let mut words = words.unwrap_or_default().split_ascii_whitespace();
    words.any(|word| word.eq_ignore_ascii_case(token))
}
