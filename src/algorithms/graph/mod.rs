//! The host-pruned graph in memory, built once and read only.
//!
//! Pages are dense numbers in URL byte order (the smallest URL is page 0), so *smallest URL* means
//! *smallest number*. Pages with the same set of targets are one **hub class**, pages with the same
//! set of citing hub classes are one **authority class**; a page may be in one class of each kind.
//! Members of a class have exactly equal HITS scores, so ranking works on classes with
//! multiplicities, and equal pages are equal by construction (`src/guide/design.md`,
//! *Rows*).
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
mod error;
mod hub_graph;
pub(crate) mod lanes;
mod number;
mod remaining;
mod sets;
mod twins;
mod weak;
mod whole;

pub use build::Rows;
pub use csr::Csr;
pub use error::GraphError;
pub use hub_graph::HubGraph;
pub use number::NONE;
pub use number::number;
pub use remaining::{Remaining, Touched};
pub use sets::Sets;
pub use twins::{Role, twins};
pub use weak::{Fingerprint, WeakComponents};
pub use whole::WholeGraph;
