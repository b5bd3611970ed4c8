//! Compaction of small table files, which bounds the number of files of a bank.
//!
//! A flush adds a level-0 file to each changed table. RocksDB compacts four of them into one file of
//! a lower level, in background threads. That alone does not bound the number of files:
//!
//! * In a table whose keys ascend with time (`batches`, `refreshes` and the tables keyed by them) the
//!   new file overlaps no other, and RocksDB never compacts files for being small: 620 deltas of three
//!   records left 300 files of 2 KB, 1,000 left 500, and a reader opens each.
//! * A short-lived command ends before a compaction does, and the compaction is dropped.
//!
//! So before a write, the writer compacts runs of small files and waits while level 0 has too many.
//! A table then has at most [`MAX_LEVEL0_FILES`] plus [`MIN_RUN`] files, plus as many again for each
//! file of [`SMALL_FILE_BYTES`] or more.

use super::database::{Database, TableFile};
use crate::error::StoreError;

/// The number of level-0 files of a table above which a writer waits for compactions. It is twice the
/// number at which RocksDB starts one, so a long-lived process never waits.
const MAX_LEVEL0_FILES: usize = 8;

/// The minimum number of consecutive small files that are compacted into one.
const MIN_RUN: usize = 16;

/// The size in bytes below which a file is small: a quarter of the target file size.
const SMALL_FILE_BYTES: u64 = 16 << 20;

/// The maximum number of bytes in lower levels that compacting a run of small files may rewrite. Runs
/// above it are left alone.
const MAX_REWRITTEN_BYTES: u64 = 256 << 20;

/// Compacts tables with too many files. Called before a write: if a compaction fails, the state is
/// unchanged.
///
/// Cost: lists the table files; occasionally rewrites all small files of a table.
pub(crate) fn compact_small_files(rocks: &Database) -> Result<(), StoreError> {
    let files = rocks.table_files()?;
    let mut too_many = false;
    for table in rocks.tables() {
        let files: Vec<&TableFile> = files.iter().filter(|f| f.table == table.name).collect();
        too_many |= files.iter().filter(|file| file.level == 0).count() > MAX_LEVEL0_FILES;
        for (first, last) in small_runs(files) {
            tracing::debug!(table = table.name, "compacting small files");
            rocks.compact_range(table.name, first, last)?;
            too_many = true;
        }
    }
    if too_many {
        rocks.wait_for_compactions()?;
    }
    Ok(())
}

/// Returns the first and the last key of each run of small files to compact, below level 0.
fn small_runs(mut files: Vec<&TableFile>) -> Vec<(&[u8], &[u8])> {
    files.retain(|file| file.level > 0);
    files.sort_unstable_by_key(|file| (file.level, &file.first));
    let is_run = |a: &&TableFile, b: &&TableFile| {
        a.level == b.level && a.bytes.max(b.bytes) < SMALL_FILE_BYTES
    };
    let runs = files.chunk_by(is_run).filter_map(|run| {
        let ([first, ..], [.., last]) = (run, run) else {
            return None;
        };
        let below = files.iter().filter(|file| {
            file.level > first.level && file.last >= first.first && file.first <= last.last
        });
        let below: u64 = below.map(|file| file.bytes).sum();
        let is_worthwhile = run.len() >= MIN_RUN && below <= MAX_REWRITTEN_BYTES;
        is_worthwhile.then_some((&*first.first, &*last.last))
    });
    runs.collect()
}

#[cfg(test)]
#[path = "compact_small_files_tests.rs"]
mod tests;
