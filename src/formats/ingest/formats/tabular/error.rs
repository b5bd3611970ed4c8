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
    /// No column contains the URLs of pages.
    #[error("{file} has no column url; its columns are {columns}")]
    NoUrl {
        /// The input.
        file: String,
        /// The names of its first columns.
        columns: String,
    },
    /// Two columns have the same name.
    #[error("{file} has two columns named {column}")]
    Twice {
        /// The input.
        file: String,
        /// The name.
        column: String,
    },
    /// A column has a type that its field cannot have.
    #[error("{file}: column {column}: expected {wanted}, found {is}")]
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
    #[error("{file} is empty; expected column names on the first line")]
    NoHeader {
        /// The input.
        file: String,
    },
    /// The first line does not contain column names.
    #[error("{file}: expected column names on the first line: {problem}")]
    Header {
        /// The input.
        file: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The first bytes are those of another format.
    #[error("{file} is not {kind}")]
    OtherKind {
        /// The input.
        file: String,
        /// What it should be.
        kind: &'static str,
    },
    /// Compressed as a whole, so that the reader cannot seek in it.
    #[error(
        "{file} is {kind} that is compressed as a whole; decompress it first (columns are compressed within the format)"
    )]
    Compressed {
        /// The input.
        file: String,
        /// What is in it.
        kind: &'static str,
    },
    /// The file is encrypted.
    #[error("{file} is an encrypted Parquet file; decrypt it first")]
    Encrypted {
        /// The input.
        file: String,
    },
    /// An unsupported compression.
    #[error("{file}: expected snappy, gzip, zstd or LZ4 compression, found {codec}")]
    Codec {
        /// The input.
        file: String,
        /// The compression.
        codec: String,
    },
    /// Long lists in an encoding by shared prefixes, which may expand without limit.
    #[error(
        "{file} has long lists in the encoding DELTA_BYTE_ARRAY; write them with dictionary or plain encoding"
    )]
    Prefixed {
        /// The input.
        file: String,
    },
    /// The file is truncated.
    #[error("{file} is truncated after row {rows}; fetch or write it again")]
    CutOff {
        /// The input.
        file: String,
        /// How many rows could be read.
        rows: u64,
    },
    /// The contents are invalid.
    #[error("{file} is damaged after row {rows}: {problem}")]
    Damaged {
        /// The input.
        file: String,
        /// How many rows could be read.
        rows: u64,
        /// What is wrong.
        problem: String,
    },
    /// Standard input could not be copied to a temporary file.
    #[error("cannot copy standard input to a temporary file in $TMPDIR")]
    Spool(#[source] std::io::Error),
    /// The program was built without support for the format.
    #[cfg(not(feature = "parquet"))]
    #[error(
        "cannot read {file}: this program was built without support for {kind} (feature {FEATURE})"
    )]
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
