use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::params::WebParams;
use super::super::samples::{SmallWeb, labelled, shared_of, webs};
use super::super::select;
use super::*;
use crate::cover::value::Value;
use crate::cover::{CoverParams, Method};
use crate::statistics::Estimate;
use crate::watch::Unwatched;

/// The web without the links of held-out pages, which have the value of a known page. The first of the other pages with
/// a label represents them.
fn remaining(
    web: &SmallWeb,
    known: &[bool],
    held_out: &[bool],
    labels: &[Option<u32>],
    value_known: i64,
) -> SmallWeb {
    let mut left = web.clone();
    let mut met = BTreeSet::new();
    for (page, label) in labels.iter().enumerate() {
        if !held_out[page] && label.is_some_and(|label| !met.insert(label)) {
            left.values[page] = 0;
            left.may_be_seed[page] = false;
        }
    }
    for page in 0..web.values.len() {
        if held_out[page] {
            left.links[page] = BTreeSet::new();
            left.values[page] = value_known;
        } else if known[page] {
            left.values[page] += value_known;
        }
        left.may_be_seed[page] &= !held_out[page];
    }
    left
}

/// The score of a crawl by the definition.
fn score(
    web: &SmallWeb,
    known: &[bool],
    held_out: &[bool],
    labels: &[Option<u32>],
    crawl: &[u32],
    objective: Objective,
) -> i64 {
    if objective == Objective::Discovery {
        let pages = (0..).take(web.values.len());
        let seen: BTreeSet<u32> = pages
            .clone()
            .filter(|&page| {
                let is_crawled = !known[page as usize] && !held_out[page as usize];
                let links = |from: u32| {
                    !held_out[from as usize] && web.links[from as usize].contains(&page)
                };
                is_crawled || pages.clone().any(links)
            })
            .collect();
        let mut found: BTreeSet<u32> = crawl.iter().copied().collect();
        for &page in crawl {
            found.extend(&web.links[page as usize]);
        }
        return i64::try_from(found.difference(&seen).count()).unwrap() * UNIT;
    }
    // A page without a label has one of its own.
    let content = |page: usize| (labels[page], labels[page].map_or(page, |_| 0));
    let contents = |counts: &dyn Fn(usize) -> bool| -> BTreeSet<(Option<u32>, usize)> {
        let pages = (0..known.len()).filter(|&page| !known[page] && counts(page));
        pages.map(content).collect()
    };
    let stay = contents(&|page| !held_out[page]);
    let all = contents(&|_| true).len() as i128;
    let is_new = |page: usize| !stay.contains(&content(page));
    let mut met = BTreeSet::new();
    let first = crawl.iter().map(|&page| page as usize);
    let first: Vec<usize> = first
        .filter(|&page| known[page] || met.insert(content(page)))
        .collect();
    let sum = |counts: &dyn Fn(usize) -> bool| -> i128 {
        let pages = first.iter().filter(|&&page| counts(page));
        pages.map(|&page| i128::from(web.values[page])).sum()
    };
    let stayed = sum(&|page| !known[page] && !is_new(page)) * all / stay.len() as i128;
    let new = (all - stay.len() as i128).max(1);
    let hidden = sum(&|page| !known[page] && is_new(page)) * all / new;
    i64::try_from(sum(&|page| known[page]) + i128::midpoint(stayed, hidden)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn trials_are_those_of_the_definition(
        web in webs(20..40),
        known in proptest::collection::vec(proptest::bool::weighted(0.15), 40),
        seeds in 1_u32..5,
        budget in 1_u64..30,
        discovery in any::<bool>(),
        labels in proptest::option::of(labelled(40)),
    ) {
        let known: Vec<bool> = known[..web.values.len()].to_vec();
        let mut web = web;
        for (page, known) in known.iter().enumerate() {
            if *known {
                web.links[page] = BTreeSet::new();
            }
        }
        let mut labels = labels.map_or_else(|| vec![None; known.len()], |all| all[..known.len()].to_vec());
        for (label, _) in labels.iter_mut().zip(&known).filter(|of| *of.1) {
            *label = None;
        }
        let graph = web.graph().with_known(known.clone(), Vec::new());
        let graph = graph.with_contents(&shared_of(&labels)).unwrap();
        let objective = if discovery { Objective::Discovery } else { Objective::Value };
        let mut params = WebParams {
            cover: CoverParams {
                method: Method::Greedy,
                seeds: Some(seeds),
                positive_only: true,
                ..CoverParams::default()
            },
            budget: Some(budget),
            objective,
            ..WebParams::default()
        };
        let choice = params.choose().unwrap();
        let tuning = select(&mut graph.clone(), &choice, &[], &Unwatched).unwrap().tuning.unwrap();
        let crawled = known.iter().filter(|known| !**known).count();
        if crawled < 20 {
            prop_assert_eq!(tuning.draws, 0);
            return Ok(());
        }
        prop_assert!((3..=10).contains(&tuning.draws));
        for at in 0..tuning.draws {
            let (left, _) = HeldOut::draw(&graph, &choice, at, &Unwatched).unwrap().unwrap();
            let became_known = |page: u32| left.is_known(page) && !known[page as usize];
            let held_out: Vec<bool> = (0..left.pages()).map(became_known).collect();
            prop_assert_eq!(held_out.iter().filter(|held_out| **held_out).count(), crawled / 10);
            for trial in &tuning.trials {
                let Some(&found) = trial.found.get(at as usize) else { continue };
                let value_known = trial.setting.value_known.0;
                let left = remaining(&web, &known, &held_out, &labels, value_known);
                params.hops = Some(trial.setting.hops);
                params.fetch_cost = Some(trial.setting.fetch_cost);
                params.value_known = Some(Value(0));
                let fixed = params.choose().unwrap();
                let picked = select(&mut left.graph(), &fixed, &[], &Unwatched).unwrap();
                let list: Vec<u32> = picked.cover.picks.iter().map(|pick| pick.seed.page).collect();
                let crawl = web.crawl(&list, usize::try_from(budget).unwrap());
                let wanted = score(&web, &known, &held_out, &labels, &crawl, objective);
                prop_assert_eq!(found, wanted);
            }
        }
        // A setting is dropped where it is behind by more than twice the error of the difference.
        let mean = |found: &[i64]| found.iter().sum::<i64>() / i64::try_from(found.len()).unwrap();
        for trial in tuning.trials.iter().filter(|trial| trial.found.len() >= 2) {
            let draws = trial.found.len();
            let others = tuning.trials.iter().filter(|other| other.found.len() >= draws);
            if draws == tuning.draws as usize {
                continue;
            }
            prop_assert!(draws >= 3);
            let most = others.clone().map(|other| mean(&other.found[..draws])).max();
            // Several may have the best mean; it was dropped because of one of them.
            let mut best = others.filter(|other| Some(mean(&other.found[..draws])) == most);
            let is_behind = best.any(|best| {
                let differences: Vec<f64> = (0..draws)
                    .map(|at| (best.found[at] - trial.found[at]) as f64)
                    .collect();
                let behind = Estimate::mean_of(&differences).unwrap();
                behind.mean > 2.0 * behind.standard_error.unwrap()
            });
            prop_assert!(is_behind);
        }
        // The setting with the best mean among those that were tried on every draw.
        let most = tuning.trials.iter().map(|trial| trial.found.len()).max();
        let complete = tuning.trials.iter().filter(|trial| Some(trial.found.len()) == most);
        let best = complete.map(|trial| mean(&trial.found)).max();
        prop_assert_eq!(tuning.best().map(super::super::Trial::mean), best);
    }
}
