//! Commands are killed at one of their system calls, or calls of them fail; then a file that they
//! left is damaged. Nothing that was acknowledged is lost, nothing is published that is no whole
//! state, a good state is never removed, and no bank is a dead end.
//!
//! A preloaded library (`fault.c`) strikes the n-th write, sync, rename, link, unlink, creation or
//! change of size: a kill, or an error of this call or of all later ones too, or half a write. The
//! commands are ingests, small and as bulk loads, refresh, undo, forget, compact, backup, restore,
//! migrate and repair. After most points one file is deleted, cut, flipped, emptied, put back as it
//! was, or made a folder. Then come `check`, a writer, and where one of them refuses `repair`,
//! `check` and the writer again. The judge (`judge.rs`) knows the states before and after each
//! command, and after each writer, as hashes of all tables.
//!
//! Bug classes: a missing file that is taken for one that is in already, a MANIFEST that names a
//! file that an error path deleted, a writer that publishes over a good state before it has looked
//! at its own, a bank that `check` calls good and no command can write to.
//!
//! A sample by default; `make test-long [LONG_FAULTS=4000]` runs as many as wanted. A case is
//! identified by its number: `FAULTS_CASE=17 cargo test --test storage -- faults:: --nocapture`
//! runs one, and `FAULTS_KEEP=folder` keeps its bank there. `FAULTS_FROM=2000` begins with that
//! number.

mod cases;
mod damage;
mod findings;
pub mod injector;
mod judge;
mod loads;
mod scenes;
pub mod state;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::support::folders::copy;
use crate::support::scratch;
use cases::{Case, run};
use injector::Injector;
use scenes::Scene;

/// How many points the suite has.
const SAMPLE: u64 = 60;

/// The number in an environment variable; `None` where it is not set.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

/// Runs the cases of these numbers; each that finds something is printed at once.
fn cases(injector: &Injector, scenes: &[Scene], place: &Path, numbers: (u64, u64)) -> Vec<Case> {
    let (first, count) = numbers;
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
                    let folder = place.join(format!("case-{number}"));
                    let case = run(injector, scenes, number, &folder);
                    fs::remove_dir_all(folder).unwrap();
                    case.tell();
                    let mut done = done.lock().unwrap();
                    done.push(case);
                    if done.len() % 500 == 0 {
                        eprintln!("{} points", done.len());
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|case| case.number);
    done
}

/// Prints what was struck, and how often what must not happen was found; returns how often that
/// was.
fn tell(cases: &[Case]) -> usize {
    let mut tally: BTreeMap<&str, BTreeMap<String, u32>> = BTreeMap::new();
    for case in cases {
        let mut count = |of, what: &str| {
            let count = tally.entry(of).or_default().entry(what.to_owned());
            *count.or_default() += 1;
        };
        count("commands", case.scene);
        count("kinds", case.point.kind);
        count("modes", case.point.mode);
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
    let place = scratch();
    let Some(mut injector) = Injector::build(place.path()) else {
        eprintln!(
            "SKIPPED a_fault_and_damage_lose_nothing_that_was_acknowledged: no C compiler (cc)"
        );
        return;
    };
    let scenes = Scene::all(place.path(), &injector);
    for scene in &scenes {
        eprintln!("{}: {:?}", scene.name, scene.counts);
    }
    if let Some(number) = number("FAULTS_CASE") {
        injector.prints = true;
        let folder = place.path().join("case");
        let case = run(&injector, &scenes, number, &folder);
        if let Some(kept) = std::env::var_os("FAULTS_KEEP") {
            copy(&folder, Path::new(&kept));
        }
        eprintln!("{}", case.told());
        case.tell();
        assert!(case.found.0.is_empty(), "see above");
        return;
    }
    let first = number("FAULTS_FROM").unwrap_or(0);
    let count = number("LONG_FAULTS").unwrap_or(SAMPLE);
    let cases = cases(&injector, &scenes, place.path(), (first, count));
    let found = tell(&cases);
    let struck = cases.iter().filter(|case| case.struck.is_some()).count();
    assert!(struck * 10 > cases.len() * 9, "{struck} of {}", cases.len());
    assert_eq!(found, 0, "see above; FAULTS_CASE=number runs one again");
}
