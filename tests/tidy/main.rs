//! The repository checks itself: lines, lengths of files, who imports whom, names, dependencies, paths in
//! documents.
#![allow(clippy::unwrap_used, clippy::panic)]

mod crates;
mod imports;
mod orders;
mod packages;
#[cfg(target_os = "linux")]
mod rocksdb_units;
mod words;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The most lines of a file. A file holds one concept; a longer one holds two.
const LONGEST: usize = 1_500;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    files(folder, "rs")
}

/// The files of a folder whose names end so, with their texts.
fn files(folder: &str, ending: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == ending)
            {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path.strip_prefix(root()).unwrap().to_path_buf(), text));
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no {ending} in {folder}");
    found
}

/// The lines that the product runs: no comments, and nothing from where a file's tests begin.
fn product(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().take_while(|line| *line != "#[cfg(test)]");
    (1..)
        .zip(lines)
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}

fn fail_on(what: &str, found: &[String]) {
    assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
}

/// The most lines of Rust: in all, in `src` without tests, and of tests. A change that needs more removes others, or raises a
/// number here and says in its message which figure pays for it.
const MOST_LINES: [(&str, usize); 3] = [
    ("in all", 240_734),
    ("in src without tests", 163_096),
    ("of tests", 77_638),
];

/// Returns the lines of a source file that are not tests, and those that are: a file named `tests.rs` or `*_tests.rs`, what
/// follows the first `#[cfg(test)]` of a module with a body, or a file outside `src`.
fn lines_by_purpose(path: &Path, text: &str) -> (usize, usize) {
    let all = text.lines().count();
    let name = path.file_stem().unwrap().to_string_lossy();
    if !path.starts_with("src") || name == "tests" || name.ends_with("_tests") {
        return (0, all);
    }
    let lines: Vec<&str> = text.lines().collect();
    let is_test = |pair: &[&str]| {
        pair[0] == "#[cfg(test)]" && pair[1].contains("mod ") && pair[1].ends_with('{')
    };
    let code = lines.windows(2).position(is_test).unwrap_or(all);
    (code, all - code)
}

#[test]
fn lines_are_within_their_budget() {
    let (mut code, mut tests) = (0, 0);
    for folder in ["src", "tests", "benches"] {
        for (path, text) in sources(folder) {
            let (of_code, of_tests) = lines_by_purpose(&path, &text);
            code += of_code;
            tests += of_tests;
        }
    }
    let counted = [code + tests, code, tests];
    let over = MOST_LINES.iter().zip(counted);
    let over = over.filter(|((_, most), found)| found > most);
    let over: Vec<String> = over
        .map(|((what, most), found)| format!("{found} lines {what}, expected at most {most}"))
        .collect();
    fail_on("lines of Rust", &over);
}

#[test]
fn files_hold_one_concept() {
    let mut long = Vec::new();
    for folder in ["src", "tests", "benches"] {
        for (path, text) in sources(folder) {
            let lines = text.lines().count();
            if lines > LONGEST {
                long.push(format!("{} has {lines} lines", path.display()));
            }
        }
    }
    fail_on("each is likely to be two concepts", &long);
}

/// RocksDB is in the store alone since no other package names it; records are in one file.
#[test]
fn one_file_knows_the_codec_of_records() {
    let mut wrong = Vec::new();
    for (path, text) in sources("src") {
        let is_home = path == Path::new("src/store/tables/codec.rs");
        for (number, line) in product(&text) {
            let is_test = path.to_string_lossy().ends_with("_tests.rs");
            if line.contains("bincode::") && !is_home && !is_test {
                wrong.push(format!("{}:{number}: {}", path.display(), line.trim()));
            }
        }
    }
    fail_on("bincode outside src/store/tables/codec.rs", &wrong);
}

