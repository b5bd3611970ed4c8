//! Formats with one record per line, and the source that reads them.

use std::sync::{Arc, OnceLock};

use super::blocks::{MAX_LINE, line_too_long};
use super::entries::{self, Entry, EntryFormat, utf_8};
use super::interner::UrlNumber;
use super::open::{DetectedInput, Input};
use super::piece_parser::PieceParser;
use super::progress::Progress;
use super::record::Event;
use super::reject::Fault;
use super::source::{Pieces, Source, Sources, Stop};
use seedbank_algorithms::watch::Watch;

/// A format with one record per line.
pub trait LineFormat: Send + Sync {
    /// Parses a line that is not blank: UTF-8 without its line end, of at most [`MAX_LINE`] bytes.
    /// Counts in `parser` what it drops (outlinks, duplicates, self-links, unknown fields), and numbers
    /// URLs there.
    ///
    /// Must not panic for any line. A fault rejects the whole line.
    fn read(&self, line: &str, parser: &mut PieceParser) -> Result<Event<UrlNumber>, Fault>;
}

/// A line format is an entry format in which every line is an event.
impl<F: LineFormat> EntryFormat for &F {
    type Context = ();

    fn read(&self, line: &str, _context: &(), parser: &mut PieceParser) -> Result<Entry, Fault> {
        F::read(self, line, parser).map(Entry::One)
    }
}

/// An input with one record per line, plain or compressed. Blank lines are skipped.
#[derive(Clone, Debug)]
pub struct Lines<F> {
    input: Input,
    format: F,
    /// The format detected from the first bytes, once they are read.
    detected: Arc<OnceLock<DetectedInput>>,
}

impl<F: LineFormat> Lines<F> {
    /// Creates a source from an input and its format.
    pub fn new(input: Input, format: F) -> Self {
        Self {
            input,
            format,
            detected: Arc::default(),
        }
    }
}

/// Creates a source for each input.
pub(super) fn each<F: LineFormat + Copy + 'static>(inputs: &[Input], format: F) -> Sources {
    let source = |input: &Input| Box::new(Lines::new(input.clone(), format)) as Box<dyn Source>;
    inputs.iter().map(source).collect()
}

impl<F: LineFormat> Source for Lines<F> {
    fn name(&self) -> String {
        self.input.to_string()
    }

    fn prepare(&mut self, _: &dyn Watch) -> Result<Option<u64>, Stop> {
        Ok(self.input.length()?)
    }

    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        let input = self.input.open(progress)?;
        let detected = Arc::clone(&self.detected);
        Ok(entries::pieces(input, &self.format, detected, progress))
    }

    fn detected(&self) -> Option<DetectedInput> {
        self.detected.get().cloned()
    }
}

/// Parses a line of at most [`MAX_LINE`] bytes.
pub(super) fn read_line(
    format: &impl LineFormat,
    line: &[u8],
    parser: &mut PieceParser,
) -> Result<Event<UrlNumber>, Fault> {
    if line.len() > MAX_LINE {
        return Err(line_too_long(line.len() as u64));
    }
    read_any(format, line, parser)
}

/// Parses a line of any length.
pub(super) fn read_any(
    format: &impl LineFormat,
    line: &[u8],
    parser: &mut PieceParser,
) -> Result<Event<UrlNumber>, Fault> {
    format.read(utf_8(line)?, parser)
}
