//! Symmetry of classes: whether an automorphism of the remaining graph exchanges two of them.

use std::collections::BTreeMap;

use super::csr::Csr;
use super::hub_graph::HubGraph;
use super::remaining::Remaining;

/// Maximum number of exchanged pairs.
const MAX_PAIRS: usize = 64;
/// Maximum length of the compared lists.
const MAX_LIST: usize = 20_000;

/// Side of the graph that a class is on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Role {
    /// A hub class.
    Hub,
    /// An authority class.
    Authority,
}

/// Returns whether the scores of two classes are certainly equal to the last bit: both are linked
/// with the same remaining classes, or an exchange of the two, together with some classes linked
/// with them, is an automorphism of the remaining graph. `false` means that no such exchange was
/// found.
///
/// Classes differ in the whole graph, but many become symmetric once pages are removed. The
/// exchange is built from the pair: what only one of them is linked with must be exchanged with
/// something that only the other is linked with, and so on. One order of pairing is tried, and at
/// most 64 pairs. Cost: the lists of the pairs, twice, added to `visits`.
#[must_use]
pub fn are_symmetric(
    graph: &HubGraph,
    remaining: &Remaining,
    role: Role,
    a: u32,
    b: u32,
    visits: &mut u64,
) -> bool {
    let mut exchange = Exchange {
        graph,
        remaining,
        map: BTreeMap::new(),
        visits,
    };
    let (linked_a, linked_b) = (exchange.linked(role, a), exchange.linked(role, b));
    *exchange.visits += (linked_a.len() + linked_b.len()) as u64;
    if linked_a == linked_b {
        return true;
    }
    // Extend the exchange until every difference of its pairs is exchanged too.
    let mut pairs = vec![(role, a, b)];
    if !exchange.pair(role, a, b) {
        return false;
    }
    let mut done = 0;
    while let Some(&(role, a, b)) = pairs.get(done) {
        done += 1;
        let Some(found) = exchange.differences(role, a, b) else {
            return false;
        };
        for (role, a, b) in found {
            if pairs.len() >= MAX_PAIRS || !exchange.pair(role, a, b) {
                return false;
            }
            pairs.push((role, a, b));
        }
    }
    // Later pairs change the images of earlier ones, so all are checked at the end.
    let holds = |&(role, a, b): &(Role, u32, u32)| {
        [(a, b), (b, a)]
            .into_iter()
            .all(|(a, b)| exchange.image(role, a) == exchange.linked(role, b))
    };
    pairs.iter().all(holds)
}

impl Role {
    const fn other(self) -> Self {
        match self {
            Self::Hub => Self::Authority,
            Self::Authority => Self::Hub,
        }
    }
}

struct Exchange<'a> {
    graph: &'a HubGraph,
    remaining: &'a Remaining,
    map: BTreeMap<(Role, u32), u32>,
    visits: &'a mut u64,
}

impl Exchange<'_> {
    fn count(&self, role: Role, class: u32) -> u32 {
        match role {
            Role::Hub => self.remaining.hubs(class),
            Role::Authority => self.remaining.authorities(class),
        }
    }

    /// The links of the classes of one side.
    fn lists(&self, role: Role) -> &Csr {
        match role {
            Role::Hub => self.graph.rows(),
            Role::Authority => self.graph.citers(),
        }
    }

    /// Returns the remaining classes of the other side that are linked with this class, ascending.
    fn linked(&self, role: Role, class: u32) -> Vec<u32> {
        let other = role.other();
        let list = self.lists(role).list(class).iter().copied();
        list.filter(|&class| self.count(other, class) > 0).collect()
    }

    /// Returns the linked classes after the exchange, ascending.
    fn image(&self, role: Role, class: u32) -> Vec<u32> {
        let other = role.other();
        let linked = self.linked(role, class).into_iter();
        let mut image: Vec<u32> = linked
            .map(|class| self.map.get(&(other, class)).copied().unwrap_or(class))
            .collect();
        image.sort_unstable();
        image
    }

    /// Adds a pair to the exchange; returns `false` if the classes differ in size or have other
    /// partners.
    fn pair(&mut self, role: Role, a: u32, b: u32) -> bool {
        if self.count(role, a) != self.count(role, b) {
            return false;
        }
        for (a, b) in [(a, b), (b, a)] {
            let partner = *self.map.entry((role, a)).or_insert(b);
            if partner != b {
                return false;
            }
        }
        true
    }

    /// Returns the pairs that must be exchanged along with this one; `None` if there is no such
    /// pairing.
    fn differences(&mut self, role: Role, a: u32, b: u32) -> Option<Vec<(Role, u32, u32)>> {
        let other = role.other();
        let (image, linked) = (self.image(role, a), self.linked(role, b));
        *self.visits += (image.len() + linked.len()) as u64;
        if image.len() != linked.len() || image.len() > MAX_LIST {
            return None;
        }
        let free = |list: &[u32], without: &[u32]| -> Vec<u32> {
            let list = list.iter().copied();
            let mut free: Vec<u32> = list
                .filter(|class| without.binary_search(class).is_err())
                .collect();
            free.sort_by_key(|&class| {
                let degree = self.lists(other).list(class).len();
                (self.count(other, class), degree, class)
            });
            free
        };
        let (only_a, only_b) = (free(&image, &linked), free(&linked, &image));
        let taken = |class: &u32| self.map.contains_key(&(other, *class));
        if only_a.len() > MAX_PAIRS || only_a.iter().chain(&only_b).any(taken) {
            return None;
        }
        let pairs = only_a.into_iter().zip(only_b);
        Some(pairs.map(|(a, b)| (other, a, b)).collect())
    }
}

#[cfg(test)]
mod tests {
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
}
