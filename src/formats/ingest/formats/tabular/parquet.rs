//! Apache Parquet: row groups of column chunks, whose pages are decoded one after another.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::ingest::formats::file_source::{FileFormat, OpenFile};
use crate::ingest::open::{Input, InputError, Opened, RemoteFile};
use crate::ingest::progress::Progress;
use crate::ingest::read::catch_panic;
use arrow_schema::{DataType, Field, Schema};
use bytes::Bytes;

use super::batch::{self, Batch, wait};
use super::row::{ColumnMap, TableError};
use crate::ingest::columns::ColumnNames;
use crate::ingest::sniff::DetectedFormat;
use crate::ingest::source::{Piece, Pieces, Stop};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::basic::{Compression, Encoding};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetStatisticsPolicy, RowGroupMetaData};
use parquet::file::reader::{ChunkReader, Length};

/// The approximate size of a batch, in bytes, and the most rows.
const BATCH: u64 = 1 << 20;
const BATCH_ROWS: u64 = 4_096;

/// The most bytes of prefix-encoded texts in a batch.
const PREFIXED: u64 = 32 << 20;

/// The most bytes of lists of such texts, if each is as long as its column.
const PREFIXED_LISTS: u64 = 1 << 30;

/// The Parquet format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parquet;

impl FileFormat for Parquet {
    fn pieces<'a>(&self, mut file: OpenFile<'a>) -> Result<Pieces<'a>, Stop> {
        let name = file.name();
        match file.opened.peek_format() {
            Some(DetectedFormat::Parquet) => {}
            Some(other) if other.excludes_records() => return Err(file.other_format(other)),
            _ => {
                let kind = "a Parquet file";
                return Err(TableError::OtherKind { file: name, kind }.into());
            }
        }
        if file.opened.compression().is_some() {
            let kind = "Parquet";
            return Err(TableError::Compressed { file: name, kind }.into());
        }
        if file.opened.ahead().starts_with(b"PARE") {
            return Err(TableError::Encrypted { file: name }.into());
        }
        let read = file.opened.ahead().len() as u64;
        let progress = file.progress;
        let place = random_access(&file.input, file.opened, &progress)?;
        let length = place.length;
        let (pages, max) = (Arc::clone(&place.file), file.max_held_bytes);
        let opened = Table::open(name, pages, length, max, &file.columns);
        let mut table = opened.map_err(|error| match place.file.take_failure() {
            Some(failure) => read_error(&file.input.to_string(), failure),
            None => error,
        })?;
        // The bytes that were looked at, or all of standard input, are counted already.
        table.reported = if place.is_copy {
            length
        } else {
            read.min(length)
        };
        Ok(Box::new(std::iter::from_fn(move || {
            while !table.is_ended {
                if let Err(interrupted) = progress.proceed() {
                    table.is_ended = true;
                    return Some(Err(interrupted.into()));
                }
                match table.next_piece(&progress) {
                    Ok(Some(piece)) => return Some(Ok(piece)),
                    Ok(None) => {}
                    Err(error) => {
                        table.is_ended = true;
                        return Some(Err(table.refusal(error)));
                    }
                }
            }
            None
        })))
    }
}

/// A Parquet file that is being read.
struct Table {
    file: String,
    pages: LimitedFile,
    length: u64,
    metadata: ArrowReaderMetadata,
    projection: ProjectionMask,
    columns: Arc<ColumnMap>,
    /// The next row group.
    group: usize,
    reader: Option<ParquetRecordBatchReader>,
    /// The batch that is being cut into pieces.
    batch: Option<Batch>,
    is_ended: bool,
    /// Rows of the group that are not yet read.
    left: u64,
    /// Rows read so far, and in all.
    rows: u64,
    all_rows: u64,
    /// Bytes reported as progress so far.
    reported: u64,
    /// Shared with the pieces that are not yet read, which point into pages.
    lent: Arc<()>,
    max_held_bytes: usize,
}

impl Table {
    fn open(
        file: String,
        on_disk: Arc<dyn ReadAt>,
        length: u64,
        max_held_bytes: usize,
        columns: &ColumnNames,
    ) -> Result<Self, Stop> {
        check(&file, &*on_disk, length, max_held_bytes)?;
        let pages = LimitedFile::new(on_disk, length, max_held_bytes as u64);
        Ok(Self::new(file, pages, length, max_held_bytes, columns)?)
    }

