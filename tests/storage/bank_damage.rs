//! Damage to the files that say which state a bank is in, as a user meets it.
//!
//! RocksDB takes a damaged end of its MANIFEST or log for their regular end. Bug classes: an older
//! state that is served without a warning, a good copy that is removed or replaced by an older one,
//! a healthy bank that is wiped, an endless wait. Random damage is in `tests/storage/damages`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::support::command::{Place, names, record};
use seedbank::watch::Unwatched;
use seedbank_store::Writer;
use serde_json::Value;

/// A bank with three batches, the last two small, and two refreshes.
pub fn place() -> Place {
    let place = Place::with_seeds();
    for day in ["day1", "day2"] {
        let target = format!("http://{day}.example/");
        let text = record(&format!("http://new-{day}.example/"), &[&target]);
        let file = format!("{day}.jsonl");
        place.write(&file, text);
        place.run(&["ingest", "bank", &file]).done();
    }
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    place.write(
        "day3.jsonl",
        record("http://late.example/", &["http://h1.example/"]),
    );
    place
}

/// The one MANIFEST of a database.
fn manifest(database: &Path) -> PathBuf {
    let found = names(database);
    let mut found = found.iter().filter(|name| name.starts_with("MANIFEST"));
    let name = found.next().unwrap();
    assert_eq!(found.next(), None);
    database.join(name)
}

pub fn published(place: &Place) -> PathBuf {
    let folder = place.path("bank/published");
    let mut states = names(&folder).into_iter();
    folder.join(states.find(|name| name.parse::<u64>().is_ok()).unwrap())
}

fn cut(file: &Path, bytes: u64) {
    let file = fs::File::options().write(true).open(file).unwrap();
    let length = file.metadata().unwrap().len();
    file.set_len(length - bytes).unwrap();
}

fn flip(file: &Path, at: usize, bit: u8) {
    let mut bytes = fs::read(file).unwrap();
    bytes[at] ^= 1 << bit;
    fs::write(file, bytes).unwrap();
}

/// What `check` says of the two states, which must come with this exit status.
#[track_caller]
pub fn verdicts(place: &Place, status: i32) -> (String, String) {
    let ended = place.run(&["check", "bank", "--format", "json"]);
    assert_eq!(ended.status, Some(status), "{ended:?}");
    let check: Value = serde_json::from_str(&ended.out).unwrap();
    let of = |state: &str| check[state]["verdict"].as_str().unwrap().to_owned();
    (of("live"), of("published"))
}

fn good_and_damaged(live: &str, published: &str) -> (String, String) {
    (live.to_owned(), published.to_owned())
}

#[test]
fn a_shortened_manifest_takes_nothing_back() {
    for bytes in [1, 100, 300] {
        let place = place();
        let (seeds, status) = (place.run(&["seeds", "bank"]).done(), place.status());
        cut(&manifest(&place.path("bank/live")), bytes);
        let copy = published(&place);
        let before = verdicts(&place, 4);
        assert_eq!(before, good_and_damaged("damaged", "good"));
        let text = place.run(&["check", "bank"]);
        assert!(text.out.contains("live state: damaged"), "{}", text.out);
        assert!(
            text.out.contains("published state: good, batch 3"),
            "{}",
            text.out
        );
        let refused = place.run(&["ingest", "bank", "day3.jsonl"]).fails(4);
        assert!(refused.contains("seedbank repair"), "{refused}");
        assert!(copy.is_dir(), "the good copy is there");
        assert_eq!(place.run(&["seeds", "bank"]).done(), seeds);
        let text = place.run(&["repair", "bank"]).done();
        assert!(text.contains("nothing is lost"), "{text}");
        assert_eq!(names(&place.path("bank/damaged/1")), ["live"]);
        assert_eq!(verdicts(&place, 0), good_and_damaged("good", "good"));
        assert_eq!(place.run(&["seeds", "bank"]).done(), seeds);
        assert_eq!(place.status(), status);
        place.run(&["ingest", "bank", "day3.jsonl"]).done();
        assert_eq!(place.status()["batches"], 4);
    }
}

/// No checksum covers the lengths of records: a flipped bit of one once ended the MANIFEST there.
#[test]
fn no_flipped_bit_of_a_manifest_goes_unnoticed() {
    let place = place();
    let file = manifest(&place.path("bank/live"));
    let whole = fs::read(&file).unwrap();
    for (number, bit) in (0..12).zip((0..8).cycle()) {
        let at = whole.len() * (2 * number + 1) / 24;
        flip(&file, at, bit);
        assert_eq!(verdicts(&place, 4), good_and_damaged("damaged", "good"));
        fs::write(&file, &whole).unwrap();
    }
    assert_eq!(verdicts(&place, 0), good_and_damaged("good", "good"));
}

