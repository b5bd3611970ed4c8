//! Normalisation of URLs, and their split into site and rest.
//!
//! The bank's keys depend on two properties:
//!
//! * `url(site, local, mode)` restores the normalised URL, byte for byte;
//! * among locations of one site, the byte order of `local` is the byte order of the URLs. To this end
//!   `local` begins with a byte for the scheme (`0` http, `1` https), which sorts like `http:` and
//!   `https`, followed by everything in which URLs of the site can differ.

use std::borrow::Cow;
use std::fmt;
use std::net::Ipv4Addr;

use super::escapes;
use encoding_rs::Encoding;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::form_urlencoded::byte_serialize;
use url::{Host, ParseError, Position, Url};

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
        Naming {
            sites: self,
            urls,
            hosts: Hosts::Any,
        }
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

/// The hosts that a URL may have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum Hosts {
    /// Any, for URLs that are only looked up.
    #[default]
    Any,
    /// DNS names and IP addresses.
    Fetchable,
    /// Those that a crawler of the public web can fetch from: also no name of one label, no address of a private network, of a
    /// link or of the machine itself, and no name below `.localhost`, `.local`, `.internal` or `.onion`. The names that
    /// RFC 2606 reserves for tests and examples are allowed.
    Public,
}

impl Hosts {
    fn allow(self, host: Option<Host<&str>>) -> bool {
        self == Self::Any
            || host.is_some_and(|host| match host {
                Host::Domain(name) => {
                    is_dns_name(name) && (self == Self::Fetchable || is_public_name(name))
                }
                Host::Ipv4(address) => self == Self::Fetchable || is_public_v4(address),
                Host::Ipv6(address) => {
                    let is_private = address.is_loopback()
                        || address.is_unspecified()
                        || address.is_unique_local()
                        || address.is_unicast_link_local()
                        || address.is_multicast();
                    let v4 = address.to_ipv4_mapped();
                    self == Self::Fetchable || !is_private && v4.is_none_or(is_public_v4)
                }
            })
    }
}

/// The maximum length of a label of a DNS name in bytes.
const MAX_LABEL: usize = 63;

/// The last labels of names that are not public (RFC 6761, 6762, 7686, and `internal`, which ICANN reserved in 2024).
const PRIVATE_LABELS: [&[u8]; 4] = [b"localhost", b"local", b"internal", b"onion"];

fn is_dns_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let is_label = |label: &str| {
        (1..=MAX_LABEL).contains(&label.len())
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    name.len() <= MAX_HOST && name.split('.').all(is_label)
}

fn is_public_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let last = name.rsplit_once('.').map(|(_, last)| last.as_bytes());
    last.is_some_and(|last| !PRIVATE_LABELS.contains(&last))
}

const fn is_public_v4(address: Ipv4Addr) -> bool {
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_broadcast()
        || address.octets()[0] == 0)
}

/// How a bank identifies pages and sites.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Naming {
    /// What counts as a site.
    pub sites: SiteMode,
    /// How URLs are normalised.
    pub urls: UrlRules,
    /// Which hosts URLs may have. It is no property of a bank, but of what is read.
    pub hosts: Hosts,
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
    /// No crawler can fetch from its host, or only one in a private network.
    #[error("{0} is not a host of the public web")]
    Unfetchable(String),
    /// Part of a text that is not UTF-8.
    #[error("the URL is not UTF-8")]
    NotUtf8,
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
    if !naming.hosts.allow(url.host()) {
        return Err(UrlError::Unfetchable(host.to_owned()));
    }
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

/// Endings of names of files that are top-level domains too.
const ENDINGS_OF_FILES: [&str; 9] = ["cc", "in", "md", "pl", "ps", "py", "rs", "sh", "zip"];

