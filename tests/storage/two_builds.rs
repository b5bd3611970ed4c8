//! Two builds of the program write the same tables and print the same lists from one input, whatever the compiler did
//! with them (`make two-builds`).
//!
//! Bug classes: results that depend on the order of a hash map, on addresses, on how sums are vectorised, or on memory
//! that nobody has written.

use std::path::Path;
use std::process::Command;

use crate::faults::processes::PARTS;
use crate::faults::state::State;
use crate::support::command::{Place, clean};
use crate::support::skipped::skipped;

/// Runs a command of a build in a place, and returns what it prints.
fn run(build: &Path, place: &Place, args: &[&str]) -> Vec<u8> {
    let mut command: Command = clean(build);
    let output = command.args(args).current_dir(place.path("")).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    output.stdout
}

/// What a build makes of a crawl: the states of a bank, and the lists that it prints.
fn results(build: &Path, parts: usize) -> (Vec<State>, Vec<Vec<u8>>) {
    let place = Place::new();
    let run = |args: &[&str]| run(build, &place, args);
    let parts = parts.to_string();
    match parts.as_str() {
        "1" => run(&["init", "bank"]),
        parts => run(&["cluster", "init", "bank", "--banks", parts]),
    };
    run(&[
        "synth",
        "crawl",
        "--pages",
        "3000",
        "--days",
        "2",
        "--rng-seed",
        "9",
    ]);
    let (mut states, mut lists) = (Vec::new(), Vec::new());
    for day in 0..=2 {
        let file = format!("crawl/day-{day:03}.jsonl.zst");
        let as_of = format!("2026-11-{:02}T00:00:00Z", day + 1);
        run(&["ingest", "bank", &file, "--as-of", &as_of]);
        for plan in [
            &["exact", "--method", "cores", "--within", "0"][..],
            &["classic", "--method", "cores", "--hits", "classic"],
            &["communities", "--goal", "communities", "--seeds", "20"],
            &[
                "coverage", "--goal", "coverage", "--seeds", "10", "--budget", "200",
            ],
            &["sites", "--goal", "sites"],
        ] {
            let (name, flags) = plan.split_first().unwrap();
            let flags: &[&str] = if day == 0 { flags } else { &[] };
            run(&[&["refresh", "bank", "--plan", name], flags].concat());
            lists.push(run(&["seeds", "bank", "--plan", name, "--format", "jsonl"]));
        }
        states.push(State::read(&place.path("bank")).unwrap());
    }
    lists.push(run(&["export", "bank"]));
    lists.push(run(&[
        "cores", "bank", "--plan", "exact", "--format", "jsonl",
    ]));
    (states, lists)
}

#[test]
fn two_builds_write_the_same_tables_and_lists() {
    let Some(other) = std::env::var_os("OTHER_BUILD") else {
        let test = "two_builds_write_the_same_tables_and_lists";
        skipped(test, "a second build", "run `make two-builds`");
        return;
    };
    let build = Path::new(env!("CARGO_BIN_EXE_seedbank"));
    for parts in [1, PARTS] {
        let (states, lists) = results(build, parts);
        let (other_states, other_lists) = results(Path::new(&other), parts);
        for (state, other) in states.iter().zip(&other_states) {
            assert!(state == other, "{parts} parts: {}", state.unlike(other));
        }
        assert!(lists == other_lists, "{parts} parts: the lists differ");
    }
}
