//! A core that was found.

use crate::rank::Doubt;

/// A dense bipartite subgraph: its hubs, its authorities, and where it was found. Pages are numbers
/// in URL order.
#[derive(Clone, PartialEq, Debug)]
pub struct Core {
    /// The largest singular value of the region that it came from.
    pub sigma: f64,
    /// A proven upper bound on the largest sigma of all that was left; `None` in exact cores, where it is
    /// sigma itself.
    pub sigma_bound: Option<f64>,
    /// `100 edges / (hubs * authorities)`, in percent.
    pub density: f64,
    /// The number of links from its hubs to its authorities.
    pub edges: u64,
    /// The hubs in the order in which they were taken.
    pub hubs: Vec<u32>,
    /// The authorities in the order in which they were taken.
    pub authorities: Vec<u32>,
    /// The scores of `hubs`, L2-normalised over all pages of the region.
    pub hub_scores: Vec<f64>,
    /// The scores of `authorities`, L2-normalised over all pages of the region.
    pub authority_scores: Vec<f64>,
    /// The order of additions over both sides: `h` for a hub, `a` for an authority.
    pub sides: String,
    /// The hub that is the seed; where the core gives none, its best hub.
    pub seed: u32,
    /// Whether the core gives a seed.
    pub gives_seed: bool,
    /// Why this core is not certified; `None` if it is.
    pub doubt: Option<Doubt>,
}

impl Core {
    /// The core's pages; a page in both roles comes twice.
    pub(super) fn pages(&self) -> impl Iterator<Item = u32> {
        self.hubs.iter().chain(&self.authorities).copied()
    }
}
