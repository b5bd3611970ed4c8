//! Errors that refuse a web archive as a whole.

use std::ffi::OsStr;
use std::path::Path;

use crate::ingest::formats::format_error::FormatError;

#[derive(Debug, thiserror::Error)]
pub(super) enum ArchiveError {
    #[error("{file} is not a web archive: expected WARC/1.0 at the beginning")]
    NoArchive { file: String },
    #[error("{file} is truncated in record {record}, after {text} bytes of text; {}", advice(.file))]
    CutOff {
        file: String,
        /// The number of the record, from 1.
        record: u64,
        /// Bytes of decompressed text up to the end.
        text: u64,
    },
}

impl FormatError for ArchiveError {}

/// Returns what to do about a truncated file. Crawlers name a file `.open` while they write it.
fn advice(file: &str) -> &'static str {
    let is_open = Path::new(file).extension() == Some(OsStr::new("open"));
    if is_open {
        "its crawler is still writing it or was interrupted: ingest it once it is closed, or copy its complete records"
    } else {
        "fetch it again"
    }
}
