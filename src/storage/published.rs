//! Published states: checkpoints of hard links that readers open, beside any writer.
//!
//! Each has a lock file that its readers share; it is removed when a later one is current and
//! nobody holds its lock. The current one is named by a pointer that is replaced in one step.

use std::fs::{self, File};
use std::io;
use std::ops::Deref;
use std::path::Path;
use std::time::Duration;

use super::bank::{lock_file, marker_format, replace_file};
use super::error::StoreError;
use super::rocks::Rocks;
use super::store::Store;

/// Makes the state what readers open from now on.
pub(super) fn publish(bank: &Path, store: &Store, epoch: u64) -> Result<(), StoreError> {
    let folder = bank.join("published");
    let place = folder.join(epoch.to_string());
    if place.exists() {
        // Left by a process that died between the checkpoint and the pointer.
        fs::remove_dir_all(&place).map_err(StoreError::io("remove", &place))?;
    }
    lock_file(&folder.join(format!("{epoch}.lock")))?;
    store.rocks.checkpoint(&place)?;
    replace_file(&folder.join("CURRENT"), &format!("{epoch}\n"))?;
    remove_unread(&folder, epoch);
    Ok(())
}

/// Removes published states that nobody reads any more. Best effort: what stays is tried again.
pub(super) fn remove_unread(folder: &Path, current: u64) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(epoch) = name.to_str().and_then(|name| name.strip_suffix(".lock")) else {
            continue;
        };
        if epoch.parse() == Ok(current) {
            continue;
        }
        let Ok(lock) = File::open(entry.path()) else {
            continue;
        };
        if lock.try_lock().is_ok() {
            let place = folder.join(epoch);
            if !place.exists() || fs::remove_dir_all(&place).is_ok() {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// The epoch that readers open.
pub(super) fn published_epoch(bank: &Path) -> Result<Option<u64>, StoreError> {
    let pointer = bank.join("published/CURRENT");
    match fs::read_to_string(&pointer) {
        Ok(text) => Ok(text.trim().parse().ok()),
        Err(e)
            if matches!(
                e.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::InvalidData
            ) =>
        {
            Ok(None)
        }
        Err(e) => Err(StoreError::io("read", &pointer)(e)),
    }
}

/// Whether readers find the state of this epoch: what they are pointed to, its lock and its files,
/// of which a copy of a bank may lack some.
pub(super) fn is_published(bank: &Path, epoch: u64) -> Result<bool, StoreError> {
    let folder = bank.join("published");
    Ok(published_epoch(bank)? == Some(epoch)
        && folder.join(format!("{epoch}.lock")).is_file()
        && folder.join(format!("{epoch}/CURRENT")).is_file())
}

/// The published state of a bank, as it was at one moment.
pub struct Reader {
    store: Store,
    epoch: u64,
    /// Keeps the state from being removed.
    _lock: File,
}

impl Reader {
    /// Opens the state that was published last. Any number of readers, beside any writer.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        marker_format(path)?;
        let nothing_published = || StoreError::Damaged {
            table: "published",
            key: "CURRENT".to_owned(),
            what: "no published state; any write to the bank publishes one".to_owned(),
        };
        let folder = path.join("published");
        // A writer may publish and remove the state between reading the pointer and locking it.
        for _ in 0..1000 {
            let epoch = published_epoch(path)?.ok_or_else(nothing_published)?;
            let place = folder.join(epoch.to_string());
            let Ok(lock) = File::open(folder.join(format!("{epoch}.lock"))) else {
                std::thread::sleep(Duration::from_millis(2));
                continue;
            };
            // Only of the current state it is sure that nobody has begun to remove it.
            if lock.lock_shared().is_ok() && published_epoch(path)? == Some(epoch) && place.is_dir()
            {
                let store = Store {
                    rocks: Rocks::open_reader(&place)?,
                };
                return Ok(Self {
                    store,
                    epoch,
                    _lock: lock,
                });
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Err(nothing_published())
    }

    /// The epoch of the state.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }
}

impl Deref for Reader {
    type Target = Store;
    fn deref(&self) -> &Store {
        &self.store
    }
}
