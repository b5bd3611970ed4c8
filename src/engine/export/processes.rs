//! An export in all processes of a cluster bank.
//!
//! ```text
//! process n    the next text of its sites ---------->  process 0
//!              <------------- whether there is room for more
//! ```
//!
//! Process 0 begins it as a [job](crate::engine::rounds). In each round a process sends the text that it has made since
//! the last one, if process 0 had room for it, so that it makes the next text while process 0 writes. Process 0 holds at
//! most two batches of each process.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::chunk::{Exporter, Limits, OwnersOfUrls, Sites};
use super::merge::{SiteTexts, Source, write_merged};
use super::piece::{Batch, Piece, malformed};
use crate::engine::Result;
use crate::engine::processes::Processes;
use crate::engine::rounds::communicator::JobCommunicator;
use crate::engine::rounds::job::Job;
use crate::engine::rounds::request::Kind;
use seedbank_algorithms::communicator::Communicator;
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::SiteMode;
use seedbank_store::{PublishedParts, PublishedState, Store};

/// The number of batches of another process that process 0 holds or has asked for.
const MOST_BATCHES: usize = 2;

/// What process 0 answers to a text: it is the message of a round.
const WAIT: [u8; 1] = [0];
const NEXT: [u8; 1] = [1];
const END: [u8; 1] = [2];

/// What is exported, and how.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct SharedExport {
    state: PublishedState,
    mode: SiteMode,
    limits: Limits,
}

impl SharedExport {
    pub(super) fn new(store: &Store, mode: SiteMode, limits: Limits) -> Result<Self> {
        Ok(Self {
            state: PublishedState::of_store(store)?,
            mode,
            limits,
        })
    }

    /// Calls `write` with the text of all sites, in the order of their names. This process is process 0.
    ///
    /// Fails if another process fails or is lost.
    pub(super) fn write(
        &self,
        processes: &Processes,
        watch: &dyn Watch,
        write: &mut dyn FnMut(&Piece) -> Result<()>,
    ) -> Result<()> {
        let own = |watch: &dyn Watch, job: &Arc<Job>| {
            let store = processes.open_published(self.state)?;
            let exporter = self.exporter(processes, &store)?;
            let mut texts = SiteTexts::default();
            let own: Source<'_> = Box::new(|watch| texts.next_batch(&exporter, watch));
            let mut others = OtherTexts::new(JobCommunicator::begin(job, processes.by_number()?));
            let number = others.communicator.processes();
            write_merged(own, (number, &mut |of| others.next(of)), watch, write)?;
            others.end()
        };
        let request = seedbank_store::pack(self)?;
        let (_, others) = processes.run_in_all(watch, (Kind::Export, &request), own, |_| Ok(()))?;
        others.end();
        Ok(())
    }

    /// Returns the exporter of the sites of a process.
    fn exporter<'a>(
        &self,
        processes: &'a Processes,
        store: &'a PublishedParts,
    ) -> Result<Exporter<'a>> {
        let Self {
            state,
            mode,
            limits,
        } = *self;
        let mut exporter = Exporter::new(store, mode, limits, Sites::Own)?;
        let owners = OwnersOfUrls::new(processes, store, state, mode, limits.bytes)?;
        exporter.others = Some(owners);
        Ok(exporter)
    }
}

/// Sends the text of the sites of this process, which is not process 0.
pub(in crate::engine) fn export_share(
    processes: &Processes,
    job: &Arc<Job>,
    request: &[u8],
) -> Result<()> {
    let export: SharedExport = seedbank_store::unpack(request).map_err(|_| malformed())?;
    export.limits.ensure_positive()?;
    let store = processes.open_published(export.state)?;
    let exporter = export.exporter(processes, &store)?;
    let communicator = JobCommunicator::begin(job, processes.by_number()?);
    let mut texts = SiteTexts::default();
    let mut has_room = true;
    loop {
        let mut messages = vec![Vec::new(); communicator.processes()];
        if has_room && let Some(first) = messages.first_mut() {
            *first = texts.next_batch(&exporter, &**job)?.encode()?;
        }
        let received = communicator.all_to_all(messages)?;
        has_room = match received.first().map(Vec::as_slice) {
            Some(answer) if answer == WAIT => false,
            Some(answer) if answer == NEXT => true,
            Some(answer) if answer == END => return Ok(()),
            _ => return Err(malformed().into()),
        };
    }
}

/// The text of other processes, as process 0 gets it.
struct OtherTexts {
    communicator: Arc<dyn Communicator>,
    /// By process; unused for this one.
    processes: Vec<OtherText>,
}

/// The text of another process.
#[derive(Default)]
struct OtherText {
    batches: VecDeque<Batch>,
    /// Whether the process sends a batch in the next round.
    is_sending: bool,
    /// Whether it has sent its last batch.
    is_over: bool,
}

impl OtherTexts {
    fn new(communicator: Arc<dyn Communicator>) -> Self {
        // The first batches are not asked for.
        let processes = (0..communicator.processes()).map(|process| OtherText {
            is_sending: process > 0,
            ..OtherText::default()
        });
        Self {
            processes: processes.collect(),
            communicator,
        }
    }

    /// Returns the next batch of a process, which has not sent its last one.
    fn next(&mut self, process: usize) -> Result<Batch> {
        loop {
            let text = self.processes.get_mut(process).ok_or_else(malformed)?;
            if let Some(batch) = text.batches.pop_front() {
                return Ok(batch);
            }
            if text.is_over {
                return Err(malformed().into());
            }
            self.round()?;
        }
    }

    /// Receives the batches of a round, and asks those processes for the next ones for whose batches there is room.
    fn round(&mut self) -> Result<()> {
        let mut answers = Vec::with_capacity(self.processes.len());
        let mut were_sending = Vec::with_capacity(self.processes.len());
        for (process, text) in self.processes.iter_mut().enumerate() {
            were_sending.push(text.is_sending);
            let batches = text.batches.len() + usize::from(text.is_sending);
            text.is_sending = process > 0 && batches < MOST_BATCHES && !text.is_over;
            let answer = if text.is_sending { NEXT } else { WAIT };
            answers.push(answer.to_vec());
        }
        let received = self.communicator.all_to_all(answers)?;
        let received = received.iter().zip(were_sending);
        for ((message, was_sending), text) in received.zip(&mut self.processes) {
            // A process that has sent its last batch may be asked for another one, which is empty.
            if was_sending && !text.is_over {
                let batch = Batch::decode(message)?;
                text.is_over = batch.is_last;
                text.batches.push_back(batch);
            }
        }
        Ok(())
    }

    /// Ends the export in the other processes.
    fn end(&self) -> Result<()> {
        let answers = vec![END.to_vec(); self.processes.len()];
        self.communicator.all_to_all(answers)?;
        Ok(())
    }
}
