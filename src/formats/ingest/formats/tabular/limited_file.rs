//! The file behind a Parquet reader, with a limit on the memory of its pages.
//!
//! The decoder trusts the header of a page: it allocates the number of bytes and values that the
//! header claims before it decompresses the page. Here, each header is examined when it is read, and
//! refused if it claims much more than the footer does for the whole column chunk.
//!
//! One dictionary and one page of each column are in memory. Rows point into these, so that a page
//! that is done stays in memory until the rows are read. Together they are limited by the memory
//! that is available.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

// Required by the trait `ChunkReader`.
use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use super::random_access::{PartReader, ReadAt};
use super::thrift::{field, unsigned, varint};

/// The size of a page that is always accepted, in bytes and in values.
const SMALL_BYTES: u64 = 64 << 20;
const SMALL_VALUES: u64 = 4 << 20;

/// Bytes of memory for each value of a list while its row is decoded.
const VALUE_MEMORY: u64 = 20;

/// The share of the limit that pages which are done may take, as a divisor.
const DONE_SHARE: u64 = 4;

/// A column chunk, as described by the footer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Chunk {
    pub(super) start: u64,
    /// Size in the file, and decompressed, in bytes.
    pub(super) stored: u64,
    pub(super) bytes: u64,
    pub(super) values: u64,
    /// Whether the values are elements of lists.
    pub(super) is_list: bool,
}

/// An open Parquet file.
#[derive(Clone)]
pub(super) struct LimitedFile {
    file: Arc<dyn ReadAt>,
    length: u64,
    /// In file order.
    chunks: Arc<Vec<Chunk>>,
    memory: Arc<Mutex<PageMemory>>,
    /// The most bytes of pages in memory.
    most: u64,
}

/// The pages in memory.
#[derive(Default)]
struct PageMemory {
    /// For each chunk, the last page header whose body is not yet read. The decoder may read a
    /// header of another column in between.
    next: BTreeMap<u64, PageHeader>,
    /// For each chunk, by its start, the sizes of the dictionary and of the page.
    columns: BTreeMap<u64, [u64; 2]>,
    /// Bytes of pages that are done, into which rows may still point.
    done: u64,
    /// Values of lists in the pages of this batch.
    values: u64,
    /// Whether a page was refused because of the limit.
    is_over_limit: bool,
}

impl LimitedFile {
    pub(super) fn new(file: Arc<dyn ReadAt>, length: u64, most: u64) -> Self {
        Self {
            file,
            length,
            chunks: Arc::default(),
            memory: Arc::default(),
            most,
        }
    }

    /// Sets the chunks; `None` if two of them overlap.
    pub(super) fn with_chunks(self, mut chunks: Vec<Chunk>) -> Option<Self> {
        chunks.retain(|chunk| chunk.stored > 0);
        chunks.sort_unstable_by_key(|chunk| chunk.start);
        let mut pairs = chunks.iter().zip(chunks.iter().skip(1));
        if pairs.any(|(chunk, next)| chunk.start.saturating_add(chunk.stored) > next.start) {
            return None;
        }
        Some(Self {
            chunks: Arc::new(chunks),
            ..self
        })
    }

    fn memory(&self) -> MutexGuard<'_, PageMemory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a batch.
    pub(super) fn next_batch(&self) {
        self.memory().values = 0;
    }

    /// Begins a row group: all pages are done.
    pub(super) fn next_group(&self) {
        self.file.next_group();
        let mut memory = self.memory();
        let columns = std::mem::take(&mut memory.columns);
        memory.done += columns.into_values().flatten().sum::<u64>();
        memory.next.clear();
    }

    /// Returns whether so many pages are done that they must be released before reading on.
    pub(super) fn must_release(&self) -> bool {
        self.memory().done > self.most / DONE_SHARE
    }

    /// Declares that no row points into pages that are done.
    pub(super) fn release(&self) {
        self.memory().done = 0;
    }

    /// Takes the error of a read over the network, and its position.
    pub(super) fn take_failure(&self) -> Option<(u64, std::io::Error)> {
        self.file.take_failure()
    }

    /// Returns whether a page was refused because of the limit.
    pub(super) fn is_over_limit(&self) -> bool {
        self.memory().is_over_limit
    }

    fn chunk(&self, start: u64) -> Option<&Chunk> {
        let after = self.chunks.partition_point(|chunk| chunk.start <= start);
        after.checked_sub(1).and_then(|at| self.chunks.get(at))
    }

