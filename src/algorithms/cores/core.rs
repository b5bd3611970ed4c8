//! A core.

use crate::rank::{Convergence, Doubt};

/// A dense bipartite subgraph of hubs and authorities. Pages are numbered in URL order.
#[derive(Clone, PartialEq, Debug)]
pub struct Core {
    /// The largest singular value of its region.
    pub sigma: f64,
    /// A proven upper bound on the largest sigma of the graph that was left; `None` for exact cores, whose
    /// sigma is the largest.
    pub sigma_bound: Option<f64>,
    /// How far its scores have converged; `None` if that is proved.
    pub convergence: Option<Convergence>,
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
    /// The order in which hubs (`h`) and authorities (`a`) were taken, one letter each.
    pub sides: String,
    /// The hub that is the seed; the best hub if the core gives no seed.
    pub seed: u32,
    /// Whether the core gives a seed.
    pub gives_seed: bool,
    /// The reason why this core is not certified; `None` if it is.
    pub doubt: Option<Doubt>,
}

impl Core {
    /// The pages of the core; a page in both roles occurs twice.
    pub(super) fn pages(&self) -> impl Iterator<Item = u32> {
        self.hubs.iter().chain(&self.authorities).copied()
    }
}
