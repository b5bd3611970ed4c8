//! Normalisation of URLs, and their split into site and rest.
//!
//! The bank's keys depend on two properties:
//!
//! * `url(site, local, mode)` restores the normalised URL, byte for byte;
//! * among locations of one site, the byte order of `local` is the byte order of the URLs. To this end
//!   `local` begins with a byte for the scheme (`0` http, `1` https), which sorts like `http:` and
//!   `https`, followed by everything in which URLs of the site can differ.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::{Host, ParseError, Position, Url};

use super::escapes;
use super::normal_url::split_normal;
use super::scheme::Scheme;

/// The maximum length of a URL in bytes, as given and normalised. The limit bounds the bank's keys.
pub const MAX_URL: usize = 65_536;

/// The JSON Schema pattern of a normalised page URL.
pub const URL_PATTERN: &str = "^https?://";

/// The version of the public suffix list used by [`SiteMode::Domain`] and [`SiteMode::BareHost`]: that
/// of the `psl` crate.
pub const SUFFIX_LIST: &str = "2.1.247";

/// The number of characters of a scheme in [`UrlError::Scheme`].
const MAX_SCHEME: usize = 32;

/// What counts as a site; fixed when a bank is created.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SiteMode {
    /// All pages of a host, without port, and of the same host with a leading `www.`. The prefix is
    /// removed once, and only if the rest contains a dot and is no public suffix.
    #[default]
    BareHost,
    /// All pages of a host, without port.
    Host,
    /// All pages of a registrable domain; of a host if it has none (IP addresses, public suffixes).
    Domain,
}

impl SiteMode {
    /// The name of every mode, as stored in a bank.
    pub const NAMES: [(Self, &'static str); 3] = [
        (Self::BareHost, "bare-host"),
        (Self::Host, "host"),
        (Self::Domain, "domain"),
    ];

    /// Combines this mode with URL rules.
    #[must_use]
    pub const fn with(self, urls: UrlRules) -> Naming {
        Naming { sites: self, urls }
    }
}

/// How URLs are normalised beyond the URL standard; fixed when a bank is created.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UrlRules {
    /// RFC 3986, 6.2.2: percent-encoding in upper case; encoded letters, digits, `-`, `.`, `_` and `~`
    /// are decoded. Trailing dots of the host are removed as well.
    #[default]
    Rfc3986,
    /// WHATWG, as in browsers: none of these changes.
    Whatwg,
}

impl UrlRules {
    /// The name of every set of rules, as stored in a bank.
    pub const NAMES: [(Self, &'static str); 2] =
        [(Self::Rfc3986, "rfc3986"), (Self::Whatwg, "whatwg")];
}

/// How a bank identifies pages and sites.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Naming {
    /// What counts as a site.
    pub sites: SiteMode,
    /// How URLs are normalised.
    pub urls: UrlRules,
}

impl Naming {
    /// All combinations.
    pub const ALL: [Self; 6] = [
        SiteMode::BareHost.with(UrlRules::Rfc3986),
        SiteMode::BareHost.with(UrlRules::Whatwg),
        SiteMode::Host.with(UrlRules::Rfc3986),
        SiteMode::Host.with(UrlRules::Whatwg),
        SiteMode::Domain.with(UrlRules::Rfc3986),
        SiteMode::Domain.with(UrlRules::Whatwg),
    ];
}

/// The normalised URL of a page, split into its site and the rest.
///
/// Ordered by site name, then by URL.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Location {
    /// The site's name: a host (lower case, punycode, IPv6 in brackets) or a registrable domain.
    pub site: String,
    /// One byte for the scheme; for `BareHost` one more that tells whether the host has `www.`; then the
    /// part of the URL after the host (`Host`, `BareHost`) or after `://` (`Domain`).
    pub local: String,
}

impl Location {
    /// Returns the scheme of the page.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        Scheme::from_local(&self.local)
    }

    /// Returns the normalised URL.
    #[must_use]
    pub fn url(&self, mode: SiteMode) -> String {
        url(&self.site, &self.local, mode)
    }
}

/// Why a text is not a valid page URL.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum UrlError {
    /// Empty, or only white space.
    #[error("the URL is empty")]
    Empty,
    /// No scheme.
    #[error("the URL is relative")]
    Relative,
    /// A scheme other than http and https, cut after 32 characters.
    #[error("expected the scheme http or https, found {0}")]
    Scheme(String),
    /// A scheme, but no host.
    #[error("the URL has no host")]
    NoHost,
    /// Longer than [`MAX_URL`], as given or normalised.
    #[error("expected a URL of at most {MAX_URL} bytes, found {0}")]
    TooLong(usize),
    /// Any other error of the URL standard.
    #[error("{0}")]
    Invalid(ParseError),
}

