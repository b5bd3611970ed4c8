//! A part is put back from a copy that is one or more commits older.
//!
//! Bug classes: an answer from an older state than the acknowledged one; a commit in progress that is taken for damage.

use std::fs;

use super::{PARTS, PLANS, ingest, injector, part, state, with_cluster};
use crate::faults::injector::Point;
use crate::support::command::{Place, names, wait};
use crate::support::folders::copy;

/// Puts a part of a bank back as it is in a copy of the bank. That of part 0 is all of the folder but the other parts.
fn put_back(place: &Place, number: u32, from: &str) {
    let (to, from) = (
        part(&place.path("disk/bank"), number),
        part(&place.path(from), number),
    );
    for name in names(&to).iter().filter(|name| *name != "parts") {
        let path = to.join(name);
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }
    for name in names(&from).iter().filter(|name| *name != "parts") {
        if from.join(name).is_dir() {
            copy(&from.join(name), &to.join(name));
        } else {
            fs::copy(from.join(name), to.join(name)).unwrap();
        }
    }
}

#[test]
fn an_older_part_is_damage_for_readers_too() {
    let place = with_cluster("60");
    let bank = place.path("disk/bank");
    copy(&bank, &place.path("older"));
    let older = state(&bank);
    ingest(&place, "disk/bank", 1);
    copy(&bank, &place.path("kept"));
    for number in 0..PARTS {
        fs::remove_dir_all(&bank).unwrap();
        copy(&place.path("kept"), &bank);
        put_back(&place, number, "older");
        let says = if number == 0 {
            "part 0 has state 5, and part 1 has acknowledged the later state 6".to_owned()
        } else {
            format!("part {number} lacks state 6")
        };
        for command in [
            &["status", "disk/bank"][..],
            &["seeds", "disk/bank", "--plan", PLANS[0][0]],
            &["export", "disk/bank"],
            &["backup", "disk/bank", "disk/b"],
        ] {
            let err = place.run(command).fails(4);
            assert!(err.contains(&says), "{err}");
            assert!(err.contains("hint: use the folders of all parts"), "{err}");
        }
        place
            .run(&["ingest", "disk/bank", "/dev/null", "-q"])
            .fails(4);
        let checked = place.run(&["check", "disk/bank"]);
        assert_eq!(checked.status, Some(4), "{checked:?}");
        assert!(checked.out.contains(&says), "{checked:?}");
        // All parts still have the state before.
        let repaired = place.run(&["repair", "disk/bank"]);
        assert_eq!(repaired.status, Some(4), "{repaired:?}");
        assert!(repaired.out.contains("lost: batch 2\n"), "{repaired:?}");
        assert!(state(&bank) == older);
        place.run(&["check", "disk/bank"]).done();
        ingest(&place, "disk/bank", 1);
    }
    // Two commits older: there is no such state.
    ingest(&place, "disk/bank", 2);
    put_back(&place, 1, "older");
    place.run(&["status", "disk/bank"]).fails(4);
    let repaired = place.run(&["repair", "disk/bank"]);
    assert_eq!(repaired.status, Some(4), "{repaired:?}");
    assert!(
        repaired.out.contains("no state is intact in all parts"),
        "{repaired:?}"
    );
}

/// A reader opens the bank after each step of a commit.
#[test]
fn a_commit_in_progress_is_no_damage() {
    let place = with_cluster("60");
    let Some(injector) = injector(&place, "a_commit_in_progress_is_no_damage") else {
        return;
    };
    let bank = place.path("disk/bank");
    copy(&bank, &place.path("kept"));
    let before = state(&bank);
    for (kind, path, number) in [
        ("rename", "PREPARED.new", 4),
        ("rename", "published/CURRENT.new", 2),
        ("rename", "bank/published/CURRENT.new", 1),
    ] {
        fs::remove_dir_all(&bank).unwrap();
        copy(&place.path("kept"), &bank);
        let point = Point {
            kind,
            number,
            mode: "stop",
            error: 0,
        };
        let args = [
            "ingest",
            "disk/bank",
            "crawl/day-001.jsonl.zst",
            "--as-of",
            "2026-11-02T00:00:00Z",
            "-q",
        ];
        let child = injector.start_struck(&place.path(""), &args, &point, path);
        crate::faults::injector::until_stopped(&child);
        for _ in 0..3 {
            assert!(state(&bank) == before);
            place.run(&["status", "disk/bank"]).done();
        }
        let checked = place.run(&["check", "disk/bank"]).done();
        assert!(checked.contains("another process writes"), "{checked}");
        crate::faults::injector::resume(&child);
        wait(child).done();
        assert!(state(&bank) != before);
    }
}

/// Readers open the bank all the time while another process commits.
#[test]
fn readers_beside_a_writer_find_no_damage() {
    let place = with_cluster("60");
    let bank = place.path("disk/bank");
    let done = std::sync::atomic::AtomicBool::new(false);
    let opened = std::sync::atomic::AtomicU32::new(0);
    std::thread::scope(|scope| {
        let read = || {
            while !done.load(std::sync::atomic::Ordering::SeqCst) {
                seedbank_store::Reader::open(&bank).unwrap();
                opened.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            }
        };
        let readers = [scope.spawn(read), scope.spawn(read)];
        for day in [1, 2, 1, 2] {
            ingest(&place, "disk/bank", day);
        }
        done.store(true, std::sync::atomic::Ordering::SeqCst);
        for reader in readers {
            reader.join().unwrap();
        }
    });
    assert!(opened.into_inner() > 20);
}
