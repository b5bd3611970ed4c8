//! Sorting byte strings outside memory.
//!
//! Entries are a key and a value. They are held in one arena until the budget is spent, then
//! written as a sorted, compressed run to an unnamed temporary file; reading merges the runs.
//! Entries of equal keys come out in the order in which they went in, whatever the budget, so
//! results do not depend on it. A small input never touches the disk.
//!
//! Memory: the budget, plus one read buffer per run while merging (runs are merged down to
//! [`FAN_IN`] first). Disk: each entry is written once, and once more for each such merge. Open
//! files: below [`GROUP`] for each power of it in the number of runs, since every so many runs
//! are merged into one as they come; so a small budget costs time and never runs out of files.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rayon::slice::ParallelSliceMut;

use super::error::StoreError;

/// The most runs that are read at the same time.
const FAN_IN: usize = 32;

/// So many runs of one size become one of the next.
const GROUP: usize = 16;

/// The least bytes that are held in memory.
const LEAST_BUDGET: usize = 1 << 10;

/// Bytes that an entry takes beside its key and value.
const ENTRY_OVERHEAD: usize = size_of::<Place>();

#[derive(Clone, Copy)]
struct Place {
    at: usize,
    key: u32,
    value: u32,
}

/// A collection that gives its entries back in key order.
pub struct Sorter {
    folder: PathBuf,
    budget: usize,
    arena: Vec<u8>,
    places: Vec<Place>,
    /// Runs by how often their entries were merged; later runs first, each list in their order.
    runs: Vec<Vec<File>>,
}

impl Sorter {
    /// A sorter that holds about `budget` bytes in memory and puts the rest into `folder`.
    #[must_use]
    pub fn new(folder: &Path, budget: usize) -> Self {
        Self {
            folder: folder.to_path_buf(),
            budget: budget.max(LEAST_BUDGET),
            arena: Vec::new(),
            places: Vec::new(),
            runs: Vec::new(),
        }
    }

    /// Adds an entry.
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        let length = |bytes: &[u8]| {
            u32::try_from(bytes.len()).map_err(|_| StoreError::Full("byte of a record"))
        };
        let (key_length, value_length) = (length(key)?, length(value)?);
        let held = self.arena.len() + self.places.len() * ENTRY_OVERHEAD;
        if !self.places.is_empty() && held + key.len() + value.len() > self.budget {
            self.spill()?;
        }
        self.places.push(Place {
            at: self.arena.len(),
            key: key_length,
            value: value_length,
        });
        self.arena.extend_from_slice(key);
        self.arena.extend_from_slice(value);
        Ok(())
    }

    /// Whether anything was put to disk.
    #[must_use]
    pub fn spilled(&self) -> bool {
        !self.runs.is_empty()
    }

    fn sort(&mut self) {
        let arena = &self.arena;
        // Places ascend with time, so the sort is stable.
        self.places.par_sort_unstable_by(|a, b| {
            key_of(arena, a).cmp(key_of(arena, b)).then(a.at.cmp(&b.at))
        });
    }

    fn spill(&mut self) -> Result<(), StoreError> {
        self.sort();
        let mut run = RunWriter::new(&self.folder)?;
        for place in &self.places {
            let (key, value) = entry_of(&self.arena, place);
            run.push(key, value)?;
        }
        self.arena.clear();
        self.places.clear();
        self.add_run(run.finish()?)
    }

    fn add_run(&mut self, mut run: File) -> Result<(), StoreError> {
        for times in 0.. {
            if times == self.runs.len() {
                self.runs.push(Vec::with_capacity(GROUP));
            }
            let runs = &mut self.runs[times];
            runs.push(run);
            if runs.len() < GROUP {
                break;
            }
            run = merge_runs(std::mem::take(runs), &self.folder)?;
        }
        Ok(())
    }

    /// Ends the collection and gives the entries in key order.
    pub fn finish(mut self) -> Result<Sorted, StoreError> {
        if self.runs.is_empty() {
            self.sort();
            return Ok(Sorted::new(Source::Memory {
                arena: self.arena,
                places: self.places,
                next: 0,
            }));
        }
        if !self.places.is_empty() {
            self.spill()?;
        }
        self.arena = Vec::new();
        self.places = Vec::new();
        // Oldest first, and neighbours are merged, so that equal keys stay in their order.
        let mut runs: Vec<File> = self.runs.into_iter().rev().flatten().collect();
        while runs.len() > FAN_IN {
            let mut merged = Vec::new();
            let mut left = runs.into_iter().peekable();
            while left.peek().is_some() {
                let group: Vec<File> = left.by_ref().take(FAN_IN).collect();
                merged.push(merge_runs(group, &self.folder)?);
            }
            runs = merged;
        }
        Ok(Sorted::new(Source::Disk(Merge::new(runs, &self.folder)?)))
    }
}