/// Returns whether a text is a host below a public suffix, and no name of a file.
///
/// ```
/// use seedbank_formats::ingest::is_public_host;
///
/// assert!(is_public_host("www.example.org"));
/// assert!(!is_public_host("hosts.txt") && !is_public_host("README.md") && !is_public_host("org"));
/// ```
#[must_use]
pub fn is_public_host(text: &str) -> bool {
    let is_known = psl::suffix(text.as_bytes()).is_some_and(|suffix| suffix.is_known());
    let is_file = ENDINGS_OF_FILES
        .iter()
        .any(|end| text.rsplit('.').next() == Some(end));
    let is_host = || Host::parse(text).is_ok_and(|host| matches!(host, Host::Domain(_)));
    is_known && !is_file && psl::domain_str(text).is_some() && is_host()
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

// A fast path for URLs that are normalised already, as nearly all outlinks of a crawl are.
//
// The parser of the URL standard, which takes ten times as long, leaves every URL accepted here
// unchanged: it copies every byte, and none of its rules applies. All other URLs go to the parser.
// `location_tests.rs` compares the two.

/// The parts of a normalised URL.
pub(super) struct NormalUrl<'a> {
    pub(super) scheme: Scheme,
    pub(super) host: &'a str,
    /// The URL from the slash after the host.
    pub(super) rest: &'a str,
}

/// The maximum length of a host in bytes.
const MAX_HOST: usize = 253;

/// The parts of a URL in which a byte may occur.
const IN_HOST: u8 = 1;
const IN_PATH: u8 = 2;
const IN_QUERY: u8 = 4;

const PARTS: [u8; 256] = {
    let mut parts = [0; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        parts[byte as usize] = match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' => IN_HOST | IN_PATH | IN_QUERY,
            b'A'..=b'Z'
            | b'.'
            | b'_'
            | b'~'
            | b'!'
            | b'$'
            | b'&'
            | b'('
            | b')'
            | b'*'
            | b'+'
            | b','
            | b';'
            | b'='
            | b':'
            | b'@'
            | b'/'
            | b'%' => IN_PATH | IN_QUERY,
            b'?' => IN_QUERY,
            _ => 0,
        };
        byte += 1;
    }
    parts
};

fn is_in(byte: u8, part: u8) -> bool {
    PARTS[usize::from(byte)] & part != 0
}

/// Splits a URL that is known to be normalised; otherwise returns `None`.
pub(super) fn split_normal(text: &str) -> Option<NormalUrl<'_>> {
    let (scheme, after) = if let Some(after) = text.strip_prefix("https://") {
        (Scheme::Https, after)
    } else {
        (Scheme::Http, text.strip_prefix("http://")?)
    };
    let slash = normal_host(after.as_bytes())?;
    let (host, rest) = after.split_at(slash);
    is_normal_rest(rest.as_bytes()).then_some(NormalUrl { scheme, host, rest })
}

/// Returns the length of a public host of lower-case labels without punycode, followed by a slash. IP addresses
/// are not accepted: their last label begins with a digit.
fn normal_host(text: &[u8]) -> Option<usize> {
    let mut label = 0;
    for (at, &byte) in text.iter().enumerate().take(MAX_HOST + 1) {
        if is_in(byte, IN_HOST) {
            continue;
        }
        if byte != b'.' && byte != b'/' || !is_normal_label(&text[label..at]) {
            return None;
        }
        if byte == b'/' {
            let last = &text[label..at];
            let is_public = label > 0 && !PRIVATE_LABELS.contains(&last);
            return (is_public && last[0].is_ascii_lowercase()).then_some(at);
        }
        label = at + 1;
    }
    None
}

/// Returns whether a label has no leading or trailing hyphen and no `--` in the place of punycode.
fn is_normal_label(label: &[u8]) -> bool {
    label.len() <= MAX_LABEL
        && label.first().is_some_and(|first| *first != b'-')
        && label.last() != Some(&b'-')
        && label.get(2..4) != Some(b"--")
}

/// Returns whether this is a path, optionally with a query, in which no segment begins with a dot or its
/// escape, as dot segments do.
fn is_normal_rest(rest: &[u8]) -> bool {
    let path = rest.iter().position(|byte| !is_in(*byte, IN_PATH));
    let (path, query) = rest.split_at(path.unwrap_or(rest.len()));
    // The path ends at the first question mark.
    query.iter().all(|byte| is_in(*byte, IN_QUERY))
        && query.first().is_none_or(|byte| *byte == b'?')
        && !path.iter().enumerate().any(|(at, byte)| {
            let after = &path[at + 1..];
            let dot = |after: &[u8]| {
                after.first() == Some(&b'.')
                    || after
                        .get(..3)
                        .is_some_and(|escape| escape.eq_ignore_ascii_case(b"%2e"))
            };
            *byte == b'/' && dot(after)
        })
}

