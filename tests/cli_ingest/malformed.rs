//! Every kind of bad input on a bank: the documented answer, no panic, and an unchanged bank if the
//! batch is rejected.

use std::fs::{self, File};
use std::io::{BufWriter, Write};

use crate::bad_inputs::Answer::{Dropped, Refused, Rejected, Taken};
use crate::bad_inputs::{GOOD, inputs, lines};
use crate::support::command::{Place, TWO_CORES};
use crate::support::skipped::skipped;
use serde_json::{Value, json};

#[test]
fn an_input_that_cannot_be_read_refuses_the_batch() {
    let place = Place::with_seeds();
    let before = place.state();
    let cases = inputs();
    for (name, bytes, answer) in &cases {
        place.write("input", bytes);
        let Refused(words) = answer else {
            panic!("{name}")
        };
        let error = place.run(&["ingest", "bank", "input"]).fails(3);
        assert!(
            error.starts_with("error: the batch was rejected; the bank is unchanged"),
            "{name}: {error}"
        );
        assert!(error.contains(words), "{name}: {error}");
        assert!(error.lines().count() <= 2, "{name}: {error}");
        // However much of it could be read.
        let input = place.run_with(&["ingest", "bank", "--max-rejects", "1", "-"], bytes);
        input.fails(3);
    }
    assert_eq!(place.state(), before);
}

#[test]
fn a_file_that_is_none_refuses_the_batch() {
    let place = Place::with_seeds();
    place.write("good", GOOD);
    place.write("empty", b"");
    place.write("blank", b"\n  \n\r\n");
    let before = place.state();
    let cases: &[(&[&str], &str)] = &[
        (&["none.jsonl"], "cannot open none.jsonl: No such file"),
        (&["good", "none.jsonl"], "cannot open none.jsonl"),
        (&["bank"], "bank is a directory"),
        (&["--snapshot", "empty"], "a snapshot without records"),
        (&["--snapshot", "blank"], "a snapshot without records"),
        (
            &["--input", "links", "--pages", "none.tsv", "empty"],
            "cannot open none.tsv",
        ),
    ];
    for (args, words) in cases {
        let error = place.run(&[&["ingest", "bank"], *args].concat()).fails(3);
        assert!(error.contains(words), "{args:?}: {error}");
        assert!(error.contains("the bank is unchanged"), "{args:?}: {error}");
    }
    assert_eq!(place.state(), before);
}

#[cfg(unix)]
#[test]
fn an_unreadable_file_refuses_the_batch() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::with_seeds();
    let path = place.write("closed", GOOD);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    if File::open(&path).is_ok() {
        let test = "an_unreadable_file_refuses_the_batch";
        skipped(test, "a user other than root", "root reads every file");
        return;
    }
    let before = place.state();
    let error = place.run(&["ingest", "bank", "closed"]).fails(3);
    assert!(
        error.contains("cannot open closed: Permission denied"),
        "{error}"
    );
    assert_eq!(place.state(), before);
}

#[test]
fn a_bad_record_is_rejected_or_refuses_the_batch_and_nothing_else() {
    let place = Place::with_seeds();
    let cases = lines();
    assert!(cases.len() + inputs().len() >= 30);
    let before = place.state();
    for (name, line, answer) in &cases {
        place.write("input", [GOOD, line].concat());
        let strict = ["ingest", "bank", "input", "--max-rejects", "0"];
        let loose = ["ingest", "bank", "input", "--max-rejects", "50"];
        let dry = ["--dry-run", "--format", "json"];
        let report = place.run(&[&loose[..], &dry].concat()).json();
        let read = &report["read"];
        match answer {
            Rejected(reason) => {
                assert_eq!(read["rejects"], json!({*reason: 1}), "{name}: {read}");
                let born = &report["counts"]["new_pages"];
                assert_eq!(*born, 1, "{name}: the good record counts");
                // Not a dry run: the bank must still be as it was.
                let error = place.run(&strict).fails(3);
                let words = "1 of 2 records is bad, expected at most 0 %";
                assert!(error.contains(words), "{name}: {error}");
            }
            Dropped(reason) => {
                assert_eq!(
                    read["dropped_outlinks"],
                    json!({*reason: 1}),
                    "{name}: {read}"
                );
                let born = &report["counts"]["new_pages"];
                assert_eq!(*born, 2, "{name}: both records count");
                place.run(&[&strict[..], &dry].concat()).done();
            }
            Taken(_) => {
                assert_eq!(read["rejects"], json!({}), "{name}: {read}");
                assert_eq!(report["counts"]["new_pages"], 2, "{name}");
            }
            Refused(_) => panic!("{name}"),
        }
        assert_eq!(place.status(), before["status"], "{name}");
    }
    assert_eq!(place.state(), before);
}

