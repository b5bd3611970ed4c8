//! JSON that is not one object a line: an array of records, or records one after another with any
//! white space in them and between them.
//!
//! ```text
//! [{"url": ...}, {"url": ...}]        jq -s .; what scrapers and databases export
//! {                                   jq .
//!   "url": ...
//! }{"url": ...}
//! ```
//!
//! The text is read as a stream and cut where a record ends, by its brackets and strings alone. So a
//! record that is bad inside (a word that is none, a wrong type) costs itself. Where brackets or
//! quotes are missing the end of the record cannot be told, and what follows is no array: the batch
//! is refused, with the number of the last record.

mod cutter;
mod error;
mod value;

use crate::ingest::blocks::line_too_long;
use crate::ingest::entries::utf_8;
use crate::ingest::formats::json_lines::JsonLines;
use crate::ingest::lines::LineFormat;
use crate::ingest::open::{Input, Opened};
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::progress::Progress;
use crate::ingest::reject::Position;
use crate::ingest::source::{Piece, Pieces, Source, Sources, Stop};
use cutter::{Cutter, Records};
use seedbank_algorithms::watch::Watch;

/// What a piece counts for at least: of a text that goes on without records there are only so many.
const LEAST: usize = 8 << 10;

/// The sources for files of JSON.
pub(super) fn sources(inputs: &[Input]) -> Sources {
    let source = |input: &Input| Box::new(JsonArray(input.clone())) as Box<dyn Source>;
    inputs.iter().map(source).collect()
}

/// A file of JSON, plain or compressed.
#[derive(Clone, Debug)]
struct JsonArray(Input);

impl Source for JsonArray {
    fn name(&self) -> String {
        self.0.to_string()
    }

    fn prepare(&mut self, _: &dyn Watch) -> Result<Option<u64>, Stop> {
        Ok(self.0.length()?)
    }

    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        let opened = self.0.open(progress)?;
        Ok(pieces(self.name(), opened, progress))
    }
}

/// The pieces of an open input with this name.
pub(super) fn pieces<'a>(file: String, input: Opened, progress: &Progress<'a>) -> Pieces<'a> {
    let cutter = Cutter::new(file, input, progress.clone());
    Box::new(cutter.map(|records| {
        let records = records?;
        Ok(Piece {
            bytes: records.bytes,
            records: records.places.len(),
            memory: records.text.len().max(LEAST),
            read: Box::new(move |parser| read(&records, parser)),
        })
    }))
}

fn read(records: &Records, parser: &mut PieceParser) {
    for (number, place) in (records.first..).zip(&records.places) {
        let at = Position::Record(number);
        let text = records.text.get(place.text.clone()).unwrap_or_default();
        let said = if place.is_whole {
            utf_8(text).and_then(|text| JsonLines.read(text, parser))
        } else {
            Err(line_too_long(place.bytes))
        };
        parser.add(at, said, text);
    }
}
