//! Regions of several hundred classes, compared with thick-restart Lanczos.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::super::work::Work;
use crate::graph::{NONE, Remaining, Rows, number};
use crate::watch::Unwatched;

use super::super::solve::{EXACT, solve};
use super::*;

fn gathered(rows: &Rows) -> Region {
    let graph = rows.graph().unwrap();
    let hubs: Vec<u32> = (0..number(graph.hub_members().len())).collect();
    let mut position = vec![NONE; graph.authority_members().len()];
    let left = Remaining::all(&graph);
    Region::gather(&graph, &left, &hubs, &mut position, &mut Work::default())
}

/// Random links, a few hubs carried by several pages; the first pages are linked to most.
fn links(rows: &mut Rows, rng_seed: u64, from: u32, targets: u32, hubs: u32) {
    let mut random = Pcg64::seed_from_u64(rng_seed);
    let mut page = from + targets;
    for _ in 0..hubs {
        let count = random.random_range(2..12);
        let mut row: Vec<u32> = (0..count)
            .map(|_| {
                let reach = random.random_range(1..=targets);
                from + random.random_range(0..reach)
            })
            .collect();
        row.sort_unstable();
        row.dedup();
        let copies = if random.random_bool(0.1) { 3 } else { 1 };
        let carriers: Vec<u32> = (page..page + copies).collect();
        page += copies;
        rows.push(&carriers, &row).unwrap();
    }
}

fn web(rng_seed: u64, targets: u32, hubs: u32) -> Region {
    let mut rows = Rows::new();
    links(&mut rows, rng_seed, 0, targets, hubs);
    gathered(&rows)
}

fn tried(region: &Region, warm: Vec<Vec<f64>>, precision: Precision) -> Option<Principal> {
    match attempt(
        region.clone(),
        &StartVectors::Authorities(warm),
        precision,
        &mut BufferPool::default(),
        &mut Work::default(),
        &Unwatched,
    )
    .unwrap()
    {
        Attempt::Solved(principal) => Some(principal),
        Attempt::Unresolved(..) => None,
    }
}

fn exact(region: &Region) -> Principal {
    solve(
        region.clone(),
        StartVectors::default(),
        EXACT,
        &mut Work::default(),
        &Unwatched,
    )
    .unwrap()
}

