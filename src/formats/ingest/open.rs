//! Opens inputs: files, files in ZIP archives, remote files or standard input; decompressed while they are read.

use std::error::Error;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::progress::Progress;
use super::sniff::{DetectedFormat, HEAD_BYTES};
use crate::display::counted;
use brotli_decompressor::{BrotliDecoderParameter, Decompressor};
use flate2::Crc;
use flate2::read::{DeflateDecoder, MultiGzDecoder};
use seedbank_algorithms::watch::{Interruptible, WaitingInput, Watch};

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
    /// A pipe or device that is open already, and its path.
    Pipe(PathBuf, WaitingInput),
    /// A file on another machine.
    Remote(Arc<dyn RemoteFile>),
}

impl PartialEq for Input {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(a), Self::File(b)) | (Self::Pipe(a, _), Self::Pipe(b, _)) => a == b,
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
            Self::Stdin | Self::Pipe(..) => return Ok(None),
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

    /// Returns whether the input may have nothing to read yet. A missing file is reported when it is read.
    #[must_use]
    pub fn may_wait(&self) -> bool {
        let is_other = |file: fs::Metadata| !file.is_file() && !file.is_dir();
        match self {
            Self::Stdin => true,
            Self::File(path) => fs::metadata(path).is_ok_and(is_other),
            Self::Member(_) | Self::Pipe(..) | Self::Remote(_) => false,
        }
    }

    /// Waits until an input that [may wait](Self::may_wait) has something to read, or has ended. The input stays open.
    pub fn wait(&mut self, watch: &dyn Watch) -> Result<(), InputError> {
        let opened = match self {
            Self::File(path) => WaitingInput::file(path),
            Self::Stdin => WaitingInput::stdin(),
            Self::Member(_) | Self::Pipe(..) | Self::Remote(_) => return Ok(()),
        };
        let waited = opened.and_then(|input| input.wait(watch).map(|()| input));
        let input = waited.map_err(|source| self.cannot_open(source))?;
        if let Self::File(path) = self {
            *self = Self::Pipe(std::mem::take(path), input);
        }
        Ok(())
    }

    /// Opens and decompresses the input; bytes read count as progress.
    pub(super) fn open<'a>(&self, progress: &Progress<'a>) -> Result<Opened<'a>, InputError> {
        let is_file = self.length()?.is_some();
        let cannot_open = |source| self.cannot_open(source);
        let watch = progress.watch();
        let bytes: Box<dyn Read + Send + 'a> = match self {
            Self::File(path) if is_file => Box::new(File::open(path).map_err(cannot_open)?),
            Self::File(path) => Box::new(Interruptible::file(path, watch).map_err(cannot_open)?),
            Self::Member(member) => Box::new(member.open().map_err(cannot_open)?),
            Self::Stdin => Box::new(Interruptible::stdin(watch).map_err(cannot_open)?),
            Self::Pipe(_, waiting) => Box::new(waiting.clone().watched(watch)),
            Self::Remote(file) => file.open().map_err(cannot_open)?,
        };
        let counted = CountingReader::new(bytes, progress);
        let raw = counted.reads();
        let stored: Box<dyn Read + Send + 'a> = match self {
            Self::Member(member) => member.content(counted),
            _ => Box::new(counted),
        };
        let allowance = match self {
            Self::Member(member) => member.allowance.clone(),
            _ => Allowance::new(self.to_string()),
        };
        Opened::new(self.to_string(), stored, raw, allowance)
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
            Self::File(path) | Self::Pipe(path, _) => path.display().fmt(f),
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
    /// A line of a list of paths is no path.
    #[error("line {line} of {list} makes a path of {bytes} bytes, and a path has at most {max}")]
    LongPath {
        /// The list.
        list: String,
        /// The number of the line, from 1.
        line: u64,
        /// The length of the path in bytes.
        bytes: usize,
        /// The most bytes of a path.
        max: usize,
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
    #[error("cannot read records from {}", .0.file)]
    NotRecords(DetectedInput),
    /// The input is malformed, or an accompanying file does not match; the error of the format's reader.
    #[error(transparent)]
    Format(Box<dyn Error + Send + Sync>),
    /// A table does not have the columns of records; the error of the format's reader.
    #[error(transparent)]
    Columns(Box<dyn Error + Send + Sync>),
    /// The input ends within a record; the error of the format's reader.
    #[error(transparent)]
    Truncated(Box<dyn Error + Send + Sync>),
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

impl InputError {
    /// Returns whether the input is truncated, and all records before its end can be read.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        match self {
            Self::Truncated(_) => true,
            Self::Damaged { source, .. } => source.kind() == io::ErrorKind::UnexpectedEof,
            _ => false,
        }
    }
}