    fn new(
        file: String,
        pages: LimitedFile,
        length: u64,
        max_held_bytes: usize,
        columns: &ColumnNames,
    ) -> Result<Self, TableError> {
        let damaged = |problem: String| damaged(&file, 0, problem);
        // The Arrow schema that some writers add is ignored: the types of Parquet suffice.
        let options = || {
            ArrowReaderOptions::new()
                .with_skip_arrow_metadata(true)
                .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll)
                .with_size_stats_policy(ParquetStatisticsPolicy::SkipAll)
        };
        let metadata =
            guarded(|| ArrowReaderMetadata::load(&pages, options())).map_err(|problem| {
                if problem.to_lowercase().contains("encrypt") {
                    return TableError::Encrypted { file: file.clone() };
                }
                damaged(problem)
            })?;
        let views = Arc::new(as_views(metadata.schema()));
        let parsed = Arc::clone(metadata.metadata());
        let options = options().with_schema(Arc::clone(&views));
        let metadata =
            guarded(|| ArrowReaderMetadata::try_new(parsed, options)).map_err(damaged)?;
        let map = batch::map_columns(&file, &views, columns)?;
        let mut columns: Vec<usize> = map.fields.iter().map(|(_, at)| *at).collect();
        columns.sort_unstable();
        let projection = ProjectionMask::roots(metadata.parquet_schema(), columns.iter().copied());
        // In a batch, the columns that are read are numbered consecutively.
        let index = |column| columns.binary_search(&column).unwrap_or(usize::MAX);
        let fields = map.fields.iter().map(|(field, at)| (*field, index(*at)));
        let map = Arc::new(ColumnMap {
            fields: fields.collect(),
            ..map.clone()
        });
        let mut chunks = Vec::new();
        let mut all_rows: u64 = 0;
        for group in metadata.metadata().row_groups() {
            all_rows = all_rows.saturating_add(count(group.num_rows()));
            chunks.extend(chunks_of(&file, group, &projection, length)?);
        }
        let Some(pages) = pages.with_chunks(chunks) else {
            let problem = "two of its columns overlap".to_owned();
            return Err(self::damaged(&file, 0, problem));
        };
        Ok(Self {
            pages,
            file,
            length,
            metadata,
            projection,
            columns: map,
            group: 0,
            reader: None,
            batch: None,
            is_ended: false,
            left: 0,
            rows: 0,
            all_rows,
            reported: 0,
            lent: Arc::default(),
            max_held_bytes,
        })
    }

    /// Ensures that not too many pages which are done stay in memory. Returns a piece without rows
    /// if pieces that point into them must be read first.
    fn release<'a>(&self) -> Option<Piece<'a>> {
        if !self.pages.must_release() {
            return None;
        }
        if Arc::strong_count(&self.lent) == 1 {
            self.pages.release();
            return None;
        }
        Some(wait())
    }

    /// Converts an error, unless the cause is that the pages take too much memory.
    fn refusal(&self, error: TableError) -> Stop {
        if let Some(failure) = self.pages.take_failure() {
            return read_error(&self.file, failure);
        }
        if !self.pages.is_over_limit() {
            return error.into();
        }
        let error = InputError::TooMuchMemory {
            file: self.file.clone(),
            what: format!("larger pages after row {}", self.rows),
            max: self.max_held_bytes,
        };
        error.into()
    }

    /// Returns the next piece; `None` if another batch must be read first, and at the end.
    fn next_piece<'a>(&mut self, progress: &Progress<'_>) -> Result<Option<Piece<'a>>, TableError> {
        let Some(batch) = &mut self.batch else {
            let wait = self.release();
            if wait.is_none() {
                self.next_batch(progress)?;
            }
            return Ok(wait);
        };
        let piece = guarded(|| Ok::<_, String>(batch.next()));
        let piece = piece.map_err(|problem| damaged(&self.file, self.rows, problem))?;
        if piece.is_none() {
            self.batch = None;
        }
        Ok(piece)
    }

    /// Reads the next batch.
    fn next_batch(&mut self, progress: &Progress<'_>) -> Result<(), TableError> {
        if self.reader.is_none() && !self.next_group()? {
            self.tell(self.length, progress);
            self.is_ended = true;
            return Ok(());
        }
        let Some(reader) = &mut self.reader else {
            return Ok(());
        };
        self.pages.next_batch();
        let batch = guarded(|| reader.next().transpose());
        let batch = batch.map_err(|problem| damaged(&self.file, self.rows, problem))?;
        let Some(batch) = batch else {
            if self.left > 0 {
                let problem = format!("{} rows of a row group are missing", self.left);
                return Err(damaged(&self.file, self.rows, problem));
            }
            self.reader = None;
            return Ok(());
        };
        let rows = batch.num_rows() as u64;
        let Some(left) = self.left.checked_sub(rows) else {
            let problem = "a row group has more rows than it claims".to_owned();
            return Err(damaged(&self.file, self.rows, problem));
        };
        self.left = left;
        self.batch = Some(Batch::new(&batch, &self.columns, self.rows + 1, &self.lent));
        self.rows += rows;
        let share =
            u128::from(self.length) * u128::from(self.rows) / u128::from(self.all_rows.max(1));
        self.tell(u64::try_from(share).unwrap_or(0), progress);
        Ok(())
    }

    /// Begins the next row group; `false` if there is none.
    fn next_group(&mut self) -> Result<bool, TableError> {
        let Some(group) = self.metadata.metadata().row_groups().get(self.group) else {
            return Ok(false);
        };
        self.pages.next_group();
        self.left = count(group.num_rows());
        let bytes = columns_read(group, &self.projection).map(|column| {
            let values = count(column.num_values()).saturating_mul(16);
            count(column.uncompressed_size()).saturating_add(values)
        });
        let bytes = bytes.fold(0, u64::saturating_add);
        let row_bytes = (bytes / self.left.max(1)).max(1);
        let rows = (BATCH / row_bytes).min(prefixed_rows(group, &self.projection));
        let rows = rows.clamp(1, BATCH_ROWS);
        let rows = usize::try_from(rows).unwrap_or(1);
        let reader = guarded(|| {
            let (pages, metadata) = (self.pages.clone(), self.metadata.clone());
            ParquetRecordBatchReaderBuilder::new_with_metadata(pages, metadata)
                .with_row_groups(vec![self.group])
                .with_projection(self.projection.clone())
                .with_batch_size(rows)
                .build()
        });
        self.reader = Some(reader.map_err(|problem| damaged(&self.file, self.rows, problem))?);
        self.group += 1;
        Ok(true)
    }

    /// Reports progress up to this number of bytes.
    fn tell(&mut self, bytes: u64, progress: &Progress<'_>) {
        progress.advance(bytes.saturating_sub(self.reported));
        self.reported = self.reported.max(bytes);
    }
}

