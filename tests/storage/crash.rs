//! The real command is killed (SIGKILL) at any moment, 32 times: nothing half done is visible,
//! nothing acknowledged is lost, and the same command finishes the job. Meanwhile a reader asks all
//! the time. `make test-long [LONG_KILLS=1000]` kills more often; `repair` is killed in
//! `crash_repair`, `backup`, `restore`, `compact` and `migrate` in `crash_maintenance`.
//!
//! Half of the kills are spread over the whole duration of one undisturbed run. The other half come
//! when a file of a late stage appears, since a commit is short compared with the work before it.
//! Bug classes: a batch in part (tables committed separately, a bulk load taken in halfway and not
//! finished), a published state of half a commit, a lock or a file that blocks the next open, a
//! committed batch that is applied again, a reader that is given an older state than the last one.
//! The steps of commit and open are tested one by one in `src/store/publish/commit_tests.rs`.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use crate::kills::{Moments, Seen, Stage, Tally, assert_tidy, beside, check, kill, pages, seen};
use crate::support::banks::seeds_of;
use crate::support::command::{Place, names};
use crate::support::folders::copy;
use crate::support::quota;
use seedbank::engine::query::Evidence;
use seedbank::engine::{Bank, Which};
use seedbank::synth::{SynthOptions, generate};
use seedbank::watch::Unwatched;

/// A reader beside a commit: it sees the state before the commit or the one after it, and after the
/// latter never the former again.
struct Reader<'a> {
    states: [&'a Seen; 2],
    /// Which of the two states was seen last.
    last: Mutex<usize>,
}

impl<'a> Reader<'a> {
    fn new(before: &'a Seen, after: &'a Seen) -> Self {
        Self {
            states: [before, after],
            last: Mutex::new(0),
        }
    }

    /// Asks two questions. The state may change in between, so each answer is judged alone.
    fn ask(&self, bank: &Path) {
        let status = Bank::at(bank).status().unwrap();
        self.is_one(|state| state.counters == status.counters);
        let pages = pages(bank);
        self.is_one(|state| state.pages == pages);
    }

    fn is_one(&self, is_told: impl Fn(&Seen) -> bool) {
        let now = self.states.iter().rposition(|state| is_told(state));
        let now = now.expect("an answer of no whole state");
        let mut last = self.last.lock().unwrap();
        assert!(now >= *last, "a state that was there is gone");
        *last = now;
    }
}

/// Kills an ingest into copies of `base` until `quota` kills have hit; leaves its result in
/// `bank`, as an undisturbed run would.
fn ingest(place: &Place, base: &str, args: &[&str], bulk: bool, quota: usize, tally: &mut Tally) {
    let bank = place.path("bank");
    let fresh = || {
        if bank.exists() {
            fs::remove_dir_all(&bank).unwrap();
        }
        copy(&place.path(base), &bank);
    };
    fresh();
    let before = seen(&bank);
    let epoch = u64::from(before.counters.batches) + 1;
    let begun = Instant::now();
    place.run(args).done();
    let run = begun.elapsed();
    let loads = bank.join("loads").join(epoch.to_string());
    assert_eq!(loads.exists(), bulk, "the other path was taken");
    let after = seen(&bank);
    assert_ne!(before.pages, after.pages);

    let sights: &[Stage] = if bulk {
        &[
            Stage::Ingesting,
            Stage::Publishing,
            Stage::SortedFiles,
            Stage::Published,
        ]
    } else {
        &[Stage::Publishing, Stage::Published]
    };
    let mut moments = Moments::new(run, sights);
    let wanted = tally.kills + quota;
    // Few kills may miss the shortest stage of a bulk load. Where kills keep coming too late, the number of rounds ends it.
    for _ in 0..3 * quota {
        if tally.kills >= wanted && (!bulk || tally.stages.contains_key(&Stage::SortedFiles)) {
            break;
        }
        fresh();
        let mut committed = false;
        let reader = Reader::new(&before, &after);
        // Up to three on one bank: the later ones also hit the recovery.
        for turn in 0..3 {
            let moment = moments.next();
            let killed = beside(|| reader.ask(&bank), || kill(place, args, epoch, moment));
            let Some(stage) = killed else {
                moments.came_late(moment);
                committed = true;
                break;
            };
            tally.count(stage);
            let read = seen(&bank);
            assert!(read == before || read == after, "a reader sees half");
            assert!(stage != Stage::Published || read == after, "{stage:?}");
            committed = read == after;
            if turn % 2 == 0 {
                check(&bank);
                let opened = seen(&bank);
                assert!(opened == before || opened == after, "a writer sees half");
                assert!(!committed || opened == after, "a batch is lost");
                assert!(stage < Stage::Ingesting || opened == after, "{stage:?}");
                tally.undone += usize::from(opened == before);
                tally.brought_to_light += usize::from(opened == after && !committed);
                committed = opened == after;
                assert_tidy(&bank, epoch - u64::from(!committed));
            }
            if committed {
                break;
            }
        }
        let begun = Instant::now();
        place.run(args).done();
        if !committed {
            moments.ran(begun.elapsed());
        }
        assert!(
            seen(&bank) == after,
            "it is not as an undisturbed run left it"
        );
        check(&bank);
        assert_tidy(&bank, epoch);
    }
}

