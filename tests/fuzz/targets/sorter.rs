//! Sorting on disk: what comes out of the runs is what a stable sort gives.

use seedbank_store::Sorter;

use super::cursor::Cursor;

pub(super) fn run(data: &[u8]) {
    let mut from = Cursor::of(data);
    // The smallest budget goes to disk after some twenty entries.
    let budget = usize::from(from.byte()) << 5;
    let mut entries = Vec::new();
    while !from.is_empty() {
        let (key, value) = (from.byte() % 40, from.byte());
        let key = from.bytes(usize::from(key)).to_vec();
        let value = vec![value; usize::from(value % 64)];
        // Runs are meant for keys that begin alike.
        for more in 0..=value.len() % 4 {
            entries.push(([&key[..], &vec![7; more * 9]].concat(), value.clone()));
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let mut sorter = Sorter::new(folder.path(), budget);
    for (key, value) in &entries {
        sorter.push(key, value).unwrap();
    }
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    let mut found = sorter.finish().unwrap();
    for (key, value) in &entries {
        assert_eq!(found.next_entry().unwrap(), Some((&key[..], &value[..])));
    }
    assert_eq!(found.next_entry().unwrap(), None);
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let entries: Vec<u8> = (0..60_u32)
        .flat_map(|n| {
            [
                2,
                (n % 90).to_le_bytes()[0],
                b'a',
                (n % 26).to_le_bytes()[0],
            ]
        })
        .collect();
    vec![
        vec![0, 1, 3, b'x'],
        [&[0], &entries[..]].concat(),
        [&[255], &entries[..]].concat(),
    ]
}
