//! The graph of all pages and links, for PageRank.
//!
//! Intra-site links are stored by page; inter-site links by row, as in the store, so that the row
//! of a template shared by thousands of pages is stored once.

use super::csr::Csr;
use super::dense_index::number;
use super::error::GraphError;

/// All pages and links. Page numbers are dense and follow the order of insertion.
///
/// Memory: 4 bytes per intra-site link, page of a row and target of a row, and 28 bytes per page.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PageGraph {
    /// By page: the pages of the same site that link to it.
    pub intra_in: Csr,
    /// By row: the pages that have it.
    pub members: Csr,
    /// By page: the rows that contain it.
    pub citers: Csr,
    /// By page: the number of its links, intra-site and inter-site.
    pub out_degree: Vec<u32>,
}

impl PageGraph {
    /// Builds the graph. `intra_in` has for each page the pages of its site that link to it;
    /// `members` and `targets` have the pages and the targets of each row.
    ///
    /// Lists must be ascending and links distinct. Rows must be ordered by their first pages, so
    /// that sums over them do not depend on row ids. Every number must be below the number of lists
    /// of `intra_in`, and a page has at most one row.
    pub fn new(intra_in: Csr, members: Csr, targets: &Csr) -> Result<Self, GraphError> {
        let pages = intra_in.len();
        let beyond = |csr: &Csr| csr.entries().iter().any(|&entry| entry as usize >= pages);
        if u32::try_from(pages).is_err()
            || members.len() != targets.len()
            || [&intra_in, &members, targets].into_iter().any(beyond)
        {
            return Err(GraphError::TooLarge);
        }
        let mut out_degree = vec![0_u32; pages];
        for &source in intra_in.entries() {
            out_degree[source as usize] += 1;
        }
        for row in 0..number(members.len()) {
            for &page in members.list(row) {
                out_degree[page as usize] += number(targets.list(row).len());
            }
        }
        Ok(Self {
            citers: targets.transpose(pages),
            intra_in,
            members,
            out_degree,
        })
    }

    /// Returns the number of pages.
    #[must_use]
    pub fn pages(&self) -> u32 {
        number(self.out_degree.len())
    }

    /// Returns the number of entries of all lists: the cost of one pass over the links.
    #[must_use]
    pub fn entries(&self) -> u64 {
        let lists = [&self.intra_in, &self.members, &self.citers];
        lists.iter().map(|csr| csr.entries().len() as u64).sum()
    }
}
