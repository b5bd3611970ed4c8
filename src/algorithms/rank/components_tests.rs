use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::graph::{Rows, number};

/// The classes of each component, hubs and authorities.
fn parts(found: &[(u32, Component)]) -> BTreeSet<(Vec<u32>, Vec<u32>)> {
    let parts = found.iter();
    parts
        .map(|(_, part)| (part.hubs.clone(), part.authorities.clone()))
        .collect()
}

proptest! {
    #[test]
    fn small_parts_near_removed_pages_are_found(
        links in prop::collection::vec((0_u32..300, 0_u32..300), 330..700),
        steps in prop::collection::vec(prop::collection::btree_set(0_u32..600, 1..40), 1..4),
    ) {
        let mut rows = Rows::new();
        let mut hub = 0;
        let mut sorted = links;
        sorted.sort_unstable();
        sorted.dedup();
        for row in sorted.chunk_by(|a, b| a.0 == b.0) {
            hub += 1;
            let targets: Vec<u32> = row.iter().map(|link| link.1).collect();
            rows.push(&[299 + hub], &targets).unwrap();
        }
        let graph = rows.graph().unwrap();
        let mut left = Remaining::all(&graph);
        let all: Vec<u32> = (0..number(graph.citers().len())).collect();
        let mut labels = Labels::none(&graph);
        let first = labels.split(&graph, &left, &all, &mut Work::default());
        let (label, mut unfinished) = first
            .into_iter()
            .max_by_key(|(_, part)| part.hubs.len())
            .unwrap();
        prop_assume!(unfinished.hubs.len() > MAX_SEARCH);
        for pages in steps {
            let lost = left.remove(&graph, pages);
            let near = labels.detach(&graph, &left, &lost, label, &mut Work::default());
            labels.retain(&mut unfinished, &left, label);
            let classes: Vec<u32> = unfinished.authorities.iter().copied()
                .chain(near.iter().flat_map(|(_, part)| part.authorities.clone()))
                .collect();
            // Splitting them from scratch gives the same small parts.
            let exact = Labels::none(&graph).split(&graph, &left, &classes, &mut Work::default());
            let exact = parts(&exact);
            let found = parts(&near);
            prop_assert!(found.is_subset(&exact));
            let small = |part: &&(Vec<u32>, Vec<u32>)| {
                let rows = part.0.iter().map(|&hub| graph.rows().list(hub).len());
                let citers = part.1.iter().map(|&class| graph.citers().list(class).len());
                rows.chain(citers).sum::<usize>() <= MAX_SEARCH
            };
            for part in exact.iter().filter(small) {
                prop_assert!(found.contains(part), "{part:?} was not found");
            }
            let mut rest: Vec<(Vec<u32>, Vec<u32>)> = exact.difference(&found).cloned().collect();
            let hubs: BTreeSet<u32> = rest.iter().flat_map(|part| part.0.clone()).collect();
            prop_assert_eq!(&unfinished.hubs, &hubs.into_iter().collect::<Vec<u32>>());
            let mut authorities: Vec<u32> = rest.drain(..).flat_map(|part| part.1).collect();
            authorities.sort_unstable();
            prop_assert_eq!(&unfinished.authorities, &authorities);
        }
    }
}
