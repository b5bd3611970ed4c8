//! JSON that is not one object per line: an array of records, or records that follow each other,
//! with any white space in and between them.
//!
//! ```text
//! [{"url": ...}, {"url": ...}]        jq -s .; exports of scrapers and databases
//! {                                   jq .
//!   "url": ...
//! }{"url": ...}
//! ```
//!
//! The text is read as a stream and cut at the end of each record, which is found by brackets and
//! strings alone. So a record that is invalid inside (an unknown word, a wrong type) costs only
//! itself. If brackets or quotes are missing, the end of the record cannot be found, and the batch
//! is refused with the number of the last record.

mod error;
mod splitter;
mod value_scanner;

use crate::ingest::blocks::line_too_long;
use crate::ingest::entries::utf_8;
use crate::ingest::formats::file_source::{FileFormat, OpenFile};
use crate::ingest::formats::json_lines::JsonLines;
use crate::ingest::lines::LineFormat;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::reject::Position;
use crate::ingest::source::{Piece, Pieces, Stop};
use splitter::{Records, Splitter};

/// The least memory that a piece is accounted with, which bounds the number of pieces in flight.
const MIN_PIECE_MEMORY: usize = 8 << 10;

/// JSON records that are not one per line.
#[derive(Clone, Copy, Debug)]
pub(super) struct JsonArray;

impl FileFormat for JsonArray {
    fn pieces<'a>(&self, file: OpenFile<'a>) -> Result<Pieces<'a>, Stop> {
        Ok(Box::new(Splitter::new(file).map(|records| {
            let records = records?;
            Ok(Piece {
                bytes: records.bytes,
                records: records.places.len(),
                memory: records.text.len().max(MIN_PIECE_MEMORY),
                read: Box::new(move |parser| read(&records, parser)),
            })
        })))
    }
}

fn read(records: &Records, parser: &mut PieceParser) {
    for (number, place) in (records.first..).zip(&records.places) {
        let at = Position::Record(number);
        let text = records.text.get(place.text.clone()).unwrap_or_default();
        let event = if place.is_complete {
            utf_8(text).and_then(|text| JsonLines.read(text, parser))
        } else {
            Err(line_too_long(place.bytes))
        };
        parser.add(at, event, text);
    }
}
