//! A process of a cluster bank is killed (SIGKILL) at one of its system calls, 188 times: whatever the command and the
//! step of its commit, the bank has the state before or after the command, for any number of processes that open it
//! next, and no acknowledged state is lost. `make test-long [LONG_KILLS=1000]` kills more often.
//!
//! Each command runs in three processes, and each of them is killed in turn. A point is one of the calls that the process
//! makes in an undisturbed run: those that change a folder, and those that send to another process. They are taken in
//! turn from the four steps of a process: before the commit, while it prepares, while it finishes, and after that. After
//! the kill come a reader that sees all tables, one, two or three processes that write, the reader again, and `check`.
//!
//! Bug classes: parts of two states, a commit that is decided and undone or the reverse, an end that is reported before
//! the commit is decided, processes that wait for one that is gone, a lock or a file that blocks the next writer.

mod processes;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use seedbank_store::Verdict;

use self::processes::{Bank, Call, PARTS, PROCESSES, Point, Stage};
use crate::faults::state::State;
use crate::kills::{is_clean, published};
use crate::preload;
use crate::support::command::{Ended, names};
use crate::support::folders::copy;
use crate::support::skipped::skipped;
use crate::support::{long, scratch};

/// The number of kills in the suite; with those of `cluster_banks`, 200 processes are killed.
const KILLS: u32 = 188;

/// The file that an export writes.
const EXPORTED: &str = "disk/exported.jsonl";

/// The commands whose processes are killed.
const COMMANDS: [(&str, &[&str]); 7] = [
    ("ingest", &ingest("crawl/day-002.jsonl.zst")),
    ("sites", &["refresh", "BANK", "--plan", "sites", "-q"]),
    (
        "cores",
        &[
            "refresh",
            "BANK",
            "--plan",
            "cores",
            "--share-above",
            "0",
            "-q",
        ],
    ),
    ("coverage", &["refresh", "BANK", "--plan", "coverage", "-q"]),
    ("undo", &["undo", "BANK", "-q"]),
    ("export", &["export", "BANK", "-q", "--out", EXPORTED]),
    ("first ingest", &ingest("crawl/day-000.jsonl.zst")),
];

/// The same batch at any time.
const fn ingest(day: &str) -> [&str; 6] {
    [
        "ingest",
        "BANK",
        day,
        "--as-of",
        "2026-11-20T00:00:00Z",
        "-q",
    ]
}

/// A command whose processes are killed.
struct Scene {
    name: &'static str,
    args: &'static [&'static str],
    /// The bank before the command.
    disk: PathBuf,
    before: State,
    after: State,
    /// The epoch of the state after the command.
    epoch: u64,
    /// The calls of each process, by step.
    calls: Vec<Vec<Vec<Call>>>,
}

/// The number of steps of a process: before the commit, preparing, finishing, and after the commit.
const STEPS: usize = 4;

/// Divides the calls of a process that commits a state. A process that commits nothing has one step.
fn steps(mut calls: Vec<Call>, epoch: u64) -> Vec<Vec<Call>> {
    let load = format!("/loads/{epoch}");
    let prepared = format!("{load}/PREPARED.new");
    let last = |name: &str| calls.iter().rposition(|call| call.path.ends_with(name));
    let first = calls.iter().position(|call| call.path.ends_with(&load));
    let (Some(begin), Some(prepared), Some(published)) =
        (first, last(&prepared), last("published/CURRENT.new"))
    else {
        return vec![calls];
    };
    let after = calls.split_off(published + 1);
    // A folder is synced and an answer is sent before the commit goes on.
    let finishing = calls.split_off(prepared + 3);
    let preparing = calls.split_off(begin);
    vec![calls, preparing, finishing, after]
}

