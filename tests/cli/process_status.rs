//! `status` of a cluster bank: how evenly its sites are divided among its parts, or among the processes that have them.

use serde_json::{Value, json};

use crate::process_errors::gather;
use crate::processes::{Cluster, PARTS};
use crate::support::command::record;

/// The bytes that the refresh of a new plan reports to have read.
fn bytes_read(refresh: &str) -> u64 {
    let report: Value = serde_json::from_str(refresh).unwrap();
    report["bytes_read"].as_u64().unwrap()
}

#[test]
fn a_refresh_reports_what_all_processes_have_read() {
    let cluster = Cluster::with_patience(2, 20);
    let place = &cluster.place;
    place
        .run(&["synth", "crawl", "--pages", "400", "--days", "1"])
        .done();
    cluster.done(&["ingest", "BANK", "crawl/day-000.jsonl.zst", "-q"]);
    gather(place);
    for goal in [
        &["--plan", "web", "--goal", "coverage", "--budget", "50"][..],
        &["--plan", "sites", "--goal", "sites"],
    ] {
        let refresh = |bank| {
            let fixed = [
                "refresh",
                bank,
                "--seeds",
                "5",
                "--no-image",
                "--format",
                "json",
                "-q",
            ];
            [&fixed[..], goal].concat()
        };
        let one = bytes_read(&place.run(&refresh("one")).done());
        let both = bytes_read(&cluster.done(&refresh("BANK")));
        // Both read some records, and failed fetches by page instead of all of them.
        let is_similar = 9 * one < 10 * both && both < 2 * one;
        assert!(is_similar, "{goal:?}: {one} {both}");
    }
}

fn balance(status: &str) -> Value {
    let status: Value = serde_json::from_str(status).unwrap();
    status["balance"].clone()
}

#[test]
fn a_heavy_site_is_reported_with_what_it_costs() {
    let cluster = Cluster::with_patience(2, 20);
    let place = &cluster.place;
    // Three pages with two links each are 9 of 12: the others are a page with a link, and the page that it links to.
    let page = |number: u32| {
        let others: Vec<String> = (0..3)
            .filter(|other| *other != number)
            .map(|other| format!("http://a.example/{other}"))
            .collect();
        let others: Vec<&str> = others.iter().map(String::as_str).collect();
        record(&format!("http://a.example/{number}"), &others)
    };
    let other = record("http://b.example/", &["http://c.example/"]);
    let lines: String = (0..3).map(page).chain([other]).collect();
    place.write("a.jsonl", lines);
    cluster.done(&["ingest", "BANK", "a.jsonl", "-q"]);

    let found = balance(&cluster.done(&["status", "BANK", "--format", "json"]));
    let heavy = |to_mean: f64| {
        json!([{
            "site": "a.example", "pages": 3, "links": 6, "share": 0.75, "to_mean": to_mean,
        }])
    };
    assert_eq!(found["among"], "processes");
    assert_eq!(found["count"], 2);
    assert_eq!(found["heavy_sites"], heavy(1.5));
    let text = cluster.done(&["status", "BANK"]);
    let line = "site a.example has 75.0 % of all pages and links: with 2 processes, its process has at least 1.50 times the mean\n";
    assert!(text.contains(line), "{text}");

    // One process that has all parts.
    gather(place);
    let found = balance(&place.run(&["status", "one", "--format", "json"]).done());
    assert_eq!(found["among"], "parts");
    assert_eq!(found["count"], PARTS);
    assert_eq!(found["heavy_sites"], heavy(4.5));
    // All three sites are in parts of their own.
    assert_eq!(found["largest_to_mean"], 4.5);
    // The structure of the graph does not depend on who has it.
    let graph = |bank| ["status", bank, "--graph", "--format", "json"];
    let described = place.run(&graph("one")).done();
    assert_eq!(cluster.done(&graph("BANK")), described);
    let text = place.run(&["status", "one"]).done();
    assert!(
        text.contains(
            "balance: the largest part has 4.50 times the pages and links of the mean part\n"
        ),
        "{text}"
    );

    // A bank in one database, and one without pages, have no balance.
    place.run(&["init", "plain"]).done();
    place
        .run(&["cluster", "init", "empty", "--banks", "2"])
        .done();
    for bank in ["plain", "empty"] {
        if bank == "plain" {
            place.run(&["ingest", bank, "a.jsonl", "-q"]).done();
        }
        let status = place.run(&["status", bank, "--format", "json"]).done();
        assert_eq!(balance(&status), Value::Null, "{bank}");
        let text = place.run(&["status", bank]).done();
        assert!(!text.contains("balance"), "{text}");
    }
}
