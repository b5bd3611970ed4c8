//! An ingest in all processes of a cluster bank.
//!
//! Process 0 begins it as a [job](crate::engine::rounds), and all processes run the same passes
//! ([`exchange`](super::exchange)). Each keeps the changes of its own parts for the commit of process 0.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::blocklist::Blocklist;
use super::exchange::{Exchange, Stream};
use super::passes::{Passes, writable_naming};
use super::reading::read_share;
use super::run::{BatchOptions, run_passes};
use crate::engine::processes::Processes;
use crate::engine::rounds::communicator::JobCommunicator;
use crate::engine::rounds::job::Job;
use crate::engine::rounds::request::Kind;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::watch::Watch;
use seedbank_store::{Changes, Store, Writer};

/// What an ingest begins with.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Begin {
    pub(super) options: BatchOptions,
    /// The memory of each process in bytes.
    pub(super) memory: usize,
    pub(super) dry_run: bool,
}

/// Runs an ingest in all processes: `own` in this one, which is process 0. It has the exchange, and the watch of the
/// ingest. If no others are connected, this process is alone.
pub(super) fn run_in_all<T>(
    local: Option<&Processes>,
    writer: &Writer,
    begin: Begin,
    watch: &dyn Watch,
    own: impl FnOnce(&Arc<Exchange>, &dyn Watch) -> Result<T>,
) -> Result<T> {
    let Some(local) = local.filter(|local| local.are_connected()) else {
        return own(&Exchange::alone(), watch);
    };
    local.parts.serve_writer(writer);
    let _served = CloseOnDrop(local);
    let request = seedbank_store::pack(&begin)?;
    let mut result = None;
    let run = |watch: &dyn Watch, job: &Arc<Job>| {
        let exchange = exchange(local, job, writer, begin.memory)?;
        result = Some(own(&exchange, watch)?);
        Ok(())
    };
    let (_, others) = local.run_in_all(watch, (Kind::Ingest, &request), run, |_| Ok(()))?;
    others.end();
    result.ok_or(EngineError::Internal("an ingest has no result"))
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
    let Begin {
        options,
        memory,
        dry_run,
    } = seedbank_store::unpack(request)?;
    let store = processes.parts.open_live(&processes.by_part()?)?;
    let folder = processes.parts.spill_folder()?;
    let exchange = exchange(processes, job, &store, memory)?;
    let naming = writable_naming(&store)?;
    let mut passes = Passes::new(&store, folder.clone(), memory, &**job, exchange)?;
    let collector = passes.collector(Blocklist::load(&store)?, options.snapshot);
    let (found, collected) = read_share(collector, &passes, options.reading(naming), memory)?;
    let time = passes.exchange.decide(|| Ok(0))?;
    passes.times = passes.times_of(time, None, naming.sites);
    let digest = run_passes(&mut passes, collected, options, found.any_seed, None)?;
    if digest.is_none() || dry_run {
        return Ok(());
    }
    let mut sent = passes.shuffle(Stream::Changes);
    let changes = std::mem::replace(&mut passes.changes, Changes::new(&folder, 0));
    processes
        .parts
        .keep_changes(changes, |key, value| sent.push(key, value))?;
    sent.take()?;
    Ok(())
}

/// Adds the changes of other processes that process 0 stores.
pub(super) fn receive_changes(passes: &mut Passes<'_>) -> Result<()> {
    if passes.exchange.is_alone() {
        return Ok(());
    }
    let mut changes = passes.shuffle(Stream::Changes).take()?;
    while let Some((key, value)) = changes.next_entry()? {
        passes.changes.put_entry(key, value)?;
    }
    Ok(())
}
