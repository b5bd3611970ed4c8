//! What a process that died in a bulk load leaves, made step by step, and what becomes of it.
//!
//! A load whose files are all there is finished, whatever RocksDB had ingested of it. One that lost a
//! file is never published: readers keep the state before it, byte for byte, and every writer refuses
//! the bank. What `check` and `repair` make of it is in `tests/storage/faults/loads.rs`.

use super::*;
use crate::publish::commit::tests::{TestBank, names};
use seedbank_algorithms::watch::Unwatched;

/// A bank with a bulk load whose intent is written, of which the first `ingested` tables are in.
fn interrupted(ingested: usize) -> (TestBank, Intent) {
    let place = TestBank::new();
    let writer = place.writer();
    let (changes, counters) = TestBank::changes(&writer, 0);
    let meta = CommitMeta::preserving(&writer, counters);
    let intent = writer.write_load(changes, meta).unwrap();
    writer.write_intent(&intent).unwrap();
    let folder = writer.bank.join("loads").join(&intent.folder);
    let tables = intent.files.chunk_by(|a, b| a.table == b.table);
    assert_eq!(tables.clone().count(), 3);
    for part in tables.take(ingested) {
        let table = ALL.iter().find(|table| table.name == part[0].table);
        let files = part.iter().map(|file| folder.join(&file.name));
        let rocks = &writer.store.rocks;
        rocks.ingest(table.unwrap().name, files.collect()).unwrap();
    }
    drop(writer);
    place.reads(&place.before);
    (place, intent)
}

#[test]
fn sorted_files_without_an_intent_are_undone() {
    let place = TestBank::new();
    let writer = place.writer();
    let (changes, counters) = TestBank::changes(&writer, 0);
    let meta = CommitMeta::preserving(&writer, counters);
    writer.write_load(changes, meta).unwrap();
    drop(writer);
    place.reads(&place.before);
    place.opens_as(&place.before);
}

#[test]
fn a_load_is_finished_whatever_was_ingested() {
    let after = TestBank::after();
    for ingested in 0..=3 {
        let (place, _) = interrupted(ingested);
        place.opens_as(&after);
    }
}

/// All files of a folder with their bytes.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for name in names(folder) {
        let path = folder.join(&name);
        if path.is_dir() {
            all.extend(
                contents(&path)
                    .into_iter()
                    .map(|(file, bytes)| (format!("{name}/{file}"), bytes)),
            );
        } else {
            all.push((name, fs::read(path).unwrap()));
        }
    }
    all
}

/// Damages a file of a load, given its path.
type Damage = fn(&Path);

#[test]
fn a_load_that_lost_a_file_is_never_published() {
    let damages: [(&str, Damage); 6] = [
        ("is missing", |path| fs::remove_file(path).unwrap()),
        ("is missing", |path| {
            fs::remove_dir_all(path.parent().unwrap().parent().unwrap()).unwrap();
        }),
        ("bytes, expected", |path| {
            let bytes = fs::read(path).unwrap();
            // Another file, so that nothing that was ingested changes.
            fs::remove_file(path).unwrap();
            fs::write(path, &bytes[..bytes.len() - 1]).unwrap();
        }),
        ("checksum", |path| {
            let mut bytes = fs::read(path).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::remove_file(path).unwrap();
            fs::write(path, bytes).unwrap();
        }),
        ("not a regular file", |path| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        }),
        ("not a regular file", |path| {
            let elsewhere = path.with_extension("elsewhere");
            fs::rename(path, &elsewhere).unwrap();
            std::os::unix::fs::symlink(elsewhere, path).unwrap();
        }),
    ];
    for (ingested, file) in [(0, 0), (1, 0), (2, 2), (3, 1)] {
        let (prepared, intent) = interrupted(ingested);
        for (expected, damage) in damages {
            let place = prepared.copy();
            let name = format!("loads/{}/{}", intent.folder, intent.files[file].name);
            damage(&place.path().join(&name));
            let published = place.path().join("published");
            let good = contents(&published);

            let refused = Writer::open(&place.path(), false, &Unwatched)
                .err()
                .unwrap();
            assert!(refused.is_damage(), "{refused}");
            assert!(refused.to_string().contains(expected), "{refused}");
            assert!(contents(&published) == good);
            place.reads(&place.before);
        }
    }
}
