//! A thin, untyped wrapper around a RocksDB database: bytes in, bytes out.
//!
//! The writer opens the live database; readers open published checkpoints read-only. Merge
//! operators are not used: one failure during a compaction would leave the database read-only.
//!
//! Tables share column families: a key of a table starts with the prefix of the table there, which no caller sees.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rocksdb::{
    BottommostLevelCompaction, Cache, ColumnFamily, CompactOptions, DB, DBRawIterator,
    IngestExternalFileOptions, Options, Range, ReadOptions, SstFileWriter, WaitForCompactOptions,
    WriteBatch, WriteOptions,
};
use rustix::io::Errno;

use super::options::{
    AutoCompaction, DEFAULT_CACHE, FileOptions, KeyLength, database_options, descriptors,
};
use super::write_ahead_log::log_files;
use crate::error::{StoreError, is_file_damage};
use crate::table_info::{Family, TableInfo};

/// One change of one table: a new value, or `None` to delete.
pub(crate) type Change<'a> = (&'a [u8], Option<&'a [u8]>);

/// The size in bytes of the files of a family up to which its entries are counted for the sizes of its tables.
const MAX_COUNTED_BYTES: u64 = 1 << 20;

/// The length in bytes up to which a key of a get is not allocated.
const SHORT_KEY: usize = 63;

/// Where the keys of a table are.
#[derive(Clone, Copy)]
pub(super) struct TablePlace {
    pub(super) family: Family,
    prefix: u8,
}

impl TablePlace {
    /// Returns a key of the table as its family stores it.
    pub(super) fn key(self, key: &[u8]) -> Vec<u8> {
        let mut stored = Vec::with_capacity(key.len() + 1);
        stored.push(self.prefix);
        stored.extend_from_slice(key);
        stored
    }

    /// Returns the key after all keys of the table in its family.
    pub(super) fn end(self) -> Vec<u8> {
        vec![self.prefix + 1]
    }
}

/// Returns a key of a table without the prefix of the table.
pub(super) fn without_prefix(stored: &[u8]) -> &[u8] {
    stored.get(1..).unwrap_or_default()
}

/// Wraps an error of opening the database in a folder.
///
/// RocksDB lists the folder of its log, and reports any failure to do so as a folder that is missing, without the cause. So
/// the folder is listed again.
fn opening(doing: &'static str, folder: &Path, error: rocksdb::Error) -> StoreError {
    if !error.as_ref().contains("wal_dir not found") {
        return StoreError::rocks(doing)(error);
    }
    match fs::read_dir(folder) {
        Err(e) if is_file_damage(&e) => StoreError::rocks(doing)(error),
        Err(e) => StoreError::io("read", folder)(e),
        // The cause is gone.
        Ok(_) => StoreError::io("read", folder)(Errno::AGAIN.into()),
    }
}

/// An open database.
pub(crate) struct Database {
    pub(super) db: DB,
    tables: &'static [TableInfo],
    places: HashMap<&'static str, TablePlace>,
    file_options: FileOptions,
    cache: Cache,
    bytes_read: AtomicU64,
    reads: AtomicU64,
}

impl Database {
    /// Creates an empty database with these tables.
    pub(crate) fn create(path: &Path, tables: &'static [TableInfo]) -> Result<Self, StoreError> {
        let mut options = database_options()?;
        options.create_if_missing(true);
        options.create_missing_column_families(true);
        options.set_error_if_exists(true);
        Self::open_with(path, tables, &options, AutoCompaction::Enabled)
    }

    /// Opens the live database for writing. The caller holds the bank's writer lock.
    pub(crate) fn open_writer(
        path: &Path,
        tables: &'static [TableInfo],
        compaction: AutoCompaction,
    ) -> Result<Self, StoreError> {
        Self::open_with(path, tables, &database_options()?, compaction)
    }

    fn open_with(
        path: &Path,
        tables: &'static [TableInfo],
        options: &Options,
        compaction: AutoCompaction,
    ) -> Result<Self, StoreError> {
        let cache = Cache::new_lru_cache(DEFAULT_CACHE);
        let db = DB::open_cf_descriptors(options, path, descriptors(&cache, compaction)?)
            .map_err(|e| opening("opening the live database", path, e))?;
        Self::from_db(db, tables, &cache)
    }

