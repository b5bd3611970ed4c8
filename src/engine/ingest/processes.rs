//! An ingest in all processes of a cluster bank, or in several threads of one process.
//!
//! Process 0 begins it as a [job](crate::engine::rounds), and all processes run the same passes
//! ([`exchange`](super::exchange)). Each keeps the changes of its own parts for the commit of process 0. Threads run the passes
//! too, and return their changes.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use serde::{Deserialize, Serialize};

use super::blocklist::Blocklist;
use super::exchange::{Exchange, Shuffle, Stream, share_of};
use super::gather::{CollectedInput, InputCollector};
use super::passes::{Passes, writable_naming};
use super::reading::{InputPiece, ReadResult, collect_pieces, read_share};
use super::run::{BatchOptions, run_passes};
use crate::engine::error::ErrorKind;
use crate::engine::processes::Processes;
use crate::engine::rounds::communicator::JobCommunicator;
use crate::engine::rounds::job::Job;
use crate::engine::rounds::request::Kind;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::watch::{Quiet, Watch};
use seedbank_formats::ingest::ReadOptions;
use seedbank_store::{Changes, Store, StoreError, Writer};

/// What an ingest begins with.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Begin {
    pub(super) options: BatchOptions,
    /// The memory of each process in bytes.
    pub(super) memory: usize,
    pub(super) dry_run: bool,
}

/// Runs an ingest in all processes: `own` in this one, which is process 0. It has the exchange, the senders of pieces of the
/// input to other threads, and the watch of the ingest. If no others are connected, this process is alone, and has as many
/// `threads`.
///
/// Returns the changes of other threads too.
pub(super) fn run_in_all<T>(
    local: Option<&Processes>,
    writer: &Writer,
    (begin, threads): (Begin, usize),
    watch: &dyn Watch,
    own: impl FnOnce(&Arc<Exchange>, Vec<SyncSender<InputPiece>>, &dyn Watch) -> Result<T>,
) -> Result<(T, Vec<Changes>)> {
    let Some(local) = local.filter(|local| local.are_connected()) else {
        if threads > 1 && writer.part_count().is_none() {
            return run_in_threads(writer, (begin, threads), watch, own);
        }
        return Ok((own(&Exchange::alone(), Vec::new(), watch)?, Vec::new()));
    };
    local.parts.serve_writer(writer);
    let _served = CloseOnDrop(local);
    let request = seedbank_store::pack(&begin)?;
    let mut result = None;
    let run = |watch: &dyn Watch, job: &Arc<Job>| {
        let exchange = exchange(local, job, writer, begin.memory)?;
        result = Some(own(&exchange, Vec::new(), watch)?);
        Ok(())
    };
    let (_, others) = local.run_in_all(watch, (Kind::Ingest, &request), run, |_| Ok(()))?;
    others.end();
    let result = result.ok_or(EngineError::Internal("an ingest has no result"))?;
    Ok((result, Vec::new()))
}

/// The number of pieces of the input that wait for a thread.
const WAITING_PIECES: usize = 2;

/// Runs an ingest in several threads: `own` in this one, which is thread 0. Returns the changes of the others too.
fn run_in_threads<T>(
    writer: &Writer,
    (begin, threads): (Begin, usize),
    watch: &dyn Watch,
    own: impl FnOnce(&Arc<Exchange>, Vec<SyncSender<InputPiece>>, &dyn Watch) -> Result<T>,
) -> Result<(T, Vec<Changes>)> {
    let store: &Store = writer;
    let folder = writer.spill_folder();
    let mut exchanges = Exchange::of_threads(threads).into_iter();
    let first = exchanges.next();
    let first = first.ok_or(EngineError::Internal("an ingest has no threads"))?;
    thread::scope(|scope| {
        let mut senders = Vec::new();
        let mut running = Vec::new();
        for exchange in exchanges {
            let (sender, pieces) = sync_channel(WAITING_PIECES);
            senders.push(sender);
            let of_thread = folder.clone();
            let run = move || {
                let watch = Quiet(watch);
                let collect = move |collector, passes: &Passes<'_>, _| {
                    collect_pieces(collector, passes, pieces)
                };
                in_one_thread(|| run_share((store, of_thread), begin, &watch, exchange, collect))?
            };
            let named = thread::Builder::new().name("ingest".to_owned());
            let thread = named.spawn_scoped(scope, run);
            running.push(thread.map_err(StoreError::io("start a thread for", &folder))?);
        }
        let own = own(&first, senders, watch);
        // A thread that waits for this one ends.
        drop(first);
        let mut changes = Vec::new();
        let mut failure = None;
        for thread in running {
            let panicked = EngineError::Internal("a thread of an ingest has panicked");
            match thread.join().unwrap_or(Err(panicked)) {
                Ok(of_thread) => changes.extend(of_thread),
                Err(error) => failure = failure.filter(is_cause).or(Some(error)),
            }
        }
        match (own, failure) {
            (Ok(own), None) => Ok((own, changes)),
            (Err(own), Some(other)) if !is_cause(&own) => Err(other),
            (Err(error), _) | (Ok(_), Some(error)) => Err(error),
        }
    })
}

