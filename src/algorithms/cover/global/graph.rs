//! The graph of the whole web: all pages, their values, and all links in both directions.

use super::super::graph::SiteGraphError;
use super::super::limits::MAX_PRICE;
use super::super::value::UNIT;
use super::constraints::Cap;
use crate::graph::{Csr, number};

/// All crawled and known pages that are not gone, numbered in byte order of their URLs (the smallest URL is
/// 0), with their values in millionths, the links between them in both directions, and the candidates.
///
/// Immutable once built. Memory: 8 bytes per link and 28 per page.
#[derive(Clone, Debug)]
pub struct WebGraph {
    values: Vec<i64>,
    successors: Csr,
    predecessors: Csr,
    candidates: Vec<u32>,
    pins: Vec<u32>,
    caps: Vec<Cap>,
}

impl WebGraph {
    /// Builds the graph. `predecessors` has a list for each page: the pages that link to it, ascending,
    /// distinct and without itself. A page is a candidate if `may_be_seed` holds for it and it has links.
    pub fn new(
        values: Vec<i64>,
        predecessors: Csr,
        may_be_seed: &[bool],
    ) -> Result<Self, SiteGraphError> {
        let pages = values.len();
        // `u32::MAX` means "no page".
        if u32::try_from(pages).is_err() {
            return Err(SiteGraphError::TooManyPages(pages));
        }
        let beyond = predecessors
            .entries()
            .iter()
            .find(|p| **p as usize >= pages);
        if let Some(&page) = beyond.filter(|_| predecessors.len() == pages) {
            return Err(SiteGraphError::NoSuchPage { page, pages });
        }
        if predecessors.len() != pages || may_be_seed.len() != pages {
            let page = number(predecessors.len().max(may_be_seed.len()));
            return Err(SiteGraphError::NoSuchPage { page, pages });
        }
        // Includes the fetch cost of every page, so that no sum can overflow.
        let worth: i128 = values.iter().map(|&value| i128::from(value).abs()).sum();
        let prices = i128::from(MAX_PRICE * UNIT) * pages as i128;
        if worth + prices > i128::from(i64::MAX) {
            return Err(SiteGraphError::ValuesTooLarge);
        }
        let successors = predecessors.transpose(pages);
        let candidates = (0..number(pages))
            .filter(|&page| may_be_seed[page as usize] && !successors.list(page).is_empty())
            .collect();
        Ok(Self {
            values,
            successors,
            predecessors,
            candidates,
            pins: Vec::new(),
            caps: Vec::new(),
        })
    }

    /// Sets the pins, pages that are seeds before any pick, in this order, and the caps, each with a group
    /// for every page.
    pub fn with_constraints(
        mut self,
        pins: Vec<u32>,
        caps: Vec<Cap>,
    ) -> Result<Self, SiteGraphError> {
        let pages = self.values.len();
        let beyond = pins.iter().find(|pin| **pin as usize >= pages).copied();
        let short = caps.iter().find(|cap| cap.group.len() != pages);
        if let Some(page) = beyond.or_else(|| short.map(|cap| number(cap.group.len()))) {
            return Err(SiteGraphError::NoSuchPage { page, pages });
        }
        (self.pins, self.caps) = (pins, caps);
        Ok(self)
    }

    /// The pages that are seeds before any pick, in order.
    #[must_use]
    pub fn pins(&self) -> &[u32] {
        &self.pins
    }

    /// The limits on the number of seeds in groups of pages.
    #[must_use]
    pub fn caps(&self) -> &[Cap] {
        &self.caps
    }

    /// Returns the number of pages.
    #[must_use]
    pub fn pages(&self) -> u32 {
        number(self.values.len())
    }

    /// Returns the number of links.
    #[must_use]
    pub fn links(&self) -> usize {
        self.successors.entries().len()
    }

    /// The value of each page, in millionths.
    #[must_use]
    pub fn values(&self) -> &[i64] {
        &self.values
    }

    /// The pages that can be picked, ascending.
    #[must_use]
    pub fn candidates(&self) -> &[u32] {
        &self.candidates
    }

    /// The pages that each page links to, ascending.
    #[must_use]
    pub fn successors(&self) -> &Csr {
        &self.successors
    }

    /// The pages that link to each page, ascending.
    #[must_use]
    pub fn predecessors(&self) -> &Csr {
        &self.predecessors
    }

    /// Returns the number of pages that a page links to.
    #[must_use]
    pub fn out_degree(&self, page: u32) -> u32 {
        number(self.successors.list(page).len())
    }
}
