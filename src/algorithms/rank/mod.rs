//! HITS on the host-pruned graph: pure numerics on classes of equal pages.
//!
//! A [`Ranker`] says, for what remains of the graph, where the next core is to be taken, and the
//! scores there: [`Classic`] as the paper does it, [`Converged`] by the principal singular pair of
//! the region with the largest sigma, [`Within`] by a place whose sigma is proven to be near that. What a
//! ranker had to read is counted in *link visits*:
//! entries of merged rows and citers read. [`pagerank()`] ranks the whole graph instead.

mod block;
mod certificate;
mod classic;
mod coarse;
mod components;
mod converged;
mod dense;
mod few;
mod kept;
mod krylov;
mod lanczos;
mod large;
mod pagerank;
mod parent;
mod parts;
mod principal;
mod ranker;
mod reads;
mod region;
mod replay;
mod rest;
mod rows;
mod solve;
mod starts;
#[cfg(test)]
mod tests;
mod tridiagonal;
mod vectors;
mod within;

pub use classic::Classic;
pub use converged::Converged;
pub use kept::{KeptStep, KeptSteps, Origin, ProvenStep};
pub(crate) use pagerank::sum_of;
pub use pagerank::{LinkGraph, pagerank};
pub use principal::{Doubt, Principal, TIED};
pub use ranker::{Next, Ranker};
pub use reads::Reads;
pub use region::Region;
pub use replay::KnownSteps;
pub use rest::Rest;
pub use within::Within;
