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
                     b.example/x\n*.PDF\nre:^https?://[^/]*/tag/\n@media\n@traps\n";
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
        ("http://c.example/de/x/de/x/", Some("@traps")),
        ("http://c.example/a/b/a/c/a", Some("@traps")),
        (
            "http://c.example/0/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/h/i/j/k",
            Some("@traps"),
        ),
        ("http://c.example/de/de/x?y=/a/a/a", None),
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
