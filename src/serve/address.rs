//! Addresses of pages, for links between them.

use std::collections::BTreeSet;
use std::fmt::{Display, Write};

use serde::Serialize;
use serde_json::Value;
use url::form_urlencoded::byte_serialize;

use super::guard::MAX_ADDRESS;
use crate::html::text::escape;

/// Room for what else an address says of a URL: a site, a refresh, a format.
const ROOM: usize = 512;

/// An address on this server: a path, and parameters in the order in which they were given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Address {
    text: String,
    has_parameters: bool,
}

impl Address {
    pub(super) fn of(path: &str) -> Self {
        Self {
            text: path.to_owned(),
            has_parameters: false,
        }
    }

    /// With a parameter more.
    pub(super) fn with(mut self, name: &str, value: impl Display) -> Self {
        self.text.push(if self.has_parameters { '&' } else { '?' });
        self.has_parameters = true;
        self.text.push_str(name);
        self.text.push('=');
        self.text
            .extend(byte_serialize(value.to_string().as_bytes()));
        self
    }

    /// Whether the server takes it, and others of the same URL.
    pub(super) fn fits(&self) -> bool {
        self.text.len() + ROOM <= MAX_ADDRESS
    }

    /// With a parameter more, where it has a value.
    pub(super) fn with_some(self, name: &str, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }
}

impl Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// The page of a URL.
pub(super) fn page(url: &str) -> Address {
    Address::of("/page").with("url", url)
}

/// The page of a site.
pub(super) fn site(name: &str) -> Address {
    Address::of("/site").with("name", name)
}

/// The page of a plan.
pub(super) fn plan(name: &str) -> Address {
    Address::of("/plan").with("name", name)
}

/// The page of a refresh.
pub(super) fn refresh(number: u32) -> Address {
    Address::of("/refresh").with("refresh", number)
}

/// The page of a core.
pub(super) fn core(refresh: u32, rank: u32) -> Address {
    Address::of("/core")
        .with("refresh", refresh)
        .with("core", rank)
}

/// When a page was a seed.
pub(super) fn history(url: &str) -> Address {
    Address::of("/history").with("url", url)
}

/// The page of a comparison of two refreshes.
pub(super) fn diff(from: u32, to: u32) -> Address {
    Address::of("/diff").with("from", from).with("to", to)
}

/// Why a page is a seed of a refresh, or why not.
pub(super) fn explain(url: &str, refresh: u32) -> Address {
    Address::of("/explain")
        .with("url", url)
        .with("refresh", refresh)
}

/// The pages at the other ends of a page's links, from the one at this place on; `of` is `in` or `out`.
pub(super) fn links(url: &str, of: &str, site: Option<&str>, from: u64) -> Address {
    let address = Address::of("/links").with("url", url).with("of", of);
    let address = address.with_some("site", site);
    address.with_some("from", Some(from).filter(|from| *from > 0))
}

/// URLs that texts about an answer may name: all that the answer has.
pub(super) struct Named(BTreeSet<String>);

impl Named {
    /// The URLs of an answer.
    pub(super) fn by(answer: &impl Serialize) -> Self {
        let mut named = BTreeSet::new();
        gather(serde_json::to_value(answer).unwrap_or_default(), &mut named);
        Self(named)
    }

    /// How many bytes of a word are a URL; 0 where it begins with none. A mark after a URL, which might
    /// be the end of it, is none of it where the answer has the URL without it.
    fn length(&self, word: &str) -> usize {
        if !is_url(word) {
            return 0;
        }
        let is_mark = |c: char| ",;:).".contains(c);
        let least = word.trim_end_matches(is_mark).len();
        let ends = (least..=word.len()).rev();
        let mut named = ends.filter(|end| word.get(..*end).is_some_and(|url| self.0.contains(url)));
        named.next().unwrap_or(least)
    }
}

fn is_url(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

fn gather(value: Value, named: &mut BTreeSet<String>) {
    match value {
        Value::String(text) if is_url(&text) => {
            named.insert(text);
        }
        Value::Array(all) => all.into_iter().for_each(|one| gather(one, named)),
        Value::Object(fields) => fields.into_values().for_each(|one| gather(one, named)),
        _ => {}
    }
}

/// Text of several lines as HTML, in which every URL of a page leads to its page here.
pub(super) fn linked(text: &str, named: &Named) -> String {
    let mut html = String::with_capacity(text.len() * 2);
    for line in text.lines() {
        for (at, word) in line.split(' ').enumerate() {
            if at > 0 {
                html.push(' ');
            }
            let (url, rest) = word.split_at(named.length(word));
            let here = page(url);
            if url.is_empty() || !here.fits() {
                html.push_str(&escape(url));
            } else {
                let shown = seedbank_formats::shown::readable(url);
                // Writing to a String cannot fail.
                let _ = write!(
                    html,
                    "<a href=\"{}\">{}</a>",
                    escape(&here.to_string()),
                    escape(&shown)
                );
            }
            html.push_str(&escape(rest));
        }
        html.push('\n');
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_encoded() {
        let url = "http://a.example/?q=1&r=\"<é>#x";
        assert_eq!(
            page(url).to_string(),
            "/page?url=http%3A%2F%2Fa.example%2F%3Fq%3D1%26r%3D%22%3C%C3%A9%3E%23x"
        );
        let none: Option<u32> = None;
        let both = Address::of("/x").with("a", 1).with_some("b", none);
        assert_eq!(both.with_some("c", Some("d e")).to_string(), "/x?a=1&c=d+e");
    }

    #[test]
    fn urls_in_texts_are_links_and_all_else_is_escaped() {
        let none = Named::by(&());
        assert_eq!(
            linked("<b>: http://a.example/<i>, x\n", &none),
            "&lt;b&gt;: <a href=\"/page?url=http%3A%2F%2Fa.example%2F%3Ci%3E\">\
             http://a.example/&lt;i&gt;</a>, x\n"
        );
    }

    #[test]
    fn a_url_ends_where_the_answer_says_so() {
        let answer = serde_json::json!({
            "url": "http://a.example/x_(y)",
            "of": [{"page": "http://a.example/etc."}, "http://b.example/a,b"],
        });
        let named = Named::by(&answer);
        for (word, url) in [
            ("http://a.example/x_(y)", "http://a.example/x_(y)"),
            ("http://a.example/x_(y)),", "http://a.example/x_(y)"),
            ("http://a.example/etc.", "http://a.example/etc."),
            ("http://a.example/etc..", "http://a.example/etc."),
            ("http://b.example/a,b;", "http://b.example/a,b"),
            ("http://c.example/);", "http://c.example/"),
            ("(http://c.example/)", ""),
            ("a.example", ""),
        ] {
            assert_eq!(&word[..named.length(word)], url, "{word}");
        }
    }
}
