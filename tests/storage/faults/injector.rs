//! Runs commands, in one process or in several, with the preloaded library that makes system calls fail (`fault.c`).

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::bucket::Bucket;
use super::processes;
use crate::preload;
use crate::support::command::clean;

/// The number of seconds after which a command counts as hanging.
const TIME_LIMIT: &str = "100";

const SIGKILL: i32 = 9;

/// How long a command may take until it stops.
const STOP: Duration = Duration::from_secs(60);

/// The folder, within the place of a command, whose changes are counted.
pub const DISK: &str = "disk";

/// A system call that is struck.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Point {
    /// The kind of call.
    pub kind: &'static str,
    /// Which of the calls of this kind, from 1.
    pub number: u64,
    /// What becomes of it: `kill`, `stop`, `once`, `later` or `short`.
    pub mode: &'static str,
    /// The error number with which it fails.
    pub error: i32,
}

impl Point {
    /// The value of `FAULT_POINT`.
    fn setting(&self) -> String {
        let Self {
            kind,
            number,
            mode,
            error,
        } = self;
        format!("{kind} {number} {mode} {error}")
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = match self.error {
            _ if ["kill", "stop"].contains(&self.mode) => "",
            5 => " EIO",
            13 => " EACCES",
            24 => " EMFILE",
            28 => " ENOSPC",
            _ => " another error",
        };
        write!(f, "{} {} {}{error}", self.kind, self.number, self.mode)
    }
}

/// A call that a command made.
#[derive(Clone, Debug)]
pub struct Call {
    pub kind: String,
    /// The path, within [`DISK`].
    pub path: String,
    pub was_struck: bool,
}

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit status; `None` if a signal ended it.
    pub status: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    pub out: String,
    pub err: String,
    /// Its calls, if they were recorded.
    pub calls: Vec<Call>,
}

impl Ended {
    /// Whether it was killed by `kill` or `fault.c`.
    pub fn was_killed(&self) -> bool {
        self.signal == Some(SIGKILL)
    }

    /// How it ended, and what it printed.
    pub fn describe(&self) -> String {
        let signal = self.signal.map(|signal| format!("signal {signal}"));
        let status = self.status.map(|status| format!("status {status}"));
        let end = status.or(signal).unwrap_or_default();
        format!("{end}: {}{}", self.out.trim(), self.err.trim())
    }

    /// The number of calls of each kind.
    pub fn counts(&self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for call in &self.calls {
            *counts.entry(call.kind.clone()).or_default() += 1;
        }
        counts
    }

    /// The first call that was struck.
    pub fn struck(&self) -> Option<&Call> {
        self.calls.iter().find(|call| call.was_struck)
    }
}

/// Runs commands, and strikes their calls.
pub struct Injector {
    library: PathBuf,
    /// The server of the buckets that commands use.
    bucket: Option<Bucket>,
    /// Whether each command is printed with how it ended.
    pub prints: bool,
}

impl Injector {
    /// Builds the library in `place`; `None` if there is no C compiler.
    pub fn build(place: &Path) -> Option<Self> {
        let library = preload::build("faults/fault.c", place)?;
        Some(Self {
            library,
            bucket: None,
            prints: false,
        })
    }

    /// Starts a server of buckets for the places in a folder, which commands name `s3://BUCKET`.
    pub fn serve_buckets(&mut self, place: &Path) {
        self.bucket = Some(Bucket::serve(place, DISK));
    }

    fn command(&self, place: &Path, args: &[&str]) -> Command {
        let bucket = self.bucket.as_ref().map(|bucket| bucket.name(place));
        let address = format!("s3://{}", bucket.unwrap_or_default());
        let args = args.iter().map(|arg| arg.replace("s3://BUCKET", &address));
        let mut command = clean(env!("CARGO_BIN_EXE_seedbank"));
        command
            .args(args)
            .arg("--threads=1")
            .current_dir(place)
            .env("LD_PRELOAD", &self.library)
            .env("FAULT_SECONDS", TIME_LIMIT)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(bucket) = &self.bucket {
            command.envs(bucket.settings());
        }
        command
    }

    /// Has the calls of a command recorded in a file, and strikes one of them.
    fn watch(command: &mut Command, place: &Path, calls: &Path, point: Option<&Point>) {
        fs::write(calls, "").unwrap();
        command
            .env("FAULT_FOLDER", place.join(DISK).canonicalize().unwrap())
            .env("FAULT_CALLS", calls);
        match point {
            Some(point) => command.env("FAULT_POINT", point.setting()),
            None => command.env("FAULT_READS", "1"),
        };
    }

