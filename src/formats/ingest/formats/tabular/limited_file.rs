//! The file that a Parquet file is read from, with a bound on what its pages may take.
//!
//! The decoder believes the header of a page: it makes room for as many bytes and values as that
//! says before it decompresses. Here each header is looked at when it is asked for, and refused where
//! it says much more than the file's footer does of the whole column.
//!
//! Of each column a dictionary and a page are held. Rows point into these, so a page that is done
//! with stays until the rows are read. Together they may take what memory leaves for them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

// The `bytes` crate's, which the trait below names; the server's crates bring it.
use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use super::thrift::{field, unsigned, varint};

/// What pages may take whatever the footer says, in bytes and in values.
const SMALL_BYTES: u64 = 64 << 20;
const SMALL_VALUES: u64 = 4 << 20;

/// How many bytes of memory a value of a list takes while its row is decoded.
const OF_VALUE: u64 = 20;

/// How many bytes done with stay while rows are read that point into them, as a share of all.
const LEFT_SHARE: u64 = 4;

/// What the footer says of a part of the file: the pages of a column in a row group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Chunk {
    pub(super) start: u64,
    /// How many bytes it has in the file, and decompressed.
    pub(super) stored: u64,
    pub(super) bytes: u64,
    pub(super) values: u64,
    /// Whether its values are elements of lists.
    pub(super) is_list: bool,
}

/// A Parquet file that is open.
#[derive(Clone)]
pub(super) struct Pages {
    file: Arc<File>,
    length: u64,
    /// In the order of the file.
    chunks: Arc<Vec<Chunk>>,
    held: Arc<Mutex<Held>>,
    /// How many bytes the pages may take that are held.
    most: u64,
}

/// The pages that are held.
#[derive(Default)]
struct Held {
    /// Of each column the page whose header was read last, before its body is. The decoder may read
    /// that of another column between the two.
    next: BTreeMap<u64, Claim>,
    /// The dictionary and the page of each column, by where its chunk starts.
    columns: BTreeMap<u64, [u64; 2]>,
    /// Pages that are done with, into which rows may point.
    left: u64,
    /// The values of lists in the pages that were begun for this batch.
    values: u64,
    /// Whether a page was refused for its size.
    is_over: bool,
}

impl Pages {
    pub(super) fn new(file: File, length: u64, most: u64) -> Self {
        Self {
            file: Arc::new(file),
            length,
            chunks: Arc::default(),
            held: Arc::default(),
            most,
        }
    }

    /// The same, where this is known of its chunks; `None` where two of them overlap.
    pub(super) fn with(self, mut chunks: Vec<Chunk>) -> Option<Self> {
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

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new batch begins.
    pub(super) fn next_batch(&self) {
        self.held().values = 0;
    }

    /// A new row group begins: all pages are done with.
    pub(super) fn next_group(&self) {
        let mut held = self.held();
        let columns = std::mem::take(&mut held.columns);
        held.left += columns.into_values().flatten().sum::<u64>();
        held.next.clear();
    }

    /// Whether so much is done with that it should be released first.
    pub(super) fn is_to_release(&self) -> bool {
        self.held().left > self.most / LEFT_SHARE
    }

    /// No row points into a page that is done with any more.
    pub(super) fn release(&self) {
        self.held().left = 0;
    }

    /// Whether a page was refused since too much would be held.
    pub(super) fn is_over(&self) -> bool {
        self.held().is_over
    }

    fn chunk(&self, start: u64) -> Option<&Chunk> {
        let after = self.chunks.partition_point(|chunk| chunk.start <= start);
        after.checked_sub(1).and_then(|at| self.chunks.get(at))
    }

    /// Takes notice of the header of a page.
    fn check(&self, start: u64, head: &[u8]) -> Result<()> {
        let Some(chunk) = self.chunk(start) else {
            return Ok(());
        };
        // The decoder may have looked at the header before, and goes on behind it.
        if self.held().next.contains_key(&chunk.start) {
            return Ok(());
        }
        let refuse = |what: &str| Err(ParquetError::General(what.to_owned()));
        let Some(claim) = Claim::of(head) else {
            return refuse("a page does not give its size");
        };
        if claim.bytes > chunk.bytes.max(SMALL_BYTES) {
            return refuse("a page claims more bytes than its column has");
        }
        if claim.values > chunk.values.max(SMALL_VALUES) {
            return refuse("a page claims more values than its column has");
        }
        // The body of an index is passed over.
        if !claim.is_index {
            self.held().next.insert(chunk.start, claim);
        }
        Ok(())
    }

    /// Takes the memory for the body of a page, which has so many bytes in the file.
    fn take(&self, start: u64, stored: u64) -> Result<()> {
        let Some(Chunk {
            start: chunk,
            is_list,
            ..
        }) = self.chunk(start).copied()
        else {
            return Ok(());
        };
        let mut held = self.held();
        let Some(claim) = held.next.remove(&chunk) else {
            return Ok(());
        };
        let places = held.columns.entry(chunk).or_default();
        if claim.is_dictionary {
            places[0] = claim.bytes;
        } else {
            let before = std::mem::replace(&mut places[1], claim.bytes);
            held.left += before;
        }
        if is_list {
            held.values = held.values.saturating_add(claim.values);
        }
        let all = held.columns.values().flatten().sum::<u64>() + held.left;
        // The bytes of the file are held until they are decompressed.
        held.is_over = all + stored > self.most || held.values > self.most / OF_VALUE;
        if held.is_over {
            let what = "its pages take more memory than is available";
            return Err(ParquetError::General(what.to_owned()));
        }
        Ok(())
    }

    fn at(&self, start: u64) -> Result<File> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(file)
    }
}

impl Length for Pages {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Pages {
    type T = BufReader<File>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let mut read = BufReader::new(self.at(start)?);
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
        let read = self
            .at(start)?
            .take(length as u64)
            .read_to_end(&mut bytes)?;
        if read != length {
            return Err(ParquetError::EOF("it has become shorter".to_owned()));
        }
        Ok(bytes.into())
    }
}

/// What the header of a page says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Claim {
    /// How many bytes it has, decompressed.
    bytes: u64,
    /// How many values it has.
    values: u64,
    is_dictionary: bool,
    is_index: bool,
}

impl Claim {
    /// Of a header in Thrift's compact protocol: the fields of a structure, in their order. Field 2
    /// is the size; fields 5, 7 and 8 are structures that begin with the number of values, and field
    /// 6 is one without. `None` of what is no header as writers write it.
    fn of(head: &[u8]) -> Option<Self> {
        let mut rest = head;
        let mut id = 0;
        let mut bytes = None;
        let of = |bytes, values, id| Self {
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
                    return bytes.map(|bytes| of(bytes, values, id));
                }
                12 if id == 6 => return bytes.map(|bytes| of(bytes, 0, id)),
                _ => return None,
            }
        }
    }
}
