//! Relative URLs of the pages of this server.

use std::fmt::Display;

use url::form_urlencoded::byte_serialize;

use super::answer::API_ROOT;
use super::security::MAX_URI_BYTES;
use crate::answers::{Line, Part};
use crate::html::text::{escape, put};
use seedbank_formats::display::readable;

/// Reserved length in bytes for further parameters, such as a site, a refresh and a format.
const RESERVED: usize = 512;

/// A relative URL: a path with query parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Address {
    text: String,
    has_parameters: bool,
}

impl Address {
    pub(super) fn new(path: &str) -> Self {
        Self {
            text: path.to_owned(),
            has_parameters: false,
        }
    }

    /// Appends a parameter.
    pub(super) fn with(mut self, name: &str, value: impl Display) -> Self {
        self.text.push(if self.has_parameters { '&' } else { '?' });
        self.has_parameters = true;
        self.text.push_str(name);
        self.text.push('=');
        self.text
            .extend(byte_serialize(value.to_string().as_bytes()));
        self
    }

    /// Returns whether the server accepts a URI of this length, with further parameters.
    pub(super) fn fits(&self) -> bool {
        self.text.len() + RESERVED <= MAX_URI_BYTES
    }

    /// Returns the address in the API that has the same name and parameters.
    pub(super) fn in_api(&self) -> Self {
        Self {
            text: format!("{API_ROOT}{}", self.text.trim_start_matches('/')),
            has_parameters: self.has_parameters,
        }
    }

    /// Appends a parameter if it has a value.
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

/// Returns the address of the page about a crawled or known URL.
pub(super) fn page(url: &str) -> Address {
    Address::new("/page").with("url", url)
}

pub(super) fn site(name: &str) -> Address {
    Address::new("/site").with("name", name)
}

pub(super) fn plan(name: &str) -> Address {
    Address::new("/plan").with("name", name)
}

pub(super) fn refresh(number: u32) -> Address {
    Address::new("/refresh").with("refresh", number)
}

pub(super) fn core(refresh: u32, rank: u32) -> Address {
    Address::new("/core")
        .with("refresh", refresh)
        .with("core", rank)
}

/// Returns the address of the links of a core, which has no page of its own.
pub(super) fn core_links(refresh: u32, rank: u32) -> Address {
    Address::new("/core-links")
        .with("refresh", refresh)
        .with("core", rank)
}

/// Returns the address of the list of cores of a refresh.
pub(super) fn cores(refresh: u32) -> Address {
    Address::new("/cores").with("refresh", refresh)
}

/// Returns the address of the history of a page.
pub(super) fn history(url: &str) -> Address {
    Address::new("/history").with("url", url)
}

pub(super) fn diff(from: u32, to: u32) -> Address {
    Address::new("/diff").with("from", from).with("to", to)
}

/// Returns the address of the explanation of a page in a refresh.
pub(super) fn explain(url: &str, refresh: u32) -> Address {
    Address::new("/explain")
        .with("url", url)
        .with("refresh", refresh)
}

/// Returns the address of the list of pages that link to a page (`of` is `in`) or that it links to (`out`),
/// without the first `from`.
pub(super) fn links(url: &str, of: &str, site: Option<&str>, from: u64) -> Address {
    let address = Address::new("/links").with("url", url).with("of", of);
    let address = address.with_some("site", site);
    address.with_some("from", Some(from).filter(|from| *from > 0))
}

/// Returns the address in the API of the same list.
pub(super) fn links_in_api(url: &str, of: &str, site: Option<&str>, offset: u64) -> Address {
    let address = links(url, of, site, 0).in_api();
    address.with_some("offset", Some(offset).filter(|offset| *offset > 0))
}

/// Formats a line as HTML, with links to the pages that it names.
pub(super) fn line_html(line: &Line) -> String {
    let mut html = String::new();
    for part in line.parts() {
        match part {
            Part::Text(text) => html.push_str(&escape(text)),
            Part::Page(url) => {
                let (address, shown) = (page(url), escape(&readable(url)));
                if address.fits() {
                    let address = escape(&address.to_string());
                    put(&mut html, format_args!("<a href=\"{address}\">{shown}</a>"));
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
        let both = Address::new("/x").with("a", 1).with_some("b", none);
        assert_eq!(both.with_some("c", Some("d e")).to_string(), "/x?a=1&c=d+e");
    }

    #[test]
    fn pages_become_links_and_text_is_escaped() {
        let line = Line::from("<b>: ").and_page("http://a.example/<i>");
        assert_eq!(
            line_html(&line.and(", http://b.example/")),
            "&lt;b&gt;: <a href=\"/page?url=http%3A%2F%2Fa.example%2F%3Ci%3E\">\
             http://a.example/&lt;i&gt;</a>, http://b.example/"
        );
        let long = format!("http://a.example/{}", "x".repeat(MAX_URI_BYTES));
        assert_eq!(line_html(&Line::page(&long)), long);
    }
}