/// Converts a count of the footer; a negative one becomes 0.
fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

fn damaged(file: &str, rows: u64, problem: String) -> TableError {
    TableError::Damaged {
        file: file.to_owned(),
        rows,
        problem,
    }
}

/// Runs a step of the decoder, which panics on some damaged files.
fn guarded<T, E: ToString>(step: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    match catch_panic(step) {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(_) => Err("its bytes are not valid columns".to_owned()),
    }
}

/// Returns the schema with string views, which are not copied out of their pages.
fn as_views(schema: &Schema) -> Schema {
    let fields: Vec<Field> = schema.fields().iter().map(|field| viewed(field)).collect();
    Schema::new_with_metadata(fields, schema.metadata().clone())
}

fn viewed(field: &Field) -> Field {
    let kind = match field.data_type() {
        DataType::Utf8 => DataType::Utf8View,
        DataType::Binary => DataType::BinaryView,
        DataType::List(element) => DataType::List(Arc::new(viewed(element))),
        DataType::Struct(fields) => {
            DataType::Struct(fields.iter().map(|field| viewed(field)).collect())
        }
        other => other.clone(),
    };
    field.clone().with_data_type(kind)
}

/// Returns the columns of a row group that are read.
fn columns_read<'a>(
    group: &'a RowGroupMetaData,
    projection: &ProjectionMask,
) -> impl Iterator<Item = &'a ColumnChunkMetaData> {
    let columns = group.columns().iter().enumerate();
    let read = columns.filter(|(leaf, _)| projection.leaf_included(*leaf));
    read.map(|(_, column)| column)
}

/// Returns whether texts of a column are encoded by the prefix that they share with the previous one.
fn is_prefixed(column: &ColumnChunkMetaData) -> bool {
    let mut encodings = column.encodings();
    encodings.any(|encoding| encoding == Encoding::DELTA_BYTE_ARRAY)
}