// The schemes of page URLs.

/// The scheme of a page URL.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Scheme {
    /// `http`
    Http,
    /// `https`
    Https,
}

impl Scheme {
    /// Returns the scheme as written in a URL.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// Returns the first byte of a [`Location`]'s `local`.
    pub(super) const fn mark(self) -> char {
        match self {
            Self::Http => '0',
            Self::Https => '1',
        }
    }

    /// Returns the scheme of a page by the `local` part of its location.
    pub(super) fn from_local(local: &str) -> Self {
        if local.starts_with('1') {
            Self::Https
        } else {
            Self::Http
        }
    }
}

// Resolution of relative links.

/// The URL that the links of a page are relative to.
pub(super) struct BaseUrl {
    url: Url,
    /// The URL up to the start of its path.
    origin: String,
    /// The URL up to the last slash of its path.
    folder: String,
    /// Buffer of the last resolved link.
    resolved: String,
}

impl BaseUrl {
    /// Creates the base of a page: the `href` of its `base` element, which may itself be relative, or
    /// else its own URL. Returns `None` if the page's URL is invalid.
    pub(super) fn new(page: &str, base_href: Option<&str>) -> Option<Self> {
        let page = Url::parse(page).ok()?;
        // No accepted URL has a longer base, and a base is copied for each link.
        let base = base_href
            .filter(|href| href.len() <= MAX_URL)
            .and_then(|href| page.join(href).ok())
            .filter(|url| matches!(url.scheme(), "http" | "https"))
            .filter(|url| url.as_str().len() <= MAX_URL);
        let mut url = base.unwrap_or(page);
        url.set_fragment(None);
        let origin = url[..Position::BeforePath].to_owned();
        let path = url.path();
        let folder = path.rfind('/').and_then(|end| path.get(..=end));
        let folder = [&origin, folder.unwrap_or("/")].concat();
        Some(Self {
            url,
            origin,
            folder,
            resolved: String::new(),
        })
    }

    /// Resolves a link to an absolute URL. A link with a scheme is returned unchanged, even if it is invalid.
    ///
    /// Most links are an absolute path or relative to the page's folder. These are concatenated, which
    /// gives the same URL once it is parsed.
    pub(super) fn resolve<'a>(&'a mut self, link: &'a str) -> Result<Cow<'a, str>, UrlError> {
        // The characters that the URL standard strips at both ends.
        let link = link.trim_matches(|c: char| c <= ' ');
        let begins = |scheme: &str| {
            let head = link.get(..scheme.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(scheme))
        };
        if begins("http://") || begins("https://") || other_scheme(link).is_some() {
            return Ok(Cow::Borrowed(link));
        }
        let start = match link.as_bytes() {
            [] | [b'#', ..] => return Ok(Cow::Borrowed(self.url.as_str())),
            // Two slashes begin a host; the URL standard drops white space between them.
            [b'/', b'/' | b'\\' | b'\t' | b'\n' | b'\r', ..] | [b'\\' | b'?', ..] => None,
            [b'/', ..] => Some(&self.origin),
            _ if link.contains(':') => None,
            _ => Some(&self.folder),
        };
        let Some(start) = start else {
            return Ok(Cow::Owned(self.url.join(link)?.into()));
        };
        self.resolved.clear();
        self.resolved.push_str(start);
        self.resolved.push_str(link);
        Ok(Cow::Borrowed(&self.resolved))
    }
}

