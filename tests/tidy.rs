//! The repository checks itself: lengths of files, who imports whom, names, dependencies.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

/// Files above this are nearly always two.
const LONGEST: usize = 500;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path.strip_prefix(root()).unwrap().to_path_buf(), text));
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no sources in {folder}");
    found
}

/// The lines that the product runs: no comments, nothing from the tests at the end of a file on.
fn product(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().take_while(|line| *line != "#[cfg(test)]");
    (1..)
        .zip(lines)
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}

fn fail_on(what: &str, found: &[String]) {
    assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
}

#[test]
fn files_are_short() {
    let mut long = Vec::new();
    for folder in ["src", "tests", "benches"] {
        for (path, text) in sources(folder) {
            let lines = text.lines().count();
            if lines > LONGEST {
                long.push(format!("{} has {lines} lines", path.display()));
            }
        }
    }
    fail_on("each is likely to be two files", &long);
}

/// What each room may import from the crate, besides itself.
const ROOMS: &[(&str, &[&str])] = &[
    ("graph", &["page", "watch"]),
    ("rank", &["graph", "page", "watch"]),
    ("cores", &["graph", "rank", "page", "watch"]),
    ("cover", &["graph", "rank", "page", "watch"]),
    ("evaluate", &["graph", "rank", "cover", "page", "watch"]),
    ("storage", &["page", "watch"]),
    ("ingest", &["page", "watch"]),
    ("synth", &["page", "watch"]),
    ("report", &["clock", "page", "shown", "watch"]),
];

#[test]
fn imports_point_one_way() {
    let mut wrong = Vec::new();
    for (room, may) in ROOMS {
        for (path, text) in sources(&format!("src/{room}")) {
            for (number, line) in product(&text) {
                for after in line.split("crate::").skip(1) {
                    let name = after
                        .split(|c: char| !c.is_alphanumeric() && c != '_')
                        .next();
                    let name = name.unwrap_or_default();
                    if name != *room && !may.contains(&name) {
                        wrong.push(format!("{}:{number}: {room} uses {name}", path.display()));
                    }
                }
            }
        }
    }
    fail_on("a room uses what stands above it", &wrong);
}

#[test]
fn a_dependency_stays_in_its_room() {
    let mut wrong = Vec::new();
    for (path, text) in sources("src") {
        let place = path.to_string_lossy().replace('\\', "/");
        for (number, line) in product(&text) {
            for (name, home) in [
                ("rocksdb::", "src/storage/"),
                ("bincode::", "src/storage/codec.rs"),
            ] {
                if line.contains(name) && !place.starts_with(home) {
                    wrong.push(format!("{place}:{number}: {name} belongs to {home}"));
                }
            }
        }
    }
    fail_on("a dependency outside its room", &wrong);
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

#[test]
fn every_dependency_has_its_reason() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let mut inside = false;
    let mut reason = false;
    let mut count = 0;
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.ends_with("dependencies]");
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
