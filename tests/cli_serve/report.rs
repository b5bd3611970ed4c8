//! `report` as a command: what it writes, what it refuses, and that it never leaves a partial file.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::serve::ok;
use crate::support::command::{Place, TWO_CORES, clean, names, record};
use crate::support::schemas::fits;
use seedbank::engine::error::ErrorKind;
use seedbank::engine::query::DiffRequest;
use seedbank::engine::{Bank, IngestRequest, RefreshRequest};
use seedbank::ingest::Record;
use seedbank::report::ReportRequest;
use seedbank::watch::Watch;
use serde_json::Value;

const REFRESH: &str = "refresh bank --method cores --within 0";
const REPORT: &str = "report bank --out r.html";
const GONE: &str = "{\"url\": \"http://h1.example/\", \"gone\": true}\n";

fn read(place: &Place, name: &str) -> String {
    fs::read_to_string(place.path(name)).unwrap()
}

/// The JSON of a report, which must fit its schema.
#[track_caller]
fn json(place: &Place, name: &str) -> Value {
    let json = serde_json::from_str(&read(place, name)).unwrap();
    fits("report", &json);
    json
}

#[test]
fn a_report_is_a_page_and_a_json_file() {
    let place = Place::with_seeds();
    let out = ok(&place, &format!("{REPORT} --evaluate"));
    let expected = "report on refresh 1 of plan default (cores), 2 seeds: r.html\nall of its data as JSON: r.json\n";
    assert_eq!(out, expected);
    assert_eq!(
        names(&place.path(".")),
        ["bank", "day0.jsonl", "r.html", "r.json"]
    );
    let report = json(&place, "r.json");
    for (pointer, value) in [
        ("/bank", "bank".into()),
        ("/counters/crawled", 5.into()),
        ("/seeds/0/url", "http://h1.example/".into()),
        ("/seeds/0/core", 1.into()),
        ("/cores/0/authority_sites/0/site", "a1.example".into()),
        ("/cores/1/hubs", 2.into()),
        ("/changes", Value::Null),
        // From the two seeds all five authorities are one link away.
        ("/crawl/depths/1/pages", 7.into()),
        // No site is large enough to compare cover methods on.
        ("/coverage", Value::Null),
        (
            "/skipped/0",
            "no site has 10 crawled pages and a link from another site".into(),
        ),
    ] {
        assert_eq!(report.pointer(pointer), Some(&value), "{pointer}");
    }
    let evaluate = |experiment: &str| -> Value {
        let line = format!("evaluate bank {experiment} --format json");
        serde_json::from_str(&ok(&place, &line)).unwrap()
    };
    // Beside the baselines a report has plans of every method.
    let of_seeds = |mut crawl: Value| {
        let own = crawl["fetches"]["lists"][0].take();
        crawl.as_object_mut().unwrap().remove("fetches");
        (own, crawl)
    };
    let crawl = evaluate("crawl --draws 20 --top 0");
    assert_eq!(of_seeds(report["crawl"].clone()), of_seeds(crawl));
    let budget = evaluate(&format!("budget --pages {}", report["budget"]["budget"]));
    assert_eq!(report["budget"], budget);
    let page = read(&place, "r.html");
    assert!(page.contains("2 pages to start the next crawl from"));
    assert!(page.contains("href=\"http://k1.example/x,y\""));
    // The same request gives the same bytes, with any number of threads.
    ok(
        &place,
        "report bank --out again.html --evaluate --threads 1",
    );
    let again = read(&place, "again.html").replace("again.json", "r.json");
    assert_eq!(again, page);
    let printed = ok(&place, &format!("{REPORT} --evaluate --format json"));
    assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), report);
}