/// One run of the entries of several, which are in the order in which they were written.
fn merge_runs(runs: Vec<File>, folder: &Path) -> Result<File, StoreError> {
    let mut merge = Merge::new(runs, folder)?;
    let mut run = RunWriter::new(folder)?;
    while let Some((key, value)) = merge.next()? {
        run.push(key, value)?;
    }
    run.finish()
}

fn key_of<'a>(arena: &'a [u8], place: &Place) -> &'a [u8] {
    &arena[place.at..place.at + place.key as usize]
}

fn entry_of<'a>(arena: &'a [u8], place: &Place) -> (&'a [u8], &'a [u8]) {
    let middle = place.at + place.key as usize;
    (
        &arena[place.at..middle],
        &arena[middle..middle + place.value as usize],
    )
}

/// A key and its value.
pub type Entry<'a> = (&'a [u8], &'a [u8]);

/// The entries of a [`Sorter`], in key order.
pub struct Sorted {
    from: Source,
    peeked: bool,
    key: Vec<u8>,
    value: Vec<u8>,
}

enum Source {
    Memory {
        arena: Vec<u8>,
        places: Vec<Place>,
        next: usize,
    },
    Disk(Merge),
}

impl Sorted {
    fn new(from: Source) -> Self {
        Self {
            from,
            peeked: false,
            key: Vec::new(),
            value: Vec::new(),
        }
    }

    fn advance(&mut self) -> Result<bool, StoreError> {
        let entry = match &mut self.from {
            Source::Memory {
                arena,
                places,
                next,
            } => {
                let entry = places.get(*next).map(|place| entry_of(arena, place));
                *next += 1;
                entry
            }
            Source::Disk(merge) => merge.next()?,
        };
        let Some((key, value)) = entry else {
            return Ok(false);
        };
        self.key.clear();
        self.key.extend_from_slice(key);
        self.value.clear();
        self.value.extend_from_slice(value);
        Ok(true)
    }

    /// The next entry, or `None` after the last.
    pub fn next_entry(&mut self) -> Result<Option<Entry<'_>>, StoreError> {
        if self.peek()?.is_some() {
            self.peeked = false;
            return Ok(Some((&self.key, &self.value)));
        }
        Ok(None)
    }

    /// The key of the next entry, which stays the next.
    pub fn peek(&mut self) -> Result<Option<&[u8]>, StoreError> {
        if !self.peeked {
            self.peeked = self.advance()?;
        }
        Ok(self.peeked.then_some(self.key.as_slice()))
    }

    /// The next entry if its key begins with `prefix`.
    pub fn next_under(&mut self, prefix: &[u8]) -> Result<Option<Entry<'_>>, StoreError> {
        match self.peek()? {
            Some(key) if key.starts_with(prefix) => self.next_entry(),
            _ => Ok(None),
        }
    }
}

/// Writes a run: entries as two lengths, key and value, in a zstd stream.
struct RunWriter {
    out: zstd::Encoder<'static, BufWriter<File>>,
    folder: PathBuf,
}

impl RunWriter {
    fn new(folder: &Path) -> Result<Self, StoreError> {
        let file = tempfile::tempfile_in(folder).map_err(StoreError::io("write to", folder))?;
        // Level 1: runs are read back once, soon.
        let out = zstd::Encoder::new(BufWriter::with_capacity(1 << 18, file), 1)
            .map_err(StoreError::io("write to", folder))?;
        Ok(Self {
            out,
            folder: folder.to_path_buf(),
        })
    }

    fn push(&mut self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        let mut write = || {
            self.out.write_all(&length_bytes(key))?;
            self.out.write_all(&length_bytes(value))?;
            self.out.write_all(key)?;
            self.out.write_all(value)
        };
        write().map_err(StoreError::io("write to", &self.folder))
    }

    fn finish(self) -> Result<File, StoreError> {
        let finish = || {
            let mut file = self
                .out
                .finish()?
                .into_inner()
                .map_err(io::IntoInnerError::into_error)?;
            file.seek(SeekFrom::Start(0))?;
            Ok(file)
        };
        finish().map_err(StoreError::io("write to", &self.folder))
    }
}

/// The entry's length; [`Sorter::push`] has refused longer ones.
#[expect(clippy::cast_possible_truncation, reason = "checked when pushed")]
fn length_bytes(bytes: &[u8]) -> [u8; 4] {
    (bytes.len() as u32).to_le_bytes()
}

