//! `evaluate` as a user types it: experiments on banks whose results are known on paper, in each
//! format and on the current state, and the errors for invalid arguments.

#![expect(clippy::float_cmp, reason = "what is known on paper is exact")]

use std::fs;

use crate::support::command;
use crate::support::command::{Place, record};
use crate::support::schemas::fits;
use serde_json::Value;

/// What an experiment prints as JSON, which must fit its schema.
#[track_caller]
fn judged(place: &Place, args: &[&str]) -> Value {
    let (name, rest) = args.split_first().unwrap();
    let args = [&["evaluate", "bank", name], rest, &["--format", "json"]].concat();
    let found = place.run(&args).json();
    fits(&format!("evaluate-{name}"), &found);
    found
}

/// One site: a page that links to nine others, each of which links to nothing.
fn star() -> Place {
    let place = Place::with_bank();
    let leaf = |n: u32| format!("http://star.example/{n}");
    let leaves: Vec<String> = (1..10).map(leaf).collect();
    let targets: Vec<&str> = leaves.iter().map(String::as_str).collect();
    let mut records = record("http://star.example/", &targets);
    for leaf in &leaves {
        records.push_str(&record(leaf, &[]));
    }
    place.write("day.jsonl", records);
    place.run(&["ingest", "bank", "day.jsonl"]).done();
    place
}

#[test]
fn a_crawl_of_two_cores_is_as_on_paper() {
    let place = Place::with_seeds();
    let found = judged(&place, &["crawl", "--draws", "2000", "--top", "3"]);
    assert_eq!(found["list"]["name"], "refresh 1 of plan default");
    assert_eq!(found["list"]["seeds"], 2);
    assert_eq!(
        (&found["state"]["pages"], &found["state"]["crawled"]),
        (&10.into(), &5.into())
    );
    let depths = found["depths"].as_array().unwrap();
    assert_eq!(depths.len(), 2);
    assert_eq!(
        (&depths[0]["new_pages"], &depths[1]["new_pages"]),
        (&2.into(), &5.into())
    );
    assert_eq!(depths[1]["share"], 0.7);
    let (rank, mean) = (&depths[1]["pagerank"], &depths[1]["mean_pagerank"]);
    assert!((rank.as_f64().unwrap() - 5.0 * mean.as_f64().unwrap()).abs() < 1e-12);
    let random_rank = depths[1]["random"]["pagerank"]["mean"].as_f64().unwrap();
    assert!(random_rank < rank.as_f64().unwrap(), "{random_rank}");
    // Two of five hubs: three of the first core's authorities, two of the other's, or all five.
    let random = &depths[1]["random"]["new_pages"];
    let (mean, error) = (&random["mean"], &random["standard_error"]);
    let off = (mean.as_f64().unwrap() - (0.3 * 3.0 + 0.6 * 5.0 + 0.1 * 2.0)).abs();
    assert!(off < 4.0 * error.as_f64().unwrap(), "{random}");
    assert!(error.as_f64().unwrap() < 0.05, "{random}");
    // Each authority has the rank that its hubs pass on; those of a core are equal, so URLs decide.
    let top = found["top_pages"].as_array().unwrap();
    let urls: Vec<&str> = top
        .iter()
        .map(|page| page["url"].as_str().unwrap())
        .collect();
    let wanted = [
        "http://a1.example/",
        "http://a2.example/",
        "http://a3.example/",
    ];
    assert_eq!(urls, wanted);
    assert!(top.iter().all(|page| page["depth"] == 1));
    for (at, claim) in ["more-pages-at-every-depth", "more-pagerank-at-every-depth"]
        .iter()
        .enumerate()
    {
        assert_eq!(found["claims"][at]["claim"], *claim);
        assert_eq!(found["claims"][at]["holds"], true);
    }
    let again = judged(
        &place,
        &["crawl", "--draws", "2000", "--top", "3", "--threads", "1"],
    );
    assert_eq!(found, again);
    let shallow = judged(&place, &["crawl", "--depth", "0"]);
    assert_eq!(shallow["depths"].as_array().unwrap().len(), 1);
    let text = place.run(&["evaluate", "bank", "crawl"]).done();
    assert!(text.contains("yes: The seeds reach more pages"), "{text}");
    let csv = place
        .run(&["evaluate", "bank", "crawl", "--format", "csv"])
        .done();
    assert_eq!(csv.lines().count(), 3, "{csv}");
    assert!(csv.starts_with("depth,new_pages,pages,share,"), "{csv}");
    for line in csv.lines() {
        assert_eq!(line.matches(',').count(), 21, "{csv}");
    }
}

