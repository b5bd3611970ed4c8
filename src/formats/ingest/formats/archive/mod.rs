//! Web archives (ISO 28500): what WARC files with responses and WAT files with metadata share.
//!
//! ```text
//! text --Splitter, by an ArchiveFormat--> pieces of Records --ArchiveFormat::read, in parallel--> events
//! ```

pub(super) mod archive_format;
pub(super) mod error;
pub(super) mod framing;
pub(super) mod header;
pub(super) mod page_links;
pub(super) mod records;
mod resync;

use super::file_source::{FileFormat, OpenFile};
use crate::ingest::source::{Piece, Pieces, Stop};
use archive_format::ArchiveFormat;
use framing::Splitter;

/// Bytes of memory for each byte of an item, including the URLs that are parsed from it.
const EXPANSION: usize = 2;

impl<F: ArchiveFormat> FileFormat for F {
    fn pieces<'a>(&self, file: OpenFile<'a>) -> Result<Pieces<'a>, Stop> {
        let format = *self;
        Ok(Box::new(Splitter::new(format, file).map(move |records| {
            let records = records?;
            Ok(Piece {
                bytes: records.bytes,
                records: records.items.len(),
                memory: records.memory * EXPANSION,
                read: Box::new(move |parser| format.read(records, parser)),
            })
        })))
    }
}
