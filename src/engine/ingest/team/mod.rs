//! All processes of an ingest, as process 0 sees them.
//!
//! | module | contents |
//! | --- | --- |
//! | `step` | the steps and their results |
//! | `share` | which process reads which input |
//! | `session` | what another process does |

pub(in crate::engine) mod session;
pub(super) mod share;
pub(super) mod step;

use std::sync::Arc;
use std::thread;

use serde::de::DeserializeOwned;

use super::exchange::request::{self, Kind};
use super::exchange::shuffle::Exchange;
use super::worker::BatchOptions;
use crate::engine::failing_watch::FailingWatch;
use crate::engine::processes::Processes;
use crate::engine::{EngineError, Result};
use seedbank_formats::ingest::{Format, Input};
use seedbank_store::{RemoteProcess, Writer};
use session::{decoded, encoded};
use share::Share;
use step::{Begin, Step};

/// The processes of an ingest: this one, and others that run the same steps. Dropping it ends the ingest in the others.
#[derive(Default)]
pub(in crate::engine) struct Team<'a>(Option<Members<'a>>);

/// The other processes.
struct Members<'a> {
    local: &'a Processes,
    exchange: Arc<Exchange>,
    others: Vec<Arc<dyn RemoteProcess>>,
    /// Stops the passes of this process once another has failed.
    watch: &'a FailingWatch<'a>,
}

impl<'a> Team<'a> {
    /// Begins an ingest in all processes that are connected; in this one alone if there are none.
    pub(in crate::engine) fn begin(
        local: Option<&'a Processes>,
        writer: &Writer,
        memory: usize,
        options: BatchOptions,
        watch: &'a FailingWatch<'a>,
    ) -> Result<Self> {
        let Some(local) = local.filter(|local| local.are_connected()) else {
            return Ok(Self::default());
        };
        local.parts.serve_writer(writer);
        let exchange = Exchange::begin(local, writer, &writer.spill_folder(), memory);
        let exchange = exchange.inspect_err(|_| local.parts.close_all())?;
        let team = Self(Some(Members {
            local,
            exchange,
            others: local.by_number()?.iter().flatten().cloned().collect(),
            watch,
        }));
        let begin = Begin { options, memory };
        let request = request::request(Kind::Begin, &encoded(&begin)?);
        team.call_all(|_| request.clone(), || Ok(()))?;
        Ok(team)
    }

    /// Returns the exchange; `None` if this is the only process.
    pub(in crate::engine) fn exchange(&self) -> Option<&Arc<Exchange>> {
        self.0.as_ref().map(|members| &members.exchange)
    }

    /// Divides the inputs of a batch, whose sources have these names, among the processes. Returns the inputs, and the
    /// numbers of those that each process reads; `None` if this one has to read all.
    pub(in crate::engine) fn divide(
        &self,
        format: &Format,
        inputs: &[Input],
        names: &[String],
    ) -> Result<Option<(Share, Vec<Vec<u32>>)>> {
        if inputs.len() < 2 {
            return Ok(None);
        }
        let Some(share) = Share::of_inputs(format, inputs, names) else {
            return Ok(None);
        };
        let readable = self.run(&Step::FindReadable(share.clone()), || Ok(Vec::new()))?;
        let numbers = share.divide(&readable);
        Ok(Some((share, numbers)))
    }

    /// Runs a step in all processes: in this one, `own`. Returns the results by process.
    pub(in crate::engine) fn run<T: DeserializeOwned + Send>(
        &self,
        step: &Step,
        own: impl FnOnce() -> Result<T>,
    ) -> Result<Vec<T>> {
        let step = encoded(step)?;
        self.call_all(|_| request::request(Kind::Step, &step), own)
    }

    /// Runs a step with a request of its own for each other process.
    pub(in crate::engine) fn run_each<T: DeserializeOwned + Send>(
        &self,
        steps: &[Step],
        own: impl FnOnce() -> Result<T>,
    ) -> Result<Vec<T>> {
        let steps = steps.iter().map(encoded).collect::<Result<Vec<_>>>()?;
        let step = |member: usize| steps.get(member).map_or(&[][..], Vec::as_slice);
        self.call_all(|member| request::request(Kind::Step, step(member)), own)
    }

    /// Calls all other processes at the same time, and `own` meanwhile.
    fn call_all<T: DeserializeOwned + Send>(
        &self,
        request: impl Fn(usize) -> Vec<u8>,
        own: impl FnOnce() -> Result<T>,
    ) -> Result<Vec<T>> {
        let Some(members) = &self.0 else {
            return Ok(vec![own()?]);
        };
        let results = thread::scope(|scope| {
            let mut calls = Vec::new();
            for (member, process) in members.others.iter().enumerate() {
                let request = request(member);
                let call = move || {
                    let answer = process.call(&request).map_err(EngineError::from);
                    let result = answer.and_then(|answer| {
                        decoded(if answer.is_empty() { b"null" } else { &answer })
                    });
                    result.map_err(|error| self.fail(error)).ok()
                };
                let thread = thread::Builder::new().name("step".to_owned());
                let thread = thread
                    .spawn_scoped(scope, call)
                    .map_err(EngineError::Threads);
                calls.push(thread.map_err(|error| self.fail(error)).ok());
            }
            // If this process panics, the steps of the others end early.
            let guard = FailOnDrop(Some(self));
            let own = own();
            guard.disarm();
            let mut results = vec![own.map_err(|error| self.fail(error)).ok()];
            // The result of a panic is missing.
            results.extend(calls.into_iter().map(|call| call?.join().ok()?));
            results
        });
        members.watch.all(results)
    }

    /// Stops the running step in all processes, and ends the ingest in the others.
    fn fail(&self, error: EngineError) {
        if let Some(members) = &self.0
            && members.watch.fail(error)
        {
            self.end();
        }
    }

    /// Ends the ingest in the other processes.
    fn end(&self) {
        let Some(members) = &self.0 else {
            return;
        };
        let request = request::request(Kind::End, &[]);
        thread::scope(|scope| {
            for process in &members.others {
                // A process that is lost has ended too; without a thread, it ends with the command.
                let call = || drop(process.call(&request));
                let _ = thread::Builder::new().spawn_scoped(scope, call);
            }
        });
    }
}

/// Ends the running step when it is dropped, unless it was disarmed.
struct FailOnDrop<'t, 'a>(Option<&'t Team<'a>>);

impl FailOnDrop<'_, '_> {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for FailOnDrop<'_, '_> {
    fn drop(&mut self) {
        if let Some(team) = self.0 {
            team.fail(EngineError::Internal("a step of an ingest has panicked"));
        }
    }
}

impl Drop for Team<'_> {
    fn drop(&mut self) {
        self.end();
        if let Some(members) = &self.0 {
            members.local.set_receiver(None);
            // This process does not serve its live databases after the ingest. Others close theirs with their writers.
            members.local.parts.close_all();
        }
    }
}
