//! Locks that another process may hold.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::StoreError;
use seedbank_algorithms::watch::Watch;

/// The time between two attempts to take a lock.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// The time that a lock must be held before it counts as held. A probe holds it for a moment, and so
/// does a child process between its fork and its exec if its parent, the holder, was killed.
pub(crate) const LOCK_GRACE: Duration = Duration::from_millis(100);

/// A lock on a file. It is released once the last clone is dropped.
#[derive(Clone)]
pub(crate) struct Lock(Arc<LockedFile>);

impl Lock {
    /// Takes an exclusive lock; fails if another process holds one.
    pub(crate) fn try_exclusive(file: File) -> Result<Self, TryLockError> {
        file.try_lock()?;
        Ok(Self(Arc::new(LockedFile(file))))
    }

    /// Takes a shared lock; fails if another process holds an exclusive one.
    pub(crate) fn try_shared(file: File) -> Result<Self, TryLockError> {
        file.try_lock_shared()?;
        Ok(Self(Arc::new(LockedFile(file))))
    }

    /// Takes a shared lock; waits for the holder of an exclusive one.
    pub(crate) fn shared(file: File) -> io::Result<Self> {
        file.lock_shared()?;
        Ok(Self(Arc::new(LockedFile(file))))
    }

    /// Takes an exclusive lock; `None` if another process holds one for longer than [`LOCK_GRACE`]. With
    /// `wait` it waits for the holder instead. Errors name `path`.
    pub(crate) fn exclusive(
        file: File,
        path: &Path,
        wait: bool,
        watch: &dyn Watch,
    ) -> Result<Option<Self>, StoreError> {
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Self(Arc::new(LockedFile(file))))),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(e)) => return Err(StoreError::io("lock", path)(e)),
            }
            watch.proceed()?;
            if start.elapsed() < LOCK_GRACE {
                std::thread::sleep(LOCK_GRACE / 50);
            } else if wait {
                std::thread::sleep(RETRY_INTERVAL);
            } else {
                return Ok(None);
            }
        }
    }

    /// Returns the locked file.
    pub(crate) fn file(&self) -> &File {
        &self.0.0
    }
}

/// A file that is unlocked when it is dropped. To close it is not enough: a child process that another
/// thread forks has the same open file until its exec.
struct LockedFile(File);

impl Drop for LockedFile {
    fn drop(&mut self) {
        // If this fails, the lock ends when the last process closes the file.
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(path: &Path) -> File {
        File::create(path).unwrap()
    }

    /// A child process that was forked has the open file of its parent, as a duplicate has.
    #[test]
    fn a_dropped_lock_is_free_although_a_child_process_has_the_open_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let file = open(&path);
        let of_child = file.try_clone().unwrap();
        let lock = Lock::try_exclusive(file).unwrap();
        assert!(Lock::try_exclusive(open(&path)).is_err());
        drop(lock);
        let lock = Lock::try_exclusive(open(&path)).unwrap();
        drop((lock, of_child));

        let file = open(&path);
        let of_child = file.try_clone().unwrap();
        let lock = Lock::shared(file).unwrap();
        assert!(Lock::try_exclusive(open(&path)).is_err());
        drop(lock);
        assert!(Lock::try_exclusive(open(&path)).is_ok());
        drop(of_child);
    }

    #[test]
    fn a_lock_is_held_until_the_last_clone_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let lock = Lock::try_exclusive(open(&path)).unwrap();
        drop(lock.clone());
        assert!(Lock::try_shared(open(&path)).is_err());
        drop(lock);
        assert!(Lock::try_shared(open(&path)).is_ok());
    }
}
