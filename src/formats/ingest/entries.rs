//! Formats of lines that are not one record each: comments, headers that apply to the lines after them,
//! lines with two records, lines without a page.

use std::sync::{Arc, OnceLock};

use super::interner::UrlNumber;
use super::open::{DetectedInput, Input, Opened};
use super::piece_parser::PieceParser;
use super::progress::Progress;
use super::record::Event;
use super::source::{
    Block, Blocks, MAX_LINE, Piece, Pieces, Source, Sources, Stop, line_too_long, lines,
};
use super::summary::{EXCERPT_CHARS, Fault, Position, RejectReason, SkipReason};
use seedbank_algorithms::watch::Watch;

/// The parsed content of a line.
#[derive(Debug)]
pub(super) enum Entry {
    /// One record.
    One(Event<UrlNumber>),
    /// Two records, counted separately.
    Two(Event<UrlNumber>, Event<UrlNumber>),
    /// No record.
    Skipped(SkipReason),
}

/// A format whose lines may depend on the lines before them.
pub(super) trait EntryFormat: Send + Sync {
    /// State that a line passes on to the lines after it.
    type Context: Clone + Default + Send;

    /// Updates the context after a line. Called for every line in order, whatever its content.
    fn update(&self, _line: &[u8], _context: &mut Self::Context) {}

    /// Parses a line that is not blank, like [`LineFormat::read`].
    fn read(
        &self,
        line: &str,
        context: &Self::Context,
        parser: &mut PieceParser,
    ) -> Result<Entry, Fault>;

    /// Reads the URL of the page of a line that is too long, given its beginning, as far as it has one.
    fn read_page(&self, _beginning: &[u8], _parser: &mut PieceParser) {}
}

/// An input in an entry format, plain or compressed. Blank lines are skipped.
#[derive(Clone, Debug)]
pub(super) struct Entries<F> {
    input: Input,
    format: F,
    /// The format detected from the first bytes, once they are read.
    detected: Arc<OnceLock<DetectedInput>>,
}

/// Creates a source for each input.
pub(super) fn entry_sources<F: EntryFormat + Copy + 'static>(
    inputs: &[Input],
    format: F,
) -> Sources {
    let source = |input: &Input| {
        Box::new(Entries {
            input: input.clone(),
            format,
            detected: Arc::default(),
        }) as Box<dyn Source>
    };
    inputs.iter().map(source).collect()
}

impl<F: EntryFormat + Copy + 'static> Source for Entries<F> {
    fn name(&self) -> String {
        self.input.to_string()
    }

    fn prepare(&mut self, _: &dyn Watch) -> Result<Option<u64>, Stop> {
        Ok(self.input.length()?)
    }

    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        let input = self.input.open(progress)?;
        Ok(pieces(
            input,
            self.format,
            Arc::clone(&self.detected),
            progress,
        ))
    }

    fn detected(&self) -> Option<DetectedInput> {
        self.detected.get().cloned()
    }
}

/// Splits an open input into pieces. The detected format is stored in `detected`.
pub(super) fn pieces<'a, F: EntryFormat + Copy + 'a>(
    input: Opened<'a>,
    format: F,
    detected: Arc<OnceLock<DetectedInput>>,
    progress: &Progress<'a>,
) -> Pieces<'a> {
    let mut context = F::Context::default();
    let blocks = Blocks::new(input, progress.clone(), Some(detected));
    Box::new(blocks.map(move |block| {
        let block = block?;
        let context_before = context.clone();
        for line in lines(&block.text) {
            format.update(line, &mut context);
        }
        Ok(piece(block, format, context_before))
    }))
}

fn piece<'a, F: EntryFormat + 'a>(block: Block, format: F, context: F::Context) -> Piece<'a>
where
    F::Context: 'a,
{
    let skipped = block.overlong.as_ref().map_or(0, |line| line.bytes);
    Piece {
        bytes: block.text.len() as u64 + skipped,
        records: block.lines,
        memory: block.text.len(),
        read: Box::new(move |parser| read(&block, &format, context, parser)),
    }
}

