//! How long work reports its progress and learns that it should stop.
//!
//! Every long loop of the library takes a [`Watch`]; the command line shows bars and turns
//! Ctrl-C into [`Watch::stopped`], a library caller passes [`Unwatched`] or its own. Waiting for a
//! pipe is work too: [`Interruptible`] reads one and stops when the watch says so.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::Duration;

/// The caller asked for the work to stop; the bank is unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("interrupted; the bank is unchanged")]
pub struct Interrupted;

/// What long work reports to. Calls are cheap enough for every few thousand steps, not for each
/// one.
///
/// ```
/// use seedbank_algorithms::watch::{Interrupted, Watch};
///
/// /// Stops the work at once.
/// struct Stopped;
///
/// impl Watch for Stopped {
///     fn stopped(&self) -> bool {
///         true
///     }
/// }
///
/// // Whoever works asks every few thousand steps.
/// assert_eq!(Stopped.proceed(), Err(Interrupted));
/// ```
pub trait Watch: Sync {
    /// Whether the work should stop as soon as it can, leaving the bank as it was.
    fn stopped(&self) -> bool {
        false
    }

    /// Begins a new stage; `total` is in the units of [`Watch::advance`], `None` where it is not
    /// known.
    fn stage(&self, _name: &str, _total: Option<u64>) {}

    /// Reports that `units` more of the current stage are done.
    fn advance(&self, _units: u64) {}

    /// `Err(Interrupted)` once the work should stop.
    fn proceed(&self) -> Result<(), Interrupted> {
        if self.stopped() {
            Err(Interrupted)
        } else {
            Ok(())
        }
    }
}

/// Stops when another watch does, and tells it nothing: for parts of a work whose stages are told as
/// a whole.
pub struct Quiet<'a>(pub &'a dyn Watch);

impl Watch for Quiet<'_> {
    fn stopped(&self) -> bool {
        self.0.stopped()
    }
}

/// A watch that shows nothing and never stops the work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {}

/// How long a read waits before it looks at the watch again.
const GLANCE: Duration = Duration::from_millis(20);

/// How many bytes the reading thread hands over at a time.
const CHUNK: usize = 64 << 10;

/// An input that may be a pipe, a device or a terminal, read so that waiting for it can be
/// interrupted.
///
/// Opening a named pipe waits for its other end, and reading one for data; neither wait ends by
/// itself. So a thread of its own opens and reads the input, and a read of this type waits for that
/// thread no longer than the watch allows. An interrupted read fails with an error of which
/// [`is_interrupted`] is true; the thread stays behind until its own wait ends.
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
    /// The chunk that is being given out, and how much of it is gone.
    chunk: Vec<u8>,
    taken: usize,
    ended: bool,
}

impl<'w> Interruptible<'w> {
    /// Reads a file of any kind.
    ///
    /// # Errors
    ///
    /// The thread cannot be started. That the file cannot be opened is an error of the first read.
    pub fn file(path: &Path, watch: &'w dyn Watch) -> io::Result<Self> {
        let path = path.to_path_buf();
        Self::reading(
            move || Ok(Box::new(File::open(path)?) as Box<dyn Read>),
            watch,
        )
    }

    /// Reads standard input.
    ///
    /// # Errors
    ///
    /// The thread cannot be started.
    pub fn stdin(watch: &'w dyn Watch) -> io::Result<Self> {
        Self::reading(|| Ok(Box::new(io::stdin()) as Box<dyn Read>), watch)
    }

    fn reading(
        open: impl FnOnce() -> io::Result<Box<dyn Read>> + Send + 'static,
        watch: &'w dyn Watch,
    ) -> io::Result<Self> {
        let (to, chunks) = mpsc::sync_channel(1);
        thread::Builder::new()
            .name("input".to_owned())
            .spawn(move || hand_over(open(), &to))?;
        Ok(Self {
            watch,
            chunks,
            chunk: Vec::new(),
            taken: 0,
            ended: false,
        })
    }
}

/// Reads an input in chunks; an empty chunk is its end. Stops where nobody waits for more.
fn hand_over(input: io::Result<Box<dyn Read>>, to: &SyncSender<io::Result<Vec<u8>>>) {
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
        while self.taken == self.chunk.len() && !self.ended {
            self.watch.proceed().map_err(io::Error::other)?;
            match self.chunks.recv_timeout(GLANCE) {
                Ok(chunk) => {
                    self.chunk = chunk?;
                    self.taken = 0;
                    self.ended = self.chunk.is_empty();
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => self.ended = true,
            }
        }
        let left = self.chunk.get(self.taken..).unwrap_or_default();
        let length = left.len().min(buffer.len());
        buffer[..length].copy_from_slice(&left[..length]);
        self.taken += length;
        Ok(length)
    }
}

/// Whether an error of an [`Interruptible`] says that the work should stop.
#[must_use]
pub fn is_interrupted(error: &io::Error) -> bool {
    matches!(error.get_ref(), Some(inner) if inner.is::<Interrupted>())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// Stops the work at the n-th look.
    struct After(AtomicU64);

    impl Watch for After {
        fn stopped(&self) -> bool {
            self.0.fetch_sub(1, Ordering::Relaxed) <= 1
        }
    }

    #[test]
    fn an_input_comes_whole_and_its_errors_too() {
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
    fn a_pipe_without_a_writer_is_waited_for_no_longer_than_allowed() {
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
