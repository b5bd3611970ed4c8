//! `--metrics`: the status in Prometheus text format.
//!
//! The text is parsed strictly by the rules of the format, and checked by `promtool` if it is
//! installed. Bug classes: a label or number that does not parse, a family in two parts, a name
//! without its unit, a partial file, a file that is written although the command failed.
#![expect(
    clippy::float_cmp,
    reason = "numbers are read as they were written, to the bit"
)]

use std::fs;

use crate::support::command::{Place, names, record};
use crate::support::prometheus::{judged_by_promtool, of, parsed};

#[test]
fn metrics_are_those_of_status() {
    let place = Place::with_bank();
    let collected = |args: &[&str]| {
        let ended = place.run(&[args, &["--metrics", "bank.prom"]].concat());
        assert!(matches!(ended.status, Some(0 | 5)), "{ended:?}");
        let text = fs::read_to_string(place.path("bank.prom")).unwrap();
        judged_by_promtool(&text);
        parsed(&text)
    };
    let empty = collected(&["status", "bank"]);
    assert_eq!(of(&empty, "batches_total", &[]), 0.0);
    let version = [("version", env!("CARGO_PKG_VERSION"))];
    assert_eq!(of(&empty, "build_info", &version), 1.0);
    assert!(!empty.keys().any(|(name, _)| name.contains("last_")));
    place.write("day0.jsonl", crate::support::command::TWO_CORES);
    let ingested = collected(&["ingest", "bank", "--snapshot", "day0.jsonl"]);
    assert_eq!(of(&ingested, "last_batch_records", &[]), 5.0);
    collected(&[
        "refresh",
        "bank",
        "--plan",
        "empty",
        "--method",
        "cores",
        "--min-hubs",
        "99",
    ]);
    let refreshed = collected(&["refresh", "bank", "--method", "cores", "--within", "0"]);
    for (name, labels, value) in [
        ("batches_total", &[][..], 1.0),
        ("refreshes_total", &[], 2.0),
        ("sites", &[], 10.0),
        ("pages", &[("state", "crawled")], 5.0),
        ("pages", &[("state", "known")], 5.0),
        ("links", &[("kind", "inter-site")], 13.0),
        ("seeds", &[("plan", "default"), ("state", "alive")], 2.0),
        ("seeds", &[("plan", "empty"), ("state", "alive")], 0.0),
        ("last_refresh_batch", &[("plan", "empty")], 1.0),
        ("last_refresh_certified", &[("plan", "default")], 1.0),
    ] {
        assert_eq!(of(&refreshed, name, labels), value, "{name} {labels:?}");
    }
    let bad = "no\n{\"url\": \"http://h1.example/\", \"gone\": true}\n";
    place.write("bad.jsonl", bad);
    let ingest = ["ingest", "bank", "bad.jsonl", "--max-rejects", "60"];
    let later = collected(&ingest);
    assert_eq!(of(&later, "last_batch_rejected_records", &[]), 1.0);
    assert_eq!(
        of(&later, "seeds", &[("plan", "default"), ("state", "gone")]),
        1.0
    );
    // The same as in JSON, except for ages.
    let status = place.run(&["status", "bank", "--format", "json"]).json();
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    assert_eq!(
        of(&later, "folder_bytes", &[]),
        number(&status["folder_bytes"])
    );
    for group in status["groups"].as_array().unwrap() {
        let label = [("group", group["group"].as_str().unwrap())];
        assert_eq!(of(&later, "tables_bytes", &label), number(&group["bytes"]));
    }
    let batch = &status["last_batch"];
    assert_eq!(
        of(&later, "last_batch_timestamp_seconds", &[]),
        number(&batch["at"])
    );
    assert_eq!(
        of(&later, "last_batch_duration_seconds", &[]),
        number(&batch["seconds"])
    );
    for plan in status["plans"].as_array().unwrap() {
        let label = [("plan", plan["plan"].as_str().unwrap())];
        assert_eq!(
            of(&later, "last_refresh_timestamp_seconds", &label),
            number(&plan["at"])
        );
        assert_eq!(
            of(&later, "last_refresh_duration_seconds", &label),
            number(&plan["seconds"])
        );
    }
}

#[test]
fn the_file_is_whole_and_of_what_is_stored() {
    let place = Place::with_seeds();
    place.write("bank.prom", "old\n");
    let read = || fs::read_to_string(place.path("bank.prom")).unwrap();
    let before = place.state();
    // A file that cannot be written is reported before anything is done.
    place.write("day1.jsonl", record("http://n.example/", &[]));
    for (file, words) in [
        ("bank", "give --metrics the name of a file"),
        ("none/bank.prom", "the folder none does not exist"),
        ("bank/bank.prom", "give --metrics a path outside the bank"),
    ] {
        for args in [
            &["status", "bank"][..],
            &["refresh", "bank", "--method", "cores", "--within", "0"],
            &["ingest", "bank", "day1.jsonl"],
        ] {
            let error = place.run(&[args, &["--metrics", file]].concat()).fails(2);
            assert!(error.contains(words), "{args:?}: {error}");
        }
    }
    // A command that fails leaves the old file.
    let none = ["ingest", "bank", "none.jsonl", "--metrics", "bank.prom"];
    place.run(&none).fails(3);
    assert_eq!((place.state(), read()), (before, "old\n".to_owned()));
    let mut command = place.command(&["ingest", "bank", "day1.jsonl"]);
    command.env("SEEDBANK_METRICS", "bank.prom");
    place.run_command(&mut command).done();
    assert_eq!(of(&parsed(&read()), "batches_total", &[]), 2.0);
    let left = ["bank", "bank.prom", "day0.jsonl", "day1.jsonl"];
    assert_eq!(names(&place.path("")), left);
}
