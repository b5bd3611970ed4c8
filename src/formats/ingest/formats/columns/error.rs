//! Why a table is refused.

use crate::ingest::open::InputError;

/// Where the Parquet feature is, for those who build without it.
#[cfg(not(feature = "parquet"))]
const FEATURE: &str = "parquet";

/// The input is no table of records, or not all of it can be read.
#[derive(Debug, thiserror::Error)]
#[cfg_attr(
    not(feature = "parquet"),
    allow(dead_code, reason = "what only Parquet and Arrow need")
)]
pub enum TableError {
    /// No column has the pages' URLs.
    #[error("{file} has no column url; its columns are {columns}")]
    NoUrl {
        /// The input.
        file: String,
        /// The names of its first columns.
        columns: String,
    },
    /// Two columns have one name.
    #[error("{file} has two columns {column}")]
    Twice {
        /// The input.
        file: String,
        /// The name.
        column: String,
    },
    /// A column has a type that its field cannot have.
    #[error("{file}: the column {column} is of the type {is}; it must be {wanted}")]
    ColumnType {
        /// The input.
        file: String,
        /// The column.
        column: String,
        /// Its type, as Arrow calls it.
        is: String,
        /// What it must be.
        wanted: &'static str,
    },
    /// A text without a header.
    #[error("{file} is empty; its first line must name its columns")]
    NoHeader {
        /// The input.
        file: String,
    },
    /// The header is no line of names.
    #[error("the first line of {file} is no header: {problem}")]
    Header {
        /// The input.
        file: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// It begins otherwise.
    #[error("{file} is no {kind}")]
    OtherKind {
        /// The input.
        file: String,
        /// What it should be.
        kind: &'static str,
    },
    /// Compressed as a whole, so that there is nothing to seek in.
    #[error(
        "{file} is {kind} that is compressed as a whole; decompress it first (its columns are compressed by themselves)"
    )]
    Compressed {
        /// The input.
        file: String,
        /// What is in it.
        kind: &'static str,
    },
    /// Nobody has the key here.
    #[error("{file} is an encrypted Parquet file; decrypt it first")]
    Encrypted {
        /// The input.
        file: String,
    },
    /// A compression that is not read.
    #[error("{file} is compressed with {codec}; snappy, gzip, zstd and LZ4 are read")]
    Codec {
        /// The input.
        file: String,
        /// The compression.
        codec: String,
    },
    /// Lists of texts that share their beginnings, of which a few bytes may stand for any number.
    #[error(
        "{file} has long lists in the encoding DELTA_BYTE_ARRAY; write them with a dictionary, or plain"
    )]
    Prefixed {
        /// The input.
        file: String,
    },
    /// It ends too early.
    #[error("{file} is cut off after row {rows}; fetch or write it anew")]
    CutOff {
        /// The input.
        file: String,
        /// How many rows could be read.
        rows: u64,
    },
    /// What is read of it does not make sense.
    #[error("{file} is damaged after row {rows}: {problem}")]
    Damaged {
        /// The input.
        file: String,
        /// How many rows could be read.
        rows: u64,
        /// What is wrong.
        problem: String,
    },
    /// Standard input could not be kept in a file.
    #[error("cannot keep standard input in a temporary file; $TMPDIR names its folder")]
    Spool(#[source] std::io::Error),
    /// The program was built without it.
    #[cfg(not(feature = "parquet"))]
    #[error("{file} cannot be read: this program was built without {kind}, the feature {FEATURE}")]
    NotBuilt {
        /// The input.
        file: String,
        /// The format.
        kind: &'static str,
    },
}

impl From<TableError> for InputError {
    fn from(error: TableError) -> Self {
        Self::Format(Box::new(error))
    }
}
