//! Cores: dense bipartite places, taken out of the host-pruned graph one after another, each giving
//! one of its hubs as a seed. The rules are in the `src/guide/cores.md`.

mod candidates;
mod density;
mod extract;
mod found;
mod ledger;
mod near;
mod params;
mod seed;
mod select;
mod slack;
mod sums;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod within_tests;

pub use density::{BadDensity, Density};
pub use found::Core;
pub use ledger::{FoundComponent, KnownComponent, KnownCore, Ledger};
pub use near::{NearClasses, NearPage, Nearness};
pub use params::{BadParams, CoreParams, Growth, Hits, ITERATIONS, Pick, Rule};
pub use seed::{HubChoice, OneEach, SeedRules};
pub use select::{CoresError, Selection, select, select_again};
pub use slack::{BadSlack, Slack};
pub use sums::{RowSums, row_sums};