impl From<ParseError> for UrlError {
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

/// Normalises a URL and splits it into site and rest.
///
/// The URL is parsed as in browsers (WHATWG): surrounding white space, and tabs and newlines inside, are
/// dropped; the host becomes lower-case punycode or a canonical IP address; dot segments are resolved;
/// the default port, fragment and credentials are removed. The [`UrlRules`] may change path and query
/// further. Normalisation is idempotent.
pub fn parse(text: &str, naming: Naming) -> Result<Location, UrlError> {
    match parse_normal(text, naming) {
        Some(parts) => Ok(parts.to_location()),
        None => parse_standard(text, naming),
    }
}

/// Borrowed parts of a [`Location`].
pub(super) struct LocationParts<'a> {
    pub(super) site: &'a str,
    scheme: Scheme,
    /// Marks the host among those of the site; only for [`SiteMode::BareHost`].
    host_mark: Option<char>,
    rest: &'a str,
}

impl LocationParts<'_> {
    /// Appends the location's `local`.
    pub(super) fn push_local(&self, out: &mut String) {
        out.push(self.scheme.mark());
        out.extend(self.host_mark);
        out.push_str(self.rest);
    }

    fn to_location(&self) -> Location {
        let mut local = String::with_capacity(2 + self.rest.len());
        self.push_local(&mut local);
        Location {
            site: self.site.to_owned(),
            local,
        }
    }
}

/// Splits a URL that is known to be normalised already; otherwise returns `None`. Much faster than
/// [`parse_standard`].
pub(super) fn parse_normal(text: &str, naming: Naming) -> Option<LocationParts<'_>> {
    let url = split_normal(text).filter(|_| text.len() <= MAX_URL)?;
    if naming.urls == UrlRules::Rfc3986 && !escapes::is_normal(url.rest) {
        return None;
    }
    let (site, host_mark, rest) = match naming.sites {
        SiteMode::Host => (url.host, None, url.rest),
        SiteMode::BareHost => {
            let (site, mark) = split_www(url.host);
            (site, Some(mark), url.rest)
        }
        SiteMode::Domain => {
            let after_scheme = text.get(url.scheme.name().len() + 3..)?;
            let site = psl::domain_str(url.host).unwrap_or(url.host);
            (site, None, after_scheme)
        }
    };
    Some(LocationParts {
        site,
        scheme: url.scheme,
        host_mark,
        rest,
    })
}

/// Parses any URL with the parser of the URL standard.
pub(super) fn parse_standard(text: &str, naming: Naming) -> Result<Location, UrlError> {
    // The characters that the URL standard strips at both ends.
    let text = text.trim_matches(|c: char| c <= ' ');
    if text.is_empty() {
        return Err(UrlError::Empty);
    }
    if let Some(scheme) = other_scheme(text) {
        return Err(UrlError::Scheme(scheme_excerpt(scheme)));
    }
    if text.len() > MAX_URL {
        return Err(UrlError::TooLong(text.len()));
    }
    let mut url = Url::parse(text)?;
    let scheme = match url.scheme() {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        other => return Err(UrlError::Scheme(scheme_excerpt(other))),
    };
    url.set_fragment(None);
    if !url.username().is_empty() || url.password().is_some() {
        // Both fail only without a host.
        url.set_username("").map_err(|()| UrlError::NoHost)?;
        url.set_password(None).map_err(|()| UrlError::NoHost)?;
    }
    if naming.urls == UrlRules::Rfc3986 {
        strip_trailing_dots(&mut url)?;
    }
    if url.as_str().len() > MAX_URL {
        return Err(UrlError::TooLong(url.as_str().len()));
    }
    let host = url.host_str().ok_or(UrlError::NoHost)?;
    let (site, host_mark, from) = match naming.sites {
        SiteMode::Host => (host, None, Position::AfterHost),
        SiteMode::BareHost => {
            let (site, mark) = split_www(host);
            (site, Some(mark), Position::AfterHost)
        }
        SiteMode::Domain => (domain(&url, host), None, Position::BeforeHost),
    };
    let mut parts = LocationParts {
        site,
        scheme,
        host_mark,
        rest: &url[from..],
    };
    let normalised;
    if naming.urls == UrlRules::Rfc3986 {
        let path = escapes::normalised(&url[Position::BeforePath..]);
        normalised = [&url[from..Position::BeforePath], &path].concat();
        parts.rest = &normalised;
    }
    Ok(parts.to_location())
}