    /// Opens a checkpoint read-only.
    pub(crate) fn open_reader(
        path: &Path,
        tables: &'static [TableInfo],
    ) -> Result<Self, StoreError> {
        let cache = Cache::new_lru_cache(DEFAULT_CACHE);
        let mut options = database_options()?;
        options.set_log_level(rocksdb::LogLevel::Fatal);
        let families = descriptors(&cache, AutoCompaction::Disabled)?;
        let db = DB::open_cf_descriptors_read_only(&options, path, families, false)
            .map_err(|e| opening("opening a state", path, e))?;
        Self::from_db(db, tables, &cache)
    }

    fn from_db(db: DB, tables: &'static [TableInfo], cache: &Cache) -> Result<Self, StoreError> {
        let place = |table: &TableInfo| TablePlace {
            family: table.family,
            prefix: table.prefix,
        };
        Ok(Self {
            db,
            tables,
            places: tables
                .iter()
                .map(|table| (table.name, place(table)))
                .collect(),
            file_options: FileOptions::new(cache)?,
            cache: cache.clone(),
            bytes_read: AtomicU64::new(0),
            reads: AtomicU64::new(0),
        })
    }

    /// Returns the tables of the database, in the order of their declaration.
    pub(crate) const fn tables(&self) -> &'static [TableInfo] {
        self.tables
    }

    /// Sets the capacity of the block cache in bytes and evicts what exceeds it.
    pub(crate) fn set_cache_capacity(&self, bytes: usize) {
        self.cache.clone().set_capacity(bytes);
    }

    /// Returns where the keys of a table are.
    pub(super) fn place(&self, table: &'static str) -> Result<TablePlace, StoreError> {
        let place = self.places.get(table).copied();
        place.ok_or_else(|| missing(table))
    }

    pub(super) fn family(&self, family: Family) -> Result<&ColumnFamily, StoreError> {
        let name = family.name();
        self.db.cf_handle(name).ok_or_else(|| missing(name))
    }

    /// Calls `read` with the value at `key`, without copying it; `None` if there is no value.
    pub(crate) fn get<T>(
        &self,
        table: &'static str,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, StoreError> {
        let place = self.place(table)?;
        let family = self.family(place.family)?;
        let mut short = [0; SHORT_KEY + 1];
        let value = if let Some(stored) = short.get_mut(..=key.len()) {
            stored[0] = place.prefix;
            stored[1..].copy_from_slice(key);
            self.db.get_pinned_cf(family, stored)
        } else {
            self.db.get_pinned_cf(family, place.key(key))
        };
        let value = value.map_err(StoreError::rocks("reading a record"))?;
        if value.is_none() {
            self.count(0);
        }
        Ok(value.map(|bytes| {
            self.count(key.len() + bytes.len());
            read(&bytes)
        }))
    }

    pub(super) fn count(&self, bytes: usize) {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.bytes_read.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Returns the number of gets and of entries returned by scans so far.
    pub(crate) fn reads(&self) -> u64 {
        self.reads.load(Ordering::Relaxed)
    }

    /// Returns the number of bytes of keys and values read so far.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// Writes all changes atomically and returns once they are on disk. `delete_before` is a table
    /// and a key: all smaller keys of the table are deleted first, in the same write.
    pub(crate) fn write<'a>(
        &self,
        changes: impl Iterator<Item = (&'static str, Change<'a>)>,
        delete_before: Option<(&'static str, &[u8])>,
    ) -> Result<(), StoreError> {
        let mut batch = WriteBatch::default();
        if let Some((table, until)) = delete_before {
            let place = self.place(table)?;
            let family = self.family(place.family)?;
            batch.delete_range_cf(family, place.key(&[]), place.key(until));
        }
        for (table, (key, value)) in changes {
            let place = self.place(table)?;
            let family = self.family(place.family)?;
            match value {
                Some(value) => batch.put_cf(family, place.key(key), value),
                None => batch.delete_cf(family, place.key(key)),
            }
        }
        let mut options = WriteOptions::default();
        options.set_sync(true);
        self.db
            .write_opt(batch, &options)
            .map_err(StoreError::rocks("writing a batch"))
    }

    /// Creates a sorted file for [`Database::ingest`].
    pub(crate) fn sorted_file(
        &self,
        path: &Path,
        keys: KeyLength,
    ) -> Result<SortedFile<'_>, StoreError> {
        let writer = SstFileWriter::create(self.file_options.for_keys(keys));
        writer
            .open(path)
            .map_err(StoreError::rocks("making a sorted file"))?;
        Ok(SortedFile::new(writer))
    }

    /// Adds sorted files to a family atomically; the files stay where they are. Ingesting the same
    /// files again changes nothing.
    pub(crate) fn ingest(&self, family: Family, files: Vec<PathBuf>) -> Result<(), StoreError> {
        // RocksDB hard-links a file that it may move and then unlinks the given name, so it gets a
        // second name. The binding lacks the option that would keep the first.
        let mut links = Vec::new();
        for file in &files {
            let link = file.with_extension("link");
            // A killed process may have left the link. If it cannot be removed, the file is copied.
            let _ = fs::remove_file(&link);
            if fs::hard_link(file, &link).is_ok() {
                links.push(link);
            }
        }
        let mut options = IngestExternalFileOptions::default();
        // Without hard links, RocksDB copies the files.
        let is_linked = links.len() == files.len();
        options.set_move_files(is_linked);
        let names = if is_linked { links } else { files };
        self.db
            .ingest_external_file_cf_opts(self.family(family)?, &options, names)
            .map_err(StoreError::rocks("ingesting sorted files"))
    }

    /// Returns whether the log has entries that are in no table file.
    pub(crate) fn has_unflushed_entries(&self) -> Result<bool, StoreError> {
        for family in Family::ALL {
            if self.has_entries_in_memory(family)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn has_entries_in_memory(&self, family: Family) -> Result<bool, StoreError> {
        let entries = self.number(family, "rocksdb.num-entries-active-mem-table")?;
        Ok(entries > 0)
    }

    /// Returns a property of a family.
    fn number(&self, family: Family, property: &str) -> Result<u64, StoreError> {
        let value = self
            .db
            .property_int_value_cf(self.family(family)?, property);
        let value = value.map_err(StoreError::rocks("reading a table's size"))?;
        Ok(value.unwrap_or(0))
    }

    /// Returns the number of the first log file that is needed. RocksDB replays this one and later
    /// ones, and removes earlier ones, whose changes are all in table files.
    pub(crate) fn first_needed_log(&self) -> Result<u64, StoreError> {
        let number = self
            .db
            .property_int_value("rocksdb.min-log-number-to-keep")
            .map_err(StoreError::rocks("reading the number of the first log"))?;
        Ok(number.unwrap_or(0))
    }

    /// Returns the size of each table on disk, in the order of their declaration.
    ///
    /// Tables share files, so the bytes of a table are its share of those of its family. Of a small family all entries are
    /// counted; of any other, the numbers are estimates.
    pub(crate) fn sizes(&self) -> Result<Vec<TableSize>, StoreError> {
        let files = self.table_files()?;
        let mut sizes = vec![TableSize::EMPTY; self.tables.len()];
        for family in Family::ALL {
            let is_own = |file: &&TableFile| file.family == family.name();
            let files: Vec<&TableFile> = files.iter().filter(is_own).collect();
            let bytes: u64 = files.iter().map(|file| file.bytes).sum();
            let parts = if bytes <= MAX_COUNTED_BYTES {
                self.count_entries(family)?
            } else {
                self.estimate_entries(family, &files)?
            };
            let total: u64 = parts.values().map(|part| part.bytes).sum();
            let in_memory = usize::from(self.has_entries_in_memory(family)?);
            for (table, size) in self.tables.iter().zip(&mut sizes) {
                if table.family != family {
                    continue;
                }
                let part = parts.get(&table.prefix).copied().unwrap_or_default();
                let share = u128::from(bytes) * u128::from(part.bytes) / u128::from(total.max(1));
                size.bytes = u64::try_from(share).unwrap_or(bytes);
                size.keys = part.keys;
                let levels = files.iter().filter(|file| file.overlaps(table.prefix));
                let mut levels: Vec<i32> = levels.map(|file| file.level).collect();
                levels.sort_unstable();
                // Files of level 0 overlap; those of any other level form one sorted run.
                levels.dedup_by(|a, b| a == b && *a > 0);
                size.is_compacted = levels.len() + in_memory <= 1;
            }
        }
        Ok(sizes)
    }

    /// Counts the entries of each table of a family, by prefix.
    fn count_entries(&self, family: Family) -> Result<HashMap<u8, TablePart>, StoreError> {
        let mut options = ReadOptions::default();
        options.fill_cache(false);
        let mut iterator = self.db.raw_iterator_cf_opt(self.family(family)?, options);
        iterator.seek_to_first();
        let mut parts: HashMap<u8, TablePart> = HashMap::new();
        while let Some((key, value)) = iterator.item() {
            let prefix = key.first().copied().unwrap_or(u8::MAX);
            let part = parts.entry(prefix).or_default();
            part.bytes += (key.len() + value.len()) as u64;
            part.keys += 1;
            iterator.next();
        }
        let status = iterator.status();
        status.map_err(StoreError::rocks("reading a table"))?;
        Ok(parts)
    }

    /// Estimates the entries of each table of a family with these files, by prefix.
    fn estimate_entries(
        &self,
        family: Family,
        files: &[&TableFile],
    ) -> Result<HashMap<u8, TablePart>, StoreError> {
        let tables = self.tables.iter().filter(|table| table.family == family);
        let prefixes: Vec<u8> = tables.map(|table| table.prefix).collect();
        let bounds: Vec<[[u8; 1]; 2]> = prefixes.iter().map(|at| [[*at], [*at + 1]]).collect();
        let ranges: Vec<Range<'_>> = bounds
            .iter()
            .map(|[first, end]| Range::new(first, end))
            .collect();
        let bytes = self
            .db
            .get_approximate_sizes_cf(self.family(family)?, &ranges);
        let part = |bytes| TablePart { bytes, keys: 0 };
        let bytes = bytes.into_iter().map(part);
        let mut parts: HashMap<u8, TablePart> = prefixes.iter().copied().zip(bytes).collect();
        for file in files {
            let mut inside = prefixes.clone();
            inside.retain(|prefix| file.overlaps(*prefix));
            let weights = inside.iter().filter_map(|prefix| parts.get(prefix));
            let total: u64 = weights.map(|part| part.bytes).sum();
            for prefix in inside {
                if let Some(part) = parts.get_mut(&prefix) {
                    let share = u128::from(file.entries) * u128::from(part.bytes);
                    let share = share / u128::from(total.max(1));
                    part.keys += u64::try_from(share).unwrap_or(0);
                }
            }
        }
        Ok(parts)
    }

    /// Returns the size of the log in bytes. Best effort: unreadable files are not counted.
    pub(crate) fn log_bytes(&self) -> u64 {
        let folder = self.db.path();
        let logs = log_files(folder).unwrap_or_default().into_iter();
        let sizes = logs.filter_map(|name| fs::metadata(folder.join(name)).ok());
        sizes.map(|metadata| metadata.len()).sum()
    }

    /// Returns the files of all families.
    pub(crate) fn table_files(&self) -> Result<Vec<TableFile>, StoreError> {
        let files = self.db.live_files();
        let files = files.map_err(StoreError::rocks("listing table files"))?;
        let files = files.into_iter().map(|file| TableFile {
            family: file.column_family_name,
            name: file.name,
            level: file.level,
            bytes: file.size as u64,
            // A deletion is an entry, and deletes one.
            entries: file.num_entries.saturating_sub(2 * file.num_deletions),
            first: file.start_key.unwrap_or_default(),
            last: file.end_key.unwrap_or_default(),
        });
        Ok(files.collect())
    }

    /// Compacts the files of a family that overlap the stored keys from `first` to `last`. If that fails,
    /// [`Database::wait_for_compactions`] returns the error.
    pub(super) fn compact_range(
        &self,
        family: Family,
        first: &[u8],
        last: &[u8],
    ) -> Result<(), StoreError> {
        let mut options = CompactOptions::default();
        options.set_bottommost_level_compaction(BottommostLevelCompaction::ForceOptimized);
        let handle = self.family(family)?;
        self.db
            .compact_range_cf_opt(handle, Some(first), Some(last), &options);
        Ok(())
    }

    /// Returns the identity that the database shares with its checkpoints and copies; empty if it has
    /// none.
    pub(crate) fn identity(&self) -> String {
        let identity = self.db.get_db_identity().unwrap_or_default();
        String::from_utf8_lossy(&identity).into_owned()
    }

    /// Waits for all running and scheduled compactions.
    pub(crate) fn wait_for_compactions(&self) -> Result<(), StoreError> {
        self.db
            .wait_for_compact(&WaitForCompactOptions::default())
            .map_err(StoreError::rocks("compacting table files"))
    }

    /// Writes the changes of a family that are only in the log to a file.
    pub(crate) fn flush_family(&self, family: Family) -> Result<(), StoreError> {
        self.db
            .flush_cf(self.family(family)?)
            .map_err(StoreError::rocks("flushing a table"))
    }

    /// Compacts a family into one sorted run, which frees the space of overwritten entries.
    pub(crate) fn compact_family(&self, family: Family) -> Result<(), StoreError> {
        let mut options = CompactOptions::default();
        options.set_bottommost_level_compaction(BottommostLevelCompaction::Force);
        self.flush_family(family)?;
        let handle = self.family(family)?;
        self.db
            .compact_range_cf_opt(handle, None::<&[u8]>, None::<&[u8]>, &options);
        self.wait_for_compactions()
    }

    /// Cancels the running compaction and removes its output. Afterwards the database accepts no
    /// writes and starts no compaction.
    pub(crate) fn cancel_background_work(&self) {
        self.db.cancel_all_background_work(false);
    }
}

/// Returns the error of a table or family that the database lacks.
fn missing(name: &'static str) -> StoreError {
    StoreError::Damaged {
        table: name,
        key: "(all)".to_owned(),
        what: "the table is missing".to_owned(),
    }
}

/// The entries of a table in its family.
#[derive(Clone, Copy, Default)]
struct TablePart {
    /// Their size in bytes, in any measure that is the same for all tables of the family.
    bytes: u64,
    keys: u64,
}

/// A file of a family.
pub(crate) struct TableFile {
    /// The name of the family.
    pub(crate) family: String,
    /// The name within the folder of the database, after a slash.
    pub(crate) name: String,
    /// The level. Files of level 0 overlap; those of any other level do not.
    pub(crate) level: i32,
    pub(crate) bytes: u64,
    /// The estimated number of keys.
    pub(super) entries: u64,
    /// The first and the last stored key, both inclusive.
    pub(crate) first: Vec<u8>,
    pub(crate) last: Vec<u8>,
}

impl TableFile {
    /// Returns whether the file may have keys of the table with this prefix.
    fn overlaps(&self, prefix: u8) -> bool {
        let first = self.first.first().copied().unwrap_or(0);
        let last = self.last.first().copied().unwrap_or(u8::MAX);
        (first..=last).contains(&prefix)
    }
}

/// The size of a table on disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableSize {
    /// The size of its files in bytes.
    pub bytes: u64,
    /// The estimated number of keys.
    pub keys: u64,
    /// Whether the table is one sorted run, so that overwritten entries take no space.
    pub is_compacted: bool,
}

