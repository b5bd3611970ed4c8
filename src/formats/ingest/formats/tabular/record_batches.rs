//! Batches of Arrow that a caller has in memory, or that a library yields one after another.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::ArrowError;

use super::batch::{Batch, LentBatches, ReadStep, map_columns, pieces, wait};
use super::column_map::ColumnMap;
use super::error::TableError;
use crate::ingest::catch_panic::catch_panic;
use crate::ingest::progress::Progress;
use crate::ingest::source::{DEFAULT_HELD_BYTES, Pieces, Source, Stop, max_held_bytes};

/// A source of records: the rows of batches of Arrow, with columns named like the fields of records.
///
/// Batches are requested one after another, and only a share of the memory limit of batches is requested
/// before the rows of earlier ones are read. A batch that is larger is not refused, since it is in memory
/// already.
///
/// ```
/// use std::sync::Arc;
///
/// use arrow_array::{RecordBatch, RecordBatchIterator, StringArray};
/// use seedbank_algorithms::watch::Unwatched;
/// use seedbank_formats::ingest::{Naming, RecordBatchSource, ReadError, read_batch};
///
/// let urls = Arc::new(StringArray::from(vec!["https://example.org/", "nonsense"]));
/// let batch = RecordBatch::try_from_iter([("url", urls as _)])?;
/// let schema = batch.schema();
/// let batches = RecordBatchIterator::new([Ok(batch)], schema);
/// let source = RecordBatchSource::new("frame".to_owned(), Box::new(batches));
/// let read = read_batch(&mut [Box::new(source)], Naming::default(), &Unwatched, &mut |_, _| {
///     Ok::<(), std::fmt::Error>(())
/// })?;
/// assert_eq!((read.records, read.rejected()), (2, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RecordBatchSource {
    name: String,
    batches: Box<dyn RecordBatchReader + Send>,
    max_held_bytes: usize,
}

impl RecordBatchSource {
    /// Creates a source under this name.
    #[must_use]
    pub fn new(name: String, batches: Box<dyn RecordBatchReader + Send>) -> Self {
        Self {
            name,
            batches,
            max_held_bytes: DEFAULT_HELD_BYTES,
        }
    }
}

impl Source for RecordBatchSource {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn limit_memory(&mut self, bytes: usize) {
        self.max_held_bytes = max_held_bytes(bytes);
    }

    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        let columns = map_columns(&self.name, &self.batches.schema())?;
        let mut rows = BatchRows {
            name: &self.name,
            batches: &mut *self.batches,
            columns: Arc::new(columns),
            progress: progress.clone(),
            read: 0,
            batch: None,
            lent: LentBatches::default(),
            max_held_bytes: self.max_held_bytes as u64,
        };
        Ok(pieces(move || rows.step()))
    }
}

/// The rows of batches, cut into pieces.
struct BatchRows<'a> {
    name: &'a str,
    batches: &'a mut (dyn RecordBatchReader + Send),
    columns: Arc<ColumnMap>,
    progress: Progress<'a>,
    /// Number of rows of all batches so far.
    read: u64,
    /// The batch that is cut into pieces.
    batch: Option<Batch>,
    lent: LentBatches,
    /// The memory limit, in bytes.
    max_held_bytes: u64,
}

impl BatchRows<'_> {
    /// Cuts the next piece, or requests another batch.
    fn step<'p>(&mut self) -> Result<ReadStep<'p>, Stop> {
        self.progress.proceed()?;
        if let Some(batch) = &mut self.batch {
            let piece = catch_panic(|| batch.next());
            let piece = piece.map_err(|_| self.failed("its columns are damaged".to_owned()))?;
            if piece.is_none() {
                self.batch = None;
            }
            return Ok(piece.map_or(ReadStep::Continue, ReadStep::Piece));
        }
        if self.lent.must_wait(self.max_held_bytes) {
            return Ok(ReadStep::Piece(wait()));
        }
        // A library may yield columns that the reader of the interface cannot take.
        let next = catch_panic(|| self.batches.next());
        match next {
            Ok(None) => return Ok(ReadStep::End),
            Ok(Some(Ok(batch))) => self.begin(&batch)?,
            Ok(Some(Err(error))) => return Err(self.failed(problem(error))),
            Err(_) => return Err(self.failed("its columns are damaged".to_owned())),
        }
        Ok(ReadStep::Continue)
    }

    fn begin(&mut self, batch: &RecordBatch) -> Result<(), Stop> {
        if batch.schema_ref() != &self.batches.schema() {
            return Err(self.failed("a batch has other columns than the first".to_owned()));
        }
        let first = self.read + 1;
        self.batch = Some(Batch::new(batch, &self.columns, first, &self.lent.token));
        self.read += batch.num_rows() as u64;
        let size = batch.get_array_memory_size() as u64;
        self.lent.bytes = self.lent.bytes.saturating_add(size);
        Ok(())
    }

    fn failed(&self, problem: String) -> Stop {
        TableError::Batches {
            name: self.name.to_owned(),
            rows: self.read,
            problem,
        }
        .into()
    }
}

/// Returns the text of an error without its kind, which says nothing to the caller.
fn problem(error: ArrowError) -> String {
    match error {
        ArrowError::CDataInterface(text) => text,
        other => other.to_string(),
    }
}
