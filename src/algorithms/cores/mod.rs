//! Selection by cores: dense bipartite subgraphs of the inter-site links, found and removed one after
//! another; one hub of each becomes a seed. `src/guide/cores.md` has the rules.

mod cache;
mod candidates;
#[cfg(test)]
mod classic_share_tests;
mod core;
mod density;
mod extract;
mod near_cores;
mod params;
mod row_sums;
mod seed_rules;
mod select;
#[cfg(test)]
mod share_tests;
mod standings;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod within_tests;

pub use self::core::Core;
pub use cache::{CachedComponent, CachedCore, ComponentResult, CoreCache};
pub use density::{BadDensity, Density};
pub use near_cores::{NearClasses, NearPage, Nearness};
pub use params::{BadParams, CoreParams, Growth, Hits, ITERATIONS, Pick, Rule};
pub use seed_rules::{HubChoice, OneSeedPerCore, SeedRules};
pub use select::{CoresError, Selection, SelectionInput, select, select_in_graph, whole_graph};
pub use standings::{PageStanding, Standings, standings};
