//! What a format of web archives keeps of its records.

use super::head::Head;
use crate::ingest::sniff::DetectedFormat;
use crate::ingest::summary::SkipReason;

/// How a format reads the records that are cut from its text.
pub(crate) trait Layout: Send {
    /// What is kept of a record.
    type Item: Send;

    /// What the first bytes of a file must say that it is.
    const IS: DetectedFormat;

    /// Whether a line in a block may begin as a record does.
    const HOLDS_RECORDS: bool;

    /// The longest block, in bytes; a record with a longer one is refused. `None` where the rest of
    /// one is skipped.
    const LONGEST: Option<usize>;

    /// Whether more than its first [`BEGINNING`] bytes are wanted of a record's block.
    fn wants(&self, head: &Head<'_>, beginning: &[u8]) -> bool;

    /// What is kept of a record; `Err` where it says nothing. The head is given as text, and read;
    /// the block may be the first bytes of it, and then is not `whole`.
    fn item(
        &self,
        text: &[u8],
        head: &Head<'_>,
        block: &[u8],
        whole: bool,
    ) -> Result<Self::Item, SkipReason>;

    /// About how many bytes of memory it takes, with what is read from it.
    fn memory(item: &Self::Item) -> usize;

    /// Whether a record belongs to one of those that came just before it, so that both are read
    /// together.
    fn belongs(_before: &Self::Item, _item: &Self::Item) -> bool {
        false
    }
}

/// How many bytes of a block are looked at to know whether the rest is wanted.
pub(crate) const BEGINNING: usize = 64 << 10;

/// How many records that say nothing may stand between two that belong together.
pub(crate) const BETWEEN: usize = 4;
