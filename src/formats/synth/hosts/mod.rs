//! A generator of graphs of hosts, in the layout in which Common Crawl publishes its own.
//!
//! ```text
//! vertices-00000.txt.gz ...   id<TAB>reversed.host, sorted by host, ids from 0
//! edges-00000.txt.gz ...      from<TAB>to, ascending by both
//! ranks.txt.gz                a header, then a row for each host, by harmonic centrality
//! ```
//!
//! What a host is called, links to and ranks is a function of (rng seed, hosts, id), drawn by counter
//! as pages are: so a graph of any size is written as a stream, in parallel, with the same bytes on any
//! number of threads. Memory is 24 units of a few MB.
//!
//! # Shape
//!
//! The proportions are those that were published for March to May 2026: 262.4 million hosts of 118.8
//! million domains with 8.1 billion edges, which are 30.9 a host; 75.56 % of the hosts have none
//! ("Host- and Domain-Level Web Graphs March, April, and May 2026", Common Crawl). Outdegrees of the
//! others have the tail k^(-7/3); indegrees come out with about k^(-5/2). Of the edges 25 % lead to hosts near by in
//! the list, as those of one domain are, 30 % to a head of popular hosts, and the rest to all hosts by
//! popularity. Popularity and names are independent. Most domains have one host, every fiftieth run of
//! 65,536 hosts is a single domain, and the others have up to 1,024 with the tail of outdegrees.
//!
//! Positions by harmonic centrality are those of popularity; values fall with them, and are no
//! centralities of the graph. Hosts lie in reserved domains, as those of a generated crawl.

mod graph_files;
mod host_links;
mod host_names;

pub use graph_files::{HostsFile, HostsList, HostsSummary, generate};

use super::options::SynthError;

/// The most links that a host has, so that what is in memory is bounded.
const MOST_LINKS: u64 = 1 << 18;

/// The size and shape of a generated graph of hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct HostsOptions {
    /// The number of hosts, 1 to 1,000,000,000.
    pub hosts: u64,
    /// Mean links of a host, of those that have none too; 0 to 200. A graph of a few hundred hosts
    /// has no room for as many.
    pub links: f64,
    /// Share of the hosts that link to no other; 0 to 1.
    pub dangling: f64,
    /// The seed of all random numbers: another number gives another graph.
    pub rng_seed: u64,
}

impl HostsOptions {
    /// The published proportions, at any size.
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
        let range = |option: &'static str, value: f64, low: f64, high: f64| {
            if value >= low && value <= high {
                Ok(())
            } else {
                Err(SynthError::Option {
                    option,
                    value: value.to_string(),
                    allowed: format!("{low} to {high}"),
                })
            }
        };
        range("hosts", self.hosts as f64, 1.0, 1e9)?;
        range("links", self.links, 0.0, 200.0)?;
        range("dangling", self.dangling, 0.0, 1.0)
    }
}
