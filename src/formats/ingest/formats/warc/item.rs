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
    /// What a crawler noted about a response: links that it found, and how it came to the page.
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

/// How a crawler came to a page, as Heritrix notes it.
#[derive(Default)]
pub(super) struct NotedOrigin<'a> {
    /// Whether the page is a seed. Then nothing else is noted.
    pub(super) is_seed: bool,
    /// The seed that the page was found from, if the crawler tags seeds.
    pub(super) seed: Option<&'a [u8]>,
    pub(super) via: Option<&'a [u8]>,
    /// The discovery path: one letter per step from the seed.
    path: &'a [u8],
}

impl<'a> NotedOrigin<'a> {
    /// Reads the lines of metadata.
    pub(super) fn read(block: &'a [u8]) -> Self {
        let mut origin = Self::default();
        for line in block.split(|byte| *byte == b'\n') {
            let line = line.trim_ascii();
            let colon = line.iter().position(|byte| *byte == b':');
            let (name, value) = line.split_at(colon.unwrap_or(line.len()));
            let value = value.strip_prefix(b":").unwrap_or_default().trim_ascii();
            match name {
                b"seed" if value.is_empty() => origin.is_seed = true,
                b"sourceTag" => origin.seed = Some(value),
                b"via" => origin.via = Some(value),
                b"hopsFromSeed" => origin.path = value,
                _ => {}
            }
        }
        origin
    }

    /// Returns whether it names a seed.
    pub(super) const fn has_seed(&self) -> bool {
        self.is_seed || self.seed.is_some()
    }

    /// Returns the number of steps from the seed.
    pub(super) fn depth(&self) -> Option<u32> {
        u32::try_from(self.path.len()).ok()
    }
}

/// Returns whether metadata lists links that a crawler found.
pub(super) fn has_outlinks(block: &[u8]) -> bool {
    let mut lines = block.split(|byte| *byte == b'\n');
    lines.any(|line| outlink(line).is_some())
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
