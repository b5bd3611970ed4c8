//! A batch of Arrow, cut into pieces of rows.

use std::sync::Arc;

use arrow_array::{RecordBatch, new_empty_array};
use arrow_schema::Schema;

use super::arrays::{Cell, cell, size, wanted};
use super::error::TableError;
use super::layout::Layout;
use super::row::{Row, Rows, Value, wrong_type};
use crate::ingest::reading::Reading;
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

/// The pieces of a batch, of which the first row has this number.
pub(super) fn pieces<'a>(batch: &RecordBatch, layout: &Arc<Layout>, first: u64) -> Vec<Piece<'a>> {
    let rows = batch.num_rows();
    let columns = layout
        .fields
        .iter()
        .filter_map(|(_, at)| batch.columns().get(*at));
    let bytes: usize = columns.map(|column| size(column, 0..rows)).sum();
    let of_a_row = bytes.div_ceil(rows.max(1)).max(1);
    let at_a_time = (PIECE_SIZE / of_a_row).clamp(1, PIECE_RECORDS);
    let pieces = (0..rows).step_by(at_a_time).map(|from| {
        let batch = batch.slice(from, at_a_time.min(rows - from));
        let layout = Arc::clone(layout);
        let records = batch.num_rows();
        let memory = records * of_a_row;
        Piece {
            bytes: memory as u64,
            records,
            memory: memory * EXPANSION,
            read: Box::new(move |reading| read(&batch, &layout, first + from as u64, reading)),
        }
    });
    pieces.collect()
}

fn read(batch: &RecordBatch, layout: &Layout, first: u64, reading: &mut Reading) {
    let columns = layout.fields.iter().map(|(field, at)| {
        let column = batch.columns().get(*at);
        column.and_then(|column| cell(field, column.as_ref()))
    });
    let cells: Vec<Option<Cell<'_>>> = columns.collect();
    let mut rows = Rows::new(layout);
    for (row, number) in (0..batch.num_rows()).zip(first..) {
        let arrays = Arrays {
            layout,
            cells: &cells,
            row,
        };
        rows.read(&arrays, Position::Record(number), None, reading);
    }
    rows.finish(reading);
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
