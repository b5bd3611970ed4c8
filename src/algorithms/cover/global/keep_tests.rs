//! Bug classes: a kept list that is worth less than promised, a page that a pin or a limit excludes and that is kept all the
//! same, losses or gains that are wrong after exchanges, a list that changes without a change of the web.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::samples::{SmallWeb, web as webs};
use super::super::{
    Cap, Previous, Setting, WebChoice, WebGraph, WebParams, WebSelection, select_after,
};
use super::*;
use crate::cover::params::{CoverParams, Method};
use crate::cover::value::Value;
use crate::properties::repeatable;
use crate::watch::Unwatched;

fn plan(seeds: u32, hops: u32, cost: i64, keep: &str) -> WebChoice {
    let params = WebParams {
        cover: CoverParams {
            method: Method::Greedy,
            seeds: Some(seeds),
            ..CoverParams::default()
        },
        hops: Some(hops),
        fetch_cost: Some(Value(cost)),
        keep_seeds: keep.parse().unwrap(),
        ..WebParams::default()
    };
    params.choose().unwrap()
}

fn select(graph: &WebGraph, choice: &WebChoice, list: &[u32]) -> WebSelection {
    let previous = Previous {
        gains: None,
        list: list.iter().copied().map(Some).collect(),
    };
    select_after(&mut graph.clone(), choice, &[], previous, &Unwatched).unwrap()
}

fn pages(selected: &WebSelection) -> Vec<u32> {
    let picks = selected.cover.picks.iter();
    picks.map(|pick| pick.seed.page).collect()
}

/// The worth of what a list reaches, as the definition has it.
fn judged_worth(web: &SmallWeb, list: &[u32], setting: Setting) -> i64 {
    let reached = list.iter().flat_map(|page| web.within(*page, setting.hops));
    let reached: BTreeSet<u32> = reached.collect();
    let worth = reached
        .iter()
        .map(|&page| web.values[page as usize] - setting.fetch_cost.0);
    worth.sum()
}

proptest! {
    #![proptest_config(repeatable(600))]

    #[test]
    fn a_list_is_worth_what_is_promised_and_stays_where_it_can(
        web in webs(),
        list in proptest::collection::vec(0_u32..12, 0..6),
        seeds in 1_u32..6,
        hops in 0_u32..4,
        cost in 0_i64..2_000_000,
        keep in prop_oneof![Just("0.5"), Just("10"), Just("50")],
        most in proptest::option::of(1_u32..3),
        pins in proptest::collection::btree_set(0_u32..12, 0..2),
    ) {
        let count = number(web.links.len());
        let list: BTreeSet<u32> = list.into_iter().map(|page| page % count).collect();
        let list: Vec<u32> = list.into_iter().collect();
        let pins: Vec<u32> = pins.into_iter().filter(|page| *page < count).take(seeds as usize).collect();
        let caps = most.map(|most| Cap { group: (0..count).map(|page| page % 3).collect(), most });
        let graph = web.graph().with_constraints(pins.clone(), caps.clone().into_iter().collect()).unwrap();
        let (off, on) = (plan(seeds, hops, cost, "0"), plan(seeds, hops, cost, keep));
        let fresh = select(&graph, &off, &list);
        prop_assert_eq!(fresh.kept, None);
        let kept = select(&graph, &on, &list);
        let worth = |selected: &WebSelection| judged_worth(&web, &pages(selected), selected.setting);
        let slack: Slack = keep.parse().unwrap();
        prop_assert!(worth(&kept) >= slack.least(worth(&fresh)));
        // Pins come first, and no group has more seeds than the cap allows beside them.
        let of_kept = pages(&kept);
        prop_assert_eq!(&of_kept[..pins.len()], &pins[..]);
        if let Some(cap) = caps {
            for group in 0..3 {
                let in_group = |page: &&u32| cap.group[**page as usize] == group;
                let pinned = pins.iter().filter(in_group).count();
                let all = of_kept.iter().filter(in_group).count();
                prop_assert!(all <= pinned.max(cap.most as usize));
            }
        }
        let candidates = web.candidates();
        let old: Vec<u32> = list.iter().copied().filter(|page| candidates.contains(page)).collect();
        match kept.kept {
            None => prop_assert!(old.is_empty()),
            Some(found) => {
                let on_both = of_kept.iter().filter(|page| old.contains(page)).count();
                prop_assert_eq!(found.seeds as usize, on_both);
                // Without pins, caps and costs, all of a list that is worth enough stay.
                let is_free = pins.is_empty() && most.is_none() && cost == 0 && old.len() <= seeds as usize;
                let is_enough = judged_worth(&web, &old, kept.setting) >= slack.least(worth(&fresh));
                if is_free && is_enough && web.values.iter().all(|value| *value > 0) && !on.positive_only {
                    let reaches_all = kept.cover.stop == crate::cover::Stop::NoValueLeft;
                    prop_assert!(reaches_all || on_both == old.len());
                }
            }
        }
        // What was selected stays as it is.
        let again = select(&graph, &on, &of_kept);
        prop_assert_eq!(pages(&again), of_kept);
        prop_assert_eq!(again.cover.picks, kept.cover.picks);
    }
}

/// Three hubs of 100, 99 and 50 pages.
fn hubs() -> SmallWeb {
    let mut web = SmallWeb {
        values: vec![1_000_000; 3],
        links: vec![BTreeSet::new(); 3],
        may_be_seed: vec![true; 3],
    };
    for (hub, pages) in [(0, 100), (1, 99), (2, 50)] {
        for _ in 0..pages {
            let page = number(web.links.len());
            web.links[hub].insert(page);
            web.links.push(BTreeSet::new());
            web.values.push(1_000_000);
            web.may_be_seed.push(false);
        }
    }
    web
}

#[test]
fn a_seed_leaves_for_one_that_is_worth_more_than_the_slack() {
    let graph = hubs().graph();
    let list = |keep: &str, list: &[u32]| {
        let selected = select(&graph, &plan(1, 1, 0, keep), list);
        let pick = &selected.cover.picks[0];
        (
            pick.seed.page,
            pick.runner_up.map(|of| of.page),
            selected.kept.map(|of| of.seeds),
        )
    };
    assert_eq!(list("0", &[1]), (0, Some(1), None));
    // The page that is worth more is named.
    assert_eq!(list("1", &[1]), (1, Some(0), Some(1)));
    assert_eq!(list("0.5", &[1]), (0, Some(1), Some(0)));
    assert_eq!(list("1", &[2]), (0, Some(1), Some(0)));
    assert_eq!(list("50", &[2]), (2, Some(0), Some(1)));
    // A page that cannot be a seed is not kept.
    assert_eq!(list("50", &[7]), (0, Some(1), None));
}

#[test]
fn the_seed_that_costs_least_is_replaced() {
    let graph = hubs().graph();
    let selected = select(&graph, &plan(2, 1, 0, "1"), &[1, 2]);
    assert_eq!(pages(&selected), [0, 1]);
    assert_eq!(
        selected.kept,
        Some(Kept {
            seeds: 1,
            worth: 1.0
        })
    );
}
