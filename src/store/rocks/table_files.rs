//! Table files: compaction of small ones, verification of checksums, and checkpoints.

use std::collections::HashSet;
use std::fs::{self, File, FileTimes};
use std::io;
use std::path::Path;

use rocksdb::ReadOptions;
use rocksdb::checkpoint::Checkpoint;

use super::database::{Database, TableFile};
use super::manifest::Manifest;
use super::write_ahead_log::log_number;
use crate::disk::{copy, list, mode, parent_of, remove_leftover, sync_folder};
use crate::error::StoreError;
use crate::table_info::Family;
use seedbank_algorithms::watch::{Unwatched, Watch};

// Compaction of small table files, which bounds the number of files of a bank.
//
// A flush adds a level-0 file to each changed family. RocksDB compacts four of them into one file of
// a lower level, in background threads. That alone does not bound the number of files:
//
// * In a family whose keys ascend with time (those of a table that is keyed by batches or refreshes) the
//   new file overlaps no other, and RocksDB never compacts files for being small: 620 deltas of three
//   records left 300 files of 2 KB, 1,000 left 500, and a reader opens each.
// * A short-lived command ends before a compaction does, and the compaction is dropped.
//
// So before a write, the writer compacts runs of small files and waits while level 0 has too many.
// A family then has at most [`MAX_LEVEL0_FILES`] plus [`MIN_RUN`] files, plus as many again for each
// file of [`SMALL_FILE_BYTES`] or more.

/// The number of level-0 files of a family above which a writer waits for compactions. It is twice the
/// number at which RocksDB starts one, so a long-lived process never waits.
const MAX_LEVEL0_FILES: usize = 8;

/// The minimum number of consecutive small files that are compacted into one.
const MIN_RUN: usize = 16;

/// The size in bytes below which a file is small: a quarter of the target file size.
const SMALL_FILE_BYTES: u64 = 16 << 20;

/// The maximum number of bytes in lower levels that compacting a run of small files may rewrite. Runs
/// above it are left alone.
const MAX_REWRITTEN_BYTES: u64 = 256 << 20;

