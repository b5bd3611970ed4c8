//! External merge sort of byte strings.
//!
//! Entries, a key and a value, are collected in an arena until half of the budget is used. Then a background
//! thread sorts them and writes them as a compressed run to an unnamed temporary file, while the other half
//! fills. Reading merges the runs. The sort is stable whatever the budget, so results do not depend on it. A
//! small input never touches the disk.
//!
//! Memory: the budget, plus one read buffer for each run while merging (runs are merged down to
//! [`FAN_IN`] first). Disk: each entry is written once, and once more for each such merge. Open files: fewer
//! than [`GROUP`] for each power of it in the number of runs, since that many runs are merged into one as they
//! are written; so a small budget takes time, but never too many file descriptors.

use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, JoinHandle};

use rayon::slice::ParallelSliceMut;

use crate::error::StoreError;

/// The maximum number of runs that are read at the same time.
const FAN_IN: usize = 32;

/// The number of runs of one size that are merged into a run of the next size.
const GROUP: usize = 16;

/// The number of bytes that are merged at a time ahead of the reader.
const BLOCK: usize = 256 << 10;

/// The minimum budget in bytes.
const MIN_BUDGET: usize = 1 << 10;

/// The maximum budget in bytes: positions in an arena have 32 bits, and one entry may exceed the budget.
const MAX_BUDGET: usize = 2 << 30;

/// The maximum length of a key and of a value in bytes.
const MAX_LENGTH: usize = 1 << 30;

/// The overhead of an entry in bytes: its position, and the length of its value.
const ENTRY_OVERHEAD: usize = size_of::<EntryPlace>() + size_of::<u32>();

/// The position of an entry in the arena: its key, the length of its value, and its value.
#[derive(Clone, Copy)]
struct EntryPlace {
    /// Decides most comparisons without reading the arena.
    head: Head,
    at: u32,
    key: u32,
}

/// Entries in memory, in insertion order until they are sorted.
#[derive(Default)]
struct Buffer {
    arena: Vec<u8>,
    places: Vec<EntryPlace>,
    /// Whether an entry has a smaller key than the previous one; most callers push in order.
    unordered: bool,
}

impl Buffer {
    fn bytes(&self) -> usize {
        self.arena.len() + self.places.len() * size_of::<EntryPlace>()
    }

    fn push(&mut self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        let number =
            |number: usize| u32::try_from(number).map_err(|_| StoreError::Full("byte of a record"));
        let head = head_of(key);
        if let Some(last) = self.places.last().filter(|_| !self.unordered) {
            let order = last.head.cmp(&head).then_with(|| self.key(last).cmp(key));
            self.unordered = order == Ordering::Greater;
        }
        self.places.push(EntryPlace {
            head,
            at: number(self.arena.len())?,
            key: number(key.len())?,
        });
        self.arena.extend_from_slice(key);
        self.arena
            .extend_from_slice(&number(value.len())?.to_le_bytes());
        self.arena.extend_from_slice(value);
        Ok(())
    }

    fn key(&self, place: &EntryPlace) -> &[u8] {
        let at = place.at as usize;
        &self.arena[at..at + place.key as usize]
    }

    fn entry(&self, place: &EntryPlace) -> Entry<'_> {
        let (key, rest) = self.arena[place.at as usize..].split_at(place.key as usize);
        let Some((length, rest)) = rest.split_first_chunk::<4>() else {
            return (key, &[]);
        };
        (key, &rest[..u32::from_le_bytes(*length) as usize])
    }

    /// Sorts the entries. Positions break ties, so the sort is stable.
    fn sort(&mut self, parallel: bool) {
        if !std::mem::take(&mut self.unordered) {
            return;
        }
        let mut places = std::mem::take(&mut self.places);
        let order = |a: &EntryPlace, b: &EntryPlace| {
            a.head
                .cmp(&b.head)
                .then_with(|| self.key(a).cmp(self.key(b)))
                .then(a.at.cmp(&b.at))
        };
        if parallel {
            places.par_sort_unstable_by(order);
        } else {
            places.sort_unstable_by(order);
        }
        self.places = places;
    }

    /// Sorts the entries, writes them as a run, and clears the buffer.
    fn write_run(&mut self, folder: &Path) -> Result<File, StoreError> {
        self.sort(false);
        let mut run = RunWriter::new(folder)?;
        for place in &self.places {
            let (key, value) = self.entry(place);
            run.push(key, value)?;
        }
        self.arena.clear();
        self.places.clear();
        run.finish()
    }
}

