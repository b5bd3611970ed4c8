//! Connected components of the bipartite graph of the remaining hub and authority classes.

use super::work::Work;
use crate::graph::{HubGraph, NONE, Remaining, Touched};

/// Maximum number of entries read by a search for a small part.
const MAX_SEARCH: usize = 100;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Node {
    Hub(u32),
    Authority(u32),
}

/// A component: its classes, and an upper bound on its largest singular value.
#[derive(Clone, Debug)]
pub(super) struct Component {
    /// Hub classes, ascending; empty if it was not split into components yet.
    pub(super) hubs: Vec<u32>,
    /// Authority classes, ascending.
    pub(super) authorities: Vec<u32>,
    /// `sqrt(max_v r_v)` with the row sums `r_v` of `A^T A`.
    pub(super) bound: f64,
}

/// The component of each class.
#[derive(Clone, Debug)]
pub(super) struct Labels {
    pub(super) hubs: Vec<u32>,
    pub(super) authorities: Vec<u32>,
    /// Label of the next component.
    next: u32,
    /// Scratch: for each hub class of a component the number of links of one page to remaining
    /// pages.
    outdegrees: Vec<u64>,
    /// Scratch: classes reached by unfinished searches; all `false` in between.
    unfinished: [Vec<bool>; 2],
}

impl Labels {
    pub(super) fn none(graph: &HubGraph) -> Self {
        Self {
            hubs: vec![NONE; graph.hub_members().len()],
            authorities: vec![NONE; graph.authority_members().len()],
            next: 0,
            outdegrees: vec![0; graph.hub_members().len()],
            unfinished: [graph.hub_members(), graph.authority_members()]
                .map(|members| vec![false; members.len()]),
        }
    }

    /// Splits unlabelled classes into components and labels them. `authorities` must be closed: all
    /// classes connected with them in the remaining graph are unlabelled too.
    pub(super) fn split(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        authorities: &[u32],
        work: &mut Work,
    ) -> Vec<(u32, Component)> {
        let mut found = Vec::new();
        for &start in authorities {
            if self.authorities[start as usize] == NONE
                && left.authorities(start) > 0
                && let Some(component) = self.flood(graph, left, start, work)
            {
                found.push((self.next, component));
                self.next += 1;
            }
        }
        found
    }

    /// Returns a component of classes that are connected through pages in both roles. It is not
    /// split yet; its label is not assigned to its classes.
    pub(super) fn unsplit(&mut self, authorities: Vec<u32>, bound: f64) -> (u32, Component) {
        self.next += 1;
        let component = Component {
            hubs: Vec::new(),
            authorities,
            bound,
        };
        (self.next - 1, component)
    }

    /// Removes the label from the classes of a component.
    pub(super) fn clear(&mut self, component: &Component) {
        for &hub in &component.hubs {
            self.hubs[hub as usize] = NONE;
        }
        for &authority in &component.authorities {
            self.authorities[authority as usize] = NONE;
        }
    }

    /// Retains only the remaining classes of a component that have this label, and unlabels classes
    /// without remaining pages.
    pub(super) fn retain(&mut self, component: &mut Component, left: &Remaining, label: u32) {
        let has_label = |labels: &mut [u32], class: u32, pages: u32| {
            let assigned = &mut labels[class as usize];
            if *assigned == label && pages == 0 {
                *assigned = NONE;
            }
            *assigned == label
        };
        let (hubs, authorities) = (&mut self.hubs, &mut self.authorities);
        let retained = &mut component.hubs;
        retained.retain(|&hub| has_label(hubs, hub, left.hubs(hub)));
        let retained = &mut component.authorities;
        retained.retain(|&class| has_label(authorities, class, left.authorities(class)));
    }

    /// Finds and labels the small parts that split off a component with this label when these
    /// classes lost pages: those for which a bounded search from a neighbour of a removed class
    /// completes. The rest of the component may still be disconnected.
    ///
    /// Cost: the lists of the removed classes, and at most 100 entries for each neighbour.
    pub(super) fn detach(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        lost: &Touched,
        label: u32,
        work: &mut Work,
    ) -> Vec<(u32, Component)> {
        let mut neighbours = Vec::new();
        for &class in lost
            .authorities
            .iter()
            .filter(|c| left.authorities(**c) == 0)
        {
            if self.authorities[class as usize] == label {
                neighbours.extend(graph.citers().list(class).iter().map(|&hub| Node::Hub(hub)));
            }
        }
        for &class in lost.hubs.iter().filter(|class| left.hubs(**class) == 0) {
            if self.hubs[class as usize] == label {
                let row = graph.rows().list(class).iter();
                neighbours.extend(row.map(|&target| Node::Authority(target)));
            }
        }
        *work += neighbours.len() as u64;
        let mut unfinished = Vec::new();
        let mut found = Vec::new();
        for start in neighbours {
            if !self.has(start, left, label) || *self.is_unfinished(start) {
                continue;
            }
            match self.search(graph, left, start, label, work) {
                Err(seen) => {
                    for &node in &seen {
                        *self.is_unfinished(node) = true;
                    }
                    unfinished.extend(seen);
                }
                Ok(part) => found.extend(self.label_part(graph, left, part, work)),
            }
        }
        for node in unfinished {
            *self.is_unfinished(node) = false;
        }
        found
    }

