//! WAT: the metadata of web archives, as Common Crawl publishes it beside each of its archives.
//!
//! ```text
//! gzip --> WARC records, one after another --Splitter--> pieces of blocks --capture, in parallel--> a record for each page
//! ```
//!
//! * A WAT is itself a web archive: first a `warcinfo`, then for each record of the archive that it
//!   describes (a request, the response, what was noted of the fetch) one of the type `metadata`,
//!   whose block is JSON. Those that describe a response are read; all others are passed over and
//!   counted ([`PassedOver`]).
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

use super::archive::framing::{Content, Records, Record};
use super::archive::header::WarcHeader;
use super::archive::archive_format::ArchiveFormat;
use super::archive::page_links::Nofollow;
use super::archive::source::Archive;
use crate::ingest::blocks::MAX_LINE;
use crate::ingest::foreign::Foreign;
use crate::ingest::open::Input;
use crate::ingest::reading::Reading;
use crate::ingest::reject::Position;
use crate::ingest::source::{Source, Sources};
use crate::ingest::summary::PassedOver;
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

impl ArchiveFormat for Wat {
    type Item = Vec<u8>;

    const KIND: Foreign = Foreign::Wat;
    const MAY_CONTAIN_RECORDS: bool = false;
    const MAX_BLOCK: Option<usize> = Some(MAX_LINE);

    fn wants(&self, head: &WarcHeader<'_>, _: &[u8]) -> bool {
        let is_json =
            head.content.is_empty() || head.content.eq_ignore_ascii_case(b"application/json");
        is_json && head.is("metadata")
    }

    fn item(
        &self,
        _: &[u8],
        head: &WarcHeader<'_>,
        block: &[u8],
        _: bool,
    ) -> Result<Vec<u8>, PassedOver> {
        if self.wants(head, block) {
            Ok(block.to_vec())
        } else {
            Err(PassedOver::NoResponse)
        }
    }

    fn memory(item: &Vec<u8>) -> usize {
        item.len()
    }
}

fn read(wat: Wat, frames: Records<Vec<u8>>, reading: &mut Reading) {
    read_all(wat, frames.records.into_iter(), reading);
}

/// Reads records one after another.
fn read_all(wat: Wat, mut records: std::vec::IntoIter<Record<Vec<u8>>>, reading: &mut Reading) {
    while let Some(record) = records.next() {
        if reading.is_full() {
            let rest = std::iter::once(record).chain(records).collect::<Vec<_>>();
            reading.go_on_with(move |reading| read_all(wat, rest.into_iter(), reading));
            return;
        }
        let at = Position::Record(record.number);
        match record.frame {
            Content::Skipped(reason) => reading.pass_over(reason),
            Content::Rejected(fault, text) => reading.add(at, Err(fault), &text),
            Content::Item(json) => match capture(&json, wat.nofollow, reading) {
                Ok(Ok(event)) => reading.add(at, Ok(event), &json),
                Ok(Err(reason)) => reading.pass_over(reason),
                Err(fault) => reading.add(at, Err(fault), &json),
            },
        }
    }
}
