//! `compact`: merged files, readers and writers meanwhile, and a full disk.

use std::fs::File;
use std::path::Path;

use crate::support::command::{Place, names, record, wait};
use crate::support::schemas::fits;
use seedbank_store::tables::ALL;

/// A bank of several batches, of which some files are not merged.
fn with_batches() -> Place {
    let place = Place::with_seeds();
    place.merge();
    for day in 0..3 {
        let url = format!("http://new{day}.example/");
        let text = record(&url, &["http://a1.example/", "http://a2.example/"]);
        place.write("day.jsonl", text);
        place.run(&["ingest", "bank", "day.jsonl"]).done();
        place
            .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
            .done();
    }
    place
}

fn compacted(place: &Place) -> bool {
    let status = place.run(&["status", "bank", "--format", "json"]).json();
    status["compacted"].as_bool().unwrap()
}

/// Answers that do not depend on whether the bank is compacted.
fn answers(place: &Place) -> Vec<serde_json::Value> {
    let mut status = place.status();
    for physical in ["compacted", "bits_per_link", "undo"] {
        status.as_object_mut().unwrap().remove(physical);
    }
    let mut all = place
        .run(&["seeds", "bank", "--format", "jsonl"])
        .json_lines();
    all.push(status);
    all.push(place.run(&["history", "bank", "--format", "json"]).json());
    all.push(place.run(&["check", "bank", "--format", "json"]).json());
    assert_eq!(all.last().unwrap()["clean"], true);
    all
}

#[test]
fn files_are_merged_and_readers_keep_theirs() {
    let place = with_batches();
    assert!(!compacted(&place));
    // Batches that are too large for the log, each of which overwrites the one before.
    for day in 0..3 {
        let pages = (0..8_000).map(|page| {
            let to = format!("http://a{}.example/{day}", page % 50);
            record(&format!("http://n{page}.example/"), &[&to])
        });
        place.write("big.jsonl", pages.collect::<String>());
        place.run(&["ingest", "bank", "big.jsonl"]).done();
    }
    let before = answers(&place);
    let lock = names(&place.path("bank/published"));
    let is_lock = |name: &&String| Path::new(name).extension().is_some_and(|end| end == "lock");
    let lock = lock.iter().find(is_lock).unwrap();
    let reader = File::open(place.path("bank/published").join(lock)).unwrap();
    reader.lock_shared().unwrap();
    let report = place.run(&["compact", "bank", "--format", "json"]).json();
    fits("compact", &report);
    let count = |name: &str| report[name].as_u64().unwrap();
    assert!(count("files") < count("files_before"), "{report}");
    assert!(count("bytes") < count("bytes_before"), "{report}");
    assert!(count("files") <= ALL.len() as u64, "{report}");
    assert!(count("held_bytes") > 0, "{report}");
    assert!(compacted(&place));
    assert_eq!(answers(&place), before);
    assert_eq!(names(&place.path("bank/published")).len(), 5);
    drop(reader);
    // The same again: the states that nobody reads are gone, and the answers are the same.
    let text = place.run(&["compact", "bank"]).done();
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(
        text.contains(" files, ") && text.contains("; there were "),
        "{text}"
    );
    assert_eq!(names(&place.path("bank/published")).len(), 3);
    assert_eq!(answers(&place), before);
    place
        .run(&["ingest", "bank", "day0.jsonl", "--again"])
        .done();
    place.run(&["check", "bank"]).done();
}

#[test]
fn a_compact_waits_or_says_that_the_bank_is_busy() {
    let place = with_batches();
    let lock = File::options()
        .write(true)
        .open(place.path("bank/writer.lock"))
        .unwrap();
    lock.lock().unwrap();
    let error = place.run(&["compact", "bank"]).fails(4);
    assert!(
        error.contains("being written by another process"),
        "{error}"
    );
    assert!(error.contains("or use --wait"), "{error}");
    let child = place.spawn(&["compact", "bank", "--wait"]);
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(!compacted(&place));
    drop(lock);
    wait(child).done();
    assert!(compacted(&place));
}

#[test]
fn a_full_disk_leaves_the_bank_as_it_was() {
    let place = with_batches();
    let records: String = (0..8_000)
        .map(|page| record(&format!("http://n{page}.example/"), &["http://a1.example/"]))
        .collect();
    place.write("big.jsonl", records);
    place.run(&["ingest", "bank", "big.jsonl"]).done();
    let before = answers(&place);
    // In KiB of each file; to forget one page writes the least.
    for (args, limits) in [
        ("compact bank", ["0", "1", "4", "16", "64"]),
        ("undo bank", ["0", "1", "4", "16", "64"]),
        ("forget bank n7.example", ["0", "1", "4", "16", "32"]),
    ] {
        for limit in limits {
            place.fails_when_full(limit, args);
            assert_eq!(answers(&place), before, "{args}, {limit}");
        }
    }
    place.run(&["compact", "bank"]).done();
    assert!(compacted(&place));
    assert_eq!(answers(&place), before);
    place.run(&["forget", "bank", "n7.example"]).done();
    place.run(&["check", "bank"]).done();
}
