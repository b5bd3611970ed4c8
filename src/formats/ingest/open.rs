//! Opening an input: a file or standard input; plain, gzip or zstd, recognised by its first bytes.

use std::error::Error;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;

use super::expansion::{self, Expansion};
use super::progress::Progress;
use super::sniff::{DetectedFormat, HEAD};
use crate::display::counted;

/// Where a batch comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Input {
    /// A file (or a named pipe).
    File(PathBuf),
    /// Standard input.
    Stdin,
}

impl Input {
    /// The input that a command line means: `-` is standard input.
    #[must_use]
    pub fn named(path: PathBuf) -> Self {
        if path.as_os_str() == "-" {
            Self::Stdin
        } else {
            Self::File(path)
        }
    }

    /// How many bytes there are to read; `None` where that is not known. Refuses a missing input
    /// and a directory.
    pub(super) fn length(&self) -> Result<Option<u64>, InputError> {
        let path = match self {
            Self::File(path) => path,
            Self::Stdin => return Ok(None),
        };
        let about = fs::metadata(path).map_err(|source| self.cannot_open(source))?;
        if about.is_dir() {
            return Err(InputError::Directory {
                file: self.to_string(),
            });
        }
        Ok(about.is_file().then_some(about.len()))
    }

    /// Opens the input, decompressed; what is read counts as progress.
    pub(super) fn open(&self, progress: &Progress<'_>) -> Result<Opened, InputError> {
        self.length()?;
        let bytes: Box<dyn Read + Send> = match self {
            Self::File(path) => {
                Box::new(File::open(path).map_err(|source| self.cannot_open(source))?)
            }
            Self::Stdin => Box::new(io::stdin()),
        };
        Opened::new(self.to_string(), bytes, progress)
    }

    fn cannot_open(&self, source: io::Error) -> InputError {
        InputError::Open {
            file: self.to_string(),
            source,
        }
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Stdin => f.write_str("standard input"),
        }
    }
}

/// How an input is compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compression {
    /// gzip, of one or more members.
    Gzip,
    /// zstd, of one or more frames.
    Zstd,
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        })
    }
}

/// What an input is, by its first bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DetectedInput {
    /// The input, as the caller named it.
    pub file: String,
    /// What it is.
    pub format: DetectedFormat,
    /// How it is compressed, which was taken off before its bytes were looked at; `None` where it
    /// is not.
    pub compression: Option<Compression>,
}

/// An input that cannot be read to its end; the whole batch is refused.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// The input is missing or cannot be opened.
    #[error("cannot open {file}")]
    Open {
        /// The input.
        file: String,
        /// What the system says.
        source: io::Error,
    },
    /// The input is a directory.
    #[error("{file} is a directory; name the files in it")]
    Directory {
        /// The input.
        file: String,
    },
    /// Reading failed halfway.
    #[error("cannot read {file} after byte {offset}")]
    Read {
        /// The input.
        file: String,
        /// How many bytes were read from it before.
        offset: u64,
        /// What the system says.
        source: io::Error,
    },
    /// A small input expands to far more data than any crawl.
    #[error("{file} expands to too much data")]
    Expansion {
        /// The input.
        file: String,
        /// How much it expands.
        source: Expansion,
    },
    /// Reading the input needs more memory than the batch leaves for it.
    #[error("{file} has {what}, and at most {most} bytes of memory are available for them")]
    Held {
        /// The input.
        file: String,
        /// What takes the memory.
        what: String,
        /// How many bytes it may take.
        most: usize,
    },
    /// The input is not in the expected format, and nothing of it can be read.
    #[error("{} does not contain text records", .0.file)]
    DetectedFormat(DetectedInput),
    /// The input is not in its format, or an accompanying file does not match; the error of the format.
    #[error(transparent)]
    Format(Box<dyn Error + Send + Sync>),
    /// The compressed input is truncated, corrupt, or followed by other data.
    #[error(
        "{file} is damaged {compression}; only {} ({} of text) could be read",
        counted(*lines, "line"),
        counted(*text, "byte")
    )]
    Damaged {
        /// The input.
        file: String,
        /// How it is compressed.
        compression: Compression,
        /// How many lines could be read before the damage.
        lines: u64,
        /// How many bytes of decompressed text came before the damage.
        text: u64,
        /// What the decompressor says.
        source: io::Error,
    },
}

/// An open input: its decompressed text.
pub(super) struct Opened {
    file: String,
    compression: Option<Compression>,
    text: Box<dyn Read + Send>,
    text_read: u64,
    bytes: Arc<Bytes>,
    /// The first bytes of the text where they were looked at, still to be given out.
    ahead: Cursor<Vec<u8>>,
    /// The error that came after them.
    failed: Option<io::Error>,
}

