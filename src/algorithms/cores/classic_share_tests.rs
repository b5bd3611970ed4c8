//! Classic cores by several processes: the same for any number of them, and those of one process up to rounding.

use std::cell::Cell;
use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::share_tests::{Selected, params_of_growth, selected};
use super::*;
use crate::graph::hub_share::tests::{Links, dealt, in_shares, links};
use crate::graph::{Csr, HubGraph};
use crate::rank::CachedSteps;
use crate::watch::Unwatched;

const PAGES: u32 = 40;
const CASES: u32 = 400;
const PREVIOUS_SEEDS: [u32; 3] = [3, 1, 7];

fn params() -> impl Strategy<Value = CoreParams> {
    let iterations = prop::sample::select(vec![1, 2, 5, 60]);
    (params_of_growth(), iterations).prop_map(|(params, iterations)| CoreParams {
        hits: Hits::Classic,
        iterations,
        ..params
    })
}

fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

fn are_close(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_close(*a, *b))
}

/// A core without what differs by rounding.
pub(super) fn without_scores(core: &Core) -> Core {
    Core {
        sigma: 0.0,
        hub_scores: Vec::new(),
        authority_scores: Vec::new(),
        ..core.clone()
    }
}

/// What is near cores, by the smallest page of each class.
fn named(members: &Csr, near: &[Option<Nearness>]) -> BTreeMap<u32, Nearness> {
    let near = (0..).zip(near);
    near.filter_map(|(class, near)| Some((members.list(class)[0], (*near)?)))
        .collect()
}

fn are_near_the_same(a: &BTreeMap<u32, Nearness>, b: &BTreeMap<u32, Nearness>) -> bool {
    let is_same = |((page, a), (other, b)): ((&u32, &Nearness), (&u32, &Nearness))| {
        (page, a.core, a.links) == (other, b.core, b.links) && is_close(a.score, b.score)
    };
    a.len() == b.len() && a.iter().zip(b).all(is_same)
}

/// Returns the authorities of a core that its seed links to.
fn linked_from_seed(graph: &HubGraph, core: &Core) -> Vec<u32> {
    let row = graph.rows().list(graph.hub_class(core.seed).unwrap());
    let is_linked = |page: &&u32| row.contains(&graph.authority_class(**page).unwrap());
    core.authorities.iter().filter(is_linked).copied().collect()
}

/// Compares a selection by several processes with that in the whole graph; scores may differ by rounding.
pub(super) fn compare(
    shared: &Selected,
    whole: &Selection,
    graph: &HubGraph,
) -> Result<(), TestCaseError> {
    prop_assert_eq!(shared.cores.len(), whole.cores.len());
    for ((shared, whole), led_to) in shared.cores.iter().zip(&whole.cores).zip(&shared.led_to) {
        prop_assert_eq!(without_scores(shared), without_scores(whole));
        prop_assert!(is_close(shared.sigma, whole.sigma));
        prop_assert!(are_close(&shared.hub_scores, &whole.hub_scores));
        prop_assert!(are_close(&shared.authority_scores, &whole.authority_scores));
        prop_assert_eq!(led_to, &linked_from_seed(graph, whole));
    }
    let near = [
        named(graph.hub_members(), &whole.near.hubs),
        named(graph.authority_members(), &whole.near.authorities),
    ];
    for (shared, whole) in shared.near.iter().zip(&near) {
        prop_assert!(are_near_the_same(shared, whole), "{:?} {:?}", shared, whole);
    }
    Ok(())
}

#[test]
fn any_number_of_processes_selects_the_cores_of_one() {
    let none = CachedSteps::default();
    let doubts = Cell::new(0);
    let all = Cell::new(0);
    let mut runner = TestRunner::new(ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let inputs = (links(PAGES), params(), 2_usize..6);
    let result = runner.run(&inputs, |(links, params, processes)| {
        let shared = selected(&links, 1, &params, &none);
        prop_assert_eq!(&selected(&links, processes, &params, &none), &shared);
        prop_assert!(shared.steps.is_empty());
        let graph = dealt(&links, 1)[0].graph().unwrap();
        let whole = select(&graph, &params, &PREVIOUS_SEEDS, &Unwatched).unwrap();
        all.set(all.get() + 1);
        if !whole.certified || shared.cores.iter().any(|core| core.doubt.is_some()) {
            doubts.set(doubts.get() + 1);
            return Ok(());
        }
        compare(&shared, &whole, &graph)
    });
    result.unwrap();
    assert!(all.get() >= CASES);
    assert!(doubts.get() <= 4, "{} of {}", doubts.get(), all.get());
}

/// All pages from one number on to all of the following ones.
pub(super) fn complete(first: u32, hubs: u32, authorities: u32) -> Links {
    let end = first + hubs;
    vec![((first..end).collect(), (end..end + authorities).collect())]
}

#[test]
fn a_difference_of_the_threshold_of_ties_is_a_doubt_in_all_processes() {
    // After two iterations, an authority of a complete part with h hubs and a authorities has the score h^2 a, up to a
    // factor. These differ by one in 1,000 million.
    let (larger, smaller) = ((1065, 881), (976, 1049));
    let params = CoreParams {
        hits: Hits::Classic,
        iterations: 2,
        seeds: 2,
        ..CoreParams::default()
    };
    let none = CachedSteps::default();
    for (first, second, is_in_doubt) in [(smaller, larger, true), (larger, smaller, false)] {
        let mut links = complete(0, first.0, first.1);
        links.extend(complete(first.0 + first.1, second.0, second.1));
        let graph = dealt(&links, 1)[0].graph().unwrap();
        let whole = select(&graph, &params, &PREVIOUS_SEEDS, &Unwatched).unwrap();
        let alone = selected(&links, 1, &params, &none);
        for processes in 2..6 {
            assert_eq!(selected(&links, processes, &params, &none), alone);
        }
        for (shared, whole) in alone.cores.iter().zip(&whole.cores) {
            assert_eq!(shared.hubs, whole.hubs);
            assert_eq!(shared.doubt.is_some(), whole.doubt.is_some());
        }
        let doubts: Vec<bool> = alone.cores.iter().map(|of| of.doubt.is_some()).collect();
        assert_eq!(doubts, [is_in_doubt, false]);
        assert_eq!(alone.cores[0].hubs.len(), larger.0 as usize);
    }
}

#[test]
fn parameters_that_contradict_each_other_are_refused() {
    let links = complete(0, 2, 2);
    let params = CoreParams {
        hits: Hits::Classic,
        within: "1".parse().unwrap(),
        ..CoreParams::default()
    };
    in_shares(&links, 2, |share| {
        let mut rules = OneSeedPerCore { left: 1 };
        let input = ShareInput {
            previous_seeds: &[],
            cached: &CachedSteps::default(),
            max_gathered: 0,
        };
        let found = select_on_share(share, &params, input, &mut rules, &Unwatched);
        let expected = BadParams::ClassicWithin;
        assert_eq!(found, Err(CoresError::Params(expected)));
    });
}
