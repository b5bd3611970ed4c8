//! The changes of one batch or refresh, collected before any is applied.
//!
//! Changes are sorted by table and key as they are collected, in memory or, past the budget, on
//! disk. Small sets become one atomic write; large ones become sorted files that a bulk load takes
//! in.

use std::path::Path;

use super::codec::Malformed;
use super::schema::ALL;
use super::store::Store;
use super::table::{Key, Table, Value};
use crate::error::StoreError;
use crate::sorter::{Sorted, Sorter};

/// Changes to be applied together; where a key is changed twice, the last change counts.
pub struct Changes {
    sorter: Sorter,
    key: Vec<u8>,
    value: Vec<u8>,
}

const DELETE: u8 = 0;
const PUT: u8 = 1;

impl Changes {
    /// An empty set that holds about `budget` bytes in memory and writes the rest to files in
    /// `folder`.
    #[must_use]
    pub fn new(folder: &Path, budget: usize) -> Self {
        Self {
            sorter: Sorter::new(folder, budget),
            key: Vec::new(),
            value: Vec::new(),
        }
    }

    /// Sets the value at a key.
    pub fn put<K: Key, V: Value>(
        &mut self,
        table: &Table<K, V>,
        key: &K,
        value: &V,
    ) -> Result<(), StoreError> {
        self.address(table.name, key)?;
        self.value.clear();
        self.value.push(PUT);
        encode(table, key, value, &mut self.value)?;
        self.sorter.push(&self.key, &self.value)
    }

    /// Sets an already encoded value at a key.
    pub fn put_encoded<K: Key, V>(
        &mut self,
        table: &Table<K, V>,
        key: &K,
        value: &[u8],
    ) -> Result<(), StoreError> {
        self.address(table.name, key)?;
        self.value.clear();
        self.value.push(PUT);
        self.value.extend_from_slice(value);
        self.sorter.push(&self.key, &self.value)
    }

    /// Sets the bytes at a key of a table, or deletes it; both as they were read from there.
    pub fn put_raw(
        &mut self,
        table: &'static str,
        key: &[u8],
        value: Option<&[u8]>,
    ) -> Result<(), StoreError> {
        self.begin(table)?;
        self.key.extend_from_slice(key);
        self.value.clear();
        self.value.push(if value.is_some() { PUT } else { DELETE });
        self.value.extend_from_slice(value.unwrap_or_default());
        self.sorter.push(&self.key, &self.value)
    }

    /// Deletes a key.
    pub fn delete<K: Key, V>(&mut self, table: &Table<K, V>, key: &K) -> Result<(), StoreError> {
        self.address(table.name, key)?;
        self.sorter.push(&self.key, &[DELETE])
    }

    /// Deletes every entry of a table in `store` whose key begins with `prefix`.
    pub fn delete_under<K: Key, V: Value>(
        &mut self,
        store: &Store,
        table: &Table<K, V>,
        prefix: &[u8],
    ) -> Result<(), StoreError> {
        for entry in store.scan_under(table, prefix)? {
            self.delete(table, &entry?.0)?;
        }
        Ok(())
    }

    fn address<K: Key>(&mut self, table: &'static str, key: &K) -> Result<(), StoreError> {
        self.begin(table)?;
        key.put(&mut self.key);
        Ok(())
    }

    /// Begins a key with its table's number.
    fn begin(&mut self, table: &'static str) -> Result<(), StoreError> {
        let number = ALL
            .iter()
            .position(|info| info.name == table)
            .and_then(|number| u8::try_from(number).ok())
            .ok_or(StoreError::Full("table"))?;
        self.key.clear();
        self.key.push(number);
        Ok(())
    }

    /// The entries that a table would get, in key order; nothing is applied.
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
            let unread = || StoreError::spilled(&Malformed("an entry cannot be read".to_owned()));
            found.push(entry.ok_or_else(unread)?);
        }
        Ok(found)
    }

    /// Whether the changes outgrew memory, so that they need a bulk load.
    #[must_use]
    pub(crate) fn is_large(&self) -> bool {
        self.sorter.spilled()
    }

    /// The changes by table and key, each key once.
    pub(crate) fn finish(self) -> Result<Ordered, StoreError> {
        Ok(Ordered {
            sorted: self.sorter.finish()?,
            key: Vec::new(),
            value: Vec::new(),
        })
    }
}

/// Appends the bytes of a table's value.
pub fn encode<K: Key, V: Value>(
    table: &Table<K, V>,
    key: &K,
    value: &V,
    out: &mut Vec<u8>,
) -> Result<(), StoreError> {
    value.encode(out).map_err(|e| StoreError::Damaged {
        table: table.name,
        key: format!("{key:?}"),
        what: e.to_string(),
    })
}

/// Changes by table and key.
pub(crate) struct Ordered {
    sorted: Sorted,
    key: Vec<u8>,
    value: Vec<u8>,
}

/// One change: the table, the key, and the new value or `None` to delete.
pub(crate) type TableChange<'a> = (&'static str, &'a [u8], Option<&'a [u8]>);

impl Ordered {
    /// The next change, or `None` after the last.
    pub(crate) fn next_change(&mut self) -> Result<Option<TableChange<'_>>, StoreError> {
        let Some((key, value)) = self.sorted.next_entry()? else {
            return Ok(None);
        };
        self.key.clear();
        self.key.extend_from_slice(key);
        self.value.clear();
        self.value.extend_from_slice(value);
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