/// Compacts families with too many files. Called before a write: if a compaction fails, the state is
/// unchanged.
///
/// Cost: lists the table files; occasionally rewrites all small files of a family.
pub(crate) fn compact_small_files(rocks: &Database) -> Result<(), StoreError> {
    let files = rocks.table_files()?;
    let mut too_many = false;
    for family in Family::ALL {
        let is_own = |file: &&TableFile| file.family == family.name();
        let files: Vec<&TableFile> = files.iter().filter(is_own).collect();
        too_many |= files.iter().filter(|file| file.level == 0).count() > MAX_LEVEL0_FILES;
        for (first, last) in small_runs(files) {
            tracing::debug!(family = family.name(), "compacting small files");
            rocks.compact_range(family, first, last)?;
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

// Verification of the checksums of table files.
//
// RocksDB verifies the checksum of every block that it reads. The binding has no safe call that
// verifies whole files, so all entries from the first to the last key of a file are read. Filter
// blocks are not covered.

/// The number of entries between two checks for an interrupt.
const WATCH_INTERVAL: u64 = 4096;

/// A range of keys, both ends inclusive, and the size of the files that have them.
struct KeyRange<'a> {
    first: &'a [u8],
    last: &'a [u8],
    bytes: u64,
}

impl Database {
    /// Verifies all table files; fails if one is missing or a checksum is wrong.
    ///
    /// Cost: reads the whole database.
    pub(crate) fn verify_all_checksums(&self, watch: &dyn Watch) -> Result<(), StoreError> {
        let files = self.table_files()?;
        let names = files.iter().map(|file| file.name.trim_start_matches('/'));
        self.verify_checksums(&names.collect(), watch)
    }

    /// Reads all entries, and each of them by its key. If nothing was read before, this also reads filter blocks, which
    /// [`verify_checksums`](Self::verify_checksums) does not.
    ///
    /// Cost: a get for each entry.
    pub(crate) fn verify_reads(&self, watch: &dyn Watch) -> Result<(), StoreError> {
        for table in self.tables() {
            let mut scan = self.scan(table.name)?;
            let mut entries = 0_u64;
            while let Some(key) = scan.next_with(|key, _| key.to_vec())? {
                self.get(table.name, &key, |_| ())?;
                entries += 1;
                if entries.is_multiple_of(WATCH_INTERVAL) {
                    watch.proceed()?;
                }
            }
        }
        Ok(())
    }

    /// Verifies the table files with these names; fails if a checksum is wrong. Reports the bytes of
    /// the files as progress.
    ///
    /// Cost: also reads entries of other files between the same keys.
    pub(crate) fn verify_checksums(
        &self,
        names: &HashSet<&str>,
        watch: &dyn Watch,
    ) -> Result<(), StoreError> {
        let mut files = self.table_files()?;
        files.retain(|file| names.contains(file.name.trim_start_matches('/')));
        watch.stage("read tables", Some(files.iter().map(|f| f.bytes).sum()));
        for family in Family::ALL {
            let of_family = files.iter().filter(|file| file.family == family.name());
            for range in key_ranges(of_family.collect()) {
                let mut options = ReadOptions::default();
                options.fill_cache(false);
                // The smallest key after the last one, since the bound is exclusive.
                options.set_iterate_upper_bound([range.last, &[0]].concat());
                let family = self.family(family)?;
                let mut iterator = self.db.raw_iterator_cf_opt(family, options);
                iterator.seek(range.first);
                let mut entries = 0_u64;
                while iterator.valid() {
                    entries += 1;
                    if entries.is_multiple_of(WATCH_INTERVAL) {
                        watch.proceed()?;
                    }
                    iterator.next();
                }
                let status = iterator.status();
                status.map_err(StoreError::rocks("reading a table"))?;
                watch.proceed()?;
                watch.advance(range.bytes);
            }
        }
        Ok(())
    }
}

/// Returns the key ranges of the files of a family; overlapping ones are merged.
fn key_ranges(mut files: Vec<&TableFile>) -> Vec<KeyRange<'_>> {
    files.sort_unstable_by(|a, b| a.first.cmp(&b.first));
    let mut ranges: Vec<KeyRange<'_>> = Vec::new();
    for file in files {
        let overlaps = |range: &&mut KeyRange<'_>| *range.last >= *file.first;
        match ranges.last_mut().filter(overlaps) {
            Some(range) => {
                range.last = range.last.max(&file.last);
                range.bytes += file.bytes;
            }
            None => ranges.push(KeyRange {
                first: &file.first,
                last: &file.last,
                bytes: file.bytes,
            }),
        }
    }
    ranges
}

// Checkpoints: the files of the current state of a database, in a folder of their own.
//
// RocksDB makes hard links. It copies where the file system says that it supports none, but fails on any other refusal:
// `EPERM` on FAT and exFAT, and for files of other users; `ENOSYS` on many file systems in user space; `EMLINK` where a file
// has too many names. Then the files are copied here.

/// The maximum number of attempts to copy a state while the database changes its files.
const MAX_ATTEMPTS: u32 = 10;

impl Database {
    /// Creates a checkpoint at `path`, which must not exist: hard links, or copies where links are refused. The caller
    /// prevents writes. Flushes the log to table files first; with `keep_log` the log becomes part of the checkpoint
    /// instead.
    pub(crate) fn checkpoint(&self, path: &Path, keep_log: bool) -> Result<(), StoreError> {
        // The size of the log from which on it is flushed. RocksDB 11 counts no bytes here (its list of
        // logs is empty), so only "always" and "never" work.
        let log_bytes = if keep_log { u64::MAX } else { 0 };
        // RocksDB removes what an interrupted process left there, but fails if that has folders.
        remove_leftover(&path.with_extension("tmp"))?;
        let linked = Checkpoint::new(&self.db)
            .and_then(|checkpoint| checkpoint.create_checkpoint_with_log_size(path, log_bytes))
            .map_err(StoreError::rocks("making a checkpoint"));
        match linked {
            Err(e) if e.is_refused_link() => self.copy_to(path, keep_log),
            linked => linked,
        }
    }

    /// Creates a checkpoint of copies.
    ///
    /// Cost: reads all files twice and writes them once.
    fn copy_to(&self, path: &Path, keep_log: bool) -> Result<(), StoreError> {
        if !keep_log {
            self.flush()?;
        }
        // Nobody writes, so after this the files change only where a compaction starts by itself.
        self.wait_for_compactions()?;
        let staging = path.with_extension("tmp");
        for _ in 0..MAX_ATTEMPTS {
            remove_leftover(&staging)?;
            fs::create_dir(&staging).map_err(StoreError::io("make", &staging))?;
            let before = Manifest::read(self.db.path())?;
            self.db
                .disable_file_deletions()
                .map_err(StoreError::rocks("keeping its files"))?;
            let copied = self.copy_files(&staging, keep_log);
            self.db
                .enable_file_deletions()
                .map_err(StoreError::rocks("releasing its files"))?;
            copied?;
            if Manifest::read(self.db.path())? == before {
                sync_folder(&staging).map_err(StoreError::io("write to", &staging))?;
                fs::rename(&staging, path).map_err(StoreError::io("make", path))?;
                let parent = parent_of(path);
                return sync_folder(parent).map_err(StoreError::io("write to", parent));
            }
        }
        let what = io::Error::other("the database keeps changing its files");
        Err(StoreError::io("copy", self.db.path())(what))
    }

    /// Copies the files of the current state to an empty folder.
    fn copy_files(&self, to: &Path, keep_log: bool) -> Result<(), StoreError> {
        let database = self.db.path();
        let manifest = Manifest::read(database)?;
        let first_log = self.first_needed_log()?;
        let tables = self.table_files()?.into_iter().map(|file| file.name);
        let mut names: Vec<String> = tables
            .map(|name| name.trim_start_matches('/').to_owned())
            .collect();
        names.extend(["CURRENT".to_owned(), manifest.name().to_owned()]);
        let others = list(database)?;
        let options = others.iter().filter(|name| name.starts_with("OPTIONS-"));
        names.extend(options.max().cloned());
        if keep_log {
            let is_needed = |name: &&String| log_number(name).is_some_and(|log| log >= first_log);
            names.extend(others.iter().filter(is_needed).cloned());
        }
        for name in names {
            let (from, to) = (database.join(&name), to.join(&name));
            let found = fs::metadata(&from).map_err(StoreError::io("look at", &from))?;
            copy(&from, &to, mode(&found), &Unwatched)?;
            // A writer takes table files of the same size and time for equal, as links are.
            let times = found
                .modified()
                .map(|time| FileTimes::new().set_modified(time));
            times
                .and_then(|times| File::open(&to)?.set_times(times))
                .map_err(StoreError::io("write", &to))?;
        }
        Ok(())
    }

    /// Writes all changes that are only in the log to table files.
    fn flush(&self) -> Result<(), StoreError> {
        Family::ALL
            .into_iter()
            .try_for_each(|family| self.flush_family(family))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_overlap_are_read_once() {
        let file = |first: u8, last: u8| TableFile {
            family: String::new(),
            name: String::new(),
            level: 0,
            bytes: 10,
            entries: 0,
            first: vec![first],
            last: vec![last],
        };
        let files = [file(7, 9), file(1, 4), file(2, 3), file(4, 5)];
        let found = key_ranges(files.iter().collect());
        let found = found.iter().map(|r| (r.first[0], r.last[0], r.bytes));
        assert_eq!(found.collect::<Vec<_>>(), [(1, 5, 30), (7, 9, 10)]);
    }
}

#[cfg(test)]
mod compact_small_files_tests {
    use std::fs;

    use super::*;
    use crate::disk::scratch;
    use crate::tables::ALL;

    #[test]
    fn many_small_writes_leave_few_files() {
        let folder = scratch();
        let rocks = Database::create(&folder.path().join("live"), ALL).unwrap();
        let table = ALL[0].name;
        let written = 120_u32;
        for write in 0..written {
            compact_small_files(&rocks).unwrap();
            let key = write.to_be_bytes();
            let change = (table, (&key[..], Some(&key[..])));
            rocks.write(std::iter::once(change), None).unwrap();
            // Ends as a commit does; a long-lived process would see the compactions end.
            let published = folder.path().join("published");
            rocks.checkpoint(&published, false).unwrap();
            fs::remove_dir_all(published).unwrap();
            rocks.wait_for_compactions().unwrap();
            let files = rocks.table_files().unwrap().len();
            assert!(files <= MAX_LEVEL0_FILES + MIN_RUN, "{files} files");
        }
        let mut scan = rocks.scan(table).unwrap();
        for write in 0..written {
            let key = scan.next_with(|key, _| key.to_vec()).unwrap();
            assert_eq!(key.unwrap(), write.to_be_bytes());
        }
    }

    #[test]
    fn runs_of_small_files_are_found_where_little_lies_below() {
        let file = |level: i32, at: u8, bytes: u64| TableFile {
            family: String::new(),
            name: String::new(),
            level,
            bytes,
            entries: 0,
            first: vec![at],
            last: vec![at, 1],
        };
        let found = |files: &[TableFile]| {
            let runs = small_runs(files.iter().collect());
            runs.iter()
                .map(|(first, last)| (first[0], last[0]))
                .collect::<Vec<_>>()
        };
        let small = |level: i32, at: std::ops::Range<u8>| at.map(move |at| (level, at, 9));
        let of = |files: &mut dyn Iterator<Item = (i32, u8, u64)>| {
            let files: Vec<_> = files
                .map(|(level, at, bytes)| file(level, at, bytes))
                .collect();
            found(&files)
        };
        assert_eq!(of(&mut small(6, 0..15)), []);
        assert_eq!(of(&mut small(6, 0..16)), [(0, 15)]);
        // Files of level 0 are no run, nor are files of two levels.
        assert_eq!(of(&mut small(0, 0..16)), []);
        assert_eq!(of(&mut small(5, 0..8).chain(small(6, 8..16))), []);
        // A large one ends a run.
        let large = |level, at| std::iter::once((level, at, SMALL_FILE_BYTES));
        assert_eq!(
            of(&mut small(6, 0..10).chain(large(6, 10)).chain(small(6, 11..40))),
            [(11, 39)]
        );
        // Files in lower levels are rewritten with the run.
        let below = |bytes| small(5, 0..20).chain(std::iter::once((6, 7, bytes)));
        assert_eq!(of(&mut below(MAX_REWRITTEN_BYTES)), [(0, 19)]);
        assert_eq!(of(&mut below(MAX_REWRITTEN_BYTES + 1)), []);
    }
}
