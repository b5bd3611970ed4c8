//! Processes killed at any moment leave a whole bank: all of a batch or none of it.
//!
//! A child runs the command and is killed: at random moments over its whole duration, and at
//! moments that are short, for which the bank's folder is watched (files of a bulk load complete,
//! taken in one by one, the checkpoint made, the pointer not yet replaced). After every kill a
//! reader sees a whole state, a writer mends what is left, `check` finds nothing, the same command
//! finishes the job, and what comes out equals a bank that was never killed.
//!
//! Also leftovers that a crash at an unlucky moment, or a copy of the folder, would leave.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use seedbank::engine::{Bank, CoreView, EngineError, IngestRequest, PageView, Which};
use seedbank::ingest::SiteMode;
use seedbank::watch::Unwatched;
use support::model::{Totals, assert_clean, pages_of, request, totals_of};

/// Everything of a bank that users see of its pages.
type State = (BTreeMap<String, PageView>, Totals);

fn state(bank: &Bank) -> State {
    (pages_of(bank), totals_of(bank))
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

const SITES: usize = 60;
const PAGES: usize = 12;

fn url(page: usize) -> String {
    format!("http://s{}.example/p{}", page / PAGES, page % PAGES)
}

/// Records of a crawl of some hundred pages; the second round drops and replaces many of them.
fn records(round: u64) -> String {
    let mut rng = Pcg64Mcg::seed_from_u64(round);
    let mut text = String::new();
    let mut seen = Vec::new();
    for _ in 0..500 {
        let page: usize = rng.random_range(0..SITES * PAGES);
        if seen.contains(&page) {
            continue;
        }
        seen.push(page);
        if round > 1 && rng.random_bool(0.1) {
            writeln!(text, "{{\"url\":\"{}\",\"gone\":true}}", url(page)).unwrap();
            continue;
        }
        let links: Vec<String> = (0..rng.random_range(0..10))
            .map(|_| format!("\"{}\"", url(rng.random_range(0..SITES * PAGES))))
            .collect();
        let digest: u32 = rng.random_range(0..99);
        writeln!(
            text,
            "{{\"url\":\"{}\",\"outlinks\":[{}],\"digest\":\"{digest}\",\"clicks\":{}}}",
            url(page),
            links.join(","),
            rng.random_range(0..5)
        )
        .unwrap();
    }
    text
}

/// A bank with one batch, the next batch, and what the bank holds before and after it.
struct Scene {
    place: tempfile::TempDir,
    delta: PathBuf,
    before: State,
    after: State,
}

impl Scene {
    fn new() -> Self {
        let place = support::scratch();
        let (base, delta) = (
            place.path().join("base.jsonl"),
            place.path().join("delta.jsonl"),
        );
        fs::write(&base, records(1)).unwrap();
        fs::write(&delta, records(2)).unwrap();
        let bank = Bank::create(&place.path().join("template"), SiteMode::Host).unwrap();
        bank.ingest(&request(&base), &Unwatched).unwrap();
        let before = state(&bank);
        copy(bank.path(), &place.path().join("whole"));
        let whole = Bank::at(&place.path().join("whole"));
        whole.ingest(&request(&delta), &Unwatched).unwrap();
        let after = state(&whole);
        assert_ne!(before, after);
        Self {
            place,
            delta,
            before,
            after,
        }
    }

    /// A fresh copy of the bank with the first batch.
    fn bank(&self) -> Bank {
        let path = self.place.path().join("bank");
        if path.exists() {
            fs::remove_dir_all(&path).unwrap();
        }
        copy(&self.place.path().join("template"), &path);
        Bank::at(&path)
    }

    fn ingest(&self, bank: &Bank, memory: &str) -> Child {
        let delta = self.delta.to_str().unwrap();
        let path = bank.path().to_str().unwrap();
        start(&["ingest", path, delta, "--memory", memory, "--quiet"])
    }
}

fn start(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_seedbank"))
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Whether a bank's folder shows that something was reached.
type Sign = fn(&Path) -> bool;

/// When to kill.
enum Moment {
    /// After so long.
    After(Duration),
    /// So long after this becomes true.
    Once(Sign, Duration),
}

/// Kills a child at a moment; `false` where it had ended before.
fn kill(mut child: Child, bank: &Path, moment: &Moment) -> bool {
    let begun = Instant::now();
    match moment {
        Moment::After(delay) => {
            while begun.elapsed() < *delay {
                std::thread::sleep(Duration::from_micros(200));
            }
        }
        Moment::Once(reached, delay) => {
            while !reached(bank) && child.try_wait().unwrap().is_none() {
                assert!(begun.elapsed() < Duration::from_secs(60), "it never ends");
            }
            std::thread::sleep(*delay);
        }
    }
    child.kill().unwrap();
    let code = child.wait().unwrap().code();
    assert!(code.is_none_or(|code| code == 0), "it failed: {code:?}");
    code.is_none()
}

fn load_files(bank: &Path) -> usize {
    let Ok(folders) = fs::read_dir(bank.join("loads")) else {
        return 0;
    };
    folders
        .flatten()
        .filter_map(|folder| fs::read_dir(folder.path()).ok())
        .map(Iterator::count)
        .sum()
}

fn loading(bank: &Path) -> bool {
    load_files(bank) > 0
}

/// Files of a load are complete when the last table's is there: `meta` and `seeds` are never
/// loaded by an ingest, `bitmaps` always is.
fn loaded(bank: &Path) -> bool {
    fs::read_dir(bank.join("loads")).is_ok_and(|mut folders| {
        folders.any(|folder| folder.is_ok_and(|f| f.path().join("bitmaps-000000.sst").exists()))
    })
}

/// The first table's files have been moved into the database, the last one's have not.
fn half_taken_in(bank: &Path) -> bool {
    fs::read_dir(bank.join("loads")).is_ok_and(|mut folders| {
        folders.any(|folder| {
            folder.is_ok_and(|folder| {
                let folder = folder.path();
                folder.join("bitmaps-000000.sst").exists()
                    && !folder.join("pages-000000.sst").exists()
            })
        })
    })
}

fn published(bank: &Path) -> usize {
    fs::read_dir(bank.join("published")).map_or(0, |entries| {
        entries.flatten().filter(|e| e.path().is_dir()).count()
    })
}

/// A second published state is there, or being made.
fn publishing(bank: &Path) -> bool {
    published(bank) > 1
}

/// The second batch is visible.
fn pointed(bank: &Path) -> bool {
    fs::read_to_string(bank.join("published/CURRENT")).is_ok_and(|epoch| epoch.trim() == "2")
}

/// How far the killed processes got.
#[derive(Default, Debug)]
struct Reached(BTreeMap<&'static str, u32>);

impl Reached {
    fn count(&mut self, stage: &'static str) {
        *self.0.entry(stage).or_default() += 1;
    }

    fn of(&self, stages: &[&str]) -> u32 {
        stages.iter().filter_map(|stage| self.0.get(stage)).sum()
    }
}

const BEFORE: [&str; 2] = ["1 before the load", "2 load files written"];
const AFTER: [&str; 3] = [
    "3 committed, load unfinished",
    "4 committed, not published",
    "5 published",
];

/// Looks at what a kill left, and finishes the job.
fn examine(scene: &Scene, bank: &Bank, reached: &mut Reached) {
    let files = load_files(bank.path());
    let seen = state(bank);
    let was_published = seen == scene.after;
    assert!(
        was_published || seen == scene.before,
        "half a batch is visible"
    );
    assert_clean(bank);
    let mended = state(bank);
    let committed = mended == scene.after;
    assert!(
        committed || mended == scene.before,
        "half a batch is mended"
    );
    assert!(committed || !was_published, "an acknowledged batch is lost");
    reached.count(match (committed, was_published, files) {
        (false, _, 0) => BEFORE[0],
        (false, _, _) => BEFORE[1],
        (true, true, _) => AFTER[2],
        (true, false, 0) => AFTER[1],
        (true, false, _) => AFTER[0],
    });
    assert_eq!(load_files(bank.path()), 0, "files of the load are left");
    let report = bank.ingest(&request(&scene.delta), &Unwatched).unwrap();
    let expected = if committed {
        (None, Some(2))
    } else {
        (Some(2), None)
    };
    assert_eq!((report.batch, report.same_as), expected);
    assert_eq!(state(bank), scene.after, "finished otherwise than whole");
    assert_eq!(bank.status().unwrap().counters.batches, 2);
    assert_clean(bank);
    assert_eq!(published(bank.path()), 1, "published states are left");
}

/// Kills an ingest at the moments; returns how far they got.
fn kill_ingests(memory: &str, random: u32, aimed: &[(Sign, u32)]) -> Reached {
    let scene = Scene::new();
    let bank = scene.bank();
    let begun = Instant::now();
    assert!(scene.ingest(&bank, memory).wait().unwrap().success());
    let whole = begun.elapsed();
    assert_eq!(state(&bank), scene.after, "both ways give the same bank");
    let mut rng = Pcg64Mcg::seed_from_u64(whole.as_nanos().try_into().unwrap());
    let mut moments: Vec<Moment> = (0..random)
        .map(|number| {
            let share = (f64::from(number) + rng.random::<f64>()) / f64::from(random);
            Moment::After(whole.mul_f64(share))
        })
        .collect();
    for (reached, times) in aimed {
        moments.extend(
            (0..*times)
                .map(|_| Moment::Once(*reached, Duration::from_micros(rng.random_range(0..2500)))),
        );
    }
    let mut reached = Reached::default();
    for moment in &moments {
        let bank = scene.bank();
        if kill(scene.ingest(&bank, memory), bank.path(), moment) {
            examine(&scene, &bank, &mut reached);
        } else {
            reached.count("6 ended before");
            assert_eq!(state(&bank), scene.after);
        }
    }
    println!("memory {memory}, {whole:?}: {reached:#?}");
    let kills = reached.of(&BEFORE) + reached.of(&AFTER);
    assert!(kills >= 20, "only {kills} kills");
    reached
}

#[test]
fn an_ingest_by_one_write_is_killed() {
    let reached = kill_ingests("512M", 24, &[(publishing, 6), (pointed, 5)]);
    assert!(reached.of(&BEFORE) >= 4, "{reached:?}");
    assert!(reached.of(&AFTER) >= 4, "{reached:?}");
}

#[test]
fn a_bulk_load_is_killed() {
    let aimed: [(Sign, u32); 5] = [
        (loading, 5),
        (loaded, 5),
        (half_taken_in, 6),
        (publishing, 4),
        (pointed, 3),
    ];
    let reached = kill_ingests("1M", 20, &aimed);
    assert!(reached.of(&BEFORE) >= 4, "{reached:?}");
    assert!(reached.of(&AFTER) >= 4, "{reached:?}");
    assert!(reached.of(&[BEFORE[1], AFTER[0]]) >= 3, "{reached:?}");
}

fn cores(bank: &Bank) -> Vec<CoreView> {
    let mut cores = Vec::new();
    bank.cores::<EngineError>(&Which::default(), |core| {
        cores.push(CoreView { refresh: 0, ..core });
        Ok(())
    })
    .unwrap();
    cores
}

#[test]
fn a_refresh_is_killed() {
    let scene = Scene::new();
    let whole = scene.bank();
    let command = |bank: &Bank| {
        let path = bank.path().to_str().unwrap();
        start(&["refresh", path, "--seeds", "8", "--quiet"])
    };
    let begun = Instant::now();
    assert!(command(&whole).wait().unwrap().success());
    let duration = begun.elapsed();
    let expected = cores(&whole);
    assert_eq!(expected.len(), 8);
    let mut rng = Pcg64Mcg::seed_from_u64(3);
    let mut kept = 0;
    let mut lost = 0;
    for number in 0..14_u32 {
        let bank = scene.bank();
        let moment = if number < 9 {
            let share = (f64::from(number) + rng.random::<f64>()) / 9.0;
            Moment::After(duration.mul_f64(share))
        } else {
            Moment::Once(publishing, Duration::from_micros(rng.random_range(0..3000)))
        };
        kill(command(&bank), bank.path(), &moment);
        assert_eq!(state(&bank), scene.before);
        assert_clean(&bank);
        let refreshes = bank.status().unwrap().counters.refreshes;
        if refreshes == 0 {
            lost += 1;
        } else {
            assert_eq!(refreshes, 1);
            assert_eq!(cores(&bank), expected);
            kept += 1;
        }
        assert!(command(&bank).wait().unwrap().success());
        assert_eq!(cores(&bank), expected);
        assert_clean(&bank);
    }
    println!("refresh, {duration:?}: {lost} before the commit, {kept} after");
    assert!(lost > 0 && kept > 0, "{lost} {kept}");
}

/// There is a whole bank or none.
#[test]
fn an_init_is_killed() {
    let place = support::scratch();
    let path = place.path().join("folder/bank");
    let command = || start(&["init", path.to_str().unwrap(), "--quiet"]);
    let begun = Instant::now();
    assert!(command().wait().unwrap().success());
    let duration = begun.elapsed();
    let mut made = 0;
    for number in 0..12_u32 {
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
        let moment = Moment::After(duration.mul_f64(f64::from(number) / 11.0));
        kill(command(), &path, &moment);
        if path.exists() {
            made += 1;
        } else {
            assert!(command().wait().unwrap().success());
        }
        let bank = Bank::at(&path);
        assert_eq!(pages_of(&bank), BTreeMap::new());
        assert_clean(&bank);
    }
    println!("init, {duration:?}: {made} of 12 were made");
    assert!(made < 12);
}

/// Folders and files that nobody needs any more go at the next open for writing.
#[test]
fn leftovers_are_cleared() {
    let scene = Scene::new();
    let bank = scene.bank();
    let path = bank.path();
    for folder in ["loads/7", "spill/x", "published/999"] {
        fs::create_dir_all(path.join(folder)).unwrap();
        fs::write(path.join(folder).join("000001.sst"), "no table").unwrap();
    }
    fs::write(path.join("spill/run"), "half a run").unwrap();
    fs::write(path.join("loads/pages-000000.sst"), "half a file").unwrap();
    fs::write(path.join("published/999.lock"), "").unwrap();
    fs::write(path.join("published/998.lock"), "").unwrap();
    fs::write(path.join("published/CURRENT.new"), "99").unwrap();
    assert_eq!(state(&bank), scene.before);
    assert_clean(&bank);
    bank.ingest(&request(&scene.delta), &Unwatched).unwrap();
    assert_eq!(state(&bank), scene.after);
    assert_clean(&bank);
    let left = |folder: &str| fs::read_dir(path.join(folder)).unwrap().count();
    assert_eq!((left("loads"), left("spill")), (0, 0));
    assert_eq!(published(path), 1);
}

/// What is done to the folder of published states, and the epoch that it shows.
type Damage = fn(&Path, &str);

/// What readers open is made again from the live database, whatever became of it.
#[test]
fn a_published_state_that_is_lost_comes_back() {
    let scene = Scene::new();
    let epoch = |bank: &Bank| {
        let text = fs::read_to_string(bank.path().join("published/CURRENT")).unwrap();
        text.trim().to_owned()
    };
    let damages: [(&str, Damage); 7] = [
        ("no lock", |published, epoch| {
            fs::remove_file(published.join(format!("{epoch}.lock"))).unwrap();
        }),
        ("an empty state", |published, epoch| {
            fs::remove_dir_all(published.join(epoch)).unwrap();
            fs::create_dir(published.join(epoch)).unwrap();
        }),
        ("no pointer", |published, _| {
            fs::remove_file(published.join("CURRENT")).unwrap();
        }),
        ("an older pointer", |published, _| {
            fs::write(published.join("CURRENT"), "0\n").unwrap();
        }),
        ("an empty pointer", |published, _| {
            fs::write(published.join("CURRENT"), "").unwrap();
        }),
        ("no state", |published, epoch| {
            fs::remove_dir_all(published.join(epoch)).unwrap();
        }),
        ("nothing", |published, _| {
            fs::remove_dir_all(published).unwrap();
        }),
    ];
    for (what, damage) in damages {
        let bank = scene.bank();
        damage(&bank.path().join("published"), &epoch(&bank));
        if let Err(error) = bank.status() {
            let failure = error.failure();
            assert_eq!(failure, seedbank::engine::Failure::Unavailable, "{what}");
        }
        // Any open for writing mends it, also one that has nothing to write.
        let tried = IngestRequest {
            dry_run: true,
            ..request(&scene.delta)
        };
        bank.ingest(&tried, &Unwatched).unwrap();
        assert_eq!(state(&bank), scene.before, "{what}");
        bank.ingest(&request(&scene.delta), &Unwatched).unwrap();
        assert_eq!(state(&bank), scene.after, "{what}");
        assert_clean(&bank);
    }
}
