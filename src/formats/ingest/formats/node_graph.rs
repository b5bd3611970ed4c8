//! Formats of graphs whose pages are numbered nodes: lists of links by number, and the names of all
//! nodes, held in memory.

use crate::ingest::interner::UrlNumber;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::PageRecord;
use crate::ingest::source::{MAX_LINE, line_too_long};
use crate::ingest::summary::{DropReason, Fault, RejectReason};

/// Looks up the names of nodes while lists are read.
pub(super) trait NodeNames {
    /// Returns the name of a node as it is listed; empty if there is none.
    fn name(&mut self, node: u64) -> &[u8];

    /// Returns the URL of a node whose list is read.
    fn own_url(&mut self, node: u64) -> Result<&str, Fault>;

    /// Takes the memory for a link to a node and returns the node's URL; `None` if it has no valid URL.
    fn link_url(&mut self, node: u64, budget: &mut UrlBudget) -> Result<Option<&str>, Fault>;

    /// Returns the number of the page of a node whose list is read.
    fn page(&mut self, node: u64, parser: &mut PieceParser) -> Result<UrlNumber, Fault> {
        parser.page(self.own_url(node)?)
    }

    /// Returns the number of the target of a link from a page; `None` if it is the page itself or invalid, both of
    /// which are counted.
    fn target(
        &mut self,
        page: UrlNumber,
        node: u64,
        budget: &mut UrlBudget,
        parser: &mut PieceParser,
    ) -> Result<Option<UrlNumber>, Fault> {
        let Some(url) = self.link_url(node, budget)? else {
            parser.summary.dropped(DropReason::Invalid);
            return Ok(None);
        };
        Ok(parser.target(page, url))
    }
}

/// Reads the coded list of a node, whose URLs may take `max_held_bytes` bytes.
pub(super) fn read_list(
    list: &[u8],
    names: &mut impl NodeNames,
    max_held_bytes: usize,
    parser: &mut PieceParser,
) -> Result<PageRecord<UrlNumber>, Fault> {
    // A line of text may not be longer either: it bounds what a record takes.
    if list.len() > MAX_LINE {
        return Err(line_too_long(list.len() as u64));
    }
    let mut numbers = Numbers::new(list);
    let page = names.page(numbers.next().unwrap_or_default(), parser)?;
    let mut targets = Vec::new();
    let mut budget = UrlBudget::new(list.len(), max_held_bytes);
    let mut to = 0;
    for gap in numbers {
        to += gap;
        targets.extend(names.target(page, to, &mut budget, parser)?);
    }
    let mut record = PageRecord::new(page);
    record.outlinks = Some(parser.outlinks(targets));
    Ok(record)
}

// Numbered texts, front-coded in memory.
//
// Each text is stored as the length of the prefix that it shares with the previous one, the length
// of the rest, and the rest; every sixteenth text is stored completely. Lists of nodes are nearly
// always sorted, so that the rest is short; and most links lead to neighbours, so that a cursor,
// which continues from the last text, saves most of the decoding.
//
// Cost: for each text the part that it does not share, two bytes (three or four if it is longer
// than 127), and half a byte for the start of its block.

/// Number of texts in a block; the first of them is stored completely.
const BLOCK: u64 = 16;

/// Texts by their numbers, from 0.
#[derive(Debug, Default)]
pub(super) struct FrontCodedList {
    coded: Vec<u8>,
    /// The offset of each block in the coded bytes.
    blocks: Vec<usize>,
    length: u64,
    last: Vec<u8>,
    /// Whether some text is less than the one before it.
    unsorted: bool,
}

impl FrontCodedList {
    /// Returns the number of texts.
    pub(in super::super) const fn len(&self) -> u64 {
        self.length
    }

    /// Returns the memory of the texts, in bytes.
    pub(in super::super) const fn memory(&self) -> usize {
        self.coded.len() + self.blocks.len() * size_of::<usize>()
    }

    /// Returns whether the texts ascend in byte order; equal ones may follow each other.
    pub(in super::super) const fn is_sorted(&self) -> bool {
        !self.unsorted
    }

    /// Appends a text.
    pub(in super::super) fn push(&mut self, text: &[u8]) {
        self.unsorted |= self.length > 0 && text < &self.last[..];
        let shared = if self.length.is_multiple_of(BLOCK) {
            self.blocks.push(self.coded.len());
            0
        } else {
            let pairs = text.iter().zip(&self.last);
            pairs.take_while(|(own, last)| own == last).count()
        };
        let rest = text.get(shared..).unwrap_or_default();
        push_length(shared, &mut self.coded);
        push_length(rest.len(), &mut self.coded);
        self.coded.extend_from_slice(rest);
        self.last.clear();
        self.last.extend_from_slice(text);
        self.length += 1;
    }

