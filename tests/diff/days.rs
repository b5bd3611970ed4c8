//! `diff` between the refreshes of many days, each cause checked against the records alone: on a
//! generated crawl and on the days of a real one.
//!
//! The check follows the definitions: the states of pages on each day come from a plain reading of the
//! records, and seeds and cores from the output of the refreshes.

use std::collections::{BTreeMap, BTreeSet};

use crate::support;
use crate::support::days::{Day, Life, Printed, friendlinks, options};
use crate::support::model::assert_clean;
use seedbank::engine::query::{Change, DiffRequest, SeedChange};
use seedbank::synth::{SynthOptions, day_text};

/// The batch that must be named.
#[derive(PartialEq, Eq, Debug, Default)]
enum Brought {
    /// Any batch will do.
    #[default]
    Unjudged,
    By(Option<u32>),
}

/// The cause, under its name for a lost seed, with what else the diff must say.
#[derive(PartialEq, Eq, Debug, Default)]
struct Judged {
    cause: &'static str,
    batch: Brought,
    by: Option<String>,
    links: Option<(u64, u64)>,
}

/// The last day, after `low` and up to `high`, on which `holds` is not as it was the day before.
fn turned(low: usize, high: usize, holds: impl Fn(usize) -> bool) -> Option<u32> {
    let mut days = (low + 1..=high).rev();
    let day = days.find(|&day| holds(day) != holds(day - 1));
    day.map(|day| u32::try_from(day).unwrap())
}

/// Why `lacks` does not have a seed of `has`.
fn judge(days: &[Day], url: &str, has: &Printed, lacks: &Printed) -> Judged {
    let (low, high) = (has.batch.min(lacks.batch), has.batch.max(lacks.batch));
    let day = &days[lacks.batch];
    let state = |cause, holds: &dyn Fn(&Day) -> bool| Judged {
        cause,
        batch: Brought::By(turned(low, high, |at| holds(&days[at]))),
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
    for (cause, hubs) in [("replaced-by-hub", true), ("became-authority", false)] {
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
    let outranked = Judged {
        cause: "outranked",
        ..Judged::default()
    };
    if all_above(1.0 + 1e-9) {
        return outranked;
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
            batch: Brought::By(lost.iter().filter_map(of_link).max()),
            links: Some((lost.len() as u64, core.edges)),
            ..Judged::default()
        };
    }
    let pages = core.hubs.iter().chain(&core.authorities);
    let takers = pages.filter_map(|page| lacks.core_with(page));
    match takers.min_by_key(|core| core.rank) {
        Some(core) => Judged {
            cause: "pages-taken",
            by: Some(core.seed.clone()),
            ..Judged::default()
        },
        None if all_above(1.0 - 2e-9) => outranked,
        None => Judged {
            cause: "region-weakened",
            ..Judged::default()
        },
    }
}

/// The name of the same cause for a gained seed.
fn reversed(cause: &str, was_page: bool) -> &str {
    match cause {
        "unlinked" if !was_page => "new-page",
        "gone" | "unlinked" => "revived",
        "spam" => "spam-cleared",
        "no-links" => "became-hub",
        "replaced-by-hub" => "replaces-hub",
        "became-authority" => "was-authority",
        "outranked" => "outranks",
        "links-lost" => "links-gained",
        "pages-taken" => "pages-released",
        "region-weakened" => "region-strengthened",
        other => other,
    }
}

fn same(found: &SeedChange, cause: &str, judged: &Judged) {
    let name = serde_json::to_value(found.cause).unwrap();
    assert_eq!(name, cause, "{found:?} {judged:?}");
    assert_eq!(found.by, judged.by, "{found:?}");
    assert_eq!(
        found.changed_links.zip(found.core_links),
        judged.links,
        "{found:?}"
    );
    if let Brought::By(batch) = judged.batch {
        assert_eq!(found.batch, batch, "{found:?}");
    }
}

/// Compares two refreshes and judges every cause; counts the causes.
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
    let diff = life.bank.diff(&request).unwrap();
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
    assert_eq!(
        from.seeds.len() + summary.gained as usize,
        to.seeds.len() + summary.lost as usize
    );
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

/// Judges the diffs of these pairs of days; returns how often each cause occurred.
fn check_pairs(
    life: &Life,
    seeds: usize,
    judged: impl Fn(usize, usize) -> bool,
) -> BTreeMap<String, u32> {
    let numbers = &life.refreshes["p"];
    let printed: Vec<Printed> = numbers
        .iter()
        .zip(1..)
        .map(|(number, batch)| Printed::of(&life.bank, *number, batch, seeds))
        .collect();
    let mut causes = BTreeMap::new();
    for first in 0..numbers.len() {
        for second in (first + 1..numbers.len()).filter(|second| judged(first, *second)) {
            let both = [numbers[first], numbers[second]];
            check(life, both, &printed[first], &printed[second], &mut causes);
        }
    }
    println!("{causes:?}");
    causes
}

/// Each day with the next, and with each later one at certain distances: a quarter of all pairs,
/// since a diff of each would take longer than a test should.
#[test]
fn every_cause_of_twenty_days_is_true() {
    let crawl = SynthOptions {
        days: 20,
        ..SynthOptions::new(500)
    };
    let texts = (0..=20).map(|day| day_text(&crawl, day).unwrap());
    let life = Life::live(texts, &[("p", options(12))]);
    assert_clean(&life.bank);
    let causes = check_pairs(&life, 12, |first, second| {
        second - first == 1 || (first + second) % 5 == 0
    });
    assert!(causes.len() > 8, "{causes:?}");
}

/// The days of a real crawl: irregular, with many pages that go.
#[test]
fn every_cause_of_real_days_is_true() {
    let Some(shared) = support::shared("every_cause_of_real_days_is_true") else {
        return;
    };
    let life = Life::live(friendlinks(&shared, 10), &[("p", options(10))]);
    assert_clean(&life.bank);
    let causes = check_pairs(&life, 10, |_, _| true);
    assert!(causes.len() > 12 && causes["gone"] > 5, "{causes:?}");
}
