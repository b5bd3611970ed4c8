//! Typed reads of the tables of a bank, in the live database or in a published state.

use std::cell::RefCell;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::entries::Entries;
use super::merged_scan::{MergedScan, SiteCursor, TableScan};
use super::parts::key_range::KeyRange;
use super::parts::part_database::{PartCursor, PartDatabase, PartScan};
use super::records::lineage::StateId;
use super::records::{Counters, Intent, Lineage, Meta, Settings, UndoRecord};
use super::schema::{self as tables, MetaKey};
use super::shards::{Parts, SiteParts};
use super::table::{Key, Table, Value};
use crate::error::StoreError;
use crate::format::OLDER;
use crate::rocks::database::{Database, TableSize};
use crate::rocks::options::DEFAULT_CACHE;
use crate::table_info::TableInfo;

/// The least memory in bytes for blocks of a part of a cluster bank.
const MIN_PART_CACHE: usize = 4 << 20;

/// The tables of a bank, open for reading.
pub struct Store {
    /// The only database, or that of the first part of a cluster bank.
    pub(crate) rocks: Arc<Database>,
    /// All parts; `None` unless it is a cluster bank.
    cluster: Option<PartDatabases>,
    /// The folder of the graph image; `None` if it is not used.
    image_folder: Option<PathBuf>,
}

/// The databases of all parts of a cluster bank.
struct PartDatabases {
    parts: Parts,
    databases: Vec<PartDatabase>,
}

/// Returns the error of a key of `meta` with a record of another key.
fn other_record(key: MetaKey) -> StoreError {
    let what = "the record belongs to another key";
    StoreError::damaged(tables::META.name, format!("{key:?}"), what)
}

impl Store {
    /// Creates the store of a database, without a graph image.
    pub(crate) fn new(rocks: Database) -> Self {
        Self {
            rocks: Arc::new(rocks),
            cluster: None,
            image_folder: None,
        }
    }

    /// Creates the store of all parts of a cluster bank, without a graph image; `None` if none of them is open in
    /// this process.
    pub(crate) fn of_parts(parts: Parts, databases: Vec<PartDatabase>) -> Option<Self> {
        let rocks = Arc::clone(databases.iter().find_map(PartDatabase::local)?);
        Some(Self {
            rocks,
            cluster: Some(PartDatabases { parts, databases }),
            image_folder: None,
        })
    }

    /// Returns the databases that are open in this process, with the numbers of their parts.
    pub(crate) fn local_databases(&self) -> impl Iterator<Item = (u32, &Arc<Database>)> {
        let databases = self.cluster.iter().flat_map(|cluster| &cluster.databases);
        let numbered = (0..).zip(databases);
        numbered.filter_map(|(part, database)| Some((part, database.local()?)))
    }

    /// Returns the databases that are open in this process, with the numbers of their parts; that of a bank in one
    /// database as part 0.
    pub(crate) fn part_databases(&self) -> Vec<(u32, Arc<Database>)> {
        if self.cluster.is_none() {
            return vec![(0, Arc::clone(&self.rocks))];
        }
        let databases = self.local_databases();
        databases
            .map(|(part, database)| (part, Arc::clone(database)))
            .collect()
    }

    /// Adds the databases of the parts of a cluster bank after the first.
    pub(crate) fn add_parts(&mut self, parts: Parts, others: Vec<PartDatabase>) {
        let first = PartDatabase::Local(Arc::clone(&self.rocks));
        let databases = std::iter::once(first).chain(others).collect();
        self.cluster = Some(PartDatabases { parts, databases });
    }

    /// Divides the memory for blocks of one database among the parts that are open in this process.
    pub(crate) fn share_cache(&self) {
        let databases = self.cluster.iter().flat_map(|cluster| &cluster.databases);
        let local: Vec<&Arc<Database>> = databases.filter_map(PartDatabase::local).collect();
        for database in &local {
            database.set_cache_capacity((DEFAULT_CACHE / local.len()).max(MIN_PART_CACHE));
        }
    }

    /// Returns the parts of a cluster bank; `None` for any other bank.
    pub(crate) fn parts(&self) -> Option<Parts> {
        self.cluster.as_ref().map(|cluster| cluster.parts)
    }

    /// Returns where the sites of a cluster bank are; `None` for any other bank.
    #[must_use]
    pub fn site_parts(&self) -> Option<SiteParts> {
        self.parts().map(SiteParts)
    }

    /// Returns the number of parts of a cluster bank; `None` for any other bank.
    #[must_use]
    pub fn part_count(&self) -> Option<u32> {
        self.parts().map(Parts::count)
    }

    /// Calls `read` with the value at a key; `None` if there is no value.
    fn get_raw<T>(
        &self,
        table: &'static str,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, StoreError> {
        match &self.cluster {
            None => self.rocks.get(table, key, read),
            Some(cluster) => {
                let part = cluster.parts.of_key(table, key).unwrap_or(0);
                cluster.part(part)?.get(table, key, read)
            }
        }
    }

