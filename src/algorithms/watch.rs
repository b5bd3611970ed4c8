//! Progress and interruption of long operations.
//!
//! Every long loop of the library takes a [`Watch`]. The command line shows progress bars and turns
//! Ctrl-C into [`Watch::stopped`]. Without a watch, functions get [`Unwatched`].
//! [`Interruptible`] makes reads of pipes and terminals interruptible.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;

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

/// Stops at a time.
struct Deadline(Instant);

impl Watch for Deadline {
    fn stopped(&self) -> bool {
        Instant::now() >= self.0
    }
}

/// The time within which [`WaitingInput::read_small`] must have read everything.
const SMALL_FILE_TIME: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 10 });

/// Time between two checks of the watch while a read waits.
const POLL_INTERVAL: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 20_000_000,
};

/// Interruptible reader of a file, pipe, device or terminal.
///
/// Opening a named pipe blocks until its other end is opened, and reading one until there is data. A read of this
/// type waits for both and checks the watch meanwhile. An interrupted read returns an error for which
/// [`is_interrupted`] is true.
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
    input: WaitingInput,
    watch: &'w dyn Watch,
    /// Whether something was read.
    has_begun: bool,
}

/// An open input that may have nothing to read yet.
#[derive(Clone, Debug)]
pub struct WaitingInput {
    file: Arc<File>,
    /// Whether reads return at once, with an error if there is nothing to read.
    is_nonblocking: bool,
}

impl WaitingInput {
    /// Opens a file of any kind, without waiting for the other end of a pipe.
    pub fn file(path: &Path) -> io::Result<Self> {
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let file = File::options().read(true).custom_flags(flags).open(path)?;
        Ok(Self {
            file: Arc::new(file),
            is_nonblocking: true,
        })
    }

    /// Opens standard input.
    pub fn stdin() -> io::Result<Self> {
        // Other processes may use the same pipe or terminal, so that it stays as it is.
        Ok(Self {
            file: Arc::new(io::stdin().as_fd().try_clone_to_owned()?.into()),
            is_nonblocking: false,
        })
    }

    /// Waits until there is something to read or the input has ended.
    pub fn wait(&self, watch: &dyn Watch) -> io::Result<()> {
        loop {
            watch.proceed().map_err(io::Error::other)?;
            let mut files = [PollFd::new(&*self.file, PollFlags::IN)];
            match poll(&mut files, Some(&POLL_INTERVAL)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Returns what is known about the open file.
    pub fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    /// Reads a small file such as a secret. A pipe has ten seconds. `None` if there are more than `most` bytes.
    pub fn read_small(self, most: u64) -> io::Result<Option<Vec<u8>>> {
        let deadline = Deadline(Instant::now() + SMALL_FILE_TIME);
        self.watched(&deadline).read_at_most(most).map_err(|error| {
            if is_interrupted(&error) {
                let text = "it is a pipe or a device that did not end within 10 s";
                return io::Error::new(io::ErrorKind::TimedOut, text);
            }
            error
        })
    }

    /// Returns a reader of the input.
    pub fn watched(self, watch: &dyn Watch) -> Interruptible<'_> {
        Interruptible {
            input: self,
            watch,
            has_begun: false,
        }
    }
}

impl<'w> Interruptible<'w> {
    /// Opens a file of any kind.
    pub fn file(path: &Path, watch: &'w dyn Watch) -> io::Result<Self> {
        Ok(WaitingInput::file(path)?.watched(watch))
    }

    /// Opens standard input.
    pub fn stdin(watch: &'w dyn Watch) -> io::Result<Self> {
        Ok(WaitingInput::stdin()?.watched(watch))
    }

    /// Reads everything. `None` if there are more than `most` bytes.
    pub fn read_at_most(self, most: u64) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        let read = self.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        Ok((read as u64 <= most).then_some(bytes))
    }
}

impl Read for Interruptible<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // A named pipe is read before it is waited for: if its writer ended before it was opened here, it has data but
        // never ends for `poll`.
        let mut is_ready = false;
        if !self.input.is_nonblocking {
            self.input.wait(self.watch)?;
            is_ready = true;
        }
        loop {
            self.watch.proceed().map_err(io::Error::other)?;
            match (&*self.input.file).read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // A named pipe without a writer looks as if it had ended. Linux says that it is ready once one came.
                Ok(0) if !self.has_begun && !is_ready && !buffer.is_empty() => {}
                Ok(0) if !self.has_begun && !cfg!(target_os = "linux") && self.is_named_pipe() => {
                    thread::sleep(Duration::from_millis(20));
                }
                read => {
                    self.has_begun |= matches!(read, Ok(1..));
                    return read;
                }
            }
            self.input.wait(self.watch)?;
            is_ready = true;
        }
    }
}

