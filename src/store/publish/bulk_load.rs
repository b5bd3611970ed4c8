//! Bulk loads: large sets of changes as sorted files that RocksDB ingests.
//!
//! RocksDB ingests files into one column family at a time, so an atomic load takes several steps:
//!
//! 1. The files are written to `BANK/loads/N/`, synced, read back and hashed.
//! 2. The mark `INGESTING` is created in the folder, so that a lost intent is noticed. Then the *intent* is
//!    written to the database: the size and the hash of every file. From here on the load is finished, now
//!    or at the next open, or abandoned by `repair`.
//! 3. Each family ingests its files. RocksDB gets hard links, so the files stay in `loads/N/`.
//! 4. One synced write stores the counters and deletes the intent.
//! 5. The state is published, and `loads/N/` removed.
//!
//! A process that dies between 2 and 4 leaves the intent and all files. The next writer verifies every file
//! and then ingests all of them again: ingesting a file twice changes nothing, since nobody else writes
//! meanwhile. If a file is missing or differs, it publishes nothing and removes nothing: the published state
//! is intact, and the batch was never acknowledged.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread::{self, ScopedJoinHandle};

use super::commit::{CommitMeta, encode_undo, first_undo_key};
use super::writer::{UndoPolicy, Writer, write_meta};
use crate::disk::{INGESTING, create_fresh, hash_file, is_folder, sync_folder};
use crate::error::StoreError;
use crate::rocks::database::Database;
use crate::rocks::options::{KeyLength, LONG_KEY_BLOCK_BYTES};
use crate::sorter::shared_prefix_len;
use crate::table_info::{Family, TableInfo};
use crate::tables::changes::{Changes, SortedChanges, TableChange, UndoCapture};
use crate::tables::records::undo::UndoRecord;
use crate::tables::records::{Intent, LoadFile, Meta};
use crate::tables::store::Store;
use crate::tables::table::Key;
use crate::tables::{META, MetaKey, UNDO, table_info};
use seedbank_algorithms::watch::{Unwatched, Watch};

/// The name of the sorted file with the record for undoing the last batch.
const UNDO_FILE: &str = "meta-undo.sst";

impl Intent {
    /// Fails if a file of the load is missing or differs from the intent.
    ///
    /// Cost: reads all files.
    pub(crate) fn verify(&self, bank: &Path, watch: &dyn Watch) -> Result<(), StoreError> {
        let bytes = self.files.iter().map(|file| file.bytes).sum();
        watch.stage("verify an interrupted bulk load", Some(bytes));
        for file in &self.files {
            if let Some(what) = file_fault(bank, &self.folder, file, watch)? {
                let name = format!("loads/{}/{}", self.folder, file.name);
                return Err(StoreError::state(
                    "live",
                    format!("an interrupted bulk load cannot be finished: {name} {what}"),
                ));
            }
        }
        Ok(())
    }
}

/// Returns what is wrong with a file of a load; `None` if it is intact.
fn file_fault(
    bank: &Path,
    folder: &str,
    file: &LoadFile,
    watch: &dyn Watch,
) -> Result<Option<String>, StoreError> {
    let place = bank.join("loads").join(folder);
    let path = place.join(&file.name);
    let found = match fs::symlink_metadata(&path) {
        Ok(_) if !is_folder(&place) => return Ok(Some("is behind a symbolic link".to_owned())),
        Ok(found) if !found.is_file() => return Ok(Some("is not a regular file".to_owned())),
        Ok(found) => found,
        Err(e) if is_absent(&e) => return Ok(Some("is missing".to_owned())),
        Err(e) => return Err(StoreError::io("look at", &path)(e)),
    };
    if found.len() != file.bytes {
        let (expected, found) = (file.bytes, found.len());
        return Ok(Some(format!("has {found} bytes, expected {expected}")));
    }
    let content = hash_file(&path, watch)?;
    Ok((*content.hash.as_bytes() != file.hash)
        .then(|| "is damaged: its checksum differs".to_owned()))
}

/// Returns whether a path does not exist, or a part of it is not a folder.
fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

