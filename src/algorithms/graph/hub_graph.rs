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
    pub(super) hub_class: ClassOfPage,
    pub(super) authority_class: ClassOfPage,
}

/// The class of each page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ClassOfPage {
    /// By page; [`NONE`] for pages without a class.
    Dense(Vec<u32>),
    /// Pages that have a class, ascending, with it.
    Sorted(Vec<(u32, u32)>),
}

impl Default for ClassOfPage {
    fn default() -> Self {
        Self::Dense(Vec::new())
    }
}

impl ClassOfPage {
    fn get(&self, page: u32) -> Option<u32> {
        match self {
            Self::Dense(classes) => {
                let class = classes.get(page as usize).copied();
                class.filter(|&class| class != NONE)
            }
            Self::Sorted(classes) => {
                let at = classes.binary_search_by_key(&page, |of| of.0).ok()?;
                Some(classes[at].1)
            }
        }
    }
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
        self.hub_class.get(page)
    }

    /// Returns the authority class of a page; `None` if it is not an authority.
    #[must_use]
    pub fn authority_class(&self, page: u32) -> Option<u32> {
        self.authority_class.get(page)
    }

    /// Returns an exclusive upper bound on the page numbers.
    #[must_use]
    pub fn pages(&self) -> usize {
        match &self.authority_class {
            ClassOfPage::Dense(classes) => classes.len(),
            ClassOfPage::Sorted(classes) => classes.last().map_or(0, |of| of.0 as usize + 1),
        }
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
