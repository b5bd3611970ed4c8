//! Indexes of web archives: CDX, with columns, and CDXJ, with JSON. They list what was fetched,
//! when, and with which status and digest, but no links.
//!
//! ```text
//!  CDX N b a m s k r M S V g
//! example,a)/ 20261119040000 http://a.example/ text/html 200 ABC... - - 1043 333 a.warc.gz
//! example,a)/ 20261119040000 {"url": "http://a.example/", "mime": "text/html", "status": "200", "digest": "ABC..."}
//! ```
//!
//! Each line shows which of the two it is. A status means the same for its page as in
//! [`fetch`](crate::ingest::fetch); an entry of type `warc/revisit` without a status is a page that
//! was crawled and had the content of the digest.

mod capture;
mod header;

use crate::ingest::entries::{Entry, EntryFormat};
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::reject::Fault;
use crate::ingest::summary::SkipReason;
use header::Header;

/// An index of a web archive.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cdx;

impl EntryFormat for Cdx {
    type Context = Header;

    fn update(&self, line: &[u8], header: &mut Header) {
        if let Some(columns) = Header::parse(line) {
            *header = columns;
        }
    }

    fn read(&self, line: &str, header: &Header, parser: &mut PieceParser) -> Result<Entry, Fault> {
        // A header of CDXJ begins with `!`.
        if line.starts_with('!') || Header::parse(line.as_bytes()).is_some() {
            return Ok(Entry::Skipped(SkipReason::NoPage));
        }
        let mut parts = line.splitn(3, ' ').skip(1);
        match (parts.next(), parts.next()) {
            (Some(time), Some(json)) if json.starts_with('{') => {
                capture::read_json(time, json, parser)
            }
            _ => header.capture(line)?.entry(parser),
        }
    }
}

#[cfg(test)]
mod tests;
