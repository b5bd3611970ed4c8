//! Batches whose records a caller pushes one by one.
//!
//! ```text
//! push, on the caller's thread:   records -> portions of lines -> a bounded channel
//! the batch's own threads:        the channel -> pieces -> as records of a file
//! ```
//!
//! The batch has its own thread pool, since one of its threads waits for records. In the caller's
//! pool, that thread and the caller could wait for each other.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};

use super::{IngestReport, IngestRequest};
use crate::engine::error::RequestError;
use crate::engine::{Bank, EngineError, Result};
use seedbank_algorithms::watch::{Interrupted, Watch};
use seedbank_formats::ingest::{
    Pieces, Progress, Record, RecordChunk, RecordChunks, RecordSource, Source, Stop,
};

/// Name of the source, under which rejected records are listed.
const NAME: &str = "records";

/// Capacity of the channel, in portions; each has half a megabyte, or one longer record.
const WAITING: usize = 2;

impl Bank {
    /// Ingests a batch of records from an iterator in bounded memory, as [`ingest`](Self::ingest)
    /// does with a file of the same records. Ignores the request's inputs, format and sites.
    ///
    /// If records arrive one by one and the batch may have to be abandoned, use
    /// [`push`](Self::push).
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// let pages = ["http://c.example/", "http://d.example/"];
    /// let records = pages.map(|url| Record::new(url).outlinks(["http://x.example/"]).digest("d"));
    /// let report = bank.ingest_records(&IngestRequest::default(), records)?;
    /// assert_eq!((report.batch, report.counts.became_crawled), (Some(2), 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ingest_records<I>(&self, request: &IngestRequest, records: I) -> Result<IngestReport>
    where
        I: IntoIterator<Item = Record>,
        I::IntoIter: Send,
    {
        let records = RecordChunks(records.into_iter());
        let source = RecordSource::new(NAME.to_owned(), records);
        self.ingest_sources(request, &mut [Box::new(source)])
    }

    /// Begins a batch to which records are pushed one by one. The batch is the bank's only writer
    /// until it is finished or dropped.
    ///
    /// Fails at once if the bank cannot be written.
    pub fn push(&self, request: IngestRequest) -> Result<PushedBatch> {
        PushedBatch::begin(self, request)
    }
}

/// A batch to which records are pushed. Nothing of it is in the bank before
/// [`finish`](Self::finish). If it is dropped, the bank is unchanged.
///
/// The same rules apply as for records of a file: the same records make the same batch, and the
/// same records are rejected, listed by their number. Memory is bounded: `push` waits while the
/// batch is behind.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// let request = IngestRequest { name: Some("tuesday".to_owned()), ..IngestRequest::default() };
/// let mut batch = bank.push(request.clone())?;
/// batch.push(&Record::new("http://c.example/").outlinks(["http://x.example/"]))?;
/// // The crawler failed: nothing changes.
/// drop(batch);
/// assert_eq!(bank.status()?.counters.batches, 1);
///
/// let mut batch = bank.push(request)?;
/// for url in ["http://c.example/", "http://d.example/"] {
///     batch.push(&Record::new(url).outlinks(["http://x.example/"]).digest("d"))?;
/// }
/// assert_eq!(batch.finish()?.counts.became_crawled, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PushedBatch {
    portion: RecordChunk,
    /// `None` once the batch has ended.
    to: Option<SyncSender<Sent>>,
    work: Option<JoinHandle<Result<IngestReport>>>,
    dropped: Arc<AtomicBool>,
}

/// Message to the batch's threads.
enum Sent {
    RecordChunk(RecordChunk),
    /// End of the records. Without it, the batch was dropped.
    End,
}

