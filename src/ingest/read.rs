//! Reading a batch: blocks are parsed in parallel, events handed on in the order of the input.

use std::collections::BTreeMap;
use std::error::Error;
use std::hash::RandomState;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::interner::{Interner, UrlNumber};
use super::lines::{Block, Blocks, MAX_LINE, MOST_LINES, Stop, lines};
use super::location::SiteMode;
use super::open::{Input, InputError};
use super::reading::Reading;
use super::record::{Event, Position, RecordReader};
use super::reject::{Fault, MOST_LISTED, Reject, RejectReason, beginning, is_hopeless};
use super::summary::ReadSummary;
use crate::watch::{Interrupted, Watch};

/// So much text is parsed at a time, while as much is being read: with [`MAX_LINE`] the bound on
/// what is held. Enough blocks to keep many threads busy.
const WAVE: usize = 8 << 20;

/// And so many lines: the bound on events, of which lines of two bytes would make millions.
const WAVE_LINES: usize = 16 * MOST_LINES;

/// One input and its format.
#[derive(Clone)]
pub struct Source<'a> {
    /// Where it comes from.
    pub input: Input,
    /// The reader of its format.
    pub reader: &'a dyn RecordReader,
}

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
    /// reading stopped there: what was counted up to then.
    #[error("{} of the first {} records are bad", .0.rejected(), .0.records)]
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

/// Some lines of a source, and what they say.
pub struct ReadBlock {
    /// Index of the source in the list given to [`read_blocks`].
    pub source: u32,
    /// The URLs of the events by number.
    pub urls: Interner,
    /// Lines within the source, from 1, and what each says; in order. Of rejects only the first
    /// [`MOST_LISTED`] of the batch.
    pub events: Vec<(u64, Event<UrlNumber>)>,
    counts: ReadSummary,
}

impl ReadBlock {
    /// Leaves only the first of its rejects.
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

/// Reads all sources in order and hands each event with its position to `sink`, in that order: as
/// [`read_blocks`] does, with URLs as texts.
pub fn read_batch<E: Error + Send + 'static>(
    sources: &[Source<'_>],
    mode: SiteMode,
    watch: &dyn Watch,
    sink: &mut (dyn FnMut(Position, Event) -> Result<(), E> + Send),
) -> Result<ReadSummary, ReadError<E>> {
    read_blocks(sources, mode, watch, &mut |block| {
        let source = block.source;
        for (line, event) in block.events {
            sink(Position { source, line }, event.located(&block.urls))?;
        }
        Ok(())
    })
}

/// Reads all sources in order and hands them to `sink` in that order, a block of lines at a time.
///
/// The events, their order and the summary depend only on the sources, not on the number of
/// threads; so does where reading stops because most records are bad, which is after a block. All
/// inputs are looked up before the first is read. Before an [`InputError`] the sink gets all lines
/// that were whole before it. Progress is in bytes as stored (compressed), with a total where all
/// inputs are files.
///
/// Cost: memory for two waves of 8 MiB of text and two of events, of at most 262,144 lines each,
/// besides lines up to [`MAX_LINE`].
pub fn read_blocks<E: Error + Send + 'static>(
    sources: &[Source<'_>],
    mode: SiteMode,
    watch: &dyn Watch,
    sink: &mut (dyn FnMut(ReadBlock) -> Result<(), E> + Send),
) -> Result<ReadSummary, ReadError<E>> {
    let mut total = Some(0);
    for source in sources {
        let length = source.input.length()?;
        total = total.zip(length).map(|(sum, length)| sum + length);
    }
    watch.stage("read", total);
    let mut queue = Queue::new(sources, watch);
    let mut summary = ReadSummary::default();
    let mut reported = 0;
    let mut wave = queue.wave();
    let mut pending: Vec<ReadBlock> = Vec::new();
    let hasher = RandomState::new();
    loop {
        let failed = wave.failed.take();
        let last = wave.blocks.is_empty() || failed.is_some();
        let room = MOST_LISTED.saturating_sub(summary.rejected());
        let parse = || parse_wave(&wave.blocks, mode, &hasher, room, watch);
        let read = || {
            if last { Wave::default() } else { queue.wave() }
        };
        // The events of one wave are handed on while the next is parsed and one more is read.
        let given = std::mem::take(&mut pending);
        let hand_on = || give(given, sink);
        let (given, (parsed, next)) = rayon::join(hand_on, || rayon::join(parse, read));
        given?;
        pending = parsed?;
        let hopeless = pending.iter_mut().position(|block| {
            let before = summary.rejected();
            block.keep_rejects(MOST_LISTED.saturating_sub(before));
            summary.merge(&block.counts);
            is_hopeless(summary.rejected(), summary.records)
        });
        let read = queue.progress.load(Ordering::Relaxed);
        watch.advance(read - reported);
        reported = read;
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
    blocks: Vec<ReadBlock>,
    sink: &mut (dyn FnMut(ReadBlock) -> Result<(), E> + Send),
) -> Result<(), ReadError<E>> {
    for block in blocks {
        sink(block).map_err(ReadError::Sink)?;
    }
    Ok(())
}

/// A block and where it comes from.
struct Piece<'a> {
    index: u32,
    source: &'a Source<'a>,
    block: Block,
}

/// Blocks that are parsed together, and the error that came after them.
#[derive(Default)]
struct Wave<'a> {
    blocks: Vec<Piece<'a>>,
    failed: Option<Stop>,
}

