//! Random small regions, compared with a dense eigensolver.

use proptest::prelude::*;

use super::work::Work;
use crate::graph::{HubGraph, NONE, Remaining, Rows, number};
use crate::watch::Unwatched;

use super::Principal;
use super::certificate::{Raising, TIE, VALUE, certify};
use super::dense::eigen;
use super::region::Region;
use super::solve::{Accuracy, EXACT, FINE, solve};
use super::start_vectors::StartVectors;
use super::vectors::{largest, scale};

/// A region (perhaps of several components) from the target sets of hubs, as bits; hub `i` has
/// `copies[i]` pages.
pub(super) fn region(rows: &[(u16, u32)]) -> Option<Region> {
    let mut all = Rows::new();
    let mut page = 16;
    for &(bits, copies) in rows {
        let targets: Vec<u32> = (0..16).filter(|target| bits >> target & 1 == 1).collect();
        let carriers: Vec<u32> = (page..page + copies).collect();
        page += copies;
        all.push(&carriers, &targets).unwrap();
    }
    whole(&all.graph().unwrap())
}

fn whole(graph: &HubGraph) -> Option<Region> {
    remaining(graph, &Remaining::all(graph))
}

/// The region of all remaining links.
fn remaining(graph: &HubGraph, left: &Remaining) -> Option<Region> {
    let hubs: Vec<u32> = (0..number(graph.hub_members().len())).collect();
    let hubs: Vec<u32> = hubs
        .into_iter()
        .filter(|class| left.hubs(*class) > 0)
        .collect();
    let mut position = vec![NONE; graph.authority_members().len()];
    let region = Region::gather(graph, left, &hubs, &mut position, &mut Work::default());
    (!region.hubs().is_empty()).then_some(region)
}

/// Scores of 1 for all classes with remaining links, without errors; `None` if no link is left.
pub(crate) fn uniform(graph: &HubGraph, left: &Remaining) -> Option<Principal> {
    let region = remaining(graph, left)?;
    let (hubs, authorities) = (region.hubs().len(), region.authorities().len());
    Some(Principal {
        sigma: 1.0,
        upper: f64::INFINITY,
        gap: 0.0,
        hub_scores: vec![1.0; hubs],
        authority_scores: vec![1.0; authorities],
        hub_errors: vec![0.0; hubs],
        authority_errors: vec![0.0; authorities],
        doubt: None,
        is_exact: true,
        is_refined: true,
        ritz_vectors: StartVectors::default(),
        region,
    })
}

/// Eigenpairs of `M`, by page scores, from the symmetrised dense matrix.
fn dense(region: &Region) -> Vec<(f64, Vec<f64>)> {
    let pages = region.authority_pages();
    let n = pages.len();
    let mut matrix = vec![vec![0.0; n]; n];
    for hub in 0..number(region.hubs().len()) {
        let row = region.rows().list(hub);
        for (&a, &b) in row.iter().flat_map(|a| row.iter().map(move |b| (a, b))) {
            let (a, b) = (a as usize, b as usize);
            matrix[a][b] += region.hub_pages()[hub as usize] * (pages[a] * pages[b]).sqrt();
        }
    }
    let unweigh = |mut x: Vec<f64>| {
        x.iter_mut()
            .zip(pages)
            .for_each(|(x, page)| *x /= page.sqrt());
        x
    };
    eigen(matrix)
        .into_iter()
        .map(|(value, x)| (value, unweigh(x)))
        .collect()
}

fn accepts(region: &Region, lambda: f64, x: &[f64]) -> bool {
    let mut x: Vec<f64> = x.iter().map(|entry| entry.abs()).collect();
    let top = largest(&x);
    scale(&mut x, 1.0 / top);
    let image = region.apply_m(&x, &mut Work::default());
    [VALUE, TIE].into_iter().any(|tightness| {
        let mut raising = Raising::new(region, vec![1.0; x.len()], &mut Work::default());
        certify(
            &mut raising,
            lambda,
            &x,
            &image,
            tightness,
            &mut Work::default(),
            u64::MAX,
        )
    })
}

fn solved(region: Region, warm: Vec<Vec<f64>>, accuracy: Accuracy) -> Principal {
    let warm = StartVectors::Authorities(warm);
    solve(region, warm, accuracy, &mut Work::default(), &Unwatched).unwrap()
}

fn rows() -> impl Strategy<Value = Vec<(u16, u32)>> {
    prop::collection::vec(
        (any::<u16>().prop_map(|bits| bits & (bits >> 3)), 1_u32..4),
        1..12,
    )
}

