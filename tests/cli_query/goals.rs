//! Goals as a user types them: what a new plan stores, what changes need `--replace`, the default budget, and
//! the verdict where the list is made and where it is shown.

use crate::support::command::{Place, record};
use crate::support::schemas::fits;
use serde_json::{Value, json};

#[track_caller]
fn refreshed(place: &Place, flags: &[&str]) -> Value {
    let args = [&["refresh", "bank"], flags, &["--format", "json"]].concat();
    let report = place.run(&args).json();
    fits("refresh", &report);
    report
}

#[test]
fn a_new_plan_is_for_coverage_and_says_what_it_finds() {
    let place = Place::with_crawl("400");
    let ended = place.run(&["refresh", "bank", "--seeds", "5"]);
    assert!(
        ended
            .err
            .contains("the list is for a crawl of 200 pages, half of the crawled pages"),
        "{}",
        ended.err
    );
    let text = ended.done();
    let verdict = text.lines().last().unwrap().to_owned();
    assert!(
        verdict.starts_with("held out, a crawl of 200 pages from these seeds finds "),
        "{text}"
    );
    assert!(verdict.contains(" times the best baseline ("), "{text}");
    let shown = place.run(&["plans", "bank", "show", "default"]).done();
    assert!(shown.contains(&verdict), "{shown}");
    assert!(
        shown.contains("refresh bank --plan default --goal coverage --budget 200 --seeds 5\n"),
        "{shown}"
    );
    assert!(shown.contains("method = \"greedy\""), "{shown}");
    let ratio = verdict.split("crawled pages, ").nth(1).unwrap();
    for args in [&["plans", "bank"][..], &["status", "bank"]] {
        let text = place.run(args).done();
        assert!(text.contains(ratio), "{ratio}: {text}");
    }
    let noted = place.run(&["seeds", "bank", "-v"]).err;
    assert!(noted.contains(&verdict), "{noted}");
    place
        .run(&["status", "bank", "--metrics", "bank.prom"])
        .done();
    let metrics = std::fs::read_to_string(place.path("bank.prom")).unwrap();
    assert!(
        metrics.contains("seedbank_plan_gain_ratio{plan=\"default\"} "),
        "{metrics}"
    );
    // A later refresh neither tunes nor judges, and keeps the verdict.
    place
        .run(&["ingest", "bank", "crawl/day-001.jsonl.zst"])
        .done();
    let later = refreshed(&place, &[]);
    assert_eq!(later.get("verdict"), None);
    assert_eq!(later.get("tuning"), None);
    assert_eq!(later["parameters"]["judged"]["batch"], 1);
    // It is renewed when asked for, and with the parameters.
    let judged = refreshed(&place, &["--judge"]);
    assert_eq!(judged["verdict"]["batch"], 2);
    let other = refreshed(&place, &["--seeds", "6"]);
    assert_eq!(other["verdict"]["seeds"], 6);
    let tuned = refreshed(&place, &["--tune", "--holdouts", "3"]);
    assert_eq!(tuned["verdict"]["draws"], 3);
    assert_eq!(tuned["verdict"], tuned["parameters"]["judged"]);
}

#[test]
fn the_last_delta_is_the_default_budget() {
    let place = Place::with_crawl("400");
    let delta = place
        .run(&[
            "ingest",
            "bank",
            "crawl/day-001.jsonl.zst",
            "--format",
            "json",
        ])
        .json();
    let report = refreshed(&place, &["--seeds", "3"]);
    assert_eq!(report["default_budget"]["delta"], 2);
    assert_eq!(
        report["default_budget"]["budget"],
        delta["counts"]["records"]
    );
    assert_eq!(report["parameters"]["budget"], delta["counts"]["records"]);
    let given = refreshed(&place, &["--plan", "given", "--budget", "7"]);
    assert_eq!(given.get("default_budget"), None);
}

#[test]
fn each_goal_has_its_parameters_and_keeps_them() {
    let place = Place::with_crawl("400");
    // A group of pages on several sites.
    let group = ["http://p.test/", "http://q.test/", "http://r.test/"];
    let hubs = ["http://x.test/", "http://y.test/", "http://z.test/"];
    let records = hubs.map(|hub| record(hub, &group));
    place.write("group.jsonl", records.concat());
    place.run(&["ingest", "bank", "group.jsonl"]).done();
    let stored = [
        (
            "coverage",
            json!({"method": "greedy", "scope": "web", "p-uniq": 0, "value-spam": 0,
                "value-clicked": 1}),
        ),
        (
            "discovery",
            json!({"method": "greedy", "scope": "web", "p-uniq": 0, "value-spam": 0,
                "value-clicked": 1}),
        ),
        (
            "importance",
            json!({"method": "greedy", "value-by": "pagerank"}),
        ),
        (
            "communities",
            json!({"method": "cores", "within": 1.0, "min-hub-sites": 2}),
        ),
        ("sites", json!({"method": "max-weight", "depth": 2})),
    ];
    for (goal, wanted) in &stored {
        let report = refreshed(&place, &["--plan", goal, "--goal", goal, "--seeds", "4"]);
        let parameters = &report["parameters"];
        assert_eq!(parameters["goal"], *goal);
        for (name, value) in wanted.as_object().unwrap() {
            assert_eq!(&parameters[name], value, "{goal} {name}");
        }
        let is_over_web = parameters["scope"] == "web";
        assert_eq!(report.get("verdict").is_some(), is_over_web, "{goal}");
        let again = refreshed(&place, &["--plan", goal, "--goal", goal]);
        assert_eq!(again["plan_changed"], false, "{goal}");
        // Any list can be compared.
        let judged = refreshed(&place, &["--plan", goal, "--judge"]);
        assert!(judged["verdict"]["found"]["mean"].is_number(), "{goal}");
    }
    // Another goal, method or scope replaces everything, so it has to be said.
    for flags in [
        &["--goal", "importance"][..],
        &["--method", "cores"],
        &["--scope", "site"],
    ] {
        let args = [&["refresh", "bank", "--plan", "coverage"], flags].concat();
        let error = place.run(&args).fails(2);
        assert!(error.contains("--replace"), "{error}");
    }
    let capped = refreshed(&place, &["--plan", "coverage", "--max-per-site", "1"]);
    assert_eq!(capped["parameters"]["max-per-site"], 1);
    let args = ["--plan", "coverage", "--goal", "importance", "--replace"];
    let replaced = refreshed(&place, &args);
    assert_eq!(replaced["parameters"]["value-by"], "pagerank");
    assert_eq!(replaced["parameters"]["max-per-site"], 1);
    assert_eq!(replaced["parameters"].get("seeds"), None);
    assert_eq!(replaced["plan_changed"], true);
    assert_eq!(replaced["verdict"]["measure"], "pagerank");
    // Parameters beside a goal override it.
    let args = [
        "--plan",
        "mine",
        "--goal",
        "discovery",
        "--value-base",
        "0.5",
    ];
    let mine = refreshed(&place, &args);
    assert_eq!(mine["parameters"]["value-base"], 0.5);
    // The published procedure has no bound; a parameter of cores means cores.
    let classic = refreshed(&place, &["--plan", "classic", "--hits", "classic"]);
    assert_eq!(classic["parameters"].get("within"), None);
    let cores = refreshed(&place, &["--plan", "cores", "--density", "80"]);
    assert_eq!(cores["parameters"]["method"], "cores");
    assert_eq!(cores["parameters"].get("goal"), None);
}

