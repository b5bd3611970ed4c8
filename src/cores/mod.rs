//! Cores: dense bipartite places, taken out of the host-pruned graph one after the other, each
//! giving one of its hubs as a seed (DESIGN section 4).

mod candidates;
mod density;
mod extract;
mod ledger;
mod near;
mod params;
mod select;
mod sums;
#[cfg(test)]
mod tests;

pub use density::{BadDensity, Density};
pub use ledger::{FoundComponent, KnownComponent, KnownCore, Ledger};
pub use near::{NearClasses, NearPage, Nearness};
pub use params::{BadParams, CoreParams, Growth, Hits, Pick, Rule};
pub use select::{Core, CoresError, Selection, select, select_again};
pub use sums::{RowSums, row_sums};
