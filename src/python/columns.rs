//! Columns of other libraries, by the C stream interface of Arrow.
//!
//! This is the only module with `unsafe` code. The package pyo3-arrow has the same few lines, but its last
//! release uses an older arrow, and it brings several packages more.

use std::ffi::CStr;

use arrow_array::RecordBatchReader;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_schema::Schema;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

use crate::errors;

/// The name of the method by which objects give their columns.
pub(crate) const STREAM_METHOD: &str = "__arrow_c_stream__";

const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";

/// Takes the columns of an object that has the method.
pub(crate) fn import(object: &Bound<'_, PyAny>) -> PyResult<Box<dyn RecordBatchReader + Send>> {
    let capsule = object.call_method0(STREAM_METHOD)?;
    let capsule = capsule.cast_into::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(STREAM))?;
    let pointer = pointer.cast::<FFI_ArrowArrayStream>();
    #[expect(
        unsafe_code,
        reason = "a pointer in a capsule cannot be read otherwise"
    )]
    // SAFETY: By the PyCapsule interface of Arrow, a capsule of this name, which was just checked, holds a
    // pointer to an initialised stream, which the receiver may move out. The capsule is alive and this thread
    // holds the interpreter's lock, so that nobody else uses the stream meanwhile. The capsule then has a
    // released stream, which its destructor leaves alone. That the callbacks of the stream keep to the
    // interface is up to the library, as for every extension module in the process.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    let reader = RecordBatchStreamReader::try_new(stream)
        .map_err(|error| errors::usage(object.py(), &error.to_string(), None))?;
    Ok(Box::new(reader))
}

/// Gives columns to another library.
pub(crate) fn export(
    py: Python<'_>,
    batches: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(batches), STREAM)
}

/// Gives the names and types of columns to another library.
pub(crate) fn export_schema<'py>(
    py: Python<'py>,
    schema: &Schema,
) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema)
        .map_err(|error| errors::usage(py, &error.to_string(), None))?;
    PyCapsule::new_with_value(py, schema, SCHEMA)
}
