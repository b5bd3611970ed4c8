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
//! | `@traps` | paths that repeat themselves, as those of endless sites do ([`is_repeating`]) |
//!
//! Empty lines and lines that begin with `#` are ignored.
//!
//! Cost per page: two map lookups per label of the host, one search among the prefixes, and one search
//! per compiled set of shapes and of expressions ([`RegexSets`]).

use std::collections::BTreeMap;
use std::ops::Bound;

use super::location::{self, Naming, SiteMode, UrlRules};
use globset::GlobBuilder;
use regex_automata::meta::Regex;
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::util::syntax;
use regex_automata::{Input, MatchKind, PatternSet};
use regex_syntax::hir::{Hir, HirKind, Look};
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
    Traps,
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
    /// The line number of `@traps`.
    traps: Option<usize>,
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
        let (mut media, mut traps) = (None, None);
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
                Pattern::Traps => traps = traps.or(Some(at)),
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
            traps,
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
        if let Some(at) = self.traps.filter(|_| is_repeating(without_query)) {
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
        return match list {
            "media" => Ok(Pattern::Media),
            "traps" => Ok(Pattern::Traps),
            _ => Err(BadPattern::NoList),
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

/// Returns the path of a URL without query, after the first slash.
fn path_of(without_query: &str) -> &str {
    let from = without_query.find("://").map_or(0, |at| at + 3);
    let path = without_query[from..].split_once('/');
    path.map_or("", |(_, path)| path)
}

/// The number of segments beyond which a path is one of `@traps`.
const MAX_SEGMENTS: usize = 20;

/// Returns whether a URL's path repeats itself: a segment occurs three times, two or more segments in a row occur twice in a
/// row, or there are more than 20 segments. Links that are relative to the wrong folder lead to such paths, without end.
///
/// ```
/// use seedbank_formats::ingest::is_repeating;
///
/// assert!(is_repeating("https://a.example/en/about/en/about/"));
/// assert!(!is_repeating("https://a.example/2024/05/05/news?from=/en/en/en"));
/// ```
#[must_use]
pub fn is_repeating(url: &str) -> bool {
    let path = path_of(url.split('?').next().unwrap_or_default());
    let segments = path.split('/').filter(|segment| !segment.is_empty());
    let segments: Vec<&str> = segments.collect();
    let count = |segment: &&str| segments.iter().filter(|other| *other == segment).count();
    let repeats = |length: usize| {
        let mut pairs = segments.windows(2 * length);
        pairs.any(|pair| pair[..length] == pair[length..])
    };
    segments.len() > MAX_SEGMENTS
        || segments.iter().any(|segment| count(segment) >= 3)
        || (2..=segments.len() / 2).any(repeats)
}

/// Returns the shape of a URL: numbers become 0, and the query keeps its names only.
///
/// ```
/// use seedbank_formats::ingest::url_shape;
///
/// let url = "https://a.example/calendar/2024-05?day=17&view=list";
/// assert_eq!(url_shape(url), "https://a.example/calendar/0-0?day=&view=");
/// ```
#[must_use]
pub fn url_shape(url: &str) -> String {
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let mut shape = String::with_capacity(url.len());
    for character in path.chars() {
        if !character.is_ascii_digit() {
            shape.push(character);
        } else if !shape.ends_with('0') {
            shape.push('0');
        }
    }
    let parameters = query.split('&').filter(|parameter| !parameter.is_empty());
    for (at, parameter) in parameters.enumerate() {
        shape.push(if at == 0 { '?' } else { '&' });
        shape.push_str(parameter.split('=').next().unwrap_or_default());
        shape.push('=');
    }
    shape
}

/// Returns whether a URL's path has an extension of [`MEDIA`].
fn is_media(without_query: &str) -> bool {
    let file = path_of(without_query)
        .rsplit('/')
        .next()
        .unwrap_or_default();
    let Some((_, extension)) = file.rsplit_once('.') else {
        return false;
    };
    extension.len() <= 5
        && MEDIA
            .binary_search(&extension.to_ascii_lowercase().as_str())
            .is_ok()
}

// Errors of pattern lists.

/// Why a line of a pattern list is invalid.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadPattern {
    /// Not a pattern of any kind.
    #[error(
        "expected a site, URL prefix, shape (`*.pdf`), expression (`re:...`) or built-in list (`@media`, `@traps`)"
    )]
    NoPattern,
    /// An unknown built-in list.
    #[error("unknown built-in list; expected `@media` or `@traps`")]
    NoList,
    /// A pinned page that is not a URL.
    #[error("expected an http or https URL")]
    NoPage,
    /// An invalid shape.
    #[error("{0}")]
    Shape(String),
    /// An invalid expression.
    #[error("{0}")]
    Expression(String),
    /// A shape or expression that is too long.
    #[error("expected a shape or expression of at most {most} bytes, found {found}")]
    TooLong {
        /// The length of the text in bytes.
        found: u64,
        /// The limit in bytes.
        most: u64,
    },
    /// A shape or expression whose compiled form is too large.
    #[error("expected a line that takes at most {} KiB when compiled", most >> 10)]
    LineTooLarge {
        /// The limit in bytes.
        most: u64,
    },
    /// The line at which the compiled list becomes too large.
    #[error(
        "with this line, the shapes and expressions of the list take {} KiB when compiled; expected at most {} KiB",
        found.div_ceil(1 << 10),
        most >> 10
    )]
    ListTooLarge {
        /// The compiled size in bytes of the list up to and including this line.
        found: u64,
        /// The limit in bytes.
        most: u64,
    },
    /// The line with which searches take too many steps.
    #[error(
        "with this line, a search takes up to {found} steps for each byte of a URL, besides {free} for each line; expected at most {most}"
    )]
    TooSlow {
        /// The steps of the list up to and including this line, without those that each line may take.
        found: u64,
        /// The limit.
        most: u64,
        /// The steps that each line may take.
        free: u64,
    },
}

