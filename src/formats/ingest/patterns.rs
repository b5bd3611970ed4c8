//! Which pages the lines of a list name.
//!
//! | line | pages |
//! | --- | --- |
//! | `example.org` | of this site, as the bank tells sites apart; of this host where sites are domains |
//! | `.example.org` | of this host and of all hosts below it |
//! | `https://example.org/private/` | whose URL begins so; without a scheme, by http and https |
//! | `*.pdf` | whose URL, with or without its query, is of this shape; case does not matter |
//! | `re:^https?://[^/]*/tag/` | in whose URL this expression matches (syntax of the `regex` crate) |
//! | `@media` | whose path ends like a document, an image or an archive ([`MEDIA`]) |
//!
//! Lines that are empty or begin with `#` say nothing.
//!
//! Cost of a page: a look into two maps for each label of its host, one search among the prefixes,
//! and a run of each program of shapes and of expressions ([`Programs`]).

use std::collections::BTreeMap;
use std::ops::Bound;

use globset::GlobBuilder;

use super::bad_pattern::BadPattern;
use super::location::{self, Naming, SiteMode, UrlRules};
use super::regex_sets::{Compiled, Matches, Programs};
use seedbank_algorithms::watch::{Interrupted, Watch};

/// The endings of a path that `@media` names: documents, images, sound, film, archives, programs,
/// and what pages are made with.
pub const MEDIA: [&str; 76] = [
    "7z", "aac", "apk", "avi", "avif", "bin", "bmp", "bz2", "css", "csv", "deb", "dll", "dmg",
    "doc", "docx", "eot", "eps", "epub", "exe", "flac", "flv", "gif", "gz", "heic", "ico", "iso",
    "jar", "jpeg", "jpg", "js", "json", "m4a", "m4v", "mid", "midi", "mkv", "mov", "mp3", "mp4",
    "mpeg", "mpg", "msi", "odp", "ods", "odt", "ogg", "ogv", "otf", "pdf", "png", "pps", "ppt",
    "pptx", "ps", "psd", "rar", "rpm", "rtf", "svg", "swf", "tar", "tgz", "tif", "tiff", "ttf",
    "wav", "webm", "webp", "wma", "wmv", "woff", "woff2", "xls", "xlsx", "xz", "zip",
];

/// Why the lines of a list cannot be asked of pages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PatternsError {
    /// The line at this place, from 0, is bad.
    Line(usize, BadPattern),
    /// The caller asked for the work to stop.
    Interrupted(Interrupted),
}

impl From<Interrupted> for PatternsError {
    fn from(interrupted: Interrupted) -> Self {
        Self::Interrupted(interrupted)
    }
}

/// What one line names.
enum Named {
    Site(String),
    Under(String),
    Prefix(String),
    Shape,
    Expression,
    Media,
}

/// The lines of a list, ready to be asked of pages.
pub struct Patterns {
    lines: Vec<String>,
    /// Sites and hosts, and the lines that name them.
    sites: BTreeMap<String, usize>,
    /// Hosts that are named with all below them.
    under: BTreeMap<String, usize>,
    /// What URLs begin with, without the scheme where none was given; none begins another.
    prefixes: BTreeMap<String, usize>,
    shapes: Programs,
    of_shapes: Vec<usize>,
    expressions: Programs,
    of_expressions: Vec<usize>,
    media: Option<usize>,
}

