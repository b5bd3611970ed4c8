//! A web archive's text cut into its records.
//!
//! A record's length is believed where the next record, or the end of the file, follows: only blank
//! lines may stand between. Otherwise the record is refused, and the next is the one that begins at
//! the next line that can begin one:
//!
//! * Where blocks are JSON (WAT), that is any line with `WARC/`, and no such line may stand in a block.
//! * Where blocks are what servers sent (WARC), such lines may stand in them, whole records even. There
//!   a record begins with a line of nothing but the version, and has all that a head must have
//!   (ISO 28500, 5.2: type, identifier, date and length), each line a name and a value; and its length
//!   leads, over two line ends, to another record, and that one's too, or to the end of the file.
//!
//! So a wrong length costs one record. If it says more than the file has, the file may as well be
//! cut off: it is read on only where from a record within the lengths of all that follow lead exactly
//! to the end of the file. A block of more than 16 MiB is not held: if its length turns out wrong,
//! the file is opened anew for the records that were passed over. Of standard input, which cannot be,
//! these are lost with the one that is refused.
//!
//! What no rule can tell apart: of three whole records that follow each other in the block of a record
//! whose own length is damaged, the first is taken for one of the file.

use super::chain::{MAX_HEAD, chain_to_end, leads_on, next_line};
use super::error::ArchiveError;
use super::head::{self, Head, MAGIC};
use super::layout::{BEGINNING, BETWEEN, Layout};
use super::text::Text;
use crate::ingest::blocks::{MAX_LINE, line_too_long};
use crate::ingest::open::{Input, InputError, Opened};
use crate::ingest::progress::Progress;
use crate::ingest::reject::{EXCERPT_CHARS, Fault, RejectReason};
use crate::ingest::sniff::HEAD_BYTES;
use crate::ingest::source::{PIECE_RECORDS, PIECE_SIZE, Stop};
use crate::ingest::summary::SkipReason;

/// The most records with lengths that the file does not have; each costs a look at all that follow.
const MOST_BEYOND: u32 = 16;

/// Some neighbouring records.
#[derive(Debug)]
pub(crate) struct Frames<I> {
    pub(crate) records: Vec<Record<I>>,
    /// How many bytes of decompressed text they were cut from.
    pub(crate) bytes: u64,
    /// How many bytes of memory the items take.
    pub(crate) memory: usize,
}

/// A record that was cut from the text.
#[derive(Debug)]
pub(crate) struct Record<I> {
    /// Its number, from 1.
    pub(crate) number: u64,
    pub(crate) frame: Frame<I>,
    /// Whether it belongs to the item before it.
    pub(crate) belongs: bool,
    bytes: u64,
}

/// What a record is, as far as its frame tells.
#[derive(Debug)]
pub(crate) enum Frame<I> {
    /// One of which something is kept.
    Item(I),
    /// Anything else.
    Other(SkipReason),
    /// It is refused; the beginning of its text.
    Refused(Fault, Vec<u8>),
}

/// The records of one input, in pieces.
pub(crate) struct Cutter<'a, L: Layout> {
    layout: L,
    text: Text<'a>,
    /// How many records there were so far.
    number: u64,
    /// How many had lengths that the file does not have.
    beyond: u32,
    /// The record that the next piece begins with.
    held: Option<Record<L::Item>>,
    /// The error that is told after the records before it.
    ready: Option<Stop>,
}

impl<'a, L: Layout> Cutter<'a, L> {
    pub(super) fn new(layout: L, source: &Input, input: Opened, progress: Progress<'a>) -> Self {
        Self {
            layout,
            text: Text::new(source, input, progress),
            number: 0,
            beyond: 0,
            held: None,
            ready: None,
        }
    }

    /// The next record; `None` at the end.
    fn next_record(&mut self) -> Result<Option<Record<L::Item>>, Stop> {
        let from = self.text.done();
        let Some(frame) = self.next_frame()? else {
            return Ok(None);
        };
        Ok(Some(Record {
            number: self.number,
            frame,
            belongs: false,
            bytes: self.text.done().saturating_sub(from),
        }))
    }

    fn next_frame(&mut self) -> Result<Option<Frame<L::Item>>, Stop> {
        if !self.text.skip_line_ends() {
            return self.text.failure().map_or(Ok(None), Err);
        }
        self.number += 1;
        if self.number == 1 {
            self.look_at()?;
        }
        if !self.text.have(MAGIC.len()) && MAGIC.starts_with(self.text.rest()) {
            return Err(self.cut_off());
        }
        if !self.text.rest().starts_with(MAGIC) {
            return Ok(Some(self.refuse("no record begins here", 0)));
        }
        let mut wanted = 1 << 10;
        let end = loop {
            let more = self.text.have(wanted);
            let head = self.text.rest();
            let head = head.get(..MAX_HEAD).unwrap_or(head);
            if let Some(end) = head::end(head) {
                break end;
            }
            if head.len() == MAX_HEAD {
                let said = format!("a head of more than {MAX_HEAD} bytes");
                return Ok(Some(self.refuse(&said, 0)));
            }
            if !more {
                return Err(self.cut_off());
            }
            wanted *= 2;
        };
        let text = self.text.rest().get(..end).unwrap_or_default();
        if next_line(text).is_some() {
            return Ok(Some(self.refuse("a head without an end", 0)));
        }
        let text = text.to_vec();
        let head = head::read(&text);
        let Some(length) = head.length else {
            return Ok(Some(self.refuse("no Content-Length", end)));
        };
        match usize::try_from(length) {
            Ok(short) if short <= L::LONGEST.unwrap_or(MAX_LINE) => self.block(&text, &head, short),
            _ if L::LONGEST.is_some() => Ok(Some(self.skip_to_record(line_too_long(length), end))),
            _ => self.long_block(&text, &head, length),
        }
    }

