//! The algorithms of Seedbank: pure computation in memory, without files and without a database.
//!
//! The engine loads a [`graph`], passes it to an algorithm and stores the result. The crate is
//! built and tested without RocksDB, and can be used without a bank.
//!
//! | module | contents |
//! | --- | --- |
//! | [`page`] | page ids and page sets, shared with the store and the formats |
//! | [`fetch_status`] | results of fetches, shared with them too |
//! | [`communicator`] | messages among processes that run the same program |
//! | [`watch`] | progress and interruption, reads that wait, likewise shared |
//! | [`log_rate`] | limits log lines that strangers can cause, likewise shared |
//! | [`yields`] | what fetches brought, and the new links that the next one is expected to bring |
//! | [`statistics`] | random samples, means with their errors, power laws |
//! | [`graph`] | read-only graphs in memory |
//! | [`rank`] | certified HITS, and PageRank |
//! | [`slack`] | by how much a result may fall short of the best one |
//! | [`cores`] | dense bipartite cores and their seeds |
//! | [`cover`] | coverage of page value, on one site or over the whole web |
//! | [`crawl_frontier`] | the order in which a simulated crawl fetches pages |
//! | [`crawl_limits`] | limits and rounds of a simulated crawl |
//! | [`evaluate`] | evaluation of seeds: searches over the whole graph, statistics |

#![forbid(unsafe_code)]

pub mod communicator;
pub mod cores;
pub mod cover;
pub mod crawl_frontier;
pub mod crawl_limits;
mod decimal;
pub mod evaluate;
pub mod fetch_status;
pub mod graph;
pub mod log_rate;
pub mod page;
#[cfg(test)]
#[path = "../../tests/support/properties.rs"]
mod properties;
pub mod rank;
pub mod slack;
pub mod statistics;
pub mod watch;
pub mod yields;
