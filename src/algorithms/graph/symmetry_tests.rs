use super::*;
use crate::graph::{Rows, number};
use proptest::prelude::*;

/// Tries all automorphisms that exchange disjoint pairs.
fn exchanges(graph: &HubGraph, left: &Remaining, a: u32, b: u32) -> bool {
    let authorities: Vec<u32> = (0..number(graph.citers().len())).collect();
    let mut found = false;
    matchings(&authorities, &mut vec![(a, b)], &mut |pairs| {
        let image = |class: u32| {
            let pair = pairs.iter().find(|pair| pair.0 == class || pair.1 == class);
            pair.map_or(class, |pair| if pair.0 == class { pair.1 } else { pair.0 })
        };
        let sizes = pairs
            .iter()
            .all(|&(a, b)| left.authorities(a) == left.authorities(b));
        let rows = |map: &dyn Fn(u32) -> u32| {
            let hubs = 0..number(graph.rows().len());
            let mut rows: Vec<(Vec<u32>, u32)> = hubs
                .map(|hub| {
                    let mut row: Vec<u32> =
                        graph.rows().list(hub).iter().map(|&a| map(a)).collect();
                    row.sort_unstable();
                    (row, left.hubs(hub))
                })
                .collect();
            rows.sort();
            rows
        };
        found |= sizes && rows(&image) == rows(&|class| class);
    });
    found
}

fn matchings(all: &[u32], pairs: &mut Vec<(u32, u32)>, each: &mut impl FnMut(&[(u32, u32)])) {
    each(pairs);
    let taken = |class: u32, pairs: &[(u32, u32)]| {
        pairs.iter().any(|pair| pair.0 == class || pair.1 == class)
    };
    let from = pairs
        .last()
        .map_or(0, |last| if pairs.len() == 1 { 0 } else { last.0 + 1 });
    for &a in all.iter().filter(|&&a| a >= from) {
        for &b in all.iter().filter(|&&b| b > a) {
            if !taken(a, pairs) && !taken(b, pairs) {
                pairs.push((a, b));
                matchings(all, pairs, each);
                pairs.pop();
            }
        }
    }
}

proptest! {
    #[test]
    fn symmetric_classes_are_exchanged_by_an_automorphism(rows in prop::collection::vec((0_u8..64, 1_u32..3), 1..6)) {
        let mut all = Rows::new();
        let mut page = 6;
        for (bits, copies) in rows {
            let targets: Vec<u32> = (0..6).filter(|target| bits >> target & 1 == 1).collect();
            let carriers: Vec<u32> = (page..page + copies).collect();
            page += copies;
            all.push(&carriers, &targets).unwrap();
        }
        let graph = all.graph().unwrap();
        let left = Remaining::all(&graph);
        let classes = number(graph.citers().len());
        for (a, b) in (0..classes).flat_map(|a| (0..classes).map(move |b| (a, b))) {
            if a != b && are_symmetric(&graph, &left, Role::Authority, a, b, &mut 0) {
                prop_assert!(exchanges(&graph, &left, a, b), "{a} {b} {graph:?}");
            }
        }
    }
}

#[test]
fn hubs_with_a_private_page_each_are_symmetric() {
    let mut rows = Rows::new();
    rows.push(&[10], &[0, 1, 2]).unwrap();
    rows.push(&[11], &[0, 1, 3]).unwrap();
    rows.push(&[12], &[0, 1, 4, 5]).unwrap();
    rows.push(&[13], &[4]).unwrap();
    let graph = rows.graph().unwrap();
    let left = Remaining::all(&graph);
    let symmetric = |a, b| {
        let class = |page| graph.hub_class(page).unwrap();
        are_symmetric(&graph, &left, Role::Hub, class(a), class(b), &mut 0)
    };
    assert!(symmetric(10, 11) && symmetric(11, 10));
    assert!(!symmetric(10, 12) && !symmetric(10, 13));
    // One of the private pages has another reader, beyond the pair.
    rows.push(&[14], &[3]).unwrap();
    let graph = rows.graph().unwrap();
    let left = Remaining::all(&graph);
    let class = |page| graph.hub_class(page).unwrap();
    assert!(!are_symmetric(
        &graph,
        &left,
        Role::Hub,
        class(10),
        class(11),
        &mut 0
    ));
}
