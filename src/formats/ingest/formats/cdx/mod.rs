//! Indexes of web archives: CDX, with columns, and CDXJ, with JSON. They say what was fetched, when,
//! with which status and content, and nothing of links.
//!
//! ```text
//!  CDX N b a m s k r M S V g
//! example,a)/ 20261119040000 http://a.example/ text/html 200 ABC... - - 1043 333 a.warc.gz
//! example,a)/ 20261119040000 {"url": "http://a.example/", "mime": "text/html", "status": "200", "digest": "ABC..."}
//! ```
//!
//! A line says which of the two it is. What a status says of its page is as in
//! [`fetch`](crate::ingest::fetch); an entry of the type `warc/revisit` without a status is a page
//! that was fetched and had the content that the digest stands for.

mod columns;
mod entry;

use crate::ingest::entries::{Entry, EntryFormat, each};
use crate::ingest::open::Input;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::reject::Fault;
use crate::ingest::source::Sources;
use crate::ingest::summary::SkipReason;
use columns::Header;

/// The sources for indexes.
pub(super) fn sources(inputs: &[Input]) -> Sources {
    each(inputs, Cdx)
}

/// A line of an index.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cdx;

impl EntryFormat for Cdx {
    type Context = Header;

    fn update(&self, line: &[u8], header: &mut Header) {
        if let Some(columns) = Header::of(line) {
            *header = columns;
        }
    }

    fn read(&self, line: &str, header: &Header, parser: &mut PieceParser) -> Result<Entry, Fault> {
        // Headers of CDXJ begin so.
        if line.starts_with('!') || Header::of(line.as_bytes()).is_some() {
            return Ok(Entry::Skipped(SkipReason::NoPage));
        }
        let mut parts = line.splitn(3, ' ').skip(1);
        match (parts.next(), parts.next()) {
            (Some(time), Some(json)) if json.starts_with('{') => entry::of_json(time, json, parser),
            _ => header.entry(line)?.said(parser),
        }
    }
}

#[cfg(test)]
mod tests;
