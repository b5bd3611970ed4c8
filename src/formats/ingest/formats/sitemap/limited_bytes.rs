//! The bytes of a sitemap as its parser asks for them: as a stream, stopped where one event of the
//! parser would take more than a sitemap can have.

use std::io::{self, BufRead, Read};

use crate::ingest::blocks::line_ends;
use crate::ingest::open::Opened;
use crate::ingest::progress::Progress;
use crate::ingest::source::{PIECE_SIZE, Stop};

/// The most bytes of one tag, text or comment.
const MOST: usize = 1 << 20;

/// Why the bytes ended before their end.
#[derive(Debug)]
pub(super) enum Ended {
    /// They cannot be read.
    Failed(Stop),
    /// An event is too long.
    TooLong,
}

/// An open input.
pub(super) struct LimitedBytes<'a> {
    input: Opened,
    progress: Progress<'a>,
    text: Vec<u8>,
    at: usize,
    /// How many bytes were read, and how many lines, and how many bytes were given since the last event.
    read: u64,
    lines: u64,
    given: usize,
    is_last: bool,
    /// An error that comes after the text.
    failed: Option<Stop>,
    pub(super) ended: Option<Ended>,
}

impl<'a> LimitedBytes<'a> {
    pub(super) const fn new(input: Opened, progress: Progress<'a>) -> Self {
        Self {
            input,
            progress,
            text: Vec::new(),
            at: 0,
            read: 0,
            lines: 0,
            given: 0,
            is_last: false,
            failed: None,
            ended: None,
        }
    }

    /// Begins an event.
    pub(super) const fn begin(&mut self) {
        self.given = 0;
    }

    /// How many bytes were given so far.
    pub(super) fn done(&self) -> u64 {
        self.read - self.text.len().saturating_sub(self.at) as u64
    }

    fn read_more(&mut self) {
        if let Err(interrupted) = self.progress.proceed() {
            self.failed = Some(interrupted.into());
            self.is_last = true;
            return;
        }
        self.text.resize(PIECE_SIZE, 0);
        self.at = 0;
        let (read, error) = self.input.fill(&mut self.text);
        self.text.truncate(read);
        self.read += read as u64;
        self.lines += line_ends(&self.text) as u64;
        self.is_last = read < PIECE_SIZE;
        if let Some(source) = error {
            self.failed = Some(self.input.error(source, self.lines).into());
        }
    }
}

impl BufRead for LimitedBytes<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.given > MOST {
            self.ended.get_or_insert(Ended::TooLong);
            return Err(io::Error::other("an event is too long"));
        }
        if self.at >= self.text.len() && !self.is_last {
            self.read_more();
        }
        if self.at >= self.text.len()
            && let Some(failed) = self.failed.take()
        {
            self.ended = Some(Ended::Failed(failed));
        }
        if self.ended.is_some() {
            return Err(io::Error::other("the input cannot be read"));
        }
        Ok(self.text.get(self.at..).unwrap_or_default())
    }

    fn consume(&mut self, count: usize) {
        self.at = self.at.saturating_add(count);
        self.given = self.given.saturating_add(count);
    }
}

impl Read for LimitedBytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}