impl Scene {
    /// Runs the command undisturbed on a copy of a bank.
    fn new(
        bank: &Bank,
        (name, args): (&'static str, &'static [&'static str]),
        disk: &Path,
    ) -> Self {
        bank.restore(disk);
        bank.divide(1);
        let before = State::read(&bank.folder()).unwrap();
        let calls = bank.calls(args);
        bank.divide(1);
        let after = State::read(&bank.folder()).unwrap();
        assert_eq!(before == after, name == "export", "{name}");
        let epoch = published(&bank.folder()).unwrap();
        let calls: Vec<_> = calls.into_iter().map(|calls| steps(calls, epoch)).collect();
        let expected = if before == after { 1 } else { STEPS };
        for steps in &calls {
            assert_eq!(steps.len(), expected, "{name}");
            assert!(steps.iter().all(|calls| !calls.is_empty()), "{name}");
        }
        Self {
            name,
            args,
            disk: disk.to_owned(),
            before,
            after,
            epoch,
            calls,
        }
    }

    /// A point in one of the steps of a process that is killed.
    fn point(&self, victim: usize, step: usize, number: usize) -> &Point {
        let steps = &self.calls[victim];
        let calls = &steps[step % steps.len()];
        // Multiples of the golden ratio fill the range evenly, however many are taken.
        let spread = number * 618_034 % 1_000_000;
        &calls[calls.len() * spread / 1_000_000].point
    }

    fn is_reader(&self) -> bool {
        self.before == self.after
    }
}

/// A kill to try: the process, the point, and the number of processes that open the bank next.
#[derive(Debug)]
struct Kill<'a> {
    victim: usize,
    point: &'a Point,
    next: usize,
}

/// Kills a process of a command, and judges the bank and the other processes. Returns how far the commit came; `None`
/// means that the process had ended before.
fn kill(bank: &Bank, scene: &Scene, kill: &Kill<'_>) -> Option<Stage> {
    let Scene {
        before,
        after,
        epoch,
        ..
    } = scene;
    bank.restore(&scene.disk);
    let ended = bank.kill(scene.args, kill.victim, kill.point);
    let was_killed = ended[kill.victim].status.is_none();
    let others: Vec<&Ended> = (0..PROCESSES)
        .filter(|process| !was_killed || *process != kill.victim)
        .map(|process| &ended[process])
        .collect();
    let is_acknowledged = others.iter().any(|ended| ended.status == Some(0));
    for ended in others {
        judge_end(ended);
    }
    bank.divide(1);
    let folder = bank.folder();
    let stage = if scene.is_reader() {
        Stage::Working
    } else {
        bank.stage(*epoch)
    };
    let expected = if stage == Stage::Published {
        after
    } else {
        before
    };
    let seen = State::read(&folder).unwrap();
    assert!(seen == *expected, "{stage:?}: {}", seen.unlike(expected));
    assert!(stage >= Stage::Decided || !is_acknowledged || scene.is_reader());
    // A commit that is not decided is undone, and the command can run again; any other is finished.
    let again = stage < Stage::Decided;
    let args = if again {
        scene.args
    } else {
        &["ingest", "BANK", "/dev/null", "-q"]
    };
    bank.done(args, kill.next);
    bank.divide(1);
    let found = State::read(&folder).unwrap();
    assert!(found == *after, "{stage:?}: {}", found.unlike(after));
    assert_eq!(is_clean(&folder), Verdict::Good);
    for part in 0..PARTS {
        let part = bank.part(part);
        assert_eq!(published(&part), published(&folder));
        assert!(names(&part.join("spill")).is_empty());
    }
    was_killed.then_some(stage)
}

/// A process that was not killed succeeds, or fails with one sentence.
#[track_caller]
fn judge_end(ended: &Ended) {
    if ended.status != Some(0) {
        assert_eq!(ended.status, Some(1), "{ended:?}");
        assert!(ended.err.starts_with("error: "), "{ended:?}");
        assert!(ended.err.contains("process "), "{ended:?}");
    }
}

/// What the kills hit.
#[derive(Default, Debug)]
struct Tally {
    kills: usize,
    missed: usize,
    stages: BTreeMap<Stage, usize>,
    commands: BTreeMap<&'static str, BTreeMap<Stage, usize>>,
    victims: [usize; PROCESSES],
    kinds: BTreeMap<String, usize>,
    next: [usize; PROCESSES],
}

impl Tally {
    fn count(&mut self, scene: &Scene, kill: &Kill<'_>, stage: Option<Stage>) {
        let Some(stage) = stage else {
            self.missed += 1;
            return;
        };
        self.kills += 1;
        *self.stages.entry(stage).or_default() += 1;
        let command = self.commands.entry(scene.name).or_default();
        *command.entry(stage).or_default() += 1;
        self.victims[kill.victim] += 1;
        *self.kinds.entry(kill.point.kind.clone()).or_default() += 1;
        self.next[kill.next - 1] += 1;
    }