impl Writer {
    /// Writes the changes to sorted files, and returns the intent of loading them.
    pub(crate) fn write_load(
        &self,
        changes: Changes,
        meta: CommitMeta<'_>,
    ) -> Result<Intent, StoreError> {
        let CommitMeta {
            counters,
            lineage,
            undo_policy,
            mut capture,
        } = meta;
        let folder = counters.epoch.to_string();
        let loads = self.bank.join("loads");
        let place = loads.join(&folder);
        fs::create_dir_all(&place).map_err(StoreError::io("make", &place))?;
        let changes = changes.finish()?;
        let memory = self.load_memory.load(Ordering::Relaxed);
        let rocks = &self.store.rocks;
        let mut files = write_files(rocks, &place, changes, capture.as_mut(), memory)?;
        if undo_policy != UndoPolicy::Preserve {
            let path = place.join(UNDO_FILE);
            self.write_undo(&path, capture.map(UndoCapture::finish))?;
            files.push(describe(Family::Meta, &path)?);
        }
        sync_folder(&place).map_err(StoreError::io("write to", &place))?;
        // The name of the folder must be durable before the intent, which refers to it.
        sync_folder(&loads).map_err(StoreError::io("write to", &loads))?;
        Ok(Intent {
            folder,
            files,
            counters,
            lineage,
        })
    }

    fn write_undo(&self, path: &Path, undo: Option<UndoRecord>) -> Result<(), StoreError> {
        let value = encode_undo(undo)?;
        let mut file = self.store.rocks.sorted_file(path, KeyLength::Short)?;
        let mut key = vec![table_info(META.name)?.prefix];
        MetaKey::Undo.put(&mut key);
        file.push(&key, value.as_deref())?;
        file.finish()
    }

    /// Writes the intent of a load whose files are complete and synced.
    pub(crate) fn write_intent(&self, intent: &Intent) -> Result<(), StoreError> {
        write_intent(
            &self.store,
            &self.bank.join("loads").join(&intent.folder),
            intent,
        )
    }

    /// Ingests the files of a load, which were all verified, and completes the state with the last write.
    pub(crate) fn finish_load(&self, intent: &Intent) -> Result<(), StoreError> {
        let place = self.bank.join("loads").join(&intent.folder);
        load_into(&self.store, &place, intent)
    }
}

/// Writes the intent of a load, whose files in `place` are complete and synced, to a database.
pub(crate) fn write_intent(store: &Store, place: &Path, intent: &Intent) -> Result<(), StoreError> {
    // The mark comes first: without it, a lost intent would go unnoticed.
    let mark = place.join(INGESTING);
    create_fresh(&mark)
        .and_then(|_| sync_folder(place))
        .map_err(StoreError::io("write", &mark))?;
    let value = Meta::Intent(intent.clone());
    write_meta(store, &[(MetaKey::Intent, value)], None)
}

/// Ingests the files of a load in `place` into a database with the state before it, and completes the state with the last
/// write.
pub(crate) fn load_into(store: &Store, place: &Path, intent: &Intent) -> Result<(), StoreError> {
    for part in intent.files.chunk_by(|a, b| a.family == b.family) {
        let name = part.first().map_or("", |file| file.family.as_str());
        let unknown = || StoreError::damaged(META.name, "Intent", format!("unknown family {name}"));
        let family = Family::named(name).ok_or_else(unknown)?;
        let files = part.iter().map(|file| place.join(&file.name));
        store.rocks.ingest(family, files.collect())?;
    }
    // A batch replaces the undo record; the ingested files have the new one. Obsolete entries are
    // deleted together with the intent.
    let is_batch = store.counters()?.batch != intent.counters.batch;
    let delete_before = is_batch
        .then(|| store.get(&META, &MetaKey::Undo))
        .transpose()?
        // Of this part alone; only its batch counts.
        .map(|undo| match undo {
            Some(Meta::Undo(undo)) => first_undo_key(Some(undo)),
            _ => first_undo_key(None),
        });
    // The counters of the new state and the missing intent become visible together.
    write_meta(
        store,
        &[
            (MetaKey::Counters, Meta::Counters(intent.counters)),
            (MetaKey::Lineage, Meta::Lineage(intent.lineage)),
        ],
        Some((MetaKey::Intent, delete_before)),
    )
}

// The sorted files of a bulk load: the changes in order, split into files that are written in parallel. A file has the
// changes of tables of one family.

/// The target size of a sorted file in bytes, before compression. Each file that is being written takes as
/// much memory.
const FILE_BYTES: usize = 32 << 20;

