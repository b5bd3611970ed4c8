//! Reading a batch: pieces are parsed in parallel, events handed on in the order of the input.

use std::error::Error;
use std::hash::RandomState;
use std::sync::Arc;

use rayon::prelude::*;

use super::expansion;
use super::interner::{Interner, UrlNumber};
use super::location::Naming;
use super::open::InputError;
use super::piece_parser::{PieceParser, Rest};
use super::progress::Progress;
use super::record::Event;
use super::reject::{MAX_LISTED_REJECTS, Position, is_hopeless};
use super::source::{PIECE_RECORDS, Piece, Pieces, Source, Stop};
use super::summary::ReadSummary;
use crate::display::{counted, is_or_are};
use seedbank_algorithms::watch::{Interrupted, Watch};

/// How many bytes of memory the pieces that are parsed at a time come to; the next pieces, of as
/// many bytes, are read meanwhile. Together with the longest record this bounds what is held, and
/// it is enough pieces to keep many threads busy.
const WAVE: usize = 16 << 20;

/// How many bytes a piece takes at least, however little it is cut from: its interner and its buffers,
/// and what a record may add to its own size.
const OF_PIECE: usize = 512 << 10;

/// How many bytes of events come of each byte of memory that a piece claims, before the rest of the
/// piece has to wait.
const EVENTS_OF_BYTE: usize = 2;

/// The most bytes of events that are handed on while the next ones are parsed.
const BESIDE: usize = 32 << 20;

/// How many records those pieces have at most: the bound on events, of which lines of two bytes
/// would otherwise make millions.
const WAVE_RECORDS: usize = 16 * PIECE_RECORDS;

/// Why a batch was not read to its end.
#[derive(Debug, thiserror::Error)]
pub enum ReadError<E: Error + 'static> {
    /// An input cannot be read; the batch is refused.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The watch asked to stop.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// More than [`MAX_LISTED_REJECTS`] records are bad, and more than half of those that were read, so
    /// reading stopped there; the summary is of what was read up to then.
    #[error("{} of the first {} {} bad", .0.rejected(), counted(.0.records, "record"), is_or_are(&.0.rejected()))]
    MostAreBad(Box<ReadSummary>),
    /// The sink refused to go on.
    #[error(transparent)]
    Sink(E),
}

impl<E: Error + 'static> From<Stop> for ReadError<E> {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Input(error) => Self::Input(error),
            Stop::Interrupted(interrupted) => Self::Interrupted(interrupted),
        }
    }
}

/// A piece of a source, parsed.
pub struct ReadPiece {
    /// Index of the source in the list given to [`read_pieces`].
    pub source: u32,
    /// The name of the source.
    file: Arc<str>,
    /// The URLs of the events, by number.
    pub urls: Interner,
    /// Where each record stands and what it says, in order. Only the first [`MAX_LISTED_REJECTS`] rejects
    /// of the batch are among them.
    pub events: Vec<(Position, Event<UrlNumber>)>,
    counts: ReadSummary,
    /// How many bytes of memory it takes.
    memory: usize,
    /// Reads the records of the piece that are not among the events.
    rest: Option<Rest>,
}

impl ReadPiece {
    /// Keeps only the first `most` of its rejects.
    fn keep_rejects(&mut self, mut most: u64) {
        if self.counts.rejected() <= most {
            return;
        }
        self.events.retain(|(_, event)| {
            let is_reject = matches!(event, Event::Rejected(_));
            let kept = !is_reject || most > 0;
            most -= u64::from(is_reject && kept);
            kept
        });
    }
}

/// Reads all sources in order and hands each event with its position to `sink`, in that order. It
/// works as [`read_pieces`] does, but with URLs as texts.
pub fn read_batch<E: Error + Send + 'static>(
    sources: &mut [Box<dyn Source + '_>],
    naming: Naming,
    watch: &dyn Watch,
    sink: &mut (dyn FnMut(Position, Event) -> Result<(), E> + Send),
) -> Result<ReadSummary, ReadError<E>> {
    read_pieces(sources, naming, watch, &mut |piece| {
        for (at, event) in piece.events {
            sink(at, event.located(&piece.urls))?;
        }
        Ok(())
    })
}

