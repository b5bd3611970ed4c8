//! The real command is killed (SIGKILL) at any moment, 54 times: nothing half done is visible,
//! nothing acknowledged is lost, and the same command finishes the job.
//!
//! Half of the kills are spread over the whole duration of one undisturbed run; half come when a
//! file of a late stage appears, since a commit is short beside the work before it. Bug classes:
//! a batch in part (tables committed apart, a bulk load taken in by half and not finished), a
//! published state of half a commit, a lock or a file that bars the next open, a committed batch
//! that is applied again. The steps of commit and open one by one: `src/storage/bank_tests.rs`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod command;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use command::{Place, names};
use seedbank::engine::{Bank, CounterView, EngineError, Evidence, PageView, Which};
use seedbank::storage::{Verdict, Writer};
use seedbank::synth::{SynthOptions, generate};
use seedbank::watch::Unwatched;

const SIGKILL: i32 = 9;

/// All of a bank that does not tell when, or how long it took.
#[derive(Clone, PartialEq, Debug)]
struct Seen {
    sites: u64,
    counters: CounterView,
    pages: Vec<PageView>,
}

fn seen(bank: &Path) -> Seen {
    let bank = Bank::at(bank);
    let status = bank.status().unwrap();
    let mut pages = Vec::new();
    bank.pages(|page| {
        pages.push(page);
        Ok::<_, EngineError>(())
    })
    .unwrap();
    Seen {
        sites: status.sites,
        counters: status.counters,
        pages,
    }
}

/// Walks the tables of the bank as it was left, which nothing may be wrong with; then opens it for
/// writing, which finishes what is unfinished, and walks them again.
#[track_caller]
fn check(bank: &Path) {
    let is_clean = || {
        let check = Bank::at(bank).check(&Unwatched).unwrap();
        let verdict = check.live.verdict;
        assert_ne!(
            verdict,
            Verdict::Unseen,
            "a killed process still holds the lock"
        );
        assert!(check.is_clean(), "{check:?}");
        verdict
    };
    is_clean();
    drop(Writer::open(bank, false, &Unwatched).unwrap());
    assert_eq!(is_clean(), Verdict::Good);
}

/// How far a killed command got, as its files show before anybody opens the bank.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Stage {
    /// Nothing of a commit is there.
    Working,
    /// Sorted files of a bulk load are there, all that were begun.
    SortedFiles,
    /// The first of them has been taken in.
    TakingIn,
    /// Committed: its state is being published.
    Publishing,
    /// Its state is published.
    Published,
}

fn stage(bank: &Path, epoch: u64) -> Stage {
    let published = bank.join("published");
    let current = fs::read_to_string(published.join("CURRENT")).unwrap_or_default();
    if current.trim() == epoch.to_string() {
        return Stage::Published;
    }
    if published.join(format!("{epoch}.lock")).exists() {
        return Stage::Publishing;
    }
    let loads = bank.join("loads").join(epoch.to_string());
    match fs::read_dir(&loads).map(Iterator::count) {
        // Files are taken in in the order in which they were begun, sites first, and moved when they
        // are in. Of three that are written side by side a later one may appear first, but not a
        // fourth before the first is whole.
        Ok(3..) if !loads.join("sites-000000.sst").exists() => Stage::TakingIn,
        Ok(1..) => Stage::SortedFiles,
        _ => Stage::Working,
    }
}

/// When to kill.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// So long after the start.
    After(Duration),
    /// So long after this stage is seen.
    Sight(Stage, Duration),
}

/// Moments by turns: spread over a run, and at the sight of a late stage.
struct Moments<'a> {
    run: Duration,
    sights: &'a [Stage],
    given: u32,
}

impl<'a> Moments<'a> {
    /// `run` is how long an undisturbed run takes.
    fn new(run: Duration, sights: &'a [Stage]) -> Self {
        Self {
            run,
            sights,
            given: 0,
        }
    }

    fn next(&mut self) -> Moment {
        // Multiples of the golden ratio fill the range evenly, however many are taken.
        let spread = |n: u32| (f64::from(n) * 0.618_033_988_749_895).fract();
        let turn = self.given / 2;
        self.given += 1;
        if self.given % 2 == 1 {
            return Moment::After(self.run.mul_f64(spread(turn + 1)));
        }
        let sight = self.sights[turn as usize % self.sights.len()];
        // A stage takes milliseconds.
        Moment::Sight(sight, Duration::from_millis(4).mul_f64(spread(turn)))
    }

    /// Another undisturbed run took so long: the shortest counts, or kills come too late on a
    /// machine that was busy at first.
    fn ran(&mut self, run: Duration) {
        self.run = self.run.min(run);
    }
}

/// Starts the command and kills it; `None` where it had ended before, and well.
fn kill(place: &Place, args: &[&str], epoch: u64, moment: Moment) -> Option<Stage> {
    let bank = place.path("bank");
    let mut child = place
        .command(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    match moment {
        Moment::After(delay) => std::thread::sleep(delay),
        Moment::Sight(sight, delay) => {
            while stage(&bank, epoch) < sight && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_micros(50));
            }
            std::thread::sleep(delay);
        }
    }
    child.kill().unwrap();
    let status = child.wait().unwrap();
    if status.signal() == Some(SIGKILL) {
        return Some(stage(&bank, epoch));
    }
    assert!(status.success(), "{args:?}: {status}");
    None
}

