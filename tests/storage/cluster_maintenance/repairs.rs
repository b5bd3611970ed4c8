//! An ingest is killed at each stage of its commit, and then one file is damaged. Either a writer opens the bank, or `check`
//! reports the damage and `repair` gives all parts a whole state again.
//!
//! Bug classes: a bank that `check` calls good and no writer opens; a state that was acknowledged and is lost without a
//! report; parts that are repaired to different states; an undamaged bank that `check` calls damaged.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{PARTS, ingest, injector, part, refresh, state, with_cluster};
use crate::faults::injector::{Injector, Point};
use crate::faults::state::State;
use crate::support::command::{Ended, Place, wait};
use crate::support::folders::{copy, files};
use crate::support::long;

/// How many damages the suite tries.
const SAMPLE: u32 = 24;

/// A writer that changes nothing but what was interrupted.
const WRITER: [&str; 4] = ["ingest", "disk/bank", "/dev/null", "-q"];

/// The ingest that is killed.
const INGEST: [&str; 6] = [
    "ingest",
    "disk/bank",
    "crawl/day-001.jsonl.zst",
    "--as-of",
    "2026-11-02T00:00:00Z",
    "-q",
];

/// Where the ingest is killed: in place of the n-th call of a kind on a path with this end. It prepares and publishes
/// part 0 last.
const STAGES: [(&str, &str, u64); 9] = [
    // Two parts are prepared, and all but part 0.
    ("rename", "PREPARED.new", 3),
    ("rename", "PREPARED.new", 4),
    // All are prepared.
    ("create", "INGESTING", 1),
    // A part has ingested some of its files.
    ("link", ".sst", 4),
    // A part is loaded and not published; then so is another one; then only part 0 is not published, or not loaded.
    ("rename", "published/CURRENT.new", 1),
    ("rename", "published/CURRENT.new", 3),
    ("create", "bank/loads/6/INGESTING", 1),
    ("rename", "bank/published/CURRENT.new", 1),
    // Published in all parts, and the files of the commit are there.
    ("unlink", "bank/loads/6/PREPARED", 1),
];

/// A bank as a kill left it.
struct Stage {
    name: String,
    /// The bank.
    bank: PathBuf,
    /// Whether the new state is published, so that it must not be lost.
    is_published: bool,
}

/// What is done to a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Damage {
    Deleted,
    Cut,
    Flipped,
    Emptied,
    Folder,
    AsBefore,
}

const DAMAGES: [Damage; 6] = [
    Damage::Deleted,
    Damage::Cut,
    Damage::Flipped,
    Damage::Emptied,
    Damage::Folder,
    Damage::AsBefore,
];

impl Damage {
    /// Damages a file under one of its names; `before` is the file before the command. Returns whether it differs then.
    fn strike(self, file: &Path, before: &Path, salt: usize) -> bool {
        let bytes = fs::read(file).unwrap();
        let mut changed = bytes.clone();
        let at = salt * 7919 % bytes.len().max(1);
        match self {
            Self::Cut => changed.truncate(at),
            Self::Flipped if bytes.is_empty() => return false,
            Self::Flipped => changed[at] ^= 1 << (salt % 8),
            Self::Emptied => changed.clear(),
            Self::AsBefore if !before.is_file() => return false,
            Self::AsBefore => changed = fs::read(before).unwrap(),
            Self::Deleted | Self::Folder => {}
        }
        let is_removed = matches!(self, Self::Deleted | Self::Folder);
        if changed == bytes && !is_removed {
            return false;
        }
        let mode = fs::metadata(file).unwrap().permissions();
        fs::remove_file(file).unwrap();
        match self {
            Self::Deleted => {}
            Self::Folder => fs::create_dir(file).unwrap(),
            _ => {
                fs::write(file, changed).unwrap();
                fs::set_permissions(file, mode).unwrap();
            }
        }
        true
    }
}

/// Kills the ingest at each stage, and keeps what it leaves.
fn stages(place: &Place, injector: &Injector) -> Vec<Stage> {
    let bank = place.path("disk/bank");
    let mut all = Vec::new();
    for (number, (kind, path, at)) in STAGES.into_iter().enumerate() {
        restore(&place.path("kept"), &bank);
        let point = Point {
            kind,
            number: at,
            mode: "kill",
            error: 0,
        };
        let child = injector.start_struck(&place.path(""), &INGEST, &point, path);
        let ended = wait(child);
        assert_eq!(ended.status, None, "{point} {path}: {ended:?}");
        let kept = place.path(&format!("stage-{number}"));
        copy(&bank, &kept);
        let is_published = number + 1 == STAGES.len();
        all.push(Stage {
            name: format!("{kind} {at} of {path}"),
            bank: kept,
            is_published,
        });
    }
    all
}

fn restore(from: &Path, to: &Path) {
    fs::remove_dir_all(to).unwrap();
    copy(from, to);
}

/// The states that a bank may have: before and after the ingest.
struct Known {
    before: State,
    after: State,
    is_published: bool,
}