#[test]
fn odd_urls_are_one_page_with_their_normal_form() {
    for (name, line, answer) in lines() {
        let Taken(url) = answer else { continue };
        // The page under its normal form comes first; the odd form must add no page to it.
        let place = Place::with_bank();
        let normal = json!({"url": url, "digest": "d"}).to_string() + "\n";
        place
            .run_with(&["ingest", "bank", "-"], normal.as_bytes())
            .done();
        let report = place
            .run_with(&["ingest", "bank", "-", "--format", "json"], &line)
            .json();
        assert_eq!(report["counts"]["new_pages"], 0, "{name}: {report}");
        let status = place.status();
        assert_eq!(status["crawled"], 1, "{name}: {status}");
    }
}

#[test]
fn links_in_objects_are_links() {
    let place = Place::with_seeds();
    let status = place.status();
    let batch = |form: &str| {
        let records = TWO_CORES.lines().map(|line| {
            let mut record: Value = serde_json::from_str(line).unwrap();
            for link in record["outlinks"].as_array_mut().unwrap() {
                *link = json!({"text": [1], form: link, "rel": null});
            }
            record.to_string() + "\n"
        });
        records.collect::<String>()
    };
    for form in ["url", "href"] {
        place.write("objects.jsonl", batch(form));
        let args = ["ingest", "bank", "--snapshot", "objects.jsonl"];
        let report = place.run(&[&args[..], &["--format", "json"]].concat());
        let report = report.json();
        assert_eq!(report["same_as"], 1, "{report}");
        assert_eq!(report["read"]["dropped_outlinks"], json!({}));
    }
    assert_eq!(place.status(), status);
    // Rejected, and not silently accepted without links.
    place.write("objects.jsonl", batch("to"));
    let args = ["ingest", "bank", "objects.jsonl", "--rejects", "my.jsonl"];
    let error = place.run(&args).fails(3);
    assert!(error.contains("5 of 5 records are bad"), "{error}");
    let first = fs::read_to_string(place.path("my.jsonl")).unwrap();
    let first: Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
    assert_eq!(first["reason"], "wrong_type");
    assert_eq!(
        first["detail"],
        "outlinks: element 1 is an object without url and href; expected a URL as a string, or an object with the URL as its url or href"
    );
}

#[test]
fn rejects_are_listed_with_their_lines() {
    let place = Place::with_seeds();
    let cases: Vec<_> = lines()
        .into_iter()
        .filter_map(|(name, line, answer)| match answer {
            Rejected(reason) => Some((name, line, reason)),
            _ => None,
        })
        .collect();
    let mut input = GOOD.to_vec();
    for (_, line, _) in &cases {
        input.extend(line);
        input.push(b'\n');
    }
    place.write("day.jsonl", &input);
    let args = [
        "ingest",
        "bank",
        "day.jsonl",
        "--max-rejects",
        "100",
        "--format",
        "json",
    ];
    let report = place.run(&args).json();
    assert_eq!(report["batch"], 2);
    assert_eq!(report["counts"]["rejected"], cases.len());
    let file = report["rejects_file"].as_str().unwrap();
    assert_eq!(file, "bank/rejects/batch-000002.jsonl");
    let listed = fs::read_to_string(place.path(file)).unwrap();
    let listed: Vec<Value> = listed
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(listed.len(), cases.len());
    for (number, ((name, _, reason), reject)) in (2..).zip(cases.iter().zip(&listed)) {
        assert_eq!(reject["reason"], *reason, "{name}");
        assert_eq!(reject["line"], number, "{name}");
        assert_eq!(reject["file"], "day.jsonl", "{name}");
    }
    // The list goes where it is wanted, even if the batch is refused.
    place.write("bad.jsonl", "bad\n");
    let error = place
        .run(&["ingest", "bank", "bad.jsonl", "--rejects", "my.jsonl"])
        .fails(3);
    assert!(
        error.contains("hint: they are listed in my.jsonl"),
        "{error}"
    );
    assert_eq!(
        fs::read_to_string(place.path("my.jsonl"))
            .unwrap()
            .lines()
            .count(),
        1
    );
}

