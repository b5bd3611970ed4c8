//! Why a graph in the BV format is refused.

use std::io;

use crate::ingest::open::InputError;

/// The files of a graph are missing, do not fit each other, or are damaged.
#[derive(Debug, thiserror::Error)]
pub enum BvGraphError {
    /// One of the two files of a graph is missing or cannot be opened.
    #[error("cannot open {file}: a graph consists of BASENAME.graph and BASENAME.properties")]
    Open {
        /// The file.
        file: String,
        /// What the system says.
        source: io::Error,
    },
    /// The properties do not describe a BV graph, or one of an unknown version.
    #[error("{file} does not describe a graph in the BV format: {detail}")]
    Properties {
        /// The file.
        file: String,
        /// What is wrong.
        detail: String,
    },
    /// The properties claim more nodes than the graph file can contain.
    #[error(
        "{file} has {bytes} bytes, too few for the {nodes} nodes of its properties: it is truncated or belongs to another graph"
    )]
    TooShort {
        /// The graph.
        file: String,
        /// The size of the graph file, in bytes.
        bytes: u64,
        /// How many nodes it should have.
        nodes: u64,
    },
    /// The properties claim more links than a file of this size can have in any crawl.
    #[error(
        "{file} has {bytes} bytes, and its properties claim {links} links; expected at most {per_byte} links per byte: its properties are damaged or belong to another graph"
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
    /// It is a directory, a device or a pipe. A graph must be a file, since it is examined before it
    /// is read.
    #[error("{file} is not a regular file; copy the graph and its properties to files first")]
    NoFile {
        /// The file.
        file: String,
    },
    /// The bits of an adjacency list are invalid.
    #[error(
        "{file} is damaged or truncated at node {node} of {nodes} ({detail}); fetch it and its properties again"
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
    /// The number of links differs from the number that the properties claim.
    #[error(
        "{file}: expected {links} links according to its properties, found {found}: one of the two files is damaged or belongs to another graph"
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
        "{file}: expected {nodes} lines, one for each node of {graph}, found {lines}; give the list that belongs to the graph: line n + 1 is the URL of node n"
    )]
    NodeUrls {
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
