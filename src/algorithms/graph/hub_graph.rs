//! The host-pruned graph as classes of equal pages.

use super::csr::Csr;
use super::dense_index::{NONE, number};

/// The host-pruned graph as classes of equal pages.
///
/// Memory: 8 bytes per merged entry, 4 bytes per page and role, 8 bytes per page number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HubGraph {
    pub(super) hub_members: Csr,
    pub(super) authority_members: Csr,
    pub(super) rows: Csr,
    pub(super) citers: Csr,
    pub(super) hub_class: Vec<u32>,
    pub(super) authority_class: Vec<u32>,
}

impl HubGraph {
    /// Returns the pages of each hub class, ascending.
    #[must_use]
    pub const fn hub_members(&self) -> &Csr {
        &self.hub_members
    }

    /// Returns the pages of each authority class, ascending.
    #[must_use]
    pub const fn authority_members(&self) -> &Csr {
        &self.authority_members
    }

    /// Returns for each hub class the authority classes that its pages link to, ascending.
    #[must_use]
    pub const fn rows(&self) -> &Csr {
        &self.rows
    }

    /// Returns for each authority class the hub classes whose pages link to it, ascending.
    #[must_use]
    pub const fn citers(&self) -> &Csr {
        &self.citers
    }

    /// Returns the hub class of a page; `None` if it is not a hub.
    #[must_use]
    pub fn hub_class(&self, page: u32) -> Option<u32> {
        let class = self.hub_class.get(page as usize).copied();
        class.filter(|&class| class != NONE)
    }

    /// Returns the authority class of a page; `None` if it is not an authority.
    #[must_use]
    pub fn authority_class(&self, page: u32) -> Option<u32> {
        let class = self.authority_class.get(page as usize).copied();
        class.filter(|&class| class != NONE)
    }

    /// Returns an exclusive upper bound on the page numbers.
    #[must_use]
    pub const fn pages(&self) -> usize {
        self.authority_class.len()
    }

    /// Returns the number of links between pages, before merging.
    #[must_use]
    pub fn links(&self) -> u64 {
        let targets = |class: u32| -> u64 {
            let classes = self.rows.list(class).iter();
            classes
                .map(|&c| self.authority_members.list(c).len() as u64)
                .sum()
        };
        (0..number(self.rows.len()))
            .map(|class| self.hub_members.list(class).len() as u64 * targets(class))
            .sum()
    }
}
