//! Lists that plans name, from hostile or unlucky users.
//!
//! Families of cases, and the bugs that they catch:
//! * named pipes, with and without a writer, under `--time-limit` and Ctrl-C: endless waits;
//! * expressions and shapes that are expensive to compile: minutes of work, gigabytes of memory, and
//!   errors that name the wrong line.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::support::command::{Ended, Place, wait};

/// Makes a named pipe.
fn pipe(place: &Place, name: &str) -> PathBuf {
    let path = place.path(name);
    let made = Command::new("mkfifo").arg(&path).status();
    assert!(made.is_ok_and(|made| made.success()));
    path
}

const OUT_OF_TIME: &str = "error: time limit of 1 s exceeded; nothing was stored, the bank is unchanged\nhint: raise --time-limit; the seeds of earlier refreshes are unchanged\n";

#[test]
fn a_pipe_without_a_writer_obeys_the_time_limit() {
    let flags = [
        ["--exclude", "pipe"],
        ["--pin", "pipe"],
        ["--plan-file", "plan.toml"],
        ["--plan-file", "pipe"],
    ];
    let waits = |flag: &[&str]| {
        let place = Place::with_seeds();
        pipe(&place, "pipe");
        place.write("plan.toml", "exclude = 'pipe'\n");
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
        let ended = place.run(&[&refresh[..], flag].concat());
        assert_eq!(ended.fails(1), OUT_OF_TIME, "{flag:?}");
    };
    // Each takes the time limit, and does nothing meanwhile.
    std::thread::scope(|scope| {
        for flag in &flags {
            scope.spawn(|| waits(flag));
        }
        scope.spawn(says_a_part);
    });
}

/// A pipe that says a part and no more obeys the time limit, too.
fn says_a_part() {
    let place = Place::with_seeds();
    let mut child = place.spawn(&[
        "refresh",
        "bank",
        "--method",
        "cores",
        "--within",
        "0",
        "--time-limit",
        "1s",
        "--exclude",
        "/dev/stdin",
    ]);
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"example.org\n").unwrap();
    assert_eq!(wait(child).fails(1), OUT_OF_TIME);
    drop(input);
}

/// Whether a process catches Ctrl-C by now: before, the signal would simply end it.
fn catches_interrupts(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = u64::from_str_radix(caught.unwrap().trim(), 16).unwrap();
    // Signals are bits from 1, and SIGINT is number 2.
    caught & 0b10 != 0
}

