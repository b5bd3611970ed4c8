//! The trait of all input formats: a source of records, cut into pieces.
//!
//! ```text
//! Source --open--> Pieces --next, one after another--> Piece --read, in parallel--> PieceParser
//! ```
//!
//! A format cuts its input in order, and parses pieces in any order. [`read_pieces`](super::read_pieces)
//! decides for all formats how many pieces are in memory, which thread parses them, which rejects are
//! listed, and when to stop. The alternative, a format that calls a sink for every record, is shorter for
//! one format, but each would need its own threads, memory bounds and ordering.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use super::columns::ColumnNames;
use super::location::Naming;
use super::open::{DetectedInput, Input, InputError, Opened};
use super::piece_parser::PieceParser;
use super::progress::Progress;
use super::summary::{EXCERPT_CHARS, Fault, RejectReason};
use seedbank_algorithms::watch::{Interrupted, Watch, is_interrupted};

/// The approximate size of a piece, in bytes of decompressed input. Affects only speed, since no record is
/// split between pieces.
pub const PIECE_SIZE: usize = 512 << 10;

/// The maximum number of records in a piece, since each takes memory however short it is. Not reached if
/// records have 32 bytes or more, as in nearly all inputs.
pub const PIECE_RECORDS: usize = PIECE_SIZE / 32;

/// A source of records: an input in its format, or records in memory.
///
/// A source opens its input itself, which may be one file, two related files, or none. It cuts the input
/// into pieces one after another, and parses pieces concurrently. It knows the
/// [`Position`](super::Position) of each record; the caller decides how many pieces are in memory, in
/// which order they are parsed, and which rejects are listed.
///
/// # Example
///
/// Pages in memory, a thousand per piece:
///
/// ```
/// use seedbank_formats::ingest::{
///     Event, Naming, PageRecord, Piece, PieceParser, Pieces, Position, Progress, ReadError, Source,
///     Stop, read_batch,
/// };
/// use seedbank_algorithms::watch::Unwatched;
///
/// struct Pages(Vec<(String, Vec<String>)>);
///
/// impl Source for Pages {
///     fn name(&self) -> String {
///         "pages of my crawler".to_owned()
///     }
///
///     fn open<'a>(&'a mut self, _: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
///         let pieces = self.0.chunks(1_000).zip((1..).step_by(1_000));
///         Ok(Box::new(pieces.map(|(pages, first)| {
///             Ok(Piece {
///                 bytes: 0,
///                 records: pages.len(),
///                 memory: pages.len() * 1_000,
///                 read: Box::new(move |parser| read(pages, first, parser)),
///             })
///         })))
///     }
/// }
///
/// fn read(pages: &[(String, Vec<String>)], first: u64, parser: &mut PieceParser) {
///     for ((url, links), number) in pages.iter().zip(first..) {
///         // An invalid page URL rejects the record; an invalid link is dropped and counted.
///         let event = parser.page(url).map(|page| {
///             let links = links.iter().filter_map(|link| parser.target(page, link));
///             let links = links.collect();
///             let mut record = PageRecord::new(page);
///             record.outlinks = Some(parser.outlinks(links));
///             Event::Record(record)
///         });
///         parser.add(Position::Record(number), event, url.as_bytes());
///     }
/// }
///
/// let links = ["https://example.net/", "mailto:x@example.net"].map(str::to_owned);
/// let pages = Pages(vec![
///     ("https://example.org/".to_owned(), links.to_vec()),
///     ("example.com".to_owned(), Vec::new()),
/// ]);
/// let mut events = Vec::new();
/// let summary = read_batch(
///     &mut [Box::new(pages)],
///     Naming::default(),
///     &Unwatched,
///     &mut |_, event| {
///         events.push(event);
///         Ok(())
///     },
/// )?;
/// assert_eq!((summary.records, summary.rejected()), (2, 1));
/// assert!(matches!(&events[0], Event::Record(page) if page.outlinks.as_ref().unwrap().len() == 1));
/// assert!(matches!(&events[1], Event::Rejected(reject) if reject.at == Position::Record(2)));
/// # Ok::<(), ReadError<std::convert::Infallible>>(())
/// ```
pub trait Source: Send {
    /// Returns the name under which rejects are listed, such as the file.
    fn name(&self) -> String;

