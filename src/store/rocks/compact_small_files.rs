//! Keeps the number of files of a bank within bounds.
//!
//! A commit leaves a file in the first level of each table that it changed. RocksDB merges four of
//! them into one file of a lower level, in threads of its own. Two things then grow with the number
//! of commits and not with what they hold:
//!
//! * In a table whose keys ascend with time (`batches`, `refreshes` and the tables that depend on
//!   them) the merged file overlaps no other, and files are never merged for being small: 620
//!   deltas of three records left 300 files of 2 KB, 1,000 left 500, and a reader opens each.
//! * A short-lived command ends before a merge is done, and the merge is dropped.
//!
//! So before it adds files, a writer merges runs of small ones, and waits where there are too many
//! in the first level. That bounds the files of a table by [`MANY`] and [`MANY_SMALL`], plus as
//! many again for each file of [`SMALL`] bytes or more.

use super::database::{Rocks, TableFile};
use crate::error::StoreError;

/// Where the first level of a table has more files than this, they are merged before more are
/// written. It is twice the number at which RocksDB begins to merge, so a process that lives long
/// enough never waits.
const MANY: usize = 8;

/// The least number of small files in a row that are merged into one.
const MANY_SMALL: usize = 16;

/// A file of fewer bytes than this is small; a quarter of the size at which RocksDB cuts files.
const SMALL: u64 = 16 << 20;

/// The most bytes in lower levels that merging a run of small files may rewrite; beyond that the
/// small files are left as they are.
const MOST_BELOW: u64 = 256 << 20;

/// Merges the files where there are too many. To be called before a write: where a merge fails,
/// nothing has changed.
///
/// Cost: a look at the list of files; now and then every small file of a table is rewritten.
pub(crate) fn settle(rocks: &Rocks) -> Result<(), StoreError> {
    let files = rocks.table_files()?;
    let mut too_many = false;
    for table in rocks.tables() {
        let files: Vec<&TableFile> = files.iter().filter(|f| f.table == table.name).collect();
        too_many |= files.iter().filter(|file| file.level == 0).count() > MANY;
        for (first, last) in small_runs(files) {
            tracing::debug!(table = table.name, "merging small files");
            rocks.merge(table.name, first, last)?;
            too_many = true;
        }
    }
    if too_many {
        rocks.finish_merges()?;
    }
    Ok(())
}

/// The first and last keys of the runs of small files of a table, below its first level, that are
/// to be merged.
fn small_runs(mut files: Vec<&TableFile>) -> Vec<(&[u8], &[u8])> {
    files.retain(|file| file.level > 0);
    files.sort_unstable_by_key(|file| (file.level, &file.first));
    let is_run =
        |a: &&TableFile, b: &&TableFile| a.level == b.level && a.bytes.max(b.bytes) < SMALL;
    let runs = files.chunk_by(is_run).filter_map(|run| {
        let ([first, ..], [.., last]) = (run, run) else {
            return None;
        };
        let below = files.iter().filter(|file| {
            file.level > first.level && file.last >= first.first && file.first <= last.last
        });
        let below: u64 = below.map(|file| file.bytes).sum();
        let is_worth = run.len() >= MANY_SMALL && below <= MOST_BELOW;
        is_worth.then_some((&*first.first, &*last.last))
    });
    runs.collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::tables::ALL;

    #[test]
    fn many_small_writes_leave_few_files() {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let folder = folder.unwrap();
        let rocks = Rocks::create(&folder.path().join("live"), ALL).unwrap();
        let table = ALL[0].name;
        let written = 120_u32;
        for write in 0..written {
            settle(&rocks).unwrap();
            let key = write.to_be_bytes();
            let change = (table, (&key[..], Some(&key[..])));
            rocks.write(std::iter::once(change), None).unwrap();
            // Ends as a commit does; a process that lived longer would see the merges end.
            let published = folder.path().join("published");
            rocks.checkpoint(&published, false).unwrap();
            fs::remove_dir_all(published).unwrap();
            rocks.finish_merges().unwrap();
            let files = rocks.table_files().unwrap().len();
            assert!(files <= MANY + MANY_SMALL, "{files} files");
        }
        let mut scan = rocks.scan(table, &[], None).unwrap();
        for write in 0..written {
            let key = scan.next_with(|key, _| key.to_vec()).unwrap();
            assert_eq!(key.unwrap(), write.to_be_bytes());
        }
    }

    #[test]
    fn runs_of_small_files_are_found_where_little_lies_below() {
        let file = |level: i32, at: u8, bytes: u64| TableFile {
            table: String::new(),
            name: String::new(),
            level,
            bytes,
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
        // Files of the first level are no run, nor are files of two levels.
        assert_eq!(of(&mut small(0, 0..16)), []);
        assert_eq!(of(&mut small(5, 0..8).chain(small(6, 8..16))), []);
        // A large one ends a run.
        let large = |level, at| std::iter::once((level, at, SMALL));
        assert_eq!(
            of(&mut small(6, 0..10).chain(large(6, 10)).chain(small(6, 11..40))),
            [(11, 39)]
        );
        // Files in lower levels are rewritten with the run.
        let below = |bytes| small(5, 0..20).chain(std::iter::once((6, 7, bytes)));
        assert_eq!(of(&mut below(MOST_BELOW)), [(0, 19)]);
        assert_eq!(of(&mut below(MOST_BELOW + 1)), []);
    }
}
