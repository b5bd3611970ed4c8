//! Writes the text of several processes in the order of the names of sites.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::vec::IntoIter;

use super::piece::{Batch, Piece, malformed};
use crate::engine::failing_watch::FailingWatch;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::watch::{Interrupted, Watch};

/// Returns the next batch of the sites of a process.
pub(super) type Source<'a> = Box<dyn FnMut(&dyn Watch) -> Result<Batch> + Send + 'a>;

/// Calls `write` with the pieces of all sources, in the order of the names of sites. No site is in two sources.
///
/// Each source works in a thread, at most one batch ahead of what is written. Once one of them or `write` fails, or `watch`
/// stops, the others end, and this returns the first error.
pub(super) fn write_merged(
    sources: Vec<Source<'_>>,
    watch: &dyn Watch,
    write: &mut dyn FnMut(&Piece) -> Result<()>,
) -> Result<()> {
    let failing = &FailingWatch::new(watch);
    let written = thread::scope(|scope| {
        let mut streams = Vec::new();
        for mut source in sources {
            // Without a buffer: a batch is written while the next one waits.
            let (batches, receiver) = sync_channel(0);
            let send = move || {
                if let Err(error) = send_all(&mut source, &batches, failing) {
                    failing.fail(error);
                }
            };
            let thread = thread::Builder::new().name("export".to_owned());
            let thread = thread.spawn_scoped(scope, send);
            thread.map_err(EngineError::Threads)?;
            streams.push(Stream::new(receiver));
        }
        // Without receivers, the threads end.
        merge(streams, failing, write)
    });
    let written = written.map_err(|error| failing.fail(error));
    failing.all(vec![written.ok()]).map(drop)
}

/// Sends all batches of a source, or those until nobody receives them.
fn send_all(source: &mut Source<'_>, batches: &SyncSender<Batch>, watch: &dyn Watch) -> Result<()> {
    loop {
        watch.proceed()?;
        // Once the work is stopped, other processes may fail because this one does not answer any more.
        let batch = source(watch).or_else(|error| {
            watch.proceed()?;
            Err(error)
        })?;
        let is_last = batch.is_last;
        if batches.send(batch).is_err() || is_last {
            return Ok(());
        }
    }
}

/// The pieces of a source.
struct Stream {
    batches: Receiver<Batch>,
    pieces: IntoIter<Piece>,
    is_over: bool,
    /// The site of the last piece.
    last: Arc<str>,
}

impl Stream {
    fn new(batches: Receiver<Batch>) -> Self {
        Self {
            batches,
            pieces: Vec::new().into_iter(),
            is_over: false,
            last: "".into(),
        }
    }

    /// Returns the next piece; `None` after the last one.
    fn next(&mut self) -> Result<Option<Piece>> {
        loop {
            if let Some(piece) = self.pieces.next() {
                if piece.site < self.last {
                    return Err(malformed().into());
                }
                self.last = Arc::clone(&piece.site);
                return Ok(Some(piece));
            }
            if self.is_over {
                return Ok(None);
            }
            // The source has failed, and the cause is known.
            let batch = self.batches.recv().map_err(|_| Interrupted)?;
            self.is_over = batch.is_last;
            self.pieces = batch.pieces.into_iter();
        }
    }
}

fn merge(
    mut streams: Vec<Stream>,
    watch: &dyn Watch,
    write: &mut dyn FnMut(&Piece) -> Result<()>,
) -> Result<()> {
    let mut pieces: Vec<Option<Piece>> = Vec::with_capacity(streams.len());
    let mut first = BinaryHeap::new();
    for (number, stream) in streams.iter_mut().enumerate() {
        let piece = stream.next()?;
        first.extend(
            piece
                .as_ref()
                .map(|piece| Reverse((Arc::clone(&piece.site), number))),
        );
        pieces.push(piece);
    }
    while let Some(Reverse((_, number))) = first.pop() {
        let (Some(stream), Some(next)) = (streams.get_mut(number), pieces.get_mut(number)) else {
            return Err(EngineError::Internal("a piece has no stream"));
        };
        if let Some(piece) = next.take() {
            watch.proceed()?;
            write(&piece)?;
        }
        *next = stream.next()?;
        first.extend(
            next.as_ref()
                .map(|piece| Reverse((Arc::clone(&piece.site), number))),
        );
    }
    Ok(())
}
