//! A batch of Arrow, cut into pieces of rows.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, new_empty_array};
use arrow_schema::Schema;

use super::arrays::{Cell, Size, cell, size, wanted};
use super::error::TableError;
use super::layout::Layout;
use super::row::{Row, Rows, Value, wrong_type};
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::reject::{Fault, Position};
use crate::ingest::source::{PIECE_RECORDS, PIECE_SIZE, Piece};

/// How many bytes of memory a byte of values comes to, with the URLs that are read from it.
const EXPANSION: usize = 2;

/// What the columns of this schema mean. A column whose type does not fit its field is an error.
pub(super) fn layout(file: &str, schema: &Schema) -> Result<Layout, TableError> {
    let names = schema.fields().iter().map(|field| field.name().clone());
    let layout = Layout::of(file, &names.collect::<Vec<_>>())?;
    for (field, column) in &layout.fields {
        let Some(given) = schema.fields().get(*column) else {
            continue;
        };
        // What can read no values cannot read any.
        if cell(field, &new_empty_array(given.data_type())).is_none() {
            return Err(TableError::ColumnType {
                file: file.to_owned(),
                column: given.name().clone(),
                is: given.data_type().to_string(),
                wanted: wanted(field),
            });
        }
    }
    Ok(layout)
}

/// A batch that is cut into pieces, one after another: what stands in it may be many times as much as
/// the batch itself, which is known only once its rows are added up.
pub(super) struct Batch {
    /// The columns of the layout's fields, in their order.
    columns: Vec<Option<ArrayRef>>,
    layout: Arc<Layout>,
    rows: usize,
    /// The row that the next piece begins with, and the number of the first one.
    next: usize,
    first: u64,
    /// Shared with the pieces that are not yet read.
    lent: Arc<()>,
}

impl Batch {
    /// A batch of which the first row has this number. `lent` is shared with its pieces until they are
    /// read.
    pub(super) fn of(
        batch: &RecordBatch,
        layout: &Arc<Layout>,
        first: u64,
        lent: &Arc<()>,
    ) -> Self {
        let column = |(_, at): &(_, usize)| batch.columns().get(*at).cloned();
        Self {
            columns: layout.fields.iter().map(column).collect(),
            layout: Arc::clone(layout),
            rows: batch.num_rows(),
            next: 0,
            first,
            lent: Arc::clone(lent),
        }
    }

    /// The next piece: rows that come to some [`PIECE_SIZE`] bytes; `None` at the end. It panics where
    /// the batch is damaged.
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
        let (layout, lent) = (Arc::clone(&self.layout), Arc::clone(&self.lent));
        let first = self.first + from as u64;
        Some(Piece {
            bytes: bytes as u64,
            records,
            memory: bytes.saturating_mul(EXPANSION),
            read: Box::new(move |parser| {
                read(&columns, records, (&layout, first), parser);
                drop((columns, lent));
            }),
        })
    }
}

/// A piece without rows, with which no other is read: so the pieces before it are read first.
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
    (layout, first): (&Layout, u64),
    parser: &mut PieceParser,
) {
    let columns = layout.fields.iter().zip(columns);
    let columns = columns.map(|((field, _), column)| cell(field, column.as_ref()?.as_ref()));
    let cells: Vec<Option<Cell<'_>>> = columns.collect();
    let mut read = Rows::new(layout);
    for (row, number) in (0..rows).zip(first..) {
        let arrays = Arrays {
            layout,
            cells: &cells,
            row,
        };
        read.read(&arrays, Position::Record(number), None, parser);
    }
    read.finish(parser);
}

/// A row of a batch.
struct Arrays<'c, 'a> {
    layout: &'c Layout,
    /// In the order of the layout's fields.
    cells: &'c [Option<Cell<'a>>],
    row: usize,
}

impl<'a> Row<'a> for Arrays<'_, 'a> {
    fn value(&self, field: &'static str, column: usize) -> Result<Option<Value<'a>>, Fault> {
        let place = self.layout.fields.iter().position(|(_, at)| *at == column);
        let cell = place.and_then(|place| self.cells.get(place));
        match cell {
            Some(Some(cell)) => cell(self.row),
            _ => Err(wrong_type(field, wanted(field))),
        }
    }
}
