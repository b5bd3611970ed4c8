//! Reads the inputs of a batch, and decides whether too many of its records are bad.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender};

use serde::{Deserialize, Serialize};

use super::blocklist::BlockedCounts;
use super::exchange::{Exchange, Stream};
use super::gather::{CollectedInput, InputCollector};
use super::passes::Passes;
use super::reject_list::{RejectList, SentRecords, bad_records, unread};
use super::request::IngestRequest;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::watch::{Interrupted, Unwatched, Watch};
use seedbank_formats::ingest::{
    Event, Format, Input, Nofollow, Pieces, Progress, ReadError, ReadOptions, ReadPiece,
    ReadSummary, Reject, Source, Stop, accepts_rejects, read_all_pieces, read_pieces,
};
use seedbank_store::StoreError;

/// What was found in the inputs of a batch.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct ReadResult {
    pub(super) read: ReadSummary,
    /// Why an input cannot be read.
    failure: Option<String>,
    pub(super) blocked: BlockedCounts,
    /// Whether a fetch has an origin.
    pub(super) any_seed: bool,
}

impl ReadResult {
    /// Adds what other processes found.
    fn add(&mut self, other: Self) {
        self.read.merge(&other.read);
        self.failure = self.failure.take().or(other.failure);
        self.blocked.records += other.blocked.records;
        self.blocked.links += other.blocked.links;
        self.any_seed |= other.any_seed;
    }
}

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

/// The least size in bytes of files that several threads ingest.
const MIN_FILES: u64 = 1 << 20;
/// The largest number of threads that ingest a batch. Each has a part of the memory.
const MAX_THREADS: usize = 8;

impl Inputs<'_, '_> {
    /// Returns the number of threads that ingest these inputs of a request: one if they are small files.
    pub(super) fn threads(&self, request: &IngestRequest) -> usize {
        let of_request = request.inputs.iter().chain(&request.sites);
        let lengths = of_request.map(|input| match input {
            Input::File(path) => length(path),
            // The length of what is no file is not known.
            _ => None,
        });
        let bytes: Option<u64> = lengths.sum();
        if self.are_of_request && bytes.is_some_and(|bytes| bytes < MIN_FILES) {
            return 1;
        }
        rayon::current_num_threads().min(MAX_THREADS)
    }
}

/// Inputs to read.
pub(super) struct Reading<'r, 'a, 's> {
    pub(super) request: &'r IngestRequest,
    pub(super) inputs: &'r mut Inputs<'a, 's>,
    pub(super) options: ReadOptions,
    /// The list of bad records.
    pub(super) rejects: RejectList,
}

