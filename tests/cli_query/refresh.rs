//! Plans: the precedence of their parameters, and which refreshes are stored.

use crate::support::command::{Place, record};
use crate::support::plans::refresh;
use serde_json::{Value, json};

#[test]
fn a_plan_keeps_its_parameters_and_flags_win_over_the_file() {
    let place = Place::with_seeds();
    place.write("plan.toml", "seeds = 1\nkeep-spam = true\ndensity = 99.5\n");
    let refresh = |args: &[&str]| {
        let ended = place.run(
            &[
                &[
                    "refresh", "bank", "--method", "cores", "--within", "0", "--format", "json",
                ],
                args,
            ]
            .concat(),
        );
        let noted = ended.err.contains("have been replaced");
        let report = ended.json();
        assert_eq!(report["plan_changed"], noted);
        (report["parameters"].clone(), noted)
    };
    let with = |mut parameters: Value| {
        parameters["method"] = json!("cores");
        parameters["within"] = json!(0.0);
        parameters
    };
    assert_eq!(refresh(&[]), (with(json!({})), false));
    let one = with(json!({"seeds": 1, "keep-spam": true, "density": 99.5}));
    assert_eq!(refresh(&["--plan-file", "plan.toml"]), (one.clone(), true));
    assert_eq!(refresh(&[]), (one, false));
    let two = with(json!({"seeds": 2, "keep-spam": false, "density": 99.5}));
    let flags = [
        "--plan-file",
        "plan.toml",
        "--seeds",
        "2",
        "--keep-spam",
        "false",
    ];
    assert_eq!(refresh(&flags), (two, true));
    // The stopping rule is taken as a whole.
    let three = with(json!({"seeds": 2, "keep-spam": true, "core-size": 4, "new-members": 2}));
    let flags = ["--keep-spam", "--core-size", "4", "--new-members", "2"];
    assert_eq!(refresh(&flags), (three, true));
    let all = with(
        json!({"seeds": 3, "hits": "classic", "iterations": 9, "growth": "literal",
        "density": 80.0, "max-hubs": 5, "pick": "stable", "keep-spam": true, "pages": "crawled"}),
    );
    let flags = [
        "--plan",
        "all",
        "--seeds",
        "3",
        "--hits",
        "classic",
        "--iterations",
        "9",
        "--growth",
        "literal",
        "--density",
        "80",
        "--max-hubs",
        "5",
        "--pick",
        "stable",
        "--keep-spam",
        "--pages",
        "crawled",
    ];
    let ended = place.run(
        &[
            &[
                "refresh", "bank", "--method", "cores", "--within", "0", "--format", "json",
            ],
            &flags[..],
        ]
        .concat(),
    );
    // Hubs and authorities must then both be crawled, and no authority is.
    assert_eq!(ended.status, Some(5), "{ended:?}");
    let report: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(
        (&report["parameters"], &report["plan_changed"]),
        (&all, &json!(false))
    );
    assert!(ended.err.contains("nothing could be selected"), "{ended:?}");
}

#[test]
fn an_empty_bank_has_nothing_to_select() {
    let place = Place::with_bank();
    let fresh = place.state();
    for more in [&[][..], &["--dry-run"], &["--plan", "x", "--seeds", "3"]] {
        let error = place.run(&[&["refresh", "bank"], more].concat()).fails(5);
        assert!(error.starts_with("error: the bank is empty\n"), "{error}");
        assert!(error.contains("hint: ingest first: "), "{error}");
        assert_eq!(place.state(), fresh);
    }
    // Also after its only batch was undone.
    place.write("day0.jsonl", record("http://a.example/", &[]));
    place.run(&["ingest", "bank", "day0.jsonl"]).done();
    place.run(&["undo", "bank"]).done();
    place.run(&["refresh", "bank"]).fails(5);
    assert_eq!(place.status()["refreshes"], 0);
}

#[test]
fn old_refreshes_are_forgotten_when_asked() {
    let place = Place::with_seeds();
    place
        .run(&[
            "refresh", "bank", "--method", "cores", "--within", "0", "--seeds", "1",
        ])
        .done();
    let report = place
        .run(&[
            "refresh", "bank", "--method", "cores", "--within", "0", "--keep", "2", "--cold",
        ])
        .done();
    assert!(report.ends_with("deleted: refresh 1\n"), "{report}");
    assert_eq!(
        place
            .run(&["seeds", "bank", "--refresh", "2"])
            .done()
            .lines()
            .count(),
        1
    );
    place.run(&["seeds", "bank", "--refresh", "1"]).fails(2);
    place.state();
}

