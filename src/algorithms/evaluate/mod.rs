//! Evaluation of seeds: searches over the whole graph, and statistics of their results.
//!
//! | module | contents |
//! | --- | --- |
//! | [`forward_graph`] | the graph in crawl direction, and breadth-first search with one bit per page |
//! | [`crawl`] | crawls by depth, or within a budget |
//! | [`distances`] | distances between groups of pages; the average distance of a graph |
//! | [`fetch_simulator`] | totals of simulated crawls for several budgets |
//! | [`harmonic`](mod@harmonic) | harmonic centrality |
//! | [`coverage`] | the coverage of picks on their sites, compared with random picks |
//!
//! Results depend on the graph and the arguments alone: searches run in parallel, each on one thread, and
//! sums are in the order of pages.

pub mod coverage;
pub mod crawl;
pub mod distances;
pub mod fetch_simulator;
pub mod forward_graph;
pub mod harmonic;
#[cfg(test)]
mod samples;

pub use crate::statistics::{Estimate, draw};
pub use crawl::{PageWorth, Tally};
pub use fetch_simulator::{
    CrawlInput, FetchSimulator, FetchedWithin, Gathered, KnownBefore, PageContents,
};
pub use forward_graph::{ForwardGraph, Search};
pub use harmonic::{Harmonic, harmonic};