struct RunReader {
    input: zstd::Decoder<'static, BufReader<File>>,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl RunReader {
    /// Reads the next entry; `false` at the end.
    fn advance(&mut self) -> io::Result<bool> {
        let mut lengths = [0_u8; 8];
        let mut filled = 0;
        while filled < lengths.len() {
            match self.input.read(&mut lengths[filled..])? {
                0 if filled == 0 => return Ok(false),
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                more => filled += more,
            }
        }
        let (of, _) = lengths.as_chunks::<4>();
        self.key.resize(u32::from_le_bytes(of[0]) as usize, 0);
        self.value.resize(u32::from_le_bytes(of[1]) as usize, 0);
        self.input.read_exact(&mut self.key)?;
        self.input.read_exact(&mut self.value)?;
        Ok(true)
    }
}

/// A merge of sorted runs; equal keys come from earlier runs first.
struct Merge {
    readers: Vec<RunReader>,
    heap: BinaryHeap<Reverse<Front>>,
    last: Option<usize>,
    folder: PathBuf,
}

/// A run's next key; ordered by key and then by run.
struct Front {
    key: Vec<u8>,
    run: usize,
}

impl Ord for Front {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key).then(self.run.cmp(&other.run))
    }
}

impl PartialOrd for Front {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Front {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Front {}

impl Merge {
    fn new(runs: Vec<File>, folder: &Path) -> Result<Self, StoreError> {
        let mut merge = Self {
            readers: Vec::with_capacity(runs.len()),
            heap: BinaryHeap::with_capacity(runs.len()),
            last: None,
            folder: folder.to_path_buf(),
        };
        for (run, file) in runs.into_iter().enumerate() {
            let input = zstd::Decoder::with_buffer(BufReader::with_capacity(1 << 17, file))
                .map_err(StoreError::io("read from", folder))?;
            merge.readers.push(RunReader {
                input,
                key: Vec::new(),
                value: Vec::new(),
            });
            merge.refill(run, Vec::new())?;
        }
        Ok(merge)
    }

    fn refill(&mut self, run: usize, mut key: Vec<u8>) -> Result<(), StoreError> {
        let reader = &mut self.readers[run];
        if reader
            .advance()
            .map_err(StoreError::io("read from", &self.folder))?
        {
            key.clear();
            key.extend_from_slice(&reader.key);
            self.heap.push(Reverse(Front { key, run }));
        }
        Ok(())
    }

    fn next(&mut self) -> Result<Option<Entry<'_>>, StoreError> {
        if let Some(run) = self.last.take() {
            self.refill(run, Vec::new())?;
        }
        let Some(Reverse(front)) = self.heap.pop() else {
            return Ok(None);
        };
        self.last = Some(front.run);
        let reader = &self.readers[front.run];
        Ok(Some((&reader.key, &reader.value)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sorted(entries: &[(Vec<u8>, Vec<u8>)], budget: usize) -> Vec<(Vec<u8>, Vec<u8>)> {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::new(folder.path(), 0);
        sorter.budget = budget;
        for (key, value) in entries {
            sorter.push(key, value).unwrap();
        }
        let mut entries = sorter.finish().unwrap();
        let mut all = Vec::new();
        while let Some((key, value)) = entries.next_entry().unwrap() {
            all.push((key.to_vec(), value.to_vec()));
        }
        all
    }

    proptest! {
        /// A stable sort is the judge; small budgets force runs and merges of merges.
        #[test]
        fn any_budget_sorts_stably(
            keys in proptest::collection::vec(proptest::collection::vec(0_u8..3, 0..3), 0..400),
            budget in 1_usize..4000,
        ) {
            let entries: Vec<_> = keys
                .into_iter()
                .enumerate()
                .map(|(number, key)| (key, number.to_string().into_bytes()))
                .collect();
            let mut expected = entries.clone();
            expected.sort_by(|a, b| a.0.cmp(&b.0));
            prop_assert_eq!(sorted(&entries, budget), expected);
        }
    }

    #[test]
    fn entries_under_a_prefix_are_taken_one_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::new(folder.path(), 1 << 20);
        for key in [&b"b1"[..], b"a2", b"a1"] {
            sorter.push(key, b"").unwrap();
        }
        assert!(!sorter.spilled());
        let mut entries = sorter.finish().unwrap();
        assert_eq!(entries.next_under(b"a").unwrap().unwrap().0, b"a1");
        assert_eq!(entries.next_under(b"a").unwrap().unwrap().0, b"a2");
        assert!(entries.next_under(b"a").unwrap().is_none());
        assert_eq!(entries.peek().unwrap().unwrap(), b"b1");
        assert_eq!(entries.next_entry().unwrap().unwrap().0, b"b1");
        assert!(entries.next_entry().unwrap().is_none());
    }
}