    /// Sets the memory limit of the batch in bytes. Data that the source holds besides its pieces, such as
    /// the names of a graph, must stay below a share of it, or the input is rejected. Called before
    /// [`prepare`](Self::prepare), if at all.
    fn limit_memory(&mut self, _bytes: usize) {}

    /// Says which columns of a table are which fields. Called before [`prepare`](Self::prepare), if at all.
    fn name_columns(&mut self, _columns: &ColumnNames) {}

    /// Checks that the input exists, and loads accompanying files. Returns the number of bytes that will be
    /// reported as progress; `None` if it is unknown.
    ///
    /// Called for all sources of a batch before the first is opened, so that a missing file is reported
    /// at once.
    fn prepare(&mut self, _watch: &dyn Watch) -> Result<Option<u64>, Stop> {
        Ok(None)
    }

    /// Allows the records of the source to name pages by node instead of by URL, so that a URL is parsed once and not
    /// for each link to it ([`ReadPiece::nodes`](super::ReadPiece::nodes)). `naming` is that of the
    /// batch. Called before [`prepare`](Self::prepare), if at all.
    fn number_nodes(&mut self, _naming: Naming) {}

    /// Opens the input. Called once, after all preceding sources are read.
    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop>;

    /// Returns the format detected from the first bytes, for error messages about bad records. Called after
    /// the input was read. `None` if the format is unclear.
    fn detected(&self) -> Option<DetectedInput> {
        None
    }
}

/// The memory in bytes that a source may always hold besides its pieces.
const MIN_HELD_BYTES: usize = 96 << 20;

/// Returns the memory in bytes that a source may hold besides its pieces, for a batch limited to `memory`
/// bytes: a quarter, which sorting leaves free, and a constant.
pub(super) const fn max_held_bytes(memory: usize) -> usize {
    MIN_HELD_BYTES.saturating_add(memory / 4)
}

/// The limit for a source whose batch has no memory limit.
pub(super) const DEFAULT_HELD_BYTES: usize = max_held_bytes(512 << 20);

/// Returns an error if the names of an input take more than `max` bytes.
pub(super) fn check_held_bytes(input: &Input, bytes: usize, max: usize) -> Result<(), Stop> {
    if bytes <= max {
        return Ok(());
    }
    let error = InputError::TooMuchMemory {
        file: input.to_string(),
        what: format!("names that take {bytes} bytes or more"),
        max,
    };
    Err(error.into())
}

/// All sources of a batch, in order.
pub type Sources = Vec<Box<dyn Source>>;

/// The pieces of an open source, in order. All records that were complete before an error precede it;
/// nothing is requested after it.
pub type Pieces<'a> = Box<dyn Iterator<Item = Result<Piece<'a>, Stop>> + Send + 'a>;

/// Consecutive records of a source, not yet parsed.
///
/// Cuts must depend only on the source, because reading stops after the piece at which most records are
/// bad.
pub struct Piece<'a> {
    /// The number of decompressed bytes that it covers, for the summary.
    pub bytes: u64,
    /// The maximum number of its records; at most [`PIECE_RECORDS`].
    pub records: usize,
    /// The approximate memory in bytes that it takes, including parsed records. Pieces are parsed together
    /// up to a total of some megabytes.
    pub memory: usize,
    /// Parses the records and [adds](PieceParser::add) each, in order. Must not panic for any input.
    pub read: Box<dyn FnOnce(&mut PieceParser) + Send + 'a>,
}

