//! Backups: their contents, which files are written again, and damage of the bank or of a backup.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::support::command::{Place, names, record};
use crate::support::folders::{NO_FILES, changes, contents, files};
use crate::support::schemas::fits;
use serde_json::Value;

/// A place whose bank has three states: after the first batch, after a refresh, after the next
/// batch; and a backup of each in `b`.
fn with_backups() -> Place {
    let place = Place::with_bank();
    place.write("day0.jsonl", crate::support::command::TWO_CORES);
    let backup = ["backup", "bank", "b"];
    place.run(&["ingest", "bank", "day0.jsonl"]).done();
    place.merge();
    place.run(&backup).done();
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    place.run(&backup).done();
    let more = record("http://new.example/", &["http://a1.example/"]) + "bad\n";
    place.write("day1.jsonl", more);
    place
        .run(&["ingest", "bank", "day1.jsonl", "--max-rejects", "50"])
        .done();
    place.run(&backup).done();
    place
}

/// What can be seen of a bank at a path.
fn state(place: &Place, bank: &str) -> Value {
    let json = |args: &[&str]| place.run(&[args, &["--format", "json"]].concat()).json();
    let mut status = place.status_of(bank);
    // A path, in which the bank's name is.
    status["last_batch"]["rejects_file"].take();
    let check = json(&["check", bank]);
    assert_eq!(check["clean"], true, "{check}");
    let history = json(&["history", bank]);
    serde_json::json!({"status": status, "history": history})
}

fn list(place: &Place, more: &[&str]) -> (Option<i32>, Value) {
    let args = ["restore", "b", "--list", "--format", "json"];
    let ended = place.run(&[&args, more].concat());
    let found = serde_json::from_str(&ended.out).unwrap();
    fits("restore", &found);
    (ended.status, found)
}

/// The numbers of the backups that the list has.
fn numbers(place: &Place) -> Vec<u64> {
    let (_, found) = list(place, &[]);
    let all = found["backups"].as_array().unwrap().iter();
    all.map(|backup| backup["backup"].as_u64().unwrap())
        .collect()
}

/// The largest file that only this backup needs.
fn own_file(place: &Place, backup: &str) -> PathBuf {
    let named = |number: &str| {
        let text = fs::read_to_string(place.path("b/backups").join(number)).unwrap();
        let lines: Vec<Value> = text
            .lines()
            .map(|l| serde_json::from_str(l).unwrap())
            .collect();
        let files = lines.into_iter().filter(|line| line["name"].is_string());
        files
            .map(|file| {
                (
                    file["bytes"].as_u64().unwrap(),
                    file["hash"].as_str().unwrap().to_owned(),
                )
            })
            .collect::<Vec<_>>()
    };
    let others: Vec<_> = names(&place.path("b/backups"))
        .iter()
        .filter(|other| *other != backup)
        .flat_map(|other| named(other))
        .collect();
    let own = named(backup)
        .into_iter()
        .filter(|file| !others.contains(file));
    place.path("b/files").join(own.max().unwrap().1)
}

