//! A window over the decompressed text of an input.

use crate::ingest::open::{DetectedInput, Input, Opened};
use crate::ingest::progress::Progress;
use crate::ingest::source::{PIECE_SIZE, Stop, line_ends};

use seedbank_algorithms::watch::Unwatched;

pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The text that was read from an input and is not yet consumed.
pub(super) struct TextWindow<'a> {
    input: Opened<'a>,
    progress: Progress<'a>,
    /// Text, of which the first `at` bytes are consumed.
    text: Vec<u8>,
    at: usize,
    /// Bytes and complete lines read so far.
    read: u64,
    lines: u64,
    /// Whether a byte order mark is skipped at the beginning.
    skips_mark: bool,
    /// Whether nothing more can be read.
    pub(super) ended: bool,
    /// The error that ended the text early. It applies after the text before it.
    pub(super) failed: Option<Stop>,
}

impl<'a> TextWindow<'a> {
    pub(super) const fn new(input: Opened<'a>, progress: Progress<'a>) -> Self {
        Self {
            input,
            progress,
            text: Vec::new(),
            at: 0,
            read: 0,
            lines: 0,
            skips_mark: false,
            ended: false,
            failed: None,
        }
    }

    /// A window that skips a byte order mark at the beginning of the text.
    pub(super) const fn without_mark(input: Opened<'a>, progress: Progress<'a>) -> Self {
        let mut window = Self::new(input, progress);
        window.skips_mark = true;
        window
    }

    /// Returns the text that is not consumed.
    pub(super) fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Returns the text from an offset in [`rest`](Self::rest) on.
    pub(super) fn from(&self, offset: usize) -> &[u8] {
        self.rest().get(offset..).unwrap_or_default()
    }

    /// Returns the number of bytes consumed so far.
    pub(super) fn consumed(&self) -> u64 {
        self.read - self.rest().len() as u64
    }

    /// Returns the number of bytes read so far.
    pub(super) const fn bytes_read(&self) -> u64 {
        self.read
    }

    /// Consumes `bytes` bytes, or all that were read if there are fewer.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes).min(self.text.len());
    }

    /// Consumes everything and reads no more.
    pub(super) fn stop(&mut self) {
        self.at = self.text.len();
        self.ended = true;
    }

    /// Reads until `length` bytes are available. Returns `false` if the text ends before.
    pub(super) fn have(&mut self, length: usize) -> bool {
        while self.rest().len() < length && !self.ended {
            self.read_more();
        }
        self.rest().len() >= length
    }

    /// Reads the next [`PIECE_SIZE`] bytes, or fewer at the end or before an error.
    pub(super) fn read_more(&mut self) {
        if self.ended {
            return;
        }
        // Checked here and not once per piece, since a record or a stream may be endless.
        if let Err(interrupted) = self.progress.proceed() {
            self.failed = Some(interrupted.into());
            self.ended = true;
            return;
        }
        self.text.drain(..self.at);
        self.at = 0;
        let before = self.text.len();
        self.text.resize(before + PIECE_SIZE, 0);
        let free = self.text.get_mut(before..).unwrap_or_default();
        let (read, error) = self.input.fill(free);
        self.text.truncate(before + read);
        self.read += read as u64;
        self.lines += line_ends(self.text.get(before..).unwrap_or_default()) as u64;
        self.ended = read < PIECE_SIZE || error.is_some();
        if let Some(source) = error {
            self.failed = Some(self.input.error(source, self.lines).into());
        }
        if std::mem::take(&mut self.skips_mark) && self.text.starts_with(BYTE_ORDER_MARK) {
            self.at = BYTE_ORDER_MARK.len();
        }
    }

    /// Counts bytes that were produced from the text; returns an error if those produced from the file are too many.
    pub(super) fn expand(&mut self, made: u64) -> Result<(), Stop> {
        Ok(self.input.expand(made)?)
    }

    /// Detects the format of the input from text at its beginning; `None` if it is not clear.
    pub(super) fn detect(&self, beginning: &[u8]) -> Option<DetectedInput> {
        self.input.detected(beginning)
    }

    /// Returns an error once reading should stop.
    pub(super) fn proceed(&self) -> Result<(), Stop> {
        Ok(self.progress.proceed()?)
    }

    /// Opens the input again and consumes its first `place` bytes.
    pub(super) fn reopen_at(&mut self, source: &Input, place: u64) -> Result<(), Stop> {
        // Text that is read a second time does not count as progress.
        self.input = source.open(&Progress::new(&Unwatched))?;
        self.text.clear();
        (self.at, self.read, self.lines, self.ended) = (0, 0, 0, false);
        while self.read < place && !self.ended {
            self.advance(self.rest().len());
            self.read_more();
        }
        let beyond = usize::try_from(self.read.saturating_sub(place)).unwrap_or(0);
        self.at = self.text.len().saturating_sub(beyond);
        Ok(())
    }
}
