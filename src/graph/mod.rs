//! The host-pruned graph in memory, built once and read only.
//!
//! Pages are dense numbers in URL byte order (the smallest URL is page 0), so *smallest URL* is
//! *smallest number*. Pages with one set of targets are one **hub class**, pages with one set of
//! citing hub classes are one **authority class**; a page may be in one class of each kind.
//! Members of a class have exactly equal HITS scores, so ranking works on classes with
//! multiplicities, and equal pages are equal by construction (DESIGN, sections 2 and 4).
//!
//! ```text
//! rows:    hub class -> authority classes     citers:  authority class -> hub classes
//! members: class -> pages, ascending          classes are numbered by their smallest member
//! ```
//!
//! One round of merging on each side is enough: two different target sets stay different when
//! they are written in authority classes, since such a set is a union of whole classes.

mod build;
mod csr;
mod remaining;
mod twins;
mod weak;
mod whole;

pub use build::Rows;
pub use csr::Csr;
pub use remaining::{Remaining, Touched};
pub use twins::{Role, twins};
pub use weak::{Fingerprint, WeakComponents};
pub use whole::WholeGraph;

/// Stands for "no class" where a class number is expected.
pub const NONE: u32 = u32::MAX;

/// What makes rows no graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum GraphError {
    /// A list of pages is not strictly ascending.
    #[error("the pages of a row are not in ascending order; sort and deduplicate them first")]
    Unsorted,
    /// One page was given two rows.
    #[error("page {0} carries two rows; merge its targets into one row first")]
    TwoRows(u32),
    /// More rows or pages than 32-bit numbers can count.
    #[error("more than 4 billion rows or pages; rank parts of the graph separately")]
    TooLarge,
}

/// The host-pruned graph as classes of equal pages.
///
/// Memory: 8 bytes a merged entry, 4 bytes a page and role, 8 bytes a page number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HubGraph {
    hub_members: Csr,
    authority_members: Csr,
    rows: Csr,
    citers: Csr,
    hub_class: Vec<u32>,
    authority_class: Vec<u32>,
}

impl HubGraph {
    /// The pages of each hub class, ascending.
    #[must_use]
    pub const fn hub_members(&self) -> &Csr {
        &self.hub_members
    }

    /// The pages of each authority class, ascending.
    #[must_use]
    pub const fn authority_members(&self) -> &Csr {
        &self.authority_members
    }

    /// For each hub class the authority classes that its pages link to, ascending.
    #[must_use]
    pub const fn rows(&self) -> &Csr {
        &self.rows
    }

    /// For each authority class the hub classes whose pages link to it, ascending.
    #[must_use]
    pub const fn citers(&self) -> &Csr {
        &self.citers
    }

    /// The hub class of a page, if it is a hub.
    #[must_use]
    pub fn hub_class(&self, page: u32) -> Option<u32> {
        let class = self.hub_class.get(page as usize).copied();
        class.filter(|&class| class != NONE)
    }

    /// The authority class of a page, if it is an authority.
    #[must_use]
    pub fn authority_class(&self, page: u32) -> Option<u32> {
        let class = self.authority_class.get(page as usize).copied();
        class.filter(|&class| class != NONE)
    }

    /// The number of links between pages, before merging.
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

/// A count or index that is known to be below 2^32, as its 32-bit number.
///
/// [`Rows::push`] and [`Rows::graph`] refuse inputs for which one could be larger.
pub(crate) fn number(index: usize) -> u32 {
    debug_assert!(
        u32::try_from(index).is_ok(),
        "checked when the rows came in"
    );
    u32::try_from(index).unwrap_or(NONE)
}