    /// Returns the number of a text, the last one if it occurs several times. The texts must be
    /// [sorted](Self::is_sorted). Cost: logarithmic in their number.
    pub(in super::super) fn find(&self, text: &[u8]) -> Option<u64> {
        let after = self
            .blocks
            .partition_point(|start| self.first_of_block(*start) <= text);
        let block = after.checked_sub(1)? as u64;
        let mut cursor = Cursor::new(self);
        let numbers = block * BLOCK..((block + 1) * BLOCK).min(self.length);
        numbers
            .take_while(|number| cursor.text(*number) <= text)
            .last()
            .filter(|number| cursor.text(*number) == text)
    }

    /// Returns the first text of the block at an offset.
    fn first_of_block(&self, start: usize) -> &[u8] {
        let mut at = start;
        let shared = length(&self.coded, &mut at);
        assert_eq!(shared, 0, "the first text of a block shares nothing");
        let rest = length(&self.coded, &mut at);
        self.coded.get(at..at + rest).unwrap_or_default()
    }
}

/// Appends a length, seven bits per byte, the lowest first.
fn push_length(mut length: usize, out: &mut Vec<u8>) {
    while length > 127 {
        out.push(0x80 | (length & 127).to_le_bytes()[0]);
        length >>= 7;
    }
    out.push(length.to_le_bytes()[0]);
}

/// Decodes a length and moves `at` behind it.
fn length(coded: &[u8], at: &mut usize) -> usize {
    let mut length = 0;
    let mut shift = 0;
    while let Some(byte) = coded.get(*at) {
        *at += 1;
        length |= usize::from(byte & 127) << shift;
        if byte & 128 == 0 {
            break;
        }
        shift += 7;
    }
    length
}

/// Looks up texts, fastest in ascending order.
pub(super) struct Cursor<'a> {
    texts: &'a FrontCodedList,
    text: Vec<u8>,
    /// The number of the next text to decode, and the offset of its code.
    next: u64,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(in super::super) const fn new(texts: &'a FrontCodedList) -> Self {
        Self {
            texts,
            text: Vec::new(),
            next: 0,
            at: 0,
        }
    }

    /// Returns the text with a number; empty if there is none.
    pub(in super::super) fn text(&mut self, number: u64) -> &[u8] {
        let texts = self.texts;
        if number >= texts.length {
            self.text.clear();
            self.next = 0;
            return &self.text;
        }
        let block = number / BLOCK;
        let decoded = self.next.checked_sub(1);
        if decoded == Some(number) {
            return &self.text;
        }
        if decoded.is_none_or(|decoded| decoded / BLOCK != block || decoded > number) {
            self.next = block * BLOCK;
            let start = usize::try_from(block).ok();
            self.at = start
                .and_then(|block| texts.blocks.get(block).copied())
                .unwrap_or(texts.coded.len());
        }
        while self.next <= number {
            let shared = length(&texts.coded, &mut self.at);
            let rest = length(&texts.coded, &mut self.at);
            self.text.truncate(shared);
            let rest = texts.coded.get(self.at..self.at + rest);
            let rest = rest.unwrap_or_default();
            self.text.extend_from_slice(rest);
            self.at += rest.len();
            self.next += 1;
        }
        &self.text
    }
}

// The code of lists of links between decoding and parsing.
//
// A list is the number of its node, the gaps between its links, and [`END`]. A number is written in
// groups of five bits, the lowest first: 0x40 to 0x5f if more groups follow, 0x60 to 0x7f for the
// last. So numbers need no separator, and most gaps take one byte.

/// Ends a list; it occurs in no number.
pub(super) const END: u8 = b'\n';

/// Appends a number.
pub(super) fn push(mut number: u64, list: &mut Vec<u8>) {
    while number > 31 {
        list.push(0x40 | (number & 31).to_le_bytes()[0]);
        number >>= 5;
    }
    list.push(0x60 | number.to_le_bytes()[0]);
}

/// Returns the lists of a piece, without [`END`].
pub(super) fn lists(piece: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lists = piece.split_inclusive(|byte| *byte == END);
    lists.map(|list| list.strip_suffix(&[END]).unwrap_or(list))
}

