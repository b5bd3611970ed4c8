//! Errors that refuse a graph in the BV format.

use std::io;

use crate::ingest::formats::format_error::FormatError;

#[derive(Debug, thiserror::Error)]
pub(super) enum BvGraphError {
    #[error("cannot open {file}: a graph consists of BASENAME.graph and BASENAME.properties")]
    Open { file: String, source: io::Error },
    /// The properties do not describe a BV graph, or one of an unknown version.
    #[error("{file} does not describe a graph in the BV format: {detail}")]
    Properties { file: String, detail: String },
    /// The properties claim more nodes than the graph file can contain.
    #[error(
        "{file} has {bytes} bytes, too few for the {nodes} nodes of its properties: it is truncated or belongs to another graph"
    )]
    TooShort {
        file: String,
        bytes: u64,
        nodes: u64,
    },
    /// The properties claim more links than a file of this size can have in any crawl.
    #[error(
        "{file} has {bytes} bytes, and its properties claim {links} links; expected at most {per_byte} links per byte: its properties are damaged or belong to another graph"
    )]
    TooDense {
        file: String,
        bytes: u64,
        links: u64,
        per_byte: u64,
    },
    /// A directory, a device or a pipe. A graph must be a file, since it is examined before it is
    /// read.
    #[error("{file} is not a regular file; copy the graph and its properties to files first")]
    NoFile { file: String },
    #[error(
        "{file} is damaged or truncated at node {node} of {nodes} ({detail}); fetch it and its properties again"
    )]
    Damaged {
        file: String,
        /// The node, from 0.
        node: u64,
        nodes: u64,
        detail: String,
    },
    /// The number of links differs from that in the properties.
    #[error(
        "{file}: expected {links} links according to its properties, found {found}: one of the two files is damaged or belongs to another graph"
    )]
    Links {
        file: String,
        found: u64,
        links: u64,
    },
    /// The number of URLs differs from that of nodes.
    #[error(
        "{file}: expected {nodes} lines, one for each node of {graph}, found {lines}; give the list that belongs to the graph: line n + 1 is the URL of node n"
    )]
    Urls {
        file: String,
        lines: u64,
        graph: String,
        nodes: u64,
    },
}

impl FormatError for BvGraphError {}
