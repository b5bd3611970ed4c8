//! HITS on the host-pruned graph: pure numerics on classes of equal pages.
//!
//! A [`Ranker`] finds, in the remaining graph, the place of the next core and its scores:
//! [`PowerIteration`] as published, [`Converged`] by the principal singular pair of the region with
//! the largest sigma, [`Approximate`] by a place whose sigma is proved to be near that. [`Work`] counts
//! the entries of merged rows and citers that were read. [`pagerank()`] ranks the whole graph instead.

mod approximate;
mod cached_steps;
mod certificate;
mod components;
mod converged;
mod dense;
mod dense_subproblem;
mod densest_part;
mod inherited_state;
mod large_region;
mod pagerank;
mod power_iteration;
mod principal;
mod quantize;
mod ranker;
mod rayleigh_ritz;
mod region;
mod region_products;
mod region_share;
mod regions;
mod replay;
mod residual_bounds;
mod single_vector_lanczos;
mod solve;
mod start_vectors;
#[cfg(test)]
pub(crate) mod tests;
mod thick_restart_lanczos;
mod tridiagonal;
mod vector_block;
mod vectors;
mod work;

pub use approximate::Approximate;
pub use cached_steps::{CachedStep, CachedSteps, Origin, ProvenStep};
pub use converged::Converged;
pub use pagerank::{LinkGraph, pagerank, rough_pagerank};
pub use power_iteration::PowerIteration;
pub use principal::{Doubt, Principal, TIED};
pub use ranker::{Convergence, GraphPart, Next, Ranker};
pub use region::Region;
pub use regions::{CachedRegion, IdOfPage};
pub use replay::ReplaySteps;
pub use residual_bounds::ResidualBound;
pub use work::Work;
