//! Reads a batch: parses pieces in parallel, and passes their events to a sink in input order.

use std::any::Any;
use std::cell::Cell;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::{Arc, Once};

use super::interner::{Interner, UrlNumber};
use super::location::NodeUrls;
use super::open::{self, InputError};
use super::piece_parser::{Continuation, PieceParser};
use super::progress::Progress;
use super::read_options::ReadOptions;
use super::record::Event;
use super::source::{PIECE_RECORDS, Piece, Pieces, Source, Stop};
use super::summary::{MAX_LISTED_REJECTS, Position, ReadSummary};
use crate::display::{counted, is_or_are};
use foldhash::quality::RandomState;
use rayon::prelude::*;
use seedbank_algorithms::watch::{Interrupted, Watch};

/// The memory in bytes of the pieces that are parsed together; the next wave is read meanwhile. With the
/// longest record this bounds the memory, and it is enough to keep many threads busy.
const WAVE_BYTES: usize = 16 << 20;

/// The maximum number of records of a wave. Bounds the number of events, as short lines would otherwise
/// yield millions.
const WAVE_RECORDS: usize = 16 * PIECE_RECORDS;

/// The memory in bytes added to that of every piece: its interner, its buffers, and the growth of a
/// record when parsed.
const PIECE_OVERHEAD: usize = 512 << 10;

/// The maximum size of a piece's events per byte of memory that the piece claims; beyond it, the rest of
/// the piece waits.
const MAX_EVENT_EXPANSION: usize = 2;

/// The maximum size in bytes of events that are passed on while the next wave is parsed.
const MAX_PENDING_BYTES: usize = 32 << 20;

/// Why reading a batch stopped.
#[derive(Debug, thiserror::Error)]
pub enum ReadError<E: Error + 'static> {
    /// An input cannot be read; the batch is refused.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The watch asked to stop.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// More than [`MAX_LISTED_REJECTS`] records are bad, and more than half of the records so far. The
    /// summary covers the records up to then.
    #[error("{} of the first {} {} bad", .0.rejected(), counted(.0.records, "record"), is_or_are(&.0.rejected()))]
    MostAreBad(Box<ReadSummary>),
    /// The sink returned an error.
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

/// A parsed piece of a source.
pub struct ReadPiece {
    /// The index of the source in the argument of [`read_pieces`].
    pub source: u32,
    /// The name of the source.
    file: Arc<str>,
    /// The URLs of the events.
    pub urls: Interner,
    /// The nodes whose numbers the events have in place of those of URLs; only if the source was asked for it
    /// ([`Source::number_nodes`]).
    pub nodes: Option<Arc<dyn NodeUrls>>,
    /// The positions and events of the records, in order. Contains only the first
    /// [`MAX_LISTED_REJECTS`] bad records and fields of the batch.
    pub events: Vec<(Position, Event<UrlNumber>)>,
    counts: ReadSummary,
    /// The memory of the events in bytes.
    memory: usize,
    /// Parses the remaining records of the piece.
    continuation: Option<Continuation>,
}

impl ReadPiece {
    /// Removes all but the first `budget` bad records and fields from the events.
    fn truncate_rejects(&mut self, mut budget: u64) {
        if self.counts.listed() <= budget {
            return;
        }
        self.events.retain(|(_, event)| {
            let is_reject = matches!(event, Event::Rejected(_) | Event::BadField(_));
            let keep = !is_reject || budget > 0;
            budget -= u64::from(is_reject && keep);
            keep
        });
    }
}

/// Like [`read_pieces`], but passes each event with its position, and URLs as text.
pub fn read_batch<E: Error + Send + 'static>(
    sources: &mut [Box<dyn Source + '_>],
    options: impl Into<ReadOptions>,
    watch: &dyn Watch,
    sink: &mut (dyn FnMut(Position, Event) -> Result<(), E> + Send),
) -> Result<ReadSummary, ReadError<E>> {
    read_pieces(sources, options, watch, &mut |piece| {
        for (at, event) in piece.events {
            sink(at, event.located(&piece.urls))?;
        }
        Ok(())
    })
}

/// Reads all sources in order and passes their pieces to `sink` in that order.
///
/// The events, their order and the summary depend only on the sources, not on the number of threads; so
/// does the piece after which reading stops because most records are bad. All sources are prepared
/// before the first is read. Before an [`InputError`], the sink receives all records that were complete.
/// Progress is in stored (compressed) bytes, with a total if all sources know theirs.
///
/// Memory: two waves of pieces of 16 MiB, the events of one wave (at most 262,144 records), up to 32 MiB
/// of events of the wave before, and records longer than a piece.
pub fn read_pieces<E: Error + Send + 'static>(
    sources: &mut [Box<dyn Source + '_>],
    options: impl Into<ReadOptions>,
    watch: &dyn Watch,
    sink: &mut (dyn FnMut(ReadPiece) -> Result<(), E> + Send),
) -> Result<ReadSummary, ReadError<E>> {
    read(sources, options.into(), watch, sink, true)
}

