//! Formats in which a record is a line of text: how they become sources.

use std::sync::{Arc, OnceLock};

use super::blocks::{Block, Blocks, MAX_LINE, line_too_long, lines};
use super::interner::UrlNumber;
use super::open::{DetectedInput, Input, Opened};
use super::piece_parser::PieceParser;
use super::progress::Progress;
use super::record::Event;
use super::reject::{Fault, Position, RejectReason};
use super::source::{Piece, Pieces, Source, Sources, Stop};
use seedbank_algorithms::watch::Watch;

/// A format in which a record is a line.
pub trait LineFormat: Send + Sync {
    /// Reads one line that is not blank (UTF-8, without its line end, at most
    /// [`MAX_LINE`] bytes), and counts in `reading` what it leaves out: dropped
    /// outlinks, duplicates, self-links, unknown fields. URLs become numbers there.
    ///
    /// Never panics, whatever the line. A fault rejects the whole line.
    fn read(&self, line: &str, parser: &mut PieceParser) -> Result<Event<UrlNumber>, Fault>;
}

/// An input whose lines are records, plain or compressed. Blank lines are skipped.
#[derive(Clone, Debug)]
pub struct Lines<F> {
    input: Input,
    format: F,
    /// What it is by its first bytes, once they are read.
    detected: Arc<OnceLock<DetectedInput>>,
}

impl<F: LineFormat> Lines<F> {
    /// An input in a format.
    pub fn new(input: Input, format: F) -> Self {
        Self {
            input,
            format,
            detected: Arc::default(),
        }
    }
}

/// A source for each input of one format.
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
        Ok(pieces(input, &self.format, detected, progress))
    }

    fn detected(&self) -> Option<DetectedInput> {
        self.detected.get().cloned()
    }
}

/// The pieces of an open input; what it is by its first bytes is left in `seen`.
pub(super) fn pieces<'a, F: LineFormat>(
    input: Opened,
    format: &'a F,
    detected: Arc<OnceLock<DetectedInput>>,
    progress: &Progress<'a>,
) -> Pieces<'a> {
    let blocks = Blocks::new(input, progress.clone(), Some(detected));
    Box::new(blocks.map(move |block| Ok(piece(block?, format))))
}

fn piece<F: LineFormat>(block: Block, format: &F) -> Piece<'_> {
    let skipped = block.overlong.as_ref().map_or(0, |line| line.bytes);
    Piece {
        bytes: block.text.len() as u64 + skipped,
        records: block.lines,
        memory: block.text.len(),
        read: Box::new(move |parser| read(&block, format, parser)),
    }
}

fn read(block: &Block, format: &impl LineFormat, parser: &mut PieceParser) {
    let mut number = block.first_line;
    for line in lines(&block.text) {
        if line.trim_ascii().is_empty() {
            parser.summary.blank_lines += 1;
        } else {
            let said = read_line(format, line, parser);
            parser.add(Position::Line(number), said, line);
        }
        number += 1;
    }
    if let Some(overlong) = &block.overlong {
        let fault = line_too_long(overlong.bytes);
        parser.add(Position::Line(number), Err(fault), &overlong.head);
    }
}

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

/// The same of a line of any length.
pub(super) fn read_any(
    format: &impl LineFormat,
    line: &[u8],
    parser: &mut PieceParser,
) -> Result<Event<UrlNumber>, Fault> {
    let line = std::str::from_utf8(line)
        .map_err(|error| Fault::new(RejectReason::InvalidUtf8, error.to_string()))?;
    format.read(line, parser)
}
