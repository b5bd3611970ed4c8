//! Commands are killed at one of their system calls, or calls of them fail; then a file that they left is damaged.
//! Nothing that was acknowledged is lost, nothing is published that is not a whole state, a good state is never removed,
//! every bank that `check` accepts can be written to, and a forgotten name is in no file.
//!
//! A case has a scene (`scenes.rs`: a bank in one database, a cluster bank in one process or in three, backups in a
//! bucket), a command of it, and a point: a preloaded library (`fault.c`) strikes the n-th call of a kind in one of the
//! processes with a kill, an error of this call or of all later ones too, or half a write. Beside some commands a reader
//! looks at the bank all the time. After most points a file is deleted, cut, flipped, emptied, put back as it was, or
//! made a folder, or a whole part is put back. Then come `check`, a writer, and if one of them refuses, `repair`, `check`
//! and the writer again. The judge (`judge.rs`) knows the states before and after each command, and after each writer,
//! as hashes of all tables.
//!
//! Bug classes: a missing file that is taken for one that is already ingested, a MANIFEST with a file that an error path
//! deleted, a writer that publishes over a good state before it has read its own, a bank that `check` accepts and no
//! command can write to, parts of two states, a commit that is decided and undone or the reverse, an end that is
//! reported before the commit is decided, an error of the machine that is reported as damage, processes that wait for
//! one that is gone, a lock or a file that blocks the next writer.
//!
//! A sample by default; `make test-long [LONG_FAULTS=4000]` runs as many as wanted. A case is identified by its number:
//! `FAULTS_CASE=17 cargo test --test storage -- faults:: --nocapture` runs one, and `FAULTS_KEEP=folder` keeps its bank
//! there. `FAULTS_FROM=2000` begins with that number. `LONG_POWER_CUTS=150` cuts the power so often (`power.rs`), and
//! `FAULTS_POWER=1` in the case that `FAULTS_CASE` names.

mod bucket;
mod cases;
mod damage;
mod findings;
pub mod injector;
mod judge;
mod loads;
mod power;
pub mod processes;
mod scenes;
pub mod state;
mod unpublished;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::support::folders::copy;
use crate::support::scratch;
use crate::support::skipped::skipped;
use cases::{Case, folder, run};
use injector::Injector;
use scenes::{Operation, Scene};

/// The number of cases in the suite.
const SAMPLE: u64 = 100;

/// The number of power cuts in the suite.
const POWER_CUTS: u64 = 6;

/// The number in an environment variable; `None` if it is not set.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

/// Prepared commands.
struct Faults {
    place: tempfile::TempDir,
    injector: Injector,
    operations: Vec<Operation>,
}

impl Faults {
    /// Prepares the commands of all scenes; `None`, which is reported, without a C compiler.
    fn prepare(test: &str) -> Option<Self> {
        let place = scratch();
        let Some(mut injector) = Injector::build(place.path()) else {
            skipped(test, "a C compiler", "install one as `cc`");
            return None;
        };
        if !Scene::all().contains(&Scene::Bucket) {
            skipped(
                test,
                "backups in a bucket",
                "build with the feature `remote`",
            );
        }
        injector.serve_buckets(place.path());
        let operations = Operation::all(place.path(), &injector);
        for operation in &operations {
            let Operation {
                scene,
                name,
                counts,
                ..
            } = operation;
            eprintln!("{scene:?}, {name}: {counts:?}");
        }
        Some(Self {
            place,
            injector,
            operations,
        })
    }

    fn case(&self, number: u64, cuts_power: bool) -> Case {
        let folder = folder(self.place.path(), number);
        let case = run(
            &self.injector,
            &self.operations,
            number,
            &folder,
            cuts_power,
        );
        if let Some(kept) = std::env::var_os("FAULTS_KEEP") {
            copy(&folder, Path::new(&kept));
        }
        fs::remove_dir_all(folder).unwrap();
        case.print();
        case
    }

