//! The changes of a batch or refresh, collected before they are committed together.
//!
//! Changes are sorted by table and key, in memory or, beyond the budget, on disk. A small set becomes one
//! atomic write, a large one the sorted files of a bulk load.

use std::path::{Path, PathBuf};

use super::codec::Malformed;
use super::records::Counters;
use super::records::undo::{Overwritten, UndoKey, UndoRecord};
use super::schema::{ALL, PAGE_IDS, REMOVED_ROWS, SITE_IDS, UNDO};
use super::store::Store;
use super::table::{Key, Table, Value};
use crate::error::StoreError;
use crate::rocks::database::Database;
use crate::sorter::{Entry, Sorted, Sorter};
use crate::table_info::{TableGroup, TableInfo};

/// Changes to commit together. The last change of a key wins.
pub struct Changes {
    sorter: Sorter,
    key: Vec<u8>,
    value: Vec<u8>,
}

const DELETE: u8 = 0;
const PUT: u8 = 1;

impl Changes {
    /// Creates an empty set that uses about `budget` bytes of memory and spills to files in `folder`.
    #[must_use]
    pub fn new(folder: &Path, budget: usize) -> Self {
        Self {
            sorter: Sorter::new(folder, budget),
            key: Vec::new(),
            value: Vec::new(),
        }
    }

    /// Sets the value of a key.
    pub fn put<K: Key, V: Value>(
        &mut self,
        table: &Table<K, V>,
        key: &K,
        value: &V,
    ) -> Result<(), StoreError> {
        self.set_key(table.name, key)?;
        self.value.clear();
        self.value.push(PUT);
        encode(table, key, value, &mut self.value)?;
        self.sorter.push(&self.key, &self.value)
    }

    /// Sets the value of a key to already encoded bytes.
    pub fn put_encoded<K: Key, V>(
        &mut self,
        table: &Table<K, V>,
        key: &K,
        value: &[u8],
    ) -> Result<(), StoreError> {
        self.put_raw(table.name, &key.bytes(), Some(value))
    }

    /// Sets a key to a value, both as raw bytes; `None` deletes the key.
    pub fn put_raw(
        &mut self,
        table: &'static str,
        key: &[u8],
        value: Option<&[u8]>,
    ) -> Result<(), StoreError> {
        self.start_key(table)?;
        self.key.extend_from_slice(key);
        self.value.clear();
        self.value.push(if value.is_some() { PUT } else { DELETE });
        self.value.extend_from_slice(value.unwrap_or_default());
        self.sorter.push(&self.key, &self.value)
    }

    /// Adds other changes, which come after these.
    pub fn append(&mut self, other: Self) -> Result<(), StoreError> {
        self.sorter.append(other.sorter)
    }

    /// Deletes a key.
    pub fn delete<K: Key, V>(&mut self, table: &Table<K, V>, key: &K) -> Result<(), StoreError> {
        self.set_key(table.name, key)?;
        self.sorter.push(&self.key, &[DELETE])
    }

    /// Deletes every key of a table in `store` that starts with `prefix`.
    pub fn delete_under<K: Key + Clone, V: Value>(
        &mut self,
        store: &Store,
        table: &Table<K, V>,
        prefix: &[u8],
    ) -> Result<(), StoreError> {
        for key in store.keys_under(table, prefix)? {
            self.delete(table, &key)?;
        }
        Ok(())
    }

    fn set_key<K: Key>(&mut self, table: &'static str, key: &K) -> Result<(), StoreError> {
        self.start_key(table)?;
        key.put(&mut self.key);
        Ok(())
    }

    /// Starts a key with the number of its table.
    fn start_key(&mut self, table: &'static str) -> Result<(), StoreError> {
        let number = ALL
            .iter()
            .position(|info| info.name == table)
            .and_then(|number| u8::try_from(number).ok())
            .ok_or(StoreError::Full("table"))?;
        self.key.clear();
        self.key.push(number);
        Ok(())
    }

