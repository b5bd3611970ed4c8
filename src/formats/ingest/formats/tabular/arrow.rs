//! Apache Arrow, as files (including Feather 2) and as streams: batches of rows, one after another.
//!
//! A file is a stream between a magic number and a footer, and is read as a stream: also from
//! standard input and compressed, since nothing has to be sought. Its batches are read in the order
//! in which they were written. The lengths that messages claim are checked before the decoder
//! allocates memory.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::batch::{self, Batch, LentBatches, ReadStep, map_columns, pieces, wait};
use super::row::{ColumnMap, TableError};
use crate::ingest::columns::ColumnNames;
use crate::ingest::formats::file_source::{FileFormat, OpenFile};
use crate::ingest::open::{InputError, Opened};
use crate::ingest::progress::Progress;
use crate::ingest::read::catch_panic;
use crate::ingest::sniff::DetectedFormat;
use crate::ingest::source::{DEFAULT_HELD_BYTES, PIECE_SIZE, Pieces, Source, Stop, max_held_bytes};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::{BodyCompression, Buffer, Message, root_as_message};
use arrow_schema::ArrowError;

/// The first bytes of a file, which are padded, and its last bytes.
const MAGIC: &[u8] = b"ARROW1";
const PADDED_MAGIC: &[u8] = b"ARROW1\0\0";
/// The most bytes of padding before the first message.
const MAX_PADDING: usize = 64;
/// The first bytes of a message.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// The most bytes of the metadata of a message.
const MAX_METADATA: u64 = 4 << 20;

/// Returns whether a text may begin a stream.
fn is_stream(head: &[u8]) -> bool {
    // A first message describes the columns, and its length is a multiple of 8.
    match head {
        [0xff, 0xff, 0xff, 0xff, a, b, c, d, ..] => {
            let length = u32::from_le_bytes([*a, *b, *c, *d]);
            length > 0 && length.is_multiple_of(8) && u64::from(length) <= MAX_METADATA
        }
        _ => false,
    }
}

/// The Arrow format, as files and streams.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrow;

impl FileFormat for Arrow {
    fn pieces<'a>(&self, mut file: OpenFile<'a>) -> Result<Pieces<'a>, Stop> {
        let is = file.opened.peek_format();
        let beginning = file.opened.ahead();
        let is_file = beginning.starts_with(MAGIC);
        if !is_file && !is_stream(beginning) {
            return Err(match is {
                Some(other) if other.excludes_records() && other != DetectedFormat::Arrow => {
                    file.other_format(other)
                }
                _ => TableError::OtherKind {
                    file: file.name(),
                    kind: "an Arrow file or stream",
                }
                .into(),
            });
        }
        let mut stream = Stream {
            is_file,
            begun: !is_file,
            file: file.name(),
            input: file.opened,
            progress: file.progress,
            decoder: StreamDecoder::new(),
            columns: None,
            column_names: file.columns,
            rows: 0,
            dictionaries: BTreeMap::new(),
            batches: VecDeque::new(),
            lent: LentBatches::default(),
            max_held_bytes: file.max_held_bytes as u64,
        };
        Ok(batch::pieces(move || stream.step()))
    }
}

/// The metadata and the body of a message.
type RawMessage = (Vec<u8>, Vec<u8>);

/// A stream of messages.
struct Stream<'a> {
    is_file: bool,
    file: String,
    input: Opened<'a>,
    progress: Progress<'a>,
    decoder: StreamDecoder,
    /// Known once the first batch was read.
    columns: Option<Arc<ColumnMap>>,
    column_names: ColumnNames,
    /// Whether the first message was reached.
    begun: bool,
    /// Number of rows so far.
    rows: u64,
    /// The size of each dictionary, in bytes, by its number. They stay while batches are read.
    dictionaries: BTreeMap<i64, u64>,
    /// Batches that are cut into pieces.
    batches: VecDeque<Batch>,
    lent: LentBatches,
    /// The memory limit, in bytes.
    max_held_bytes: u64,
}

