//! Why a graph in the BV format is refused.

use std::io;

use crate::ingest::open::InputError;

/// The files of a graph are missing, do not fit each other, or are damaged.
#[derive(Debug, thiserror::Error)]
pub enum BvGraphError {
    /// One of the two files of a graph is missing or cannot be opened.
    #[error("cannot open {file}: a graph is BASENAME.graph beside BASENAME.properties")]
    Open {
        /// The file.
        file: String,
        /// What the system says.
        source: io::Error,
    },
    /// The properties are those of something else, or of an unknown version.
    #[error("{file} does not describe a graph in the BV format: {detail}")]
    Properties {
        /// The file.
        file: String,
        /// What is wrong.
        detail: String,
    },
    /// The properties claim more nodes than the graph's bits have room for.
    #[error(
        "{file} has {bytes} bytes, too few for the {nodes} nodes of its properties: it is cut off, or of another graph"
    )]
    TooShort {
        /// The graph.
        file: String,
        /// The size of the graph file, in bytes.
        bytes: u64,
        /// How many nodes it should have.
        nodes: u64,
    },
    /// The properties claim more links than any crawl has in so few bytes.
    #[error(
        "{file} has {bytes} bytes and is said to have {links} links, more than {per_byte} in each byte, which no crawl has: its properties are damaged or of another graph"
    )]
    TooDense {
        /// The graph.
        file: String,
        /// The size of the graph file, in bytes.
        bytes: u64,
        /// How many links it should have.
        links: u64,
        /// The most links accepted in a byte.
        per_byte: u64,
    },
    /// It is a directory, a device or a pipe, where a graph must be a file: it is examined before
    /// it is read.
    #[error("{file} is no regular file; copy the graph and its properties to files first")]
    NoFile {
        /// The file.
        file: String,
    },
    /// The bits of a list make no sense.
    #[error(
        "{file} is damaged or cut off at node {node} of {nodes} ({detail}); fetch it anew, with its properties"
    )]
    Damaged {
        /// The graph.
        file: String,
        /// The node, from 0.
        node: u64,
        /// How many nodes there are.
        nodes: u64,
        /// What does not fit.
        detail: String,
    },
    /// All lists could be read, but they do not have as many links as the properties claim.
    #[error(
        "{file} has {found} links and its properties say {links}: one of the two is damaged or of another graph"
    )]
    Links {
        /// The graph.
        file: String,
        /// How many links it has.
        found: u64,
        /// How many links it should have.
        links: u64,
    },
    /// The list of URLs belongs to another graph.
    #[error(
        "{file} has {lines} lines and {graph} has {nodes} nodes; give the list that came with the graph: line n + 1 is the URL of node n"
    )]
    Urls {
        /// The list.
        file: String,
        /// How many lines it has.
        lines: u64,
        /// The graph.
        graph: String,
        /// How many nodes the graph has.
        nodes: u64,
    },
}

impl From<BvGraphError> for InputError {
    fn from(error: BvGraphError) -> Self {
        Self::Format(Box::new(error))
    }
}
