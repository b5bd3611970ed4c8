//! Cores: dense bipartite places, taken out of the host-pruned graph one after another, each giving
//! one of its hubs as a seed. The rules are in the `src/guide/cores.md`.

mod candidates;
mod density;
mod extract;
mod core;
mod cache;
mod near_cores;
mod params;
mod seed_rules;
mod select;
mod slack;
mod row_sums;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod within_tests;

pub use density::{BadDensity, Density};
pub use self::core::Core;
pub use cache::{ComponentResult, CachedComponent, CachedCore, CoreCache};
pub use near_cores::{NearClasses, NearPage, Nearness};
pub use params::{BadParams, CoreParams, Growth, Hits, ITERATIONS, Pick, Rule};
pub use seed_rules::{HubChoice, OneSeedPerCore, SeedRules};
pub use select::{CoresError, Selection, select, select_warm};
pub use slack::{BadSlack, Slack};
pub use row_sums::{RowSums, row_sums};
