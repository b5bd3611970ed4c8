//! Verification of the checksums of table files.
//!
//! RocksDB verifies the checksum of every block that it reads. The binding has no safe call that
//! verifies whole files, so all entries from the first to the last key of a file are read. Filter
//! blocks are not covered.

use std::collections::HashSet;

use super::database::{Database, TableFile};
use crate::error::StoreError;
use seedbank_algorithms::watch::Watch;

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
        for table in self.tables() {
            let of_table = files.iter().filter(|file| file.table == table.name);
            for range in key_ranges(of_table.collect()) {
                // The smallest key after the last one, since the end of a scan is exclusive.
                let until = [range.last, &[0]].concat();
                let mut scan = self.scan_once(table.name, range.first, until)?;
                let mut entries = 0_u64;
                while scan.next_with(|_, _| ())?.is_some() {
                    entries += 1;
                    if entries.is_multiple_of(WATCH_INTERVAL) {
                        watch.proceed()?;
                    }
                }
                watch.proceed()?;
                watch.advance(range.bytes);
            }
        }
        Ok(())
    }
}

/// Returns the key ranges of the files of a table; overlapping ones are merged.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_overlap_are_read_once() {
        let file = |first: u8, last: u8| TableFile {
            table: String::new(),
            name: String::new(),
            level: 0,
            bytes: 10,
            first: vec![first],
            last: vec![last],
        };
        let files = [file(7, 9), file(1, 4), file(2, 3), file(4, 5)];
        let found = key_ranges(files.iter().collect());
        let found = found.iter().map(|r| (r.first[0], r.last[0], r.bytes));
        assert_eq!(found.collect::<Vec<_>>(), [(1, 5, 30), (7, 9, 10)]);
    }
}
