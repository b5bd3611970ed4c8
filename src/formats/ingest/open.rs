//! Opens inputs: files, files in ZIP archives, remote files or standard input; decompressed while they are read.

use std::error::Error;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::compression::{Compression, MAGIC_BYTES};
use super::expansion::{self, Expansion};
use super::progress::Progress;
use super::remote_file::RemoteFile;
use super::sniff::{DetectedFormat, HEAD_BYTES};
use super::zip_member::ZipMember;
use crate::display::counted;

/// An input of a batch.
#[derive(Clone, Debug)]
pub enum Input {
    /// A file (or a named pipe). `Bank::ingest` also accepts an address, such as `s3://bucket/key`, and replaces
    /// it by the files that it finds there.
    File(PathBuf),
    /// A file in a ZIP archive.
    Member(ZipMember),
    /// Standard input.
    Stdin,
    /// A file on another machine.
    Remote(Arc<dyn RemoteFile>),
}

impl PartialEq for Input {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(a), Self::File(b)) => a == b,
            (Self::Member(a), Self::Member(b)) => a == b,
            (Self::Stdin, Self::Stdin) => true,
            (Self::Remote(a), Self::Remote(b)) => a.name() == b.name(),
            _ => false,
        }
    }
}

impl Eq for Input {}

impl Input {
    /// Returns the input for a command-line argument: `-` is standard input.
    #[must_use]
    pub fn named(path: PathBuf) -> Self {
        if path.as_os_str() == "-" {
            Self::Stdin
        } else {
            Self::File(path)
        }
    }

    /// Returns the size in bytes; `None` if it is unknown. A missing input and a directory are errors.
    pub(super) fn length(&self) -> Result<Option<u64>, InputError> {
        let path = match self {
            Self::File(path) => path,
            Self::Member(member) => return Ok(Some(member.stored)),
            Self::Stdin => return Ok(None),
            Self::Remote(file) => return Ok(Some(file.length())),
        };
        let metadata = fs::metadata(path).map_err(|source| self.cannot_open(source))?;
        if metadata.is_dir() {
            return Err(InputError::Directory {
                file: self.to_string(),
            });
        }
        Ok(metadata.is_file().then_some(metadata.len()))
    }

    /// Opens and decompresses the input; bytes read count as progress.
    pub(super) fn open(&self, progress: &Progress<'_>) -> Result<Opened, InputError> {
        self.length()?;
        let cannot_open = |source| self.cannot_open(source);
        let bytes: Box<dyn Read + Send> = match self {
            Self::File(path) => Box::new(File::open(path).map_err(cannot_open)?),
            Self::Member(member) => Box::new(member.open().map_err(cannot_open)?),
            Self::Stdin => Box::new(io::stdin()),
            Self::Remote(file) => file.open().map_err(cannot_open)?,
        };
        let counted = CountingReader::new(bytes, progress);
        let raw = counted.reads();
        let stored: Box<dyn Read + Send> = match self {
            Self::Member(member) => member.content(counted),
            Self::File(_) | Self::Stdin | Self::Remote(_) => Box::new(counted),
        };
        Opened::new(self.to_string(), stored, raw)
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
            Self::Member(member) => member.fmt(f),
            Self::Stdin => f.write_str("standard input"),
            Self::Remote(file) => f.write_str(file.name()),
        }
    }
}

/// The format detected from an input's first bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DetectedInput {
    /// The input, as the caller named it.
    pub file: String,
    /// The detected format.
    pub format: DetectedFormat,
    /// The compression that was removed before detection; `None` if the input is not compressed.
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
        /// The system error.
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
        /// The number of bytes read before the failure.
        offset: u64,
        /// The system error.
        source: io::Error,
    },
    /// A small input expands to too much data.
    #[error("{file} expands to too much data")]
    Expansion {
        /// The input.
        file: String,
        /// The amount of expansion.
        source: Expansion,
    },
    /// Reading the input requires more memory than is available for it.
    #[error("{file} has {what}, and at most {max} bytes of memory are available for them")]
    TooMuchMemory {
        /// The input.
        file: String,
        /// The data that requires the memory.
        what: String,
        /// The available memory in bytes.
        max: usize,
    },
    /// The input has a format that cannot contain records.
    #[error("{} does not contain text records", .0.file)]
    NotRecords(DetectedInput),
    /// The input is malformed, or an accompanying file does not match; the error of the format's reader.
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
        /// The compression.
        compression: Compression,
        /// The number of lines before the damage.
        lines: u64,
        /// The number of decompressed bytes before the damage.
        text: u64,
        /// The error of the decompressor.
        source: io::Error,
    },
}

/// An open input, decompressed.
pub(super) struct Opened {
    file: String,
    compression: Option<Compression>,
    text: Box<dyn Read + Send>,
    text_read: u64,
    raw: Arc<RawReads>,
    /// Bytes read ahead for detection, returned by the next [`fill`](Self::fill).
    ahead: Cursor<Vec<u8>>,
    /// The read error after those bytes.
    failed: Option<io::Error>,
}

