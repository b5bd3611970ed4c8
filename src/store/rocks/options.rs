//! RocksDB options of the database and of its column families.

use std::fs;

use rocksdb::{
    BlockBasedIndexType, BlockBasedOptions, Cache, ColumnFamilyDescriptor, DBCompressionType,
    Options,
};

use crate::error::StoreError;
use crate::table_info::Family;

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
/// it is flushed to a file per family, with two syncs each. No disk space is preallocated for a log: by
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
    options.set_max_open_files(open_file_limit());
    // By default, opening a database starts and ends 15 threads per family.
    options.set_max_file_opening_threads(1);
    // Shared by all families, so that memory does not grow with their number.
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

/// Options of bulk-load files.
pub(crate) struct FileOptions {
    short: Options,
    long: Options,
}

impl FileOptions {
    pub(crate) fn new(cache: &Cache) -> Result<Self, StoreError> {
        let long = LONG_KEY_BLOCK_BYTES;
        Ok(Self {
            short: options_with(cache, BLOCK_BYTES, INDEX_BLOCK_BYTES, FILE_BYTES)?,
            long: options_with(cache, long, long, FILE_BYTES)?,
        })
    }

    pub(crate) const fn for_keys(&self, keys: KeyLength) -> &Options {
        match keys {
            KeyLength::Short => &self.short,
            KeyLength::Long => &self.long,
        }
    }
}

fn family_options(family: Family, cache: &Cache) -> Result<Options, StoreError> {
    let (index_block, file) = match family {
        Family::Sites => (URL_INDEX_BLOCK_BYTES, URL_FILE_BYTES),
        _ => (INDEX_BLOCK_BYTES, FILE_BYTES),
    };
    options_with(cache, BLOCK_BYTES, index_block, file)
}

fn options_with(
    cache: &Cache,
    data_block: usize,
    index_block: usize,
    file: u64,
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
    // Most reads are lookups; the few tables that are only scanned are small.
    block.set_bloom_filter(10.0, false);
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
    options.set_target_file_size_base(file);
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
    cache: &Cache,
    compaction: AutoCompaction,
) -> Result<Vec<ColumnFamilyDescriptor>, StoreError> {
    let make = |family| {
        let mut options = family_options(family, cache)?;
        options.set_disable_auto_compactions(compaction == AutoCompaction::Disabled);
        Ok::<_, StoreError>(options)
    };
    // Making options takes as long as reading a small table, and families share them.
    let (sites, others) = (make(Family::Sites)?, make(Family::Pages)?);
    let descriptor = |family: Family| {
        let options = if family == Family::Sites {
            &sites
        } else {
            &others
        };
        ColumnFamilyDescriptor::new(family.name(), options.clone())
    };
    Ok(Family::ALL.into_iter().map(descriptor).collect())
}

/// The maximum, however high the limit of the system: half of the usual limit of a process, since
/// the runs of sorts need file descriptors too.
const MAX_OPEN: u64 = 512;

/// The value if the limit of the system is unknown: half of the lowest usual one.
const FALLBACK: u64 = 128;

/// Returns the maximum number of open table files: at most half of the limit of the process.
pub(crate) fn open_file_limit() -> i32 {
    let limits = fs::read_to_string("/proc/self/limits").ok();
    let open = limits.map_or(FALLBACK, |text| half_of_soft_limit(&text));
    i32::try_from(open).unwrap_or(i32::MAX)
}

/// Parses the text of `/proc/self/limits` and returns half of the soft limit, at most [`MAX_OPEN`].
fn half_of_soft_limit(limits: &str) -> u64 {
    let line = limits
        .lines()
        .find_map(|l| l.strip_prefix("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().next());
    match soft.map(str::parse::<u64>) {
        Some(Ok(soft)) => (soft / 2).min(MAX_OPEN),
        // "unlimited"
        Some(Err(_)) => MAX_OPEN,
        None => FALLBACK,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_soft_limit_is_taken() {
        let of = |soft: &str| {
            half_of_soft_limit(&format!(
                "Limit                     Soft Limit           Hard Limit           Units\n\
                 Max processes             95                   95                   processes\n\
                 Max open files            {soft}                 524288               files\n"
            ))
        };
        assert_eq!(of("128"), 64);
        assert_eq!(of("1024"), 512);
        assert_eq!(of("1048576"), 512);
        assert_eq!(of("unlimited"), 512);
        assert_eq!(half_of_soft_limit("something else"), 128);
        assert!((20..=512).contains(&open_file_limit()));
    }
}
