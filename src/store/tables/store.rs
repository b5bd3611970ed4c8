//! Typed reads of the tables of a bank, in the live database or in a published state.

use std::cell::RefCell;
use std::fmt::Write;
use std::marker::PhantomData;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::records::lineage::StateId;
use super::records::{Counters, Intent, Lineage, Meta, Settings, UndoRecord};
use super::schema::{self as tables, MetaKey};
use super::table::{Key, Table, Value};
use crate::error::StoreError;
use crate::format::OLDER;
use crate::rocks::database::{Database, Scan, TableSize};
use crate::table_info::TableInfo;
use seedbank_algorithms::page::SiteId;

/// The tables of a bank, open for reading.
pub struct Store {
    pub(crate) rocks: Database,
    /// The folder of the graph image; `None` if it is not used.
    image_folder: Option<PathBuf>,
}

/// Returns the error of a key of `meta` with a record of another key.
fn other_record(key: MetaKey) -> StoreError {
    let what = "the record belongs to another key";
    StoreError::damaged(tables::META.name, format!("{key:?}"), what)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

impl Store {
    /// Creates the store of a database, without a graph image.
    pub(crate) const fn new(rocks: Database) -> Self {
        Self {
            rocks,
            image_folder: None,
        }
    }

    /// Sets the folder of the graph image; `None` if it is not to be used.
    pub(crate) fn set_image_folder(&mut self, folder: Option<PathBuf>) {
        self.image_folder = folder;
    }

    /// Returns the folder of the graph image; `None` if it is not used.
    pub(crate) fn image_folder(&self) -> Option<&Path> {
        self.image_folder.as_deref()
    }

    /// Opens a database read-only. A database of an older format may lack tables.
    pub(crate) fn read(path: &Path) -> Result<Self, StoreError> {
        let current = Database::open_reader(path, tables::ALL).map(Self::new);
        if current.is_ok() {
            return current;
        }
        // RocksDB fails if a table is missing, so the tables of each older format are tried.
        for older in OLDER {
            let tables = tables::ALL.len().saturating_sub(older.missing_tables);
            if let Ok(rocks) = Database::open_reader(path, &tables::ALL[..tables]) {
                let store = Self::new(rocks);
                if store.format().is_ok_and(|format| format == older.number) {
                    return Ok(store);
                }
            }
        }
        current
    }

    /// Returns the value at a key.
    pub fn get<K: Key, V: Value>(
        &self,
        table: &Table<K, V>,
        key: &K,
    ) -> Result<Option<V>, StoreError> {
        match self.rocks.get(table.name, &key.bytes(), V::decode)? {
            None => Ok(None),
            Some(Ok(value)) => Ok(Some(value)),
            Some(Err(e)) => Err(StoreError::damaged(table.name, format!("{key:?}"), e)),
        }
    }

    /// Returns the value at a key that must exist, since another record refers to it.
    pub fn need<K: Key, V: Value>(&self, table: &Table<K, V>, key: &K) -> Result<V, StoreError> {
        self.get(table, key)?.ok_or_else(|| {
            StoreError::damaged(table.name, format!("{key:?}"), "the record is missing")
        })
    }

    /// Returns whether a key exists.
    pub fn has<K: Key, V: Value>(&self, table: &Table<K, V>, key: &K) -> Result<bool, StoreError> {
        Ok(self.rocks.get(table.name, &key.bytes(), |_| ())?.is_some())
    }

    /// Iterates over all entries of a table, in key order.
    pub fn scan<K: Key, V: Value>(
        &self,
        table: &Table<K, V>,
    ) -> Result<Entries<'_, K, V>, StoreError> {
        self.scan_under(table, &[])
    }

    /// Iterates over the entries whose keys start with `prefix`, in key order.
    pub fn scan_under<K: Key, V: Value>(
        &self,
        table: &Table<K, V>,
        prefix: &[u8],
    ) -> Result<Entries<'_, K, V>, StoreError> {
        let scan = self.rocks.scan(table.name, prefix, prefix_end(prefix))?;
        Ok(Entries::new(table, scan))
    }

    /// Returns the keys that start with `prefix`, in order, without decoding their values.
    pub fn keys_under<K: Key + Clone, V: Value>(
        &self,
        table: &Table<K, V>,
        prefix: &[u8],
    ) -> Result<Vec<K>, StoreError> {
        let keys = RefCell::new(Vec::new());
        let mut entries = self.scan_under(table, prefix)?;
        // The filter rejects every entry, so only a damaged key ends the loop with an error.
        while let Some(entry) = entries.next_where(|key| {
            keys.borrow_mut().push(key.clone());
            false
        }) {
            entry?;
        }
        Ok(keys.into_inner())
    }

    /// Iterates over the entries of a range of sites, in key order. The keys must start with the site.
    pub fn scan_sites<K: Key, V: Value>(
        &self,
        table: &Table<K, V>,
        sites: Range<u32>,
    ) -> Result<Entries<'_, K, V>, StoreError> {
        let until = sites.end.to_be_bytes().to_vec();
        let from = sites.start.to_be_bytes();
        // The last block of a single site also has the next sites, which are likely to be read next.
        let scan = if sites.len() > 1 {
            self.rocks.scan_once(table.name, &from, until)?
        } else {
            self.rocks.scan(table.name, &from, Some(until))?
        };
        Ok(Entries::new(table, scan))
    }

    /// Iterates over the entries at or after `from` whose keys start with `prefix`, in key order.
    pub fn scan_from<K: Key, V: Value>(
        &self,
        table: &Table<K, V>,
        from: &K,
        prefix: &[u8],
    ) -> Result<Entries<'_, K, V>, StoreError> {
        let (from, until) = (from.bytes(), prefix_end(prefix));
        Ok(Entries::new(
            table,
            self.rocks.scan(table.name, &from, until)?,
        ))
    }

    /// Iterates backwards over the entries at or before `from` whose keys start with `prefix`.
    pub fn scan_back<K: Key, V: Value>(
        &self,
        table: &Table<K, V>,
        from: &K,
        prefix: &[u8],
    ) -> Result<Entries<'_, K, V>, StoreError> {
        let scan = self.rocks.scan_back(table.name, &from.bytes(), prefix)?;
        Ok(Entries::new(table, scan))
    }

    /// Returns the settings of the bank.
    pub fn settings(&self) -> Result<Settings, StoreError> {
        match self.need(&tables::META, &MetaKey::Settings)? {
            Meta::Settings(settings) => Ok(settings),
            _ => Err(other_record(MetaKey::Settings)),
        }
    }

    /// Returns the totals and the last assigned numbers.
    pub fn counters(&self) -> Result<Counters, StoreError> {
        match self.need(&tables::META, &MetaKey::Counters)? {
            Meta::Counters(counters) => Ok(counters),
            _ => Err(other_record(MetaKey::Counters)),
        }
    }

    /// Returns the time of the last fetch in the bank, in seconds since 1970 (UTC); 0 if there is none. A time
    /// after that of its batch counts as that of the batch.
    pub fn last_fetch(&self) -> Result<u64, StoreError> {
        match self.counters()?.batch {
            0 => Ok(0),
            batch => Ok(self.need(&tables::BATCHES, &batch)?.last_fetch),
        }
    }

    /// Returns the record for undoing the last batch; `None` if it cannot be undone.
    pub fn undo_record(&self) -> Result<Option<UndoRecord>, StoreError> {
        match self.get(&tables::META, &MetaKey::Undo)? {
            None => Ok(None),
            Some(Meta::Undo(undo)) => Ok(Some(undo)),
            Some(_) => Err(other_record(MetaKey::Undo)),
        }
    }

    /// Returns the intent of the unfinished bulk load; `None` if there is none.
    pub(crate) fn unfinished_load(&self) -> Result<Option<Intent>, StoreError> {
        match self.get(&tables::META, &MetaKey::Intent)? {
            None => Ok(None),
            Some(Meta::Intent(intent)) => Ok(Some(intent)),
            Some(_) => Err(other_record(MetaKey::Intent)),
        }
    }

    /// Returns the format version.
    pub fn format(&self) -> Result<u32, StoreError> {
        match self.need(&tables::META, &MetaKey::Format)? {
            Meta::Format(format) => Ok(format),
            _ => Err(other_record(MetaKey::Format)),
        }
    }

    /// Returns the identities of the bank and its state.
    pub(crate) fn lineage(&self) -> Result<Lineage, StoreError> {
        match self.need(&tables::META, &MetaKey::Lineage)? {
            Meta::Lineage(lineage) => Ok(lineage),
            _ => Err(other_record(MetaKey::Lineage)),
        }
    }

    /// Returns the identity of the state.
    pub(crate) fn state_id(&self) -> Result<StateId, StoreError> {
        Ok(self.lineage()?.id())
    }

    /// Returns whether the bank never had a commit: it has its first state and no unfinished bulk load.
    pub(crate) fn is_new(&self) -> bool {
        let counters = self
            .rocks
            .get(tables::META.name, &MetaKey::Counters.bytes(), Meta::decode);
        let is_first = match counters {
            Ok(None) => true,
            Ok(Some(Ok(Meta::Counters(counters)))) => counters.epoch == 0,
            _ => false,
        };
        is_first && matches!(self.get(&tables::META, &MetaKey::Intent), Ok(None))
    }

    /// Fails if the state is older than the state with this epoch, which was acknowledged.
    pub(crate) fn ensure_not_older(&self, acknowledged: u64) -> Result<(), StoreError> {
        let found = self.counters()?.epoch;
        if found >= acknowledged {
            return Ok(());
        }
        let what = format!("expected the acknowledged state {acknowledged}, found state {found}");
        Err(StoreError::state("live", what))
    }

    /// Returns the size of every table on disk.
    pub fn sizes(&self) -> Result<Vec<(&'static TableInfo, TableSize)>, StoreError> {
        let sizes = tables::ALL.iter();
        sizes
            .map(|table| Ok((table, self.rocks.size(table.name)?)))
            .collect()
    }

    /// Returns the size of the log in bytes.
    #[must_use]
    pub fn log_bytes(&self) -> u64 {
        self.rocks.log_bytes()
    }

    /// Returns the number of reads since the store was opened: gets, and entries that scans returned.
    #[must_use]
    pub fn reads(&self) -> u64 {
        self.rocks.reads()
    }

    /// Returns the number of bytes of keys and values read since the store was opened.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.rocks.bytes_read()
    }
}

