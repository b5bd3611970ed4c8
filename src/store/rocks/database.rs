//! A thin, untyped wrapper around a RocksDB database: bytes in, bytes out.
//!
//! The writer opens the live database; readers open published checkpoints read-only. Merge
//! operators are not used: one failure during a compaction would leave the database read-only.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rocksdb::checkpoint::Checkpoint;
use rocksdb::{
    BottommostLevelCompaction, Cache, ColumnFamily, CompactOptions, DB, IngestExternalFileOptions,
    Options, SstFileWriter, WaitForCompactOptions, WriteBatch, WriteOptions,
};

use super::options::{
    AutoCompaction, DEFAULT_CACHE, FileOptions, KeyLength, database_options, descriptors,
};
use super::sorted_file::SortedFile;
use super::write_ahead_log::log_files;
use crate::error::StoreError;
use crate::table_info::TableInfo;

/// One change of one table: a new value, or `None` to delete.
pub(crate) type Change<'a> = (&'a [u8], Option<&'a [u8]>);

/// An open database.
pub(crate) struct Database {
    pub(super) db: DB,
    tables: &'static [TableInfo],
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
    ///
    /// `create_missing` creates tables that a bank of an older format lacks.
    pub(crate) fn open_writer(
        path: &Path,
        tables: &'static [TableInfo],
        compaction: AutoCompaction,
        create_missing: bool,
    ) -> Result<Self, StoreError> {
        let mut options = database_options()?;
        options.create_missing_column_families(create_missing);
        Self::open_with(path, tables, &options, compaction)
    }

    fn open_with(
        path: &Path,
        tables: &'static [TableInfo],
        options: &Options,
        compaction: AutoCompaction,
    ) -> Result<Self, StoreError> {
        let cache = Cache::new_lru_cache(DEFAULT_CACHE);
        let db = DB::open_cf_descriptors(options, path, descriptors(tables, &cache, compaction)?)
            .map_err(StoreError::rocks("opening the live database"))?;
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
        let families = descriptors(tables, &cache, AutoCompaction::Disabled)?;
        let db = DB::open_cf_descriptors_read_only(&options, path, families, false)
            .map_err(StoreError::rocks("opening the published state"))?;
        Self::from_db(db, tables, &cache)
    }