impl Known {
    /// Asserts that readers see one of the states, the later one if it is published.
    #[track_caller]
    fn see(&self, bank: &Path, what: &str) {
        let found = state(bank);
        let is_before = !self.is_published && found == self.before;
        assert!(
            is_before || found == self.after,
            "{what}: {}",
            found.unlike(&self.after)
        );
    }
}

/// The result of `repair --format json`.
fn repaired(ended: &Ended) -> Value {
    serde_json::from_str(&ended.out).unwrap_or_else(|e| panic!("{e}: {ended:?}"))
}

/// Judges a bank in which a file was damaged. Returns how it ended. `is_shared` tells whether the file is a table with
/// several names, of which each copy of a state may be one.
fn judge(place: &Place, known: &Known, is_shared: bool, what: &str) -> &'static str {
    let bank = place.path("disk/bank");
    let status = |args: &[&str]| {
        let ended = place.run(args);
        let is_expected = [Some(0), Some(4)].contains(&ended.status);
        assert!(is_expected, "{what}: {args:?}: {ended:?}");
        ended
    };
    let check = ["check", "disk/bank"];
    let checked = status(&check);
    if checked.status == Some(0) {
        known.see(&bank, what);
    }
    let written = status(&WRITER);
    if checked.status == Some(0) {
        assert_eq!(written.status, Some(0), "{what}: {written:?}");
    }
    if written.status == Some(0) && status(&check).status == Some(0) {
        known.see(&bank, what);
        return "written";
    }
    let ended = status(&["repair", "disk/bank", "--format", "json"]);
    let report = repaired(&ended);
    if report["usable"] == false {
        assert!(is_shared, "{what}: {ended:?}");
        return "lost";
    }
    let after = status(&check);
    assert_eq!(after.status, Some(0), "{what}: {ended:?} {after:?}");
    let written = status(&WRITER);
    assert_eq!(written.status, Some(0), "{what}: {written:?}");
    assert_eq!(status(&check).status, Some(0), "{what}");
    if report["lost"].is_null() {
        assert_eq!(ended.status, Some(0), "{what}: {ended:?}");
        known.see(&bank, what);
        return "repaired";
    }
    // A whole state, the last one that all parts have, with a report of what it lacks.
    assert_eq!(ended.status, Some(4), "{what}: {ended:?}");
    assert!(is_shared, "{what}: {ended:?}");
    state(&bank);
    "rolled back"
}

#[test]
fn damage_after_a_kill_is_no_dead_end() {
    let place = with_cluster("60");
    let Some(injector) = injector(&place, "damage_after_a_kill_is_no_dead_end") else {
        return;
    };
    let bank = place.path("disk/bank");
    copy(&bank, &place.path("kept"));
    let before = state(&bank);
    ingest(&place, "disk/bank", 1);
    let after = state(&bank);
    assert!(before != after);
    let stages = stages(&place, &injector);
    let mut known = Known {
        before,
        after,
        is_published: false,
    };
    let mut all = Vec::new();
    for (at, stage) in stages.iter().enumerate() {
        // Without damage, the next writer finishes or undoes the commit.
        restore(&stage.bank, &bank);
        known.is_published = stage.is_published;
        assert_eq!(judge(&place, &known, false, &stage.name), "written");
        for file in files(&stage.bank) {
            all.extend(DAMAGES.map(|damage| (at, file.clone(), damage)));
        }
    }
    let sample = long("LONG_FAULTS").unwrap_or(SAMPLE) as usize;
    // Multiples of the golden ratio spread over all of them, however many are taken.
    let numbers = (0..sample).map(|n| all.len() * (n * 618_034 % 1_000_000) / 1_000_000);
    let mut ends: BTreeMap<&str, u32> = BTreeMap::new();
    for number in numbers {
        let (at, file, damage) = &all[number];
        let stage = &stages[*at];
        restore(&stage.bank, &bank);
        let path = bank.join(file);
        let is_table = path.extension().is_some_and(|end| end == "sst");
        let is_shared = is_table || fs::metadata(&path).unwrap().nlink() > 1;
        if !damage.strike(&path, &place.path("kept").join(file), number) {
            continue;
        }
        known.is_published = stage.is_published;
        let what = format!("{}, {} {damage:?}", stage.name, file.display());
        let end = judge(&place, &known, is_shared, &what);
        *ends.entry(end).or_default() += 1;
    }
    eprintln!("{ends:?}");
    assert!(ends["written"] > 0 && ends["repaired"] > 0, "{ends:?}");
}

