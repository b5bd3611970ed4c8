//! The state of a job in a process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};

use super::inbox::{Inbox, POLL_INTERVAL};
use super::request::Piece;
use crate::engine::failing_watch::FailingWatch;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::watch::{Interrupted, Unwatched, Watch};
use seedbank_store::StoreError;

/// A job that this process takes part in. As a watch, it stops with the watch of the process, and once the job has ended
/// or failed.
pub(in crate::engine) struct Job {
    number: u64,
    /// The number of this process, and that of all processes.
    pub(super) process: usize,
    pub(super) processes: usize,
    /// The watch of the process.
    watch: Arc<dyn Watch + Send>,
    /// Stops once the job has ended or failed; with the cause.
    failing: FailingWatch<'static>,
    pub(super) inbox: Inbox,
}

impl Job {
    /// Begins a job in one of several processes.
    pub(in crate::engine) fn new(
        number: u64,
        process: usize,
        processes: usize,
        watch: Arc<dyn Watch + Send>,
    ) -> Self {
        Self {
            number,
            process,
            processes,
            watch,
            failing: FailingWatch::new(&Unwatched),
            inbox: Inbox::new(process, processes),
        }
    }

    /// Returns the number of the job.
    pub(in crate::engine) const fn number(&self) -> u64 {
        self.number
    }

    /// Stops the job because a part of it has failed. Returns whether it is the first. The errors of others may be
    /// consequences, and are dropped.
    pub(in crate::engine) fn fail(&self, error: EngineError) -> bool {
        self.failing.fail(error)
    }

    /// Stops the job.
    pub(in crate::engine) fn end(&self) {
        self.fail(Interrupted.into());
    }

    /// Returns the watch that has the cause of a failure.
    pub(in crate::engine) const fn failing(&self) -> &FailingWatch<'static> {
        &self.failing
    }

    /// Returns a result of this process; if it is an error, the one with which the job failed first.
    pub(in crate::engine) fn own<T>(&self, result: Result<T>) -> Result<T> {
        let result = result.map_err(|error| self.fail(error)).ok();
        let none = EngineError::Internal("a job has no result");
        self.failing.all(vec![result])?.pop().ok_or(none)
    }

    /// Receives a message of another process.
    pub(in crate::engine) fn receive(&self, body: &[u8]) -> Result<(), StoreError> {
        self.inbox.receive(Piece::parse(body)?)
    }
}

impl Watch for Job {
    fn stopped(&self) -> bool {
        self.failing.stopped() || self.watch.stopped()
    }
}

/// The watch of the part of a job that a command runs in its own process: stops with the job, too.
pub(in crate::engine) struct JobWatch<'a> {
    pub(in crate::engine) job: &'a Job,
    /// The watch of the command, which receives the progress.
    pub(in crate::engine) watch: &'a dyn Watch,
}

impl JobWatch<'_> {
    /// Runs a task of the job. While it waits for messages, it stops with the watch of the command, too.
    pub(in crate::engine) fn run<T>(&self, task: impl FnOnce() -> Result<T>) -> Result<T> {
        let is_over = AtomicBool::new(false);
        let monitor = || {
            while !is_over.load(Ordering::Acquire) && !self.job.stopped() {
                if self.watch.stopped() {
                    self.job.end();
                }
                thread::park_timeout(POLL_INTERVAL);
            }
        };
        thread::scope(|scope| {
            let monitor = thread::Builder::new().spawn_scoped(scope, monitor);
            let monitor = monitor.map_err(EngineError::Threads)?;
            // The monitor ends even if the task panics.
            let _over = WakeOnDrop(&is_over, monitor.thread());
            task()
        })
    }
}

/// Sets a flag and wakes a thread when it is dropped.
struct WakeOnDrop<'a>(&'a AtomicBool, &'a Thread);

impl Drop for WakeOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
        self.1.unpark();
    }
}

impl Watch for JobWatch<'_> {
    fn stopped(&self) -> bool {
        self.job.stopped() || self.watch.stopped()
    }

    fn stage(&self, name: &str, total: Option<u64>) {
        self.watch.stage(name, total);
    }

    fn advance(&self, units: u64) {
        self.watch.advance(units);
    }
}