/// All blocks of all sources, in order.
struct Queue<'a> {
    sources: std::iter::Zip<std::ops::RangeFrom<u32>, std::slice::Iter<'a, Source<'a>>>,
    current: Option<(u32, &'a Source<'a>, Blocks)>,
    progress: Arc<AtomicU64>,
    watch: &'a dyn Watch,
}

impl<'a> Queue<'a> {
    fn new(sources: &'a [Source<'a>], watch: &'a dyn Watch) -> Self {
        Self {
            sources: (0..).zip(sources.iter()),
            current: None,
            progress: Arc::default(),
            watch,
        }
    }

    fn wave(&mut self) -> Wave<'a> {
        let mut wave = Wave::default();
        let mut size = 0;
        let mut lines = 0;
        while size < WAVE && lines < WAVE_LINES {
            match self.next() {
                Ok(Some(piece)) => {
                    lines += piece.block.lines;
                    size += piece.block.text.len() * piece.source.reader.expansion();
                    wave.blocks.push(piece);
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

    fn next(&mut self) -> Result<Option<Piece<'a>>, Stop> {
        loop {
            if let Some((index, source, blocks)) = &mut self.current {
                if let Some(block) = blocks.next(self.watch)? {
                    return Ok(Some(Piece {
                        index: *index,
                        source,
                        block,
                    }));
                }
                self.current = None;
            }
            let Some((index, source)) = self.sources.next() else {
                return Ok(None);
            };
            let input = source.input.open(&self.progress).map_err(Stop::Input)?;
            self.current = Some((index, source, Blocks::new(input)));
        }
    }
}

fn parse_wave(
    blocks: &[Piece<'_>],
    mode: SiteMode,
    hasher: &RandomState,
    room: u64,
    watch: &dyn Watch,
) -> Result<Vec<ReadBlock>, Interrupted> {
    blocks
        .par_iter()
        .map(|piece| {
            watch.proceed()?;
            Ok(parse_block(piece, mode, hasher, room))
        })
        .collect()
}

/// Of the rejects the first `room` become events: no others can be among those that are listed.
fn parse_block(piece: &Piece<'_>, mode: SiteMode, hasher: &RandomState, room: u64) -> ReadBlock {
    let mut reading = Reading::new(mode, Interner::new(hasher.clone()));
    let mut rejects = Rejects {
        piece,
        room,
        counts: BTreeMap::new(),
    };
    let mut events = Vec::new();
    let reader = piece.source.reader;
    let mut blank_lines = 0;
    let mut number = piece.block.first_line;
    for line in lines(&piece.block.text) {
        if line.trim_ascii().is_empty() {
            blank_lines += 1;
        } else {
            let event = match read_line(reader, line, &mut reading) {
                Ok(event) => Some(event),
                Err(fault) => rejects.event(number, line, &fault),
            };
            events.extend(event.map(|event| (number, event)));
        }
        number += 1;
    }
    let mut bytes = piece.block.text.len() as u64;
    if let Some(overlong) = &piece.block.overlong {
        let event = rejects.event(number, &overlong.head, &line_too_long(overlong.bytes));
        events.extend(event.map(|event| (number, event)));
        bytes += overlong.bytes;
    }
    let Reading {
        urls, mut summary, ..
    } = reading;
    summary.lines = piece.block.lines as u64;
    summary.blank_lines = blank_lines;
    summary.records = summary.lines - blank_lines;
    summary.rejects = rejects.counts;
    summary.bytes = bytes;
    ReadBlock {
        source: piece.index,
        urls,
        events,
        counts: summary,
    }
}

fn read_line(
    reader: &dyn RecordReader,
    line: &[u8],
    reading: &mut Reading,
) -> Result<Event<UrlNumber>, Fault> {
    if line.len() > MAX_LINE {
        return Err(line_too_long(line.len() as u64));
    }
    let line = std::str::from_utf8(line)
        .map_err(|error| Fault::new(RejectReason::InvalidUtf8, error.to_string()))?;
    reader.read(line, reading)
}

fn line_too_long(bytes: u64) -> Fault {
    Fault::new(
        RejectReason::LineTooLong,
        format!("a line of {bytes} bytes; at most {MAX_LINE} are read"),
    )
}

/// The rejects of a block.
struct Rejects<'a> {
    piece: &'a Piece<'a>,
    /// So many more may be listed.
    room: u64,
    counts: BTreeMap<RejectReason, u64>,
}

impl Rejects<'_> {
    /// Counts a reject; the event of one that may be listed.
    fn event(&mut self, line: u64, text: &[u8], fault: &Fault) -> Option<Event<UrlNumber>> {
        *self.counts.entry(fault.reason).or_default() += 1;
        self.room = self.room.checked_sub(1)?;
        let source = self.piece.source;
        let shown = std::str::from_utf8(text)
            .ok()
            .and_then(|line| source.reader.shown(line));
        let (file, record) = shown.unwrap_or_else(|| (source.input.to_string(), beginning(text)));
        Some(Event::Rejected(Reject {
            file,
            line,
            reason: fault.reason,
            // It may quote a name or a text of the line.
            detail: beginning(fault.detail.as_bytes()),
            record,
        }))
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "read_bounds_tests.rs"]
mod bounds_tests;
