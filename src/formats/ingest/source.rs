//! The trait behind which every format stands: a source of records, cut into pieces.
//!
//! ```text
//! Source --open--> Pieces --next, one after another--> Piece --read, in parallel--> PieceParser
//! ```
//!
//! Two designs were weighed. In the other one a format drove the reading and called a sink for
//! every record. That is shorter to write for one format, but each would have to bring its own
//! threads, bounds and order. Here a format only cuts its input, in order, and reads the pieces, in
//! any order. How many are held, which thread reads them, which refused records are listed and when
//! there is no point in going on is decided in one place, [`read_pieces`](super::read_pieces).

use super::open::{DetectedInput, Input, InputError};
use super::piece_parser::PieceParser;
use super::progress::Progress;
use seedbank_algorithms::watch::{Interrupted, Watch};

/// About how many bytes of decompressed input a piece is cut from. It affects nothing but speed,
/// since no record is split between pieces.
pub const PIECE_SIZE: usize = 512 << 10;

/// The most records in a piece, since each takes memory however short it is. Where records have 32
/// bytes or more, as in all but odd inputs, this is never reached.
pub const PIECE_RECORDS: usize = PIECE_SIZE / 32;

/// What a batch is read from: an input in its format, or records that a caller has.
///
/// A format is a source. It opens its input itself, since that may be one file, two that belong
/// together, or none at all. It cuts the input into pieces, one after another, and says what is in
/// a piece; many pieces are read at the same time. It knows where its records stand
/// ([`Position`](super::Position)), and leaves it to the caller how many pieces are held, in which
/// order they are read, and which of the refused records are listed.
///
/// # Example
///
/// Pages that a crawler has in memory, a thousand to a piece:
///
/// ```
/// use seedbank_formats::ingest::{
///     Event, Naming, PageRecord, Piece, Pieces, Position, Progress, ReadError, PieceParser, Source,
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
///                 read: Box::new(move |reading| read(pages, first, reading)),
///             })
///         })))
///     }
/// }
///
/// fn read(pages: &[(String, Vec<String>)], first: u64, reading: &mut PieceParser) {
///     for ((url, links), number) in pages.iter().zip(first..) {
///         // A page that is none is refused; a link that is none is left out and counted.
///         let said = reading.page(url).map(|page| {
///             let links = links.iter().filter_map(|link| reading.target(page, link));
///             let links = links.collect();
///             let mut record = PageRecord::new(page);
///             record.outlinks = Some(reading.outlinks(links));
///             Event::Record(record)
///         });
///         reading.add(Position::Record(number), said, url.as_bytes());
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
    /// The name under which its refused records are listed: the file, in a form for people.
    fn name(&self) -> String;

    /// Says how many bytes of memory the batch may take. What the source holds besides its pieces, such
    /// as the names of a graph or a batch of a table, must stay below a share of them, or the input is
    /// refused. Called before [`prepare`](Self::prepare), if at all.
    fn limit_memory(&mut self, _bytes: usize) {}

    /// Looks the input up, and reads any file beside it that is held while the input is read.
    /// Returns the number of bytes that will be reported as progress; `None` where it is not known.
    ///
    /// It is called for all sources of a batch before the first is opened, so that a missing file
    /// is reported at once.
    fn prepare(&mut self, _watch: &dyn Watch) -> Result<Option<u64>, Stop> {
        Ok(None)
    }

    /// Opens the input; called once, when all earlier sources are at their end.
    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop>;

    /// What the input is by its first bytes, for a refusal to say where its records are bad; asked
    /// after the input was read. `None` where that is not clear.
    fn detected(&self) -> Option<DetectedInput> {
        None
    }
}

/// What a source may hold besides its pieces, however little memory a batch may take.
const LEAST_HELD: usize = 96 << 20;

/// How many bytes a source may hold besides its pieces, where a batch may take `memory` bytes: what the
/// sorts leave of them, and some more that each batch may take.
pub(super) const fn max_held_bytes(memory: usize) -> usize {
    LEAST_HELD.saturating_add(memory / 4)
}

/// The same for a source whose caller does not say what its batch may take.
pub(super) const DEFAULT_HELD_BYTES: usize = max_held_bytes(512 << 20);

/// Refuses an input whose names take more than `most` bytes while it is read.
pub(super) fn check_held_bytes(input: &Input, bytes: usize, most: usize) -> Result<(), Stop> {
    if bytes <= most {
        return Ok(());
    }
    let error = InputError::TooMuchMemory {
        file: input.to_string(),
        what: format!("names that take {bytes} bytes or more"),
        most,
    };
    Err(error.into())
}

/// All sources of a batch, in order.
pub type Sources = Vec<Box<dyn Source>>;

/// The pieces of an open source, in order. After an error no more are asked for; all records that
/// were complete before it have been in pieces.
pub type Pieces<'a> = Box<dyn Iterator<Item = Result<Piece<'a>, Stop>> + Send + 'a>;

/// Some neighbouring records of a source, not yet parsed.
///
/// Where a source is cut must depend on nothing but the source: reading ends after a piece where
/// most records are bad.
pub struct Piece<'a> {
    /// How many bytes of decompressed input it covers, as the summary counts them.
    pub bytes: u64,
    /// The most records that it has; at most [`PIECE_RECORDS`].
    pub records: usize,
    /// Roughly how many bytes of memory it takes, together with what is read from it. Pieces are
    /// read together until they come to some megabytes.
    pub memory: usize,
    /// Parses the records and [adds](PieceParser::add) each, in order. Never panics, whatever the input
    /// is.
    pub read: Box<dyn FnOnce(&mut PieceParser) + Send + 'a>,
}

/// Why reading stopped before the end.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// The input cannot be read; the batch is refused.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The watch asked to stop.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}
