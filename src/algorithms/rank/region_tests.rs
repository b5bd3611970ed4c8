//! A region updated while pages are removed equals one that is gathered again.
#![expect(clippy::float_cmp, reason = "whole numbers")]

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::vector_block::{BufferPool, apply_a_and_m};
use super::*;
use crate::graph::Rows;

fn web(links: &BTreeSet<(u32, u32)>) -> HubGraph {
    let links: Vec<(u32, u32)> = links.iter().copied().collect();
    let mut rows = Rows::new();
    for row in links.chunk_by(|a, b| a.0 == b.0) {
        let targets: Vec<u32> = row.iter().map(|link| link.1).collect();
        rows.push(&[100 + row[0].0], &targets).unwrap();
    }
    rows.graph().unwrap()
}

proptest! {
    /// Some classes were removed, others belong to another region.
    #[test]
    fn an_updated_region_equals_a_gathered_one(
        links in prop::collection::btree_set((0_u32..40, 0_u32..30), 1..160),
        steps in prop::collection::vec(prop::collection::btree_set(0_u32..140, 1..12), 1..4),
        elsewhere in prop::collection::btree_set(0_u32..30, 0..4),
    ) {
        let graph = web(&links);
        let mut left = Remaining::all(&graph);
        let hubs: Vec<u32> = (0..number(graph.hub_members().len())).collect();
        let mut position = vec![NONE; graph.authority_members().len()];
        let mut reads = Work::default();
        let mut region = Region::gather(&graph, &left, &hubs, &mut position, &mut reads);
        prop_assert!(region.is_intact() && !region.should_rebuild());
        let is_hub = |class: u32| !elsewhere.contains(&class);
        for pages in steps {
            left.remove(&graph, pages);
            region.restrict(&left, is_hub, |_| true, &mut reads);
            let is_here = |hub: &u32| is_hub(*hub) && left.hubs(*hub) > 0;
            let here: Vec<u32> = hubs.iter().copied().filter(is_here).collect();
            let new = Region::gather(&graph, &left, &here, &mut position, &mut reads);

            // Whole numbers, so that sums are exact in any order.
            let x = |of: &Region| -> Vec<f64> {
                of.authorities().iter().map(|class| f64::from(class % 7 + 1)).collect()
            };
            let (x_updated, x_new) = (x(&region), x(&new));
            let (of_hubs, images) = apply_a_and_m(region.authority_side(), &x_updated, &mut reads);
            let (of_new_hubs, new_images) = apply_a_and_m(new.authority_side(), &x_new, &mut reads);
            let (image, square) = BufferPool::default().multiply(region.authority_side(), &x_updated, &mut reads);
            prop_assert_eq!(&image, &images);
            let pages = region.authority_pages().iter();
            let terms = pages.zip(x_updated.iter().zip(&image));
            let along: f64 = terms.map(|(pages, (x, y))| pages * x * y).sum();
            prop_assert_eq!(square, along);
            let u: Vec<f64> = region.hubs().iter().map(|class| f64::from(class % 5 + 1)).collect();
            let (cited, across) = apply_a_and_m(region.hub_side(), &u, &mut reads);
            prop_assert_eq!(&across, &region.apply_a(&region.apply_at(&u, &mut reads), &mut reads));
            let (image, square) = BufferPool::default().multiply(region.hub_side(), &u, &mut reads);
            prop_assert_eq!(&image, &across);
            let pages = region.authority_pages().iter();
            let along: f64 = pages.zip(&cited).map(|(pages, x)| pages * x * x).sum();
            prop_assert_eq!(square, along);

            let mut live = 0;
            for (at, &class) in new.hubs().iter().enumerate() {
                let at_updated = region.hub_position(class).unwrap() as usize;
                prop_assert_eq!(region.hubs()[at_updated], class);
                prop_assert_eq!(region.hub_pages()[at_updated], new.hub_pages()[at]);
                prop_assert_eq!(of_hubs[at_updated], of_new_hubs[at]);
                live += region.rows().list(number(at_updated)).len();
            }
            for (at, &class) in new.authorities().iter().enumerate() {
                let at_updated = region.authority_position(class).unwrap() as usize;
                prop_assert_eq!(region.authority_pages()[at_updated], new.authority_pages()[at]);
                prop_assert_eq!(region.citing_pages()[at_updated], new.citing_pages()[at]);
                prop_assert_eq!(images[at_updated], new_images[at]);
            }
            // Hubs without remaining targets are still read, removed ones are not.
            let idle = region.hubs().iter().zip(region.hub_pages());
            let idle = idle.filter(|(class, pages)| {
                **pages > 0.0 && new.hub_position(**class).is_none()
            });
            let rows = idle.map(|(class, _)| graph.rows().list(*class).len());
            prop_assert_eq!(region.authority_side().live_entries, live + rows.sum::<usize>());
            let read = (0..).zip(region.authority_pages()).filter(|(_, pages)| **pages > 0.0);
            let read = read.map(|(at, _)| region.citers().list(at).len());
            prop_assert_eq!(region.hub_side().live_entries, read.sum::<usize>());
            let any_removed = region.hubs().iter().any(|class| left.hubs(*class) == 0 || !is_hub(*class))
                || region.authorities().iter().any(|class| left.authorities(*class) == 0);
            prop_assert_eq!(region.is_intact(), !any_removed);
        }
    }
}

#[test]
fn short_rows_come_first_and_classes_are_found() {
    let links = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 1), (2, 4)];
    let graph = web(&links.into_iter().collect());
    let left = Remaining::all(&graph);
    let mut position = vec![NONE; graph.authority_members().len()];
    let mut reads = Work::default();
    let region = Region::gather(&graph, &left, &[0, 1, 2], &mut position, &mut reads);
    assert_eq!(region.hubs(), [1, 0, 2]);
    let lengths = [0, 1, 2].map(|hub| region.rows().list(hub).len());
    assert_eq!(lengths, [1, 2, 2]);
    assert_eq!(
        [0, 1, 2, 3].map(|class| region.hub_position(class)),
        [Some(1), Some(0), Some(2), None]
    );
    let lengths: Vec<usize> = (0..number(region.authorities().len()))
        .map(|at| region.citers().list(at).len())
        .collect();
    assert!(lengths.is_sorted(), "{lengths:?}");
    for page in [1, 2, 3, 4] {
        let class = graph.authority_class(page).unwrap();
        let at = region.authority_position(class).unwrap() as usize;
        assert_eq!(region.authorities()[at], class);
    }
    assert_eq!(region.authority_position(77), None);
}
