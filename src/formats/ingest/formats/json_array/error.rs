//! What refuses a file of JSON as a whole.

use crate::display::counted;
use crate::ingest::open::InputError;

/// Why no more records can be told apart.
#[derive(Debug, thiserror::Error)]
pub(super) enum JsonError {
    /// The file begins with neither an array nor an object.
    #[error("{file} is not JSON: expected an array or an object at the beginning")]
    NoJson { file: String },
    /// The text between two records is not valid JSON.
    #[error("{file} is not valid JSON after record {record}, at byte {byte}: expected {wanted}")]
    Between {
        file: String,
        record: u64,
        byte: u64,
        wanted: &'static str,
    },
    /// The file ends before the array does, or within a record.
    #[error("{file} is truncated after record {record}; it ends after {}", counted(*bytes, "byte"))]
    CutOff {
        file: String,
        record: u64,
        bytes: u64,
    },
}

impl From<JsonError> for InputError {
    fn from(error: JsonError) -> Self {
        Self::Format(Box::new(error))
    }
}
