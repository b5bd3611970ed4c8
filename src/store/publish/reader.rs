//! Readers of a bank: each holds the published state that it opened.

use std::fs::File;
use std::ops::Deref;
use std::path::Path;
use std::time::Duration;

use super::acknowledged::Acknowledged;
use super::live_state::live_is_damaged;
use super::published::{Pointer, damaged, folder_of};
use crate::disk::folder::{ACKNOWLEDGED, WRITER_LOCK, is_folder, marker_format, open_regular};
use crate::error::StoreError;
use crate::format::FORMAT;
use crate::tables::store::Store;

/// How often a reader tries again when it meets a state that is being removed.
const TRIES: u32 = 1000;

/// How long a reader waits between tries.
const PAUSE: Duration = Duration::from_millis(2);

/// The published state of a bank, as it was at one moment.
pub struct Reader {
    store: Store,
    pointer: Pointer,
    /// Keeps the state from being removed.
    _lock: File,
}

impl Reader {
    /// Opens the state that was published last. Any number of readers may do so, beside any writer.
    ///
    /// Where a stored state is not published, and no writer is at work on it, a warning is logged. A
    /// state that is older than the one that was published last, or not the bank's, is an error.
    ///
    /// Cost: besides opening the state, its MANIFEST is read once more.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let format = marker_format(path)?;
        if format != FORMAT {
            return Err(StoreError::other_format(path, format));
        }
        Self::open_to_migrate(path)
    }

    /// [`Reader::open`] for a bank that may have an older format, whose records only a
    /// [step](super::migration_steps) may read.
    pub(crate) fn open_to_migrate(path: &Path) -> Result<Self, StoreError> {
        marker_format(path)?;
        let reader = Self::of_published(path)?;
        reader.compare_with_acknowledged(path)?;
        Ok(reader)
    }

    /// Opens the published state of a folder whose marker may be lost.
    pub(crate) fn of_published(path: &Path) -> Result<Self, StoreError> {
        let folder = folder_of(path);
        let mut why = "it is missing";
        // A writer may publish and remove the state between reading the pointer and locking it.
        for _ in 0..TRIES {
            let pointer = Pointer::read(path)?;
            let epoch = pointer.epoch;
            let place = folder.join(epoch.to_string());
            let Ok(lock) = open_regular(&folder.join(format!("{epoch}.lock"))) else {
                why = "its lock file is missing";
                std::thread::sleep(PAUSE);
                continue;
            };
            // Only of the current state is it certain that nobody has begun to remove it.
            if lock.lock_shared().is_ok()
                && Pointer::read(path)?.epoch == epoch
                && is_folder(&place)
            {
                return Ok(Self {
                    store: pointer.open(path)?,
                    pointer,
                    _lock: lock,
                });
            }
            std::thread::sleep(PAUSE);
        }
        Err(damaged(why))
    }

    /// Fails where this is not the state that was published last, and warns where it is older than
    /// the acknowledged one, so that no answer from it passes for the latest.
    ///
    /// Each event has a field that names its subject, so that a listener can add what to do: the next
    /// writer or `repair` publishes what is `unpublished`, and `repair` replaces a live state that is
    /// `live_damaged` and an acknowledgement that is `unacknowledged`.
    fn compare_with_acknowledged(&self, path: &Path) -> Result<(), StoreError> {
        let is_latest = || {
            let said = Acknowledged::read(path).ok().flatten();
            said.is_some_and(|said| {
                said.epoch == self.epoch() && self.pointer.is_expected(&said).is_ok()
            }) && Acknowledged::fault(path).is_none()
        };
        if is_latest() {
            return Ok(());
        }
        let said = Acknowledged::read(path);
        // A writer may have published a later state since this one was opened.
        let is_pointed = || Pointer::read(path).is_ok_and(|pointer| pointer == self.pointer);
        if let Ok(Some(said)) = &said
            && let Err(e) = self.pointer.is_expected(said)
            && is_pointed()
        {
            return Err(e);
        }
        // A writer that has acknowledged a state is about to publish it.
        let lock = open_regular(&path.join(WRITER_LOCK));
        if lock.is_ok_and(|lock| lock.try_lock_shared().is_err()) {
            return Ok(());
        }
        // Or it has just published it.
        if is_latest() || !is_pointed() {
            return Ok(());
        }
        match Acknowledged::read(path) {
            Ok(Some(said)) if said.epoch > self.epoch() && live_is_damaged(path, &said) => {
                tracing::warn!(
                    live_damaged = true,
                    "this is an older state: batch {} and refresh {} are stored in the live state, which is damaged",
                    said.batch,
                    said.refresh
                );
            }
            Ok(Some(said)) if said.epoch > self.epoch() => tracing::warn!(
                unpublished = true,
                "this is an older state: batch {} and refresh {} are stored but not published yet",
                said.batch,
                said.refresh
            ),
            _ => tracing::warn!(
                unacknowledged = true,
                "{ACKNOWLEDGED} is damaged, so this may not be the latest state"
            ),
        }
        Ok(())
    }

    /// Fails where this is not the state that the bank published last.
    pub(crate) fn is_expected(&self, said: &Acknowledged) -> Result<(), StoreError> {
        self.pointer.is_expected(said)
    }

    /// The epoch of the state.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.pointer.epoch
    }

    /// Whether a reader that opened the bank in this folder now would read this very state; an error
    /// where it would find no bank, or none that can be read.
    ///
    /// Cost: two small files are read.
    pub fn is_current(&self, path: &Path) -> Result<bool, StoreError> {
        marker_format(path)?;
        Ok(Pointer::read(path)? == self.pointer)
    }
}

impl Deref for Reader {
    type Target = Store;
    fn deref(&self) -> &Store {
        &self.store
    }
}