    /// Returns the entries set in a table, in key order, without committing anything.
    pub fn new_entries<K: Key, V: Value>(
        self,
        table: &Table<K, V>,
    ) -> Result<Vec<(K, V)>, StoreError> {
        let mut ordered = self.finish()?;
        let mut found = Vec::new();
        while let Some((name, key, value)) = ordered.next_change()? {
            let Some(value) = value.filter(|_| name == table.name) else {
                continue;
            };
            let entry = K::take(key).zip(V::decode(value).ok());
            let malformed =
                || StoreError::spilled(&Malformed("an entry cannot be decoded".to_owned()));
            found.push(entry.ok_or_else(malformed)?);
        }
        Ok(found)
    }

    /// Returns whether the changes exceeded the budget, so that they need a bulk load.
    #[must_use]
    pub(crate) fn is_large(&self) -> bool {
        self.sorter.spilled()
    }

    /// Splits the changes into one set for each folder, into which it spills. `part_of` returns the number of the
    /// set for a table and a key. The sets share the budget.
    pub(crate) fn split(
        self,
        folders: &[PathBuf],
        part_of: impl Fn(&'static str, &[u8]) -> usize,
    ) -> Result<Vec<Self>, StoreError> {
        let share = self.sorter.budget() / folders.len().max(1);
        let mut parts: Vec<Self> = folders
            .iter()
            .map(|folder| Self::new(folder, share))
            .collect();
        let mut changes = self.finish()?;
        while let Some((table, key, value)) = changes.next_change()? {
            let part = parts.get_mut(part_of(table, key));
            let part = part.ok_or(StoreError::Protocol("a change belongs to no part"))?;
            part.put_raw(table, key, value)?;
        }
        Ok(parts)
    }

    /// Adds an encoded change, such as [`PartServer::keep_changes`](crate::PartServer::keep_changes) passes on.
    pub fn put_entry(&mut self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        let is_table = key.first().is_some_and(|of| usize::from(*of) < ALL.len());
        let is_change = matches!(value.split_first(), Some((&PUT, _) | (&DELETE, [])));
        if !(is_table && is_change) {
            return Err(StoreError::Protocol("a change cannot be decoded"));
        }
        self.sorter.push(key, value)
    }

    /// Calls `each` for each key once, in order, with the table, the key, and the entry for
    /// [`put_entry`](Self::put_entry).
    pub(crate) fn each_entry(
        self,
        mut each: impl FnMut(&'static str, &[u8], Entry<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut changes = self.finish()?;
        while let Some((table, _, _)) = changes.next_change()? {
            let SortedChanges { key, value, .. } = &changes;
            each(table, &key[1..], (key, value))?;
        }
        Ok(())
    }

    /// Sorts the changes by table and key, each key once.
    pub(crate) fn finish(self) -> Result<SortedChanges, StoreError> {
        Ok(SortedChanges {
            sorted: self.sorter.finish()?,
            key: Vec::new(),
            value: Vec::new(),
        })
    }
}

/// Appends the encoded value of a table.
pub fn encode<K: Key, V: Value>(
    table: &Table<K, V>,
    key: &K,
    value: &V,
    out: &mut Vec<u8>,
) -> Result<(), StoreError> {
    let failed = |e| StoreError::damaged(table.name, format!("{key:?}"), e);
    value.encode(out).map_err(failed)
}

/// Changes in the order of tables and keys.
pub(crate) struct SortedChanges {
    sorted: Sorted,
    key: Vec<u8>,
    value: Vec<u8>,
}

/// A change: the table, the key, and the new value or `None` to delete the key.
pub(crate) type TableChange<'a> = (&'static str, &'a [u8], Option<&'a [u8]>);

impl SortedChanges {
    /// Returns the next change; `None` after the last.
    pub(crate) fn next_change(&mut self) -> Result<Option<TableChange<'_>>, StoreError> {
        let Some((key, value)) = self.sorted.next_entry()? else {
            return Ok(None);
        };
        self.key.clear();
        self.key.extend_from_slice(key);
        self.value.clear();
        self.value.extend_from_slice(value);
        // Equal keys come in the order of their changes; the last one wins.
        while self.sorted.peek()? == Some(self.key.as_slice()) {
            if let Some((_, value)) = self.sorted.next_entry()? {
                self.value.clear();
                self.value.extend_from_slice(value);
            }
        }
        let table = self
            .key
            .first()
            .and_then(|number| ALL.get(usize::from(*number)))
            .ok_or(StoreError::Full("table"))?;
        let value = match self.value.split_first() {
            Some((&PUT, value)) => Some(value),
            _ => None,
        };
        Ok(Some((table.name, &self.key[1..], value)))
    }
}