/// The bank that was called good and could not be written to: a commit is decided, and a prepared file is cut.
#[test]
fn a_prepared_file_that_is_cut_is_reported_and_repaired() {
    let place = with_cluster("60");
    let Some(injector) = injector(
        &place,
        "a_prepared_file_that_is_cut_is_reported_and_repaired",
    ) else {
        return;
    };
    let bank = place.path("disk/bank");
    copy(&bank, &place.path("kept"));
    let before = state(&bank);
    let stages = stages(&place, &injector);
    for number in 0..PARTS {
        restore(&stages[2].bank, &bank);
        let loads = part(&bank, number).join("loads");
        let mut tables = files(&loads).into_iter();
        let table = tables.find(|path| path.extension().is_some_and(|end| end == "sst"));
        let table = loads.join(table.unwrap());
        let bytes = fs::read(&table).unwrap();
        fs::write(&table, &bytes[..bytes.len() - 1]).unwrap();
        let checked = place.run(&["check", "disk/bank"]);
        assert_eq!(checked.status, Some(4), "{checked:?}");
        let name = table.file_name().unwrap().to_str().unwrap();
        let says = format!(
            "part {number}: an interrupted bulk load cannot be finished: loads/6/{name} has"
        );
        assert!(checked.out.contains(&says), "{checked:?}");
        assert!(checked.err.contains("seedbank repair"), "{checked:?}");
        let refused = place.run(&WRITER).fails(4);
        assert!(refused.contains(&says), "{refused}");
        let text = place.run(&["repair", "disk/bank"]).done();
        assert!(text.contains("its batch was never acknowledged"), "{text}");
        assert!(text.contains("nothing is lost"), "{text}");
        assert!(state(&bank) == before);
        place.run(&["check", "disk/bank"]).done();
        ingest(&place, "disk/bank", 1);
        refresh(&place, "disk/bank");
    }
}

/// A marker is not needed to know what a folder is.
#[test]
fn markers_are_rewritten() {
    let place = with_cluster("60");
    let bank = place.path("disk/bank");
    copy(&bank, &place.path("kept"));
    let before = state(&bank);
    for number in 0..PARTS {
        let marker = part(&bank, number).join("SEEDBANK");
        let text = fs::read_to_string(&marker).unwrap();
        // Empty, of another number of parts, and of other formats.
        let texts = [
            String::new(),
            text.replace("of 4", "of 9"),
            text.replace("format 0-", "format 0-0"),
            text.replace("format 0-", "format 1-"),
        ];
        for damaged in texts {
            restore(&place.path("kept"), &bank);
            fs::write(&marker, damaged).unwrap();
            place.run(&["status", "disk/bank"]).fails(4);
            place.run(&WRITER).fails(4);
            let report = place.run(&["repair", "disk/bank"]).done();
            assert!(report.contains("SEEDBANK was rewritten"), "{report}");
            place.run(&WRITER).done();
            place.run(&["check", "disk/bank"]).done();
            assert!(state(&bank) == before);
        }
    }
}

/// What replaces a folder: its path within the bank, and what to do there.
type Replacement = (&'static str, fn(&Path));

/// Each command is refused with the damage, and neither with another error nor with a panic.
#[test]
fn a_file_or_a_loop_of_links_in_place_of_a_part_is_damage() {
    let place = with_cluster("60");
    let bank = place.path("disk/bank");
    copy(&bank, &place.path("kept"));
    let commands: [&[&str]; 11] = [
        &["status", "disk/bank"],
        &["check", "disk/bank"],
        &["ingest", "disk/bank", "/dev/null"],
        &["refresh", "disk/bank", "--plan", "sites"],
        &["seeds", "disk/bank", "--plan", "sites"],
        &["undo", "disk/bank"],
        &["forget", "disk/bank", "a.example"],
        &["export", "disk/bank"],
        &["backup", "disk/bank", "disk/b"],
        &["compact", "disk/bank"],
        &["repair", "disk/bank"],
    ];
    let replacements: [Replacement; 3] = [
        ("parts/002", |at| fs::write(at, "").unwrap()),
        ("parts/002", |at| {
            std::os::unix::fs::symlink(at, at).unwrap();
        }),
        ("parts", |at| fs::write(at, "").unwrap()),
    ];
    for (name, replace) in replacements {
        restore(&place.path("kept"), &bank);
        fs::remove_dir_all(bank.join(name)).unwrap();
        replace(&bank.join(name));
        for command in commands {
            let ended = place.run(command);
            assert_eq!(ended.status, Some(4), "{name} {command:?}: {ended:?}");
            assert!(!ended.err.contains("internal"), "{ended:?}");
        }
        assert!(!place.path("disk/new").exists());
    }
}

/// A folder in the place of a file of a part is moved away before anything is written there.
#[test]
fn a_folder_in_place_of_a_file_of_a_part_is_replaced() {
    let place = with_cluster("60");
    let bank = place.path("disk/bank");
    copy(&bank, &place.path("kept"));
    let before = state(&bank);
    for files in [
        &["ACKNOWLEDGED"][..],
        &["published/CURRENT"],
        &["ACKNOWLEDGED", "published/CURRENT"],
    ] {
        for number in [0, 2] {
            restore(&place.path("kept"), &bank);
            for file in files {
                let file = part(&bank, number).join(file);
                fs::remove_file(&file).unwrap();
                fs::create_dir(file).unwrap();
            }
            place.run(&WRITER).fails(4);
            place.run(&["repair", "disk/bank"]).done();
            place.run(&["check", "disk/bank"]).done();
            assert!(state(&bank) == before, "{files:?}, part {number}");
            place.run(&WRITER).done();
        }
    }
}