/// The length in bytes up to which the index entry of a key is not counted.
const SHORT_KEY: usize = 1 << 10;

/// The number of copies of an index key in memory until the file is finished: with and without its version,
/// each with a copy for comparing the next key, and as the last key of its index partition.
const INDEX_COPIES: usize = 5;

/// The minimum size in bytes of a block of long keys, without its first key: a block is closed before a key
/// that does not fit.
const MIN_LONG_KEY_BLOCK: usize = LONG_KEY_BLOCK_BYTES - 2 * (64 << 10);

/// The restart interval of a block: every such key is stored in full, others without their shared prefix.
const RESTART_INTERVAL: usize = 16;

/// The maximum number of files that are written in parallel.
const MAX_WRITERS: usize = 3;

/// The changes of one file, all of one family.
struct Slice {
    family: Family,
    path: PathBuf,
    /// The concatenated keys, as the family stores them, and values.
    bytes: Vec<u8>,
    /// The length of each key, and of its value unless the key is deleted, in bytes.
    lengths: Vec<(usize, Option<usize>)>,
    index: IndexEstimate,
}

/// An estimate of the index of a file that is not written yet.
///
/// The index has a separator for each block: the shortest key between the last key of the block and the
/// first key of the next block, which is little longer than their shared prefix.
#[derive(Default)]
struct IndexEstimate {
    /// The maximum memory in bytes with small blocks, of one key each.
    with_small_blocks: usize,
    /// The uncompressed size of all blocks in bytes.
    block_bytes: usize,
    /// The length of the longest separator.
    longest_separator: usize,
    /// The length of the longest key.
    longest_key: usize,
}

impl IndexEstimate {
    /// Adds a key that follows `previous`, and the length of its value.
    fn add(&mut self, number: usize, previous: &[u8], key: &[u8], value: usize) {
        let mut stored = key.len();
        if key.len() > SHORT_KEY {
            let shared = shared_prefix_len(previous, key);
            if !number.is_multiple_of(RESTART_INTERVAL) {
                stored -= shared;
            }
            self.with_small_blocks += INDEX_COPIES * shared.saturating_sub(SHORT_KEY);
            self.longest_separator = self.longest_separator.max(shared + 2);
            self.longest_key = self.longest_key.max(key.len());
        }
        self.block_bytes += stored + value;
    }

    /// Chooses the block size for the file.
    const fn key_length(&self) -> KeyLength {
        if self.with_small_blocks <= FILE_BYTES / 8 {
            KeyLength::Short
        } else {
            KeyLength::Long
        }
    }

    /// Returns the maximum memory in bytes of the index while the file is written.
    const fn memory(&self) -> usize {
        let between = match self.key_length() {
            KeyLength::Short => self.with_small_blocks,
            KeyLength::Long => {
                INDEX_COPIES * self.longest_separator * (self.block_bytes / MIN_LONG_KEY_BLOCK)
            }
        };
        between + INDEX_COPIES * self.longest_key
    }
}

impl Slice {
    fn push(&mut self, key: &[u8], value: Option<&[u8]>) {
        let (last_key, last_value) = self.lengths.last().copied().unwrap_or_default();
        let last = self.bytes.len() - last_key - last_value.unwrap_or(0);
        let previous = &self.bytes[last..last + last_key];
        let lengths = (key.len(), value.map(<[u8]>::len));
        self.index
            .add(self.lengths.len(), previous, key, lengths.1.unwrap_or(0));
        self.lengths.push(lengths);
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value.unwrap_or_default());
    }

    /// Returns the approximate memory in bytes until the file is written.
    const fn memory(&self) -> usize {
        self.bytes.len() + self.index.memory()
    }

    /// Writes the file, reads it back, and describes it.
    fn write(&self, rocks: &Database) -> Result<LoadFile, StoreError> {
        let mut file = rocks.sorted_file(&self.path, self.index.key_length())?;
        let mut rest = self.bytes.as_slice();
        for &(key_length, value_length) in &self.lengths {
            let (key, after) = rest.split_at(key_length);
            let (value, after) = after.split_at(value_length.unwrap_or(0));
            file.push(key, value_length.map(|_| value))?;
            rest = after;
        }
        file.finish()?;
        describe(self.family, &self.path)
    }
}

