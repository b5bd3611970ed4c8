//! File systems that lack something: hard links, locks, syncs of folders.
//!
//! Bug classes: a refusal other than `EOPNOTSUPP` ends the command, although files could be copied; copies that differ from
//! what links give; a lock that the file system does not have is taken for a busy or a damaged bank.

use std::path::PathBuf;

use crate::preload;
use crate::support::command::{Ended, Place};
use crate::support::skipped::skipped;

/// A place with an empty folder `disk` and two days of a crawl.
fn place() -> Place {
    let place = Place::new();
    std::fs::create_dir(place.path("disk")).unwrap();
    place
        .run(&["synth", "crawl", "--pages", "300", "--days", "1"])
        .done();
    place
}

/// What commands of a place meet.
struct Struck {
    place: Place,
    library: PathBuf,
    /// As `FAULT_POINT` and `FAULT_PATH`.
    point: String,
    path: &'static str,
}

impl Struck {
    fn new(point: String, path: &'static str) -> Option<Self> {
        let place = place();
        let library = preload::build("faults/fault.c", &place.path("."))?;
        Some(Self {
            place,
            library,
            point,
            path,
        })
    }

    fn run(&self, args: &[&str]) -> Ended {
        let mut command = self.place.command(args);
        command
            .env("LC_ALL", "C")
            .env("LD_PRELOAD", &self.library)
            .env(
                "FAULT_FOLDER",
                self.place.path("disk").canonicalize().unwrap(),
            )
            .env("FAULT_CALLS", self.place.path("calls"))
            .env("FAULT_POINT", &self.point)
            .env("FAULT_PATH", self.path);
        self.place.run_command(&mut command)
    }
}

/// Commands that make links, the first one a bulk load.
const LINES: [&[&str]; 6] = [
    &["ingest", "disk/bank", DAYS[0], "--memory", "1M"],
    &["refresh", "disk/bank", "--method", "cores", "--within", "0"],
    &["ingest", "disk/bank", DAYS[1]],
    &["compact", "disk/bank"],
    &["undo", "disk/bank"],
    &["backup", "disk/bank", "disk/backups"],
];

const DAYS: [&str; 2] = ["crawl/day-000.jsonl.zst", "crawl/day-001.jsonl.zst"];

#[test]
fn where_links_are_refused_files_are_copied() {
    let plain = place();
    plain.run(&["init", "disk/bank"]).done();
    for args in LINES {
        plain.run(args).done();
    }
    let exported = plain.run(&["export", "disk/bank"]).done();
    // EPERM, EACCES, EXDEV, EMLINK, ENOSYS, EOPNOTSUPP
    for errno in [1, 13, 18, 31, 38, 95] {
        let Some(struck) = Struck::new(format!("link 1 later {errno}"), "*") else {
            skipped("file_systems", "a C compiler", "install cc");
            return;
        };
        for args in [&["init", "disk/bank"] as &[&str]].into_iter().chain(LINES) {
            let ended = struck.run(args);
            assert_eq!(ended.status, Some(0), "{errno}: {args:?}: {}", ended.err);
            let reports = ended.err.matches("makes no hard links").count();
            assert_eq!(
                reports,
                usize::from(args[0] != "backup"),
                "{args:?}: {}",
                ended.err
            );
        }
        let calls = std::fs::read_to_string(struck.place.path("calls")).unwrap();
        assert!(
            calls
                .lines()
                .any(|call| call.contains("/loads/") && call.ends_with('!'))
        );
        // With links again, and without.
        assert_eq!(struck.place.run(&["export", "disk/bank"]).done(), exported);
        struck.place.run(&["check", "disk/bank"]).done();
        struck.run(&["check", "disk/bank"]).done();
        struck
            .run(&["restore", "disk/backups", "disk/restored"])
            .done();
        struck.run(&["repair", "disk/restored"]).done();
        assert_eq!(struck.run(&["export", "disk/restored"]).done(), exported);
    }
}

#[test]
fn a_file_system_without_locks_is_named() {
    // ENOLCK, ENOSYS, EOPNOTSUPP
    for errno in [37, 38, 95] {
        let Some(struck) = Struck::new(format!("lock 1 later {errno}"), "*") else {
            skipped("file_systems", "a C compiler", "install cc");
            return;
        };
        struck.place.run(&["init", "disk/bank"]).done();
        struck.place.run(LINES[0]).done();
        struck.place.run(LINES[1]).done();
        struck.place.run(LINES[5]).done();
        for args in [
            &["init", "disk/new"] as &[&str],
            &["seeds", "disk/bank"],
            &["status", "disk/bank"],
            &["check", "disk/bank"],
            &["repair", "disk/bank"],
            &["ingest", "disk/bank", DAYS[1]],
            &["undo", "disk/bank"],
            &["backup", "disk/bank", "disk/backups"],
            &["restore", "disk/backups", "disk/new"],
        ] {
            let error = struck.run(args).fails(1);
            assert!(
                error.contains("the file system cannot lock disk/"),
                "{args:?}: {error}"
            );
            assert!(
                error.contains("hint: mount the file system with locks"),
                "{args:?}: {error}"
            );
        }
        assert!(!struck.place.path("disk/new").exists());
        struck.place.run(&["check", "disk/bank"]).done();
    }
}

#[test]
fn a_folder_that_cannot_be_synced_is_reported_once() {
    // EINVAL, for folders only
    let Some(struck) = Struck::new("sync 1 later 22".to_owned(), "/") else {
        skipped("file_systems", "a C compiler", "install cc");
        return;
    };
    // RocksDB opens no database there.
    let error = struck.run(&["init", "disk/bank"]).fails(1);
    assert!(
        error.contains("the file system of disk/bank cannot sync a folder"),
        "{error}"
    );
    assert!(!struck.place.path("disk/bank").exists());
    struck.place.run(&["init", "bank"]).done();
    struck.place.run(&["ingest", "bank", DAYS[0]]).done();
    let made = struck.run(&["backup", "bank", "disk/backups"]);
    assert_eq!(made.status, Some(0), "{}", made.err);
    assert_eq!(
        made.err.matches("cannot sync folders").count(),
        1,
        "{}",
        made.err
    );
    struck
        .place
        .run(&["restore", "disk/backups", "restored"])
        .done();
}
