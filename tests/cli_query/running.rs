//! Commands that are interrupted or run while others write.
//!
//! Catches: signals that a wait for input, a long computation or a full pipe ignores; files left behind; answers of two states.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::command::{Place, catches_interrupts, names, record, signal, wait};
use crate::support::plans::refresh;

const INTERRUPTED: &str = "error: interrupted; the bank is unchanged\n";

#[test]
fn a_wait_for_a_list_ends_with_an_interrupt() {
    let place = Place::with_seeds();
    place.named_pipe("pipe");
    let before = place.state();
    for line in [
        "refresh bank --exclude pipe",
        "refresh bank --exclude-from-graph /dev/stdin",
        "refresh bank --plan-file pipe",
        "diff bank --seeds-file pipe",
        "compare bank pipe",
        "compare bank -",
        "evaluate bank crawl --seeds-file pipe",
        "evaluate bank budget --seeds-file pipe",
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        assert_eq!(
            place.signalled(&args, "-INT").fails(130),
            INTERRUPTED,
            "{line}"
        );
    }
    assert_eq!(place.state(), before);
}

#[test]
fn a_long_computation_ends_with_an_interrupt() {
    let place = Place::with_seeds();
    let page = |n: u32| format!("http://ring.example/{n}");
    let ring = (0..2000).map(|n| record(&page(n), &[&page((n + 1) % 2000)]));
    place.write("ring.jsonl", ring.collect::<String>());
    place.run(&["ingest", "bank", "ring.jsonl"]).done();
    place.write("list.txt", page(0));
    let before = (place.state(), names(&place.path("bank")));
    // Far longer than the test waits: each draw follows the whole ring.
    let crawl = "evaluate bank crawl --seeds-file list.txt --depth 4000 --draws 100000";
    let child = place.spawn(&crawl.split(' ').collect::<Vec<_>>());
    while !catches_interrupts(child.id()) {
        std::thread::yield_now();
    }
    signal("-INT", child.id());
    assert_eq!(wait(child).fails(130), INTERRUPTED);
    assert_eq!((place.state(), names(&place.path("bank"))), before);
}

#[test]
fn an_export_ends_with_an_interrupt_or_its_reader() {
    let place = Place::with_bank();
    let links: Vec<String> = (0..100_000)
        .map(|n| format!("http://a.example/{n}"))
        .collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    place.write("page.jsonl", record("http://a.example/", &links));
    place.run(&["ingest", "bank", "page.jsonl"]).done();
    let before = names(&place.path(""));
    // More than a pipe holds, so the export waits in the middle.
    let mut first = [0];
    let mut child = place.spawn(&["export", "bank", "--sites-out", "sites.jsonl"]);
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut first)
        .unwrap();
    signal("-INT", child.id());
    let ended = wait(child);
    assert_eq!((ended.status, &*ended.err), (Some(130), INTERRUPTED));
    assert_eq!(names(&place.path("")), before);
    let mut child = place.spawn(&["export", "bank"]);
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut first).unwrap();
    drop(out);
    let ended = wait(child);
    assert_eq!((ended.status, &*ended.err), (Some(0), ""));
}

/// Stops the reader, also if the writer fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Each refresh has one more hub in the core; refresh 2 belongs to the other plan, whose answers stay the same.
#[test]
fn an_answer_is_that_of_one_state_while_others_write() {
    let place = Place::with_bank();
    let all = [
        "http://a1.example/",
        "http://a2.example/",
        "http://a3.example/",
    ];
    let hubs = ["h1", "h2", "h3"].map(|host| record(&format!("http://{host}.example/"), &all));
    let far = record("http://far.example/", &["http://other.example/"]);
    place.write("day0.jsonl", hubs.concat() + &far);
    place.run(&["ingest", "bank", "day0.jsonl"]).done();
    place.run(&refresh(&["--seeds", "1"])).done();
    let sites = "--plan sites --method max-weight --per-site 1 --hops 0";
    place
        .run(&refresh(&sites.split(' ').collect::<Vec<_>>()))
        .done();
    let explain = |page: &str, plan: &str| {
        place
            .run(&["explain", "bank", page, "--plan", plan, "--format", "json"])
            .json()
    };
    let stop = AtomicBool::new(false);
    let seen = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut seen = std::collections::BTreeSet::new();
            loop {
                let is_last = stop.load(Ordering::SeqCst);
                let answer = explain("http://h1.example/", "default");
                let refresh = answer["refresh"].as_u64().unwrap();
                seen.insert(refresh);
                let hubs = if refresh == 1 { 3 } else { refresh + 1 };
                assert_eq!(answer["core"]["hubs"], hubs, "{answer}");
                let site = explain("http://far.example/", "sites");
                assert_eq!(
                    (&site["kind"], &site["since"]),
                    (&"cover-seed".into(), &2.into())
                );
                if is_last {
                    return seen;
                }
            }
        });
        let stop_reader = Stop(&stop);
        for day in 1..=6 {
            place.write(
                "day.jsonl",
                record(&format!("http://z{day}.example/"), &all),
            );
            place.run(&["ingest", "bank", "day.jsonl"]).done();
            place.run(&refresh(&["--keep", "3"])).done();
        }
        drop(stop_reader);
        reader.join().unwrap()
    });
    assert!(seen.len() > 2, "{seen:?}");
    place.state();
}
