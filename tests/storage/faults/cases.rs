//! A case: a command is struck at a call, a file that it left is damaged, and the bank is judged.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::bucket::BUCKET;
use super::damage;
use super::findings::Findings;
use super::injector::{DISK, Ended, Injector, Point};
use super::judge::Judged;
use super::power;
use super::processes::{PROCESSES, write_members};
use super::scenes::{Kind, Operation, Scene, WRITERS};
use super::state::State;
use crate::support::folders::{copy, files};

const EIO: i32 = 5;
const EACCES: i32 = 13;
const EMFILE: i32 = 24;
const ENOSPC: i32 = 28;

/// The kinds of calls, each with the errors with which it can fail. Opening a file that is there counts apart from
/// creating one.
const KINDS: [(&str, &[i32]); 10] = [
    ("write", &[EIO, ENOSPC]),
    ("sync", &[EIO, ENOSPC]),
    ("rename", &[EIO, EACCES, ENOSPC]),
    ("link", &[EIO, EACCES, ENOSPC]),
    ("unlink", &[EIO, EACCES]),
    ("create", &[EIO, EACCES, EMFILE, ENOSPC]),
    ("size", &[EIO, ENOSPC]),
    ("open", &[EIO, EACCES, EMFILE]),
    ("read", &[EIO]),
    ("send", &[EIO]),
];

/// The result of a case.
pub struct Case {
    pub number: u64,
    pub scene: Scene,
    pub operation: &'static str,
    /// The process that is struck, and where.
    pub point: (usize, Point),
    /// The path of the first call that was struck; `None` if no call was.
    pub struck: Option<String>,
    /// The damage that was done; `None` if nothing was damaged.
    pub damage: Option<String>,
    /// How the struck process ended.
    pub ended: String,
    pub found: Findings,
}

impl Case {
    pub fn describe(&self) -> String {
        let (process, point) = &self.point;
        format!(
            "case {}: {:?}, {}: process {process}, {point} ({}), {}; damage: {}",
            self.number,
            self.scene,
            self.operation,
            self.struck.as_deref().unwrap_or("no call was struck"),
            self.ended,
            self.damage.as_deref().unwrap_or("none"),
        )
    }

    /// Prints the findings, with the case.
    pub fn print(&self) {
        for (class, what) in &self.found.0 {
            let begin: String = what.chars().take(600).collect();
            eprintln!("{}\n  {class}: {begin}", self.describe());
        }
    }
}

/// Draws the operation and the point of a case. Operations take turns, so that each has as many cases.
fn draw<'a>(
    operations: &'a [Operation],
    number: u64,
    rng: &mut Pcg64Mcg,
) -> (&'a Operation, (usize, Point)) {
    let turn = usize::try_from(number).unwrap() % operations.len();
    let operation = &operations[turn];
    let process = rng.random_range(0..operation.counts.len());
    let counts = &operation.counts[process];
    let count = |kind: &str| counts.get(kind).copied().unwrap_or(0);
    let mut kinds = KINDS.to_vec();
    kinds.retain(|(kind, _)| count(kind) > 0);
    let (kind, errors) = kinds[rng.random_range(0..kinds.len())];
    // Half of the points are in the second half of the calls, where the commit is, and more often near its end.
    let count = count(kind);
    let number = if rng.random_bool(0.5) {
        rng.random_range(1..=count)
    } else {
        let before_end = rng.random_range(0..count.div_ceil(2));
        count - before_end.min(rng.random_range(0..count))
    };
    let modes: &[&str] = match kind {
        "write" => &["kill", "once", "later", "short"],
        _ => &["kill", "once", "later"],
    };
    let point = Point {
        kind,
        number,
        mode: modes[rng.random_range(0..modes.len())],
        error: errors[rng.random_range(0..errors.len())],
    };
    (operation, (process, point))
}

struct Run<'a> {
    injector: &'a Injector,
    operation: &'a Operation,
    place: &'a Path,
    rng: Pcg64Mcg,
    damage: Option<String>,
}

impl<'a> Run<'a> {
    /// Damages a file with one of these paths, except in one case of ten; returns whether it did.
    fn damage(&mut self, may_be: impl Fn(&str) -> bool) -> bool {
        if self.rng.random_bool(0.1) {
            return false;
        }
        let disk = self.place.join(DISK);
        let mut strike = || damage::strike(&mut self.rng, &disk, &self.operation.before, &may_be);
        // What is drawn may change nothing.
        let done = (0..10).find_map(|_| strike());
        self.damage = done.map(|(path, done)| format!("{} {done}", path.display()));
        self.damage.is_some()
    }

