//! `report` as a command: what it writes, what it rejects, and that it never leaves a partial file.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::support::command::{Place, TWO_CORES, clean, names, record};
use seedbank::engine::Bank;
use seedbank::engine::error::ErrorKind;
use seedbank::engine::query::DiffRequest;
use seedbank::report::ReportRequest;
use seedbank::watch::Watch;
use serde_json::Value;

#[track_caller]
fn fits(report: &Value) {
    crate::support::schemas::fits("report", report);
}

fn read(place: &Place, name: &str) -> String {
    fs::read_to_string(place.path(name)).unwrap()
}

#[test]
fn a_report_is_a_page_and_a_json_file() {
    let place = Place::with_seeds();
    let out = place
        .run(&["report", "bank", "--out", "r.html", "--evaluate"])
        .done();
    assert_eq!(
        out,
        "report on refresh 1 of plan default (cores), 2 seeds: r.html\nall of its data as JSON: r.json\n"
    );
    assert_eq!(
        names(place.path("").as_path()),
        ["bank", "day0.jsonl", "r.html", "r.json"]
    );
    let json: Value = serde_json::from_str(&read(&place, "r.json")).unwrap();
    fits(&json);
    assert_eq!(json["bank"], "bank");
    assert_eq!(json["counters"]["crawled"], 5);
    assert_eq!(json["seeds"][0]["url"], "http://h1.example/");
    assert_eq!(json["seeds"][0]["core"], 1);
    assert_eq!(json["cores"][0]["authority_sites"][0]["site"], "a1.example");
    assert_eq!(json["cores"][1]["hubs"], 2);
    assert!(json["changes"].is_null());
    // From the two seeds all five authorities are one link away.
    assert_eq!(json["crawl"]["depths"][1]["pages"], 7);
    let evaluate = |experiment: &[&str]| {
        let all = [&["evaluate", "bank"], experiment, &["--format", "json"]].concat();
        place.run(&all).json()
    };
    let crawl = evaluate(&["crawl", "--draws", "20", "--top", "0"]);
    // Beside the baselines a report has plans of every method.
    let own = |crawl: &Value| crawl["fetches"]["lists"][0].clone();
    assert_eq!(own(&json["crawl"]), own(&crawl));
    let by_depth = |crawl: &Value| {
        let mut crawl = crawl.clone();
        crawl.as_object_mut().unwrap().remove("fetches");
        crawl
    };
    assert_eq!(by_depth(&json["crawl"]), by_depth(&crawl));
    let budget = json["budget"]["budget"].to_string();
    assert_eq!(json["budget"], evaluate(&["budget", "--pages", &budget]));
    // No site is large enough to compare cover methods on.
    assert!(json["coverage"].is_null());
    assert_eq!(
        json["skipped"],
        serde_json::json!(["no site has 10 crawled pages"])
    );
    let page = read(&place, "r.html");
    assert!(page.contains("2 pages to start the next crawl from"));
    assert!(page.contains("href=\"http://k1.example/x,y\""));
    // The same request gives the same bytes, with any number of threads.
    place
        .run(&[
            "report",
            "bank",
            "--out",
            "again.html",
            "--evaluate",
            "--threads",
            "1",
        ])
        .done();
    let again = read(&place, "again.html").replace("again.json", "r.json");
    assert_eq!(again, page);
    let printed = place.run(&[
        "report",
        "bank",
        "--out",
        "r.html",
        "--evaluate",
        "--format",
        "json",
    ]);
    assert_eq!(printed.json(), json);
}

