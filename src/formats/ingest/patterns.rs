//! Pattern lists, which match pages by site or URL.
//!
//! | line | matching pages |
//! | --- | --- |
//! | `example.org` | pages of this site of the bank; of this host if sites are domains |
//! | `.example.org` | pages of this host and of all its subdomains |
//! | `https://example.org/private/` | URLs with this prefix; without a scheme, for http and https |
//! | `*.pdf` | URLs, with or without query, that match this shape, ignoring case |
//! | `re:^https?://[^/]*/tag/` | URLs that contain a match of this expression (syntax of the `regex` crate) |
//! | `@media` | paths with an extension of documents, images, archives and the like ([`MEDIA`]) |
//!
//! Empty lines and lines that begin with `#` are ignored.
//!
//! Cost per page: two map lookups per label of the host, one search among the prefixes, and one search
//! per compiled set of shapes and of expressions ([`RegexSets`]).

use std::collections::BTreeMap;
use std::ops::Bound;

use globset::GlobBuilder;

use super::bad_pattern::BadPattern;
use super::location::{self, Naming, SiteMode, UrlRules};
use super::regex_sets::{CompiledSize, Haystack, RegexSets};
use seedbank_algorithms::watch::{Interrupted, Watch};

/// The file extensions of `@media`: documents, images, audio, video, archives, programs, and resources of
/// pages such as scripts and fonts.
pub const MEDIA: [&str; 76] = [
    "7z", "aac", "apk", "avi", "avif", "bin", "bmp", "bz2", "css", "csv", "deb", "dll", "dmg",
    "doc", "docx", "eot", "eps", "epub", "exe", "flac", "flv", "gif", "gz", "heic", "ico", "iso",
    "jar", "jpeg", "jpg", "js", "json", "m4a", "m4v", "mid", "midi", "mkv", "mov", "mp3", "mp4",
    "mpeg", "mpg", "msi", "odp", "ods", "odt", "ogg", "ogv", "otf", "pdf", "png", "pps", "ppt",
    "pptx", "ps", "psd", "rar", "rpm", "rtf", "svg", "swf", "tar", "tgz", "tif", "tiff", "ttf",
    "wav", "webm", "webp", "wma", "wmv", "woff", "woff2", "xls", "xlsx", "xz", "zip",
];

/// Why a pattern list could not be compiled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PatternsError {
    /// The line with this index, from 0, is invalid.
    Line(usize, BadPattern),
    /// The watch asked to stop.
    Interrupted(Interrupted),
}

impl From<Interrupted> for PatternsError {
    fn from(interrupted: Interrupted) -> Self {
        Self::Interrupted(interrupted)
    }
}

/// A parsed line.
enum Pattern {
    Site(String),
    Subdomains(String),
    Prefix(String),
    Shape,
    Expression,
    Media,
}

/// A compiled pattern list.
pub struct Patterns {
    lines: Vec<String>,
    /// Line numbers by site or host.
    sites: BTreeMap<String, usize>,
    /// Line numbers by host, for patterns that include subdomains.
    subdomains: BTreeMap<String, usize>,
    /// Line numbers by URL prefix, without the scheme if none was given; no prefix begins with another.
    prefixes: BTreeMap<String, usize>,
    shapes: RegexSets,
    shape_lines: Vec<usize>,
    expressions: RegexSets,
    expression_lines: Vec<usize>,
    /// The line number of `@media`.
    media: Option<usize>,
}

impl Patterns {
    /// Parses and compiles a list; returns an error for the first line that is invalid or too large.
    pub fn new(text: &str, naming: Naming, watch: &dyn Watch) -> Result<Self, PatternsError> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let (mut sites, mut subdomains, mut all_prefixes) =
            (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut shapes = RegexSets::new(Haystack::Bytes);
        let mut expressions = RegexSets::new(Haystack::Text);
        let mut compiled = CompiledSize::default();
        let (mut shape_lines, mut expression_lines) = (Vec::new(), Vec::new());
        let mut media = None;
        for (at, line) in lines.iter().enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            watch.proceed()?;
            let bad = |bad| PatternsError::Line(at, bad);
            match parse_line(line, naming).map_err(bad)? {
                Pattern::Site(site) => {
                    sites.entry(site).or_insert(at);
                }
                Pattern::Subdomains(host) => {
                    subdomains.entry(host).or_insert(at);
                }
                Pattern::Prefix(prefix) => {
                    all_prefixes.entry(prefix).or_insert(at);
                }
                Pattern::Shape => {
                    let shape = shape_regex(line).map_err(bad)?;
                    shapes
                        .add(&shape, &mut compiled, BadPattern::Shape)
                        .map_err(bad)?;
                    shape_lines.push(at);
                }
                Pattern::Expression => {
                    let expression = line.strip_prefix("re:").unwrap_or_default();
                    expressions
                        .add(expression, &mut compiled, BadPattern::Expression)
                        .map_err(bad)?;
                    expression_lines.push(at);
                }
                Pattern::Media => media = media.or(Some(at)),
            }
        }
        for (sets, lines) in [
            (&mut shapes, &shape_lines),
            (&mut expressions, &expression_lines),
        ] {
            let last = lines.last().copied().unwrap_or(0);
            sets.finish()
                .map_err(|bad| PatternsError::Line(last, bad))?;
        }
        // Drop prefixes that begin with a shorter one; in order, the shorter one comes first.
        let mut prefixes: BTreeMap<String, usize> = BTreeMap::new();
        for (prefix, at) in all_prefixes {
            let is_covered = prefixes
                .last_key_value()
                .is_some_and(|(last, _)| prefix.starts_with(last.as_str()));
            if !is_covered {
                prefixes.insert(prefix, at);
            }
        }
        Ok(Self {
            lines,
            sites,
            subdomains,
            prefixes,
            shapes,
            shape_lines,
            expressions,
            expression_lines,
            media,
        })
    }

    /// Returns the line that matches a page with this site and URL.
    pub fn find(&self, site: &str, url: &str) -> Option<&str> {
        let at = self.find_line(site, url)?;
        self.lines.get(at).map(String::as_str)
    }

    /// Returns whether a line matches a page.
    #[must_use]
    pub fn has(&self, site: &str, url: &str) -> bool {
        self.find_line(site, url).is_some()
    }

    fn find_line(&self, site: &str, url: &str) -> Option<usize> {
        let host = host_of(url);
        if let Some(&at) = self.sites.get(site).or_else(|| self.sites.get(host)) {
            return Some(at);
        }
        if !self.subdomains.is_empty() {
            let mut suffix = Some(host);
            while let Some(host) = suffix {
                if let Some(&at) = self.subdomains.get(host) {
                    return Some(at);
                }
                suffix = host.split_once('.').map(|(_, parent)| parent);
            }
        }
        if !self.prefixes.is_empty() {
            let after_scheme = url.find("://").map_or(url, |at| &url[at + 3..]);
            let found = self
                .find_prefix(url)
                .or_else(|| self.find_prefix(after_scheme));
            if found.is_some() {
                return found;
            }
        }
        let without_query = url.find('?').map_or(url, |at| &url[..at]);
        if let Some(at) = self.media.filter(|_| is_media(without_query)) {
            return Some(at);
        }
        let with_query = (without_query != url).then_some(url);
        let texts = [Some(without_query), with_query].into_iter().flatten();
        if let Some(first) = texts.filter_map(|text| self.shapes.first_match(text)).min() {
            return self.shape_lines.get(first).copied();
        }
        self.expression_lines
            .get(self.expressions.first_match(url)?)
            .copied()
    }

    /// Returns the line number of the prefix that a text begins with.
    fn find_prefix(&self, text: &str) -> Option<usize> {
        let (prefix, at) = self
            .prefixes
            .range::<str, _>((Bound::Unbounded, Bound::Included(text)))
            .next_back()?;
        text.starts_with(prefix.as_str()).then_some(*at)
    }
}

