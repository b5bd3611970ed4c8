//! Addresses of pages, for links between them.

use std::fmt::Display;

use url::form_urlencoded::byte_serialize;

use super::guard::MAX_ADDRESS;
use crate::html::text::{escape, put};
use crate::render::{Line, Part};
use seedbank_formats::shown::readable;

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

/// A line as HTML, in which every page leads to its page here.
pub(super) fn linked(line: &Line) -> String {
    let mut html = String::new();
    for part in line.parts() {
        match part {
            Part::Text(text) => html.push_str(&escape(text)),
            Part::Page(url) => {
                let (here, shown) = (page(url), escape(&readable(url)));
                if here.fits() {
                    let here = escape(&here.to_string());
                    put(&mut html, format_args!("<a href=\"{here}\">{shown}</a>"));
                } else {
                    html.push_str(&shown);
                }
            }
        }
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
    fn pages_are_links_and_all_is_escaped() {
        let line = Line::from("<b>: ").and_page("http://a.example/<i>");
        assert_eq!(
            linked(&line.and(", http://b.example/")),
            "&lt;b&gt;: <a href=\"/page?url=http%3A%2F%2Fa.example%2F%3Ci%3E\">\
             http://a.example/&lt;i&gt;</a>, http://b.example/"
        );
        let long = format!("http://a.example/{}", "x".repeat(MAX_ADDRESS));
        assert_eq!(linked(&Line::page(&long)), long);
    }
}