/// Returns whether undoing a batch restores a table: those of sites, pages and links. Names keep their
/// ids for ever, and the history of pages stays.
pub(crate) fn is_undoable(table: &TableInfo) -> bool {
    let of_the_web = matches!(table.group, TableGroup::Pages | TableGroup::Links);
    let is_name = [SITE_IDS.name, PAGE_IDS.name].contains(&table.name);
    of_the_web && !is_name || table.name == REMOVED_ROWS.name
}

/// The key and the value of an entry of `undo`.
type UndoEntry<'a> = (&'a [u8], &'a [u8]);

/// Reads the previous values of the entries that a batch changes.
pub(crate) struct UndoCapture<'a> {
    rocks: &'a Database,
    record: UndoRecord,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl<'a> UndoCapture<'a> {
    /// Creates a capture for a batch on the live database, whose counters are `before`.
    pub(crate) fn new(rocks: &'a Database, before: Counters, batch: u32) -> Self {
        let record = UndoRecord {
            batch,
            before,
            entries: 0,
            bytes: 0,
            sum: 0,
        };
        Self {
            rocks,
            record,
            key: Vec::new(),
            value: Vec::new(),
        }
    }

    /// Returns the entry of `undo` for a key that the batch changes; `None` if it needs none.
    ///
    /// Cost: one get.
    pub(crate) fn capture(
        &mut self,
        table: &'static str,
        key: &[u8],
    ) -> Result<Option<UndoEntry<'_>>, StoreError> {
        let found = ALL.iter().position(|info| info.name == table);
        let Some(number) = found.filter(|number| is_undoable(&ALL[*number])) else {
            return Ok(None);
        };
        // The first batch overwrites nothing.
        if self.record.is_first() {
            return Ok(None);
        }
        let table_number = u8::try_from(number).map_err(|_| StoreError::Full("table"))?;
        self.key.clear();
        let of_undo = UndoKey {
            batch: self.record.batch,
            table: table_number,
            key: Vec::new(),
        };
        of_undo.put(&mut self.key);
        self.key.extend_from_slice(key);
        self.value.clear();
        let value = &mut self.value;
        let found = self
            .rocks
            .get(table, key, |former| Overwritten::put(Some(former), value))?;
        if found.is_none() {
            Overwritten::put(None, &mut self.value);
        }
        self.record.count(&self.key, &self.value);
        Ok(Some((&self.key, &self.value)))
    }

    /// Returns the summary of the captured entries.
    pub(crate) fn finish(self) -> UndoRecord {
        self.record
    }
}

impl Store {
    /// Calls `each` for every entry of sites, pages and links that the last batch wrote, table by table,
    /// with the table, the key and the previous value, `None` if there was none.
    pub fn overwritten_entries<E: From<StoreError>>(
        &self,
        undo: &UndoRecord,
        mut each: impl FnMut(&'static str, &[u8], Option<&[u8]>) -> Result<(), E>,
    ) -> Result<(), E> {
        if undo.is_first() {
            for table in ALL.iter().filter(|table| is_undoable(table)) {
                let mut entries = self.scan_raw(table.name)?;
                while let Some(taken) = entries.next_with(|key, _| each(table.name, key, None))? {
                    taken?;
                }
            }
            return Ok(());
        }
        // Counts and sums are recomputed and compared, so that damage is noticed.
        let mut found = UndoRecord {
            entries: 0,
            bytes: 0,
            sum: 0,
            ..*undo
        };
        for entry in self.scan_under(&UNDO, &undo.batch.bytes())? {
            let (key, Overwritten(former)) = entry?;
            let former = former.as_deref();
            found.add(&key, former);
            let table = ALL.get(usize::from(key.table));
            let table = table.filter(|table| is_undoable(table));
            let table = table.ok_or_else(|| {
                let what = "undo does not restore this table";
                StoreError::damaged(UNDO.name, format!("{key:?}"), what)
            })?;
            each(table.name, &key.key, former)?;
        }
        if found == *undo {
            Ok(())
        } else {
            let what = "the entries differ from the record of the last batch";
            Err(StoreError::damaged(UNDO.name, "(all)", what).into())
        }
    }
}
