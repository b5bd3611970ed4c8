//! The weakly connected components of the whole graph, each with a fingerprint.
//!
//! A page that leaves the graph leaves it in both roles, so what one core removes can reach every
//! page connected with it by links in any direction, and no other. Hence the cores of one component
//! do not depend on any other: neither which there are, nor their order among themselves, and what
//! was found in a component holds for as long as its fingerprint stays. That is taken over the ids
//! of its pages, which a bank never gives out anew, in URL order: numbers of pages and classes
//! change when pages come or go elsewhere.

use super::{HubGraph, NONE, number};
use crate::page::PageId;

/// What a component is made of: equal for equal pages, links and URL order, and else different.
pub type Fingerprint = [u8; 16];

/// The weakly connected components of a graph, numbered by their smallest authority class.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WeakComponents {
    hubs: Vec<u32>,
    authorities: Vec<u32>,
    fingerprints: Vec<Fingerprint>,
    visits: u64,
}

impl WeakComponents {
    /// The components of the graph; `pages` has the id of each page number.
    ///
    /// Cost: three passes over the merged entries and two over the pages on inter-site links.
    #[must_use]
    pub fn of(graph: &HubGraph, pages: &[PageId]) -> Self {
        let mut found = Self {
            hubs: vec![NONE; graph.hub_members().len()],
            authorities: vec![NONE; graph.authority_members().len()],
            fingerprints: Vec::new(),
            visits: 0,
        };
        let mut places = vec![0; found.authorities.len()];
        for start in 0..number(found.authorities.len()) {
            if found.authorities[start as usize] != NONE {
                continue;
            }
            let (hubs, authorities) = found.flood(graph, start);
            for (place, &class) in (0_u32..).zip(&authorities) {
                places[class as usize] = place;
            }
            let fingerprint = found.fingerprint(graph, pages, &hubs, &authorities, &places);
            found.fingerprints.push(fingerprint);
        }
        found
    }

    /// Labels everything connected to an authority class; gives its hub and authority classes,
    /// ascending.
    fn flood(&mut self, graph: &HubGraph, start: u32) -> (Vec<u32>, Vec<u32>) {
        let component = number(self.fingerprints.len());
        let mut hubs = Vec::new();
        let mut authorities = vec![start];
        self.authorities[start as usize] = component;
        let (mut hubs_done, mut authorities_done) = (0, 0);
        loop {
            if let Some(&authority) = authorities.get(authorities_done) {
                authorities_done += 1;
                let citers = graph.citers().list(authority);
                self.visits += citers.len() as u64;
                let members = graph.authority_members().list(authority);
                let in_both = members.iter().filter_map(|&page| graph.hub_class(page));
                for hub in citers.iter().copied().chain(in_both) {
                    if self.hubs[hub as usize] == NONE {
                        self.hubs[hub as usize] = component;
                        hubs.push(hub);
                    }
                }
            } else if let Some(&hub) = hubs.get(hubs_done) {
                hubs_done += 1;
                let row = graph.rows().list(hub);
                self.visits += row.len() as u64;
                let members = graph.hub_members().list(hub);
                let in_both = members
                    .iter()
                    .filter_map(|&page| graph.authority_class(page));
                for authority in row.iter().copied().chain(in_both) {
                    if self.authorities[authority as usize] == NONE {
                        self.authorities[authority as usize] = component;
                        authorities.push(authority);
                    }
                }
            } else {
                break;
            }
        }
        hubs.sort_unstable();
        authorities.sort_unstable();
        (hubs, authorities)
    }

