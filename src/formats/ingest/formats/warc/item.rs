//! The parts of WARC records that are read.

use crate::ingest::formats::archive::header::{self, WarcHeader};
use crate::ingest::formats::archive::page_links::Nofollow;
use crate::ingest::summary::Unread;

/// The WARC format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Warc {
    pub(crate) nofollow: Nofollow,
}

/// A record that describes a page.
#[derive(Debug)]
pub(crate) struct WarcItem {
    /// The header of the record, and the part of its block that is read.
    pub(super) text: Vec<u8>,
    /// Length of the header, in bytes.
    pub(super) header_length: usize,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    /// The header of a response, and its body if that is HTML.
    Response {
        /// Length of the response's header, in bytes.
        header: usize,
        is_revisit: bool,
        is_html: bool,
        /// Why the body was not read completely.
        unread: Option<Unread>,
    },
    /// Links that a crawler found in a response.
    Metadata,
}

impl WarcItem {
    pub(super) fn header(&self) -> WarcHeader<'_> {
        header::read(self.text.get(..self.header_length).unwrap_or_default())
    }

    /// Returns the part of the block that is read.
    pub(super) fn block(&self) -> &[u8] {
        self.text.get(self.header_length..).unwrap_or_default()
    }

    pub(super) const fn is_metadata(&self) -> bool {
        matches!(self.kind, Kind::Metadata)
    }
}

/// Parses a line `outlink: URL kind context` into the URL and the kind.
pub(super) fn outlink(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let (name, value) = line.split_at_checked(b"outlink:".len())?;
    if !name.eq_ignore_ascii_case(b"outlink:") {
        return None;
    }
    let mut words = value
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    Some((words.next()?, words.next()?))
}
