//! The lines of a list that comes in parts.

use super::error::CcGraphError;
use crate::ingest::blocks::{Block, Blocks};
use crate::ingest::open::{Input, InputError};
use crate::ingest::progress::Progress;
use crate::ingest::source::Stop;

/// A line that is not blank.
pub(super) struct Line<'t> {
    /// The index of its part.
    pub(super) part: usize,
    /// Its number in the part, from 1, with blank lines.
    pub(super) number: u64,
    /// Its text, without the line end.
    pub(super) text: &'t [u8],
}

/// The lines of all parts, in order, decompressed as they are read.
///
/// A part that ends within a line is refused: half a number is a number, too.
pub(super) struct PartLines<'a> {
    inputs: &'a [Input],
    progress: Progress<'a>,
    /// Number of parts opened; the last of them is being read.
    opened: usize,
    blocks: Option<Blocks<'a>>,
    block: Block,
    /// The offset of the next line in the block.
    at: usize,
    /// The number of the last line.
    line: u64,
    /// Bytes of text read so far.
    pub(super) bytes: u64,
    /// Blank lines so far.
    pub(super) blank: u64,
}

impl<'a> PartLines<'a> {
    pub(super) fn new(inputs: &'a [Input], progress: Progress<'a>) -> Self {
        Self {
            inputs,
            progress,
            opened: 0,
            blocks: None,
            block: Block::default(),
            at: 0,
            line: 0,
            bytes: 0,
            blank: 0,
        }
    }

    /// Returns the name of a part.
    pub(super) fn name(&self, part: usize) -> String {
        self.inputs
            .get(part)
            .map_or_else(String::new, Input::to_string)
    }

    /// Returns the next line; `None` at the end of the last part.
    pub(super) fn next(&mut self) -> Result<Option<Line<'_>>, Stop> {
        loop {
            let rest = self.block.text.get(self.at..).unwrap_or_default();
            if rest.is_empty() {
                if !self.refill()? {
                    return Ok(None);
                }
                continue;
            }
            self.line += 1;
            let part = self.opened.saturating_sub(1);
            let end = rest.iter().position(|byte| *byte == b'\n');
            let length = end.unwrap_or(rest.len());
            let range = self.at..self.at + length;
            self.at = range.end + usize::from(end.is_some());
            self.bytes += (self.at - range.start) as u64;
            let text = self.block.text.get(range.clone()).unwrap_or_default();
            if text.trim_ascii().is_empty() {
                self.blank += 1;
                continue;
            }
            if end.is_none() {
                let error = CcGraphError::CutOff {
                    file: self.name(part),
                    line: self.line,
                };
                return Err(error.into());
            }
            // Looked up again, since the borrow must not extend over the next iteration.
            let text = self.block.text.get(range).unwrap_or_default();
            return Ok(Some(Line {
                part,
                number: self.line,
                text: text.strip_suffix(b"\r").unwrap_or(text),
            }));
        }
    }

    /// Reads more; `false` at the end of the last part.
    fn refill(&mut self) -> Result<bool, Stop> {
        if let Some(overlong) = self.block.overlong.take() {
            let error = CcGraphError::TooLong {
                file: self.name(self.opened.saturating_sub(1)),
                line: self.line + 1,
                bytes: overlong.bytes,
            };
            return Err(error.into());
        }
        if let Some(block) = self.blocks.as_mut().and_then(Iterator::next) {
            self.block = block?;
            self.at = 0;
            return Ok(true);
        }
        let Some(input) = self.inputs.get(self.opened) else {
            return Ok(false);
        };
        let opened = input.open(&self.progress)?;
        self.blocks = Some(Blocks::new(opened, self.progress.clone(), None));
        self.block = Block::default();
        self.at = 0;
        self.opened += 1;
        self.line = 0;
        Ok(true)
    }
}

/// Parses a number in decimal digits; `None` if it is anything else or exceeds a `u64`.
pub(super) fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0_u64, |number, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

/// Returns the number of bytes in all inputs; `None` if it is unknown. Refuses a missing input.
pub(super) fn length(inputs: &[Input]) -> Result<Option<u64>, InputError> {
    let mut sum = Some(0);
    for input in inputs {
        let length = input.length()?;
        sum = sum.zip(length).map(|(sum, length)| sum + length);
    }
    Ok(sum)
}