/// An open input, decompressed.
pub(super) struct Opened<'a> {
    file: String,
    compression: Option<Compression>,
    text: Box<dyn Read + Send + 'a>,
    text_read: u64,
    raw: Arc<RawReads>,
    allowance: Allowance,
    /// Bytes read that are counted in the allowance.
    counted: u64,
    /// Bytes read ahead for detection, returned by the next [`fill`](Self::fill).
    ahead: Cursor<Vec<u8>>,
    /// The read error after those bytes.
    failed: Option<io::Error>,
}

impl<'a> Opened<'a> {
    /// Detects the compression of a file whose reads are recorded in `raw`.
    fn new(
        file: String,
        mut stored: Box<dyn Read + Send + 'a>,
        raw: Arc<RawReads>,
        allowance: Allowance,
    ) -> Result<Self, InputError> {
        let mut opened = Self {
            file,
            compression: None,
            text: Box::new(io::empty()),
            text_read: 0,
            raw,
            allowance,
            counted: 0,
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
        let mut made = 0;
        opened.text = match opened.compression {
            None => Box::new(stored),
            Some(compression) => compression
                .reader(stored, &mut made)
                .map_err(|source| opened.error(source, 0))?,
        };
        opened.expand(made)?;
        Ok(opened)
    }

    /// Counts bytes that were produced from the input besides its text; returns an error if all bytes produced from the file
    /// on disk are too many.
    pub(super) fn expand(&mut self, made: u64) -> Result<(), InputError> {
        let counted = self.count(made);
        counted.map_err(|source| self.error(io::Error::other(source), 0))
    }

    fn count(&mut self, made: u64) -> Result<(), Expansion> {
        let read = self.raw.bytes();
        let before = std::mem::replace(&mut self.counted, read);
        self.allowance.count(read - before, made)
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

    /// Replaces the text, from its beginning on, by what a reader makes of it.
    pub(super) fn convert(
        &mut self,
        make: impl FnOnce(Box<dyn Read + Send + 'a>) -> Box<dyn Read + Send + 'a>,
    ) {
        let text = std::mem::replace(&mut self.text, Box::new(io::empty()));
        let failed = self.failed.take();
        let ahead = std::mem::take(&mut self.ahead);
        self.text = make(Box::new(ahead.chain(FailedReader(failed)).chain(text)));
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
        let mut text = std::mem::replace(&mut self.text, Box::new(io::empty()));
        let free = buffer.get_mut(length..).unwrap_or_default();
        let (read, error) = read_full(&mut text, free, |read| {
            self.text_read += read as u64;
            self.count(read as u64).map_err(io::Error::other)
        });
        self.text = text;
        (length + read, error)
    }

    /// Returns the compression of the input.
    pub(super) const fn compression(&self) -> Option<Compression> {
        self.compression
    }

    /// Detects the format from the first bytes of the text; `None` if it is unclear.
    pub(super) fn detected(&self, head: &[u8]) -> Option<DetectedInput> {
        let format = DetectedFormat::detect(head)?;
        // Any text may be that of the format that the caller expects.
        if format == DetectedFormat::Text {
            return None;
        }
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
                file: self.allowance.file().to_owned(),
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

/// Returns an error, or ends if there is none.
struct FailedReader(Option<io::Error>);

impl Read for FailedReader {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
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
pub(super) struct CountingReader<'a> {
    inner: Box<dyn Read + Send + 'a>,
    reads: Arc<RawReads>,
    progress: Arc<AtomicU64>,
}

impl<'a> CountingReader<'a> {
    pub(super) fn new(inner: Box<dyn Read + Send + 'a>, progress: &Progress<'_>) -> Self {
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

impl Read for CountingReader<'_> {
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

// The compressions of inputs: gzip, zstd with or without a dictionary, and brotli.

/// The compression of an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compression {
    /// gzip, of one or more members.
    Gzip,
    /// zstd, of one or more frames.
    Zstd,
    /// brotli.
    Brotli,
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Brotli => "brotli",
        })
    }
}

/// The number of bytes that show the compression.
pub(super) const MAGIC_BYTES: usize = 4;

/// The magic number of a zstd frame (RFC 8878, 3.1.1).
const FRAME: [u8; MAGIC_BYTES] = [0x28, 0xb5, 0x2f, 0xfd];

/// The magic number of the skippable frame whose content is a dictionary, by *Zstandard Compression for
/// WARC Files 1.0*.
const DICTIONARY_FRAME: [u8; MAGIC_BYTES] = [0x5d, 0x2a, 0x4d, 0x18];

/// The magic number of a zstd dictionary (RFC 8878, 5).
const DICTIONARY: [u8; MAGIC_BYTES] = [0x37, 0xa4, 0x30, 0xec];

/// The largest dictionary in bytes, stored and decompressed. Those that `zstd --train` makes have 110 KiB.
const MAX_DICTIONARY: u32 = 16 << 20;

/// The size in bytes of the buffer of the brotli decoder.
const BROTLI_BUFFER: usize = 64 << 10;

impl Compression {
    /// Detects the compression from the first bytes, by magic numbers (RFC 1952, 2.3.1; RFC 8878, 3.1.1 and
    /// 3.1.2, where a skippable frame may come first). brotli has none; it is detected by the name `.br`.
    pub(super) fn detect(head: &[u8], file: &str) -> Option<Self> {
        match head {
            [] => None,
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Some(Self::Zstd),
            _ => {
                let extension = Path::new(file).extension()?;
                extension.eq_ignore_ascii_case("br").then_some(Self::Brotli)
            }
        }
    }

    /// Returns a reader of the decompressed data. Data after its end is an error. Adds the bytes that were decompressed before
    /// the data to `made`.
    pub(super) fn reader<'a>(
        self,
        mut stored: impl Read + Send + 'a,
        made: &mut u64,
    ) -> io::Result<Box<dyn Read + Send + 'a>> {
        Ok(match self {
            Self::Gzip => Box::new(MultiGzDecoder::new(stored)),
            Self::Zstd => {
                let (dictionary, head) = zstd_dictionary(&mut stored, made)?;
                let frames = BufReader::with_capacity(1 << 17, Cursor::new(head).chain(stored));
                let decoder = zstd::stream::read::Decoder::with_dictionary(frames, &dictionary);
                // The decoder reports a dictionary that it cannot use as missing memory.
                Box::new(decoder.map_err(|_| no_dictionary("is damaged"))?)
            }
            Self::Brotli => Box::new(BrotliReader {
                decoder: brotli(EndReader {
                    inner: stored,
                    has_ended: false,
                }),
                has_ended: false,
            }),
        })
    }
}

/// Reads the dictionary at the beginning of a zstd file. Returns the dictionary, which is empty if the file
/// has none, and the bytes that were read beyond it. Adds the bytes of a compressed dictionary to `made`.
fn zstd_dictionary(stored: &mut impl Read, made: &mut u64) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let mut head = Vec::new();
    // The magic number and length of the frame, and the magic number of its content.
    stored.by_ref().take(12).read_to_end(&mut head)?;
    let (magic, rest) = head.split_at_checked(MAGIC_BYTES).unwrap_or_default();
    let Some((length, content)) = rest.split_first_chunk() else {
        return Ok((Vec::new(), head));
    };
    let length = u32::from_le_bytes(*length);
    let is_dictionary = content == FRAME || content == DICTIONARY;
    if magic != DICTIONARY_FRAME || !is_dictionary || (length as usize) < content.len() {
        return Ok((Vec::new(), head));
    }
    if length > MAX_DICTIONARY {
        return Err(no_dictionary("is longer than 16 MiB"));
    }
    let mut dictionary = content.to_vec();
    let left = u64::from(length).saturating_sub(content.len() as u64);
    stored.by_ref().take(left).read_to_end(&mut dictionary)?;
    if dictionary.len() < length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    if dictionary.starts_with(&FRAME) {
        let frame = zstd::stream::read::Decoder::with_buffer(&*dictionary)?;
        let mut content = Vec::new();
        frame
            .take(u64::from(MAX_DICTIONARY) + 1)
            .read_to_end(&mut content)?;
        *made += content.len() as u64;
        if content.len() > MAX_DICTIONARY as usize {
            return Err(no_dictionary("is longer than 16 MiB"));
        }
        dictionary = content;
    }
    if !dictionary.starts_with(&DICTIONARY) {
        return Err(no_dictionary("is damaged"));
    }
    Ok((dictionary, Vec::new()))
}

