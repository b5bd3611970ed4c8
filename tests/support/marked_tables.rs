//! Tables in documents that commands give: what stands between `<!-- table: NAME -->` and `<!-- end -->`. A test computes and
//! compares it; with `SEEDBANK_WRITE_TEXTS=1` it rewrites it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;

use seedbank::display::thousands;
use serde_json::Value;

use super::command::Place;

/// What a cell has if there is no figure.
pub const ABSENT: &str = "–";

/// Banks in a folder of their own, and commands about them.
pub struct Banks {
    place: Place,
}

impl Banks {
    /// Runs a script that makes banks, line by line, in a folder where `data` has the real graphs.
    pub fn new(shared: &Path, script: &str) -> Self {
        let place = Place::new();
        let data = shared.join("data").canonicalize().unwrap();
        symlink(data, place.path("data")).unwrap();
        let banks = Self { place };
        for line in script.lines() {
            banks.run(line, &[]);
        }
        banks
    }

    /// Types a line with values for its shell variables, and returns the JSON objects that it prints; none if the bank does
    /// not have what the command needs (status 2).
    #[track_caller]
    pub fn run(&self, line: &str, variables: &[(&str, &str)]) -> Vec<Value> {
        let mut command = self.place.shell(&[], &format!("set -e\n{line}"));
        let variables = variables.iter().copied();
        command.envs(variables).stdin(Stdio::null());
        let ended = self.place.run_command(&mut command);
        if ended.status == Some(2) && ended.err.contains("error: no site has") {
            return Vec::new();
        }
        let printed = ended.done();
        let objects = printed.lines().filter(|line| line.starts_with('{'));
        objects
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The same of a command that prints one object; null if it prints none.
    #[track_caller]
    pub fn one(&self, line: &str, variables: &[(&str, &str)]) -> Value {
        self.run(line, variables).pop().unwrap_or_default()
    }
}

/// Commands as a block of code.
pub fn commands(lines: &str) -> String {
    format!("```sh\n{}\n```\n\n", lines.trim_end())
}

/// A table in Markdown, without the rows that have no figures.
pub fn table(head: &[&str], rows: Vec<Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head: Vec<String> = head.iter().map(|&cell| cell.to_owned()).collect();
    let mut text = line(&head) + &line(&vec!["---".to_owned(); head.len()]);
    let mut rows = rows;
    rows.retain(|row| row[1..].iter().any(|cell| cell != ABSENT));
    text.extend(rows.iter().map(|row| line(row)));
    text + "\n"
}

/// A figure of an answer, by its JSON pointer.
pub fn figure(answer: &Value, pointer: &str) -> Option<f64> {
    answer.pointer(pointer)?.as_f64()
}

/// A number with so many decimals.
pub fn number(number: Option<f64>, decimals: usize) -> String {
    let Some(number) = number else {
        return ABSENT.to_owned();
    };
    let text = format!("{:.decimals$}", number.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    // No zero has a sign.
    let is_zero = text.bytes().all(|byte| b"0.".contains(&byte));
    let sign = if number < 0.0 && !is_zero { "-" } else { "" };
    format!("{sign}{}{rest}", thousands(whole))
}

/// A mean with its standard error, both multiplied by `scale`.
pub fn estimate(answer: &Value, pointer: &str, scale: f64, decimals: usize) -> String {
    let figure = |name: &str| figure(answer, &format!("{pointer}/{name}")).map(|x| x * scale);
    let error = figure("standard_error");
    let error = error.map_or_else(String::new, |_| format!(" ±{}", number(error, decimals)));
    number(figure("mean"), decimals) + &error
}

/// Compares these tables of a document, or rewrites them. Its other tables are those of other tests.
#[track_caller]
pub fn check(document: &str, mut tables: BTreeMap<&str, String>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join(document);
    // Another test may rewrite another table at the same time.
    let lock = File::open(&path).unwrap();
    lock.lock().unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let tests = ["baselines.rs", "papers.rs"];
    let tests = tests.map(|test| fs::read_to_string(root.join("tests/golden").join(test)).unwrap());
    let mut written = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        writeln!(written, "{line}").unwrap();
        let name = line.strip_prefix("<!-- table: ");
        let Some(name) = name.and_then(|name| name.strip_suffix(" -->")) else {
            continue;
        };
        let old: Vec<&str> = lines
            .by_ref()
            .take_while(|line| *line != "<!-- end -->")
            .collect();
        let table = tables.remove(name).unwrap_or_else(|| {
            let is_named = |test: &String| test.contains(&format!("\"{name}\""));
            assert!(
                tests.iter().any(is_named),
                "{document}: nothing computes table {name}"
            );
            old.join("\n")
        });
        writeln!(written, "\n{}\n\n<!-- end -->", table.trim()).unwrap();
    }
    assert!(tables.is_empty(), "{document} lacks tables: {tables:?}");
    if std::env::var_os("SEEDBANK_WRITE_TEXTS").is_some() {
        return fs::write(path, written).unwrap();
    }
    for (number, (found, expected)) in (1..).zip(text.lines().zip(written.lines())) {
        assert_eq!(
            found, expected,
            "{document}, line {number}: SEEDBANK_WRITE_TEXTS=1 rewrites it"
        );
    }
    assert_eq!(text.lines().count(), written.lines().count(), "{document}");
}
