//! `page`: facts about a page, as a user sees them.

use crate::support::command::{Place, record};
use crate::support::schemas::fits;
use serde_json::json;

fn place() -> Place {
    let place = Place::with_seeds();
    place.write(
        "day1.jsonl",
        "{\"url\": \"http://a1.example/\", \"spam\": true, \"clicks\": 4, \"digest\": \"x\", \
         \"outlinks\": [\"http://a1.example/b\", \"http://h1.example/\"]}\n\
         {\"url\": \"http://old.example/\", \"redirect\": \"http://h1.example/\"}\n\
         {\"url\": \"http://k3.example/\", \"outlinks\": [\"http://old.example/\"]}\n\
         {\"url\": \"http://h2.example/\", \"gone\": true}\n",
    );
    place
        .run(&["ingest", "bank", "day1.jsonl", "--max-loss", "100"])
        .done();
    let sites = "refresh bank --plan sites --method max-weight --per-site 1";
    place.run(&sites.split(' ').collect::<Vec<_>>()).done();
    place
}

#[test]
fn what_is_known_of_a_page_is_told() {
    let place = place();
    let text = place.run(&["page", "bank", "http://a1.example/"]).done();
    let told: Vec<&str> = text.lines().collect();
    assert_eq!(told[0], "http://a1.example/");
    assert!(
        told[1].starts_with("  crawled, spam, last fetched 20")
            && told[1].contains("Z; first seen in batch 1 (20")
            && told[1].contains("Z), last record in batch 2 (20"),
        "{text}"
    );
    assert_eq!(
        told[2..9],
        [
            "  4 clicks, 1 uncrawled outlink (counted), a content digest",
            "  links to 2 pages on 2 sites",
            "    1 a1.example: http://a1.example/b",
            "    1 h1.example: http://h1.example/",
            "  linked from 2 pages on 2 sites",
            "    1 h1.example: http://h1.example/",
            "    1 h3.example: http://h3.example/",
        ],
        "{text}"
    );
    assert!(
        told[9].starts_with("  Not a seed of plan default: it is one of 3 pages that the same 3"),
        "{text}"
    );
    assert_eq!(
        told[10],
        "  Not a seed of plan sites: its site has no seed, and there was nothing more to gain."
    );
    assert_eq!(told.len(), 11, "{text}");

    let json = |url: &str| {
        let answer = place.run(&["page", "bank", url, "--format", "json"]).json();
        fits("page", &answer);
        answer
    };
    let seed = json("http://h1.example/");
    assert_eq!(
        seed["aliases"],
        json!({"pages": 1, "examples": ["http://old.example/"]})
    );
    // A link to its alias is one to it.
    assert_eq!(seed["inlinks"]["pages"], 2);
    assert_eq!(
        (&seed["plans"][0]["kind"], &seed["plans"][0]["plan"]),
        (&json!("core-seed"), &json!("default"))
    );
    let alias = json("http://old.example/");
    assert_eq!(
        (&alias["state"], &alias["links_to_alias"]),
        (&json!("alias"), &json!(1))
    );
    let text = place.run(&["page", "bank", "http://old.example/"]).done();
    assert!(
        text.contains(
            "  it redirects to http://h1.example/; 1 page links to it; these links count for"
        ),
        "{text}"
    );
    let gone = json("http://h2.example/");
    assert_eq!(
        (&gone["state"], &gone["outlinks"]["pages"]),
        (&json!("gone"), &json!(0))
    );
    let known = json("http://a2.example/");
    assert_eq!(known.get("last_seen"), None);
    // The same hints as of other questions about a page.
    let told = place.run(&["page", "bank", "https://a1.example/"]).fails(5);
    assert!(
        told.contains("the nearest pages in the bank: http://a1.example/"),
        "{told}"
    );
    let told = place.run(&["page", "bank", "a1.example"]).done();
    assert!(told.starts_with("http://a1.example/\n"), "{told}");
    let fresh = Place::with_bank();
    fresh.write("day.jsonl", record("http://a.example/", &[]));
    fresh.run(&["ingest", "bank", "day.jsonl"]).done();
    let text = fresh.run(&["page", "bank", "http://a.example/"]).done();
    assert!(text.ends_with(
        "  links to no page\n  linked from no page\n  no plan has been refreshed yet\n"
    ));
}

