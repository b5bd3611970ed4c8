//! Kills the real command (SIGKILL) at moments spread over its run, with readers beside it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use seedbank::engine::query::{CounterView, PageView};
use seedbank::engine::{Bank, EngineError};
use seedbank::watch::Unwatched;
use seedbank_store::{Verdict, Writer};

use crate::support::command::{Place, names};

const SIGKILL: i32 = 9;

/// Everything in a bank that does not say when something happened, or how long it took.
#[derive(Clone, PartialEq, Debug)]
pub struct Seen {
    sites: u64,
    pub counters: CounterView,
    pub pages: Vec<PageView>,
}

pub fn seen(bank: &Path) -> Seen {
    let status = Bank::at(bank).status().unwrap();
    Seen {
        sites: status.sites,
        counters: status.counters,
        pages: pages(bank),
    }
}

pub fn pages(bank: &Path) -> Vec<PageView> {
    let mut pages = Vec::new();
    let each = |page| {
        pages.push(page);
        Ok::<_, EngineError>(())
    };
    Bank::at(bank).pages(each).unwrap();
    pages
}

/// Walks the tables of the bank as it was left, in which nothing may be wrong; then opens it for
/// writing, which completes what is unfinished, and walks them again.
#[track_caller]
pub fn check(bank: &Path) {
    let verdict = is_clean(bank);
    let held = "a killed process still holds the writer's lock";
    assert_ne!(verdict, Verdict::Unseen, "{held}");
    drop(Writer::open(bank, false, &Unwatched).expect(held));
    assert_eq!(is_clean(bank), Verdict::Good);
}

/// Returns what `check` says of the live state.
#[track_caller]
pub fn is_clean(bank: &Path) -> Verdict {
    // Another test of this process that is just starting a command shares the lock that was held
    // here, from the fork until the child runs its program: only for a moment, and not because of a
    // killed process.
    for _ in 0..100 {
        let check = Bank::at(bank).check().unwrap();
        assert!(check.is_clean(), "{check:?}");
        if check.live.verdict != Verdict::Unseen {
            return check.live.verdict;
        }
    }
    Verdict::Unseen
}

/// How far a killed command got, as its files show before anybody opens the bank.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stage {
    /// Nothing of a commit is there.
    Working,
    /// All sorted files of a bulk load that were begun are there.
    SortedFiles,
    /// The first table is ingesting its files.
    Ingesting,
    /// Committed: its state is being published.
    Publishing,
    /// Its state is published.
    Published,
}

/// The epoch that readers are pointed to; `None` where the pointer is missing or cannot be read.
pub fn published(bank: &Path) -> Option<u64> {
    let text = fs::read_to_string(bank.join("published/CURRENT")).ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// Whether a file of the folder has another name.
fn has_links(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files = entries.filter_map(|entry| entry.metadata().ok());
    files.any(|file| file.nlink() > 1)
}

pub fn stage(bank: &Path, epoch: u64) -> Stage {
    if published(bank) == Some(epoch) {
        return Stage::Published;
    }
    if bank.join(format!("published/{epoch}.lock")).exists() {
        return Stage::Publishing;
    }
    let loads = bank.join("loads").join(epoch.to_string());
    match fs::read_dir(&loads).map(Iterator::count) {
        // RocksDB ingests links of the files.
        Ok(1..) if has_links(&loads) => Stage::Ingesting,
        Ok(1..) => Stage::SortedFiles,
        _ => Stage::Working,
    }
}

/// When to kill.
#[derive(Clone, Copy, Debug)]
pub enum Moment {
    /// This long after the start.
    After(Duration),
    /// This long after this stage is seen.
    Sight(Stage, Duration),
}

/// Moments in turn: spread over a run, and at the sight of a late stage.
pub struct Moments<'a> {
    run: Duration,
    sights: &'a [Stage],
    given: u32,
}

impl<'a> Moments<'a> {
    /// `run` is how long an undisturbed run takes. Without sights all moments are spread over it.
    pub fn new(run: Duration, sights: &'a [Stage]) -> Self {
        Self {
            run,
            sights,
            given: 0,
        }
    }

    pub fn next(&mut self) -> Moment {
        // Multiples of the golden ratio fill the range evenly, however many are taken.
        let spread = |n: u32| (f64::from(n) * 0.618_033_988_749_895).fract();
        let turn = self.given / 2;
        self.given += 1;
        if self.sights.is_empty() {
            return Moment::After(self.run.mul_f64(spread(self.given)));
        }
        if self.given % 2 == 1 {
            return Moment::After(self.run.mul_f64(spread(turn + 1)));
        }
        let sight = self.sights[turn as usize % self.sights.len()];
        // A stage takes milliseconds.
        Moment::Sight(sight, Duration::from_millis(4).mul_f64(spread(turn)))
    }

    /// Notes that the command had ended before this moment came.
    pub fn came_late(&mut self, moment: Moment) {
        if let Moment::After(delay) = moment {
            self.ran(delay);
        }
    }

    /// Notes how long another undisturbed run took. The shortest counts, or kills would come too
    /// late on a machine that was busy at first.
    pub fn ran(&mut self, run: Duration) {
        self.run = self.run.min(run);
    }
}

/// Starts the command and kills it; `None` where it had already ended, successfully.
pub fn kill(place: &Place, args: &[&str], epoch: u64, moment: Moment) -> Option<Stage> {
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

/// Tells a reader to finish, even if the work beside it fails.
struct Finish<'a>(&'a AtomicBool);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Runs `work` while a thread asks all the time; `each` asks and judges once, and is called at
/// least once after the work is done.
pub fn beside<T>(each: impl Fn() + Sync, work: impl FnOnce() -> T) -> T {
    let finished = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            loop {
                let is_last = finished.load(Ordering::SeqCst);
                each();
                if is_last {
                    break;
                }
                // Leaves most of two processors to the command.
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let _finish = Finish(&finished);
        work()
    })
}

/// What the kills of a test hit.
#[derive(Default, Debug)]
pub struct Tally {
    pub kills: usize,
    pub stages: BTreeMap<Stage, usize>,
    /// How often the bank was as before, also after the next open.
    pub undone: usize,
    /// How often the next open completed the commit.
    pub brought_to_light: usize,
}

impl Tally {
    pub fn count(&mut self, stage: Stage) {
        self.kills += 1;
        *self.stages.entry(stage).or_default() += 1;
    }

    /// Kills have to hit both sides of the commit, or the test proves nothing.
    #[track_caller]
    pub fn judge(&self, test: &str, quota: usize) {
        eprintln!("{test}: {self:?}");
        assert!(self.kills >= quota, "{test}: {self:?}");
        assert!(self.undone > 0, "{test}: {self:?}");
        let late = |stage| self.stages.get(&stage).copied().unwrap_or(0);
        let after = late(Stage::Publishing) + late(Stage::Published) + self.brought_to_light;
        assert!(after > 0, "{test}: {self:?}");
    }
}

/// Checks that there is one published state, and nothing of a load or a sort.
#[track_caller]
pub fn assert_tidy(bank: &Path, epoch: u64) {
    let mut expected = vec![epoch.to_string(), format!("{epoch}.lock")];
    expected.push("CURRENT".to_owned());
    assert_eq!(names(&bank.join("published")), expected);
    assert!(names(&bank.join("loads")).is_empty());
    assert!(names(&bank.join("spill")).is_empty());
}
