//! `site`: facts about a site, as a user sees them.

use crate::support::command::{Place, record};
use crate::support::schemas::fits;
use serde_json::json;

fn place() -> Place {
    let place = Place::with_seeds();
    place.write(
        "day1.jsonl",
        "{\"url\": \"http://h1.example/copy\", \"digest\": \"same\"}\n\
         {\"url\": \"http://h1.example/also\", \"digest\": \"same\", \"outlinks\": [\"http://h1.example/copy\"]}\n\
         {\"url\": \"http://h1.example/old\", \"redirect\": \"http://h1.example/\"}\n\
         {\"url\": \"http://k1.example/x,y\", \"outlinks\": [\"http://h1.example/copy\", \"http://h1.example/also\"]}\n",
    );
    place.write(
        "sites.jsonl",
        "{\"site\": \"h1.example\", \"quality\": 0.5, \"spam\": false, \"quota\": 7}\n",
    );
    let more = "ingest bank day1.jsonl --sites sites.jsonl --max-loss 100";
    place.run(&more.split(' ').collect::<Vec<_>>()).done();
    let sites = "refresh bank --plan sites --method max-weight --per-site 1";
    place.run(&sites.split(' ').collect::<Vec<_>>()).done();
    place
}

#[test]
fn what_is_known_of_a_site_is_told() {
    let place = place();
    let text = place.run(&["site", "bank", "H1.example"]).done();
    let begin = "site h1.example\n  given attributes: quality 0.5, not spam, quota 7\n  3 crawled, 0 known, 0 gone, 0 spam\n  1 alias, 0 pages no longer linked to\n  1 link within the site, 3 to other sites\n  links to 3 pages on 3 sites, by 3 links\n    a1.example: 1 page, 1 link\n    a2.example: 1 page, 1 link\n    a3.example: 1 page, 1 link\n  linked from 1 page on 1 site, by 2 links\n    k1.example: 1 page, 2 links\n  2 crawled pages with a content digest, 1 distinct\n    2 the same: http://h1.example/also, http://h1.example/copy\n  plan default, refresh 1 (cores, state after batch 1)\n    seed 1 http://h1.example/: core 1 (";
    assert!(text.starts_with(begin), "{text}");
    assert!(
        text.contains("\n  plan sites, refresh 2 (max-weight, state after batch 2)\n"),
        "{text}"
    );
    let by_page = place.run(&["site", "bank", "http://h1.example/x?y"]).done();
    assert_eq!(by_page, text);
    let json = place
        .run(&[
            "site",
            "bank",
            "h1.example",
            "--limit",
            "1",
            "--format",
            "json",
        ])
        .json();
    fits("site-facts", &json);
    assert_eq!(
        json["attributes"],
        json!({"quality": 0.5, "spam": false, "quota": 7})
    );
    assert_eq!(
        (&json["links_to"]["sites"], &json["complete"]),
        (&json!(3), &json!(true))
    );
    assert_eq!(json["links_to"]["by_site"].as_array().unwrap().len(), 1);
    assert_eq!(json["plans"][1]["kind"], "cover-of-site");
    let cut = place
        .run(&["site", "bank", "h1.example", "--limit", "1", "--look", "2"])
        .done();
    for line in [
        "\n  3 crawled, 0 known, 0 gone, 0 spam\n  only its first 2 pages were examined (--look): the aliases, unlinked pages, links with other sites and repeated content below refer to these pages\n  0 aliases, 0 pages no longer linked to\n",
        "\n    and 2 more sites (--limit prints more)\n",
    ] {
        assert!(cut.contains(line), "{cut}");
    }
}

#[test]
fn a_site_with_little_has_little_told() {
    let place = Place::with_bank();
    place.write("day.jsonl", record("http://a.example/", &[]));
    place.run(&["ingest", "bank", "day.jsonl"]).done();
    let text = place.run(&["site", "bank", "www.a.example"]).done();
    assert!(
        text.ends_with(
            "  0 links within the site, 0 to other sites\n  links to no other site\n  linked from no other site\n  no content digest is known\n  no plan has been refreshed yet\n"
        ),
        "{text}"
    );
}

#[test]
fn sites_that_are_not_there() {
    let place = place();
    let told = place.run(&["site", "bank", "h1"]).fails(5);
    assert!(
        told.contains("the bank contains no page of site \"h1\"\nhint: the nearest sites in the bank: h1.example"),
        "{told}"
    );
    let told = place.run(&["explain", "bank", "--site", "h1"]).fails(5);
    assert!(
        told.contains("the nearest sites in the bank: h1.example"),
        "{told}"
    );
    let told = place.run(&["site", "bank", "zebra.example"]).fails(5);
    assert!(told.contains("hint: give a host name"), "{told}");
    place.run(&["site", "bank", "a b"]).fails(2);
    place.run(&["site", "bank", ""]).fails(2);
    place
        .run(&["site", "bank", "h1.example", "--look", "0"])
        .fails(2);
    place.run(&["site", "none", "h1.example"]).fails(4);
}
