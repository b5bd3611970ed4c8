//! Why a Common Crawl web graph is refused.

use crate::ingest::blocks::MAX_LINE;
use crate::ingest::open::InputError;
use crate::shown::{counted, plain};

/// The files of a graph do not fit each other, or are not what they should be.
#[derive(Debug, thiserror::Error)]
pub(super) enum CcGraphError {
    /// A line is not the vertex that has its turn.
    #[error(
        "line {line} of {file} is not vertex {id} ({}); a vertex is its id, a tab and its reversed host, and ids count from 0 over all parts, in the order in which they are given",
        plain(text)
    )]
    Vertex {
        /// The list of vertices.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The id that has its turn.
        id: u64,
        /// The beginning of the line.
        text: String,
    },
    /// An empty line with vertices after it: a line may be lost there.
    #[error("{file} has an empty line before its line {line}, where vertex {id} should be")]
    EmptyLine {
        /// The list of vertices.
        file: String,
        /// The line after it, from 1.
        line: u64,
        /// The id that should be there.
        id: u64,
    },
    /// A line is no edge.
    #[error(
        "line {line} of {file} is no edge ({}); an edge is two ids with a tab between them",
        plain(text)
    )]
    Edge {
        /// The list of edges.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The beginning of the line.
        text: String,
    },
    /// An edge has a vertex that is not listed.
    #[error(
        "line {line} of {file} names vertex {id}, and {vertices} are listed, from 0: the list is not whole, or of another graph"
    )]
    Beyond {
        /// The list of edges.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The vertex that it names.
        id: u64,
        /// How many vertices there are.
        vertices: u64,
    },
    /// The edges of a vertex do not stand together.
    #[error(
        "line {line} of {file} has an edge of vertex {from} after those of vertex {after}; edges must ascend by the vertex that they lead from, over all parts, so give the parts in their order"
    )]
    Unsorted {
        /// The list of edges.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The vertex that the edge leads from.
        from: u64,
        /// The vertex that the edge before leads from.
        after: u64,
    },
    /// The last line of a file has no end.
    #[error("{file} is cut off in line {line}, which has no end; fetch it anew")]
    CutOff {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
    },
    /// A line is far longer than any that such a file has.
    #[error("line {line} of {file} has {bytes} bytes; at most {MAX_LINE} are read")]
    TooLong {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// Its length in bytes.
        bytes: u64,
    },
    /// The first line of the ranks does not name their columns.
    #[error(
        "{file} has no ranks: its first line must name columns, with tabs between them, among them {position} and {host}, and it is {}",
        plain(text)
    )]
    Header {
        /// The list of ranks.
        file: String,
        /// The name of the column of positions.
        position: &'static str,
        /// The name of the column of hosts.
        host: &'static str,
        /// The beginning of its first line.
        text: String,
    },
    /// A position that cannot be among so many rows.
    #[error(
        "line {line} of {file} has position {position}, and the ranks have {}: they are not whole, and qualities depend on their number",
        counted(*rows, "row")
    )]
    NotWhole {
        /// The list of ranks.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The largest position.
        position: u64,
        /// How many rows there are.
        rows: u64,
    },
}

impl From<CcGraphError> for InputError {
    fn from(error: CcGraphError) -> Self {
        Self::Format(Box::new(error))
    }
}
