//! What crawls from seeds brought, as a user sees it: records say from which seed a fetch came, and every answer about
//! the seeds shows it beside what the list promised.

use std::fs;

use crate::support::command::{Place, record};
use crate::support::schemas::fits;
use serde_json::{Value, json};

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

const A: &str = "http://a.example/";
const B: &str = "http://b.example/";

/// A bank with two home pages that link to pages that were not crawled, and a plan that takes both as seeds.
fn place() -> Place {
    let place = Place::with_bank();
    let pages = |host: &str, count: usize| -> Vec<String> {
        (0..count)
            .map(|number| format!("http://{host}.example/{number}"))
            .collect()
    };
    let mut crawl = String::new();
    for (host, count) in [("a", 4), ("b", 3)] {
        let pages = pages(host, count);
        let links: Vec<&str> = pages.iter().map(String::as_str).collect();
        crawl += &record(&format!("http://{host}.example/"), &links);
    }
    place.write("crawl.jsonl", crawl);
    place
        .run(&words("ingest bank crawl.jsonl --as-of 2026-11-01"))
        .done();
    place
        .run(&words(
            "refresh bank --method greedy --scope web --seeds 2 --hops 1 --fetch-cost 0.1 --value-known 0.5",
        ))
        .done();
    place
}

/// A crawl from both seeds. From a: its page, two new ones with the same content, one that failed; from b: its page,
/// which is not new; from a page that is no seed: one; and one fetch of which nothing is said.
fn crawl(place: &Place) {
    let fetch = |url: &str, digest: &str, seed: Option<&str>, via: Option<&str>, depth: u32| {
        json!({"url": url, "digest": digest, "fetched": "2026-11-02T04:00:00Z",
            "seed": seed, "via": via, "depth": depth})
    };
    let lines = [
        fetch(A, "a", Some(A), None, 0),
        fetch("http://a.example/0", "same", Some(A), Some(A), 1),
        fetch("http://a.example/1", "same", Some(A), Some(A), 1),
        json!({"url": "http://a.example/2", "status": "timeout", "fetched": "2026-11-02T04:00:05Z",
            "seed": A, "via": A, "depth": 1}),
        fetch(B, "b", Some(B), None, 0),
        fetch("http://x.example/", "x", Some("http://y.example/"), None, 1),
        fetch("http://a.example/3", "3", None, Some(A), 1),
    ];
    let lines = lines.map(|line| line.to_string());
    place.write("fetched.jsonl", lines.join("\n"));
    let told = place.run(&words("ingest bank fetched.jsonl")).done();
    assert!(
        told.contains("seeds: crawlers attribute 6 fetches to seeds\n"),
        "{told}"
    );
}

#[test]
fn each_seed_is_counted_beside_its_promise() {
    let place = place();
    let before = place.run(&words("evaluate bank actual --since 2")).done();
    assert!(before.ends_with("no batch contains fetches\n"), "{before}");
    crawl(&place);
    let text = place.run(&words("evaluate bank actual --since 2")).done();
    let expected = "\
fetches of 1 batch, from 2 to 2

plan default, refresh 1
seed               fetched  new  failed  duplicates  value/fetch  promised: pages  known  value/page
http://a.example/        3    2       1           1         0.50                5      4        0.60
http://b.example/        1    0       0           0         1.00                4      3        0.62

seeds on no plan's list
seed               fetched  new  failed  duplicates  value/fetch
http://y.example/        1    1       0           0         1.00

without a seed: 1 fetched, 1 new, 0 failed
";
    assert!(text.ends_with(expected), "{text}");
    let csv = place
        .run(&words("evaluate bank actual --since 2 --format csv"))
        .done();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(
        lines[1],
        "default,1,http://a.example/,3,2,1,1,2,0.5,5,4,3,0.6"
    );
    assert_eq!(lines[4], ",,,1,1,0,,,,,,,");
    let found = place
        .run(&words("evaluate bank actual --format json"))
        .done();
    let found: Value = serde_json::from_str(&found).unwrap();
    fits("evaluate-actual", &found);
    assert_eq!(found["batches"], json!([1, 2]));
    assert_eq!(
        found["unattributed"],
        json!({"fetched": 3, "new": 3, "failed": 0})
    );
    place
        .run(&words("evaluate bank actual --plan none"))
        .fails(2);
}

#[test]
fn pages_lists_and_reports_tell_it() {
    let place = place();
    crawl(&place);
    let page = place.run(&["page", "bank", "http://a.example/0"]).done();
    let origin = "fetch in batch 2 from seed http://a.example/, via http://a.example/, 1 link deep";
    assert!(page.contains(origin), "{page}");
    let page = place.run(&["page", "bank", "http://a.example/2"]).done();
    assert!(page.contains(&format!("failed {origin}")), "{page}");
    let page = place.run(&["page", "bank", "http://a.example/3"]).done();
    assert!(!page.contains("from seed"), "{page}");

    place.run(&words("refresh bank")).done();
    let diff = place.run(&words("diff bank")).done();
    assert!(
        diff.contains("kept although their fetches brought no new page: 1\n"),
        "{diff}"
    );
    assert!(
        diff.contains("http://b.example/") && diff.contains("1 fetch from it brought no new page"),
        "{diff}"
    );
    // No crawl started from the second list yet, so the report shows that of the first.
    place.run(&words("report bank --out report.html")).done();
    let report = fs::read_to_string(place.path("report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    fits("report", &report);
    let results = &report["results"];
    assert_eq!(
        (&results["refresh"], &results["batches"]),
        (&json!(1), &json!([2]))
    );
    assert_eq!(
        results["seeds"][0],
        json!({"rank": 1, "url": A, "counts": {"fetched": 3, "new": 2, "failed": 1, "duplicates": 1},
            "promised": {"pages": 5, "known": 4, "value": 3.0}})
    );
    assert_eq!(results["unattributed"], json!(1));
    let html = fs::read_to_string(place.path("report.html")).unwrap();
    assert!(html.contains("What crawls brought"));
    // A record whose seed is no URL is bad.
    let bad = "{\"url\":\"http://a.example/9\",\"status\":200,\"seed\":\"the front page\"}\n";
    place
        .run_with(&words("ingest bank - --max-rejects 100"), bad.as_bytes())
        .done();
    let rejects = fs::read_to_string(place.path("bank/rejects/batch-000003-attempt-1.jsonl"));
    assert!(rejects.unwrap().contains("seed: "));
}
