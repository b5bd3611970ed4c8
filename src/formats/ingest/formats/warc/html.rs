//! Links in the HTML of a page.

use std::ops::Range;

use super::tags::{Tag, tags};
use crate::ingest::formats::archive::page_links::{asks_not_to_follow, has_token, is_robots};

/// The links of a page and how its header qualifies them.
#[derive(Debug, Default)]
pub(super) struct Html {
    /// The `href` of the first `base` element that has one.
    pub(super) base: Option<String>,
    /// The first canonical URL.
    pub(super) canonical: Option<String>,
    /// Whether a `meta` element for robots asks not to follow links.
    pub(super) asks_not_to_follow: bool,
    /// The links of `a` and `area` elements, each followed by its `rel`.
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
            b"link" if self.canonical.is_none() && has_token(rel().as_deref(), "canonical") => {
                self.canonical = text(&tag.href);
            }
            b"meta" if is_robots(&text(&tag.meta_name).unwrap_or_default()) => {
                let content = text(&tag.content).unwrap_or_default();
                self.asks_not_to_follow |= asks_not_to_follow(&content);
            }
            b"a" | b"area" => {
                let Some(href) = &tag.href else { return };
                self.text.push_str(&String::from_utf8_lossy(href));
                let link = self.text.len();
                let rel = tag.rel.as_deref().unwrap_or_default();
                self.text.push_str(&String::from_utf8_lossy(rel));
                let ends = (u32::try_from(link), u32::try_from(self.text.len()));
                if let (Ok(link), Ok(rel)) = ends {
                    self.ends.push((link, rel));
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
#[path = "html_tests.rs"]
mod tests;
