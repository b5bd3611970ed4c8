//! Iterators over ranges of a table.

use rocksdb::{DBRawIterator, ReadOptions};

use super::database::Database;
use crate::error::StoreError;

/// An iterator over a range of a table.
pub(crate) struct Scan<'a> {
    database: &'a Database,
    /// `None` once the scan has ended: a failed iterator would repeat its error for ever.
    iterator: Option<DBRawIterator<'a>>,
    is_backwards: bool,
    /// Whether the iterator is at an entry that was not read yet.
    is_at_next: bool,
}

impl Database {
    /// Scans keys in ascending order from `from` (inclusive) to `until` (exclusive); `None` scans to
    /// the end.
    pub(crate) fn scan(
        &self,
        table: &'static str,
        from: &[u8],
        until: Option<Vec<u8>>,
    ) -> Result<Scan<'_>, StoreError> {
        let mut options = ReadOptions::default();
        if let Some(until) = until {
            options.set_iterate_upper_bound(until);
        }
        self.scan_with(table, options, false, |iterator| iterator.seek(from))
    }

    /// Scans keys in descending order, from the last key at or before `from` down to `until`
    /// (inclusive).
    pub(crate) fn scan_back(
        &self,
        table: &'static str,
        from: &[u8],
        until: &[u8],
    ) -> Result<Scan<'_>, StoreError> {
        let mut options = ReadOptions::default();
        options.set_iterate_lower_bound(until);
        self.scan_with(table, options, true, |iterator| {
            iterator.seek_for_prev(from);
        })
    }

    /// Scans like [`Database::scan`] without filling the block cache, for large ranges that are not
    /// read again soon.
    pub(crate) fn scan_once(
        &self,
        table: &'static str,
        from: &[u8],
        until: Vec<u8>,
    ) -> Result<Scan<'_>, StoreError> {
        let mut options = ReadOptions::default();
        options.fill_cache(false);
        options.set_iterate_upper_bound(until);
        self.scan_with(table, options, false, |iterator| iterator.seek(from))
    }

    fn scan_with(
        &self,
        table: &'static str,
        options: ReadOptions,
        is_backwards: bool,
        seek: impl FnOnce(&mut DBRawIterator<'_>),
    ) -> Result<Scan<'_>, StoreError> {
        let iterator = self.readable(table)?.map(|table| {
            let mut iterator = self.db.raw_iterator_cf_opt(table, options);
            seek(&mut iterator);
            iterator
        });
        Ok(Scan::new(self, iterator, is_backwards))
    }
}

impl<'a> Scan<'a> {
    /// Creates a scan from an iterator that is at the first entry.
    const fn new(
        database: &'a Database,
        iterator: Option<DBRawIterator<'a>>,
        is_backwards: bool,
    ) -> Self {
        Self {
            database,
            iterator,
            is_backwards,
            is_at_next: true,
        }
    }

    /// Moves the iterator to the next entry unless it is there.
    fn move_to_next(&mut self) {
        if self.is_at_next {
            return;
        }
        match (&mut self.iterator, self.is_backwards) {
            (None, _) => {}
            (Some(iterator), false) => iterator.next(),
            (Some(iterator), true) => iterator.prev(),
        }
        self.is_at_next = true;
    }

    /// Returns the key of the next entry; `None` at the end, and before an error, which the next read returns.
    pub(crate) fn next_key(&mut self) -> Option<&[u8]> {
        self.move_to_next();
        self.iterator.as_ref().and_then(DBRawIterator::key)
    }

    /// Calls `read` with the next key and value; `None` at the end. An error also ends the scan.
    pub(crate) fn next_with<T>(
        &mut self,
        read: impl FnOnce(&[u8], &[u8]) -> T,
    ) -> Result<Option<T>, StoreError> {
        self.move_to_next();
        let Some(iterator) = &mut self.iterator else {
            return Ok(None);
        };
        self.is_at_next = false;
        if let Some((key, value)) = iterator.item() {
            self.database.count(key.len() + value.len());
            return Ok(Some(read(key, value)));
        }
        let status = iterator.status();
        self.iterator = None;
        status.map_err(StoreError::rocks("reading a table"))?;
        Ok(None)
    }
}