    /// Classes in order, their pages by id, rows by the places of their targets in the
    /// component: every list after its length, so that no two components are written alike.
    fn fingerprint(
        &mut self,
        graph: &HubGraph,
        pages: &[PageId],
        hubs: &[u32],
        authorities: &[u32],
        places: &[u32],
    ) -> Fingerprint {
        let mut hasher = blake3::Hasher::new();
        let mut bytes = Vec::new();
        let length = |list: &[u32], bytes: &mut Vec<u8>| {
            bytes.extend_from_slice(&(list.len() as u64).to_le_bytes());
        };
        let members = |list: &[u32], bytes: &mut Vec<u8>| {
            length(list, bytes);
            for &page in list {
                let id = pages.get(page as usize).map_or(u64::MAX, |page| page.0);
                bytes.extend_from_slice(&id.to_le_bytes());
            }
        };
        length(hubs, &mut bytes);
        for &hub in hubs {
            members(graph.hub_members().list(hub), &mut bytes);
            let row = graph.rows().list(hub);
            self.visits += row.len() as u64;
            length(row, &mut bytes);
            for &target in row {
                bytes.extend_from_slice(&places[target as usize].to_le_bytes());
            }
            hasher.update(&bytes);
            bytes.clear();
        }
        for &authority in authorities {
            members(graph.authority_members().list(authority), &mut bytes);
            hasher.update(&bytes);
            bytes.clear();
        }
        let mut fingerprint = Fingerprint::default();
        hasher.finalize_xof().fill(&mut fingerprint);
        fingerprint
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.fingerprints.len()
    }

    /// Whether the graph has no link.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fingerprints.is_empty()
    }

    /// The fingerprints, by component.
    #[must_use]
    pub fn fingerprints(&self) -> &[Fingerprint] {
        &self.fingerprints
    }

    /// The component of an authority class.
    #[must_use]
    pub fn of_authority(&self, class: u32) -> u32 {
        self.authorities
            .get(class as usize)
            .copied()
            .unwrap_or(NONE)
    }

    /// The component of a hub class.
    #[must_use]
    pub fn of_hub(&self, class: u32) -> u32 {
        self.hubs.get(class as usize).copied().unwrap_or(NONE)
    }

    /// The component of a page of `graph`, if it is on a link.
    #[must_use]
    pub fn of_page(&self, graph: &HubGraph, page: u32) -> Option<u32> {
        let as_hub = graph.hub_class(page).map(|class| self.of_hub(class));
        let as_authority = || Some(self.of_authority(graph.authority_class(page)?));
        as_hub.or_else(as_authority)
    }

    /// The authority classes of each component, ascending.
    pub(crate) fn authorities_by_component(&self) -> Vec<Vec<u32>> {
        let mut lists = vec![Vec::new(); self.len()];
        for (class, &component) in (0_u32..).zip(&self.authorities) {
            if let Some(list) = lists.get_mut(component as usize) {
                list.push(class);
            }
        }
        lists
    }

    /// Entries of rows and citers read to find them.
    #[must_use]
    pub const fn link_visits(&self) -> u64 {
        self.visits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Rows;
    use proptest::prelude::*;

    fn components(rows: &[(Vec<u32>, Vec<u32>)], pages: &[PageId]) -> WeakComponents {
        let mut all = Rows::new();
        for (carriers, targets) in rows {
            all.push(carriers, targets).unwrap();
        }
        WeakComponents::of(&all.graph().unwrap(), pages)
    }

    fn ids(count: u64, from: u64) -> Vec<PageId> {
        (0..count).map(|id| PageId(id * 3 + from)).collect()
    }

    #[test]
    fn pages_elsewhere_do_not_show() {
        let alone = components(&[(vec![0, 1], vec![2, 3])], &ids(4, 30));
        // The same pages behind ten others, two of which are linked.
        let mut pages = ids(10, 0);
        pages.extend(ids(4, 30));
        let rows = [(vec![4], vec![0, 1]), (vec![10, 11], vec![12, 13])];
        let beside = components(&rows, &pages);
        assert_eq!(beside.len(), 2);
        assert_eq!(beside.fingerprints()[1], alone.fingerprints()[0]);
        assert_ne!(beside.fingerprints()[0], alone.fingerprints()[0]);
        assert_eq!((beside.of_hub(0), beside.of_authority(1)), (0, 1));
    }

    #[test]
    fn a_page_in_both_roles_joins_what_no_link_path_does() {
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
            // What a component is: its links between pages, as a set.
            let links = |rows: &[(Vec<u32>, Vec<u32>)], found: &WeakComponents| {
                let mut all = Rows::new();
                for (c, t) in rows { all.push(c, t).unwrap(); }
                let graph = all.graph().unwrap();
                let mut sets = vec![std::collections::BTreeSet::new(); found.len()];
                for (carriers, targets) in rows {
                    for &target in targets {
                        let component = found.of_authority(graph.authority_class(target).unwrap());
                        prop_assert_eq!(component, found.of_hub(graph.hub_class(carriers[0]).unwrap()));
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
}