/// Of more pages and sites than are sorted, the first by name are found all the same.
#[test]
fn many_links_are_counted_and_some_named() {
    let place = Place::with_bank();
    let to = ["http://hot.example/"];
    let mut records = String::new();
    for number in (0..1100).rev() {
        records += &record(&format!("http://s{number:04}.example/"), &to);
        records += &record(&format!("http://big.example/{number:04}"), &to);
    }
    place.write("day.jsonl", records);
    place.run(&["ingest", "bank", "day.jsonl"]).done();
    let text = place
        .run(&["page", "bank", "http://hot.example/", "--limit", "3"])
        .done();
    assert!(
        text.contains(
            "  linked from 2200 pages on 1101 sites\n    \
             1100 big.example: http://big.example/0000, http://big.example/0001, \
             http://big.example/0002, ...\n    \
             1 s0000.example: http://s0000.example/\n    \
             1 s0001.example: http://s0001.example/\n    \
             and 1098 sites (--limit prints more)\n"
        ),
        "{text}"
    );
    let json = ["page", "bank", "http://hot.example/", "--format", "json"];
    let json = place.run(&json).json();
    assert_eq!(json["inlinks"]["by_site"].as_array().unwrap().len(), 100);
    place
        .run(&["page", "bank", "http://hot.example/", "--limit", "0"])
        .fails(2);
}

#[test]
fn the_pages_that_a_page_is_linked_with() {
    let place = place();
    let page = |url: &str, more: &[&str]| place.run(&[&["page", "bank", url], more].concat());
    let a1 = "http://a1.example/";
    assert_eq!(
        page(a1, &["--links", "in"]).done(),
        "http://a1.example/\n  linked from 2 pages\n    \
         1 http://h1.example/  crawled; seed of default, sites\n    \
         2 http://h3.example/  crawled; seed of sites\n"
    );
    let cut = page(a1, &["--links", "in", "--limit", "1"]).done();
    assert!(cut.ends_with("  and 1 more (--from 1)\n"), "{cut}");
    let rest = page(a1, &["--links", "in", "--from", "1"]).done();
    assert!(rest.contains("\n    2 http://h3.example/ "), "{rest}");
    let none = page(a1, &["--links", "in", "--from", "2"]).done();
    assert!(
        none.ends_with("linked from 2 pages\n    none after 2\n"),
        "{none}"
    );
    let of_site = ["--links", "out", "--site", "a1.example"];
    assert_eq!(
        page(a1, &of_site).done(),
        "http://a1.example/\n  links to 1 page on a1.example\n    \
         1 http://a1.example/b  known, not crawled\n"
    );
    let of_other = ["--links", "out", "--site", "k1.example"];
    let text = page(a1, &of_other).done();
    assert!(
        text.ends_with("  links to no page on k1.example\n"),
        "{text}"
    );
    let json = page(a1, &[&of_site[..], &["--format", "json"]].concat()).json();
    fits("page", &json);
    assert_eq!(
        json,
        json!({"url": a1, "direction": "out", "site": "a1.example", "pages": 1, "offset": 0,
            "linked": [{"url": "http://a1.example/b", "site": "a1.example", "state": "known",
                "spam": false, "seed_of": []}]})
    );
    for wrong in [
        &["--site", "a1.example"][..],
        &["--from", "1"],
        &["--links", "up"],
        &["--links", "in", "--limit", "0"],
        &["--links", "in", "--site", "a b"],
    ] {
        page(a1, wrong).fails(2);
    }
    page(a1, &["--links", "in", "--site", "none.test"]).fails(5);
    page("http://none.test/", &["--links", "in"]).fails(5);
}
