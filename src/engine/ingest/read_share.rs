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

/// Reads sources. `on_reject` is called with the number of the source of each listed reject; `is_input` tells whether
/// a source is an input, and not a list of pages or of sites.
pub(super) fn read_share(
    read_sources: ReadSources,
    sources: &mut [Box<dyn Source + '_>],
    naming: Naming,
    collector: &mut InputCollector,
    is_input: impl Fn(u32) -> bool + Send + Sync,
    watch: &dyn Watch,
    on_reject: &mut (dyn FnMut(u32, &Reject) -> Result<()> + Send),
) -> Result<ReadSummary, ReadError<EngineError>> {
    read_sources(sources, naming, watch, &mut |piece| {
        for (_, event) in &piece.events {
            if let Event::Rejected(reject) = event {
                on_reject(piece.source, reject)?;
            }
        }
        let of_links = is_input(piece.source);
        collector.add(piece, of_links)
    })
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
