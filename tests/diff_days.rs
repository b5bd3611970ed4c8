//! `diff` between the refreshes of thirty days, each cause judged by the records alone, and who
//! follows seeds that died: on a generated crawl and on the days of a real one.
//!
//! The judge goes by the definitions: what pages were on which day comes from a plain reading of
//! the records, seeds and cores from what the refreshes printed.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use seedbank::engine::{
    Bank, Change, CoreView, DiffRequest, EngineError, IngestRequest, PlanOptions, RefreshRequest,
    SeedChange, Which,
};
use seedbank::ingest::{Input, SiteMode};
use seedbank::synth::{SynthOptions, day_text};
use seedbank::watch::Unwatched;
use support::days::Day;
use support::model::assert_clean;

/// A bank with a batch and a refresh of each plan for every day.
struct Life {
    _place: tempfile::TempDir,
    bank: Bank,
    /// After each batch; before the first, an empty one.
    days: Vec<Day>,
    /// Refreshes by plan, one a day.
    refreshes: BTreeMap<&'static str, Vec<u32>>,
}

fn options(seeds: u32, succeed: bool) -> PlanOptions {
    PlanOptions {
        seeds: Some(seeds),
        succeed: Some(succeed),
        ..PlanOptions::default()
    }
}

fn live(texts: impl Iterator<Item = String>, plans: &[(&'static str, PlanOptions)]) -> Life {
    let place = support::scratch();
    let bank = Bank::create(&place.path().join("bank"), SiteMode::Host).unwrap();
    let mut days = vec![Day::default()];
    let mut refreshes: BTreeMap<&'static str, Vec<u32>> = BTreeMap::new();
    let file = place.path().join("day.jsonl");
    for text in texts {
        std::fs::write(&file, &text).unwrap();
        let request = IngestRequest {
            inputs: vec![Input::File(file.clone())],
            ..IngestRequest::default()
        };
        bank.ingest(&request, &Unwatched).unwrap();
        days.push(days.last().unwrap().next(&text));
        for (plan, options) in plans {
            let request = RefreshRequest {
                plan: Some((*plan).to_owned()),
                options: options.clone(),
                ..RefreshRequest::default()
            };
            let report = bank.refresh(&request, &Unwatched).unwrap();
            assert_eq!(report.batch as usize + 1, days.len());
            refreshes.entry(plan).or_default().push(report.refresh);
        }
    }
    Life {
        _place: place,
        bank,
        days,
        refreshes,
    }
}

/// What a refresh printed.
struct Printed {
    batch: usize,
    seeds: Vec<String>,
    cores: Vec<CoreView>,
    asked: usize,
}

impl Printed {
    /// The core that a page is in, as a hub or as an authority.
    fn core_of(&self, url: &str, hubs: bool) -> Option<&CoreView> {
        self.cores.iter().find(|core| {
            let pages = if hubs { &core.hubs } else { &core.authorities };
            pages.iter().any(|page| page == url)
        })
    }

    fn core_with(&self, url: &str) -> Option<&CoreView> {
        self.core_of(url, true).or(self.core_of(url, false))
    }
}

fn print(bank: &Bank, refresh: u32, batch: usize, asked: usize) -> Printed {
    let which = Which {
        plan: None,
        refresh: Some(refresh),
    };
    let mut cores = Vec::new();
    bank.cores::<EngineError>(&which, |core| {
        cores.push(core);
        Ok(())
    })
    .unwrap();
    let seeds = bank.seeds(&which).unwrap();
    Printed {
        batch,
        seeds: seeds.into_iter().map(|seed| seed.url).collect(),
        cores,
        asked,
    }
}

/// The cause, named as of a lost seed, with what the diff must say beside it.
#[derive(PartialEq, Eq, Debug, Default)]
struct Judged {
    cause: &'static str,
    batch: Option<Option<u32>>,
    by: Option<String>,
    links: Option<(u64, u64)>,
}

/// The last day from `low` on, up to `high`, on which something became other than the day before.
fn turned(low: usize, high: usize, holds: impl Fn(usize) -> bool) -> Option<u32> {
    let mut days = (low + 1..=high).rev();
    let day = days.find(|&day| holds(day) != holds(day - 1));
    day.map(|day| u32::try_from(day).unwrap())
}

/// Why `lacks` has not a seed of `has`.
fn judge(days: &[Day], url: &str, has: &Printed, lacks: &Printed) -> Judged {
    let (low, high) = (has.batch.min(lacks.batch), has.batch.max(lacks.batch));
    let day = &days[lacks.batch];
    let state = |cause, holds: &dyn Fn(&Day) -> bool| Judged {
        cause,
        batch: Some(turned(low, high, |at| holds(&days[at]))),
        ..Judged::default()
    };
    if day.gone(url) {
        return state("gone", &|day| day.gone(url));
    }
    if !day.is_page(url) {
        return state("unlinked", &|day| day.is_page(url));
    }
    if day.spam(url) && !days[has.batch].spam(url) {
        return state("spam", &|day| day.spam(url));
    }
    if !day.is_hub(url) {
        return Judged {
            cause: "no-links",
            ..Judged::default()
        };
    }
    for (cause, hubs) in [("another-hub", true), ("as-authority", false)] {
        if let Some(core) = lacks.core_of(url, hubs) {
            assert_ne!(core.seed, url);
            return Judged {
                cause,
                by: Some(core.seed.clone()),
                ..Judged::default()
            };
        }
    }
    let mut of_has = has.cores.iter();
    let core = of_has.find(|core| core.seed == url).unwrap();
    let full = lacks.cores.len() == lacks.asked;
    let all_above = |limit: f64| {
        full && lacks
            .cores
            .iter()
            .all(|other| other.sigma > core.sigma * limit)
    };
    let displaced = Judged {
        cause: "displaced",
        ..Judged::default()
    };
    if all_above(1.0 + 1e-9) {
        return displaced;
    }
    let pairs = core.hubs.iter().flat_map(|hub| {
        let authorities = core.authorities.iter();
        authorities.map(move |authority| (hub, authority))
    });
    let links: Vec<_> = pairs
        .filter(|(hub, authority)| days[has.batch].has_link(hub, authority))
        .collect();
    assert_eq!(links.len() as u64, core.edges);
    let lost: Vec<_> = links
        .iter()
        .filter(|(hub, authority)| !day.has_link(hub, authority))
        .collect();
    if !lost.is_empty() {
        let of_link =
            |link: &&(&String, &String)| turned(low, high, |at| days[at].has_link(link.0, link.1));
        return Judged {
            cause: "links-lost",
            batch: Some(lost.iter().filter_map(|link| of_link(link)).max()),
            links: Some((lost.len() as u64, core.edges)),
            ..Judged::default()
        };
    }
    let pages = core.hubs.iter().chain(&core.authorities);
    let takers = pages.filter_map(|page| lacks.core_with(page));
    match takers.min_by_key(|core| core.rank) {
        Some(core) => Judged {
            cause: "taken-apart",
            by: Some(core.seed.clone()),
            ..Judged::default()
        },
        None if all_above(1.0 - 2e-9) => displaced,
        None => Judged {
            cause: "region-weakened",
            ..Judged::default()
        },
    }
}

/// The name of the same of a gained seed.
fn reversed(cause: &str, was_page: bool) -> &str {
    match cause {
        "unlinked" if !was_page => "new-page",
        "gone" | "unlinked" => "revived",
        "spam" => "spam-cleared",
        "no-links" => "became-hub",
        "another-hub" => "took-over",
        "as-authority" => "was-authority",
        "displaced" => "moved-up",
        "links-lost" => "links-gained",
        "taken-apart" => "set-free",
        "region-weakened" => "region-grown",
        other => other,
    }
}

fn same(told: &SeedChange, cause: &str, judged: &Judged) {
    let name = serde_json::to_value(told.cause).unwrap();
    assert_eq!(name, cause, "{told:?} {judged:?}");
    assert_eq!(told.by, judged.by, "{told:?}");
    assert_eq!(told.links.zip(told.links_of), judged.links, "{told:?}");
    if let Some(batch) = judged.batch {
        assert_eq!(told.batch, batch, "{told:?}");
    }
}

/// Compares two refreshes and judges every cause; counts them.
fn check(
    life: &Life,
    numbers: [u32; 2],
    from: &Printed,
    to: &Printed,
    causes: &mut BTreeMap<String, u32>,
) {
    let request = DiffRequest {
        refreshes: numbers.to_vec(),
        ..DiffRequest::default()
    };
    let diff = life.bank.diff(&request, &Unwatched).unwrap();
    let lists = |seeds: &[String]| seeds.iter().cloned().collect::<BTreeSet<String>>();
    let (before, after) = (lists(&from.seeds), lists(&to.seeds));
    let of = |change: Change| {
        let seeds = diff.seeds.iter().filter(|seed| seed.change == change);
        seeds.map(|seed| seed.url.clone()).collect::<BTreeSet<_>>()
    };
    assert_eq!(of(Change::Gained), &after - &before);
    assert_eq!(of(Change::Lost), &before - &after);
    assert_eq!(&of(Change::Kept) | &of(Change::Moved), &before & &after);
    let summary = &diff.summary;
    let change = i64::from(summary.gained) - i64::from(summary.lost);
    assert_eq!(change, to.seeds.len() as i64 - from.seeds.len() as i64);
    for seed in &diff.seeds {
        match seed.change {
            Change::Lost => {
                let judged = judge(&life.days, &seed.url, from, to);
                same(seed, judged.cause, &judged);
            }
            Change::Gained => {
                let judged = judge(&life.days, &seed.url, to, from);
                let seen = life.days[..=from.batch]
                    .iter()
                    .any(|day| day.is_page(&seed.url));
                same(seed, reversed(judged.cause, seen), &judged);
            }
            Change::Moved => {
                assert_ne!(seed.rank_before, seed.rank_after);
                let name = serde_json::to_value(seed.cause).unwrap();
                let kept = |list: &[String], other: &BTreeSet<String>| -> BTreeSet<String> {
                    let before = list.iter().take_while(|url| **url != seed.url);
                    before.filter(|url| other.contains(*url)).cloned().collect()
                };
                let shifted = kept(&from.seeds, &after) == kept(&to.seeds, &before);
                assert_eq!(name == "shifted", shifted, "{seed:?}");
            }
            Change::Kept => assert_eq!(seed.cause, None),
        }
        if seed.change != Change::Kept {
            let name = serde_json::to_value(seed.cause).unwrap();
            let name = name.as_str().unwrap().to_owned();
            *causes.entry(name).or_default() += 1;
        }
    }
}

/// Who follows the seeds that died from one refresh of a plan to the next.
#[derive(Default, Debug)]
struct Deaths {
    died: u32,
    same_core: u32,
    similar: u32,
    /// Sum of the similarities of both.
    similarity: f64,
}

fn deaths(bank: &Bank, refreshes: &[u32], deaths: &mut Deaths) {
    // Successors are told as the bank stands: right after the second refresh, for its day.
    let request = DiffRequest {
        refreshes: refreshes.to_vec(),
        ..DiffRequest::default()
    };
    let diff = bank.diff(&request, &Unwatched).unwrap();
    for seed in diff.seeds.iter().filter(|s| s.change == Change::Lost) {
        let name = serde_json::to_value(seed.cause).unwrap();
        if !["gone", "unlinked", "spam", "no-links"].contains(&name.as_str().unwrap()) {
            assert_eq!(seed.successor, None, "{seed:?}");
            continue;
        }
        deaths.died += 1;
        if let Some(successor) = &seed.successor {
            deaths.same_core += u32::from(successor.same_core);
            deaths.similar += u32::from(!successor.same_core);
            deaths.similarity += successor.similarity;
        }
    }
}

fn row(name: &str, deaths: &Deaths) {
    println!(
        "| {name} | {} | {} | {} | {} | {:.2} |",
        deaths.died,
        deaths.same_core,
        deaths.similar,
        deaths.died - deaths.same_core - deaths.similar,
        deaths.similarity / f64::from((deaths.same_core + deaths.similar).max(1))
    );
}

/// All pairs of refreshes of thirty days.
#[test]
fn every_cause_of_thirty_days_is_true() {
    let crawl = SynthOptions {
        days: 30,
        ..SynthOptions::new(500)
    };
    let texts = (0..=30).map(|day| day_text(&crawl, day).unwrap());
    let life = live(texts, &[("p", options(12, false))]);
    assert_clean(&life.bank);
    let numbers = &life.refreshes["p"];
    let printed: Vec<Printed> = numbers
        .iter()
        .zip(1..)
        .map(|(number, batch)| print(&life.bank, *number, batch, 12))
        .collect();
    let mut causes = BTreeMap::new();
    for first in 0..numbers.len() {
        for second in first + 1..numbers.len() {
            let both = [numbers[first], numbers[second]];
            check(&life, both, &printed[first], &printed[second], &mut causes);
        }
    }
    println!("{causes:?}");
    assert!(causes.len() > 8, "{causes:?}");
}