/// Returns how many rows may be decoded at a time if texts are encoded as the length of the prefix
/// that they share with the previous one, and the rest: each may be as long as its column has bytes.
fn prefixed_rows(group: &RowGroupMetaData, projection: &ProjectionMask) -> u64 {
    let prefixed = columns_read(group, projection).filter(|column| is_prefixed(column));
    let longest = prefixed
        .map(|column| count(column.uncompressed_size()))
        .max();
    longest.map_or(u64::MAX, |bytes| PREFIXED / bytes.max(1))
}

/// Returns the chunks of a row group that are read.
fn chunks_of(
    file: &str,
    group: &RowGroupMetaData,
    projection: &ProjectionMask,
    length: u64,
) -> Result<Vec<Chunk>, TableError> {
    let mut chunks = Vec::new();
    for column in columns_read(group, projection) {
        match column.compression() {
            Compression::UNCOMPRESSED
            | Compression::SNAPPY
            | Compression::GZIP(_)
            | Compression::ZSTD(_)
            | Compression::LZ4
            | Compression::LZ4_RAW => {}
            other => {
                let codec = other.to_string();
                return Err(TableError::Codec {
                    file: file.to_owned(),
                    codec,
                });
            }
        }
        let is_list = column.column_descr().max_rep_level() > 0;
        let bytes = count(column.uncompressed_size());
        // A row has any number of elements, each as long as the column, and is decoded at once.
        let largest = bytes.saturating_mul(count(column.num_values()));
        if is_list && is_prefixed(column) && largest > PREFIXED_LISTS {
            return Err(TableError::Prefixed {
                file: file.to_owned(),
            });
        }
        let range = guarded(|| Ok::<_, String>(column.byte_range()));
        let (start, stored) = range.map_err(|problem| damaged(file, 0, problem))?;
        if start.checked_add(stored).is_none_or(|end| end > length) {
            let problem = "a column is beyond its end; it may be truncated".to_owned();
            return Err(damaged(file, 0, problem));
        }
        chunks.push(Chunk {
            start,
            stored,
            bytes,
            values: count(column.num_values()),
            is_list,
        });
    }
    Ok(chunks)
}

// Limits for the footer of a Parquet file, checked before it is decoded.
//
// The decoded footer is held while the file is read, and takes many times its size: a row group of
// one column takes some hundred bytes, and so does a column of the schema.

/// Bytes of memory for each byte of the footer.
const EXPANSION: usize = 12;

/// Bytes at the end of a file: the length of the footer, and the magic number.
const FOOTER_TAIL: usize = 8;

/// Bytes at the beginning of a footer that contain the number of columns.
const HEAD: usize = 64;

/// The most columns of a schema, whether they are read or not.
const MOST_COLUMNS: u64 = 10_000;

/// Refuses a footer that is larger than `max_held_bytes` allows or has too many columns. Anything that is
/// not a footer is left to the decoder.
pub(super) fn check(
    file: &str,
    on_disk: &dyn ReadAt,
    length: u64,
    max_held_bytes: usize,
) -> Result<(), Stop> {
    let mut tail = [0; FOOTER_TAIL];
    let Ok(bytes) = read_before(on_disk, length, FOOTER_TAIL as u64, &mut tail) else {
        return Ok(());
    };
    let footer = match tail.get(..bytes) {
        Some([a, b, c, d, b'P', b'A', b'R', b'1']) => u32::from_le_bytes([*a, *b, *c, *d]),
        _ => return Ok(()),
    };
    let refuse = |what: String, most: usize| {
        let file = file.to_owned();
        Err(Stop::from(InputError::TooMuchMemory {
            file,
            what,
            max: most,
        }))
    };
    if u64::from(footer) > length.saturating_sub(FOOTER_TAIL as u64) {
        let problem = format!("a footer of {footer} bytes in a file of {length} bytes");
        return Err(damaged(file, 0, problem).into());
    }
    let most = max_held_bytes / EXPANSION;
    if u64::from(footer) > most as u64 {
        return refuse(format!("a footer of {footer} bytes"), most);
    }
    let mut head = [0; HEAD];
    let before = u64::from(footer) + FOOTER_TAIL as u64;
    let Ok(bytes) = read_before(on_disk, length, before, &mut head) else {
        return Ok(());
    };
    let columns = list_length(head.get(..bytes).unwrap_or_default(), 2);
    match columns {
        Some(columns) if columns > MOST_COLUMNS => {
            refuse(format!("{columns} columns, more than {MOST_COLUMNS}"), most)
        }
        _ => Ok(()),
    }
}

