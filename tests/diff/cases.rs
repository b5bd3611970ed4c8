//! Changes of seeds in small crawls, one cause after another, in `cases/*.txt`: the change, its cause with the batch that
//! brought it, in both directions, and successors of dead seeds.
//!
//! Bug classes: a cause that is not the one that happened, or that is given although its records are missing; a batch that
//! brought something else; another cause in the other direction; a cause that later batches change.
//!
//! `SEEDBANK_WRITE_TEXTS=1 cargo nextest run --test diff cases::` rewrites what follows `--` in each case.

use std::fmt::Write as _;

use crate::support::banks::TestBank;
use crate::support::plans::{exact_cores, plan};
use crate::support::texts::{check_files, short_form};
use seedbank::engine::RefreshRequest;
use seedbank::engine::policy::List;
use seedbank::engine::query::{Change, DiffRequest, SeedDiff, UrlList};
use serde_json::{Value, json};

fn url(name: &str) -> String {
    let (host, path) = name.split_once('/').unwrap_or((name, ""));
    format!("http://{host}.example/{path}")
}

/// The records of a line: `core x 4 3` is four hubs that link to the same three authorities, `a -> b c` a page with links,
/// `a gone`, and `a {"clicks": 3}` a page with attributes.
fn records(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let page =
        |name: &str, to: &[String]| json!({"url": url(name), "outlinks": to}).to_string() + "\n";
    let numbered = |stem: String, count: &str| -> Vec<String> {
        let count: u32 = count.parse().unwrap();
        (1..=count).map(|at| format!("{stem}{at}")).collect()
    };
    match words[..] {
        ["core", stem, hubs, authorities] => {
            let to: Vec<String> = numbered(format!("{stem}a"), authorities)
                .iter()
                .map(|to| url(to))
                .collect();
            numbered(format!("{stem}h"), hubs)
                .iter()
                .map(|hub| page(hub, &to))
                .collect()
        }
        [name, "->", ref to @ ..] => page(name, &to.iter().map(|to| url(to)).collect::<Vec<_>>()),
        [name, "gone"] => json!({"url": url(name), "gone": true}).to_string() + "\n",
        _ => {
            let (name, fields) = line.split_once(' ').unwrap();
            let mut record: Value = serde_json::from_str(fields).unwrap();
            record["url"] = json!(url(name));
            record.to_string() + "\n"
        }
    }
}

fn show_diff(shown: &mut String, diff: &SeedDiff) {
    let summary = &diff.summary;
    let change = i64::from(summary.to.seeds) - i64::from(summary.from.seeds);
    assert_eq!(i64::from(summary.gained) - i64::from(summary.lost), change);
    assert_eq!(summary.gained + summary.kept, summary.to.seeds);
    for seed in diff.seeds.iter().filter(|seed| seed.change != Change::Kept) {
        let seed = serde_json::to_value(seed).unwrap();
        let text = |name: &str| seed[name].as_str().unwrap_or("no cause").to_owned();
        write!(
            shown,
            "{} {} : {}",
            text("change"),
            text("url"),
            text("cause")
        )
        .unwrap();
        for (name, value) in seed.as_object().unwrap() {
            let not_shown = [
                "change",
                "url",
                "cause",
                "rank_before",
                "rank_after",
                "reason",
                "why",
            ];
            if !not_shown.contains(&name.as_str()) && !value.is_null() && !value.is_object() {
                write!(shown, ", {name} {value}").unwrap();
            }
        }
        if let Some(successor) = seed["successor"].as_object() {
            write!(shown, ", successor {}", successor["url"].as_str().unwrap()).unwrap();
            write!(shown, " of the same core: {}", successor["same_core"]).unwrap();
        }
        shown.push('\n');
    }
}

#[test]
fn changes_have_the_causes_that_the_files_say() {
    check_files("tests/diff/cases", |lines| {
        let bank = TestBank::new();
        let mut shown = String::new();
        let diff = |refreshes: &[u32], list: Option<UrlList>| {
            let request = DiffRequest {
                plan: Some("p".to_owned()),
                refreshes: refreshes.to_vec(),
                list,
                ..DiffRequest::default()
            };
            bank.bank.diff(&request).unwrap()
        };
        for step in lines.chunk_by(|_, next| next.starts_with("  ")) {
            let input = step[1..].iter().map(|line| &line[2..]);
            let words: Vec<&str> = step[0].split(' ').collect();
            writeln!(shown, "> {}", step[0]).unwrap();
            match words[..] {
                ["batch"] => bank.delta(&input.map(records).collect::<String>()),
                ["refresh", ref parameters @ ..] => {
                    let (exclude, others): (Vec<&str>, Vec<&str>) = parameters
                        .iter()
                        .partition(|word| word.starts_with("exclude="));
                    let mut options = plan(&others.join(" "));
                    options.exclude = exclude.first().map(|word| List::parse("no", &word[8..]));
                    let request = RefreshRequest {
                        plan: Some("p".to_owned()),
                        options: exact_cores(options),
                        ..RefreshRequest::default()
                    };
                    bank.bank.refresh(&request).unwrap();
                    for seed in bank.seeds("p") {
                        write!(shown, "{} ", seed.url).unwrap();
                        if let Some(succeeds) = seed.succeeds {
                            write!(shown, "succeeds {} ", succeeds.url).unwrap();
                        }
                    }
                    shown = shown.trim_end().to_owned() + "\n";
                }
                ["diff", ref refreshes @ ..] => {
                    let refreshes: Vec<u32> =
                        refreshes.iter().map(|n| n.parse().unwrap()).collect();
                    show_diff(&mut shown, &diff(&refreshes, None));
                }
                ["list"] => {
                    let list = UrlList {
                        name: "today".to_owned(),
                        urls: (1..)
                            .zip(input.map(|line| {
                                if line.contains("://") {
                                    line.to_owned()
                                } else {
                                    url(line)
                                }
                            }))
                            .collect(),
                    };
                    show_diff(&mut shown, &diff(&[], Some(list)));
                }
                _ => panic!("unknown step {step:?}"),
            }
            bank.is_sound();
        }
        short_form(&shown)
    });
}