fn agree(found: &Principal, exact: &Principal) -> Result<(), TestCaseError> {
    prop_assert!((found.sigma - exact.sigma).abs() <= 1e-12 * exact.sigma);
    prop_assert!(found.upper >= exact.sigma * (1.0 - 1e-14));
    prop_assert!(found.upper <= exact.sigma * (1.0 + 1e-6));
    for (ours, errors, theirs) in [
        (&found.hub_scores, &found.hub_errors, &exact.hub_scores),
        (
            &found.authority_scores,
            &found.authority_errors,
            &exact.authority_scores,
        ),
    ] {
        for ((ours, error), theirs) in ours.iter().zip(errors).zip(theirs) {
            prop_assert!(
                (ours - theirs).abs() <= error + 1e-12,
                "{ours} {theirs} {error}"
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_solved_region_has_its_principal_pair(
        rng_seed in any::<u64>(),
        targets in 320_u32..900,
        hubs in 400_u32..900,
    ) {
        let region = web(rng_seed, targets, hubs);
        prop_assume!(is_large(&region));
        let exact = exact(&region);
        prop_assume!(exact.doubt.is_none());
        for precision in [INITIAL, FOR_SCORES, FOR_TIES] {
            if let Some(found) = tried(&region, Vec::new(), precision) {
                agree(&found, &exact)?;
                if precision.proofs.len() == 2 {
                    prop_assert!(found.upper <= exact.sigma * (1.0 + 1e-9));
                }
            } else {
                prop_assert!(exact.gap < 1e-4, "gap {}", exact.gap);
            }
        }
    }

    #[test]
    fn starts_make_no_difference(rng_seed in any::<u64>(), kept in 0_usize..40) {
        let region = web(rng_seed, 500, 600);
        let mut random = Pcg64::seed_from_u64(rng_seed);
        let size = region.authorities().len();
        // Some starts have only a few places, some nothing at all.
        let warm = (0..kept).map(|at| {
            let entry = |v: usize| if v % (at + 1) == at / 2 { random.random_range(-1.0..1.0) } else { 0.0 };
            (0..size).map(entry).collect()
        });
        let found = tried(&region, warm.collect(), INITIAL);
        if let Some(found) = found {
            agree(&found, &exact(&region))?;
        }
    }
}

#[test]
fn most_are_solved() {
    let solved = (0..10).filter(|&seed| tried(&web(seed, 600, 700), Vec::new(), INITIAL).is_some());
    assert!(solved.count() >= 9);
}

#[test]
fn a_denser_place_without_weight_in_any_start_wins() {
    let mut rows = Rows::new();
    links(&mut rows, 1, 0, 400, 500);
    // A dense place that is connected by a single link.
    let carriers: Vec<u32> = (10_000..10_060).collect();
    rows.push(&carriers, &(20_000..20_060).collect::<Vec<u32>>())
        .unwrap();
    rows.push(&[30_000], &[5, 20_000]).unwrap();
    let region = gathered(&rows);
    let dense = region
        .authorities()
        .iter()
        .zip(region.authority_pages())
        .position(|(_, pages)| *pages > 50.0)
        .unwrap();
    let mut elsewhere = vec![1.0; region.authorities().len()];
    elsewhere[dense] = 0.0;
    let warm = vec![elsewhere; 30];
    let found = tried(&region, warm, INITIAL).unwrap();
    assert!((found.sigma - exact(&region).sigma).abs() < 1e-9);
    assert!(found.sigma > 60.0);
}

#[test]
fn an_equal_place_without_weight_in_any_start_is_seen() {
    // Two isolated complete places of 20 x 20 pages, and many links elsewhere.
    let mut rows = Rows::new();
    links(&mut rows, 1, 100, 400, 500);
    for at in 0..2 {
        let carriers: Vec<u32> = (10_000 + 100 * at..10_020 + 100 * at).collect();
        rows.push(&carriers, &(20 * at..20 * at + 20).collect::<Vec<u32>>())
            .unwrap();
    }
    let region = gathered(&rows);
    let size = region.authorities().len();
    let place = |at: usize| {
        let mut vector = vec![0.0; size];
        vector[at] = 1.0;
        vector
    };
    let exact = exact(&region);
    assert!(exact.sigma < 20.0 + 1e-9, "the places are the densest");
    // The exact pair of one of them, alone and with vectors without weight on the other.
    for others in [0, 14] {
        let warm = (0..=others).map(|at| place(if at == 0 { 0 } else { 10 + at }));
        assert!(tried(&region, warm.collect(), INITIAL).is_none());
        let zeros = std::iter::repeat_n(vec![0.0; size], others);
        let warm = std::iter::once(place(0)).chain(zeros);
        assert!(tried(&region, warm.collect(), INITIAL).is_none());
    }
}

#[test]
fn two_equal_places_are_left_open() {
    let mut rows = Rows::new();
    for from in [0, 10_000] {
        links(&mut rows, 3, from, 400, 500);
    }
    rows.push(&[30_000], &[399, 30_001]).unwrap();
    rows.push(&[30_002], &[10_399, 30_001]).unwrap();
    let region = gathered(&rows);
    assert!(tried(&region, Vec::new(), INITIAL).is_none());
}

/// A pair that is not an eigenpair, or not the largest.
fn refuses(region: &Region, lambda: f64, u: Vec<f64>) {
    let mut work = Work::default();
    let ones = Ones::new(region, &mut work);
    let found = Found {
        lambda,
        gap: 0.5,
        error: 0.0,
        values: vec![lambda],
        vectors: vec![u],
    };
    let candidate = Candidate::new(region, &found, &mut work);
    let proved = candidate.prove(region, &found, &ones, INITIAL, f64::INFINITY, &mut work);
    assert!(proved.is_err());
}

#[test]
fn a_wrong_pair_is_not_proved() {
    let region = web(5, 500, 600);
    let exact = exact(&region);
    let lambda = exact.sigma * exact.sigma;
    // Too small a value; a second place; a vector with a residual and the value that it gives.
    refuses(&region, lambda * (1.0 - 3e-6), exact.hub_scores.clone());
    let (mut pool, mut work) = (BufferPool::default(), Work::default());
    let (found, _) =
        single_vector_lanczos::principal(&region, &[], 1e-9, &mut pool, &mut work, &Unwatched)
            .unwrap();
    let found = found.expect("no two pairs are near each other");
    refuses(&region, found.values[1], found.vectors[1].clone());
    let mut rough = exact.hub_scores.clone();
    for (at, x) in rough.iter_mut().enumerate() {
        *x *= if at % 2 == 0 { 1.0 } else { 0.99 };
    }
    let (_, image) = apply_a_and_m(region.hub_side(), &rough, &mut Work::default());
    let pages = region.hub_pages().iter();
    let terms = pages.zip(rough.iter().zip(&image));
    let (top, bottom) = terms.fold((0.0, 0.0), |(top, bottom), (p, (x, y))| {
        (top + p * x * y, bottom + p * x * x)
    });
    assert!(top / bottom < lambda * (1.0 - 2e-6));
    refuses(&region, top / bottom, rough);
}
