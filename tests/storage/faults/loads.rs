//! Interrupted bulk loads whose files are damaged, and syncs of the MANIFEST that fail, step by step.
//!
//! Bug classes: a missing file that is taken for one that is in already, so that half a batch is
//! published over a good state; a bank that no command can write to and `check` calls good.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use seedbank::synth::SynthOptions;

use super::injector::{Call, DISK, Injector, Point};
use super::scenes::{Operation, small_bulk_load};
use super::state::State;
use crate::support::command::names;
use crate::support::folders::{contents, copy};
use crate::support::scratch;

/// A bulk load that is interrupted again and again.
struct Load {
    folder: tempfile::TempDir,
    injector: Injector,
    operation: Operation,
    /// The calls of a load that nothing interrupts.
    calls: Vec<Call>,
}

impl Load {
    /// `None` where there is no C compiler.
    fn new(test: &str, crawl: &SynthOptions) -> Option<Self> {
        let folder = scratch();
        let Some(injector) = Injector::build(folder.path()) else {
            eprintln!("SKIPPED {test}: no C compiler (cc)");
            return None;
        };
        let operation = Operation::of_bulk_load(folder.path(), &injector, crawl);
        let mut load = Self {
            folder,
            injector,
            operation,
            calls: Vec::new(),
        };
        let counted = load.begin("counted");
        load.calls = load
            .injector
            .strike(&counted, &load.operation.args(), None)
            .calls;
        Some(load)
    }

    /// A place with a copy of the disk as it was before the load.
    fn begin(&self, name: &str) -> PathBuf {
        let place = self.folder.path().join(name);
        fs::create_dir(&place).unwrap();
        copy(&self.operation.before, &place.join(DISK));
        place
    }

    /// The numbers, within their kind, of the calls of this kind on such paths.
    fn numbers(&self, kind: &str, on: impl Fn(&str) -> bool) -> Vec<u64> {
        let of_kind = self.calls.iter().filter(|call| call.kind == kind);
        let numbered = (1..).zip(of_kind).filter(|(_, call)| on(&call.path));
        numbered.map(|(number, _)| number).collect()
    }

    /// Calls that link files of the load into the database: the intent is written before the first.
    fn links(&self) -> Vec<u64> {
        let links = self.numbers("link", |path| path.starts_with("bank/loads/"));
        assert!(links.len() > 5, "{links:?}");
        links
    }

    /// A place where the load was killed in place of a link.
    fn killed(&self, name: &str, link: u64) -> PathBuf {
        let place = self.begin(name);
        let point = Point {
            kind: "link",
            number: link,
            mode: "kill",
            error: 0,
        };
        let ended = self
            .injector
            .strike(&place, &self.operation.args(), Some(&point));
        assert!(ended.was_killed(), "{}", ended.describe());
        place
    }

    /// Runs a command, which must end with this status and leave what is published byte for byte.
    /// Returns what it printed.
    #[track_caller]
    fn keeps(&self, place: &Path, args: &[&str], status: i32) -> String {
        let published = place.join(DISK).join("bank/published");
        let before = contents(&published);
        let ended = self.injector.run(place, args);
        assert_eq!(ended.status, Some(status), "{args:?}: {}", ended.describe());
        assert_eq!(
            contents(&published),
            before,
            "{args:?}: {}",
            ended.describe()
        );
        ended.describe()
    }

    /// What readers see.
    fn state(place: &Path) -> State {
        State::read(&place.join(DISK).join("bank")).unwrap()
    }

