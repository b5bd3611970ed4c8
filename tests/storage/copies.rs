//! Banks of which a part was restored from a copy, and copies that share files with the bank.
//!
//! Bug classes: an answer from an older state, from another bank, or from a copy that ingested other
//! batches; a copy of hard links that is written through; a file outside the bank that is overwritten
//! through a symbolic link.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::bank_damage::{published, verdicts};
use crate::support::command::{Place, names, record};
use crate::support::folders::{NO_FILES, changes, contents, copy};

/// Ingests one record of a page of its own.
#[track_caller]
fn ingest(place: &Place, bank: &str, page: &str) {
    place.write("one.jsonl", record(page, &["http://h1.example/"]));
    place.run(&["ingest", bank, "one.jsonl"]).done();
}

/// Replaces a folder of the bank by that of another one.
fn put_back(place: &Place, folder: &str, from: &str) {
    let to = place.path("bank").join(folder);
    fs::remove_dir_all(&to).unwrap();
    copy(&place.path(from).join(folder), &to);
}

/// Readers, `check` and writers refuse the bank, also with `-q`, and leave every file as it is but for
/// those of the live database, which is opened.
#[track_caller]
fn is_refused(place: &Place, why: &str) {
    let before = contents(&place.path("bank/published"));
    let error = place.run(&["seeds", "bank"]).fails(4);
    assert!(error.contains(why), "{error}");
    place.run(&["-q", "seeds", "bank"]).fails(4);
    assert_eq!(place.run(&["check", "bank"]).status, Some(4));
    place.write("next.jsonl", record("http://next.example/", &[]));
    place.run(&["ingest", "bank", "next.jsonl"]).fails(4);
    assert_eq!(changes(&before, &place.path("bank/published")), NO_FILES);
}

#[test]
fn an_older_published_state_that_was_put_back_does_not_answer() {
    let place = Place::with_seeds();
    copy(&place.path("bank"), &place.path("old"));
    ingest(&place, "bank", "http://new.example/");
    let latest = place.status();
    put_back(&place, "published", "old");
    is_refused(&place, "older state");
    let text = place.run(&["repair", "bank"]).done();
    assert!(text.contains("published again"), "{text}");
    assert_eq!(place.status(), latest);
    verdicts(&place, 0);
}

#[test]
fn the_published_state_of_another_bank_does_not_answer() {
    let place = Place::with_seeds();
    let latest = place.status();
    // The same commands make a bank with the same numbers.
    fs::rename(place.path("bank"), place.path("first")).unwrap();
    let other = Place::with_seeds();
    copy(&other.path("bank"), &place.path("other"));
    fs::rename(place.path("first"), place.path("bank")).unwrap();
    put_back(&place, "published", "other");
    is_refused(&place, "another bank");
    place.run(&["repair", "bank"]).done();
    assert_eq!(place.status(), latest);
}

#[test]
fn the_states_of_a_copy_that_took_other_batches_do_not_answer() {
    for more in 1..=3 {
        let place = Place::with_seeds();
        copy(&place.path("bank"), &place.path("copy"));
        ingest(&place, "bank", "http://here.example/");
        for page in 0..more {
            ingest(&place, "copy", &format!("http://there{page}.example/"));
        }
        let whole = place.path("whole");
        copy(&place.path("bank"), &whole);
        put_back(&place, "published", "copy");
        put_back(&place, "live", "copy");
        if more == 1 {
            is_refused(&place, "another copy");
        }
        verdicts(&place, 4);
        place.run(&["ingest", "bank", "one.jsonl"]).fails(4);
        // The live database alone is recognised too, and the published state is still there.
        put_back(&place, "published", "whole");
        let (live, published) = verdicts(&place, 4);
        assert_eq!((&*live, &*published), ("damaged", "good"), "{more}");
        place.run(&["ingest", "bank", "one.jsonl"]).fails(4);
        place.run(&["repair", "bank"]).done();
        verdicts(&place, 0);
        place.run(&["page", "bank", "http://here.example/"]).done();
    }
}

/// A bank made from another has an identity of its own, so the states of the two differ.
#[test]
fn restored_banks_are_other_banks() {
    let place = Place::with_seeds();
    place.run(&["backup", "bank", "backups"]).done();
    place.run(&["restore", "backups", "restored"]).done();
    fs::create_dir(place.path("in-place")).unwrap();
    place.run(&["restore", "backups", "in-place"]).done();
    for other in ["restored", "in-place"] {
        place.run(&["check", other]).done();
        assert_eq!(place.holds(other), place.holds("bank"), "{other}");
        copy(&place.path("bank"), &place.path("kept"));
        put_back(&place, "published", other);
        is_refused(&place, "another bank");
        fs::remove_dir_all(place.path("bank")).unwrap();
        fs::rename(place.path("kept"), place.path("bank")).unwrap();
    }
    // A restored bank goes on, also with backups in the same folder.
    ingest(&place, "restored", "http://new.example/");
    place.run(&["backup", "restored", "backups"]).done();
}

/// `cp -al` makes a copy whose files are those of the bank.
#[test]
fn a_copy_of_hard_links_and_its_bank_are_written_apart() {
    let place = Place::with_seeds();
    let copied = Command::new("cp")
        .arg("-al")
        .args([place.path("bank"), place.path("copy")])
        .status();
    assert!(copied.unwrap().success());
    let mut written = "bank";
    let mut other = "copy";
    for page in [
        "http://one.example/",
        "http://two.example/",
        "http://three.example/",
    ] {
        let before = contents(&place.path(other));
        ingest(&place, written, page);
        place
            .run(&["refresh", written, "--method", "cores", "--within", "0"])
            .done();
        assert_eq!(changes(&before, &place.path(other)), NO_FILES, "{page}");
        place.run(&["check", other]).done();
        place.run(&["check", written]).done();
        std::mem::swap(&mut written, &mut other);
    }
}

