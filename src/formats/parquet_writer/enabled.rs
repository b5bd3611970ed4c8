//! The Parquet writer.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;

use super::{Cell, Column, ColumnType};

/// Rows are buffered and encoded in batches of this many rows, or of this many bytes of text.
const BATCH_ROWS: usize = 8192;
const BATCH_TEXT_BYTES: usize = 4 << 20;

/// Limits of a row group, which is held in memory until it is complete.
const GROUP_ROWS: usize = 1 << 20;
const GROUP_BYTES: usize = 64 << 20;

/// A table being written. Memory: one encoded row group of at most 64 MiB, and one batch of rows.
pub struct Table<W: Write + Send> {
    writer: ArrowWriter<W>,
    schema: SchemaRef,
    columns: Vec<ColumnBuffer>,
    rows: usize,
    text_bytes: usize,
}

/// The values of a column that are not encoded yet.
enum ColumnBuffer {
    Integer(Int64Builder),
    Float(Float64Builder),
    Boolean(BooleanBuilder),
    Text(StringBuilder),
}

impl<W: Write + Send> Table<W> {
    /// Creates a table without rows.
    pub fn new(out: W, columns: &'static [Column]) -> io::Result<Self> {
        let fields: Vec<Field> = columns
            .iter()
            .map(|column| Field::new(column.name, data_type(column.kind), true))
            .collect();
        let schema: SchemaRef = Arc::new(Schema::new(fields));
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
        let writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties.build()));
        Ok(Self {
            writer: writer.map_err(into_io_error)?,
            schema,
            columns: columns
                .iter()
                .map(|column| ColumnBuffer::new(column.kind))
                .collect(),
            rows: 0,
            text_bytes: 0,
        })
    }

    /// Writes a row: one cell per column, in the order of the columns.
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
        if self.rows >= BATCH_ROWS || self.text_bytes >= BATCH_TEXT_BYTES {
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
        if self.rows == 0 {
            return Ok(());
        }
        (self.rows, self.text_bytes) = (0, 0);
        let columns: Vec<ArrayRef> = self.columns.iter_mut().map(ColumnBuffer::take).collect();
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        let batch = batch.map_err(io::Error::other)?;
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
