//! Numbers in a line of text: what the stream writes and the reader takes.
//!
//! A number is written in groups of five bits, the lowest first: `@` to `_` where more groups
//! follow, `` ` `` to DEL for the last. So it needs no separator, most gaps are one byte, and a
//! line is never blank.

/// Appends a number.
pub(super) fn push(mut number: u64, line: &mut Vec<u8>) {
    while number > 31 {
        line.push(0x40 | (number & 31).to_le_bytes()[0]);
        number >>= 5;
    }
    line.push(0x60 | number.to_le_bytes()[0]);
}

/// The numbers of a line.
pub(super) struct Numbers<'a>(std::slice::Iter<'a, u8>);

impl<'a> Numbers<'a> {
    pub(super) fn of(line: &'a str) -> Self {
        Self(line.as_bytes().iter())
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
        let mut line = Vec::new();
        for number in &all {
            push(*number, &mut line);
        }
        let line = String::from_utf8(line).unwrap();
        assert!(line.bytes().all(|byte| (0x40..0x80).contains(&byte)));
        assert_eq!(Numbers::of(&line).collect::<Vec<_>>(), all);
    }
}