    /// Judges the bank as it was left. `ended` is how the process ended that prints.
    fn judged(&self, ended: &Ended, is_sound: bool, found: Findings) -> Judged<'a> {
        let is_new = matches!(self.operation.kind, Kind::Makes(_));
        // What could not be acknowledged may be lost, and no reader knows of it.
        let acknowledged =
            |disk: &Path| fs::read(disk.join(self.operation.bank()).join("ACKNOWLEDGED")).ok();
        let is_acknowledged =
            acknowledged(&self.place.join(DISK)) != acknowledged(&self.operation.before);
        let is_stored = ended.err.contains("the change is stored") && is_acknowledged;
        let is_after = ended.status == Some(0) || is_stored || is_new;
        Judged {
            injector: self.injector,
            operation: self.operation,
            place: self.place,
            now: BTreeSet::from(if is_after { [1, 1] } else { [0, 1] }),
            processes: 1,
            is_damaged: false,
            may_be_older: false,
            is_sound: self.operation.kind != Kind::Repairs && is_sound,
            found,
        }
    }

    fn bank(&mut self, mut judged: Judged<'a>) -> Findings {
        judged.look("before any damage");
        judged.is_damaged = self.damage(|path| path.starts_with("bank/"));
        // Then only the live database has what was stored and not published, as after a kill before it was
        // acknowledged.
        let damage = self.damage.as_deref().unwrap_or_default();
        judged.may_be_older = damage == "bank/ACKNOWLEDGED as before the command";
        if self.operation.scene == Scene::Processes && self.rng.random_bool(0.5) {
            judged.processes = PROCESSES;
        }
        judged.go_on(self.rng.random_range(0..WRITERS));
        judged.found
    }

    /// A new bank is whole or does not exist; the same command completes it, or says what prevents that.
    fn made(&mut self, source: &str, ended: &Ended, mut judged: Judged<'a>) -> Findings {
        let new = self.place.join(DISK).join("new");
        let exists = || new.join("SEEDBANK").is_file();
        if exists() || ended.status == Some(0) {
            judged.look("before any damage");
        }
        let of_source = self.rng.random_bool(0.2);
        let within = format!("{source}/");
        let is_damaged = self.damage(|path| path.starts_with(&within) == of_source);
        judged.is_damaged = is_damaged && !of_source;
        if exists() {
            judged.go_on(0);
        } else {
            let again = self.injector.run(self.place, &self.operation.args());
            let allowed: &[i32] = if is_damaged { &[0, 2, 4] } else { &[0] };
            let class = "the same command failed";
            judged.found.status(class, &again, allowed);
            if again.status == Some(0) {
                judged.look("after the same command");
            }
        }
        let mut other = self.operation.args();
        for arg in &mut other {
            if *arg == "disk/new" {
                *arg = "disk/other";
            }
        }
        let ended = self.injector.run(self.place, &other);
        // A new bank has links to the tables of the one that it is made of.
        let bank = State::read(&self.place.join(DISK).join("bank"));
        let is_bank = bank.is_ok_and(|state| state == self.operation.states[0]);
        let is_source_damaged = is_damaged && of_source || !is_bank;
        let allowed: &[i32] = if is_source_damaged { &[0, 4] } else { &[0] };
        let class = "the source cannot be used any more";
        judged.found.status(class, &ended, allowed);
        if ended.status == Some(0) {
            let made = State::read(&self.place.join(DISK).join("other"));
            if is_bank && made.as_ref().ok() != Some(&self.operation.states[1]) {
                let class = "another state is made";
                judged.found.find(class, format!("{made:?}"));
            }
        }
        judged.found
    }

    /// Existing backups remain, the bank is not changed, and the next backup is whole.
    fn backed_up(&mut self, folder: &str, mut found: Findings) -> Findings {
        let within = format!("{folder}/");
        let is_damaged = self.damage(|path| path.starts_with(&within));
        let again = self.injector.run(self.place, &self.operation.args());
        // A folder without its marker has no backups.
        let allowed: &[i32] = if is_damaged { &[0, 2, 4] } else { &[0] };
        found.status("the next backup failed", &again, allowed);
        let restored = self.injector.run(self.place, &self.operation.restore());
        found.status("`restore` failed", &restored, allowed);
        for (status, bank) in [(Some(0), "bank"), (restored.status, "new")] {
            let state = State::read(&self.place.join(DISK).join(bank));
            if status == Some(0) && state.as_ref().ok() != Some(&self.operation.states[1]) {
                found.find("another state", format!("{bank}: {state:?}"));
            }
        }
        found
    }
}