#[test]
fn a_core_with_hubs_on_one_site_is_a_template() {
    let place = Place::with_bank();
    let mut crawl = String::new();
    for hub in 0..4 {
        let url = format!("http://shop.test/{hub}");
        crawl += &record(&url, &["http://a.test/", "http://b.test/"]);
    }
    for hub in ["http://x.test/", "http://y.test/"] {
        crawl += &record(hub, &["http://c.test/", "http://d.test/"]);
    }
    place.write("crawl.jsonl", crawl);
    place.run(&["ingest", "bank", "crawl.jsonl"]).done();
    let text = place
        .run(&["refresh", "bank", "--goal", "communities", "--seeds", "2"])
        .done();
    assert!(text.contains("rejected: 1 by --min-hub-sites"), "{text}");
    assert_eq!(place.run(&["seeds", "bank"]).done(), "http://x.test/\n");
    let cores = place.run(&["cores", "bank"]).done();
    assert!(
        cores.starts_with("core 1 (page template): ") && cores.contains("4 hubs on 1 site"),
        "{cores}"
    );
    let why = place.run(&["explain", "bank", "http://shop.test/1"]).done();
    assert!(why.contains("core 1, a page template ("), "{why}");
    assert!(why.contains("--min-hub-sites"), "{why}");
}

#[test]
fn a_list_that_loses_is_warned_of() {
    // A hub of 40 pages that a seed by cores never is, since all of its links stay on its site.
    let place = Place::with_bank();
    let leaves: Vec<String> = (0..40).map(|n| format!("http://a.test/{n}")).collect();
    let targets: Vec<&str> = leaves.iter().map(String::as_str).collect();
    let mut crawl = record("http://a.test/", &targets);
    for leaf in &leaves {
        crawl += &record(leaf, &["http://a.test/"]);
    }
    crawl += &record("http://b.test/", &["http://c.test/"]);
    place.write("crawl.jsonl", crawl);
    place.run(&["ingest", "bank", "crawl.jsonl"]).done();
    let args = [
        "refresh", "bank", "--method", "cores", "--seeds", "1", "--judge",
    ];
    let ended = place.run(&args);
    assert!(
        ended.err.contains("the list finds less than a baseline") && ended.err.contains("coverage"),
        "{}",
        ended.err
    );
    ended.done();
    // Too few pages to hold some out.
    let place = Place::with_seeds();
    let ended = place.run(&["refresh", "bank", "--judge"]);
    assert!(
        ended.err.contains("too few pages are crawled"),
        "{}",
        ended.err
    );
}

#[test]
fn a_plan_with_hops_and_price_is_not_tuned() {
    let place = Place::with_crawl("400");
    let args = ["--hops", "2", "--fetch-cost", "0.3", "--budget", "50"];
    let report = refreshed(&place, &args);
    assert_eq!(report.get("tuning"), None);
    assert_eq!(report["parameters"].get("tuned"), None);
    assert!(report["verdict"]["found"]["mean"].is_number());
    // Without draws the setting is tuned by known pages, and judged by pages held out all the same.
    let args = ["--plan", "known", "--budget", "50", "--holdouts", "0"];
    let report = refreshed(&place, &args);
    assert_eq!(report["verdict"]["draws"], 10);
}

#[test]
fn evaluate_crawl_agrees_with_the_verdict_under_policies() {
    let place = Place::with_crawl("400");
    let args = ["--seeds", "5", "--budget", "40", "--max-per-site", "1"];
    let verdict = &refreshed(&place, &args)["verdict"];
    let crawl = [
        "evaluate",
        "bank",
        "crawl",
        "--budget",
        "40",
        "--holdouts",
        "10",
        "--format",
        "json",
    ];
    let found = place.run(&crawl).json();
    let own = &found["fetches"]["lists"][0];
    assert_eq!(own["held_out"]["all"]["crawled"], verdict["found"]);
    assert_eq!(own["times_best_baseline"], verdict["times_best_baseline"]);
}
