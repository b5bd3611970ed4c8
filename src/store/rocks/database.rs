//! The only module that talks to RocksDB, set up as `options` says: bytes in, bytes out.
//!
//! One writer opens the live database; readers open published checkpoints read-only. Merge
//! operators are not used: one failure in a compaction would leave the database read-only.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rocksdb::checkpoint::Checkpoint;
use rocksdb::{
    BottommostLevelCompaction, Cache, ColumnFamily, CompactOptions, DB, DBRawIterator,
    IngestExternalFileOptions, Options, ReadOptions, SstFileWriter, WaitForCompactOptions,
    WriteBatch, WriteOptions,
};

use super::options::{DEFAULT_CACHE, FileOptions, Keys, Merging, database_options, descriptors};
use super::sorted_file::SortedFile;
use super::write_ahead_log::logs_in;
use crate::error::StoreError;
use crate::table_info::TableInfo;

/// One change of one table: a new value, or `None` to delete.
pub(crate) type Change<'a> = (&'a [u8], Option<&'a [u8]>);

/// An open database.
pub(crate) struct Rocks {
    db: DB,
    tables: &'static [TableInfo],
    file_options: FileOptions,
    cache: Cache,
    bytes_read: AtomicU64,
    reads: AtomicU64,
}

impl Rocks {
    /// Makes a new, empty database with these tables.
    pub(crate) fn create(path: &Path, tables: &'static [TableInfo]) -> Result<Self, StoreError> {
        let mut options = database_options()?;
        options.create_if_missing(true);
        options.create_missing_column_families(true);
        options.set_error_if_exists(true);
        Self::open_with(path, tables, &options, Merging::Automatic)
    }

    /// Opens the live database for writing. The caller holds the bank's writer lock. Where it
    /// `may_lack` tables, being of an older format, those are made.
    pub(crate) fn open_writer(
        path: &Path,
        tables: &'static [TableInfo],
        merging: Merging,
        may_lack: bool,
    ) -> Result<Self, StoreError> {
        let mut options = database_options()?;
        options.create_missing_column_families(may_lack);
        Self::open_with(path, tables, &options, merging)
    }

    fn open_with(
        path: &Path,
        tables: &'static [TableInfo],
        options: &Options,
        merging: Merging,
    ) -> Result<Self, StoreError> {
        let cache = Cache::new_lru_cache(DEFAULT_CACHE);
        let db = DB::open_cf_descriptors(options, path, descriptors(tables, &cache, merging)?)
            .map_err(StoreError::rocks("opening the bank"))?;
        Self::around(db, tables, &cache)
    }

    /// Opens a checkpoint for reading only.
    pub(crate) fn open_reader(
        path: &Path,
        tables: &'static [TableInfo],
    ) -> Result<Self, StoreError> {
        let cache = Cache::new_lru_cache(DEFAULT_CACHE);
        let mut options = database_options()?;
        options.set_log_level(rocksdb::LogLevel::Fatal);
        let families = descriptors(tables, &cache, Merging::Never)?;
        let db = DB::open_cf_descriptors_read_only(&options, path, families, false)
            .map_err(StoreError::rocks("opening the published state"))?;
        Self::around(db, tables, &cache)
    }

    fn around(db: DB, tables: &'static [TableInfo], cache: &Cache) -> Result<Self, StoreError> {
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

    /// Lets the cache take at most so many bytes; what is in it beyond them goes.
    pub(crate) fn limit_cache(&self, bytes: usize) {
        self.cache.clone().set_capacity(bytes);
    }

    /// A table to read from; `None` where it is none of the tables of an older format.
    fn readable(&self, name: &'static str) -> Result<Option<&ColumnFamily>, StoreError> {
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

    /// Hands the value at `key` to `read`, without copying it.
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

    fn count(&self, bytes: usize) {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.bytes_read.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// How many gets, and entries of scans, there were so far.
    pub(crate) fn reads(&self) -> u64 {
        self.reads.load(Ordering::Relaxed)
    }

    /// How many bytes of keys and values were read so far.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// Reads keys from `from` (inclusive) up to `until` (exclusive; `None`: to the end).
    pub(crate) fn scan(
        &self,
        table: &'static str,
        from: &[u8],
        until: Option<Vec<u8>>,
    ) -> Result<Scan<'_>, StoreError> {
        self.scan_with(table, from, until, ReadOptions::default())
    }

    /// Scans backwards, from the last key at or before `from` to the first that is at least `until`.
    pub(crate) fn scan_back(
        &self,
        table: &'static str,
        from: &[u8],
        until: &[u8],
    ) -> Result<Scan<'_>, StoreError> {
        let mut reading = ReadOptions::default();
        reading.set_iterate_lower_bound(until);
        let iterator = self.readable(table)?.map(|table| {
            let mut iterator = self.db.raw_iterator_cf_opt(table, reading);
            iterator.seek_for_prev(from);
            iterator
        });
        Ok(Scan {
            rocks: self,
            iterator,
            is_backwards: true,
            begun: false,
        })
    }

    /// Scans a large range that will not be read again soon, and so deserves no place in the cache.
    pub(crate) fn scan_once(
        &self,
        table: &'static str,
        from: &[u8],
        until: Option<Vec<u8>>,
    ) -> Result<Scan<'_>, StoreError> {
        let mut reading = ReadOptions::default();
        reading.fill_cache(false);
        self.scan_with(table, from, until, reading)
    }