impl Patterns {
    /// Reads and compiles lines; fails at the first that makes no sense or takes too much.
    pub fn new(text: &str, naming: Naming, watch: &dyn Watch) -> Result<Self, PatternsError> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let (mut sites, mut under, mut all_prefixes) =
            (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut shapes = Programs::new(Matches::Bytes);
        let mut expressions = Programs::new(Matches::Text);
        let mut compiled = Compiled::default();
        let (mut of_shapes, mut of_expressions) = (Vec::new(), Vec::new());
        let mut media = None;
        for (at, line) in lines.iter().enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            watch.proceed()?;
            let bad = |bad| PatternsError::Line(at, bad);
            match named(line, naming).map_err(bad)? {
                Named::Site(site) => {
                    sites.entry(site).or_insert(at);
                }
                Named::Under(host) => {
                    under.entry(host).or_insert(at);
                }
                Named::Prefix(prefix) => {
                    all_prefixes.entry(prefix).or_insert(at);
                }
                Named::Shape => {
                    let shape = expression_of(line).map_err(bad)?;
                    shapes
                        .add(&shape, &mut compiled, BadPattern::Shape)
                        .map_err(bad)?;
                    of_shapes.push(at);
                }
                Named::Expression => {
                    let expression = line.strip_prefix("re:").unwrap_or_default();
                    expressions
                        .add(expression, &mut compiled, BadPattern::Expression)
                        .map_err(bad)?;
                    of_expressions.push(at);
                }
                Named::Media => media = media.or(Some(at)),
            }
        }
        for (programs, of) in [
            (&mut shapes, &of_shapes),
            (&mut expressions, &of_expressions),
        ] {
            let last = of.last().copied().unwrap_or(0);
            programs
                .finish()
                .map_err(|bad| PatternsError::Line(last, bad))?;
        }
        // Of prefixes that begin with another one the shorter says it all.
        let mut prefixes: BTreeMap<String, usize> = BTreeMap::new();
        for (prefix, at) in all_prefixes {
            let is_said = prefixes
                .last_key_value()
                .is_some_and(|(last, _)| prefix.starts_with(last.as_str()));
            if !is_said {
                prefixes.insert(prefix, at);
            }
        }
        Ok(Self {
            lines,
            sites,
            under,
            prefixes,
            shapes,
            of_shapes,
            expressions,
            of_expressions,
            media,
        })
    }

    /// The line that names a page, by its site and its URL; `None` where none does.
    pub fn find(&self, site: &str, url: &str) -> Option<&str> {
        let at = self.find_place(site, url)?;
        self.lines.get(at).map(String::as_str)
    }

    /// Whether a line names a page.
    #[must_use]
    pub fn has(&self, site: &str, url: &str) -> bool {
        self.find_place(site, url).is_some()
    }

    fn find_place(&self, site: &str, url: &str) -> Option<usize> {
        let host = host_of(url);
        let of_host = || self.sites.get(site).or_else(|| self.sites.get(host));
        if let Some(&at) = of_host() {
            return Some(at);
        }
        if !self.under.is_empty() {
            let mut rest = Some(host);
            while let Some(host) = rest {
                if let Some(&at) = self.under.get(host) {
                    return Some(at);
                }
                rest = host.split_once('.').map(|(_, above)| above);
            }
        }
        if !self.prefixes.is_empty() {
            let after_scheme = url.find("://").map_or(url, |at| &url[at + 3..]);
            let found = self.prefix_of(url).or_else(|| self.prefix_of(after_scheme));
            if found.is_some() {
                return found;
            }
        }
        let without_query = url.find('?').map_or(url, |at| &url[..at]);
        if let Some(at) = self.media.filter(|_| is_media(without_query)) {
            return Some(at);
        }
        let whole = (without_query != url).then_some(url);
        let texts = [Some(without_query), whole].into_iter().flatten();
        if let Some(first) = texts.filter_map(|text| self.shapes.first(text)).min() {
            return self.of_shapes.get(first).copied();
        }
        self.of_expressions
            .get(self.expressions.first(url)?)
            .copied()
    }

    /// The prefix that a text begins with.
    fn prefix_of(&self, text: &str) -> Option<usize> {
        let (prefix, at) = self
            .prefixes
            .range::<str, _>((Bound::Unbounded, Bound::Included(text)))
            .next_back()?;
        text.starts_with(prefix.as_str()).then_some(*at)
    }
}

