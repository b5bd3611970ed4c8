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

use super::location::Naming;
use super::open::{DetectedInput, Input, InputError};
use super::piece_parser::PieceParser;
use super::progress::Progress;
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
