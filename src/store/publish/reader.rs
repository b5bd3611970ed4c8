//! Readers of published states.

use std::ops::Deref;
use std::path::Path;
use std::time::Duration;

use super::acknowledged::Acknowledged;
use super::cluster::OtherProcesses;
use super::cluster::part_files::{has_decided, parts_of};
use super::cluster::part_states::PartStates;
use super::live_state::live_is_damaged;
use super::published::{Pointer, damaged, state_lock};
use crate::disk::folder::{
    ACKNOWLEDGED, IMAGE, WRITER_LOCK, is_folder, marker_format, open_regular,
};
use crate::disk::lock::Lock;
use crate::error::StoreError;
use crate::format::FORMAT;
use crate::tables::store::Store;

/// The maximum number of retries if the state is removed while it is opened.
const MAX_RETRIES: u32 = 1000;

/// The number of attempts that find no state where the pointer leads, after which it is missing. A writer
/// removes a state only once the pointer leads to another one, so only a repair can bring it back.
const MAX_ATTEMPTS_PER_POINTER: u32 = 50;

/// The time between retries.
const RETRY_INTERVAL: Duration = Duration::from_millis(2);

/// A published state of a bank, open for reading.
pub struct Reader {
    store: Store,
    pointer: Pointer,
    /// Prevent the removal of the state, one for each part of a cluster bank.
    _locks: Vec<Lock>,
}