/// A snapshot into an empty bank, then a delta.
fn ingests(test: &str, memory: &str, bulk: bool, snapshot: usize, delta: usize) {
    let place = Place::new();
    let options = SynthOptions {
        days: 1,
        rng_seed: 5,
        // Many, so that the delta is large enough for a bulk load.
        changed_per_day: 0.4,
        ..SynthOptions::new(1000)
    };
    generate(&place.path("crawl"), &options, &Unwatched).unwrap();
    place.run(&["init", "empty"]).done();
    let day = |day: &'static str| ["ingest", "bank", "--memory", memory, day];
    let mut tally = Tally::default();
    let mut args = day("crawl/day-000.jsonl.zst").to_vec();
    args.push("--snapshot");
    ingest(&place, "empty", &args, bulk, snapshot, &mut tally);
    fs::rename(place.path("bank"), place.path("day0")).unwrap();
    let args = day("crawl/day-001.jsonl.zst");
    ingest(&place, "day0", &args, bulk, delta, &mut tally);
    tally.judge(test, snapshot + delta);
    if bulk {
        let stages: Vec<Stage> = tally.stages.keys().copied().collect();
        assert!(stages.contains(&Stage::SortedFiles), "{tally:?}");
    }
}

#[test]
fn a_killed_ingest_leaves_all_or_nothing() {
    ingests("ingest", "512M", false, quota(3), quota(6));
}

#[test]
fn a_killed_bulk_load_is_finished_or_undone() {
    ingests("bulk load", "1M", true, quota(4), quota(8));
}

/// The seeds of a refresh, as far as two runs on one state must agree.
fn seeds(bank: &Path, refresh: u32) -> Vec<(u32, String, Evidence)> {
    let which = Which {
        plan: None,
        refresh: Some(refresh),
    };
    let seeds = seeds_of(&Bank::at(bank), &which);
    seeds
        .into_iter()
        .map(|seed| (seed.rank, seed.url, seed.evidence))
        .collect()
}

#[test]
fn a_killed_refresh_is_there_or_not() {
    let quota = quota(7);
    let place = Place::with_bank();
    let bank = place.path("bank");
    let options = SynthOptions {
        days: 0,
        rng_seed: 6,
        ..SynthOptions::new(1500)
    };
    generate(&place.path("crawl"), &options, &Unwatched).unwrap();
    place
        .run(&["ingest", "bank", "crawl/day-000.jsonl.zst"])
        .done();
    let args = [
        "refresh", "bank", "--method", "cores", "--within", "0", "--seeds", "20",
    ];
    let begun = Instant::now();
    place.run(&args).done();
    let mut moments = Moments::new(begun.elapsed(), &[Stage::Publishing, Stage::Published]);
    let expected = seeds(&bank, 1);
    assert!(!expected.is_empty());
    let pages = seen(&bank).pages;

    let mut tally = Tally::default();
    let mut last = 1;
    for turn in 0..3 * quota {
        if tally.kills >= quota && tally.undone > 0 {
            break;
        }
        // So far there were one batch and `last` refreshes.
        let epoch = 1 + u64::from(last) + 1;
        let moment = moments.next();
        // The last refresh that the reader saw.
        let newest = Mutex::new(last);
        let ask = || {
            let now = Bank::at(&bank).status().unwrap().counters.refreshes;
            let mut newest = newest.lock().unwrap();
            assert!(now == *newest || now == last + 1, "{now} after {newest}");
            *newest = now;
            assert_eq!(seeds(&bank, now), expected);
        };
        let killed = beside(ask, || kill(&place, &args, epoch, moment));
        let Some(stage) = killed else {
            moments.came_late(moment);
            last += 1;
            continue;
        };
        tally.count(stage);
        let read = Bank::at(&bank).status().unwrap().counters.refreshes;
        assert!(read == last || read == last + 1, "{read} after {last}");
        assert_eq!(seeds(&bank, read), expected);
        if turn % 3 < 2 {
            check(&bank);
        } else {
            place.run(&args).done();
        }
        let opened = Bank::at(&bank).status().unwrap().counters.refreshes;
        let by_kill = opened - u32::from(turn % 3 == 2);
        assert!(by_kill == last || by_kill == last + 1, "{opened}");
        assert!(by_kill >= read);
        assert!(
            stage < Stage::Publishing || by_kill == last + 1,
            "{stage:?}"
        );
        tally.undone += usize::from(by_kill == last);
        tally.brought_to_light += usize::from(by_kill > read);
        last = opened;
    }
    place.run(&args).done();
    for refresh in 1..=last + 1 {
        assert_eq!(seeds(&bank, refresh), expected);
    }
    assert!(seen(&bank).pages == pages, "a refresh changed pages");
    check(&bank);
    assert_tidy(&bank, 1 + u64::from(last) + 1);
    tally.judge("refresh", quota);
}

#[test]
fn a_killed_init_makes_a_whole_bank_or_none() {
    let quota = quota(4);
    let place = Place::new();
    let bank = place.path("bank");
    let begun = Instant::now();
    place.run(&["init", "bank"]).done();
    let empty = seen(&bank);
    let mut moments = Moments::new(begun.elapsed(), &[Stage::Published]);
    let mut tally = Tally::default();
    for _ in 0..5 * quota {
        if tally.kills >= quota && tally.undone > 0 {
            break;
        }
        if bank.exists() {
            fs::remove_dir_all(&bank).unwrap();
        }
        let moment = moments.next();
        let Some(stage) = kill(&place, &["init", "bank"], 0, moment) else {
            moments.came_late(moment);
            continue;
        };
        tally.count(stage);
        tally.undone += usize::from(!bank.exists());
        if !bank.exists() {
            place.run(&["init", "bank"]).done();
        }
        assert!(seen(&bank) == empty);
        check(&bank);
        assert_tidy(&bank, 0);
        // What a killed command had begun beside the bank, the next one has removed.
        fs::remove_dir_all(&bank).unwrap();
        place.run(&["init", "bank"]).done();
        assert_eq!(names(&place.path("")), ["bank"]);
    }
    eprintln!("init: {tally:?}");
    assert!(tally.kills >= quota && tally.undone > 0, "{tally:?}");
}
