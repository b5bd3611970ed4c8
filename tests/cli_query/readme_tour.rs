//! The tour of the README: every command is typed, and its output is what the README shows.

use std::path::Path;

use crate::support::command::Place;

/// The line with every number of seconds replaced, since these differ from run to run.
fn without_times(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let is_unit = |word: Option<&&str>| word.is_some_and(|word| word.trim_end_matches(')') == "s");
    let mask = |at: usize| {
        if is_unit(words.get(at + 1)) {
            "N"
        } else {
            words[at]
        }
    };
    let masked = (0..words.len()).map(mask);
    masked.collect::<Vec<_>>().join(" ")
}

/// Whether the output equals the lines in the README, where `...` matches any lines.
fn matches(shown: &[&str], output: &[&str]) -> bool {
    match shown.split_first() {
        None => output.is_empty(),
        Some((&"...", rest)) => (0..=output.len()).any(|skip| matches(rest, &output[skip..])),
        Some((line, rest)) => output.split_first().is_some_and(|(first, output)| {
            without_times(line) == without_times(first) && matches(rest, output)
        }),
    }
}

#[test]
fn the_tour_shows_what_its_commands_print() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let tour = readme.split("```console\n").nth(1).unwrap();
    let tour = tour.split("```").next().unwrap();
    let place = Place::new();
    let mut commands = 0;
    for typed in tour.split("$ seedbank ").skip(1) {
        let mut lines = typed.lines();
        let args: Vec<&str> = lines.next().unwrap().split(' ').collect();
        let shown: Vec<&str> = lines.collect();
        let output = place.run(&args).done();
        let output: Vec<&str> = output.lines().collect();
        // A command whose output is not shown says little.
        let is_shown = shown.is_empty() || matches(&shown, &output);
        assert!(is_shown, "{args:?}: {output:#?}");
        commands += 1;
    }
    assert_eq!(commands, 8);
}

#[test]
fn a_shown_line_is_compared_except_for_times() {
    let output = ["a in 0.30 s", "b", "c (first: 1.5 s)"];
    assert!(matches(
        &["a in 7.00 s", "...", "c (first: 2.0 s)"],
        &output
    ));
    assert!(matches(&["a in 7.00 s", "..."], &output));
    assert!(!matches(&["a in 7.00 s"], &output));
    assert!(!matches(&["b", "..."], &output));
    assert!(!matches(&["...", "c (second: 1.5 s)"], &output));
}