impl PushedBatch {
    fn begin(bank: &Bank, request: IngestRequest) -> Result<Self> {
        let (to, from) = mpsc::sync_channel(WAITING);
        let (ready, is_ready) = mpsc::sync_channel(1);
        let dropped = Arc::new(AtomicBool::new(false));
        let bank = bank.watched(WhileHeld {
            bank: bank.clone(),
            dropped: Arc::clone(&dropped),
        });
        let threads = rayon::ThreadPoolBuilder::new()
            .num_threads(rayon::current_num_threads())
            .build()
            .map_err(|error| EngineError::Threads(io::Error::other(error)))?;
        let work = move || {
            let source = Awaited {
                ready,
                records: RecordSource::new(NAME.to_owned(), Arriving { from, ended: false }),
            };
            threads.install(|| bank.ingest_sources(&request, &mut [Box::new(source)]))
        };
        let work = thread::Builder::new()
            .name("pushed batch".to_owned())
            .spawn(work)
            .map_err(EngineError::Threads)?;
        let mut batch = Self {
            portion: RecordChunk::default(),
            to: Some(to),
            work: Some(work),
            dropped,
        };
        // The other end is dropped if the bank could not be opened.
        if is_ready.recv().is_err() {
            batch.ended()?;
        }
        Ok(batch)
    }

    /// Adds a record. Waits while the batch is behind. Once the batch has failed, one call returns
    /// its error, and all later ones [`RequestError::BatchEnded`].
    pub fn push(&mut self, record: &Record) -> Result<()> {
        self.push_json(&record.to_json())
    }

    /// Adds a record as a line of JSON Lines, without a line end, as [`push`](Self::push) does. It may have
    /// any fields, and is rejected and listed if it is no record.
    pub fn push_json(&mut self, line: &str) -> Result<()> {
        if self.to.is_none() {
            return Err(RequestError::BatchEnded.into());
        }
        if self.portion.add_json(line) {
            let portion = std::mem::take(&mut self.portion);
            self.send(Sent::RecordChunk(portion))?;
        }
        Ok(())
    }

    /// Applies the batch to the bank. If it fails, nothing has changed.
    pub fn finish(mut self) -> Result<IngestReport> {
        let portion = std::mem::take(&mut self.portion);
        if !portion.is_empty() {
            self.send(Sent::RecordChunk(portion))?;
        }
        self.send(Sent::End)?;
        self.ended()
    }

    fn send(&mut self, sent: Sent) -> Result<()> {
        let to = self.to.as_ref().ok_or(RequestError::BatchEnded)?;
        if to.send(sent).is_err() {
            self.ended()?;
            return Err(RequestError::BatchEnded.into());
        }
        Ok(())
    }

    /// Waits for the batch's threads, and returns the result of the batch.
    fn ended(&mut self) -> Result<IngestReport> {
        self.to = None;
        let work = self.work.take().ok_or(RequestError::BatchEnded)?;
        let ended = work.join();
        ended.unwrap_or(Err(EngineError::Internal("a batch's thread has panicked")))
    }
}

impl Drop for PushedBatch {
    fn drop(&mut self) {
        self.dropped.store(true, Ordering::Relaxed);
        self.to = None;
        // Once this returns, another writer can start.
        if let Some(work) = self.work.take() {
            let _ = work.join();
        }
    }
}

/// The watch of the caller's bank, which also stops when the batch is dropped.
struct WhileHeld {
    bank: Bank,
    dropped: Arc<AtomicBool>,
}

impl Watch for WhileHeld {
    fn stopped(&self) -> bool {
        self.dropped.load(Ordering::Relaxed) || self.bank.watch().stopped()
    }

    fn stage(&self, name: &str, total: Option<u64>) {
        self.bank.watch().stage(name, total);
    }

    fn advance(&self, units: u64) {
        self.bank.watch().advance(units);
    }
}

/// Iterator over arriving portions. Returns an interruption if the batch is dropped.
struct Arriving {
    from: Receiver<Sent>,
    ended: bool,
}

impl Iterator for Arriving {
    type Item = Result<RecordChunk, Stop>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        match self.from.recv() {
            Ok(Sent::RecordChunk(portion)) => Some(Ok(portion)),
            Ok(Sent::End) => {
                self.ended = true;
                None
            }
            Err(mpsc::RecvError) => {
                self.ended = true;
                Some(Err(Interrupted.into()))
            }
        }
    }
}

/// A source that signals when it is first used: by then the bank is open for writing.
struct Awaited {
    ready: SyncSender<()>,
    records: RecordSource<Arriving>,
}

impl Source for Awaited {
    fn name(&self) -> String {
        self.records.name()
    }

    fn prepare(&mut self, watch: &dyn Watch) -> Result<Option<u64>, Stop> {
        // The receiver may be gone.
        let _ = self.ready.try_send(());
        self.records.prepare(watch)
    }

    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        self.records.open(progress)
    }
}
