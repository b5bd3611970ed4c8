//! The whole graph in crawl direction, and breadth-first search on it.

use crate::graph::{Csr, NONE, PageGraph};

/// The forward links of all pages: intra-site links by page, inter-site links by row, so that a search
/// follows a template shared by thousands of pages only once.
///
/// Memory: 4 bytes per intra-site link and per target of a row, 20 bytes per page, 8 per row.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ForwardGraph {
    intra: Csr,
    row_of: Vec<u32>,
    rows: Csr,
}

impl ForwardGraph {
    /// Reverses the links of the whole graph.
    #[must_use]
    pub fn new(graph: PageGraph) -> Self {
        let pages = graph.pages() as usize;
        let PageGraph {
            intra_in,
            members,
            citers,
            ..
        } = graph;
        let intra = intra_in.transpose(pages);
        drop(intra_in);
        let mut row_of = vec![NONE; pages];
        for row in 0..crate::graph::number(members.len()) {
            for &page in members.list(row) {
                row_of[page as usize] = row;
            }
        }
        Self {
            intra,
            row_of,
            rows: citers.transpose(members.len()),
        }
    }

    /// Returns the number of pages.
    #[must_use]
    pub fn pages(&self) -> u32 {
        crate::graph::number(self.row_of.len())
    }

    /// Returns the pages of its own site that each page links to.
    #[must_use]
    pub const fn intra(&self) -> &Csr {
        &self.intra
    }

    /// Whether a page has links.
    #[must_use]
    pub fn has_links(&self, page: u32) -> bool {
        self.row_of[page as usize] != NONE || !self.intra.list(page).is_empty()
    }
}

/// A set of numbers as a bitmap.
#[derive(Clone, Debug)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    /// Inserts a number; returns whether it is new.
    fn insert(&mut self, number: u32) -> bool {
        let word = &mut self.0[number as usize / 64];
        let bit = 1 << (number % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }
}

/// A breadth-first search, level by level, that can be restarted.
///
/// Memory: one bit per page and per row, and 4 bytes for each page of two levels. Cost of a complete search:
/// the intra-site links of each reached page once, and the targets of each reached row once.
#[derive(Clone, Debug)]
pub struct Search<'a> {
    web: &'a ForwardGraph,
    seen: Bits,
    followed: Bits,
    level: Vec<u32>,
    next: Vec<u32>,
}

impl<'a> Search<'a> {
    /// Creates a search that has not started.
    #[must_use]
    pub fn new(web: &'a ForwardGraph) -> Self {
        Self {
            web,
            seen: Bits::new(web.row_of.len()),
            followed: Bits::new(web.rows.len()),
            level: Vec::new(),
            next: Vec::new(),
        }
    }

    /// Starts at these pages, which become the level at depth 0, distinct and ascending.
    pub fn start(&mut self, pages: &[u32]) {
        self.seen.0.fill(0);
        self.followed.0.fill(0);
        self.level.clear();
        for &page in pages {
            if self.seen.insert(page) {
                self.level.push(page);
            }
        }
        self.level.sort_unstable();
    }

    /// The pages at the current depth, in an order that depends on the graph alone.
    #[must_use]
    pub fn level(&self) -> &[u32] {
        &self.level
    }

    /// Advances to the next depth; returns whether it has pages.
    pub fn deepen(&mut self) -> bool {
        let Self {
            web,
            seen,
            followed,
            level,
            next,
        } = self;
        next.clear();
        for &page in &*level {
            let row = web.row_of[page as usize];
            let by_row: &[u32] = if row != NONE && followed.insert(row) {
                web.rows.list(row)
            } else {
                &[]
            };
            for &target in web.intra.list(page).iter().chain(by_row) {
                if seen.insert(target) {
                    next.push(target);
                }
            }
        }
        std::mem::swap(level, next);
        !self.level.is_empty()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Builds a graph from the links of each page. Pages below `intra` are on one site, each other page is on
    /// its own site.
    pub(in crate::evaluate) fn web(links: &[&[u32]], intra: u32) -> ForwardGraph {
        let same = |a: u32, b: u32| a < intra && b < intra;
        let mut intra_in = Csr::default();
        for (page, _) in (0_u32..).zip(links) {
            let sources = (0_u32..)
                .zip(links)
                .filter(|(from, to)| to.contains(&page) && same(*from, page));
            intra_in.push(sources.map(|(from, _)| from));
        }
        // Pages with equal targets share a row, as in the store.
        let mut by_targets: Vec<(Vec<u32>, Vec<u32>)> = Vec::new();
        for (page, targets) in (0..).zip(links) {
            let to: Vec<u32> = targets
                .iter()
                .copied()
                .filter(|to| !same(page, *to))
                .collect();
            match by_targets.iter_mut().find(|row| row.1 == to) {
                _ if to.is_empty() => {}
                Some(row) => row.0.push(page),
                None => by_targets.push((vec![page], to)),
            }
        }
        let (mut members, mut targets) = (Csr::default(), Csr::default());
        for (pages, to) in by_targets {
            members.push(pages);
            targets.push(to);
        }
        ForwardGraph::new(PageGraph::new(intra_in, members, &targets).unwrap())
    }

    /// All levels of a search.
    fn levels(web: &ForwardGraph, from: &[u32]) -> Vec<Vec<u32>> {
        let mut search = Search::new(web);
        search.start(&[0]);
        search.deepen();
        search.start(from);
        let mut levels = vec![search.level().to_vec()];
        while search.deepen() {
            let mut level = search.level().to_vec();
            level.sort_unstable();
            levels.push(level);
        }
        levels
    }

    #[test]
    fn levels_do_not_depend_on_the_kind_of_links() {
        let links: &[&[u32]] = &[&[1, 2], &[3], &[3], &[0, 4], &[], &[0]];
        for intra in [0, 3, 6] {
            let web = web(links, intra);
            assert_eq!(levels(&web, &[0]), [vec![0], vec![1, 2], vec![3], vec![4]]);
            assert_eq!(
                levels(&web, &[5, 1, 5]),
                [vec![1, 5], vec![0, 3], vec![2, 4]]
            );
            assert_eq!(levels(&web, &[4]), [vec![4]]);
            assert_eq!(levels(&web, &[]), [vec![]; 1] as [Vec<u32>; 1]);
            assert!(web.has_links(5) && !web.has_links(4));
            assert_eq!(web.pages(), 6);
        }
    }

    #[test]
    fn a_shared_row_is_followed_once_and_reaches_all_targets() {
        let links: &[&[u32]] = &[&[2, 3], &[2, 3], &[1], &[]];
        let web = web(links, 0);
        assert_eq!(web.rows.len(), 2);
        assert_eq!(levels(&web, &[0]), [vec![0], vec![2, 3], vec![1]]);
        assert_eq!(levels(&web, &[1, 0]), [vec![0, 1], vec![2, 3]]);
    }
}
