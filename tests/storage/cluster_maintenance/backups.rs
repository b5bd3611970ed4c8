//! Backups, restored banks, copies and compactions without kills; damage to them; and other processes that write meanwhile.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use seedbank::engine::Bank;
use seedbank_store::{Reader, Verdict};
use serde_json::Value;

use super::{
    File, PARTS, answers, back_up, files, ingest, injector, part, refresh, state, with_cluster,
};
use crate::faults::injector::{DISK, Point, resume, until_stopped};
use crate::published::{is_clean, published};
use crate::support::command::{Place, names, record, wait};
use crate::support::folders::{NO_FILES, changes, contents, copy};

#[test]
fn a_restored_bank_is_the_one_that_was_backed_up_and_goes_on() {
    let place = with_cluster("300");
    let mut expected = vec![answers(&place, "disk/bank")];
    let first = back_up(&place, &[]);
    assert_eq!(first["parts"], PARTS);
    // The bank has changed since, in the published state of all parts.
    ingest(&place, "disk/bank", 1);
    refresh(&place, "disk/bank");
    expected.push(answers(&place, "disk/bank"));
    assert_ne!(expected[0], expected[1]);
    let second = back_up(&place, &[]);
    let hashes = |backup| {
        let hashes = files(&place, backup).into_iter().map(|file| file.hash);
        hashes.collect::<BTreeSet<_>>()
    };
    let new = hashes(2).difference(&hashes(1)).count();
    assert_eq!(second["written_files"], new);
    let names_of = |backup| {
        files(&place, backup)
            .into_iter()
            .map(|file| (file.name, file.hash))
    };
    let before: BTreeSet<_> = names_of(1).collect();
    let is_kept_table = |file: &(String, String)| is_table(&file.0) && before.contains(file);
    assert!(names_of(2).filter(is_kept_table).count() > 3, "{second}");
    for number in 0..PARTS {
        let of_part = files(&place, 2).into_iter().filter(|file| {
            let prefix = format!("parts/{number:03}/state/");
            file.name.starts_with(&prefix) || number == 0 && file.name.starts_with("state/")
        });
        assert!(of_part.count() > 3, "part {number}");
    }
    let third = back_up(&place, &[]);
    assert_eq!(third["written_files"], 0, "{third}");
    for (number, expected) in (1..).zip(&expected) {
        let (bank, at) = (format!("disk/{number}"), number.to_string());
        place.run(&["restore", "disk/b", &bank, "--at", &at]).done();
        assert!(answers(&place, &bank) == *expected, "backup {number}");
    }
    // Both go on as the bank does.
    ingest(&place, "disk/1", 1);
    refresh(&place, "disk/1");
    for bank in ["disk/bank", "disk/1", "disk/2"] {
        ingest(&place, bank, 2);
        refresh(&place, bank);
    }
    let last = state(&place.path("disk/bank"));
    for bank in ["disk/1", "disk/2"] {
        let found = state(&place.path(bank));
        assert!(found == last, "{bank}: {}", found.unlike(&last));
        assert_eq!(is_clean(&place.path(bank)), Verdict::Good);
    }
    // In the same folder of backups, too.
    place.run(&["backup", "disk/1", "disk/b"]).done();
    place.run(&["restore", "disk/b", "disk/3"]).done();
    assert!(state(&place.path("disk/3")) == last);
}

#[test]
fn parts_of_a_restored_bank_are_of_no_other() {
    let place = with_cluster("100");
    back_up(&place, &[]);
    let bank = place.path("disk/bank");
    for (command, new) in [
        (&["restore", "disk/b", "disk/new"][..], "disk/new"),
        (&["restore", "disk/b", "disk/other"], "disk/other"),
    ] {
        place.run(command).done();
        let new = place.path(new);
        for number in [0, 2] {
            copy(&new, &place.path("mixed"));
            let mixed = part(&place.path("mixed"), number);
            fs::remove_dir_all(mixed.join("published")).unwrap();
            copy(
                &part(&bank, number).join("published"),
                &mixed.join("published"),
            );
            place.run(&["undo", "mixed"]).fails(4);
            assert_eq!(place.run(&["check", "mixed"]).status, Some(4));
            fs::remove_dir_all(place.path("mixed")).unwrap();
        }
    }
}

/// Returns whether a name is that of a table file.
fn is_table(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|end| end == "sst")
}

