//! The default goal beside what crawlers use today, in the README, and every goal beside it, in `benches/README.md`.
//!
//! Catches figures that no command gives any more, and a baseline that is left out where it is the best.

use std::collections::BTreeMap;

use crate::support::marked_tables::{Banks, check, commands, estimate, figure, number, table};
use crate::support::{long, shared};
use serde_json::Value;

/// Commands for the crawl that comes as records, and for those that come as links.
const RECORDS: &str = "\
seedbank init ku --site host --url-rules whatwg
seedbank ingest ku data/ku-2017-webir/crawl.jsonl.gz --snapshot";
const LINKS: &str = "\
seedbank init $web --site host --url-rules whatwg
seedbank ingest $web data/$web/links.tsv.gz --input links --pages data/$web/pages.tsv.gz";

const REFRESH: &str = "seedbank refresh $web --plan for-$fetches --goal coverage --seeds 20 --budget $fetches --format json";
const CRAWL: &str =
    "seedbank evaluate $web crawl --plan for-$fetches --budget $fetches --holdouts 5 --format json";

const ROWS: [(&str, &[&str]); 4] = [
    ("ku", &["1000", "5000", "20000"]),
    ("epa", &["1000", "5000"]),
    ("toronto-movies", &["1000", "5000"]),
    ("wikispeedia", &["5000"]),
];

const BASELINES: [(&str, &str); 11] = [
    ("pagerank", "top PageRank"),
    ("in-degree", "most linked"),
    ("out-degree", "most links"),
    ("net-out-degree", "most net links, 3 a site"),
    ("net-reach", "most within 2 links, 1 a site"),
    ("site-pagerank", "top PageRank, 1 a site"),
    ("site-out-degree", "most links, 1 a site"),
    ("home-pages", "home pages"),
    ("harmonic", "top harmonic"),
    ("common-crawl", "quotas as Common Crawl"),
    ("random", "random"),
];

/// What a crawl from a list fetches, with pages held out: distinct contents, and in brackets those that only pages held
/// out have.
fn cell(list: &Value) -> String {
    let found = |name: &str| number(figure(list, &format!("/held_out/all/{name}/mean")), 0);
    format!("{} ({})", found("contents"), found("new_contents"))
}

#[test]
fn the_default_goal_beside_every_baseline() {
    let Some(shared) = shared("the_default_goal_beside_every_baseline") else {
        return;
    };
    let banks = Banks::new(&shared, RECORDS);
    let mut rows = Vec::new();
    let mut verdicts = Vec::new();
    let (mut above, mut below) = (0, 0);
    for (web, numbers) in ROWS {
        if web != "ku" {
            for line in LINKS.lines() {
                banks.run(line, &[("web", web)]);
            }
        }
        for &fetches in numbers {
            let variables = [("web", web), ("fetches", fetches)];
            let refresh = banks.one(REFRESH, &variables);
            let answer = banks.one(CRAWL, &variables);
            let lists = answer["fetches"]["lists"].as_array().unwrap();
            let goal = lists.iter().find(|list| list["kind"] == "plan").unwrap();
            let title = format!("{web}, {}", number(fetches.parse().ok(), 0));
            verdicts.push(vec![
                title.clone(),
                beside_baselines(goal, lists, "/known/all/contents/mean", 1.0, 0),
                estimate(&refresh, "/verdict/found", 1.0, 0),
                refresh["verdict"]["baseline"].as_str().unwrap().to_owned(),
                estimate(&refresh, "/verdict/times_best_baseline", 1.0, 2),
            ]);
            let baselines = BASELINES.map(|(name, title)| {
                let list = lists.iter().find(|list| list["list"] == name);
                (list.unwrap_or_else(|| panic!("no {name}")), title)
            });
            let contents = |list: &Value| figure(list, "/held_out/all/contents/mean");
            let best = baselines.iter().reduce(|best, next| {
                if contents(next.0) > contents(best.0) {
                    next
                } else {
                    best
                }
            });
            let (best, best_title) = best.unwrap();
            above += u32::from(goal["above_baselines"] == true);
            below += u32::from(contents(goal) < contents(best));
            let mut row = vec![
                title,
                cell(goal),
                format!("{}, {best_title}", cell(best)),
                estimate(goal, "/times_best_baseline", 1.0, 2),
            ];
            row.extend(baselines.map(|(list, _)| cell(list)));
            rows.push(row);
        }
    }
    let mut head = vec!["20 seeds, fetches", "`coverage`", "best baseline", "ratio"];
    head.extend(BASELINES.map(|(_, title)| title));
    let count = rows.len();
    let text = format!(
        "{}The list is above every baseline by more than two standard errors in {above} of {count} rows, and below the best \
         one in {below}. `data` has the crawls, and `web` and `fetches` are those of the row:\n\n{}",
        table(&head, rows),
        commands(&[RECORDS, LINKS, REFRESH, CRAWL].join("\n"))
    );
    check("README.md", BTreeMap::from([("baselines", text)]));
    let head = [
        "20 seeds, fetches",
        "known",
        "held out",
        "best baseline",
        "times it",
    ];
    let text = format!(
        "{}The banks are those of [the README](../README.md#what-the-lists-find).",
        table(&head, verdicts)
    );
    let text = commands(&[REFRESH, CRAWL].join("\n")) + &text;
    check("benches/README.md", BTreeMap::from([("verdicts", text)]));
}