impl Stream<'_> {
    /// Cuts the next piece, or reads another message.
    fn step<'p>(&mut self) -> Result<ReadStep<'p>, Stop> {
        let Some(batch) = self.batches.front_mut() else {
            if self.lent.must_wait(self.max_held_bytes) {
                return Ok(ReadStep::Piece(wait()));
            }
            return self.next_message();
        };
        let piece = catch_panic(|| batch.next());
        let piece =
            piece.map_err(|_| self.damaged("its bytes are not valid columns".to_owned()))?;
        if piece.is_none() {
            self.batches.pop_front();
        }
        Ok(piece.map_or(ReadStep::Continue, ReadStep::Piece))
    }

    /// Reads the next message.
    fn next_message<'p>(&mut self) -> Result<ReadStep<'p>, Stop> {
        let Some((metadata, body)) = self.message()? else {
            // Without any batch, the columns are not yet checked.
            self.decode([CONTINUATION, [0; 4]].concat())?;
            let schema = self.decoder.schema();
            let schema = schema.ok_or_else(|| self.damaged("it has no columns".to_owned()))?;
            if self.columns.is_none() {
                batch::map_columns(&self.file, &schema, &self.column_names)?;
            }
            return Ok(ReadStep::End);
        };
        let mut batches = self.decode(metadata)?;
        batches.extend(self.decode(body)?);
        for batch in batches {
            let columns = if let Some(columns) = &self.columns {
                Arc::clone(columns)
            } else {
                let (file, names) = (&self.file, &self.column_names);
                Arc::new(batch::map_columns(file, &batch.schema(), names)?)
            };
            self.columns = Some(Arc::clone(&columns));
            let batch_of_rows = Batch::new(&batch, &columns, self.rows + 1, &self.lent.token);
            self.batches.push_back(batch_of_rows);
            self.rows += batch.num_rows() as u64;
        }
        Ok(ReadStep::Continue)
    }

    /// Returns the batches that these bytes complete.
    fn decode(&mut self, bytes: Vec<u8>) -> Result<Vec<RecordBatch>, Stop> {
        let mut buffer = bytes.into();
        let mut batches = Vec::new();
        let decoder = &mut self.decoder;
        let done = catch_panic(|| {
            loop {
                match decoder.decode(&mut buffer)? {
                    Some(batch) => batches.push(batch),
                    None => return Ok::<_, arrow_schema::ArrowError>(()),
                }
            }
        });
        match done {
            Ok(Ok(())) => Ok(batches),
            Ok(Err(error)) => Err(self.damaged(error.to_string())),
            Err(_) => Err(self.damaged("its bytes are not valid columns".to_owned())),
        }
    }

    /// Returns the next message; `None` at the end.
    fn message(&mut self) -> Result<Option<RawMessage>, Stop> {
        if !self.begun {
            self.bytes(PADDED_MAGIC.len() as u64)?;
        }
        let mut head = self.bytes(4)?;
        // The magic of a file is padded to 8 bytes or more.
        for _ in 0..MAX_PADDING / 4 {
            if self.begun || head != [0; 4] {
                break;
            }
            head = self.bytes(4)?;
        }
        self.begun = true;
        if head == CONTINUATION {
            head.extend(self.bytes(4)?);
        }
        let length = head
            .last_chunk::<4>()
            .map_or(0, |bytes| u32::from_le_bytes(*bytes));
        if length == 0 {
            self.end()?;
            return Ok(None);
        }
        if u64::from(length) > MAX_METADATA {
            return Err(self.damaged(format!("the description of a message has {length} bytes")));
        }
        let metadata = self.bytes(length.into())?;
        let length = root_as_message(&metadata).map(|message| message.bodyLength());
        let length = length.map_err(|error| self.damaged(error.to_string()))?;
        let length = u64::try_from(length);
        let length =
            length.map_err(|_| self.damaged("a message of a negative length".to_owned()))?;
        self.check_size("a message", length)?;
        let body = self.bytes(length)?;
        if let Ok(message) = root_as_message(&metadata) {
            // The decompressed buffers are held in addition to the message.
            let size =
                decompressed(message, &body).map_or(length, |size| size.saturating_add(length));
            if let Some(dictionary) = message.header_as_dictionary_batch() {
                let all = self.dictionaries.entry(dictionary.id()).or_default();
                // A delta extends the dictionary.
                *all = if dictionary.isDelta() {
                    all.saturating_add(size)
                } else {
                    size
                };
                self.check_size("dictionaries", 0)?;
            } else {
                self.check_size("a batch", size)?;
                self.lent.bytes = self.lent.bytes.saturating_add(size);
            }
        }
        head.extend(metadata);
        Ok(Some((head, body)))
    }

    /// Refuses the input if `size` more bytes exceed the limit, besides the dictionaries and the
    /// batches with unread rows.
    fn check_size(&self, what: &str, size: u64) -> Result<(), Stop> {
        let dictionaries = self.dictionaries.values();
        let held = dictionaries.fold(self.lent.bytes, |all, size| all.saturating_add(*size));
        let size = held.saturating_add(size);
        if size <= self.max_held_bytes {
            return Ok(());
        }
        let error = InputError::TooMuchMemory {
            file: self.file.clone(),
            what: format!(
                "{what} after row {} that expands to {size} bytes",
                self.rows
            ),
            max: usize::try_from(self.max_held_bytes).unwrap_or(usize::MAX),
        };
        Err(error.into())
    }

    /// Reads exactly `length` bytes. Memory is allocated as they arrive.
    fn bytes(&mut self, length: u64) -> Result<Vec<u8>, Stop> {
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < length {
            self.progress.proceed()?;
            let before = bytes.len();
            let missing = usize::try_from(length).unwrap_or(usize::MAX) - before;
            bytes.resize(before + missing.min(PIECE_SIZE), 0);
            let free = bytes.get_mut(before..).unwrap_or_default();
            let wanted = free.len();
            let (read, failed) = self.input.fill(free);
            if let Some(error) = failed {
                return Err(self.input.error(error, 0).into());
            }
            if read < wanted {
                return Err(self.truncated());
            }
        }
        Ok(bytes)
    }

    /// Reads on to the end: nothing may follow a stream, and a file ends with its footer.
    fn end(&mut self) -> Result<(), Stop> {
        let mut last = Vec::new();
        let mut block = vec![0; PIECE_SIZE];
        loop {
            self.progress.proceed()?;
            let (read, failed) = self.input.fill(&mut block);
            if let Some(error) = failed {
                return Err(self.input.error(error, 0).into());
            }
            last.extend_from_slice(block.get(..read).unwrap_or_default());
            last.drain(..last.len().saturating_sub(MAGIC.len()));
            if read < block.len() {
                break;
            }
        }
        if self.is_file && last != MAGIC {
            return Err(self.truncated());
        }
        if !self.is_file && !last.is_empty() {
            return Err(self.damaged("there is data after its end".to_owned()));
        }
        Ok(())
    }

    fn damaged(&self, problem: String) -> Stop {
        TableError::Damaged {
            file: self.file.clone(),
            rows: self.rows,
            problem,
        }
        .into()
    }

    fn truncated(&self) -> Stop {
        TableError::CutOff {
            file: self.file.clone(),
            rows: self.rows,
        }
        .into()
    }
}

