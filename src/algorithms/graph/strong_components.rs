//! Strongly connected components of some of the pages of a graph.

use super::csr::Csr;
use super::dense_index::{NONE, number};

/// The strongly connected components, sinks first: a link between two components leads from the higher
/// number to the lower.
///
/// Memory: 8 bytes per page and 8 per component; up to 28 more per page while they are being found.
#[derive(Clone, Debug)]
pub struct StrongComponents {
    /// The component of each page, [`NONE`] for pages that are left out.
    pub component_of: Vec<u32>,
    /// The start of each component in `pages`, and the end of the last one.
    starts: Vec<usize>,
    /// The pages by component.
    pages: Vec<u32>,
}

impl StrongComponents {
    /// Finds the components of the `alive` pages by Tarjan's algorithm (SIAM J. Comput. 1, 1972) with an
    /// explicit stack, given the pages that each page links to. Cost: every page and link once.
    #[must_use]
    pub fn new(successors: &Csr, alive: &[bool]) -> Self {
        let pages = alive.len();
        let mut found = Self {
            component_of: vec![NONE; pages],
            starts: vec![0],
            pages: Vec::with_capacity(pages),
        };
        // Discovery numbers, and Tarjan's low links; 0 means undiscovered.
        let mut order = vec![0_u32; pages];
        let mut low = vec![0_u32; pages];
        let mut discovered = 0;
        let mut open: Vec<u32> = Vec::new();
        // The pages on the path from the root, each with the index of its next link.
        let mut path: Vec<(u32, usize)> = Vec::new();
        for root in 0..number(pages) {
            if !alive[root as usize] || order[root as usize] != 0 {
                continue;
            }
            path.push((root, 0));
            while let Some(top) = path.last_mut() {
                let (page, at) = *top;
                let own = page as usize;
                if order[own] == 0 {
                    discovered += 1;
                    order[own] = discovered;
                    low[own] = discovered;
                    open.push(page);
                }
                if let Some(&target) = successors.list(page).get(at) {
                    top.1 += 1;
                    let other = target as usize;
                    if !alive[other] {
                        continue;
                    }
                    if order[other] == 0 {
                        path.push((target, 0));
                    } else if found.component_of[other] == NONE {
                        low[own] = low[own].min(order[other]);
                    }
                    continue;
                }
                path.pop();
                if let Some(&(parent, _)) = path.last() {
                    low[parent as usize] = low[parent as usize].min(low[own]);
                }
                if low[own] == order[own] {
                    found.close(page, &mut open);
                }
            }
        }
        found
    }

    /// Pops the component of a page whose low link is its own discovery number.
    fn close(&mut self, root: u32, open: &mut Vec<u32>) {
        let number = u32::try_from(self.count()).unwrap_or(NONE);
        while let Some(page) = open.pop() {
            self.component_of[page as usize] = number;
            self.pages.push(page);
            if page == root {
                break;
            }
        }
        self.starts.push(self.pages.len());
    }

    /// Returns the number of components.
    #[must_use]
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the pages of a component, in no particular order.
    #[must_use]
    pub fn members(&self, component: usize) -> &[u32] {
        &self.pages[self.starts[component]..self.starts[component + 1]]
    }

    /// The sum of a component's values.
    pub(crate) fn weight(&self, component: usize, values: &[i64]) -> i64 {
        let members = self.members(component).iter();
        members.map(|&page| values[page as usize]).sum()
    }

    /// The smallest page of each component.
    pub(crate) fn smallest(&self) -> Vec<u32> {
        let members = (0..self.count()).map(|c| self.members(c));
        members
            .map(|pages| pages.iter().copied().min().unwrap_or(NONE))
            .collect()
    }

    /// Whether each component is a root: no link enters it from another.
    pub(crate) fn roots(&self, successors: &Csr) -> Vec<bool> {
        let mut root = vec![true; self.count()];
        for (page, &from) in (0..).zip(&self.component_of) {
            for &target in successors.list(page) {
                let to = self.component_of[target as usize];
                if from != NONE && to != NONE && from != to {
                    root[to as usize] = false;
                }
            }
        }
        root
    }

    /// An upper bound, for each page, on the positive value of all pages that it can reach: the value of
    /// its component plus the bounds of the components that this one links to, at most `total`. A
    /// component that is reached in several ways may count several times.
    pub(crate) fn reach_bounds(&self, successors: &Csr, values: &[i64], total: i64) -> Vec<i64> {
        let mut bound = vec![0_i64; self.count()];
        let mut counted_by = vec![usize::MAX; self.count()];
        for component in 0..self.count() {
            let mut sum = 0_i64;
            for &page in self.members(component) {
                sum = sum.saturating_add(values[page as usize].max(0));
                for &target in successors.list(page) {
                    let to = self.component_of[target as usize];
                    if to == NONE || to as usize == component {
                        continue;
                    }
                    if counted_by[to as usize] != component {
                        counted_by[to as usize] = component;
                        // Sinks come first, so this bound is final.
                        sum = sum.saturating_add(bound[to as usize]);
                    }
                }
            }
            bound[component] = sum.min(total);
        }
        let components = self.component_of.iter();
        components
            .map(|&c| bound.get(c as usize).copied().unwrap_or(0))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the pages that each of the first `pages` pages links to.
    fn lists(pages: u32, links: &[(u32, u32)]) -> Csr {
        let mut lists = Csr::default();
        for page in 0..pages {
            let own = links.iter().filter(|link| link.0 == page);
            lists.push(own.map(|link| link.1));
        }
        lists
    }

    #[test]
    fn a_ring_is_one_component_and_sinks_come_first() {
        // 0 -> 1 -> 2 -> 0, 2 -> 3 -> 4, 5 alone.
        let links = lists(6, &[(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)]);
        let found = StrongComponents::new(&links, &[true; 6]);
        assert_eq!(found.count(), 4);
        assert_eq!(found.component_of, [2, 2, 2, 1, 0, 3]);
        assert_eq!(found.roots(&links), [false, false, true, true]);
        assert_eq!(found.smallest(), [4, 3, 0, 5]);
        let reach = found.reach_bounds(&links, &[1; 6], 6);
        assert_eq!(reach, [5, 5, 5, 2, 1, 1]);
    }

    proptest! {
        #[test]
        fn two_pages_share_a_component_iff_each_reaches_the_other(
            links in proptest::collection::vec((0_u32..9, 0_u32..9), 0..20),
            alive in proptest::collection::vec(proptest::bool::weighted(0.8), 9),
        ) {
            let links = lists(9, &links);
            let found = StrongComponents::new(&links, &alive);
            let reaches = |from: u32, to: u32| {
                let mut seen = vec![from];
                let mut at = 0;
                while at < seen.len() {
                    for &next in links.list(seen[at]) {
                        if alive[next as usize] && !seen.contains(&next) {
                            seen.push(next);
                        }
                    }
                    at += 1;
                }
                seen.contains(&to)
            };
            for a in 0..9_u32 {
                prop_assert_eq!(found.component_of[a as usize] == NONE, !alive[a as usize]);
                for b in 0..9_u32 {
                    if alive[a as usize] && alive[b as usize] {
                        let same = found.component_of[a as usize] == found.component_of[b as usize];
                        prop_assert_eq!(same, reaches(a, b) && reaches(b, a));
                        prop_assert!(!reaches(a, b) || found.component_of[a as usize] >= found.component_of[b as usize]);
                    }
                }
            }
        }
    }
}
