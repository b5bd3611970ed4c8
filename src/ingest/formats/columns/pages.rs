//! The file that a Parquet file is read from, with a bound on what its pages may take.
//!
//! The decoder believes the header of a page: it makes room for as many bytes and values as that
//! says before it decompresses. Here each header is looked at when it is asked for, and refused where
//! it says much more than the file's footer does of the whole column.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

// The `bytes` crate's, which the trait below names; the server's crates bring it.
use hyper::body::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// What pages may take whatever the footer says, in bytes and in values.
const SMALL_BYTES: u64 = 64 << 20;
const SMALL_VALUES: u64 = 4 << 20;

/// What the pages may take that are decoded for one batch, in bytes and in values.
pub(super) const MOST_BYTES: u64 = 1 << 30;
const MOST_VALUES: u64 = 128 << 20;

/// What the footer says of a part of the file: the pages of a column in a row group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Chunk {
    pub(super) start: u64,
    pub(super) bytes: u64,
    pub(super) values: u64,
}

/// A Parquet file that is open.
#[derive(Clone)]
pub(super) struct Pages {
    file: Arc<File>,
    length: u64,
    /// In the order of the file.
    chunks: Arc<Vec<Chunk>>,
    /// What the pages said that were begun for this batch.
    bytes: Arc<AtomicU64>,
    values: Arc<AtomicU64>,
}

impl Pages {
    pub(super) fn new(file: File, length: u64) -> Self {
        Self {
            file: Arc::new(file),
            length,
            chunks: Arc::default(),
            bytes: Arc::default(),
            values: Arc::default(),
        }
    }

    /// The same, where this is known of its chunks.
    pub(super) fn with(self, mut chunks: Vec<Chunk>) -> Self {
        chunks.sort_unstable_by_key(|chunk| chunk.start);
        Self {
            chunks: Arc::new(chunks),
            ..self
        }
    }

    /// A new batch begins.
    pub(super) fn next_batch(&self) {
        self.bytes.store(0, Ordering::Relaxed);
        self.values.store(0, Ordering::Relaxed);
    }

    fn check(&self, start: u64, claim: Claim) -> Result<()> {
        let after = self.chunks.partition_point(|chunk| chunk.start <= start);
        let Some(chunk) = after.checked_sub(1).and_then(|at| self.chunks.get(at)) else {
            return Ok(());
        };
        let refuse = |what: &str| Err(ParquetError::General(what.to_owned()));
        if claim.bytes > chunk.bytes.max(SMALL_BYTES) {
            return refuse("a page claims more bytes than its column has");
        }
        if claim.values > chunk.values.max(SMALL_VALUES) {
            return refuse("a page claims more values than its column has");
        }
        let bytes = self.bytes.fetch_add(claim.bytes, Ordering::Relaxed) + claim.bytes;
        let values = self.values.fetch_add(claim.values, Ordering::Relaxed) + claim.values;
        if bytes > MOST_BYTES || values > MOST_VALUES {
            return refuse(
                "its pages or a row of it take more than 1 GiB; write smaller row groups",
            );
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
        if let Some(claim) = Claim::of(read.fill_buf()?) {
            self.check(start, claim)?;
        }
        Ok(read)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let end = start.checked_add(length as u64);
        if end.is_none_or(|end| end > self.length) {
            return Err(ParquetError::EOF(
                "a part of it lies beyond its end".to_owned(),
            ));
        }
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
}

impl Claim {
    /// Of a header in Thrift's compact protocol: the fields of a structure, in their order. Field 2
    /// is the size; fields 5, 7 and 8 are structures that begin with the number of values. `None` of
    /// what is no header as writers write it, which is not checked here.
    fn of(head: &[u8]) -> Option<Self> {
        let mut rest = head;
        let mut id = 0;
        let mut bytes = None;
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
                    return bytes.map(|bytes| Self { bytes, values });
                }
                _ => return bytes.map(|bytes| Self { bytes, values: 0 }),
            }
        }
    }
}

/// The type of the next field, whose number is left in `id`.
fn field(rest: &mut &[u8], id: &mut i64) -> Option<u8> {
    let (head, tail) = rest.split_first()?;
    *rest = tail;
    *id = match head >> 4 {
        0 => zigzag(varint(rest)?),
        delta => *id + i64::from(delta),
    };
    Some(head & 15)
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, tail) = rest.split_first()?;
        *rest = tail;
        value |= u64::from(byte & 127) << shift;
        if *byte < 128 {
            return Some(value);
        }
    }
    None
}

const fn zigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -((value & 1).cast_signed())
}

/// A count; what is negative is refused by the decoder.
fn unsigned(value: u64) -> u64 {
    u64::try_from(zigzag(value)).unwrap_or(0)
}
