//! The encoding of messages: numbers of variable length, and sets of searches.

use super::multi_source_bfs::SourceSet;

/// A message that is being written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Encoder(pub(crate) Vec<u8>);

impl Encoder {
    /// Appends a number, seven bits in each byte.
    pub(crate) fn number(&mut self, mut number: u64) {
        while number > 0x7f {
            self.0.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.0.push(number.to_le_bytes()[0]);
    }

    /// Appends a number that may be negative.
    pub(crate) fn signed(&mut self, number: i64) {
        // The sign is the lowest bit, so that small negative numbers are short too.
        self.number((number << 1 ^ number >> 63).cast_unsigned());
    }

    /// Appends a set that is not empty.
    pub(crate) fn set(&mut self, set: SourceSet) {
        let count = set.len();
        if count < WHOLE {
            self.number(count.into());
            set.each(|search| self.0.push(search.to_le_bytes()[0]));
        } else {
            self.number(WHOLE.into());
            for word in set.words() {
                self.0.extend(word.to_le_bytes());
            }
        }
    }
}

/// From this number of searches on, a set is written as bits, which take 32 bytes.
const WHOLE: u32 = 32;

/// A message that is being read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoder<'a>(pub(crate) &'a [u8]);

impl Decoder<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    /// Reads a number. Returns `None` if the bytes end within it or it does not fit.
    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            let shifted = bits << shift;
            if shifted >> shift != bits {
                return None;
            }
            number |= shifted;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// Reads a number. Returns `None` also if it does not fit into 32 bits.
    pub(crate) fn index(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    /// Reads a number that may be negative.
    pub(crate) fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        let sign = (number & 1).cast_signed();
        Some((number >> 1).cast_signed() ^ -sign)
    }

    /// Reads a set. Returns `None` if the bytes end within it.
    pub(crate) fn set(&mut self) -> Option<SourceSet> {
        let count = self.index()?;
        if count == WHOLE {
            let mut words = [0; 4];
            for word in &mut words {
                let (bytes, rest) = self.0.split_first_chunk()?;
                *word = u64::from_le_bytes(*bytes);
                self.0 = rest;
            }
            return Some(SourceSet::from_words(words));
        }
        let mut set = SourceSet::NONE;
        for _ in 0..count {
            set.add(SourceSet::one(self.byte()?.into()));
        }
        Some(set)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn messages_are_read_as_they_were_written(
            numbers in proptest::collection::vec(any::<u64>(), 0..9),
            signed in proptest::collection::vec(prop_oneof![any::<i64>(), -70_i64..70], 0..9),
            searches in proptest::collection::vec(0_usize..256, 1..300),
        ) {
            let mut message = Encoder::default();
            let mut set = SourceSet::NONE;
            for search in searches {
                set.add(SourceSet::one(search));
            }
            for number in &numbers {
                message.number(*number);
            }
            for number in &signed {
                message.signed(*number);
            }
            message.set(set);
            let mut read = Decoder(&message.0);
            for number in numbers {
                prop_assert_eq!(read.number(), Some(number));
            }
            for number in signed {
                prop_assert_eq!(read.signed(), Some(number));
            }
            prop_assert_eq!(read.set(), Some(set));
            prop_assert!(read.0.is_empty());
            prop_assert_eq!(read.number(), None);
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let mut read = Decoder(&bytes);
            while read.number().and_then(|_| read.signed()).and_then(|_| read.set()).is_some() {}
        }
    }
}