/// What the kills of a test hit.
#[derive(Default, Debug)]
struct Tally {
    kills: usize,
    stages: BTreeMap<Stage, usize>,
    /// The bank was as before, also after the next open.
    undone: usize,
    /// The next open brought the commit to light.
    brought_to_light: usize,
}

impl Tally {
    fn count(&mut self, stage: Stage) {
        self.kills += 1;
        *self.stages.entry(stage).or_default() += 1;
    }

    /// Kills have to hit both sides of the commit, or the test proves nothing.
    #[track_caller]
    fn judge(&self, test: &str, quota: usize) {
        eprintln!("{test}: {self:?}");
        assert!(self.kills >= quota, "{test}: {self:?}");
        assert!(self.undone > 0, "{test}: {self:?}");
        let late = |stage| self.stages.get(&stage).copied().unwrap_or(0);
        let after = late(Stage::Publishing) + late(Stage::Published) + self.brought_to_light;
        assert!(after > 0, "{test}: {self:?}");
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), &to).unwrap();
        }
    }
}

/// One published state, and nothing of a load or a sort.
#[track_caller]
fn assert_tidy(bank: &Path, epoch: u64) {
    let mut expected = vec![epoch.to_string(), format!("{epoch}.lock")];
    expected.push("CURRENT".to_owned());
    assert_eq!(names(&bank.join("published")), expected);
    assert!(names(&bank.join("loads")).is_empty());
    assert!(names(&bank.join("spill")).is_empty());
}

/// Kills an ingest into copies of `base` until `quota` kills have hit; leaves its result in
/// `bank`, as an undisturbed run would.
fn ingest(place: &Place, base: &str, args: &[&str], bulk: bool, quota: usize, tally: &mut Tally) {
    let bank = place.path("bank");
    let fresh = || {
        if bank.exists() {
            fs::remove_dir_all(&bank).unwrap();
        }
        copy_folder(&place.path(base), &bank);
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
            Stage::TakingIn,
            Stage::Publishing,
            Stage::SortedFiles,
            Stage::Published,
        ]
    } else {
        &[Stage::Publishing, Stage::Published]
    };
    let mut moments = Moments::new(run, sights);
    let wanted = tally.kills + quota;
    // Where kills come too late over and over, the count of rounds ends it.
    for _ in 0..3 * quota {
        if tally.kills >= wanted {
            break;
        }
        fresh();
        let mut committed = false;
        // Up to three on one bank: the later ones also hit what mends it.
        for turn in 0..3 {
            let Some(stage) = kill(place, args, epoch, moments.next()) else {
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
                assert!(stage < Stage::TakingIn || opened == after, "{stage:?}");
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
fn ingests(test: &str, memory: &str, bulk: bool, (snapshot, delta): (usize, usize)) {
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
    ingests("ingest", "512M", false, (5, 11));
}

#[test]
fn a_killed_bulk_load_is_finished_or_undone() {
    ingests("bulk load", "1M", true, (7, 13));
}

/// The seeds of a refresh as far as two runs on one state must agree.
fn seeds(bank: &Path, refresh: u32) -> Vec<(u32, String, Evidence)> {
    let which = Which {
        plan: None,
        refresh: Some(refresh),
    };
    let seeds = Bank::at(bank).seeds(&which).unwrap();
    seeds
        .into_iter()
        .map(|seed| (seed.rank, seed.url, seed.evidence))
        .collect()
}

#[test]
fn a_killed_refresh_is_there_or_not() {
    const QUOTA: usize = 10;
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
    let args = ["refresh", "bank", "--seeds", "20"];
    let begun = Instant::now();
    place.run(&args).done();
    let mut moments = Moments::new(begun.elapsed(), &[Stage::Publishing, Stage::Published]);
    let expected = seeds(&bank, 1);
    assert!(!expected.is_empty());
    let pages = seen(&bank).pages;

    let mut tally = Tally::default();
    let mut last = 1;
    for turn in 0..3 * QUOTA {
        if tally.kills >= QUOTA {
            break;
        }
        // One batch and `last` refreshes so far.
        let epoch = 1 + u64::from(last) + 1;
        let Some(stage) = kill(&place, &args, epoch, moments.next()) else {
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
    tally.judge("refresh", QUOTA);
}

#[test]
fn a_killed_init_makes_a_whole_bank_or_none() {
    const QUOTA: usize = 8;
    let place = Place::new();
    let bank = place.path("bank");
    let begun = Instant::now();
    place.run(&["init", "bank"]).done();
    let empty = seen(&bank);
    let mut moments = Moments::new(begun.elapsed(), &[Stage::Published]);
    let mut tally = Tally::default();
    for _ in 0..5 * QUOTA {
        if tally.kills >= QUOTA && tally.undone > 0 {
            break;
        }
        if bank.exists() {
            fs::remove_dir_all(&bank).unwrap();
        }
        let Some(stage) = kill(&place, &["init", "bank"], 0, moments.next()) else {
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
        // What a killed one had begun beside the bank, the next one has removed.
        fs::remove_dir_all(&bank).unwrap();
        place.run(&["init", "bank"]).done();
        assert_eq!(names(&place.path("")), ["bank"]);
    }
    eprintln!("init: {tally:?}");
    assert!(tally.kills >= QUOTA && tally.undone > 0, "{tally:?}");
}
