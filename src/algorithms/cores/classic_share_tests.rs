//! Classic cores by several processes: the same for any number of them.

use proptest::prelude::*;

use super::share_tests::{params_of_growth, selected};
use super::*;
use crate::graph::hub_share::tests::{Links, in_shares, links};
use crate::properties::repeatable;
use crate::rank::CachedSteps;
use crate::watch::Unwatched;

const PAGES: u32 = 40;

fn params() -> impl Strategy<Value = CoreParams> {
    let iterations = prop::sample::select(vec![1, 2, 5, 60]);
    (params_of_growth(), iterations).prop_map(|(params, iterations)| CoreParams {
        hits: Hits::Classic,
        iterations,
        ..params
    })
}

proptest! {
    #![proptest_config(repeatable(400))]

    #[test]
    fn any_number_of_processes_selects_the_cores_of_one(
        links in links(PAGES),
        params in params(),
        processes in 2_usize..6,
    ) {
        let none = CachedSteps::default();
        let alone = selected(&links, 1, &params, &none);
        prop_assert_eq!(&selected(&links, processes, &params, &none), &alone);
        prop_assert!(alone.steps.is_empty());
    }
}

/// All pages from one number on to all of the following ones.
fn complete(first: u32, hubs: u32, authorities: u32) -> Links {
    let end = first + hubs;
    vec![((first..end).collect(), (end..end + authorities).collect())]
}

#[test]
fn residuals_and_changes_of_sigma_are_those_on_paper() {
    // Three hubs with one authority, and one with another: after k iterations the authorities have scores of 3^k : 1, sigma^2 is
    // (3 9^k + 1) / (9^k + 1), and ||A^T A a - sigma^2 a|| is 2 3^k / (9^k + 1). What is left has one authority.
    let links = [complete(0, 3, 1), complete(4, 1, 1)].concat();
    let sigma = |k: i32| ((3.0 * 9_f64.powi(k) + 1.0) / (9_f64.powi(k) + 1.0)).sqrt();
    for (k, iterations) in [(1, 1), (2, 2), (5, 5), (60, 60)] {
        let params = CoreParams {
            hits: Hits::Classic,
            iterations,
            ..CoreParams::default()
        };
        let found = selected(&links, 2, &params, &CachedSteps::default());
        let [core, rest] = &found.cores[..] else {
            panic!("{found:?}");
        };
        assert!((core.sigma - sigma(k)).abs() < 1e-15);
        let of_core = core.convergence.unwrap();
        let residual = 2.0 * 3_f64.powi(k) / (3.0 * 9_f64.powi(k) + 1.0);
        assert!((of_core.residual - residual).abs() < 1e-15, "{of_core:?}");
        let previous = if k == 1 { 0.0 } else { sigma(k - 1) };
        let change = 1.0 - previous / sigma(k);
        assert!((of_core.sigma_change - change).abs() < 1e-15, "{of_core:?}");
        let of_rest = rest.convergence.unwrap();
        let change = if k == 1 { 1.0 } else { 0.0 };
        assert_eq!((of_rest.residual, of_rest.sigma_change), (0.0, change));
    }
    // Proved cores need no residual.
    let exact = selected(&links, 1, &CoreParams::default(), &CachedSteps::default());
    assert!(exact.cores.iter().all(|core| core.convergence.is_none()));
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
        let alone = selected(&links, 1, &params, &none);
        for processes in 2..6 {
            assert_eq!(selected(&links, processes, &params, &none), alone);
        }
        let doubts: Vec<bool> = alone.cores.iter().map(|of| of.doubt.is_some()).collect();
        assert_eq!(doubts, [is_in_doubt, false]);
        assert_eq!(alone.cores[0].hubs.len(), larger.0 as usize);
    }
}

#[test]
fn parameters_that_contradict_each_other_or_several_processes_are_refused() {
    let links = complete(0, 2, 2);
    let classic_within = CoreParams {
        hits: Hits::Classic,
        within: "1".parse().unwrap(),
        ..CoreParams::default()
    };
    let exact = CoreParams::default();
    assert!(exact.is_exact());
    in_shares(&links, 2, |share| {
        for (params, expected) in [
            (classic_within, BadParams::ClassicWithin),
            (exact, BadParams::ExactOnShare),
        ] {
            let mut rules = OneSeedPerCore { left: 1 };
            let input = SelectionInput::default();
            let found = select(share, &params, input, &mut rules, &Unwatched);
            assert_eq!(found, Err(CoresError::Params(expected)));
        }
    });
}
