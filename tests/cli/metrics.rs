//! `--metrics`: the status in Prometheus text format.
//!
//! The text is parsed strictly by the rules of the format, and checked by `promtool` if it is
//! installed. Bug classes: a label or number that does not parse, a family in two parts, a name
//! without its unit, a partial file, a file that is written although the command failed.
#![expect(
    clippy::float_cmp,
    reason = "numbers are read as they were written, to the bit"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::support::command::{Place, names, record};
use crate::support::skipped::skipped;

/// Samples by name and labels.
type Samples = BTreeMap<(String, BTreeMap<String, String>), f64>;

/// Whether a text is a name: a letter or `_`, then also digits.
fn is_name(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit())
        && !text.is_empty()
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The labels between braces, and what follows them.
fn labels(text: &str) -> (BTreeMap<String, String>, &str) {
    let mut labels = BTreeMap::new();
    let mut rest = text;
    loop {
        let (name, after) = rest.split_once("=\"").unwrap();
        assert!(is_name(name), "{text}");
        let mut value = String::new();
        let mut characters = after.char_indices();
        let end = loop {
            match characters.next().unwrap() {
                (_, '\\') => value.push(match characters.next().unwrap().1 {
                    'n' => '\n',
                    same @ ('\\' | '"') => same,
                    other => panic!("\\{other} in {text}"),
                }),
                (at, '"') => break at,
                (_, c) => value.push(c),
            }
        };
        assert_eq!(labels.insert(name.to_owned(), value), None, "{text}");
        rest = &after[end + 1..];
        match rest.split_at(1) {
            (",", more) => rest = more,
            ("}", more) => return (labels, more),
            _ => panic!("{text}"),
        }
    }
}

/// Reads the text by the rules of the format, and by those for names.
fn parsed(text: &str) -> Samples {
    assert!(text.ends_with('\n') && !text.contains("\n\n") && !text.contains('\r'));
    let mut samples = Samples::new();
    let mut families = BTreeSet::new();
    // The family that the next lines are of: its name, its kind, and how many samples it has.
    let mut family: Option<(String, String, usize)> = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(about) = line.strip_prefix("# HELP ") {
            assert!(family.is_none_or(|(_, _, count)| count > 0), "{line}");
            let (name, help) = about.split_once(' ').unwrap();
            assert!(is_name(name) && help.ends_with('.'), "{line}");
            let kind = lines.next().unwrap().strip_prefix("# TYPE ").unwrap();
            let (same, kind) = kind.split_once(' ').unwrap();
            assert_eq!(same, name);
            assert!(["counter", "gauge"].contains(&kind), "{line}");
            assert_eq!(name.ends_with("_total"), kind == "counter", "{name}");
            let no_unit = ["_ms", "_minutes", "_kb", "_percent", "_count", "_sum"];
            assert!(!no_unit.iter().any(|end| name.ends_with(end)), "{name}");
            assert!(name.starts_with("seedbank_"), "{name}");
            assert!(families.insert(name.to_owned()), "{name} is in two pieces");
            family = Some((name.to_owned(), kind.to_owned(), 0));
            continue;
        }
        let (name, kind, count) = family.as_mut().unwrap();
        let rest = line.strip_prefix(name.as_str()).unwrap();
        let (labels, rest) = match rest.strip_prefix('{') {
            Some(inside) => labels(inside),
            None => (BTreeMap::new(), rest),
        };
        let value: f64 = rest.strip_prefix(' ').unwrap().parse().unwrap();
        assert!(value.is_finite() && value >= 0.0, "{line}");
        assert!(kind != "counter" || value.fract() == 0.0, "{line}");
        let before = samples.insert((name.clone(), labels), value);
        assert_eq!(before, None, "{line} is there twice");
        *count += 1;
    }
    assert!(family.is_some_and(|(_, _, count)| count > 0));
    samples
}

/// What Prometheus's own tool says of the text, where it is installed.
fn judged_by_promtool(text: &str) {
    let started = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut promtool) = started else {
        skipped("metrics", "promtool", "apt-get install prometheus");
        return;
    };
    let mut pipe = promtool.stdin.take().unwrap();
    pipe.write_all(text.as_bytes()).unwrap();
    drop(pipe);
    let judged = promtool.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&judged.stderr).into_owned();
    assert!(judged.status.success() && said.is_empty(), "{said}\n{text}");
}

#[track_caller]
fn of(samples: &Samples, name: &str, labels: &[(&str, &str)]) -> f64 {
    let labels = labels
        .iter()
        .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
    samples[&(format!("seedbank_{name}"), labels.collect())]
}

#[test]
fn metrics_are_what_status_tells() {
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
    assert!(!empty.keys().any(|(name, _)| name.contains("last_")));
    collected(&[
        "refresh", "bank", "--plan", "empty", "--method", "cores", "--within", "0", "--seeds", "1",
    ]);
    place.write("day0.jsonl", crate::support::command::TWO_CORES);
    let ingested = collected(&["ingest", "bank", "--snapshot", "day0.jsonl"]);
    assert_eq!(of(&ingested, "last_batch_records", &[]), 5.0);
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
        ("last_refresh_batch", &[("plan", "empty")], 0.0),
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
    // The same as JSON has, but for what was asked a moment later.
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
    // What cannot be is told before anything is done.
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
            let told = place.run(&[args, &["--metrics", file]].concat()).fails(2);
            assert!(told.contains(words), "{args:?}: {told}");
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
