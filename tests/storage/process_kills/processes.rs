//! The processes of a cluster bank. One of them can be killed at a call.

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::kills::published;
use crate::support::command::{Ended, Place, wait};
use crate::support::folders::copy;

/// The number of parts of the bank.
pub const PARTS: usize = 4;

/// The number of processes of a command.
pub const PROCESSES: usize = 3;

/// Seconds after which processes that are not connected give up.
const DEADLINE: u32 = 3;

/// Seconds of silence after which a process counts as lost: too many for the tests here.
const PATIENCE: u32 = 60;

/// The time within which all processes end after one of them was killed.
const END: Duration = Duration::from_secs(40);

/// The folder, within the place of a bank, that has its parts.
const DISK: &str = "disk";

/// A call of a process that is replaced by a kill: its kind, and its number within the kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Point {
    pub kind: String,
    pub number: u64,
}

/// A call that a process made: where it can be killed, and the path.
pub struct Call {
    pub point: Point,
    pub path: String,
}

/// Returns the process that has a part, of so many processes.
fn owner(part: usize, processes: usize) -> usize {
    part * processes / PARTS
}

/// A bank whose parts are in the folders `disk/0`, `disk/1` and so on, one for each process, with the crawl that is
/// ingested.
pub struct Bank {
    pub place: Place,
    library: PathBuf,
}

impl Bank {
    /// A place without a bank, for commands with this preloaded library.
    pub fn nowhere(library: &Path) -> Self {
        static PLACES: AtomicUsize = AtomicUsize::new(1);
        let number = PLACES.fetch_add(1, Ordering::Relaxed);
        // Linux has all of 127.0.0.0/8, so no other test uses the address.
        let pid = std::process::id();
        let host = format!("127.{}.{}.{number}", 1 + (pid >> 8) % 254, pid % 256);
        let place = Place::new();
        let secret = place.write("secret", "a secret of some length\n");
        fs::set_permissions(secret, fs::Permissions::from_mode(0o600)).unwrap();
        for processes in 1..=PROCESSES {
            let mut members =
                format!("secret = \"secret\"\ndeadline = {DEADLINE}\npatience = {PATIENCE}\n");
            for process in 0..processes {
                let is_own = |part: &usize| owner(*part, processes) == process;
                let first = (0..PARTS).find(is_own).unwrap();
                let last = (0..PARTS).rfind(is_own).unwrap();
                let port = 7101 + process;
                // Writing to a string cannot fail.
                let _ = write!(
                    members,
                    "[[process]]\naddress = \"{host}:{port}\"\nbanks = \"{first}-{last}\"\n"
                );
            }
            place.write(&members_file(processes), members);
        }
        Self {
            place,
            library: library.to_owned(),
        }
    }

    pub fn disk(&self) -> PathBuf {
        self.place.path(DISK)
    }

    fn home(&self, process: usize) -> PathBuf {
        self.disk().join(process.to_string())
    }

    /// The folder of the bank if one process has all parts.
    pub fn folder(&self) -> PathBuf {
        self.home(0)
    }

    /// Replaces the bank by a copy of another one.
    pub fn restore(&self, disk: &Path) {
        if self.disk().exists() {
            fs::remove_dir_all(self.disk()).unwrap();
        }
        copy(disk, &self.disk());
    }

    /// Moves each part to its process, of so many.
    pub fn divide(&self, processes: usize) {
        for part in 1..PARTS {
            let name = format!("parts/{part:03}");
            let to = self.home(owner(part, processes)).join(&name);
            let mut homes = (0..PROCESSES).map(|process| self.home(process).join(&name));
            let from = homes.find(|folder| folder.exists()).unwrap();
            if from != to {
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                fs::rename(from, to).unwrap();
            }
        }
    }

    fn calls_file(&self, process: usize) -> PathBuf {
        self.place.path(&format!("calls-{process}"))
    }