#[test]
fn seeds_that_died_are_counted_and_named() {
    let place = Place::with_seeds();
    let changes = "{\"url\": \"http://h1.example/\", \"gone\": true}\n\
        {\"url\": \"http://k1.example/x,y\", \"spam\": true}\n";
    place.write("day1.jsonl", changes);
    place
        .run(&[
            "refresh",
            "bank",
            "--plan",
            "sites",
            "--method",
            "out-degree",
        ])
        .done();
    place.run(&["ingest", "bank", "day1.jsonl"]).done();
    // Nothing is left of the plan by cores, but the other plan may want spam.
    let error = place.run(&["evaluate", "bank", "crawl"]).fails(2);
    assert!(error.contains("none of 2 seeds of refresh 1"), "{error}");
    assert!(error.contains("2 died"), "{error}");
    // Another hub of the core succeeds in either case.
    let found = judged(&place, &["crawl", "--succeed"]);
    let list = &found["list"];
    assert_eq!(
        (&list["seeds"], &list["dead"], &list["succeeded"]),
        (&2.into(), &2.into(), &2.into())
    );
    assert_eq!(list["absent"][0]["successor"], "http://h2.example/");
    assert_eq!(list["absent"][1]["successor"], "http://k2.example/");
    assert_eq!(found["depths"][1]["new_pages"], 5);
    let text = place
        .run(&["evaluate", "bank", "budget", "--succeed"])
        .done();
    assert!(
        text.contains("spam: http://k1.example/x,y, succeeded by http://k2.example/\n"),
        "{text}"
    );
    let found = judged(&place, &["crawl", "--plan", "sites"]);
    assert_eq!(found["list"]["succeeded"], Value::Null);
    assert_eq!(
        (&found["list"]["seeds"], &found["list"]["dead"]),
        (&4.into(), &1.into())
    );
    assert_eq!(found["list"]["batch"], 1);
    assert_eq!(found["state"]["batch"], 2);
    assert_eq!(found["list"]["absent"][0]["why"], "gone");
    assert_eq!(found["depths"][0]["spam_share"], 0.25);
    let row = &judged(&place, &["budget", "--plan", "default"])["lists"][0];
    assert_eq!(row["pages"], 0);
    assert_eq!(row["list"]["absent"][0]["url"], "http://h1.example/");
    assert_eq!(row["list"]["absent"][1]["why"], "spam");
    let text = place.run(&["evaluate", "bank", "budget"]).done();
    assert!(
        text.contains("2 have died since\n  gone: http://h1.example/\n"),
        "{text}"
    );
    let ended = place.run(&["evaluate", "bank", "budget", "--format", "csv"]);
    assert!(ended.err.contains("warning: 2 of 2 seeds"), "{ended:?}");
}

#[test]
fn any_list_of_urls_is_judged() {
    let place = Place::with_seeds();
    let list = "# what we have\nhttp://H2.example\nhttp://h2.example/ again\nhttp://no.example/\n\
        http://h1.example/nothing\nnonsense\n";
    place.write("list.txt", list);
    let found = judged(&place, &["crawl", "--seeds-file", "list.txt"]);
    let list = &found["list"];
    assert_eq!(
        (&list["given"], &list["repeated"], &list["seeds"]),
        (&5.into(), &1.into(), &1.into())
    );
    assert_eq!((&list["dead"], &list["unknown"]), (&0.into(), &3.into()));
    let why: Vec<&str> = list["absent"]
        .as_array()
        .unwrap()
        .iter()
        .map(|seed| seed["why"].as_str().unwrap())
        .collect();
    assert_eq!(why, ["not-in-bank", "not-in-bank", "no-url"]);
    assert_eq!(found["depths"][1]["new_pages"], 3);
    let args = ["evaluate", "bank", "crawl", "--seeds-file", "-"];
    let text = place.run_with(&args, b"http://k1.example/x,y\n").done();
    assert!(text.starts_with("standard input: 1 seed\n"), "{text}");
    // A plan from the environment is no contradiction.
    let mut command = place.command(&["evaluate", "bank", "crawl", "--seeds-file", "list.txt"]);
    let ended = place.run_command(command.env("SEEDBANK_PLAN", "default"));
    assert!(ended.done().starts_with("list.txt: 1 seed"));
}