/// The result of the thread that writes a run: the run, and the cleared buffer.
type Written = (Result<File, StoreError>, Buffer);

/// Collects entries and returns them in key order.
pub struct Sorter {
    folder: PathBuf,
    budget: usize,
    buffer: Buffer,
    /// The thread that writes the other half of the budget.
    writing: Option<JoinHandle<Written>>,
    /// Runs by the number of merges of their entries, each list in insertion order. Runs of a list are earlier
    /// than those of the previous list.
    runs: Vec<Vec<File>>,
}

impl Sorter {
    /// Returns the approximate memory in bytes.
    pub(crate) const fn budget(&self) -> usize {
        self.budget
    }

    /// Creates a sorter that uses about `budget` bytes of memory and spills to files in `folder`.
    #[must_use]
    pub fn new(folder: &Path, budget: usize) -> Self {
        Self {
            folder: folder.to_path_buf(),
            budget: budget.clamp(MIN_BUDGET, MAX_BUDGET),
            buffer: Buffer::default(),
            writing: None,
            runs: Vec::new(),
        }
    }

    /// Adds an entry.
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        if key.len() > MAX_LENGTH || value.len() > MAX_LENGTH {
            return Err(StoreError::Full("byte of a record"));
        }
        let more = key.len() + value.len() + ENTRY_OVERHEAD;
        if !self.buffer.places.is_empty() && self.buffer.bytes() + more > self.budget / 2 {
            self.spill()?;
        }
        self.buffer.push(key, value)
    }

    /// Adds the entries of another sorter. They come after equal keys of this one.
    ///
    /// Cost: entries that the other one holds in memory are copied, or written as a run.
    pub fn append(&mut self, mut other: Self) -> Result<(), StoreError> {
        if !other.spilled() {
            for place in &other.buffer.places {
                let (key, value) = other.buffer.entry(place);
                self.push(key, value)?;
            }
            return Ok(());
        }
        if !self.buffer.places.is_empty() {
            self.spill()?;
        }
        drop(self.wait()?);
        if !other.buffer.places.is_empty() {
            other.spill()?;
        }
        drop(other.wait()?);
        for run in other.runs.into_iter().rev().flatten() {
            self.add_run(run)?;
        }
        Ok(())
    }

    /// Returns whether anything was written to disk.
    #[must_use]
    pub fn spilled(&self) -> bool {
        self.writing.is_some() || !self.runs.is_empty()
    }

    /// Writes the buffered entries as a run, in a background thread unless there is a single thread.
    fn spill(&mut self) -> Result<(), StoreError> {
        let other = self.wait()?;
        let mut full = std::mem::replace(&mut self.buffer, other);
        if rayon::current_num_threads() > 1 {
            let folder = self.folder.clone();
            let work = move || (full.write_run(&folder), full);
            let thread = thread::Builder::new().name("sort".to_owned()).spawn(work);
            self.writing = Some(thread.map_err(StoreError::io("sort in", &self.folder))?);
            return Ok(());
        }
        let run = full.write_run(&self.folder)?;
        self.buffer = full;
        self.add_run(run)
    }

    /// Waits for the background thread; returns its cleared buffer.
    fn wait(&mut self) -> Result<Buffer, StoreError> {
        let Some(writing) = self.writing.take() else {
            return Ok(Buffer::default());
        };
        let (run, other) = writing
            .join()
            .map_err(|_| StoreError::thread_panicked("sort in", &self.folder))?;
        self.add_run(run?)?;
        Ok(other)
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

    /// Returns the entries in key order.
    pub fn finish(mut self) -> Result<Sorted, StoreError> {
        if !self.spilled() {
            self.buffer.sort(true);
            let buffer = self.buffer;
            return Ok(Sorted::new(Source::Memory { buffer, next: 0 }));
        }
        if !self.buffer.places.is_empty() {
            self.spill()?;
        }
        drop(self.wait()?);
        self.buffer = Buffer::default();
        // In insertion order, and only neighbours are merged, so that the sort is stable.
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
        let merge = Merge::new(runs, &self.folder)?;
        if rayon::current_num_threads() > 1 {
            return Ok(Sorted::new(Source::Ahead(MergeAhead::new(
                merge,
                &self.folder,
            )?)));
        }
        Ok(Sorted::new(Source::Disk(merge)))
    }
}

