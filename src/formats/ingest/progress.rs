//! How far reading has got.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use seedbank_algorithms::watch::{Interrupted, Watch};

/// The handle through which a source reports its progress and learns that it should stop.
#[derive(Clone)]
pub struct Progress<'a> {
    watch: &'a dyn Watch,
    /// How many bytes of all sources were read so far.
    bytes: Arc<AtomicU64>,
    /// How many of them the watch has been told of.
    told: Arc<AtomicU64>,
}

impl<'a> Progress<'a> {
    /// The progress of a stage of the watch that begins now.
    pub(super) fn new(watch: &'a dyn Watch) -> Self {
        Self {
            watch,
            bytes: Arc::default(),
            told: Arc::default(),
        }
    }

    /// Reports that `bytes` more of the input, as it is stored, have been read.
    pub fn advance(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// An error once reading should stop. To be called at least for every piece, and for every
    /// [`PIECE_SIZE`](super::PIECE_SIZE) bytes of a record that may be longer.
    pub fn proceed(&self) -> Result<(), Interrupted> {
        self.watch.proceed()
    }

    /// The counter of bytes, for a reader that outlives the watch.
    pub(super) fn bytes(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.bytes)
    }

    /// How many bytes of all sources were read so far.
    pub(super) fn read(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Tells the watch what was read since the last time.
    pub(super) fn tell(&self) {
        let read = self.read();
        let told = self.told.swap(read, Ordering::Relaxed);
        self.watch.advance(read - told);
    }
}
