//! WAT: the metadata of web archives, as Common Crawl publishes it beside each of its archives.
//!
//! ```text
//! gzip --> WARC records, one after another --Cutter--> pieces of blocks --capture, in parallel--> a record for each page
//! ```
//!
//! * A WAT is itself a web archive: first a `warcinfo`, then for each record of the archive that it
//!   describes (a request, the response, what was noted of the fetch) one of the type `metadata`,
//!   whose block is JSON. Those that describe a response are read; all others are passed over and
//!   counted ([`SkipReason`]).
//! * A page with a status of 200 to 299 is crawled, with its links, digest and time; 300 to 399 but
//!   304, with a `Location`, is a redirect; 404 and 410 are gone; any other status leaves the page as
//!   it was.
//! * A record that is refused has its number for a position, counted over all records of the file. A
//!   wrong length costs one record (`formats/archive/frames.rs`); a file that ends within a record is refused.
//!
//! Cost: two passes over the JSON of a page, and memory for pieces of half a megabyte, or of the
//! longest record, of at most 16 MiB.

mod capture;
mod envelope;

use super::archive::frames::{Frame, Frames, Record};
use super::archive::head::Head;
use super::archive::layout::Layout;
use super::archive::links::Nofollow;
use super::archive::source::Archive;
use crate::ingest::blocks::MAX_LINE;
use crate::ingest::open::Input;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::reject::Position;
use crate::ingest::sniff::DetectedFormat;
use crate::ingest::source::{Source, Sources};
use crate::ingest::summary::SkipReason;
use capture::capture;

/// The sources for WAT files.
pub(super) fn sources(inputs: &[Input], nofollow: Nofollow) -> Sources {
    let source = |input| Box::new(archive(input, nofollow)) as Box<dyn Source>;
    inputs.iter().map(source).collect()
}

/// A WAT file.
pub(super) fn archive(input: &Input, nofollow: Nofollow) -> Archive<Wat> {
    Archive {
        input: input.clone(),
        layout: Wat { nofollow },
        read,
    }
}

/// What is kept of a record: JSON that describes another one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wat {
    nofollow: Nofollow,
}

impl Layout for Wat {
    type Item = Vec<u8>;

    const IS: DetectedFormat = DetectedFormat::Wat;
    const HOLDS_RECORDS: bool = false;
    const LONGEST: Option<usize> = Some(MAX_LINE);

    fn wants(&self, head: &Head<'_>, _: &[u8]) -> bool {
        let is_json =
            head.content.is_empty() || head.content.eq_ignore_ascii_case(b"application/json");
        is_json && head.is("metadata")
    }

    fn item(
        &self,
        _: &[u8],
        head: &Head<'_>,
        block: &[u8],
        _: bool,
    ) -> Result<Vec<u8>, SkipReason> {
        if self.wants(head, block) {
            Ok(block.to_vec())
        } else {
            Err(SkipReason::NoResponse)
        }
    }

    fn memory(item: &Vec<u8>) -> usize {
        item.len()
    }
}

fn read(wat: Wat, frames: Frames<Vec<u8>>, parser: &mut PieceParser) {
    read_all(wat, frames.records.into_iter(), parser);
}

/// Reads records one after another.
fn read_all(wat: Wat, mut records: std::vec::IntoIter<Record<Vec<u8>>>, parser: &mut PieceParser) {
    while let Some(record) = records.next() {
        if parser.is_full() {
            let rest = std::iter::once(record).chain(records).collect::<Vec<_>>();
            parser.continue_with(move |parser| read_all(wat, rest.into_iter(), parser));
            return;
        }
        let at = Position::Record(record.number);
        match record.frame {
            Frame::Other(reason) => parser.skip_record(reason),
            Frame::Refused(fault, text) => parser.add(at, Err(fault), &text),
            Frame::Item(json) => match capture(&json, wat.nofollow, parser) {
                Ok(Ok(event)) => parser.add(at, Ok(event), &json),
                Ok(Err(reason)) => parser.skip_record(reason),
                Err(fault) => parser.add(at, Err(fault), &json),
            },
        }
    }
}
