//! Scans of tables in key order, over one database or the parts of a cluster bank.

use super::parts::part_database::{PartCursor, PartScan};
use super::shards::Parts;
use crate::error::StoreError;

/// A scan of a range of a table.
pub(crate) enum TableScan<'a> {
    /// All keys of the range are in one database.
    One(PartScan<'a>),
    /// Several parts have keys of the range.
    Merged(MergedScan<'a>),
}

impl TableScan<'_> {
    /// Calls `read` with the next key and value; `None` at the end. An error also ends the scan.
    pub(crate) fn next_with<T>(
        &mut self,
        read: impl FnOnce(&[u8], &[u8]) -> T,
    ) -> Result<Option<T>, StoreError> {
        match self {
            Self::One(scan) => scan.next_with(read),
            Self::Merged(scan) => scan.next_with(read),
        }
    }
}

/// Scans of the same range in several parts, merged. No key is in two parts.
pub(crate) struct MergedScan<'a> {
    scans: Vec<PartScan<'a>>,
    is_backwards: bool,
    /// The scan whose next key is first.
    current: usize,
    /// The next key of all other scans that is first; `None` if they have none.
    limit: Option<Vec<u8>>,
    /// Whether `current` and `limit` are known.
    is_chosen: bool,
}

impl<'a> MergedScan<'a> {
    /// Creates a scan in descending order if `is_backwards`, as the scans are.
    pub(crate) const fn new(scans: Vec<PartScan<'a>>, is_backwards: bool) -> Self {
        Self {
            scans,
            is_backwards,
            current: 0,
            limit: None,
            is_chosen: false,
        }
    }

    fn next_with<T>(
        &mut self,
        read: impl FnOnce(&[u8], &[u8]) -> T,
    ) -> Result<Option<T>, StoreError> {
        let is_backwards = self.is_backwards;
        let is_before = |a: &[u8], b: &[u8]| if is_backwards { a > b } else { a < b };
        // Consecutive keys are often in one part, so the others are compared only once it passes their keys.
        let is_first = self.is_chosen
            && match (self.scans.get_mut(self.current), &self.limit) {
                (Some(scan), Some(limit)) => {
                    scan.next_key().is_some_and(|key| is_before(key, limit))
                }
                (Some(scan), None) => scan.next_key().is_some(),
                (None, _) => false,
            };
        if !is_first {
            self.choose(is_before)?;
        }
        let entry = match self.scans.get_mut(self.current) {
            Some(scan) => scan.next_with(read),
            None => Ok(None),
        };
        if entry.is_err() {
            self.scans.clear();
        }
        entry
    }

    /// Finds the scan whose next key is first, and the first key of the others. Scans that ended are removed.
    fn choose(&mut self, is_before: impl Fn(&[u8], &[u8]) -> bool) -> Result<(), StoreError> {
        let mut ended = Ok(());
        self.scans.retain_mut(|scan| {
            let is_open = scan.next_key().is_some();
            if !is_open && ended.is_ok() {
                // Reports an error that ended the scan.
                ended = scan.next_with(|_, _| ()).map(drop);
            }
            is_open
        });
        if ended.is_err() {
            self.scans.clear();
        }
        ended?;
        self.is_chosen = true;
        self.current = 0;
        let mut first: Option<Vec<u8>> = None;
        self.limit = None;
        for (at, scan) in self.scans.iter_mut().enumerate() {
            let Some(key) = scan.next_key() else {
                continue;
            };
            if first.as_deref().is_none_or(|first| is_before(key, first)) {
                self.limit = first.replace(key.to_vec());
                self.current = at;
            } else if self
                .limit
                .as_deref()
                .is_none_or(|limit| is_before(key, limit))
            {
                self.limit = Some(key.to_vec());
            }
        }
        Ok(())
    }
}

/// A cursor over a table whose keys start with a site.
pub(crate) struct SiteCursor<'a> {
    table: &'static str,
    parts: Option<Parts>,
    cursors: Vec<PartCursor<'a>>,
    current: usize,
}

impl<'a> SiteCursor<'a> {
    /// Creates a cursor from the cursors of all parts, or of the only database.
    pub(crate) const fn new(
        table: &'static str,
        parts: Option<Parts>,
        cursors: Vec<PartCursor<'a>>,
    ) -> Self {
        Self {
            table,
            parts,
            cursors,
            current: 0,
        }
    }

    /// Moves to the first key with a prefix, which contains the site.
    pub(crate) fn move_under(&mut self, prefix: &[u8]) {
        let part = self
            .parts
            .and_then(|parts| parts.of_key(self.table, prefix));
        self.current = part.unwrap_or(0);
        if let Some(cursor) = self.cursors.get_mut(self.current) {
            cursor.move_under(prefix);
        }
    }

    /// Calls `read` with the next key and value; `None` after the last key with the prefix.
    pub(crate) fn next_with<T>(
        &mut self,
        read: impl FnOnce(&[u8], &[u8]) -> T,
    ) -> Result<Option<T>, StoreError> {
        match self.cursors.get_mut(self.current) {
            Some(cursor) => cursor.next_with(read),
            None => Ok(None),
        }
    }
}
