//! Errors that refuse a JSON file as a whole.

use crate::display::counted;
use crate::ingest::formats::format_error::FormatError;

#[derive(Debug, thiserror::Error)]
pub(super) enum JsonError {
    #[error("{file} is not JSON: expected an array or an object at the beginning")]
    NoJson { file: String },
    /// The text between two records is not valid JSON.
    #[error("{file} is not valid JSON after record {record}, at byte {byte}: expected {wanted}")]
    Invalid {
        file: String,
        record: u64,
        byte: u64,
        wanted: &'static str,
    },
    #[error("{file} is truncated after record {record}; it ends after {}", counted(*bytes, "byte"))]
    CutOff {
        file: String,
        record: u64,
        bytes: u64,
    },
}

impl FormatError for JsonError {}
