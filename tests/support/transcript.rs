//! Command-line tests as text: Markdown files with input files, commands and what they print.
//!
//! A block ```` ```console ```` has lines `$ command`, typed into `sh`, with `> ` before further lines of a command. What follows
//! is standard output, then standard error with `! ` before each line, then `? status` unless it is 0. The other blocks whose
//! first line also names a file (```` ```jsonl day0.jsonl ````) are written to that file. All of a file runs in one folder, which
//! also has `two-cores.jsonl`.
//!
//! A command that ends with ` | pick FIELD...` prints these fields of each JSON object. Printed JSON is checked against its
//! schema. Times, sizes of files and the last digits of floating-point numbers are replaced; `[..]` matches any text in a line,
//! `...` any lines. `SEEDBANK_WRITE_TEXTS=1` rewrites the files.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use seedbank::display::is_invisible_control;
use serde_json::Value;
use snapbox::assert::Action;
use snapbox::data::DataFormat;
use snapbox::{Assert, Data};

use super::command::{Place, TWO_CORES};
use super::schemas::{fits, schema_of};

/// Tests of the `.md` files of a folder: one for each name, and one that no other file is there, besides those of tests that
/// prepare something.
#[macro_export]
macro_rules! transcripts {
    ($folder:literal, besides $besides:expr, $($name:ident)*) => {
        $(#[test] fn $name() {
            $crate::support::transcript::transcript(concat!($folder, "/", stringify!($name), ".md"));
        })*
        #[test] fn every_text_has_a_test() {
            $crate::support::transcript::are_all_named($folder, &$besides, &[$(stringify!($name)),*]);
        }
    };
}

/// Types the commands of a file in a new folder, and compares what they print.
#[track_caller]
pub fn transcript(file: &str) {
    transcript_in(&Place::new(), &[], file);
}

/// Types the commands of a file in a prepared folder, through a program and its arguments if they are given.
#[track_caller]
pub fn transcript_in(place: &Place, wrapper: &[&str], file: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let text = fs::read_to_string(&path).unwrap();
    let printed = replay(place, wrapper, &text);
    let expected = Data::read_from(&path, Some(DataFormat::Text));
    let action = match std::env::var_os("SEEDBANK_WRITE_TEXTS") {
        Some(_) => Action::Overwrite,
        None => Action::Verify,
    };
    Assert::new()
        .normalize_paths(false)
        .action(action)
        .eq(printed, expected);
}

/// Fails if a folder has a text that no test types.
#[track_caller]
pub fn are_all_named(folder: &str, besides: &[&str], names: &[&str]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let found = super::command::names(&path);
    let found = found.iter().filter_map(|name| name.strip_suffix(".md"));
    let expected: BTreeSet<&str> = names.iter().chain(besides).copied().collect();
    assert_eq!(found.collect::<BTreeSet<_>>(), expected);
}

/// The text with what its commands print now.
fn replay(place: &Place, wrapper: &[&str], text: &str) -> String {
    place.write("two-cores.jsonl", TWO_CORES);
    let mut replayed = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        writeln!(replayed, "{line}").unwrap();
        if !line.starts_with("```") {
            continue;
        }
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if line == "```console" {
            // What does not belong to a command is output, and printed anew.
            let is_typed = |line: &&str| line.starts_with("$ ") || line.starts_with("> ");
            let typed: Vec<&str> = block.into_iter().filter(is_typed).collect();
            for lines in typed.chunk_by(|_, next| next.starts_with("> ")) {
                let command: Vec<&str> = lines.iter().map(|line| &line[2..]).collect();
                let printed = run(place, wrapper, &command.join("\n"), text);
                write!(replayed, "{}\n{printed}", lines.join("\n")).unwrap();
            }
        } else {
            let content: String = block.iter().flat_map(|line| [*line, "\n"]).collect();
            if let Some((_, name)) = line.split_once(' ') {
                fs::create_dir_all(place.path(name).parent().unwrap()).unwrap();
                place.write(name, &content);
            }
            replayed += &content;
        }
        replayed += "```\n";
    }
    replayed
}

