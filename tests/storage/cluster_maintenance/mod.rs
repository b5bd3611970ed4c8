//! Cluster banks are backed up, restored, compacted and copied as any other bank: all parts, of one state.
//!
//! Bug classes: a backup with parts of two states, a part that is missing in a backup and nobody notices, a restored
//! bank whose parts do not belong together, so that the next command that writes refuses it, files that are written
//! again although the folder has them, a kill that leaves some parts, a compaction after which parts differ.

mod backups;
mod doubts;
mod older_parts;
mod repairs;

use std::fs;
use std::path::{Path, PathBuf};

use seedbank::engine::Bank;
use serde_json::Value;

use crate::faults::injector::{DISK, Injector};
use crate::faults::state::State;
use crate::support::command::Place;
use crate::support::histories::exported;
use crate::support::skipped::skipped;

/// The number of parts of the banks here.
const PARTS: u32 = 4;

/// The plans that are refreshed.
const PLANS: [&[&str]; 3] = [
    &["sites", "--goal", "sites"],
    &["cores", "--method", "cores", "--seeds", "5"],
    &[
        "coverage", "--goal", "coverage", "--seeds", "4", "--budget", "20",
    ],
];

/// A place with a crawl of three days, and a bank in `disk/bank` that has the first one, and a list of each plan.
fn with_cluster(pages: &str) -> Place {
    let place = Place::new();
    fs::create_dir(place.path(DISK)).unwrap();
    let parts = PARTS.to_string();
    place
        .run(&["cluster", "init", "disk/bank", "--banks", &parts])
        .done();
    place
        .run(&[
            "synth", "crawl", "--pages", pages, "--days", "3", "--daily", "20",
        ])
        .done();
    ingest(&place, "disk/bank", 0);
    for plan in PLANS {
        place
            .run(&[&["refresh", "disk/bank", "-q", "--plan"], plan].concat())
            .done();
    }
    place
}

/// Ingests a day, as of the same time in any bank.
fn ingest(place: &Place, bank: &str, day: u32) {
    let file = format!("crawl/day-{day:03}.jsonl.zst");
    let as_of = format!("2026-11-{:02}T00:00:00Z", day + 1);
    place
        .run(&["ingest", bank, &file, "--as-of", &as_of, "-q"])
        .done();
}

/// Refreshes all plans again.
fn refresh(place: &Place, bank: &str) {
    for plan in PLANS {
        place
            .run(&["refresh", bank, "-q", "--plan", plan[0]])
            .done();
    }
}

/// What can be asked of a bank, which must be sound.
fn answers(place: &Place, bank: &str) -> Vec<String> {
    let json = |args: &[&str]| place.run(&[args, &["--format", "json"]].concat()).done();
    let mut all = vec![String::from_utf8(exported(&Bank::at(place.path(bank)))).unwrap()];
    for plan in PLANS {
        all.push(json(&["seeds", bank, "--plan", plan[0]]));
    }
    all.push(json(&["cores", bank, "--plan", "cores"]));
    all.push(json(&["history", bank]));
    let check: Value = serde_json::from_str(&json(&["check", bank])).unwrap();
    assert_eq!(check["clean"], true, "{check}");
    let parts = place.status_of(bank)["parts"].clone();
    assert_eq!(parts, PARTS, "{bank}");
    all
}

fn state(bank: &Path) -> State {
    State::read(bank).unwrap()
}

/// The folder of a part.
fn part(bank: &Path, part: u32) -> PathBuf {
    match part {
        0 => bank.to_path_buf(),
        part => bank.join(format!("parts/{part:03}")),
    }
}

/// A file of a backup.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct File {
    bytes: u64,
    name: String,
    hash: String,
}

/// The files of a backup in `disk/b`.
fn files(place: &Place, backup: u32) -> Vec<File> {
    let inventory = place.path(&format!("disk/b/backups/{backup}"));
    let text = fs::read_to_string(inventory).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let files = lines.filter(|line: &Value| line["name"].is_string());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    files
        .map(|line| File {
            bytes: line["bytes"].as_u64().unwrap(),
            name: text(&line["name"]),
            hash: text(&line["hash"]),
        })
        .collect()
}

fn back_up(place: &Place, more: &[&str]) -> Value {
    let args = ["backup", "disk/bank", "disk/b", "--format", "json"];
    place.run(&[&args, more].concat()).json()
}

/// Builds the library that strikes calls; `None` if it cannot be built.
fn injector(place: &Place, test: &str) -> Option<Injector> {
    let built = Injector::build(&place.path(""));
    if built.is_none() {
        skipped(test, "a C compiler", "install one as `cc`");
    }
    built
}