proptest! {
    #[test]
    fn a_smaller_pair_is_never_accepted(rows in rows(), noise in prop::collection::vec(0.0_f64..1.0, 16)) {
        let Some(region) = region(&rows) else { return Ok(()); };
        let pairs = dense(&region);
        let top = pairs[0].0;
        for (value, x) in &pairs[1..] {
            if *value > 0.0 && *value < top * (1.0 - 1e-5) {
                prop_assert!(!accepts(&region, *value, x));
            }
        }
        // A value that is too small is refused for any vector.
        let noise = &noise[..region.authorities().len()];
        prop_assert!(!accepts(&region, top * (1.0 - 2e-6), noise));
        prop_assert!(!accepts(&region, top * (1.0 - 2e-6), &pairs[0].1));
    }

    #[test]
    fn the_principal_pair_is_found_and_accepted(rows in rows()) {
        let Some(region) = region(&rows) else { return Ok(()); };
        let pairs = dense(&region);
        let gap = pairs.get(1).map_or(1.0, |second| 1.0 - second.0 / pairs[0].0);
        let principal = solved(region.clone(), Vec::new(), EXACT);
        let sigma = pairs[0].0.sqrt();
        prop_assert!((principal.sigma - sigma).abs() <= 1e-12 * sigma);
        prop_assert!(principal.upper >= sigma * (1.0 - 1e-14));
        if gap > 1e-3 {
            prop_assert_eq!(principal.doubt, None);
            prop_assert!(principal.upper <= sigma * (1.0 + 1e-6));
            prop_assert!(accepts(&region, pairs[0].0, &pairs[0].1));
            let sign = pairs[0].1.iter().sum::<f64>().signum();
            for (ours, exact) in principal.authority_scores.iter().zip(&pairs[0].1) {
                prop_assert!((ours - sign * exact).abs() <= 1e-11);
            }
        }
    }

    #[test]
    fn scores_lie_within_their_bounds(rows in rows()) {
        let Some(region) = region(&rows) else { return Ok(()); };
        let pairs = dense(&region);
        let gap = pairs.get(1).map_or(1.0, |second| 1.0 - second.0 / pairs[0].0);
        if gap < 1e-6 {
            return Ok(());
        }
        let sign = pairs[0].1.iter().sum::<f64>().signum();
        let exact: Vec<f64> = pairs[0].1.iter().map(|entry| sign * entry).collect();
        let mut hubs = region.apply_a(&exact, &mut Work::default());
        scale(&mut hubs, 1.0 / pairs[0].0.sqrt());
        for accuracy in [FINE, EXACT] {
            let principal = solved(region.clone(), Vec::new(), accuracy);
            let authorities = principal.authority_scores.iter().zip(&principal.authority_errors);
            let both = authorities.zip(&exact);
            let both = both.chain(principal.hub_scores.iter().zip(&principal.hub_errors).zip(&hubs));
            for ((ours, error), exact) in both {
                // The dense solver itself is exact to rounding over the gap.
                prop_assert!((ours - exact).abs() <= error + 1e-14 / gap, "{ours} {exact} {error}");
            }
        }
    }
}

#[test]
fn a_denser_place_elsewhere_is_found_in_spite_of_a_start_without_weight_on_it() {
    // Two complete places, 3 x 3 and 4 x 4, joined by one hub.
    let mut all = Rows::new();
    all.push(&[10, 11, 12], &[0, 1, 2]).unwrap();
    all.push(&[13, 14, 15, 16], &[3, 4, 5, 6]).unwrap();
    all.push(&[17], &[2, 3]).unwrap();
    let region = whole(&all.graph().unwrap()).unwrap();
    let pairs = dense(&region);
    let (lesser, x) = &pairs[1];
    assert!(*lesser > 8.9 && pairs[0].0 > 15.9);
    assert!(!accepts(&region, *lesser, x));
    let local: Vec<f64> = x
        .iter()
        .map(|entry| if entry.abs() > 0.2 { 1.0 } else { 0.0 })
        .collect();
    let principal = solved(region, vec![local], FINE);
    assert!((principal.sigma - pairs[0].0.sqrt()).abs() < 1e-12);
}

#[test]
fn raised_entries_locate_the_denser_place() {
    let mut all = Rows::new();
    all.push(&[10, 11, 12], &[0, 1, 2]).unwrap();
    all.push(&[13, 14, 15, 16], &[3, 4, 5, 6]).unwrap();
    all.push(&[17], &[2, 3]).unwrap();
    let region = whole(&all.graph().unwrap()).unwrap();
    let (lesser, x) = dense(&region).swap_remove(1);
    let mut x: Vec<f64> = x.iter().map(|entry| entry.abs()).collect();
    let top = largest(&x);
    scale(&mut x, 1.0 / top);
    let image = region.apply_m(&x, &mut Work::default());
    let mut raising = Raising::new(&region, vec![1.0; x.len()], &mut Work::default());
    assert!(!certify(
        &mut raising,
        lesser,
        &x,
        &image,
        VALUE,
        &mut Work::default(),
        u64::MAX
    ));
    let raised = raising.into_z();
    // Classes by smallest page: {0, 1}, {2}, {3}, {4, 5, 6}.
    assert!(raised[3] > 10.0 * raised[0]);
}

#[test]
fn two_equal_places_far_apart_are_not_certified() {
    // Two complete places, 3 x 3, joined by a chain: how they mix depends on (1/7)^20.
    let mut all = Rows::new();
    all.push(&[100, 101, 102], &[0, 1, 2]).unwrap();
    all.push(&[103, 104, 105], &[22, 23, 24]).unwrap();
    for link in 2..22 {
        all.push(&[106 + link], &[link, link + 1]).unwrap();
    }
    let region = whole(&all.graph().unwrap()).unwrap();
    let principal = solved(region, Vec::new(), EXACT);
    assert!(principal.doubt.is_some());
    assert!(principal.sigma >= 3.0 && principal.sigma < 3.1);
}
