//! Lists of bad records: their location and length, and how much of a bad input is read.

use std::fs;

use crate::support::command::{Place, names};
use serde_json::Value;

/// The lines of a list of rejects.
#[track_caller]
fn listed(place: &Place, file: &str) -> Vec<Value> {
    let text = fs::read_to_string(place.path(file)).unwrap();
    let lines = text.lines();
    lines.map(|l| serde_json::from_str(l).unwrap()).collect()
}

/// The records in the lists of the bank's folder, by file.
#[track_caller]
fn lists(place: &Place) -> Vec<(String, Vec<String>)> {
    let texts = |name: &String| {
        let listed = listed(place, &format!("bank/rejects/{name}"));
        let texts = listed.iter().map(|reject| reject["record"].as_str());
        texts.map(|text| text.unwrap().to_owned()).collect()
    };
    let names = names(&place.path("bank/rejects"));
    names.iter().map(|n| (n.clone(), texts(n))).collect()
}

/// Some kilobytes that become 20 MB of bad lines.
#[test]
fn a_bomb_of_bad_lines_is_not_read_to_its_end() {
    let place = Place::with_bank();
    let text = zstd::encode_all(&b"x\n".repeat(200_000)[..], 3).unwrap();
    let bomb = text.repeat(50);
    assert!(bomb.len() < 20_000, "{}", bomb.len());
    place.write("bomb.zst", &bomb);
    let before = place.state();
    let ingest = ["ingest", "bank", "bomb.zst", "--memory", "512M"];
    // Whatever the number of threads, and however many may be bad.
    let dry_run = ["--dry-run", "--threads", "1", "--max-rejects", "100"];
    let cases: [&[&str]; 2] = [&[], &dry_run];
    for (number, more) in (1..).zip(cases) {
        let error = place.run(&[&ingest[..], more].concat()).fails(3);
        let words = "the batch was rejected; the bank is unchanged: 114688 of the first 114688 records are bad, and reading stopped there";
        assert!(error.contains(words), "{error}");
        let file = format!("bank/rejects/batch-000001-attempt-{number}.jsonl");
        let words = format!("hint: the first 100000 are listed in {file}; fix the input");
        assert!(error.contains(&words), "{error}");
        let listed = listed(&place, &file);
        assert_eq!(listed.len(), 100_000);
        assert_eq!(listed[99_999]["line"], 100_000);
        assert_eq!(listed[99_999]["record"], "x");
    }
    assert_eq!(place.state(), before);
}

#[test]
fn the_first_bad_records_are_listed_and_all_are_counted() {
    let place = Place::with_bank();
    let good = "{\"url\":\"http://a.example/\"}\n";
    place.write("half.jsonl", (good.to_owned() + "x\n").repeat(100_500));
    let ingest = ["ingest", "bank", "half.jsonl", "--max-rejects", "50"];
    let json = ["--dry-run", "--format", "json", "--threads", "1"];
    let report = place.run(&[&ingest[..], &json].concat()).json();
    assert_eq!(report["read"]["rejects"]["invalid_json"], 100_500);
    assert_eq!(report["rejects_listed"], 100_000);
    let dry = "bank/rejects/batch-000001-attempt-1.jsonl";
    assert_eq!(report["rejects_file"], dry);
    let text = place.run(&ingest).done();
    let file = "bank/rejects/batch-000001.jsonl";
    let words = format!(
        "rejected: 100500 of 201000 records: invalid_json 100500; \
        the first 100000 are listed in {file}\n"
    );
    assert!(text.contains(&words), "{text}");
    let listed = fs::read_to_string(place.path(file)).unwrap();
    assert_eq!(listed.lines().count(), 100_000);
    assert!(listed == fs::read_to_string(place.path(dry)).unwrap());
}

