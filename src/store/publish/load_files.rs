//! The sorted files of a bulk load: cut from the changes in order, written side by side.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::thread::{self, ScopedJoinHandle};

use crate::disk::verified_copy::hash_file;
use crate::error::StoreError;
use crate::rocks::database::Database;
use crate::rocks::options::{KeyLength, LONG_KEY_BLOCK_BYTES};
use crate::sorter::shared;
use crate::tables::UNDO;
use crate::tables::changes::{SortedChanges, TableChange};
use crate::tables::records::LoadFile;
use crate::tables::undo_capture::UndoCapture;
use seedbank_algorithms::watch::Unwatched;

/// About how many bytes of keys and values a sorted file holds, before compression. As many are
/// held in memory for each file that is being written.
const FILE_BYTES: usize = 32 << 20;

/// Of a shorter key it does not count what the file's index takes.
const SHORT_KEY: usize = 1 << 10;

/// How often a key of an index stands in memory until the file is finished: with and without its version,
/// each with a copy to compare the next one with, and by the piece of the index that it ends.
const INDEX_COPIES: usize = 5;

/// The fewest bytes of a block whose keys are long, without its first key: a block is closed before a key
/// that it has no room for.
const LEAST_LONG_KEY_BLOCK: usize = LONG_KEY_BLOCK_BYTES - 2 * (64 << 10);

/// How many keys of a block are written without what they share with the key before: one of so many.
const RESTART: usize = 16;

/// The most files that are written at the same time.
const MOST_WRITERS: usize = 3;

/// Changes of one table that go into one file.
struct Slice {
    table: &'static str,
    path: PathBuf,
    /// Keys and values, one after another.
    bytes: Vec<u8>,
    /// The length of each key, and of its value unless the key is deleted, in bytes.
    lengths: Vec<(usize, Option<usize>)>,
    index: Index,
}

/// What is known of the index of a file before the file is written.
///
/// The index has a key for each block: the shortest one between the last of the block and the first of the
/// next, which is hardly longer than what these two share.
#[derive(Default)]
struct Index {
    /// The most bytes in memory of an index of small blocks: each key has one to itself.
    of_small_blocks: usize,
    /// The bytes of all blocks, uncompressed.
    packed: usize,
    /// The length of the longest key between two keys, and that of the longest key, which may be the last.
    longest_between: usize,
    longest: usize,
}

impl Index {
    /// Counts a key that follows another one, with its value.
    fn count(&mut self, number: usize, previous: &[u8], key: &[u8], value: usize) {
        let mut alone = key.len();
        if key.len() > SHORT_KEY {
            let shared = shared(previous, key);
            if !number.is_multiple_of(RESTART) {
                alone -= shared;
            }
            self.of_small_blocks += INDEX_COPIES * shared.saturating_sub(SHORT_KEY);
            self.longest_between = self.longest_between.max(shared + 2);
            self.longest = self.longest.max(key.len());
        }
        self.packed += alone + value;
    }

    /// In blocks of which size the file is to be written.
    const fn keys(&self) -> KeyLength {
        if self.of_small_blocks <= FILE_BYTES / 8 {
            KeyLength::Short
        } else {
            KeyLength::Long
        }
    }

    /// The most bytes of memory that the index takes while the file is written.
    const fn memory(&self) -> usize {
        let between = match self.keys() {
            KeyLength::Short => self.of_small_blocks,
            KeyLength::Long => {
                INDEX_COPIES * self.longest_between * (self.packed / LEAST_LONG_KEY_BLOCK)
            }
        };
        between + INDEX_COPIES * self.longest
    }
}

impl Slice {
    fn push(&mut self, key: &[u8], value: Option<&[u8]>) {
        let (last_key, last_value) = self.lengths.last().copied().unwrap_or_default();
        let last = self.bytes.len() - last_key - last_value.unwrap_or(0);
        let previous = &self.bytes[last..last + last_key];
        let lengths = (key.len(), value.map(<[u8]>::len));
        self.index
            .count(self.lengths.len(), previous, key, lengths.1.unwrap_or(0));
        self.lengths.push(lengths);
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value.unwrap_or_default());
    }

    /// About how many bytes of memory it takes until it is written.
    const fn memory(&self) -> usize {
        self.bytes.len() + self.index.memory()
    }

    /// Writes the file, and reads it back to describe it.
    fn write(&self, rocks: &Database) -> Result<LoadFile, StoreError> {
        let mut file = rocks.sorted_file(&self.path, self.index.keys())?;
        let mut rest = self.bytes.as_slice();
        for &(key_length, value_length) in &self.lengths {
            let (key, after) = rest.split_at(key_length);
            let (value, after) = after.split_at(value_length.unwrap_or(0));
            file.push(key, value_length.map(|_| value))?;
            rest = after;
        }
        file.finish()?;
        described(self.table, &self.path)
    }
}