impl BadPattern {
    /// Returns whether the line is valid but exceeds a size limit.
    #[must_use]
    pub const fn is_too_large(&self) -> bool {
        matches!(
            self,
            Self::TooLong { .. } | Self::LineTooLarge { .. } | Self::ListTooLarge { .. }
        )
    }
}

// Regular expressions of a list, compiled in sets under a common size limit.
//
// The cost of compiling and storing an expression grows with the size of its automaton, that of searching with its
// width. Both are limited and not the time, so that a list is accepted or rejected alike on every machine. Each
// expression is first compiled alone, which is cheap and determines its size; about a megabyte of
// expressions is then compiled into one set. The work can be interrupted between expressions.

/// The maximum compiled size of all expressions of a list, in bytes.
const MAX_LIST_BYTES: usize = 64 << 20;

/// The maximum compiled size of one expression, in bytes; bounds the time between checks for
/// interruption.
const MAX_LINE_BYTES: usize = 8 << 20;

/// The maximum length of an expression in bytes; a few bytes may stand for a large character class, which
/// takes memory before it is compiled.
const MAX_TEXT_BYTES: usize = 16 << 10;

/// The approximate compiled size of a set, in bytes.
const SET_BYTES: usize = 1 << 20;

/// The size of each thread's cache for a set, in bytes.
const CACHE_BYTES: usize = 2 << 20;

/// The width that does not count towards [`MAX_LIST_WIDTH`]; nearly all expressions have less.
const FREE_WIDTH: usize = 64;

/// The maximum width of all expressions of a list beyond [`FREE_WIDTH`] of each. With the longest URL, a search takes up to
/// 33 million steps for them, which is a fraction of a second.
const MAX_LIST_WIDTH: usize = 512;

/// The compiled size of all expressions of a list so far, and their width beyond what is free.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CompiledSize {
    bytes: usize,
    width: usize,
}

impl CompiledSize {
    /// Adds an expression of `bytes` bytes and this width.
    fn add(&mut self, bytes: usize, width: usize) -> Result<(), BadPattern> {
        self.bytes += bytes;
        if self.bytes > MAX_LIST_BYTES {
            return Err(BadPattern::ListTooLarge {
                found: self.bytes as u64,
                most: MAX_LIST_BYTES as u64,
            });
        }
        let wide = width.saturating_sub(FREE_WIDTH);
        self.width = self.width.saturating_add(wide);
        if self.width > MAX_LIST_WIDTH {
            return Err(BadPattern::TooSlow {
                found: self.width as u64,
                most: MAX_LIST_WIDTH as u64,
                free: FREE_WIDTH as u64,
            });
        }
        Ok(())
    }
}

/// What expressions are matched against.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Haystack {
    /// Text: a dot matches any character except a line feed.
    Text,
    /// Bytes: a dot matches any byte.
    Bytes,
}

impl Haystack {
    fn syntax(self) -> syntax::Config {
        let is_bytes = self == Self::Bytes;
        syntax::Config::new()
            .utf8(!is_bytes)
            .dot_matches_new_line(is_bytes)
    }

    const fn is_text(self) -> bool {
        matches!(self, Self::Text)
    }
}

