//! WAT: the metadata of web archives, as Common Crawl publishes it next to each of its archives.
//!
//! ```text
//! gzip --> records --Splitter--> pieces of JSON blocks --capture, in parallel--> a record for each page
//! ```
//!
//! * A WAT file is itself a web archive: first a `warcinfo` record, then, for each record of the
//!   described archive (request, response, metadata), a record of type `metadata` whose block is
//!   JSON. Those that describe a response are read; all others are skipped and counted
//!   ([`SkipReason`]).
//! * A page with a status of 200 to 299 is crawled, with its links, digest and time; 300 to 399
//!   except 304, with a `Location`, is a redirect; 404 and 410 are gone; any other status leaves the
//!   page unchanged.
//! * The position of a rejected record is its number among all records of the file. A wrong length
//!   costs one record (`formats/archive/framing.rs`); a file that ends within a record is refused.
//!
//! Cost: two passes over the JSON of a page, and memory for pieces of half a megabyte, or for the
//! longest record, of at most 16 MiB.

mod capture;
mod envelope;

use super::archive::archive_format::ArchiveFormat;
use super::archive::header::WarcHeader;
use super::archive::page_links::Nofollow;
use super::archive::records::{Content, Record, Records};
use crate::ingest::blocks::MAX_LINE;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::reject::Position;
use crate::ingest::sniff::DetectedFormat;
use crate::ingest::summary::SkipReason;
use capture::capture;

/// The WAT format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wat {
    pub(super) nofollow: Nofollow,
}

impl ArchiveFormat for Wat {
    type Item = Vec<u8>;

    const KIND: DetectedFormat = DetectedFormat::Wat;
    const MAY_CONTAIN_RECORDS: bool = false;
    const MAX_BLOCK: Option<usize> = Some(MAX_LINE);

    fn needs_block(self, header: &WarcHeader<'_>, _: &[u8]) -> bool {
        let is_json =
            header.content.is_empty() || header.content.eq_ignore_ascii_case(b"application/json");
        is_json && header.is("metadata")
    }

    fn extract(
        self,
        _: &[u8],
        header: &WarcHeader<'_>,
        block: &[u8],
        _: bool,
    ) -> Result<Vec<u8>, SkipReason> {
        if self.needs_block(header, block) {
            Ok(block.to_vec())
        } else {
            Err(SkipReason::NoResponse)
        }
    }

    fn memory(item: &Vec<u8>) -> usize {
        item.len()
    }

    fn read(self, records: Records<Vec<u8>>, parser: &mut PieceParser) {
        read_all(self, records.items.into_iter(), parser);
    }
}

fn read_all(wat: Wat, mut records: std::vec::IntoIter<Record<Vec<u8>>>, parser: &mut PieceParser) {
    while let Some(record) = records.next() {
        if parser.is_full() {
            let rest = std::iter::once(record).chain(records).collect::<Vec<_>>();
            parser.continue_with(move |parser| read_all(wat, rest.into_iter(), parser));
            return;
        }
        let at = Position::Record(record.number);
        match record.content {
            Content::Skipped(reason) => parser.skip_record(reason),
            Content::Rejected(fault, text) => parser.add(at, Err(fault), &text),
            Content::Item(json) => match capture(&json, wat.nofollow, parser) {
                Ok(Ok(event)) => parser.add(at, Ok(event), &json),
                Ok(Err(reason)) => parser.skip_record(reason),
                Err(fault) => parser.add(at, Err(fault), &json),
            },
        }
    }
}