#[test]
fn a_published_state_with_a_damaged_end_does_not_answer() {
    let place = place();
    let seeds = place.run(&["seeds", "bank"]).done();
    cut(&manifest(&published(&place)), 200);
    for command in ["seeds", "status", "history", "cores"] {
        place.run(&[command, "bank"]).fails(4);
    }
    assert_eq!(verdicts(&place, 4), good_and_damaged("good", "damaged"));
    place.run(&["repair", "bank"]).done();
    assert_eq!(verdicts(&place, 0), good_and_damaged("good", "good"));
    assert_eq!(place.run(&["seeds", "bank"]).done(), seeds);
    let aside = names(&place.path("bank/damaged/1"));
    assert_eq!(aside.len(), 2, "the state and the pointer: {aside:?}");
}

#[test]
fn check_sees_what_readers_are_pointed_to() {
    let place = place();
    let status = place.status();
    let files: [fn(&Place) -> PathBuf; 3] = [
        |place| place.path("bank/published/CURRENT"),
        |place| published(place).join("CURRENT"),
        |place| manifest(&published(place)),
    ];
    for file in files {
        let file = file(&place);
        let whole = fs::read(&file).unwrap();
        for at in [0, whole.len() / 2, whole.len() - 1] {
            flip(&file, at, 1);
            assert_eq!(verdicts(&place, 4), good_and_damaged("good", "damaged"));
            let refused = place.run(&["seeds", "bank"]).fails(4);
            assert!(refused.contains("seedbank repair"), "{refused}");
            fs::write(&file, &whole).unwrap();
        }
        fs::remove_file(&file).unwrap();
        assert_eq!(verdicts(&place, 4), good_and_damaged("good", "damaged"));
        place.run(&["repair", "bank"]).done();
        assert_eq!(verdicts(&place, 0), good_and_damaged("good", "good"));
        assert_eq!(place.status(), status);
    }
}

/// Every file below a folder, with its length and the time it was written.
fn files(folder: &Path) -> BTreeMap<PathBuf, (u64, SystemTime)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for name in names(&folder) {
            let path = folder.join(name);
            let about = fs::symlink_metadata(&path).unwrap();
            if about.is_dir() {
                folders.push(path.clone());
            }
            found.insert(path, (about.len(), about.modified().unwrap()));
        }
    }
    found
}

#[test]
fn check_only_reads() {
    let place = place();
    let bank = place.path("bank");
    let before = files(&bank);
    verdicts(&place, 0);
    assert_eq!(files(&bank), before);
    cut(&manifest(&bank.join("live")), 40);
    let before = files(&bank);
    verdicts(&place, 4);
    assert_eq!(files(&bank), before);
}

#[test]
fn a_sound_bank_is_repaired_without_a_change() {
    let place = place();
    let (seeds, status) = (place.run(&["seeds", "bank"]).done(), place.status());
    let text = place.run(&["repair", "bank"]).done();
    assert!(text.contains("nothing had to be repaired"), "{text}");
    assert!(!place.path("bank/damaged").exists());
    assert_eq!(place.run(&["seeds", "bank"]).done(), seeds);
    assert_eq!(place.status(), status);
}

#[test]
fn init_does_not_wipe_a_bank_whose_marker_is_lost() {
    let place = place();
    let status = place.status();
    let marker = place.path("bank/SEEDBANK");
    for damage in ["", "seedbank bank, form\u{1}t 5\n"] {
        if damage.is_empty() {
            fs::remove_file(&marker).unwrap();
        } else {
            fs::write(&marker, damage).unwrap();
        }
        for command in ["init", "check", "status", "refresh"] {
            let refused = place.run(&[command, "bank"]).fails(4);
            assert!(refused.contains("whose marker file"), "{refused}");
            assert!(refused.contains("seedbank repair"), "{refused}");
        }
        place.run(&["repair", "bank"]).done();
        assert_eq!(place.status(), status);
    }
    // A bank that never had a batch may be made anew.
    place.run(&["init", "empty"]).done();
    fs::remove_file(place.path("empty/SEEDBANK")).unwrap();
    place.run(&["init", "empty"]).done();
    place.run(&["check", "empty"]).done();
}

/// A bank whose third batch is stored but not published, and what `status` said before that batch.
fn unpublished() -> (Place, Value) {
    unpublished_in(Place::with_seeds(), 3)
}

/// The same, where what came before is in files of tables, not in the log.
fn unpublished_beside_tables() -> (Place, Value) {
    let place = Place::with_seeds();
    let writer = Writer::open(&place.path("bank"), false, &Unwatched).unwrap();
    writer.compact(&Unwatched).unwrap();
    drop(writer);
    unpublished_in(place, 4)
}

