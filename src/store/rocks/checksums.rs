//! Reading table files for the sake of their checksums.
//!
//! RocksDB compares the checksum of every block that it reads. Its own call for whole files is none
//! of those that the crate makes safe, so the entries from a file's first to its last key are read;
//! blocks of filters are not.

use std::collections::HashSet;

use super::database::{Rocks, TableFile};
use crate::error::StoreError;
use seedbank_algorithms::watch::Watch;

/// How many entries are read between two looks at the watch.
const LOOK: u64 = 4096;

/// Keys of a table, both ends included, and the bytes of the files that have them.
struct Range<'a> {
    first: &'a [u8],
    last: &'a [u8],
    bytes: u64,
}

impl Rocks {
    /// Reads all table files; an error where one is missing or a checksum is wrong.
    ///
    /// Cost: reads the whole database.
    pub(crate) fn compare_all_checksums(&self, watch: &dyn Watch) -> Result<(), StoreError> {
        let files = self.table_files()?;
        let names = files.iter().map(|file| file.name.trim_start_matches('/'));
        self.compare_checksums(&names.collect(), watch)
    }

    /// Reads every entry between the first and the last key of these table files, given by their
    /// names; an error where a checksum is wrong. The bytes of the files count as progress.
    ///
    /// Cost: also reads what other files have between these keys.
    pub(crate) fn compare_checksums(
        &self,
        names: &HashSet<&str>,
        watch: &dyn Watch,
    ) -> Result<(), StoreError> {
        let mut files = self.table_files()?;
        files.retain(|file| names.contains(file.name.trim_start_matches('/')));
        watch.stage("read tables", Some(files.iter().map(|f| f.bytes).sum()));
        for table in self.tables() {
            let of_table = files.iter().filter(|file| file.table == table.name);
            for range in ranges(of_table.collect()) {
                // The first key after the last one.
                let until = [range.last, &[0]].concat();
                let mut scan = self.scan_once(table.name, range.first, Some(until))?;
                let mut entries = 0_u64;
                while scan.next_with(|_, _| ())?.is_some() {
                    entries += 1;
                    if entries.is_multiple_of(LOOK) {
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

/// The ranges of the files of a table, those that overlap as one.
fn ranges(mut files: Vec<&TableFile>) -> Vec<Range<'_>> {
    files.sort_unstable_by(|a, b| a.first.cmp(&b.first));
    let mut ranges: Vec<Range<'_>> = Vec::new();
    for file in files {
        let overlaps = |range: &&mut Range<'_>| *range.last >= *file.first;
        match ranges.last_mut().filter(overlaps) {
            Some(range) => {
                range.last = range.last.max(&file.last);
                range.bytes += file.bytes;
            }
            None => ranges.push(Range {
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
        let found = ranges(files.iter().collect());
        let found = found.iter().map(|r| (r.first[0], r.last[0], r.bytes));
        assert_eq!(found.collect::<Vec<_>>(), [(1, 5, 30), (7, 9, 10)]);
    }
}
