//! Errors of the operating system, each with what a command prints, in `tests/storage/system_errors.txt`: a changed message
//! shows up in the diff of that file.
//!
//! Each row strikes one call of a command by the preloaded library (`faults/fault.c`). Afterwards, without the fault, `check`
//! finds nothing wrong, and no file was moved to `damaged`. Bug classes: a file that could not be opened for lack of file
//! descriptors is taken for a missing one, and `repair` moves a good state aside; a folder that could not be listed is taken
//! for an empty one; a lock that the file system does not have is taken for one that another process holds.
//!
//! The file is also the list of the rows: each begins with `$ `, and the exit status and the messages follow. A row is
//! `KIND MODE ERROR PATH: COMMAND`, as in `fault.c`. To add one, add it to the file;
//! `SEEDBANK_WRITE_TEXTS=1 cargo nextest run --test storage system_errors` writes what it prints.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::preload;
use crate::support::command::{Place, TWO_CORES, clean, record};
use crate::support::folders::copy;
use crate::support::{scratch, skipped::skipped};

/// The file with the rows and what they print.
const ROWS: &str = "tests/storage/system_errors.txt";

/// The error numbers of Linux.
const ERRORS: [(&str, i32); 16] = [
    ("EPERM", 1),
    ("EINTR", 4),
    ("EIO", 5),
    ("ENOMEM", 12),
    ("EACCES", 13),
    ("EXDEV", 18),
    ("EINVAL", 22),
    ("ENFILE", 23),
    ("EMFILE", 24),
    ("ENOSPC", 28),
    ("EROFS", 30),
    ("EMLINK", 31),
    ("ENOLCK", 37),
    ("ENOSYS", 38),
    ("EOPNOTSUPP", 95),
    ("ESTALE", 116),
];

/// A place with a bank, a bank of three parts, each with a batch and a refresh, and backups of the first one.
fn place() -> Place {
    let place = Place::new();
    place.write("day0.jsonl", TWO_CORES);
    place.write(
        "day1.jsonl",
        record("http://new.example/", &["http://h1.example/"]),
    );
    fs::create_dir(place.path("disk")).unwrap();
    place.run(&["init", "disk/bank"]).done();
    place
        .run(&["cluster", "init", "disk/parts", "--banks", "3"])
        .done();
    for bank in ["disk/bank", "disk/parts"] {
        place
            .run(&["ingest", bank, "--snapshot", "day0.jsonl"])
            .done();
        place
            .run(&["refresh", bank, "--method", "cores", "--within", "0"])
            .done();
        // Moves the log to table files.
        place.run(&["compact", bank]).done();
    }
    place.run(&["backup", "disk/bank", "disk/backups"]).done();
    place
}

/// A row of the file.
struct Row<'a> {
    point: String,
    path: &'a str,
    args: Vec<&'a str>,
}

impl<'a> Row<'a> {
    fn parse(line: &'a str) -> Self {
        let (fault, args) = line.split_once(": ").unwrap();
        let mut words = fault.split(' ');
        let mut word = || words.next().unwrap();
        let (kind, mode, error, path) = (word(), word(), word(), word());
        let error = ERRORS.iter().find(|(name, _)| *name == error).unwrap().1;
        Self {
            point: format!("{kind} 1 {mode} {error}"),
            path,
            args: args.split(' ').collect(),
        }
    }

    /// The command, struck by the library, with the calls in the file `calls`.
    fn command(&self, library: &Path, place: &Path) -> Command {
        let mut command = clean(env!("CARGO_BIN_EXE_seedbank"));
        command
            .args(&self.args)
            .args(["--threads=1", "--no-progress"])
            .current_dir(place)
            .stdin(Stdio::null())
            .env("LC_ALL", "C")
            .env("LD_PRELOAD", library)
            .env("FAULT_FOLDER", place.join("disk").canonicalize().unwrap())
            .env("FAULT_CALLS", place.join("calls"))
            .env("FAULT_SECONDS", "100")
            .env("FAULT_POINT", &self.point)
            .env("FAULT_PATH", self.path);
        command
    }