/// A merge in a background thread, ahead of the reader.
struct MergeAhead {
    blocks: Receiver<Result<Buffer, StoreError>>,
    block: Buffer,
    next: usize,
    /// Whether the empty block at the end was received.
    ended: bool,
    folder: PathBuf,
}

impl MergeAhead {
    fn new(mut merge: Merge, folder: &Path) -> Result<Self, StoreError> {
        // One block is being read, one is queued, one is being filled.
        let (sender, blocks) = sync_channel(1);
        let work = move || {
            loop {
                let block = next_block(&mut merge);
                let last = block.as_ref().map_or(true, |block| block.places.is_empty());
                // Sending fails if the reader stopped before the end.
                if sender.send(block).is_err() || last {
                    return;
                }
            }
        };
        thread::Builder::new()
            .name("merge".to_owned())
            .spawn(work)
            .map_err(StoreError::io("read from", folder))?;
        Ok(Self {
            blocks,
            block: Buffer::default(),
            next: 0,
            ended: false,
            folder: folder.to_owned(),
        })
    }

    fn advance(&mut self) -> Result<bool, StoreError> {
        if self.next == self.block.places.len() {
            if self.ended {
                return Ok(false);
            }
            // A thread that ended without sending the last block has lost entries.
            let block = self.blocks.recv();
            self.block =
                block.map_err(|_| StoreError::thread_panicked("read from", &self.folder))??;
            self.next = 0;
            if self.block.places.is_empty() {
                self.ended = true;
                return Ok(false);
            }
        }
        self.next += 1;
        Ok(true)
    }
}

/// Returns the next entries of a merge; empty at the end.
fn next_block(merge: &mut Merge) -> Result<Buffer, StoreError> {
    let mut block = Buffer::default();
    while block.bytes() < BLOCK && merge.advance()? {
        let (key, value) = merge.entry();
        block.push(key, value)?;
    }
    Ok(block)
}

/// The entries of a [`Sorter`], in key order.
pub struct Sorted {
    from: Source,
    peeked: bool,
}

enum Source {
    /// The current entry is the one before `next`.
    Memory {
        buffer: Buffer,
        next: usize,
    },
    Disk(Merge),
    Ahead(MergeAhead),
}

impl Sorted {
    fn new(from: Source) -> Self {
        Self {
            from,
            peeked: false,
        }
    }

    fn advance(&mut self) -> Result<bool, StoreError> {
        match &mut self.from {
            Source::Memory { buffer, next } => {
                let has_next = *next < buffer.places.len();
                *next += usize::from(has_next);
                Ok(has_next)
            }
            Source::Disk(merge) => merge.advance(),
            Source::Ahead(ahead) => ahead.advance(),
        }
    }

    fn entry(&self) -> Entry<'_> {
        match &self.from {
            Source::Memory { buffer, next } => buffer.entry(&buffer.places[*next - 1]),
            Source::Disk(merge) => merge.entry(),
            Source::Ahead(ahead) => ahead.block.entry(&ahead.block.places[ahead.next - 1]),
        }
    }

    /// Returns the next entry; `None` after the last.
    pub fn next_entry(&mut self) -> Result<Option<Entry<'_>>, StoreError> {
        if self.peek()?.is_none() {
            return Ok(None);
        }
        self.peeked = false;
        Ok(Some(self.entry()))
    }

    /// Returns the key of the next entry without advancing; `None` after the last.
    pub fn peek(&mut self) -> Result<Option<&[u8]>, StoreError> {
        if !self.peeked {
            self.peeked = self.advance()?;
        }
        Ok(self.peeked.then(|| self.entry().0))
    }

    /// Returns the next entry if its key starts with `prefix`.
    pub fn next_under(&mut self, prefix: &[u8]) -> Result<Option<Entry<'_>>, StoreError> {
        match self.peek()? {
            Some(key) if key.starts_with(prefix) => self.next_entry(),
            _ => Ok(None),
        }
    }
}

/// A key and its value.
pub type Entry<'a> = (&'a [u8], &'a [u8]);

/// The first 16 bytes of a key as two big-endian numbers; a shorter key is padded with zeros.
type Head = [u64; 2];