fn unpublished_in(place: Place, epoch: u64) -> (Place, Value) {
    let before = place.status();
    // A file is in the place of the state's folder.
    let obstacle = place.path(&format!("bank/published/{epoch}"));
    fs::write(&obstacle, "").unwrap();
    place.write(
        "day1.jsonl",
        record("http://new.example/", &["http://h1.example/"]),
    );
    let error = place.run(&["ingest", "bank", "day1.jsonl"]).fails(1);
    assert!(error.contains("the change is stored"), "{error}");
    fs::remove_file(&obstacle).unwrap();
    (place, before)
}

#[test]
fn what_is_stored_and_not_published_is_told() {
    let (place, before) = unpublished();
    let read = place.run(&["status", "bank"]);
    assert_eq!(read.status, Some(0));
    assert!(read.err.contains("older state"), "{}", read.err);
    assert_eq!(place.status(), before);
    assert_eq!(verdicts(&place, 0), good_and_damaged("good", "good"));
    place.run(&["repair", "bank"]).done();
    let read = place.run(&["status", "bank"]);
    assert_eq!(read.err, "");
    assert_eq!(place.status()["batches"], 2);
}

#[test]
fn damage_to_the_log_of_what_is_not_published_is_seen() {
    let (place, before) = unpublished();
    let live = place.path("bank/live");
    let logs = names(&live)
        .into_iter()
        .filter(|name| Path::new(name).extension().is_some_and(|end| end == "log"));
    for log in logs {
        let bytes = fs::read(live.join(&log)).unwrap();
        fs::write(live.join(&log), &bytes[..bytes.len() / 2]).unwrap();
    }
    assert_eq!(verdicts(&place, 4), good_and_damaged("damaged", "good"));
    // No writer will publish it, so no answer says to wait for one.
    let read = place.run(&["status", "bank"]);
    assert!(
        read.err.contains("live state, which is damaged"),
        "{}",
        read.err
    );
    assert!(!read.err.contains("publishes them"), "{}", read.err);
    place.run(&["ingest", "bank", "day1.jsonl"]).fails(4);
    let repaired = place.run(&["repair", "bank"]);
    assert_eq!(repaired.status, Some(4));
    assert!(repaired.out.contains("lost: batch 2"), "{}", repaired.out);
    assert_eq!(verdicts(&place, 0), good_and_damaged("good", "good"));
    let read = place.run(&["status", "bank"]);
    assert_eq!(read.err, "", "nothing later is known any more");
    assert_eq!(place.status(), before);
    place.run(&["ingest", "bank", "day1.jsonl"]).done();
    assert_eq!(place.status()["batches"], 2);
}

/// The MANIFEST and the log are intact, and it is known which MANIFEST it was.
#[test]
fn a_lost_name_of_a_manifest_loses_nothing_that_is_not_published() {
    type Damage = fn(&Path);
    let damages: [Damage; 3] = [
        |current| fs::remove_file(current).unwrap(),
        |current| fs::write(current, "MANIFEST-999999\n").unwrap(),
        |current| fs::write(current, "\0\0").unwrap(),
    ];
    for damage in damages {
        let (place, _) = unpublished();
        damage(&place.path("bank/live/CURRENT"));
        assert_eq!(verdicts(&place, 4), good_and_damaged("damaged", "good"));
        place.run(&["ingest", "bank", "day1.jsonl"]).fails(4);
        let text = place.run(&["repair", "bank"]).done();
        assert!(text.contains("live/CURRENT was rewritten"), "{text}");
        assert_eq!(verdicts(&place, 0), good_and_damaged("good", "good"));
        assert_eq!(place.status()["batches"], 2, "the batch is there");
    }
}

/// Flips a bit of a table of this state; the other state's table of the same name is as it was.
fn flip_table_of(place: &Place, state: &Path) {
    let of_both = names(&published(place));
    let of_both = of_both.iter().filter(|name| name.ends_with("sst"));
    let table = state.join(of_both.min().unwrap());
    let mut bytes = fs::read(&table).unwrap();
    bytes[9] ^= 1;
    fs::remove_file(&table).unwrap();
    fs::write(&table, bytes).unwrap();
}

/// In a copy of a bank no table has two names, so damage may hit one of the states alone.
#[test]
fn a_damaged_table_is_not_published_over_a_good_one() {
    let (place, before) = unpublished_beside_tables();
    flip_table_of(&place, &place.path("bank/live"));
    let error = place.run(&["ingest", "bank", "day1.jsonl"]).fails(4);
    assert!(error.contains("checksum mismatch"), "{error}");
    assert_eq!(place.status(), before);
    let repaired = place.run(&["repair", "bank"]);
    assert_eq!(repaired.status, Some(4));
    assert!(repaired.out.contains("lost: batch 2"), "{}", repaired.out);
    assert_eq!(verdicts(&place, 0), good_and_damaged("good", "good"));
    assert_eq!(place.status(), before);
}

