//! The decompressed text of an input, as a window that moves on.

use super::error::ArchiveError;
use super::header::MAGIC;
use crate::ingest::blocks::line_ends;
use crate::ingest::open::{Input, InputError, Opened};
use crate::ingest::progress::Progress;
use crate::ingest::source::{PIECE_SIZE, Stop};

/// How often an input is opened anew for records that a wrong length passed over.
const MOST_RETURNS: u32 = 16;

/// The text of one input.
pub(super) struct ArchiveText<'a> {
    /// How the caller named it.
    pub(super) file: String,
    /// Where it can be opened anew.
    source: Option<Input>,
    pub(super) input: Opened,
    progress: Progress<'a>,
    /// What was read and not let go, of which the first `at` bytes are done with.
    window: Vec<u8>,
    at: usize,
    /// How many bytes were read so far, and how many lines.
    read: u64,
    lines: u64,
    ended: bool,
    returns: u32,
    /// The error after which no more can be read.
    failed: Option<Stop>,
}

impl<'a> ArchiveText<'a> {
    pub(super) fn new(source: &Input, input: Opened, progress: Progress<'a>) -> Self {
        Self {
            file: source.to_string(),
            source: matches!(source.length(), Ok(Some(_))).then(|| source.clone()),
            input,
            progress,
            window: Vec::new(),
            at: 0,
            read: 0,
            lines: 0,
            ended: false,
            returns: 0,
            failed: None,
        }
    }

    /// The text that is not done with.
    pub(super) fn rest(&self) -> &[u8] {
        self.window.get(self.at..).unwrap_or_default()
    }

    /// The rest from here on.
    pub(super) fn from(&self, from: usize) -> &[u8] {
        self.rest().get(from..).unwrap_or_default()
    }

    /// How many bytes of text are done with.
    pub(super) fn done(&self) -> u64 {
        self.read - self.rest().len() as u64
    }

    /// Is done with so many bytes more, or with all that were read.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.window.len());
    }

    /// Reads on until at least `length` bytes are not done with; `false` where the text ends before.
    pub(super) fn have(&mut self, length: usize) -> bool {
        while self.rest().len() < length && !self.ended {
            self.read_more();
        }
        self.rest().len() >= length
    }

    /// Whether there is nothing to be read beyond the rest.
    pub(super) const fn has_ended(&self) -> bool {
        self.ended
    }

    /// Reads the next [`PIECE_SIZE`] bytes, or fewer at the end or at an error.
    fn read_more(&mut self) {
        // Asked here and not once per piece, since a record or a stream may have no end.
        if let Err(interrupted) = self.progress.proceed() {
            self.failed = Some(interrupted.into());
            self.ended = true;
            return;
        }
        self.window.drain(..self.at);
        self.at = 0;
        let before = self.window.len();
        self.window.resize(before + PIECE_SIZE, 0);
        let (read, error) = self
            .input
            .fill(self.window.get_mut(before..).unwrap_or_default());
        self.window.truncate(before + read);
        self.read += read as u64;
        self.lines += line_ends(self.window.get(before..).unwrap_or_default()) as u64;
        self.ended = read < PIECE_SIZE;
        if let Some(source) = error {
            self.failed = Some(self.input.error(source, self.lines).into());
            self.ended = true;
        }
    }

    /// The error after which no more could be read, if there was one.
    pub(super) const fn failure(&mut self) -> Option<Stop> {
        self.failed.take()
    }

    /// The error of a text that ends here, within a record.
    pub(super) fn cut_off(&mut self, record: u64) -> Stop {
        self.failed.take().unwrap_or_else(|| {
            let error = ArchiveError::CutOff {
                file: self.file.clone(),
                record,
                text: self.read,
            };
            InputError::from(error).into()
        })
    }

    /// Goes back to a place in the text, in bytes from its beginning; `false` where that cannot be,
    /// and all is as it was.
    pub(super) fn return_to(&mut self, place: u64) -> Result<bool, Stop> {
        let Some(source) = &self.source else {
            return Ok(false);
        };
        // What cannot be read to its end is refused anyway.
        if self.failed.is_some() || self.returns == MOST_RETURNS {
            return Ok(false);
        }
        self.returns += 1;
        // What is read a second time is no progress.
        let unwatched = seedbank_algorithms::watch::Unwatched;
        self.input = source.open(&Progress::new(&unwatched))?;
        self.window.clear();
        (self.at, self.read, self.lines, self.ended) = (0, 0, 0, false);
        while self.read < place && !self.ended {
            self.advance(self.rest().len());
            self.read_more();
        }
        let beyond = usize::try_from(self.read.saturating_sub(place)).unwrap_or(0);
        self.at = self.window.len().saturating_sub(beyond);
        Ok(true)
    }

    /// Where, from `from` on, the first byte stands that ends no line; there are as many bytes after
    /// it as a record begins with, unless the text ends before. It stops after `most` line ends:
    /// these may go on without an end.
    pub(super) fn after_line_ends(&mut self, from: usize, most: usize) -> usize {
        let mut at = from;
        loop {
            let rest = self.from(at);
            // Not all of a long run is looked at for each of many records.
            let rest = rest.get(..=most).unwrap_or(rest);
            let other = rest.iter().position(|byte| !is_line_end(*byte));
            at += other.unwrap_or(rest.len());
            if other.is_some() {
                self.have(at + MAGIC.len());
                return at;
            }
            if at - from > most || !self.have(at + 1) {
                return at;
            }
        }
    }

    /// Skips the ends of lines; whether anything comes after them.
    pub(super) fn skip_line_ends(&mut self) -> bool {
        loop {
            let other = self.rest().iter().position(|byte| !is_line_end(*byte));
            self.advance(other.unwrap_or_else(|| self.rest().len()));
            if other.is_some() {
                return true;
            }
            if !self.have(1) {
                return false;
            }
        }
    }
}

const fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}
