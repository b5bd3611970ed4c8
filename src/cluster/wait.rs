//! Waiting for messages and locks.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::error::ClusterError;

/// Upper limit of the time between two checks of `stop`.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Waits for a message. `None` means that none can come any more. Fails with
/// [`ClusterError::Interrupted`] soon after `stop` returns true.
pub(crate) fn receive<T>(
    receiver: &Receiver<T>,
    stop: &dyn Fn() -> bool,
) -> Result<Option<T>, ClusterError> {
    loop {
        match receiver.recv_timeout(POLL_INTERVAL) {
            Ok(message) => return Ok(Some(message)),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) if stop() => return Err(ClusterError::Interrupted),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Locks a mutex. No invariant spans a panic, so poisoning is ignored.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
