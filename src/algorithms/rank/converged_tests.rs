//! Memory of the queue of regions.

use std::collections::BTreeSet;

use crate::graph::Rows;
use crate::watch::Unwatched;

use super::super::vectors::largest;
use super::*;

/// Dense places, each smaller than the one before, all on the links of a few hubs, each with a tail
/// of small places that only it connects with the rest.
fn places(count: u32, tail: u32) -> HubGraph {
    let mut rows = Rows::new();
    let mut page = 0;
    let mut pages = |count: u32| {
        page += count;
        (page - count..page).collect::<Vec<u32>>()
    };
    // A long chain that keeps the rest together, whatever leaves.
    let chain = pages(count + 1);
    let bodies: Vec<Vec<u32>> = (0..count).map(|_| pages(4)).collect();
    for (at, body) in (0_u32..).zip(&bodies) {
        let joint = &chain[at as usize..=at as usize + 1];
        let hubs = pages(40 + 2 * (count - at));
        let small: Vec<Vec<u32>> = (0..tail).map(|_| pages(3)).collect();
        for (&hub, small) in hubs.iter().zip(small.iter().cycle()) {
            let mut row = body.clone();
            row.push(small[0]);
            row.sort_unstable();
            rows.push(&[hub], &row).unwrap();
        }
        for small in &small {
            rows.push(&pages(1), &small[..2]).unwrap();
            rows.push(&pages(1), &small[1..]).unwrap();
        }
        let mut row = joint.to_vec();
        row.push(body[0]);
        rows.push(&pages(1), &row).unwrap();
    }
    rows.graph().unwrap()
}

/// Returns the number of entries of all stored vectors, each vector counted once.
fn stored_entries(ranker: &Converged) -> usize {
    let mut seen = BTreeSet::new();
    let mut of = |principal: &Arc<Principal>| {
        let vectors = [
            &principal.hub_scores,
            &principal.hub_errors,
            &principal.authority_scores,
            &principal.authority_errors,
        ];
        let vectors = vectors.into_iter().chain(principal.ritz_vectors.vectors());
        let is_new = seen.insert(Arc::as_ptr(principal));
        if is_new {
            vectors.map(Vec::len).sum()
        } else {
            0
        }
    };
    let mut numbers = 0;
    for state in ranker.regions.values() {
        numbers += match &state.inherited {
            Some(InheritedVectors::Whole(principal)) => of(principal),
            Some(InheritedVectors::Part(vectors)) => vectors.iter().map(Vec::len).sum(),
            None => 0,
        };
        numbers += state
            .solved
            .as_ref()
            .map_or(0, |(principal, _)| of(principal));
    }
    numbers
}

#[test]
fn waiting_regions_do_not_keep_the_vectors_of_every_step() {
    let graph = places(12, 20);
    let mut left = Remaining::all(&graph);
    let components = WeakComponents::new(&graph, &[]);
    let mut ranker = Converged::new(&graph, &components, BTreeMap::new());
    let classes = graph.rows().len() + graph.citers().len();
    let mut waiting = 0;
    for _ in 0..12 {
        let next = ranker.next(&graph, &left, &Unwatched).unwrap();
        let Some(Next::Solved(principal)) = next else {
            panic!("a dense place is left");
        };
        assert!(
            principal.region.authorities().len() > 20,
            "a small place came first"
        );
        // The dense place: what scores as the best authority does, and the hubs that lead there.
        let best = largest(&principal.authority_scores) * 0.5;
        let dense = (0..).zip(&principal.authority_scores);
        let dense: Vec<u32> = dense.filter(|d| *d.1 > best).map(|d| d.0).collect();
        let citers = dense
            .iter()
            .flat_map(|&v| principal.region.citers().list(v));
        let hubs = citers.map(|&hub| principal.region.hubs()[hub as usize]);
        let mut pages: Vec<u32> = hubs
            .filter_map(|class| left.next_hub_page(&graph, class, None))
            .collect();
        for &v in &dense {
            let class = principal.region.authorities()[v as usize];
            pages.extend_from_slice(graph.authority_members().list(class));
        }
        drop(principal);
        let touched = left.remove(&graph, pages);
        ranker.pages_removed(&graph, &left, &touched);
        waiting = ranker.waiting.len();
        let numbers = stored_entries(&ranker);
        assert!(
            numbers <= 24 * classes,
            "{numbers} numbers for {classes} classes, {waiting} regions wait"
        );
    }
    assert!(waiting > 100, "only {waiting} regions wait");
}