    /// Starts a command in `place` that is struck at a point, whose number counts the calls on paths with this end.
    pub fn start_struck(&self, place: &Path, args: &[&str], point: &Point, path: &str) -> Child {
        let mut command = self.command(place, args);
        Self::watch(&mut command, place, &place.join("calls"), Some(point));
        command.env("FAULT_PATH", path).spawn().unwrap()
    }

    fn end(&self, child: Child, args: &[&str]) -> Ended {
        let ended = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let ended = Ended {
            status: ended.status.code(),
            signal: ended.status.signal(),
            out: text(&ended.stdout),
            err: text(&ended.stderr),
            calls: Vec::new(),
        };
        if self.prints {
            let begin: String = ended.describe().chars().take(400).collect();
            eprintln!("{}: {begin}", args.join(" "));
        }
        ended
    }

    /// Runs a command in `place` in one process, undisturbed.
    pub fn run(&self, place: &Path, args: &[&str]) -> Ended {
        let child = self.command(place, args).spawn().unwrap();
        self.end(child, args)
    }

    /// Runs a command in `place` in one process, strikes it at a point, and records its calls below [`DISK`].
    pub fn strike(&self, place: &Path, args: &[&str], point: Option<&Point>) -> Ended {
        self.strike_in(place, args, 1, point.map(|point| (0, point)))
            .remove(0)
    }

    /// Runs a command in `place` in so many processes, and strikes one of them at a point. Records the calls of all.
    ///
    /// The bank is in one folder before and after the command.
    pub fn strike_in(
        &self,
        place: &Path,
        args: &[&str],
        processes: usize,
        point: Option<(usize, &Point)>,
    ) -> Vec<Ended> {
        let children = self.start(place, args, processes, point);
        let ended = self.wait(place, args, children);
        processes::divide(&place.join(DISK), 1);
        ended
    }

    /// Starts a command as [`strike_in`](Self::strike_in) does, with each part in the folder of its process.
    pub fn start(
        &self,
        place: &Path,
        args: &[&str],
        processes: usize,
        point: Option<(usize, &Point)>,
    ) -> Vec<Child> {
        processes::divide(&place.join(DISK), processes);
        let start = |process| {
            let own = processes::arguments(args, process, processes);
            let own: Vec<&str> = own.iter().map(String::as_str).collect();
            let mut command = self.command(place, &own);
            let point = point.filter(|(victim, _)| *victim == process);
            let point = point.map(|(_, point)| point);
            Self::watch(&mut command, place, &calls_file(place, process), point);
            command.spawn().unwrap()
        };
        (0..processes).map(start).collect()
    }

    /// Waits for the processes of a command to end.
    pub fn wait(&self, place: &Path, args: &[&str], children: Vec<Child>) -> Vec<Ended> {
        let folder = place.canonicalize().unwrap().join(DISK);
        let wait = |(process, child)| {
            let mut ended = self.end(child, args);
            let text = fs::read_to_string(calls_file(place, process)).unwrap();
            let call = |line| call(line, folder.to_str().unwrap());
            ended.calls = text.lines().map(call).collect();
            ended
        };
        children.into_iter().enumerate().map(wait).collect()
    }
}

/// The file of the calls of a process.
fn calls_file(place: &Path, process: usize) -> PathBuf {
    place.join(format!("calls-{process}"))
}

/// Waits until a command has stopped at the point where it was struck.
pub fn until_stopped(child: &Child) {
    let stat = format!("/proc/{}/stat", child.id());
    let begun = Instant::now();
    let is_stopped = || {
        let stat = fs::read_to_string(&stat).unwrap();
        let (_, after_name) = stat.rsplit_once(')').unwrap();
        after_name.trim_start().starts_with('T')
    };
    while !is_stopped() {
        assert!(begun.elapsed() < STOP, "it does not stop");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Lets a stopped command go on.
pub fn resume(child: &Child) {
    let resumed = Command::new("kill")
        .args(["-CONT", &child.id().to_string()])
        .status();
    assert!(resumed.unwrap().success());
}

/// Parses a line of `FAULT_CALLS`.
fn call(line: &str, folder: &str) -> Call {
    let struck = line.strip_suffix(" !");
    let mut words = struck.unwrap_or(line).splitn(4, ' ');
    let mut word = || words.next().unwrap().to_owned();
    let (kind, _number, _function, path) = (word(), word(), word(), word());
    let within = path.strip_prefix(folder).unwrap_or(&path);
    Call {
        kind,
        path: within.trim_start_matches('/').to_owned(),
        was_struck: struck.is_some(),
    }
}
