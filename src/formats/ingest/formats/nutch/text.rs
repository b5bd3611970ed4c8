//! `readdb -dump` as text: a page takes several lines, and its URL is in the first.

use std::sync::{Arc, OnceLock};

use super::datum::Datum;
use crate::ingest::blocks::{Block, Blocks, MAX_LINE, line_ends, line_too_long, lines};
use crate::ingest::crawler_output::VERSION;
use crate::ingest::entries::{add_entry, utf_8};
use crate::ingest::open::{DetectedInput, Opened};
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::progress::Progress;
use crate::ingest::reject::{Fault, Position, RejectReason};
use crate::ingest::source::{PIECE_RECORDS, Piece, Pieces, Stop};

/// Cuts an open dump into pieces.
pub(super) fn pieces<'a>(
    input: Opened,
    seen: Arc<OnceLock<DetectedInput>>,
    progress: &Progress<'a>,
) -> Pieces<'a> {
    let blocks = Blocks::new(input, progress.clone(), Some(seen));
    let splitter = Splitter {
        blocks,
        rest: Block::default(),
        failed: None,
        is_ended: false,
    };
    Box::new(splitter.map(|block| {
        let block = block?;
        let skipped = block.overlong.as_ref().map_or(0, |line| line.bytes);
        Ok(Piece {
            bytes: block.text.len() as u64 + skipped,
            records: block.lines.min(PIECE_RECORDS),
            memory: block.text.len(),
            read: Box::new(move |parser| read(&block, parser)),
        })
    }))
}

/// Blocks of complete pages.
struct Splitter<'a> {
    blocks: Blocks<'a>,
    /// The beginning of a page that may continue in the next block.
    rest: Block,
    failed: Option<Stop>,
    is_ended: bool,
}

impl Splitter<'_> {
    /// Returns the pages up to the last one, which may continue.
    fn cut(&mut self, block: Block) -> Block {
        let mut whole = std::mem::take(&mut self.rest);
        if whole.text.is_empty() {
            whole.first_line = block.first_line;
        }
        let before = whole.text.len();
        whole.text.extend_from_slice(&block.text);
        whole.overlong = block.overlong;
        // The rest of a page that is too long is read separately, and rejected.
        if whole.overlong.is_none() && whole.text.len() <= MAX_LINE {
            let at = last_page(&whole.text, before);
            self.rest.text = whole.text.split_off(at);
            self.rest.first_line = whole.first_line + line_ends(&whole.text) as u64;
        }
        whole.lines = line_ends(&whole.text) + 1;
        whole
    }
}

impl Iterator for Splitter<'_> {
    type Item = Result<Block, Stop>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.is_ended {
                return self.failed.take().map(Err);
            }
            match self.blocks.next() {
                Some(Ok(block)) => {
                    let cut = self.cut(block);
                    if !cut.text.is_empty() || cut.overlong.is_some() {
                        return Some(Ok(cut));
                    }
                }
                end => {
                    self.is_ended = true;
                    self.failed = end.and_then(Result::err);
                    let mut rest = std::mem::take(&mut self.rest);
                    // The last page of a damaged input may be incomplete.
                    if !rest.text.is_empty() && self.failed.is_none() {
                        rest.lines = line_ends(&rest.text) + 1;
                        return Some(Ok(rest));
                    }
                }
            }
        }
    }
}

/// Returns where the last page begins. The text before `from` has no page except the one at its
/// beginning.
fn last_page(text: &[u8], from: usize) -> usize {
    let mut at = from;
    let mut last = 0;
    for line in text
        .get(from..)
        .unwrap_or_default()
        .split_inclusive(|byte| *byte == b'\n')
    {
        if is_page(line) {
            last = at;
        }
        at += line.len();
    }
    last
}

/// Returns whether a line contains the URL of a page.
fn is_page(line: &[u8]) -> bool {
    let version = VERSION.as_bytes();
    !line.starts_with(b"\t") && line.windows(version.len()).any(|at| at == version)
}

/// The current page.
struct Page<'a> {
    first_line: u64,
    lines: Vec<&'a [u8]>,
    bytes: usize,
}

fn read(block: &Block, parser: &mut PieceParser) {
    let mut number = block.first_line;
    let mut page: Option<Page<'_>> = None;
    for line in lines(&block.text) {
        if is_page(line) {
            close(page.take(), parser);
            page = Some(Page {
                first_line: number,
                lines: vec![line],
                bytes: line.len(),
            });
        } else if line.trim_ascii().is_empty() {
            parser.summary.blank_lines += 1;
        } else if let Some(page) = &mut page {
            page.bytes += line.len();
            page.lines.push(line);
        } else {
            let detail = "expected the first line of a page: URL, tab, Version";
            let fault = Fault::new(RejectReason::Columns, detail);
            parser.add(Position::Line(number), Err(fault), line);
        }
        number += 1;
    }
    close(page, parser);
    if let Some(overlong) = &block.overlong {
        let fault = line_too_long(overlong.bytes);
        parser.add(Position::Line(number), Err(fault), &overlong.head);
    }
}

/// Adds a page.
fn close(page: Option<Page<'_>>, parser: &mut PieceParser) {
    let Some(page) = page else { return };
    let entry = if page.bytes > MAX_LINE {
        Err(line_too_long(page.bytes as u64))
    } else {
        datum(&page.lines).and_then(|datum| datum.entry(parser))
    };
    let text = page.lines.first().copied().unwrap_or_default();
    add_entry(parser, Position::Line(page.first_line), entry, text);
}

fn datum<'a>(lines: &[&'a [u8]]) -> Result<Datum<'a>, Fault> {
    let mut datum = Datum::default();
    for line in lines {
        let line = utf_8(line)?;
        if let Some((url, _)) = line.split_once(VERSION) {
            datum.url = url;
        } else if let Some(status) = line.strip_prefix("Status: ") {
            let name = status.split_once('(').map(|(_, name)| name);
            datum.status = name.and_then(|name| name.strip_suffix(')'));
        } else if let Some(due) = line.strip_prefix("Fetch time: ") {
            datum.due = Some(due);
        } else if let Some(interval) = line.strip_prefix("Retry interval: ") {
            datum.interval = interval.split(' ').next();
        } else if let Some(signature) = line.strip_prefix("Signature: ") {
            datum.signature = Some(signature);
        } else if let Some(value) = line.trim_start().strip_prefix("_pst_=") {
            datum.protocol = Some(value);
        }
    }
    Ok(datum)
}
