//! `search`: results for a URL, a site, or part of one.

use crate::support::command::{Place, record};
use crate::support::schemas::fits;
use serde_json::json;

fn place() -> Place {
    let place = Place::with_bank();
    let mut lines = record(
        "https://news.example.org/About",
        &["http://example.org/news", "http://other.test/Café/1"],
    );
    lines += "{\"url\": \"http://bad.news.test/\", \"spam\": true, \"digest\": \"1\"}\n";
    place.write("day.jsonl", lines);
    place.run(&["ingest", "bank", "day.jsonl"]).done();
    place
}

#[test]
fn pages_and_sites_are_found() {
    let place = place();
    let search = |text: &str| place.run(&["search", "bank", text]);
    assert_eq!(
        search("NEWS").done(),
        "NEWS\n  sites\n    news.example.org  1 crawled, 0 known\n    bad.news.test  1 crawled, 0 known\n  pages with the text in their URLs\n    http://bad.news.test/  crawled, spam\n    http://example.org/news  known, not crawled\n    https://news.example.org/About  crawled\n"
    );
    // The page by either scheme, its site, and what else has it in its URL.
    assert_eq!(
        search("example.org/news").done(),
        "example.org/news\n  \
         page http://example.org/news  known, not crawled\n  \
         sites\n    \
         example.org  0 crawled, 1 known\n"
    );
    let exact = search("https://news.example.org/About").done();
    assert!(
        exact.contains("\n  page https://news.example.org/About  crawled\n"),
        "{exact}"
    );
    let others = search("http://other.test").done();
    assert_eq!(
        others,
        "http://other.test\n  sites\n    other.test  0 crawled, 1 known\n  pages with the text in their URLs\n    http://other.test/Café/1  known, not crawled\n"
    );
    // As it is shown, so it is found.
    let shown = search("café").done();
    assert!(
        shown.contains("    http://other.test/Café/1  known"),
        "{shown}"
    );
    let json = place
        .run(&["search", "bank", " other ", "--format", "json"])
        .json();
    fits("search", &json);
    assert_eq!(json["query"], "other");
    assert_eq!(
        (&json["page"], &json["complete"]),
        (&json!(null), &json!(true))
    );
    assert_eq!(
        json["sites"],
        json!([{"site": "other.test", "known": 1, "crawled": 0}])
    );
    assert_eq!(json["pages"][0]["state"], "known");
}

#[test]
fn what_is_cut_off_is_said() {
    let place = place();
    let cut = place
        .run(&["search", "bank", "news", "--limit", "1"])
        .done();
    assert!(
        cut.contains("  there may be more; --limit raises the number of results"),
        "{cut}"
    );
    assert!(!cut.contains("example.org/"), "{cut}");
    let ended = place.run(&["search", "bank", "about", "--look", "2"]);
    assert_eq!(ended.status, Some(5));
    assert_eq!(
        ended.out,
        "about\n  none of the 2 names examined contains the text (--look examines more)\n"
    );
}

#[test]
fn nothing_found_and_nothing_to_find() {
    let place = place();
    let ended = place.run(&["search", "bank", "zebra\u{202e}"]);
    assert_eq!(ended.status, Some(5));
    assert_eq!(
        ended.out,
        "zebra\\u{202e}\n  no site name and no URL contains the text\n"
    );
    let none = place.run(&["search", "bank", "zebra", "--format", "json"]);
    assert_eq!(none.status, Some(5));
    fits("search", &serde_json::from_str(&none.out).unwrap());
    for text in ["", "  "] {
        let told = place.run(&["search", "bank", text]).fails(2);
        assert!(
            told.contains("expected a URL, a site, or a part of one"),
            "{told}"
        );
    }
    place.run(&["search", "bank"]).fails(2);
    place.run(&["search", "bank", "a", "--limit", "0"]).fails(2);
    place.run(&["search", "none", "a"]).fails(4);
}
