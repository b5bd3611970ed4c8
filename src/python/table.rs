//! Tables of rows, as columns.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, RecordBatch, RecordBatchIterator};
use arrow_schema::{DataType, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use seedbank::EngineError;
use seedbank_formats::parquet_writer::{BatchBuilder, TableRow};

use crate::columns;

/// Rows of an answer, as columns that other libraries take without a copy: `polars.DataFrame(table)`,
/// `pyarrow.table(table)`, `duckdb.sql("from table")`. It is also an iterable of dicts.
#[pyclass(frozen, module = "seedbank_engine")]
pub(crate) struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

/// Collects rows as a table.
pub(crate) struct TableBuilder {
    rows: BatchBuilder,
    batches: Vec<RecordBatch>,
}

impl TableBuilder {
    /// Begins a table of these rows.
    pub(crate) fn new<R: TableRow>() -> Self {
        Self {
            rows: BatchBuilder::new(R::COLUMNS),
            batches: Vec::new(),
        }
    }

    /// Adds a row.
    pub(crate) fn add(&mut self, row: &impl TableRow) -> Result<(), EngineError> {
        self.rows.row(&row.cells()).map_err(contradiction)?;
        if self.rows.is_full() {
            self.batches.push(self.rows.take().map_err(contradiction)?);
        }
        Ok(())
    }

    /// Returns the table.
    pub(crate) fn finish(mut self) -> Result<Table, EngineError> {
        if !self.rows.is_empty() {
            self.batches.push(self.rows.take().map_err(contradiction)?);
        }
        Ok(Table {
            schema: Arc::clone(self.rows.schema()),
            batches: self.batches,
        })
    }
}

fn contradiction(_: std::io::Error) -> EngineError {
    EngineError::Internal("a row does not fit the columns of its table")
}

#[pymethods]
impl Table {
    /// The columns as a stream of Arrow, for other libraries.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // By the interface a producer may ignore a request for other types.
        drop(requested_schema);
        let batches = self.batches.clone().into_iter().map(Ok);
        let batches = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        columns::export(py, Box::new(batches))
    }

    /// The names and types of the columns as a schema of Arrow, for other libraries.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        columns::export_schema(py, &self.schema)
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        let fields = self.schema.fields().iter();
        fields.map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __iter__(table: Bound<'_, Self>) -> Rows {
        Rows {
            table: table.unbind(),
            batch: 0,
            row: 0,
        }
    }

    fn __repr__(&self) -> String {
        let columns = self.columns().join(", ");
        format!("<Table of {} rows: {columns}>", self.__len__())
    }
}

/// The rows of a table as dicts, one after another.
#[pyclass(module = "seedbank_engine")]
pub(crate) struct Rows {
    table: Py<Table>,
    /// The batch and the row in it that come next.
    batch: usize,
    row: usize,
}

#[pymethods]
impl Rows {
    const fn __iter__(rows: PyRef<'_, Self>) -> PyRef<'_, Self> {
        rows
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let table = self.table.get();
        while let Some(batch) = table.batches.get(self.batch) {
            if self.row < batch.num_rows() {
                let row = PyDict::new(py);
                for (field, column) in table.schema.fields().iter().zip(batch.columns()) {
                    row.set_item(field.name(), cell(py, column, self.row)?)?;
                }
                self.row += 1;
                return Ok(Some(row));
            }
            (self.batch, self.row) = (self.batch + 1, 0);
        }
        Ok(None)
    }
}

/// Returns the value of a column in a row. Columns have the types that the builder of batches has.
fn cell<'py>(py: Python<'py>, column: &dyn Array, row: usize) -> PyResult<Bound<'py, PyAny>> {
    if column.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    Ok(match column.data_type() {
        DataType::Int64 => column
            .as_primitive::<Int64Type>()
            .value(row)
            .into_pyobject(py)?
            .into_any(),
        DataType::Float64 => column
            .as_primitive::<Float64Type>()
            .value(row)
            .into_pyobject(py)?
            .into_any(),
        DataType::Boolean => column
            .as_boolean()
            .value(row)
            .into_pyobject(py)?
            .to_owned()
            .into_any(),
        _ => column
            .as_string::<i32>()
            .value(row)
            .into_pyobject(py)?
            .into_any(),
    })
}
