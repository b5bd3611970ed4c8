use super::*;
use crate::graph::Rows;
use proptest::prelude::*;

fn components(rows: &[(Vec<u32>, Vec<u32>)], pages: &[PageId]) -> WeakComponents {
    let mut all = Rows::new();
    for (carriers, targets) in rows {
        all.push(carriers, targets).unwrap();
    }
    WeakComponents::new(&all.graph().unwrap(), pages)
}

fn ids(count: u64, from: u64) -> Vec<PageId> {
    (0..count).map(|id| PageId(id * 3 + from)).collect()
}

#[test]
fn fingerprints_do_not_depend_on_other_components() {
    let alone = components(&[(vec![0, 1], vec![2, 3])], &ids(4, 30));
    // The same pages behind ten others, two of which are linked.
    let mut pages = ids(10, 0);
    pages.extend(ids(4, 30));
    let rows = [(vec![4], vec![0, 1]), (vec![10, 11], vec![12, 13])];
    let both = components(&rows, &pages);
    assert_eq!(both.len(), 2);
    assert_eq!(both.fingerprints()[1], alone.fingerprints()[0]);
    assert_ne!(both.fingerprints()[0], alone.fingerprints()[0]);
    assert_eq!(
        (both.component_of_hub(0), both.component_of_authority(1)),
        (0, 1)
    );
}

#[test]
fn the_bound_of_a_component_covers_its_densest_place() {
    // Three pages carry the row of two targets, one links to the second only.
    let rows = [
        (vec![0, 1, 2], vec![4, 5]),
        (vec![3], vec![5]),
        (vec![6], vec![7]),
    ];
    let found = components(&rows, &ids(8, 0));
    let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
    assert!(close(found.bound(0), 7_f64.sqrt()) && close(found.bound(1), 1.0));
    assert!(found.bound(0) >= 7_f64.sqrt() && found.bound(9).is_infinite());
}

#[test]
fn a_page_in_both_roles_joins_its_components() {
    // 0 -> 1 and 2 -> 0: page 0 leaves both places when it leaves one.
    let rows = [(vec![0], vec![1]), (vec![2], vec![0])];
    assert_eq!(components(&rows, &ids(3, 0)).len(), 1);
    let rows = [(vec![0], vec![1]), (vec![2], vec![3])];
    assert_eq!(components(&rows, &ids(4, 0)).len(), 2);
}

proptest! {
    #[test]
    fn only_equal_components_have_equal_fingerprints(
        a in prop::collection::vec(0_u8..32, 1..6),
        b in prop::collection::vec(0_u8..32, 1..6),
    ) {
        let rows = |bits: &[u8]| -> Vec<(Vec<u32>, Vec<u32>)> {
            let rows = (0_u32..).zip(bits).filter(|(_, bits)| **bits != 0);
            rows.map(|(hub, bits)| {
                (vec![hub], (0..5).filter(|t| bits >> t & 1 == 1).map(|t| t + 6).collect())
            }).collect()
        };
        let pages = ids(11, 7);
        let (of_a, of_b) = (components(&rows(&a), &pages), components(&rows(&b), &pages));
        // The links between the pages of each component, as a set: what makes the component.
        let links = |rows: &[(Vec<u32>, Vec<u32>)], found: &WeakComponents| {
            let mut all = Rows::new();
            for (c, t) in rows { all.push(c, t).unwrap(); }
            let graph = all.graph().unwrap();
            let mut sets = vec![std::collections::BTreeSet::new(); found.len()];
            for (carriers, targets) in rows {
                for &target in targets {
                    let component = found.component_of_authority(graph.authority_class(target).unwrap());
                    prop_assert_eq!(component, found.component_of_hub(graph.hub_class(carriers[0]).unwrap()));
                    sets[component as usize].insert((carriers[0], target));
                }
            }
            Ok(sets)
        };
        let (links_a, links_b) = (links(&rows(&a), &of_a)?, links(&rows(&b), &of_b)?);
        for (links_a, of_a) in links_a.iter().zip(of_a.fingerprints()) {
            for (links_b, of_b) in links_b.iter().zip(of_b.fingerprints()) {
                prop_assert_eq!(links_a == links_b, of_a == of_b);
            }
        }
    }
}