    /// Kills have to hit all processes and all steps of a commit, or the test proves nothing.
    fn judge(&self, wanted: usize) {
        eprintln!("{self:?}");
        assert!(self.kills >= wanted, "{self:?}");
        let share = |part: usize| self.kills / part;
        let counts = self.victims.iter().chain(&self.next);
        assert!(counts.copied().all(|count| count >= share(5)), "{self:?}");
        for stage in [
            Stage::Working,
            Stage::Prepared,
            Stage::Decided,
            Stage::Published,
        ] {
            let count = self.stages.get(&stage).copied().unwrap_or(0);
            assert!(count >= share(50), "{stage:?}: {self:?}");
        }
        for (name, stages) in &self.commands {
            let is_late = stages.keys().any(|stage| *stage >= Stage::Decided);
            assert!(is_late || *name == "export", "{name}: {self:?}");
            assert!(stages.contains_key(&Stage::Working), "{name}: {self:?}");
        }
    }
}

/// An empty bank, and one with two batches between which three plans were refreshed.
fn disks(bank: &Bank, place: &Path) -> [PathBuf; 2] {
    let done = |args: &[&str]| bank.done(args, PROCESSES);
    let parts = PARTS.to_string();
    std::fs::create_dir(bank.disk()).unwrap();
    bank.place
        .run(&["cluster", "init", "disk/0", "--banks", &parts])
        .done();
    let [empty, full] = ["empty", "full"].map(|name| place.join(name));
    copy(&bank.disk(), &empty);
    done(&ingest("crawl/day-000.jsonl.zst"));
    let plans: [&[&str]; 3] = [
        &["sites", "--goal", "sites"],
        &[
            "cores",
            "--method",
            "cores",
            "--seeds",
            "20",
            "--share-above",
            "0",
        ],
        &[
            "coverage", "--goal", "coverage", "--seeds", "4", "--budget", "20",
        ],
    ];
    for plan in plans {
        done(&[&["refresh", "BANK", "-q", "--plan"], plan].concat());
    }
    done(&ingest("crawl/day-001.jsonl.zst"));
    copy(&bank.disk(), &full);
    [empty, full]
}

/// Writes the crawl that is ingested.
fn synth(bank: &Bank) {
    let args = [
        "synth", "crawl", "--pages", "80", "--days", "2", "--daily", "20",
    ];
    bank.place.run(&args).done();
}

#[test]
fn processes_killed_at_any_call_leave_a_whole_state() {
    let place = scratch();
    let Some(library) = preload::build("faults/fault.c", place.path()) else {
        let test = "processes_killed_at_any_call_leave_a_whole_state";
        skipped(test, "a C compiler", "install one as `cc`");
        return;
    };
    let bank = Bank::nowhere(&library);
    synth(&bank);
    let [empty, full] = disks(&bank, place.path());
    let scenes = COMMANDS.map(|command| {
        let disk = if command.0 == "first ingest" {
            &empty
        } else {
            &full
        };
        Scene::new(&bank, command, disk)
    });
    let wanted = long("LONG_KILLS").unwrap_or(KILLS) as usize;
    let next = AtomicUsize::new(0);
    let tally = Mutex::new(Tally::default());
    let work = || {
        let bank = Bank::nowhere(&library);
        synth(&bank);
        // Where kills keep coming too late, the number of attempts ends it.
        while tally.lock().unwrap().kills < wanted {
            let number = next.fetch_add(1, Ordering::SeqCst);
            if number > wanted * 3 / 2 {
                break;
            }
            let scene = &scenes[number % scenes.len()];
            let turn = number / scenes.len();
            let victim = turn % PROCESSES;
            let turn = turn / PROCESSES;
            let attempt = Kill {
                victim,
                point: scene.point(victim, turn % STEPS, number),
                next: 1 + turn % PROCESSES,
            };
            eprintln!("kill {number}: {}, {attempt:?}", scene.name);
            let stage = kill(&bank, scene, &attempt);
            tally.lock().unwrap().count(scene, &attempt, stage);
        }
    };
    // Processes wait for each other most of the time.
    let threads = std::thread::available_parallelism().map_or(2, usize::from) + 2;
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    tally.into_inner().unwrap().judge(wanted);
}
