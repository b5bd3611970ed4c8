//! A Parquet file on its way.

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

use super::{Cell, Column, Kind};

/// How many rows go into the file's coders together, and how many bytes of text at most.
const ROWS: usize = 8192;
const TEXT: usize = 4 << 20;

/// How large a group of rows is at most, which is held until it is complete.
const GROUP_ROWS: usize = 1 << 20;
const GROUP_BYTES: usize = 64 << 20;

/// A table that is written to a file. Memory: a group of rows, coded, of at most 64 MiB, and some
/// thousand rows as they came.
pub struct Table<W: Write + Send> {
    writer: ArrowWriter<W>,
    schema: SchemaRef,
    columns: Vec<Values>,
    rows: usize,
    text: usize,
}

/// The values of a column that are not yet coded.
enum Values {
    Whole(Int64Builder),
    Real(Float64Builder),
    Flag(BooleanBuilder),
    Text(StringBuilder),
}

impl<W: Write + Send> Table<W> {
    /// Begins a table.
    pub fn new(out: W, columns: &'static [Column]) -> io::Result<Self> {
        let fields: Vec<Field> = columns
            .iter()
            .map(|column| Field::new(column.name, type_of(column.kind), true))
            .collect();
        let schema: SchemaRef = Arc::new(Schema::new(fields));
        let mut properties = WriterProperties::builder()
            // Its default names the version of a crate, which changes the bytes.
            .set_created_by("seedbank".to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_max_row_group_bytes(Some(GROUP_BYTES));
        for column in columns {
            let path = ColumnPath::from(column.name);
            let repeats = matches!(column.kind, Kind::Name | Kind::Flag);
            properties = properties.set_column_dictionary_enabled(path.clone(), repeats);
            if column.kind == Kind::Whole {
                properties = properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
            }
        }
        let writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties.build()));
        Ok(Self {
            writer: writer.map_err(failed)?,
            schema,
            columns: columns.iter().map(|column| values(column.kind)).collect(),
            rows: 0,
            text: 0,
        })
    }

    /// Writes a row, with a cell for each column in their order.
    pub fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        if cells.len() != self.columns.len() {
            return Err(io::Error::other("a row has not as many cells as columns"));
        }
        for (values, cell) in self.columns.iter_mut().zip(cells) {
            if let Cell::Text(text) = cell {
                self.text += text.len();
            }
            put(values, *cell)?;
        }
        self.rows += 1;
        if self.rows >= ROWS || self.text >= TEXT {
            self.code()?;
        }
        Ok(())
    }

    /// Writes what is left.
    pub fn finish(mut self) -> io::Result<W> {
        self.code()?;
        self.writer.into_inner().map_err(failed)
    }

    fn code(&mut self) -> io::Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        (self.rows, self.text) = (0, 0);
        let columns: Vec<ArrayRef> = self.columns.iter_mut().map(taken).collect();
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        let batch = batch.map_err(io::Error::other)?;
        self.writer.write(&batch).map_err(failed)
    }
}

/// The system's error where it is one.
fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(system) => *system,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

const fn type_of(kind: Kind) -> DataType {
    match kind {
        Kind::Whole => DataType::Int64,
        Kind::Real => DataType::Float64,
        Kind::Flag => DataType::Boolean,
        Kind::Text | Kind::Name => DataType::Utf8,
    }
}

fn values(kind: Kind) -> Values {
    match kind {
        Kind::Whole => Values::Whole(Int64Builder::new()),
        Kind::Real => Values::Real(Float64Builder::new()),
        Kind::Flag => Values::Flag(BooleanBuilder::new()),
        Kind::Text | Kind::Name => Values::Text(StringBuilder::new()),
    }
}

fn put(values: &mut Values, cell: Cell<'_>) -> io::Result<()> {
    match (values, cell) {
        (Values::Whole(values), Cell::Whole(number)) => {
            values.append_value(i64::try_from(number).unwrap_or(i64::MAX));
        }
        (Values::Real(values), Cell::Real(number)) => values.append_value(number),
        (Values::Flag(values), Cell::Flag(flag)) => values.append_value(flag),
        (Values::Text(values), Cell::Text(text)) => values.append_value(text),
        (Values::Whole(values), Cell::None) => values.append_null(),
        (Values::Real(values), Cell::None) => values.append_null(),
        (Values::Flag(values), Cell::None) => values.append_null(),
        (Values::Text(values), Cell::None) => values.append_null(),
        _ => return Err(io::Error::other("a cell is not of its column's kind")),
    }
    Ok(())
}

fn taken(values: &mut Values) -> ArrayRef {
    match values {
        Values::Whole(values) => Arc::new(values.finish()),
        Values::Real(values) => Arc::new(values.finish()),
        Values::Flag(values) => Arc::new(values.finish()),
        Values::Text(values) => Arc::new(values.finish()),
    }
}
