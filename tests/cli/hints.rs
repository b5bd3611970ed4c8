//! Hints name commands that do not refuse the kind of bank: each command of each hint runs on each kind.
//!
//! Bug class: a hint that leads from one error to the next.

use std::collections::BTreeSet;

use crate::support::command::{Place, TWO_CORES};

/// The sources with all hints of the command line and of the Python package.
const SOURCES: [&str; 4] = [
    include_str!("../../src/cli/failure/hints.rs"),
    include_str!("../../src/cli/failure/mod.rs"),
    include_str!("../../src/cli/maintenance.rs"),
    include_str!("../../src/python/hints.rs"),
];

/// The commands that hints name, each with arguments that it succeeds with, in an order in which they can run.
const COMMANDS: [(&str, &[&str]); 13] = [
    ("init", &["init", "other"]),
    ("ingest", &["ingest", "bank", "day0.jsonl"]),
    (
        "refresh",
        &["refresh", "bank", "--goal", "sites", "--plan", "p"],
    ),
    ("plans", &["plans", "bank"]),
    ("history", &["history", "bank"]),
    ("status", &["status", "bank", "--sizes"]),
    ("check", &["check", "bank"]),
    ("repair", &["repair", "bank"]),
    ("backup", &["backup", "bank", "backups", "--verify"]),
    ("restore", &["restore", "backups", "restored", "--at", "1"]),
    ("restore", &["restore", "backups", "--list", "--verify"]),
    (
        "forget",
        &["forget", "bank", "http://a1.example/", "--block"],
    ),
    ("compact", &["compact", "bank"]),
];

/// Returns the first words after this text, at all places.
fn words_after<'a>(source: &'a str, text: &'a str) -> impl Iterator<Item = &'a str> {
    let rest = source.split(text).skip(1);
    rest.map(|rest| {
        rest.split(|c: char| !c.is_ascii_lowercase())
            .next()
            .unwrap_or("")
    })
}

#[test]
fn no_hint_names_a_command_that_refuses_the_kind_of_bank() {
    let mut named = BTreeSet::new();
    for source in SOURCES {
        named.extend(words_after(source, "`seedbank "));
        let of_command_line = source.split("` of the command line").filter_map(|before| {
            let (_, command) = before.rsplit_once('`')?;
            Some(command)
        });
        // The last piece is what follows the last place.
        let count = source.matches("` of the command line").count();
        named.extend(of_command_line.take(count));
    }
    let known: BTreeSet<&str> = COMMANDS.iter().map(|(name, _)| *name).collect();
    assert_eq!(named, known);
    for create in [
        &["init", "bank"][..],
        &["cluster", "init", "bank", "--banks", "3"],
    ] {
        let place = Place::new();
        place.run(create).done();
        place.write("day0.jsonl", TWO_CORES);
        for (_, args) in COMMANDS {
            let ended = place.run(args);
            assert_eq!(ended.status, Some(0), "{create:?}: {args:?}: {ended:?}");
        }
    }
}
