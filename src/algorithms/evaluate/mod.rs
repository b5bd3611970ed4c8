//! Judging seeds: searches over the whole graph, and statistics of what they find.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`forward_graph`] | forward links, and breadth-first search over one bit per page |
//! | [`crawl`] | what a crawl finds depth by depth, or within a budget |
//! | [`distances`] | distances between groups of pages; a graph's average distance |
//! | [`fetch_simulator`] | what crawls from lists gather per page fetched |
//! | [`harmonic`](mod@harmonic) | harmonic centrality |
//! | [`coverage`] | what picks cover of their sites, compared with random |
//! | [`estimate`] | means and their standard errors |
//! | [`draw`](mod@draw) | draws that are the same on every machine |
//!
//! Results follow from the graph and the arguments alone: searches run in parallel, each on one
//! thread, and sums follow the order of pages.

pub mod coverage;
pub mod crawl;
pub mod distances;
pub mod draw;
pub mod estimate;
pub mod fetch_simulator;
pub mod harmonic;
#[cfg(test)]
mod samples;
pub mod forward_graph;

pub use crawl::{PageWorth, Tally};
pub use draw::draw;
pub use estimate::Estimate;
pub use fetch_simulator::{FetchSimulator, Gathered, CrawlInput, FetchedWithin};
pub use harmonic::{Harmonic, harmonic};
pub use forward_graph::{Search, ForwardGraph};
