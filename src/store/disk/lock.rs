//! Waiting for a lock that another process may hold.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::error::StoreError;
use seedbank_algorithms::watch::Watch;

/// How often a process that waits for a lock looks again.
const PAUSE: Duration = Duration::from_millis(100);

/// How long a lock must be held before that counts. A probe holds it for a moment, and so does a
/// child process of its former holder between its fork and its exec.
pub(crate) const LOCK_GRACE: Duration = Duration::from_millis(100);

/// Takes a lock for itself, or with `wait` when its holder lets it go; returns `false` where another
/// holds it. `path` is what an error names.
pub(crate) fn take_lock(
    lock: &File,
    path: &Path,
    wait: bool,
    watch: &dyn Watch,
) -> Result<bool, StoreError> {
    let begun = Instant::now();
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(e)) => return Err(StoreError::io("lock", path)(e)),
        }
        watch.proceed()?;
        if begun.elapsed() < LOCK_GRACE {
            std::thread::sleep(LOCK_GRACE / 50);
        } else if wait {
            std::thread::sleep(PAUSE);
        } else {
            return Ok(false);
        }
    }
}
