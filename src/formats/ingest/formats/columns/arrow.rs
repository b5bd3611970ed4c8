//! Apache Arrow as files (Feather 2 too) and streams: batches of rows, one after another.
//!
//! A file is a stream between its magic and its footer, and is read as that: from standard input
//! and compressed ones too, and nothing has to be sought. Its batches are read in the order in which
//! they were written. The lengths that messages claim are checked before the decoder makes room.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::{BodyCompression, Buffer, Message, root_as_message};

use super::batch::{self, Batch, wait};
use super::error::TableError;
use super::layout::Layout;
use crate::ingest::catch_panic::catch_panic;
use crate::ingest::open::{Input, InputError, Opened};
use crate::ingest::progress::Progress;
use crate::ingest::sniff::DetectedFormat;
use crate::ingest::source::{
    DEFAULT_HELD_BYTES, PIECE_SIZE, Piece, Pieces, Source, Sources, Stop, max_held_bytes,
};
use seedbank_algorithms::watch::Watch;

/// What a file begins with, padded, and ends with.
const MAGIC: &[u8] = b"ARROW1";
const PADDED_MAGIC: &[u8] = b"ARROW1\0\0";
/// How many bytes may follow it before the first message.
const MOST_PADDING: usize = 64;
/// What a message begins with.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// The most bytes of the description of a message.
const MOST_METADATA: u64 = 4 << 20;

/// What the batches may come to, as a share of all that may be held, whose rows are still to be read
/// while the next one is.
const LENT_SHARE: u64 = 4;

/// Whether a text may begin so that is a stream of Arrow.
pub(in crate::ingest) fn is_stream(head: &[u8]) -> bool {
    // A first message describes the columns, and its length is a multiple of 8.
    match head {
        [0xff, 0xff, 0xff, 0xff, a, b, c, d, ..] => {
            let length = u32::from_le_bytes([*a, *b, *c, *d]);
            length > 0 && length.is_multiple_of(8) && u64::from(length) <= MOST_METADATA
        }
        _ => false,
    }
}

/// The sources for Arrow.
pub(super) fn sources(inputs: &[Input]) -> Sources {
    let source = |input: &Input| {
        Box::new(Arrow {
            input: input.clone(),
            max_held_bytes: DEFAULT_HELD_BYTES,
        }) as Box<dyn Source>
    };
    inputs.iter().map(source).collect()
}

/// A file or stream of Arrow, plain or compressed.
#[derive(Clone, Debug)]
struct Arrow {
    input: Input,
    /// How many bytes a batch and the dictionaries may take.
    max_held_bytes: usize,
}

impl Source for Arrow {
    fn name(&self) -> String {
        self.input.to_string()
    }

    fn limit_memory(&mut self, bytes: usize) {
        self.max_held_bytes = max_held_bytes(bytes);
    }

    fn prepare(&mut self, _: &dyn Watch) -> Result<Option<u64>, Stop> {
        Ok(self.input.length()?)
    }

    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        let mut opened = self.input.open(progress)?;
        opened.peek_format();
        if !opened.ahead().starts_with(MAGIC) && !is_stream(opened.ahead()) {
            let error = match opened.detected(opened.ahead()) {
                Some(seen)
                    if seen.format.excludes_records() && seen.format != DetectedFormat::Arrow =>
                {
                    InputError::NotRecords(seen)
                }
                _ => {
                    let kind = "an Arrow file or stream";
                    TableError::OtherKind {
                        file: self.name(),
                        kind,
                    }
                    .into()
                }
            };
            return Err(error.into());
        }
        Ok(pieces(self.name(), opened, self.max_held_bytes, progress))
    }
}

