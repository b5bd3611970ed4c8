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

use super::batch;
use super::error::TableError;
use super::layout::Layout;
use crate::ingest::foreign::Foreign;
use crate::ingest::guard::caught;
use crate::ingest::open::{Input, InputError, Opened};
use crate::ingest::progress::Progress;
use crate::ingest::source::{PIECE_SIZE, Piece, Pieces, Source, Sources, Stop};
use crate::watch::Watch;

/// What a file begins with, padded, and ends with.
const MAGIC: &[u8] = b"ARROW1";
const PADDED_MAGIC: &[u8] = b"ARROW1\0\0";
/// How many bytes may follow it before the first message.
const MOST_PADDING: usize = 64;
/// What a message begins with.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// The most bytes of the description of a message.
const MOST_METADATA: u64 = 64 << 20;
/// The most bytes of a batch, and of what is decompressed from it.
const MOST_BATCH: u64 = 512 << 20;

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
    let source = |input: &Input| Box::new(Arrow(input.clone())) as Box<dyn Source>;
    inputs.iter().map(source).collect()
}

/// A file or stream of Arrow, plain or compressed.
#[derive(Clone, Debug)]
struct Arrow(Input);

impl Source for Arrow {
    fn name(&self) -> String {
        self.0.to_string()
    }

    fn prepare(&mut self, _: &dyn Watch) -> Result<Option<u64>, Stop> {
        Ok(self.0.length()?)
    }

    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        let mut opened = self.0.open(progress)?;
        opened.look_ahead();
        if !opened.ahead().starts_with(MAGIC) && !is_stream(opened.ahead()) {
            let error = match opened.seen(opened.ahead()) {
                Some(seen) if seen.is.is_certain() && seen.is != Foreign::Arrow => {
                    InputError::Foreign(seen)
                }
                _ => {
                    let kind = "Arrow file or stream";
                    TableError::OtherKind {
                        file: self.name(),
                        kind,
                    }
                    .into()
                }
            };
            return Err(error.into());
        }
        Ok(pieces(self.name(), opened, progress))
    }
}

/// The pieces of an open input with this name, of which the first bytes say that it is Arrow.
pub(in crate::ingest) fn pieces<'a>(
    file: String,
    input: Opened,
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
    };
    let mut ready: VecDeque<Piece<'a>> = VecDeque::new();
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
        while ready.is_empty() && !ended {
            match stream.next() {
                Ok(Some(pieces)) => ready.extend(pieces),
                Ok(None) => ended = true,
                Err(error) => {
                    ended = true;
                    return Some(Err(error));
                }
            }
        }
        ready.pop_front().map(Ok)
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
}

impl Stream<'_> {
    /// The pieces of the next message; `None` at the end.
    fn next<'p>(&mut self) -> Result<Option<Vec<Piece<'p>>>, Stop> {
        let Some((head, body)) = self.message()? else {
            // Without a batch the columns are still to be looked at.
            self.decode([CONTINUATION, [0; 4]].concat())?;
            let schema = self.decoder.schema();
            let schema = schema.ok_or_else(|| self.damaged("it has no columns".to_owned()))?;
            if self.layout.is_none() {
                batch::layout(&self.file, &schema).map_err(InputError::from)?;
            }
            return Ok(None);
        };
        let mut batches = self.decode(head)?;
        batches.extend(self.decode(body)?);
        let mut pieces = Vec::new();
        for batch in batches {
            let layout = if let Some(layout) = &self.layout {
                Arc::clone(layout)
            } else {
                let layout = batch::layout(&self.file, &batch.schema());
                Arc::new(layout.map_err(InputError::from)?)
            };
            self.layout = Some(Arc::clone(&layout));
            let first = self.rows + 1;
            let cut = caught(|| batch::pieces(&batch, &layout, first));
            pieces.extend(cut.map_err(|_| self.damaged("its bits are no columns".to_owned()))?);
            self.rows += batch.num_rows() as u64;
        }
        Ok(Some(pieces))
    }

    /// The batches that are whole with these bytes.
    fn decode(&mut self, bytes: Vec<u8>) -> Result<Vec<RecordBatch>, Stop> {
        let mut buffer = bytes.into();
        let mut batches = Vec::new();
        let decoder = &mut self.decoder;
        let done = caught(|| {
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
            Err(_) => Err(self.damaged("its bits are no columns".to_owned())),
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
            return Err(self.damaged(format!("a message is described in {length} bytes")));
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
        self.check_size(length)?;
        let body = self.bytes(length)?;
        if let Ok(message) = root_as_message(&description) {
            let size = decompressed(message, &body).unwrap_or(length);
            self.check_size(size)?;
            if let Some(dictionary) = message.header_as_dictionary_batch() {
                let all = self.dictionaries.entry(dictionary.id()).or_default();
                // A delta is added to what is there.
                *all = if dictionary.isDelta() {
                    *all + size
                } else {
                    size
                };
                let all = self.dictionaries.values().sum();
                self.check_size(all)?;
            }
        }
        head.extend(description);
        Ok(Some((head, body)))
    }

    fn check_size(&self, size: u64) -> Result<(), Stop> {
        if size <= MOST_BATCH {
            return Ok(());
        }
        let error = TableError::TooLarge {
            file: self.file.clone(),
            what: "a batch",
            size,
            most: MOST_BATCH,
            advice: "write it with fewer rows in a batch",
        };
        Err(InputError::from(error).into())
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
            return Err(self.damaged("it goes on after its end".to_owned()));
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
