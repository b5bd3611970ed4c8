//! The watch of work that several processes do together, which ends once one of them has failed.

use std::sync::atomic::{AtomicBool, Ordering};

use super::error::{EngineError, ErrorKind, Result};
use seedbank_algorithms::watch::Watch;

/// A watch that also stops once a part of the work has failed.
pub(super) struct FailingWatch<'a> {
    watch: &'a dyn Watch,
    has_failed: AtomicBool,
}

impl<'a> FailingWatch<'a> {
    pub(super) const fn new(watch: &'a dyn Watch) -> Self {
        Self {
            watch,
            has_failed: AtomicBool::new(false),
        }
    }

    /// Stops the work. Returns whether it was running until now.
    pub(super) fn fail(&self) -> bool {
        !self.has_failed.swap(true, Ordering::AcqRel)
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

/// Returns the results of all parts of the work, or the error of the first that failed. The others may have been
/// interrupted because of it.
pub(super) fn first_failure<T>(results: Vec<Result<T>>) -> Result<Vec<T>> {
    let is_cause = |error: &EngineError| error.kind() != ErrorKind::Interrupted;
    let mut all = Vec::with_capacity(results.len());
    let mut interruption = None;
    for result in results {
        match result {
            Ok(result) => all.push(result),
            Err(error) if is_cause(&error) => return Err(error),
            Err(error) => interruption = interruption.or(Some(error)),
        }
    }
    interruption.map_or(Ok(all), Err)
}