    /// Runs the command in a copy of what was prepared; returns its status and messages.
    fn run(&self, library: &Path, prepared: &Path, place: &Path) -> String {
        copy(prepared, place);
        let ended = self.command(library, place).output().unwrap();
        let calls = fs::read_to_string(place.join("calls")).unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut printed = text(&ended.stderr);
        if ended.status.code() == Some(4) {
            printed = text(&ended.stdout) + &printed;
        }
        if !calls.contains(" !\n") {
            printed.push_str("(nothing was struck)\n");
        }
        for bank in ["disk/bank", "disk/parts"] {
            if place.join(bank).join("damaged").exists() {
                printed.push_str("(files were moved)\n");
            }
            let check = clean(env!("CARGO_BIN_EXE_seedbank"))
                .args(["check", bank])
                .current_dir(place)
                .output()
                .unwrap();
            if !check.status.success() {
                let found = text(&check.stdout);
                printed.push_str("(afterwards ");
                printed.push_str(bank);
                printed.push_str(" is damaged)\n");
                printed.push_str(&found);
            }
        }
        // Warnings begin with the time.
        let without_time = |line: &str| match line.split_once("Z  WARN ") {
            Some((_, warning)) => format!("WARN {warning}\n"),
            None => format!("{line}\n"),
        };
        let printed: String = printed.lines().map(without_time).collect();
        let printed = printed.replace(place.to_str().unwrap(), "PLACE");
        format!(
            "status {}\n{}\n",
            ended.status.code().unwrap(),
            masked(printed.trim_end())
        )
        .trim_end()
        .to_owned()
            + "\n"
    }
}

/// Replaces what depends on the build or on what ran before: numbers of files of RocksDB, positions and hashes.
fn masked(text: &str) -> String {
    let mut masked = String::new();
    for part in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let word = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        let is_position = ["offset ", "len "]
            .iter()
            .any(|before| masked.ends_with(before));
        let word = match word.len() {
            6 if is_number => "NNNNNN",
            1.. if is_number && is_position => "N",
            64 => "HASH",
            _ => word,
        };
        masked.push_str(word);
        masked.push_str(part.trim_start_matches(|c: char| c.is_ascii_alphanumeric()));
    }
    masked
}

#[test]
fn errors_of_the_system_are_no_damage() {
    let folder = scratch();
    let Some(library) = preload::build("faults/fault.c", folder.path()) else {
        skipped("system_errors", "a C compiler", "install cc");
        return;
    };
    let prepared = place();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(ROWS);
    let wanted = fs::read_to_string(&golden).unwrap();
    let rows: Vec<&str> = wanted
        .lines()
        .filter_map(|line| line.strip_prefix("$ "))
        .collect();
    let texts: Mutex<Vec<String>> = Mutex::new(vec![String::new(); rows.len()]);
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::SeqCst);
                    let Some(row) = rows.get(number) else {
                        return;
                    };
                    let place = folder.path().join(number.to_string());
                    let text = Row::parse(row).run(&library, &prepared.path("."), &place);
                    fs::remove_dir_all(&place).unwrap();
                    texts.lock().unwrap()[number] = text;
                }
            });
        }
    });
    let mut texts = texts.into_inner().unwrap().into_iter();
    let mut text = String::new();
    for line in wanted.lines() {
        // The rows and the headings are kept; what follows them is written anew.
        if line.starts_with("$ ") {
            writeln!(text, "{line}\n{}", texts.next().unwrap()).unwrap();
        } else if line.starts_with('#') {
            writeln!(text, "{line}\n").unwrap();
        }
    }
    let text = format!("{}\n", text.trim_end());
    if std::env::var_os("SEEDBANK_WRITE_TEXTS").is_some() {
        fs::write(&golden, &text).unwrap();
    }
    for wrong in [
        "damaged",
        "(nothing was struck)",
        "(files were moved)",
        "panicked",
    ] {
        assert!(!text.contains(wrong), "{wrong}: {text}");
    }
    assert!(rows.len() >= 60, "only {} rows", rows.len());
    let blocks = |text: &str| -> Vec<String> { text.split("\n\n").map(str::to_owned).collect() };
    let differ: Vec<_> = blocks(&wanted)
        .into_iter()
        .zip(blocks(&text))
        .filter(|(wanted, found)| wanted != found)
        .collect();
    assert!(
        wanted == text,
        "not the texts of {ROWS} (SEEDBANK_WRITE_TEXTS=1 writes it anew): {differ:#?}"
    );
}

#[test]
fn a_low_limit_on_open_files_is_named() {
    let place = Place::new();
    place.write("day0.jsonl", TWO_CORES);
    place
        .run(&["cluster", "init", "bank", "--banks", "32"])
        .done();
    place
        .run(&["ingest", "bank", "--snapshot", "day0.jsonl"])
        .done();
    let before = place.run(&["check", "bank"]).done();
    let limited = |args: &str| {
        let program = env!("CARGO_BIN_EXE_seedbank");
        let script = format!("ulimit -n 40; exec '{program}' {args}");
        place.run_command(clean("bash").args(["-c", &script]))
    };
    for args in [
        "status bank",
        "check bank",
        "search bank h1",
        "refresh bank --method cores",
        "undo bank",
        "backup bank backups",
    ] {
        let error = limited(args).fails(1);
        assert!(error.contains("Too many open files"), "{args}: {error}");
        assert!(
            error.contains("hint: raise the limit on open files"),
            "{args}: {error}"
        );
    }
    assert_eq!(place.run(&["check", "bank"]).done(), before);
}