/// The threads that write files.
struct Writers<'scope> {
    /// The memory of each file in bytes, and the thread that writes it.
    running: VecDeque<(
        usize,
        ScopedJoinHandle<'scope, Result<LoadFile, StoreError>>,
    )>,
    written: Vec<LoadFile>,
    /// The maximum number of running threads.
    max_running: usize,
    /// The maximum memory in bytes of all running threads.
    memory: usize,
    place: PathBuf,
}

impl Writers<'_> {
    /// Waits until a file with this memory may start. With no running thread it always may.
    fn wait_for_memory(&mut self, bytes: usize) -> Result<(), StoreError> {
        loop {
            let taken: usize = self.running.iter().map(|(bytes, _)| *bytes).sum();
            let is_full = self.running.len() >= self.max_running || taken + bytes > self.memory;
            if !is_full || !self.join_first()? {
                return Ok(());
            }
        }
    }

    /// Waits for the thread that started first; returns `false` if none is running.
    fn join_first(&mut self) -> Result<bool, StoreError> {
        let Some((_, first)) = self.running.pop_front() else {
            return Ok(false);
        };
        let panicked = |_| StoreError::thread_panicked("write to", &self.place);
        self.written.push(first.join().map_err(panicked)??);
        Ok(true)
    }
}

/// Splits a sequence of changes into files, at the ends of families and of full files.
#[derive(Default)]
struct Stream {
    open: Option<Slice>,
    /// The first table of the last file, and the number of that file.
    last: Option<(&'static str, u32)>,
    /// The table of the last change.
    table: Option<&'static TableInfo>,
    /// The last key, as the family stores it.
    key: Vec<u8>,
}

impl Stream {
    /// Adds a change; returns the previous file if it is complete.
    fn push(&mut self, place: &Path, change: TableChange<'_>) -> Result<Option<Slice>, StoreError> {
        let (name, key, value) = change;
        let table = match self.table.filter(|table| table.name == name) {
            Some(table) => table,
            None => table_info(name)?,
        };
        self.table = Some(table);
        let family = table.family;
        let is_full = |slice: &mut Slice| slice.family != family || slice.memory() >= FILE_BYTES;
        let full = self.open.take_if(is_full);
        let slice = self.open.get_or_insert_with(|| Slice {
            family,
            path: place.join(next_name(table.name, &mut self.last)),
            bytes: Vec::new(),
            lengths: Vec::new(),
            index: IndexEstimate::default(),
        });
        self.key.clear();
        self.key.push(table.prefix);
        self.key.extend_from_slice(key);
        slice.push(&self.key, value);
        Ok(full)
    }
}

/// Describes a sorted file that was written and synced.
///
/// Cost: reads the file.
pub(crate) fn describe(family: Family, path: &Path) -> Result<LoadFile, StoreError> {
    let content = hash_file(path, &Unwatched)?;
    let name = path.file_name().unwrap_or_default();
    Ok(LoadFile {
        family: family.name().to_owned(),
        name: name.to_string_lossy().into_owned(),
        bytes: content.bytes,
        hash: *content.hash.as_bytes(),
    })
}

/// Writes the changes to sorted files in `place`, and the previous values that `capture` collects. The
/// changes alone determine the files; `memory` in bytes limits how many are written in parallel.
pub(crate) fn write_files(
    rocks: &Database,
    place: &Path,
    mut changes: SortedChanges,
    mut capture: Option<&mut UndoCapture<'_>>,
    memory: usize,
) -> Result<Vec<LoadFile>, StoreError> {
    let (mut entries, mut undo) = (Stream::default(), Stream::default());
    let mut files = thread::scope(|scope| {
        let mut writers = Writers {
            running: VecDeque::new(),
            written: Vec::new(),
            max_running: rayon::current_num_threads().min(MAX_WRITERS),
            memory,
            place: place.to_owned(),
        };
        let mut start = |slice: Option<Slice>| {
            let Some(slice) = slice else {
                return Ok(());
            };
            let bytes = slice.memory();
            writers.wait_for_memory(bytes)?;
            let work = move || slice.write(rocks);
            let thread = thread::Builder::new().spawn_scoped(scope, work);
            let thread = thread.map_err(StoreError::io("write to", place))?;
            writers.running.push_back((bytes, thread));
            Ok::<_, StoreError>(())
        };
        // Undo entries come in the order of the changes, so they form a second sorted stream. Changes have no entries of
        // this table.
        while let Some((table, key, value)) = changes.next_change()? {
            if let Some(capture) = &mut capture
                && let Some((key, previous)) = capture.capture(table, key)?
            {
                start(undo.push(place, (UNDO.name, key, Some(previous)))?)?;
            }
            start(entries.push(place, (table, key, value))?)?;
        }
        start(entries.open.take())?;
        start(undo.open.take())?;
        while writers.join_first()? {}
        Ok::<_, StoreError>(writers.written)
    })?;
    // Threads end in any order; the intent groups files by family.
    files.sort_unstable();
    Ok(files)
}

/// Returns the name of the next file, which starts with a key of this table.
fn next_name(table: &'static str, last: &mut Option<(&'static str, u32)>) -> String {
    let number = match *last {
        Some((name, number)) if name == table => number.saturating_add(1),
        _ => 0,
    };
    *last = Some((table, number));
    format!("{table}-{number:06}.sst")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fills a file with keys; returns its size in bytes and its block size.
    fn filled(key: impl Fn(usize) -> String) -> (usize, KeyLength) {
        let mut stream = Stream::default();
        for number in 0.. {
            let key = key(number);
            let change = (UNDO.name, key.as_bytes(), Some(&b"1"[..]));
            if let Some(full) = stream.push(Path::new(""), change).unwrap() {
                let longest = 64 << 10;
                assert!(full.memory() < FILE_BYTES + (1 + INDEX_COPIES) * 2 * longest);
                return (full.bytes.len(), full.index.key_length());
            }
        }
        unreachable!("a file fills up")
    }

    #[test]
    fn a_file_holds_less_where_its_index_takes_memory() {
        let (bytes, keys) = filled(|number| format!("{number:09}"));
        assert!(bytes >= FILE_BYTES && keys == KeyLength::Short);
        // Keys that differ early are short in the index.
        let rest = "x".repeat(60_000);
        let (bytes, keys) = filled(|number| format!("{number:09}{rest}"));
        assert!(bytes > FILE_BYTES * 9 / 10 && keys == KeyLength::Short);
        // What keys share is in a block once in a while.
        let (bytes, keys) = filled(|number| format!("{rest}{number:09}"));
        assert!(bytes > FILE_BYTES * 3 / 4 && keys == KeyLength::Long);
        // Pairs of keys share much, and have little in common with others.
        let (bytes, keys) = filled(|number| format!("{:09}{rest}{}", number / 2, number % 2));
        assert!(bytes > FILE_BYTES / 4 && bytes < FILE_BYTES / 2 && keys == KeyLength::Long);
    }
}