/// Reads all sources in order and hands them to `sink` in that order, a piece at a time.
///
/// The events, their order and the summary depend only on the sources, not on the number of
/// threads. So does the place, after a piece, where reading stops because most records are bad. All
/// sources are prepared before the first is read. Before an [`InputError`] the sink gets all
/// records that were complete before it. Progress is in bytes as stored (compressed), with a total
/// where all sources know theirs.
///
/// Cost: memory for two waves of pieces of 16 MiB, and for the events of one and of a second one
/// where they are small, of at most 262,144 records each; besides records longer than a piece.
pub fn read_pieces<E: Error + Send + 'static>(
    sources: &mut [Box<dyn Source + '_>],
    naming: Naming,
    watch: &dyn Watch,
    sink: &mut (dyn FnMut(ReadPiece) -> Result<(), E> + Send),
) -> Result<ReadSummary, ReadError<E>> {
    let mut total = Some(0);
    for source in &mut *sources {
        let length = source.prepare(watch)?;
        total = total.zip(length).map(|(sum, length)| sum + length);
    }
    watch.stage("read", total);
    let progress = Progress::new(watch);
    let mut queue = Queue::new(sources, progress.clone());
    let mut tally = Tally::default();
    let mut wave = queue.wave();
    let mut pending: Vec<ReadPiece> = Vec::new();
    let hasher = RandomState::new();
    loop {
        let failed = wave.failed.take();
        let last = wave.pieces.is_empty() || failed.is_some();
        let room = tally.room();
        let pieces = std::mem::take(&mut wave.pieces);
        let parse_all = || parse_wave(pieces, naming, &hasher, room, watch);
        let read = || {
            if last { Wave::default() } else { queue.wave() }
        };
        // The events of one wave are handed on while the next is parsed and one more is read.
        let given = std::mem::take(&mut pending);
        let hand_on = || give(given, sink);
        let (given, (parsed, next)) = rayon::join(hand_on, || rayon::join(parse_all, read));
        given?;
        let mut is_hopeless = false;
        for mut piece in parsed? {
            loop {
                let rest = piece.rest.take();
                is_hopeless = tally.count(&mut piece);
                let (source, file) = (piece.source, Arc::clone(&piece.file));
                pending.push(piece);
                let Some(rest) = rest.filter(|_| !is_hopeless) else {
                    break;
                };
                // What was read so far must make room for the rest of the piece.
                give(std::mem::take(&mut pending), sink)?;
                watch.proceed()?;
                let urls = Interner::new(hasher.clone());
                let budget = EVENTS_OF_BYTE * OF_PIECE;
                let parser = PieceParser::of(Arc::clone(&file), tally.room(), naming, urls, budget);
                piece = parse(rest.0, parser, (source, file), 0);
            }
            if is_hopeless {
                break;
            }
        }
        progress.tell();
        let summary = &mut tally.summary;
        if is_hopeless {
            give(pending, sink)?;
            return Err(ReadError::MostAreBad(Box::new(std::mem::take(summary))));
        }
        if last {
            give(pending, sink)?;
            let summary = std::mem::take(summary);
            return failed.map_or(Ok(summary), |error| Err(error.into()));
        }
        if pending.iter().map(|piece| piece.memory).sum::<usize>() > BESIDE {
            give(std::mem::take(&mut pending), sink)?;
        }
        wave = next;
    }
}

/// What was read of a batch so far.
#[derive(Default)]
struct Tally {
    summary: ReadSummary,
}

impl Tally {
    /// How many more refused records may be listed.
    fn room(&self) -> u64 {
        MAX_LISTED_REJECTS.saturating_sub(self.summary.rejected())
    }

    /// Counts a piece, and keeps only as many of its rejects as may be listed. Whether there is no
    /// point in reading on.
    fn count(&mut self, piece: &mut ReadPiece) -> bool {
        piece.keep_rejects(self.room());
        self.summary.merge(&piece.counts);
        is_hopeless(self.summary.rejected(), self.summary.records)
    }
}

fn give<E: Error + 'static>(
    pieces: Vec<ReadPiece>,
    sink: &mut (dyn FnMut(ReadPiece) -> Result<(), E> + Send),
) -> Result<(), ReadError<E>> {
    for piece in pieces {
        sink(piece).map_err(ReadError::Sink)?;
    }
    Ok(())
}

/// A piece and the source it comes from.
struct Queued<'a> {
    source: u32,
    file: Arc<str>,
    piece: Piece<'a>,
}

/// Pieces that are parsed together, and the error that came after them.
#[derive(Default)]
struct Wave<'a> {
    pieces: Vec<Queued<'a>>,
    failed: Option<Stop>,
}

