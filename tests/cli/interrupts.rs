//! Closed readers, Ctrl-C, and a full disk: no panic, and the bank is unchanged.

use std::io::Write;
use std::process::Stdio;

use crate::support::command::{Place, names, record, signal, wait};

#[test]
fn a_broken_pipe_ends_quietly() {
    let place = Place::with_seeds();
    let cases: &[&[&str]] = &[
        &["seeds", "bank"],
        &["cores", "bank", "--format", "jsonl"],
        &["status", "bank"],
        &["history", "bank", "--format", "json"],
        &["check", "bank"],
        &["export", "bank"],
        &["refresh", "bank", "--method", "cores", "--within", "0"],
        &["evaluate", "bank", "crawl"],
        &["completions", "bash"],
        &["man"],
        &["--help"],
    ];
    for args in cases {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let child = place
            .command(args)
            .stdout(writer)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let ended = wait(child);
        assert_eq!((ended.status, &*ended.err), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn signals_leave_the_bank_as_it_was() {
    let place = Place::with_seeds();
    let before = place.state();
    for name in ["-INT", "-TERM"] {
        let mut child = place.spawn(&["ingest", "bank", "-"]);
        let mut pipe = child.stdin.take().unwrap();
        let mut records =
            (0..u64::MAX).map(|page| record(&format!("http://new.example/{page}"), &[]));
        // More than a pipe holds, so the command is reading by now.
        let mut sent = 0;
        while sent < 1 << 20 {
            let record = records.next().unwrap();
            pipe.write_all(record.as_bytes()).unwrap();
            sent += record.len();
        }
        signal(name, child.id());
        // It ends whether data arrive or not.
        while pipe.write_all(records.next().unwrap().as_bytes()).is_ok() {}
        let ended = wait(child);
        assert_eq!(ended.status, Some(130), "{ended:?}");
        assert_eq!(ended.err, "error: interrupted; the bank is unchanged\n");
        assert_eq!(ended.out, "");
        assert_eq!(place.state(), before);
        assert_eq!(names(&place.path("bank/spill")), [""; 0]);
    }
}

#[test]
fn a_second_signal_ends_at_once_and_the_bank_survives_it() {
    let place = Place::with_seeds();
    let before = place.state();
    let mut child = place.spawn(&["ingest", "bank", "-"]);
    let mut pipe = child.stdin.take().unwrap();
    let record = "{\"url\": \"http://new.example/\", \"clicks\": 1}\n";
    for _ in 0..(1 << 20) / record.len() {
        pipe.write_all(record.as_bytes()).unwrap();
    }
    // Two signals that come close together may be one to the system, hence again and again.
    while child.try_wait().unwrap().is_none() {
        signal("-INT", child.id());
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    drop(pipe);
    let ended = wait(child);
    assert_eq!(ended.status, Some(130), "{ended:?}");
    assert_eq!(place.state(), before);
}

#[test]
fn a_refresh_that_is_not_done_in_time_is_1_and_stores_nothing() {
    let place = Place::with_seeds();
    let crawl = ["synth", "crawl", "--pages", "3000", "--days", "0"];
    place.run(&crawl).done();
    let day = ["ingest", "bank", "crawl/day-000.jsonl.zst"];
    place.run(&day).done();
    let before = place.state();
    let error = "error: time limit of 1 s exceeded; nothing was stored, the bank is unchanged\nhint: raise --time-limit; the seeds of earlier refreshes are unchanged\n";
    // A hundred thousand iterations for each of a hundred cores take minutes.
    let long = ["--hits", "classic", "--iterations", "100000"];
    let refresh = [
        "refresh",
        "bank",
        "--method",
        "cores",
        "--within",
        "0",
        "--time-limit",
        "1s",
    ];
    let ended = place.run(&[&refresh[..], &long].concat());
    assert_eq!(ended.fails(1), error);
    // Waiting for another process counts too.
    let lock = std::fs::File::open(place.path("bank/writer.lock")).unwrap();
    lock.lock().unwrap();
    let ended = place.run(&[&refresh[..], &["--wait"]].concat());
    assert_eq!(ended.fails(1), error);
    drop(lock);
    assert_eq!(place.state(), before);
    // Time enough makes no difference.
    let other = ["--plan", "other", "--seeds", "20"];
    place
        .run(&[&refresh[..2], &["--seeds", "20"]].concat())
        .done();
    let hour = [
        "refresh",
        "bank",
        "--method",
        "cores",
        "--within",
        "0",
        "--time-limit",
        "1h",
    ];
    place.run(&[&hour[..], &other].concat()).done();
    let list = place.run(&["seeds", "bank"]).done();
    assert_eq!(list.lines().count(), 20);
    let same = place.run(&["seeds", "bank", "--plan", "other"]).done();
    assert_eq!(same, list);
}

#[test]
fn synth_leaves_nothing_when_interrupted() {
    let place = Place::new();
    let child = place.spawn(&["synth", "crawl", "--pages", "50000000", "--days", "0"]);
    while !place.path("crawl").exists() {
        std::thread::yield_now();
    }
    signal("-INT", child.id());
    let error = wait(child).fails(130);
    assert_eq!(
        error,
        "error: interrupted; the files written so far were removed\n"
    );
    assert!(!place.path("crawl").exists());
}

/// A file size limit comes closest to a full disk without being root.
#[test]
fn no_space_left_is_1_and_the_bank_is_as_it_was() {
    let place = Place::with_seeds();
    let records: String = (0..12_000)
        .map(|page| {
            record(
                &format!("http://n{page}.example/"),
                &[&format!("http://a{page}.example/")],
            )
        })
        .collect();
    place.write("big.jsonl", records);
    let before = place.state();
    // In KiB: while the bank is opened, outside memory, in one write.
    for (limit, memory, places) in [
        ("16", "512M", ["opening", "opening"]),
        ("256", "1M", ["spill", "loads"]),
        ("256", "512M", ["", ""]),
    ] {
        let args = format!("ingest bank big.jsonl --memory {memory}");
        let error = place.fails_when_full(limit, &args);
        assert!(
            places.iter().any(|at| error.contains(at)),
            "{limit}: {error}"
        );
        assert_eq!(place.state(), before, "{limit}");
        assert_eq!(names(&place.path("bank/spill")), [""; 0]);
        assert_eq!(names(&place.path("bank/loads")), [""; 0]);
    }
    place.run(&["ingest", "bank", "big.jsonl"]).done();
    place.state();
}