/// Runs the part of one thread, whose sorts use no other threads: all are busy with their own parts.
pub(super) fn in_one_thread<T: Send>(run: impl FnOnce() -> T + Send) -> Result<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let failed = |_| EngineError::Internal("a thread of an ingest cannot be started");
    Ok(pool.map_err(failed)?.install(run))
}

/// Whether an error of a thread is the cause of those of others, which are interrupted.
fn is_cause(error: &EngineError) -> bool {
    error.kind() != ErrorKind::Interrupted
}

/// Closes the live databases that this process serves. Others close theirs with their writers.
struct CloseOnDrop<'a>(&'a Processes);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.parts.close_all();
    }
}

fn exchange(
    processes: &Processes,
    job: &Arc<Job>,
    store: &Store,
    memory: usize,
) -> Result<Arc<Exchange>> {
    let communicator = JobCommunicator::begin(job, processes.by_number()?);
    Exchange::new(communicator, store, processes.owners()?, memory)
}

/// Does the part of this process in an ingest of process 0.
pub(in crate::engine) fn ingest_share(
    processes: &Processes,
    job: &Arc<Job>,
    request: &[u8],
) -> Result<()> {
    let begin: Begin = seedbank_store::unpack(request)?;
    let store = processes.parts.open_live(&processes.by_part()?)?;
    let folder = processes.parts.spill_folder()?;
    let exchange = exchange(processes, job, &store, begin.memory)?;
    let collect = |collector, passes: &Passes<'_>, options| {
        read_share(collector, passes, options, begin.memory)
    };
    let share = share_of(begin.memory);
    let mut sent = Shuffle::new(&exchange, Stream::Changes, &folder, share);
    let Some(changes) = run_share((&store, folder), begin, &**job, exchange, collect)? else {
        return Ok(());
    };
    processes
        .parts
        .keep_changes(changes, |key, value| sent.push(key, value))?;
    sent.take()?;
    Ok(())
}

/// Runs the passes in a process or thread that is not the first. `collect` collects its part of the input. Returns the changes;
/// `None` if there are none to commit.
fn run_share(
    (store, folder): (&Store, PathBuf),
    begin: Begin,
    watch: &dyn Watch,
    exchange: Arc<Exchange>,
    collect: impl FnOnce(
        InputCollector,
        &Passes<'_>,
        ReadOptions,
    ) -> Result<(ReadResult, CollectedInput)>,
) -> Result<Option<Changes>> {
    let Begin {
        options,
        memory,
        dry_run,
    } = begin;
    let naming = writable_naming(store)?;
    let memory = exchange.memory_of(memory);
    let mut passes = Passes::new(store, folder, memory, watch, exchange)?;
    let collector = passes.collector(Blocklist::load(store)?, options.snapshot);
    let (found, collected) = collect(collector, &passes, options.reading(naming))?;
    let time = passes.exchange.decide(|| Ok(0))?;
    passes.times = passes.times_of(time, None, naming.sites);
    let digest = run_passes(&mut passes, collected, options, found.any_seed, None)?;
    Ok(digest.filter(|_| !dry_run).map(|_| passes.changes))
}

/// Adds the changes of other processes that process 0 stores.
pub(super) fn receive_changes(passes: &mut Passes<'_>) -> Result<()> {
    if !passes.exchange.has_readers() {
        return Ok(());
    }
    let mut changes = passes.shuffle(Stream::Changes).take()?;
    while let Some((key, value)) = changes.next_entry()? {
        passes.changes.put_entry(key, value)?;
    }
    Ok(())
}