fn no_dictionary(why: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the dictionary at the beginning {why}"),
    )
}

/// Returns a decoder of brotli without its extension to windows of more than 16 MiB.
pub(super) fn brotli<R: Read>(stored: R) -> Decompressor<R> {
    let mut decoder = Decompressor::new(stored, BROTLI_BUFFER);
    decoder.set_parameter(BrotliDecoderParameter::BROTLI_DECODER_PARAM_LARGE_WINDOW, 0);
    decoder
}

/// A reader of a brotli file, which is one stream.
struct BrotliReader<R: Read> {
    decoder: Decompressor<EndReader<R>>,
    has_ended: bool,
}

/// A reader that notes its end.
struct EndReader<R> {
    inner: R,
    has_ended: bool,
}

impl<R: Read> Read for EndReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.has_ended = length == 0 && !buffer.is_empty();
        Ok(length)
    }
}

impl<R: Read> Read for BrotliReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.has_ended || buffer.is_empty() {
            return Ok(0);
        }
        let read = self.decoder.read(buffer);
        // The decoder does not say whether it needs more data or has found damage.
        if read.is_err() && self.decoder.get_mut().has_ended {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let length = read?;
        if length > 0 {
            return Ok(length);
        }
        self.has_ended = true;
        // A second read after the end fails if the decoder holds more data.
        self.decoder.read(buffer)?;
        if self.decoder.get_mut().read(&mut [0])? > 0 {
            let text = "the brotli stream is followed by other data";
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        Ok(0)
    }
}

