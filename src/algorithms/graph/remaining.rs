//! The remaining graph while cores are removed from it.

use roaring::RoaringBitmap;

use super::csr::Csr;
use super::dense_index::number;
use super::hub_graph::HubGraph;
use super::role::Role;

/// The remaining pages, counted by class. Classes never split: they only lose members.
#[derive(Clone, Debug)]
pub struct Remaining {
    removed: RoaringBitmap,
    hubs: Side,
    authorities: Side,
}

#[derive(Clone, Debug)]
struct Side {
    /// Number of remaining members of each class.
    counts: Vec<u32>,
    /// Position of the first remaining member in each class, so that large template classes are not
    /// rescanned from their beginning.
    firsts: Vec<u32>,
}

impl Side {
    fn new(members: &Csr) -> Self {
        let classes = 0..number(members.len());
        Self {
            counts: classes.map(|c| number(members.list(c).len())).collect(),
            firsts: vec![0; members.len()],
        }
    }

    fn remove_one(&mut self, class: u32, members: &[u32], removed: &RoaringBitmap) {
        let class = class as usize;
        self.counts[class] -= 1;
        let first = &mut self.firsts[class];
        while members
            .get(*first as usize)
            .is_some_and(|&page| removed.contains(page))
        {
            *first += 1;
        }
    }
}

/// Classes that lost members, ascending and distinct.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Touched {
    /// Hub classes.
    pub hubs: Vec<u32>,
    /// Authority classes.
    pub authorities: Vec<u32>,
}

impl Remaining {
    /// Returns the whole graph.
    #[must_use]
    pub fn all(graph: &HubGraph) -> Self {
        Self {
            removed: RoaringBitmap::new(),
            hubs: Side::new(graph.hub_members()),
            authorities: Side::new(graph.authority_members()),
        }
    }

    /// Returns the number of remaining pages of a class.
    pub(crate) fn pages(&self, role: Role, class: u32) -> u32 {
        match role {
            Role::Hub => self.hubs(class),
            Role::Authority => self.authorities(class),
        }
    }

    /// Sets the number of remaining pages of a class whose members are not known.
    pub(super) fn set_pages(&mut self, role: Role, class: u32, pages: u32) {
        let side = match role {
            Role::Hub => &mut self.hubs,
            Role::Authority => &mut self.authorities,
        };
        side.counts[class as usize] = pages;
    }

    /// Returns the number of remaining pages of a hub class.
    #[must_use]
    pub fn hubs(&self, class: u32) -> u32 {
        self.hubs.counts[class as usize]
    }

    /// Returns the number of remaining pages of an authority class.
    #[must_use]
    pub fn authorities(&self, class: u32) -> u32 {
        self.authorities.counts[class as usize]
    }

    /// Returns the first remaining page of a hub class, after `after` if that is given.
    #[must_use]
    pub fn next_hub_page(&self, graph: &HubGraph, class: u32, after: Option<u32>) -> Option<u32> {
        self.next_page(&self.hubs, graph.hub_members(), class, after)
    }

    /// Returns the first remaining page of an authority class, after `after` if that is given.
    #[must_use]
    pub fn next_authority_page(
        &self,
        graph: &HubGraph,
        class: u32,
        after: Option<u32>,
    ) -> Option<u32> {
        self.next_page(&self.authorities, graph.authority_members(), class, after)
    }

    fn next_page(&self, side: &Side, members: &Csr, class: u32, after: Option<u32>) -> Option<u32> {
        let pages = &members.list(class)[side.firsts[class as usize] as usize..];
        let from = after.map_or(0, |page| pages.partition_point(|&other| other <= page));
        let mut pages = pages[from..].iter().copied();
        pages.find(|&page| !self.removed.contains(page))
    }

    /// Returns the pages removed so far.
    #[must_use]
    pub const fn removed(&self) -> &RoaringBitmap {
        &self.removed
    }

    /// Removes pages, in both roles, and returns the classes that lost members. Repeated pages and
    /// pages removed before have no effect.
    pub fn remove(&mut self, graph: &HubGraph, pages: impl IntoIterator<Item = u32>) -> Touched {
        let mut touched = Touched::default();
        for page in pages {
            if !self.removed.insert(page) {
                continue;
            }
            if let Some(class) = graph.hub_class(page) {
                let members = graph.hub_members().list(class);
                self.hubs.remove_one(class, members, &self.removed);
                touched.hubs.push(class);
            }
            if let Some(class) = graph.authority_class(page) {
                let members = graph.authority_members().list(class);
                self.authorities.remove_one(class, members, &self.removed);
                touched.authorities.push(class);
            }
        }
        for classes in [&mut touched.hubs, &mut touched.authorities] {
            classes.sort_unstable();
            classes.dedup();
        }
        touched
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Rows;

    #[test]
    fn a_page_leaves_in_both_roles_and_only_once() {
        let mut rows = Rows::new();
        rows.push(&[0, 1, 2], &[3, 4]).unwrap();
        rows.push(&[3], &[0]).unwrap();
        let graph = rows.graph().unwrap();
        let mut remaining = Remaining::all(&graph);
        let touched = remaining.remove(&graph, [0, 3, 0]);
        assert_eq!(
            (touched.hubs, touched.authorities),
            (vec![0, 1], vec![0, 1])
        );
        assert_eq!((remaining.hubs(0), remaining.hubs(1)), (2, 0));
        assert_eq!((remaining.authorities(0), remaining.authorities(1)), (0, 1));
        let next = |after| remaining.next_hub_page(&graph, 0, after);
        assert_eq!(
            [next(None), next(Some(1)), next(Some(2))],
            [Some(1), Some(2), None]
        );
        assert_eq!(remaining.next_authority_page(&graph, 1, None), Some(4));
        assert_eq!(remaining.remove(&graph, [3, 77]), Touched::default());
    }
}
