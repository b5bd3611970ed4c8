//! Records of an archive, cut from its text.

use crate::ingest::reject::Fault;
use crate::ingest::summary::SkipReason;

/// Consecutive records.
#[derive(Debug)]
pub(crate) struct Records<I> {
    pub(crate) items: Vec<Record<I>>,
    /// Bytes of decompressed text that they were cut from.
    pub(crate) bytes: u64,
    /// Memory of the items, in bytes.
    pub(crate) memory: usize,
}

/// A record that was cut from the text.
#[derive(Debug)]
pub(crate) struct Record<I> {
    /// Its number in the file, from 1.
    pub(crate) number: u64,
    pub(crate) content: Content<I>,
    /// Whether it must be read together with the item before it.
    pub(crate) belongs: bool,
    pub(super) bytes: u64,
}

/// What was extracted from a record.
#[derive(Debug)]
pub(crate) enum Content<I> {
    Item(I),
    /// Nothing: the record does not describe a page.
    Skipped(SkipReason),
    /// The record is rejected; with the beginning of its text.
    Rejected(Fault, Vec<u8>),
}
