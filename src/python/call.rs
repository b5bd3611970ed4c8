//! Calls of the library from Python.
//!
//! ```text
//! the caller's thread   waits without the interpreter's lock; several times a second it takes the lock,
//!                       runs signal handlers and reports progress
//! a thread of the call  works, and never needs the lock
//! ```
//!
//! Only the main thread of an interpreter runs signal handlers, and a worker must not wait for the lock, so
//! the two are separate.

use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use seedbank::EngineError;
use seedbank::watch::Watch;

use crate::errors;

/// Time between two looks at signals and progress.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The process that first used the package.
static PROCESS: OnceLock<u32> = OnceLock::new();

/// Returns whether this process is a fork of the one that first used the package. Its threads, on which
/// calls depend, are not in the fork.
pub(crate) fn is_forked() -> bool {
    let this = std::process::id();
    *PROCESS.get_or_init(|| this) != this
}

/// A stage of a call.
struct Stage {
    name: String,
    /// The number of units of the whole stage, if it is known.
    total: Option<u64>,
    /// The number of units that are done.
    done: u64,
}

/// What the threads of a call tell its caller, and what the caller tells them.
#[derive(Default)]
struct CallState {
    stopped: AtomicBool,
    /// Stages that were not yet reported as complete; the last one is the current one.
    stages: Mutex<Vec<Stage>>,
    /// Units of the current stage that are not yet in `stages`.
    advanced: AtomicU64,
}

impl CallState {
    fn stages(&self) -> MutexGuard<'_, Vec<Stage>> {
        let mut stages = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(current) = stages.last_mut() {
            current.done += self.advanced.swap(0, Ordering::Relaxed);
        }
        stages
    }
}

impl Watch for CallState {
    fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    fn stage(&self, name: &str, total: Option<u64>) {
        let name = name.to_owned();
        self.stages().push(Stage {
            name,
            total,
            done: 0,
        });
    }

    fn advance(&self, units: u64) {
        self.advanced.fetch_add(units, Ordering::Relaxed);
    }
}

/// A call of the library, which may consist of several steps.
pub(crate) struct Call<'py> {
    py: Python<'py>,
    state: Arc<CallState>,
    bank: seedbank::Bank,
    /// The callable that receives progress.
    progress: Option<Bound<'py, PyAny>>,
    /// The exception that ended the call.
    raised: Option<PyErr>,
    /// Whether the current step is the last one, which may change the bank.
    is_last: bool,
}

impl<'py> Call<'py> {
    /// Begins a call on a bank.
    ///
    /// # Errors
    ///
    /// If this process is a fork of one that used the package.
    pub(crate) fn new(
        py: Python<'py>,
        bank: &seedbank::Bank,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        if is_forked() {
            return Err(errors::forked(py));
        }
        let state = Arc::new(CallState::default());
        Ok(Self {
            py,
            bank: bank.watched(Arc::clone(&state)),
            state,
            progress,
            raised: None,
            is_last: false,
        })
    }

    /// Runs the last step; see [`step`](Self::step).
    pub(crate) fn run<T: Send>(
        mut self,
        work: impl FnOnce(&seedbank::Bank) -> Result<T, EngineError> + Send,
    ) -> PyResult<T> {
        self.is_last = true;
        self.step(work)
    }

    /// Runs a step on a thread of its own, on the watched bank, and waits for it.
    ///
    /// # Errors
    ///
    /// That of the step; `KeyboardInterrupt` or the exception of another signal handler, and that of the
    /// callable that receives progress. The step is then stopped, and ended, before this returns.
    pub(crate) fn step<T: Send>(
        &mut self,
        work: impl FnOnce(&seedbank::Bank) -> Result<T, EngineError> + Send,
    ) -> PyResult<T> {
        let is_done = AtomicBool::new(false);
        let bank = self.bank.clone();
        let caller = thread::current();
        let result = thread::scope(|scope| {
            let is_done = &is_done;
            let run = move || {
                let result = catch_unwind(AssertUnwindSafe(|| work(&bank)));
                is_done.store(true, Ordering::Release);
                caller.unpark();
                result
            };
            let worker = thread::Builder::new().name("seedbank".to_owned());
            let worker = worker.spawn_scoped(scope, run);
            let worker =
                worker.map_err(|error| errors::engine(self.py, &EngineError::Threads(error)))?;
            while !is_done.load(Ordering::Acquire) {
                self.py.detach(|| thread::park_timeout(POLL_INTERVAL));
                self.look();
            }
            let joined = self.py.detach(|| worker.join());
            Ok::<_, PyErr>(joined.unwrap_or_else(Err))
        })?;
        self.result(result)
    }

    /// Returns the bank, watched by the call.
    pub(crate) const fn bank(&self) -> &seedbank::Bank {
        &self.bank
    }

    /// Returns the interpreter.
    pub(crate) const fn py(&self) -> Python<'py> {
        self.py
    }

    /// Returns the watch of the call, for work that does not begin with a bank.
    pub(crate) fn watch(&self) -> Arc<dyn Watch + Send> {
        Arc::clone(&self.state) as _
    }

    /// Looks at signals and reports progress, between steps. The error is the exception of either.
    pub(crate) fn proceed(&mut self) -> PyResult<()> {
        self.look();
        match self.raised.take() {
            Some(raised) => Err(raised),
            None => Ok(()),
        }
    }

    /// Stops the work if a signal handler or the callable raises.
    fn look(&mut self) {
        if self.raised.is_some() {
            return;
        }
        let seen = self.py.check_signals().and_then(|()| self.report());
        if let Err(raised) = seen {
            self.state.stopped.store(true, Ordering::Relaxed);
            self.raised = Some(raised);
        }
    }

    /// Reports each stage since the last report, and the current one, to the callable.
    fn report(&self) -> PyResult<()> {
        let Some(progress) = &self.progress else {
            return Ok(());
        };
        let mut stages = self.state.stages();
        let Some(last) = stages.pop() else {
            return Ok(());
        };
        let complete = mem::take(&mut *stages);
        stages.push(Stage {
            name: last.name.clone(),
            ..last
        });
        // The threads of the call must not wait for Python code.
        drop(stages);
        for stage in complete.iter().chain([&last]) {
            progress.call1((&stage.name, stage.done, stage.total))?;
        }
        Ok(())
    }

    /// Returns the result of a step, or the exception that stopped it.
    fn result<T>(
        &mut self,
        result: Result<Result<T, EngineError>, Box<dyn Any + Send>>,
    ) -> PyResult<T> {
        let py = self.py;
        let Ok(result) = result else {
            return Err(errors::engine(
                py,
                &EngineError::Internal("a thread has panicked"),
            ));
        };
        let Some(raised) = self.raised.take() else {
            return result.map_err(|error| errors::engine(py, &error));
        };
        if raised.is_instance_of::<PyKeyboardInterrupt>(py) {
            let text = match result {
                Ok(_) if self.is_last => "interrupted after the call had finished",
                _ => "interrupted; the bank is unchanged",
            };
            return Err(PyKeyboardInterrupt::new_err(text));
        }
        Err(raised)
    }
}

impl Drop for Call<'_> {
    /// Tells the callable that the call has ended, if it wants to know.
    fn drop(&mut self) {
        let Some(progress) = &self.progress else {
            return;
        };
        // An exception of the call itself goes first.
        let _ = self.report();
        if let Ok(close) = progress.getattr("close") {
            let _ = close.call0();
        }
    }
}
