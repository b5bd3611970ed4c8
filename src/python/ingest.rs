//! The kinds of input of a batch.

use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyString};

use seedbank::IngestRequest;
use seedbank::engine::IngestReport;
use seedbank::engine::ingest::{Format, PushedBatch};
use seedbank::ingest::{Input, RecordBatchSource};

use crate::call::Call;
use crate::{columns, errors, records};

/// Lines are passed on to the batch's threads in portions of this many bytes.
const PORTION: usize = 64 << 10;

/// Advice about arguments that apply to files only.
const ONLY_FILES: &str =
    "omit it; a list of sites is a batch of its own: `bank.ingest([], sites=...)`";

/// The input of a batch.
pub(crate) enum Source<'py> {
    /// Files.
    Paths(Vec<Input>),
    /// An iterator over records, with its first one.
    Records(Option<Bound<'py, PyAny>>, Bound<'py, PyIterator>),
    /// An object with columns, under the name of its class.
    Columns(Bound<'py, PyAny>, String),
}

impl<'py> Source<'py> {
    /// Recognises the kind of an input.
    pub(crate) fn new(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        if object.hasattr(columns::STREAM_METHOD)? {
            let name = object.get_type().name()?.to_string();
            return Ok(Self::Columns(object.clone(), name));
        }
        if let Some(path) = path(object)? {
            return Ok(Self::Paths(vec![path]));
        }
        let mut items = object.try_iter().map_err(|_| {
            let found = object.get_type();
            PyTypeError::new_err(format!(
                "expected a path, several paths, records, or columns ({}), found {found}",
                columns::STREAM_METHOD
            ))
        })?;
        let Some(first) = items.next().transpose()? else {
            return Ok(Self::Records(None, items));
        };
        let Some(first_path) = path(&first)? else {
            return Ok(Self::Records(Some(first), items));
        };
        let mut paths = vec![first_path];
        for item in items {
            let item = item?;
            let other = path(&item)?.ok_or_else(|| {
                let found = item.get_type();
                PyTypeError::new_err(format!(
                    "expected a path after the first one, found {found}"
                ))
            })?;
            paths.push(other);
        }
        Ok(Self::Paths(paths))
    }

    /// Ingests the input as a batch.
    pub(crate) fn ingest(
        self,
        mut call: Call<'py>,
        mut request: IngestRequest,
    ) -> PyResult<IngestReport> {
        let source = match self {
            // A list of sites alone is a batch too.
            Self::Records(None, _) if request.sites.is_some() => Self::Paths(Vec::new()),
            source => source,
        };
        if !matches!(source, Self::Paths(_)) {
            let of_files = [
                ("sites", request.sites.is_some()),
                ("format", request.format != auto()),
            ];
            if let Some((name, _)) = of_files.into_iter().find(|(_, is_given)| *is_given) {
                let text = format!("{name} applies to files, not to records or columns");
                return Err(errors::usage(call.py(), &text, Some(ONLY_FILES)));
            }
        }
        match source {
            Self::Paths(inputs) => {
                request.inputs = inputs;
                call.run(|bank| bank.ingest(&request))
            }
            Self::Columns(object, name) => {
                let source = RecordBatchSource::new(name, columns::import(&object)?);
                call.run(|bank| bank.ingest_sources(&request, &mut [Box::new(source)]))
            }
            Self::Records(first, rest) => {
                let batch = call.step(|bank| bank.push(request))?;
                push(call, batch, first.map(Ok).into_iter().chain(rest))
            }
        }
    }
}

/// The format of a call that names none.
fn auto() -> Format {
    Format::named("auto").unwrap_or_default()
}

/// Returns a path as an input; `None` for anything else.
fn path(object: &Bound<'_, PyAny>) -> PyResult<Option<Input>> {
    if object.is_instance_of::<PyString>() || object.hasattr("__fspath__")? {
        return Ok(Some(Input::named(object.extract::<PathBuf>()?)));
    }
    Ok(None)
}

/// Pushes records to a batch. The iterator runs on the caller's thread, since iterators over databases, for
/// example, do not work on others. If it raises, or a record cannot be written, the batch is abandoned.
fn push<'py>(
    mut call: Call<'py>,
    mut batch: PushedBatch,
    records: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
) -> PyResult<IngestReport> {
    let py = call.py();
    let mut lines: Vec<String> = Vec::new();
    let mut bytes = 0;
    for (record, number) in records.zip(1_u64..) {
        let line = record.and_then(|record| write(&record, number));
        let line = match line.and_then(|line| call.proceed().map(|()| line)) {
            Ok(line) => line,
            Err(error) => {
                // The batch's threads end before this returns.
                py.detach(|| drop(batch));
                return Err(error);
            }
        };
        bytes += line.len();
        lines.push(line);
        if bytes >= PORTION {
            batch = push_lines(&mut call, batch, &lines)?;
            lines.clear();
            bytes = 0;
        }
    }
    let batch = push_lines(&mut call, batch, &lines)?;
    call.run(|_| batch.finish())
}

/// Pushes lines, without the interpreter's lock, and returns the batch.
fn push_lines(
    call: &mut Call<'_>,
    mut batch: PushedBatch,
    lines: &[String],
) -> PyResult<PushedBatch> {
    call.step(|_| {
        for line in lines {
            batch.push_json(line)?;
        }
        Ok(batch)
    })
}

/// Writes a record; the error contains its number.
fn write(record: &Bound<'_, PyAny>, number: u64) -> PyResult<String> {
    let mut line = String::new();
    records::write_line(record, &mut line).map_err(|error| {
        let py = record.py();
        if error.is_instance_of::<PyTypeError>(py) {
            return PyTypeError::new_err(format!("record {number}: {}", error.value(py)));
        }
        error
    })?;
    Ok(line)
}