/// Reads from `before` bytes before the end on; returns the number of bytes read.
fn read_before(
    file: &dyn ReadAt,
    length: u64,
    before: u64,
    into: &mut [u8],
) -> std::io::Result<usize> {
    let from = length.saturating_sub(before);
    let mut read = 0;
    while let Some(free) = into.get_mut(read..).filter(|free| !free.is_empty()) {
        match file.read_at(from + read as u64, length, free)? {
            0 => break,
            more => read += more,
        }
    }
    Ok(read)
}

// The file behind a Parquet reader, with a limit on the memory of its pages.
//
// The decoder trusts the header of a page: it allocates the number of bytes and values that the
// header claims before it decompresses the page. Here, each header is examined when it is read, and
// refused if it claims much more than the footer does for the whole column chunk.
//
// One dictionary and one page of each column are in memory. Rows point into these, so that a page
// that is done stays in memory until the rows are read. Together they are limited by the memory
// that is available.

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

// Files that are read at any position: local ones, and remote ones in windows.

/// Bytes at the end of a remote file that are read first. Most footers fit.
const TAIL: u64 = 64 << 10;

/// Bytes of a column chunk that are requested at a time.
const WINDOW: u64 = 4 << 20;

/// A file that is read at any position.
pub(super) trait ReadAt: Send + Sync {
    /// Reads at a position, of what ends at `end`: bytes behind it will not be read next. Returns the number of
    /// bytes read; 0 at the end of the file.
    fn read_at(&self, position: u64, end: u64, into: &mut [u8]) -> io::Result<usize>;

    /// Begins a row group: what was read of others will not be read again.
    fn next_group(&self) {}

    /// Takes the error of a read over the network, and its position: the decoder passes on nothing but its text.
    fn take_failure(&self) -> Option<(u64, io::Error)> {
        None
    }
}

impl ReadAt for File {
    fn read_at(&self, position: u64, _: u64, into: &mut [u8]) -> io::Result<usize> {
        FileExt::read_at(self, into, position)
    }
}

/// A remote file with parts of it in memory: its end, and one window of each column chunk that is being
/// read.
///
/// Memory: 4 MiB for each column that is read, or one page if it is larger.
pub(super) struct Windows {
    file: Arc<dyn RemoteFile>,
    tail: Vec<u8>,
    /// By the ends of their column chunks: where the window begins, and its bytes.
    open: Mutex<BTreeMap<u64, (u64, Vec<u8>)>>,
    failure: Mutex<Option<(u64, io::Error)>>,
}

impl Windows {
    /// Reads the end of the file.
    pub(super) fn new(file: Arc<dyn RemoteFile>) -> io::Result<Self> {
        let length = file.length();
        let tail = file.read_range(length.saturating_sub(TAIL)..length)?;
        Ok(Self {
            file,
            tail,
            open: Mutex::default(),
            failure: Mutex::default(),
        })
    }
}

impl ReadAt for Windows {
    fn read_at(&self, position: u64, end: u64, into: &mut [u8]) -> io::Result<usize> {
        let length = self.file.length();
        let end = end.min(length);
        if position >= end || into.is_empty() {
            return Ok(0);
        }
        let tail = length - self.tail.len() as u64;
        if position >= tail {
            return Ok(copy(&self.tail, position - tail, into));
        }
        let mut windows = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let has =
            |(from, bytes): &(u64, Vec<u8>)| (*from..from + bytes.len() as u64).contains(&position);
        if !windows.get(&end).is_some_and(has) {
            let wanted = WINDOW.max(into.len() as u64).min(end - position);
            match self.file.read_range(position..position + wanted) {
                Ok(bytes) => drop(windows.insert(end, (position, bytes))),
                Err(error) => {
                    let failed = io::Error::from(error.kind());
                    let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                    *failure = Some((position, error));
                    return Err(failed);
                }
            }
        }
        let Some((from, bytes)) = windows.get(&end) else {
            return Ok(0);
        };
        let read = copy(bytes, position - from, into);
        if position + read as u64 == end {
            windows.remove(&end);
        }
        Ok(read)
    }

    fn next_group(&self) {
        let mut windows = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        windows.clear();
    }

    fn take_failure(&self) -> Option<(u64, io::Error)> {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.take()
    }
}

/// Copies bytes from an offset on; returns how many.
fn copy(bytes: &[u8], offset: u64, into: &mut [u8]) -> usize {
    let from = usize::try_from(offset)
        .ok()
        .and_then(|offset| bytes.get(offset..));
    let from = from.unwrap_or_default();
    let length = from.len().min(into.len());
    if let (Some(into), Some(from)) = (into.get_mut(..length), from.get(..length)) {
        into.copy_from_slice(from);
    }
    length
}