#[test]
fn changes_are_those_of_diff() {
    let place = Place::with_seeds();
    let day = GONE.to_owned() + &record("http://h2.example/", &["http://a1.example/"]);
    place.write("day1.jsonl", day);
    ok(&place, "ingest bank day1.jsonl");
    ok(&place, REPORT);
    let page = read(&place, "r.html");
    for words in [
        "Selected after batch 1; the bank now has batches up to 2",
        "1 of these seeds died since",
        "gone now</span>",
        "seedbank seeds bank --refresh 1",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert_eq!(json(&place, "r.json")["seeds"][0]["dead"], "gone");
    ok(&place, REFRESH);
    ok(&place, REPORT);
    let report = json(&place, "r.json");
    let diff = place
        .run(&["diff", "bank", "--format", "jsonl"])
        .json_lines();
    assert_eq!(report["changes"]["summary"], diff[0]["summary"]);
    assert_eq!(report["changes"]["seeds"], serde_json::json!(diff[1..]));
    let stays = &report["seeds"][0];
    assert_eq!(stays["url"], "http://k1.example/x,y");
    assert_eq!(
        (&stays["in_previous"], &stays["dead"]),
        (&true.into(), &Value::Null)
    );
    let history = place.run(&["history", "bank", "--format", "json"]).json();
    assert_eq!(report["previous_refreshes"][0], history["refreshes"][0]);
    assert_eq!(report["refresh"], history["refreshes"][1]);
    let page = read(&place, "r.html");
    for words in [
        "Not measured",
        "<b>1 kept</b>",
        "the page is gone (batch 2)",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    ok(&place, &format!("{REPORT} --refresh 1"));
    let report = json(&place, "r.json");
    assert_eq!(report["refresh"], history["refreshes"][0]);
    assert!(report["changes"].is_null());
    assert_eq!(report["previous_refreshes"], serde_json::json!([]));
}

/// The counts of the last twelve refreshes are those of `diff`.
#[test]
fn the_last_refreshes_are_compared_as_diff_compares_them() {
    let place = Place::with_seeds();
    let bank = Bank::at(place.path("bank"));
    for day in 0..14 {
        // Another hub every day, and every third day an old one is gone.
        let targets = ["http://a1.example/", "http://a2.example/"];
        let hub = Record::new(format!("http://n{day}.example/")).outlinks(targets);
        let gone = Record::new(format!("http://h{}.example/", 1 + day / 3 % 3)).gone();
        let records = [Some(hub), (day % 3 == 0).then_some(gone)];
        let records = records.into_iter().flatten();
        bank.ingest_records(&IngestRequest::default(), records)
            .unwrap();
        bank.refresh(&RefreshRequest::default()).unwrap();
    }
    let report = bank.report(&ReportRequest::default()).unwrap();
    let refreshes = report.turnover.iter().map(|turnover| turnover.refresh);
    assert_eq!(
        refreshes.collect::<Vec<u32>>(),
        (4..=15).collect::<Vec<u32>>()
    );
    for turnover in &report.turnover {
        let request = DiffRequest {
            refreshes: vec![turnover.previous, turnover.refresh],
            ..DiffRequest::default()
        };
        let diff = bank.diff(&request).unwrap().summary;
        let expected = [diff.kept, diff.gained, diff.lost].map(u64::from);
        let counts = [turnover.kept, turnover.gained, turnover.lost];
        assert_eq!(counts, expected, "{turnover:?}");
    }
    assert!(report.turnover.iter().any(|turnover| turnover.gained > 0));
}

/// A watch that publishes another state once the report has begun.
struct Meanwhile(Arc<Place>, AtomicU32);

impl Watch for Meanwhile {
    fn stopped(&self) -> bool {
        if self.1.fetch_add(1, Ordering::SeqCst) == 0 {
            ok(&self.0, "ingest bank day1.jsonl");
            ok(&self.0, REFRESH);
        }
        false
    }
}

/// A watch that stops the work the n-th time it is asked.
struct Stopping(AtomicU32);

impl Watch for Stopping {
    fn stopped(&self) -> bool {
        let left = self.0.load(Ordering::SeqCst);
        self.0.store(left.saturating_sub(1), Ordering::SeqCst);
        left == 0
    }
}

/// The files are written after the report is complete, so an interrupted one leaves none.
#[test]
fn a_report_is_of_one_state_and_can_be_stopped_at_any_point() {
    let place = Arc::new(Place::with_seeds());
    place.write("day1.jsonl", GONE);
    let bank = Bank::at(place.path("bank"));
    let request = ReportRequest {
        evaluate: true,
        draws: 2,
        ..ReportRequest::default()
    };
    let before = bank.report(&request).unwrap();
    let mut stops = 0;
    loop {
        let watched = bank.watched(Stopping(AtomicU32::new(stops)));
        match watched.report(&request) {
            Ok(report) => break assert_eq!(report, before),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Interrupted, "{error}"),
        }
        stops = stops * 2 + 1;
    }
    assert!(stops > 5, "{stops}");
    let watched = bank.watched(Meanwhile(Arc::clone(&place), AtomicU32::new(0)));
    assert_eq!(watched.report(&request).unwrap(), before);
    assert_ne!(bank.report(&request).unwrap(), before);
}

#[test]
fn a_cover_plan_and_an_empty_one_have_reports_too() {
    let place = Place::with_bank();
    let page = |page: u32| format!("http://s.example/{}", page % 12);
    let site = (0..12).map(|at| record(&page(at), &[&page(at + 1), &page(at * 2 + 1)]));
    // Coverage is measured on sites with a link from another one; a link from spam makes no core.
    let other = r#"{"url":"http://z.example/","outlinks":["http://s.example/0"],"spam":true}"#;
    let crawl = TWO_CORES.to_owned() + &site.collect::<String>() + other + "\n";
    place.write("day0.jsonl", crawl);
    ok(&place, "ingest bank --snapshot day0.jsonl");
    ok(&place, "refresh bank --method greedy --per-site 2 --plan g");
    ok(&place, "report bank --out g.html --evaluate --plan g");
    let report = json(&place, "g.json");
    assert_eq!(report["seeds"][0]["pick"], 1);
    assert_eq!(report["coverage"]["sites"], 1);
    assert_eq!(report["refresh"]["parameters"]["per-site"], 2);
    assert!(read(&place, "g.html").contains("Value covered, by the number of seeds"));
    let empty = place.run(&["refresh", "bank", "--plan", "e", "--pages", "crawled"]);
    assert_eq!(empty.status, Some(5));
    ok(&place, "report bank --out e.html --plan e");
    json(&place, "e.json");
    assert!(read(&place, "e.html").contains("There are no seeds to judge."));
}

#[test]
fn wrong_arguments_are_refused_and_nothing_but_an_earlier_report_is_replaced() {
    let place = Place::with_seeds();
    place.write("mine.json", "{\"mine\": true}\n");
    std::os::unix::fs::symlink("elsewhere.html", place.path("link.html")).unwrap();
    let before = names(&place.path("."));
    for (arguments, message) in [
        ("--out nowhere/r.html", "the folder nowhere does not exist"),
        ("--out bank", "bank is a folder"),
        ("--out r.json", "both the page and the JSON file"),
        ("--out -", "has no file name"),
        ("--out mine.html", "mine.json exists and is not a report"),
        ("--out bank/SEEDBANK", "is in the bank's own folder"),
        ("--out link.html", "is not a regular file"),
        ("--out r.html --plan none", "no plan \"none\""),
        ("--out r.html --refresh 9", "no refresh 9"),
        (
            "--out r.html --draws 1",
            "expected a whole number from 2 to 10000",
        ),
        ("--out r.html --draws 2", "--evaluate"),
        (
            "--out r.html --max-sites 0",
            "expected a whole number of at least 1",
        ),
    ] {
        let line = format!("report bank {arguments}");
        let error = place.run(&line.split(' ').collect::<Vec<_>>()).fails(2);
        assert!(error.contains(message), "{arguments}: {error}");
    }
    place.run(&["report", "none", "--out", "r.html"]).fails(4);
    assert_eq!(names(&place.path(".")), before);
    assert_eq!(read(&place, "mine.json"), "{\"mine\": true}\n");
    ok(&place, "status bank");
    // A report that cannot be written whole leaves the earlier one: no file may grow beyond four kilobytes.
    ok(&place, REPORT);
    let report = || (read(&place, "r.html"), read(&place, "r.json"));
    let earlier = report();
    place.write("day1.jsonl", record("http://h9.example/", &[]));
    ok(&place, "ingest bank day1.jsonl");
    let mut command = clean("sh");
    let limited = "ulimit -f 8; exec \"$0\" \"$@\"";
    command.args(["-c", limited, env!("CARGO_BIN_EXE_seedbank")]);
    let ended = place.run_command(command.args(REPORT.split(' ')));
    assert_ne!(ended.status, Some(0), "{ended:?}");
    assert_eq!(report(), earlier);
    ok(&place, REPORT);
    assert_ne!(report(), earlier);
}