    /// Runs so many cases from a number on.
    fn cases(&self, first: u64, count: u64, cuts_power: bool) -> Vec<Case> {
        let next = AtomicU64::new(first);
        let done = Mutex::new(Vec::new());
        let threads = std::thread::available_parallelism().map_or(2, usize::from) + 1;
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::SeqCst);
                        if number >= first + count {
                            return;
                        }
                        let case = self.case(number, cuts_power);
                        let mut done = done.lock().unwrap();
                        done.push(case);
                        if done.len() % 500 == 0 {
                            eprintln!("{} cases", done.len());
                        }
                    }
                });
            }
        });
        let mut done = done.into_inner().unwrap();
        done.sort_by_key(|case| case.number);
        done
    }

    #[track_caller]
    fn judge(&self, count: u64, cuts_power: bool) {
        let cases = self.cases(number("FAULTS_FROM").unwrap_or(0), count, cuts_power);
        let found = print(&cases);
        let struck = cases.iter().filter(|case| case.struck.is_some()).count();
        // A command that fails early, or another order of threads, may have fewer calls.
        assert!(
            struck * 10 >= cases.len() * 8,
            "{struck} of {}",
            cases.len()
        );
        assert_eq!(found, 0, "see above; FAULTS_CASE=number runs one again");
    }
}

/// Prints what was struck, and the number of findings of each class; returns the number of all findings.
fn print(cases: &[Case]) -> usize {
    let mut tally: BTreeMap<&str, BTreeMap<String, u32>> = BTreeMap::new();
    for case in cases {
        let mut count = |of, what: &str| {
            let count = tally.entry(of).or_default().entry(what.to_owned());
            *count.or_default() += 1;
        };
        let (process, point) = &case.point;
        count("scenes", &format!("{:?}", case.scene));
        count("commands", case.operation);
        count("kinds", point.kind);
        count("modes", point.mode);
        count("processes", &process.to_string());
        count("ended", &case.ended);
        count("struck", ["no", "yes"][usize::from(case.struck.is_some())]);
        count("damaged", ["no", "yes"][usize::from(case.damage.is_some())]);
        for (class, _) in &case.found.0 {
            count("found", class);
        }
    }
    for (of, counts) in tally {
        eprintln!("{of}: {counts:?}");
    }
    cases.iter().map(|case| case.found.0.len()).sum()
}

#[test]
fn a_fault_and_damage_lose_nothing_that_was_acknowledged() {
    let test = "a_fault_and_damage_lose_nothing_that_was_acknowledged";
    let Some(mut faults) = Faults::prepare(test) else {
        return;
    };
    let with_images = || {
        let is_ready =
            (faults.operations.iter()).all(|operation| power::prepare(operation).is_some());
        if !is_ready {
            skipped(
                test,
                "power cuts",
                "run it as root, with mkfs.ext4 and loop devices",
            );
        }
        is_ready
    };
    if let Some(case) = number("FAULTS_CASE") {
        let cuts_power = std::env::var_os("FAULTS_POWER").is_some();
        assert!(!cuts_power || with_images());
        faults.injector.prints = true;
        let case = faults.case(case, cuts_power);
        eprintln!("{}", case.describe());
        assert!(case.found.0.is_empty(), "see above");
        return;
    }
    faults.judge(number("LONG_FAULTS").unwrap_or(SAMPLE), false);
    let is_ready = with_images();
    if is_ready {
        // Objects that were uploaded do not depend on the power here.
        faults
            .operations
            .retain(|operation| operation.scene != Scene::Bucket);
        faults.judge(number("LONG_POWER_CUTS").unwrap_or(POWER_CUTS), true);
        let control = faults.place.path().join("control");
        let Faults {
            injector,
            operations,
            ..
        } = &faults;
        assert!(power::loses_what_is_not_synced(
            injector, operations, &control
        ));
    }
}