// The limit on the expansion of an input: bytes produced per byte read.
//
// Compression, dictionaries and shared lists let a few bytes of input expand to billions of bytes of
// records. Bytes produced are those of decompressed text, of the decoded bodies of pages, of the values of tables,
// and of the lists of graphs; bytes read are those of the stored input.

/// The maximum number of bytes produced per byte read. Real crawls stay below a tenth of it (see
/// `src/guide/formats.md`); gzip cannot exceed 1,032.
pub(super) const MAX_RATIO: u64 = 1_000;

/// The number of bytes that any input may expand to, however small it is.
pub(super) const FREE_BYTES: u64 = 64 << 20;

/// An input that expands to more bytes than its size allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "expected at most {MAX_RATIO} bytes for each byte read, found {} ({made} bytes from {read})",
    made.div_ceil(*read.max(&1))
)]
pub struct Expansion {
    /// The number of stored bytes read.
    pub read: u64,
    /// The number of bytes produced from them.
    pub made: u64,
}

/// Returns an error if `made` bytes are too many for `read` bytes.
pub(super) const fn check(read: u64, made: u64) -> Result<(), Expansion> {
    if made > FREE_BYTES && made > read.saturating_mul(MAX_RATIO) {
        return Err(Expansion { read, made });
    }
    Ok(())
}

/// What a file on disk has expanded to, together with everything that is nested in it: the files of an archive, and in each of
/// them the compressed bodies of pages.
#[derive(Clone, Debug)]
pub(super) struct Allowance(Arc<Counts>);

#[derive(Debug)]
struct Counts {
    file: String,
    read: AtomicU64,
    made: AtomicU64,
}

impl Allowance {
    /// The allowance of a file of which nothing was read.
    pub(super) fn new(file: String) -> Self {
        Self(Arc::new(Counts {
            file,
            read: AtomicU64::new(0),
            made: AtomicU64::new(0),
        }))
    }

    /// Returns the name of the file on disk.
    pub(super) fn file(&self) -> &str {
        &self.0.file
    }

    /// Counts more bytes read and produced; returns an error if all that were produced are too many.
    pub(super) fn count(&self, read: u64, made: u64) -> Result<(), Expansion> {
        let add = |sum: &AtomicU64, more| sum.fetch_add(more, Ordering::Relaxed) + more;
        check(add(&self.0.read, read), add(&self.0.made, made))
    }
}

// Files on other machines. How they are read is left to the crate that knows their services.

/// A file on another machine, of a length and a version that were determined when it was found. Reads of
/// another version fail.
pub trait RemoteFile: fmt::Debug + Send + Sync {
    /// Returns the address without passwords and query, for messages and the history.
    fn name(&self) -> &str;

    /// Returns the length in bytes.
    fn length(&self) -> u64;

    /// Opens the file at its beginning.
    fn open(&self) -> io::Result<Box<dyn Read + Send>>;

    /// Returns whether ranges are certain to be of one version of the file. Without, it is read from its beginning
    /// to its end.
    fn has_ranges(&self) -> bool;

    /// Reads a range of bytes, which must be within the file.
    fn read_range(&self, range: Range<u64>) -> io::Result<Vec<u8>>;
}

