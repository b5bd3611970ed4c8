//! A bank that calls work on, and answers as objects of Python.

use std::mem;
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use pyo3::prelude::*;
use serde::Serialize;

use seedbank::EngineError;

use crate::call::{Call, is_forked};
use crate::errors;

/// A bank that calls work on.
pub(crate) struct Handle {
    /// `None` once it is closed.
    bank: RwLock<Option<seedbank::Bank>>,
    /// The callable that receives progress.
    progress: Option<Py<PyAny>>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.close();
    }
}

impl Handle {
    pub(crate) const fn new(bank: seedbank::Bank, progress: Option<Py<PyAny>>) -> Self {
        Self {
            bank: RwLock::new(Some(bank)),
            progress,
        }
    }

    fn bank(&self) -> RwLockReadGuard<'_, Option<seedbank::Bank>> {
        self.bank.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a call.
    pub(crate) fn call<'py>(&self, py: Python<'py>) -> PyResult<Call<'py>> {
        let bank = self.bank();
        let Some(bank) = &*bank else {
            return Err(errors::usage(
                py,
                "the bank is closed",
                Some("open it again"),
            ));
        };
        let progress = self.progress(py);
        Call::new(py, bank, progress.map(|progress| progress.into_bound(py)))
    }

    /// Runs a call and returns its answer as a dict.
    pub(crate) fn answer<'py, T: Serialize + Send>(
        &self,
        py: Python<'py>,
        work: impl FnOnce(&seedbank::Bank) -> Result<T, EngineError> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        let answer = self.call(py)?.run(work)?;
        object(py, &answer)
    }

    /// Returns the callable that receives progress.
    pub(crate) fn progress(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let progress = self.progress.as_ref();
        progress.map(|progress| progress.clone_ref(py))
    }

    /// Returns the folder of the bank; `None` once it is closed.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        self.bank().as_ref().map(|bank| bank.path().to_path_buf())
    }

    /// Releases a pinned state. Every later call fails.
    pub(crate) fn close(&self) {
        let bank = self.bank.write().unwrap_or_else(PoisonError::into_inner);
        let bank = { bank }.take();
        // A pinned state has threads that do not exist in a fork, and would be waited for.
        if is_forked() {
            mem::forget(bank);
        }
    }
}

/// Returns an answer as the object that its JSON is.
pub(crate) fn object<'py>(py: Python<'py>, answer: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let json = serde_json::to_string(answer)
        .map_err(|_| errors::failed(py, "internal contradiction: an answer has no JSON"))?;
    py.import("json")?.call_method1("loads", (json,))
}