impl Opened {
    /// Reads the first bytes to learn the compression; adds the bytes read to `progress`.
    pub(super) fn new(
        file: String,
        inner: Box<dyn Read + Send>,
        progress: &Progress<'_>,
    ) -> Result<Self, InputError> {
        let mut counted = Counted::new(inner, progress);
        let bytes = counted.so_far();
        let mut opened = Self {
            file,
            compression: None,
            text: Box::new(io::empty()),
            text_read: 0,
            bytes,
            ahead: Cursor::default(),
            failed: None,
        };
        let mut head = [0; 4];
        let length = fill(&mut counted, &mut head).map_err(|source| opened.error(source, 0))?;
        let whole = Cursor::new(head).take(length as u64).chain(counted);
        opened.compression = compression(head.get(..length).unwrap_or_default());
        opened.text = match opened.compression {
            None => Box::new(whole),
            Some(Compression::Gzip) => Box::new(MultiGzDecoder::new(whole)),
            Some(Compression::Zstd) => Box::new(
                zstd::stream::read::Decoder::new(whole)
                    .map_err(|source| opened.error(source, 0))?,
            ),
        };
        Ok(opened)
    }

    /// What the text that is still to come is by its first bytes, which stay to be read.
    pub(super) fn look_ahead(&mut self) -> Option<DetectedFormat> {
        let mut head = vec![0; HEAD];
        let (length, failed) = self.fill(&mut head);
        head.truncate(length);
        self.failed = failed;
        // As those who read the text do, after the mark of UTF-8.
        let format = DetectedFormat::detect(head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head));
        self.ahead = Cursor::new(head);
        format
    }

    /// The bytes that were looked at and are still to be read.
    pub(super) fn ahead(&self) -> &[u8] {
        self.ahead.get_ref()
    }

    /// Reads until the buffer is full or the text ends.
    pub(super) fn fill(&mut self, buffer: &mut [u8]) -> (usize, Option<io::Error>) {
        // Reading from memory cannot fail.
        let mut length = self.ahead.read(buffer).unwrap_or(0);
        if length == buffer.len() {
            return (length, None);
        }
        if let Some(error) = self.failed.take() {
            return (length, Some(error));
        }
        while let Some(free) = buffer.get_mut(length..).filter(|free| !free.is_empty()) {
            match self.text.read(free) {
                Ok(0) => break,
                Ok(read) => {
                    length += read;
                    self.text_read += read as u64;
                    let expansion = expansion::check(self.bytes.read(), self.text_read);
                    if let Err(expansion) = expansion {
                        return (length, Some(io::Error::other(expansion)));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return (length, Some(error)),
            }
        }
        (length, None)
    }

    /// How the input is compressed.
    pub(super) const fn compression(&self) -> Option<Compression> {
        self.compression
    }

    /// What the input is by the first bytes of its text; `None` where that is not clear.
    pub(super) fn detected(&self, head: &[u8]) -> Option<DetectedInput> {
        let format = DetectedFormat::detect(head)?;
        Some(DetectedInput {
            file: self.file.clone(),
            format,
            compression: self.compression,
        })
    }

    /// The error of this input after `lines` complete lines.
    pub(super) fn error(&self, source: io::Error, lines: u64) -> InputError {
        let file = self.file.clone();
        let cause = source.get_ref().and_then(|cause| cause.downcast_ref());
        if let Some(expansion) = cause {
            return InputError::Expansion {
                file,
                source: *expansion,
            };
        }
        match self.compression {
            Some(compression) if !self.bytes.failed.load(Ordering::Relaxed) => {
                InputError::Damaged {
                    file,
                    compression,
                    lines,
                    text: self.text_read,
                    source,
                }
            }
            _ => InputError::Read {
                file,
                offset: self.bytes.read(),
                source,
            },
        }
    }
}

fn fill(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while let Some(free) = buffer.get_mut(length..).filter(|free| !free.is_empty()) {
        match from.read(free) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

/// Recognises magic numbers (RFC 1952 2.3.1; RFC 8878 3.1.1 and 3.1.2: a skippable frame may come
/// first).
const fn compression(head: &[u8]) -> Option<Compression> {
    match head {
        [0x1f, 0x8b, ..] => Some(Compression::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Some(Compression::Zstd),
        _ => None,
    }
}

/// What an input has given so far, shared between its reader and its errors.
#[derive(Default)]
pub(super) struct Bytes {
    read: AtomicU64,
    failed: AtomicBool,
}

impl Bytes {
    /// How many bytes were read.
    pub(super) fn read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }
}

/// Counts bytes, and notes when the input itself failed, not the decompressor.
pub(super) struct Counted {
    inner: Box<dyn Read + Send>,
    bytes: Arc<Bytes>,
    progress: Arc<AtomicU64>,
}

impl Counted {
    pub(super) fn new(inner: Box<dyn Read + Send>, progress: &Progress<'_>) -> Self {
        Self {
            inner,
            bytes: Arc::default(),
            progress: progress.bytes(),
        }
    }

    /// The count of what has been read, which stays valid after this reader is moved.
    pub(super) fn so_far(&self) -> Arc<Bytes> {
        Arc::clone(&self.bytes)
    }
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer);
        match &read {
            Ok(length) => {
                self.bytes.read.fetch_add(*length as u64, Ordering::Relaxed);
                self.progress.fetch_add(*length as u64, Ordering::Relaxed);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.bytes.failed.store(true, Ordering::Relaxed),
        }
        read
    }
}
