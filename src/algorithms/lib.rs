//! The algorithms of Seedbank: pure computation in memory, without files and without a database.
//!
//! The engine loads a [`graph`], hands it to an algorithm, and stores what comes back. So all of this
//! is built and tested without RocksDB, and can be used without a bank.
//!
//! | module | what it has |
//! | --- | --- |
//! | [`page`] | page ids and sets of pages, which the store and the formats share |
//! | [`watch`] | progress and interruption, shared by them too |
//! | [`graph`] | graphs in memory, built once and read only |
//! | [`rank`] | HITS with its proof, and PageRank |
//! | [`cores`] | dense bipartite cores, and the seed of each |
//! | [`cover`] | coverage of page value, on one site or over the whole web |
//! | [`evaluate`] | judging seeds: searches over the whole graph, statistics |

#![forbid(unsafe_code)]

pub mod cores;
pub mod cover;
mod decimal;
pub mod evaluate;
pub mod graph;
pub mod page;
pub mod rank;
pub mod watch;