/// Removes trailing dots from the host.
fn strip_trailing_dots(url: &mut Url) -> Result<(), UrlError> {
    let dotted = url.host_str().and_then(|host| host.strip_suffix('.'));
    let Some(host) = dotted.map(|host| host.trim_end_matches('.').to_owned()) else {
        return Ok(());
    };
    if host.is_empty() {
        return Err(UrlError::NoHost);
    }
    // Reparsed, since without the dot it may be an IP address.
    Ok(url.set_host(Some(&host))?)
}

/// Marks a host that equals the site's name.
const BARE: char = '1';

/// Removes a leading `www.` unless the rest has no dot or is a public suffix. Also returns the mark of
/// the host, so that marks sort like the two hosts of the site.
fn split_www(host: &str) -> (&str, char) {
    let rest = host.strip_prefix("www.");
    let site = rest.filter(|rest| rest.contains('.') && psl::suffix_str(rest) != Some(rest));
    match site {
        None => (host, BARE),
        Some(site) if host < site => (site, '0'),
        Some(site) => (site, '2'),
    }
}

/// The placeholder URL of a forgotten page in stored evidence; the host name is reserved as invalid.
pub const FORGOTTEN_URL: &str = "http://forgotten.invalid/";

/// Returns the normalised URL of a page from its site's name and `local` part; the inverse of [`parse`].
/// An empty `local` gives [`FORGOTTEN_URL`].
#[must_use]
pub fn url(site: &str, local: &str, mode: SiteMode) -> String {
    let mut url = String::new();
    push_url(site, local, mode, &mut url);
    url
}

/// Appends the result of [`url()`].
pub fn push_url(site: &str, local: &str, mode: SiteMode, out: &mut String) {
    if local.is_empty() {
        out.push_str(FORGOTTEN_URL);
        return;
    }
    let scheme = Scheme::from_local(local).name();
    let rest = local.get(1..).unwrap_or_default();
    let (www, host, rest) = match mode {
        SiteMode::Host => ("", site, rest),
        SiteMode::Domain => ("", "", rest),
        SiteMode::BareHost => match rest.strip_prefix(BARE) {
            Some(rest) => ("", site, rest),
            None => ("www.", site, rest.get(1..).unwrap_or_default()),
        },
    };
    let parts = [scheme, "://", www, host, rest];
    out.reserve(parts.iter().map(|part| part.len()).sum());
    out.extend(parts);
}

/// Returns the length of a URL through the character after its host (`/` or `:`): the prefix that
/// exactly the URLs of the host share.
#[must_use]
pub fn host_end(url: &str) -> usize {
    let from = url.find("://").map_or(0, |at| at + 3);
    // An address in brackets contains colons.
    let bracket = url[from..]
        .starts_with('[')
        .then(|| url.find(']'))
        .flatten();
    let from = bracket.unwrap_or(from);
    url[from..]
        .find(['/', ':'])
        .map_or(url.len(), |at| from + at + 1)
}

/// Returns the registrable domain of a URL's host, or the host if it has none.
fn domain<'a>(url: &Url, host: &'a str) -> &'a str {
    match url.host() {
        Some(Host::Domain(_)) => psl::domain_str(host).unwrap_or(host),
        _ => host,
    }
}

/// Returns the registrable domain of a normalised host, or the host if it has none.
#[must_use]
pub fn registrable_domain(host: &str) -> &str {
    if host.starts_with('[') || host.parse::<std::net::Ipv4Addr>().is_ok() {
        return host;
    }
    psl::domain_str(host).unwrap_or(host)
}

/// Returns the scheme of a text if it is neither http nor https. This cheap check keeps long `data:` and
/// `javascript:` texts from the parser, which detects any scheme missed here.
pub(super) fn other_scheme(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')))?;
    let scheme = text.get(..end)?;
    let starts_with_letter = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_http = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    (starts_with_letter && text.get(end..)?.starts_with(':') && !is_http).then_some(scheme)
}

fn scheme_excerpt(scheme: &str) -> String {
    scheme
        .chars()
        .take(MAX_SCHEME)
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

#[cfg(test)]
#[path = "location_tests.rs"]
mod tests;
