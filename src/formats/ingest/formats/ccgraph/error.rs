//! Why a Common Crawl web graph is refused.

use crate::display::escape_controls;
use crate::ingest::blocks::MAX_LINE;
use crate::ingest::open::InputError;

/// The files of a graph do not fit each other, or are not what they should be.
#[derive(Debug, thiserror::Error)]
pub(super) enum CcGraphError {
    /// A line is not the expected vertex.
    #[error(
        "line {line} of {file}: expected vertex {id} as id, tab and reversed host, found `{}`; ids count from 0 over all parts, in the order given",
        escape_controls(text)
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
    /// An empty line before a vertex, where a line may be missing.
    #[error("{file}: expected vertex {id}, found an empty line before line {line}")]
    EmptyLine {
        /// The list of vertices.
        file: String,
        /// The line after it, from 1.
        line: u64,
        /// The id that should be there.
        id: u64,
    },
    /// A line is not an edge.
    #[error(
        "line {line} of {file}: expected an edge as two ids with a tab between them, found `{}`",
        escape_controls(text)
    )]
    Edge {
        /// The list of edges.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The beginning of the line.
        text: String,
    },
    /// An edge has a vertex that is not in the list.
    #[error(
        "line {line} of {file}: expected a vertex below {vertices}, the number of vertices listed, found {id}; the list is incomplete or belongs to another graph"
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
    /// The edges of a vertex are not consecutive.
    #[error(
        "line {line} of {file} has an edge from vertex {from} after edges from vertex {after}; expected edges in ascending order of the source vertex over all parts; give the parts in order"
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
    /// The last line of a file has no line end.
    #[error("{file} is truncated in line {line}; fetch it again")]
    CutOff {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
    },
    /// A line is too long.
    #[error("line {line} of {file}: expected at most {MAX_LINE} bytes, found {bytes}")]
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
        "{file} has no ranks: expected tab-separated column names with {position} and {host} on the first line, found `{}`",
        escape_controls(text)
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
    /// A position that exceeds the number of rows.
    #[error(
        "line {line} of {file}: expected a position of at most {rows}, the number of rows, found {position}: the ranks are incomplete, and qualities depend on their number"
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
