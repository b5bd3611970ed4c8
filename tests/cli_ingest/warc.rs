//! WARC on the command line: recognised without a flag, from files and from standard input.

use std::fs;

use crate::support;
use crate::support::command::Place;
use crate::support::warc::{answer, page, record, records, warcinfo};
use crate::support::wat::{self, lines, members};
use crate::wat::captures;
use serde_json::json;

#[test]
fn a_revisit_in_the_same_file_keeps_the_links() {
    let Some(shared) = support::shared("a_revisit_in_the_same_file_keeps_the_links") else {
        return;
    };
    let place = Place::with_bank();
    let crawl = shared.join("cases/12-revisit-in-one-batch/crawl.warc");
    let report = place
        .run(&["ingest", "bank", crawl.to_str().unwrap()])
        .done();
    assert!(report.contains("links: 20 added, 0 removed"), "{report}");
    let export = place.run(&["export", "bank"]).done();
    let records: Vec<serde_json::Value> = export
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(records[0]["fetched"], "2026-07-01T06:00:00Z");
    assert_eq!(records[1]["fetched"], "2026-07-01T00:00:00Z");
    let links =
        [&records[0], &records[1]].map(|record| record["outlinks"].as_array().map(Vec::len));
    assert_eq!(links, [None, Some(20)]);
}

#[test]
fn no_flag_is_needed() {
    let place = Place::with_bank();
    let captures = captures();
    place.write("a.warc.gz", members(&records(&captures, 1)));
    let report = place.run(&["ingest", "bank", "a.warc.gz"]).done();
    assert!(
        report.starts_with("batch 1: a.warc.gz (delta), 3 records, "),
        "{report}"
    );
    let passed = "6 records that are not pages (no_response 5, other_status 1)\n";
    assert!(report.contains(passed), "{report}");
    assert!(report.contains("links: 3 added"), "{report}");
    // The same otherwise packed, as WAT and as JSON Lines, is the same batch.
    place.write("plain.warc", records(&captures, 8).concat());
    place.write("a.wat", wat::records(&captures).concat());
    place.write("a.jsonl", lines(&captures));
    for (file, input) in [
        ("plain.warc", "warc"),
        ("plain.warc", "auto"),
        ("a.wat", "wat"),
        ("a.jsonl", "jsonl"),
    ] {
        let args = ["ingest", "bank", "--input", input, file];
        let report = place.run(&args).done();
        assert!(
            report.starts_with("nothing changed: batch 1 had"),
            "{report}"
        );
    }
    let text = fs::read(place.path("a.warc.gz")).unwrap();
    let report = place.run_with(&["ingest", "bank", "-"], &text).done();
    assert!(
        report.starts_with("nothing changed: batch 1 had"),
        "{report}"
    );
}

#[test]
fn nofollow_links_are_dropped() {
    let place = Place::with_bank();
    place.write("a.warc", records(&captures(), 0).concat());
    for input in ["warc", "auto"] {
        let args = [
            "ingest",
            "bank",
            "--dry-run",
            "--nofollow",
            "drop",
            "--input",
            input,
            "a.warc",
        ];
        let report = place.run(&args).done();
        assert!(
            report.contains("outlinks dropped: 1: nofollow 1"),
            "{report}"
        );
        assert!(report.contains("links: 2 added"), "{report}");
    }
}

#[test]
fn unread_links_are_counted_and_bad_records_listed() {
    let place = Place::with_bank();
    let html = "HTTP/1.1 200 OK\nContent-Type: text/html\n";
    let coded = answer(
        "http://a.example/",
        &format!("{html}Content-Encoding: compress\n"),
        b"\x1f\x9d",
    );
    let bad = record(
        "response",
        "WARC-Target-URI: a.example\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n",
    );
    let file = [
        warcinfo(),
        coded,
        bad,
        page("http://b.example/", "<a href=/>"),
    ]
    .concat();
    place.write("a.warc", &file);
    let error = place
        .run(&["ingest", "bank", "a.warc", "--max-rejects", "0"])
        .fails(3);
    assert!(error.contains("the first is record 3 of a.warc"), "{error}");
    let args = ["ingest", "bank", "a.warc", "--max-rejects", "50"];
    let report = place.run(&args).done();
    let unread = "pages whose links were not read, or not completely: 1: coding 1\n";
    assert!(report.contains(unread), "{report}");
    let report = place
        .run(&[&args[..], &["--again", "--format", "json"]].concat())
        .json();
    assert_eq!(report["read"]["unread"], json!({"coding": 1}));
}

#[test]
fn a_file_that_is_cut_off_is_refused_with_what_to_do() {
    let place = Place::with_bank();
    let before = place.state();
    let whole = records(&captures(), 0).concat();
    let gzip = members(&records(&captures(), 0));
    place.write("cut.warc", &whole[..whole.len() - 20]);
    place.write("a.warc.open", &whole[..whole.len() - 20]);
    place.write("cut.warc.gz", &gzip[..gzip.len() - 20]);
    for (file, words) in [
        ("cut.warc", "cut.warc is truncated in record 9, after "),
        ("cut.warc", "; fetch it again"),
        (
            "a.warc.open",
            "its crawler is still writing it or was interrupted",
        ),
        ("cut.warc.gz", "cut.warc.gz is damaged gzip; only "),
    ] {
        let error = place.run(&["ingest", "bank", file]).fails(3);
        assert!(error.contains("the bank is unchanged"), "{error}");
        assert!(error.contains(words), "{error}");
    }
    assert_eq!(place.state(), before);
}
