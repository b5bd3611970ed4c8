//! Cuts a batch of Arrow into pieces of rows.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, new_empty_array};
use arrow_schema::Schema;

use super::arrow_values::{Cell, Size, cell, expected_type, size};
use super::column_map::ColumnMap;
use super::error::TableError;
use super::row::{Row, Rows, Value};
use crate::ingest::formats::json_lines::wrong_type;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::reject::{Fault, Position};
use crate::ingest::source::{PIECE_RECORDS, PIECE_SIZE, Piece, Pieces, Stop};

/// Bytes of memory for each byte of values, including the URLs that are parsed from them.
const EXPANSION: usize = 2;

/// Maps the columns of a schema. Returns an error if the type of a column does not fit its field.
pub(super) fn map_columns(file: &str, schema: &Schema) -> Result<ColumnMap, TableError> {
    let names = schema.fields().iter().map(|field| field.name().clone());
    let map = ColumnMap::new(file, &names.collect::<Vec<_>>())?;
    for (field, column) in &map.fields {
        let Some(found) = schema.fields().get(*column) else {
            continue;
        };
        // A reader of no values shows whether values of this type can be read.
        if cell(field, &new_empty_array(found.data_type())).is_none() {
            return Err(TableError::ColumnType {
                file: file.to_owned(),
                column: found.name().clone(),
                is: found.data_type().to_string(),
                wanted: expected_type(field),
            });
        }
    }
    Ok(map)
}

/// What a reader of batches did in one step.
pub(super) enum ReadStep<'a> {
    /// It cut a piece.
    Piece(Piece<'a>),
    /// It read something that has no piece yet.
    Continue,
    /// It reached the end.
    End,
}

/// Returns the pieces that steps cut, up to the end or the first error.
pub(super) fn pieces<'a>(
    mut step: impl FnMut() -> Result<ReadStep<'a>, Stop> + Send + 'a,
) -> Pieces<'a> {
    let mut is_ended = false;
    Box::new(std::iter::from_fn(move || {
        while !is_ended {
            match step() {
                Ok(ReadStep::Piece(piece)) => return Some(Ok(piece)),
                Ok(ReadStep::Continue) => {}
                Ok(ReadStep::End) => is_ended = true,
                Err(error) => {
                    is_ended = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }))
}

/// A batch that is cut into pieces, one after another: its values may be many times as large as the
/// batch itself, which is known only once the sizes of its rows are added up.
pub(super) struct Batch {
    /// The columns of the mapped fields, in their order.
    columns: Vec<Option<ArrayRef>>,
    map: Arc<ColumnMap>,
    rows: usize,
    /// The index of the next row, and the number of the first row.
    next: usize,
    first: u64,
    /// Shared with the pieces that are not yet read.
    lent: Arc<()>,
}

impl Batch {
    /// A batch whose first row has the number `first`. `lent` is shared with its pieces until they
    /// are read.
    pub(super) fn new(
        batch: &RecordBatch,
        map: &Arc<ColumnMap>,
        first: u64,
        lent: &Arc<()>,
    ) -> Self {
        let column = |(_, at): &(_, usize)| batch.columns().get(*at).cloned();
        Self {
            columns: map.fields.iter().map(column).collect(),
            map: Arc::clone(map),
            rows: batch.num_rows(),
            next: 0,
            first,
            lent: Arc::clone(lent),
        }
    }

    /// Returns the next rows, of about [`PIECE_SIZE`] bytes; `None` at the end. Panics if the batch
    /// is damaged.
    pub(super) fn next<'a>(&mut self) -> Option<Piece<'a>> {
        let columns = self.columns.iter().flatten();
        let sizes: Vec<Size<'_>> = columns.map(|column| size(column.as_ref())).collect();
        let from = self.next;
        let mut bytes = 0;
        while self.next < self.rows && bytes < PIECE_SIZE && self.next - from < PIECE_RECORDS {
            bytes += sizes.iter().map(|size| size(self.next)).sum::<usize>();
            self.next += 1;
        }
        let records = self.next - from;
        if records == 0 {
            return None;
        }
        let slice = |column: &Option<ArrayRef>| column.as_ref().map(|all| all.slice(from, records));
        let columns: Vec<Option<ArrayRef>> = self.columns.iter().map(slice).collect();
        let (map, lent) = (Arc::clone(&self.map), Arc::clone(&self.lent));
        let first = self.first + from as u64;
        Some(Piece {
            bytes: bytes as u64,
            records,
            memory: bytes.saturating_mul(EXPANSION),
            read: Box::new(move |parser| {
                read(&columns, records, &map, first, parser);
                drop((columns, lent));
            }),
        })
    }
}

/// The share of the memory limit that batches with unread rows may take, as a divisor.
const LENT_SHARE: u64 = 4;

/// The batches to which unread pieces may belong.
#[derive(Default)]
pub(super) struct LentBatches {
    /// Shared with the pieces that are not yet read.
    pub(super) token: Arc<()>,
    /// The size of the batches, in bytes.
    pub(super) bytes: u64,
}

impl LentBatches {
    /// Returns whether pieces must be read before the next batch; `max_held_bytes` is the memory limit.
    pub(super) fn must_wait(&mut self, max_held_bytes: u64) -> bool {
        if self.bytes <= max_held_bytes / LENT_SHARE {
            return false;
        }
        let has_unread = Arc::strong_count(&self.token) > 1;
        if !has_unread {
            self.bytes = 0;
        }
        has_unread
    }
}

/// A piece without rows that is never read together with others, so that all pieces before it are
/// read first.
pub(super) fn wait<'a>() -> Piece<'a> {
    Piece {
        bytes: 0,
        records: 0,
        memory: usize::MAX,
        read: Box::new(|_| {}),
    }
}

fn read(
    columns: &[Option<ArrayRef>],
    rows: usize,
    map: &ColumnMap,
    first: u64,
    parser: &mut PieceParser,
) {
    let columns = map.fields.iter().zip(columns);
    let columns = columns.map(|((field, _), column)| cell(field, column.as_ref()?.as_ref()));
    let cells: Vec<Option<Cell<'_>>> = columns.collect();
    let mut read = Rows::new(map);
    for (row, number) in (0..rows).zip(first..) {
        let arrays = Arrays {
            map,
            cells: &cells,
            row,
        };
        read.read(&arrays, Position::Record(number), None, parser);
    }
    read.finish(parser);
}

/// A row of a batch.
struct Arrays<'c, 'a> {
    map: &'c ColumnMap,
    /// The columns of the mapped fields, in their order.
    cells: &'c [Option<Cell<'a>>],
    row: usize,
}

impl<'a> Row<'a> for Arrays<'_, 'a> {
    fn value(&self, field: &'static str, column: usize) -> Result<Option<Value<'a>>, Fault> {
        let place = self.map.fields.iter().position(|(_, at)| *at == column);
        let cell = place.and_then(|place| self.cells.get(place));
        match cell {
            Some(Some(cell)) => cell(self.row),
            _ => Err(wrong_type(field, expected_type(field))),
        }
    }
}