    fn is_unfinished(&mut self, node: Node) -> &mut bool {
        let [hubs, authorities] = &mut self.unfinished;
        match node {
            Node::Hub(hub) => &mut hubs[hub as usize],
            Node::Authority(authority) => &mut authorities[authority as usize],
        }
    }

    /// Returns whether a class remains and has this label.
    fn has(&self, node: Node, left: &Remaining, label: u32) -> bool {
        match node {
            Node::Hub(hub) => self.hubs[hub as usize] == label && left.hubs(hub) > 0,
            Node::Authority(authority) => {
                self.authorities[authority as usize] == label && left.authorities(authority) > 0
            }
        }
    }

    /// Returns all classes connected with a class; as an error the classes seen, if the limit was
    /// reached or an unfinished search was met.
    fn search(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        start: Node,
        label: u32,
        work: &mut Work,
    ) -> Result<Vec<Node>, Vec<Node>> {
        let mut seen = vec![start];
        let mut read = 0;
        let mut done = 0;
        while let Some(&node) = seen.get(done) {
            done += 1;
            let (list, other): (&[u32], fn(u32) -> Node) = match node {
                Node::Hub(hub) => (graph.rows().list(hub), Node::Authority),
                Node::Authority(authority) => (graph.citers().list(authority), Node::Hub),
            };
            for &class in list {
                if read == MAX_SEARCH {
                    return Err(seen);
                }
                read += 1;
                *work += 1;
                let next = other(class);
                if !self.has(next, left, label) || seen.contains(&next) {
                    continue;
                }
                seen.push(next);
                if *self.is_unfinished(next) {
                    return Err(seen);
                }
            }
        }
        Ok(seen)
    }

    /// Labels a set that is connected with nothing else; `None` if it has no link.
    fn label_part(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        nodes: Vec<Node>,
        work: &mut Work,
    ) -> Option<(u32, Component)> {
        let mut start = None;
        for node in nodes {
            match node {
                Node::Hub(hub) => self.hubs[hub as usize] = NONE,
                Node::Authority(authority) => {
                    self.authorities[authority as usize] = NONE;
                    start = Some(authority);
                }
            }
        }
        let component = self.flood(graph, left, start?, work)?;
        self.next += 1;
        Some((self.next - 1, component))
    }

    fn flood(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        start: u32,
        work: &mut Work,
    ) -> Option<Component> {
        let mut authorities = vec![start];
        self.authorities[start as usize] = self.next;
        let mut hubs: Vec<u32> = Vec::new();
        let mut done = 0;
        while let Some(&authority) = authorities.get(done) {
            done += 1;
            let citers = graph.citers().list(authority);
            *work += citers.len() as u64;
            for &hub in citers {
                if left.hubs(hub) == 0 || self.hubs[hub as usize] != NONE {
                    continue;
                }
                self.hubs[hub as usize] = self.next;
                hubs.push(hub);
                let row = graph.rows().list(hub);
                *work += row.len() as u64;
                let targets = row.iter().map(|&a| u64::from(left.authorities(a)));
                self.outdegrees[hub as usize] = targets.sum();
                for &target in row {
                    if left.authorities(target) > 0 && self.authorities[target as usize] == NONE {
                        self.authorities[target as usize] = self.next;
                        authorities.push(target);
                    }
                }
            }
        }
        // An authority without links is no component.
        if hubs.is_empty() {
            self.authorities[start as usize] = NONE;
            return None;
        }
        hubs.sort_unstable();
        authorities.sort_unstable();
        // Remaining hub classes that cite one of these are in this component.
        let row_sum = |&authority: &u32| -> u64 {
            let citers = graph.citers().list(authority).iter();
            let links = |&hub: &u32| u64::from(left.hubs(hub)) * self.outdegrees[hub as usize];
            citers.map(links).sum()
        };
        for &authority in &authorities {
            *work += graph.citers().list(authority).len() as u64;
        }
        let largest = authorities.iter().map(row_sum).max().unwrap_or(0);
        hubs.shrink_to_fit();
        authorities.shrink_to_fit();
        Some(Component {
            bound: (largest as f64).sqrt() * (1.0 + 4.0 * f64::EPSILON),
            hubs,
            authorities,
        })
    }
}

#[cfg(test)]
#[path = "components_tests.rs"]
mod tests;