impl TableSize {
    /// The size of no table.
    pub(crate) const EMPTY: Self = Self {
        bytes: 0,
        keys: 0,
        is_compacted: true,
    };

    /// Returns the size of two parts of a table together.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(other.bytes),
            keys: self.keys.saturating_add(other.keys),
            is_compacted: self.is_compacted && other.is_compacted,
        }
    }
}

/// An iterator over a range of a table.
pub(crate) struct Scan<'a> {
    database: &'a Database,
    /// `None` once the scan has ended: a failed iterator would repeat its error for ever.
    iterator: Option<DBRawIterator<'a>>,
    is_backwards: bool,
    /// Whether the iterator is at an entry that was not read yet.
    is_at_next: bool,
}

/// A range of keys.
#[derive(Clone, Default, Debug)]
pub(crate) struct KeyRange {
    /// The first key: the least one, or the greatest one of a descending scan.
    pub(crate) from: Vec<u8>,
    /// The key after the last one; of a descending scan, the least key. `None` without a bound.
    pub(crate) until: Option<Vec<u8>>,
    pub(crate) is_descending: bool,
    /// Whether the range is large and not read again soon, so that it does not fill the cache.
    pub(crate) is_read_once: bool,
}

impl KeyRange {
    /// Returns the range from a key to a bound, ascending.
    pub(crate) fn ascending(from: &[u8], until: Option<Vec<u8>>) -> Self {
        Self {
            from: from.to_vec(),
            until,
            ..Self::default()
        }
    }
}

