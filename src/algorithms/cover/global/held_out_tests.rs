use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::params::WebParams;
use super::super::samples::{SmallWeb, webs};
use super::super::select;
use super::*;
use crate::cover::value::Value;
use crate::cover::{CoverParams, Method};
use crate::statistics::Estimate;
use crate::watch::Unwatched;

/// The web without the links of held-out pages, which have the value of a known page.
fn remaining(web: &SmallWeb, known: &[bool], held_out: &[bool], value_known: i64) -> SmallWeb {
    let mut left = web.clone();
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
    crawl: &[u32],
    objective: Objective,
) -> i64 {
    let crawled = known.iter().filter(|known| !**known).count() as i128;
    let hidden = held_out.iter().filter(|hidden| **hidden).count() as i128;
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
    let sum = |counts: &dyn Fn(usize) -> bool| -> i128 {
        let pages = crawl.iter().filter(|&&page| counts(page as usize));
        pages
            .map(|&page| i128::from(web.values[page as usize]))
            .sum()
    };
    let stayed = sum(&|page| !known[page] && !held_out[page]) * crawled / (crawled - hidden);
    let hidden = sum(&|page| held_out[page]) * crawled / hidden;
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
    ) {
        let known: Vec<bool> = known[..web.values.len()].to_vec();
        let mut web = web;
        for (page, known) in known.iter().enumerate() {
            if *known {
                web.links[page] = BTreeSet::new();
            }
        }
        let graph = web.graph().with_known(known.clone(), Vec::new());
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
            let (_, drawn) = HeldOut::draw(&graph, &choice, at, &Unwatched).unwrap().unwrap();
            let hidden = drawn.is_hidden.iter().filter(|hidden| **hidden).count();
            prop_assert_eq!(hidden, crawled / 10);
            prop_assert!((0..known.len()).all(|page| !(known[page] && drawn.is_hidden[page])));
            for trial in &tuning.trials {
                let Some(&found) = trial.found.get(at as usize) else { continue };
                let value_known = trial.setting.value_known.0;
                let left = remaining(&web, &known, &drawn.is_hidden, value_known);
                params.hops = Some(trial.setting.hops);
                params.fetch_cost = Some(trial.setting.fetch_cost);
                params.value_known = Some(Value(0));
                let fixed = params.choose().unwrap();
                let picked = select(&mut left.graph(), &fixed, &[], &Unwatched).unwrap();
                let list: Vec<u32> = picked.cover.picks.iter().map(|pick| pick.seed.page).collect();
                let crawl = web.crawl(&list, usize::try_from(budget).unwrap());
                let wanted = score(&web, &known, &drawn.is_hidden, &crawl, objective);
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