#[test]
fn an_empty_delta_is_no_batch() {
    let place = Place::with_seeds();
    let before = place.state();
    let bad: &[&str] = &["--max-rejects", "100"];
    for (input, more) in [
        (&b""[..], &[][..]),
        (b"\n\n", &[]),
        (b"bad\n", bad),
        (b"", &["--again"]),
        (b"", &["--dry-run"]),
    ] {
        let args = ["ingest", "bank", "-", "--format", "json"];
        let ended = place.run_with(&[&args, more].concat(), input);
        assert!(ended.err.contains("it is not a batch"), "{ended:?}");
        let report = ended.json();
        assert_eq!(report["is_empty"], true, "{report}");
        assert_eq!(report["batch"], Value::Null, "{report}");
        assert_eq!(place.state(), before, "{report}");
    }
    let text = place.run_with(&["ingest", "bank", "-"], b"").done();
    assert!(text.starts_with("nothing changed: no records: "), "{text}");
    // The batch before it can still be undone.
    assert_eq!(place.status()["undo"]["batch"], 1);
    place.run(&["undo", "bank"]).done();
    // A batch of sites alone is one.
    place.write("sites.tsv", "a.example\t0.5\t\t\n");
    let report = place.run(&["ingest", "bank", "--sites", "sites.tsv", "--format", "json"]);
    let report = report.json();
    assert_eq!(
        (&report["batch"], &report["is_empty"]),
        (&json!(3), &json!(false))
    );
}

#[test]
fn a_line_of_100_megabytes_is_rejected_and_never_held() {
    let place = Place::with_seeds();
    let mut file = BufWriter::new(File::create(place.path("long.jsonl")).unwrap());
    file.write_all(b"{\"url\": \"http://x.example/\", \"digest\": \"")
        .unwrap();
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..100 {
        file.write_all(&piece).unwrap();
    }
    file.write_all(b"\"}\n").unwrap();
    file.write_all(GOOD).unwrap();
    file.into_inner().unwrap();
    let args = [
        "ingest",
        "bank",
        "long.jsonl",
        "--max-rejects",
        "50",
        "--format",
        "json",
    ];
    let report = place.run(&args).json();
    assert_eq!(report["read"]["rejects"], json!({"line_too_long": 1}));
    assert_eq!(report["counts"]["new_pages"], 1);
    place.state();
}

#[test]
fn bad_lines_of_links_and_pages_are_rejected() {
    let place = Place::with_bank();
    let before = place.state();
    let lines: &[(&str, &str)] = &[
        ("http://a.example/", "columns"),
        (
            "http://a.example/\thttp://b.example/\thttp://c.example/",
            "columns",
        ),
        ("a.example\thttp://b.example/", "relative_url"),
        ("ftp://a.example/\thttp://b.example/", "url_scheme"),
        ("http://a.example/\0\thttp://b.example/", "nul_byte"),
    ];
    for (line, reason) in lines {
        place.write(
            "links.tsv",
            format!("{line}\nhttp://g.example/\thttp://b.example/\n"),
        );
        let args = ["ingest", "bank", "--input", "links", "links.tsv"];
        place.run(&args).fails(3);
        let loose = ["--max-rejects", "50", "--dry-run", "--format", "json"];
        let report = place.run(&[&args[..], &loose].concat()).json();
        assert_eq!(report["read"]["rejects"], json!({*reason: 1}), "{line}");
    }
    place.write("links.tsv", "http://g.example/\thttp://b.example/\n");
    for (line, reason) in [
        ("http://a.example/\tperhaps\t1\t1", "wrong_type"),
        ("http://a.example/\t0\t-1\t1", "negative_number"),
        ("http://a.example/\t0\t1\t1000001", "number_too_large"),
    ] {
        place.write("pages.tsv", line);
        let args = [
            "ingest",
            "bank",
            "--input",
            "links",
            "--pages",
            "pages.tsv",
            "links.tsv",
        ];
        place.run(&args).fails(3);
        let loose = ["--max-rejects", "50", "--dry-run", "--format", "json"];
        let report = place.run(&[&args[..], &loose].concat()).json();
        assert_eq!(report["read"]["rejects"], json!({reason: 1}), "{line}");
    }
    assert_eq!(place.state(), before);
}

#[test]
fn a_batch_that_is_refused_on_a_bank_with_seeds_leaves_the_seeds() {
    let place = Place::with_seeds();
    let seeds = place.run(&["seeds", "bank", "--format", "jsonl"]).done();
    place.write("bad.jsonl", TWO_CORES.replace("http://h1", "h1"));
    place
        .run(&["ingest", "bank", "--snapshot", "bad.jsonl"])
        .fails(3);
    assert_eq!(
        place.run(&["seeds", "bank", "--format", "jsonl"]).done(),
        seeds
    );
}