fn read<F: EntryFormat>(
    block: &Block,
    format: &F,
    mut context: F::Context,
    parser: &mut PieceParser,
) {
    let mut number = block.first_line;
    let end = number + block.lines as u64;
    let is_open = !block.text.ends_with(b"\n");
    for line in lines(&block.text) {
        if line.trim_ascii().is_empty() {
            parser.summary.blank_lines += 1;
        } else {
            let entry = read_line(format, line, &context, parser);
            // Only the last line of a file has no end.
            let is_cut = is_open && number + 1 == end;
            if !(is_cut && is_invalid_json(&entry) && parser.keep_truncated()) {
                add_entry(parser, Position::Line(number), entry, line);
            }
        }
        format.update(line, &mut context);
        number += 1;
    }
    if let Some(overlong) = &block.overlong {
        let fault = line_too_long(overlong.bytes);
        format.read_page(&overlong.head, parser);
        parser.add(Position::Line(number), Err(fault), &overlong.head);
    }
}

fn is_invalid_json(entry: &Result<Entry, Fault>) -> bool {
    entry
        .as_ref()
        .is_err_and(|fault| fault.reason == RejectReason::InvalidJson)
}

fn read_line<F: EntryFormat>(
    format: &F,
    line: &[u8],
    context: &F::Context,
    parser: &mut PieceParser,
) -> Result<Entry, Fault> {
    if line.len() > MAX_LINE {
        format.read_page(line.get(..EXCERPT_CHARS * 4).unwrap_or(line), parser);
        return Err(line_too_long(line.len() as u64));
    }
    read_text(line, parser, |line, parser| {
        format.read(line, context, parser)
    })
}

/// Decodes a record as UTF-8 and reads it. U+FFFD replaces what is not UTF-8: only the fields that have it cannot be read.
pub(super) fn read_text<T>(
    text: &[u8],
    parser: &mut PieceParser,
    read: impl FnOnce(&str, &mut PieceParser) -> T,
) -> T {
    match std::str::from_utf8(text) {
        Ok(text) => read(text, parser),
        Err(_) => parser.repaired(|parser| read(&String::from_utf8_lossy(text), parser)),
    }
}

/// Decodes a text as UTF-8.
pub(super) fn utf_8(text: &[u8]) -> Result<&str, Fault> {
    std::str::from_utf8(text)
        .map_err(|error| Fault::new(RejectReason::InvalidUtf8, error.to_string()))
}

/// Adds the entry at a position.
pub(super) fn add_entry(
    parser: &mut PieceParser,
    at: Position,
    entry: Result<Entry, Fault>,
    text: &[u8],
) {
    match entry {
        Ok(Entry::One(event)) => parser.add(at, Ok(event), text),
        Ok(Entry::Two(first, second)) => {
            parser.add(at, Ok(first), text);
            parser.add(at, Ok(second), text);
        }
        Ok(Entry::Skipped(reason)) => parser.skip_record(reason),
        Err(fault) => parser.add(at, Err(fault), text),
    }
}

// Formats with one record per line, and the source that reads them.

/// A format with one record per line.
pub trait LineFormat: Send + Sync {
    /// Parses a line that is not blank: UTF-8 without its line end, of at most [`MAX_LINE`] bytes.
    /// Counts in `parser` what it drops (outlinks, duplicates, self-links, unknown fields), and numbers
    /// URLs there.
    ///
    /// Must not panic for any line. A fault rejects the whole line; U+FFFD may replace what is not UTF-8.
    fn read(&self, line: &str, parser: &mut PieceParser) -> Result<Event<UrlNumber>, Fault>;

    /// Reads the URL of the page of a line that is too long, given its beginning, as far as it has one.
    fn read_page(&self, _beginning: &[u8], _parser: &mut PieceParser) {}
}

/// A line format is an entry format in which every line is an event.
impl<F: LineFormat> EntryFormat for &F {
    type Context = ();

    fn read(&self, line: &str, _context: &(), parser: &mut PieceParser) -> Result<Entry, Fault> {
        F::read(self, line, parser).map(Entry::One)
    }

    fn read_page(&self, beginning: &[u8], parser: &mut PieceParser) {
        F::read_page(self, beginning, parser);
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
pub(super) fn line_sources<F: LineFormat + Copy + 'static>(inputs: &[Input], format: F) -> Sources {
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

/// Parses a line of at most [`MAX_LINE`] bytes.
pub(super) fn read_json_line(
    format: &impl LineFormat,
    line: &[u8],
    parser: &mut PieceParser,
) -> Result<Event<UrlNumber>, Fault> {
    if line.len() > MAX_LINE {
        format.read_page(line.get(..EXCERPT_CHARS * 4).unwrap_or(line), parser);
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
    read_text(line, parser, |line, parser| format.read(line, parser))
}