/// Why reading a source stopped.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// The input cannot be read; the batch is refused.
    #[error(transparent)]
    Input(InputError),
    /// The watch asked to stop.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

impl From<InputError> for Stop {
    fn from(error: InputError) -> Self {
        match &error {
            // Reads of remote files end when the watch says so.
            InputError::Open { source, .. } | InputError::Read { source, .. }
                if is_interrupted(source) =>
            {
                Self::Interrupted(Interrupted)
            }
            _ => Self::Input(error),
        }
    }
}

// Splits a text into blocks of whole lines.

/// The maximum length of a line in bytes, without its end. A longer line is rejected and never held in
/// memory as a whole.
pub const MAX_LINE: usize = 16 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Whole lines, optionally followed by a line that exceeds the limit.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// Number of the first line, from 1.
    pub first_line: u64,
    /// The lines with their ends; the last may lack one. A line may exceed [`MAX_LINE`] by less than
    /// [`PIECE_SIZE`].
    pub text: Vec<u8>,
    /// The overlong line after them.
    pub overlong: Option<Overlong>,
    /// The number of lines, at most [`PIECE_RECORDS`].
    pub lines: usize,
}

/// A line that was skipped because of its length.
#[derive(Debug)]
pub(super) struct Overlong {
    /// The beginning of the line.
    pub head: Vec<u8>,
    /// The length of the line in bytes, without its end.
    pub bytes: u64,
}

/// The blocks of one input, in order.
pub(super) struct Blocks<'a> {
    input: Opened<'a>,
    progress: Progress<'a>,
    /// Text that was read but is not part of a block yet.
    pending: Vec<u8>,
    /// Blocks that were cut already; their text precedes `pending`.
    ready: VecDeque<Block>,
    next_line: u64,
    started: bool,
    ended: bool,
    failed: Option<Stop>,
    /// Receives the detected format; `None` disables detection.
    detected: Option<Arc<OnceLock<DetectedInput>>>,
}

impl<'a> Blocks<'a> {
    /// Creates the blocks of an input. The detected format is stored in `detected`, if given.
    pub(super) const fn new(
        input: Opened<'a>,
        progress: Progress<'a>,
        detected: Option<Arc<OnceLock<DetectedInput>>>,
    ) -> Self {
        Self {
            input,
            progress,
            pending: Vec::new(),
            ready: VecDeque::new(),
            next_line: 1,
            started: false,
            ended: false,
            failed: None,
            detected,
        }
    }

    /// Returns the next block, or `None` at the end. A read error is returned once, after all lines that
    /// were complete before it.
    fn cut(&mut self) -> Result<Option<Block>, Stop> {
        if let Some(block) = self.ready.pop_front() {
            return Ok(Some(block));
        }
        let mut text = std::mem::take(&mut self.pending);
        let mut searched = 0;
        loop {
            self.read_more(&mut text);
            let fresh = text.get(searched..).unwrap_or_default();
            if let Some(end) = fresh.iter().rposition(|b| *b == b'\n') {
                self.pending = text.split_off(searched + end + 1);
                return Ok(Some(self.split_block(text)));
            }
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            if self.ended {
                return Ok((!text.is_empty()).then(|| self.block(text, None)));
            }
            if text.len() > MAX_LINE {
                return self.skip_line(text).map(Some);
            }
            searched = text.len();
        }
    }

    /// Returns a block of these lines; if they are too many, of the first of them, queueing the others.
    fn split_block(&mut self, text: Vec<u8>) -> Block {
        if line_ends(&text) <= PIECE_RECORDS {
            return self.block(text, None);
        }
        let mut rest = &text[..];
        while !rest.is_empty() {
            let mut ends = rest.iter().enumerate().filter(|(_, b)| **b == b'\n');
            let end = ends
                .nth(PIECE_RECORDS - 1)
                .map_or(rest.len(), |(at, _)| at + 1);
            let (piece, after) = rest.split_at(end);
            let block = self.block(piece.to_vec(), None);
            self.ready.push_back(block);
            rest = after;
        }
        self.ready.pop_front().unwrap_or_default()
    }