    /// Looks at the first bytes of the text, which is refused where it is something else.
    fn look_at(&mut self) -> Result<(), Stop> {
        self.text.have(HEAD_BYTES);
        let error = match self.text.input.detected(self.text.rest()) {
            Some(seen) if seen.format == L::IS => return Ok(()),
            Some(seen) => InputError::NotRecords(seen),
            None => ArchiveError::NoArchive {
                file: self.text.file.clone(),
            }
            .into(),
        };
        Err(self.text.failure().unwrap_or_else(|| error.into()))
    }

    /// The error of a text that ends here, within a record.
    fn cut_off(&mut self) -> Stop {
        self.text.cut_off(self.number)
    }

    /// The record with this head, whose block has `length` bytes, as the head says, which can be held.
    fn block(
        &mut self,
        text: &[u8],
        head: &Head<'_>,
        length: usize,
    ) -> Result<Option<Frame<L::Item>>, Stop> {
        let end = text.len();
        let whole = end + length;
        let is_there = self.text.have(whole);
        let block = self.text.from(end);
        let block = block.get(..length).unwrap_or(block);
        if !L::HOLDS_RECORDS
            && let Some(inside) = next_line(block)
        {
            let said = format!(
                "Content-Length is {length}, and the next record begins {inside} bytes after the head"
            );
            return Ok(Some(self.refuse(&said, end)));
        }
        if !is_there {
            let may_go_on = L::HOLDS_RECORDS && self.beyond < MOST_BEYOND;
            if may_go_on && chain_to_end(&mut self.text, end) {
                self.beyond += 1;
                let said = format!("Content-Length is {length}, and the file has less");
                return Ok(Some(self.refuse(&said, end)));
            }
            return Err(self.cut_off());
        }
        let next = self.text.after_line_ends(whole, MAX_HEAD);
        if !self.follows(next) {
            let said = format!("Content-Length is {length}, and no record begins after as many");
            return Ok(Some(self.refuse(&said, end)));
        }
        let block = self.text.rest().get(end..whole).unwrap_or_default();
        let wanted = self
            .layout
            .wants(head, block.get(..BEGINNING).unwrap_or(block));
        let (block, whole) = match block.get(..BEGINNING).filter(|_| !wanted) {
            Some(beginning) => (beginning, false),
            None => (block, true),
        };
        let item = self.layout.item(text, head, block, whole);
        self.text.advance(next);
        Ok(Some(item.map_or_else(Frame::Other, Frame::Item)))
    }

    /// The same where the block is longer than can be held: what is wanted of it is its beginning.
    fn long_block(
        &mut self,
        text: &[u8],
        head: &Head<'_>,
        length: u64,
    ) -> Result<Option<Frame<L::Item>>, Stop> {
        let start = self.text.done();
        let end = text.len();
        self.text.have(end + BEGINNING);
        let block = self.text.from(end);
        let mut most = BEGINNING;
        if self
            .layout
            .wants(head, block.get(..BEGINNING).unwrap_or(block))
        {
            most = MAX_LINE;
            self.text.have(end + most);
        }
        let block = self.text.from(end);
        let item = self
            .layout
            .item(text, head, block.get(..most).unwrap_or(block), false);
        let kept = self.text.rest();
        let kept = kept.get(..EXCERPT_CHARS * 4).unwrap_or(kept).to_vec();
        // The first record within, of which most blocks have none.
        let mut within = None;
        let stop = start.saturating_add(end as u64).saturating_add(length);
        self.text.advance(end);
        loop {
            let left = stop.saturating_sub(self.text.done());
            if within.is_none() {
                let line = next_line(self.text.rest());
                if let Some(line) = line.filter(|line| (*line as u64) < left) {
                    if self.is_record(line) {
                        within = Some(self.text.done() + line as u64);
                    }
                    self.text.advance(line);
                    continue;
                }
            }
            let rest = self.text.rest().len();
            if rest as u64 >= left {
                self.text.advance(usize::try_from(left).unwrap_or(rest));
                break;
            }
            if self.text.has_ended() {
                self.text.advance(rest);
                break;
            }
            // What may be the end of the line before a record stays.
            self.text.advance(rest.saturating_sub(MAGIC.len()));
            self.text.have(rest.min(MAGIC.len()) + 1);
        }
        if self.text.done() == stop {
            let next = self.text.after_line_ends(0, MAX_HEAD);
            if self.follows(next) {
                self.text.advance(next);
                return Ok(Some(item.map_or_else(Frame::Other, Frame::Item)));
            }
        }
        drop(item);
        let is_there = self.text.done() == stop;
        let returned = match within {
            Some(place) => self.text.return_to(place)?,
            None => false,
        };
        // As in a shorter record: a file that is cut off has no records up to its end.
        let goes_on = is_there || returned && chain_to_end(&mut self.text, 0);
        if !goes_on {
            return Err(self.cut_off());
        }
        let said = format!("Content-Length is {length}, and no record begins after as many");
        let fault = Fault::new(RejectReason::Framing, said);
        if !returned {
            self.skip_to_record(fault.clone(), 0);
        }
        Ok(Some(Frame::Refused(fault, kept)))
    }

