//! Reads the inputs of a batch, and decides whether too many of its records are bad.

use std::sync::Arc;

use super::bad_records::{bad_records, unread};
use super::exchange::shuffle::Exchange;
use super::gather::InputCollector;
use super::read_share::{SentRejects, ShareReader};
use super::reject_list::RejectList;
use super::request::IngestRequest;
use super::team::Team;
use super::team::step::{ReadResult, Step};
use super::worker::Worker;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::watch::{Unwatched, Watch};
use seedbank_formats::ingest::{
    Naming, Pieces, Progress, ReadError, ReadPiece, ReadSummary, Source, Stop, read_all_pieces,
    read_pieces, within_limit,
};
use seedbank_store::StoreError;

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
        self,
        collector: InputCollector,
        worker: &mut Worker<'_, '_>,
        team: &Team<'_>,
    ) -> Result<(ReadResult, RejectList)> {
        match team.exchange() {
            None => self.read_alone(collector, worker),
            Some(exchange) => self.read_together(collector, worker, team, exchange),
        }
    }

    /// Reads the inputs in this process.
    fn read_alone(
        mut self,
        mut collector: InputCollector,
        worker: &mut Worker<'_, '_>,
    ) -> Result<(ReadResult, RejectList)> {
        let watch = worker.passes.watch;
        let rejects = &mut self.rejects;
        let mut list = |source, reject: &_| rejects.list(source, reject);
        let reader = ShareReader {
            read: read_pieces,
            naming: self.naming,
            of_links: self.inputs.of_links,
            watch,
        };
        let read = reader.collect(self.inputs.sources, &mut collector, &mut list);
        let read = match read {
            Err(ReadError::MostAreBad(read)) => *read,
            read => read.map_err(unread)?,
        };
        let blocked = collector.blocked();
        let (read, rejects) = self.accepted(read)?;
        watch.stage("sort", None);
        let result = ReadResult {
            read,
            failure: None,
            blocked,
            any_seed: worker.collect(collector)?,
        };
        Ok((result, rejects))
    }

    /// Reads the inputs in several processes.
    fn read_together(
        mut self,
        mut collector: InputCollector,
        worker: &mut Worker<'_, '_>,
        team: &Team<'_>,
        exchange: &Arc<Exchange>,
    ) -> Result<(ReadResult, RejectList)> {
        let watch = worker.passes.watch;
        let mut shares = None;
        if self.inputs.are_of_request {
            let names = self.inputs.sources[..self.inputs.of_pages].iter();
            let names: Vec<String> = names.map(|source| source.name()).collect();
            shares = team.divide(&self.request.format, &self.request.inputs, &names)?;
        }
        let mut numbers = vec![Vec::new(); exchange.processes()];
        if let Some((_, divided)) = &shares {
            numbers.clone_from(divided);
        }
        let mut skipped = match &shares {
            Some(_) => skip_others(self.inputs, &numbers[0]),
            None => Vec::new(),
        };
        let mut sent = SentRejects::new(exchange);
        collector.number_portions(exchange.process(), exchange.processes())?;
        let own = || {
            let mut list = |source, reject: &_| sent.list(source, reject);
            let reader = ShareReader {
                read: read_all_pieces,
                naming: self.naming,
                of_links: self.inputs.of_links,
                watch,
            };
            let read = reader.collect(self.inputs.sources, &mut collector, &mut list);
            let read = read.map_err(unread)?;
            sent.flush()?;
            watch.stage("sort", None);
            Ok(ReadResult {
                read,
                failure: None,
                blocked: collector.blocked(),
                any_seed: worker.collect(collector)?,
            })
        };
        let steps: Vec<Step> = numbers.into_iter().skip(1).map(Step::Read).collect();
        let mut results = team.run_each(&steps, own)?.into_iter();
        for (number, source) in skipped.drain(..) {
            self.inputs.sources[number] = source;
        }
        let lost = EngineError::Internal("this process has read nothing");
        let mut all = results.next().ok_or(lost)?;
        for result in results {
            if let Some(failure) = result.failure {
                let number = shares.as_ref().and_then(|of| of.0.named_in(&failure));
                return Err(self.failure_of(number, failure, watch));
            }
            all.read.merge(&result.read);
            all.blocked.records += result.blocked.records;
            all.blocked.links += result.blocked.links;
            all.any_seed |= result.any_seed;
        }
        sent.list_received(&mut self.rejects)?;
        let (read, rejects) = self.accepted(std::mem::take(&mut all.read))?;
        Ok((ReadResult { read, ..all }, rejects))
    }

    /// Returns the error of an input that another process cannot read. It is read here once more, so that the error is
    /// that of one process.
    fn failure_of(
        &mut self,
        number: Option<usize>,
        failure: String,
        watch: &dyn Watch,
    ) -> EngineError {
        let source = number.and_then(|number| self.inputs.sources.get_mut(number));
        let read = source.map(|source| {
            let ignore = &mut |_: ReadPiece| Ok(());
            read_all_pieces(std::slice::from_mut(source), self.naming, watch, ignore)
        });
        match read {
            Some(Err(error)) => unread(error),
            _ => StoreError::Process(failure.into()).into(),
        }
    }

    /// Fails if too many records are bad.
    fn accepted(self, read: ReadSummary) -> Result<(ReadSummary, RejectList)> {
        let is_hopeless = read.is_hopeless();
        let limit = self.request.max_rejects;
        if within_limit(read.rejected(), read.records, limit) && !is_hopeless {
            return Ok((read, self.rejects));
        }
        let listed = self.rejects.finish()?;
        let sources = &mut self.inputs.sources[..self.inputs.of_pages];
        // The format of an input that another process has read is not known here.
        let first = listed.first.as_ref().map(|(source, _)| *source as usize);
        if let Some(source) = first.and_then(|first| sources.get_mut(first))
            && source.detected().is_none()
        {
            let stop = &mut |_: ReadPiece| Err(EngineError::Internal("the format is known"));
            let one = std::slice::from_mut(source);
            let _ = read_pieces(one, self.naming, &Unwatched, stop);
        }
        let bad = bad_records(&read, listed, sources, &self.request.format);
        Err(if is_hopeless {
            EngineError::MostlyRejected { bad }
        } else {
            EngineError::TooManyRejects { limit, bad }
        })
    }
}

/// Sources with their numbers.
type Numbered<'s> = Vec<(usize, Box<dyn Source + 's>)>;

/// Replaces the inputs that other processes read by empty ones, so that the numbers of sources stay. Returns them.
fn skip_others<'s>(inputs: &mut Inputs<'_, 's>, own: &[u32]) -> Numbered<'s> {
    let mut skipped = Vec::new();
    // Lists of pages and sites come after the inputs.
    for (number, source) in inputs.sources.iter_mut().take(inputs.of_links).enumerate() {
        if own.iter().all(|own| *own as usize != number) {
            let empty = Box::new(EmptySource(source.name()));
            skipped.push((number, std::mem::replace(source, empty)));
        }
    }
    skipped
}

/// An input that another process reads.
struct EmptySource(String);

impl Source for EmptySource {
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
