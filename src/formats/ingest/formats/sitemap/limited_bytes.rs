//! The bytes of a sitemap, as a stream for its parser that ends if one event of the parser takes more
//! than a sitemap can have.

use std::io::{self, BufRead, Read};

use crate::ingest::formats::text_window::TextWindow;
use crate::ingest::source::Stop;

/// The most bytes of one tag, text or comment.
const MAX_EVENT: usize = 1 << 20;

/// Why the stream ended early.
#[derive(Debug)]
pub(super) enum Ended {
    /// The input cannot be read.
    Failed(Stop),
    /// An event is too long.
    TooLong,
}

/// The stream of an open input.
pub(super) struct LimitedBytes<'a> {
    text: TextWindow<'a>,
    /// Bytes of the current event.
    event_bytes: usize,
    pub(super) ended: Option<Ended>,
}

impl<'a> LimitedBytes<'a> {
    pub(super) const fn new(text: TextWindow<'a>) -> Self {
        Self {
            text,
            event_bytes: 0,
            ended: None,
        }
    }

    pub(super) const fn begin_event(&mut self) {
        self.event_bytes = 0;
    }

    /// Returns the number of bytes consumed so far.
    pub(super) fn consumed(&self) -> u64 {
        self.text.consumed()
    }
}

impl BufRead for LimitedBytes<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.event_bytes > MAX_EVENT {
            self.ended.get_or_insert(Ended::TooLong);
            return Err(io::Error::other("an event is too long"));
        }
        if !self.text.have(1)
            && let Some(failed) = self.text.failed.take()
        {
            self.ended = Some(Ended::Failed(failed));
        }
        if self.ended.is_some() {
            return Err(io::Error::other("the input cannot be read"));
        }
        Ok(self.text.rest())
    }

    fn consume(&mut self, count: usize) {
        self.text.advance(count);
        self.event_bytes = self.event_bytes.saturating_add(count);
    }
}

impl Read for LimitedBytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}
