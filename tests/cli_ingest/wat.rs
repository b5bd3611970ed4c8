//! WAT on the command line: recognised without a flag, from files and from standard input.

use std::fs;

use crate::support::command::Place;
use crate::support::wat::{Capture, Link, lines, members, metadata, records};
use serde_json::{Value, json};

/// Pages with links, and captures without any: a redirect, a gone page and an unchanged one.
pub fn captures() -> Vec<Capture> {
    let mut captures = vec![
        Capture::of("http://a.example/", &["/b", "http://c.example/"]),
        Capture::answered("http://a.example/moved", 301, Some("/")),
        Capture::answered("http://a.example/gone", 410, None),
        Capture::answered("http://a.example/same", 304, None),
    ];
    let html = captures[0].html.as_mut().unwrap();
    html.links.push(Link {
        rel: Some("nofollow"),
        ..Link::to("http://ads.example/")
    });
    captures
}

#[test]
fn no_flag_is_needed() {
    let place = Place::with_bank();
    let captures = captures();
    place.write("a.warc.wat.gz", members(&records(&captures)));
    let report = place.run(&["ingest", "bank", "a.warc.wat.gz"]).done();
    assert!(
        report.starts_with("batch 1: a.warc.wat.gz (delta), 3 records, "),
        "{report}"
    );
    let passed = "10 records that are not pages (no_response 9, other_status 1)\n";
    assert!(report.contains(passed), "{report}");
    assert!(report.contains("links: 3 added"), "{report}");
    // The same otherwise packed, and as JSON Lines, is the same batch.
    place.write("plain.wat", records(&captures).concat());
    place.write("a.jsonl", lines(&captures));
    for (file, input) in [
        ("plain.wat", "wat"),
        ("a.jsonl", "jsonl"),
        ("a.jsonl", "auto"),
    ] {
        let report = place
            .run(&["ingest", "bank", "--input", input, file])
            .done();
        assert!(
            report.starts_with("nothing changed: batch 1 had"),
            "{report}"
        );
    }
    let text = fs::read(place.path("a.warc.wat.gz")).unwrap();
    let report = place.run_with(&["ingest", "bank", "-"], &text).done();
    assert!(
        report.starts_with("nothing changed: batch 1 had"),
        "{report}"
    );
    // Each file has its own format.
    place.write(
        "more.jsonl",
        "{\"url\": \"http://d.example/\", \"outlinks\": []}\n",
    );
    let args = [
        "ingest",
        "bank",
        "more.jsonl",
        "plain.wat",
        "--format",
        "json",
    ];
    let report = place.run(&args).json();
    assert_eq!(report["read"]["records"], 4);
    assert_eq!(
        report["read"]["passed_over"],
        json!({"no_response": 9, "other_status": 1})
    );
    let page = place
        .run(&["page", "bank", "http://a.example/moved"])
        .done();
    assert!(page.contains("http://a.example/"), "{page}");
}

#[test]
fn nofollow_links_are_dropped() {
    let place = Place::with_bank();
    place.write("a.wat", records(&captures()).concat());
    place.write("a.jsonl", lines(&captures()));
    let args = ["ingest", "bank", "--nofollow", "drop", "a.wat"];
    let report = place.run(&args).done();
    assert!(
        report.contains("outlinks dropped: 1: nofollow 1"),
        "{report}"
    );
    assert!(report.contains("links: 2 added"), "{report}");
    for (args, words) in [
        (
            &["--nofollow", "drop", "--input", "jsonl", "a.jsonl"][..],
            "requires --input warc or wat",
        ),
        (&["--nofollow", "all", "a.wat"], "keep, drop"),
    ] {
        let error = place.run(&[&["ingest", "bank"], args].concat()).fails(2);
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn bad_records_are_listed_by_their_numbers_and_a_cut_file_is_refused() {
    let place = Place::with_bank();
    let mut all = records(&captures());
    let mut bad = captures()[0].response();
    bad["Envelope"]["WARC-Header-Metadata"]["WARC-Target-URI"] = json!("mailto:x");
    all.insert(4, metadata(&bad));
    place.write("a.wat", all.concat());
    let error = place
        .run(&["ingest", "bank", "a.wat", "--max-rejects", "0"])
        .fails(3);
    assert!(
        error.contains("1 of 4 records are bad") || error.contains("1 of 4 records is bad"),
        "{error}"
    );
    assert!(
        error.contains(
            "the first is record 5 of a.wat: expected the scheme http or https, found mailto"
        ),
        "{error}"
    );
    let args = [
        "ingest",
        "bank",
        "a.wat",
        "--max-rejects",
        "30",
        "--rejects",
        "bad",
    ];
    place.run(&args).done();
    let list = fs::read_to_string(place.path("bad")).unwrap();
    let reject: Value = serde_json::from_str(&list).unwrap();
    assert_eq!(
        (&reject["number"], &reject["reason"]),
        (&json!(5), &json!("url_scheme"))
    );
    let before = place.state();
    let whole = records(&captures()).concat();
    place.write("cut.wat", &whole[..whole.len() - 200]);
    let gzip = members(&records(&captures()));
    place.write("cut.wat.gz", &gzip[..gzip.len() - 100]);
    for (file, words) in [
        ("cut.wat", "cut.wat is truncated in record 13, after "),
        ("cut.wat.gz", "cut.wat.gz is damaged gzip; only "),
    ] {
        let error = place.run(&["ingest", "bank", file]).fails(3);
        assert!(error.contains("the bank is unchanged"), "{error}");
        assert!(error.contains(words), "{error}");
    }
    assert_eq!(place.state(), before);
}