#[test]
fn what_changed_is_told() {
    let place = Place::with_seeds();
    let gone = "{\"url\": \"http://h1.example/\", \"gone\": true}\n".to_owned();
    place.write(
        "day1.jsonl",
        gone + &record("http://h2.example/", &["http://a1.example/"]),
    );
    place.run(&["ingest", "bank", "day1.jsonl"]).done();
    let report = ["report", "bank", "--out", "r.html"];
    place.run(&report).done();
    assert!(
        read(&place, "r.html").contains("Selected after batch 1; the bank now has batches up to 2")
    );
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    place.run(&report).done();
    let json: Value = serde_json::from_str(&read(&place, "r.json")).unwrap();
    fits(&json);
    let changes = &json["changes"];
    assert_eq!(changes["summary"]["from"]["refresh"], 1);
    // As `diff` tells it.
    let told = place
        .run(&["diff", "bank", "--format", "jsonl"])
        .json_lines();
    assert_eq!(changes["summary"], told[0]["summary"]);
    assert_eq!(changes["seeds"], serde_json::json!(told[1..]));
    let lost = &changes["seeds"][1];
    assert_eq!(lost["url"], "http://h1.example/");
    assert_eq!(lost["cause"], "gone");
    assert_eq!(lost["successor"]["url"], "http://h2.example/");
    let kept = &json["seeds"][0];
    assert_eq!(kept["url"], "http://k1.example/x,y");
    assert_eq!(
        (&kept["in_previous"], &kept["dead"]),
        (&true.into(), &Value::Null)
    );
    let history = place.run(&["history", "bank", "--format", "json"]).json();
    assert_eq!(json["previous_refreshes"][0], history["refreshes"][0]);
    assert_eq!(json["refresh"], history["refreshes"][1]);
    let page = read(&place, "r.html");
    assert!(
        page.contains("Not measured") && page.contains("<b>1 kept</b>"),
        "{page}"
    );
    assert!(page.contains("the page is gone (batch 2)"), "{page}");
    let history = place.run(&["history", "bank"]).done();
    for refresh in ["refresh 1 ", "refresh 2 "] {
        let line = history.lines().find(|line| line.starts_with(refresh));
        let line = line.unwrap();
        let how = line.find("certified, ").unwrap()..line.find(" computed").unwrap();
        let how = format!(">{} computed</td>", &line[how]);
        assert!(page.contains(&how), "{how}\n{page}");
    }
    let old = ["--refresh", "1"];
    place.run(&[&report[..], &old].concat()).done();
    let json: Value = serde_json::from_str(&read(&place, "r.json")).unwrap();
    let refresh = &json["refresh"];
    assert_eq!(
        (&refresh["refresh"], &refresh["batch"]),
        (&1.into(), &1.into())
    );
    assert!(json["changes"].is_null());
    assert_eq!(json["previous_refreshes"], serde_json::json!([]));
}

/// Of each of the last twelve refreshes, by the numbers that `diff` has.
#[test]
fn the_last_refreshes_are_compared_as_diff_compares_them() {
    let place = Place::with_seeds();
    for day in 0..14 {
        // Another hub every day, and every third day an old one dies.
        let hub = record(
            &format!("http://n{day}.example/"),
            &["http://a1.example/", "http://a2.example/"],
        );
        let gone = match day % 3 {
            0 => format!(
                "{{\"url\": \"http://h{}.example/\", \"gone\": true}}\n",
                1 + day / 3 % 3
            ),
            _ => String::new(),
        };
        place.write("day.jsonl", hub + &gone);
        place.run(&["ingest", "bank", "day.jsonl"]).done();
        place
            .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
            .done();
    }
    place.run(&["report", "bank", "--out", "r.html"]).done();
    let json: Value = serde_json::from_str(&read(&place, "r.json")).unwrap();
    fits(&json);
    let told = json["turnover"].as_array().unwrap();
    let refreshes: Vec<u64> = told
        .iter()
        .map(|t| t["refresh"].as_u64().unwrap())
        .collect();
    assert_eq!(refreshes, (4..=15).collect::<Vec<u64>>());
    let bank = Bank::at(place.path("bank"));
    let mut changed = 0;
    let page = read(&place, "r.html");
    for found in told {
        let number = |name: &str| found[name].as_u64().unwrap();
        let request = DiffRequest {
            refreshes: ["previous", "refresh"]
                .map(|name| u32::try_from(number(name)).unwrap())
                .to_vec(),
            ..DiffRequest::default()
        };
        let diff = bank.diff(&request).unwrap().summary;
        let counts = ["kept", "gained", "lost"].map(number);
        assert_eq!(
            counts,
            [diff.kept, diff.gained, diff.lost].map(u64::from),
            "{found}"
        );
        changed += number("gained");
        let [kept, gained, lost] = counts;
        let row = format!(
            "\"Kept (seeds)\">{kept}</td><td data-label=\"Gained (seeds)\">{gained}</td>\
             <td data-label=\"Lost (seeds)\">{lost}</td></tr>"
        );
        assert!(page.contains(&row), "{row}");
    }
    assert!(changed > 0, "{told:?}");
}