/// Expressions compiled into sets that are searched one after another.
pub(super) struct RegexSets {
    haystack: Haystack,
    sets: Vec<Regex>,
    /// Expressions that are not in a set yet.
    pending: Vec<String>,
    /// Their compiled size.
    pending_bytes: usize,
}

impl RegexSets {
    pub(super) const fn new(haystack: Haystack) -> Self {
        Self {
            haystack,
            sets: Vec::new(),
            pending: Vec::new(),
            pending_bytes: 0,
        }
    }

    /// Adds an expression. Expressions are numbered from 0 in the order in which they are added. `bad`
    /// creates the error for a malformed expression.
    pub(super) fn add(
        &mut self,
        expression: &str,
        compiled: &mut CompiledSize,
        bad: fn(String) -> BadPattern,
    ) -> Result<(), BadPattern> {
        if expression.len() > MAX_TEXT_BYTES {
            return Err(BadPattern::TooLong {
                found: expression.len() as u64,
                most: MAX_TEXT_BYTES as u64,
            });
        }
        let (bytes, width) = self.size(expression, bad)?;
        let bytes = bytes + expression.len();
        compiled.add(bytes, width)?;
        if !self.pending.is_empty() && self.pending_bytes + bytes > SET_BYTES {
            self.compile_pending()?;
        }
        self.pending.push(expression.to_owned());
        self.pending_bytes += bytes;
        Ok(())
    }

    /// Returns the size of an expression's automaton in bytes, and the width of the expression.
    fn size(
        &self,
        expression: &str,
        bad: fn(String) -> BadPattern,
    ) -> Result<(usize, usize), BadPattern> {
        let parsed = syntax::parse_with(expression, &self.haystack.syntax());
        let parsed = parsed.map_err(|e| bad(e.to_string()))?;
        let settings = thompson::Config::new()
            .utf8(self.haystack.is_text())
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(MAX_LINE_BYTES));
        let automaton = NFA::compiler().configure(settings).build_from_hir(&parsed);
        match automaton {
            Ok(automaton) => Ok((automaton.memory_usage(), width(&parsed))),
            Err(e) if e.size_limit().is_some() => Err(BadPattern::LineTooLarge {
                most: MAX_LINE_BYTES as u64,
            }),
            Err(e) => Err(bad(e.to_string())),
        }
    }

    /// Compiles the pending expressions into a set.
    fn compile_pending(&mut self) -> Result<(), BadPattern> {
        let settings = Regex::config()
            .match_kind(MatchKind::All)
            .utf8_empty(self.haystack.is_text())
            .which_captures(WhichCaptures::None)
            // Sizes are limited per expression.
            .nfa_size_limit(None)
            .hybrid_cache_capacity(CACHE_BYTES);
        let set = Regex::builder()
            .syntax(self.haystack.syntax())
            .configure(settings)
            .build_many(&self.pending)
            .map_err(|e| BadPattern::Expression(e.to_string()))?;
        self.sets.push(set);
        self.pending.clear();
        self.pending_bytes = 0;
        Ok(())
    }

    /// Compiles the remaining expressions.
    pub(super) fn finish(&mut self) -> Result<(), BadPattern> {
        if !self.pending.is_empty() {
            self.compile_pending()?;
        }
        self.pending = Vec::new();
        Ok(())
    }

    /// Returns the number of the first expression that matches somewhere in a text.
    pub(super) fn first_match(&self, text: &str) -> Option<usize> {
        let input = Input::new(text);
        let mut offset = 0;
        for set in &self.sets {
            // Whether any expression matches is known much faster than which ones.
            if set.is_match(input.clone()) {
                let mut found = PatternSet::new(set.pattern_len());
                set.which_overlapping_matches(&input, &mut found);
                let first = found.iter().next()?;
                return Some(offset + first.as_usize());
            }
            offset += set.pattern_len();
        }
        None
    }
}

// The width of a regular expression: the number of its positions at which a search can be at the same time.
//
// A search that cannot cache what follows from these positions looks at each of them for every byte of a text. A counted
// repetition such as `.{1,900}` is short and small once it is compiled, but has 900 positions, all of which a text reaches.

/// Returns an upper bound on the width of an expression that is searched for anywhere in a text.
pub(super) fn width(expression: &Hir) -> usize {
    measure(expression, false).width
}

struct Measured {
    width: usize,
    /// The number of characters of all matches; `None` if they differ.
    length: Option<usize>,
}

