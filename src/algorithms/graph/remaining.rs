//! What is left of the graph while cores are taken out of it.

use roaring::RoaringBitmap;

use super::csr::Csr;
use super::dense_index::number;
use super::hub_graph::HubGraph;

/// The pages that are left, counted by class. Classes never split: a class only loses members.
#[derive(Clone, Debug)]
pub struct Remaining {
    gone: RoaringBitmap,
    hubs: Side,
    authorities: Side,
}

#[derive(Clone, Debug)]
struct Side {
    /// How many members are left in each class.
    counts: Vec<u32>,
    /// The position in each class of the first member that is left, so that a large template class
    /// is not walked from its beginning every time.
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

    fn lose(&mut self, class: u32, members: &[u32], gone: &RoaringBitmap) {
        let class = class as usize;
        self.counts[class] -= 1;
        let first = &mut self.firsts[class];
        while members
            .get(*first as usize)
            .is_some_and(|&page| gone.contains(page))
        {
            *first += 1;
        }
    }
}

/// The classes that lost members, ascending and without repetition.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Touched {
    /// Hub classes.
    pub hubs: Vec<u32>,
    /// Authority classes.
    pub authorities: Vec<u32>,
}

impl Remaining {
    /// All of the graph.
    #[must_use]
    pub fn all(graph: &HubGraph) -> Self {
        Self {
            gone: RoaringBitmap::new(),
            hubs: Side::new(graph.hub_members()),
            authorities: Side::new(graph.authority_members()),
        }
    }

    /// How many pages of a hub class are left.
    #[must_use]
    pub fn hubs(&self, class: u32) -> u32 {
        self.hubs.counts[class as usize]
    }

    /// How many pages of an authority class are left.
    #[must_use]
    pub fn authorities(&self, class: u32) -> u32 {
        self.authorities.counts[class as usize]
    }

    /// The first page of a hub class that is left; where a page is given, the first one after it.
    #[must_use]
    pub fn next_hub_page(&self, graph: &HubGraph, class: u32, after: Option<u32>) -> Option<u32> {
        let first = self.hubs.firsts[class as usize] as usize;
        let pages = &graph.hub_members().list(class)[first..];
        self.left(behind(pages, after)).next()
    }

    /// The first page of an authority class that is left; where a page is given, the first one
    /// after it.
    #[must_use]
    pub fn next_authority_page(
        &self,
        graph: &HubGraph,
        class: u32,
        after: Option<u32>,
    ) -> Option<u32> {
        let first = self.authorities.firsts[class as usize] as usize;
        let pages = &graph.authority_members().list(class)[first..];
        self.left(behind(pages, after)).next()
    }

    fn left<'a>(&'a self, pages: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
        let pages = pages.iter().copied();
        pages.filter(|&page| !self.gone.contains(page))
    }

    /// The pages removed so far.
    #[must_use]
    pub const fn removed(&self) -> &RoaringBitmap {
        &self.gone
    }

    /// Takes pages out, in both roles, and returns the classes that lost members. A page that is
    /// named twice, or gone already, counts once.
    pub fn remove(&mut self, graph: &HubGraph, pages: impl IntoIterator<Item = u32>) -> Touched {
        let mut touched = Touched::default();
        for page in pages {
            if !self.gone.insert(page) {
                continue;
            }
            if let Some(class) = graph.hub_class(page) {
                let members = graph.hub_members().list(class);
                self.hubs.lose(class, members, &self.gone);
                touched.hubs.push(class);
            }
            if let Some(class) = graph.authority_class(page) {
                let members = graph.authority_members().list(class);
                self.authorities.lose(class, members, &self.gone);
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

/// The pages after a given one, or all; `pages` are ascending.
fn behind(pages: &[u32], after: Option<u32>) -> &[u32] {
    let from = after.map_or(0, |page| pages.partition_point(|&other| other <= page));
    &pages[from..]
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
        let mut left = Remaining::all(&graph);
        let touched = left.remove(&graph, [0, 3, 0]);
        assert_eq!(
            (touched.hubs, touched.authorities),
            (vec![0, 1], vec![0, 1])
        );
        assert_eq!((left.hubs(0), left.hubs(1)), (2, 0));
        assert_eq!((left.authorities(0), left.authorities(1)), (0, 1));
        let next = |after| left.next_hub_page(&graph, 0, after);
        assert_eq!(
            [next(None), next(Some(1)), next(Some(2))],
            [Some(1), Some(2), None]
        );
        assert_eq!(left.next_authority_page(&graph, 1, None), Some(4));
        assert_eq!(left.remove(&graph, [3, 77]), Touched::default());
    }
}
