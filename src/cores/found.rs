//! A core that was found.

use crate::rank::Doubt;

/// A dense bipartite subgraph: its hubs, its authorities, where it came from. Pages are numbers
/// in URL order.
#[derive(Clone, PartialEq, Debug)]
pub struct Core {
    /// The largest singular value of the region it came from.
    pub sigma: f64,
    /// `100 edges / (hubs * authorities)`, in percent.
    pub density: f64,
    /// Links from its hubs to its authorities.
    pub edges: u64,
    /// In the order taken.
    pub hubs: Vec<u32>,
    /// In the order taken.
    pub authorities: Vec<u32>,
    /// Of `hubs`; L2-normalised over all pages of the region.
    pub hub_scores: Vec<f64>,
    /// Of `authorities`; L2-normalised over all pages of the region.
    pub authority_scores: Vec<f64>,
    /// The order in which the two sides were added to, as `a` and `h`.
    pub sides: String,
    /// The hub that is the seed.
    pub seed: u32,
    /// Why this core is not certified, if it is not.
    pub doubt: Option<Doubt>,
}

impl Core {
    /// Its pages; one that is in both roles comes twice.
    pub(super) fn pages(&self) -> impl Iterator<Item = u32> {
        self.hubs.iter().chain(&self.authorities).copied()
    }
}