/// Measures a part of an expression, given whether a search reaches its beginning only once. Then a search is at one position
/// of it at most as long as all ways through it are equally long.
fn measure(part: &Hir, is_reached_once: bool) -> Measured {
    let of = |width, length| Measured { width, length };
    match part.kind() {
        HirKind::Empty | HirKind::Look(_) => of(0, Some(0)),
        HirKind::Class(_) => of(1, Some(1)),
        HirKind::Literal(literal) => {
            let width = if is_reached_once {
                1
            } else {
                overlaps(&literal.0)
            };
            let characters = literal.0.iter().filter(|byte| **byte & 0xc0 != 0x80);
            of(width, Some(characters.count()))
        }
        HirKind::Capture(capture) => measure(&capture.sub, is_reached_once),
        HirKind::Concat(parts) => {
            let mut all = of(0, Some(0));
            let mut is_reached_once = is_reached_once;
            for part in parts {
                let measured = measure(part, is_reached_once);
                is_reached_once &= measured.length.is_some();
                is_reached_once |= matches!(part.kind(), HirKind::Look(Look::Start));
                all.width = all.width.saturating_add(measured.width);
                let lengths = all.length.zip(measured.length);
                all.length = lengths.and_then(|(all, more)| all.checked_add(more));
            }
            all
        }
        HirKind::Alternation(parts) => {
            // Literals are compiled into a tree, of which a text is on one path from each of its bytes.
            let (mut literals, mut others) = (0, 0_usize);
            let mut lengths = Vec::new();
            for part in parts {
                let measured = measure(part, is_reached_once);
                lengths.push(measured.length);
                match part.kind() {
                    HirKind::Literal(literal) if !is_reached_once => {
                        literals = literals.max(literal.0.len());
                    }
                    _ => others = others.saturating_add(measured.width),
                }
            }
            lengths.dedup();
            let length = lengths.first().copied().flatten();
            of(
                literals.saturating_add(others),
                length.filter(|_| lengths.len() == 1),
            )
        }
        HirKind::Repetition(repetition) => {
            let least = repetition.min as usize;
            let most = repetition.max.map(|most| most as usize);
            let is_fixed = most == Some(least);
            let once = measure(&repetition.sub, is_reached_once);
            let length = once.length.filter(|_| is_fixed);
            let length = length.and_then(|length| length.checked_mul(least));
            if is_reached_once && once.length.is_some() {
                return of(once.width, length);
            }
            let copies = most.unwrap_or(least).max(1);
            let width = measure(&repetition.sub, false).width;
            of(width.saturating_mul(copies), length)
        }
    }
}

/// Returns the largest number of beginnings of a literal, that one included, with which another beginning of it ends.
fn overlaps(literal: &[u8]) -> usize {
    // For each beginning, the length of the longest shorter one with which it ends, as in the search by Knuth, Morris and
    // Pratt, and the number of all of them.
    let mut ends: Vec<(usize, usize)> = vec![(0, 0)];
    let mut longest = 0;
    for (at, byte) in literal.iter().enumerate() {
        while longest > 0 && literal.get(longest) != Some(byte) {
            longest = ends.get(longest).map_or(0, |end| end.0);
        }
        if at > 0 && literal.get(longest) == Some(byte) {
            longest += 1;
        }
        let shorter = ends.get(longest).map_or(0, |end| end.1);
        ends.push((longest, shorter + 1));
    }
    ends.iter().map(|end| end.1).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_width_of_an_expression_is_what_a_text_can_reach() {
        for (expression, expected) in [
            ("", 0),
            ("tag", 1),
            ("aaaa", 4),
            ("ababab", 3),
            ("/tag/", 2),
            ("^aaaa", 1),
            ("[a-z]", 1),
            (r"\w{100}", 100),
            (".{1,900}.{1,900}!", 1801),
            ("(?:.{1,30}){1,30}", 900),
            ("(?:a{0,5}|[bc])+", 6),
            (r"^https?://[^/]*/tag/[0-9]+$", 7),
            ("foo|bar|foobar", 6),
            ("^foo|^[a-z]{50}", 2),
            // From the beginning on, a search knows how far it is.
            ("^.{2000}", 1),
            ("^.{2000,}", 1),
            ("^[a-z]{1,900}.{1,900}", 901),
            ("^(?:ab?){1,900}", 1800),
            ("(?:^|/).{500}", 501),
            // Of a line, not of the text.
            ("(?m:^).{500}", 500),
        ] {
            let parsed = regex_syntax::parse(expression).unwrap();
            assert_eq!(width(&parsed), expected, "{expression}");
        }
    }
}

#[cfg(test)]
#[path = "patterns_tests.rs"]
mod patterns_tests;

#[cfg(test)]
#[path = "regex_sets_tests.rs"]
mod regex_sets_tests;