/// Converts a shape to a regular expression.
fn shape_regex(shape: &str) -> Result<String, BadPattern> {
    let shape = GlobBuilder::new(shape)
        .literal_separator(false)
        .case_insensitive(true)
        .build()
        .map_err(|e| BadPattern::Shape(e.kind().to_string()))?;
    Ok(shape.regex().to_owned())
}

/// Parses a line; shapes and expressions are compiled later.
fn parse_line(line: &str, naming: Naming) -> Result<Pattern, BadPattern> {
    if let Some(list) = line.strip_prefix('@') {
        return if list == "media" {
            Ok(Pattern::Media)
        } else {
            Err(BadPattern::NoList)
        };
    }
    if line.starts_with("re:") {
        return Ok(Pattern::Expression);
    }
    let has_scheme = line.contains("://");
    if line.contains('*') || (!has_scheme && line.contains(['?', '[', '{'])) {
        return Ok(Pattern::Shape);
    }
    if has_scheme {
        return Ok(Pattern::Prefix(
            normalise(line).ok_or(BadPattern::NoPattern)?,
        ));
    }
    if let Some(host) = line.strip_prefix('.') {
        return site_name(host, SiteMode::Host).map(Pattern::Subdomains);
    }
    if line.contains('/') {
        let url = normalise(&format!("http://{line}")).ok_or(BadPattern::NoPattern)?;
        let prefix = url.strip_prefix("http://").unwrap_or(&url);
        return Ok(Pattern::Prefix(prefix.to_owned()));
    }
    // If sites are domains, a subdomain is not a site and matches by host.
    let mode = match naming.sites {
        SiteMode::BareHost => SiteMode::BareHost,
        SiteMode::Host | SiteMode::Domain => SiteMode::Host,
    };
    site_name(line, mode).map(Pattern::Site)
}

fn site_name(host: &str, mode: SiteMode) -> Result<String, BadPattern> {
    if host.is_empty() || host.contains(char::is_whitespace) {
        return Err(BadPattern::NoPattern);
    }
    let naming = mode.with(UrlRules::Rfc3986);
    let found = location::parse(&format!("http://{host}/"), naming);
    found.map(|at| at.site).map_err(|_| BadPattern::NoPattern)
}

/// Normalises a URL.
fn normalise(url: &str) -> Option<String> {
    let naming = SiteMode::Host.with(UrlRules::Rfc3986);
    Some(location::parse(url, naming).ok()?.url(SiteMode::Host))
}

/// Returns the host of a normalised URL, without port.
fn host_of(url: &str) -> &str {
    let from = url.find("://").map_or(0, |at| at + 3);
    let end = location::host_end(url);
    let host = url.get(from..end).unwrap_or_default();
    host.strip_suffix(['/', ':']).unwrap_or(host)
}

/// Returns whether a URL's path has an extension of [`MEDIA`].
fn is_media(without_query: &str) -> bool {
    let from = without_query.find("://").map_or(0, |at| at + 3);
    let Some((_, path)) = without_query[from..].split_once('/') else {
        return false;
    };
    let file = path.rsplit('/').next().unwrap_or_default();
    let Some((_, extension)) = file.rsplit_once('.') else {
        return false;
    };
    extension.len() <= 5
        && MEDIA
            .binary_search(&extension.to_ascii_lowercase().as_str())
            .is_ok()
}

#[cfg(test)]
#[path = "patterns_tests.rs"]
mod tests;
