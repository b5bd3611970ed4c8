//! Connected components of the bipartite graph of hub and authority classes that are left.

use crate::graph::{HubGraph, NONE, Remaining};

/// A component: its classes, and a bound of its largest singular value.
#[derive(Clone, Debug)]
pub(super) struct Component {
    /// Hub classes, ascending.
    pub(super) hubs: Vec<u32>,
    /// Authority classes, ascending.
    pub(super) authorities: Vec<u32>,
    /// `sqrt(max_v r_v)` with the row sums `r_v` of `A^T A`.
    pub(super) bound: f64,
}

/// To which component each class belongs.
#[derive(Clone, Debug)]
pub(super) struct Labels {
    pub(super) hubs: Vec<u32>,
    pub(super) authorities: Vec<u32>,
    /// The label of the next component.
    next: u32,
    /// Scratch: links to pages that are left, of one page of each hub class of a component.
    outdegrees: Vec<u64>,
}

impl Labels {
    pub(super) fn none(graph: &HubGraph) -> Self {
        Self {
            hubs: vec![NONE; graph.hub_members().len()],
            authorities: vec![NONE; graph.authority_members().len()],
            next: 0,
            outdegrees: vec![0; graph.hub_members().len()],
        }
    }

    /// Cuts classes, all unlabelled, into components, and labels them. `authorities` has to be
    /// closed: all classes connected to them over what is left are unlabelled too.
    pub(super) fn split(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        authorities: &[u32],
        visits: &mut u64,
    ) -> Vec<(u32, Component)> {
        let mut found = Vec::new();
        for &start in authorities {
            if self.authorities[start as usize] == NONE
                && left.authorities(start) > 0
                && let Some(component) = self.flood(graph, left, start, visits)
            {
                found.push((self.next, component));
                self.next += 1;
            }
        }
        found
    }

    fn flood(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        start: u32,
        visits: &mut u64,
    ) -> Option<Component> {
        let mut authorities = vec![start];
        self.authorities[start as usize] = self.next;
        let mut hubs: Vec<u32> = Vec::new();
        let mut done = 0;
        while let Some(&authority) = authorities.get(done) {
            done += 1;
            let citers = graph.citers().list(authority);
            *visits += citers.len() as u64;
            for &hub in citers {
                if left.hubs(hub) == 0 || self.hubs[hub as usize] != NONE {
                    continue;
                }
                self.hubs[hub as usize] = self.next;
                hubs.push(hub);
                let row = graph.rows().list(hub);
                *visits += row.len() as u64;
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
        if hubs.is_empty() {
            self.authorities[start as usize] = NONE;
            return None;
        }
        hubs.sort_unstable();
        authorities.sort_unstable();
        // A hub class that has pages left and cites one of these is in this component.
        let row_sum = |&authority: &u32| -> u64 {
            let citers = graph.citers().list(authority).iter();
            let links = |&hub: &u32| u64::from(left.hubs(hub)) * self.outdegrees[hub as usize];
            citers.map(links).sum()
        };
        for &authority in &authorities {
            *visits += graph.citers().list(authority).len() as u64;
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
