//! Where the next pick by weight is looked for: anywhere, or in one component.

use std::cmp::Reverse;

use super::components::{Components, NONE};
use super::graph::SiteGraph;
use super::params::Method;
use super::reach::Direction;
use super::residual::Residual;

/// Where the next pick is looked for.
pub(super) struct CandidateScope {
    method: Method,
    components: Option<Kept>,
    pub(super) visits: u64,
}

/// The components, with what changes from pick to pick.
struct Kept {
    components: Components,
    smallest: Vec<u32>,
    weight: Vec<i64>,
    unpicked: Vec<usize>,
    /// Whether each component is a root; empty where the method does not ask for it.
    root: Vec<bool>,
}

impl Kept {
    fn new(graph: &SiteGraph, residual: &Residual, unpicked: &[bool], roots: bool) -> Self {
        let components = Components::new(graph, &residual.alive);
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
            root: if roots {
                components.roots(graph)
            } else {
                Vec::new()
            },
            components,
        }
    }

    /// The heaviest of these components; ties go to the one with the smallest URL.
    fn heaviest(&self, among: impl Fn(usize) -> bool) -> Option<usize> {
        let all = (0..self.components.count()).filter(|&c| among(c));
        all.max_by_key(|&c| (self.weight[c], Reverse(self.smallest[c])))
    }

    /// Which components can be reached over links from these pages, and the page visits.
    fn reach(&self, graph: &SiteGraph, direction: Direction, from: Vec<u32>) -> (Vec<bool>, u64) {
        let mut reached = vec![false; self.components.count()];
        let mut seen = vec![false; graph.pages() as usize];
        for &page in &from {
            seen[page as usize] = true;
        }
        let mut open = from;
        let mut visits = 0;
        while let Some(page) = open.pop() {
            reached[self.components.of[page as usize] as usize] = true;
            let next = direction.next(graph, page);
            visits += 1 + next.len() as u64;
            for &page in next {
                if !std::mem::replace(&mut seen[page as usize], true) {
                    open.push(page);
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
        let mut places = Self {
            method,
            components: None,
            visits: 0,
        };
        places.removed(graph, residual, unpicked);
        places
    }

    /// Recomputes the components of what remains, for methods that use them.
    pub(super) fn removed(&mut self, graph: &SiteGraph, residual: &Residual, unpicked: &[bool]) {
        if matches!(self.method, Method::MaxScc | Method::RootScc) {
            let roots = self.method == Method::RootScc;
            self.components = Some(Kept::new(graph, residual, unpicked, roots));
            let pass = u64::from(graph.pages()) + graph.links() as u64;
            self.visits += if roots { 2 * pass } else { pass };
        }
    }

    pub(super) fn zeroed(&mut self, pick: u32, lost: &[(u32, i64)]) {
        if let Some(kept) = &mut self.components {
            let of = &kept.components.of;
            kept.unpicked[of[pick as usize] as usize] -= 1;
            for &(page, value) in lost {
                kept.weight[of[page as usize] as usize] -= value;
            }
        }
    }

    /// The unpicked pages of the component that the next pick comes from; without components, the
    /// unpicked pages of what remains.
    pub(super) fn candidates(
        &mut self,
        graph: &SiteGraph,
        residual: &Residual,
        unpicked: &[bool],
    ) -> Vec<u32> {
        let Some(kept) = &self.components else {
            let pages = 0..graph.pages();
            return pages
                .filter(|&page| unpicked[page as usize] && residual.alive[page as usize])
                .collect();
        };
        let open = |c: usize| kept.unpicked[c] > 0;
        let place = if self.method == Method::MaxScc {
            kept.heaviest(open)
        } else {
            let roots = |c: usize| kept.root[c] && open(c);
            let smallest = kept.smallest.iter();
            let from = smallest
                .zip(0..)
                .filter_map(|(&page, c)| roots(c).then_some(page));
            let (below, visits) = kept.reach(graph, Direction::Forward, from.collect());
            self.visits += visits;
            let Some(first) = kept.heaviest(|c| below[c]) else {
                return Vec::new();
            };
            let from = vec![kept.smallest[first]];
            let (above, visits) = kept.reach(graph, Direction::Backward, from);
            self.visits += visits;
            kept.heaviest(|c| above[c] && roots(c))
        };
        let Some(place) = place else {
            return Vec::new();
        };
        debug_assert_ne!(kept.smallest[place], NONE, "no component is empty");
        let members = kept.components.members(place).iter().copied();
        members.filter(|&page| unpicked[page as usize]).collect()
    }
}
