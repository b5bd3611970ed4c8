//! Apache Parquet: row groups of columns, in pages that are decoded as they come.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::basic::{Compression, Encoding};
use parquet::file::metadata::{ParquetStatisticsPolicy, RowGroupMetaData};

use super::batch::{self, Batch, wait};
use super::error::TableError;
use super::footer;
use super::layout::Layout;
use super::pages::{Chunk, Pages};
use crate::ingest::catch_panic::catch_panic;
use crate::ingest::open::{Input, InputError, Opened};
use crate::ingest::progress::Progress;
use crate::ingest::sniff::DetectedFormat;
use crate::ingest::source::{
    DEFAULT_HELD_BYTES, Piece, Pieces, Source, Sources, Stop, max_held_bytes,
};
use seedbank_algorithms::watch::Watch;

const KIND: &str = "Parquet";

/// About how many bytes of values a batch has, and the most rows.
const BATCH: u64 = 1 << 20;
const BATCH_ROWS: u64 = 4_096;

/// How many bytes of such texts a batch may come to that share what comes before with others.
const PREFIXED: u64 = 32 << 20;

/// What lists of such texts may come to, if each is as long as its column.
const PREFIXED_LISTS: u64 = 1 << 30;

/// The sources for Parquet files.
pub(super) fn sources(inputs: &[Input]) -> Sources {
    let source = |input: &Input| {
        Box::new(Parquet {
            input: input.clone(),
            max_held_bytes: DEFAULT_HELD_BYTES,
        }) as Box<dyn Source>
    };
    inputs.iter().map(source).collect()
}

/// A Parquet file.
#[derive(Clone, Debug)]
struct Parquet {
    input: Input,
    /// How many bytes its footer and its pages may take.
    max_held_bytes: usize,
}

impl Source for Parquet {
    fn name(&self) -> String {
        self.input.to_string()
    }

    fn limit_memory(&mut self, bytes: usize) {
        self.max_held_bytes = max_held_bytes(bytes);
    }

    fn prepare(&mut self, _: &dyn Watch) -> Result<Option<u64>, Stop> {
        Ok(self.input.length()?)
    }

    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        let mut opened = self.input.open(progress)?;
        if opened.peek_format() != Some(DetectedFormat::Parquet) {
            let error = match opened.detected(opened.ahead()) {
                Some(seen) if seen.format.excludes_records() => InputError::NotRecords(seen),
                _ => TableError::OtherKind {
                    file: self.name(),
                    kind: "a Parquet file",
                }
                .into(),
            };
            return Err(error.into());
        }
        pieces(&self.input, opened, self.max_held_bytes, progress)
    }
}

/// The pieces of an open input, of which the first bytes say that it is Parquet.
pub(in crate::ingest) fn pieces<'a>(
    input: &Input,
    opened: Opened,
    max_held_bytes: usize,
    progress: &Progress<'a>,
) -> Result<Pieces<'a>, Stop> {
    let file = input.to_string();
    let refuse = |error: TableError| Stop::from(InputError::from(error));
    if opened.compression().is_some() {
        return Err(refuse(TableError::Compressed { file, kind: KIND }));
    }
    if opened.ahead().starts_with(b"PARE") {
        return Err(refuse(TableError::Encrypted { file }));
    }
    let read = opened.ahead().len() as u64;
    let (on_disk, is_spooled) = seekable(input, opened, progress)?;
    let length = on_disk
        .metadata()
        .map_err(|source| open_error(input, source))?
        .len();
    let mut table = Table::open(file, on_disk, length, max_held_bytes)?;
    let progress = progress.clone();
    // What was looked at, or all of standard input, is counted already.
    table.told = if is_spooled { length } else { read.min(length) };
    let mut ended = false;
    Ok(Box::new(std::iter::from_fn(move || {
        while !ended {
            if let Err(interrupted) = progress.proceed() {
                ended = true;
                return Some(Err(interrupted.into()));
            }
            match table.next_piece(&progress) {
                Ok(Some(piece)) => return Some(Ok(piece)),
                Ok(None) => ended = table.is_ended,
                Err(error) => {
                    ended = true;
                    return Some(Err(table.refusal(error)));
                }
            }
        }
        None
    })))
}

