//! The graph of one site: its crawled pages, their values, and the links between them.

use crate::graph::{Csr, number};
use crate::page::SiteId;
use crate::rank::LinkGraph;

/// An error in the pages or links of a [`SiteGraph`] or a [`WebGraph`](super::global::WebGraph).
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SiteGraphError {
    /// A page number that the graph does not have.
    #[error(
        "expected a page below {pages}, the number of pages of the site, found a link with page {page}"
    )]
    NoSuchPage {
        /// The page number.
        page: u32,
        /// The number of pages of the graph.
        pages: usize,
    },
    /// More pages than 32-bit numbers can count.
    #[error("expected at most {max} pages in a site, found {0}", max = u32::MAX)]
    TooManyPages(usize),
    /// Absolute values whose sum exceeds an `i64` of millionths.
    #[error(
        "the values of the site's pages add up to more than {max} units",
        max = i64::MAX / super::value::UNIT
    )]
    ValuesTooLarge,
}

/// A site's crawled pages, numbered in byte order of their URLs (the smallest URL is 0), with their
/// values in millionths and the intra-site links between them in both directions.
///
/// Immutable once built. Memory: 24 bytes per page and 8 per link.
#[derive(Clone, Debug, Default)]
pub struct SiteGraph {
    values: Vec<i64>,
    successors: Csr,
    predecessors: Csr,
    /// By page; empty if every page is eligible.
    ineligible: Vec<bool>,
    pins: Vec<u32>,
}

impl SiteGraph {
    /// Restricts the pages that can be picked and sets the pins: pages that are seeds before any pick,
    /// in this order. `ineligible` has an entry for each page, or none if every page can be picked. A pin
    /// may be ineligible.
    pub fn with_constraints(
        mut self,
        ineligible: Vec<bool>,
        pins: Vec<u32>,
    ) -> Result<Self, SiteGraphError> {
        let pages = self.values.len();
        let beyond = pins.iter().find(|pin| **pin as usize >= pages).copied();
        if !ineligible.is_empty() && ineligible.len() != pages || beyond.is_some() {
            let page = beyond.unwrap_or(number(ineligible.len()));
            return Err(SiteGraphError::NoSuchPage { page, pages });
        }
        (self.ineligible, self.pins) = (ineligible, pins);
        Ok(self)
    }

    /// Whether a page can be picked.
    #[must_use]
    pub fn may_be_seed(&self, page: u32) -> bool {
        !self.ineligible.get(page as usize).copied().unwrap_or(false)
    }

    /// Whether every page can be picked and there are no pins.
    #[must_use]
    pub const fn is_unconstrained(&self) -> bool {
        self.ineligible.is_empty() && self.pins.is_empty()
    }

    /// The pages that are seeds before any pick, in order.
    #[must_use]
    pub fn pins(&self) -> &[u32] {
        &self.pins
    }

    /// Builds the graph of pages with these values, and of links in any order. Self-links and duplicates
    /// are dropped.
    ///
    /// Cost: sorts a copy of the links.
    pub fn new(
        values: Vec<i64>,
        links: impl IntoIterator<Item = (u32, u32)>,
    ) -> Result<Self, SiteGraphError> {
        let pages = values.len();
        // `u32::MAX` means "no page".
        if u32::try_from(pages).is_err() {
            return Err(SiteGraphError::TooManyPages(pages));
        }
        let total: i128 = values.iter().map(|&v| i128::from(v).abs()).sum();
        if total > i128::from(i64::MAX) {
            return Err(SiteGraphError::ValuesTooLarge);
        }
        let mut arcs = Vec::new();
        for (source, target) in links {
            for page in [source, target] {
                if page as usize >= pages {
                    return Err(SiteGraphError::NoSuchPage { page, pages });
                }
            }
            if source != target {
                arcs.push((source, target));
            }
        }
        arcs.sort_unstable();
        arcs.dedup();
        let mut successors = Csr::with_capacity(pages, arcs.len());
        let mut arcs = arcs.into_iter().peekable();
        for page in 0..number(pages) {
            let of_page = std::iter::from_fn(|| arcs.next_if(|arc| arc.0 == page));
            successors.push(of_page.map(|arc| arc.1));
        }
        Ok(Self {
            values,
            predecessors: successors.transpose(pages),
            successors,
            ineligible: Vec::new(),
            pins: Vec::new(),
        })
    }

