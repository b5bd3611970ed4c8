//! Why a web archive is refused.

use std::ffi::OsStr;
use std::path::Path;

use crate::ingest::open::InputError;

/// The text is no web archive, or not all of it is there.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The file is not a web archive.
    #[error("{file} is not a web archive: expected WARC/1.0 at the beginning")]
    NoArchive {
        /// The input.
        file: String,
    },
    /// It ends within a record.
    #[error("{file} is truncated in record {record}, after {text} bytes of text; {}", advice(.file))]
    CutOff {
        /// The input.
        file: String,
        /// The record's number, from 1.
        record: u64,
        /// How many bytes of decompressed text there are.
        text: u64,
    },
}

/// What to do about a file that is cut off: crawlers call those so that they still write.
fn advice(file: &str) -> &'static str {
    let is_open = Path::new(file).extension() == Some(OsStr::new("open"));
    if is_open {
        "its crawler still writes it, or was broken off: take it when it is closed, or only its whole records"
    } else {
        "fetch it again"
    }
}

impl From<ArchiveError> for InputError {
    fn from(error: ArchiveError) -> Self {
        Self::Format(Box::new(error))
    }
}