/// A reader of a part of such a file.
pub(super) struct PartReader {
    pub(super) file: Arc<dyn ReadAt>,
    pub(super) position: u64,
    pub(super) end: u64,
}

impl Read for PartReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(self.position, self.end, into)?;
        self.position += read as u64;
        Ok(read)
    }
}

// Inputs that can be read at any position, as Parquet needs it.

/// Returns the error of a read over the network, at this position.
pub(super) fn read_error(file: &str, (offset, source): (u64, std::io::Error)) -> Stop {
    let file = file.to_owned();
    InputError::Read {
        file,
        offset,
        source,
    }
    .into()
}

/// An input that can be read at any position.
pub(super) struct Place {
    pub(super) file: Arc<dyn ReadAt>,
    pub(super) length: u64,
    /// Whether it is a temporary copy.
    pub(super) is_copy: bool,
}

/// Returns the input, or a temporary copy of one that cannot be read at any position.
pub(super) fn random_access(
    input: &Input,
    opened: Opened<'_>,
    progress: &Progress<'_>,
) -> Result<Place, Stop> {
    let local = |file: File, is_copy| {
        let length = file
            .metadata()
            .map_err(|source| open_error(input, source))?
            .len();
        Ok::<_, Stop>(Place {
            file: Arc::new(file),
            length,
            is_copy,
        })
    };
    match input {
        Input::Remote(remote) if remote.has_ranges() => {
            // The first bytes are read; the connection for the others is not needed.
            drop(opened);
            let length = remote.length();
            let windows = Windows::new(Arc::clone(remote));
            let windows = windows.map_err(|source| open_error(input, source))?;
            Ok(Place {
                file: Arc::new(windows),
                length,
                is_copy: false,
            })
        }
        // A pipe is open already, and is not opened again.
        Input::File(path) if std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) => {
            local(
                File::open(path).map_err(|source| open_error(input, source))?,
                false,
            )
        }
        _ => local(copied(opened, progress)?, true),
    }
}

/// Copies an input to a temporary file.
fn copied(mut opened: Opened<'_>, progress: &Progress<'_>) -> Result<File, Stop> {
    let spool_error = |error| Stop::from(TableError::Spool(error));
    let mut spool = tempfile::tempfile().map_err(spool_error)?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        progress.proceed()?;
        let (length, failed) = opened.fill(&mut buffer);
        if let Some(error) = failed {
            return Err(opened.error(error, 0).into());
        }
        let read = buffer.get(..length).unwrap_or_default();
        std::io::Write::write_all(&mut spool, read).map_err(spool_error)?;
        if length < buffer.len() {
            break;
        }
    }
    Ok(spool)
}

fn open_error(input: &Input, source: std::io::Error) -> InputError {
    InputError::Open {
        file: input.to_string(),
        source,
    }
}

// The parts of Thrift's compact protocol that are examined before a decoder reads them.

/// Reads the header of the next field: returns its type and stores its number in `id`.
pub(super) fn field(rest: &mut &[u8], id: &mut i64) -> Option<u8> {
    let (head, tail) = rest.split_first()?;
    *rest = tail;
    *id = match head >> 4 {
        0 => zigzag(varint(rest)?),
        delta => *id + i64::from(delta),
    };
    Some(head & 15)
}

/// Reads an unsigned number of seven bits per byte.
pub(super) fn varint(rest: &mut &[u8]) -> Option<u64> {
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

/// Decodes a zigzag number; a negative one, which the decoder refuses, becomes 0.
pub(super) fn unsigned(value: u64) -> u64 {
    u64::try_from(zigzag(value)).unwrap_or(0)
}

/// Returns the length of the list that is field `wanted` of a structure in which all fields before
/// it are integers; `None` if it is not found.
pub(super) fn list_length(structure: &[u8], wanted: i64) -> Option<u64> {
    let mut rest = structure;
    let mut id = 0;
    loop {
        match field(&mut rest, &mut id)? {
            // Integers of 16, 32 and 64 bits.
            4..=6 => {
                varint(&mut rest)?;
            }
            9 if id == wanted => {
                let (head, tail) = rest.split_first()?;
                rest = tail;
                return match head >> 4 {
                    15 => varint(&mut rest),
                    length => Some(length.into()),
                };
            }
            _ => return None,
        }
    }
}