    /// Returns the number of crawled pages.
    #[must_use]
    pub fn pages(&self) -> u32 {
        number(self.values.len())
    }

    /// Returns the number of intra-site links.
    #[must_use]
    pub fn links(&self) -> usize {
        self.successors.entries().len()
    }

    /// The value of each page, in millionths.
    #[must_use]
    pub fn values(&self) -> &[i64] {
        &self.values
    }

    /// The pages that a page links to, ascending.
    #[must_use]
    pub fn successors(&self, page: u32) -> &[u32] {
        self.successors.list(page)
    }

    /// The pages that link to a page, ascending.
    #[must_use]
    pub fn predecessors(&self, page: u32) -> &[u32] {
        self.predecessors.list(page)
    }

    /// The pages that each page links to.
    pub(super) const fn successor_lists(&self) -> &Csr {
        &self.successors
    }

    /// The pages that link to each page.
    pub(super) const fn predecessor_lists(&self) -> &Csr {
        &self.predecessors
    }

    /// Returns the number of pages of the site that a page links to.
    #[must_use]
    pub fn out_degree(&self, page: u32) -> u32 {
        number(self.successors(page).len())
    }

    /// The sum of the values of all pages, in millionths.
    #[must_use]
    pub fn value(&self) -> i64 {
        self.values.iter().sum()
    }
}

impl LinkGraph for SiteGraph {
    fn pages(&self) -> u32 {
        self.pages()
    }

    fn out_degree(&self, page: u32) -> u32 {
        self.out_degree(page)
    }

    fn sources(&self, page: u32) -> &[u32] {
        self.predecessors(page)
    }
}

/// A site, as input of a selection.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The site's id, passed through to the results.
    pub id: SiteId,
    /// The site's name: the host, or the registrable domain.
    pub name: &'a str,
    /// The site's crawled pages.
    pub graph: &'a SiteGraph,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::pagerank;
    use crate::watch::Unwatched;

    #[test]
    fn links_are_distinct_ascending_and_mirrored() {
        let links = [(2, 0), (0, 1), (0, 2), (0, 1), (1, 1), (2, 1)];
        let graph = SiteGraph::new(vec![1, -2, 3], links).unwrap();
        assert_eq!((graph.pages(), graph.links(), graph.value()), (3, 4, 2));
        assert_eq!(graph.successors(0), [1, 2]);
        assert!(graph.successors(1).is_empty());
        assert_eq!(graph.predecessors(1), [0, 2]);
        assert_eq!(graph.out_degree(2), 2);
    }

    #[test]
    fn bad_pages_and_values_are_refused() {
        let error = SiteGraph::new(vec![1], [(0, 1)]).unwrap_err();
        assert_eq!(error, SiteGraphError::NoSuchPage { page: 1, pages: 1 });
        let error = SiteGraph::new(vec![i64::MAX, -1], []).unwrap_err();
        assert_eq!(error, SiteGraphError::ValuesTooLarge);
        assert_eq!(SiteGraph::new(vec![], []).unwrap().pages(), 0);
    }

    fn pageranks(pages: usize, links: &[(u32, u32)]) -> Vec<f64> {
        let graph = SiteGraph::new(vec![1; pages], links.iter().copied()).unwrap();
        pagerank(&graph, &Unwatched).unwrap().0
    }

    fn close(found: &[f64], wanted: &[f64]) {
        for (a, b) in found.iter().zip(wanted) {
            assert!((a - b).abs() < 1e-12, "{found:?} is not {wanted:?}");
        }
    }

    #[test]
    fn a_ring_and_a_site_without_links_are_uniform() {
        close(&pageranks(3, &[(0, 1), (1, 2), (2, 0)]), &[1.0 / 3.0; 3]);
        close(&pageranks(4, &[]), &[0.25; 4]);
    }

    #[test]
    fn a_star_with_a_dangling_centre() {
        // Leaves l, centre c, n = 4: l = (0.15 + 0.85 c) / 4, c = l + 0.85 * 3 l, 3 l + c = 1.
        let leaf = 1.0 / 6.55;
        let centre = 3.55 * leaf;
        close(
            &pageranks(4, &[(1, 0), (2, 0), (3, 0)]),
            &[centre, leaf, leaf, leaf],
        );
    }
}
