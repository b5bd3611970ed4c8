//! The Parquet writer.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;

use super::{BatchBuilder, Cell, Column, ColumnType};

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
