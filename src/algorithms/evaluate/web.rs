//! The whole graph in the direction that a crawler follows, and breadth-first search on it.

use crate::graph::{Csr, NONE, PageGraph};

/// Pages with their forward links: intra-site links page by page, inter-site links row by row, so
/// that a template shared by thousands of pages is followed once in a search.
///
/// Memory: 4 bytes per intra-site link and per target of a row, 20 bytes per page, 8 per row.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Web {
    intra: Csr,
    row_of: Vec<u32>,
    rows: Csr,
}

impl Web {
    /// Reverses the links of the whole graph, one kind after the other.
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

    /// How many pages there are.
    #[must_use]
    pub fn pages(&self) -> u32 {
        crate::graph::number(self.row_of.len())
    }

    /// Whether a page links to anything.
    #[must_use]
    pub fn has_links(&self, page: u32) -> bool {
        self.row_of[page as usize] != NONE || !self.intra.list(page).is_empty()
    }
}

/// One bit for each of many numbers.
#[derive(Clone, Debug)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    /// Sets a bit; returns whether it was not set before.
    fn set(&mut self, number: u32) -> bool {
        let word = &mut self.0[number as usize / 64];
        let bit = 1 << (number % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }
}

/// A breadth-first search, level by level, which can be started again.
///
/// Memory: one bit per page and per row, and 4 bytes for each page of two levels. Cost of a whole
/// search: each intra-site link of a reached page once, each reached row's targets once.
#[derive(Clone, Debug)]
pub struct Search<'a> {
    web: &'a Web,
    seen: Bits,
    walked: Bits,
    level: Vec<u32>,
    next: Vec<u32>,
}

impl<'a> Search<'a> {
    /// A search that has not started.
    #[must_use]
    pub fn new(web: &'a Web) -> Self {
        Self {
            web,
            seen: Bits::new(web.row_of.len()),
            walked: Bits::new(web.rows.len()),
            level: Vec::new(),
            next: Vec::new(),
        }
    }

    /// Starts at these pages: they are the level at depth 0, each once, ascending.
    pub fn start(&mut self, pages: &[u32]) {
        self.seen.0.fill(0);
        self.walked.0.fill(0);
        self.level.clear();
        for &page in pages {
            if self.seen.set(page) {
                self.level.push(page);
            }
        }
        self.level.sort_unstable();
    }

    /// The pages at the current depth, in an order that follows from the graph alone.
    #[must_use]
    pub fn level(&self) -> &[u32] {
        &self.level
    }

    /// Goes one link deeper; returns whether that level has any page.
    pub fn deepen(&mut self) -> bool {
        let Self {
            web,
            seen,
            walked,
            level,
            next,
        } = self;
        next.clear();
        for &page in &*level {
            let row = web.row_of[page as usize];
            let by_row: &[u32] = if row != NONE && walked.set(row) {
                web.rows.list(row)
            } else {
                &[]
            };
            for &target in web.intra.list(page).iter().chain(by_row) {
                if seen.set(target) {
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

    /// A web made of the links of each page. Pages below `intra` are on one site, each of the
    /// others is on a site of its own.
    pub(in crate::evaluate) fn web(links: &[&[u32]], intra: u32) -> Web {
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
        Web::new(PageGraph::new(intra_in, members, &targets).unwrap())
    }

    /// All levels of a search.
    fn levels(web: &Web, from: &[u32]) -> Vec<Vec<u32>> {
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
    fn levels_are_the_same_whatever_kind_the_links_are() {
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
    fn a_shared_row_is_walked_once_and_leads_everywhere() {
        let links: &[&[u32]] = &[&[2, 3], &[2, 3], &[1], &[]];
        let web = web(links, 0);
        assert_eq!(web.rows.len(), 2);
        assert_eq!(levels(&web, &[0]), [vec![0], vec![2, 3], vec![1]]);
        assert_eq!(levels(&web, &[1, 0]), [vec![0, 1], vec![2, 3]]);
    }
}
