//! `diff` between the refreshes of a cover plan over generated days: every cause is checked against
//! the records alone, and covering seeds are found by search.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::support::banks::seeds_of;
use crate::support::days::{Day, Life, host};
use seedbank::engine::plan::{CoverMethod, Method};
use seedbank::engine::query::{Cause, Change, DiffRequest};
use seedbank::engine::{PlanOptions, Which};
use seedbank::synth::{SynthOptions, day_text};

const HOPS: u32 = 5;
const PER_SITE: usize = 2;

fn crawled(day: &Day, url: &str) -> bool {
    day.pages
        .get(url)
        .is_some_and(|page| page.crawled && !page.gone)
}

/// The distance from one page to another on its site, over crawled pages.
fn distance(day: &Day, from: &str, to: &str) -> Option<u32> {
    let mut seen = BTreeSet::from([from]);
    let mut queue = VecDeque::from([(from, 0)]);
    while let Some((url, hops)) = queue.pop_front() {
        if url == to {
            return Some(hops);
        }
        if hops == HOPS {
            continue;
        }
        for next in day.pages.get(url).into_iter().flat_map(|page| &page.links) {
            if host(next) == host(from) && crawled(day, next) && seen.insert(next) {
                queue.push_back((next, hops + 1));
            }
        }
    }
    None
}

/// Whether a cause holds for a page that is not a seed on `day`, where the seeds are `seeds`.
fn holds(
    cause: Cause,
    seed: &seedbank::engine::query::SeedChange,
    day: &Day,
    other: &Day,
    seeds: &[String],
) -> bool {
    let url = seed.url.as_str();
    let of_site: Vec<&String> = seeds.iter().filter(|s| host(s) == host(url)).collect();
    let reach = of_site.iter().filter_map(|seed| distance(day, seed, url));
    match cause {
        Cause::Gone | Cause::Revived => day.gone(url),
        Cause::NewPage => !day.is_page(url),
        Cause::Spam | Cause::SpamCleared => day.spam(url) && !other.spam(url),
        Cause::BecameCrawled => day.is_page(url) && !crawled(day, url),
        Cause::Covered | Cause::Uncovered => {
            let by = seed.by.as_ref().unwrap();
            of_site.contains(&by) && distance(day, by, url) == seed.hop
        }
        Cause::Outweighed | Cause::Outweighs => reach.count() == 0 && of_site.len() == PER_SITE,
        Cause::NoValue | Cause::GainedValue => reach.count() == 0 && of_site.len() < PER_SITE,
        other => panic!("{other:?} cannot be"),
    }
}

#[test]
fn every_cause_by_cover_is_true() {
    let crawl = SynthOptions {
        days: 12,
        ..SynthOptions::new(500)
    };
    let plan = PlanOptions {
        method: Some(Method::Cover(CoverMethod::MaxWeight)),
        per_site: Some(2),
        ..PlanOptions::default()
    };
    let texts = (0..=12).map(|day| day_text(&crawl, day).unwrap());
    let life = Life::live(texts, &[("p", plan)]);
    let numbers = &life.refreshes["p"];
    let lists: Vec<Vec<String>> = numbers
        .iter()
        .map(|number| {
            let which = Which {
                plan: None,
                refresh: Some(*number),
            };
            let seeds = seeds_of(&life.bank, &which);
            seeds.into_iter().map(|seed| seed.url).collect()
        })
        .collect();
    let mut causes: BTreeMap<Cause, u32> = BTreeMap::new();
    for first in 0..numbers.len() {
        for second in [first + 1, first + 5] {
            if second >= numbers.len() {
                continue;
            }
            let request = DiffRequest {
                refreshes: vec![numbers[first], numbers[second]],
                ..DiffRequest::default()
            };
            let diff = life.bank.diff(&request).unwrap();
            assert_eq!(
                lists[first].len() + diff.summary.gained as usize,
                lists[second].len() + diff.summary.lost as usize
            );
            let (before, after) = (&life.days[first + 1], &life.days[second + 1]);
            for seed in &diff.seeds {
                let true_cause = match seed.change {
                    Change::Lost => holds(seed.cause.unwrap(), seed, after, before, &lists[second]),
                    Change::Gained => {
                        holds(seed.cause.unwrap(), seed, before, after, &lists[first])
                    }
                    _ => continue,
                };
                assert!(true_cause, "{seed:?}");
                *causes.entry(seed.cause.unwrap()).or_default() += 1;
            }
        }
    }
    println!("{causes:?}");
    assert!(causes.len() > 5, "{causes:?}");
}
