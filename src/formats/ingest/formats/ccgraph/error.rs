//! Errors that refuse a web graph of Common Crawl.

use crate::display::escape_controls;
use crate::ingest::blocks::MAX_LINE;
use crate::ingest::formats::format_error::FormatError;

/// The files of a graph do not fit each other or are invalid. Lines are numbered from 1.
#[derive(Debug, thiserror::Error)]
pub(super) enum CcGraphError {
    #[error(
        "line {line} of {file}: expected vertex {id} as id, tab and reversed host, found `{}`; ids count from 0 over all parts, in the order given",
        escape_controls(text)
    )]
    Vertex {
        file: String,
        line: u64,
        id: u64,
        text: String,
    },
    /// An empty line before a vertex: a vertex may be missing.
    #[error("{file}: expected vertex {id}, found an empty line before line {line}")]
    EmptyLine { file: String, line: u64, id: u64 },
    #[error(
        "line {line} of {file}: expected an edge as two ids with a tab between them, found `{}`",
        escape_controls(text)
    )]
    Edge {
        file: String,
        line: u64,
        text: String,
    },
    /// An edge has a vertex that is not in the list.
    #[error(
        "line {line} of {file}: expected a vertex below {vertices}, the number of vertices listed, found {id}; the list is incomplete or belongs to another graph"
    )]
    Beyond {
        file: String,
        line: u64,
        id: u64,
        vertices: u64,
    },
    /// The edges of a vertex are not consecutive.
    #[error(
        "line {line} of {file} has an edge from vertex {from} after edges from vertex {after}; expected edges in ascending order of the source vertex over all parts; give the parts in order"
    )]
    Unsorted {
        file: String,
        line: u64,
        from: u64,
        after: u64,
    },
    /// The last line of a file has no line end.
    #[error("{file} is truncated in line {line}; fetch it again")]
    CutOff { file: String, line: u64 },
    #[error("line {line} of {file}: expected at most {MAX_LINE} bytes, found {bytes}")]
    TooLong { file: String, line: u64, bytes: u64 },
    /// The first line of the ranks does not name their columns.
    #[error(
        "{file} has no ranks: expected tab-separated column names with {position} and {host} on the first line, found `{}`",
        escape_controls(text)
    )]
    Header {
        file: String,
        position: &'static str,
        host: &'static str,
        text: String,
    },
    /// The ranks are incomplete: a position exceeds the number of rows.
    #[error(
        "line {line} of {file}: expected a position of at most {rows}, the number of rows, found {position}: the ranks are incomplete, and qualities depend on their number"
    )]
    IncompleteRanks {
        file: String,
        line: u64,
        position: u64,
        rows: u64,
    },
}

impl FormatError for CcGraphError {}
