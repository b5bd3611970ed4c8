//! One site as the cover methods see it: its crawled pages, their values, the links between them.

use crate::page::SiteId;
use crate::rank::{LinkGraph, sum_of};

/// Links in compressed rows: the targets of page `p` are `targets[starts[p]..starts[p + 1]]`,
/// ascending and distinct.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arcs {
    starts: Vec<usize>,
    targets: Vec<u32>,
}

impl Arcs {
    /// Rows made of links that are ordered by source; the order among the links of a source is
    /// kept.
    fn new(pages: usize, links: &[(u32, u32)]) -> Self {
        let mut starts = vec![0; pages + 1];
        for &(source, _) in links {
            starts[source as usize + 1] += 1;
        }
        for page in 0..pages {
            starts[page + 1] += starts[page];
        }
        let mut next = starts.clone();
        let mut targets = vec![0; links.len()];
        for &(source, target) in links {
            targets[next[source as usize]] = target;
            next[source as usize] += 1;
        }
        Self { starts, targets }
    }

    /// The other ends of a page's links.
    pub(crate) fn of(&self, page: u32) -> &[u32] {
        let page = page as usize;
        &self.targets[self.starts[page]..self.starts[page + 1]]
    }
}

/// What is wrong with the pages or links that a [`SiteGraph`] was to be built from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SiteGraphError {
    /// A link has a page that is not in the site.
    #[error(
        "expected a page below {pages}, the number of pages of the site, found a link with page {page}"
    )]
    NoSuchPage {
        /// The dense number that was named.
        page: u32,
        /// How many pages the site has.
        pages: usize,
    },
    /// There are more pages than 32-bit numbers can count.
    #[error("expected at most {max} pages in a site, found {0}", max = u32::MAX)]
    TooManyPages(usize),
    /// The absolute values add up to more than an i64 of millionths can hold.
    #[error(
        "the values of the site's pages add up to more than {max} units",
        max = i64::MAX / super::value::UNIT
    )]
    ValuesTooLarge,
}

/// A site's crawled pages, numbered in byte order of their URLs (the smallest URL is 0), with their
/// values in millionths and the intra-site links between them in both directions.
///
/// Built once, then read only. Memory: 24 bytes per page and 8 per link.
#[derive(Clone, Debug, Default)]
pub struct SiteGraph {
    values: Vec<i64>,
    successors: Arcs,
    predecessors: Arcs,
    /// Whether each page can be no seed; empty where all can.
    closed: Vec<bool>,
    pins: Vec<u32>,
}

impl SiteGraph {
    /// The same graph, of which only some pages can be seeds, and some are before any pick, in this
    /// order; these need not be among the others. `closed` says for each page whether it can be no
    /// seed; where it is empty all can.
    pub fn with_constraints(mut self, closed: Vec<bool>, pins: Vec<u32>) -> Result<Self, SiteGraphError> {
        let pages = self.values.len();
        let beyond = pins.iter().find(|pin| **pin as usize >= pages).copied();
        if !closed.is_empty() && closed.len() != pages || beyond.is_some() {
            let page = beyond.unwrap_or(crate::graph::number(closed.len()));
            return Err(SiteGraphError::NoSuchPage { page, pages });
        }
        (self.closed, self.pins) = (closed, pins);
        Ok(self)
    }

    /// Whether a page can be picked.
    #[must_use]
    pub fn may_be_seed(&self, page: u32) -> bool {
        !self.closed.get(page as usize).copied().unwrap_or(false)
    }

    /// Whether every page can be picked, and none is a seed before.
    #[must_use]
    pub const fn is_free(&self) -> bool {
        self.closed.is_empty() && self.pins.is_empty()
    }

    /// The pages that are seeds before any pick, in their order.
    #[must_use]
    pub fn pins(&self) -> &[u32] {
        &self.pins
    }

    /// The graph of pages with these values, and of links in any order; self-links and duplicates
    /// are dropped.
    ///
    /// Cost: sorting the links, which are held a second time meanwhile.
    pub fn new(
        values: Vec<i64>,
        links: impl IntoIterator<Item = (u32, u32)>,
    ) -> Result<Self, SiteGraphError> {
        let pages = values.len();
        // `u32::MAX` itself is not used: it stands for "no page".
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
        let successors = Arcs::new(pages, &arcs);
        for arc in &mut arcs {
            *arc = (arc.1, arc.0);
        }
        // The links are still ordered by the old source, so every page's predecessors come out
        // ascending.
        let predecessors = Arcs::new(pages, &arcs);
        Ok(Self {
            values,
            successors,
            predecessors,
            closed: Vec::new(),
            pins: Vec::new(),
        })
    }

    /// How many crawled pages the site has.
    #[must_use]
    pub fn pages(&self) -> u32 {
        // Checked when it was built.
        u32::try_from(self.values.len()).unwrap_or(u32::MAX)
    }

    /// How many intra-site links there are between them.
    #[must_use]
    pub fn links(&self) -> usize {
        self.successors.targets.len()
    }

    /// The value of each page, in millionths.
    #[must_use]
    pub fn values(&self) -> &[i64] {
        &self.values
    }

    /// The pages that a page links to, ascending.
    #[must_use]
    pub fn successors(&self, page: u32) -> &[u32] {
        self.successors.of(page)
    }

    /// The pages that link to a page, ascending.
    #[must_use]
    pub fn predecessors(&self, page: u32) -> &[u32] {
        self.predecessors.of(page)
    }

    /// How many pages of the site a page links to.
    #[must_use]
    pub fn out_degree(&self, page: u32) -> u32 {
        u32::try_from(self.successors(page).len()).unwrap_or(u32::MAX)
    }

    /// What all pages together are worth, in millionths.
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

    fn entries(&self) -> u64 {
        self.links() as u64
    }

    fn received(&self, page: u32, spread: &[f64], _: &[f64]) -> f64 {
        sum_of(self.predecessors(page), spread)
    }
}

/// A site with what selection needs to know of it.
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
