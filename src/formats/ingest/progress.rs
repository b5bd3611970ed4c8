//! Progress of reading.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use seedbank_algorithms::watch::{Interrupted, Watch};

/// The handle by which a source reports progress and checks for interruption.
#[derive(Clone)]
pub struct Progress<'a> {
    watch: &'a dyn Watch,
    /// Bytes read from all sources.
    bytes: Arc<AtomicU64>,
    /// Bytes reported to the watch.
    reported: Arc<AtomicU64>,
}

impl<'a> Progress<'a> {
    /// Creates the progress of a new stage of the watch.
    pub(super) fn new(watch: &'a dyn Watch) -> Self {
        Self {
            watch,
            bytes: Arc::default(),
            reported: Arc::default(),
        }
    }

    /// Adds bytes of the stored input to the progress.
    pub fn advance(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns an error once reading should stop. Call it at least once per piece, and once per
    /// [`PIECE_SIZE`](super::PIECE_SIZE) bytes of a longer record.
    pub fn proceed(&self) -> Result<(), Interrupted> {
        self.watch.proceed()
    }

    /// Returns the watch, for readers that wait.
    pub(super) const fn watch(&self) -> &'a dyn Watch {
        self.watch
    }

    /// Returns the byte counter, for a reader that outlives the watch.
    pub(super) fn bytes(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.bytes)
    }

    /// Returns the number of bytes read from all sources.
    pub(super) fn read(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Reports the bytes read since the last call to the watch.
    pub(super) fn report(&self) {
        let read = self.read();
        let reported = self.reported.swap(read, Ordering::Relaxed);
        self.watch.advance(read - reported);
    }
}
