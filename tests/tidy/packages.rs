//! What the packages of a release rely on.
//!
//! Bug classes: a version that was raised in one place only, a crate without its licence, an action that its owner
//! can replace.

use std::fs;

use super::{fail_on, files, root};

/// The value of `key` in the first line that has it.
fn value<'a>(text: &'a str, key: &str) -> &'a str {
    let value = text.lines().find_map(|line| line.strip_prefix(key));
    value
        .unwrap_or_else(|| panic!("no line begins with {key}"))
        .trim_matches('"')
}

#[test]
fn all_places_name_one_version() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let version = value(&manifest, "version = ");
    let mut wrong: Vec<String> = Vec::new();
    let mut count = 0;
    for line in manifest
        .lines()
        .filter(|line| line.contains("{ path = \"src/"))
    {
        count += 1;
        if !line.contains(&format!("version = \"{version}\"")) {
            wrong.push(line.to_owned());
        }
    }
    assert_eq!(count, 5);
    let citation = fs::read_to_string(root().join("CITATION.cff")).unwrap();
    if value(&citation, "version: ") != version {
        wrong.push("CITATION.cff".to_owned());
    }
    fail_on("another version than that of the workspace", &wrong);
    // The packages have the date of this line.
    let changelog = fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    let heading = changelog
        .lines()
        .find(|line| line.starts_with("## "))
        .unwrap();
    let is_release = heading.starts_with(&format!("## {version} - "));
    assert!(is_release || heading == "## Unreleased", "{heading}");
}

#[test]
fn published_crates_carry_the_licences() {
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        let text = fs::read_to_string(root().join(licence)).unwrap();
        for crate_folder in ["src/algorithms", "src/formats", "src/remote", "src/store"] {
            let copy = fs::read_to_string(root().join(crate_folder).join(licence)).unwrap();
            assert!(
                copy == text,
                "{crate_folder}/{licence} differs from {licence}"
            );
        }
    }
}

#[test]
fn workflows_name_actions_by_commit() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (path, text) in files(".github/workflows", "yml") {
        for (number, line) in (1..).zip(text.lines()) {
            let Some((_, action)) = line.split_once("uses: ") else {
                continue;
            };
            count += 1;
            let commit = action.split_once('@').map_or("", |(_, version)| version);
            let commit = commit.split(' ').next().unwrap_or_default();
            if commit.len() != 40 || !commit.chars().all(|c| c.is_ascii_hexdigit()) {
                wrong.push(format!("{}:{number}: {action}", path.display()));
            }
        }
    }
    assert!(count > 5, "{count} actions were found");
    fail_on("a tag or a branch can be moved", &wrong);
}
