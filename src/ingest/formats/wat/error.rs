//! Why a WAT file is refused.

use crate::ingest::open::InputError;

/// The text is no web archive, or not all of it is there.
#[derive(Debug, thiserror::Error)]
pub enum WatError {
    /// It does not begin as web archives do.
    #[error("{file} is no web archive: it does not begin with WARC/1.0")]
    NoArchive {
        /// The input.
        file: String,
    },
    /// It ends within a record.
    #[error("{file} is cut off in record {record}, after {text} bytes of text; fetch it anew")]
    CutOff {
        /// The input.
        file: String,
        /// The record's number, from 1.
        record: u64,
        /// How many bytes of decompressed text there are.
        text: u64,
    },
}

impl From<WatError> for InputError {
    fn from(error: WatError) -> Self {
        Self::Format(Box::new(error))
    }
}
