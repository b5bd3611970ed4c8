//! Locks that another process may hold.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::error::StoreError;
use seedbank_algorithms::watch::Watch;

/// The time between two attempts to take a lock.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// The time that a lock must be held before it counts as held. A probe holds it for a moment, and so
/// does a child process of the previous holder between its fork and its exec.
pub(crate) const LOCK_GRACE: Duration = Duration::from_millis(100);

/// Takes an exclusive lock; returns `false` if another process holds it. With `wait` it waits for the
/// holder instead. Errors name `path`.
pub(crate) fn take_lock(
    lock: &File,
    path: &Path,
    wait: bool,
    watch: &dyn Watch,
) -> Result<bool, StoreError> {
    let start = Instant::now();
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(e)) => return Err(StoreError::io("lock", path)(e)),
        }
        watch.proceed()?;
        if start.elapsed() < LOCK_GRACE {
            std::thread::sleep(LOCK_GRACE / 50);
        } else if wait {
            std::thread::sleep(RETRY_INTERVAL);
        } else {
            return Ok(false);
        }
    }
}
