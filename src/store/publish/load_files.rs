//! The sorted files of a bulk load: the changes in order, split into files that are written in parallel.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::thread::{self, ScopedJoinHandle};

use crate::disk::verified_copy::hash_file;
use crate::error::StoreError;
use crate::rocks::database::Database;
use crate::rocks::options::{KeyLength, LONG_KEY_BLOCK_BYTES};
use crate::sorter::shared_prefix_len;
use crate::tables::UNDO;
use crate::tables::changes::{SortedChanges, TableChange};
use crate::tables::records::LoadFile;
use crate::tables::undo_capture::UndoCapture;
use seedbank_algorithms::watch::Unwatched;

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

/// The changes of one file, all of one table.
struct Slice {
    table: &'static str,
    path: PathBuf,
    /// The concatenated keys and values.
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
        describe(self.table, &self.path)
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

/// Splits a sequence of changes into files, at the ends of tables and of full files.
#[derive(Default)]
struct Stream {
    open: Option<Slice>,
    /// The table of the last file, and the number of that file.
    last: Option<(&'static str, u32)>,
}

impl Stream {
    /// Adds a change; returns the previous file if it is complete.
    fn push(&mut self, place: &Path, change: TableChange<'_>) -> Option<Slice> {
        let (table, key, value) = change;
        let is_full = |slice: &mut Slice| slice.table != table || slice.memory() >= FILE_BYTES;
        let full = self.open.take_if(is_full);
        let slice = self.open.get_or_insert_with(|| Slice {
            table,
            path: place.join(next_name(table, &mut self.last)),
            bytes: Vec::new(),
            lengths: Vec::new(),
            index: IndexEstimate::default(),
        });
        slice.push(key, value);
        full
    }
}

/// Describes a sorted file that was written and synced.
///
/// Cost: reads the file.
pub(crate) fn describe(table: &str, path: &Path) -> Result<LoadFile, StoreError> {
    let content = hash_file(path, &Unwatched)?;
    let name = path.file_name().unwrap_or_default();
    Ok(LoadFile {
        table: table.to_owned(),
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
        // Undo entries come in the order of the changes, so they form a second sorted stream.
        while let Some((table, key, value)) = changes.next_change()? {
            if let Some(capture) = &mut capture
                && let Some((key, previous)) = capture.capture(table, key)?
            {
                start(undo.push(place, (UNDO.name, key, Some(previous))))?;
            }
            start(entries.push(place, (table, key, value)))?;
        }
        start(entries.open.take())?;
        start(undo.open.take())?;
        while writers.join_first()? {}
        Ok::<_, StoreError>(writers.written)
    })?;
    // Threads end in any order; the intent groups files by table.
    files.sort_unstable();
    Ok(files)
}

/// Returns the name of the next file of a table.
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
            if let Some(full) = stream.push(Path::new(""), change) {
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