/// Encodes the query of a link as browsers do on a page in this encoding (WHATWG *URL*, percent-encode after encoding):
/// a server in China reads `%BA%E9` where UTF-8 would have `%E6%B4%AA`. The rest of a URL is in UTF-8 on every page.
pub(super) fn encode_query<'a>(link: &'a str, encoding: &'static Encoding) -> Cow<'a, str> {
    let end = link.find('#').unwrap_or(link.len());
    let query = link.get(..end).and_then(|link| link.find('?'));
    let Some(query) = query.filter(|at| link.get(*at..end).is_some_and(|text| !text.is_ascii()))
    else {
        return Cow::Borrowed(link);
    };
    let (before, rest) = link.split_at(query);
    let (query, fragment) = rest.split_at(end - query);
    let mut encoded = before.to_owned();
    for run in query.split_inclusive(|c: char| c.is_ascii()) {
        let text = run.trim_end_matches(|c: char| c.is_ascii());
        match encoding.encode(text) {
            (bytes, _, false) => push_encoded(&mut encoded, &bytes),
            (_, _, true) => {
                for c in text.chars() {
                    match encoding.encode(c.encode_utf8(&mut [0; 4])) {
                        (bytes, _, false) => push_encoded(&mut encoded, &bytes),
                        // The encoding lacks the character, so its number stands for it.
                        (_, _, true) => {
                            encoded.extend(["%26%23", &u32::from(c).to_string(), "%3B"]);
                        }
                    }
                }
            }
        }
        encoded.push_str(run.get(text.len()..).unwrap_or_default());
    }
    encoded.push_str(fragment);
    Cow::Owned(encoded)
}

/// Appends the bytes of characters that are not ASCII, some of which may be.
fn push_encoded(to: &mut String, bytes: &[u8]) {
    for byte in bytes {
        if byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'#') {
            to.push(char::from(*byte));
        } else {
            to.extend(byte_serialize(std::slice::from_ref(byte)));
        }
    }
}

// URLs of the nodes of a graph, for records that name pages by node.

/// The URLs of the nodes of a graph, which are numbered from 0.
pub trait NodeUrls: fmt::Debug + Send + Sync {
    /// Iterates over the nodes with valid URLs, in order. Two nodes may have the same URL.
    ///
    /// Cost: parses every URL.
    fn locations(&self) -> Box<dyn Iterator<Item = (u32, Location)> + '_>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn links_are_absolute() {
        let mut base = BaseUrl::new("http://a.example:8080/x/y?q#f", None).unwrap();
        for (link, url) in [
            ("/z", "http://a.example:8080/z"),
            (" z ", "http://a.example:8080/x/z"),
            ("//b.example/z", "http://b.example/z"),
            ("?r", "http://a.example:8080/x/y?r"),
            ("#top", "http://a.example:8080/x/y?q"),
            ("", "http://a.example:8080/x/y?q"),
            ("HTTP://b.example/", "HTTP://b.example/"),
            ("mailto:x@b.example", "mailto:x@b.example"),
            ("http:z", "http://a.example:8080/x/z"),
        ] {
            assert_eq!(base.resolve(link).unwrap(), url, "{link}");
        }
        assert_eq!(base.resolve("//"), Err(super::UrlError::NoHost));
        assert!(BaseUrl::new("a.example", None).is_none());
    }

    #[test]
    fn a_page_may_name_its_base() {
        let with_href = |href| BaseUrl::new("http://a.example/x/", Some(href)).unwrap();
        let mut base = with_href("//b.example/y/");
        assert_eq!(base.resolve("z").unwrap(), "http://b.example/y/z");
        assert_eq!(
            with_href("../w").resolve("z").unwrap(),
            "http://a.example/z"
        );
        for href in ["", "data:,x", "javascript:0", "http://"] {
            let mut base = with_href(href);
            assert_eq!(base.resolve("z").unwrap(), "http://a.example/x/z");
        }
    }

    proptest! {
        #[test]
        fn concatenation_agrees_with_the_url_standard(
            page in "https?://(u:p@)?a\\.example(:80|:81)?(/[ab.]{0,2}){0,3}(\\?[a/]{0,2})?(#a)?",
            link in "[ \t]?(/|\\\\|\\.|\\.\\.|a|%2e|\\?|#|:|\t|\n|é| |http:|//a\\.b){0,6}",
        ) {
            let mut base = BaseUrl::new(&page, None).unwrap();
            let resolved = base.resolve(&link).ok().and_then(|url| Url::parse(&url).ok());
            let joined = Url::parse(&page).unwrap().join(&link).ok();
            // The fragment is no part of a page's URL.
            let shown = |url: Option<Url>| url.map(|mut url| {
                url.set_fragment(None);
                url.to_string()
            });
            prop_assert_eq!(shown(resolved), shown(joined));
        }
    }
}

#[cfg(test)]
#[path = "location_tests.rs"]
mod location_tests;
