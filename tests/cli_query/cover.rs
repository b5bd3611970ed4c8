//! Cover plans as a user types them.

use crate::support::command::Place;
use crate::support::plans::refresh;
use crate::support::schemas::fits;
use serde_json::{Value, json};

/// Two sites: a home page with three pages below it, one of them clicked, one spam, one with a link
/// that is not crawled; and a site with two pages.
const TWO_SITES: &str = r#"
{"url": "http://a.example/", "outlinks": ["http://a.example/1", "http://a.example/2", "http://a.example/3"]}
{"url": "http://a.example/1", "outlinks": [], "clicks": 2}
{"url": "http://a.example/2", "outlinks": [], "spam": true}
{"url": "http://a.example/3", "outlinks": ["http://c.example/"]}
{"url": "http://b.example/", "outlinks": ["http://b.example/x"]}
{"url": "http://b.example/x", "outlinks": []}
"#;

fn place() -> Place {
    let place = Place::with_bank();
    place.write("day0.jsonl", TWO_SITES);
    place.run(&["ingest", "bank", "day0.jsonl"]).done();
    place
}

#[test]
fn seeds_of_each_site_come_round_by_round() {
    let place = place();
    let args = ["refresh", "bank", "--method", "max-weight", "--depth", "0"];
    let text = place
        .run(&[&args[..], &["--per-site", "3", "--hops", "1"]].concat())
        .done();
    assert!(
        text.starts_with(
            "refresh 1 of plan default (max-weight), state after batch 1: 4 seeds; nothing reused; "
        ),
        "{text}"
    );
    assert_eq!(text.lines().count(), 1, "{text}");
    // At depth 0 a page counts alone: on a.example first the clicked one (10), then /3 with its
    // link that is not crawled (2), then the home page (1), with which the spam page is covered
    // too.
    let seeds = place
        .run(&["seeds", "bank", "--format", "jsonl"])
        .json_lines();
    assert_eq!(
        seeds[0],
        json!({"rank": 1, "url": "http://a.example/1", "site": "a.example", "method": "max-weight",
            "plan": "default", "refresh": 1, "gain": 10.0, "covered_pages": 1, "covered_value": 10.0,
            "pick": 1, "since": 1})
    );
    let list = place.run(&["seeds", "bank"]).done();
    assert_eq!(
        list,
        "http://a.example/1\nhttp://b.example/\nhttp://a.example/3\nhttp://a.example/\n"
    );
    assert_eq!(seeds[3]["covered_value"], json!(-9.0));
    // After that the name is enough, and nothing has changed.
    let report = place.run(&["refresh", "bank", "--format", "json"]).json();
    assert_eq!(
        (&report["steps_reused"], &report["cold"]),
        (&json!(2), &json!(false))
    );
    assert_eq!(report["parameters"]["per-site"], 3);
    fits("refresh", &report);
    for seed in place
        .run(&["seeds", "bank", "--format", "jsonl"])
        .json_lines()
    {
        assert_eq!((&seed["refresh"], &seed["since"]), (&json!(2), &json!(1)));
        fits("seeds", &seed);
    }
    for command in ["status", "history"] {
        let output = place.run(&[command, "bank", "--format", "json"]).json();
        fits(command, &output);
    }
    let csv = place.run(&["seeds", "bank", "--format", "csv"]).done();
    assert!(
        csv.contains(
            "\r\n1,http://a.example/1,a.example,max-weight,default,2,,,,10,1,10,1,1,,\r\n"
        ),
        "{csv}"
    );
    let check = place.run(&["check", "bank"]).done();
    assert!(check.ends_with("no problems found\n"), "{check}");
}

#[test]
fn a_total_is_shared_out_and_drawn_seeds_have_no_score() {
    let place = place();
    for share in ["pages", "value", "pagerank"] {
        let args = ["refresh", "bank", "--method", "random", "--seeds", "3"];
        let report = place
            .run(&[&args[..], &["--share", share, "--format", "json"]].concat())
            .json();
        assert_eq!(report["seeds"], 3, "{share}");
        let seeds = place
            .run(&["seeds", "bank", "--format", "jsonl"])
            .json_lines();
        for seed in &seeds {
            fits("seeds", seed);
            assert_eq!(seed["gain"], Value::Null);
            let seats = if seed["site"] == "a.example" { 2 } else { 1 };
            assert_eq!(seed["seats"], seats, "{share}: {seed}");
        }
        let nutch = place.run(&["seeds", "bank", "--format", "nutch"]).done();
        assert!(nutch.contains("\tseed.pick=1\t"), "{nutch}");
        assert!(!nutch.contains("seed.gain"), "{nutch}");
    }
}

#[test]
fn a_plan_says_when_it_changes() {
    let place = place();
    let greedy = ["refresh", "bank", "--plan", "g", "--method", "greedy"];
    place.run(&greedy).done();
    let again = place.run(&["refresh", "bank", "--plan", "g"]);
    assert!(!again.err.contains("other parameters"), "{again:?}");
    let other = place.run(&["refresh", "bank", "--plan", "g", "--value-spam", "-2.5"]);
    assert!(
        other
            .err
            .contains("the parameters of plan g have been replaced"),
        "{other:?}"
    );
    let text = other.done();
    assert!(text.contains(" kept; nothing reused; "), "{text}");
    place.write(
        "plan.toml",
        "method = \"max-out\"\nper-site = 1\nhops = 2\nvalue-clicked = 12.5\n",
    );
    let file = [
        "refresh",
        "bank",
        "--plan",
        "file",
        "--plan-file",
        "plan.toml",
    ];
    place.run(&file).done();
    assert_eq!(
        place.run(&["seeds", "bank", "--plan", "file"]).done(),
        "http://a.example/\nhttp://b.example/\n"
    );
}

#[test]
fn what_makes_no_sense_is_refused_in_one_sentence() {
    let place = place();
    for (flags, part) in [
        (&["--hops", "3"][..], "--hops belongs to a cover method"),
        (
            &["--method", "greedy", "--density", "50"],
            "--density belongs to --method cores",
        ),
        (
            &["--method", "greedy", "--covered", "remove"],
            "greedy does not support",
        ),
        (
            &["--method", "max-weight", "--depth", "6"],
            "at most the 5 hops",
        ),
        (&["--method", "random", "--share", "value"], "add `--seeds`"),
        (
            &["--method", "random", "--per-site", "1", "--seeds", "1"],
            "conflicts",
        ),
        (
            &["--method", "random", "--p-uniq", "2"],
            "expected a number from 0 to 1 with at most six decimals",
        ),
        (
            &["--method", "random", "--value-spam", "ten"],
            "expected a number from -1000000 to 1000000 with at most six decimals",
        ),
        (&["--method", "best"], "invalid value 'best'"),
    ] {
        let text = place.run(&refresh(flags)).fails(2);
        assert!(text.contains(part), "{text}");
    }
    let history = place.run(&["history", "bank", "--format", "json"]).json();
    assert_eq!(history["refreshes"], json!([]));
}

#[test]
fn nothing_to_select_has_a_status_of_its_own() {
    let place = Place::with_bank();
    place.write(
        "spam.jsonl",
        "{\"url\": \"http://a.example/\", \"spam\": true}\n",
    );
    place.run(&["ingest", "bank", "spam.jsonl"]).done();
    let ended = place.run(&["refresh", "bank", "--method", "max-weight"]);
    assert_eq!(ended.status, Some(5), "{ended:?}");
    assert_eq!(place.run(&["seeds", "bank"]).done(), "");
}
