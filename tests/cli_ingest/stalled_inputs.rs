//! Inputs that stall: pipes without a writer, and writers that say nothing.
//!
//! Families of cases, and the bugs that they catch:
//! * one signal while a batch waits for its first record: commands that go on, or that a pipe blocks;
//! * another writer meanwhile: a lock that is taken before there is anything to write;
//! * pipes that one process writes one after another: waits for the second before the first is read.

use std::fs;
use std::io::Write;
use std::thread;
use std::time::Duration;

use crate::support::command::{Place, catches_interrupts, record, wait};

/// Each way to name an input that stalls.
const STALLED: [&[&str]; 6] = [
    &["pipe"],
    &["-"],
    &["/dev/stdin"],
    &["--sites", "pipe"],
    &["day.jsonl", "--sites", "pipe"],
    &["--input", "links", "links.tsv", "--pages", "pipe"],
];

fn place() -> Place {
    let place = Place::with_seeds();
    place.named_pipe("pipe");
    place.write("day.jsonl", record("http://new.example/", &[]));
    place.write("links.tsv", "http://new.example/\thttp://a.example/\n");
    place
}

fn ingest<'a>(inputs: &[&'a str]) -> Vec<&'a str> {
    [&["ingest", "bank"][..], inputs].concat()
}

#[test]
fn one_signal_ends_a_batch_whose_input_stalls() {
    let place = place();
    let before = place.state();
    for inputs in STALLED.iter().chain(&[&["--paths", "pipe"][..]]) {
        for signal in ["-INT", "-TERM"] {
            let ended = place.signalled(&ingest(inputs), signal);
            let error = "error: interrupted; the bank is unchanged\n";
            assert_eq!(ended.fails(130), error, "{inputs:?} {signal}");
        }
    }
    assert_eq!(place.state(), before);
}

#[test]
fn one_signal_ends_a_batch_that_stalls_halfway() {
    let place = place();
    let before = place.state();
    let pipe = place.path("pipe");
    // Opened for both, so that it has a writer that says no more.
    let mut writer = fs::File::options()
        .read(true)
        .write(true)
        .open(pipe)
        .unwrap();
    for half in [&b"{\"url\": \"http://half.exa"[..], b"\x1f\x8b"] {
        writer.write_all(half).unwrap();
        let ended = place.signalled(&ingest(&["pipe"]), "-TERM");
        assert_eq!(
            ended.fails(130),
            "error: interrupted; the bank is unchanged\n"
        );
    }
    assert_eq!(place.state(), before);
}

#[test]
fn a_stalled_batch_does_not_keep_the_bank_from_other_writers() {
    for inputs in STALLED {
        let place = place();
        let mut child = place.spawn(&ingest(inputs));
        // It waits for its input soon after, long before the other command has started.
        while !catches_interrupts(child.id()) {
            thread::sleep(Duration::from_millis(1));
        }
        let other = place.write("other.jsonl", record("http://other.example/", &[]));
        place
            .run(&["ingest", "bank", other.to_str().unwrap()])
            .done();
        assert!(child.try_wait().unwrap().is_none(), "{inputs:?}");
        let late = if inputs.contains(&"--sites") {
            "{\"site\": \"late.example\", \"quality\": 0.5}\n".to_owned()
        } else if inputs.contains(&"--pages") {
            "http://late.example/\t0\t1\t\n".to_owned()
        } else {
            record("http://late.example/", &[])
        };
        let mut input = child.stdin.take().unwrap();
        if inputs.contains(&"pipe") {
            fs::write(place.path("pipe"), late).unwrap();
        } else {
            input.write_all(late.as_bytes()).unwrap();
        }
        drop(input);
        wait(child).done();
        let status = place.status();
        assert_eq!(status["batches"], 3, "{inputs:?}: {status}");
    }
}

#[test]
fn a_bank_that_is_missing_is_reported_before_the_input_is_waited_for() {
    let place = place();
    for inputs in STALLED {
        let mut child = place.spawn(&[&["ingest", "nowhere"][..], inputs].concat());
        let input = child.stdin.take();
        let error = wait(child).fails(4);
        assert!(error.contains("nowhere"), "{inputs:?}: {error}");
        drop(input);
    }
}

#[test]
fn pipes_that_one_process_writes_in_turn_make_one_batch() {
    let place = place();
    let second = place.named_pipe("second");
    let first = place.path("pipe");
    let child = place.spawn(&["ingest", "bank", "pipe", "second", "--format", "json"]);
    let writer = thread::spawn(move || {
        // More than a pipe holds.
        let pages = |of: &str| -> String {
            let page = |number| record(&format!("http://{of}.example/{number}"), &[]);
            (0..4_000).map(page).collect()
        };
        fs::write(first, pages("first")).unwrap();
        fs::write(second, pages("second")).unwrap();
    });
    let report = wait(child).json();
    writer.join().unwrap();
    assert_eq!(report["read"]["records"], 8_000, "{report}");
}
