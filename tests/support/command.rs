//! Runs the `seedbank` command as a user types it, in a folder of its own.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use seedbank::watch::Unwatched;
use seedbank_store::Writer;
use serde_json::Value;

/// A folder for one test; the command runs in it.
pub struct Place {
    folder: tempfile::TempDir,
}

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit status; `None` where a signal ended it.
    pub status: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ended {
    fn new(output: Output) -> Self {
        let ended = Self {
            status: output.status.code(),
            out: String::from_utf8(output.stdout).expect("output is UTF-8"),
            err: String::from_utf8(output.stderr).expect("errors are UTF-8"),
        };
        assert!(!ended.err.contains("panicked"), "{}", ended.err);
        ended
    }

    /// The result; the command must have succeeded.
    #[track_caller]
    pub fn done(self) -> String {
        assert_eq!(self.status, Some(0), "{self:?}");
        self.out
    }

    /// The text of the error, which must come with this status and with nothing on standard output.
    #[track_caller]
    pub fn fails(self, status: i32) -> String {
        assert_eq!(self.status, Some(status), "{self:?}");
        assert_eq!(self.out, "");
        assert!(self.err.starts_with("error: "), "{}", self.err);
        self.err
    }

    /// The one JSON object that was printed.
    #[track_caller]
    pub fn json(self) -> Value {
        let out = self.done();
        assert_eq!(out.lines().count(), 1, "{out}");
        serde_json::from_str(&out).unwrap()
    }

    /// The JSON objects that were printed.
    #[track_caller]
    pub fn json_lines(self) -> Vec<Value> {
        let out = self.done();
        out.lines()
            .map(|l| serde_json::from_str(l).unwrap())
            .collect()
    }
}

/// The command without the settings of the person who runs the tests.
pub fn clean(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("SEEDBANK_") {
            command.env_remove(name);
        }
    }
    command
}

impl Place {
    pub fn new() -> Self {
        Self {
            folder: super::scratch(),
        }
    }

    /// A place with an empty bank in `bank`.
    pub fn with_bank() -> Self {
        let place = Self::new();
        place.run(&["init", "bank"]).done();
        place
    }

    /// A place with a bank of two cores, one batch and one refresh.
    pub fn with_seeds() -> Self {
        let place = Self::with_bank();
        place.write("day0.jsonl", TWO_CORES);
        place
            .run(&["ingest", "bank", "--snapshot", "day0.jsonl"])
            .done();
        place
            .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
            .done();
        place
    }

    /// A place with the first day of a generated crawl of so many pages in a bank, and the second one in
    /// `crawl/day-001.jsonl.zst`.
    pub fn with_crawl(pages: &str) -> Self {
        let place = Self::with_bank();
        place
            .run(&["synth", "crawl", "--pages", pages, "--days", "1"])
            .done();
        place
            .run(&["ingest", "bank", "crawl/day-000.jsonl.zst", "--snapshot"])
            .done();
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    /// The command, not started yet.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = clean(env!("CARGO_BIN_EXE_seedbank"));
        command.args(args).current_dir(self.folder.path());
        command
    }

    /// A line for `sh`, which finds the command, not started yet; through a program and its arguments if they are given.
    pub fn shell(&self, wrapper: &[&str], line: &str) -> Command {
        let folder = Path::new(env!("CARGO_BIN_EXE_seedbank")).parent().unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let words = [wrapper, &["sh", "-c", line]].concat();
        let mut command = clean(words[0]);
        command
            .args(&words[1..])
            .env("PATH", format!("{}:{path}", folder.display()))
            .env("LC_ALL", "C")
            .current_dir(self.folder.path());
        command
    }

    pub fn run(&self, args: &[&str]) -> Ended {
        self.run_with(args, b"")
    }

    /// Runs with this standard input.
    pub fn run_with(&self, args: &[&str], input: &[u8]) -> Ended {
        let mut child = self.spawn(args);
        let mut pipe = child.stdin.take().unwrap();
        // The command may have seen enough before the end.
        let _ = pipe.write_all(input);
        drop(pipe);
        Ended::new(child.wait_with_output().unwrap())
    }

    pub fn run_command(&self, command: &mut Command) -> Ended {
        Ended::new(command.current_dir(self.folder.path()).output().unwrap())
    }

    /// Runs with files of at most so many KiB: what comes closest to a full disk without being root.
    pub fn run_limited(&self, limit: &str, args: &str) -> Ended {
        let program = env!("CARGO_BIN_EXE_seedbank");
        let script = format!("ulimit -f {limit}; exec '{program}' {args}");
        self.run_command(clean("bash").args(["-c", &script]))
    }

    /// Fails as on a full disk, with a hint; returns the error.
    #[track_caller]
    pub fn fails_when_full(&self, limit: &str, args: &str) -> String {
        let error = self.run_limited(limit, args).fails(1);
        assert!(error.contains("File too large"), "{args}, {limit}: {error}");
        assert!(
            error.contains("hint: free disk space"),
            "{args}, {limit}: {error}"
        );
        error
    }

