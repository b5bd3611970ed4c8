//! Reads the inputs of a batch, and decides whether too many of its records are bad.

use super::bad_records::{bad_records, or_hopeless};
use super::gather::InputCollector;
use super::read_share::{SentRejects, read_share};
use super::reject_list::RejectList;
use super::request::IngestRequest;
use super::team::Team;
use super::team::share::Share;
use super::team::step::{ReadResult, Step};
use super::worker::Worker;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{Naming, Pieces, Progress, Source, Stop, within_limit};

/// The inputs of a batch.
pub(super) struct Inputs<'a, 's> {
    pub(super) sources: &'a mut [Box<dyn Source + 's>],
    /// Whether the first sources are the inputs of the request, one for each.
    pub(super) are_of_request: bool,
    /// Number of sources that are inputs; those after them list pages and sites.
    pub(super) of_links: usize,
    /// Number of sources with records of pages; after them comes the list of sites.
    pub(super) of_pages: usize,
    pub(super) names: Vec<String>,
    /// Name of the batch unless the request contains one.
    pub(super) name: String,
}

/// Inputs to read.
pub(super) struct Reading<'r, 'a, 's> {
    pub(super) request: &'r IngestRequest,
    pub(super) inputs: &'r mut Inputs<'a, 's>,
    pub(super) naming: Naming,
    /// The list of bad records.
    pub(super) rejects: RejectList,
}

impl Reading<'_, '_, '_> {
    /// Reads the inputs in all processes, and rejects the batch if too many records are bad.
    pub(super) fn run(
        mut self,
        mut collector: InputCollector,
        worker: &mut Worker<'_, '_>,
        team: &Team<'_>,
    ) -> Result<(ReadResult, RejectList)> {
        let watch = worker.passes.watch;
        let Some(exchange) = team.exchange() else {
            let rejects = &mut self.rejects;
            let mut list = |source, reject: &_| rejects.list(source, reject);
            let of_links = self.inputs.of_links;
            let is_input = |source: u32| (source as usize) < of_links;
            let (sources, naming) = (&mut *self.inputs.sources, self.naming);
            let read = read_share(sources, naming, &mut collector, is_input, watch, &mut list);
            let (read, is_hopeless) = or_hopeless(read)?;
            let result = ReadResult {
                read,
                is_hopeless,
                blocked: collector.blocked(),
                any_seed: false,
            };
            let (mut result, rejects) = self.accepted(result)?;
            watch.stage("sort", None);
            result.any_seed = worker.collect(collector)?;
            return Ok((result, rejects));
        };
        let shares = if self.inputs.are_of_request {
            team.divide(&self.request.format, &self.request.inputs)?
        } else {
            None
        };
        let mut sent = SentRejects::new(exchange);
        collector.number_portions(exchange.process(), exchange.processes())?;
        let own = || {
            let of_links = self.inputs.of_links;
            let is_input = |source: u32| (source as usize) < of_links;
            let mut list = |source, reject: &_| sent.list(source, reject);
            let (sources, naming) = (&mut *self.inputs.sources, self.naming);
            if let Some(own) = shares.as_ref().and_then(|shares| shares.first()) {
                skip_others(sources, own);
            }
            let read = read_share(sources, naming, &mut collector, is_input, watch, &mut list);
            let (read, is_hopeless) = or_hopeless(read)?;
            sent.flush()?;
            watch.stage("sort", None);
            Ok(ReadResult {
                read,
                is_hopeless,
                blocked: collector.blocked(),
                any_seed: worker.collect(collector)?,
            })
        };
        let empty = |_| Step::Read(Share::default());
        let others = 1..exchange.processes();
        let steps: Vec<Step> = match &shares {
            Some(shares) => shares.iter().skip(1).cloned().map(Step::Read).collect(),
            None => others.map(empty).collect(),
        };
        let mut results = team.run_each(&steps, own)?.into_iter();
        let lost = EngineError::Internal("this process has read nothing");
        let mut all = results.next().ok_or(lost)?;
        for result in results {
            all.read.merge(&result.read);
            all.is_hopeless |= result.is_hopeless;
            all.blocked.records += result.blocked.records;
            all.blocked.links += result.blocked.links;
            all.any_seed |= result.any_seed;
        }
        sent.list_received(&mut self.rejects)?;
        self.accepted(all)
    }

    /// Fails if too many records are bad.
    fn accepted(self, result: ReadResult) -> Result<(ReadResult, RejectList)> {
        let (read, request) = (&result.read, self.request);
        let is_accepted = within_limit(read.rejected(), read.records, request.max_rejects);
        if is_accepted && !result.is_hopeless {
            return Ok((result, self.rejects));
        }
        let listed = self.rejects.finish()?;
        let sources = &self.inputs.sources[..self.inputs.of_pages];
        let bad = bad_records(read, listed, sources, &request.format);
        Err(if result.is_hopeless {
            EngineError::MostlyRejected { bad }
        } else {
            EngineError::TooManyRejects {
                limit: request.max_rejects,
                bad,
            }
        })
    }
}

/// Replaces the inputs that other processes read by empty ones, so that the numbers of sources stay.
fn skip_others(sources: &mut [Box<dyn Source + '_>], own: &Share) {
    // Lists of pages and sites come after the inputs.
    for (number, source) in (0..own.inputs()).zip(sources) {
        if own.numbers.binary_search(&number).is_err() {
            *source = Box::new(ReadElsewhere(source.name()));
        }
    }
}

/// An input that another process reads.
struct ReadElsewhere(String);

impl Source for ReadElsewhere {
    fn name(&self) -> String {
        self.0.clone()
    }

    fn prepare(&mut self, _watch: &dyn Watch) -> Result<Option<u64>, Stop> {
        Ok(Some(0))
    }

    fn open<'a>(&'a mut self, _progress: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        Ok(Box::new(std::iter::empty()))
    }
}
