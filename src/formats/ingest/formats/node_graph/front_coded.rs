//! Numbered texts, front-coded in memory.
//!
//! Each text is stored as the length of the prefix that it shares with the previous one, the length
//! of the rest, and the rest; every sixteenth text is stored completely. Lists of nodes are nearly
//! always sorted, so that the rest is short; and most links lead to neighbours, so that a cursor,
//! which continues from the last text, saves most of the decoding.
//!
//! Cost: for each text the part that it does not share, two bytes (three or four if it is longer
//! than 127), and half a byte for the start of its block.

/// Number of texts in a block; the first of them is stored completely.
const BLOCK: u64 = 16;

/// Texts by their numbers, from 0.
#[derive(Debug, Default)]
pub(in crate::ingest) struct FrontCodedList {
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
    pub(in crate::ingest) const fn len(&self) -> u64 {
        self.length
    }

    /// Returns the memory of the texts, in bytes.
    pub(in crate::ingest) const fn memory(&self) -> usize {
        self.coded.len() + self.blocks.len() * size_of::<usize>()
    }

    /// Returns whether the texts ascend in byte order; equal ones may follow each other.
    pub(in crate::ingest) const fn is_sorted(&self) -> bool {
        !self.unsorted
    }

    /// Appends a text.
    pub(in crate::ingest) fn push(&mut self, text: &[u8]) {
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
    pub(in crate::ingest) fn find(&self, text: &[u8]) -> Option<u64> {
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
pub(in crate::ingest) struct Cursor<'a> {
    texts: &'a FrontCodedList,
    text: Vec<u8>,
    /// The number of the next text to decode, and the offset of its code.
    next: u64,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(in crate::ingest) const fn new(texts: &'a FrontCodedList) -> Self {
        Self {
            texts,
            text: Vec::new(),
            next: 0,
            at: 0,
        }
    }

    /// Returns the text with a number; empty if there is none.
    pub(in crate::ingest) fn text(&mut self, number: u64) -> &[u8] {
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
}
