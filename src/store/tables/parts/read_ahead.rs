//! Keys of another process that were read ahead of gets.
//!
//! A command gets most keys of a table in order. So an answer to a get also contains the entries after the key, and
//! later gets of keys in that range need no request, whether the keys exist or not. The range grows while gets hit it
//! and shrinks while they miss it.

/// Bytes that are read ahead at least, at first, and at most. Below the least number, only the key is read.
const MIN_BYTES: u64 = 256;
const FIRST_BYTES: u64 = 4 << 10;
const MAX_BYTES: u64 = 64 << 10;

/// The number of gets of a single key after which reading ahead is tried again.
const RETRY_AFTER: u32 = 16;

/// A range of keys of a table whose entries are all known.
pub(super) struct KnownRange {
    /// The first key of the range.
    from: Vec<u8>,
    /// All entries, ascending.
    entries: Vec<(Vec<u8>, Vec<u8>)>,
    /// Whether the range has no end; otherwise it ends with the last entry.
    is_endless: bool,
    hits: u32,
    /// The gets of a single key since reading ahead was tried.
    single: u32,
    /// The bytes to read ahead next.
    bytes: u64,
}

/// The value of a key in the range; `None` if there is no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct KnownValue<'a>(pub(super) Option<&'a [u8]>);

impl Default for KnownRange {
    fn default() -> Self {
        Self {
            from: Vec::new(),
            entries: Vec::new(),
            is_endless: false,
            hits: 0,
            single: 0,
            bytes: FIRST_BYTES,
        }
    }
}

impl KnownRange {
    /// Returns what is known of a key; `None` if it is not in the range.
    pub(super) fn get(&mut self, key: &[u8]) -> Option<KnownValue<'_>> {
        let last = self.entries.last();
        let is_before_end = self.is_endless || last.is_some_and(|(last, _)| key <= last.as_slice());
        if !is_before_end || key < self.from.as_slice() {
            return None;
        }
        self.hits = self.hits.saturating_add(1);
        let found = self
            .entries
            .binary_search_by(|(other, _)| other.as_slice().cmp(key));
        Some(KnownValue(
            found.ok().map(|at| self.entries[at].1.as_slice()),
        ))
    }

    /// Returns the bytes to read ahead of a key that is not in the range; `None` to read only the key.
    pub(super) fn miss(&mut self) -> Option<u64> {
        if self.bytes < MIN_BYTES {
            self.single += 1;
            if self.single < RETRY_AFTER {
                return None;
            }
            self.single = 0;
            self.bytes = MIN_BYTES;
        } else if self.hits > 0 {
            self.bytes = (self.bytes * 4).min(MAX_BYTES);
        } else if !self.from.is_empty() {
            self.bytes /= 4;
            if self.bytes < MIN_BYTES {
                return None;
            }
        }
        Some(self.bytes)
    }

    /// Replaces the range by the entries at and after a key.
    pub(super) fn replace(
        &mut self,
        from: &[u8],
        entries: Vec<(Vec<u8>, Vec<u8>)>,
        is_endless: bool,
    ) {
        self.from = from.to_vec();
        self.entries = entries;
        self.is_endless = is_endless;
        self.hits = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compares with gets from a map, in any order.
        #[test]
        fn known_ranges_answer_as_the_table_does(
            table in prop::collection::btree_map(prop::collection::vec(0_u8..4, 1..4), any::<u8>(), 0..60),
            gets in prop::collection::vec((prop::collection::vec(0_u8..4, 1..4), any::<bool>()), 1..90),
        ) {
            let table: BTreeMap<Vec<u8>, u8> = table;
            let mut range = KnownRange::default();
            let mut last = Vec::new();
            for (mut key, follows) in gets {
                if follows {
                    // The key after the last one.
                    key = last.clone();
                    key.push(0);
                }
                last.clone_from(&key);
                let expected = table.get(&key).map(|value| vec![*value]);
                if let Some(KnownValue(found)) = range.get(&key) {
                    prop_assert_eq!(found.map(<[u8]>::to_vec), expected);
                    continue;
                }
                if let Some(bytes) = range.miss() {
                    let most = usize::try_from(bytes / 64).unwrap().max(1);
                    let entries: Vec<_> = table
                        .range(key.clone()..)
                        .take(most)
                        .map(|(key, value)| (key.clone(), vec![*value]))
                        .collect();
                    let is_endless = entries.len() < most;
                    range.replace(&key, entries, is_endless);
                    prop_assert_eq!(range.get(&key), Some(KnownValue(expected.as_deref())));
                }
            }
        }
    }
}