/// A file that only this part needs.
fn own_file(place: &Place, number: u32) -> File {
    let all = files(place, 1);
    let is_shared = |file: &File| all.iter().filter(|other| other.hash == file.hash).count() > 1;
    let prefix = format!("parts/{number:03}/state/");
    let own = all
        .iter()
        .filter(|file| file.name.starts_with(&prefix) && is_table(&file.name) && !is_shared(file));
    own.max().unwrap().clone()
}

fn flip(file: &Path) {
    let mut bytes = fs::read(file).unwrap();
    bytes[12] ^= 4;
    fs::write(file, bytes).unwrap();
}

#[test]
fn damage_of_a_part_of_a_backup_is_found_and_repaired_from_the_bank() {
    type Damage = fn(&Path);
    let damages: [(Damage, &str, &[&str]); 2] = [
        (|file| fs::remove_file(file).unwrap(), "is missing", &[]),
        (flip, "differs from what was backed up", &["--verify"]),
    ];
    let place = with_cluster("100");
    let expected = state(&place.path("disk/bank"));
    // So that there are table files.
    place.run(&["compact", "disk/bank"]).done();
    let list = [
        "restore", "disk/b", "--list", "--verify", "--format", "json",
    ];
    for (damage, words, verify) in damages {
        back_up(&place, &[]);
        let file = own_file(&place, 2);
        damage(&place.path("disk/b/files").join(&file.hash));
        let before = names(&place.path(DISK));
        let error = place.run(&["restore", "disk/b", "disk/new"]).fails(4);
        let says = format!(
            "error: backup 1 is damaged: {} (files/{})",
            file.name, file.hash
        );
        assert!(error.contains(&says) && error.contains(words), "{error}");
        assert_eq!(names(&place.path(DISK)), before);
        let listed = place.run(&list);
        assert_eq!(listed.status, Some(4));
        let listed: Value = serde_json::from_str(&listed.out).unwrap();
        assert_eq!(listed["backups"][0]["parts"], PARTS);
        let fault = listed["backups"][0]["fault"].as_str().unwrap();
        assert!(
            fault.starts_with(&file.name) && fault.contains(words),
            "{fault}"
        );
        // The bank still has the file.
        let again = back_up(&place, verify);
        assert_eq!(
            (&again["backup"], &again["written_files"]),
            (&2.into(), &1.into())
        );
        place.run(&list).json();
        place
            .run(&["restore", "disk/b", "disk/new", "--at", "1"])
            .done();
        assert!(state(&place.path("disk/new")) == expected);
        for made in ["disk/new", "disk/b"] {
            fs::remove_dir_all(place.path(made)).unwrap();
        }
    }
}

#[test]
fn a_damaged_part_is_neither_backed_up_nor_copied() {
    let place = with_cluster("100");
    place.run(&["compact", "disk/bank"]).done();
    let state = part(&place.path("disk/bank"), 3).join("published");
    let state = state.join(
        published(&part(&place.path("disk/bank"), 3))
            .unwrap()
            .to_string(),
    );
    let size = |name: &String| fs::metadata(state.join(name)).unwrap().len();
    let tables = names(&state).into_iter().filter(|name| is_table(name));
    flip(&state.join(tables.max_by_key(size).unwrap()));
    let before = contents(&place.path("disk/bank"));
    let error = place.run(&["backup", "disk/bank", "disk/b"]).fails(4);
    assert!(error.contains("seedbank check"), "{error}");
    assert_eq!(names(&place.path("disk/b/backups")), [""; 0]);
    assert_eq!(names(&place.path("disk/b/files")), [""; 0]);
    assert_eq!(changes(&before, &place.path("disk/bank")), NO_FILES);
}

