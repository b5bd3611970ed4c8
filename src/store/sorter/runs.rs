//! Sorted runs on disk, and merges of them.
//!
//! An entry is the length of the prefix that its key shares with the previous key, the length of the rest of
//! the key, the length of the value (all LEB128), the rest of the key, and the value, in a zstd stream. Keys
//! ascend, so they share long prefixes, and little is left to compress.

use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::entry::{Entry, Head, head_of};
use crate::error::StoreError;

/// The number of bytes that are compressed or decompressed at a time.
const BUFFER: usize = 64 << 10;

/// The binary logarithm of the compression window in bytes. Each run that is read needs as much memory.
const WINDOW_LOG: u32 = 17;

/// The maximum size in bytes of the three numbers before an entry.
const MAX_HEADER: usize = 15;

/// Writes a run.
pub(super) struct RunWriter {
    out: zstd::Encoder<'static, File>,
    folder: PathBuf,
    buffer: Vec<u8>,
    last: Vec<u8>,
}

impl RunWriter {
    pub(super) fn new(folder: &Path) -> Result<Self, StoreError> {
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

    pub(super) fn push(&mut self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
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

    pub(super) fn finish(mut self) -> Result<File, StoreError> {
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
pub(super) struct Merge {
    readers: Vec<RunReader>,
    /// A heap of the readers with an entry; the entry of the first one comes next.
    heap: Vec<usize>,
    /// Whether the entry of the first reader is the current one.
    is_current: bool,
    folder: PathBuf,
}

impl Merge {
    pub(super) fn new(runs: Vec<File>, folder: &Path) -> Result<Self, StoreError> {
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
    pub(super) fn advance(&mut self) -> Result<bool, StoreError> {
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
    pub(super) fn entry(&self) -> Entry<'_> {
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
pub(super) fn merge_runs(runs: Vec<File>, folder: &Path) -> Result<File, StoreError> {
    let mut merge = Merge::new(runs, folder)?;
    let mut run = RunWriter::new(folder)?;
    while merge.advance()? {
        let (key, value) = merge.entry();
        run.push(key, value)?;
    }
    run.finish()
}
