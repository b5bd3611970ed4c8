//! How RocksDB is set up: the database, and each table by how it is read.

use rocksdb::{
    BlockBasedIndexType, BlockBasedOptions, Cache, ColumnFamilyDescriptor, DBCompressionType,
    Options,
};

use crate::error::StoreError;
use crate::table_info::{Access, TableInfo};

/// Bytes of memory that the store uses for its block cache and write buffers.
pub(crate) const DEFAULT_CACHE: usize = 256 << 20;
/// The least of them that a command with little memory leaves.
pub(crate) const LEAST_CACHE: usize = 32 << 20;

/// Bytes of a data block, and of a piece of an index or a filter.
const BLOCK: usize = 16 << 10;
const INDEX_BLOCK: usize = 4 << 10;
/// The same of an index of URLs: more than the longest key, so that keys stand there without what they
/// share.
const URL_INDEX_BLOCK: usize = 64 << 10;
/// The same of a file whose keys are long. A block has several of them, and the index one of each block.
pub(crate) const LONG_KEY_BLOCK: usize = 256 << 10;

/// About how many bytes a file of a table has after a merge.
const FILE: u64 = 64 << 20;
const URL_FILE: u64 = 32 << 20;

/// What the binding has no function for. The log stays a log when a database is opened: by default it
/// is written to a file for each table, with two syncs each. And no room is set aside for a log: by
/// default every opening for writing takes tens of MiB of the disk and gives them back.
const BY_NAME: &str = "avoid_flush_during_recovery=true;allow_fallocate=false";

pub(crate) fn database_options() -> Result<Options, StoreError> {
    let mut options = Options::default()
        .get_options_from_string(BY_NAME)
        .map_err(StoreError::rocks("setting the store up"))?;
    options.set_max_background_jobs(2);
    options.set_keep_log_file_num(2);
    options.set_max_log_file_size(4 << 20);
    options.set_log_level(rocksdb::LogLevel::Warn);
    options.set_max_open_files(super::open_file_limit::most_open());
    // For each table, however few its files are: by default an opening starts and ends 15 threads for
    // each of them.
    options.set_max_file_opening_threads(1);
    // All tables share this bound, so that memory does not grow with the number of tables.
    options.set_db_write_buffer_size(64 << 20);
    options.set_max_total_wal_size(128 << 20);
    options.set_bytes_per_sync(1 << 20);
    // The MANIFEST is read as a whole with every commit.
    options.set_max_manifest_file_size(1 << 20);
    Ok(options)
}

/// What the binding has no function for, of a table. While a file is written, its index is held in memory
/// in several copies. Where keys are long and compress well, the index is by far the largest part of the
/// file, so it counts for the file's size.
const TABLE_BY_NAME: &str = "target_file_size_is_upper_bound=true";

/// What the keys of a file for a bulk load are like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Keys {
    /// An index of them takes little.
    Short,
    /// An index with a key of every small block would take as much as the file.
    Long,
}

/// How files for a bulk load are written: like those of a table with a filter.
pub(crate) struct FileOptions {
    short: Options,
    long: Options,
}

impl FileOptions {
    pub(crate) fn new(cache: &Cache) -> Result<Self, StoreError> {
        Ok(Self {
            short: options_with(Access::Lookup, cache, (BLOCK, INDEX_BLOCK))?,
            long: options_with(Access::Lookup, cache, (LONG_KEY_BLOCK, LONG_KEY_BLOCK))?,
        })
    }

    pub(crate) const fn of(&self, keys: Keys) -> &Options {
        match keys {
            Keys::Short => &self.short,
            Keys::Long => &self.long,
        }
    }
}

fn table_options(access: Access, cache: &Cache) -> Result<Options, StoreError> {
    let index_block = match access {
        Access::LookupByUrl => URL_INDEX_BLOCK,
        Access::Lookup | Access::Scan => INDEX_BLOCK,
    };
    options_with(access, cache, (BLOCK, index_block))
}

fn options_with(
    access: Access,
    cache: &Cache,
    (data_block, index_block): (usize, usize),
) -> Result<Options, StoreError> {
    let mut block = BlockBasedOptions::default();
    block.set_block_cache(cache);
    block.set_block_size(data_block);
    block.set_cache_index_and_filter_blocks(true);
    // Filters and indexes are kept in pieces. Whole ones of a large file outgrow a shard of the
    // cache and are read again for every key (a delta on 3.4 million pages took a hundred times as
    // long).
    block.set_index_type(BlockBasedIndexType::TwoLevelIndexSearch);
    block.set_partition_filters(true);
    block.set_metadata_block_size(index_block);
    // The cache bounds what indexes take. Keys are as long as URLs, up to 64 KiB: pinned and each in
    // full, as by default, an index of such keys takes as much memory as the table has bytes.
    block.set_pin_top_level_index_and_filter(false);
    block.set_index_block_restart_interval(16);
    block.set_format_version(5);
    if access != Access::Scan {
        block.set_bloom_filter(10.0, false);
    }
    let mut options = Options::default()
        .get_options_from_string(TABLE_BY_NAME)
        .map_err(StoreError::rocks("setting a table up"))?;
    options.set_block_based_table_factory(&block);
    options.set_compression_type(DBCompressionType::Lz4);
    options.set_bottommost_compression_type(DBCompressionType::Zstd);
    options.set_write_buffer_size(32 << 20);
    // A table's first few keys in memory take a whole block of it, by default 1 MiB: that of a reader of a
    // small log, and what `status` counts.
    options.set_arena_block_size(8 << 10);
    options.set_target_file_size_base(match access {
        Access::LookupByUrl => URL_FILE,
        Access::Lookup | Access::Scan => FILE,
    });
    options.set_level_compaction_dynamic_level_bytes(true);
    Ok(options)
}

/// Whether RocksDB merges files of tables on its own while a database is open for writing. A file
/// that was merged is deleted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Merging {
    Automatic,
    Never,
}

pub(crate) fn descriptors(
    tables: &[TableInfo],
    cache: &Cache,
    merging: Merging,
) -> Result<Vec<ColumnFamilyDescriptor>, StoreError> {
    let descriptor = |table: &TableInfo| {
        let mut options = table_options(table.access, cache)?;
        options.set_disable_auto_compactions(merging == Merging::Never);
        Ok(ColumnFamilyDescriptor::new(table.name, options))
    };
    // RocksDB's own family, which stays empty.
    let unused = Options::default();
    let unused = ColumnFamilyDescriptor::new(rocksdb::DEFAULT_COLUMN_FAMILY_NAME, unused);
    tables.iter().map(descriptor).chain([Ok(unused)]).collect()
}