/// Returns the list that begins at an offset in a piece; `None` at its end.
pub(super) fn first(piece: &[u8], at: usize) -> Option<&[u8]> {
    lists(piece.get(at..)?).next()
}

/// The numbers of a list.
pub(super) struct Numbers<'a>(std::slice::Iter<'a, u8>);

impl<'a> Numbers<'a> {
    pub(in super::super) fn new(list: &'a [u8]) -> Self {
        Self(list.iter())
    }
}

impl Iterator for Numbers<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let mut number = 0;
        let mut shift = 0;
        loop {
            let byte = *self.0.next()?;
            number |= u64::from(byte & 31).checked_shl(shift).unwrap_or(0);
            shift += 5;
            if byte & 0x20 != 0 {
                return Some(number);
            }
        }
    }
}

// The memory that the URLs of a list of links may take.
//
// A link takes a byte or two, but its URL may have 64 KiB: without a limit, a short list could take
// any amount of memory.

/// Bytes of URLs for any list, and for each of its bytes.
const BYTES_PER_LIST: usize = 1 << 20;
const BYTES_PER_BYTE: usize = 256;

/// Bytes of memory for a URL besides its text.
const URL_OVERHEAD: usize = 48;

/// Returns the approximate memory of coded lists, in bytes, if each byte takes `expansion` bytes and
/// the longest list its full budget.
pub(super) fn memory(coded: &[u8], expansion: usize) -> usize {
    let longest = lists(coded).map(<[u8]>::len).max().unwrap_or(0);
    coded
        .len()
        .saturating_mul(expansion)
        .saturating_add(longest.saturating_mul(BYTES_PER_BYTE))
}

/// The bytes that the URLs of a list may still take.
pub(super) struct UrlBudget {
    left: usize,
    most: usize,
}

impl UrlBudget {
    /// The budget of a coded list of `list` bytes, at most `max_held_bytes`.
    pub(in super::super) fn new(list: usize, max_held_bytes: usize) -> Self {
        let most = BYTES_PER_BYTE
            .saturating_mul(list)
            .saturating_add(BYTES_PER_LIST);
        let most = most.min(max_held_bytes);
        Self { left: most, most }
    }

    /// Takes the memory for a URL; an error if the budget is exceeded.
    pub(in super::super) fn take(&mut self, url: &[u8]) -> Result<(), Fault> {
        let left = self.left.checked_sub(url.len() + URL_OVERHEAD);
        self.left = left.ok_or_else(|| {
            let detail = format!(
                "expected links with at most {} bytes of URLs in such a list, found more",
                self.most
            );
            Fault::new(RejectReason::LineTooLong, detail)
        })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_and_are_found() {
        let mut all: Vec<String> = (0..500_u32)
            .map(|n| format!("com.example{}.www{}", n / 7, n.wrapping_mul(2_654_435_761)))
            .collect();
        all.push("x".repeat(300));
        all.push(String::new());
        all.sort();
        // Equal ones over the end of a block.
        for _ in 0..20 {
            all.insert(100, all[100].clone());
        }
        let mut texts = FrontCodedList::default();
        for text in &all {
            texts.push(text.as_bytes());
        }
        assert!(texts.is_sorted());
        let mut cursor = Cursor::new(&texts);
        for (number, text) in (0..).zip(&all) {
            let mirrored = texts.len() - 1 - number;
            assert_eq!(cursor.text(mirrored), Cursor::new(&texts).text(mirrored));
            assert_eq!(cursor.text(number), text.as_bytes());
            let last = all.iter().rposition(|other| other == text).unwrap();
            assert_eq!(texts.find(text.as_bytes()), Some(last as u64));
            assert_eq!(texts.find(format!("{text}~").as_bytes()), None);
        }
        assert_eq!(cursor.text(texts.len()), b"");
        assert_eq!(FrontCodedList::default().find(b"x"), None);
        texts.push(b"a");
        assert!(!texts.is_sorted());
    }

    #[test]
    fn numbers_come_back_and_need_no_separator() {
        let mut all: Vec<u64> = (0..2000).collect();
        all.extend((5..64).flat_map(|bit| [(1 << bit) - 1, 1 << bit, (1 << bit) + 1]));
        all.push(u64::MAX);
        let mut list = Vec::new();
        for number in &all {
            push(*number, &mut list);
        }
        assert!(list.iter().all(|byte| (0x40..0x80).contains(byte)));
        assert_eq!(Numbers::new(&list).collect::<Vec<_>>(), all);
    }
}