#[test]
fn every_attempt_has_a_list_of_its_own() {
    let place = Place::with_bank();
    let ingest = |text: &str, more: &[&str]| {
        let good = "{\"url\":\"http://a.example/\",\"digest\":\"d\"}\n";
        let args = [&["ingest", "bank", "-", "--format", "json"], more].concat();
        place.run_with(&args, (good.to_owned() + text).as_bytes())
    };
    let loose = ["--max-rejects", "60"];
    let error = ingest("one\n", &[]).fails(3);
    let words = "they are listed in bank/rejects/batch-000001-attempt-1.jsonl; fix the input";
    assert!(error.contains(words), "{error}");
    let error = ingest("two\n", &[]).fails(3);
    assert!(error.contains("batch-000001-attempt-2.jsonl"), "{error}");
    let tried = ingest("three\n", &["--max-rejects", "60", "--dry-run"]).json();
    assert_eq!(
        tried["rejects_file"],
        "bank/rejects/batch-000001-attempt-3.jsonl"
    );
    let taken = ingest("four\n", &loose).json();
    assert_eq!(taken["batch"], 1);
    assert_eq!(taken["rejects_file"], "bank/rejects/batch-000001.jsonl");
    let same = ingest("five\n", &loose).json();
    assert_eq!(same["same_as"], 1);
    let none = ingest("", &["--again"]).json();
    assert_eq!(
        (&none["batch"], &none["rejects_file"]),
        (&2.into(), &Value::Null)
    );
    let list = |name: &str, text: &str| (name.to_owned(), vec![text.to_owned()]);
    let lists_now = [
        list("batch-000001-attempt-1.jsonl", "one"),
        list("batch-000001-attempt-2.jsonl", "two"),
        list("batch-000001-attempt-3.jsonl", "three"),
        list("batch-000001.jsonl", "four"),
        list("batch-000002-attempt-1.jsonl", "five"),
    ];
    assert_eq!(lists(&place), lists_now);
    // A file that the user named is for this batch alone, whatever becomes of the batch.
    for (text, status, count) in [("six\nseven\n", 3, 2), ("", 0, 0), ("eight\n", 3, 1)] {
        let ended = ingest(text, &["--rejects", "my.jsonl"]);
        assert_eq!(ended.status, Some(status), "{ended:?}");
        let named = fs::read_to_string(place.path("my.jsonl")).unwrap_or_default();
        assert_eq!(named.lines().count(), count);
    }
    assert_eq!(lists(&place), lists_now);
}

#[cfg(unix)]
#[test]
fn lists_are_not_written_through_links() {
    use std::os::unix::fs::symlink;
    let place = Place::with_bank();
    place.write("mine", "mine\n");
    fs::create_dir(place.path("folder")).unwrap();
    let rejects = place.path("bank/rejects");
    symlink(
        place.path("mine"),
        rejects.join("batch-000001-attempt-1.jsonl"),
    )
    .unwrap();
    symlink(
        place.path("none"),
        rejects.join("batch-000001-attempt-2.jsonl"),
    )
    .unwrap();
    symlink(place.path("none"), rejects.join("batch-000001.jsonl")).unwrap();
    place.write("bad", "bad\n");
    let ingest = ["ingest", "bank", "bad", "--max-rejects", "100"];
    let report = place.run(&ingest).done();
    let words = "listed in bank/rejects/batch-000001-attempt-3.jsonl\n";
    assert!(report.contains(words), "{report}");
    assert_eq!(fs::read_to_string(place.path("mine")).unwrap(), "mine\n");
    assert!(!place.path("none").exists());

    fs::remove_dir_all(&rejects).unwrap();
    symlink(place.path("folder"), &rejects).unwrap();
    let error = place.run(&[&ingest[..], &["--again"]].concat()).fails(1);
    let words = "cannot write bank/rejects: expected a folder of the bank, found a symbolic link; use --rejects to write the list elsewhere";
    assert!(error.contains(words), "{error}");
    assert_eq!(names(&place.path("folder")), [""; 0]);
    let named = ["--again", "--rejects", "my.jsonl"];
    place.run(&[&ingest[..], &named].concat()).done();
}

#[test]
fn attempts_without_end_are_told() {
    let place = Place::with_bank();
    for number in 1..=1000 {
        place.write(
            &format!("bank/rejects/batch-000001-attempt-{number}.jsonl"),
            "",
        );
    }
    place.write("bad", "bad\n");
    let before = place.status();
    let error = place.run(&["ingest", "bank", "bad"]).fails(1);
    let words = "cannot write bank/rejects: it contains lists of 1000 attempts at batch 1; remove lists that are no longer needed, or use --rejects to write the list elsewhere";
    assert!(error.contains(words), "{error}");
    assert_eq!(names(&place.path("bank/rejects")).len(), 1000);
    assert_eq!(place.status(), before);
}