/// Runs `work` while a thread reads the bank: each state that it sees is the one before or after the command, and
/// never the former after the latter.
fn with_reader<T>(
    operation: &Operation,
    bank: &Path,
    found: &mut Findings,
    work: impl FnOnce() -> T,
) -> T {
    let is_done = AtomicBool::new(false);
    let (result, seen) = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut last = 0;
            loop {
                // The last read comes after the command.
                let is_last = is_done.load(Ordering::SeqCst);
                let state = State::read(bank).map_err(|e| format!("{e}"))?;
                let known = operation.states[..2]
                    .iter()
                    .rposition(|known| *known == state);
                let now = known.ok_or("no whole state")?;
                if now < last {
                    return Err("a state before one that was seen".to_owned());
                }
                if is_last {
                    return Ok(());
                }
                last = now;
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let result = work();
        is_done.store(true, Ordering::SeqCst);
        (result, reader.join().unwrap())
    });
    if let Err(what) = seen {
        found.find("a reader beside the command", what);
    }
    result
}

/// Has the objects of the bucket date from an hour ago, so that the lock of a killed process has expired.
fn expire_locks(disk: &Path) {
    let bucket = disk.join(BUCKET);
    if !bucket.exists() {
        return;
    }
    let time = SystemTime::now() - Duration::from_secs(3600);
    for path in files(&bucket) {
        let file = fs::File::options().write(true).open(bucket.join(path));
        file.unwrap().set_modified(time).unwrap();
    }
}

/// Runs the case of this number in a folder that is made for it. With `cuts_power`, the power is cut where a process would be
/// struck.
pub fn run(
    injector: &Injector,
    operations: &[Operation],
    number: u64,
    place: &Path,
    cuts_power: bool,
) -> Case {
    let mut rng = Pcg64Mcg::seed_from_u64(number);
    let (operation, (process, mut point)) = draw(operations, number, &mut rng);
    if cuts_power {
        point.mode = "stop";
    }
    let victim = (process, &point);
    fs::create_dir(place).unwrap();
    write_members(place);
    let disk = place.join(DISK);
    let mut found = Findings::default();
    let strike = || {
        let args = operation.args();
        operation.scene.strike(injector, place, &args, Some(victim))
    };
    if !cuts_power {
        copy(&operation.before, &disk);
    }
    let is_watched = operation.kind == Kind::Changes && operation.scene.processes() == 1;
    let ended: Vec<Ended> = if cuts_power {
        power::cut(injector, operation, place, victim)
    } else if is_watched && rng.random_bool(0.25) {
        with_reader(operation, &disk.join("bank"), &mut found, strike)
    } else {
        strike()
    };
    expire_locks(&disk);
    // A bank that is to be repaired is damaged, so any result but success is one of damage, too.
    let statuses: &[i32] = match operation.kind {
        Kind::Repairs => &[0, 1, 4],
        _ => &[0, 1],
    };
    for (number, ended) in ended.iter().enumerate() {
        let is_killed = cuts_power || number == process && point.mode == "kill";
        if !(is_killed && ended.was_killed()) {
            found.status("the command ended badly", ended, statuses);
        }
    }
    let is_sound = ended
        .iter()
        .all(|ended| ended.was_killed() || ended.status == Some(0));
    let mut run = Run {
        injector,
        operation,
        place,
        rng,
        damage: None,
    };
    let printed = &ended[0];
    let judged = run.judged(
        printed,
        is_sound || ["kill", "stop"].contains(&point.mode),
        found,
    );
    let found = match operation.kind {
        Kind::Changes | Kind::Repairs => run.bank(judged),
        Kind::Makes(source) => run.made(source, printed, judged),
        Kind::BacksUp(folder) => run.backed_up(folder, judged.found),
    };
    let struck = ended[process].struck();
    Case {
        number,
        scene: operation.scene,
        operation: operation.name,
        struck: struck.map(|call| call.path.clone()),
        damage: run.damage,
        ended: match ended[process].status {
            Some(status) => format!("status {status}"),
            None => "killed".to_owned(),
        },
        point: (process, point),
        found,
    }
}

/// The folder of a case in a folder of cases.
pub fn folder(place: &Path, number: u64) -> PathBuf {
    place.join(format!("case-{number}"))
}