/// Files that are being written.
struct Writers<'scope> {
    /// The bytes of memory that each takes, and the thread that writes it.
    running: VecDeque<(
        usize,
        ScopedJoinHandle<'scope, Result<LoadFile, StoreError>>,
    )>,
    written: Vec<LoadFile>,
    /// The most files that are written at the same time, and the most bytes that they take together.
    most: usize,
    memory: usize,
    place: PathBuf,
}

impl Writers<'_> {
    /// Waits until there is room for a file that takes so many bytes; one file is always written.
    fn make_room(&mut self, bytes: usize) -> Result<(), StoreError> {
        loop {
            let taken: usize = self.running.iter().map(|(bytes, _)| *bytes).sum();
            let is_full = self.running.len() >= self.most || taken + bytes > self.memory;
            if !is_full || !self.join_first()? {
                return Ok(());
            }
        }
    }

    /// Waits until the file that was begun first is written; `false` where there is none.
    fn join_first(&mut self) -> Result<bool, StoreError> {
        let Some((_, first)) = self.running.pop_front() else {
            return Ok(false);
        };
        let ended = |_| StoreError::thread_panicked("write to", &self.place);
        self.written.push(first.join().map_err(ended)??);
        Ok(true)
    }
}

/// Changes on their way into files: one after another, cut where a table or a file ends.
#[derive(Default)]
struct Stream {
    open: Option<Slice>,
    /// The table of the last file, and how many files it has.
    last: Option<(&'static str, u32)>,
}

impl Stream {
    /// Adds a change; returns a slice that is complete.
    fn push(&mut self, place: &Path, (table, key, value): TableChange<'_>) -> Option<Slice> {
        let is_full = |slice: &mut Slice| slice.table != table || slice.memory() >= FILE_BYTES;
        let full = self.open.take_if(is_full);
        let slice = self.open.get_or_insert_with(|| Slice {
            table,
            path: place.join(next_name(table, &mut self.last)),
            bytes: Vec::new(),
            lengths: Vec::new(),
            index: Index::default(),
        });
        slice.push(key, value);
        full
    }
}

/// Describes a sorted file that is written and synced.
///
/// Cost: reads the file.
pub(crate) fn described(table: &str, path: &Path) -> Result<LoadFile, StoreError> {
    let content = hash_file(path, &Unwatched)?;
    let name = path.file_name().unwrap_or_default();
    Ok(LoadFile {
        table: table.to_owned(),
        name: name.to_string_lossy().into_owned(),
        bytes: content.bytes,
        hash: *content.hash.as_bytes(),
    })
}

/// Writes the changes as sorted files into `place`, and what `capture` keeps of what they overwrite.
/// Where one file ends and the next begins depends on the changes alone; `memory` bounds the files that
/// are written at the same time.
pub(crate) fn write_files(
    rocks: &Database,
    place: &Path,
    mut changes: SortedChanges,
    mut capture: Option<&mut UndoCapture<'_>>,
    memory: usize,
) -> Result<Vec<LoadFile>, StoreError> {
    let (mut written, mut kept) = (Stream::default(), Stream::default());
    let mut files = thread::scope(|scope| {
        let mut writers = Writers {
            running: VecDeque::new(),
            written: Vec::new(),
            most: rayon::current_num_threads().min(MOST_WRITERS),
            memory,
            place: place.to_owned(),
        };
        let mut begin = |slice: Option<Slice>| {
            let Some(slice) = slice else {
                return Ok(());
            };
            let bytes = slice.memory();
            writers.make_room(bytes)?;
            let work = move || slice.write(rocks);
            let begun = thread::Builder::new().spawn_scoped(scope, work);
            let begun = begun.map_err(StoreError::io("write to", place))?;
            writers.running.push_back((bytes, begun));
            Ok::<_, StoreError>(())
        };
        while let Some((table, key, value)) = changes.next_change()? {
            if let Some(capture) = &mut capture
                && let Some((key, former)) = capture.capture(table, key)?
            {
                begin(kept.push(place, (UNDO.name, key, Some(former))))?;
            }
            begin(written.push(place, (table, key, value)))?;
        }
        begin(written.open.take())?;
        begin(kept.open.take())?;
        while writers.join_first()? {}
        Ok::<_, StoreError>(writers.written)
    })?;
    // Files of both streams end in turn; those of a table are ingested together.
    files.sort_unstable();
    Ok(files)
}

/// The name of the table's next file.
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

    /// How many bytes of keys a file holds, and in which blocks it is written.
    fn filled(key: impl Fn(usize) -> String) -> (usize, KeyLength) {
        let mut stream = Stream::default();
        for number in 0.. {
            let key = key(number);
            let change = (UNDO.name, key.as_bytes(), Some(&b"1"[..]));
            if let Some(full) = stream.push(Path::new(""), change) {
                let longest = 64 << 10;
                assert!(full.memory() < FILE_BYTES + (1 + INDEX_COPIES) * 2 * longest);
                return (full.bytes.len(), full.index.keys());
            }
        }
        unreachable!("a file is full some time")
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