impl Database {
    /// Scans all keys of a table, ascending.
    pub(crate) fn scan(&self, table: &'static str) -> Result<Scan<'_>, StoreError> {
        self.scan_range(table, &KeyRange::default())
    }

    /// Scans a range of keys of a table.
    pub(crate) fn scan_range(
        &self,
        table: &'static str,
        range: &KeyRange,
    ) -> Result<Scan<'_>, StoreError> {
        let place = self.place(table)?;
        let mut options = ReadOptions::default();
        options.fill_cache(!range.is_read_once);
        let until = range.until.as_deref().map(|until| place.key(until));
        if range.is_descending {
            options.set_iterate_lower_bound(until.unwrap_or_else(|| place.key(&[])));
        } else {
            options.set_iterate_upper_bound(until.unwrap_or_else(|| place.end()));
        }
        let family = self.family(place.family)?;
        let mut iterator = self.db.raw_iterator_cf_opt(family, options);
        let from = place.key(&range.from);
        if range.is_descending {
            iterator.seek_for_prev(from);
        } else {
            iterator.seek(from);
        }
        Ok(Scan {
            database: self,
            iterator: Some(iterator),
            is_backwards: range.is_descending,
            is_at_next: true,
        })
    }
}

impl Scan<'_> {
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
        self.iterator
            .as_ref()
            .and_then(DBRawIterator::key)
            .map(without_prefix)
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
            let key = without_prefix(key);
            self.database.count(key.len() + value.len());
            return Ok(Some(read(key, value)));
        }
        let status = iterator.status();
        self.iterator = None;
        status.map_err(StoreError::rocks("reading a table"))?;
        Ok(None)
    }
}

