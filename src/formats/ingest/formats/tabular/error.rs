//! Errors that refuse a table as a whole.

use crate::ingest::formats::format_error::FormatError;

#[derive(Debug, thiserror::Error)]
#[cfg_attr(
    not(feature = "parquet"),
    allow(dead_code, reason = "needed by Parquet and Arrow alone")
)]
pub(super) enum TableError {
    #[error("{file} has no column url; its columns are {columns}")]
    NoUrl {
        file: String,
        /// The names of the first columns.
        columns: String,
    },
    #[error("{file} has two columns named {column}")]
    Twice { file: String, column: String },
    /// The type of a column does not fit its field.
    #[error("{file}: column {column}: expected {wanted}, found {is}")]
    ColumnType {
        file: String,
        column: String,
        /// Its type, in the terms of Arrow.
        is: String,
        wanted: &'static str,
    },
    #[error("{file} is empty; expected column names on the first line")]
    NoHeader { file: String },
    /// The first line does not contain column names.
    #[error("{file}: expected column names on the first line: {problem}")]
    Header { file: String, problem: &'static str },
    #[error("{file} is not {kind}")]
    OtherKind { file: String, kind: &'static str },
    /// The file is compressed as a whole, so that the reader cannot seek in it.
    #[error(
        "{file} is {kind} that is compressed as a whole; decompress it first (columns are compressed within the format)"
    )]
    Compressed { file: String, kind: &'static str },
    #[error("{file} is an encrypted Parquet file; decrypt it first")]
    Encrypted { file: String },
    #[error("{file}: expected snappy, gzip, zstd or LZ4 compression, found {codec}")]
    Codec { file: String, codec: String },
    /// Long lists in an encoding by shared prefixes, which may expand without limit.
    #[error(
        "{file} has long lists in the encoding DELTA_BYTE_ARRAY; write them with dictionary or plain encoding"
    )]
    Prefixed { file: String },
    #[error("{file} is truncated after row {rows}; fetch or write it again")]
    CutOff {
        file: String,
        /// Number of rows that could be read.
        rows: u64,
    },
    #[error("{file} is damaged after row {rows}: {problem}")]
    Damaged {
        file: String,
        /// Number of rows that could be read.
        rows: u64,
        problem: String,
    },
    /// The library that yields the batches failed.
    #[error("cannot read {name} after row {rows}: {problem}")]
    Batches {
        name: String,
        /// Number of rows that could be read.
        rows: u64,
        problem: String,
    },
    /// Standard input could not be copied to a temporary file.
    #[error("cannot copy standard input to a temporary file in $TMPDIR")]
    Spool(#[source] std::io::Error),
    /// The program was built without support for the format.
    #[cfg(not(feature = "parquet"))]
    #[error(
        "cannot read {file}: this program was built without support for {kind} (feature parquet)"
    )]
    NotBuilt { file: String, kind: &'static str },
}

impl FormatError for TableError {}
