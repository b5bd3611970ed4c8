//! A URL, normalised and cut into its site and the rest.
//!
//! The bank's keys depend on two properties:
//!
//! * `url(site, local, mode)` gives the normalised URL back, byte for byte;
//! * among locations of one site, the byte order of `local` is the byte order of the URLs. For
//!   this `local` begins with a byte for the scheme (`0` http, `1` https), which sorts as
//!   `http:` and `https` do, and goes on with all that URLs of the site can differ in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::{Host, ParseError, Position, Url};

use super::plain::plain;
use super::scheme::Scheme;

/// The longest URL, in bytes as given or normalised. A longer one is refused, since URLs become
/// keys.
pub const MAX_URL: usize = 65_536;

/// How the normalised URL of a page begins, in JSON Schema.
pub(crate) const URL_PATTERN: &str = "^https?://";

/// The version of the public suffix list that [`SiteMode::Domain`] cuts by: that of the `psl`
/// crate.
pub const SUFFIX_LIST: &str = "2.1.247";

/// How many bytes of a scheme [`UrlProblem::Scheme`] keeps.
const SCHEME_KEPT: usize = 32;

/// What counts as a site; chosen when a bank is created.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SiteMode {
    /// All pages of one host, without port.
    #[default]
    Host,
    /// All pages of one registrable domain; of one host where there is none (IP addresses, hosts
    /// that are themselves public suffixes).
    Domain,
}

/// Where a page is: its site and the rest of its normalised URL.
///
/// The order is by site name, then by URL.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Location {
    /// The site's name: a host (lower case, punycode, IPv6 in brackets) or a registrable domain.
    pub site: String,
    /// One byte for the scheme, then what follows the host (`Host`) or `://` (`Domain`).
    pub local: String,
}

impl Location {
    /// The scheme of the page.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        Scheme::of(&self.local)
    }

    /// The normalised URL.
    #[must_use]
    pub fn url(&self, mode: SiteMode) -> String {
        url(&self.site, &self.local, mode)
    }
}

/// Why a text is not the URL of a page.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum UrlProblem {
    /// Empty, or only white space.
    #[error("the URL is empty")]
    Empty,
    /// No scheme.
    #[error("the URL is relative")]
    Relative,
    /// A scheme other than http and https; its first 32 bytes are kept.
    #[error("the scheme is {0}, not http or https")]
    Scheme(String),
    /// A scheme, but no host.
    #[error("the URL has no host")]
    NoHost,
    /// Longer than [`MAX_URL`], as given or normalised.
    #[error("the URL has {0} bytes; at most {MAX_URL} are kept")]
    TooLong(usize),
    /// Anything else that the URL standard refuses.
    #[error("{0}")]
    Invalid(ParseError),
}

impl From<ParseError> for UrlProblem {
    fn from(error: ParseError) -> Self {
        match error {
            ParseError::RelativeUrlWithoutBase | ParseError::RelativeUrlWithCannotBeABaseBase => {
                Self::Relative
            }
            ParseError::EmptyHost => Self::NoHost,
            other => Self::Invalid(other),
        }
    }
}

/// Normalises a URL and cuts it into site and rest.
///
/// It is parsed as browsers do (WHATWG): white space around it and tabs and newlines within are
/// dropped, the host becomes lower-case punycode or a canonical IP address, and a default port is
/// removed. So are the fragment and credentials. Percent-encoding, the query, a path without dot
/// segments and the final dot of a host stay as they are.
pub fn parse(text: &str, mode: SiteMode) -> Result<Location, UrlProblem> {
    match normal(text, mode) {
        Some((site, scheme, rest)) => Ok(located(site, scheme, rest)),
        None => parse_any(text, mode),
    }
}

/// The site, the scheme and the rest of a URL that is certainly normal already; otherwise `None`.
pub(super) fn normal(text: &str, mode: SiteMode) -> Option<(&str, Scheme, &str)> {
    let url = plain(text).filter(|_| text.len() <= MAX_URL)?;
    let (site, rest) = match mode {
        SiteMode::Host => (url.host, url.rest),
        SiteMode::Domain => {
            let after_scheme = text.get(url.scheme.name().len() + 3..)?;
            (psl::domain_str(url.host).unwrap_or(url.host), after_scheme)
        }
    };
    Some((site, url.scheme, rest))
}

fn located(site: &str, scheme: Scheme, rest: &str) -> Location {
    let mut local = String::with_capacity(1 + rest.len());
    local.push(scheme.mark());
    local.push_str(rest);
    Location {
        site: site.to_owned(),
        local,
    }
}

/// Any URL, by the URL standard's parser.
pub(super) fn parse_any(text: &str, mode: SiteMode) -> Result<Location, UrlProblem> {
    // The characters that the URL standard strips at both ends.
    let text = text.trim_matches(|c: char| c <= ' ');
    if text.is_empty() {
        return Err(UrlProblem::Empty);
    }
    if let Some(scheme) = foreign_scheme(text) {
        return Err(UrlProblem::Scheme(shortened(scheme)));
    }
    if text.len() > MAX_URL {
        return Err(UrlProblem::TooLong(text.len()));
    }
    let mut url = Url::parse(text)?;
    let scheme = match url.scheme() {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        other => return Err(UrlProblem::Scheme(shortened(other))),
    };
    url.set_fragment(None);
    if !url.username().is_empty() || url.password().is_some() {
        // Both fail only where there is no host.
        url.set_username("").map_err(|()| UrlProblem::NoHost)?;
        url.set_password(None).map_err(|()| UrlProblem::NoHost)?;
    }
    if url.as_str().len() > MAX_URL {
        return Err(UrlProblem::TooLong(url.as_str().len()));
    }
    let host = url.host_str().ok_or(UrlProblem::NoHost)?;
    let (site, rest) = match mode {
        SiteMode::Host => (host, &url[Position::AfterHost..]),
        SiteMode::Domain => (domain(&url, host), &url[Position::BeforeHost..]),
    };
    Ok(located(site, scheme, rest))
}

/// The normalised URL of a page, from its site's name and the rest; the inverse of [`parse`].
#[must_use]
pub fn url(site: &str, local: &str, mode: SiteMode) -> String {
    let scheme = Scheme::of(local).name();
    let rest = local.get(1..).unwrap_or_default();
    let host = match mode {
        SiteMode::Host => site,
        SiteMode::Domain => "",
    };
    [scheme, "://", host, rest].concat()
}

/// The registrable domain of a URL's host; the host itself where it has none.
fn domain<'a>(url: &Url, host: &'a str) -> &'a str {
    match url.host() {
        Some(Host::Domain(_)) => psl::domain_str(host).unwrap_or(host),
        _ => host,
    }
}

/// The scheme that the text begins with, unless it is http or https. This is cheap, and keeps long
/// `data:` and `javascript:` texts away from the parser, which finds whatever is missed here.
fn foreign_scheme(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')))?;
    let scheme = text.get(..end)?;
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let ours = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    (starts && text.get(end..)?.starts_with(':') && !ours).then_some(scheme)
}

fn shortened(scheme: &str) -> String {
    scheme
        .chars()
        .take(SCHEME_KEPT)
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

#[cfg(test)]
#[path = "location_tests.rs"]
mod tests;