fn head_of(key: &[u8]) -> Head {
    let mut bytes = [0_u8; 16];
    let length = key.len().min(16);
    bytes[..length].copy_from_slice(&key[..length]);
    let both = u128::from_be_bytes(bytes);
    [low(both >> 64), low(both)]
}

#[expect(clippy::cast_possible_truncation, reason = "only the low half is used")]
fn low(both: u128) -> u64 {
    both as u64
}

// Sorted runs on disk, and merges of them.
//
// An entry is the length of the prefix that its key shares with the previous key, the length of the rest of
// the key, the length of the value (all LEB128), the rest of the key, and the value, in a zstd stream. Keys
// ascend, so they share long prefixes, and little is left to compress.

/// The number of bytes that are compressed or decompressed at a time.
const BUFFER: usize = 64 << 10;

/// The binary logarithm of the compression window in bytes. Each run that is read needs as much memory.
const WINDOW_LOG: u32 = 17;

/// The maximum size in bytes of the three numbers before an entry.
const MAX_HEADER: usize = 15;

/// Writes a run.
struct RunWriter {
    out: zstd::Encoder<'static, File>,
    folder: PathBuf,
    buffer: Vec<u8>,
    last: Vec<u8>,
}

impl RunWriter {
    fn new(folder: &Path) -> Result<Self, StoreError> {
        let file = tempfile::tempfile_in(folder).map_err(StoreError::io("write to", folder))?;
        // A fast level, since runs are read once and soon.
        let mut out = zstd::Encoder::new(file, -3).map_err(StoreError::io("write to", folder))?;
        out.window_log(WINDOW_LOG)
            .map_err(StoreError::io("write to", folder))?;
        Ok(Self {
            out,
            folder: folder.to_path_buf(),
            buffer: Vec::with_capacity(BUFFER),
            last: Vec::new(),
        })
    }

    fn push(&mut self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        let shared = shared_prefix_len(&self.last, key);
        for number in [shared, key.len() - shared, value.len()] {
            put_number(number, &mut self.buffer);
        }
        self.buffer.extend_from_slice(&key[shared..]);
        self.buffer.extend_from_slice(value);
        self.last.truncate(shared);
        self.last.extend_from_slice(&key[shared..]);
        if self.buffer.len() >= BUFFER {
            self.write()?;
        }
        Ok(())
    }