    /// `check` and the next writer refuse a damaged load and change nothing; `repair` goes back to
    /// what is published and says so. `file` is the damaged file.
    #[track_caller]
    fn is_refused_and_repaired(&self, place: &Path, file: &str) {
        let found = self.keeps(place, &["check", "disk/bank"], 4);
        // A file that is in is also a file of the live database, which may be read first.
        let is_named = found.contains(file) || found.contains("disk/bank/live/");
        assert!(is_named, "{file}: {found}");
        self.keeps(place, &self.operation.args(), 4);
        self.keeps(place, &self.operation.writer(0), 4);
        assert!(Self::state(place) == self.operation.states[0]);
        let repaired = self.injector.run(place, &["repair", "disk/bank"]);
        assert_eq!(repaired.status, Some(0), "{}", repaired.describe());
        let printed = repaired.describe();
        assert!(printed.contains("again"), "{printed}");
        assert!(Self::state(place) == self.operation.states[0], "{printed}");
        self.keeps(place, &["check", "disk/bank"], 0);
    }

    /// The load goes in and gives the state of one that nothing interrupted.
    #[track_caller]
    fn goes_in(&self, place: &Path) {
        let ended = self.injector.run(place, &self.operation.args());
        assert_eq!(ended.status, Some(0), "{}", ended.describe());
        assert!(Self::state(place) == self.operation.states[1]);
        self.keeps(place, &["check", "disk/bank"], 0);
    }
}

