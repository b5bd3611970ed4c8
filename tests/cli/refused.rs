//! A refused batch is remembered: in `status`, `history` and the metrics, until a batch of its name is accepted.
//!
//! Bug classes: a refusal that changes what `undo` takes back, one that is shown after it was resolved, a dry run
//! or a wrong file name that is remembered, names of pages in the record, a damaged record that stops a command.

use std::fs;

use serde_json::Value;

use crate::support::command::{Place, record};
use crate::support::prometheus::{of, parsed};
use crate::support::schemas::fits;

/// A bank with 161 pages, and `big.jsonl`, by which 120 of them are gone.
fn place() -> Place {
    let place = Place::with_bank();
    let url = |page: usize| format!("http://secret.example/{page}");
    let all: String = (0..160).map(|page| record(&url(page), &[])).collect();
    place.write("all.jsonl", all);
    place
        .run(&["ingest", "bank", "--snapshot", "all.jsonl"])
        .done();
    place.write("one.jsonl", record("http://one.example/", &[]));
    place.run(&["ingest", "bank", "one.jsonl"]).done();
    let gone = |page| format!("{{\"url\": \"{}\", \"gone\": true}}\n", url(page));
    place.write("big.jsonl", (0..120).map(gone).collect::<String>());
    place
}

/// What `status` and `history` say of the refused batch in JSON, which is the same.
#[track_caller]
fn refused(place: &Place) -> Value {
    let status = place.run(&["status", "bank", "--format", "json"]).json();
    fits("status", &status);
    let history = place.run(&["history", "bank", "--format", "json"]).json();
    fits("history", &history);
    assert_eq!(status["refused"], history["refused"]);
    status["refused"].clone()
}

#[track_caller]
fn metric(place: &Place) -> f64 {
    place
        .run(&["status", "bank", "--metrics", "bank.prom"])
        .done();
    let text = fs::read_to_string(place.path("bank.prom")).unwrap();
    of(&parsed(&text), "refused_batch", &[])
}

const BIG: [&str; 3] = ["ingest", "bank", "big.jsonl"];

#[test]
fn a_refused_batch_is_shown_until_it_is_accepted() {
    let place = place();
    place.run(&[&BIG[..], &["--dry-run"]].concat()).fails(3);
    place.run(&["ingest", "bank", "none.jsonl"]).fails(3);
    assert_eq!(refused(&place), Value::Null);
    assert!(metric(&place).abs() < 0.5);
    let before = place.state();
    place.run(&BIG).fails(3);
    assert_eq!(place.state(), before);
    let found = refused(&place);
    assert_eq!(
        (&found["name"], &found["kind"]),
        (&"big.jsonl".into(), &"delta".into())
    );
    assert_eq!(
        (&found["after"], &found["reason"]),
        (&2.into(), &"loss".into())
    );
    // 120 of 161 pages.
    assert_eq!(found["least_max_loss"], 74.6);
    let clause = "after batch 2: it would lose 74.6 % of the crawled pages, expected at most 20 %; \
        --max-loss 74.6 accepts it\n";
    let status = place.run(&["status", "bank"]).done();
    assert!(
        status.contains("refused: batch big.jsonl (delta), "),
        "{status}"
    );
    assert!(status.contains(clause), "{status}");
    assert!(status.contains("`undo` can take back batch 2"), "{status}");
    let history = place.run(&["history", "bank", "--last", "1"]).done();
    let line = history.strip_prefix("no refreshes\n").unwrap();
    assert!(
        line.starts_with("refused ") && line.ends_with(clause),
        "{history}"
    );
    assert_eq!(line.lines().count(), 1);
    assert!((metric(&place) - 1.0).abs() < 0.5);
    // Neither an undo nor a batch of another name resolves it, but the bank has moved on.
    let undone = place.run(&["undo", "bank"]).done();
    assert!(
        undone.starts_with("batch 2 (one.jsonl) is taken back"),
        "{undone}"
    );
    place.run(&["ingest", "bank", "one.jsonl"]).done();
    assert_eq!(refused(&place), found);
    assert!(metric(&place).abs() < 0.5);
    let history = place.run(&["history", "bank"]).done();
    let kinds: Vec<&str> = history
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(kinds, ["no", "batch", "batch", "refused", "batch", "batch"]);
    // A dry run resolves nothing.
    let allowed = [&BIG[..], &["--max-loss", "74.6"]].concat();
    place.run(&[&allowed[..], &["--dry-run"]].concat()).done();
    assert_eq!(refused(&place), found);
    place.run(&allowed).done();
    assert_eq!(refused(&place), Value::Null);
    assert!(!place.path("bank/REFUSED").exists());
    // The same batch again, under the name of a refused one.
    place.write("bad.jsonl", "no\n");
    place.run(&["ingest", "bank", "bad.jsonl"]).fails(3);
    assert_eq!(refused(&place)["reason"], "bad-records");
    place
        .run(&[&BIG[..], &["--name", "bad.jsonl"]].concat())
        .done();
    assert_eq!(refused(&place), Value::Null);
}