    /// Whether a record begins there, or the text ends.
    fn follows(&self, at: usize) -> bool {
        let follows = self.text.from(at);
        follows.starts_with(MAGIC) || MAGIC.starts_with(follows)
    }

    /// Whether a line that begins with the magic begins a record.
    fn is_record(&mut self, at: usize) -> bool {
        !L::HOLDS_RECORDS || leads_on(&mut self.text, at)
    }

    /// Refuses the record for its frame; the next is looked for `from` bytes further on.
    fn refuse(&mut self, said: &str, from: usize) -> Frame<L::Item> {
        self.skip_to_record(Fault::new(RejectReason::Framing, said), from)
    }

    /// Refuses the record, and goes to the next line after the first `from` bytes that begins one.
    fn skip_to_record(&mut self, fault: Fault, from: usize) -> Frame<L::Item> {
        let head = self.text.rest();
        let head = head.get(..EXCERPT_CHARS * 4).unwrap_or(head).to_vec();
        // The line end before the magic is kept.
        self.text.advance(from.saturating_sub(1));
        loop {
            if let Some(next) = next_line(self.text.rest()) {
                let found = self.is_record(next);
                self.text.advance(next);
                if found {
                    break;
                }
            } else if self.text.has_ended() {
                self.text.advance(self.text.rest().len());
                break;
            } else {
                // What may be the beginning of a record stays.
                let rest = self.text.rest().len();
                self.text.advance(rest.saturating_sub(MAGIC.len()));
                self.text.have(rest.min(MAGIC.len()) + 1);
            }
        }
        Frame::Refused(fault, head)
    }

    /// The next records: as many as begin within [`PIECE_SIZE`] bytes, but no more than
    /// [`PIECE_RECORDS`], and the one that belongs to the last of them.
    fn cut(&mut self) -> Result<Option<Frames<L::Item>>, Stop> {
        if let Some(error) = self.ready.take() {
            return Err(error);
        }
        let mut frames = Frames {
            records: Vec::new(),
            bytes: 0,
            memory: 0,
        };
        // The item to which another one may belong.
        let mut open = None;
        if let Some(record) = self.held.take() {
            frames.add::<L>(record, &mut open);
        }
        loop {
            let is_full = frames.bytes.max(frames.memory as u64) >= PIECE_SIZE as u64
                || frames.records.len() + BETWEEN + 2 >= PIECE_RECORDS;
            if is_full && open.is_none() {
                break;
            }
            match self.next_record() {
                Ok(Some(mut record)) => {
                    let before = open.and_then(|open| frames.item(open));
                    if let (Some(before), Frame::Item(item)) = (before, &record.frame) {
                        record.belongs = L::belongs(before, item);
                    }
                    let is_item = matches!(record.frame, Frame::Item(_));
                    if is_full && is_item && !record.belongs {
                        self.held = Some(record);
                        break;
                    }
                    frames.add::<L>(record, &mut open);
                }
                Ok(None) => break,
                Err(error) if frames.records.is_empty() => return Err(error),
                Err(error) => {
                    self.ready = Some(error);
                    break;
                }
            }
        }
        Ok((!frames.records.is_empty()).then_some(frames))
    }
}

impl<L: Layout> Iterator for Cutter<'_, L> {
    type Item = Result<Frames<L::Item>, Stop>;

    fn next(&mut self) -> Option<Self::Item> {
        self.cut().transpose()
    }
}

impl<I> Frames<I> {
    fn item(&self, at: usize) -> Option<&I> {
        match &self.records.get(at)?.frame {
            Frame::Item(item) => Some(item),
            _ => None,
        }
    }

    fn add<L: Layout<Item = I>>(&mut self, record: Record<I>, open: &mut Option<usize>) {
        let at = self.records.len();
        self.bytes += record.bytes;
        match &record.frame {
            Frame::Item(item) => {
                self.memory += L::memory(item);
                *open = (L::HOLDS_RECORDS && !record.belongs).then_some(at);
            }
            _ => *open = open.filter(|open| at - open <= BETWEEN),
        }
        self.records.push(record);
    }
}