#[cfg(test)]
mod bulk_load_tests {
    //! What a process that died in a bulk load leaves, made step by step, and what becomes of it.
    //!
    //! A load whose files are all there is finished, whatever RocksDB had ingested of it. One that lost a
    //! file is never published: readers keep the state before it, byte for byte, and every writer refuses
    //! the bank. What `check` and `repair` make of it is in `tests/storage/faults/loads.rs`.

    use super::*;
    use crate::publish::commit::tests::{TestBank, names};
    use seedbank_algorithms::watch::Unwatched;

    /// A bank with an interrupted bulk load: its intent is written, and its first `ingested` families are ingested.
    fn interrupted(ingested: usize) -> (TestBank, Intent) {
        let place = TestBank::new();
        let writer = place.writer();
        let (changes, counters) = TestBank::changes(&writer, 0);
        let meta = CommitMeta::preserving(&writer, counters);
        let intent = writer.write_load(changes, meta).unwrap();
        writer.write_intent(&intent).unwrap();
        let folder = writer.bank.join("loads").join(&intent.folder);
        let families = intent.files.chunk_by(|a, b| a.family == b.family);
        assert_eq!(families.clone().count(), 2);
        for part in families.take(ingested) {
            let family = Family::named(&part[0].family).unwrap();
            let files = part.iter().map(|file| folder.join(&file.name));
            let rocks = &writer.store.rocks;
            rocks.ingest(family, files.collect()).unwrap();
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
        for ingested in 0..=2 {
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
        for (ingested, file) in [(0, 0), (1, 0), (1, 1), (2, 1)] {
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
}