/// A shape as a regular expression.
fn expression_of(shape: &str) -> Result<String, BadPattern> {
    let shape = GlobBuilder::new(shape)
        .literal_separator(false)
        .case_insensitive(true)
        .build()
        .map_err(|e| BadPattern::Shape(e.kind().to_string()))?;
    Ok(shape.regex().to_owned())
}

/// What a line names; shapes and expressions are looked at later.
fn named(line: &str, naming: Naming) -> Result<Named, BadPattern> {
    if let Some(list) = line.strip_prefix('@') {
        return if list == "media" {
            Ok(Named::Media)
        } else {
            Err(BadPattern::NoList)
        };
    }
    if line.starts_with("re:") {
        return Ok(Named::Expression);
    }
    let has_scheme = line.contains("://");
    if line.contains('*') || (!has_scheme && line.contains(['?', '[', '{'])) {
        return Ok(Named::Shape);
    }
    if has_scheme {
        return Ok(Named::Prefix(normal(line).ok_or(BadPattern::NoPattern)?));
    }
    if let Some(host) = line.strip_prefix('.') {
        return site_of(host, SiteMode::Host).map(Named::Under);
    }
    if line.contains('/') {
        let url = normal(&format!("http://{line}")).ok_or(BadPattern::NoPattern)?;
        let prefix = url.strip_prefix("http://").unwrap_or(&url);
        return Ok(Named::Prefix(prefix.to_owned()));
    }
    // Where sites are domains, a host below one is no site.
    let mode = match naming.sites {
        SiteMode::BareHost => SiteMode::BareHost,
        SiteMode::Host | SiteMode::Domain => SiteMode::Host,
    };
    site_of(line, mode).map(Named::Site)
}

fn site_of(host: &str, mode: SiteMode) -> Result<String, BadPattern> {
    if host.is_empty() || host.contains(char::is_whitespace) {
        return Err(BadPattern::NoPattern);
    }
    let naming = mode.with(UrlRules::Rfc3986);
    let found = location::parse(&format!("http://{host}/"), naming);
    found.map(|at| at.site).map_err(|_| BadPattern::NoPattern)
}

/// A URL as banks write it.
fn normal(url: &str) -> Option<String> {
    let naming = SiteMode::Host.with(UrlRules::Rfc3986);
    Some(location::parse(url, naming).ok()?.url(SiteMode::Host))
}

/// The host of a normalised URL, without port.
fn host_of(url: &str) -> &str {
    let from = url.find("://").map_or(0, |at| at + 3);
    let end = location::host_end(url);
    let host = url.get(from..end).unwrap_or_default();
    host.strip_suffix(['/', ':']).unwrap_or(host)
}

