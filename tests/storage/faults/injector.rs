//! Runs commands with the library that lets their calls fail (`fault.c`).

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::preload;
use crate::support::command::clean;

/// How long a command may take, in seconds, before it counts as hanging.
const BOUND: &str = "100";

const SIGKILL: i32 = 9;

/// The folder, within the place of a command, whose changes are counted.
pub const DISK: &str = "disk";

/// A call that is to be struck.
#[derive(Clone, Debug)]
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
            28 => " ENOSPC",
            _ => " EDQUOT",
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
    /// Its exit status; `None` where a signal ended it.
    pub status: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    pub out: String,
    pub err: String,
    /// What it called, if that was asked for.
    pub calls: Vec<Call>,
}

impl Ended {
    /// Whether it was killed as the point says, and not by anything else.
    pub fn was_killed(&self) -> bool {
        self.signal == Some(SIGKILL)
    }

    /// How it ended and what it printed, in one text.
    pub fn told(&self) -> String {
        let signal = self.signal.map(|signal| format!("signal {signal}"));
        let status = self.status.map(|status| format!("status {status}"));
        let how = status.or(signal).unwrap_or_default();
        format!("{how}: {}{}", self.out.trim(), self.err.trim())
    }

    /// How many calls of each kind it made.
    pub fn counts(&self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for call in &self.calls {
            *counts.entry(call.kind.clone()).or_default() += 1;
        }
        counts
    }

    /// The paths of the calls that were struck, the first one of them.
    pub fn struck(&self) -> Option<&Call> {
        self.calls.iter().find(|call| call.was_struck)
    }
}

/// What strikes calls.
pub struct Injector {
    library: PathBuf,
    /// Whether each command is printed with how it ended.
    pub prints: bool,
}

impl Injector {
    /// Builds the library into `place`; `None` where there is no C compiler.
    pub fn build(place: &Path) -> Option<Self> {
        let library = preload::build("faults/fault.c", place)?;
        Some(Self {
            library,
            prints: false,
        })
    }

    fn command(&self, place: &Path, args: &[&str]) -> Command {
        let mut command = clean(env!("CARGO_BIN_EXE_seedbank"));
        command
            .args(args)
            .arg("--threads=1")
            .current_dir(place)
            .env("LD_PRELOAD", &self.library)
            .env("FAULT_SECONDS", BOUND);
        command
    }

    /// Starts a command in `place` that is struck at a point, whose number counts the calls on paths with this end.
    pub fn start_struck(&self, place: &Path, args: &[&str], point: &Point, path: &str) -> Child {
        let disk = place.join(DISK).canonicalize().unwrap();
        self.command(place, args)
            .env("FAULT_FOLDER", disk)
            .env("FAULT_CALLS", place.join("calls"))
            .env("FAULT_POINT", point.setting())
            .env("FAULT_PATH", path)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    fn start(&self, place: &Path, args: &[&str], watched: &[(&str, &str)]) -> Ended {
        let mut command = self.command(place, args);
        let ended = command.envs(watched.iter().copied()).output().unwrap();
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let ended = Ended {
            status: ended.status.code(),
            signal: ended.status.signal(),
            out: text(&ended.stdout),
            err: text(&ended.stderr),
            calls: Vec::new(),
        };
        if self.prints {
            let begin: String = ended.told().chars().take(400).collect();
            eprintln!("{}: {begin}", args.join(" "));
        }
        ended
    }

    /// Runs a command in `place`, undisturbed.
    pub fn run(&self, place: &Path, args: &[&str]) -> Ended {
        self.start(place, args, &[])
    }

    /// Runs a command in `place`, strikes it at a point, and writes down its calls below
    /// [`DISK`].
    pub fn strike(&self, place: &Path, args: &[&str], point: Option<&Point>) -> Ended {
        let disk = place.join(DISK).canonicalize().unwrap();
        let file = place.join("calls");
        fs::write(&file, "").unwrap();
        let point = point.map(Point::setting);
        let (folder, calls) = (disk.to_str().unwrap(), file.to_str().unwrap());
        let mut watched = vec![("FAULT_FOLDER", folder), ("FAULT_CALLS", calls)];
        watched.extend(point.as_deref().map(|point| ("FAULT_POINT", point)));
        let mut ended = self.start(place, args, &watched);
        let text = fs::read_to_string(&file).unwrap();
        ended.calls = text.lines().map(|line| call(line, folder)).collect();
        ended
    }
}

/// A line of `FAULT_CALLS`.
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
