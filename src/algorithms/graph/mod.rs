//! The host-pruned graph in memory: built once, then read-only.
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
//! One round of merging on each side suffices: different target sets remain different in terms of
//! authority classes, because each set is a union of whole classes.

mod build;
pub(crate) mod codec;
mod csr;
mod dense_index;
mod error;
pub(crate) mod exchange;
mod hub_graph;
pub(crate) mod hub_share;
pub(crate) mod multi_source_bfs;
mod page_graph;
mod remaining;
mod role;
mod strong_components;
mod symmetry;
mod union_find;
mod weak_components;

pub use build::Rows;
pub use csr::Csr;
pub use dense_index::{NONE, number};
pub use error::GraphError;
pub use hub_graph::HubGraph;
pub use hub_share::{HubShare, ShareComponents};
pub(crate) use hub_share::{PlacesInPart, collector};
pub use page_graph::PageGraph;
pub use remaining::{Remaining, Touched};
pub use role::Role;
pub use strong_components::StrongComponents;
pub use symmetry::are_symmetric;
pub use union_find::UnionFind;
pub use weak_components::{Fingerprint, WeakComponents};
