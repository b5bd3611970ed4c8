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
use super::normal_url::plain;
use super::scheme::Scheme;

/// The longest URL, in bytes as given or normalised. A longer one is refused, since URLs become
/// keys.
pub const MAX_URL: usize = 65_536;

/// How the normalised URL of a page begins, in JSON Schema.
pub const URL_PATTERN: &str = "^https?://";

/// The version of the public suffix list that [`SiteMode::Domain`] and [`SiteMode::BareHost`] go by:
/// that of the `psl` crate.
pub const SUFFIX_LIST: &str = "2.1.247";

/// How many bytes of a scheme [`UrlError::Scheme`] keeps.
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
    pub const NAMES: [(Self, &'static str); 3] = [
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
    pub const NAMES: [(Self, &'static str); 2] =
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
    /// One byte for the scheme; then for `BareHost` one byte for the host, which is the site's name
    /// with or without `www.`; then what follows the host (`Host`, `BareHost`) or `://` (`Domain`).
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
pub enum UrlError {
    /// Empty, or only white space.
    #[error("the URL is empty")]
    Empty,
    /// No scheme.
    #[error("the URL is relative")]
    Relative,
    /// A scheme other than http and https; its first 32 bytes are kept.
    #[error("expected the scheme http or https, found {0}")]
    Scheme(String),
    /// A scheme, but no host.
    #[error("the URL has no host")]
    NoHost,
    /// Longer than [`MAX_URL`], as given or normalised.
    #[error("expected a URL of at most {MAX_URL} bytes, found {0}")]
    TooLong(usize),
    /// Anything else that the URL standard refuses.
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

/// Normalises a URL and cuts it into site and rest.
///
/// It is parsed as browsers do (WHATWG): white space around it and tabs and newlines within are
/// dropped, the host becomes lower-case punycode or a canonical IP address, and a default port is
/// removed. So are the fragment and credentials. A path without dot segments and the query stay as
/// they are, except for what the [`UrlRules`] change. What comes out is normal: parsed again it
/// gives the same.
pub fn parse(text: &str, naming: Naming) -> Result<Location, UrlError> {
    match normal(text, naming) {
        Some(cut) => Ok(cut.located()),
        None => parse_any(text, naming),
    }
}

/// A URL cut into the parts of a [`Location`].
pub(super) struct Cut<'a> {
    pub(super) site: &'a str,
    scheme: Scheme,
    /// How the host is told from others of the site; `None` where the rest tells.
    host: Option<char>,
    rest: &'a str,
}

impl Cut<'_> {
    /// Appends the location's `local`.
    pub(super) fn put_local(&self, out: &mut String) {
        out.push(self.scheme.mark());
        out.extend(self.host);
        out.push_str(self.rest);
    }

    fn located(&self) -> Location {
        let mut local = String::with_capacity(2 + self.rest.len());
        self.put_local(&mut local);
        Location {
            site: self.site.to_owned(),
            local,
        }
    }
}

/// The parts of a URL that is certainly normal already; otherwise `None`.
pub(super) fn normal(text: &str, naming: Naming) -> Option<Cut<'_>> {
    let url = plain(text).filter(|_| text.len() <= MAX_URL)?;
    if naming.urls == UrlRules::Rfc3986 && !escapes::is_normal(url.rest) {
        return None;
    }
    let (site, host, rest) = match naming.sites {
        SiteMode::Host => (url.host, None, url.rest),
        SiteMode::BareHost => {
            let (site, mark) = bare(url.host);
            (site, Some(mark), url.rest)
        }
        SiteMode::Domain => {
            let after_scheme = text.get(url.scheme.name().len() + 3..)?;
            let site = psl::domain_str(url.host).unwrap_or(url.host);
            (site, None, after_scheme)
        }
    };
    Some(Cut {
        site,
        scheme: url.scheme,
        host,
        rest,
    })
}

/// Any URL, by the URL standard's parser.
pub(super) fn parse_any(text: &str, naming: Naming) -> Result<Location, UrlError> {
    // The characters that the URL standard strips at both ends.
    let text = text.trim_matches(|c: char| c <= ' ');
    if text.is_empty() {
        return Err(UrlError::Empty);
    }
    if let Some(scheme) = other_scheme(text) {
        return Err(UrlError::Scheme(shortened(scheme)));
    }
    if text.len() > MAX_URL {
        return Err(UrlError::TooLong(text.len()));
    }
    let mut url = Url::parse(text)?;
    let scheme = match url.scheme() {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        other => return Err(UrlError::Scheme(shortened(other))),
    };
    url.set_fragment(None);
    if !url.username().is_empty() || url.password().is_some() {
        // Both fail only where there is no host.
        url.set_username("").map_err(|()| UrlError::NoHost)?;
        url.set_password(None).map_err(|()| UrlError::NoHost)?;
    }
    if naming.urls == UrlRules::Rfc3986 {
        without_dot(&mut url)?;
    }
    if url.as_str().len() > MAX_URL {
        return Err(UrlError::TooLong(url.as_str().len()));
    }
    let host = url.host_str().ok_or(UrlError::NoHost)?;
    let (site, mark, from) = match naming.sites {
        SiteMode::Host => (host, None, Position::AfterHost),
        SiteMode::BareHost => {
            let (site, mark) = bare(host);
            (site, Some(mark), Position::AfterHost)
        }
        SiteMode::Domain => (domain(&url, host), None, Position::BeforeHost),
    };
    let mut cut = Cut {
        site,
        scheme,
        host: mark,
        rest: &url[from..],
    };
    let normalised;
    if naming.urls == UrlRules::Rfc3986 {
        let path = escapes::normalised(&url[Position::BeforePath..]);
        normalised = [&url[from..Position::BeforePath], &path].concat();
        cut.rest = &normalised;
    }
    Ok(cut.located())
}

/// Takes the dots off the end of the host's name.
fn without_dot(url: &mut Url) -> Result<(), UrlError> {
    let dotted = url.host_str().and_then(|host| host.strip_suffix('.'));
    let Some(host) = dotted.map(|host| host.trim_end_matches('.').to_owned()) else {
        return Ok(());
    };
    if host.is_empty() {
        return Err(UrlError::NoHost);
    }
    // The parser sees it again: without the dot it may be an address.
    Ok(url.set_host(Some(&host))?)
}

/// Marks the host that is the site's name itself.
const BARE: char = '1';

/// A host without a leading `www.`, which stays where the rest has no dot or is a public suffix;
/// and the mark of the host on its site, which sorts as the two hosts do.
fn bare(host: &str) -> (&str, char) {
    let rest = host.strip_prefix("www.");
    let site = rest.filter(|rest| rest.contains('.') && psl::suffix_str(rest) != Some(rest));
    match site {
        None => (host, BARE),
        Some(site) if host < site => (site, '0'),
        Some(site) => (site, '2'),
    }
}

/// What stands for the URL of a page that was forgotten, in evidence that has to name something: no
/// host can have this name.
pub const FORGOTTEN_URL: &str = "http://forgotten.invalid/";

/// The normalised URL of a page, from its site's name and the rest; the inverse of [`parse`]. Without a
/// rest it is [`FORGOTTEN_URL`].
#[must_use]
pub fn url(site: &str, local: &str, mode: SiteMode) -> String {
    let mut url = String::new();
    push_url(site, local, mode, &mut url);
    url
}

/// Appends what [`url()`] gives.
pub fn push_url(site: &str, local: &str, mode: SiteMode, out: &mut String) {
    if local.is_empty() {
        out.push_str(FORGOTTEN_URL);
        return;
    }
    let scheme = Scheme::of(local).name();
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

/// The length of a URL up to the character after its host, which is `/` or `:`: what all URLs of
/// the host share, and no other's begins with.
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

/// The registrable domain of a URL's host; the host itself where it has none.
fn domain<'a>(url: &Url, host: &'a str) -> &'a str {
    match url.host() {
        Some(Host::Domain(_)) => psl::domain_str(host).unwrap_or(host),
        _ => host,
    }
}

/// The registrable domain of a normalised host; the host itself where it has none.
#[must_use]
pub fn registrable_domain(host: &str) -> &str {
    if host.starts_with('[') || host.parse::<std::net::Ipv4Addr>().is_ok() {
        return host;
    }
    psl::domain_str(host).unwrap_or(host)
}

/// The scheme that the text begins with, unless it is http or https. This is cheap, and keeps long
/// `data:` and `javascript:` texts away from the parser, which finds whatever is missed here.
pub(super) fn other_scheme(text: &str) -> Option<&str> {
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
