//! Shares within bounds, compared with a search over every set of sites at their bounds. Catches a
//! share above its bound, pages that are not placed although there is capacity, a wrong tie, a share
//! taken from the wrong sites.

use proptest::prelude::*;
use seedbank_algorithms::cover::{apportion, apportion_bounded};

/// The definition, by brute force: of all sets of sites at their bounds, the one that fits the level
/// which it leaves to the others; these then get one page at a time by largest remainder.
fn judged(total: u64, weights: &[u64], bounds: &[u32]) -> Option<Vec<u32>> {
    let sites = weights.len();
    (0_u32..1 << sites).find_map(|full| {
        let is_full = |site: usize| full & (1 << site) != 0;
        let of = |full: bool| (0..sites).filter(move |&site| is_full(site) == full);
        let taken: u64 = of(true).map(|site| u64::from(bounds[site])).sum();
        let left = total.checked_sub(taken)?;
        let sum: u64 = of(false).map(|site| weights[site]).sum();
        // Without others the level is as high as one likes.
        let reaches = |site: usize| left * weights[site] >= u64::from(bounds[site]) * sum;
        if of(false).any(reaches) || !of(true).all(reaches) {
            return None;
        }
        let mut shares: Vec<u32> = bounds.to_vec();
        for site in of(false) {
            shares[site] = u32::try_from(left * weights[site] / sum).unwrap();
        }
        let mut remainders: Vec<(u64, usize)> = of(false)
            .map(|site| (left * weights[site] % sum, site))
            .collect();
        while !remainders.is_empty() && shares.iter().map(|&s| u64::from(s)).sum::<u64>() < total {
            let largest = remainders.iter().map(|&(rest, _)| rest).max()?;
            let at = remainders.iter().position(|&(rest, _)| rest == largest)?;
            shares[remainders.remove(at).1] += 1;
        }
        Some(shares)
    })
}

proptest! {
    #[test]
    fn shares_are_those_of_the_level_that_fits(
        total in 0_u64..60,
        sites in prop::collection::vec((1_u64..8, 0_u32..12), 0..7),
    ) {
        let (weights, bounds): (Vec<u64>, Vec<u32>) = sites.into_iter().unzip();
        let shares = apportion_bounded(total, &weights, &bounds);
        prop_assert_eq!(Some(shares), judged(total, &weights, &bounds));
    }

    #[test]
    fn every_page_is_placed_where_there_is_room(
        total in 0_u64..60,
        sites in prop::collection::vec((prop_oneof![Just(0), 0_u64..8, any::<u64>()], 0_u32..12), 0..7),
    ) {
        let (weights, bounds): (Vec<u64>, Vec<u32>) = sites.into_iter().unzip();
        let shares = apportion_bounded(total, &weights, &bounds);
        prop_assert!(shares.iter().zip(&bounds).all(|(share, bound)| share <= bound));
        let sum = |numbers: &[u32]| numbers.iter().map(|&n| u64::from(n)).sum::<u64>();
        prop_assert_eq!(sum(&shares), total.min(sum(&bounds)));
        // One without weight has something only where all with a weight are full.
        if (0..weights.len()).any(|site| weights[site] == 0 && shares[site] > 0) {
            prop_assert!((0..weights.len()).all(|site| weights[site] == 0 || shares[site] == bounds[site]));
        }
    }

    #[test]
    fn without_bounds_they_are_the_seats_of_apportion(
        total in any::<u32>(),
        weights in prop::collection::vec(prop_oneof![Just(0), 0_u64..9, any::<u64>()], 1..7),
    ) {
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        let named: Vec<(&str, u64)> = names.into_iter().zip(weights.iter().copied()).collect();
        let bounds = vec![u32::MAX; weights.len()];
        prop_assert_eq!(apportion(total, &named), apportion_bounded(total.into(), &weights, &bounds));
    }
}
