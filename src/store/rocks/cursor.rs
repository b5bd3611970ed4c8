//! An iterator over a table that stays open from one range to the next.

use rocksdb::DBRawIterator;

use super::database::Database;
use crate::error::StoreError;

/// Reads the keys of one prefix after another with the same iterator. Moving to the next prefix in key order
/// needs no seek.
pub(crate) struct Cursor<'a> {
    database: &'a Database,
    /// `None` if the table does not exist yet.
    iterator: Option<DBRawIterator<'a>>,
    /// The prefix whose keys are read; `None` at first and after an error.
    prefix: Option<Vec<u8>>,
}

impl Database {
    /// Returns a cursor over a table.
    pub(crate) fn cursor(&self, table: &'static str) -> Result<Cursor<'_>, StoreError> {
        let table = self.readable(table)?;
        Ok(Cursor {
            database: self,
            iterator: table.map(|table| self.db.raw_iterator_cf(table)),
            prefix: None,
        })
    }
}

impl Cursor<'_> {
    /// Moves to the first key with a prefix.
    pub(crate) fn move_under(&mut self, prefix: &[u8]) {
        let Some(iterator) = &mut self.iterator else {
            return;
        };
        // The iterator is at the first unread key. All keys of the last prefix are before the new prefix, so no
        // key of the new one was read. If the iterator is not before the new prefix either, it is at its first key.
        let is_there = self.prefix.as_deref().is_some_and(|last| {
            last < prefix
                && !prefix.starts_with(last)
                && iterator.key().is_none_or(|key| key >= prefix)
        });
        if !is_there {
            iterator.seek(prefix);
        }
        self.prefix = Some(prefix.to_vec());
    }

    /// Calls `read` with the next key and value; `None` after the last key with the prefix.
    pub(crate) fn next_with<T>(
        &mut self,
        read: impl FnOnce(&[u8], &[u8]) -> T,
    ) -> Result<Option<T>, StoreError> {
        let (Some(iterator), Some(prefix)) = (&mut self.iterator, &self.prefix) else {
            return Ok(None);
        };
        let Some((key, value)) = iterator.item() else {
            let status = iterator.status();
            if status.is_err() {
                self.prefix = None;
            }
            status.map_err(StoreError::rocks("reading a table"))?;
            return Ok(None);
        };
        if !key.starts_with(prefix) {
            return Ok(None);
        }
        self.database.count(key.len() + value.len());
        let entry = read(key, value);
        iterator.next();
        Ok(Some(entry))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::disk::scratch::scratch;
    use crate::tables::ALL;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        /// Compares a cursor with new scans. Prefixes are in random order, repeat, may have no keys, and may be
        /// read only in part.
        #[test]
        fn a_cursor_reads_what_new_scans_do(
            keys in prop::collection::btree_set(prop::collection::vec(0_u8..4, 1..4), 0..60),
            reads in prop::collection::vec((prop::collection::vec(0_u8..4, 1..3), 0_usize..9), 1..120),
        ) {
            let folder = scratch();
            let rocks = Database::create(&folder.path().join("live"), ALL).unwrap();
            let table = ALL[0].name;
            let changes = keys.iter().map(|key| (table, (&key[..], Some(&key[..]))));
            rocks.write(changes, None).unwrap();
            let mut cursor = rocks.cursor(table).unwrap();
            for (prefix, most) in reads {
                cursor.move_under(&prefix);
                let under = |key: &&Vec<u8>| key.starts_with(&prefix);
                let mut expected = keys.iter().filter(under);
                for _ in 0..most {
                    let found = cursor.next_with(|key, value| {
                        assert_eq!(key, value);
                        key.to_vec()
                    });
                    let found = found.unwrap();
                    prop_assert_eq!(found.as_ref(), expected.next());
                }
            }
        }
    }
}
