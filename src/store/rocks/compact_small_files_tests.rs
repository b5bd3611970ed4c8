use std::fs;

use super::*;
use crate::disk::scratch::scratch;
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
