//! The ledger: what a refresh by cores leaves to the next one beside its cores and their scores,
//! by weakly connected component of the graph that it ran on (see
//! [`cores::Ledger`](crate::cores::Ledger)).

use serde::{Deserialize, Serialize};

use crate::page::PageId;

/// What a refresh found in a component.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ComponentRecord {
    /// Those of its cores that may be taken over, in order.
    pub cores: Vec<ComponentCore>,
    /// A bound of the largest sigma in what is left after them.
    pub next: f64,
}

/// A core of a component.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ComponentCore {
    /// Its rank in the refresh, from 1.
    pub rank: u32,
    /// Groups of equal pages that were near it, and near no earlier core of the component.
    pub near: Vec<NearRecord>,
}

/// Equal pages that were near a core.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct NearRecord {
    /// One of them.
    pub page: PageId,
    /// Whether as hubs, or else as authorities.
    pub hub: bool,
    /// Pages of the core on the other side that each is linked with.
    pub links: u32,
    /// The score of each in the region that the core came from.
    pub score: f64,
}