#[test]
fn nothing_is_left_open() {
    // Written in parts, so that this file does not find itself.
    let marks = [
        concat!("#[ign", "ore"),
        concat!("todo", "!("),
        concat!("unimpl", "emented!("),
        concat!("FIX", "ME"),
        concat!("XX", "X"),
    ];
    let mut open = Vec::new();
    for folder in ["src", "tests", "benches"] {
        for (path, text) in sources(folder) {
            for (number, line) in (1..).zip(text.lines()) {
                if marks.iter().any(|mark| line.contains(mark)) {
                    open.push(format!("{}:{number}: {}", path.display(), line.trim()));
                }
            }
        }
    }
    fail_on("left open", &open);
}

/// A `proptest!` block prints the line that repeats a failed case. Without the file of these lines, and in a runner, only a
/// seed repeats it.
#[test]
fn failed_properties_can_be_repeated() {
    let runner = concat!("TestRunner", "::new(");
    let persistence = concat!("failure_", "persistence");
    let mut found = Vec::new();
    for folder in ["src", "tests"] {
        for (path, text) in sources(folder) {
            let has_seed = text.contains("repeatable(");
            if text.contains(persistence) && !path.ends_with("support/properties.rs")
                || text.contains(runner) && !has_seed && !text.contains("with_source_file(")
            {
                found.push(path.display().to_string());
            }
        }
    }
    fail_on("use `repeatable` of tests/support/properties.rs", &found);
}

#[test]
fn files_have_names() {
    let no_names = [
        "util", "utils", "helper", "helpers", "common", "manager", "misc", "new",
    ];
    let mut found = Vec::new();
    for folder in ["src", "tests", "benches"] {
        for (path, _) in sources(folder) {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            if no_names.contains(&name.as_str()) {
                found.push(path.display().to_string());
            }
        }
    }
    fail_on("these names say nothing", &found);
}

/// The documents that lead a reader to files.
fn documents() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = [
        "README.md",
        "benches/README.md",
        "tests/README.md",
        ".github/CONTRIBUTING.md",
    ]
    .map(PathBuf::from)
    .into();
    for entry in fs::read_dir(root().join("src/guide")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path.strip_prefix(root()).unwrap().to_path_buf());
        }
    }
    found.sort();
    assert!(found.len() > 10, "{found:?}");
    found
}

/// Everything in a text that looks like a path in this repository, in prose, code, tables and
/// links.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| c.is_whitespace() || "`,;:()[]{}|'\"#*".contains(c);
    let folders = ["src/", "tests/", "benches/", "schema/"];
    text.split(ends)
        .map(|path| path.trim_end_matches('.'))
        .filter(move |path| folders.iter().any(|folder| path.starts_with(folder)))
}

#[test]
fn the_site_has_every_page_of_the_guide() {
    let folder = root().join("src/guide");
    let summary = fs::read_to_string(folder.join("SUMMARY.md")).unwrap();
    let linked: BTreeSet<&str> = summary
        .lines()
        .filter_map(|line| line.split_once("](")?.1.strip_suffix(')'))
        .collect();
    let names = fs::read_dir(&folder).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let pages: BTreeSet<String> = names
        .filter(|name| {
            name.strip_suffix(".md")
                .is_some_and(|stem| stem != "SUMMARY")
        })
        .collect();
    assert_eq!(linked, pages.iter().map(String::as_str).collect());
}

#[test]
fn paths_in_documents_exist() {
    let mut missing = Vec::new();
    let mut count = 0;
    for document in documents() {
        let text = fs::read_to_string(root().join(&document)).unwrap();
        for (number, line) in (1..).zip(text.lines()) {
            for path in paths(line) {
                count += 1;
                if !root().join(path).exists() {
                    missing.push(format!("{}:{number}: {path}", document.display()));
                }
            }
        }
    }
    assert!(count > 100, "{count} paths were found");
    fail_on("these paths are not there", &missing);
}

#[test]
fn every_dependency_has_its_reason() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let mut inside = false;
    let mut reason = false;
    let mut count = 0;
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line == "[workspace.dependencies]";
            reason = false;
        } else if inside && line.starts_with('#') {
            reason = true;
        } else if inside && line.contains('=') {
            count += 1;
            // A line without a comment of its own shares that of the line above it.
            assert!(reason, "no reason above: {line}");
        } else if line.is_empty() {
            reason = false;
        }
    }
    assert!(count > 20, "{count} dependencies were found");
}
