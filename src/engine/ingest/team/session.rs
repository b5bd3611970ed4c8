//! The ingests that a process takes part in.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use serde::Serialize;

use super::share::Share;
use super::step::{Begin, ReadResult, Step};
use crate::engine::ingest::bad_records::unread;
use crate::engine::ingest::blocklist::Blocklist;
use crate::engine::ingest::exchange::request::{self, Kind};
use crate::engine::ingest::exchange::shuffle::{Exchange, Shuffle};
use crate::engine::ingest::exchange::stream::Stream;
use crate::engine::ingest::fetch_times::FetchTimes;
use crate::engine::ingest::naming::writable_naming;
use crate::engine::ingest::passes::Passes;
use crate::engine::ingest::read_share::{SentRejects, ShareReader};
use crate::engine::ingest::worker::Worker;
use crate::engine::processes::Processes;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{ReadError, read_all_pieces};
use seedbank_store::{Changes, StoreError};

/// The ingest that this process takes part in, if there is one.
#[derive(Default)]
pub(in crate::engine) struct IngestSessions(Mutex<Option<Ingest>>);

/// An ingest that a thread of this process takes part in.
struct Ingest {
    steps: SyncSender<Requested>,
    is_stopped: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

/// A step, and where its result goes.
type Requested = (Step, SyncSender<Result<Vec<u8>>>);

impl IngestSessions {
    fn lock(&self) -> MutexGuard<'_, Option<Ingest>> {
        // It is replaced as a whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a request of another process.
    pub(in crate::engine) fn answer(
        &self,
        processes: &Arc<Processes>,
        kind: Kind,
        body: &[u8],
    ) -> Result<Vec<u8>> {
        match kind {
            Kind::Begin => self.begin(processes, decoded(body)?)?,
            Kind::Step => return self.step(decoded(body)?),
            Kind::Entries => processes.receive(body)?,
            Kind::End => {
                self.end();
                processes.set_receiver(None);
            }
        }
        Ok(Vec::new())
    }

    /// Ends the ingest of this process.
    pub(super) fn end(&self) {
        let ingest = self.lock().take();
        if let Some(Ingest {
            steps,
            is_stopped,
            thread,
        }) = ingest
        {
            is_stopped.store(true, Ordering::Release);
            drop(steps);
            // A panic was reported to the step that was running.
            let _ = thread.join();
        }
    }

    /// Starts the thread of an ingest, which ends with [`end`](Self::end).
    fn begin(&self, processes: &Arc<Processes>, begin: Begin) -> Result<()> {
        self.end();
        let processes = Arc::clone(processes);
        let store = processes.parts.open_live(&processes.by_part()?)?;
        let folder = processes.parts.spill_folder()?;
        let exchange = Exchange::begin(&processes, &store, &folder, begin.memory)?;
        let (steps, requested) = mpsc::sync_channel::<Requested>(1);
        let (ready, is_ready) = mpsc::sync_channel(1);
        let is_stopped = Arc::new(AtomicBool::new(false));
        let watch = StepWatch {
            watch: Arc::clone(&processes.watch),
            is_stopped: Arc::clone(&is_stopped),
        };
        let task = move || {
            let passes = Passes::new(&store, folder, begin.memory, &watch, Some(exchange));
            match passes {
                Ok(mut passes) => {
                    let mut worker = Worker::new(&mut passes, begin.options);
                    // If the receiver is gone, so is that of the steps.
                    let _ = ready.send(Ok(()));
                    let mut share = Share::default();
                    while let Ok((step, answer)) = requested.recv() {
                        let (share, memory) = (&mut share, begin.memory);
                        let result = run_step(&processes, &mut worker, step, share, memory);
                        let _ = answer.send(result);
                    }
                }
                Err(error) => drop(ready.send(Err(error))),
            }
        };
        let thread = thread::Builder::new().name("ingest".to_owned());
        let thread = thread.spawn(task).map_err(EngineError::Threads)?;
        *self.lock() = Some(Ingest {
            steps,
            is_stopped,
            thread,
        });
        is_ready.recv().unwrap_or_else(|_| Err(panicked()))
    }