    /// Opens a scan of a range whose keys start with `prefix`.
    fn open_scan(
        &self,
        table: &'static str,
        prefix: &[u8],
        range: &KeyRange,
    ) -> Result<TableScan<'_>, StoreError> {
        let Some(cluster) = &self.cluster else {
            let scan = range.scan(&self.rocks, table)?;
            return Ok(TableScan::One(PartScan::Local(scan)));
        };
        if let Some(part) = cluster.parts.of_prefix(table, prefix) {
            return Ok(TableScan::One(cluster.part(part)?.scan(table, range)?));
        }
        let scans = cluster.databases.iter();
        let scans = scans.map(|database| database.scan(table, range));
        let scans = scans.collect::<Result<_, _>>()?;
        Ok(TableScan::Merged(MergedScan::new(
            scans,
            range.is_descending,
        )))
    }

    /// Scans a table without decoding its entries.
    pub(super) fn scan_raw(&self, table: &'static str) -> Result<TableScan<'_>, StoreError> {
        self.open_scan(table, &[], &KeyRange::ascending(&[], None))
    }

    /// Opens a cursor over a table whose keys start with a site.
    pub(super) fn site_cursor(&self, table: &'static str) -> Result<SiteCursor<'_>, StoreError> {
        let cursors = match &self.cluster {
            None => vec![PartCursor::Local(self.rocks.cursor(table)?)],
            Some(cluster) => {
                let cursors = cluster.databases.iter();
                let cursors = cursors.map(|database| database.cursor(table));
                cursors.collect::<Result<_, _>>()?
            }
        };
        Ok(SiteCursor::new(table, self.parts(), cursors))
    }

    /// Sums a number over the databases of all parts.
    fn sum(
        &self,
        of_one: impl Fn(&Database) -> u64,
        of_part: impl Fn(&PartDatabase) -> u64,
    ) -> u64 {
        match &self.cluster {
            None => of_one(&self.rocks),
            Some(cluster) => cluster.databases.iter().map(of_part).sum(),
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
        match self.get_raw(table.name, &key.bytes(), V::decode)? {
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
        Ok(self.get_raw(table.name, &key.bytes(), |_| ())?.is_some())
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
        let range = KeyRange::ascending(prefix, prefix_end(prefix));
        let scan = self.open_scan(table.name, prefix, &range)?;
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
        let range = KeyRange::of_sites(&sites);
        let prefix = if sites.len() > 1 {
            &[]
        } else {
            &range.from[..]
        };
        Ok(Entries::new(
            table,
            self.open_scan(table.name, prefix, &range)?,
        ))
    }

    /// Iterates over the entries at or after `from` whose keys start with `prefix`, in key order.
    pub fn scan_from<K: Key, V: Value>(
        &self,
        table: &Table<K, V>,
        from: &K,
        prefix: &[u8],
    ) -> Result<Entries<'_, K, V>, StoreError> {
        let range = KeyRange::ascending(&from.bytes(), prefix_end(prefix));
        Ok(Entries::new(
            table,
            self.open_scan(table.name, prefix, &range)?,
        ))
    }

    /// Iterates backwards over the entries at or before `from` whose keys start with `prefix`.
    pub fn scan_back<K: Key, V: Value>(
        &self,
        table: &Table<K, V>,
        from: &K,
        prefix: &[u8],
    ) -> Result<Entries<'_, K, V>, StoreError> {
        let mut range = KeyRange::ascending(&from.bytes(), Some(prefix.to_vec()));
        range.is_descending = true;
        Ok(Entries::new(
            table,
            self.open_scan(table.name, prefix, &range)?,
        ))
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

    /// Returns the record for undoing the last batch; `None` if it cannot be undone. Its entries are those of all
    /// parts of a cluster bank.
    pub fn undo_record(&self) -> Result<Option<UndoRecord>, StoreError> {
        let first = match self.get(&tables::META, &MetaKey::Undo)? {
            None => return Ok(None),
            Some(Meta::Undo(undo)) => undo,
            Some(_) => return Err(other_record(MetaKey::Undo)),
        };
        let others = self.cluster.iter().flat_map(|cluster| &cluster.databases);
        let mut all = first;
        for database in others.skip(1) {
            let key = MetaKey::Undo.bytes();
            let record = database.get(tables::META.name, &key, Meta::decode)?;
            let Some(Ok(Meta::Undo(other))) = record else {
                let what = "a part of the bank lacks the record";
                return Err(StoreError::damaged(tables::META.name, "Undo", what));
            };
            all.add_part(&other);
        }
        Ok(Some(all))
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
        let size = |table: &'static TableInfo| {
            let Some(cluster) = &self.cluster else {
                return Ok((table, self.rocks.size(table.name)?));
            };
            let mut size = TableSize::EMPTY;
            for database in &cluster.databases {
                size = size.plus(database.size(table.name)?);
            }
            Ok((table, size))
        };
        tables::ALL.iter().map(size).collect()
    }

    /// Returns the size of the log in bytes.
    #[must_use]
    pub fn log_bytes(&self) -> u64 {
        self.sum(Database::log_bytes, PartDatabase::log_bytes)
    }

    /// Returns the number of reads since the store was opened: gets, and entries that scans returned.
    #[must_use]
    pub fn reads(&self) -> u64 {
        self.sum(Database::reads, PartDatabase::reads)
    }

    /// Returns the number of bytes of keys and values read since the store was opened.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.sum(Database::bytes_read, PartDatabase::bytes_read)
    }
}

impl PartDatabases {
    /// Returns the database of a part.
    fn part(&self, part: usize) -> Result<&PartDatabase, StoreError> {
        let database = self.databases.get(part);
        database.ok_or_else(|| StoreError::state("cluster", format!("part {part} is not open")))
    }
}

/// Returns the first key after all keys that start with `prefix`; `None` if there is none.
pub(super) fn prefix_end(prefix: &[u8]) -> Option<Vec<u8>> {
    let end = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut until = prefix[..=end].to_vec();
    until[end] += 1;
    Some(until)
}