/// Reads the keys of one prefix after another with the same iterator. Moving to the next prefix in key order
/// needs no seek.
pub(crate) struct Cursor<'a> {
    database: &'a Database,
    place: TablePlace,
    iterator: DBRawIterator<'a>,
    /// The prefix whose keys are read, with that of the table; `None` at first and after an error.
    prefix: Option<Vec<u8>>,
}

impl Database {
    /// Returns a cursor over a table.
    pub(crate) fn cursor(&self, table: &'static str) -> Result<Cursor<'_>, StoreError> {
        let place = self.place(table)?;
        let mut options = ReadOptions::default();
        options.set_iterate_upper_bound(place.end());
        let family = self.family(place.family)?;
        Ok(Cursor {
            database: self,
            place,
            iterator: self.db.raw_iterator_cf_opt(family, options),
            prefix: None,
        })
    }
}

impl Cursor<'_> {
    /// Moves to the first key with a prefix.
    pub(crate) fn move_under(&mut self, prefix: &[u8]) {
        let iterator = &mut self.iterator;
        let prefix = self.place.key(prefix);
        // The iterator is at the first unread key. All keys of the last prefix are before the new prefix, so no
        // key of the new one was read. If the iterator is not before the new prefix either, it is at its first key.
        let is_there = self.prefix.as_deref().is_some_and(|last| {
            last < prefix.as_slice()
                && !prefix.starts_with(last)
                && iterator.key().is_none_or(|key| key >= prefix.as_slice())
        });
        if !is_there {
            iterator.seek(&prefix);
        }
        self.prefix = Some(prefix);
    }

