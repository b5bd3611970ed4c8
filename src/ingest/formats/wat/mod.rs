//! WAT: the metadata of web archives, as Common Crawl publishes it beside each of its archives.
//!
//! ```text
//! gzip --> WARC records, one after another --Cutter--> pieces of blocks --capture, in parallel--> a record for each page
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
//!   wrong length costs one record ([`frames`]); a file that ends within a record is refused.
//!
//! Cost: two passes over the JSON of a page, and memory for pieces of half a megabyte, or of the
//! longest record, of at most 16 MiB.

mod capture;
mod envelope;
mod error;
mod frames;
mod head;

use crate::ingest::open::{Input, Opened};
use crate::ingest::progress::Progress;
use crate::ingest::reading::Reading;
use crate::ingest::reject::Position;
use crate::ingest::source::{Piece, Pieces, Source, Sources, Stop};
use crate::ingest::summary::PassedOver;
use crate::watch::Watch;
pub use capture::Nofollow;
use capture::capture;
use frames::{Cutter, Frame, Frames};

/// How many bytes of memory a byte of JSON comes to, with the URLs that are read from it.
const EXPANSION: usize = 2;

/// The sources for WAT files.
pub(super) fn sources(inputs: &[Input], nofollow: Nofollow) -> Sources {
    let source = |input: &Input| {
        Box::new(Wat {
            input: input.clone(),
            nofollow,
        }) as Box<dyn Source>
    };
    inputs.iter().map(source).collect()
}

/// A WAT file, plain or compressed.
#[derive(Clone, Debug)]
struct Wat {
    input: Input,
    nofollow: Nofollow,
}

impl Source for Wat {
    fn name(&self) -> String {
        self.input.to_string()
    }

    fn prepare(&mut self, _: &dyn Watch) -> Result<Option<u64>, Stop> {
        Ok(self.input.length()?)
    }

    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        let opened = self.input.open(progress)?;
        Ok(pieces(self.name(), opened, self.nofollow, progress))
    }
}

/// The pieces of an open input with this name.
pub(super) fn pieces<'a>(
    file: String,
    input: Opened,
    nofollow: Nofollow,
    progress: &Progress<'a>,
) -> Pieces<'a> {
    let cutter = Cutter::new(file, input, progress.clone());
    Box::new(cutter.map(move |frames| {
        let frames = frames?;
        Ok(Piece {
            bytes: frames.bytes,
            records: frames.records.len(),
            memory: frames.text.len() * EXPANSION,
            read: Box::new(move |reading| read(frames, nofollow, reading)),
        })
    }))
}

fn read(frames: Frames, nofollow: Nofollow, reading: &mut Reading) {
    for (number, frame) in frames.records {
        let at = Position::Record(number);
        match frame {
            Frame::Other => reading.pass_over(PassedOver::NoResponse),
            Frame::Refused(fault, text) => reading.add(at, Err(fault), &text),
            Frame::Metadata(place) => {
                let json = frames.text.get(place).unwrap_or_default();
                match capture(json, nofollow, reading) {
                    Ok(Ok(event)) => reading.add(at, Ok(event), json),
                    Ok(Err(reason)) => reading.pass_over(reason),
                    Err(fault) => reading.add(at, Err(fault), json),
                }
            }
        }
    }
}
