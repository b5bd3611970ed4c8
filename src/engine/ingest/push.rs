//! Batches that a caller hands over record by record.
//!
//! ```text
//! push, on the caller's thread:   records -> portions of lines -> a channel with little room
//! the batch's own threads:        the channel -> pieces -> as records of a file
//! ```
//!
//! The batch has threads of its own, since one of them waits for records: if it were one of the
//! caller's pool, and the caller pushed from that pool, both could wait for each other.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};

use super::{IngestReport, IngestRequest};
use crate::engine::error::RequestError;
use crate::engine::{Bank, EngineError};
use seedbank_algorithms::watch::{Interrupted, Watch};
use seedbank_formats::ingest::{
    Pieces, Progress, Record, RecordChunk, RecordChunks, RecordSource, Source, Stop,
};

/// The name of a source of records, under which those that are refused are listed.
const NAME: &str = "records";

/// How many portions wait for being read; each has half a megabyte, or one record that is longer.
const WAITING: usize = 2;

impl Bank {
    /// Ingests a batch of records that a caller has or makes, in bounded memory: as
    /// [`ingest`](Self::ingest) does with a file of the same records. The request's inputs,
    /// format and sites are not looked at.
    ///
    /// Where records come one by one, and it is not known beforehand whether the batch will be
    /// whole, [`push`](Self::push) begins one that can be dropped.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// let pages = ["http://c.example/", "http://d.example/"];
    /// let records = pages.map(|url| Record::new(url).outlinks(["http://x.example/"]).digest("d"));
    /// let report = bank.ingest_records(&IngestRequest::default(), records, &Unwatched)?;
    /// assert_eq!((report.batch, report.counts.became_crawled), (Some(2), 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ingest_records<I>(
        &self,
        request: &IngestRequest,
        records: I,
        watch: &dyn Watch,
    ) -> Result<IngestReport, EngineError>
    where
        I: IntoIterator<Item = Record>,
        I::IntoIter: Send,
    {
        let records = RecordChunks(records.into_iter());
        let source = RecordSource::new(NAME.to_owned(), records);
        self.ingest_sources(request, &mut [Box::new(source)], watch)
    }

    /// Begins a batch to which records are pushed one by one. The batch is the bank's one writer
    /// until it is finished or dropped.
    ///
    /// An error comes back at once where the bank cannot be written. `watch` is told how far the
    /// batch is, and can stop it.
    pub fn push(
        &self,
        request: IngestRequest,
        watch: Arc<dyn Watch + Send>,
    ) -> Result<PushedBatch, EngineError> {
        PushedBatch::begin(self.clone(), request, watch)
    }
}

/// A batch to which records are pushed. Nothing of it is in the bank before
/// [`finish`](Self::finish); where it is dropped, the bank is as it was.
///
/// What holds for records of a file holds for these: the same rules, the same batch where the
/// records are the same, the same records refused, listed by their number. Memory is bounded:
/// `push` waits while the batch is behind.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use std::sync::Arc;
///
/// let request = IngestRequest { name: Some("tuesday".to_owned()), ..IngestRequest::default() };
/// let mut batch = bank.push(request.clone(), Arc::new(Unwatched))?;
/// batch.push(&Record::new("http://c.example/").outlinks(["http://x.example/"]))?;
/// // The crawler failed: nothing changes.
/// drop(batch);
/// assert_eq!(bank.status()?.counters.batches, 1);
///
/// let mut batch = bank.push(request, Arc::new(Unwatched))?;
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
    work: Option<JoinHandle<Result<IngestReport, EngineError>>>,
    dropped: Arc<AtomicBool>,
}

/// What goes to the batch's threads.
enum Sent {
    RecordChunk(RecordChunk),
    /// There are no more. Where this does not come, the batch was dropped.
    End,
}

impl PushedBatch {
    fn begin(
        bank: Bank,
        request: IngestRequest,
        watch: Arc<dyn Watch + Send>,
    ) -> Result<Self, EngineError> {
        let (to, from) = mpsc::sync_channel(WAITING);
        let (ready, is_ready) = mpsc::sync_channel(1);
        let dropped = Arc::new(AtomicBool::new(false));
        let watch = WhileHeld {
            watch,
            dropped: Arc::clone(&dropped),
        };
        let threads = rayon::ThreadPoolBuilder::new()
            .num_threads(rayon::current_num_threads())
            .build()
            .map_err(|error| EngineError::Threads(io::Error::other(error)))?;
        let work = move || {
            let source = Awaited {
                ready,
                records: RecordSource::new(NAME.to_owned(), Arriving { from, ended: false }),
            };
            threads.install(|| bank.ingest_sources(&request, &mut [Box::new(source)], &watch))
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
        // The other end goes away where the bank could not be opened.
        if is_ready.recv().is_err() {
            batch.ended()?;
        }
        Ok(batch)
    }

    /// Adds a record. It waits while the batch is behind; once the batch has failed, its error
    /// comes back from one call, and [`RequestError::BatchEnded`] from all later ones.
    pub fn push(&mut self, record: &Record) -> Result<(), EngineError> {
        if self.to.is_none() {
            return Err(RequestError::BatchEnded.into());
        }
        if self.portion.add(record) {
            let portion = std::mem::take(&mut self.portion);
            self.send(Sent::RecordChunk(portion))?;
        }
        Ok(())
    }

    /// Works the batch into the bank: all of it, or nothing if an error comes back.
    pub fn finish(mut self) -> Result<IngestReport, EngineError> {
        let portion = std::mem::take(&mut self.portion);
        if !portion.is_empty() {
            self.send(Sent::RecordChunk(portion))?;
        }
        self.send(Sent::End)?;
        self.ended()
    }

    fn send(&mut self, sent: Sent) -> Result<(), EngineError> {
        let to = self.to.as_ref().ok_or(RequestError::BatchEnded)?;
        if to.send(sent).is_err() {
            self.ended()?;
            return Err(RequestError::BatchEnded.into());
        }
        Ok(())
    }

    /// Waits for the batch's threads; what came of the batch.
    fn ended(&mut self) -> Result<IngestReport, EngineError> {
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
        // When this has returned, somebody else can write.
        if let Some(work) = self.work.take() {
            let _ = work.join();
        }
    }
}

/// The caller's watch, stopped where the batch is dropped.
struct WhileHeld {
    watch: Arc<dyn Watch + Send>,
    dropped: Arc<AtomicBool>,
}

impl Watch for WhileHeld {
    fn stopped(&self) -> bool {
        self.dropped.load(Ordering::Relaxed) || self.watch.stopped()
    }

    fn stage(&self, name: &str, total: Option<u64>) {
        self.watch.stage(name, total);
    }

    fn advance(&self, units: u64) {
        self.watch.advance(units);
    }
}

/// The portions that arrive; an interruption where the batch is dropped.
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

/// A source that says when it is looked at for the first time: then the bank is open for writing.
struct Awaited {
    ready: SyncSender<()>,
    records: RecordSource<Arriving>,
}

impl Source for Awaited {
    fn name(&self) -> String {
        self.records.name()
    }

    fn prepare(&mut self, watch: &dyn Watch) -> Result<Option<u64>, Stop> {
        // Whoever waited may have gone.
        let _ = self.ready.try_send(());
        self.records.prepare(watch)
    }

    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        self.records.open(progress)
    }
}
