//! A generator of host graphs in the layout of Common Crawl.
//!
//! ```text
//! vertices-00000.txt.gz ...   id<TAB>reversed.host, sorted by host, ids from 0
//! edges-00000.txt.gz ...      from<TAB>to, ascending by both
//! ranks.txt.gz                a header, then a row for each host, by harmonic centrality
//! ```
//!
//! Name, links and rank of a host are functions of (rng seed, hosts, id), computed by counter-based random
//! numbers. A graph of any size is written as a stream, in parallel, with the same bytes for any number
//! of threads. Memory is 24 units of a few MB.
//!
//! # Shape
//!
//! The proportions are those published for March to May 2026: 262.4 million hosts of 118.8 million
//! domains with 8.1 billion edges, 30.9 per host; 75.56 % of the hosts have none ("Host- and Domain-Level
//! Web Graphs March, April, and May 2026", Common Crawl). Outdegrees of the others have the tail
//! k^(-7/3); indegrees result in about k^(-5/2). 25 % of the edges lead to hosts with nearby ids, such as
//! those of the same domain, 30 % to the most popular hosts, and the others to all hosts by popularity.
//! Popularity and names are independent. Most domains have one host; every fiftieth run of 65,536 hosts
//! is a single domain; the others have up to 1,024 hosts, with the tail of outdegrees.
//!
//! Positions by harmonic centrality are the ranks by popularity; the values decrease with the position
//! but are not the centralities of the graph. Hosts are in reserved domains.

mod graph_writer;
mod host_links;
mod host_names;

pub use graph_writer::{HostsFile, HostsList, HostsSummary, generate};

use super::options::{SynthError, check_range};

/// The maximum number of links of a host; bounds the memory.
const MAX_LINKS: u64 = 1 << 18;

/// The size and shape of a generated graph of hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct HostsOptions {
    /// The number of hosts, 1 to 1,000,000,000.
    pub hosts: u64,
    /// Mean links of a host, including hosts without links; 0 to 200. Limited by the number of hosts in small
    /// graphs.
    pub links: f64,
    /// Share of hosts without links; 0 to 1.
    pub dangling: f64,
    /// The seed of all random numbers.
    pub rng_seed: u64,
}

impl HostsOptions {
    /// Creates options with the published proportions.
    #[must_use]
    pub fn new(hosts: u64) -> Self {
        Self {
            hosts,
            links: 8_100.0 / 262.4,
            dangling: 0.7556,
            rng_seed: 0,
        }
    }

    fn check(&self) -> Result<(), SynthError> {
        check_range("hosts", self.hosts as f64, 1.0, 1e9)?;
        check_range("links", self.links, 0.0, 200.0)?;
        check_range("dangling", self.dangling, 0.0, 1.0)
    }
}