    fn write(&mut self) -> Result<(), StoreError> {
        self.out
            .write_all(&self.buffer)
            .map_err(StoreError::io("write to", &self.folder))?;
        self.buffer.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<File, StoreError> {
        self.write()?;
        let finish = || {
            let mut file = self.out.finish()?;
            file.seek(SeekFrom::Start(0))?;
            Ok(file)
        };
        finish().map_err(StoreError::io("write to", &self.folder))
    }
}

/// Returns the length of the common prefix of two keys.
pub(crate) fn shared_prefix_len(one: &[u8], other: &[u8]) -> usize {
    let (ones, _) = one.as_chunks::<8>();
    let (others, _) = other.as_chunks::<8>();
    let words = ones.iter().zip(others).take_while(|(a, b)| a == b).count();
    let from = words * 8;
    let bytes = one[from..].iter().zip(&other[from..]);
    from + bytes.take_while(|(a, b)| a == b).count()
}

fn put_number(mut number: usize, out: &mut Vec<u8>) {
    loop {
        let low = number.to_le_bytes()[0] & 0x7f;
        number >>= 7;
        if number == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

/// Reads a run.
struct RunReader {
    input: zstd::Decoder<'static, BufReader<File>>,
    buffer: Vec<u8>,
    /// The unread part of the buffer.
    unread: Range<usize>,
    ended: bool,
    head: Head,
    key: Vec<u8>,
    /// The range of the value in the buffer.
    value: Range<usize>,
}

impl RunReader {
    fn new(file: File) -> io::Result<Self> {
        Ok(Self {
            input: zstd::Decoder::with_buffer(BufReader::with_capacity(BUFFER, file))?,
            buffer: vec![0; BUFFER],
            unread: 0..0,
            ended: false,
            head: Head::default(),
            key: Vec::new(),
            value: 0..0,
        })
    }

    /// Reads the next entry; `false` at the end.
    fn advance(&mut self) -> io::Result<bool> {
        self.fill(MAX_HEADER)?;
        if self.unread.is_empty() {
            return Ok(false);
        }
        let shared = self.number()?;
        let rest = self.number()?;
        let value = self.number()?;
        self.fill(rest + value)?;
        if self.unread.len() < rest + value || shared > self.key.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let middle = self.unread.start + rest;
        self.key.truncate(shared);
        self.key
            .extend_from_slice(&self.buffer[self.unread.start..middle]);
        self.value = middle..middle + value;
        self.unread.start = self.value.end;
        self.head = head_of(&self.key);
        Ok(true)
    }

    /// Buffers `wanted` bytes, or fewer at the end of the run.
    fn fill(&mut self, wanted: usize) -> io::Result<()> {
        if self.unread.len() >= wanted || self.ended {
            return Ok(());
        }
        self.buffer.copy_within(self.unread.clone(), 0);
        self.unread = 0..self.unread.len();
        if self.buffer.len() < wanted {
            self.buffer.resize(wanted, 0);
        }
        while self.unread.end < wanted {
            match self.input.read(&mut self.buffer[self.unread.end..]) {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(read) => self.unread.end += read,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    fn number(&mut self) -> io::Result<usize> {
        let mut number = 0;
        for (place, byte) in self.buffer[self.unread.clone()].iter().take(5).enumerate() {
            number |= usize::from(byte & 0x7f) << (7 * place);
            if byte & 0x80 == 0 {
                self.unread.start += place + 1;
                return Ok(number);
            }
        }
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

/// A merge of sorted runs. Equal keys come in the order of the runs.
struct Merge {
    readers: Vec<RunReader>,
    /// A heap of the readers with an entry; the entry of the first one comes next.
    heap: Vec<usize>,
    /// Whether the entry of the first reader is the current one.
    is_current: bool,
    folder: PathBuf,
}

impl Merge {
    fn new(runs: Vec<File>, folder: &Path) -> Result<Self, StoreError> {
        let mut merge = Self {
            readers: Vec::with_capacity(runs.len()),
            heap: Vec::with_capacity(runs.len()),
            is_current: false,
            folder: folder.to_path_buf(),
        };
        for file in runs {
            let failed = StoreError::io("read from", folder);
            let mut reader = RunReader::new(file).map_err(failed)?;
            if reader
                .advance()
                .map_err(StoreError::io("read from", folder))?
            {
                merge.heap.push(merge.readers.len());
            }
            merge.readers.push(reader);
        }
        for at in (0..merge.heap.len() / 2).rev() {
            merge.sift_down(at);
        }
        Ok(merge)
    }

    /// Advances to the next entry; returns `false` at the end.
    fn advance(&mut self) -> Result<bool, StoreError> {
        if std::mem::replace(&mut self.is_current, true)
            && let Some(&first) = self.heap.first()
        {
            let more = self.readers[first]
                .advance()
                .map_err(StoreError::io("read from", &self.folder))?;
            if !more {
                self.heap.swap_remove(0);
            }
            self.sift_down(0);
        }
        Ok(!self.heap.is_empty())
    }

    /// Returns the current entry, after [`Merge::advance`] returned `true`.
    fn entry(&self) -> Entry<'_> {
        self.heap.first().map_or((&[], &[]), |first| {
            let reader = &self.readers[*first];
            (&reader.key, &reader.buffer[reader.value.clone()])
        })
    }

    fn sift_down(&mut self, mut at: usize) {
        loop {
            let mut least = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < self.heap.len() && self.is_before(self.heap[child], self.heap[least]) {
                    least = child;
                }
            }
            if least == at {
                return;
            }
            self.heap.swap(at, least);
            at = least;
        }
    }

    fn is_before(&self, one: usize, other: usize) -> bool {
        let (a, b) = (&self.readers[one], &self.readers[other]);
        let order = a.head.cmp(&b.head).then_with(|| a.key.cmp(&b.key));
        order.then(one.cmp(&other)) == Ordering::Less
    }
}

/// Merges runs, in insertion order, into one.
fn merge_runs(runs: Vec<File>, folder: &Path) -> Result<File, StoreError> {
    let mut merge = Merge::new(runs, folder)?;
    let mut run = RunWriter::new(folder)?;
    while merge.advance()? {
        let (key, value) = merge.entry();
        run.push(key, value)?;
    }
    run.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        /// Compares with a stable sort; small budgets force runs and merges of merges.
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
