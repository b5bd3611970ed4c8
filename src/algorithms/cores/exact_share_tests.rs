//! Exact cores by several processes: the same for any number of them, and those of one process up to rounding.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::classic_share_tests::{compare, complete, without_scores};
use super::share_tests::{params_of_growth, selected_with};
use super::*;
use crate::graph::hub_share::tests::{Links, dealt, links};
use crate::rank::CachedSteps;
use crate::watch::Unwatched;

const PAGES: u32 = 40;
const CASES: u32 = 400;
const PREVIOUS_SEEDS: [u32; 3] = [3, 1, 7];

#[test]
fn any_number_of_processes_selects_the_exact_cores_of_one() {
    let none = CachedSteps::default();
    let doubts = Cell::new([0; 2]);
    let mut runner = TestRunner::new(ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let max_gathered = prop::sample::select(vec![0_u64, 6, 12, 30, 1000]);
    let inputs = (links(PAGES), params_of_growth(), 2_usize..6, max_gathered);
    let result = runner.run(&inputs, |(links, params, processes, max_gathered)| {
        let shared = selected_with(&links, 1, &params, &none, max_gathered);
        let of_several = selected_with(&links, processes, &params, &none, max_gathered);
        prop_assert_eq!(&of_several, &shared);
        let graph = dealt(&links, 1)[0].graph().unwrap();
        let whole = select(&graph, &params, &PREVIOUS_SEEDS, &Unwatched).unwrap();
        let is_gathered = max_gathered == 1000;
        if is_gathered {
            prop_assert_eq!(&shared.cores, &whole.cores);
        } else if !whole.certified || shared.cores.iter().any(|core| core.doubt.is_some()) {
            let [all, of_small] = doubts.get();
            doubts.set([all + 1, of_small + u32::from(max_gathered >= 12)]);
            return Ok(());
        }
        compare(&shared, &whole, &graph)
    });
    result.unwrap();
    // Many small components that are equally dense cannot be told apart if all of them are shared.
    let [all, of_small] = doubts.get();
    assert!((1..CASES / 8).contains(&all), "{all}");
    assert!(of_small <= 4, "{of_small}");
}

#[test]
fn a_shared_component_and_a_gathered_one_can_be_tied() {
    // Sigma is 4 in all of them. Those with more than 8 pages are shared.
    let none = CachedSteps::default();
    let params = CoreParams {
        seeds: 3,
        ..CoreParams::default()
    };
    for sizes in [
        [(2, 8), (4, 4), (4, 4)],
        [(4, 4), (2, 8), (4, 4)],
        [(4, 4), (4, 4), (8, 2)],
        [(16, 1), (4, 4), (4, 4)],
    ] {
        let mut links = Links::new();
        let mut first = 0;
        for (hubs, authorities) in sizes {
            links.extend(complete(first, hubs, authorities));
            first += hubs + authorities;
        }
        let graph = dealt(&links, 1)[0].graph().unwrap();
        let whole = select(&graph, &params, &PREVIOUS_SEEDS, &Unwatched).unwrap();
        assert!(whole.certified && whole.cores.len() == 3);
        for (max_gathered, processes) in [(0, 1), (8, 1), (8, 2), (8, 5), (10, 3), (17, 4)] {
            let shared = selected_with(&links, processes, &params, &none, max_gathered);
            let is_in_doubt = shared.cores.iter().any(|core| core.doubt.is_some());
            assert_eq!(is_in_doubt, max_gathered == 0, "{sizes:?} {max_gathered}");
            if is_in_doubt {
                continue;
            }
            for (shared, whole) in shared.cores.iter().zip(&whole.cores) {
                assert_eq!(without_scores(shared), without_scores(whole));
            }
        }
    }
}

#[test]
fn a_gathered_component_can_come_between_the_cores_of_a_shared_one() {
    // 5 x 5 and 3 x 3 joined by a path; 4 x 4 alone; both roles of pages 1 and 2 are in different components.
    let none = CachedSteps::default();
    let mut links = complete(0, 5, 5);
    links.extend(complete(20, 3, 3));
    links.extend(complete(30, 4, 4));
    let row = |from: u32, to: &[u32]| ([from].into(), to.iter().copied().collect());
    links.push(row(15, &[5, 16]));
    links.push(row(17, &[16, 23]));
    links.push(row(40, &[1, 2, 41]));
    let params = CoreParams {
        seeds: 6,
        ..CoreParams::default()
    };
    let graph = dealt(&links, 1)[0].graph().unwrap();
    let whole = select(&graph, &params, &PREVIOUS_SEEDS, &Unwatched).unwrap();
    let sides: Vec<usize> = whole.cores.iter().map(|core| core.hubs.len()).collect();
    assert_eq!(sides[..3], [5, 4, 3]);
    for (max_gathered, processes) in [(8, 1), (8, 2), (8, 4), (12, 3)] {
        let shared = selected_with(&links, processes, &params, &none, max_gathered);
        assert!(shared.cores.iter().all(|core| core.doubt.is_none()));
        assert_eq!(shared.cores.len(), whole.cores.len());
        for (shared, whole) in shared.cores.iter().zip(&whole.cores) {
            assert_eq!(without_scores(shared), without_scores(whole));
        }
    }
}
