//! Requests to all other processes at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::request::{JobRequest, Kind};
use crate::engine::failing_watch::FailingWatch;
use crate::engine::{EngineError, Result};
use seedbank_store::RemoteProcess;

/// The other processes of a job.
pub(in crate::engine) struct Others {
    job: u64,
    pub(in crate::engine) processes: Vec<Arc<dyn RemoteProcess>>,
}

impl Others {
    /// Returns the other processes of a job. `by_number` has all processes, `None` for this one.
    pub(in crate::engine) fn new(job: u64, by_number: &[Option<Arc<dyn RemoteProcess>>]) -> Self {
        let processes = by_number.iter().flatten().cloned().collect();
        Self { job, processes }
    }

    /// Sends a request about the job to one of the processes.
    pub(in crate::engine) fn call(
        &self,
        process: &dyn RemoteProcess,
        kind: Kind,
        body: &[u8],
    ) -> Result<Vec<u8>> {
        let job = self.job;
        Ok(process.call(&JobRequest { kind, job, body }.bytes())?)
    }

    /// Sends a request to all others, and calls `own` meanwhile. `read` converts their answers. Returns the results, that of
    /// `own` first.
    ///
    /// Once one of them fails, the job ends in all processes, and `failing` has the cause.
    pub(in crate::engine) fn call_all<T: Send>(
        &self,
        failing: &FailingWatch<'_>,
        (kind, body): (Kind, &[u8]),
        own: impl FnOnce() -> Result<T>,
        read: impl Fn(&[u8]) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let is_ended = AtomicBool::new(false);
        let fail = |error| {
            failing.fail(error);
            // The cause may be known before: an interruption, or a message that was not as expected.
            if !is_ended.swap(true, Ordering::AcqRel) {
                self.end();
            }
        };
        let results = thread::scope(|scope| {
            let mut calls = Vec::new();
            for process in &self.processes {
                let (fail, read) = (&fail, &read);
                let call = move || {
                    let guard = FailOnDrop(Some(fail));
                    let answer = self.call(&**process, kind, body);
                    let result = answer.and_then(|answer| read(&answer));
                    guard.disarm();
                    result.map_err(fail).ok()
                };
                let thread = thread::Builder::new().name("job".to_owned());
                let thread = thread
                    .spawn_scoped(scope, call)
                    .map_err(EngineError::Threads);
                calls.push(thread.map_err(fail).ok());
            }
            // If this process panics, the others do not wait for it.
            let guard = FailOnDrop(Some(&fail));
            let own = own();
            guard.disarm();
            let mut results = vec![own.map_err(fail).ok()];
            // The result of a panic is missing.
            results.extend(calls.into_iter().map(|call| call?.join().ok()?));
            results
        });
        failing.all(results)
    }

    /// Ends the job in the other processes.
    pub(in crate::engine) fn end(&self) {
        thread::scope(|scope| {
            for process in &self.processes {
                // A process that is lost has ended too; without a thread, the job ends with the command.
                let call = || drop(self.call(&**process, Kind::End, &[]));
                let _ = thread::Builder::new().spawn_scoped(scope, call);
            }
        });
    }
}

/// Fails a job when it is dropped, unless it was disarmed.
struct FailOnDrop<'a, F: Fn(EngineError)>(Option<&'a F>);

impl<F: Fn(EngineError)> FailOnDrop<'_, F> {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl<F: Fn(EngineError)> Drop for FailOnDrop<'_, F> {
    fn drop(&mut self) {
        if let Some(fail) = self.0 {
            fail(EngineError::Internal("a part of a job has panicked"));
        }
    }
}
