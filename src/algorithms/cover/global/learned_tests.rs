use std::collections::BTreeSet;

use super::super::params::WebParams;
use super::super::samples::{SmallWeb, webs};
use super::*;
use crate::cover::{CoverParams, Method, Stop};
use crate::watch::Unwatched;
use proptest::prelude::*;

fn choice(seeds: u32, budget: Option<u64>) -> WebChoice {
    let params = WebParams {
        cover: CoverParams {
            method: Method::Greedy,
            seeds: Some(seeds),
            ..CoverParams::default()
        },
        value_by: super::super::ValueBy::Learned,
        budget,
        ..WebParams::default()
    };
    params.choose().unwrap()
}

fn seeds(selected: &WebSelection) -> Vec<u32> {
    let picks = selected.cover.picks.iter();
    picks.map(|pick| pick.seed.page).collect()
}

/// A directory (0) links to two feeds (1 and 2), and each feed to two pages that are worth nothing.
fn feeds() -> SmallWeb {
    let links: [&[u32]; 7] = [&[1, 2], &[3, 4], &[5, 6], &[], &[], &[], &[]];
    SmallWeb {
        values: [0, 70, 140, 0, 0, 0, 0].map(|value| value * UNIT).to_vec(),
        links: links.map(|to| to.iter().copied().collect()).to_vec(),
        may_be_seed: vec![true; 7],
    }
}

#[test]
fn a_fetch_costs_half_of_the_mean_without_a_budget() {
    let selected = select(&mut feeds().graph(), &choice(2, None), &[], &Unwatched).unwrap();
    // The mean is 30, so the directory gains 210 - 3 x 15, and then nothing is left: the rest of a feed only costs.
    assert_eq!(selected.setting.fetch_cost, Value(15 * UNIT));
    assert_eq!(selected.setting.hops, 1);
    // The place that is left goes to the page of the largest value.
    assert_eq!(seeds(&selected), [0, 2]);
    assert_eq!(selected.cover.stop, Stop::Complete);
    // There are three pages with links.
    let selected = select(&mut feeds().graph(), &choice(5, None), &[], &Unwatched).unwrap();
    assert_eq!(seeds(&selected), [0, 2, 1]);
    assert_eq!(selected.cover.stop, Stop::NoPageLeft);
}

#[test]
fn the_cost_is_that_whose_crawl_fetches_the_most_value() {
    let list = |seeds_wanted, budget| {
        let choice = choice(seeds_wanted, Some(budget));
        seeds(&select(&mut feeds().graph(), &choice, &[], &Unwatched).unwrap())
    };
    // Two fetches: both feeds. From the directory and a feed only one would be fetched.
    let both: BTreeSet<u32> = list(2, 2).into_iter().collect();
    assert_eq!(both, BTreeSet::from([1, 2]));
    // One seed and three fetches: the directory and its feeds.
    assert_eq!(list(1, 3), [0]);
    assert_eq!(list(1, 1), [2]);
}

/// The value that a crawl fetches, by the definition.
fn worth(web: &SmallWeb, seeds: &[u32], budget: usize) -> i64 {
    let (mut met, mut level, mut left, mut worth) = (BTreeSet::new(), seeds.to_vec(), budget, 0);
    met.extend(seeds.iter().copied());
    while !level.is_empty() && left > 0 {
        let mut next = BTreeSet::new();
        for page in level {
            if left == 0 {
                break;
            }
            left -= 1;
            worth += web.values[page as usize];
            next.extend(
                web.links[page as usize]
                    .iter()
                    .filter(|to| !met.contains(to)),
            );
        }
        met.extend(&next);
        level = next.into_iter().collect();
    }
    worth
}

proptest! {
    /// No cost that is tried gives a list whose crawl fetches more.
    #[test]
    fn no_tried_list_is_better(web in webs(2..9), wanted in 1_u32..5, budget in 1_usize..9) {
        let mut web = web;
        for value in &mut web.values {
            *value = value.abs();
        }
        let of_budget = choice(wanted, Some(budget as u64));
        let selected = select(&mut web.graph(), &of_budget, &[], &Unwatched).unwrap();
        let found = worth(&web, &seeds(&selected), budget);
        let mean = mean_value(&web.graph()).unwrap();
        let halves = HALVES.map(|halves| (mean * halves / 2).min(MAX_PRICE * UNIT));
        for cost in halves.into_iter().chain([MAX_PRICE * UNIT]) {
            let given = WebChoice { fetch_cost: Some(Value(cost)), ..of_budget };
            let other = select(&mut web.graph(), &given, &[], &Unwatched).unwrap();
            prop_assert!(worth(&web, &seeds(&other), budget) <= found);
            // Places stay empty only if no candidate is left.
            let candidates = web.candidates().len();
            prop_assert_eq!(other.cover.picks.len(), candidates.min(wanted as usize));
        }
    }
}
