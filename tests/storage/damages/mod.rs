//! Files of banks are damaged, in every way and of every kind. Either that is noticed, or no answer
//! changes; nobody is given an older state without a warning; `repair` brings everything back, or
//! says what is lost.
//!
//! The banks are small, each with copies of all states that it went through: batches only, batches
//! and refreshes, bulk loads, a batch and a refresh that are stored but not published. In a copy
//! one file is flipped, cut, zeroed, overwritten, deleted, swapped, emptied, lengthened or replaced
//! by an older one, under all its names or under one; or a folder is deleted or replaced by an
//! older one. Then the bank is asked everything and checked; written to; repaired; each in a copy
//! of its own.
//!
//! Bug classes: RocksDB takes a damaged tail as the end, so that a batch is gone; a writer
//! publishes an older live state over a newer one; damage that `check` does not look at; a repair
//! that takes the wrong copy, or loses the right one; an exit status that misleads.
//!
//! A sample by default; `make test-long [LONG_DAMAGES=5000]` runs as many as wanted. A case is
//! identified by its number: `DAMAGES_CASE=17 cargo test --test storage -- damages:: --nocapture`
//! runs one in full, and `DAMAGES_KEEP=folder` keeps its banks there. `DAMAGES_FROM=2000` begins with
//! that number, so that a long run can be cut into parts.

mod banks;
mod cases;
mod judge;
mod runs;
mod strikes;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::support::command;
use crate::support::command::Place;
use crate::support::folders::{changes, contents};
use crate::support::scratch;
use banks::{Depth, Subject};
use cases::{Case, run};

const SAMPLE: u64 = 100;

/// Not a test of its own: it is the process in which a case asks a bank.
#[test]
fn answers() {
    runs::answer();
}

/// The cases of a sample that make sense, in order.
fn cases(subjects: &[Subject], place: &Path, count: u64, depth: Depth) -> Vec<Case> {
    let first = std::env::var("DAMAGES_FROM").map_or(0, |text| text.parse().unwrap());
    let next = AtomicU64::new(first);
    let left = AtomicU64::new(count);
    let done = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(2, usize::from) + 1;
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while left.load(Ordering::SeqCst) > 0 {
                    let number = next.fetch_add(1, Ordering::SeqCst);
                    let folder = place.join(format!("case-{number}"));
                    let case = run(subjects, number, &folder, depth);
                    fs::remove_dir_all(folder).unwrap();
                    let Some(case) = case else { continue };
                    let mut done = done.lock().unwrap();
                    if (done.len() as u64) < count {
                        done.push(case);
                        left.store(count - done.len() as u64, Ordering::SeqCst);
                        if done.len() % 500 == 0 {
                            eprintln!("{} damages", done.len());
                        }
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|case| case.number);
    done
}

/// Prints what was hit and how it was noticed, and what must not happen.
fn tell(cases: &[Case]) -> usize {
    let mut tally: BTreeMap<&str, BTreeMap<String, u32>> = BTreeMap::new();
    let mut classes: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for case in cases {
        let mut count = |of, what: &str| {
            let count = tally.entry(of).or_default().entry(what.to_owned());
            *count.or_default() += 1;
        };
        count("deeds", case.strike.deed);
        count("files", &case.strike.kind);
        count("noticed", case.noticed);
        if let Some(status) = case.repaired {
            count("repair", &status.to_string());
        }
        for (class, what) in &case.found.0 {
            let text = format!(
                "case {}, bank of {}: {}: {what}",
                case.number, case.subject, case.strike.what
            );
            classes.entry(class).or_default().push(text);
        }
    }
    for (of, counts) in tally {
        eprintln!("{of}: {counts:?}");
    }
    let most = std::env::var("DAMAGES_TOLD").map_or(5, |text| text.parse().unwrap());
    for (class, texts) in &classes {
        eprintln!("\n{} times: {class}", texts.len());
        for text in texts.iter().take(most) {
            let begin: String = text.chars().take(1500).collect();
            eprintln!("  {begin}");
        }
    }
    classes.values().map(Vec::len).sum()
}

#[test]
fn damage_is_noticed_or_changes_nothing() {
    let place = scratch();
    let one = std::env::var("DAMAGES_CASE").map(|text| text.parse().unwrap());
    let count = std::env::var("LONG_DAMAGES").map(|text| text.parse().unwrap());
    let depth = if one.is_ok() || count.is_ok() {
        Depth::Whole
    } else {
        Depth::Sample
    };
    let subjects = Subject::all(place.path(), depth);
    if let Ok(number) = one {
        let folder =
            std::env::var_os("DAMAGES_KEEP").map_or(place.path().join("case"), PathBuf::from);
        let case = run(&subjects, number, &folder, depth);
        assert_eq!(tell(&[case.expect("that number damages nothing")]), 0);
        return;
    }
    let cases = cases(&subjects, place.path(), count.unwrap_or(SAMPLE), depth);
    let found = tell(&cases);
    let kinds: Vec<&str> = cases.iter().map(|case| case.strike.kind.as_str()).collect();
    for kind in [
        "SEEDBANK",
        "live/MANIFEST-N",
        "live/*.sst",
        "live/*.log",
        "published/CURRENT",
    ] {
        assert!(kinds.contains(&kind), "{kind} was never hit");
    }
    assert_eq!(found, 0, "see above; DAMAGES_CASE=number runs one again");
}

/// Neither `check` nor `repair` changes an undamaged bank.
#[test]
fn a_whole_bank_stays_as_it_is() {
    let folder = scratch();
    for subject in Subject::all(folder.path(), Depth::Sample) {
        let before = contents(&subject.folder);
        for verb in ["check", "repair"] {
            // `repair` may publish what is stored and not published yet.
            if verb == "repair" && subject.unpublished {
                continue;
            }
            let bank = subject.folder.to_str().unwrap();
            let ended = runs::seedbank(folder.path(), &[verb, bank]);
            assert_eq!(ended.status, Some(0), "{}: {verb}: {ended:?}", subject.name);
            let changed = changes(&before, &subject.folder);
            assert!(changed.is_empty(), "{}: {verb}: {changed:?}", subject.name);
        }
    }
}

/// The one kind of damage that took back an acknowledged batch, step by step.
#[test]
fn a_shortened_manifest_is_found_and_mended() {
    let place = Place::with_seeds();
    let one_more = command::record("http://h4.example/", &["http://a1.example/"]);
    place.write("day1.jsonl", one_more);
    place.run(&["ingest", "bank", "day1.jsonl"]).done();
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    let (seeds, state) = (place.run(&["seeds", "bank"]).done(), place.status());
    let live = place.path("bank/live");
    let names = command::names(&live);
    let manifest = names.iter().find(|name| name.starts_with("MANIFEST-"));
    let manifest = live.join(manifest.unwrap());
    let bytes = fs::read(&manifest).unwrap();
    fs::write(&manifest, &bytes[..bytes.len() - 300]).unwrap();

    let check = place.run(&["check", "bank"]);
    assert_eq!(check.status, Some(4), "{check:?}");
    place.write("day2.jsonl", command::record("http://h5.example/", &[]));
    place.run(&["ingest", "bank", "day2.jsonl"]).fails(4);
    // Readers have the whole state all the time.
    assert_eq!(place.run(&["seeds", "bank"]).done(), seeds);
    place.run(&["repair", "bank"]).done();
    place.run(&["check", "bank"]).done();
    assert_eq!(place.run(&["seeds", "bank"]).done(), seeds);
    assert_eq!(place.status(), state);
    place.run(&["ingest", "bank", "day2.jsonl"]).done();
}