/// The files of the one load of a bank.
fn load_files(place: &Path) -> Vec<PathBuf> {
    let loads = place.join(DISK).join("bank/loads");
    let folders = names(&loads);
    assert_eq!(folders.len(), 1, "{folders:?}");
    let load = loads.join(&folders[0]);
    let names = names(&load)
        .into_iter()
        .filter(|name| Path::new(name).extension().is_some_and(|end| end == "sst"));
    names.map(|name| load.join(name)).collect()
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

/// The crawl of the issue.
fn crawl() -> SynthOptions {
    SynthOptions {
        days: 1,
        rng_seed: 4,
        ..SynthOptions::new(2500)
    }
}

#[test]
fn a_file_missing_from_an_interrupted_load_destroys_nothing() {
    let Some(load) = Load::new(
        "a_file_missing_from_an_interrupted_load_destroys_nothing",
        &crawl(),
    ) else {
        return;
    };
    let place = load.killed("killed", load.links()[0]);
    let files = load_files(&place);
    let file = files.iter().find(|file| name(file) == "pages-000000.sst");
    fs::remove_file(file.unwrap()).unwrap();
    load.is_refused_and_repaired(&place, "pages-000000.sst");
    load.goes_in(&place);
}

/// Cuts, flips or deletes a file, under this name alone: the database may have another.
fn damage(file: &Path, deed: usize) {
    let mut bytes = fs::read(file).unwrap();
    let middle = bytes.len() / 2;
    match deed % 3 {
        0 => return fs::remove_file(file).unwrap(),
        1 => bytes[middle] ^= 16,
        _ => bytes.truncate(middle),
    }
    fs::remove_file(file).unwrap();
    fs::write(file, bytes).unwrap();
}

#[test]
fn no_damaged_file_of_an_interrupted_load_destroys_anything() {
    let test = "no_damaged_file_of_an_interrupted_load_destroys_anything";
    let Some(load) = Load::new(test, &small_bulk_load()) else {
        return;
    };
    let links = load.links();
    let place = load.killed("all-gone", links[0]);
    fs::remove_dir_all(place.join(DISK).join("bank/loads")).unwrap();
    load.is_refused_and_repaired(&place, "loads/");
    load.goes_in(&place);
    // Killed before any file of the load is in, and when half of them or all but one are.
    let count = load_files(&load.killed("looked-at", links[0])).len();
    for number in 0..count {
        let link = [links[0], links[links.len() / 2], links[links.len() - 1]][number % 3];
        let place = load.killed(&format!("file-{number}"), link);
        let mut files = load_files(&place);
        let file = files.swap_remove(number % files.len());
        damage(&file, number);
        eprintln!("{} after {link} links: damage {}", name(&file), number % 3);
        load.is_refused_and_repaired(&place, name(&file));
        fs::remove_dir_all(place).unwrap();
    }
}

/// The syncs of the live MANIFEST from the first link of a file of the load on: number 84 of 116, for
/// one, when the issue was written.
fn late_syncs(load: &Load) -> Vec<u64> {
    let is_link = |call: &Call| call.kind == "link" && call.path.starts_with("bank/loads/");
    let begin = load.calls.iter().position(is_link).unwrap();
    let before = load.calls[..begin]
        .iter()
        .filter(|call| call.kind == "sync")
        .count() as u64;
    let mut syncs = load.numbers("sync", |path| path.starts_with("bank/live/MANIFEST"));
    syncs.retain(|number| *number > before);
    assert!(syncs.len() > 5, "{syncs:?}");
    syncs
}

/// A sync of the MANIFEST that fails, and every later one.
fn fails_late(load: &Load, sync: u64) {
    let place = load.begin(&format!("sync-{sync}"));
    let published = place.join(DISK).join("bank/published");
    let before = contents(&published);
    let point = Point {
        kind: "sync",
        number: sync,
        mode: "later",
        error: 5,
    };
    let ended = load
        .injector
        .strike(&place, &load.operation.args(), Some(&point));
    eprintln!("sync {sync} and all later ones: {}", ended.describe());
    assert_eq!(ended.status, Some(1), "{sync}: {}", ended.describe());
    // The message says that readers may see the change: the sync that failed can be the last one of all,
    // after `CURRENT` was replaced.
    if !ended.describe().contains("readers may not see it yet") {
        assert_eq!(contents(&published), before, "{sync}");
    }

    let check = load.injector.run(&place, &["check", "disk/bank"]);
    let written = load.injector.run(&place, &load.operation.writer(0));
    let printed = format!("{sync}: {}; {}", check.describe(), written.describe());
    if written.status == Some(4) {
        assert_eq!(check.status, Some(4), "{printed}");
        assert_eq!(contents(&published), before, "{printed}");
        let repaired = load.injector.run(&place, &["repair", "disk/bank"]);
        assert_eq!(
            repaired.status,
            Some(0),
            "{printed}; {}",
            repaired.describe()
        );
        assert!(
            repaired.describe().contains("again"),
            "{}",
            repaired.describe()
        );
        load.keeps(&place, &["check", "disk/bank"], 0);
        let again = load.injector.run(&place, &load.operation.writer(0));
        assert_eq!(again.status, Some(0), "{printed}; {}", again.describe());
    } else {
        assert_eq!(written.status, Some(0), "{printed}");
    }
    // The load is in or not, and the further batch is.
    let left = Load::state(&place);
    let next: BTreeMap<_, _> = [0, 1]
        .map(|state| (state, load.operation.next[&(state, 0)].1))
        .into();
    let is_next = |number: &usize| load.operation.states[*number] == left;
    assert!(next.values().any(is_next), "{printed}");
    load.keeps(&place, &["check", "disk/bank"], 0);
    fs::remove_dir_all(place).unwrap();
}

#[test]
fn a_failed_sync_of_the_manifest_is_no_dead_end() {
    let test = "a_failed_sync_of_the_manifest_is_no_dead_end";
    let Some(load) = Load::new(test, &crawl()) else {
        return;
    };
    let syncs = late_syncs(&load);
    // As far through the load as the two of the issue.
    for part in [84, 96] {
        let about = load.operation.counts[0]["sync"] * part / 116;
        let nearest = syncs.iter().min_by_key(|sync| sync.abs_diff(about));
        fails_late(&load, *nearest.unwrap());
    }
}

#[test]
fn no_failed_sync_of_the_manifest_is_a_dead_end() {
    let test = "no_failed_sync_of_the_manifest_is_a_dead_end";
    let Some(load) = Load::new(test, &small_bulk_load()) else {
        return;
    };
    for sync in late_syncs(&load).into_iter().step_by(3) {
        fails_late(&load, sync);
    }
}
