//! Reading a batch: pieces are parsed in parallel, events handed on in the order of the input.

use std::error::Error;
use std::hash::RandomState;
use std::sync::Arc;

use rayon::prelude::*;

use super::interner::{Interner, UrlNumber};
use super::location::Naming;
use super::open::InputError;
use super::progress::Progress;
use super::reading::Reading;
use super::record::Event;
use super::reject::{MOST_LISTED, Position, is_hopeless};
use super::source::{PIECE_RECORDS, Piece, Pieces, Source, Stop};
use super::summary::ReadSummary;
use crate::shown::{are, counted};
use crate::watch::{Interrupted, Watch};

/// How many bytes of memory the pieces that are parsed at a time come to; the next pieces, of as
/// many bytes, are read meanwhile. Together with the longest record this bounds what is held, and
/// it is enough pieces to keep many threads busy.
const WAVE: usize = 8 << 20;

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
    /// More than [`MOST_LISTED`] records are bad, and more than half of those that were read, so
    /// reading stopped there; the summary is of what was read up to then.
    #[error("{} of the first {} {} bad", .0.rejected(), counted(.0.records, "record"), are(&.0.rejected()))]
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
    /// The URLs of the events, by number.
    pub urls: Interner,
    /// Where each record stands and what it says, in order. Only the first [`MOST_LISTED`] rejects
    /// of the batch are among them.
    pub events: Vec<(Position, Event<UrlNumber>)>,
    counts: ReadSummary,
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
/// Cost: memory for two waves of pieces of 8 MiB and two of events, of at most 262,144 records
/// each, besides records longer than a piece.
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
    let mut summary = ReadSummary::default();
    let mut wave = queue.wave();
    let mut pending: Vec<ReadPiece> = Vec::new();
    let hasher = RandomState::new();
    loop {
        let failed = wave.failed.take();
        let last = wave.pieces.is_empty() || failed.is_some();
        let room = MOST_LISTED.saturating_sub(summary.rejected());
        let pieces = std::mem::take(&mut wave.pieces);
        let parse = || parse_wave(pieces, naming, &hasher, room, watch);
        let read = || {
            if last { Wave::default() } else { queue.wave() }
        };
        // The events of one wave are handed on while the next is parsed and one more is read.
        let given = std::mem::take(&mut pending);
        let hand_on = || give(given, sink);
        let (given, (parsed, next)) = rayon::join(hand_on, || rayon::join(parse, read));
        given?;
        pending = parsed?;
        let hopeless = pending.iter_mut().position(|piece| {
            let before = summary.rejected();
            piece.keep_rejects(MOST_LISTED.saturating_sub(before));
            summary.merge(&piece.counts);
            is_hopeless(summary.rejected(), summary.records)
        });
        progress.tell();
        if let Some(at) = hopeless {
            pending.truncate(at + 1);
            give(pending, sink)?;
            return Err(ReadError::MostAreBad(Box::new(summary)));
        }
        if last {
            give(pending, sink)?;
            return failed.map_or(Ok(summary), |error| Err(error.into()));
        }
        wave = next;
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
                    memory += queued.piece.memory;
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
            self.current = Some(Open {
                source: number,
                file: source.name().into(),
                pieces: source.open(&self.progress)?,
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
            let urls = Interner::new(hasher.clone());
            let reading = Reading::of(Arc::clone(&queued.file), room, naming, urls);
            Ok(parse(queued, reading))
        })
        .collect()
}

fn parse(queued: Queued<'_>, mut reading: Reading) -> ReadPiece {
    (queued.piece.read)(&mut reading);
    let Reading {
        urls,
        mut summary,
        events,
        ..
    } = reading;
    summary.lines = summary.records + summary.blank_lines;
    summary.bytes = queued.piece.bytes;
    ReadPiece {
        source: queued.source,
        urls,
        events,
        counts: summary,
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "read_bounds_tests.rs"]
mod bounds_tests;
