//! Reads the edges from start to end, and codes them as lists of links in pieces.

use super::error::CcGraphError;
use super::part_lines::{PartLines, number};
use crate::ingest::blocks::MAX_LINE;
use crate::ingest::formats::node_graph::gap_code;
use crate::ingest::open::Input;
use crate::ingest::progress::Progress;
use crate::ingest::reject::excerpt;
use crate::ingest::source::{PIECE_RECORDS, Stop};

/// The approximate size of the coded lists of a piece. Less than of text, since a link takes two or
/// three coded bytes and becomes a URL.
const PIECE_BYTES: usize = 32 << 10;

/// The lists of consecutive vertices, in the code of [`gap_code`].
#[derive(Debug, Default)]
pub(super) struct Coded {
    pub(super) bytes: Vec<u8>,
    pub(super) lists: usize,
    /// Bytes of text that were read for them.
    pub(super) text: u64,
    /// Blank lines in this text.
    pub(super) blank: u64,
}

/// The lists of all vertices, in order; one without edges has an empty list. An error follows after
/// all complete lists before it.
pub(super) struct Lists<'a> {
    lines: PartLines<'a>,
    vertices: u64,
    /// The vertex whose list is next.
    next: u64,
    /// The edge after those of the lists so far.
    ahead: Option<(u64, u64)>,
    ended: bool,
    /// The links of the current list.
    links: Vec<u64>,
    /// The bytes and blank lines of the pieces so far.
    reported: (u64, u64),
    error: Option<Stop>,
}

impl<'a> Lists<'a> {
    pub(super) fn new(edges: &'a [Input], vertices: u64, progress: &Progress<'a>) -> Self {
        Self {
            lines: PartLines::new(edges, progress.clone()),
            vertices,
            next: 0,
            ahead: None,
            ended: false,
            links: Vec::new(),
            reported: (0, 0),
            error: None,
        }
    }

    /// Reads the next edge into `ahead`, unless it is there.
    fn look(&mut self, last: u64) -> Result<Option<(u64, u64)>, Stop> {
        if self.ahead.is_some() || self.ended {
            return Ok(self.ahead);
        }
        let Some(line) = self.lines.next()? else {
            self.ended = true;
            return Ok(None);
        };
        let (part, at) = (line.part, line.number);
        let edge = edge(line.text);
        let Some((from, to)) = edge else {
            let error = CcGraphError::Edge {
                line: at,
                text: excerpt(line.text),
                file: self.lines.name(part),
            };
            return Err(error.into());
        };
        let id = from.max(to);
        if id >= self.vertices || from < last {
            let file = self.lines.name(part);
            let error = if from < last {
                CcGraphError::Unsorted {
                    file,
                    line: at,
                    from,
                    after: last,
                }
            } else {
                CcGraphError::Beyond {
                    file,
                    line: at,
                    id,
                    vertices: self.vertices,
                }
            };
            return Err(error.into());
        }
        self.ahead = edge;
        Ok(edge)
    }

    /// Appends the list of the next vertex.
    fn push(&mut self, out: &mut Vec<u8>) -> Result<(), Stop> {
        self.links.clear();
        while let Some((_, to)) = self.look(self.next)?.filter(|(from, _)| *from == self.next) {
            self.ahead = None;
            // A link takes at least one coded byte, so that a longer list is rejected anyway.
            if self.links.len() <= MAX_LINE {
                self.links.push(to);
            }
        }
        if !self.links.is_sorted() {
            self.links.sort_unstable();
        }
        gap_code::push(self.next, out);
        let mut before = 0;
        for to in &self.links {
            gap_code::push(to - before, out);
            before = *to;
        }
        out.push(gap_code::END);
        self.next += 1;
        Ok(())
    }

    fn next_piece(&mut self) -> Coded {
        let mut piece = Coded::default();
        while self.error.is_none()
            && self.next < self.vertices
            && piece.lists < PIECE_RECORDS
            && piece.bytes.len() < PIECE_BYTES
        {
            match self.push(&mut piece.bytes) {
                Ok(()) => piece.lists += 1,
                Err(error) => self.error = Some(error),
            }
        }
        // Without vertices, no list would notice an edge.
        if self.vertices == 0
            && self.error.is_none()
            && let Err(error) = self.look(0)
        {
            self.error = Some(error);
        }
        let now = (self.lines.bytes, self.lines.blank);
        piece.text = now.0 - self.reported.0;
        piece.blank = now.1 - self.reported.1;
        self.reported = now;
        piece
    }
}

impl Iterator for Lists<'_> {
    type Item = Result<Coded, Stop>;

    fn next(&mut self) -> Option<Self::Item> {
        let piece = self.next_piece();
        if piece.lists > 0 {
            return Some(Ok(piece));
        }
        let error = self.error.take();
        // Nothing follows an error.
        if error.is_some() {
            self.next = self.vertices;
            self.ended = true;
        }
        error.map(Err)
    }
}

fn edge(line: &[u8]) -> Option<(u64, u64)> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let (from, to) = line.split_at(tab);
    number(from).zip(to.split_first().and_then(|(_, to)| number(to)))
}