/// Publishes once the report has begun.
struct Meanwhile(Arc<Place>, AtomicU32);

impl Watch for Meanwhile {
    fn stopped(&self) -> bool {
        if self.1.fetch_add(1, Ordering::SeqCst) == 0 {
            self.0.run(&["ingest", "bank", "day1.jsonl"]).done();
            self.0
                .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
                .done();
        }
        false
    }
}

#[test]
fn it_is_of_one_state() {
    let place = Arc::new(Place::with_seeds());
    place.write(
        "day1.jsonl",
        "{\"url\": \"http://h1.example/\", \"gone\": true}\n",
    );
    let bank = Bank::at(place.path("bank"));
    let request = ReportRequest {
        evaluate: true,
        draws: 2,
        ..ReportRequest::default()
    };
    let before = bank.report(&request).unwrap();
    let watched = bank.watched(Meanwhile(Arc::clone(&place), AtomicU32::new(0)));
    assert_eq!(watched.report(&request).unwrap(), before);
    assert_ne!(bank.report(&request).unwrap(), before);
}

#[test]
fn a_cover_plan_and_an_empty_one_have_reports_too() {
    let place = Place::with_bank();
    let site: String = (0..12_u32)
        .map(|page| {
            let links = [page + 1, page * 2 + 1].map(|to| format!("http://s.example/{}", to % 12));
            record(&format!("http://s.example/{page}"), &[&links[0], &links[1]])
        })
        .collect();
    place.write("day0.jsonl", TWO_CORES.to_owned() + &site);
    place
        .run(&["ingest", "bank", "--snapshot", "day0.jsonl"])
        .done();
    place
        .run(&[
            "refresh",
            "bank",
            "--method",
            "greedy",
            "--per-site",
            "2",
            "--plan",
            "g",
        ])
        .done();
    place
        .run(&[
            "report",
            "bank",
            "--out",
            "g.html",
            "--evaluate",
            "--plan",
            "g",
        ])
        .done();
    let json: Value = serde_json::from_str(&read(&place, "g.json")).unwrap();
    fits(&json);
    assert_eq!(json["seeds"][0]["pick"], 1);
    assert_eq!(json["coverage"]["sites"], 1);
    assert_eq!(json["refresh"]["parameters"]["per-site"], 2);
    assert!(read(&place, "g.html").contains("Value covered, by the number of seeds"));
    let empty = place.run(&["refresh", "bank", "--plan", "e", "--pages", "crawled"]);
    assert_eq!(empty.status, Some(5));
    place
        .run(&["report", "bank", "--out", "e.html", "--plan", "e"])
        .done();
    fits(&serde_json::from_str(&read(&place, "e.json")).unwrap());
    assert!(read(&place, "e.html").contains("There are no seeds to judge."));
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

/// The files are written after the report has come back, so an interrupted one leaves none.
#[test]
fn it_stops_wherever_it_is_asked_to() {
    let place = Place::with_seeds();
    let bank = Bank::at(place.path("bank"));
    let request = ReportRequest {
        evaluate: true,
        draws: 2,
        ..ReportRequest::default()
    };
    let mut stops = 0;
    loop {
        let watched = bank.watched(Stopping(AtomicU32::new(stops)));
        match watched.report(&request) {
            Ok(report) => break assert_eq!(report.seeds.len(), 2),
            Err(e) => assert_eq!(e.kind(), ErrorKind::Interrupted, "{e}"),
        }
        stops = stops * 2 + 1;
    }
    assert!(stops > 5, "{stops}");
}

#[test]
fn what_makes_no_sense_is_refused_and_nothing_is_written() {
    let place = Place::with_seeds();
    let before = names(place.path("").as_path());
    for (out, said) in [
        ("nowhere/r.html", "the folder nowhere does not exist"),
        ("bank", "bank is a folder"),
        ("r.json", "both the page and the JSON file"),
        ("-", "has no file name"),
    ] {
        let error = place.run(&["report", "bank", "--out", out]).fails(2);
        assert!(error.contains(said), "{out}: {error}");
    }
    for (args, said) in [
        (["--plan", "none"], "no plan \"none\""),
        (["--refresh", "9"], "no refresh 9"),
        (["--draws", "1"], "expected a whole number from 2 to 10000"),
        (["--draws", "2"], "--evaluate"),
        (
            ["--max-sites", "0"],
            "expected a whole number of at least 1",
        ),
    ] {
        let all = [&["report", "bank", "--out", "r.html"], &args[..]].concat();
        let error = place.run(&all).fails(2);
        assert!(error.contains(said), "{args:?}: {error}");
    }
    place.run(&["report", "none", "--out", "r.html"]).fails(4);
    assert_eq!(names(place.path("").as_path()), before);
}

#[test]
fn nothing_but_an_earlier_report_is_replaced() {
    let place = Place::with_seeds();
    let report = |out: &str| place.run(&["report", "bank", "--out", out]);
    place.write("kept.json", "{\"mine\": true}\n");
    let told = report("kept.html").fails(2);
    assert!(
        told.contains("kept.json exists and is not a report"),
        "{told}"
    );
    assert_eq!(read(&place, "kept.json"), "{\"mine\": true}\n");
    let told = report("bank/SEEDBANK").fails(2);
    assert!(told.contains("is in the bank's own folder"), "{told}");
    place.run(&["status", "bank"]).done();
    std::os::unix::fs::symlink("elsewhere.html", place.path("link.html")).unwrap();
    let told = report("link.html").fails(2);
    assert!(told.contains("is not a regular file"), "{told}");
    report("again.html").done();
    report("again.html").done();
}

/// No file may grow beyond four kilobytes.
#[test]
fn a_report_that_cannot_be_written_leaves_the_earlier_one() {
    let place = Place::with_seeds();
    let report = ["report", "bank", "--out", "r.html"];
    place.run(&report).done();
    let before = (read(&place, "r.html"), read(&place, "r.json"));
    place.write("day1.jsonl", record("http://h9.example/", &[]));
    place.run(&["ingest", "bank", "day1.jsonl"]).done();
    let limited = "ulimit -f 8; exec \"$0\" \"$@\"";
    let mut command = clean("sh");
    command.args(["-c", limited, env!("CARGO_BIN_EXE_seedbank")]);
    let ended = place.run_command(command.args(report));
    assert_ne!(ended.status, Some(0), "{ended:?}");
    assert_eq!((read(&place, "r.html"), read(&place, "r.json")), before);
    place.run(&report).done();
    assert_ne!((read(&place, "r.html"), read(&place, "r.json")), before);
}

#[test]
fn seeds_that_died_are_marked() {
    let place = Place::with_seeds();
    place.write(
        "day1.jsonl",
        "{\"url\": \"http://h1.example/\", \"gone\": true}\n",
    );
    place.run(&["ingest", "bank", "day1.jsonl"]).done();
    place.run(&["report", "bank", "--out", "r.html"]).done();
    let json: Value = serde_json::from_str(&read(&place, "r.json")).unwrap();
    fits(&json);
    assert_eq!(json["seeds"][0]["dead"], "gone");
    assert!(json["seeds"][1]["dead"].is_null());
    let page = read(&place, "r.html");
    assert!(page.contains("1 of these seeds died since"), "{page}");
    assert!(page.contains("gone now</span>"), "{page}");
    assert!(page.contains("seedbank seeds bank --refresh 1"), "{page}");
}
