//! Proofs over a graph that several processes share: the same for any number of them, and refused for what is not the largest.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::super::region_share::RegionShare;
use super::super::solve::{EXACT, solve};
use super::super::start_vectors::StartVectors;
use super::super::vectors::scale;
use super::*;
use crate::graph::HubShare;
use crate::graph::hub_share::tests::{Links, in_shares, links};
use crate::watch::Unwatched;

/// What all processes found of a graph: whether a value was proved, and the raised `z`, by the smallest page of each class.
#[derive(PartialEq, Debug)]
struct Proof {
    is_proved: bool,
    reads: Work,
    z: BTreeMap<u32, u64>,
}

fn region(share: &Arc<HubShare>) -> Region {
    Region::of_share(RegionShare::new(Arc::clone(share)).unwrap(), &share.all())
}

/// Tries to prove a share of the largest eigenvalue.
fn proof(links: &Links, processes: usize, share_of_value: f64, tightness: Tightness) -> Proof {
    let found = in_shares(links, processes, |share| {
        let region = region(share);
        let work = &mut Work::default();
        let found = solve(region, StartVectors::default(), EXACT, work, &Unwatched).unwrap();
        let lambda = found.sigma * found.sigma;
        let region = found.region;
        let mut x = found.authority_scores;
        let top = region.largest(Role::Authority, |at| x[at]).unwrap();
        scale(&mut x, 1.0 / top);
        let image = region.image(&x, work).unwrap();
        let ones = Ones::new(&region, work).unwrap();
        let mut raising = Raising::from_ones(&region, &ones).unwrap();
        let work = &mut Work::default();
        let value = lambda * share_of_value;
        let is_proved = certify(&mut raising, value, &x, &image, tightness, work, 1 << 20);
        let ids = share.side(Role::Authority).ids().iter().copied();
        let z = raising.into_z().into_iter().map(f64::to_bits);
        (
            is_proved.unwrap(),
            *work,
            ids.zip(z).collect::<BTreeMap<_, _>>(),
        )
    });
    let (is_proved, reads, _) = found[0];
    let mut z = BTreeMap::new();
    for (of_process, own_reads, own) in found {
        assert_eq!((of_process, own_reads), (is_proved, reads));
        z.extend(own);
    }
    Proof {
        is_proved,
        reads,
        z,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_number_of_processes_proves_the_same(
        links in links(40),
        processes in 2_usize..6,
        tightness in prop::sample::select(vec![VALUE, TIE]),
    ) {
        // What is above the largest value is proved; what is below it is not, whatever the vector.
        for (share, is_provable) in [(1.0 + 1e-4, true), (1.0 - 1e-4, false)] {
            let alone = proof(&links, 1, share, tightness);
            prop_assert_eq!(alone.is_proved, is_provable);
            prop_assert!(alone.z.values().all(|z| f64::from_bits(*z) >= 1.0));
            prop_assert_eq!(proof(&links, processes, share, tightness), alone);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Widely cited entries are solved for at once, in all processes.
    #[test]
    fn a_subset_is_solved_the_same(
        links in links(40),
        processes in 2_usize..6,
        every in 1_u32..4,
    ) {
        let solved = |processes| -> Vec<Option<Vec<u64>>> {
            in_shares(&links, processes, |share| {
                let region = region(share);
                let ids = share.side(Role::Authority).ids();
                let own = 0..number(region.own(Role::Authority));
                let own: Vec<u32> = own.filter(|at| ids[*at as usize] % every == 0).collect();
                let subset = Subset::default().union(&region, &own).unwrap();
                let pages = region.authority_pages();
                let entries = subset.gather(&region, |at| [pages[at], f64::from(ids[at]) + 1.0]);
                let entries = entries.unwrap().into_iter();
                let (pages, rhs): (Vec<f64>, Vec<f64>) = entries.map(|[p, rhs]| (p, rhs)).unzip();
                // No row sum is larger than the number of all links times the longest row.
                let work = &mut Work::default();
                let found = dense_subproblem::solve(&region, &subset, 1e5, &pages, &rhs, 1e-3, work);
                let found = found.unwrap();
                found.map(|entries| entries.into_iter().map(f64::to_bits).collect())
            })
        };
        let alone = solved(1).remove(0);
        prop_assert!(alone.is_some());
        for found in solved(processes) {
            prop_assert_eq!(&found, &alone);
        }
    }
}
