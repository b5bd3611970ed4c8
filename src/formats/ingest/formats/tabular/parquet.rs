//! Apache Parquet: row groups of column chunks, whose pages are decoded one after another.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::basic::{Compression, Encoding};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetStatisticsPolicy, RowGroupMetaData};

use super::batch::{self, Batch, wait};
use super::column_map::ColumnMap;
use super::error::TableError;
use super::footer;
use super::limited_file::{Chunk, LimitedFile};
use super::place::{random_access, read_error};
use super::random_access::ReadAt;
use crate::ingest::catch_panic::catch_panic;
use crate::ingest::formats::file_source::{FileFormat, OpenFile};
use crate::ingest::open::InputError;
use crate::ingest::progress::Progress;
use crate::ingest::sniff::DetectedFormat;
use crate::ingest::source::{Piece, Pieces, Stop};

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
        let opened = Table::open(name, Arc::clone(&place.file), length, file.max_held_bytes);
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
    ) -> Result<Self, Stop> {
        footer::check(&file, &*on_disk, length, max_held_bytes)?;
        let pages = LimitedFile::new(on_disk, length, max_held_bytes as u64);
        Ok(Self::new(file, pages, length, max_held_bytes)?)
    }

    fn new(
        file: String,
        pages: LimitedFile,
        length: u64,
        max_held_bytes: usize,
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
        let map = batch::map_columns(&file, &views)?;
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
