//! The trait of formats of web archives.

use super::header::WarcHeader;
use super::records::Records;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::sniff::DetectedFormat;
use crate::ingest::summary::SkipReason;

/// A format of web archives: which records it reads, and how.
pub(crate) trait ArchiveFormat: Copy + Send + Sync + 'static {
    /// The part of a record that is read.
    type Item: Send;

    /// The kind that the first bytes of a file must show.
    const KIND: DetectedFormat;

    /// Whether a block may contain lines that begin like a record.
    const MAY_CONTAIN_RECORDS: bool;

    /// The length of the longest block, in bytes; a record with a longer one is rejected. `None` if
    /// the rest of a longer block is skipped.
    const MAX_BLOCK: Option<usize>;

    /// Returns whether more than the first [`BLOCK_PREFIX`] bytes of a block are needed.
    fn needs_block(self, header: &WarcHeader<'_>, prefix: &[u8]) -> bool;

    /// Extracts the item of a record; `Err` if the record does not describe a page. `block` is a
    /// prefix of the block unless it `is_complete`.
    fn extract(
        self,
        text: &[u8],
        header: &WarcHeader<'_>,
        block: &[u8],
        is_complete: bool,
    ) -> Result<Self::Item, SkipReason>;

    /// Returns the approximate memory of an item, in bytes, without the URLs parsed from it.
    fn memory(item: &Self::Item) -> usize;

    /// Returns whether an item must be read together with a preceding one.
    fn belongs(_previous: &Self::Item, _item: &Self::Item) -> bool {
        false
    }

    /// Reads the records of a piece.
    fn read(self, records: Records<Self::Item>, parser: &mut PieceParser);
}

/// Bytes of a block that suffice to decide whether the rest is needed.
pub(crate) const BLOCK_PREFIX: usize = 64 << 10;

/// The most skipped records between two that belong together.
pub(crate) const MAX_BETWEEN: usize = 4;