/// Like [`read_pieces`], but does not stop because most records are bad. So sources of one batch can be read by
/// several processes, and the sum of their summaries decides ([`ReadSummary::is_hopeless`]).
pub fn read_all_pieces<E: Error + Send + 'static>(
    sources: &mut [Box<dyn Source + '_>],
    options: impl Into<ReadOptions>,
    watch: &dyn Watch,
    sink: &mut (dyn FnMut(ReadPiece) -> Result<(), E> + Send),
) -> Result<ReadSummary, ReadError<E>> {
    read(sources, options.into(), watch, sink, false)
}

fn read<E: Error + Send + 'static>(
    sources: &mut [Box<dyn Source + '_>],
    options: ReadOptions,
    watch: &dyn Watch,
    sink: &mut (dyn FnMut(ReadPiece) -> Result<(), E> + Send),
    stops_early: bool,
) -> Result<ReadSummary, ReadError<E>> {
    let mut total = Some(0);
    for source in &mut *sources {
        let length = source.prepare(watch)?;
        total = total.zip(length).map(|(sum, length)| sum + length);
    }
    watch.stage("read", total);
    let progress = Progress::new(watch);
    let mut queue = Queue::new(sources, progress.clone(), options.keeps_truncated);
    let mut summary = ReadSummary::default();
    let mut wave = queue.wave();
    let mut pending: Vec<ReadPiece> = Vec::new();
    let hasher = RandomState::default();
    loop {
        let failed = wave.failed.take();
        let last = wave.pieces.is_empty() || failed.is_some();
        let reject_budget = remaining_rejects(&summary);
        let pieces = std::mem::take(&mut wave.pieces);
        let parse_all = || parse_wave(pieces, options, &hasher, reject_budget, watch);
        let read = || {
            if last { Wave::default() } else { queue.wave() }
        };
        // Pipeline: pass on one wave, parse the next, read the one after it.
        let parsed_before = std::mem::take(&mut pending);
        let pass_on = || send(parsed_before, sink);
        let (sent, (parsed, next)) = rayon::join(pass_on, || rayon::join(parse_all, read));
        sent?;
        let mut is_hopeless = false;
        for mut piece in parsed? {
            loop {
                let continuation = piece.continuation.take();
                // Pieces of a wave are parsed with the same budget, so the rejects are counted again here.
                piece.truncate_rejects(remaining_rejects(&summary));
                summary.merge(&piece.counts);
                is_hopeless = stops_early && summary.is_hopeless();
                let (source, file) = (piece.source, Arc::clone(&piece.file));
                pending.push(piece);
                let Some(Continuation(rest)) = continuation.filter(|_| !is_hopeless) else {
                    break;
                };
                // Free the memory of the events so far before the rest of the piece is parsed.
                send(std::mem::take(&mut pending), sink)?;
                watch.proceed()?;
                let parser = PieceParser::for_piece(
                    Arc::clone(&file),
                    remaining_rejects(&summary),
                    options,
                    Interner::new(hasher.clone()),
                    MAX_EVENT_EXPANSION * PIECE_OVERHEAD,
                );
                piece = parse(rest, parser, source, file, 0);
            }
            if is_hopeless {
                break;
            }
        }
        progress.report();
        if is_hopeless {
            send(pending, sink)?;
            return Err(ReadError::MostAreBad(Box::new(summary)));
        }
        if last {
            send(pending, sink)?;
            summary.truncated += queue.truncated;
            return failed.map_or(Ok(summary), |error| Err(error.into()));
        }
        if pending.iter().map(|piece| piece.memory).sum::<usize>() > MAX_PENDING_BYTES {
            send(std::mem::take(&mut pending), sink)?;
        }
        wave = next;
    }
}

/// Returns how many more bad records and fields may be listed.
fn remaining_rejects(summary: &ReadSummary) -> u64 {
    MAX_LISTED_REJECTS.saturating_sub(summary.listed())
}

fn send<E: Error + 'static>(
    pieces: Vec<ReadPiece>,
    sink: &mut (dyn FnMut(ReadPiece) -> Result<(), E> + Send),
) -> Result<(), ReadError<E>> {
    for piece in pieces {
        sink(piece).map_err(ReadError::Sink)?;
    }
    Ok(())
}

/// A piece and its source.
struct Queued<'a> {
    source: u32,
    file: Arc<str>,
    piece: Piece<'a>,
}

/// Pieces that are parsed together, and the error that followed them.
#[derive(Default)]
struct Wave<'a> {
    pieces: Vec<Queued<'a>>,
    failed: Option<Stop>,
}

/// An open source.
struct OpenSource<'a> {
    source: u32,
    file: Arc<str>,
    pieces: Pieces<'a>,
    /// Bytes read from all sources when this one was opened.
    bytes_at_open: u64,
    /// Bytes covered by its pieces so far.
    covered: u64,
}