#[test]
fn distances_between_cores_without_a_way() {
    let place = Place::with_seeds();
    let found = judged(&place, &["distances"]);
    assert_eq!(
        found["distances"],
        serde_json::json!([[0, null], [null, 0]])
    );
    assert_eq!(found["all"]["unreachable"], 2);
    assert_eq!(found["graph"]["mean"]["mean"], 1.0);
    assert_eq!(found["graph"]["mean"]["standard_error"], 0.0);
    assert_eq!(found["claims"][0]["holds"], true);
    // One core now leads to the other, through a page between them.
    let link = record("http://a1.example/", &["http://between.example/"])
        + &record("http://between.example/", &["http://b2.example/"]);
    place.write("day1.jsonl", link);
    place.run(&["ingest", "bank", "day1.jsonl"]).done();
    let found = judged(&place, &["distances", "--refresh", "1"]);
    assert_eq!(found["distances"], serde_json::json!([[0, 2], [null, 0]]));
    assert_eq!(found["neighbours"]["mean"], 2.0);
    // 15 links; from each of three hubs one page at distance 2 and one at 3; and b2 at 2 from a1.
    let mean = found["graph"]["mean"]["mean"].as_f64().unwrap();
    let (sum, pairs) = (15.0 + 3.0 * 5.0 + 2.0, 15.0 + 3.0 * 2.0 + 1.0);
    assert!((mean - sum / pairs).abs() < 1e-12, "{mean}");
    let csv = place
        .run(&["evaluate", "bank", "distances", "--format", "csv"])
        .done();
    let wanted = "from,to,from_seed,to_seed,distance\r\n\
        1,2,http://h1.example/,\"http://k1.example/x,y\",2\r\n\
        2,1,\"http://k1.example/x,y\",http://h1.example/,\r\n";
    assert_eq!(csv, wanted);
    let text = place.run(&["evaluate", "bank", "distances"]).done();
    assert!(
        text.contains("neighbours in rank      2            1    2  2.000    2\n"),
        "{text}"
    );
}

#[test]
fn the_middle_of_a_star_covers_it() {
    let place = star();
    let found = judged(
        &place,
        &[
            "coverage",
            "--per-site",
            "3",
            "--hops",
            "2",
            "--draws",
            "400",
        ],
    );
    assert_eq!((&found["sites"], &found["pages"]), (&1.into(), &10.into()));
    let by_seeds = found["by_seeds"].as_array().unwrap();
    let percent = |curve: &Value, at: usize| {
        curve["points"][at]["pages"]["percent"]["mean"]
            .as_f64()
            .unwrap()
    };
    assert_eq!(by_seeds[0]["method"], "random");
    assert_eq!(
        by_seeds[0]["points"][0]["pages"]["improvement"],
        Value::Null
    );
    // One of ten draws is the middle page, which covers all; the others cover themselves.
    let random = percent(&by_seeds[0], 0);
    assert!((random - 19.0).abs() < 6.0, "{random}");
    for curve in &by_seeds[1..] {
        let wanted = match curve["method"].as_str().unwrap() {
            // Leaves have the higher PageRank, and cover nothing but themselves.
            "pagerank" => 10.0,
            _ => 100.0,
        };
        assert_eq!(percent(curve, 0), wanted, "{curve}");
    }
    assert_eq!(found["by_hops"].as_array().unwrap().len(), by_seeds.len());
    let holds: Vec<&Value> = found["claims"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| &c["holds"])
        .collect();
    assert_eq!(holds, [true, false, false]);
    let flags = [
        "evaluate",
        "bank",
        "coverage",
        "--per-site",
        "3",
        "--hops",
        "2",
    ];
    let text = place.run(&flags).done();
    assert!(text.contains("k seeds per site, 2 hops"), "{text}");
    let csv = place
        .run(&[&flags[..], &["--format", "csv"]].concat())
        .done();
    // Ten methods, three settings by seeds and two by hops, pages and value, and the header.
    assert_eq!(csv.lines().count(), 10 * 5 * 2 + 1);
}

#[test]
fn a_budget_goes_by_depth_and_then_by_url() {
    let place = Place::with_seeds();
    place.write("list.txt", "http://h3.example/\n");
    let args = [
        "budget",
        "--pages",
        "4",
        "--seeds-file",
        "list.txt",
        "--plan",
        "default",
    ];
    let found = judged(&place, &args);
    let row = |at: usize| &found["lists"][at];
    // Two seeds, and the first two of their five authorities.
    assert_eq!(row(0)["list"]["plan"], "default");
    assert_eq!(
        (&row(0)["pages"], &row(0)["crawled"], &row(0)["depth"]),
        (&4.into(), &2.into(), &1.into())
    );
    assert_eq!(
        (&row(1)["pages"], &row(1)["crawled"]),
        (&4.into(), &1.into())
    );
    assert_eq!(row(1)["list"]["name"], "list.txt");
    let less = judged(&place, &["budget", "--pages", "3", "--refresh", "1"]);
    let of = |found: &Value| found["lists"][0]["pagerank"].as_f64().unwrap();
    // The page that was cut is an authority of the first core: two of its three were taken.
    let a2 = of(&found) - of(&less);
    let top = judged(&place, &["crawl", "--top", "2"]);
    let wanted = top["top_pages"][1]["pagerank"].as_f64().unwrap();
    assert!((a2 - wanted).abs() < 1e-12, "{a2} {wanted}");
    let text = place
        .run(&["evaluate", "bank", "budget", "--pages", "4"])
        .done();
    assert!(
        text.contains("Most value comes from refresh 1 of plan default"),
        "{text}"
    );
}