/// Returns the decompressed size of a batch, in bytes; `None` if it is not compressed. Each buffer
/// begins with its size.
fn decompressed(message: Message<'_>, body: &[u8]) -> Option<u64> {
    let dictionary = message.header_as_dictionary_batch();
    let batch = match dictionary {
        Some(dictionary) => dictionary.data()?,
        None => message.header_as_record_batch()?,
    };
    let _: BodyCompression<'_> = batch.compression()?;
    let size = |buffer: &Buffer| {
        let from = usize::try_from(buffer.offset()).ok()?;
        let length = body.get(from..)?.first_chunk::<8>()?;
        u64::try_from(i64::from_le_bytes(*length)).ok()
    };
    let sizes = batch.buffers()?.iter().filter_map(size);
    Some(sizes.fold(0, u64::saturating_add))
}

// Batches of Arrow that a caller has in memory, or that a library yields one after another.

/// A source of records: the rows of batches of Arrow, with columns named like the fields of records.
///
/// Batches are requested one after another, and only a share of the memory limit of batches is requested
/// before the rows of earlier ones are read. A batch that is larger is not refused, since it is in memory
/// already.
///
/// ```
/// use std::sync::Arc;
///
/// use arrow_array::{RecordBatch, RecordBatchIterator, StringArray};
/// use seedbank_algorithms::watch::Unwatched;
/// use seedbank_formats::ingest::{Naming, RecordBatchSource, ReadError, read_batch};
///
/// let urls = Arc::new(StringArray::from(vec!["https://example.org/", "nonsense"]));
/// let batch = RecordBatch::try_from_iter([("url", urls as _)])?;
/// let schema = batch.schema();
/// let batches = RecordBatchIterator::new([Ok(batch)], schema);
/// let source = RecordBatchSource::new("frame".to_owned(), Box::new(batches));
/// let read = read_batch(&mut [Box::new(source)], Naming::default(), &Unwatched, &mut |_, _| {
///     Ok::<(), std::fmt::Error>(())
/// })?;
/// assert_eq!((read.records, read.rejected()), (2, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RecordBatchSource {
    name: String,
    batches: Box<dyn RecordBatchReader + Send>,
    max_held_bytes: usize,
    column_names: ColumnNames,
}

