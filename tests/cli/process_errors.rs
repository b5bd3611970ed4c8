//! Errors of other processes of a cluster bank: the exit statuses and hints of one process that has all parts.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::processes::{Cluster, PARTS, end_soon};
use crate::support::command::{Ended, Place, names};
use crate::support::folders::copy;

/// The part of process 1 that is damaged or locked.
const PART: &str = "parts/004";

/// A cluster bank of two processes with a crawl and a plan.
fn cluster() -> Cluster {
    let cluster = Cluster::with_patience(2, 20);
    let place = &cluster.place;
    place
        .run(&["synth", "crawl", "--pages", "400", "--days", "1"])
        .done();
    cluster.done(&["ingest", "BANK", "crawl/day-000.jsonl.zst", "-q"]);
    cluster.done(&["refresh", "BANK", "--goal", "sites", "--seeds", "9", "-q"]);
    cluster
}

/// Copies the folders of all processes into `one`, the bank of a single process.
pub fn gather(place: &Place) {
    let one = place.path("one");
    if one.exists() {
        fs::remove_dir_all(&one).unwrap();
    }
    copy(&place.path("0"), &one);
    for part in names(&place.path("1/parts")) {
        let from = place.path("1/parts").join(&part);
        copy(&from, &one.join("parts").join(part));
    }
    assert_eq!(names(&one.join("parts")).len(), PARTS - 1);
}

/// The exit status and the hint of a command that failed.
fn failure(ended: &Ended) -> (i32, Option<&str>) {
    let hint = ended.err.lines().find(|line| line.starts_with("hint: "));
    (ended.status.unwrap(), hint)
}

/// Runs a command in two processes and in one. Returns how both ended: process 0, which names process 1, and the one.
#[track_caller]
fn both(cluster: &Cluster, args: &[&str]) -> (Ended, Ended) {
    let mut ended = cluster.run(args);
    let other = ended.pop().unwrap();
    let first = ended.pop().unwrap();
    assert_eq!(other.status, Some(1), "{other:?}");
    assert!(first.err.contains("process 1 reports: "), "{first:?}");
    let one: Vec<&str> = args
        .iter()
        .map(|arg| if *arg == "BANK" { "one" } else { *arg })
        .collect();
    (first, cluster.place.run(&one))
}

/// Fails unless a command ends as in one process, with this status and a hint.
#[track_caller]
fn fails_as_in_one(cluster: &Cluster, args: &[&str], status: i32) {
    let (first, one) = both(cluster, args);
    let expected = failure(&one);
    assert_eq!(failure(&first), expected, "{first:?} {one:?}");
    assert_eq!(expected.0, status, "{one:?}");
    assert!(expected.1.is_some(), "{one:?}");
}

const COMMANDS: [&[&str]; 4] = [
    &["export", "BANK", "-q"],
    &["ingest", "BANK", "crawl/day-001.jsonl.zst", "-q"],
    &["refresh", "BANK", "-q", "--cold"],
    &[
        "refresh", "BANK", "-q", "--plan", "web", "--goal", "coverage", "--budget", "9", "--seeds",
        "3",
    ],
];

/// Changes a byte of a file, and of its hard links.
fn flip(file: &Path, at: usize) {
    let mut bytes = fs::read(file).unwrap();
    bytes[at] ^= 1;
    fs::write(file, bytes).unwrap();
}

/// The files of a published state whose names contain a text.
fn files(state: &Path, text: &str) -> Vec<PathBuf> {
    let found = names(state).into_iter().filter(|name| name.contains(text));
    let found: Vec<PathBuf> = found.map(|name| state.join(name)).collect();
    assert!(!found.is_empty());
    found
}

#[test]
fn damage_in_another_process_ends_a_command_as_its_own() {
    let cluster = cluster();
    let place = &cluster.place;
    let published = place.path(&format!("1/{PART}/published"));
    let current = fs::read_to_string(published.join("CURRENT")).unwrap();
    let state = published.join(current.split_whitespace().next().unwrap());
    let manifests = files(&state, "MANIFEST");
    let tables = files(&state, ".sst");
    for damaged in [manifests, tables] {
        for file in &damaged {
            flip(file, 10);
        }
        gather(place);
        for args in COMMANDS {
            fails_as_in_one(&cluster, args, 4);
        }
        // `check` reports the damage instead of an error.
        let mut ended = cluster.run(&["check", "BANK"]).into_iter();
        let first = ended.next().unwrap();
        assert_eq!(first.status, Some(4), "{first:?}");
        assert!(first.out.contains("published state: damaged"), "{first:?}");
        for file in &damaged {
            flip(file, 10);
        }
    }
    cluster.done(&["export", "BANK", "-q"]);
}

#[test]
fn a_writer_of_another_part_makes_a_command_busy() {
    let cluster = cluster();
    let place = &cluster.place;
    gather(place);
    let lock = |bank: &str| {
        let path = place.path(&format!("{bank}/{PART}/writer.lock"));
        let lock = File::options().write(true).open(path).unwrap();
        lock.lock().unwrap();
        lock
    };
    let _locks = (lock("1"), lock("one"));
    for args in [COMMANDS[1], &["undo", "BANK", "-q"]] {
        fails_as_in_one(&cluster, args, 4);
    }
}

/// Interrupts a process at a moment of a command after it has taken the lock of the bank. Returns whether it was
/// interrupted before its commit was decided.
#[track_caller]
fn interrupt(cluster: &Cluster, args: &[&str], victim: usize, moment: Duration) -> bool {
    let lock = File::open(cluster.place.path("0/writer.lock")).unwrap();
    let mut children = cluster.start(args);
    while lock.try_lock().is_ok() {
        lock.unlock().unwrap();
        if children[0].try_wait().unwrap().is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(moment);
    let number = children[victim].id().to_string();
    Command::new("kill")
        .args(["-INT", &number])
        .output()
        .unwrap();
    let ended = end_soon(children);
    let first = &ended[0];
    if first.status == Some(0) || first.err.starts_with("error: the change is stored, but ") {
        return false;
    }
    let says = format!("process {victim} was interrupted");
    for (process, ended) in ended.iter().enumerate() {
        let expected = match process {
            0 => (130, format!("error: {says}\n")),
            _ if process == victim => (130, ended.err.clone()),
            _ => (1, format!("error: process 0 failed: {says}\n")),
        };
        let found = (ended.status.unwrap(), ended.err.clone());
        assert_eq!(found, expected, "process {process}, {moment:?}: {args:?}");
    }
    true
}

#[test]
fn an_interrupted_process_ends_a_command_as_an_interruption() {
    let cluster = Cluster::with_patience(3, 20);
    let place = &cluster.place;
    place
        .run(&["synth", "crawl", "--pages", "5000", "--days", "1"])
        .done();
    let ingest = ["ingest", "BANK", "crawl/day-000.jsonl.zst", "-q"];
    let before = cluster.export();
    let mut interrupted = 0;
    for turn in 0..6_u8 {
        let moment = Duration::from_millis(20) * turn.into();
        if !interrupt(&cluster, &ingest, 1 + usize::from(turn % 2), moment) {
            break;
        }
        interrupted += 1;
        assert_eq!(cluster.export(), before);
    }
    cluster.done(&ingest);
    assert!(interrupted >= 2, "{interrupted}");
}