#[test]
fn a_good_state_is_published_over_a_damaged_table() {
    let (place, _) = unpublished_beside_tables();
    flip_table_of(&place, &published(&place));
    place.write("day2.jsonl", record("http://later.example/", &[]));
    place.run(&["ingest", "bank", "day2.jsonl"]).done();
    assert_eq!(place.status()["batches"], 3);
    assert_eq!(verdicts(&place, 0), good_and_damaged("good", "good"));
}

/// The folder of the state holds tables that the live database has merged since.
#[test]
fn a_state_that_the_pointer_lost_is_moved_not_removed() {
    let place = place();
    let pointer = place.path("bank/published/CURRENT");
    let older = fs::read(&pointer).unwrap();
    place.run(&["ingest", "bank", "day3.jsonl"]).done();
    let status = place.status();
    fs::write(published(&place).join("000999.sst"), "merged").unwrap();
    fs::write(&pointer, older).unwrap();
    assert_eq!(verdicts(&place, 4), good_and_damaged("good", "damaged"));
    place.run(&["repair", "bank"]).done();
    assert_eq!(place.status(), status);
    let aside = place.path("bank/damaged/1");
    let is_there = |name: String| aside.join(name).join("000999.sst").is_file();
    assert!(names(&aside).into_iter().any(is_there));
}

#[test]
fn what_cannot_be_told_is_not_said_to_be_kept() {
    let place = place();
    cut(&manifest(&place.path("bank/live")), 300);
    fs::write(place.path("bank/ACKNOWLEDGED"), "junk").unwrap();
    let repaired = place.run(&["repair", "bank"]);
    assert_eq!(repaired.status, Some(4));
    assert!(repaired.out.contains("may be lost"), "{}", repaired.out);
    assert_eq!(verdicts(&place, 0), good_and_damaged("good", "good"));
}

#[test]
fn a_bank_without_its_acknowledgement_is_not_written() {
    let place = place();
    let status = place.status();
    let file = place.path("bank/ACKNOWLEDGED");
    for damage in [None, Some("junk")] {
        match damage {
            None => fs::remove_file(&file).unwrap(),
            Some(junk) => fs::write(&file, junk).unwrap(),
        }
        assert_eq!(verdicts(&place, 4), good_and_damaged("good", "good"));
        let refused = place.run(&["refresh", "bank", "--method", "cores", "--within", "0"]);
        assert_eq!(refused.status, Some(4), "{refused:?}");
        // Readers cannot tell whether something later is stored.
        let read = place.run(&["status", "bank"]);
        assert!(read.err.contains("latest state"), "{}", read.err);
        assert_eq!(place.status(), status);
        place.run(&["repair", "bank"]).done();
        assert_eq!(verdicts(&place, 0), good_and_damaged("good", "good"));
    }
}

/// Opening a pipe waits for its other end.
#[test]
fn a_pipe_in_the_place_of_a_file_is_no_wait() {
    let place = place();
    let files: [fn(&Place) -> PathBuf; 9] = [
        |place| place.path("bank/SEEDBANK"),
        |place| place.path("bank/ACKNOWLEDGED"),
        |place| place.path("bank/writer.lock"),
        |place| place.path("bank/published/CURRENT"),
        |place| place.path("bank/live/CURRENT"),
        |place| manifest(&place.path("bank/live")),
        |place| published(place).join("CURRENT"),
        |place| manifest(&published(place)),
        |place| published(place).with_extension("lock"),
    ];
    for file in files {
        let file = file(&place);
        let whole = fs::read(&file).unwrap();
        fs::remove_file(&file).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&file).status();
        assert!(made.unwrap().success());
        let status = place.run(&["check", "bank"]).status;
        assert_eq!(status, Some(4), "{}", file.display());
        let ended = place.run(&["seeds", "bank"]);
        assert!(ended.status.is_some(), "{}", file.display());
        let ended = place.run(&["ingest", "bank", "day3.jsonl", "--dry-run"]);
        assert!(ended.status.is_some(), "{}", file.display());
        // A writer publishes the state again if it finds damage in what is published.
        if file.exists() && !file.is_file() {
            fs::remove_file(&file).unwrap();
            fs::write(&file, whole).unwrap();
        }
        place.run(&["repair", "bank"]).done();
        verdicts(&place, 0);
    }
}
