//! Processor time of whole commands: `refresh` after a small delta, compared with a refresh from scratch.
//!
//! `cargo bench --bench commands [-- --pages N] [-- --pairs N]`, on `friendlinks` after its last day, on
//! `ku-2017-webir`, and on a generated crawl. In the delta, every page loses a link or gets one. Both
//! commands of a pair run on copies of the same bank, one after the other; the table has the median of the ratios, and
//! the medians of both times. `--cold` also loads the graph from the tables (`--no-image`).
#![allow(
    clippy::unwrap_used,
    reason = "a bench may stop where something is wrong"
)]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use seedbank::Bank;
use seedbank::engine::EngineError;

#[path = "../tests/support/folders.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "shared with tests, which use more of it"
)]
mod folders;

/// The plans: name, and the arguments that create it.
const PLANS: [(&str, &[&str]); 6] = [
    ("exact", &["--method", "cores", "--seeds", "100"]),
    (
        "within-1",
        &["--method", "cores", "--seeds", "100", "--within", "1"],
    ),
    (
        "within-5",
        &["--method", "cores", "--seeds", "100", "--within", "5"],
    ),
    (
        "greedy-web",
        &["--method", "greedy", "--scope", "web", "--seeds", "100"],
    ),
    (
        "max-weight-sites",
        &["--method", "max-weight", "--per-site", "1"],
    ),
    ("greedy-sites", &["--method", "greedy", "--per-site", "1"]),
];

fn argument(name: &str, default: usize) -> usize {
    let given = std::env::args().skip_while(|a| a != name).nth(1);
    given.map_or(default, |text| text.parse().unwrap())
}

/// Processor time in seconds of all child processes that have ended.
fn children_seconds() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap();
    // The name of the program, in brackets, may contain spaces.
    let fields: Vec<&str> = text.rsplit(") ").next().unwrap().split(' ').collect();
    let ticks: f64 = fields[13..15]
        .iter()
        .map(|f| f.parse::<f64>().unwrap())
        .sum();
    ticks / 100.0
}

/// Runs a command and returns its processor time in seconds.
fn run(args: &[&str]) -> f64 {
    let before = children_seconds();
    let ended = Command::new(env!("CARGO_BIN_EXE_seedbank"))
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    // Status 5: nothing changed.
    let is_done = ended.status.success() || ended.status.code() == Some(5);
    assert!(
        is_done,
        "{args:?}: {}",
        String::from_utf8_lossy(&ended.stderr)
    );
    children_seconds() - before
}

/// Writes a delta of `count` crawled pages. The first loses its last link, the second gets another one, and so on.
fn write_delta(bank: &Bank, count: usize, path: &Path) {
    let mut pages = Vec::new();
    bank.pages::<EngineError>(|page| {
        if page.outlinks.len() > 2 {
            pages.push((page.url, page.outlinks));
        }
        Ok(())
    })
    .unwrap();
    let step = (pages.len() / count).max(1);
    let mut text = String::new();
    for (at, place) in (0..pages.len()).step_by(step).take(count).enumerate() {
        let (url, mut outlinks) = pages[place].clone();
        if at % 2 == 0 {
            outlinks.pop();
        } else {
            outlinks.push(pages[(place + pages.len() / 2) % pages.len()].0.clone());
        }
        writeln!(
            text,
            "{}",
            serde_json::json!({"url": url, "outlinks": outlinks})
        )
        .unwrap();
    }
    fs::write(path, text).unwrap();
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Measures the refreshes of a bank after a delta of `count` records.
fn measure(name: &str, bank: &Path, count: usize, pairs: usize, folder: &Path) {
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let delta = folder.join("delta.jsonl");
    write_delta(&Bank::at(bank), count, &delta);
    let changed = folder.join("changed");
    let _ = fs::remove_dir_all(&changed);
    folders::copy(bank, &changed);
    run(&["ingest", &path(&changed), &path(&delta)]);
    let refreshed = |more: &[&str]| {
        let copied = folder.join("copied");
        let _ = fs::remove_dir_all(&copied);
        folders::copy(&changed, &copied);
        run(&[&["refresh", &path(&copied)], more].concat())
    };
    for (plan, _) in PLANS {
        let (mut warm, mut cold, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..pairs {
            let seconds = refreshed(&["--plan", plan]);
            let from_scratch = refreshed(&["--plan", plan, "--cold", "--no-image"]);
            warm.push(seconds);
            cold.push(from_scratch);
            ratios.push(seconds / from_scratch);
        }
        println!(
            "| {name}, {count} records | {plan} | {:.0} % | {:.2} s | {:.2} s |",
            100.0 * median(ratios),
            median(warm),
            median(cold)
        );
    }
}

/// Creates a bank of these files, with all plans.
fn create(folder: &Path, name: &str, files: &[PathBuf]) -> PathBuf {
    let bank = folder.join(name);
    let at = bank.to_str().unwrap().to_owned();
    run(&["init", &at]);
    for file in files {
        let loss = ["--max-loss", "100"];
        run(&[&["ingest", &at, file.to_str().unwrap()], &loss[..]].concat());
    }
    for (plan, parameters) in PLANS {
        run(&[&["refresh", &at, "--plan", plan], parameters].concat());
    }
    bank
}

fn main() {
    let pairs = argument("--pairs", 5);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    println!("| bank, delta | plan | of a run from scratch | processor time | from scratch |");
    println!("| --- | --- | --- | --- | --- |");
    let shared =
        std::env::var_os("SEEDBANK_DATA").map_or_else(|| "../shared".into(), PathBuf::from);
    let days = shared.join("data/friendlinks");
    if let Ok(days) = fs::read_dir(&days) {
        let mut days: Vec<PathBuf> = days.map(|day| day.unwrap().path()).collect();
        days.sort();
        let bank = create(folder, "friendlinks", &days);
        for count in [2, 50] {
            measure("friendlinks", &bank, count, pairs, folder);
        }
    } else {
        println!("skipped friendlinks: no {}", days.display());
    }
    let crawl = shared.join("data/ku-2017-webir/crawl.jsonl.gz");
    if crawl.is_file() {
        let bank = create(folder, "ku", &[crawl]);
        for count in [10, 99] {
            measure("ku-2017-webir", &bank, count, pairs, folder);
        }
    } else {
        println!("skipped ku-2017-webir: no {}", crawl.display());
    }
    let pages = argument("--pages", 50_000);
    let crawl = folder.join("crawl");
    let count = pages.to_string();
    run(&[
        "synth",
        crawl.to_str().unwrap(),
        "--pages",
        &count,
        "--days",
        "0",
    ]);
    let bank = create(folder, "generated", &[crawl.join("day-000.jsonl.zst")]);
    measure(
        &format!("generated, {pages} pages"),
        &bank,
        500,
        pairs,
        folder,
    );
}
