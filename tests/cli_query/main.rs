//! Commands that refresh, list, explain, compare and evaluate seeds, and the files that they write. Most tests are the texts
//! beside this file (`tests/support/transcript.rs`).
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]
#![expect(
    unreachable_pub,
    reason = "what is shared here is reachable by nobody outside"
)]

mod read_back;
#[cfg(target_os = "linux")]
mod running;
#[path = "../support/mod.rs"]
mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use snapbox::{Assert, Data};
use support::command::Place;
use support::transcript::{stable, transcript_in};

crate::transcripts!(
    "tests/cli_query", besides ["explain_texts"],
    compare cover diff duplicates evaluate explain export facts goals lookups plan_lists plans policies seeds status
);

/// Catches: texts of `explain` that a reviewer has not read. Of the crawl, the repository has only these texts.
#[test]
fn explain_texts() {
    let Some(shared) = support::shared("explain_texts") else {
        return;
    };
    let place = Place::new();
    let crawl = fs::canonicalize(shared.join("data/ku-2017-webir/crawl.jsonl.gz")).unwrap();
    symlink(crawl, place.path("crawl.jsonl.gz")).unwrap();
    transcript_in(&place, &[], "tests/cli_query/explain_texts.md");
}

/// Catches: a tour in the README that shows what its commands do not print.
#[test]
fn the_tour_of_the_readme() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(readme).unwrap();
    let tour = readme.split("```console\n").nth(1).unwrap();
    let tour = tour.split("```").next().unwrap();
    let place = Place::new();
    let commands: Vec<&str> = tour.split("$ seedbank ").skip(1).collect();
    assert!(commands.len() > 5, "{tour}");
    for typed in commands {
        let (line, shown) = typed.split_once('\n').unwrap();
        let args: Vec<&str> = line.split(' ').collect();
        let printed = place.run(&args).done();
        // A command whose output is not shown says little.
        if !shown.trim().is_empty() {
            let shown = stable(&place, "", shown.trim_end());
            let printed = stable(&place, "", printed.trim_end());
            let assert = Assert::new().normalize_paths(false);
            assert.eq(printed, Data::text(shown));
        }
    }
}