/// A file of somebody else, and a symbolic link to it in the place of a file that is about to be
/// written.
fn linked(place: &Place, at: &str) {
    place.write("theirs", "theirs");
    let at = place.path(at);
    let _ = fs::remove_file(&at);
    symlink(place.path("theirs"), at).unwrap();
}

#[track_caller]
fn is_untouched(place: &Place) {
    assert_eq!(fs::read_to_string(place.path("theirs")).unwrap(), "theirs");
}

#[test]
fn temporary_names_are_not_followed() {
    let place = Place::with_seeds();
    linked(&place, "bank/published/CURRENT.new");
    ingest(&place, "bank", "http://new.example/");
    is_untouched(&place);

    linked(&place, "bank/ACKNOWLEDGED.new");
    fs::remove_file(place.path("bank/ACKNOWLEDGED")).unwrap();
    place.run(&["repair", "bank"]);
    is_untouched(&place);

    linked(&place, "bank/SEEDBANK.new");
    fs::remove_file(place.path("bank/SEEDBANK")).unwrap();
    place.run(&["repair", "bank"]).done();
    is_untouched(&place);

    fs::create_dir(place.path("new")).unwrap();
    linked(&place, "new/SEEDBANK.new");
    place.run(&["init", "new"]);
    is_untouched(&place);

    fs::create_dir(place.path("backups")).unwrap();
    linked(&place, "backups/SEEDBANK-BACKUPS.new");
    place.run(&["backup", "bank", "backups"]).done();
    is_untouched(&place);
    linked(&place, "backups/backups/2.new");
    linked(&place, "backups/files/unfinished");
    ingest(&place, "bank", "http://newer.example/");
    place.run(&["backup", "bank", "backups"]).done();
    is_untouched(&place);
    verdicts(&place, 0);
}

#[test]
fn files_that_are_links_are_not_written_through() {
    for (file, status) in [
        ("bank/writer.lock", 4),
        ("bank/live/LOG", 4),
        ("bank/ACKNOWLEDGED", 0),
    ] {
        let place = Place::with_seeds();
        let bytes = fs::read(place.path(file)).unwrap();
        linked(&place, file);
        // Readable, so that only writing is in question.
        fs::write(place.path("theirs"), &bytes).unwrap();
        place.write("one.jsonl", record("http://new.example/", &[]));
        let ended = place.run(&["ingest", "bank", "one.jsonl"]);
        assert_eq!(ended.status, Some(status), "{file}: {ended:?}");
        assert_eq!(fs::read(place.path("theirs")).unwrap(), bytes, "{file}");
    }
}

/// RocksDB fails to read a folder in the place of one of its files.
#[test]
fn a_folder_in_the_place_of_a_file_is_damage() {
    for name in ["IDENTITY", "LOG", "OPTIONS-999999"] {
        let place = Place::with_seeds();
        let file = place.path("bank/live").join(name);
        let _ = fs::remove_file(&file);
        fs::create_dir(&file).unwrap();
        let (live, published) = verdicts(&place, 4);
        assert_eq!((&*live, &*published), ("damaged", "good"), "{name}");
        place.write("one.jsonl", record("http://new.example/", &[]));
        place.run(&["ingest", "bank", "one.jsonl"]).fails(4);
        place.run(&["repair", "bank"]).done();
        verdicts(&place, 0);
    }
}

/// Two faults: a log that holds an acknowledged batch is gone, and the published state is no witness
/// of it any more. No command may go on from what is left as if it were all.
#[test]
fn a_lost_log_behind_a_damaged_published_state_is_no_shorter_history() {
    type Damage = fn(&Path);
    let damages: [Damage; 4] = [
        |state| fs::write(state.with_file_name("CURRENT"), "").unwrap(),
        |state| fs::remove_file(state.with_file_name("CURRENT")).unwrap(),
        |state| fs::write(state.join("CURRENT"), "").unwrap(),
        |state| fs::remove_dir_all(state).unwrap(),
    ];
    let place = Place::with_bank();
    place.merge();
    for page in 1..=5 {
        ingest(&place, "bank", &format!("http://page{page}.example/"));
    }
    fs::rename(place.path("bank"), place.path("whole")).unwrap();
    let is_log = |name: &String| Path::new(name).extension().is_some_and(|end| end == "log");
    let logs: Vec<String> = names(&place.path("whole/live"))
        .into_iter()
        .filter(is_log)
        .collect();
    let mut cases = 0;
    for log in &logs {
        let bytes = fs::metadata(place.path("whole/live").join(log))
            .unwrap()
            .len();
        if bytes == 0 {
            continue;
        }
        // Every log with one of the damages, and one log with all of them.
        let count = if cases == 0 { damages.len() } else { 1 };
        for damage in damages.into_iter().take(count) {
            copy(&place.path("whole"), &place.path("bank"));
            fs::remove_file(place.path("bank/live").join(log)).unwrap();
            damage(&published(&place));
            assert_eq!(place.run(&["check", "bank"]).status, Some(4), "{log}");
            let repaired = place.run(&["repair", "bank"]);
            assert_eq!(repaired.status, Some(4), "{log}: {repaired:?}");
            place.write("next.jsonl", record("http://next.example/", &[]));
            place.run(&["ingest", "bank", "next.jsonl"]).fails(4);
            fs::remove_dir_all(place.path("bank")).unwrap();
            cases += 1;
        }
    }
    assert!(cases >= 4 + 4, "{logs:?}");
}