    fn from_db(db: DB, tables: &'static [TableInfo], cache: &Cache) -> Result<Self, StoreError> {
        Ok(Self {
            db,
            tables,
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

    /// Returns a table to read from; `None` if the format of the database lacks it.
    pub(super) fn readable(&self, name: &'static str) -> Result<Option<&ColumnFamily>, StoreError> {
        match self.table(name) {
            Err(_) if self.tables.iter().all(|table| table.name != name) => Ok(None),
            table => table.map(Some),
        }
    }

    fn table(&self, name: &'static str) -> Result<&ColumnFamily, StoreError> {
        self.db.cf_handle(name).ok_or_else(|| StoreError::Damaged {
            table: name,
            key: "(all)".to_owned(),
            what: "the table is missing".to_owned(),
        })
    }

    /// Calls `read` with the value at `key`, without copying it; `None` if there is no value.
    pub(crate) fn get<T>(
        &self,
        table: &'static str,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, StoreError> {
        let Some(table) = self.readable(table)? else {
            return Ok(None);
        };
        let value = self
            .db
            .get_pinned_cf(table, key)
            .map_err(StoreError::rocks("reading a record"))?;
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
            batch.delete_range_cf(self.table(table)?, &[][..], until);
        }
        for (table, (key, value)) in changes {
            let table = self.table(table)?;
            match value {
                Some(value) => batch.put_cf(table, key, value),
                None => batch.delete_cf(table, key),
            }
        }
        let mut options = WriteOptions::default();
        options.set_sync(true);
        self.db
            .write_opt(batch, &options)
            .map_err(StoreError::rocks("writing a batch"))
    }

    /// Creates a checkpoint of hard links at `path`, which must not exist. Flushes the log to table
    /// files first; with `keep_log` the log becomes part of the checkpoint instead.
    pub(crate) fn checkpoint(&self, path: &Path, keep_log: bool) -> Result<(), StoreError> {
        // The size of the log from which on it is flushed. RocksDB 11 counts no bytes here (its list of
        // logs is empty), so only "always" and "never" work.
        let log_bytes = if keep_log { u64::MAX } else { 0 };
        Checkpoint::new(&self.db)
            .and_then(|checkpoint| checkpoint.create_checkpoint_with_log_size(path, log_bytes))
            .map_err(StoreError::rocks("making a checkpoint"))
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

    /// Adds sorted files to a table atomically; the files stay where they are. Ingesting the same
    /// files again changes nothing.
    pub(crate) fn ingest(
        &self,
        table: &'static str,
        files: Vec<PathBuf>,
    ) -> Result<(), StoreError> {
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
            .ingest_external_file_cf_opts(self.table(table)?, &options, names)
            .map_err(StoreError::rocks("ingesting sorted files"))
    }

    /// Returns whether the log has entries that are in no table file.
    pub(crate) fn has_unflushed_entries(&self) -> Result<bool, StoreError> {
        for table in self.tables {
            let handle = self.table(table.name)?;
            let entries = self
                .db
                .property_int_value_cf(handle, "rocksdb.num-entries-active-mem-table")
                .map_err(StoreError::rocks("reading a table's size"))?;
            if entries != Some(0) {
                return Ok(true);
            }
        }
        Ok(false)
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

    /// Returns the size of a table on disk.
    pub(crate) fn size(&self, table: &'static str) -> Result<TableSize, StoreError> {
        let Some(handle) = self.readable(table)? else {
            return Ok(TableSize::EMPTY);
        };
        let failed = || StoreError::rocks("reading a table's size");
        let read = |property: &str| {
            let value = self.db.property_int_value_cf(handle, property);
            value.map(|value| value.unwrap_or(0)).map_err(failed())
        };
        let mut runs = u64::from(read("rocksdb.num-entries-active-mem-table")? > 0);
        for level in 0..7 {
            let files = self.files_at(table, level)?;
            // Files of level 0 overlap; those of any other level form one sorted run.
            runs += if level == 0 { files } else { files.min(1) };
        }
        Ok(TableSize {
            bytes: read("rocksdb.total-sst-files-size")?,
            keys: read("rocksdb.estimate-num-keys")?,
            is_compacted: runs <= 1,
        })
    }

    /// Returns the size of the log in bytes. Best effort: unreadable files are not counted.
    pub(crate) fn log_bytes(&self) -> u64 {
        let folder = self.db.path();
        let logs = log_files(folder).into_iter();
        let sizes = logs.filter_map(|name| fs::metadata(folder.join(name)).ok());
        sizes.map(|metadata| metadata.len()).sum()
    }

    /// Returns the files of all tables.
    pub(crate) fn table_files(&self) -> Result<Vec<TableFile>, StoreError> {
        let files = self.db.live_files();
        let files = files.map_err(StoreError::rocks("listing table files"))?;
        let files = files.into_iter().map(|file| TableFile {
            table: file.column_family_name,
            name: file.name,
            level: file.level,
            bytes: file.size as u64,
            first: file.start_key.unwrap_or_default(),
            last: file.end_key.unwrap_or_default(),
        });
        Ok(files.collect())
    }

    /// Compacts the files of a table that overlap the keys from `first` to `last`. If that fails,
    /// [`Database::wait_for_compactions`] returns the error.
    pub(crate) fn compact_range(
        &self,
        table: &'static str,
        first: &[u8],
        last: &[u8],
    ) -> Result<(), StoreError> {
        let mut options = CompactOptions::default();
        options.set_bottommost_level_compaction(BottommostLevelCompaction::ForceOptimized);
        let handle = self.table(table)?;
        self.db
            .compact_range_cf_opt(handle, Some(first), Some(last), &options);
        Ok(())
    }

    fn files_at(&self, table: &'static str, level: u32) -> Result<u64, StoreError> {
        let property = format!("rocksdb.num-files-at-level{level}");
        let files = self.db.property_value_cf(self.table(table)?, &property);
        let files = files.map_err(StoreError::rocks("reading a table's size"))?;
        Ok(files.and_then(|files| files.parse().ok()).unwrap_or(0))
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

    /// Compacts a table into one sorted run, which frees the space of overwritten entries.
    pub(crate) fn compact_table(&self, table: &'static str) -> Result<(), StoreError> {
        let mut options = CompactOptions::default();
        options.set_bottommost_level_compaction(BottommostLevelCompaction::Force);
        let handle = self.table(table)?;
        self.db
            .flush_cf(handle)
            .map_err(StoreError::rocks("flushing a table"))?;
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

/// A file of a table.
pub(crate) struct TableFile {
    pub(crate) table: String,
    /// The name within the folder of the database, after a slash.
    pub(crate) name: String,
    /// The level. Files of level 0 overlap; those of any other level do not.
    pub(crate) level: i32,
    pub(crate) bytes: u64,
    /// The first and the last key, both inclusive.
    pub(crate) first: Vec<u8>,
    pub(crate) last: Vec<u8>,
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
