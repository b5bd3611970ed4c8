//! `evaluate methods` as a user types it: figures computed by hand, every format, the recommended
//! command, and invalid arguments.

use crate::support::command::{Place, record};
use crate::support::schemas::fits;
use serde_json::Value;

#[track_caller]
fn compared(place: &Place, args: &[&str]) -> Value {
    let args = [
        &["evaluate", "bank", "methods"],
        args,
        &["--format", "json"],
    ]
    .concat();
    let found = place.run(&args).json();
    fits("evaluate-methods", &found);
    found
}

/// A hub that links to 4 leaves, and a page that links to 2 pages which nobody crawled.
fn hub_and_frontier() -> Place {
    let place = Place::with_bank();
    let url = |n: u32| format!("http://a.example/{n}");
    let leaves: Vec<String> = (1..5).map(url).collect();
    let targets: Vec<&str> = leaves.iter().map(String::as_str).collect();
    let mut records = record("http://a.example/", &targets);
    for leaf in &leaves {
        records.push_str(&record(leaf, &[]));
    }
    let beyond = ["http://c.example/1", "http://c.example/2"];
    records.push_str(&record("http://b.example/", &beyond));
    place.write("day.jsonl", records);
    place.run(&["ingest", "bank", "day.jsonl"]).done();
    place
}

#[track_caller]
fn of<'a>(found: &'a Value, list: &str) -> &'a Value {
    let lists = found["comparison"]["lists"].as_array().unwrap();
    lists.iter().find(|of| of["list"] == list).unwrap()
}

#[test]
fn a_hub_and_a_frontier_are_as_on_paper() {
    let place = hub_and_frontier();
    let asked = [
        "--seeds", "1", "--budget", "3", "--draws", "0", "--p-uniq", "0",
    ];
    let found = compared(&place, &asked);
    assert_eq!(found["state"]["crawled"], 6);
    let known = |list: &str, counted: &str, what: &str| {
        of(&found, list)["known"][counted][what]["mean"].clone()
    };
    for list in ["coverage", "out-degree", "greedy per site"] {
        assert_eq!(known(list, "all", "fetched"), 3.0, "{list}");
        assert_eq!(known(list, "all", "value"), 3.0, "{list}");
        assert_eq!(known(list, "all", "crawled"), 3.0, "{list}");
    }
    // Nobody links to either page, so the smaller URL comes first.
    assert_eq!(known("pagerank", "all", "value"), 3.0);
    assert_eq!(known("in-degree", "all", "value"), 3.0);
    assert_eq!(known("harmonic", "all", "value"), 3.0);
    assert_eq!(known("home-pages", "all", "value"), 3.0);
    // One of both pages at random, ten times: three pages of value, or one.
    let random = known("random", "all", "value").as_f64().unwrap();
    assert!((1.0..=3.0).contains(&random), "{random}");
    assert_eq!(known("random", "all", "fetched"), 3.0);
    let alone = known("random", "of_crawled", "fetched").as_f64().unwrap();
    assert!((random - alone).abs() < 1e-9, "{alone}");
    // Both cores have hubs on one site alone.
    let communities = of(&found, "communities");
    assert_eq!(communities["known"]["all"]["value"]["mean"], 0.0);
    assert_eq!(of(&found, "communities")["held_out"], Value::Null);
    assert_eq!(found["recommended"][0]["list"], "coverage");
}