/// Whether a path ends like a document, an image or the like.
fn is_media(without_query: &str) -> bool {
    let from = without_query.find("://").map_or(0, |at| at + 3);
    let Some((_, path)) = without_query[from..].split_once('/') else {
        return false;
    };
    let file = path.rsplit('/').next().unwrap_or_default();
    let Some((_, ending)) = file.rsplit_once('.') else {
        return false;
    };
    ending.len() <= 5
        && MEDIA
            .binary_search(&ending.to_ascii_lowercase().as_str())
            .is_ok()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use seedbank_algorithms::watch::Unwatched;

    fn found(lines: &str, naming: Naming, url: &str) -> Option<String> {
        let at = location::parse(url, naming).unwrap();
        let patterns = Patterns::new(lines, naming, &Unwatched).unwrap();
        let normal = at.url(naming.sites);
        patterns.find(&at.site, &normal).map(str::to_owned)
    }

    #[test]
    fn each_kind_of_line_names_its_pages() {
        assert!(MEDIA.is_sorted());
        let lines = "# a comment\n\nexample.org\n.farm.example\nhttps://a.example/private/\n\
                     b.example/x\n*.PDF\nre:^https?://[^/]*/tag/\n@media\n";
        let named = |url: &str| found(lines, Naming::default(), url);
        for (url, line) in [
            ("http://example.org/any", Some("example.org")),
            ("https://www.example.org:8080/", Some("example.org")),
            ("http://sub.example.org/", None),
            ("http://farm.example/", Some(".farm.example")),
            ("http://x.y.farm.example/a", Some(".farm.example")),
            ("http://notfarm.example/a", None),
            (
                "https://a.example/private/x",
                Some("https://a.example/private/"),
            ),
            ("http://a.example/private/x", None),
            ("https://a.example/privat", None),
            ("http://b.example/xyz", Some("b.example/x")),
            ("https://b.example/xyz", Some("b.example/x")),
            ("http://c.example/paper.pdf", Some("@media")),
            ("http://c.example/paper.pdf?v=2", Some("@media")),
            ("http://c.example/?file=a.pdf", Some("*.PDF")),
            ("http://c.example/x/tag/y", None),
            ("http://c.example/tag/y", Some("re:^https?://[^/]*/tag/")),
            ("http://c.example/a.JPG", Some("@media")),
            ("http://zip/", None),
            ("http://c.example/a.zip/b", None),
            ("http://[::1]:80/a.html", None),
        ] {
            assert_eq!(named(url).as_deref(), line, "{url}");
        }
    }

    #[test]
    fn sites_are_those_of_the_bank() {
        let of = |mode: SiteMode, line: &str, url: &str| {
            found(line, mode.with(UrlRules::Rfc3986), url).is_some()
        };
        assert!(of(
            SiteMode::BareHost,
            "www.Example.org",
            "http://example.org/"
        ));
        assert!(!of(
            SiteMode::Host,
            "www.example.org",
            "http://example.org/"
        ));
        assert!(of(
            SiteMode::Domain,
            "example.org",
            "http://blog.example.org/"
        ));
        assert!(of(
            SiteMode::Domain,
            "blog.example.org",
            "http://blog.example.org/"
        ));
        assert!(!of(
            SiteMode::Domain,
            "blog.example.org",
            "http://example.org/"
        ));
        assert!(of(
            SiteMode::BareHost,
            "münchen.de",
            "http://xn--mnchen-3ya.de/a"
        ));
    }

    #[test]
    fn of_nested_prefixes_the_shortest_serves() {
        let lines = "http://a.example/b\nhttp://a.example/b/c\nhttp://a.example/b-d\n";
        let named = |url: &str| found(lines, Naming::default(), url);
        for url in [
            "http://a.example/b/z",
            "http://a.example/b-e",
            "http://a.example/b/c/d",
        ] {
            assert_eq!(named(url).as_deref(), Some("http://a.example/b"), "{url}");
        }
        assert_eq!(named("http://a.example/a"), None);
    }

    #[test]
    fn a_line_that_makes_no_sense_is_told_with_its_place() {
        for bad in ["two words", "@nothing", "re:(", "http://", "a]*[", "."] {
            let lines = format!("example.org\n{bad}\n*.ok\n");
            let error = Patterns::new(&lines, Naming::default(), &Unwatched);
            let error = error.err().unwrap();
            assert!(
                matches!(error, PatternsError::Line(1, _)),
                "{bad}: {error:?}"
            );
        }
    }

    /// Stops the work after so many looks.
    struct Until(AtomicU64);

    impl Watch for Until {
        fn stopped(&self) -> bool {
            self.0.fetch_sub(1, Ordering::Relaxed) == 1
        }
    }

    #[test]
    fn compiling_can_be_interrupted_between_lines() {
        let lines: Vec<String> = (0..100).map(|at| format!("re:x{at}\n*.{at}\n")).collect();
        let lines = lines.concat();
        let watch = Until(AtomicU64::new(57));
        let error = Patterns::new(&lines, Naming::default(), &watch).err();
        assert_eq!(error, Some(PatternsError::Interrupted(Interrupted)));
        let watch = Until(AtomicU64::new(201));
        assert!(Patterns::new(&lines, Naming::default(), &watch).is_ok());
    }
}