    fn scan_with(
        &self,
        table: &'static str,
        from: &[u8],
        until: Option<Vec<u8>>,
        mut reading: ReadOptions,
    ) -> Result<Scan<'_>, StoreError> {
        if let Some(until) = until {
            reading.set_iterate_upper_bound(until);
        }
        let iterator = self.readable(table)?.map(|table| {
            let mut iterator = self.db.raw_iterator_cf_opt(table, reading);
            iterator.seek(from);
            iterator
        });
        Ok(Scan {
            rocks: self,
            iterator,
            is_backwards: false,
            begun: false,
        })
    }

    /// Writes all changes or none, and returns when they are on disk. First the keys of a table
    /// before the one in `cleared` are deleted, whatever their number.
    pub(crate) fn write<'a>(
        &self,
        changes: impl Iterator<Item = (&'static str, Change<'a>)>,
        cleared: Option<(&'static str, &[u8])>,
    ) -> Result<(), StoreError> {
        let mut batch = WriteBatch::default();
        if let Some((table, until)) = cleared {
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

    /// Makes a checkpoint of hard links at `path`, which must not exist. What is in the log alone is
    /// written to files of tables first; with `keep_log` the log is part of the checkpoint.
    pub(crate) fn checkpoint(&self, path: &Path, keep_log: bool) -> Result<(), StoreError> {
        // A log of so many bytes is written to files. RocksDB 11 does not count them (its list of logs is
        // empty there), so that all or nothing can be asked for, and no number in between.
        let log_bytes = if keep_log { u64::MAX } else { 0 };
        Checkpoint::new(&self.db)
            .and_then(|checkpoint| checkpoint.create_checkpoint_with_log_size(path, log_bytes))
            .map_err(StoreError::rocks("making a checkpoint"))
    }

    /// Begins a sorted file for [`Rocks::ingest`].
    pub(crate) fn sorted_file(
        &self,
        path: &Path,
        keys: Keys,
    ) -> Result<SortedFile<'_>, StoreError> {
        let writer = SstFileWriter::create(self.file_options.of(keys));
        writer
            .open(path)
            .map_err(StoreError::rocks("making a sorted file"))?;
        Ok(SortedFile::new(writer))
    }

    /// Adds sorted files to a table, all or none; they stay where they are. Doing it again with the
    /// same files changes nothing.
    pub(crate) fn ingest(
        &self,
        table: &'static str,
        files: Vec<PathBuf>,
    ) -> Result<(), StoreError> {
        // RocksDB links a file that it may move, and then removes the name that it was given; so it
        // gets a second one. Its option to keep the first is not in the binding.
        let mut links = Vec::new();
        for file in &files {
            let link = file.with_extension("link");
            // Left by a process that died; what cannot be removed has the file copied.
            let _ = fs::remove_file(&link);
            if fs::hard_link(file, &link).is_ok() {
                links.push(link);
            }
        }
        let mut options = IngestExternalFileOptions::default();
        // Where the file system has no links, the files are copied.
        let is_linked = links.len() == files.len();
        options.set_move_files(is_linked);
        let names = if is_linked { links } else { files };
        self.db
            .ingest_external_file_cf_opts(self.table(table)?, &options, names)
            .map_err(StoreError::rocks("ingesting sorted files"))
    }

    /// Whether the log has anything that is in no file yet.
    pub(crate) fn holds_in_memory(&self) -> Result<bool, StoreError> {
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

    /// The number of the first file of the log that is needed: RocksDB replays this one and those
    /// after it, and removes those before it, whose changes are all in files of tables.
    pub(crate) fn first_log(&self) -> Result<u64, StoreError> {
        let number = self
            .db
            .property_int_value("rocksdb.min-log-number-to-keep")
            .map_err(StoreError::rocks("reading the number of the first log"))?;
        Ok(number.unwrap_or(0))
    }

    /// What a table takes on disk.
    pub(crate) fn size(&self, table: &'static str) -> Result<TableSize, StoreError> {
        let Some(handle) = self.readable(table)? else {
            return Ok(TableSize {
                bytes: 0,
                keys: 0,
                is_compacted: true,
            });
        };
        let failed = || StoreError::rocks("reading a table's size");
        let read = |property: &str| {
            let value = self.db.property_int_value_cf(handle, property);
            value.map(|value| value.unwrap_or(0)).map_err(failed())
        };
        let mut runs = u64::from(read("rocksdb.num-entries-active-mem-table")? > 0);
        for level in 0..7 {
            let files = self.files_at(table, level)?;
            // Files of the first level overlap; those of any other level form one run.
            runs += if level == 0 { files } else { files.min(1) };
        }
        Ok(TableSize {
            bytes: read("rocksdb.total-sst-files-size")?,
            keys: read("rocksdb.estimate-num-keys")?,
            is_compacted: runs <= 1,
        })
    }

    /// The bytes of the log. Best effort: a file that cannot be looked at is not counted.
    pub(crate) fn log_bytes(&self) -> u64 {
        let place = self.db.path();
        let logs = logs_in(place).into_iter();
        let sizes = logs.filter_map(|name| fs::metadata(place.join(name)).ok());
        sizes.map(|about| about.len()).sum()
    }

    /// The files of all tables, with their levels and key ranges.
    pub(crate) fn table_files(&self) -> Result<Vec<TableFile>, StoreError> {
        let files = self.db.live_files();
        let files = files.map_err(StoreError::rocks("listing files of tables"))?;
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

    /// Begins to merge those files of a table that have keys from `first` to `last`. If that fails,
    /// [`Rocks::finish_merges`] returns the error.
    pub(crate) fn merge(
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

    /// What tells the database, its checkpoints and copies from others; empty where it has nothing
    /// that does.
    pub(crate) fn identity(&self) -> String {
        let identity = self.db.get_db_identity().unwrap_or_default();
        String::from_utf8_lossy(&identity).into_owned()
    }

    /// Waits until the merges that RocksDB has begun, or means to, are done.
    pub(crate) fn finish_merges(&self) -> Result<(), StoreError> {
        self.db
            .wait_for_compact(&WaitForCompactOptions::default())
            .map_err(StoreError::rocks("merging files of tables"))
    }

    /// Merges the files of a table, so that overwritten entries no longer take room.
    pub(crate) fn compact(&self, table: &'static str) -> Result<(), StoreError> {
        let mut options = CompactOptions::default();
        options.set_bottommost_level_compaction(BottommostLevelCompaction::Force);
        let handle = self.table(table)?;
        self.db
            .flush_cf(handle)
            .map_err(StoreError::rocks("writing a table's files"))?;
        self.db
            .compact_range_cf_opt(handle, None::<&[u8]>, None::<&[u8]>, &options);
        self.finish_merges()
    }

    /// Ends the merge that RocksDB is at, whose files it removes. It merges nothing from then on, and
    /// nothing more can be written.
    pub(crate) fn stop_merging(&self) {
        self.db.cancel_all_background_work(false);
    }
}

/// A file of a table.
pub(crate) struct TableFile {
    pub(crate) table: String,
    /// Its name within the database's folder.
    pub(crate) name: String,
    /// Its level. Files of level 0 overlap; those of any other level do not.
    pub(crate) level: i32,
    pub(crate) bytes: u64,
    /// Its first and its last key.
    pub(crate) first: Vec<u8>,
    pub(crate) last: Vec<u8>,
}

/// What a table takes on disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableSize {
    /// The bytes of its files and of what is in no file yet.
    pub bytes: u64,
    /// An estimate of the number of keys.
    pub keys: u64,
    /// Whether it is one sorted run, so that no overwritten entry takes room.
    pub is_compacted: bool,
}

/// A range of a table, in key order or backwards.
pub(crate) struct Scan<'a> {
    rocks: &'a Rocks,
    /// `None` when the scan is over: an iterator that failed would repeat its error for ever.
    iterator: Option<DBRawIterator<'a>>,
    is_backwards: bool,
    begun: bool,
}

impl Scan<'_> {
    /// Hands the next key and value to `read`; `None` at the end. An error ends the scan too.
    pub(crate) fn next_with<T>(
        &mut self,
        read: impl FnOnce(&[u8], &[u8]) -> T,
    ) -> Result<Option<T>, StoreError> {
        let Some(iterator) = &mut self.iterator else {
            return Ok(None);
        };
        match (self.begun, self.is_backwards) {
            (false, _) => {}
            (true, false) => iterator.next(),
            (true, true) => iterator.prev(),
        }
        self.begun = true;
        if let Some((key, value)) = iterator.item() {
            self.rocks.count(key.len() + value.len());
            return Ok(Some(read(key, value)));
        }
        let status = iterator.status();
        self.iterator = None;
        status.map_err(StoreError::rocks("reading a table"))?;
        Ok(None)
    }
}