    fn step(&self, step: Step) -> Result<Vec<u8>> {
        let steps = self.lock().as_ref().map(|ingest| ingest.steps.clone());
        let (answer, answered) = mpsc::sync_channel(1);
        steps
            .ok_or_else(no_ingest)?
            .send((step, answer))
            .map_err(|_| panicked())?;
        answered.recv().unwrap_or_else(|_| Err(panicked()))
    }
}

impl Drop for IngestSessions {
    fn drop(&mut self) {
        self.end();
    }
}

/// Runs a step and returns its encoded result.
fn run_step(
    processes: &Processes,
    worker: &mut Worker<'_, '_>,
    step: Step,
    share: &mut Share,
    memory: usize,
) -> Result<Vec<u8>> {
    match step {
        Step::FindReadable(inputs) => {
            *share = inputs;
            encoded(&share.readable())
        }
        Step::Read(numbers) => encoded(&read(worker, share, &numbers, memory)?),
        Step::FindLosers => encoded(&worker.find_losers()?),
        Step::Deduplicate => encoded(&worker.deduplicate()?),
        Step::Resolve => encoded(&worker.resolve()?),
        Step::Group => encoded(&worker.group()?),
        Step::Links { time, any_seed } => {
            let sites = writable_naming(worker.passes.store)?.sites;
            worker.passes.times = FetchTimes::of_member(time, sites);
            if let Some(exchange) = &worker.passes.exchange {
                worker.passes.times.send_to(exchange);
            }
            encoded(&worker.links(any_seed)?)
        }
        Step::Rows { is_bulk } => encoded(&worker.rows(is_bulk)?),
        Step::Targets => encoded(&worker.targets()?),
        Step::Pages => encoded(&worker.pages()?),
        Step::KeepChanges => encoded(&keep_changes(processes, worker.passes)?),
    }
}

/// Keeps the changes of the parts of this process for the commit, and sends the others to process 0.
fn keep_changes(processes: &Processes, passes: &mut Passes<'_>) -> Result<()> {
    let exchange = passes.exchange.as_ref().ok_or_else(no_ingest)?;
    let mut sent = Shuffle::of_stream(exchange, Stream::Changes);
    let none = Changes::new(&processes.parts.spill_folder()?, 0);
    let changes = std::mem::replace(&mut passes.changes, none);
    processes
        .parts
        .keep_changes(changes, |key, value| sent.push(key, value))?;
    Ok(sent.flush()?)
}

/// Reads inputs, given their numbers.
fn read(
    worker: &mut Worker<'_, '_>,
    share: &Share,
    numbers: &[u32],
    memory: usize,
) -> Result<ReadResult> {
    let passes = &*worker.passes;
    let exchange = passes.exchange.as_ref().ok_or_else(no_ingest)?;
    let naming = writable_naming(passes.store)?;
    let mut collector = passes.collector(Blocklist::load(passes.store)?);
    collector.number_portions(exchange.process(), exchange.processes())?;
    let mut sources = share.sources(numbers)?;
    for source in &mut sources {
        source.limit_memory(memory);
    }
    let mut rejects = SentRejects::new(exchange);
    let mut list = |source: u32, reject: &_| {
        let number = numbers.get(source as usize).copied();
        rejects.list(number.ok_or_else(no_ingest)?, reject)
    };
    // All of them are inputs.
    let reader = ShareReader {
        read: read_all_pieces,
        naming,
        of_links: sources.len(),
        watch: passes.watch,
    };
    let read = reader.collect(&mut sources, &mut collector, &mut list);
    let read = match read {
        Err(ReadError::Input(error)) => {
            return Ok(ReadResult {
                failure: Some(error.to_string()),
                ..ReadResult::default()
            });
        }
        read => read.map_err(unread)?,
    };
    rejects.flush()?;
    Ok(ReadResult {
        read,
        failure: None,
        blocked: collector.blocked(),
        any_seed: worker.collect(collector)?,
    })
}

/// The watch of a step, which also stops when the ingest ends. Progress is that of process 0.
struct StepWatch {
    watch: Arc<dyn Watch + Send>,
    is_stopped: Arc<AtomicBool>,
}

impl Watch for StepWatch {
    fn stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Acquire) || self.watch.stopped()
    }
}

fn no_ingest() -> EngineError {
    StoreError::Protocol("the process takes part in no ingest").into()
}

const fn panicked() -> EngineError {
    EngineError::Internal("the thread of an ingest has panicked")
}

/// Encodes a request or a result.
pub(super) fn encoded(of: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(of).map_err(|_| request::malformed().into())
}

/// Decodes a request or a result.
pub(super) fn decoded<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|_| request::malformed().into())
}
