//! RocksDB options of the database and of its tables.

use rocksdb::{
    BlockBasedIndexType, BlockBasedOptions, Cache, ColumnFamilyDescriptor, DBCompressionType,
    Options,
};

use crate::error::StoreError;
use crate::table_info::{Access, TableInfo};

/// The default size of the block cache in bytes.
pub(crate) const DEFAULT_CACHE: usize = 256 << 20;
/// The smallest block cache that a command with little memory uses, in bytes.
pub(crate) const MIN_CACHE: usize = 32 << 20;

/// The size of a data block, and of a partition of an index or filter, in bytes.
const BLOCK_BYTES: usize = 16 << 10;
const INDEX_BLOCK_BYTES: usize = 4 << 10;
/// The size of an index partition over URLs, in bytes. It exceeds the longest key, so that keys in it
/// are delta-encoded.
const URL_INDEX_BLOCK_BYTES: usize = 64 << 10;
/// The size of a block of a file with long keys, in bytes. A block has several keys, the index one per
/// block.
pub(crate) const LONG_KEY_BLOCK_BYTES: usize = 256 << 10;

/// The target size of a table file after compaction, in bytes.
const FILE_BYTES: u64 = 64 << 20;
const URL_FILE_BYTES: u64 = 32 << 20;

/// Database options that the binding has no function for. Opening a database keeps the log: by default
/// it is flushed to a file per table, with two syncs each. No disk space is preallocated for a log: by
/// default every opening for writing takes tens of MiB and gives them back.
const DATABASE_OPTIONS: &str = "avoid_flush_during_recovery=true;allow_fallocate=false";

pub(crate) fn database_options() -> Result<Options, StoreError> {
    let mut options = Options::default()
        .get_options_from_string(DATABASE_OPTIONS)
        .map_err(StoreError::rocks("setting database options"))?;
    options.set_max_background_jobs(2);
    options.set_keep_log_file_num(2);
    options.set_max_log_file_size(4 << 20);
    options.set_log_level(rocksdb::LogLevel::Warn);
    options.set_max_open_files(super::open_file_limit::open_file_limit());
    // By default, opening a database starts and ends 15 threads per table.
    options.set_max_file_opening_threads(1);
    // Shared by all tables, so that memory does not grow with their number.
    options.set_db_write_buffer_size(64 << 20);
    options.set_max_total_wal_size(128 << 20);
    options.set_bytes_per_sync(1 << 20);
    // Every commit reads the whole MANIFEST.
    options.set_max_manifest_file_size(1 << 20);
    // By default, each opening for writing computes statistics of all tables, for a log that leaves them out.
    options.set_stats_dump_period_sec(0);
    options.set_stats_persist_period_sec(0);
    Ok(options)
}

/// Table options that the binding has no function for. While a file is written, memory holds several
/// copies of its index. With long, compressible keys the index is by far the largest part of the file, so
/// it must count towards the file size.
const TABLE_OPTIONS: &str = "target_file_size_is_upper_bound=true";

/// The length of the keys of a bulk-load file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum KeyLength {
    /// The index of small blocks takes little memory.
    Short,
    /// The index of small blocks would take as much memory as the file.
    Long,
}

/// Options of bulk-load files, which have a filter whatever their table.
pub(crate) struct FileOptions {
    short: Options,
    long: Options,
}

impl FileOptions {
    pub(crate) fn new(cache: &Cache) -> Result<Self, StoreError> {
        Ok(Self {
            short: options_with(Access::Lookup, cache, BLOCK_BYTES, INDEX_BLOCK_BYTES)?,
            long: options_with(
                Access::Lookup,
                cache,
                LONG_KEY_BLOCK_BYTES,
                LONG_KEY_BLOCK_BYTES,
            )?,
        })
    }

    pub(crate) const fn for_keys(&self, keys: KeyLength) -> &Options {
        match keys {
            KeyLength::Short => &self.short,
            KeyLength::Long => &self.long,
        }
    }
}

fn table_options(access: Access, cache: &Cache) -> Result<Options, StoreError> {
    let index_block = match access {
        Access::LookupByUrl => URL_INDEX_BLOCK_BYTES,
        Access::Lookup | Access::Scan => INDEX_BLOCK_BYTES,
    };
    options_with(access, cache, BLOCK_BYTES, index_block)
}

fn options_with(
    access: Access,
    cache: &Cache,
    data_block: usize,
    index_block: usize,
) -> Result<Options, StoreError> {
    let mut block = BlockBasedOptions::default();
    block.set_block_cache(cache);
    block.set_block_size(data_block);
    block.set_cache_index_and_filter_blocks(true);
    // Filters and indexes are partitioned. Unpartitioned ones of a large file outgrow a shard of the
    // cache and are read again for every key (a delta on 3.4 million pages took a hundred times as
    // long).
    block.set_index_type(BlockBasedIndexType::TwoLevelIndexSearch);
    block.set_partition_filters(true);
    block.set_metadata_block_size(index_block);
    // The cache bounds the memory of indexes. Keys are as long as URLs, up to 64 KiB: by default,
    // pinned and without delta encoding, an index takes as much memory as the table has bytes.
    block.set_pin_top_level_index_and_filter(false);
    block.set_index_block_restart_interval(16);
    block.set_format_version(5);
    if access != Access::Scan {
        block.set_bloom_filter(10.0, false);
    }
    let mut options = Options::default()
        .get_options_from_string(TABLE_OPTIONS)
        .map_err(StoreError::rocks("setting table options"))?;
    options.set_block_based_table_factory(&block);
    options.set_compression_type(DBCompressionType::Lz4);
    options.set_bottommost_compression_type(DBCompressionType::Zstd);
    options.set_write_buffer_size(32 << 20);
    // The first keys in a memtable allocate a whole arena block, by default 1 MiB. Readers of a small
    // log pay for it, and `status` counts it.
    options.set_arena_block_size(8 << 10);
    options.set_target_file_size_base(match access {
        Access::LookupByUrl => URL_FILE_BYTES,
        Access::Lookup | Access::Scan => FILE_BYTES,
    });
    options.set_level_compaction_dynamic_level_bytes(true);
    Ok(options)
}

/// Whether RocksDB compacts tables on its own while a database is open for writing. Compaction deletes
/// its input files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AutoCompaction {
    Enabled,
    Disabled,
}

pub(crate) fn descriptors(
    tables: &[TableInfo],
    cache: &Cache,
    compaction: AutoCompaction,
) -> Result<Vec<ColumnFamilyDescriptor>, StoreError> {
    // Making options takes as long as reading a small table, and tables share them.
    let mut made: Vec<(Access, Options)> = Vec::new();
    let mut descriptors = Vec::with_capacity(tables.len() + 1);
    for table in tables {
        let same = made.iter().find(|(access, _)| *access == table.access);
        let options = if let Some((_, options)) = same {
            options.clone()
        } else {
            let mut options = table_options(table.access, cache)?;
            options.set_disable_auto_compactions(compaction == AutoCompaction::Disabled);
            made.push((table.access, options.clone()));
            options
        };
        descriptors.push(ColumnFamilyDescriptor::new(table.name, options));
    }
    // The default column family, which RocksDB requires, stays empty.
    let unused = rocksdb::DEFAULT_COLUMN_FAMILY_NAME;
    descriptors.push(ColumnFamilyDescriptor::new(unused, Options::default()));
    Ok(descriptors)
}