#[test]
fn settings_come_from_the_environment_too() {
    let place = Place::with_seeds();
    let run = |settings: &[(&str, &str)], args: &[&str]| {
        let mut command = place.command(args);
        command.envs(settings.iter().copied());
        place.run_command(&mut command)
    };
    let settings = [
        ("SEEDBANK_PLAN", "weekly"),
        ("SEEDBANK_THREADS", "1"),
        ("SEEDBANK_FORMAT", "json"),
        ("SEEDBANK_NO_PROGRESS", "1"),
        ("SEEDBANK_WAIT", "yes"),
    ];
    let report = run(
        &settings,
        &[
            "refresh", "bank", "--method", "cores", "--within", "0", "--seeds", "1",
        ],
    )
    .json();
    assert_eq!(
        (&report["plan"], &report["seeds"]),
        (&json!("weekly"), &json!(1))
    );
    assert_eq!(run(&settings, &["seeds", "bank"]).json()["plan"], "weekly");
    // A flag wins.
    let seeds = run(
        &settings,
        &["seeds", "bank", "--plan", "default", "--format", "text"],
    );
    assert_eq!(seeds.done().lines().count(), 2);
    // A format that a command does not have falls back, which is said once.
    let csv = [("SEEDBANK_FORMAT", "csv")];
    assert!(
        run(&csv, &["seeds", "bank"])
            .done()
            .starts_with("rank,url,")
    );
    let ended = run(&csv, &["status", "bank"]);
    let words = "warning: SEEDBANK_FORMAT is csv, which `status` does not support; using its default format\n";
    assert_eq!(ended.err, words);
    assert!(ended.done().starts_with("format "));
    assert_eq!(run(&csv, &["status", "bank", "-q"]).err, "");
    run(&csv, &["status", "bank", "--format", "json"]).json();
    run(&csv, &["status", "bank", "--format", "csv"]).fails(2);
    let ended = run(
        &[("SEEDBANK_FORMAT", "nutch")],
        &["evaluate", "bank", "crawl", "--draws", "2"],
    );
    assert!(
        ended
            .err
            .contains("which `evaluate crawl` does not support"),
        "{ended:?}"
    );
    ended.done();
    let ended = run(&[("SEEDBANK_FORMAT", "")], &["status", "bank"]);
    assert_eq!(ended.err, "");
    ended.done();
    let logs = run(&[("SEEDBANK_LOG", "trace")], &["status", "bank"]);
    logs.done();
    let error = run(&[("SEEDBANK_LOG", "=x=")], &["status", "bank"]).fails(2);
    assert!(error.contains("SEEDBANK_LOG"), "{error}");
    let error = run(
        &[("SEEDBANK_MEMORY", "much")],
        &["ingest", "bank", "day0.jsonl"],
    )
    .fails(2);
    assert!(error.contains("512M"), "{error}");
}

#[test]
fn output_does_not_depend_on_threads() {
    let place = Place::with_bank();
    place
        .run(&["synth", "crawl", "--pages", "300", "--days", "0"])
        .done();
    place
        .run(&["ingest", "bank", "crawl/day-000.jsonl.zst"])
        .done();
    let cores = |threads| {
        place
            .run(&[
                "refresh",
                "bank",
                "--method",
                "cores",
                "--within",
                "0",
                "--seeds",
                "5",
                "--threads",
                threads,
            ])
            .done();
        let cores = place.run(&["cores", "bank", "--format", "jsonl", "--threads", threads]);
        let mut cores = cores.json_lines();
        for core in &mut cores {
            core.as_object_mut().unwrap().remove("refresh");
        }
        assert!(!cores.is_empty());
        cores
    };
    assert_eq!(cores("1"), cores("4"));
}

#[test]
fn one_line_says_what_stays_and_what_is_reused() {
    let place = Place::with_seeds();
    let first = place.run(&refresh(&["--plan", "again"])).done();
    assert!(
        first.starts_with(
            "refresh 2 of plan again (cores), state after batch 1: 2 seeds; nothing reused; "
        ),
        "{first}"
    );
    let again = ["refresh", "bank", "--plan", "again"];
    let text = place.run(&again).done();
    let line = text.lines().next().unwrap();
    assert!(
        line.starts_with(
            "refresh 3 of plan again (cores), state after batch 1: 2 seeds, 2 of the previous 2 kept; 2 of 2 cores reused; "
        ),
        "{text}"
    );
    assert!(line.contains(" s (refresh 2: "), "{line}");
    assert!(!text.contains("link visit"), "{text}");
    let verbose = place.run(&[&again[..], &["-v"]].concat()).done();
    assert!(verbose.contains("\nproven, 0 link visits, "), "{verbose}");
    // Over the web nothing but the setting is kept.
    let web = ["--plan", "web", "--budget", "3", "--seeds", "1"];
    let text = place.run(&[&["refresh", "bank"], &web[..]].concat()).done();
    assert!(text.contains(": 1 seed; nothing reused; "), "{text}");
    place.write(
        "day1.jsonl",
        record("http://new.test/", &["http://newer.test/"]),
    );
    place.run(&["ingest", "bank", "day1.jsonl"]).done();
    let text = place.run(&["refresh", "bank", "--plan", "web"]).done();
    assert!(
        text.contains(" of the previous 1 kept; setting reused, seeds selected again; "),
        "{text}"
    );
    // A dry run has no number yet, so it is compared with nothing.
    let dry = place
        .run(&["refresh", "bank", "--plan", "web", "--dry-run"])
        .done();
    assert!(!dry.contains("kept"), "{dry}");
}
