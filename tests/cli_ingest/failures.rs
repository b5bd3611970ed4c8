//! Failed fetches on the command line: what is reported where, wrong statuses, tables, and an export there and
//! back.

use std::fs;

use crate::support::command::{Place, record};

const A: &str = "http://a.example/";
const B: &str = "http://b.example/";

fn failed(url: &str, status: &str, time: &str) -> String {
    format!("{{\"url\":\"{url}\",\"status\":{status},\"fetched\":\"{time}\"}}\n")
}

fn ingest(place: &Place, at: &str, records: &str) -> String {
    let ingest = ["ingest", "bank", "-", "--as-of", at];
    place.run_with(&ingest, records.as_bytes()).done()
}

/// A bank in which two fetches of a page failed.
fn failing() -> Place {
    let place = Place::with_bank();
    ingest(&place, "2026-11-19", &(record(A, &[B]) + &record(B, &[A])));
    let text = ingest(
        &place,
        "2026-11-20",
        &failed(A, "503", "2026-11-20T04:00:00Z"),
    );
    let told = "failed fetches: 1 page, which keep their states and links\n";
    assert!(text.contains(told), "{text}");
    assert!(text.contains("links: 0 added, 0 removed"), "{text}");
    ingest(
        &place,
        "2026-11-21",
        &failed(A, "\"timeout\"", "2026-11-21T04:00:00Z"),
    );
    place
}

#[test]
fn failed_fetches_are_reported() {
    let place = failing();
    let page = place.run(&["page", "bank", A]).done();
    let told = "\n  2 failed fetches since 2026-11-20T04:00:00Z, the last one 2026-11-21T04:00:00Z: timeout\n";
    assert!(page.contains(told), "{page}");
    assert!(
        page.contains("crawled, last fetched 2026-11-19T00:00:00Z"),
        "{page}"
    );
    let page = place.run(&["page", "bank", A, "--format", "json"]).json();
    assert_eq!(page["failures"]["status"], "timeout");
    assert_eq!(page["failures"]["count"], 2);
    assert_eq!(page["failures"]["since"], 1_795_147_200);
    let page = place.run(&["page", "bank", B, "--format", "json"]).json();
    assert!(page.get("failures").is_none(), "{page}");

    let site = place.run(&["site", "bank", "a.example"]).done();
    let told = "\n  1 page whose last fetch failed, by its result: 1 timeout\n";
    assert!(site.contains(told), "{site}");
    let site = place
        .run(&["site", "bank", "a.example", "--format", "json"])
        .json();
    assert_eq!(site["failing"][0]["pages"], 1);
    let status = place.run(&["status", "bank"]).done();
    assert!(
        status.contains(", 1 record, 0 rejected, 1 failed\n"),
        "{status}"
    );
    let told = "failing: 1 page whose last fetch failed\n";
    assert!(status.contains(told), "{status}");
    let history = place.run(&["history", "bank"]).done();
    assert!(history.contains(" 0 gone, 1 failed, "), "{history}");
    place
        .run(&["status", "bank", "--metrics", "bank.prom"])
        .done();
    let metrics = fs::read_to_string(place.path("bank.prom")).unwrap();
    for line in [
        "seedbank_last_batch_failed_pages 1",
        "seedbank_failing_pages 1",
    ] {
        assert!(metrics.contains(&format!("\n{line}\n")), "{metrics}");
    }
    // A success clears it.
    ingest(&place, "2026-11-22", &record(A, &[B]));
    let page = place.run(&["page", "bank", A]).done();
    assert!(!page.contains("failed"), "{page}");
    let status = place.run(&["status", "bank"]).done();
    assert!(!status.contains("failing"), "{status}");
    place.run(&["check", "bank"]).done();
}

#[test]
fn a_status_that_is_none_is_rejected() {
    let place = Place::with_bank();
    let expected = "status: must be an HTTP status code, or timeout, dns, connect, tls, robots, too-large or other";
    for (fields, told) in [
        ("\"status\":\"ok\"", expected),
        ("\"status\":99", expected),
        ("\"status\":true", expected),
        ("\"status\":200.5", expected),
        (
            "\"failures\":3",
            "failures: must be given with the status of a fetch that failed",
        ),
        (
            "\"failures\":3,\"status\":200",
            "failures: must be given with the status of a fetch that failed",
        ),
        (
            "\"failures\":1,\"status\":503,\"failed\":\"then\"",
            "failed: ",
        ),
        ("\"status\":503,\"fetched\":\"then\"", "fetched: "),
    ] {
        let line = format!("{{\"url\":\"{A}\",{fields}}}\n");
        let error = place
            .run_with(&["ingest", "bank", "-"], line.as_bytes())
            .fails(3);
        assert!(error.contains(told), "{fields}: {error}");
    }
}

#[test]
fn a_table_has_the_same_statuses() {
    let place = failing();
    place.write(
        "pages.csv",
        "url,status,outlinks,fetched\n\
        http://a.example/,200,http://b.example/,2026-11-19\n\
        http://b.example/,200,http://a.example/,2026-11-19\n",
    );
    place.write("failed.csv", "url,status,fetched\n\
        http://a.example/,503,2026-11-20T04:00:00Z\nhttp://a.example/,timeout,2026-11-21T04:00:00Z\n");
    place.run(&["init", "other"]).done();
    place.run(&["ingest", "other", "pages.csv"]).done();
    place.run(&["ingest", "other", "failed.csv"]).done();
    place.run(&["export", "bank", "--out", "one.jsonl"]).done();
    place
        .run(&["export", "other", "--out", "other.jsonl"])
        .done();
    let one = fs::read_to_string(place.path("one.jsonl")).unwrap();
    assert_eq!(fs::read_to_string(place.path("other.jsonl")).unwrap(), one);
    let line = r#""status":"timeout","failures":2,"failing_since":"2026-11-20T04:00:00Z","failed":"2026-11-21T04:00:00Z"}"#;
    assert!(one.contains(line), "{one}");
    place.run(&["init", "again"]).done();
    place
        .run(&["ingest", "again", "one.jsonl", "--snapshot"])
        .done();
    place
        .run(&["export", "again", "--out", "again.jsonl"])
        .done();
    assert_eq!(fs::read_to_string(place.path("again.jsonl")).unwrap(), one);
}
