//! What refuses a file of JSON as a whole.

use crate::ingest::open::InputError;
use crate::shown::counted;

/// Why no more records can be told apart.
#[derive(Debug, thiserror::Error)]
pub(super) enum JsonError {
    /// It begins with neither of the two.
    #[error("{file} is no JSON: it begins with neither an array nor an object")]
    NoJson { file: String },
    /// What stands between two records is not what JSON has there.
    #[error("{file} is no JSON after record {record}, at byte {byte}: {wanted} must stand there")]
    Between {
        file: String,
        record: u64,
        byte: u64,
        wanted: &'static str,
    },
    /// It ends before the array does, or within a record.
    #[error("{file} is cut off after record {record}, at its end after {}", counted(*bytes, "byte"))]
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
