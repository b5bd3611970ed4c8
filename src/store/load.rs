//! The sorted files of a bulk load: cut from the changes in order, written side by side.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::thread::{self, ScopedJoinHandle};

use super::changes::{Ordered, TableChange};
use super::content::content_of;
use super::error::StoreError;
use super::keep::Keeper;
use super::records::LoadFile;
use super::rocks::Rocks;
use super::tables::UNDO;
use seedbank_algorithms::watch::Unwatched;

/// About how many bytes of keys and values a sorted file holds, before compression. As many are
/// held in memory for each file that is being written.
const FILE_BYTES: usize = 32 << 20;

/// The part of a key's length that takes memory once, with the key. A longer key stands in the file's
/// index too, which is held until the file is finished, in pieces and as a whole.
const SHORT_KEY: usize = 1 << 10;
const LONG_KEY_COPIES: usize = 4;

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
    /// About how many bytes of memory its index takes while the file is written.
    index: usize,
}

impl Slice {
    fn push(&mut self, key: &[u8], value: Option<&[u8]>) {
        self.lengths.push((key.len(), value.map(<[u8]>::len)));
        self.index += LONG_KEY_COPIES * key.len().saturating_sub(SHORT_KEY);
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value.unwrap_or_default());
    }

    /// Writes the file, and reads it back to describe it.
    fn write(&self, rocks: &Rocks) -> Result<LoadFile, StoreError> {
        let mut file = rocks.sorted_file(&self.path)?;
        let mut rest = self.bytes.as_slice();
        for &(key_length, value_length) in &self.lengths {
            let (key, after) = rest.split_at(key_length);
            let (value, after) = after.split_at(value_length.unwrap_or(0));
            file.push((key, value_length.map(|_| value)))?;
            rest = after;
        }
        file.finish()?;
        described(self.table, &self.path)
    }
}

/// Files that are being written.
struct Writers<'scope> {
    running: VecDeque<ScopedJoinHandle<'scope, Result<LoadFile, StoreError>>>,
    written: Vec<LoadFile>,
    most: usize,
    place: PathBuf,
}

impl Writers<'_> {
    /// Waits until fewer than `most` files are being written.
    fn wait(&mut self, most: usize) -> Result<(), StoreError> {
        while self.running.len() >= most.max(1) {
            if let Some(first) = self.running.pop_front() {
                let ended = |_| StoreError::ended_early("write to", &self.place);
                self.written.push(first.join().map_err(ended)??);
            }
        }
        Ok(())
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
        let is_full = |slice: &mut Slice| {
            slice.table != table || slice.bytes.len() + slice.index >= FILE_BYTES
        };
        let full = self.open.take_if(is_full);
        let slice = self.open.get_or_insert_with(|| Slice {
            table,
            path: place.join(next_name(table, &mut self.last)),
            bytes: Vec::new(),
            lengths: Vec::new(),
            index: 0,
        });
        slice.push(key, value);
        full
    }
}

/// Describes a sorted file that is written and synced.
///
/// Cost: reads the file.
pub(super) fn described(table: &str, path: &Path) -> Result<LoadFile, StoreError> {
    let content = content_of(path, &Unwatched)?;
    let name = path.file_name().unwrap_or_default();
    Ok(LoadFile {
        table: table.to_owned(),
        name: name.to_string_lossy().into_owned(),
        bytes: content.bytes,
        hash: *content.hash.as_bytes(),
    })
}

/// Writes the changes as sorted files into `place`, and what `keeper` keeps of what they overwrite.
/// Where one file ends and the next begins depends on the changes alone.
pub(super) fn write_files(
    rocks: &Rocks,
    place: &Path,
    mut changes: Ordered,
    mut keeper: Option<&mut Keeper<'_>>,
) -> Result<Vec<LoadFile>, StoreError> {
    let (mut written, mut kept) = (Stream::default(), Stream::default());
    let mut files = thread::scope(|scope| {
        let mut writers = Writers {
            running: VecDeque::new(),
            written: Vec::new(),
            most: rayon::current_num_threads().min(MOST_WRITERS),
            place: place.to_owned(),
        };
        let mut begin = |slice: Option<Slice>| {
            let Some(slice) = slice else {
                return Ok(());
            };
            writers.wait(writers.most)?;
            let work = move || slice.write(rocks);
            let begun = thread::Builder::new().spawn_scoped(scope, work);
            let begun = begun.map_err(StoreError::io("write to", place))?;
            writers.running.push_back(begun);
            Ok::<_, StoreError>(())
        };
        while let Some((table, key, value)) = changes.next_change()? {
            if let Some(keeper) = &mut keeper
                && let Some((key, former)) = keeper.former(table, key)?
            {
                begin(kept.push(place, (UNDO.name, key, Some(former))))?;
            }
            begin(written.push(place, (table, key, value)))?;
        }
        begin(written.open.take())?;
        begin(kept.open.take())?;
        writers.wait(1)?;
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