/// What a command prints, and its status.
fn run(place: &Place, wrapper: &[&str], command: &str, text: &str) -> String {
    let (line, fields) = match command.rsplit_once(" | pick ") {
        Some((line, fields)) => (line, Some(fields)),
        None => (command, None),
    };
    let mut shell = place.shell(wrapper, line);
    let ended = shell.stdin(Stdio::null()).output().unwrap();
    let [out, err] = [ended.stdout, ended.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(!err.contains("panicked"), "{command}: {err}");
    if let Some(schema) = schema_of(line) {
        for object in out.lines().filter(|line| line.starts_with('{')) {
            fits(&schema, &serde_json::from_str(object).unwrap());
        }
    }
    let out = match fields {
        Some(fields) => out.lines().map(|line| pick(line, fields) + "\n").collect(),
        None => out,
    };
    let mut shown = String::new();
    for line in stable(place, text, &out).split_terminator('\n') {
        let is_ambiguous =
            line.starts_with("$ ") || line.starts_with("> ") || line.starts_with("```");
        assert!(!is_ambiguous, "{command}: {line}");
        writeln!(shown, "{}", printable(line)).unwrap();
    }
    for line in stable(place, text, &err).lines() {
        writeln!(shown, "{}", format!("! {}", printable(line)).trim_end()).unwrap();
    }
    if !ended.status.success() {
        writeln!(shown, "? {}", ended.status.code().unwrap()).unwrap();
    }
    shown
}

/// Some fields of a JSON object; other lines stay as they are.
fn pick(line: &str, fields: &str) -> String {
    let Ok(object @ Value::Object(_)) = serde_json::from_str(line) else {
        return line.to_owned();
    };
    let picked = fields.split(' ').map(|field| {
        let value = object.pointer(&format!("/{}", field.replace('.', "/")));
        format!("{field}={}", value.unwrap_or(&Value::Null))
    });
    picked.collect::<Vec<_>>().join(" ")
}

/// What differs from run to run or says nothing, and what replaces it.
static UNSTABLE: LazyLock<[(Regex, &str); 4]> = LazyLock::new(|| {
    [
        (r"\n\nFor more information, try '--help'\.", ""),
        (
            r#"("(?:at|age|seconds|previous_seconds|peak_memory|[a-z_]*bytes)":)[0-9.e-]+"#,
            "$1[N]",
        ),
        (r"\b\d+(\.\d+)? (ms|s|min)\b", "[N] $2"),
        (r"\b\d+\.\d+ (KiB|MiB|GiB)\b", "[N] $1"),
    ]
    .map(|(pattern, with)| (Regex::new(pattern).unwrap(), with))
});

static DATES: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(\d{4}-\d\d-\d\d)([T ]\d\d:\d\d(:\d\d)?(\.\d+)?Z?)?").unwrap());

static FLOATS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\d+\.\d{7,}(e-?\d+)?").unwrap());

/// The text without what differs from run to run. Dates that the test's own text has are kept.
pub fn stable(place: &Place, text: &str, printed: &str) -> String {
    let folder = place.path("");
    let folder = folder.to_str().unwrap().trim_end_matches('/');
    let mut printed = printed.replace(folder, "[FOLDER]");
    for (pattern, with) in &*UNSTABLE {
        printed = pattern.replace_all(&printed, *with).into_owned();
    }
    let date = |date: &Captures| {
        let mut lines = text.lines().filter(|line| line.contains(&date[1]));
        let is_own = lines.any(|line| !line.contains("[DATE]"));
        if is_own {
            date[0].to_owned()
        } else {
            "[DATE]".to_owned()
        }
    };
    let printed = DATES.replace_all(&printed, date);
    let number = |number: &Captures| format!("{:.6}", number[0].parse::<f64>().unwrap());
    FLOATS.replace_all(&printed, number).into_owned()
}

/// The line with its control characters escaped.
fn printable(line: &str) -> String {
    let escaped = line.chars().map(|c| match c {
        c if c != '\t' && is_invisible_control(c) => c.escape_default().to_string(),
        c => c.to_string(),
    });
    escaped.collect()
}