impl Reader {
    /// Opens the last published state. Any number of readers can be open at the same time, also while a
    /// writer is at work.
    ///
    /// Logs a warning if a later state is stored but not published, and no writer is at work. A state of
    /// another bank, or older than the last published one, is an error.
    ///
    /// Cost: in addition to opening the state, reads its MANIFEST once more.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_with(path, &OtherProcesses::default())
    }

    /// Opens a bank like [`Reader::open`]; other processes have parts of it.
    pub fn open_with(path: &Path, processes: &OtherProcesses) -> Result<Self, StoreError> {
        let format = marker_format(path)?;
        if format != FORMAT {
            return Err(StoreError::other_format(path, format));
        }
        Self::open_compared(path, processes)
    }

    fn open_compared(path: &Path, processes: &OtherProcesses) -> Result<Self, StoreError> {
        let reader = Self::open_published_with(path, processes)?;
        reader.compare_with_acknowledged(path)?;
        if reader.parts().is_some() && has_decided(path) && Self::has_no_writer(path) {
            tracing::warn!(
                unpublished = true,
                "this is an older state: a later one is stored in all parts and not published yet"
            );
        }
        Ok(reader)
    }

    /// Opens a bank like [`Reader::open`], also in an older format, whose records only a
    /// [migration step](super::migration_steps) can read.
    pub(crate) fn open_to_migrate(path: &Path) -> Result<Self, StoreError> {
        marker_format(path)?;
        Self::open_compared(path, &OtherProcesses::default())
    }

    /// Opens the published state without checking the marker of the bank and the acknowledgement.
    pub(crate) fn open_published(path: &Path) -> Result<Self, StoreError> {
        Self::open_published_with(path, &OtherProcesses::default())
    }

    /// Opens the published state like [`Reader::open_published`]; other processes have parts of it.
    pub(crate) fn open_published_with(
        path: &Path,
        processes: &OtherProcesses,
    ) -> Result<Self, StoreError> {
        let mut why = "it is missing";
        let mut last_epoch = None;
        let mut attempts = 0;
        // A writer may publish another state and remove this one before it is locked.
        for _ in 0..MAX_RETRIES {
            let pointer = Pointer::read(path)?;
            let epoch = pointer.epoch;
            if last_epoch.replace(epoch) != Some(epoch) {
                attempts = 0;
            }
            if attempts == MAX_ATTEMPTS_PER_POINTER {
                break;
            }
            attempts += 1;
            let Ok(lock) = open_regular(&state_lock(path, epoch)) else {
                why = "its lock file is missing";
                std::thread::sleep(RETRY_INTERVAL);
                continue;
            };
            // A writer removes only states before the current one, so after this check the lock protects it.
            if let Ok(lock) = Lock::shared(lock)
                && Pointer::read(path)?.epoch == epoch
                && is_folder(&pointer.folder(path))
            {
                let mut store = pointer.open(path)?;
                let mut locks = vec![lock];
                if let Some(parts) = parts_of(path)? {
                    let others = match PartStates::open(path, parts, &store, processes)? {
                        Ok(others) => others,
                        // Parts keep a state until the first part has a later one.
                        Err(part) if Pointer::read(path)?.epoch == epoch => {
                            return Err(damaged(format!("part {part} lacks state {epoch}")));
                        }
                        Err(_) => continue,
                    };
                    locks.extend(others.locks);
                    store.add_parts(parts, others.databases);
                    store.share_cache();
                }
                store.set_image_folder(Some(path.join(IMAGE)));
                return Ok(Self {
                    store,
                    pointer,
                    _locks: locks,
                });
            }
            std::thread::sleep(RETRY_INTERVAL);
        }
        Err(damaged(why))
    }

    /// Returns whether no writer is at work.
    fn has_no_writer(path: &Path) -> bool {
        let lock = open_regular(&path.join(WRITER_LOCK));
        lock.is_ok_and(|lock| Lock::try_shared(lock).is_ok())
    }

    /// Fails unless this is the last published state, and warns if it is older than the acknowledged one, so
    /// that no answer from it passes for the latest.
    ///
    /// Each event has a field for the case, so that a listener can add a hint: the next writer or `repair`
    /// publishes an `unpublished` state, and `repair` replaces a live state that is `live_damaged` and an
    /// acknowledgement that is `unacknowledged`.
    fn compare_with_acknowledged(&self, path: &Path) -> Result<(), StoreError> {
        let is_latest = || {
            let acknowledged = Acknowledged::read(path).ok().flatten();
            acknowledged.is_some_and(|state| {
                state.epoch == self.epoch() && self.pointer.ensure_expected(&state).is_ok()
            }) && Acknowledged::fault(path).is_none()
        };
        if is_latest() {
            return Ok(());
        }
        // A writer may have published a later state since this one was opened.
        let is_current = || Pointer::read(path).is_ok_and(|pointer| pointer == self.pointer);
        if let Ok(Some(acknowledged)) = Acknowledged::read(path)
            && let Err(e) = self.pointer.ensure_expected(&acknowledged)
            && is_current()
        {
            return Err(e);
        }
        // A writer that has acknowledged a state is about to publish it.
        let lock = open_regular(&path.join(WRITER_LOCK));
        if lock.is_ok_and(|lock| Lock::try_shared(lock).is_err()) {
            return Ok(());
        }
        // Or it has published the state in between.
        if is_latest() || !is_current() {
            return Ok(());
        }
        match Acknowledged::read(path) {
            Ok(Some(state)) if state.epoch > self.epoch() && live_is_damaged(path, &state) => {
                tracing::warn!(
                    live_damaged = true,
                    "this is an older state: batch {} and refresh {} are stored in the live state, which is damaged",
                    state.batch,
                    state.refresh
                );
            }
            Ok(Some(state)) if state.epoch > self.epoch() => tracing::warn!(
                unpublished = true,
                "this is an older state: batch {} and refresh {} are stored but not published yet",
                state.batch,
                state.refresh
            ),
            _ => tracing::warn!(
                unacknowledged = true,
                "{ACKNOWLEDGED} is damaged, so this may not be the latest state"
            ),
        }
        Ok(())
    }

    /// Fails unless this can be the last published state according to the acknowledgement.
    pub(crate) fn ensure_expected(&self, acknowledged: &Acknowledged) -> Result<(), StoreError> {
        self.pointer.ensure_expected(acknowledged)
    }

    /// Neither uses the graph image nor writes it.
    #[must_use]
    pub fn without_image(mut self) -> Self {
        self.store.set_image_folder(None);
        self
    }

    /// Returns the epoch of the state.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.pointer.epoch
    }

    /// Returns whether this is still the current state of the bank; an error if the bank cannot be read.
    ///
    /// Cost: reads two small files.
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
