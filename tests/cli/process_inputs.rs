//! Inputs of one batch that several processes read: the same reports, lists and errors as of one process.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::processes::Cluster;
use crate::support::command::Place;

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
    let strict = |bank| [&["ingest", bank][..], &files, &["--again", "-q"]].concat();
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
