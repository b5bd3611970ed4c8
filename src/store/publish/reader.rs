//! Readers of published states.

use std::ops::Deref;
use std::path::Path;
use std::time::Duration;

use super::acknowledged::Acknowledged;
use super::marker::ensure_bank;
use super::part_files::{has_decided, parts_of};
use super::part_states::{LaterPart, OtherProcesses, PartStates};
use super::published::{Pointer, damaged, is_there, live_is_damaged, lock_state};
use crate::disk::{ACKNOWLEDGED, IMAGE, Lock, WRITER_LOCK, open_regular};
use crate::error::{IfUndamaged, StoreError};
use crate::tables::store::{ImageAccess, Store};

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
    /// A part of a cluster bank with a later state; `None` if there is none.
    later: Option<LaterPart>,
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
        ensure_bank(path)?;
        let reader = Self::open_published_with(path, processes)?;
        reader.format()?.ensure_current(path)?;
        reader.compare_with_acknowledged(path)?;
        if reader.parts().is_cluster() && has_decided(path) && exclude_writers(path).is_some() {
            tracing::warn!(
                unpublished = true,
                "this is an older state: a later one is stored in all parts and not published yet"
            );
        }
        Ok(reader)
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
        // The lock of the writer while the parts are read again.
        let mut no_writer = None;
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
            let Some(lock) = lock_state(path, epoch)? else {
                why = "its lock file is missing";
                std::thread::sleep(RETRY_INTERVAL);
                continue;
            };
            // A writer removes only states before the current one, so after this check the lock protects it.
            if Pointer::read(path)?.epoch == epoch && is_there(&pointer.folder(path))? {
                let mut store = pointer.open(path)?;
                let parts = parts_of(path)?;
                let others = match PartStates::open(path, parts, &store, processes)? {
                    Ok(others) => others,
                    // Parts keep a state until the first part has a later one.
                    Err(part) if Pointer::read(path)?.epoch == epoch => {
                        let what = format!("part {part} lacks state {epoch}");
                        return Err(StoreError::state("cluster", what));
                    }
                    Err(_) => continue,
                };
                let later = others.later;
                if let Some(part) = later.filter(|_| !has_decided(path)) {
                    if no_writer.is_some() {
                        return Err(part.damage(epoch));
                    }
                    // A writer that was at work has the lock, or has published the later state by now.
                    no_writer = exclude_writers(path);
                    if no_writer.is_some() {
                        continue;
                    }
                }
                let mut locks = vec![lock];
                locks.extend(others.locks);
                store.add_parts(parts, others.databases);
                store.share_cache();
                let (bank, current) = (path.to_path_buf(), pointer.clone());
                store.set_image(Some(ImageAccess {
                    folder: path.join(IMAGE),
                    is_published: Box::new(move || {
                        Pointer::read(&bank).is_ok_and(|pointer| pointer == current)
                    }),
                }));
                return Ok(Self {
                    store,
                    pointer,
                    _locks: locks,
                    later,
                });
            }
            std::thread::sleep(RETRY_INTERVAL);
        }
        Err(damaged(why))
    }

    /// Fails if a part of a cluster bank has a later state and no commit is in progress. The caller holds the lock of the
    /// writer.
    pub(crate) fn ensure_latest(&self, path: &Path) -> Result<(), StoreError> {
        match self.later {
            Some(part) if !has_decided(path) => Err(part.damage(self.epoch())),
            _ => Ok(()),
        }
    }

    /// Fails unless this is the last published state, and warns if it is older than the acknowledged one, so
    /// that no answer from it passes for the latest.
    ///
    /// Each event has a field for the case, so that a listener can add a hint: the next writer or `repair`
    /// publishes an `unpublished` state, and `repair` replaces a live state that is `live_damaged` and an
    /// acknowledgement that is `unacknowledged`.
    fn compare_with_acknowledged(&self, path: &Path) -> Result<(), StoreError> {
        let is_latest = || {
            let acknowledged = Acknowledged::read(path).if_undamaged()?.flatten();
            let is_this = acknowledged.is_some_and(|state| {
                state.epoch == self.epoch() && self.pointer.ensure_expected(&state).is_ok()
            });
            Ok::<_, StoreError>(is_this && Acknowledged::fault(path)?.is_none())
        };
        if is_latest()? {
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
        if is_latest()? || !is_current() {
            return Ok(());
        }
        match Acknowledged::read(path).if_undamaged()?.flatten() {
            Some(state) if state.epoch > self.epoch() && live_is_damaged(path, &state) => {
                tracing::warn!(
                    live_damaged = true,
                    "this is an older state: batch {} and refresh {} are stored in the live state, which is damaged",
                    state.batch,
                    state.refresh
                );
            }
            Some(state) if state.epoch > self.epoch() => tracing::warn!(
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
        self.store.set_image(None);
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
        ensure_bank(path)?;
        Ok(Pointer::read(path)? == self.pointer)
    }
}

/// Takes the lock of the writer as a reader, so that no writer starts; `None` if one is at work.
fn exclude_writers(path: &Path) -> Option<Lock> {
    let lock = open_regular(&path.join(WRITER_LOCK)).ok()?;
    Lock::try_shared(lock).ok()
}

impl Deref for Reader {
    type Target = Store;
    fn deref(&self) -> &Store {
        &self.store
    }
}