fn flip(file: &Path) {
    let mut bytes = fs::read(file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(file, bytes).unwrap();
}

#[test]
fn every_state_is_restored_and_goes_on() {
    let place = Place::with_bank();
    place.write("day0.jsonl", crate::support::command::TWO_CORES);
    let mut states = Vec::new();
    let back_up = |what: &[&str], states: &mut Vec<Value>| {
        place.run(what).done();
        let report = place
            .run(&["backup", "bank", "b", "--format", "json"])
            .json();
        fits("backup", &report);
        states.push(state(&place, "bank"));
        report
    };
    place.run(&["ingest", "bank", "day0.jsonl"]).done();
    let first = back_up(&["compact", "bank"], &mut states);
    assert_eq!(first["written_files"], first["files"]);
    let odd = record("http://new.example/", &["http://a1.example/"]) + "bad\n";
    place.write("day1.jsonl", odd);
    let ingest = ["ingest", "bank", "day1.jsonl", "--max-rejects", "50"];
    let second = back_up(&ingest, &mut states);
    let count = |report: &Value, name: &str| report[name].as_u64().unwrap();
    assert!(
        count(&second, "written_files") < count(&second, "files") / 2,
        "{second}"
    );
    back_up(
        &["refresh", "bank", "--method", "cores", "--within", "0"],
        &mut states,
    );
    // Nothing is new: not a file is written.
    let again = back_up(&["seeds", "bank"], &mut states);
    assert_eq!(again["written_files"], 0, "{again}");

    for (number, expected) in (1..).zip(&states) {
        let bank = format!("of-{number}");
        let at = number.to_string();
        let report = place
            .run(&["restore", "b", &bank, "--at", &at, "--format", "json"])
            .json();
        fits("restore", &report);
        assert_eq!(report["backup"], number);
        assert_eq!(state(&place, &bank), *expected, "{bank}");
        assert_eq!(
            names(&place.path(&bank).join("rejects")).len(),
            usize::from(number > 1)
        );
        place.run(&["refresh", &bank, "--plan", "default"]).done();
        state(&place, &bank);
    }
    let text = place.run(&["restore", "b", "last"]).done();
    assert!(text.starts_with("restored backup 4 of 20"), "{text}");
    assert_eq!(state(&place, "last"), states[3]);
    let text = place.run(&["restore", "b", "--list"]).done();
    assert_eq!(text.lines().count(), 6, "{text}");
    assert!(text.ends_with(" together; sizes were compared\n"), "{text}");
    // A restored bank goes on in the same folder of backups.
    place
        .run(&["ingest", "of-1", "day1.jsonl", "--max-rejects", "50"])
        .done();
    place.run(&["backup", "of-1", "b"]).done();
    place.run(&["restore", "b", "on"]).done();
    assert_eq!(
        state(&place, "on")["status"],
        state(&place, "of-1")["status"]
    );
}

#[test]
fn what_is_kept_can_be_restored_and_nothing_else_is_left() {
    let place = with_backups();
    assert_eq!(numbers(&place), [1, 2, 3]);
    place.write("b/files/mine", "mine");
    place.write("b/mine", "mine");
    let before = list(&place, &[]).1["bytes"].as_u64().unwrap();
    let args = ["backup", "bank", "b", "--keep", "2", "--format", "json"];
    let report = place.run(&args).json();
    assert_eq!(report["deleted"], serde_json::json!([1, 2]));
    assert_eq!(numbers(&place), [3, 4]);
    let after = list(&place, &[]).1["bytes"].as_u64().unwrap();
    assert_eq!(report["freed_bytes"], before - after);
    assert!(before > after);
    // Backups 3 and 4 are of one state.
    let needed = report["files"].as_u64().unwrap();
    let left = files(&place.path("b/files"));
    assert!(left.len() as u64 <= needed + 1, "{left:?}");
    for name in ["b/files/mine", "b/mine"] {
        assert_eq!(fs::read_to_string(place.path(name)).unwrap(), "mine");
    }
    assert_eq!(list(&place, &["--verify"]).0, Some(0));
    place.run(&["restore", "b", "again", "--at", "3"]).done();
    assert_eq!(state(&place, "again"), state(&place, "bank"));
    let error = place.run(&["backup", "bank", "b", "--keep", "0"]).fails(2);
    assert!(error.contains("at least 1"), "{error}");
}

#[test]
fn permissions_are_kept() {
    let place = Place::with_bank();
    let set = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let state = place.path("bank/published/0");
    for name in names(&state) {
        set(&state.join(name), 0o600);
    }
    set(&place.path("bank"), 0o700);
    place.run(&["backup", "bank", "b"]).done();
    assert_eq!(mode(place.path("b")), 0o700);
    for file in files(&place.path("b/files")) {
        assert_eq!(mode(place.path("b/files").join(file)), 0o600);
    }
    place.run(&["restore", "b", "again"]).done();
    assert_eq!(mode(place.path("again")), 0o700);
    for folder in ["again/live", "again/published/0"] {
        for name in names(&place.path(folder)) {
            assert_eq!(mode(place.path(folder).join(&name)), 0o600, "{name}");
        }
    }
}

#[test]
fn one_backup_at_a_time() {
    let place = with_backups();
    let lock = File::open(place.path("b/lock")).unwrap();
    lock.lock_shared().unwrap();
    // A restore beside a restore.
    place.run(&["restore", "b", "again"]).done();
    let error = place.run(&["backup", "bank", "b"]).fails(4);
    assert!(
        error.contains("b is in use by another backup or restore"),
        "{error}"
    );
    assert!(error.contains("or use --wait"), "{error}");
    lock.unlock().unwrap();
    lock.lock().unwrap();
    place.run(&["restore", "b", "third"]).fails(4);
    let child = place.spawn(&["backup", "bank", "b", "--wait"]);
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(numbers_in(&place), ["1", "2", "3"]);
    drop(lock);
    crate::support::command::wait(child).done();
    assert_eq!(numbers_in(&place), ["1", "2", "3", "4"]);
}

fn numbers_in(place: &Place) -> Vec<String> {
    names(&place.path("b/backups"))
}

/// A backup of a damaged bank would be found out when it is needed.
#[test]
fn a_damaged_state_is_not_backed_up() {
    let place = with_backups();
    // Beyond what the folder has: the last batch's files, in the middle and at the end.
    place.write(
        "day2.jsonl",
        record("http://n2.example/", &["http://a2.example/"]),
    );
    place.run(&["ingest", "bank", "day2.jsonl"]).done();
    place.merge();
    let published = names(&place.path("bank/published"));
    let number = |name: &String| name.parse::<u64>().ok();
    let last = published.iter().filter_map(number).max().unwrap();
    let state = place.path(&format!("bank/published/{last}"));
    let old = files(&place.path("b/files"));
    let is_new = |name: &String| {
        let hash = blake3::hash(&fs::read(state.join(name)).unwrap()).to_hex();
        Path::new(name).extension().is_some_and(|end| end == "sst")
            && !old.contains(&PathBuf::from(hash.as_str()))
    };
    let new: Vec<String> = names(&state).into_iter().filter(is_new).collect();
    assert!(new.len() > 3, "{new:?}");
    let before = contents(&place.path("b"));
    for name in new {
        let file = state.join(&name);
        let good = fs::read(&file).unwrap();
        // The first block of entries is at the start.
        let mut bytes = good.clone();
        bytes[12] ^= 4;
        fs::write(&file, &bytes).unwrap();
        let error = place.run(&["backup", "bank", "b"]).fails(4);
        assert!(error.contains("seedbank check"), "{name}: {error}");
        assert_eq!(changes(&before, &place.path("b")), NO_FILES);
        fs::write(&file, &good).unwrap();
    }
    place.run(&["backup", "bank", "b"]).done();
}

#[test]
fn damage_of_a_backup_is_reported_and_leaves_nothing() {
    type Damage = fn(&Path);
    let damages: [(Damage, &str); 3] = [
        (|file| fs::remove_file(file).unwrap(), "is missing"),
        (
            |file| drop(File::options().append(true).open(file).unwrap().set_len(9)),
            "has 9 bytes, expected",
        ),
        (flip, "differs from what was backed up"),
    ];
    for (damage, words) in damages {
        let place = with_backups();
        let file = own_file(&place, "3");
        damage(&file);
        let error = place.run(&["restore", "b", "new"]).fails(4);
        assert!(
            error.contains("error: backup 3 is damaged: state/"),
            "{error}"
        );
        assert!(error.contains(words), "{error}");
        assert!(error.contains("; backup 2 is intact\nhint: "), "{error}");
        assert!(!place.path("new").exists());
        assert!(
            names(&place.path(""))
                .iter()
                .all(|name| !name.starts_with('.'))
        );
        // In place, too.
        fs::create_dir(place.path("new")).unwrap();
        place.run(&["restore", "b", "new"]).fails(4);
        assert_eq!(names(&place.path("new")), [""; 0]);
        place.run(&["restore", "b", "new", "--at", "2"]).done();
        state(&place, "new");
        // The list reports it; with the same size, only if the bytes are read.
        let (status, found) = list(&place, &["--verify"]);
        assert_eq!(status, Some(4));
        assert!(
            found["backups"][2]["fault"]
                .as_str()
                .unwrap()
                .contains(words),
            "{found}"
        );
        assert!(found["backups"][1]["fault"].is_null(), "{found}");
        let same_size = words == "differs from what was backed up";
        assert_eq!(list(&place, &[]).0, Some(if same_size { 0 } else { 4 }));
        // And mended from the bank, which still has the file.
        let verify: &[&str] = if same_size { &["--verify"] } else { &[] };
        place
            .run(&[&["backup", "bank", "b"], verify].concat())
            .done();
        assert_eq!(list(&place, &["--verify"]).0, Some(0));
    }
}

#[test]
fn a_list_that_cannot_be_read_keeps_all_files() {
    let place = with_backups();
    flip(&place.path("b/backups/2"));
    let error = place.run(&["restore", "b", "new", "--at", "2"]).fails(4);
    assert!(
        error.contains("backup 2 is damaged: its inventory cannot be read"),
        "{error}"
    );
    assert!(error.contains("; backup 3 is intact"), "{error}");
    let (status, found) = list(&place, &[]);
    assert_eq!(
        (status, &found["unreadable"][0]["backup"]),
        (Some(4), &2.into())
    );
    // It may name any file.
    let before = names(&place.path("b/files"));
    let ended = place.run(&["backup", "bank", "b", "--keep", "3"]);
    assert!(
        ended.err.contains("warning: backup 2 cannot be restored"),
        "{ended:?}"
    );
    assert!(
        before
            .iter()
            .all(|name| place.path("b/files").join(name).exists())
    );
    // What cannot be restored does not count.
    assert_eq!(numbers(&place), [1, 3, 4]);
    place.run(&["backup", "bank", "b", "--keep", "1"]).done();
    assert_eq!(numbers_in(&place), ["5"]);
    assert!(names(&place.path("b/files")).len() < before.len());
    // The last of all, and nothing else.
    flip(&place.path("b/backups/5"));
    let error = place.run(&["restore", "b", "new"]).fails(4);
    assert!(
        error.contains("; no other backup there is intact"),
        "{error}"
    );
}

/// A file size limit comes closest to a full disk without being root.
#[test]
fn a_full_disk_leaves_all_as_it_was() {
    let place = with_backups();
    let records: String = (0..3_000)
        .map(|page| record(&format!("http://n{page}.example/"), &["http://a1.example/"]))
        .collect();
    place.write("big.jsonl", records);
    place.run(&["ingest", "bank", "big.jsonl"]).done();
    let before = contents(&place.path(""));
    // In KiB.
    for limit in ["0", "1", "2", "8", "64"] {
        for folder in ["b", "c"] {
            place.fails_when_full(limit, &format!("backup bank {folder}"));
        }
        let mut changed = changes(&before, &place.path(""));
        changed.retain(|path| !path.starts_with("c"));
        assert_eq!(changed, NO_FILES, "{limit}");
    }
    // With a limit of nothing not even the marker is there; what is there holds no backup.
    assert!(!place.path("c/backups").exists() || names(&place.path("c/backups")).is_empty());
    place.run(&["backup", "bank", "c"]).done();
    place.run(&["backup", "bank", "b"]).done();
    let before = contents(&place.path(""));
    for limit in ["0", "1", "2", "8", "64"] {
        place.fails_when_full(limit, "restore b new");
        assert_eq!(changes(&before, &place.path("")), NO_FILES, "{limit}");
    }
    place.run(&["restore", "b", "new"]).done();
    assert_eq!(state(&place, "new"), state(&place, "bank"));
}