impl Opened {
    /// Detects the compression of a file whose reads are recorded in `raw`.
    fn new(
        file: String,
        mut stored: Box<dyn Read + Send>,
        raw: Arc<RawReads>,
    ) -> Result<Self, InputError> {
        let mut opened = Self {
            file,
            compression: None,
            text: Box::new(io::empty()),
            text_read: 0,
            raw,
            ahead: Cursor::default(),
            failed: None,
        };
        let mut head = [0; MAGIC_BYTES];
        let (length, failed) = read_full(&mut stored, &mut head, |_| Ok(()));
        if let Some(source) = failed {
            return Err(opened.error(source, 0));
        }
        let head = head.get(..length).unwrap_or_default();
        opened.compression = Compression::detect(head, &opened.file);
        let stored = Cursor::new(head.to_vec()).chain(stored);
        opened.text = match opened.compression {
            None => Box::new(stored),
            Some(compression) => compression
                .reader(stored)
                .map_err(|source| opened.error(source, 0))?,
        };
        Ok(opened)
    }

    /// Detects the format from the first bytes of the text, which are then returned by
    /// [`fill`](Self::fill).
    pub(super) fn peek_format(&mut self) -> Option<DetectedFormat> {
        let mut head = vec![0; HEAD_BYTES];
        let (length, failed) = self.fill(&mut head);
        head.truncate(length);
        self.failed = failed;
        // Skip a byte order mark, as the readers do.
        let format = DetectedFormat::detect(head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head));
        self.ahead = Cursor::new(head);
        format
    }

    /// Returns the bytes that were read ahead.
    pub(super) fn ahead(&self) -> &[u8] {
        self.ahead.get_ref()
    }

    /// Reads until the buffer is full, the text ends, or an error occurs. Returns the number of bytes and the
    /// error.
    pub(super) fn fill(&mut self, buffer: &mut [u8]) -> (usize, Option<io::Error>) {
        // Reading from memory cannot fail.
        let length = self.ahead.read(buffer).unwrap_or(0);
        if length == buffer.len() {
            return (length, None);
        }
        if let Some(error) = self.failed.take() {
            return (length, Some(error));
        }
        let (read, error) = read_full(
            &mut self.text,
            buffer.get_mut(length..).unwrap_or_default(),
            |read| {
                self.text_read += read as u64;
                expansion::check(self.raw.bytes(), self.text_read).map_err(io::Error::other)
            },
        );
        (length + read, error)
    }

    /// Returns the compression of the input.
    pub(super) const fn compression(&self) -> Option<Compression> {
        self.compression
    }

    /// Detects the format from the first bytes of the text; `None` if it is unclear.
    pub(super) fn detected(&self, head: &[u8]) -> Option<DetectedInput> {
        let format = DetectedFormat::detect(head)?;
        Some(DetectedInput {
            file: self.file.clone(),
            format,
            compression: self.compression,
        })
    }

    /// Converts a read error after `lines` complete lines.
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
            Some(compression) if !self.raw.failed.load(Ordering::Relaxed) => InputError::Damaged {
                file,
                compression,
                lines,
                text: self.text_read,
                source,
            },
            _ => InputError::Read {
                file,
                offset: self.raw.bytes(),
                source,
            },
        }
    }
}

/// Reads until the buffer is full, the input ends, or `count` or the reader returns an error.
fn read_full(
    from: &mut impl Read,
    buffer: &mut [u8],
    mut count: impl FnMut(usize) -> io::Result<()>,
) -> (usize, Option<io::Error>) {
    let mut length = 0;
    while let Some(free) = buffer.get_mut(length..).filter(|free| !free.is_empty()) {
        match from.read(free) {
            Ok(0) => break,
            Ok(read) => {
                length += read;
                if let Err(error) = count(read) {
                    return (length, Some(error));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (length, Some(error)),
        }
    }
    (length, None)
}

/// Reads of the stored input, shared between the reader and the error messages.
#[derive(Default)]
pub(super) struct RawReads {
    bytes: AtomicU64,
    /// Whether the input itself failed, as opposed to the decompressor.
    failed: AtomicBool,
}

impl RawReads {
    /// Returns the number of bytes read.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// A reader that records its reads.
pub(super) struct CountingReader {
    inner: Box<dyn Read + Send>,
    reads: Arc<RawReads>,
    progress: Arc<AtomicU64>,
}

impl CountingReader {
    pub(super) fn new(inner: Box<dyn Read + Send>, progress: &Progress<'_>) -> Self {
        Self {
            inner,
            reads: Arc::default(),
            progress: progress.bytes(),
        }
    }

    /// Returns the shared record of reads.
    pub(super) fn reads(&self) -> Arc<RawReads> {
        Arc::clone(&self.reads)
    }
}

impl Read for CountingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer);
        match &read {
            Ok(length) => {
                self.reads
                    .bytes
                    .fetch_add(*length as u64, Ordering::Relaxed);
                self.progress.fetch_add(*length as u64, Ordering::Relaxed);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.reads.failed.store(true, Ordering::Relaxed),
        }
        read
    }
}