impl Interruptible<'_> {
    fn is_named_pipe(&self) -> bool {
        let metadata = self.input.file.metadata();
        self.input.is_nonblocking && metadata.is_ok_and(|metadata| metadata.file_type().is_fifo())
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

    fn pipe(folder: &Path) -> std::path::PathBuf {
        let path = folder.join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.is_ok_and(|made| made.success()));
        path
    }

    #[test]
    fn an_input_is_read_completely_and_errors_are_returned() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("input");
        let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(200_000).collect();
        let read = |mut input: Interruptible<'_>| {
            let mut read = Vec::new();
            input.read_to_end(&mut read).unwrap();
            // At the end it stays at the end.
            assert_eq!(input.read(&mut [0; 8]).unwrap(), 0);
            read
        };
        for bytes in [&bytes[..], &[]] {
            std::fs::write(&path, bytes).unwrap();
            assert!(read(Interruptible::file(&path, &Unwatched).unwrap()) == bytes);
        }
        let pipe = pipe(folder.path());
        let to_pipe = pipe.clone();
        let input = Interruptible::file(&pipe, &Unwatched).unwrap();
        let sent = bytes.clone();
        let writer = thread::spawn(move || std::fs::write(to_pipe, sent));
        assert!(read(input) == bytes);
        writer.join().unwrap().unwrap();
        assert!(Interruptible::file(&folder.path().join("nowhere"), &Unwatched).is_err());
        let mut input = Interruptible::file(folder.path(), &Unwatched).unwrap();
        let error = input.read(&mut [0; 8]).unwrap_err();
        assert!(error.raw_os_error().is_some() && !is_interrupted(&error));
    }

    #[test]
    fn what_is_longer_than_allowed_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        std::fs::write(&path, "12345").unwrap();
        let read = |most| WaitingInput::file(&path).unwrap().read_small(most);
        assert_eq!(read(5).unwrap(), Some(b"12345".to_vec()));
        assert_eq!(read(4).unwrap(), None);
        let endless = WaitingInput::file(Path::new("/dev/zero")).unwrap();
        assert_eq!(endless.read_small(1_000).unwrap(), None);
    }

    #[test]
    fn a_writer_that_ended_before_is_read_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = pipe(folder.path());
        // The pipe keeps its data as long as one end is open.
        let end = WaitingInput::file(&pipe).unwrap();
        std::fs::write(&pipe, "a\n").unwrap();
        end.wait(&Unwatched).unwrap();
        let mut read = String::new();
        let mut input = Interruptible::file(&pipe, &Unwatched).unwrap();
        input.read_to_string(&mut read).unwrap();
        assert_eq!(read, "a\n");
        let mut rest = String::new();
        let mut input = end.watched(&Unwatched);
        input.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
    }

    #[test]
    fn waiting_for_a_pipe_without_a_writer_can_be_interrupted() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = pipe(folder.path());
        let watch = After(AtomicU64::new(3));
        let mut input = Interruptible::file(&pipe, &watch).unwrap();
        let error = input.read_to_end(&mut Vec::new()).unwrap_err();
        assert!(is_interrupted(&error), "{error}");
        let error = WaitingInput::file(&pipe)
            .unwrap()
            .read_small(9)
            .unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        // Nor does a writer that says a part and no more keep it waiting.
        let watch = After(AtomicU64::new(9));
        let input = WaitingInput::file(&pipe).unwrap();
        let mut writer = File::options().write(true).open(&pipe).unwrap();
        std::io::Write::write_all(&mut writer, b"a").unwrap();
        let mut read = Vec::new();
        let error = input.watched(&watch).read_to_end(&mut read).unwrap_err();
        assert!(is_interrupted(&error) && read == b"a", "{error}");
    }
}