    /// Examines the header of a page.
    fn check(&self, start: u64, head: &[u8]) -> Result<()> {
        let Some(chunk) = self.chunk(start) else {
            return Ok(());
        };
        // The decoder may have examined the header before and now continue behind it.
        if self.memory().next.contains_key(&chunk.start) {
            return Ok(());
        }
        let refuse = |what: &str| Err(ParquetError::General(what.to_owned()));
        let Some(header) = PageHeader::parse(head) else {
            return refuse("a page does not give its size");
        };
        if header.bytes > chunk.bytes.max(SMALL_BYTES) {
            return refuse("a page claims more bytes than its column has");
        }
        if header.values > chunk.values.max(SMALL_VALUES) {
            return refuse("a page claims more values than its column has");
        }
        // The body of an index is skipped.
        if !header.is_index {
            self.memory().next.insert(chunk.start, header);
        }
        Ok(())
    }

    /// Accounts for the body of a page, of `stored` bytes in the file.
    fn take(&self, start: u64, stored: u64) -> Result<()> {
        let Some(chunk) = self.chunk(start).copied() else {
            return Ok(());
        };
        let mut memory = self.memory();
        let Some(header) = memory.next.remove(&chunk.start) else {
            return Ok(());
        };
        let sizes = memory.columns.entry(chunk.start).or_default();
        if header.is_dictionary {
            sizes[0] = header.bytes;
        } else {
            let before = std::mem::replace(&mut sizes[1], header.bytes);
            memory.done += before;
        }
        if chunk.is_list {
            memory.values = memory.values.saturating_add(header.values);
        }
        let total = memory.columns.values().flatten().sum::<u64>() + memory.done;
        // The bytes of the file are held until they are decompressed.
        memory.is_over_limit =
            total + stored > self.most || memory.values > self.most / VALUE_MEMORY;
        if memory.is_over_limit {
            let what = "its pages take more memory than is available";
            return Err(ParquetError::General(what.to_owned()));
        }
        Ok(())
    }

    /// Returns a reader from a position on.
    fn at(&self, position: u64) -> PartReader {
        let chunk = self.chunk(position);
        // Behind its end are other columns, which may not be read at all.
        let end = chunk.map(|chunk| chunk.start.saturating_add(chunk.stored));
        PartReader {
            file: Arc::clone(&self.file),
            position,
            end: end.filter(|end| *end > position).unwrap_or(self.length),
        }
    }
}

impl Length for LimitedFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for LimitedFile {
    type T = BufReader<PartReader>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let mut read = BufReader::new(self.at(start));
        self.check(start, read.fill_buf()?)?;
        Ok(read)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let end = start.checked_add(length as u64);
        if end.is_none_or(|end| end > self.length) {
            return Err(ParquetError::EOF(
                "a part of it is beyond its end".to_owned(),
            ));
        }
        self.take(start, length as u64)?;
        let mut bytes = Vec::with_capacity(length);
        let read = self.at(start).take(length as u64).read_to_end(&mut bytes)?;
        if read != length {
            return Err(ParquetError::EOF("it has become shorter".to_owned()));
        }
        Ok(bytes.into())
    }
}

/// The header of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct PageHeader {
    /// Decompressed size, in bytes.
    bytes: u64,
    values: u64,
    is_dictionary: bool,
    is_index: bool,
}

impl PageHeader {
    /// Parses a header in Thrift's compact protocol, a structure with ascending fields: field 2 is
    /// the size; fields 5, 7 and 8 are structures that begin with the number of values, and field 6
    /// is one without it. `None` if it is not a header as writers write it.
    fn parse(head: &[u8]) -> Option<Self> {
        let mut rest = head;
        let mut id = 0;
        let mut bytes = None;
        let header = |bytes, values, id| Self {
            bytes,
            values,
            is_dictionary: id == 7,
            is_index: id == 6,
        };
        loop {
            match field(&mut rest, &mut id)? {
                // An integer of 32 bits.
                5 => {
                    let value = varint(&mut rest)?;
                    if id == 2 {
                        bytes = Some(unsigned(value));
                    }
                }
                // A structure.
                12 if matches!(id, 5 | 7 | 8) => {
                    let mut inner = 0;
                    let is_number = field(&mut rest, &mut inner)? == 5 && inner == 1;
                    let values = if is_number {
                        unsigned(varint(&mut rest)?)
                    } else {
                        0
                    };
                    return bytes.map(|bytes| header(bytes, values, id));
                }
                12 if id == 6 => return bytes.map(|bytes| header(bytes, 0, id)),
                _ => return None,
            }
        }
    }
}
