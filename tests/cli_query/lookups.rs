//! Pages that a user names by URL: suggestions for unknown ones, and how URLs are displayed.

use crate::support::command::{Place, record};
use serde_json::Value;

/// A bank with pages of one site that URLs can miss in many ways.
fn with_pages() -> Place {
    let place = Place::with_bank();
    let hub = "http://hub.example/";
    let pages = [
        "http://a.example/x",
        "https://a.example/y/",
        "https://www.a.example/z",
        "http://a.example/q?b=1",
        "http://a.example/q?c=2",
        "https://n.example/k",
        "https://n.example/l",
        "https://n.example/n",
        "https://n.example/o",
        "https://n.example/p",
        "https://both.example/",
        "http://both.example/",
        "https://s.example/caf%C3%A9/%D1%81%D0%BE%D1%81%D0%B0?q=a%20b",
    ];
    place.write("day0.jsonl", record(hub, &pages));
    place.run(&["ingest", "bank", "day0.jsonl"]).done();
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    place
}

#[test]
fn the_same_page_written_otherwise_comes_first_then_neighbours() {
    let place = with_pages();
    let cases: &[(&str, &[&str])] = &[
        (
            "https://a.example/x",
            &["http://a.example/x", "https://a.example/y/"],
        ),
        ("http://a.example/x/", &["http://a.example/x"]),
        ("http://a.example/x?from=mail", &["http://a.example/x"]),
        (
            "https://www.a.example/x/?from=mail",
            &["http://a.example/x"],
        ),
        ("https://a.example/y", &["https://a.example/y/"]),
        ("http://a.example/y", &["https://a.example/y/"]),
        ("https://a.example/z", &["https://www.a.example/z"]),
        ("http://a.example/z/", &["https://www.a.example/z"]),
        (
            "http://a.example/q",
            &["http://a.example/q?b=1", "http://a.example/q?c=2"],
        ),
        // Both sides, in the order of URLs.
        (
            "https://n.example/m",
            &[
                "https://n.example/k",
                "https://n.example/l",
                "https://n.example/n",
                "https://n.example/o",
                "https://n.example/p",
            ],
        ),
        ("http://www.n.example/zz", &["https://n.example/k"]),
        ("https://n.example/", &["https://n.example/k"]),
    ];
    for (url, proposed) in cases {
        for args in [&["explain", "bank", url], &["history", "bank", url]] {
            let told = place.run(args).fails(5);
            let words = format!(
                "error: the bank does not contain {url}\nhint: the nearest pages in the bank: {}",
                proposed.join(", ")
            );
            assert!(told.starts_with(&words), "{url}: {told}");
            assert!(told.matches("http").count() <= 6, "{url}: {told}");
        }
    }
    let told = place
        .run(&["explain", "bank", "http://none.example/"])
        .fails(5);
    assert!(
        told.ends_with("hint: the bank contains no page of that site either\n"),
        "{told}"
    );
}

/// As in a search, a page can be named without its scheme; https is tried first.
#[test]
fn a_page_can_be_named_without_its_scheme() {
    let place = with_pages();
    for (text, page) in [
        ("a.example/x", "http://a.example/x"),
        ("A.example/x#top", "http://a.example/x"),
        ("//a.example/x", "http://a.example/x"),
        ("a.example:80/x", "http://a.example/x"),
        ("www.a.example/z", "https://www.a.example/z"),
        ("both.example", "https://both.example/"),
    ] {
        for command in ["explain", "history", "page"] {
            let args = [command, "bank", text, "--format", "json"];
            assert_eq!(place.run(&args).json()["url"], page, "{command} {text}");
        }
    }
    for (text, nearest) in [
        ("a.example/y", "https://a.example/y/"),
        ("a.example/x?from=mail", "http://a.example/x"),
    ] {
        let told = place.run(&["explain", "bank", text]).fails(5);
        let words = format!(
            "error: the bank does not contain {text}\nhint: the nearest pages in the bank: {nearest}"
        );
        assert!(told.starts_with(&words), "{told}");
    }
    let told = place.run(&["history", "bank", "none.example/x"]).fails(5);
    let words = "error: the bank does not contain none.example/x\nhint: the bank contains no page of that site either\n";
    assert_eq!(told, words);
    for (text, problem) in [
        ("/x", "the URL is relative"),
        ("x", "the URL is relative"),
        ("mailto:x@a.example", "found mailto"),
        ("ftp://a.example/", "found ftp"),
        ("javascript:a.b", "found javascript"),
    ] {
        let told = place.run(&["explain", "bank", text]).fails(2);
        assert!(told.contains("is not the URL of a page"), "{text}: {told}");
        assert!(told.contains(problem), "{text}: {told}");
    }
}

/// People read `café`; what looks like ASCII and is not stays as it is, and data do not change.
#[test]
fn urls_are_decoded_for_people_alone() {
    let place = with_pages();
    let url = "https://s.example/caf%C3%A9/%D1%81%D0%BE%D1%81%D0%B0?q=a%20b";
    let shown = "https://s.example/café/%D1%81%D0%BE%D1%81%D0%B0?q=a%20b";
    for typed in [url, shown, "https://s.example/café/соса?q=a b"] {
        let text = place.run(&["explain", "bank", typed]).done();
        assert!(text.starts_with(&format!("{shown}\n")), "{text}");
        let text = place.run(&["history", "bank", typed]).done();
        assert!(text.starts_with(&format!("{shown}\n")), "{text}");
        for command in ["explain", "history"] {
            let args = [command, "bank", typed, "--format", "json"];
            assert_eq!(place.run(&args).json()["url"], url);
        }
    }
    let told = place
        .run(&["explain", "bank", "http://s.example/café"])
        .fails(5);
    assert!(told.contains(shown), "{told}");
    // A list of URLs is data, whatever its format.
    let many: Vec<String> = (0..20).map(|n| format!("http://t{n}.example/")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    place.write("day1.jsonl", record(url, &many));
    place.run(&["ingest", "bank", "day1.jsonl"]).done();
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    assert!(place.run(&["seeds", "bank"]).done().contains(url));
    let seeds: Vec<Value> = place
        .run(&["seeds", "bank", "--format", "jsonl"])
        .json_lines();
    assert!(seeds.iter().any(|seed| seed["url"] == url));
    let diff = place.run(&["diff", "bank"]).done();
    assert!(diff.contains(shown), "{diff}");
    let diff = place.run(&["diff", "bank", "--format", "jsonl"]).done();
    assert!(diff.contains(url) && !diff.contains("café"), "{diff}");
}
