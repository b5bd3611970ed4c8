//! Reads inputs of a batch: all of them, or those of one of several processes.

use std::sync::Arc;

use super::exchange::shuffle::{Exchange, Shuffle};
use super::exchange::stream::Stream;
use super::fields::{Bytes, Fields};
use super::gather::InputCollector;
use super::reject_list::RejectList;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{
    Event, MAX_LISTED_REJECTS, Naming, ReadError, ReadPiece, ReadSummary, Reject, Source,
};

/// The function that reads sources: it stops early if most records are bad, or reads all.
pub(super) type ReadSources = fn(
    &mut [Box<dyn Source + '_>],
    Naming,
    &dyn Watch,
    &mut (dyn FnMut(ReadPiece) -> Result<()> + Send),
) -> Result<ReadSummary, ReadError<EngineError>>;

/// How the sources of a batch are read.
pub(super) struct ShareReader<'a> {
    pub(super) read: ReadSources,
    pub(super) naming: Naming,
    /// Number of sources that are inputs; those after them list pages and sites.
    pub(super) of_links: usize,
    pub(super) watch: &'a dyn Watch,
}

impl ShareReader<'_> {
    /// Reads sources. Calls `on_reject` with each listed reject and the number of its source.
    pub(super) fn collect(
        &self,
        sources: &mut [Box<dyn Source + '_>],
        collector: &mut InputCollector,
        on_reject: &mut (dyn FnMut(u32, &Reject) -> Result<()> + Send),
    ) -> Result<ReadSummary, ReadError<EngineError>> {
        let of_links = self.of_links;
        (self.read)(sources, self.naming, self.watch, &mut |piece| {
            for (_, event) in &piece.events {
                if let Event::Rejected(reject) = event {
                    on_reject(piece.source, reject)?;
                }
            }
            let is_input = (piece.source as usize) < of_links;
            collector.add(piece, is_input)
        })
    }
}

/// Rejected records on their way to process 0, which lists those of all processes.
pub(super) struct SentRejects {
    sent: Shuffle,
    count: u64,
}

impl SentRejects {
    pub(super) fn new(exchange: &Arc<Exchange>) -> Self {
        Self {
            sent: Shuffle::of_stream(exchange, Stream::Rejects),
            count: 0,
        }
    }

    /// Adds a reject of the source with this number among all of the batch.
    pub(super) fn list(&mut self, source: u32, reject: &Reject) -> Result<()> {
        self.count += 1;
        let key = Bytes::default().u32(source).u64(self.count);
        let reject = serde_json::to_vec(reject).map_err(|_| unreadable())?;
        Ok(self.sent.push(&key, &reject)?)
    }

    pub(super) fn flush(&mut self) -> Result<()> {
        Ok(self.sent.flush()?)
    }

    /// Lists the first rejects of all processes, in the order of sources.
    pub(super) fn list_received(&mut self, list: &mut RejectList) -> Result<()> {
        let mut entries = self.sent.take()?;
        let mut listed = 0;
        while listed < MAX_LISTED_REJECTS
            && let Some((key, value)) = entries.next_entry()?
        {
            let reject = serde_json::from_slice(value).map_err(|_| unreadable())?;
            list.list(Fields(key).u32()?, &reject)?;
            listed += 1;
        }
        Ok(())
    }
}

const fn unreadable() -> EngineError {
    EngineError::Internal("a bad record in temporary data is invalid")
}