/// Returns the first key after all keys that start with `prefix`; `None` if there is none.
fn prefix_end(prefix: &[u8]) -> Option<Vec<u8>> {
    let end = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut until = prefix[..=end].to_vec();
    until[end] += 1;
    Some(until)
}

/// An iterator over entries of a table. An entry that cannot be decoded is an error and does not end
/// the iteration.
pub struct Entries<'a, K, V> {
    table: &'static str,
    scan: Scan<'a>,
    _types: PhantomData<fn() -> (K, V)>,
}

impl<'a, K: Key, V: Value> Entries<'a, K, V> {
    const fn new(table: &Table<K, V>, scan: Scan<'a>) -> Self {
        Self {
            table: table.name,
            scan,
            _types: PhantomData,
        }
    }

    /// Returns the next entry whose key is wanted, without decoding the values of other entries.
    pub fn next_where(
        &mut self,
        is_wanted: impl Fn(&K) -> bool,
    ) -> Option<Result<(K, V), StoreError>> {
        let table = self.table;
        let read = |key: &[u8], value: &[u8]| match decode_key(table, key) {
            Ok(key) => is_wanted(&key).then(|| decode_value(table, key, value)),
            Err(e) => Some(Err(e)),
        };
        loop {
            match self.scan.next_with(read).transpose()? {
                Ok(None) => {}
                Ok(Some(entry)) => return Some(entry),
                Err(e) => return Some(Err(e)),
            }
        }
    }