    /// Starts a command as one of so many processes; `BANK` is its folder. Its calls are written down if `watched`,
    /// and it is killed at the point.
    fn start(
        &self,
        args: &[&str],
        (process, processes): (usize, usize),
        watched: bool,
        point: Option<&Point>,
    ) -> Child {
        let (number, home) = (process.to_string(), format!("{DISK}/{process}"));
        let replaced = |arg: &&str| if *arg == "BANK" { &home } else { *arg }.to_owned();
        let args: Vec<String> = args.iter().map(replaced).collect();
        let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
        let members = members_file(processes);
        args.extend(["--cluster", &members, "--process", &number, "--threads=1"]);
        let mut command = self.place.command(&args);
        if watched {
            let calls = self.calls_file(process);
            fs::write(&calls, "").unwrap();
            command
                .env("LD_PRELOAD", &self.library)
                .env("FAULT_FOLDER", self.disk().canonicalize().unwrap())
                .env("FAULT_CALLS", calls);
        }
        if let Some(Point { kind, number }) = point {
            command.env("FAULT_POINT", format!("{kind} {number} kill 0"));
        }
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Runs a command that succeeds in so many processes, and returns what process 0 printed.
    #[track_caller]
    pub fn done(&self, args: &[&str], processes: usize) -> String {
        self.divide(processes);
        let start = |process| self.start(args, (process, processes), false, None);
        let children: Vec<Child> = (0..processes).map(start).collect();
        let mut ended: Vec<Ended> = children.into_iter().map(wait).collect();
        assert!(
            ended.iter().all(|ended| ended.status == Some(0)),
            "{args:?}: {ended:?}"
        );
        ended.remove(0).out
    }

    /// Runs a command that succeeds, and returns the calls of each process, in order.
    pub fn calls(&self, args: &[&str]) -> Vec<Vec<Call>> {
        self.divide(PROCESSES);
        let start = |process| self.start(args, (process, PROCESSES), true, None);
        let children: Vec<Child> = (0..PROCESSES).map(start).collect();
        for child in children {
            wait(child).done();
        }
        let calls = |process| {
            let text = fs::read_to_string(self.calls_file(process)).unwrap();
            text.lines().map(call).collect()
        };
        (0..PROCESSES).map(calls).collect()
    }

    /// Runs a command and kills one process at a call. Returns how each process ended; the victim has no status if it
    /// was killed.
    #[track_caller]
    pub fn kill(&self, args: &[&str], victim: usize, point: &Point) -> Vec<Ended> {
        self.divide(PROCESSES);
        let start = |process| {
            let is_victim = process == victim;
            let point = is_victim.then_some(point);
            self.start(args, (process, PROCESSES), is_victim, point)
        };
        let mut children: Vec<Child> = (0..PROCESSES).map(start).collect();
        let begun = Instant::now();
        while (children.iter_mut()).any(|child| child.try_wait().unwrap().is_none()) {
            assert!(begun.elapsed() < END, "a process did not end");
            std::thread::sleep(Duration::from_millis(10));
        }
        children.into_iter().map(wait).collect()
    }

    /// How far a commit to a state came, as the files of the parts show, which one process has.
    pub fn stage(&self, epoch: u64) -> Stage {
        let is_prepared = |part: &Path| part.join(format!("loads/{epoch}/PREPARED")).exists();
        let parts = || (0..PARTS).map(|part| self.part(part));
        let has_it = parts().filter(|part| published(part) == Some(epoch));
        if published(&self.folder()) == Some(epoch) {
            Stage::Published
        } else if is_prepared(&self.folder()) || has_it.count() > 0 {
            Stage::Decided
        } else if parts().any(|part| is_prepared(&part)) {
            Stage::Prepared
        } else {
            Stage::Working
        }
    }

    /// The folder of a part, if one process has all of them.
    pub fn part(&self, part: usize) -> PathBuf {
        match part {
            0 => self.folder(),
            part => self.folder().join(format!("parts/{part:03}")),
        }
    }
}

/// How far a commit came.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stage {
    /// No part is prepared.
    Working,
    /// A part is prepared, and the first one is not.
    Prepared,
    /// All parts are prepared, and the first one has not published the new state.
    Decided,
    /// The first part has published the new state.
    Published,
}

fn members_file(processes: usize) -> String {
    format!("members-{processes}.toml")
}

/// A line of `FAULT_CALLS`.
fn call(line: &str) -> Call {
    let mut words = line.splitn(4, ' ');
    let mut word = || words.next().unwrap();
    let (kind, number, _function, path) = (word(), word(), word(), word());
    Call {
        point: Point {
            kind: kind.to_owned(),
            number: number.parse().unwrap(),
        },
        path: path.to_owned(),
    }
}
