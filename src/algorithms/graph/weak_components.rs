//! Weakly connected components of the host-pruned graph, each with a fingerprint.
//!
//! A removed page leaves the graph in both roles, so removing a core can only affect pages that are
//! connected with it by links in any direction. Hence the cores of a component, and their order
//! among themselves, do not depend on other components, and remain valid as long as the fingerprint
//! of the component is unchanged. The fingerprint hashes the page ids in URL order. A bank never
//! reuses ids, whereas numbers of pages and classes change when other pages are added or removed.

use super::csr::Csr;
use super::dense_index::{NONE, number};
use super::hub_graph::HubGraph;
use super::union_find::UnionFind;
use crate::page::PageId;

/// Hash of a component: equal if and only if pages, links and URL order are equal.
pub type Fingerprint = [u8; 16];

/// The weakly connected components of a graph, numbered by their smallest authority class.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WeakComponents {
    hubs: Vec<u32>,
    authorities: Vec<u32>,
    fingerprints: Vec<Fingerprint>,
    /// The largest row sum of each component.
    row_sums: Vec<u64>,
    visits: u64,
}

impl WeakComponents {
    /// Finds the components of the graph; `pages` has the id of each page number.
    ///
    /// Cost: one pass over the merged entries and two over the pages with inter-site links;
    /// temporary memory: some 50 bytes per class.
    #[must_use]
    pub fn new(graph: &HubGraph, pages: &[PageId]) -> Self {
        let (hubs, authorities) = (graph.hub_members().len(), graph.authority_members().len());
        let mut sets = UnionFind::new(hubs + authorities);
        let authority = |class: u32| number(hubs) + class;
        let id = |page: u32| pages.get(page as usize).map_or(u64::MAX, |page| page.0);
        let mut rows = Vec::with_capacity(hubs);
        let mut sums = vec![0_u64; authorities];
        let mut visits = 0;
        // Join each hub with its targets; hash its row by the first page of each target class.
        for hub in 0..number(hubs) {
            let row = graph.rows().list(hub);
            visits += row.len() as u64;
            let mut bytes = Vec::with_capacity(8 * row.len());
            let mut links = 0;
            for &target in row {
                sets.union(hub, authority(target));
                let members = graph.authority_members().list(target);
                links += members.len() as u64;
                let first = members.first().map_or(u64::MAX, |page| id(*page));
                bytes.extend_from_slice(&first.to_le_bytes());
            }
            links *= graph.hub_members().list(hub).len() as u64;
            for &target in row {
                sums[target as usize] += links;
            }
            rows.push(digest(blake3::Hasher::new().update(&bytes)));
        }
        // A page in both roles joins its classes.
        for class in 0..number(authorities) {
            for &page in graph.authority_members().list(class) {
                if let Some(hub) = graph.hub_class(page) {
                    sets.union(hub, authority(class));
                }
            }
        }
        let (labels, components) = sets.labels(number(hubs));
        let (of_hubs, of_authorities) = labels.split_at(hubs);
        let mut row_sums = vec![0; components];
        for (&component, &sum) in of_authorities.iter().zip(&sums) {
            let largest: &mut u64 = &mut row_sums[component as usize];
            *largest = sum.max(*largest);
        }
        let by_component = |labels: &[u32]| {
            let mut lists = Csr::with_capacity(labels.len(), labels.len());
            for &label in labels {
                lists.push([label]);
            }
            lists.transpose(components)
        };
        let (hubs_of, authorities_of) = (by_component(of_hubs), by_component(of_authorities));
        let mut text = Vec::new();
        // Classes are numbered by their smallest member, so they are hashed in URL order.
        let fingerprint = |component: u32| {
            let mut hasher = blake3::Hasher::new();
            for &hub in hubs_of.list(component) {
                write_members(&mut text, b'h', graph.hub_members().list(hub), id);
                hasher.update(&text).update(&rows[hub as usize]);
                text.clear();
            }
            for &class in authorities_of.list(component) {
                write_members(&mut text, b'a', graph.authority_members().list(class), id);
                hasher.update(&text);
                text.clear();
            }
            digest(&hasher)
        };
        Self {
            fingerprints: (0..number(components)).map(fingerprint).collect(),
            hubs: of_hubs.to_vec(),
            authorities: of_authorities.to_vec(),
            row_sums,
            visits,
        }
    }

    /// Returns the number of components.
    #[must_use]
    pub fn len(&self) -> usize {
        self.fingerprints.len()
    }

    /// Returns whether the graph has no link.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fingerprints.is_empty()
    }

    /// Returns the fingerprints, by component.
    #[must_use]
    pub fn fingerprints(&self) -> &[Fingerprint] {
        &self.fingerprints
    }

    /// Returns an upper bound on the largest singular value of a component: the square root of its
    /// largest row sum of `A^T A`.
    #[must_use]
    pub fn bound(&self, component: u32) -> f64 {
        let sum = self.row_sums.get(component as usize);
        let rounded = 1.0 + 4.0 * f64::EPSILON;
        sum.map_or(f64::INFINITY, |sum| (*sum as f64).sqrt() * rounded)
    }

    /// Returns the component of an authority class.
    #[must_use]
    pub fn component_of_authority(&self, class: u32) -> u32 {
        self.authorities
            .get(class as usize)
            .copied()
            .unwrap_or(NONE)
    }

    /// Returns the component of a hub class.
    #[must_use]
    pub fn component_of_hub(&self, class: u32) -> u32 {
        self.hubs.get(class as usize).copied().unwrap_or(NONE)
    }

    /// Returns the component of a page of `graph`; `None` if it has no link.
    #[must_use]
    pub fn component_of_page(&self, graph: &HubGraph, page: u32) -> Option<u32> {
        let as_hub = graph
            .hub_class(page)
            .map(|class| self.component_of_hub(class));
        let as_authority = || Some(self.component_of_authority(graph.authority_class(page)?));
        as_hub.or_else(as_authority)
    }

    /// Returns the authority classes of each component, ascending.
    pub(crate) fn authorities_by_component(&self) -> Vec<Vec<u32>> {
        let mut lists = vec![Vec::new(); self.len()];
        for (class, &component) in (0_u32..).zip(&self.authorities) {
            if let Some(list) = lists.get_mut(component as usize) {
                list.push(class);
            }
        }
        lists
    }

    /// Returns the number of entries of rows and citers read by [`WeakComponents::new`].
    #[must_use]
    pub const fn link_visits(&self) -> u64 {
        self.visits
    }
}

fn digest(hasher: &blake3::Hasher) -> Fingerprint {
    let mut fingerprint = Fingerprint::default();
    hasher.finalize_xof().fill(&mut fingerprint);
    fingerprint
}

/// Appends the role and size of a class and the ids of its pages in URL order.
fn write_members(text: &mut Vec<u8>, role: u8, members: &[u32], id: impl Fn(u32) -> u64) {
    text.push(role);
    text.extend_from_slice(&(members.len() as u64).to_le_bytes());
    for &page in members {
        text.extend_from_slice(&id(page).to_le_bytes());
    }
}

#[cfg(test)]
#[path = "weak_components_tests.rs"]
mod tests;
