//! Errors of the library as exceptions, whose classes are in `python/seedbank_engine/errors.py`.

use std::error::Error;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use seedbank::EngineError;
use seedbank::engine::error::{BadRecords, ErrorKind, StoreError};

use crate::hints;

/// Returns the exception of an error of the library.
pub(crate) fn engine(py: Python<'_>, error: &EngineError) -> PyErr {
    let class = match error.kind() {
        ErrorKind::Usage => "UsageError",
        ErrorKind::NotFound => "NotFoundError",
        ErrorKind::Rejected => "RefusedError",
        ErrorKind::Unavailable if is_damage(error) => "DamagedError",
        ErrorKind::Unavailable if matches!(error, EngineError::Store(StoreError::Busy(_))) => {
            "BusyError"
        }
        ErrorKind::Unavailable => "UnavailableError",
        ErrorKind::Failed => "SeedbankError",
        ErrorKind::Interrupted => return PyKeyboardInterrupt::new_err(error.to_string()),
    };
    let bad = match error {
        EngineError::TooManyRejects { bad, .. } | EngineError::MostlyRejected { bad } => {
            Some(&**bad)
        }
        _ => None,
    };
    let hint = error.hint().and_then(|hint| hints::text(&hint));
    new(py, class, &text(error), hint.as_deref(), bad)
}

/// Returns the exception of a call with wrong arguments.
pub(crate) fn usage(py: Python<'_>, text: &str, hint: Option<&str>) -> PyErr {
    new(py, "UsageError", text, hint, None)
}

/// Returns the exception of an operation that failed for a reason other than its input.
pub(crate) fn failed(py: Python<'_>, text: &str) -> PyErr {
    new(py, "SeedbankError", text, None, None)
}

/// Returns the exception of a call in a fork.
pub(crate) fn forked(py: Python<'_>) -> PyErr {
    usage(
        py,
        "seedbank_engine was used before this process was forked, and its threads are not in the fork",
        Some(
            "start processes by the method `spawn` (`multiprocessing.get_context(\"spawn\")`), or use the package only after the fork",
        ),
    )
}

fn is_damage(error: &EngineError) -> bool {
    match error {
        EngineError::DamagedCache(_) => true,
        EngineError::Store(error) => error.is_damage(),
        _ => false,
    }
}

/// Returns the text of an error, followed by those of its causes.
fn text(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let cause = error.to_string();
        if !text.ends_with(&cause) {
            text.extend([": ", &cause]);
        }
        source = error.source();
    }
    text
}

/// Creates an exception. If its class cannot be imported, the exception is that of the import.
fn new(
    py: Python<'_>,
    class: &str,
    text: &str,
    hint: Option<&str>,
    bad: Option<&BadRecords>,
) -> PyErr {
    let create = || {
        let errors = py.import("seedbank_engine.errors")?;
        let error = errors.getattr(class)?.call1((text, hint))?;
        if let Some(bad) = bad {
            error.setattr("bad_records", bad.count)?;
            error.setattr("records", bad.records)?;
            let file = bad.file.as_ref().map(|file| file.to_string_lossy());
            error.setattr("rejects_file", file)?;
        }
        Ok::<_, PyErr>(PyErr::from_value(error))
    };
    create().unwrap_or_else(|error| error)
}