/// A writer stops after it has published the new state in one part, and before it does in the others.
#[test]
fn a_backup_within_a_commit_is_of_the_state_before() {
    let place = with_cluster("100");
    let Some(injector) = injector(&place, "a_backup_within_a_commit_is_of_the_state_before") else {
        return;
    };
    let bank = place.path("disk/bank");
    let before = state(&bank);
    let place_of_writer = place.path("");
    let args = [
        "ingest",
        "disk/bank",
        "crawl/day-001.jsonl.zst",
        "--as-of",
        "2026-11-02T00:00:00Z",
        "-q",
    ];
    copy(&bank, &place.path("kept"));
    let undisturbed = injector.run(&place_of_writer, &args);
    assert_eq!(undisturbed.status, Some(0), "{}", undisturbed.describe());
    let after = state(&bank);
    assert!(before != after);
    fs::remove_dir_all(&bank).unwrap();
    fs::rename(place.path("kept"), &bank).unwrap();
    // The second part that is to be published.
    let point = Point {
        kind: "rename",
        number: 2,
        mode: "stop",
        error: 0,
    };
    let child = injector.start_struck(&place_of_writer, &args, &point, "published/CURRENT.new");
    until_stopped(&child);
    let epoch = published(&bank).unwrap();
    let epochs = (0..PARTS).map(|number| published(&part(&bank, number)).unwrap());
    assert_eq!(epochs.filter(|found| *found == epoch + 1).count(), 1);
    let made = back_up(&place, &[]);
    assert_eq!(made["epoch"], epoch);
    // Only the first of two writers.
    place.run(&["compact", "disk/bank"]).fails(4);
    resume(&child);
    wait(child).done();
    assert!(state(&bank) == after);
    let made = back_up(&place, &[]);
    assert_eq!(made["epoch"], epoch + 1);
    for (number, expected) in [(1, &before), (2, &after)] {
        let (new, at) = (format!("disk/{number}"), number.to_string());
        place.run(&["restore", "disk/b", &new, "--at", &at]).done();
        assert!(state(&place.path(&new)) == *expected, "backup {number}");
        assert_eq!(is_clean(&place.path(&new)), Verdict::Good);
    }
}

/// Backups while another process writes. Some of them begin in the middle of a commit.
#[test]
fn a_backup_beside_a_writer_has_one_state_in_all_parts() {
    let place = with_cluster("100");
    let mut states = vec![state(&place.path("disk/bank"))];
    copy(&place.path("disk/bank"), &place.path("same"));
    let urls: Vec<String> = (0..8).map(|n| format!("http://new{n}.example/")).collect();
    let one = |bank: &str, n: usize| {
        let page = record(&urls[n], &["http://a.example/", "http://b.example/"]);
        let file = format!("{n}.jsonl");
        place.write(&file, page);
        place
            .run(&["ingest", bank, &file, "--as-of", "2026-12-01", "-q"])
            .done();
    };
    for n in 0..urls.len() {
        one("same", n);
        states.push(state(&place.path("same")));
    }
    let mut made = 0;
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| (0..urls.len()).for_each(|n| one("disk/bank", n)));
        while !writer.is_finished() {
            back_up(&place, &["--keep", "2"]);
            place.run(&["restore", "disk/b", "disk/new"]).done();
            let found = state(&place.path("disk/new"));
            assert!(states.contains(&found), "{}", found.unlike(&states[0]));
            fs::remove_dir_all(place.path("disk/new")).unwrap();
            made += 1;
        }
    });
    assert!(made > 2, "{made} backups");
}

#[test]
fn a_compaction_merges_all_parts_and_readers_keep_their_files() {
    let place = with_cluster("300");
    let bank = place.path("disk/bank");
    for day in 1..=2 {
        ingest(&place, "disk/bank", day);
        refresh(&place, "disk/bank");
    }
    let expected = answers(&place, "disk/bank");
    assert!(!Bank::at(&bank).status().unwrap().compacted);
    let reader = Reader::open(&bank).unwrap();
    let report = place
        .run(&["compact", "disk/bank", "--format", "json"])
        .json();
    let number = |name: &str| report[name].as_u64().unwrap();
    assert!(number("files") < number("files_before"), "{report}");
    assert!(number("held_bytes") > 0, "{report}");
    assert!(Bank::at(&bank).status().unwrap().compacted);
    assert_eq!(answers(&place, "disk/bank"), expected);
    drop(reader);
    // Each part keeps two states, which share their tables.
    place.run(&["compact", "disk/bank"]).done();
    let again = place
        .run(&["compact", "disk/bank", "--format", "json"])
        .json();
    assert_eq!(again["held_bytes"], 0, "{again}");
    for number in 0..PARTS {
        let epoch = published(&bank).unwrap();
        let states = names(&part(&bank, number).join("published"));
        let states = states.iter().filter_map(|name| name.parse::<u64>().ok());
        let mut states: Vec<u64> = states.collect();
        states.sort_unstable();
        assert_eq!(states, [epoch - 1, epoch], "part {number}");
    }
    assert_eq!(answers(&place, "disk/bank"), expected);
    ingest(&place, "disk/bank", 3);
    assert_eq!(is_clean(&bank), Verdict::Good);
}
