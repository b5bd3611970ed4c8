//! The candidates of the next pick by weight: all unpicked pages, or those of one component.

use std::cmp::Reverse;

use super::graph::SiteGraph;
use super::params::Method;
use super::residual::Residual;
use crate::graph::{Csr, NONE, StrongComponents};

/// The scope of the next pick: one component for max-scc and root-scc, else the whole site.
pub(super) struct CandidateScope {
    method: Method,
    state: Option<ComponentState>,
    pub(super) visits: u64,
}

/// The components, with the counts that picks change.
struct ComponentState {
    components: StrongComponents,
    smallest: Vec<u32>,
    weight: Vec<i64>,
    unpicked: Vec<usize>,
    /// Whether each component is a root; empty for max-scc.
    root: Vec<bool>,
}

impl ComponentState {
    fn new(graph: &SiteGraph, residual: &Residual, unpicked: &[bool], with_roots: bool) -> Self {
        let components = StrongComponents::new(graph.successor_lists(), &residual.alive);
        let all = 0..components.count();
        Self {
            smallest: components.smallest(),
            weight: all
                .clone()
                .map(|c| components.weight(c, &residual.values))
                .collect(),
            unpicked: all
                .map(|c| {
                    let members = components.members(c).iter();
                    members.filter(|&&page| unpicked[page as usize]).count()
                })
                .collect(),
            root: if with_roots {
                components.roots(graph.successor_lists())
            } else {
                Vec::new()
            },
            components,
        }
    }

    /// The heaviest of the components for which `is_eligible` holds; ties by smallest URL.
    fn heaviest(&self, is_eligible: impl Fn(usize) -> bool) -> Option<usize> {
        let eligible = (0..self.components.count()).filter(|&c| is_eligible(c));
        eligible.max_by_key(|&c| (self.weight[c], Reverse(self.smallest[c])))
    }

    /// Whether each component is reachable over `links` from these pages, and the page visits.
    fn reachable(&self, links: &Csr, from: Vec<u32>) -> (Vec<bool>, u64) {
        let mut reached = vec![false; self.components.count()];
        let mut seen = vec![false; links.len()];
        for &page in &from {
            seen[page as usize] = true;
        }
        let mut stack = from;
        let mut visits = 0;
        while let Some(page) = stack.pop() {
            reached[self.components.component_of[page as usize] as usize] = true;
            let targets = links.list(page);
            visits += 1 + targets.len() as u64;
            for &target in targets {
                if !std::mem::replace(&mut seen[target as usize], true) {
                    stack.push(target);
                }
            }
        }
        (reached, visits)
    }
}

impl CandidateScope {
    pub(super) fn new(
        graph: &SiteGraph,
        method: Method,
        residual: &Residual,
        unpicked: &[bool],
    ) -> Self {
        let mut scope = Self {
            method,
            state: None,
            visits: 0,
        };
        scope.rebuild(graph, residual, unpicked);
        scope
    }

    /// Recomputes the components of the remaining pages, if the method uses them. Required after pages
    /// were removed.
    pub(super) fn rebuild(&mut self, graph: &SiteGraph, residual: &Residual, unpicked: &[bool]) {
        if matches!(self.method, Method::MaxScc | Method::RootScc) {
            let with_roots = self.method == Method::RootScc;
            self.state = Some(ComponentState::new(graph, residual, unpicked, with_roots));
            let pass = u64::from(graph.pages()) + graph.links() as u64;
            self.visits += if with_roots { 2 * pass } else { pass };
        }
    }

    /// Accounts for a pick and for the values that its coverage set to zero.
    pub(super) fn record_pick(&mut self, pick: u32, zeroed: &[(u32, i64)]) {
        if let Some(state) = &mut self.state {
            let component_of = &state.components.component_of;
            state.unpicked[component_of[pick as usize] as usize] -= 1;
            for &(page, value) in zeroed {
                state.weight[component_of[page as usize] as usize] -= value;
            }
        }
    }

    /// The remaining unpicked pages of the scope.
    pub(super) fn candidates(
        &mut self,
        graph: &SiteGraph,
        residual: &Residual,
        unpicked: &[bool],
    ) -> Vec<u32> {
        let Some(state) = &self.state else {
            let pages = 0..graph.pages();
            return pages
                .filter(|&page| unpicked[page as usize] && residual.alive[page as usize])
                .collect();
        };
        let is_open = |c: usize| state.unpicked[c] > 0;
        let scope = if self.method == Method::MaxScc {
            state.heaviest(is_open)
        } else {
            // The heaviest component below an open root, then the heaviest open root above it.
            let is_open_root = |c: usize| state.root[c] && is_open(c);
            let smallest = state.smallest.iter();
            let from = smallest
                .zip(0..)
                .filter_map(|(&page, c)| is_open_root(c).then_some(page));
            let (below, visits) = state.reachable(graph.successor_lists(), from.collect());
            self.visits += visits;
            let Some(target) = state.heaviest(|c| below[c]) else {
                return Vec::new();
            };
            let from = vec![state.smallest[target]];
            let (above, visits) = state.reachable(graph.predecessor_lists(), from);
            self.visits += visits;
            state.heaviest(|c| above[c] && is_open_root(c))
        };
        let Some(scope) = scope else {
            return Vec::new();
        };
        assert_ne!(state.smallest[scope], NONE, "no component is empty");
        let members = state.components.members(scope).iter().copied();
        members.filter(|&page| unpicked[page as usize]).collect()
    }
}