#[test]
fn wrong_input_is_told() {
    let place = Place::with_seeds();
    place
        .run(&["refresh", "bank", "--plan", "sites", "--method", "random"])
        .done();
    place.write("unknown.txt", "http://nowhere.example/\n");
    place.write("empty.txt", "# nothing\n");
    let cases: &[(&[&str], &str)] = &[
        (&["crawl", "--plan", "other"], "no plan \"other\""),
        (&["crawl", "--refresh", "9"], "no refresh 9"),
        (
            &["crawl", "--seeds-file", "absent.txt"],
            "cannot read the list of seeds absent.txt",
        ),
        (
            &["crawl", "--seeds-file", "unknown.txt"],
            "1 is not in the bank",
        ),
        (
            &["crawl", "--seeds-file", "empty.txt"],
            "empty.txt contains no seeds",
        ),
        (
            &["crawl", "--seeds-file", "empty.txt", "--plan", "sites"],
            "two different lists",
        ),
        (
            &["crawl", "--seeds-file", "empty.txt", "--refresh", "1"],
            "cannot be used with",
        ),
        (
            &["crawl", "--seeds-file", "empty.txt", "--succeed"],
            "cannot be used with",
        ),
        (&["crawl", "--draws", "0"], "--draws"),
        (&["distances", "--plan", "sites"], "has no cores"),
        (&["distances", "--cores", "0"], "--cores"),
        (&["coverage"], "no site has 10 crawled pages"),
        (&["coverage", "--value-base", "1e9"], "--value-base"),
        (
            &["coverage", "--min-pages", "1", "--value-spam", "9999999"],
            "--value-spam",
        ),
        (&["coverage", "--hops", "101"], "--hops"),
        (&["budget", "--pages", "0"], "--pages"),
        (
            &["budget", "--seeds-file", "-", "--seeds-file", "-"],
            "standard input (-) is given more than once",
        ),
        (
            &["budget", "--plan", "default", "--refresh", "7"],
            "no refresh 7",
        ),
        (&["everything"], "unexpected argument"),
        (&[], "requires a subcommand"),
    ];
    for (args, words) in cases {
        let ended = place.run(&[&["evaluate", "bank"], *args].concat());
        assert_eq!(
            (ended.status, &*ended.out),
            (Some(2), ""),
            "{args:?}: {ended:?}"
        );
        assert!(ended.err.contains(words), "{args:?}: {}", ended.err);
    }
    place.run(&["evaluate", "nowhere", "crawl"]).fails(4);
    let empty = Place::with_bank();
    empty.write("list.txt", "http://a.example/\n");
    for args in [
        &["crawl"][..],
        &["crawl", "--seeds-file", "list.txt"],
        &["coverage"],
    ] {
        empty.run(&[&["evaluate", "bank"], args].concat()).fails(2);
    }
}

/// Waits until the process is ready to catch Ctrl-C.
#[cfg(target_os = "linux")]
fn catches_signals(process: u32) {
    loop {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = u64::from_str_radix(caught.unwrap().trim(), 16).unwrap();
        if caught & 2 != 0 {
            return;
        }
        std::thread::yield_now();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn interrupted_it_leaves_nothing_behind() {
    let place = Place::with_seeds();
    let page = |n: u32| format!("http://ring.example/{n}");
    let ring: String = (0..2000)
        .map(|n| record(&page(n), &[&page((n + 1) % 2000)]))
        .collect();
    place.write("ring.jsonl", ring);
    place.run(&["ingest", "bank", "ring.jsonl"]).done();
    place.write("list.txt", page(0));
    let before = (place.state(), command::names(&place.path("bank")));
    // Far longer than the test waits: each draw walks around the ring.
    let crawl = [
        "crawl",
        "--seeds-file",
        "list.txt",
        "--depth",
        "4000",
        "--draws",
        "100000",
    ];
    let child = place.spawn(&[&["evaluate", "bank"], &crawl[..]].concat());
    catches_signals(child.id());
    let sent = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    let error = command::wait(child).fails(130);
    assert_eq!(error, "error: interrupted; the bank is unchanged\n");
    assert_eq!((place.state(), command::names(&place.path("bank"))), before);
}
