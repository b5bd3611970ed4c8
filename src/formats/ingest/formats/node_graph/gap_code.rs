//! The code of lists of links between decoding and parsing.
//!
//! A list is the number of its node, the gaps between its links, and [`END`]. A number is written in
//! groups of five bits, the lowest first: 0x40 to 0x5f if more groups follow, 0x60 to 0x7f for the
//! last. So numbers need no separator, and most gaps take one byte.

/// Ends a list; it occurs in no number.
pub(in crate::ingest) const END: u8 = b'\n';

/// Appends a number.
pub(in crate::ingest) fn push(mut number: u64, list: &mut Vec<u8>) {
    while number > 31 {
        list.push(0x40 | (number & 31).to_le_bytes()[0]);
        number >>= 5;
    }
    list.push(0x60 | number.to_le_bytes()[0]);
}

/// Returns the lists of a piece, without [`END`].
pub(in crate::ingest) fn lists(piece: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lists = piece.split_inclusive(|byte| *byte == END);
    lists.map(|list| list.strip_suffix(&[END]).unwrap_or(list))
}

/// Returns the list that begins at an offset in a piece; `None` at its end.
pub(in crate::ingest) fn first(piece: &[u8], at: usize) -> Option<&[u8]> {
    lists(piece.get(at..)?).next()
}

/// The numbers of a list.
pub(in crate::ingest) struct Numbers<'a>(std::slice::Iter<'a, u8>);

impl<'a> Numbers<'a> {
    pub(in crate::ingest) fn new(list: &'a [u8]) -> Self {
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

#[cfg(test)]
mod tests {
    use super::*;

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
