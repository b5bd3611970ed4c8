//! The table of the README: the default goal beside what crawlers use today, on four crawls.
//!
//! Catches figures that no command gives any more, and a baseline that is left out where it is the best.

use std::collections::BTreeMap;

use crate::support::marked_tables::{Banks, check, commands, estimate, figure, number, table};
use crate::support::shared;
use serde_json::Value;

/// Commands for the crawl that comes as records, and for those that come as links.
const RECORDS: &str = "\
seedbank init ku --site host --url-rules whatwg
seedbank ingest ku data/ku-2017-webir/crawl.jsonl.gz --snapshot";
const LINKS: &str = "\
seedbank init $web --site host --url-rules whatwg
seedbank ingest $web data/$web/links.tsv.gz --input links --pages data/$web/pages.tsv.gz";

const REFRESH: &str =
    "seedbank refresh $web --plan for-$fetches --goal coverage --seeds 20 --budget $fetches";
const CRAWL: &str =
    "seedbank evaluate $web crawl --plan for-$fetches --budget $fetches --holdouts 5 --format json";

const ROWS: [(&str, &[&str]); 4] = [
    ("ku", &["1000", "5000", "20000"]),
    ("epa", &["1000", "5000"]),
    ("toronto-movies", &["1000", "5000"]),
    ("wikispeedia", &["5000"]),
];

const BASELINES: [(&str, &str); 7] = [
    ("pagerank", "top PageRank"),
    ("in-degree", "most linked"),
    ("out-degree", "most links"),
    ("home-pages", "home pages"),
    ("harmonic", "top harmonic"),
    ("common-crawl", "quotas as Common Crawl"),
    ("random", "random"),
];

/// What a crawl from a list fetches, with pages held out: crawled pages, and in brackets those held out.
fn cell(list: &Value) -> String {
    let found = |name: &str| number(figure(list, &format!("/held_out/all/{name}/mean")), 0);
    format!("{} ({})", found("crawled"), found("new_pages"))
}

#[test]
fn the_default_goal_beside_every_baseline() {
    let Some(shared) = shared("the_default_goal_beside_every_baseline") else {
        return;
    };
    let banks = Banks::new(&shared, RECORDS);
    let mut rows = Vec::new();
    let (mut above, mut below) = (0, 0);
    for (web, numbers) in ROWS {
        if web != "ku" {
            for line in LINKS.lines() {
                banks.run(line, &[("web", web)]);
            }
        }
        for &fetches in numbers {
            let variables = [("web", web), ("fetches", fetches)];
            banks.run(REFRESH, &variables);
            let answer = banks.one(CRAWL, &variables);
            let lists = answer["fetches"]["lists"].as_array().unwrap();
            let goal = lists.iter().find(|list| list["kind"] == "plan").unwrap();
            let baselines = BASELINES.map(|(name, title)| {
                let list = lists.iter().find(|list| list["list"] == name);
                (list.unwrap_or_else(|| panic!("no {name}")), title)
            });
            let crawled = |list: &Value| figure(list, "/held_out/all/crawled/mean");
            let best = baselines.iter().reduce(|best, next| {
                if crawled(next.0) > crawled(best.0) {
                    next
                } else {
                    best
                }
            });
            let (best, title) = best.unwrap();
            above += u32::from(goal["above_baselines"] == true);
            below += u32::from(crawled(goal) < crawled(best));
            let mut row = vec![
                format!("{web}, {}", number(fetches.parse().ok(), 0)),
                cell(goal),
                format!("{}, {title}", cell(best)),
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
}