/// A source that is open.
struct Open<'a> {
    source: u32,
    file: Arc<str>,
    pieces: Pieces<'a>,
    /// How many bytes of all sources had been read when it was opened.
    read_before: u64,
    /// How many bytes its pieces cover so far.
    made: u64,
}

impl Open<'_> {
    /// Counts a piece, and refuses the source where its pieces cover far more than was read of it.
    fn count(&mut self, piece: &Piece<'_>, read: u64) -> Result<(), InputError> {
        self.made = self.made.saturating_add(piece.bytes);
        let read = read.saturating_sub(self.read_before);
        // A caller's own source need not tell what it reads; a file beside the source, which is
        // counted in a piece without records, was read before.
        if read == 0 || piece.records == 0 {
            return Ok(());
        }
        expansion::check(read, self.made).map_err(|source| InputError::Expansion {
            file: self.file.to_string(),
            source,
        })
    }
}

/// All pieces of all sources, in order.
struct Queue<'a, 's> {
    sources:
        std::iter::Zip<std::ops::RangeFrom<u32>, std::slice::IterMut<'a, Box<dyn Source + 's>>>,
    current: Option<Open<'a>>,
    progress: Progress<'a>,
}

impl<'a, 's> Queue<'a, 's> {
    fn new(sources: &'a mut [Box<dyn Source + 's>], progress: Progress<'a>) -> Self {
        Self {
            sources: (0..).zip(sources),
            current: None,
            progress,
        }
    }

    fn wave(&mut self) -> Wave<'a> {
        let mut wave = Wave::default();
        let mut memory = 0;
        let mut records = 0;
        while memory < WAVE && records < WAVE_RECORDS {
            match self.next() {
                Ok(Some(queued)) => {
                    records += queued.piece.records;
                    let piece = queued.piece.memory.saturating_add(OF_PIECE);
                    memory = memory.saturating_add(piece);
                    wave.pieces.push(queued);
                }
                Ok(None) => break,
                Err(error) => {
                    wave.failed = Some(error);
                    break;
                }
            }
        }
        wave
    }

    fn next(&mut self) -> Result<Option<Queued<'a>>, Stop> {
        loop {
            if let Some(open) = &mut self.current {
                if let Some(piece) = open.pieces.next().transpose()? {
                    open.count(&piece, self.progress.read())?;
                    return Ok(Some(Queued {
                        source: open.source,
                        file: Arc::clone(&open.file),
                        piece,
                    }));
                }
                self.current = None;
            }
            let Some((number, source)) = self.sources.next() else {
                return Ok(None);
            };
            let read_before = self.progress.read();
            self.current = Some(Open {
                source: number,
                file: source.name().into(),
                pieces: source.open(&self.progress)?,
                read_before,
                made: 0,
            });
        }
    }
}

fn parse_wave(
    pieces: Vec<Queued<'_>>,
    naming: Naming,
    hasher: &RandomState,
    room: u64,
    watch: &dyn Watch,
) -> Result<Vec<ReadPiece>, Interrupted> {
    pieces
        .into_par_iter()
        .map(|queued| {
            watch.proceed()?;
            let Queued {
                source,
                file,
                piece,
            } = queued;
            let urls = Interner::new(hasher.clone());
            let budget = piece.memory.saturating_add(OF_PIECE);
            let budget = budget.saturating_mul(EVENTS_OF_BYTE);
            let parser = PieceParser::of(Arc::clone(&file), room, naming, urls, budget);
            Ok(parse(piece.read, parser, (source, file), piece.bytes))
        })
        .collect()
}

/// Reads a piece, or the rest of one, of a source with this number and name, that covers so many bytes.
fn parse(
    read: impl FnOnce(&mut PieceParser),
    mut parser: PieceParser,
    (source, file): (u32, Arc<str>),
    bytes: u64,
) -> ReadPiece {
    read(&mut parser);
    let (memory, rest) = (parser.bytes(), parser.take_rest());
    let PieceParser {
        urls,
        mut summary,
        events,
        ..
    } = parser;
    summary.lines = summary.records + summary.blank_lines;
    summary.bytes = bytes;
    ReadPiece {
        source,
        file,
        urls,
        events,
        counts: summary,
        memory,
        rest,
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "read_bounds_tests.rs"]
mod bounds_tests;