/// The pieces of an open input with this name, of which the first bytes say that it is Arrow.
pub(in crate::ingest) fn pieces<'a>(
    file: String,
    input: Opened,
    max_held_bytes: usize,
    progress: &Progress<'a>,
) -> Pieces<'a> {
    let is_file = input.ahead().starts_with(MAGIC);
    let mut stream = Stream {
        is_file,
        begun: !is_file,
        file,
        input,
        progress: progress.clone(),
        decoder: StreamDecoder::new(),
        layout: None,
        rows: 0,
        dictionaries: BTreeMap::new(),
        batches: VecDeque::new(),
        is_ended: false,
        lent: Arc::default(),
        lent_bytes: 0,
        max_held_bytes: max_held_bytes as u64,
    };
    let mut ended = false;
    let mut begun = false;
    Box::new(std::iter::from_fn(move || {
        if !begun && stream.is_file {
            begun = true;
            if let Err(error) = stream.bytes(PADDED_MAGIC.len() as u64) {
                ended = true;
                return Some(Err(error));
            }
        }
        while !ended {
            match stream.next_piece() {
                Ok(Some(piece)) => return Some(Ok(piece)),
                Ok(None) => ended = stream.is_ended,
                Err(error) => {
                    ended = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }))
}

/// A message, cut into its description and its body.
type RawMessage = (Vec<u8>, Vec<u8>);

/// A stream of messages that is read.
struct Stream<'a> {
    is_file: bool,
    file: String,
    input: Opened,
    progress: Progress<'a>,
    decoder: StreamDecoder,
    /// Once the first batch came.
    layout: Option<Arc<Layout>>,
    /// Whether the first message was reached.
    begun: bool,
    /// How many rows were read.
    rows: u64,
    /// How many bytes each dictionary has, by its number: they stay while batches come.
    dictionaries: BTreeMap<i64, u64>,
    /// Batches that are cut into pieces.
    batches: VecDeque<Batch>,
    is_ended: bool,
    /// Shared with the pieces that are not yet read.
    lent: Arc<()>,
    /// How many bytes the batches have that such pieces may be of.
    lent_bytes: u64,
    /// How many bytes may be held.
    max_held_bytes: u64,
}

impl Stream<'_> {
    /// The next piece; `None` where the next message is still to be read, and at the end.
    fn next_piece<'p>(&mut self) -> Result<Option<Piece<'p>>, Stop> {
        let Some(batch) = self.batches.front_mut() else {
            if self.lent_bytes > self.max_held_bytes / LENT_SHARE {
                if Arc::strong_count(&self.lent) > 1 {
                    return Ok(Some(wait()));
                }
                self.lent_bytes = 0;
            }
            self.next_message()?;
            return Ok(None);
        };
        let piece = catch_panic(|| batch.next());
        let piece =
            piece.map_err(|_| self.damaged("its bytes are not valid columns".to_owned()))?;
        if piece.is_none() {
            self.batches.pop_front();
        }
        Ok(piece)
    }

    /// Reads the next message.
    fn next_message(&mut self) -> Result<(), Stop> {
        let Some((head, body)) = self.message()? else {
            // Without a batch the columns are still to be looked at.
            self.decode([CONTINUATION, [0; 4]].concat())?;
            let schema = self.decoder.schema();
            let schema = schema.ok_or_else(|| self.damaged("it has no columns".to_owned()))?;
            if self.layout.is_none() {
                batch::layout(&self.file, &schema).map_err(InputError::from)?;
            }
            self.is_ended = true;
            return Ok(());
        };
        let mut batches = self.decode(head)?;
        batches.extend(self.decode(body)?);
        for batch in batches {
            let layout = if let Some(layout) = &self.layout {
                Arc::clone(layout)
            } else {
                let layout = batch::layout(&self.file, &batch.schema());
                Arc::new(layout.map_err(InputError::from)?)
            };
            self.layout = Some(Arc::clone(&layout));
            self.batches
                .push_back(Batch::of(&batch, &layout, self.rows + 1, &self.lent));
            self.rows += batch.num_rows() as u64;
        }
        Ok(())
    }

    /// The batches that are whole with these bytes.
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

    /// The next message, cut into its description and its body; `None` at the end.
    fn message(&mut self) -> Result<Option<RawMessage>, Stop> {
        let mut head = self.bytes(4)?;
        // A file's magic is padded to 8 bytes or more.
        for _ in 0..MOST_PADDING / 4 {
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
        if u64::from(length) > MOST_METADATA {
            return Err(self.damaged(format!("the description of a message has {length} bytes")));
        }
        let description = self.bytes(length.into())?;
        let length = {
            let message = root_as_message(&description);
            message.map(|message| message.bodyLength())
        };
        let length = length.map_err(|error| self.damaged(error.to_string()))?;
        let length = u64::try_from(length);
        let length =
            length.map_err(|_| self.damaged("a message of a negative length".to_owned()))?;
        self.check_size("a message", length)?;
        let body = self.bytes(length)?;
        if let Ok(message) = root_as_message(&description) {
            // What is decompressed is held beside the message.
            let size =
                decompressed(message, &body).map_or(length, |size| size.saturating_add(length));
            if let Some(dictionary) = message.header_as_dictionary_batch() {
                let all = self.dictionaries.entry(dictionary.id()).or_default();
                // A delta is added to what is there.
                *all = if dictionary.isDelta() {
                    all.saturating_add(size)
                } else {
                    size
                };
                self.check_size("dictionaries", 0)?;
            } else {
                self.check_size("a batch", size)?;
                self.lent_bytes = self.lent_bytes.saturating_add(size);
            }
        }
        head.extend(description);
        Ok(Some((head, body)))
    }

    /// Refuses the input where this takes more than there is room for beside the dictionaries and the
    /// batches whose rows are still to be read.
    fn check_size(&self, what: &str, size: u64) -> Result<(), Stop> {
        let dictionaries = self.dictionaries.values();
        let held = dictionaries.fold(self.lent_bytes, |all, size| all.saturating_add(*size));
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

    /// The next bytes, of which there must be as many. Room is made as they come.
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
                let error = TableError::CutOff {
                    file: self.file.clone(),
                    rows: self.rows,
                };
                return Err(InputError::from(error).into());
            }
        }
        Ok(bytes)
    }

    /// Reads on from the last message to the end: nothing follows a stream, and its footer a file's.
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
            let error = TableError::CutOff {
                file: self.file.clone(),
                rows: self.rows,
            };
            return Err(InputError::from(error).into());
        }
        if !self.is_file && !last.is_empty() {
            return Err(self.damaged("there is data after its end".to_owned()));
        }
        Ok(())
    }

    fn damaged(&self, problem: String) -> Stop {
        let error = TableError::Damaged {
            file: self.file.clone(),
            rows: self.rows,
            problem,
        };
        InputError::from(error).into()
    }
}

/// How many bytes the buffers of a batch have, decompressed; `None` where they are not compressed.
/// Each begins with its length.
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
