//! Progress and interruption of long operations.
//!
//! Every long loop of the library takes a [`Watch`]. The command line shows progress bars and turns
//! Ctrl-C into [`Watch::stopped`]. Without a watch, functions get [`Unwatched`].
//! [`Interruptible`] makes reads of pipes and terminals interruptible.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::Duration;

/// The caller stopped the operation; the bank is unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("interrupted; the bank is unchanged")]
pub struct Interrupted;

/// Receives progress reports and can stop the operation. Calls are cheap enough for every few
/// thousand steps, but not for every step.
///
/// ```
/// use seedbank_algorithms::watch::{Interrupted, Watch};
///
/// /// Stops at once.
/// struct Stopped;
///
/// impl Watch for Stopped {
///     fn stopped(&self) -> bool {
///         true
///     }
/// }
///
/// assert_eq!(Stopped.proceed(), Err(Interrupted));
/// ```
pub trait Watch: Sync {
    /// Returns whether the operation should stop as soon as it can and leave the bank unchanged.
    fn stopped(&self) -> bool {
        false
    }

    /// Begins a stage. `total` is in the units of [`Watch::advance`]; `None` if it is unknown.
    fn stage(&self, _name: &str, _total: Option<u64>) {}

    /// Reports that `units` more of the current stage are done.
    fn advance(&self, _units: u64) {}

    /// Returns `Err(Interrupted)` once the operation should stop.
    fn proceed(&self) -> Result<(), Interrupted> {
        if self.stopped() {
            Err(Interrupted)
        } else {
            Ok(())
        }
    }
}

impl<W: Watch + Send + ?Sized> Watch for Arc<W> {
    fn stopped(&self) -> bool {
        (**self).stopped()
    }

    fn stage(&self, name: &str, total: Option<u64>) {
        (**self).stage(name, total);
    }

    fn advance(&self, units: u64) {
        (**self).advance(units);
    }
}

/// Forwards interruption but no progress: for parts of an operation that reports its own stages.
pub struct Quiet<'a>(pub &'a dyn Watch);

impl Watch for Quiet<'_> {
    fn stopped(&self) -> bool {
        self.0.stopped()
    }
}

/// A watch that ignores progress and never stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {}

/// Time between two checks of the watch while a read waits.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Bytes that the reading thread sends at a time.
const CHUNK: usize = 64 << 10;

/// Interruptible reader of a file, pipe, device or terminal.
///
/// Opening a named pipe blocks until its other end is opened, and reading one until there is data.
/// A separate thread opens and reads the input; a read of this type waits for that thread and
/// checks the watch meanwhile. An interrupted read returns an error for which [`is_interrupted`] is
/// true. The thread remains until its own blocking call returns.
///
/// ```
/// use std::io::Read;
///
/// use seedbank_algorithms::watch::{Interruptible, Unwatched};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("list.txt");
/// std::fs::write(&path, "example.org\n")?;
/// let mut text = String::new();
/// Interruptible::file(&path, &Unwatched)?.read_to_string(&mut text)?;
/// assert_eq!(text, "example.org\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Interruptible<'w> {
    watch: &'w dyn Watch,
    chunks: Receiver<io::Result<Vec<u8>>>,
    /// The current chunk; its first `consumed` bytes were returned already.
    chunk: Vec<u8>,
    consumed: usize,
    ended: bool,
}

impl<'w> Interruptible<'w> {
    /// Reads a file of any kind.
    ///
    /// # Errors
    ///
    /// If the thread cannot be started. Errors of opening the file are returned by the first read.
    pub fn file(path: &Path, watch: &'w dyn Watch) -> io::Result<Self> {
        let path = path.to_path_buf();
        Self::spawn(
            move || Ok(Box::new(File::open(path)?) as Box<dyn Read>),
            watch,
        )
    }

    /// Reads standard input.
    ///
    /// # Errors
    ///
    /// If the thread cannot be started.
    pub fn stdin(watch: &'w dyn Watch) -> io::Result<Self> {
        Self::spawn(|| Ok(Box::new(io::stdin()) as Box<dyn Read>), watch)
    }

    fn spawn(
        open: impl FnOnce() -> io::Result<Box<dyn Read>> + Send + 'static,
        watch: &'w dyn Watch,
    ) -> io::Result<Self> {
        let (to, chunks) = mpsc::sync_channel(1);
        thread::Builder::new()
            .name("input".to_owned())
            .spawn(move || send_chunks(open(), &to))?;
        Ok(Self {
            watch,
            chunks,
            chunk: Vec::new(),
            consumed: 0,
            ended: false,
        })
    }
}

/// Sends an input in chunks; an empty chunk marks its end. Returns early if the receiver is gone.
fn send_chunks(input: io::Result<Box<dyn Read>>, to: &SyncSender<io::Result<Vec<u8>>>) {
    let mut input = match input {
        Ok(input) => input,
        Err(error) => {
            let _ = to.send(Err(error));
            return;
        }
    };
    loop {
        let mut chunk = vec![0; CHUNK];
        let read = match input.read(&mut chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read,
        };
        let is_last = !matches!(read, Ok(1..));
        let chunk = read.map(|length| {
            chunk.truncate(length);
            chunk
        });
        if to.send(chunk).is_err() || is_last {
            return;
        }
    }
}

impl Read for Interruptible<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.consumed == self.chunk.len() && !self.ended {
            self.watch.proceed().map_err(io::Error::other)?;
            match self.chunks.recv_timeout(POLL_INTERVAL) {
                Ok(chunk) => {
                    self.chunk = chunk?;
                    self.consumed = 0;
                    self.ended = self.chunk.is_empty();
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => self.ended = true,
            }
        }
        let left = self.chunk.get(self.consumed..).unwrap_or_default();
        let length = left.len().min(buffer.len());
        buffer[..length].copy_from_slice(&left[..length]);
        self.consumed += length;
        Ok(length)
    }
}

/// Returns whether an error of an [`Interruptible`] means that the watch stopped the operation.
#[must_use]
pub fn is_interrupted(error: &io::Error) -> bool {
    matches!(error.get_ref(), Some(inner) if inner.is::<Interrupted>())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// Stops at the n-th check.
    struct After(AtomicU64);

    impl Watch for After {
        fn stopped(&self) -> bool {
            self.0.fetch_sub(1, Ordering::Relaxed) <= 1
        }
    }

    #[test]
    fn an_input_is_read_completely_and_errors_are_returned() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("input");
        let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(3 * CHUNK + 17).collect();
        std::fs::write(&path, &bytes).unwrap();
        let mut read = Vec::new();
        let mut input = Interruptible::file(&path, &Unwatched).unwrap();
        input.read_to_end(&mut read).unwrap();
        assert_eq!(read, bytes);
        // At the end it stays at the end.
        assert_eq!(input.read(&mut [0; 8]).unwrap(), 0);
        for path in [folder.path(), &folder.path().join("nowhere")] {
            let mut input = Interruptible::file(path, &Unwatched).unwrap();
            let error = input.read(&mut [0; 8]).unwrap_err();
            assert!(error.raw_os_error().is_some() && !is_interrupted(&error));
        }
    }

    #[test]
    fn waiting_for_a_pipe_without_a_writer_can_be_interrupted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.is_ok_and(|made| made.success()));
        let watch = After(AtomicU64::new(3));
        let mut input = Interruptible::file(&path, &watch).unwrap();
        let error = input.read_to_end(&mut Vec::new()).unwrap_err();
        assert!(is_interrupted(&error), "{error}");
    }
}