    /// What `status` prints of what a bank holds.
    #[track_caller]
    pub fn holds(&self, bank: &str) -> Value {
        let status = self.status_of(bank);
        [
            "site_mode",
            "url_rules",
            "sites",
            "known",
            "crawled",
            "gone",
            "spam",
            "intra_links",
            "inter_links",
            "rows",
            "row_links",
        ]
        .into_iter()
        .map(|field| {
            assert!(!status[field].is_null(), "{field}");
            (field.to_owned(), status[field].clone())
        })
        .collect::<serde_json::Map<String, Value>>()
        .into()
    }

    /// Starts the command with pipes.
    pub fn spawn(&self, args: &[&str]) -> Child {
        self.command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Makes a named pipe.
    pub fn named_pipe(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        let made = Command::new("mkfifo").arg(&path).status();
        assert!(made.is_ok_and(|made| made.success()));
        path
    }

    /// Runs a command whose input stalls, sends one signal once signals are caught, and waits for its end. Standard
    /// input stays open until then.
    #[cfg(target_os = "linux")]
    pub fn signalled(&self, args: &[&str], name: &str) -> Ended {
        let mut child = self.spawn(args);
        let input = child.stdin.take();
        while !catches_interrupts(child.id()) {
            std::thread::sleep(Duration::from_millis(1));
        }
        signal(name, child.id());
        let mut looks = 0;
        while child.try_wait().unwrap().is_none() {
            looks += 1;
            if looks > 600 {
                child.kill().unwrap();
                panic!("{args:?} went on: {:?}", wait(child));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        drop(input);
        wait(child)
    }

    /// Has all of the bank in files of tables, merged, and nothing in the log, where small batches
    /// stay.
    pub fn merge(&self) {
        let writer = Writer::open(&self.path("bank"), false, &Unwatched).unwrap();
        writer.compact(&Unwatched).unwrap();
    }

    /// What `status` prints of a state, without what is on disk, when it was asked, and ages.
    #[track_caller]
    pub fn status(&self) -> Value {
        self.status_of("bank")
    }

    /// The same of a bank of another name.
    #[track_caller]
    pub fn status_of(&self, bank: &str) -> Value {
        let mut status = self.run(&["status", bank, "--format", "json"]).json();
        let fields = status.as_object_mut().unwrap();
        for other in [
            "tables",
            "groups",
            "folder_bytes",
            "log_bytes",
            "bits_per_link",
            "at",
        ] {
            fields.remove(other).unwrap();
        }
        // A refused batch is remembered, but changes no state.
        fields.remove("refused");
        if let Some(batch) = fields["last_batch"].as_object_mut() {
            batch.remove("age").unwrap();
        }
        for plan in fields["plans"].as_array_mut().unwrap() {
            plan.as_object_mut().unwrap().remove("age").unwrap();
        }
        status
    }

    /// Everything that can be seen of a bank, except for what its tables take on disk; it must be
    /// sound.
    #[track_caller]
    pub fn state(&self) -> Value {
        let status = self.status();
        let mut history = self.run(&["history", "bank", "--format", "json"]).json();
        history.as_object_mut().unwrap().remove("refused");
        let check = self.run(&["check", "bank", "--format", "json"]).json();
        assert_eq!(check["clean"], true, "{check}");
        serde_json::json!({"status": status, "history": history, "check": check})
    }
}

/// Sends a signal to a process.
pub fn signal(name: &str, process: u32) {
    let sent = Command::new("kill")
        .args([name, &process.to_string()])
        .status();
    assert!(sent.is_ok_and(|sent| sent.success()));
}

/// Whether a process catches Ctrl-C by now: before, the signal would simply end it.
#[cfg(target_os = "linux")]
pub fn catches_interrupts(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = u64::from_str_radix(caught.unwrap().trim(), 16).unwrap();
    // Signals are bits from 1, and SIGINT is number 2.
    caught & 0b10 != 0
}

/// How a command that was started ended.
pub fn wait(child: Child) -> Ended {
    Ended::new(child.wait_with_output().unwrap())
}

/// The text of a record that is crawled, with its line end.
pub fn record(url: &str, outlinks: &[&str]) -> String {
    serde_json::json!({"url": url, "outlinks": outlinks}).to_string() + "\n"
}

/// The names in a folder, in order.
pub fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Three hubs that lead to the same three authorities, and two that lead to the same two, all on
/// sites of their own. Both groups are complete, so sigma is 3 and 2, and hub scores are 1 over the
/// root of the number of hubs.
pub const TWO_CORES: &str = r#"{"url": "http://h1.example/", "outlinks": ["http://a1.example/", "http://a2.example/", "http://a3.example/"]}
{"url": "http://h2.example/", "outlinks": ["http://a1.example/", "http://a2.example/", "http://a3.example/"]}
{"url": "http://h3.example/", "outlinks": ["http://a1.example/", "http://a2.example/", "http://a3.example/"]}
{"url": "http://k1.example/x,y", "outlinks": ["http://b1.example/", "http://b2.example/"]}
{"url": "http://k2.example/", "outlinks": ["http://b1.example/", "http://b2.example/"]}
"#;
