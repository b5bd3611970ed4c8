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

use super::escapes;
use super::plain::plain;
use super::scheme::Scheme;

/// The longest URL, in bytes as given or normalised. A longer one is refused, since URLs become
/// keys.
pub const MAX_URL: usize = 65_536;

/// How the normalised URL of a page begins, in JSON Schema.
pub(crate) const URL_PATTERN: &str = "^https?://";

/// The version of the public suffix list that [`SiteMode::Domain`] and [`SiteMode::BareHost`] go by:
/// that of the `psl` crate.
pub const SUFFIX_LIST: &str = "2.1.247";

/// How many bytes of a scheme [`UrlProblem::Scheme`] keeps.
const SCHEME_KEPT: usize = 32;

/// What counts as a site; chosen when a bank is created.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SiteMode {
    /// All pages of one host, without port, and of the host that has `www.` before it. That is
    /// left out once, where the rest has a dot and is no public suffix.
    #[default]
    BareHost,
    /// All pages of one host, without port.
    Host,
    /// All pages of one registrable domain; of one host where there is none (IP addresses, hosts
    /// that are themselves public suffixes).
    Domain,
}

impl SiteMode {
    /// The name of every mode, as it is kept with a bank.
    pub(crate) const NAMES: [(Self, &'static str); 3] = [
        (Self::BareHost, "bare-host"),
        (Self::Host, "host"),
        (Self::Domain, "domain"),
    ];

    /// These sites, with URLs written by `urls`.
    #[must_use]
    pub const fn with(self, urls: UrlRules) -> Naming {
        Naming { sites: self, urls }
    }
}

/// How URLs are normalised beyond what the URL standard does; chosen when a bank is created.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UrlRules {
    /// As RFC 3986, 6.2.2 has it: percent-encoding is in upper case, encoded characters that need
    /// no encoding (letters, digits, `-`, `.`, `_`, `~`) are decoded, and the dot at the end of a
    /// host goes.
    #[default]
    Rfc3986,
    /// As browsers have it (WHATWG): all of that stays as it is given.
    Whatwg,
}

impl UrlRules {
    /// The name of all rules, as it is kept with a bank.
    pub(crate) const NAMES: [(Self, &'static str); 2] =
        [(Self::Rfc3986, "rfc3986"), (Self::Whatwg, "whatwg")];
}

/// How a bank tells pages and sites apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Naming {
    /// What counts as a site.
    pub sites: SiteMode,
    /// How URLs are normalised.
    pub urls: UrlRules,
}

impl Naming {
    /// Every way.
    pub const ALL: [Self; 6] = [
        SiteMode::BareHost.with(UrlRules::Rfc3986),
        SiteMode::BareHost.with(UrlRules::Whatwg),
        SiteMode::Host.with(UrlRules::Rfc3986),
        SiteMode::Host.with(UrlRules::Whatwg),
        SiteMode::Domain.with(UrlRules::Rfc3986),
        SiteMode::Domain.with(UrlRules::Whatwg),
    ];
}

/// Where a page is: its site and the rest of its normalised URL.
///
/// The order is by site name, then by URL.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Location {
    /// The site's name: a host (lower case, punycode, IPv6 in brackets) or a registrable domain.
    pub site: String,
    /// One byte for the scheme, then what follows the host (`Host`) or `://` (other modes).
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
/// removed. So are the fragment and credentials. A path without dot segments and the query stay as
/// they are, except for what the [`UrlRules`] change. What comes out is normal: parsed again it
/// gives the same.
pub fn parse(text: &str, naming: Naming) -> Result<Location, UrlProblem> {
    match normal(text, naming) {
        Some((site, scheme, rest)) => Ok(located(site, scheme, rest)),
        None => parse_any(text, naming),
    }
}

/// The site, the scheme and the rest of a URL that is certainly normal already; otherwise `None`.
pub(super) fn normal(text: &str, naming: Naming) -> Option<(&str, Scheme, &str)> {
    let url = plain(text).filter(|_| text.len() <= MAX_URL)?;
    if naming.urls == UrlRules::Rfc3986 && !escapes::are_normal(url.rest) {
        return None;
    }
    let whole = || text.get(url.scheme.name().len() + 3..);
    let (site, rest) = match naming.sites {
        SiteMode::Host => (url.host, url.rest),
        SiteMode::BareHost => (bare(url.host), whole()?),
        SiteMode::Domain => (psl::domain_str(url.host).unwrap_or(url.host), whole()?),
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
pub(super) fn parse_any(text: &str, naming: Naming) -> Result<Location, UrlProblem> {
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
    if naming.urls == UrlRules::Rfc3986 {
        without_dot(&mut url)?;
    }
    if url.as_str().len() > MAX_URL {
        return Err(UrlProblem::TooLong(url.as_str().len()));
    }
    let host = url.host_str().ok_or(UrlProblem::NoHost)?;
    let site = match naming.sites {
        SiteMode::Host => host,
        SiteMode::BareHost => bare(host),
        SiteMode::Domain => domain(&url, host),
    };
    let from = match naming.sites {
        SiteMode::Host => Position::AfterHost,
        SiteMode::BareHost | SiteMode::Domain => Position::BeforeHost,
    };
    Ok(match naming.urls {
        UrlRules::Whatwg => located(site, scheme, &url[from..]),
        UrlRules::Rfc3986 => {
            let before_path = &url[from..Position::BeforePath];
            let rest = escapes::normalised(&url[Position::BeforePath..]);
            located(site, scheme, &[before_path, &rest].concat())
        }
    })
}

/// Takes the dots off the end of the host's name.
fn without_dot(url: &mut Url) -> Result<(), UrlProblem> {
    let dotted = url.host_str().and_then(|host| host.strip_suffix('.'));
    let Some(host) = dotted.map(|host| host.trim_end_matches('.').to_owned()) else {
        return Ok(());
    };
    if host.is_empty() {
        return Err(UrlProblem::NoHost);
    }
    // The parser sees it again: without the dot it may be an address.
    Ok(url.set_host(Some(&host))?)
}

/// A host without a leading `www.`, which stays where the rest has no dot or is a public suffix.
pub(crate) fn bare(host: &str) -> &str {
    let rest = host.strip_prefix("www.");
    rest.filter(|rest| rest.contains('.') && psl::suffix_str(rest) != Some(rest))
        .unwrap_or(host)
}

/// The normalised URL of a page, from its site's name and the rest; the inverse of [`parse`].
#[must_use]
pub fn url(site: &str, local: &str, mode: SiteMode) -> String {
    let scheme = Scheme::of(local).name();
    let rest = local.get(1..).unwrap_or_default();
    let host = match mode {
        SiteMode::Host => site,
        SiteMode::BareHost | SiteMode::Domain => "",
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