impl RecordBatchSource {
    /// Creates a source under this name.
    #[must_use]
    pub fn new(name: String, batches: Box<dyn RecordBatchReader + Send>) -> Self {
        Self {
            name,
            batches,
            max_held_bytes: DEFAULT_HELD_BYTES,
            column_names: ColumnNames::default(),
        }
    }
}

impl Source for RecordBatchSource {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn limit_memory(&mut self, bytes: usize) {
        self.max_held_bytes = max_held_bytes(bytes);
    }

    fn name_columns(&mut self, columns: &ColumnNames) {
        self.column_names = columns.clone();
    }

    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        let columns = map_columns(&self.name, &self.batches.schema(), &self.column_names)?;
        let mut rows = BatchRows {
            name: &self.name,
            batches: &mut *self.batches,
            columns: Arc::new(columns),
            progress: progress.clone(),
            read: 0,
            batch: None,
            lent: LentBatches::default(),
            max_held_bytes: self.max_held_bytes as u64,
        };
        Ok(pieces(move || rows.step()))
    }
}

/// The rows of batches, cut into pieces.
struct BatchRows<'a> {
    name: &'a str,
    batches: &'a mut (dyn RecordBatchReader + Send),
    columns: Arc<ColumnMap>,
    progress: Progress<'a>,
    /// Number of rows of all batches so far.
    read: u64,
    /// The batch that is cut into pieces.
    batch: Option<Batch>,
    lent: LentBatches,
    /// The memory limit, in bytes.
    max_held_bytes: u64,
}

impl BatchRows<'_> {
    /// Cuts the next piece, or requests another batch.
    fn step<'p>(&mut self) -> Result<ReadStep<'p>, Stop> {
        self.progress.proceed()?;
        if let Some(batch) = &mut self.batch {
            let piece = catch_panic(|| batch.next());
            let piece = piece.map_err(|_| self.failed("its columns are damaged".to_owned()))?;
            if piece.is_none() {
                self.batch = None;
            }
            return Ok(piece.map_or(ReadStep::Continue, ReadStep::Piece));
        }
        if self.lent.must_wait(self.max_held_bytes) {
            return Ok(ReadStep::Piece(wait()));
        }
        // A library may yield columns that the reader of the interface cannot take.
        let next = catch_panic(|| self.batches.next());
        match next {
            Ok(None) => return Ok(ReadStep::End),
            Ok(Some(Ok(batch))) => self.begin(&batch)?,
            Ok(Some(Err(error))) => return Err(self.failed(problem(error))),
            Err(_) => return Err(self.failed("its columns are damaged".to_owned())),
        }
        Ok(ReadStep::Continue)
    }

    fn begin(&mut self, batch: &RecordBatch) -> Result<(), Stop> {
        if batch.schema_ref() != &self.batches.schema() {
            return Err(self.failed("a batch has other columns than the first".to_owned()));
        }
        let first = self.read + 1;
        self.batch = Some(Batch::new(batch, &self.columns, first, &self.lent.token));
        self.read += batch.num_rows() as u64;
        let size = batch.get_array_memory_size() as u64;
        self.lent.bytes = self.lent.bytes.saturating_add(size);
        Ok(())
    }

    fn failed(&self, problem: String) -> Stop {
        TableError::Batches {
            name: self.name.to_owned(),
            rows: self.read,
            problem,
        }
        .into()
    }
}

/// Returns the text of an error without its kind, which says nothing to the caller.
fn problem(error: ArrowError) -> String {
    match error {
        ArrowError::CDataInterface(text) => text,
        other => other.to_string(),
    }
}