#[test]
fn the_plan_that_it_ends_with_can_be_typed() {
    let place = Place::with_crawl("300");
    place
        .run(&["ingest", "bank", "crawl/day-001.jsonl.zst"])
        .done();
    let asked = [
        "--seeds",
        "4,9",
        "--budget",
        "50",
        "--draws",
        "2",
        "--value-known",
        "0.1",
    ];
    let found = compared(&place, &asked);
    let comparison = &found["comparison"];
    assert_eq!(comparison["since"], 1);
    let value =
        serde_json::json!({"p-uniq": 0, "value-clicked": 1, "value-known": 0.1, "value-spam": 0});
    assert_eq!(comparison["value"], value);
    assert_eq!(comparison["measure"], "crawled");
    let text = place
        .run(&[&["evaluate", "bank", "methods"], &asked[..]].concat())
        .done();
    let commands: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("  seedbank "))
        .collect();
    assert_eq!(commands.len(), 2, "{text}");
    for (command, recommended) in commands
        .iter()
        .zip(found["recommended"].as_array().unwrap())
    {
        let args: Vec<&str> = command.split(' ').collect();
        let told = place
            .run(&[&args[..], &["--format", "json"]].concat())
            .json();
        let wanted = &recommended["parameters"];
        for (name, value) in wanted.as_object().unwrap() {
            assert_eq!(&told["parameters"][name], value, "{command}");
        }
        let seeds = &recommended["seeds"];
        assert!(told["seeds"].as_u64() <= seeds.as_u64(), "{told}");
    }
    // The value of a plan of the bank, and the plan beside the others.
    let own = [
        "refresh",
        "bank",
        "--plan",
        "own",
        "--value-known",
        "0.1",
        "--seeds",
        "4",
        "--budget",
        "50",
    ];
    place.run(&own).done();
    let plan = compared(&place, &["--plan", "own", "--seeds", "4", "--budget", "50"]);
    assert_eq!(plan["comparison"]["value"], value);
    let own = of(&plan, "plan own");
    assert_eq!(own["known"], of(&plan, "coverage")["known"]);
    assert_eq!(own["held_out"], of(&plan, "coverage")["held_out"]);
    // Another goal has its own figure and values.
    let goal = ["--plan", "own", "--goal", "discovery", "--seeds", "4"];
    let found = compared(&place, &[&goal[..], &["--budget", "50"]].concat());
    assert_eq!(found["comparison"]["measure"], "discovered");
    assert_eq!(found["comparison"]["value"].get("value-known"), None);
    assert_eq!(found["comparison"]["value"]["value-clicked"], 1);
}

#[test]
fn tables_and_lines_have_every_list() {
    let place = hub_and_frontier();
    let args = [
        "evaluate", "bank", "methods", "--seeds", "1,2", "--budget", "2,3",
    ];
    let text = place.run(&args).done();
    assert_eq!(text.matches("harmonic").count(), 4, "{text}");
    assert!(text.contains("\n2 seeds, 3 fetches\n"), "{text}");
    assert!(
        text.contains("held out: selected without 1 crawled page and evaluated"),
        "{text}"
    );
    let csv = place
        .run(&[&args[..], &["--format", "csv"]].concat())
        .done();
    let mut lines = csv.lines();
    let fields = lines.next().unwrap().split(',').count();
    let rows: Vec<&str> = lines.collect();
    assert_eq!(rows.len() % 4, 0);
    for row in rows {
        // A comma in a name stands in quotes.
        let bare: String = row.split('"').step_by(2).collect();
        assert_eq!(bare.split(',').count(), fields, "{row}");
    }
}

#[test]
fn wrong_input_is_told() {
    let place = hub_and_frontier();
    let fails = |args: &[&str], status: i32, said: &str| {
        let args = [&["evaluate", "bank", "methods"], args].concat();
        let err = place.run(&args).fails(status);
        assert!(err.contains(said), "{err}");
    };
    fails(&["--seeds", "0"], 2, "--seeds");
    fails(&["--budget", "0"], 2, "--budget");
    fails(&["--budget", "many"], 2, "--budget");
    fails(&["--plan", "nowhere"], 2, "no plan");
    fails(&["--since", "7"], 2, "only the current state");
    fails(&["--value-base", "1e9"], 2, "--value-base");
    let empty = Place::with_bank();
    let err = empty.run(&["evaluate", "bank", "methods"]).fails(2);
    assert!(err.contains("no crawled page"), "{err}");
}
