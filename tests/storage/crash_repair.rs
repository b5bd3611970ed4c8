//! `repair` is killed (SIGKILL) at any moment: `repair` again finishes the job, and nothing that was
//! acknowledged is lost. Meanwhile a reader asks all the time.
//!
//! Bug classes: what was damaged is moved aside, and its replacement is not there yet; the good
//! copy is moved and not the damaged one; a half-copied live database that opens; a reader that is
//! given an older state meanwhile.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::kills;
use crate::kills::{Moments, Seen, beside, is_clean, kill, seen};
use crate::support::command::{Place, names};
use crate::support::folders::copy;
use crate::support::quota;
use seedbank::engine::Bank;
use seedbank::engine::error::ErrorKind;
use seedbank::synth::{SynthOptions, generate};
use seedbank::watch::Unwatched;

type Damage = (&'static str, fn(&Path));

/// Kinds of damage that leave one of the two copies of the data intact: what they are, and what
/// they do to a bank.
const DAMAGES: [Damage; 5] = [
    ("a shortened live MANIFEST", |bank| {
        cut(&manifest(&bank.join("live")));
    }),
    ("no live CURRENT", |bank| {
        fs::remove_file(bank.join("live/CURRENT")).unwrap();
    }),
    ("a shortened published MANIFEST", |bank| {
        cut(&manifest(&state(bank)));
    }),
    ("a published pointer that says nothing", |bank| {
        fs::write(bank.join("published/CURRENT"), b"\xff").unwrap();
    }),
    ("no live database", |bank| {
        fs::remove_dir_all(bank.join("live")).unwrap();
    }),
];

fn manifest(folder: &Path) -> PathBuf {
    let names = names(folder);
    let manifest = names.iter().find(|name| name.starts_with("MANIFEST-"));
    folder.join(manifest.unwrap())
}

fn state(bank: &Path) -> PathBuf {
    bank.join("published")
        .join(kills::published(bank).unwrap().to_string())
}

fn cut(file: &Path) {
    let bytes = fs::read(file).unwrap();
    fs::write(file, &bytes[..bytes.len() - 1500]).unwrap();
}

/// A reader beside a repair: it sees the whole state, or that the bank is damaged.
fn ask(bank: &Path, whole: &Seen) {
    match Bank::at(bank).status() {
        Ok(status) => assert_eq!(status.counters, whole.counters),
        Err(error) => assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}"),
    }
}

#[test]
fn a_killed_repair_is_finished_by_the_next() {
    let quota = quota(8);
    let place = Place::new();
    let options = SynthOptions {
        days: 1,
        rng_seed: 7,
        ..SynthOptions::new(400)
    };
    generate(&place.path("crawl"), &options, &Unwatched).unwrap();
    let (whole, bank) = (place.path("whole"), place.path("bank"));
    place.run(&["init", "whole"]).done();
    for day in ["crawl/day-000.jsonl.zst", "crawl/day-001.jsonl.zst"] {
        place.run(&["ingest", "whole", day]).done();
        place
            .run(&[
                "refresh", "whole", "--method", "cores", "--within", "0", "--seeds", "5",
            ])
            .done();
    }
    let expected = seen(&whole);
    let seeds = place.run(&["seeds", "whole"]).done();
    let args = ["repair", "bank"];
    let mut runs = Vec::new();
    for (what, damage) in DAMAGES {
        let damaged = place.path(what);
        copy(&whole, &damaged);
        damage(&damaged);
        copy(&damaged, &bank);
        let begun = Instant::now();
        let ended = place.run(&args);
        assert_eq!(ended.status, Some(0), "{what}: {ended:?}");
        runs.push((damaged, Moments::new(begun.elapsed(), &[])));
        fs::remove_dir_all(&bank).unwrap();
    }
    let mut kills = 0;
    // Kills before anything was moved aside, and after.
    let mut moved = [0, 0];
    for round in 0..6 * quota {
        // On a busy machine the first ones may all come before, or all after.
        if kills >= quota && moved.iter().all(|count| *count > 0) {
            break;
        }
        let number = round % runs.len();
        let (damaged, moments) = &mut runs[number];
        copy(damaged, &bank);
        // Up to two on one bank: the later one hits the repair of what the first one left.
        for _ in 0..2 {
            let moment = moments.next();
            if beside(|| ask(&bank, &expected), || kill(&place, &args, 0, moment)).is_none() {
                moments.came_late(moment);
                break;
            }
            kills += 1;
            moved[usize::from(bank.join("damaged").exists())] += 1;
        }
        let ended = place.run(&args);
        assert_eq!(ended.status, Some(0), "{}: {ended:?}", DAMAGES[number].0);
        let _ = is_clean(&bank);
        assert!(seen(&bank) == expected, "{}", DAMAGES[number].0);
        assert_eq!(place.run(&["seeds", "bank"]).done(), seeds);
        assert_eq!(names(&bank.join("spill")), [""; 0]);
        fs::remove_dir_all(&bank).unwrap();
    }
    eprintln!("repair: {kills} kills, {moved:?} before and after something was moved aside");
    assert!(kills >= quota, "{kills} kills of {quota}");
    assert!(moved.iter().all(|count| *count > 0), "{moved:?}");
}
