//! Inputs of one batch that several processes read: the same reports, lists and errors as of one process.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::processes::Cluster;
use crate::support::command::Place;
use crate::support::warc::{DATE, of, record};

/// The report of an ingest, without what depends on the time and the place.
fn report(text: &str) -> Value {
    let mut report: Value = serde_json::from_str(text).unwrap();
    for field in ["seconds", "rejects_file"] {
        report[field].take();
    }
    report
}

/// Lines about pages of some sites. Files overlap, so that records of one supersede those of others.
fn lines(file: u32) -> String {
    let line = |number: u32| {
        let page = (number * 7 + file * 3) % 40;
        let (site, to) = (page % 6, (page * 5 + file) % 40);
        format!(
            "{{\"url\":\"http://s{site}.example/{page}\",\"fetched_at\":\"2026-11-{:02}T00:00:00Z\",\
             \"outlinks\":[\"http://s{}.example/{to}\",\"/{}\"]}}\n",
            1 + file + number % 3,
            to % 6,
            page + 6
        )
    };
    let text: String = (0..20).map(line).collect();
    text + &format!("not a record of file {file}\n")
}

#[test]
fn inputs_are_read_by_several_processes_as_by_one() {
    let cluster = Cluster::with_patience(3, 20);
    let place = &cluster.place;
    place.run(&["init", "bank"]).done();
    let files = ["day-0.jsonl", "day-1.jsonl", "day-2.jsonl", "day-3.jsonl"];
    for (number, file) in (0..).zip(files) {
        place.write(file, lines(number));
    }
    let options = [
        "--max-rejects",
        "50",
        "--as-of",
        "2026-11-20T00:00:00Z",
        "--format",
        "json",
        "-q",
    ];
    let ingest = |bank| [&["ingest", bank][..], &files, &options].concat();
    for again in [false, true] {
        let expected = place.run(&ingest("bank")).done();
        let found = cluster.done(&ingest("BANK"));
        assert_eq!(report(&expected), report(&found), "again: {again}");
    }
    let rejects = |bank: &str| {
        let list = place.path(bank).join("rejects/batch-000001.jsonl");
        fs::read_to_string(list).unwrap()
    };
    assert_eq!(rejects("bank"), rejects("0"));
    assert!(rejects("0").contains("\"file\":\"day-3.jsonl\""));
    let exported = place.run(&["export", "bank", "-q"]).done();
    assert_eq!(exported, cluster.done(&["export", "BANK", "-q"]));
    // Too many bad records, and an input that cannot be read to its end.
    let strict = |bank| {
        [
            &["ingest", bank][..],
            &files,
            &["--again", "--max-rejects", "0", "-q"],
        ]
        .concat()
    };
    refused(&cluster, &strict);
    let mut compressed = GzEncoder::new(Vec::new(), Compression::default());
    compressed
        .write_all(lines(9).repeat(50).as_bytes())
        .unwrap();
    let mut bytes = compressed.finish().unwrap();
    bytes.truncate(bytes.len() / 2);
    place.write("day-4.jsonl.gz", &bytes);
    let cut = |bank| [&["ingest", bank][..], &files, &["day-4.jsonl.gz", "-q"]].concat();
    refused(&cluster, &cut);
}

/// Runs a command on the bank of one process and on that of several, which refuse it with the same status and error.
#[track_caller]
fn refused(cluster: &Cluster, args: &dyn Fn(&'static str) -> Vec<&'static str>) {
    let place: &Place = &cluster.place;
    let alone = place.run(&args("bank"));
    let mut ended = cluster.run(&args("BANK")).into_iter();
    let first = ended.next().unwrap();
    assert_eq!(alone.status, first.status, "{alone:?} {first:?}");
    let text = |err: &str| {
        err.replace("bank/rejects", "0/rejects")
            .replace("bank ", "0 ")
    };
    assert_eq!(text(&alone.err), text(&first.err));
    for other in ended {
        other.fails(1);
    }
}

/// A response and the revisit of another site that found its content, or another content if `changed`.
fn page_and_revisit(site: u32, changed: bool) -> [Vec<u8>; 2] {
    let url = format!("http://s{site}.example/p");
    let digest =
        |of: u32| format!("WARC-Payload-Digest: sha1:{of}\r\nContent-Type: application/http\r\n");
    let html = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<a href=/1>1</a> <a href=http://b{site}.example/>b</a>"
    );
    let page = record(
        "response",
        &(of(&url, DATE) + &digest(site)),
        html.as_bytes(),
    );
    let found = digest(if changed { 99 } else { site });
    let refers = format!("WARC-Refers-To-Target-URI: {url}\r\n");
    let twin = of(
        &format!("http://www{site}.example/p"),
        "2024-05-19T00:00:00Z",
    );
    [page, record("revisit", &(twin + &found + &refers), b"")]
}

#[test]
fn a_revisit_has_the_links_of_the_page_that_it_refers_to() {
    let cluster = Cluster::with_patience(3, 20);
    let place = &cluster.place;
    let pairs: Vec<[Vec<u8>; 2]> = (0..7)
        .map(|site| page_and_revisit(site, site == 6))
        .collect();
    for (at, name) in ["pages.warc", "revisits.warc"].into_iter().enumerate() {
        let files: Vec<&[u8]> = pairs.iter().map(|pair| &pair[at][..]).collect();
        place.write(name, files.concat());
    }
    place.run(&["init", "apart", "-q"]).done();
    place.run(&["init", "bank", "-q"]).done();
    place.run(&["ingest", "apart", "pages.warc", "-q"]).done();
    place
        .run(&["ingest", "apart", "revisits.warc", "-q"])
        .done();
    for again in [false, true] {
        // A bank that has the links keeps them.
        let mut ingest = vec!["ingest", "bank", "revisits.warc", "pages.warc", "-q"];
        ingest.extend(again.then_some("--again"));
        place.run(&ingest).done();
        ingest[1] = "BANK";
        cluster.done(&ingest);
        let expected = place.run(&["export", "apart", "-q"]).done();
        assert_eq!(place.run(&["export", "bank", "-q"]).done(), expected);
        assert_eq!(cluster.done(&["export", "BANK", "-q"]), expected);
    }
    let links = |site: u32| {
        let url = format!("http://www{site}.example/p");
        let page = place.run(&["page", "bank", &url, "--format", "json"]);
        page.json()["outlinks"].clone()
    };
    let known = ["http://b2.example/", "http://s2.example/1"];
    assert_eq!(links(2)["pages"], known.len(), "{}", links(2));
    assert_eq!(links(6)["pages"], 0, "its content is another one");
    place.run(&["check", "bank"]).done();
}
