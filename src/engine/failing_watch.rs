//! The watch of work that several processes do together, which ends once one of them has failed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::error::{EngineError, Result};
use seedbank_algorithms::watch::Watch;

/// A watch that also stops once a part of the work has failed.
pub(super) struct FailingWatch<'a> {
    watch: &'a dyn Watch,
    has_failed: AtomicBool,
    /// The error of the part that failed first.
    cause: Mutex<Option<EngineError>>,
}

impl<'a> FailingWatch<'a> {
    pub(super) const fn new(watch: &'a dyn Watch) -> Self {
        Self {
            watch,
            has_failed: AtomicBool::new(false),
            cause: Mutex::new(None),
        }
    }

    /// Stops the work because a part of it has failed. Returns whether it is the first. The errors of others may be
    /// consequences, and are dropped.
    pub(super) fn fail(&self, error: EngineError) -> bool {
        let mut cause = self.cause();
        let is_first = !self.has_failed.swap(true, Ordering::AcqRel);
        if is_first {
            *cause = Some(error);
        }
        is_first
    }

    /// Returns the results of all parts, each `None` if it has failed, or the error of the first that failed.
    pub(super) fn all<T>(&self, results: Vec<Option<T>>) -> Result<Vec<T>> {
        if let Some(cause) = self.cause().take() {
            return Err(cause);
        }
        let lost = EngineError::Internal("a part of the work has no result");
        results.into_iter().collect::<Option<_>>().ok_or(lost)
    }

    fn cause(&self) -> MutexGuard<'_, Option<EngineError>> {
        // It is replaced as a whole.
        self.cause.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch for FailingWatch<'_> {
    fn stopped(&self) -> bool {
        self.has_failed.load(Ordering::Acquire) || self.watch.stopped()
    }

    fn stage(&self, name: &str, total: Option<u64>) {
        self.watch.stage(name, total);
    }

    fn advance(&self, units: u64) {
        self.watch.advance(units);
    }
}