impl OpenSource<'_> {
    /// Counts a piece; returns an error if the pieces cover far more bytes than were read.
    fn count(&mut self, piece: &Piece<'_>, read: u64) -> Result<(), InputError> {
        self.covered = self.covered.saturating_add(piece.bytes);
        let read = read.saturating_sub(self.bytes_at_open);
        // Sources of a caller may not report progress. A piece without records covers an accompanying
        // file, which was read before.
        if read == 0 || piece.records == 0 {
            return Ok(());
        }
        open::check(read, self.covered).map_err(|source| InputError::Expansion {
            file: self.file.to_string(),
            source,
        })
    }
}

/// All pieces of all sources, in order.
struct Queue<'a, 's> {
    sources:
        std::iter::Zip<std::ops::RangeFrom<u32>, std::slice::IterMut<'a, Box<dyn Source + 's>>>,
    current: Option<OpenSource<'a>>,
    progress: Progress<'a>,
    /// Whether truncated inputs are read up to their end, and their number so far.
    keeps_truncated: bool,
    truncated: u64,
}

impl<'a, 's> Queue<'a, 's> {
    fn new(
        sources: &'a mut [Box<dyn Source + 's>],
        progress: Progress<'a>,
        keeps_truncated: bool,
    ) -> Self {
        Self {
            sources: (0..).zip(sources),
            current: None,
            progress,
            keeps_truncated,
            truncated: 0,
        }
    }

    /// Returns what was read of a source; `None`, which is counted, if the source is truncated there.
    fn kept<T>(&mut self, read: Result<T, Stop>) -> Result<Option<T>, Stop> {
        match read {
            Err(Stop::Input(error)) if self.keeps_truncated && error.is_truncated() => {
                self.truncated += 1;
                Ok(None)
            }
            read => read.map(Some),
        }
    }

    fn wave(&mut self) -> Wave<'a> {
        let mut wave = Wave::default();
        let mut memory = 0;
        let mut records = 0;
        while memory < WAVE_BYTES && records < WAVE_RECORDS {
            match self.next() {
                Ok(Some(queued)) => {
                    records += queued.piece.records;
                    let piece = queued.piece.memory.saturating_add(PIECE_OVERHEAD);
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
            if let Some(mut open) = self.current.take() {
                let piece = open.pieces.next().transpose();
                if let Some(piece) = self.kept(piece)?.flatten() {
                    open.count(&piece, self.progress.read())?;
                    let queued = Queued {
                        source: open.source,
                        file: Arc::clone(&open.file),
                        piece,
                    };
                    self.current = Some(open);
                    return Ok(Some(queued));
                }
            }
            let Some((number, source)) = self.sources.next() else {
                return Ok(None);
            };
            let bytes_at_open = self.progress.read();
            let file = source.name().into();
            let pieces = source.open(&self.progress);
            self.current = self.kept(pieces)?.map(|pieces| OpenSource {
                source: number,
                file,
                pieces,
                bytes_at_open,
                covered: 0,
            });
        }
    }
}

fn parse_wave(
    pieces: Vec<Queued<'_>>,
    options: ReadOptions,
    hasher: &RandomState,
    reject_budget: u64,
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
            let budget = piece.memory.saturating_add(PIECE_OVERHEAD);
            let budget = budget.saturating_mul(MAX_EVENT_EXPANSION);
            let parser =
                PieceParser::for_piece(Arc::clone(&file), reject_budget, options, urls, budget);
            Ok(parse(piece.read, parser, source, file, piece.bytes))
        })
        .collect()
}

/// Parses a piece, or the rest of one, that covers `bytes` bytes of the source.
fn parse(
    read: impl FnOnce(&mut PieceParser),
    mut parser: PieceParser,
    source: u32,
    file: Arc<str>,
    bytes: u64,
) -> ReadPiece {
    read(&mut parser);
    let (memory, continuation) = (parser.bytes(), parser.take_continuation());
    let PieceParser {
        urls,
        mut summary,
        nodes,
        events,
        ..
    } = parser;
    summary.lines = summary.records + summary.blank_lines;
    summary.bytes = bytes;
    ReadPiece {
        source,
        file,
        urls,
        nodes,
        events,
        counts: summary,
        memory,
        continuation,
    }
}

// Panics of third-party decoders on damaged input, as errors.

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a closure; if it panics, returns the payload, and nothing is printed.
///
/// State that the closure modified must not be used after an error.
pub(super) fn catch_panic<T>(step: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous_hook = take_hook();
        set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                previous_hook(info);
            }
        }));
    });
    GUARDED.set(true);
    let result = catch_unwind(AssertUnwindSafe(step));
    GUARDED.set(false);
    result
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "read_bounds_tests.rs"]
mod read_bounds_tests;