fn open_error(input: &Input, source: std::io::Error) -> InputError {
    InputError::Open {
        file: input.to_string(),
        source,
    }
}

/// A file in which can be sought: the input, or what it gives, in a temporary file.
fn seekable(
    input: &Input,
    mut opened: Opened,
    progress: &Progress<'_>,
) -> Result<(File, bool), Stop> {
    // A pipe is open already, and is not opened again.
    if let Input::File(path) = input
        && std::fs::metadata(path).is_ok_and(|about| about.is_file())
    {
        let file = File::open(path).map_err(|source| open_error(input, source))?;
        return Ok((file, false));
    }
    let spool_error = |error| Stop::from(InputError::from(TableError::Spool(error)));
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
    spool.seek(SeekFrom::Start(0)).map_err(spool_error)?;
    Ok((spool, true))
}

/// A Parquet file that is read.
struct Table {
    file: String,
    pages: Pages,
    length: u64,
    metadata: ArrowReaderMetadata,
    projection: ProjectionMask,
    layout: Arc<Layout>,
    /// The next row group.
    group: usize,
    reader: Option<ParquetRecordBatchReader>,
    /// The batch that is cut into pieces.
    batch: Option<Batch>,
    is_ended: bool,
    /// How many rows of the group are still to come.
    left: u64,
    /// How many rows were read, of how many.
    rows: u64,
    all_rows: u64,
    /// How many bytes were told as progress.
    told: u64,
    /// Shared with the pieces that are not yet read, which point into pages.
    lent: Arc<()>,
    max_held_bytes: usize,
}

impl Table {
    fn open(
        file: String,
        mut on_disk: File,
        length: u64,
        max_held_bytes: usize,
    ) -> Result<Self, Stop> {
        footer::check(&file, &mut on_disk, length, max_held_bytes)?;
        let pages = Pages::new(on_disk, length, max_held_bytes as u64);
        Ok(Self::of(file, pages, length, max_held_bytes).map_err(InputError::from)?)
    }

    fn of(
        file: String,
        pages: Pages,
        length: u64,
        max_held_bytes: usize,
    ) -> Result<Self, TableError> {
        let damaged = |problem: String| damaged(&file, 0, problem);
        // What the writer kept of Arrow's types is not looked at: those of Parquet say enough.
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
        let whole = Arc::clone(metadata.metadata());
        let metadata = guarded(|| {
            let options = options().with_schema(Arc::clone(&views));
            ArrowReaderMetadata::try_new(whole, options)
        })
        .map_err(damaged)?;
        let layout = batch::layout(&file, &views)?;
        let mut columns: Vec<usize> = layout.fields.iter().map(|(_, at)| *at).collect();
        columns.sort_unstable();
        let projection = ProjectionMask::roots(metadata.parquet_schema(), columns.iter().copied());
        let place = |column| {
            columns
                .iter()
                .position(|at| *at == column)
                .unwrap_or(usize::MAX)
        };
        let fields = layout.fields.iter().map(|(field, at)| (*field, place(*at)));
        let layout = Arc::new(Layout {
            fields: fields.collect(),
            ..layout.clone()
        });
        let mut chunks = Vec::new();
        let mut all_rows: u64 = 0;
        for group in metadata.metadata().row_groups() {
            all_rows = all_rows.saturating_add(count(group.num_rows()));
            chunks.extend(chunks_of(&file, group, &projection, length)?);
        }
        let Some(pages) = pages.with(chunks) else {
            let problem = "two of its columns overlap".to_owned();
            return Err(self::damaged(&file, 0, problem));
        };
        Ok(Self {
            pages,
            file,
            length,
            metadata,
            projection,
            layout,
            group: 0,
            reader: None,
            batch: None,
            is_ended: false,
            left: 0,
            rows: 0,
            all_rows,
            told: 0,
            lent: Arc::default(),
            max_held_bytes,
        })
    }

