//! Symmetry of classes: whether an automorphism of the remaining graph exchanges two of them.

use std::collections::BTreeMap;

use super::csr::Csr;
use super::hub_graph::HubGraph;
use super::remaining::Remaining;
use super::role::Role;

/// Maximum number of exchanged pairs.
const MAX_PAIRS: usize = 64;
/// Maximum length of the compared lists.
const MAX_LIST: usize = 20_000;

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
#[path = "symmetry_tests.rs"]
mod tests;