#[test]
fn the_record_names_no_page_and_copies_do_not_have_it() {
    let place = place();
    let text = || fs::read_to_string(place.path("bank/REFUSED")).unwrap();
    place.run(&BIG).fails(3);
    assert!(text().contains("74.6") && !text().contains("secret"));
    let bad = "{\"url\": \"http://secret.example/\", \"clicks\": -1}\n";
    place.write("bad.jsonl", bad);
    place.run(&["ingest", "bank", "bad.jsonl"]).fails(3);
    assert!(text().contains("1 of 1 record is bad") && !text().contains("secret"));
    place.write("none.jsonl", "");
    place
        .run(&["ingest", "bank", "--snapshot", "none.jsonl"])
        .fails(3);
    assert_eq!(refused(&place)["reason"], "empty-snapshot");
    place.write("cut.gz", [0x1f, 0x8b, 8, 0, 0]);
    place.run(&["ingest", "bank", "cut.gz"]).fails(3);
    assert_eq!(refused(&place)["reason"], "unreadable-input");
    let long = "é".repeat(7_000);
    place.run(&[&BIG[..], &["--name", &long]].concat()).fails(3);
    assert_eq!(refused(&place)["name"], "é".repeat(200));
    place.run(&["backup", "bank", "copies"]).done();
    place.run(&["restore", "copies", "restored"]).done();
    place.run(&["migrate", "bank", "--to", "migrated"]).done();
    for copy in ["restored", "migrated"] {
        assert!(!place.path(copy).join("REFUSED").exists(), "{copy}");
    }
    place.run(&["repair", "bank"]).done();
    place.run(&["check", "bank"]).done();
}

#[test]
fn a_damaged_record_is_harmless() {
    let place = place();
    let file = place.path("bank/REFUSED");
    place.run(&BIG).fails(3);
    let whole = fs::read(&file).unwrap();
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    for bytes in [
        &[][..],
        &whole[..whole.len() - 3],
        &changed,
        &[b'x'; 9000],
        &[0xff; 9],
    ] {
        fs::write(&file, bytes).unwrap();
        assert_eq!(refused(&place), Value::Null);
        place.run(&["check", "bank"]).done();
        place.run(&BIG).fails(3);
        assert_eq!(refused(&place)["name"], "big.jsonl");
    }
    // What cannot be written is not remembered; the error is that of the batch.
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let error = place.run(&BIG).fails(3);
    assert!(error.contains("the batch was rejected"), "{error}");
    assert_eq!(refused(&place), Value::Null);
    assert!(!place.path("bank/REFUSED.new").exists());
    place
        .run(&[&BIG[..], &["--max-loss", "100"]].concat())
        .done();
}