    /// Makes sure that not too many pages stay which are done with; returns a piece without rows
    /// where the pieces that point into them are still to be read.
    fn release<'a>(&self) -> Option<Piece<'a>> {
        if !self.pages.is_to_release() {
            return None;
        }
        if Arc::strong_count(&self.lent) == 1 {
            self.pages.release();
            return None;
        }
        Some(wait())
    }

    /// Why the input is refused: what is said of damage, unless the pages take too much memory.
    fn refusal(&self, error: TableError) -> Stop {
        if !self.pages.is_over() {
            return InputError::from(error).into();
        }
        let error = InputError::TooMuchMemory {
            file: self.file.clone(),
            what: format!("larger pages after row {}", self.rows),
            max: self.max_held_bytes,
        };
        error.into()
    }

    /// The next piece; `None` where the next batch is still to be read, and at the end.
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
        self.batch = Some(Batch::of(&batch, &self.layout, self.rows + 1, &self.lent));
        self.rows += rows;
        let share =
            u128::from(self.length) * u128::from(self.rows) / u128::from(self.all_rows.max(1));
        self.tell(u64::try_from(share).unwrap_or(0), progress);
        Ok(())
    }

    /// Begins the next row group; `false` where there is none.
    fn next_group(&mut self) -> Result<bool, TableError> {
        let Some(group) = self.metadata.metadata().row_groups().get(self.group) else {
            return Ok(false);
        };
        self.pages.next_group();
        self.left = count(group.num_rows());
        let read = group.columns().iter().enumerate();
        let read = read.filter(|(leaf, _)| self.projection.leaf_included(*leaf));
        let bytes = read.map(|(_, column)| {
            let values = count(column.num_values()).saturating_mul(16);
            count(column.uncompressed_size()).saturating_add(values)
        });
        let bytes = bytes.fold(0, u64::saturating_add);
        let of_a_row = (bytes / self.left.max(1)).max(1);
        let rows = (BATCH / of_a_row).min(prefixed_rows(group, &self.projection));
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

    /// Reports progress up to so many bytes of the file.
    fn tell(&mut self, bytes: u64, progress: &Progress<'_>) {
        progress.advance(bytes.saturating_sub(self.told));
        self.told = self.told.max(bytes);
    }
}

/// A count of the footer; a negative one is none.
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

/// Runs a step of the decoder, which panics at some damages.
fn guarded<T, E: ToString>(step: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    match catch_panic(step) {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(_) => Err("its bytes are not valid columns".to_owned()),
    }
}

/// The schema with its texts as views, which are not copied out of their pages.
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

/// How many rows may be decoded at a time where texts are written as the length of what they share with
/// the one before and the rest: each may be as long as the column has bytes.
fn prefixed_rows(group: &RowGroupMetaData, projection: &ProjectionMask) -> u64 {
    let columns = group.columns().iter().enumerate();
    let read = columns.filter(|(leaf, _)| projection.leaf_included(*leaf));
    let prefixed = read.filter(|(_, column)| {
        let mut encodings = column.encodings();
        encodings.any(|encoding| encoding == Encoding::DELTA_BYTE_ARRAY)
    });
    let longest = prefixed.map(|(_, column)| count(column.uncompressed_size()));
    longest
        .max()
        .map_or(u64::MAX, |bytes| PREFIXED / bytes.max(1))
}

/// What the footer says of the columns of a row group that are read.
fn chunks_of(
    file: &str,
    group: &RowGroupMetaData,
    projection: &ProjectionMask,
    length: u64,
) -> Result<Vec<Chunk>, TableError> {
    let mut chunks = Vec::new();
    for (leaf, column) in group.columns().iter().enumerate() {
        if !projection.leaf_included(leaf) {
            continue;
        }
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
        let is_prefixed = column
            .encodings()
            .any(|encoding| encoding == Encoding::DELTA_BYTE_ARRAY);
        // A row has any number of elements, each as long as the column, and is decoded as a whole.
        let whole = bytes.saturating_mul(count(column.num_values()));
        if is_list && is_prefixed && whole > PREFIXED_LISTS {
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