    /// Calls `read` with the next key and value; `None` after the last key with the prefix.
    pub(crate) fn next_with<T>(
        &mut self,
        read: impl FnOnce(&[u8], &[u8]) -> T,
    ) -> Result<Option<T>, StoreError> {
        let iterator = &mut self.iterator;
        let Some(prefix) = &self.prefix else {
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
        let key = without_prefix(key);
        self.database.count(key.len() + value.len());
        let entry = read(key, value);
        iterator.next();
        Ok(Some(entry))
    }
}

/// A sorted file that is being written; keys must ascend.
pub(crate) struct SortedFile<'a> {
    writer: SstFileWriter<'a>,
}

impl<'a> SortedFile<'a> {
    pub(crate) const fn new(writer: SstFileWriter<'a>) -> Self {
        Self { writer }
    }

    /// Appends a value; `None` deletes the key.
    pub(crate) fn push(&mut self, key: &[u8], value: Option<&[u8]>) -> Result<(), StoreError> {
        match value {
            Some(value) => self.writer.put(key, value),
            None => self.writer.delete(key),
        }
        .map_err(StoreError::rocks("writing a sorted file"))
    }

    pub(crate) fn finish(mut self) -> Result<(), StoreError> {
        self.writer
            .finish()
            .map_err(StoreError::rocks("finishing a sorted file"))
    }
}

#[cfg(test)]
mod tests {
    use crate::disk::scratch;
    use crate::tables::ALL;
    use proptest::prelude::*;

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
            let rocks = super::Database::create(&folder.path().join("live"), ALL).unwrap();
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
