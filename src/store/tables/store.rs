//! Typed reads of the tables of a bank, in the live database or in a published state, over the databases of all parts.

use std::cell::RefCell;
use std::fmt::Write;
use std::iter::from_fn;
use std::marker::PhantomData;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::parts::{PartCursor, PartDatabase, PartScan};
use super::records::lineage::StateId;
use super::records::{Counters, Intent, Lineage, Meta, Settings, UndoRecord};
use super::schema as tables;
use super::schema::MetaKey;
use super::shards::{Parts, SiteParts};
use super::table::{Key, Table, Value};
use crate::error::StoreError;
use crate::format::Format;
use crate::rocks::database::{Database, KeyRange, TableSize};
use crate::rocks::options::DEFAULT_CACHE;
use crate::table_info::TableInfo;
use seedbank_algorithms::page::SiteId;

/// The least memory in bytes for blocks of a part of a cluster bank.
const MIN_PART_CACHE: usize = 4 << 20;

/// The tables of a bank, open for reading.
pub struct Store {
    /// That of the first part which is open in this process: of the only one, unless it is a cluster bank.
    pub(crate) rocks: Arc<Database>,
    parts: Parts,
    /// The databases of all parts.
    databases: Vec<PartDatabase>,
    /// The graph image; `None` if it is not used.
    image: Option<ImageAccess>,
}

/// The graph image of a bank, as a store uses it.
pub(crate) struct ImageAccess {
    /// The folder of the image.
    pub(crate) folder: PathBuf,
    /// Returns whether the state of the store is still the published one. Only then the image may be written.
    pub(crate) is_published: Box<dyn Fn() -> bool + Send + Sync>,
}

/// Returns the error of a key of `meta` with a record of another key.
fn other_record(key: MetaKey) -> StoreError {
    let what = "the record belongs to another key";
    StoreError::damaged(tables::META.name, format!("{key:?}"), what)
}

impl Store {
    /// Creates the store of a database, without a graph image.
    pub(crate) fn new(rocks: Database) -> Self {
        let rocks = Arc::new(rocks);
        Self {
            databases: vec![PartDatabase::Local(Arc::clone(&rocks))],
            rocks,
            parts: Parts::SINGLE,
            image: None,
        }
    }

    /// Creates the store of all parts of a cluster bank, without a graph image; `None` if none of them is open in
    /// this process.
    pub(crate) fn of_parts(parts: Parts, databases: Vec<PartDatabase>) -> Option<Self> {
        let rocks = Arc::clone(databases.iter().find_map(PartDatabase::local)?);
        Some(Self {
            rocks,
            parts,
            databases,
            image: None,
        })
    }

    /// Returns the databases that are open in this process, with the numbers of their parts.
    pub(crate) fn local_databases(&self) -> impl Iterator<Item = (u32, &Arc<Database>)> {
        let numbered = (0..).zip(&self.databases);
        numbered.filter_map(|(part, database)| Some((part, database.local()?)))
    }

    /// Adds the databases of the parts after the first.
    pub(crate) fn add_parts(&mut self, parts: Parts, others: Vec<PartDatabase>) {
        self.parts = parts;
        self.databases.truncate(1);
        self.databases.extend(others);
    }

    /// Divides the memory for blocks of one database among the parts that are open in this process.
    pub(crate) fn share_cache(&self) {
        let share = DEFAULT_CACHE / self.local_databases().count().max(1);
        for (_, database) in self.local_databases() {
            database.set_cache_capacity(share.max(MIN_PART_CACHE));
        }
    }

    /// Returns the parts of the bank.
    pub(crate) const fn parts(&self) -> Parts {
        self.parts
    }

    /// Returns where the sites of a cluster bank are; `None` for any other bank.
    #[must_use]
    pub fn site_parts(&self) -> Option<SiteParts> {
        self.parts.is_cluster().then_some(SiteParts(self.parts))
    }

    /// Returns the number of parts of a cluster bank; `None` for any other bank.
    #[must_use]
    pub fn part_count(&self) -> Option<u32> {
        self.parts.is_cluster().then(|| self.parts.count())
    }

    /// Returns the database of a part.
    fn part(&self, part: usize) -> Result<&PartDatabase, StoreError> {
        let database = self.databases.get(part);
        database.ok_or_else(|| StoreError::state("cluster", format!("part {part} is not open")))
    }