impl Reading<'_, '_, '_> {
    /// Reads the inputs of a batch in process 0, and rejects the batch if too many records are bad. Other processes read
    /// their inputs ([`read_share`]); threads get pieces of the input from `threads` ([`collect_pieces`]).
    pub(super) fn run(
        mut self,
        collector: InputCollector,
        passes: &Passes<'_>,
        threads: Vec<SyncSender<InputPiece>>,
    ) -> Result<(ReadResult, CollectedInput, RejectList)> {
        let (exchange, watch) = (&passes.exchange, passes.watch);
        let divided = if exchange.has_readers() {
            InputShare::divided(exchange, || self.share())?
        } else {
            None
        };
        let numbers = divided
            .as_ref()
            .and_then(|(_, numbers)| numbers.get(exchange.process()));
        let skipped = numbers.map(|own| skip_others(self.inputs, own));
        let mut list = |source: u32, reject: &Reject| self.rejects.list(source, reject);
        let reader = InputReader {
            passes,
            options: self.options,
            of_links: self.inputs.of_links,
            sent: SentRecords::new(passes.shuffle(Stream::Rejects)),
            threads,
        };
        let InputRead {
            mut all,
            collector,
            mut sent,
        } = reader.read(self.inputs.sources, collector, &|source| source, &mut list)?;
        for (number, source) in skipped.into_iter().flatten() {
            self.inputs.sources[number] = source;
        }
        exchange.decide(|| match all.failure.take() {
            Some(failure) => {
                let number = divided.as_ref().and_then(|of| of.0.named_in(&failure));
                Err(self.failure_of(number, failure, watch))
            }
            None => Ok(()),
        })?;
        sent.list(|source, reject| {
            let source = u32::try_from(source).unwrap_or(u32::MAX);
            self.rejects.list(source, &reject)
        })?;
        let (read, rejects) = self.accepted(std::mem::take(&mut all.read), divided.is_some())?;
        watch.stage("sort", None);
        Ok((
            ReadResult { read, ..all },
            collector.finish(watch)?,
            rejects,
        ))
    }

    /// Returns the inputs if other processes can read some of them.
    fn share(&self) -> Option<InputShare> {
        let Inputs {
            sources,
            are_of_request,
            of_pages,
            ..
        } = &*self.inputs;
        let IngestRequest { format, inputs, .. } = self.request;
        // The columns are known here only.
        if !are_of_request || inputs.len() < 2 || !self.request.columns.is_empty() {
            return None;
        }
        let names: Vec<String> = sources[..*of_pages]
            .iter()
            .map(|source| source.name())
            .collect();
        InputShare::of_inputs(format, inputs, &names)
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
            read_all_pieces(std::slice::from_mut(source), self.options, watch, ignore)
        });
        match read {
            Some(Err(error)) => unread(error),
            _ => StoreError::Process(failure.into()).into(),
        }
    }

    /// Fails if too many records are bad. `is_shared` if other processes have read inputs, which are files.
    fn accepted(self, read: ReadSummary, is_shared: bool) -> Result<(ReadSummary, RejectList)> {
        let is_hopeless = read.is_hopeless();
        let limit = self.request.max_rejects;
        if accepts_rejects(read.rejected(), read.records, limit) && !is_hopeless {
            return Ok((read, self.rejects));
        }
        let listed = self.rejects.finish()?;
        let sources = &mut self.inputs.sources[..self.inputs.of_pages];
        // The format of an input that another process has read is not known here. A pipe would not end again.
        let first = listed.first.as_ref().map(|(source, _)| *source as usize);
        if is_shared
            && let Some(source) = first.and_then(|first| sources.get_mut(first))
            && source.detected().is_none()
        {
            let stop = &mut |_: ReadPiece| Err(EngineError::Internal("the format is known"));
            let one = std::slice::from_mut(source);
            let _ = read_pieces(one, self.options, &Unwatched, stop);
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

/// Reads the inputs that this process, which is not process 0, reads of a batch.
pub(super) fn read_share(
    collector: InputCollector,
    passes: &Passes<'_>,
    options: ReadOptions,
    memory: usize,
) -> Result<(ReadResult, CollectedInput)> {
    let exchange = &passes.exchange;
    let (share, numbers) = InputShare::divided(exchange, || None)?.unwrap_or_default();
    let numbers = numbers
        .get(exchange.process())
        .map_or(&[][..], Vec::as_slice);
    let mut sources = share.sources(numbers)?;
    for source in &mut sources {
        source.limit_memory(memory);
    }
    let reader = InputReader {
        passes,
        options,
        // All of them are inputs.
        of_links: sources.len(),
        sent: SentRecords::new(passes.shuffle(Stream::Rejects)),
        threads: Vec::new(),
    };
    let number = |source: u32| numbers.get(source as usize).copied().unwrap_or(u32::MAX);
    let read = reader.read(&mut sources, collector, &number, &mut |_, _| Ok(()));
    let InputRead {
        all,
        collector,
        mut sent,
    } = read?;
    exchange.decide(|| Ok(()))?;
    sent.list(|_, _: Reject| Ok(()))?;
    Ok((all, collector.finish(passes.watch)?))
}

/// A piece of the input, and whether it comes from an input and not from a list of pages or sites.
pub(super) type InputPiece = (ReadPiece, bool);

/// Collects the pieces of the input that this thread, which is not thread 0, gets from thread 0.
pub(super) fn collect_pieces(
    mut collector: InputCollector,
    passes: &Passes<'_>,
    pieces: Receiver<InputPiece>,
) -> Result<(ReadResult, CollectedInput)> {
    let exchange = &passes.exchange;
    collector.number_portions(exchange.process(), exchange.processes())?;
    for (piece, is_input) in pieces {
        collector.add(piece, is_input)?;
    }
    let all = gathered(exchange, ReadSummary::default(), None, &collector)?;
    exchange.decide(|| Ok(()))?;
    // Thread 0 has the bad records.
    let mut sent = SentRecords::new(passes.shuffle(Stream::Rejects));
    sent.list(|_, _: Reject| Ok(()))?;
    Ok((all, collector.finish(passes.watch)?))
}

/// Returns what all processes have found, given what this one has read and collected.
fn gathered(
    exchange: &Exchange,
    read: ReadSummary,
    failure: Option<String>,
    collector: &InputCollector,
) -> Result<ReadResult> {
    let own = ReadResult {
        read,
        failure,
        blocked: collector.blocked(),
        any_seed: collector.any_seed(),
    };
    let mut all = ReadResult::default();
    for result in exchange.gather(own)? {
        all.add(result);
    }
    Ok(all)
}

/// How a process reads its inputs.
struct InputReader<'p, 'a> {
    passes: &'p Passes<'a>,
    options: ReadOptions,
    /// Number of sources that are inputs; those after them list pages and sites.
    of_links: usize,
    /// Rejected records for process 0.
    sent: SentRecords,
    /// The other threads, which collect pieces in turn with this one.
    threads: Vec<SyncSender<InputPiece>>,
}

/// What a process has read, and what all have found.
struct InputRead {
    all: ReadResult,
    collector: InputCollector,
    sent: SentRecords,
}

impl InputReader<'_, '_> {
    /// Reads sources; `number` returns the number of a source among all of the batch. Bad records go to `list` if there is
    /// no other process, and are sent to process 0 otherwise.
    fn read(
        self,
        sources: &mut [Box<dyn Source + '_>],
        mut collector: InputCollector,
        number: &(dyn Fn(u32) -> u32 + Sync),
        list: &mut (dyn FnMut(u32, &Reject) -> Result<()> + Send),
    ) -> Result<InputRead> {
        let Self {
            passes,
            options,
            of_links,
            mut sent,
            threads,
        } = self;
        let exchange = &passes.exchange;
        collector.number_portions(exchange.process(), exchange.processes())?;
        let mut turns = (0..=threads.len()).cycle();
        let mut add = |piece: ReadPiece| {
            for (_, event) in &piece.events {
                if let Event::Rejected(reject) | Event::BadField(reject) = event {
                    let source = number(piece.source);
                    if exchange.has_readers() {
                        sent.push(source.into(), || Ok(reject))?;
                    } else {
                        list(source, reject)?;
                    }
                }
            }
            let is_input = (piece.source as usize) < of_links;
            // Pages that are named by the nodes of a graph are collected together.
            let turn = turns.next().filter(|_| piece.nodes.is_none());
            match turn.and_then(|turn| threads.get(turn)) {
                None => collector.add(piece, is_input),
                // A thread that has failed reports why.
                Some(thread) => Ok(thread.send((piece, is_input)).map_err(|_| Interrupted)?),
            }
        };
        let read = if exchange.has_readers() {
            read_all_pieces(sources, options, passes.watch, &mut add)
        } else {
            // Ends early if most records are bad.
            read_pieces(sources, options, passes.watch, &mut add)
        };
        let (read, failure) = match read {
            Err(ReadError::MostAreBad(read)) => (*read, None),
            // Process 0 reads the input once more.
            Err(ReadError::Input(error)) if !exchange.is_coordinator() => {
                (ReadSummary::default(), Some(error.to_string()))
            }
            read => (read.map_err(unread)?, None),
        };
        drop(threads);
        Ok(InputRead {
            all: gathered(exchange, read, failure, &collector)?,
            collector,
            sent,
        })
    }
}

// Which process reads which input.
//
// A process can read a file that it finds under the same path with the same length. Process 0 reads everything else,
// such as remote files, and inputs that belong together, such as those of a graph.

/// Inputs that can be read by different processes.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct InputShare {
    /// The name of the format.
    format: String,
    drops_nofollow: bool,
    files: Vec<SharedFile>,
}

/// An input that is a file.
#[derive(Clone, Serialize, Deserialize)]
struct SharedFile {
    path: PathBuf,
    /// The length in bytes.
    length: u64,
    /// The name under which its bad records are listed.
    name: String,
}

impl InputShare {
    /// Returns the inputs whose sources have these names; `None` if not all of them are files that can be read one by
    /// one.
    pub(super) fn of_inputs(format: &Format, inputs: &[Input], names: &[String]) -> Option<Self> {
        let nofollow = match format {
            // Their inputs belong together.
            Format::BvGraph { .. } | Format::CcGraph { .. } => return None,
            Format::Wat { nofollow } | Format::Warc { nofollow } | Format::Auto { nofollow } => {
                *nofollow
            }
            _ => Nofollow::default(),
        };
        let is_same = |name: &&str| named(name, nofollow).as_ref() == Some(format);
        let name = Format::NAMES.iter().map(|(name, _)| *name).find(is_same)?;
        let file = |(input, name): (&Input, &String)| {
            let Input::File(path) = input else {
                return None;
            };
            let path = std::path::absolute(path).ok()?;
            // The path is sent as text.
            path.to_str()?;
            Some(SharedFile {
                length: length(&path)?,
                path,
                name: name.clone(),
            })
        };
        // A source for each input: an archive can have several.
        if inputs.len() != names.len() {
            return None;
        }
        Some(Self {
            format: name.to_owned(),
            drops_nofollow: nofollow == Nofollow::Drop,
            files: inputs.iter().zip(names).map(file).collect::<Option<_>>()?,
        })
    }

    /// Returns the number of the input to whose file an error refers.
    pub(super) fn named_in(&self, error: &str) -> Option<usize> {
        let is_named = |file: &SharedFile| error.contains(&*file.path.to_string_lossy());
        self.files.iter().position(is_named)
    }

    /// Divides the inputs of a batch among the processes. All processes call it at the same time. `of_batch` finds the inputs,
    /// in process 0. Returns them, and the numbers of those that each process reads; `None` if process 0 has to read all.
    pub(super) fn divided(
        exchange: &Exchange,
        of_batch: impl FnOnce() -> Option<Self>,
    ) -> Result<Option<(Self, Vec<Vec<u32>>)>> {
        if exchange.is_alone() {
            return Ok(None);
        }
        let Some(share) = exchange.decide(|| Ok(of_batch()))? else {
            return Ok(None);
        };
        let readable = exchange.gather(share.readable())?;
        let numbers = share.divide(&readable);
        Ok(Some((share, numbers)))
    }

    /// Returns which of the inputs this process can read.
    fn readable(&self) -> Vec<bool> {
        let can_read = |file: &SharedFile| length(&file.path) == Some(file.length);
        self.files.iter().map(can_read).collect()
    }

    /// Divides the inputs among processes, given which of them each can read; process 0 can read all. Returns the
    /// numbers of inputs of each process.
    ///
    /// Large files are given away first, each to the process with the fewest bytes so far.
    fn divide(&self, readable: &[Vec<bool>]) -> Vec<Vec<u32>> {
        let mut shares = vec![(0_u64, Vec::new()); readable.len()];
        let mut order: Vec<(u32, u64)> = (0..)
            .zip(self.files.iter().map(|file| file.length))
            .collect();
        order.sort_by_key(|(number, bytes)| (std::cmp::Reverse(*bytes), *number));
        for (number, bytes) in order {
            let can_read = |process: &usize| {
                let of_process = readable
                    .get(*process)
                    .and_then(|of| of.get(number as usize));
                *process == 0 || of_process == Some(&true)
            };
            let processes = (0..shares.len()).filter(can_read);
            let least = processes.min_by_key(|process| shares[*process].0);
            let (sum, numbers) = &mut shares[least.unwrap_or(0)];
            *sum = sum.saturating_add(bytes);
            numbers.push(number);
        }
        let sorted = shares.into_iter().map(|(_, mut numbers)| {
            numbers.sort_unstable();
            numbers
        });
        sorted.collect()
    }

    /// Returns the sources of inputs, in the order of their numbers.
    pub(super) fn sources(&self, numbers: &[u32]) -> Result<Vec<Box<dyn Source>>> {
        if numbers.is_empty() {
            return Ok(Vec::new());
        }
        let unknown = EngineError::Internal("an input of another process is unknown");
        let nofollow = if self.drops_nofollow {
            Nofollow::Drop
        } else {
            Nofollow::Keep
        };
        let Some(format) = named(&self.format, nofollow) else {
            return Err(unknown);
        };
        let paths = self.files.iter().map(|file| file.path.clone());
        let inputs: Vec<Input> = paths.map(Input::File).collect();
        let sources = format.sources(&inputs);
        if sources.len() != inputs.len() {
            return Err(unknown);
        }
        let numbered = (0..).zip(sources).zip(&self.files);
        let own = numbered.filter(|((number, _), _)| numbers.binary_search(number).is_ok());
        let named = own.map(|((_, source), file)| {
            let name = file.name.clone();
            Box::new(NamedSource { name, source }) as Box<dyn Source>
        });
        Ok(named.collect())
    }
}

/// A source with the name that process 0 gives it.
struct NamedSource {
    name: String,
    source: Box<dyn Source>,
}

impl Source for NamedSource {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn limit_memory(&mut self, bytes: usize) {
        self.source.limit_memory(bytes);
    }

    fn prepare(&mut self, watch: &dyn Watch) -> Result<Option<u64>, Stop> {
        self.source.prepare(watch)
    }

    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        self.source.open(progress)
    }
}

/// Returns the format with a name, or `None` if no format has it.
fn named(name: &str, nofollow: Nofollow) -> Option<Format> {
    Some(match Format::named(name)? {
        Format::Wat { .. } => Format::Wat { nofollow },
        Format::Warc { .. } => Format::Warc { nofollow },
        Format::Auto { .. } => Format::Auto { nofollow },
        format => format,
    })
}

/// Returns the length of a regular file that this process can read, in bytes.
fn length(path: &Path) -> Option<u64> {
    // A pipe is not opened, which might wait.
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some(File::open(path).ok()?.metadata().ok()?.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(lengths: &[u64]) -> InputShare {
        let file = |length: &u64| SharedFile {
            path: PathBuf::from("/day"),
            length: *length,
            name: String::new(),
        };
        InputShare {
            format: "jsonl".to_owned(),
            drops_nofollow: false,
            files: lengths.iter().map(file).collect(),
        }
    }

    #[test]
    fn each_process_gets_about_as_many_bytes() {
        let all = vec![true; 5];
        let shares = share(&[4, 9, 3, 5, 2]).divide(&[all.clone(), all]);
        assert_eq!(shares, [vec![1, 2], vec![0, 3, 4]]);
    }

    #[test]
    fn process_0_reads_what_no_other_can_read() {
        let readable = [vec![true; 3], vec![false, true, false], vec![false; 3]];
        let shares = share(&[1, 1, 1]).divide(&readable);
        assert_eq!(shares, [vec![0, 2], vec![1], vec![]]);
    }

    #[test]
    fn inputs_that_belong_together_are_not_shared() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let inputs = [Input::File(file.path().to_path_buf())];
        let names = ["day".to_owned()];
        let of_inputs =
            |format: &Format, inputs: &[Input]| InputShare::of_inputs(format, inputs, &names);
        assert!(of_inputs(&Format::JsonLines, &inputs).is_some());
        let nofollow = Nofollow::Drop;
        assert!(of_inputs(&Format::BvGraph { urls: None }, &inputs).is_none());
        assert!(of_inputs(&Format::JsonLines, &[Input::Stdin]).is_none());
        assert!(of_inputs(&Format::JsonLines, &[Input::File("no/such/file".into())]).is_none());
        let share = of_inputs(&Format::Wat { nofollow }, &inputs).unwrap();
        assert_eq!(share.readable(), [true]);
        assert!(share.drops_nofollow && share.sources(&[]).unwrap().is_empty());
        assert_eq!(share.sources(&[0]).unwrap()[0].name(), "day");
        let path = file.path().display();
        assert_eq!(
            share.named_in(&format!("cannot read {path} after byte 7")),
            Some(0)
        );
    }
}