/// A figure of a list, and how many times that of the best baseline it is.
fn beside_baselines(
    list: &Value,
    lists: &[Value],
    pointer: &str,
    scale: f64,
    decimals: usize,
) -> String {
    let found = figure(list, pointer);
    let baselines = lists.iter().filter(|other| other["kind"] == "baseline");
    let best = baselines
        .filter_map(|other| figure(other, pointer))
        .reduce(f64::max);
    let times = found.zip(best.filter(|best| *best > 0.0));
    let times = times.map_or_else(String::new, |(found, best)| {
        format!(" (×{:.2})", found / best)
    });
    number(found.map(|found| found * scale), decimals) + &times
}

const GENERATED: &str = "\
seedbank init generated --site host --url-rules whatwg
seedbank ingest generated data/generated/crawl.jsonl.gz --snapshot";
const METHODS: &str =
    "seedbank evaluate $web methods --seeds $seeds --budget $fetches --draws 5 --format json";

/// A row for each number of seeds and fetches on one web.
fn goals(banks: &Banks, web: &str, seeds: &str, fetches: &str) -> Vec<Vec<String>> {
    let answer = banks.one(
        METHODS,
        &[("web", web), ("seeds", seeds), ("fetches", fetches)],
    );
    let lists = answer["comparison"]["lists"].as_array().unwrap();
    let row = |coverage: &Value| {
        let of_cell = lists.iter().filter(|list| {
            ["seeds", "budget"]
                .iter()
                .all(|key| list[*key] == coverage[*key])
        });
        let of_cell: Vec<Value> = of_cell.cloned().collect();
        let cell = |name: &str, pointer: &str, scale, decimals| {
            let list = of_cell.iter().find(|list| list["list"] == name).unwrap();
            beside_baselines(list, &of_cell, pointer, scale, decimals)
        };
        vec![
            format!(
                "{web}, {} seeds, {}",
                coverage["seeds"],
                number(coverage["budget"].as_f64(), 0)
            ),
            cell("coverage", "/known/all/contents/mean", 1.0, 0),
            cell("coverage", "/held_out/all/contents/mean", 1.0, 0),
            cell("coverage", "/held_out/all/new_contents/mean", 1.0, 0),
            cell("discovery", "/held_out/all/discovered/mean", 1.0, 0),
            cell("importance", "/held_out/all/pagerank/mean", 100.0, 1),
        ]
    };
    lists
        .iter()
        .filter(|list| list["list"] == "coverage")
        .map(row)
        .collect()
}

/// Checks a table of all goals on these webs.
fn check_goals(banks: &Banks, name: &str, script: &str, webs: &[(&str, &str, &str)]) {
    let rows = webs
        .iter()
        .flat_map(|&(web, seeds, fetches)| goals(banks, web, seeds, fetches));
    let head = [
        "",
        "coverage: known",
        "held out",
        "newly found",
        "discovery: first seen",
        "importance: % of PageRank",
    ];
    let text = commands(&format!("{script}\n{METHODS}")) + &table(&head, rows.collect());
    check("benches/README.md", BTreeMap::from([(name, text)]));
}

#[test]
fn every_goal_beside_every_baseline() {
    let Some(shared) = shared("every_goal_beside_every_baseline") else {
        return;
    };
    let banks = Banks::new(&shared, "");
    for web in ["epa", "toronto-movies", "hollins", "wikispeedia"] {
        for line in LINKS.lines() {
            banks.run(line, &[("web", web)]);
        }
    }
    let small = [("epa", "20", "5000"), ("toronto-movies", "20", "5000")];
    check_goals(&banks, "goals", LINKS, &small);
    // Minutes of processor time.
    if long("LONG_GOALS").is_none() {
        return;
    }
    let records = [RECORDS, GENERATED].join("\n");
    for line in records.lines() {
        banks.run(line, &[]);
    }
    let large = [
        ("ku", "20,100", "1000,5000,20000"),
        ("generated", "20", "5000"),
        ("hollins", "20", "5000"),
        ("wikispeedia", "20", "5000"),
    ];
    check_goals(&banks, "goals-long", &[&records, LINKS].join("\n"), &large);
}