    /// Calls `read` with the value at a key; `None` if there is no value.
    fn get_raw<T>(
        &self,
        table: &'static str,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, StoreError> {
        let part = self.parts.of_key(table, key).unwrap_or(0);
        self.part(part)?.get(table, key, read)
    }

    /// Opens a scan of a range whose keys start with `prefix`.
    fn open_scan(
        &self,
        table: &'static str,
        prefix: &[u8],
        range: &KeyRange,
    ) -> Result<TableScan<'_>, StoreError> {
        if let Some(part) = self.parts.of_prefix(table, prefix) {
            return Ok(TableScan::One(self.part(part)?.scan(table, range)?));
        }
        let scans = self.databases.iter();
        let scans = scans.map(|database| database.scan(table, range));
        let scans = scans.collect::<Result<_, _>>()?;
        Ok(TableScan::new(scans, range.is_descending))
    }

    /// Scans a table without decoding its entries.
    pub(super) fn scan_raw(&self, table: &'static str) -> Result<TableScan<'_>, StoreError> {
        self.open_scan(table, &[], &KeyRange::ascending(&[], None))
    }

    /// Opens a cursor over a table whose keys start with a site.
    pub(super) fn site_cursor(&self, table: &'static str) -> Result<SiteCursor<'_>, StoreError> {
        let cursors = self.databases.iter();
        let cursors = cursors.map(|database| database.cursor(table));
        let cursors = cursors.collect::<Result<_, _>>()?;
        Ok(SiteCursor::new(table, self.parts, cursors))
    }

    /// Sets the graph image; `None` if it is not to be used.
    pub(crate) fn set_image(&mut self, image: Option<ImageAccess>) {
        self.image = image;
    }

    /// Returns the graph image; `None` if it is not used.
    pub(crate) const fn image(&self) -> Option<&ImageAccess> {
        self.image.as_ref()
    }

    /// Opens a database read-only.
    pub(crate) fn read(path: &Path) -> Result<Self, StoreError> {
        Database::open_reader(path, tables::ALL).map(Self::new)
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
        let mut all = first;
        for database in self.databases.iter().skip(1) {
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

    /// Returns the format.
    pub fn format(&self) -> Result<Format, StoreError> {
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
        let is_first = match self.get(&tables::META, &MetaKey::Counters) {
            Ok(None) => true,
            Ok(Some(Meta::Counters(counters))) => counters.epoch == 0,
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
        let mut sizes = vec![TableSize::EMPTY; tables::ALL.len()];
        for database in &self.databases {
            for (size, part) in sizes.iter_mut().zip(database.sizes()?) {
                *size = size.plus(part);
            }
        }
        Ok(tables::ALL.iter().zip(sizes).collect())
    }

    /// Returns the size of the log in bytes.
    #[must_use]
    pub fn log_bytes(&self) -> u64 {
        self.databases.iter().map(PartDatabase::log_bytes).sum()
    }

    /// Returns the number of reads since the store was opened: gets, and entries that scans returned.
    #[must_use]
    pub fn reads(&self) -> u64 {
        self.databases.iter().map(PartDatabase::reads).sum()
    }

    /// Returns the number of bytes of keys and values read since the store was opened.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.databases.iter().map(PartDatabase::bytes_read).sum()
    }
}

/// Returns the first key after all keys that start with `prefix`; `None` if there is none.
pub(super) fn prefix_end(prefix: &[u8]) -> Option<Vec<u8>> {
    let end = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut until = prefix[..=end].to_vec();
    until[end] += 1;
    Some(until)
}

/// A scan of a range of a table.
pub(crate) enum TableScan<'a> {
    /// All keys of the range are in one database.
    One(PartScan<'a>),
    /// Several parts have keys of the range.
    Merged(MergedScan<'a>),
}

impl<'a> TableScan<'a> {
    /// Creates a scan of the range in several databases, in descending order if `is_backwards`, as their scans are.
    pub(crate) fn new(mut scans: Vec<PartScan<'a>>, is_backwards: bool) -> Self {
        match scans.pop() {
            Some(only) if scans.is_empty() => Self::One(only),
            last => {
                scans.extend(last);
                Self::Merged(MergedScan::new(scans, is_backwards))
            }
        }
    }

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
    const fn new(scans: Vec<PartScan<'a>>, is_backwards: bool) -> Self {
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
    parts: Parts,
    cursors: Vec<PartCursor<'a>>,
    current: usize,
}

impl<'a> SiteCursor<'a> {
    /// Creates a cursor from the cursors of all parts.
    pub(crate) const fn new(
        table: &'static str,
        parts: Parts,
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
        self.current = self.parts.of_key(self.table, prefix).unwrap_or(0);
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

/// Returns the bytes as text.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// An iterator over entries of a table. An entry that cannot be decoded is an error and does not end
/// the iteration.
pub struct Entries<'a, K, V> {
    table: &'static str,
    scan: TableScan<'a>,
    _types: PhantomData<fn() -> (K, V)>,
}

impl<'a, K: Key, V: Value> Entries<'a, K, V> {
    pub(super) const fn new(table: &Table<K, V>, scan: TableScan<'a>) -> Self {
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

/// A scan of a table by site. Sites can be read in any order; reading the next site in the order of ids needs no
/// seek.
pub struct SiteScan<'a, K, V> {
    table: &'static str,
    cursor: SiteCursor<'a>,
    _types: PhantomData<fn() -> (K, V)>,
}

impl Store {
    /// Creates a scan of a table by site. The keys must start with the site.
    pub fn scan_by_site<K: Key, V: Value>(
        &self,
        table: &Table<K, V>,
    ) -> Result<SiteScan<'_, K, V>, StoreError> {
        Ok(SiteScan {
            table: table.name,
            cursor: self.site_cursor(table.name)?,
            _types: PhantomData,
        })
    }
}

impl<K: Key, V: Value> SiteScan<'_, K, V> {
    /// Iterates over the entries of a site, in key order. An entry that cannot be decoded is an error and
    /// does not end the iteration.
    pub fn of_site(&mut self, site: SiteId) -> impl Iterator<Item = Result<(K, V), StoreError>> {
        let (table, cursor) = (self.table, &mut self.cursor);
        cursor.move_under(&site.0.to_be_bytes());
        from_fn(move || {
            let entry =
                cursor.next_with(|key, value| decode_value(table, decode_key(table, key)?, value));
            // An error of the database ends it.
            entry.transpose().map(Result::flatten)
        })
    }
}

impl Store {
    /// Iterates over the entries of a table that are in databases of this process, in key order.
    pub fn scan_local<K: Key, V: Value>(
        &self,
        table: &Table<K, V>,
    ) -> Result<Entries<'_, K, V>, StoreError> {
        self.scan_local_under(table, &[])
    }

    /// Iterates over the entries at or after `from` that are in databases of this process, in key order.
    pub fn scan_local_from<K: Key, V: Value>(
        &self,
        table: &Table<K, V>,
        from: &K,
    ) -> Result<Entries<'_, K, V>, StoreError> {
        self.merge_local(table, &KeyRange::ascending(&from.bytes(), None))
    }

    /// Iterates over the entries whose keys start with `prefix` that are in databases of this process, in key order.
    pub fn scan_local_under<K: Key, V: Value>(
        &self,
        table: &Table<K, V>,
        prefix: &[u8],
    ) -> Result<Entries<'_, K, V>, StoreError> {
        self.merge_local(table, &KeyRange::ascending(prefix, prefix_end(prefix)))
    }

    /// Iterates over the entries of a range of sites that are in databases of this process, in key order. The keys must
    /// start with the site.
    pub fn scan_local_sites<K: Key, V: Value>(
        &self,
        table: &Table<K, V>,
        sites: Range<u32>,
    ) -> Result<Entries<'_, K, V>, StoreError> {
        self.merge_local(table, &KeyRange::of_sites(&sites))
    }

    fn merge_local<K: Key, V: Value>(
        &self,
        table: &Table<K, V>,
        range: &KeyRange,
    ) -> Result<Entries<'_, K, V>, StoreError> {
        let scans = self.local_databases();
        let scans =
            scans.map(|(_, database)| Ok(PartScan::Local(database.scan_range(table.name, range)?)));
        let scans = scans.collect::<Result<_, StoreError>>()?;
        Ok(Entries::new(
            table,
            TableScan::new(scans, range.is_descending),
        ))
    }
}
