//! The whole graph: all pages and all links, for PageRank.
//!
//! Intra-site links are kept page by page; inter-site links row by row, as the store has them, so
//! that a template shared by thousands of pages is there once.

use super::csr::Csr;
use super::dense_index::number;
use super::error::GraphError;

/// All pages and links, by dense numbers that follow the order in which the pages came.
///
/// Memory: 4 bytes per intra-site link, page of a row and target of a row, and 28 bytes per page.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PageGraph {
    /// By page: the pages of its site that link to it.
    pub intra_in: Csr,
    /// By row: the pages that carry it.
    pub members: Csr,
    /// By page: the rows that link to it.
    pub citers: Csr,
    /// By page: how many links it has, of both kinds.
    pub out_degree: Vec<u32>,
}

impl PageGraph {
    /// The graph of these links: `intra_in` has the pages that link to each page within its site,
    /// `members` and `targets` have the pages that carry each row and the row's targets.
    ///
    /// Lists are ascending, links distinct; rows come in the order of their first pages, so that
    /// sums over them do not depend on how rows are numbered elsewhere. `intra_in` has one list
    /// for each page, every number in the lists is below that count, and every page is in at most
    /// one row.
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

    /// How many pages there are.
    #[must_use]
    pub fn pages(&self) -> u32 {
        number(self.out_degree.len())
    }

    /// The number of entries in all lists, which is what one pass over the links reads.
    #[must_use]
    pub fn entries(&self) -> u64 {
        let lists = [&self.intra_in, &self.members, &self.citers];
        lists.iter().map(|csr| csr.entries().len() as u64).sum()
    }
}
