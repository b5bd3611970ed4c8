//! Cores: dense bipartite places, taken out of the host-pruned graph one after the other, each
//! giving one of its hubs as a seed (DESIGN section 4).

mod candidates;
mod density;
mod extract;
mod near;
mod params;
mod select;
mod sums;
#[cfg(test)]
mod tests;

pub use density::{BadDensity, Density};
pub use near::{NearClasses, Nearness};
pub use params::{BadParams, CoreParams, Growth, Hits, Pick, Rule};
pub use select::{Core, CoresError, Selection, select};
pub use sums::{RowSums, row_sums};
