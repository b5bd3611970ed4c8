//! How far reading has come.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::watch::{Interrupted, Watch};

/// What a source tells while it is read, and where it learns that it shall stop.
#[derive(Clone)]
pub struct Progress<'a> {
    watch: &'a dyn Watch,
    /// Bytes read so far, of all sources.
    bytes: Arc<AtomicU64>,
    /// Of these the watch has been told.
    told: Arc<AtomicU64>,
}

impl<'a> Progress<'a> {
    /// Of a stage of the watch that begins now.
    pub(super) fn new(watch: &'a dyn Watch) -> Self {
        Self {
            watch,
            bytes: Arc::default(),
            told: Arc::default(),
        }
    }

    /// Tells that `bytes` more of the input, as it is stored, have been read.
    pub fn advance(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The error once reading shall stop; to be asked for every piece at least, and for every
    /// [`PIECE_SIZE`](super::PIECE_SIZE) bytes of a record that may be longer.
    pub fn proceed(&self) -> Result<(), Interrupted> {
        self.watch.proceed()
    }

    /// Where bytes are counted by what outlives the watch.
    pub(super) fn bytes(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.bytes)
    }

    /// Tells the watch of what was read since the last time.
    pub(super) fn tell(&self) {
        let read = self.bytes.load(Ordering::Relaxed);
        let told = self.told.swap(read, Ordering::Relaxed);
        self.watch.advance(read - told);
    }
}