    /// Returns the next entries: at most `most`, and none after `bytes` bytes of keys and values. Empty at the end.
    pub(crate) fn next_part(
        &mut self,
        most: usize,
        bytes: usize,
    ) -> Vec<Result<(K, V), StoreError>> {
        let table = self.table;
        let mut part = Vec::new();
        let mut taken = 0;
        while part.len() < most && taken < bytes {
            let entry = self.scan.next_with(|key, value| {
                taken += key.len() + value.len();
                decode_value(table, decode_key(table, key)?, value)
            });
            match entry {
                Ok(None) => break,
                Ok(Some(entry)) => part.push(entry),
                Err(e) => {
                    part.push(Err(e));
                    break;
                }
            }
        }
        part
    }
}

pub(super) fn decode_key<K: Key>(table: &'static str, key: &[u8]) -> Result<K, StoreError> {
    let what = "the key cannot be decoded";
    K::take(key).ok_or_else(|| StoreError::damaged(table, hexadecimal(key), what))
}

pub(super) fn decode_value<K: Key, V: Value>(
    table: &'static str,
    key: K,
    value: &[u8],
) -> Result<(K, V), StoreError> {
    match V::decode(value) {
        Ok(value) => Ok((key, value)),
        Err(e) => Err(StoreError::damaged(table, format!("{key:?}"), e)),
    }
}

impl Entries<'_, (SiteId, String), u32> {
    /// Calls `read` with the next entry, without copying its key; `None` at the end.
    pub fn next_with<T>(
        &mut self,
        read: impl FnOnce(SiteId, &str, u32) -> T,
    ) -> Result<Option<T>, StoreError> {
        let table = self.table;
        let read = |key: &[u8], value: &[u8]| {
            let parts = key.split_first_chunk::<4>();
            let parts = parts.and_then(|(site, text)| {
                let site = SiteId(u32::from_be_bytes(*site));
                Some((site, std::str::from_utf8(text).ok()?))
            });
            let Some((site, text)) = parts else {
                let key = hexadecimal(key);
                return Err(StoreError::damaged(table, key, "the key cannot be decoded"));
            };
            match u32::decode(value) {
                Ok(value) => Ok(read(site, text, value)),
                Err(e) => Err(StoreError::damaged(table, format!("{:?}", (site, text)), e)),
            }
        };
        self.scan.next_with(read)?.transpose()
    }
}

impl<K: Key, V: Value> Iterator for Entries<'_, K, V> {
    type Item = Result<(K, V), StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_where(|_| true)
    }
}