    fn block(&mut self, text: Vec<u8>, overlong: Option<Overlong>) -> Block {
        let first_line = self.next_line;
        let ends = line_ends(&text);
        let open = usize::from(text.last().is_some_and(|b| *b != b'\n'));
        let lines = ends + open + usize::from(overlong.is_some());
        self.next_line += lines as u64;
        Block {
            first_line,
            text,
            overlong,
            lines,
        }
    }

    /// Skips the rest of a line that begins with `text`.
    fn skip_line(&mut self, mut text: Vec<u8>) -> Result<Block, Stop> {
        let mut bytes = text.len() as u64;
        let head = text.get(..EXCERPT_CHARS * 4).unwrap_or_default().to_vec();
        loop {
            text.clear();
            self.read_more(&mut text);
            if let Some(end) = text.iter().position(|b| *b == b'\n') {
                self.pending = text.split_off(end + 1);
                bytes += end as u64;
                break;
            }
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            bytes += text.len() as u64;
            if self.ended {
                break;
            }
        }
        Ok(self.block(Vec::new(), Some(Overlong { head, bytes })))
    }

    /// Appends the next [`PIECE_SIZE`] bytes, or fewer at the end or at an error.
    fn read_more(&mut self, text: &mut Vec<u8>) {
        if self.ended {
            return;
        }
        // Checked here and not once per block: a line or a stream may be endless.
        if let Err(interrupted) = self.progress.proceed() {
            self.failed = Some(interrupted.into());
            self.ended = true;
            return;
        }
        let start = text.len();
        text.resize(start + PIECE_SIZE, 0);
        let (read, error) = self.input.fill(text.get_mut(start..).unwrap_or_default());
        text.truncate(start + read);
        self.ended = read < PIECE_SIZE;
        if let Some(source) = error {
            // The complete lines are those of earlier blocks and those in `text`.
            let lines = self.next_line - 1 + line_ends(text) as u64;
            self.failed = Some(self.input.error(source, lines).into());
        }
        if !self.started {
            self.started = true;
            self.detect_format(text);
            if text.starts_with(BYTE_ORDER_MARK) {
                text.drain(..BYTE_ORDER_MARK.len());
            }
        }
    }

    /// Detects the format from the first bytes. If it cannot contain records, it becomes the input's error.
    fn detect_format(&mut self, text: &mut Vec<u8>) {
        let Some(cell) = &self.detected else { return };
        let head = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let Some(detected) = self.input.detected(head) else {
            return;
        };
        if detected.format.excludes_records() {
            text.clear();
            self.ended = true;
            self.failed = Some(InputError::NotRecords(detected).into());
        } else {
            // The cell is unset: an input is opened once.
            let _ = cell.set(detected);
        }
    }
}

impl Iterator for Blocks<'_> {
    type Item = Result<Block, Stop>;

    fn next(&mut self) -> Option<Self::Item> {
        self.cut().transpose()
    }
}

/// Returns the fault of a line of this length.
pub(super) fn line_too_long(bytes: u64) -> Fault {
    Fault::new(
        RejectReason::LineTooLong,
        format!("expected a line of at most {MAX_LINE} bytes, found {bytes}"),
    )
}

/// Counts line feeds.
#[expect(
    clippy::naive_bytecount,
    reason = "the compiler vectorises it, and parsing costs a hundred times as much"
)]
pub(super) fn line_ends(text: &[u8]) -> usize {
    text.iter().filter(|b| **b == b'\n').count()
}

/// Splits a text into lines without their ends (LF or CRLF).
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|b| *b == b'\n').map(|line| {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        line.strip_suffix(b"\r").unwrap_or(line)
    })
}