/// Starts a command and sends Ctrl-C once it is caught.
fn interrupted(place: &Place, args: &[&str]) -> Ended {
    let mut child = place.spawn(args);
    // Standard input stays open, so that a command that reads it waits.
    let input = child.stdin.take();
    while !catches_interrupts(child.id()) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.is_ok_and(|sent| sent.success()));
    let mut looks = 0;
    while child.try_wait().unwrap().is_none() {
        looks += 1;
        if looks > 600 {
            child.kill().unwrap();
            panic!("{args:?} went on: {:?}", wait(child));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(input);
    wait(child)
}

#[test]
fn a_pipe_without_a_writer_obeys_an_interrupt() {
    let place = Place::with_seeds();
    pipe(&place, "pipe");
    let before = place.state();
    for args in [
        &[
            "refresh",
            "bank",
            "--method",
            "cores",
            "--within",
            "0",
            "--exclude",
            "pipe",
        ][..],
        &[
            "refresh",
            "bank",
            "--method",
            "cores",
            "--within",
            "0",
            "--exclude-from-graph",
            "/dev/stdin",
        ],
        &["refresh", "bank", "--plan-file", "pipe"],
        &["diff", "bank", "--seeds-file", "pipe"],
        &["compare", "bank", "pipe"],
        &["compare", "bank", "-"],
        &["evaluate", "bank", "crawl", "--seeds-file", "pipe"],
        &["evaluate", "bank", "budget", "--seeds-file", "pipe"],
    ] {
        let ended = interrupted(&place, args);
        assert_eq!(
            ended.fails(130),
            "error: interrupted; the bank is unchanged\n",
            "{args:?}"
        );
    }
    assert_eq!(place.state(), before);
}

#[test]
fn a_list_may_come_through_a_pipe() {
    let place = Place::with_seeds();
    let path = pipe(&place, "pipe");
    let writer = std::thread::spawn(move || {
        let mut pipe = OpenOptions::new().write(true).open(path).unwrap();
        for line in ["h1.example\n", "h2.example\n", "# no more\n", "h3.example"] {
            pipe.write_all(line.as_bytes()).unwrap();
        }
    });
    place
        .run(&[
            "refresh",
            "bank",
            "--method",
            "cores",
            "--within",
            "0",
            "--exclude",
            "pipe",
        ])
        .done();
    writer.join().unwrap();
    let seeds = place.run(&["seeds", "bank"]).done();
    assert_eq!(seeds, "http://k1.example/x,y\n");
    // As process substitution gives it, and standard input.
    let again = [
        "refresh",
        "bank",
        "--method",
        "cores",
        "--within",
        "0",
        "--exclude",
        "/dev/stdin",
    ];
    place.run_with(&again, b"k1.example\nk2.example\n").done();
    let seeds = place.run(&["seeds", "bank"]).done();
    assert_eq!(seeds, "http://h1.example/\n");
}

/// The size that an error names, in KiB, and the most that it may be.
fn sizes(error: &str) -> (u64, u64) {
    let words: Vec<&str> = error.split_whitespace().collect();
    let mut numbers = words
        .windows(2)
        .filter(|pair| pair[1].trim_end_matches(['\n', ',']) == "KiB")
        .map(|pair| pair[0].parse().unwrap());
    (numbers.next().unwrap(), numbers.next().unwrap())
}

#[test]
fn what_a_list_takes_compiled_is_limited_and_the_line_named() {
    let place = Place::with_seeds();
    let expressions: Vec<String> = (0..10_000)
        .map(|at| format!("re:(foo{at}|bar){{50}}[a-z]{{100}}\n"))
        .collect();
    let shapes: Vec<String> = (0..300_000)
        .map(|at| format!("*/private-{at}/*\n"))
        .collect();
    for (name, lines) in [("expressions.txt", expressions), ("shapes.txt", shapes)] {
        let text = lines.concat();
        place.write(name, &text);
        let refresh = [
            "refresh",
            "bank",
            "--method",
            "cores",
            "--within",
            "0",
            "--exclude",
            name,
        ];
        let error = place.run(&refresh).fails(2);
        let (found, most) = sizes(&error);
        assert_eq!(most, 65_536, "{error}");
        assert!((1..=16).contains(&(found - most)), "{error}");
        assert!(error.contains("\nhint: use sites"), "{error}");
        // With the lines before the one that is named, and a comment in its place, all is well; so it
        // is that line that goes too far.
        let lines = text.lines();
        let before = lines.take_while(|line| !error.contains(&format!("{line:?}")));
        let before: Vec<&str> = before.collect();
        assert!(before.len() > 4_000 && before.len() < 100_000, "{error}");
        place.write(name, before.join("\n"));
        place
            .run(&[
                "refresh",
                "bank",
                "--method",
                "cores",
                "--within",
                "0",
                "--dry-run",
                "--exclude",
                name,
            ])
            .done();
    }
}

#[test]
fn a_line_that_is_too_large_by_itself_is_named() {
    let place = Place::with_seeds();
    let long = format!("re:{}", "ab?".repeat(10_000));
    for (line, said) in [
        ("re:((a{100}){100}){100}", "takes at most 8192 KiB"),
        (
            &long,
            "expected a shape or expression of at most 16384 bytes, found 30000",
        ),
    ] {
        place.write("list.txt", format!("example.org\n{line}\n*.pdf\n"));
        let error = place
            .run(&[
                "refresh", "bank", "--method", "cores", "--within", "0", "--only", "list.txt",
            ])
            .fails(2);
        assert!(error.contains("invalid line \"re:"), "{error}");
        assert!(error.contains(said), "{error}");
    }
}
