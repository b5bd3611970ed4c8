//! The threads that wait for the network. Callers block, and stop waiting once their watch says so.

use std::io;
use std::mem;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use seedbank_algorithms::watch::Watch;
use tokio::runtime::{Builder, Handle, Runtime};

/// Time between two checks of the watch while the network is waited for.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The runtime, and the process that it belongs to: after a `fork`, its threads are missing in the child.
static RUNTIME: Mutex<Option<(u32, Runtime)>> = Mutex::new(None);

/// Returns the runtime of this process.
pub(crate) fn handle() -> io::Result<Handle> {
    let mut runtime = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((of, runtime)) = &*runtime
        && *of == process
    {
        return Ok(runtime.handle().clone());
    }
    // An error says that another part of the program chose one before, which does as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let new = Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(4)
        .thread_name("remote")
        .enable_all()
        .build()?;
    let handle = new.handle().clone();
    // Dropping the runtime of another process would wait for threads that this one does not have.
    mem::forget(runtime.replace((process, new)));
    Ok(handle)
}

/// Waits for the result of a task. It is not polled on the calling thread, which may itself belong to a
/// runtime.
pub(crate) fn wait<T: Send + 'static>(
    task: impl Future<Output = T> + Send + 'static,
    watch: &dyn Watch,
) -> io::Result<T> {
    let (to, result) = mpsc::sync_channel(1);
    let task = handle()?.spawn(async move {
        // The receiver is gone if nobody waits any more.
        let _ = to.send(task.await);
    });
    loop {
        match result.recv_timeout(POLL_INTERVAL) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("the task was ended"));
            }
        }
        if let Err(interrupted) = watch.proceed() {
            task.abort();
            return Err(io::Error::other(interrupted));
        }
    }
}