/// Returns the address that a path is: a scheme such as `s3`, `://`, and the rest. `None` for the path of a file.
#[must_use]
pub fn address(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let (scheme, _) = text.split_once("://")?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|other| other.is_ascii_alphanumeric() || "+-.".contains(other));
    is_scheme.then_some(text)
}

// A file in a ZIP archive, as an input.

/// A file in a ZIP archive.
#[derive(Clone, Debug)]
pub struct ZipMember {
    pub(super) archive: PathBuf,
    /// What all files of the archive may expand to together.
    pub(super) allowance: Allowance,
    /// Its name in the archive.
    pub(super) name: String,
    /// The offset of its data in the archive, in bytes.
    pub(super) start: u64,
    /// Its size in the archive, and decompressed, in bytes.
    pub(super) stored: u64,
    pub(super) size: u64,
    /// The CRC-32 of its content.
    pub(super) crc: u32,
    pub(super) is_deflated: bool,
}

impl PartialEq for ZipMember {
    fn eq(&self, other: &Self) -> bool {
        (&self.archive, &self.name, self.start) == (&other.archive, &other.name, other.start)
    }
}

impl Eq for ZipMember {}

impl fmt::Display for ZipMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.archive.display(), self.name)
    }
}

impl ZipMember {
    /// Opens its data as stored in the archive.
    pub(super) fn open(&self) -> io::Result<impl Read + Send + use<>> {
        let mut file = File::open(&self.archive)?;
        file.seek(SeekFrom::Start(self.start))?;
        Ok(file.take(self.stored))
    }

    /// Returns its content, given its data as stored. The end is an error if the content has another size
    /// or checksum than the archive says.
    pub(super) fn content<'a>(&self, stored: impl Read + Send + 'a) -> Box<dyn Read + Send + 'a> {
        let (size, crc) = (self.size, self.crc);
        if self.is_deflated {
            Box::new(CheckedReader::new(DeflateDecoder::new(stored), size, crc))
        } else {
            Box::new(CheckedReader::new(stored, size, crc))
        }
    }
}

/// A reader that compares size and checksum at the end.
struct CheckedReader<R> {
    content: R,
    size: u64,
    crc: u32,
    read: u64,
    checksum: Crc,
}

impl<R> CheckedReader<R> {
    fn new(content: R, size: u64, crc: u32) -> Self {
        Self {
            content,
            size,
            crc,
            read: 0,
            checksum: Crc::new(),
        }
    }
}

impl<R: Read> Read for CheckedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.content.read(buffer)?;
        self.read += length as u64;
        self.checksum
            .update(buffer.get(..length).unwrap_or_default());
        if length == 0 && !buffer.is_empty() || self.read > self.size {
            let text = if self.read != self.size {
                format!(
                    "expected {} bytes in the ZIP archive, found {}",
                    self.size, self.read
                )
            } else if self.checksum.sum() != self.crc {
                "the checksum of the ZIP archive does not match".to_owned()
            } else {
                return Ok(0);
            };
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_may_not_outgrow_what_is_read() {
        assert_eq!(check(0, FREE_BYTES), Ok(()));
        assert_eq!(check(1 << 20, MAX_RATIO << 20), Ok(()));
        let made = FREE_BYTES + 1;
        let read = made / (2 * MAX_RATIO);
        let said = check(read, made).unwrap_err().to_string();
        let expected = "expected at most 1000 bytes for each byte read, found 2001";
        assert!(said.starts_with(expected), "{said}");
        assert!(check(0, made).is_err());
    }

    #[test]
    fn what_is_nested_in_a_file_has_one_allowance() {
        let allowance = Allowance::new("a.wacz".to_owned());
        let nested = allowance.clone();
        assert_eq!(allowance.count(1, FREE_BYTES / 2), Ok(()));
        assert_eq!(nested.count(1, FREE_BYTES / 2), Ok(()));
        let (read, made) = (3, FREE_BYTES + 1);
        assert_eq!(allowance.count(1, 1), Err(Expansion { read, made }));
        assert_eq!(nested.count(FREE_BYTES, 0), Ok(()));
    }

    #[test]
    fn an_address_begins_with_a_scheme() {
        for text in ["s3://bucket/key", "https://a.example/x", "ftp://a"] {
            assert_eq!(address(Path::new(text)), Some(text));
        }
        for text in ["a/b", "s3:/a", "-", "a/b://c", "://a", "1s://a"] {
            assert_eq!(address(Path::new(text)), None, "{text}");
        }
    }
}

#[cfg(test)]
#[path = "compression_tests.rs"]
mod compression_tests;
