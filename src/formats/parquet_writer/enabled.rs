//! The Parquet writer.

use std::io::{self, Write};
use std::sync::Arc;

use super::{Cell, Column, ColumnType};
use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;

/// Limits of a row group, which is held in memory until it is complete.
const GROUP_ROWS: usize = 1 << 20;
const GROUP_BYTES: usize = 64 << 20;

/// A table being written. Memory: one encoded row group of at most 64 MiB, and one batch of rows.
pub struct Table<W: Write + Send> {
    writer: ArrowWriter<W>,
    /// Rows that are not encoded yet.
    rows: BatchBuilder,
}

impl<W: Write + Send> Table<W> {
    /// Creates a table without rows.
    pub fn new(out: W, columns: &'static [Column]) -> io::Result<Self> {
        let rows = BatchBuilder::new(columns);
        let mut properties = WriterProperties::builder()
            // The default contains a crate version, which would change the bytes.
            .set_created_by("seedbank".to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_max_row_group_bytes(Some(GROUP_BYTES));
        for column in columns {
            let path = ColumnPath::from(column.name);
            let repeats = matches!(column.kind, ColumnType::RepeatedText | ColumnType::Boolean);
            properties = properties.set_column_dictionary_enabled(path.clone(), repeats);
            if column.kind == ColumnType::Integer {
                properties = properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
            }
        }
        let schema = Arc::clone(rows.schema());
        let writer = ArrowWriter::try_new(out, schema, Some(properties.build()));
        Ok(Self {
            writer: writer.map_err(into_io_error)?,
            rows,
        })
    }

    /// Writes a row: one cell per column, in the order of the columns.
    pub fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        self.rows.row(cells)?;
        if self.rows.is_full() {
            self.encode()?;
        }
        Ok(())
    }

    /// Writes the remaining rows and the footer, and returns the writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.encode()?;
        self.writer.into_inner().map_err(into_io_error)
    }

    fn encode(&mut self) -> io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let batch = self.rows.take()?;
        self.writer.write(&batch).map_err(into_io_error)
    }
}

/// Returns the I/O error inside a Parquet error, if there is one.
fn into_io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(system) => *system,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

// Collects rows as batches of Arrow.

/// The size of a batch: this many rows, or this many bytes of text.
const BATCH_ROWS: usize = 8192;
const BATCH_TEXT_BYTES: usize = 4 << 20;

/// Collects rows into batches. Memory: one batch.
///
/// ```
/// use seedbank_formats::parquet_writer::{BatchBuilder, Cell, Column, ColumnType};
///
/// const COLUMNS: &[Column] = &[Column::new("url", ColumnType::Text)];
/// let mut builder = BatchBuilder::new(COLUMNS);
/// builder.row(&[Cell::Text("https://example.org/")])?;
/// let batch = builder.take()?;
/// assert_eq!((batch.num_rows(), builder.take()?.num_rows()), (1, 0));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct BatchBuilder {
    schema: SchemaRef,
    columns: Vec<ColumnBuffer>,
    rows: usize,
    text_bytes: usize,
}

/// The values of a column.
enum ColumnBuffer {
    Integer(Int64Builder),
    Float(Float64Builder),
    Boolean(BooleanBuilder),
    Text(StringBuilder),
}

impl BatchBuilder {
    /// Creates a builder without rows.
    #[must_use]
    pub fn new(columns: &[Column]) -> Self {
        let field = |column: &Column| Field::new(column.name, data_type(column.kind), true);
        let fields: Vec<Field> = columns.iter().map(field).collect();
        let buffers = columns.iter().map(|column| ColumnBuffer::new(column.kind));
        Self {
            schema: Arc::new(Schema::new(fields)),
            columns: buffers.collect(),
            rows: 0,
            text_bytes: 0,
        }
    }

    /// Returns the names and types of the columns.
    #[must_use]
    pub const fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Adds a row: one cell per column, in the order of the columns.
    pub fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        if cells.len() != self.columns.len() {
            return Err(io::Error::other(
                "the number of cells of a row differs from the number of columns",
            ));
        }
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            if let Cell::Text(text) = cell {
                self.text_bytes += text.len();
            }
            column.push(*cell)?;
        }
        self.rows += 1;
        Ok(())
    }

    /// Returns whether there are enough rows for a batch.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.rows >= BATCH_ROWS || self.text_bytes >= BATCH_TEXT_BYTES
    }

    /// Returns whether there are no rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Takes the rows as a batch.
    pub fn take(&mut self) -> io::Result<RecordBatch> {
        (self.rows, self.text_bytes) = (0, 0);
        let columns: Vec<ArrayRef> = self.columns.iter_mut().map(ColumnBuffer::take).collect();
        RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(io::Error::other)
    }
}

const fn data_type(kind: ColumnType) -> DataType {
    match kind {
        ColumnType::Integer => DataType::Int64,
        ColumnType::Float => DataType::Float64,
        ColumnType::Boolean => DataType::Boolean,
        ColumnType::Text | ColumnType::RepeatedText => DataType::Utf8,
    }
}

impl ColumnBuffer {
    fn new(kind: ColumnType) -> Self {
        match kind {
            ColumnType::Integer => Self::Integer(Int64Builder::new()),
            ColumnType::Float => Self::Float(Float64Builder::new()),
            ColumnType::Boolean => Self::Boolean(BooleanBuilder::new()),
            ColumnType::Text | ColumnType::RepeatedText => Self::Text(StringBuilder::new()),
        }
    }

    fn push(&mut self, cell: Cell<'_>) -> io::Result<()> {
        match (self, cell) {
            (Self::Integer(values), Cell::Integer(number)) => {
                values.append_value(i64::try_from(number).unwrap_or(i64::MAX));
            }
            (Self::Float(values), Cell::Float(number)) => values.append_value(number),
            (Self::Boolean(values), Cell::Boolean(value)) => values.append_value(value),
            (Self::Text(values), Cell::Text(text)) => values.append_value(text),
            (Self::Integer(values), Cell::None) => values.append_null(),
            (Self::Float(values), Cell::None) => values.append_null(),
            (Self::Boolean(values), Cell::None) => values.append_null(),
            (Self::Text(values), Cell::None) => values.append_null(),
            _ => return Err(io::Error::other("a cell has another type than its column")),
        }
        Ok(())
    }

    fn take(&mut self) -> ArrayRef {
        match self {
            Self::Integer(values) => Arc::new(values.finish()),
            Self::Float(values) => Arc::new(values.finish()),
            Self::Boolean(values) => Arc::new(values.finish()),
            Self::Text(values) => Arc::new(values.finish()),
        }
    }
}
