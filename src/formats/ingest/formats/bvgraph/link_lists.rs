//! Decodes the lists of a graph from start to end, and codes them again in pieces.
//!
//! `webgraph` decodes them sequentially, from a file that is read along the way.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use dsi_bitstream::dispatch::CodesRead;
use dsi_bitstream::impls::{BufBitReader, WordAdapter};
use dsi_bitstream::traits::{BE, Endianness, LE};
use webgraph::graphs::bvgraph::sequential::NodeLabels;
use webgraph::graphs::bvgraph::{Decode, DynCodesDecoder};

use super::checked_decoder::CheckedDecoder;
use super::error::BvGraphError;
use super::properties::{Properties, cannot_open, file};
use super::reject_invalid::guarded;
use crate::ingest::formats::node_graph::gap_code;
use crate::ingest::open::{CountingReader, InputError, RawReads};
use crate::ingest::progress::Progress;
use crate::ingest::source::{PIECE_RECORDS, PIECE_SIZE, Stop};

/// Bytes of the file that are read at a time.
const BUFFER: usize = 64 << 10;

/// Zero bytes after the file: codes are read in words of four bytes, and one word after the last may
/// be examined.
const ZEROS_AFTER: usize = 16;

type Codes<E> = BufBitReader<E, WordAdapter<u32, Padded>>;

fn decoder<E: Endianness>(padded: Padded, header: &Properties) -> Result<Box<dyn Lists>, String>
where
    Codes<E>: CodesRead<E> + Send,
{
    let flags = &header.flags;
    let codes = DynCodesDecoder::new(BufBitReader::new(WordAdapter::new(padded)), flags)
        .map_err(|error| format!("{error:#}"))?;
    let (window, interval) = (flags.compression_window, flags.min_interval_length);
    let checked = CheckedDecoder::new(codes, header);
    let nodes = usize::try_from(header.nodes).map_err(|error| error.to_string())?;
    Ok(Box::new(NodeLabels::new(checked, nodes, window, interval)))
}

/// The lists of successors, in order of the nodes.
trait Lists: Send {
    fn next(&mut self) -> Result<&[usize], String>;
}

impl<D: Decode + Send> Lists for NodeLabels<D> {
    fn next(&mut self) -> Result<&[usize], String> {
        guarded(|| self.next_successors())?.map_err(|error| format!("{error:#}"))
    }
}

/// Consecutive lists in the code of [`gap_code`].
#[derive(Debug, Default)]
pub(super) struct Coded {
    pub(super) bytes: Vec<u8>,
    pub(super) lists: usize,
}

/// The lists of a graph in pieces. An error follows after all lists before it.
pub(super) struct Pieces<'a> {
    basename: String,
    file: String,
    lists: Box<dyn Lists>,
    bytes: Arc<RawReads>,
    /// The error of the file, which the decoder cannot pass on.
    failed: Arc<Mutex<Option<io::Error>>>,
    progress: Progress<'a>,
    nodes: u64,
    links: u64,
    node: u64,
    found: u64,
    /// Bytes of coded lists so far.
    coded: u64,
    /// The first list of the next piece.
    ahead: Vec<u8>,
    error: Option<InputError>,
}

impl<'a> Pieces<'a> {
    /// Opens a graph.
    pub(super) fn open(basename: &Path, progress: &Progress<'a>) -> Result<Self, BvGraphError> {
        let header = Properties::read(basename)?;
        let path = file(basename, "graph");
        let graph = File::open(&path).map_err(|source| cannot_open(&path, source))?;
        let counted = CountingReader::new(Box::new(graph), progress);
        let bytes = counted.reads();
        let failed = Arc::default();
        let padded = Padded {
            bytes: BufReader::with_capacity(BUFFER, counted),
            zeros: None,
            failed: Arc::clone(&failed),
            read: 0,
        };
        let lists = if header.little_endian {
            decoder::<LE>(padded, &header)
        } else {
            decoder::<BE>(padded, &header)
        };
        let lists = lists.map_err(|detail| BvGraphError::Properties {
            file: file(basename, "properties").display().to_string(),
            detail,
        })?;
        Ok(Self {
            basename: basename.display().to_string(),
            file: path.display().to_string(),
            lists,
            bytes,
            failed,
            progress: progress.clone(),
            nodes: header.nodes,
            links: header.links,
            node: 0,
            found: 0,
            coded: 0,
            ahead: Vec::new(),
            error: None,
        })
    }

    /// Appends the list of the next node.
    fn push(&mut self, out: &mut Vec<u8>) -> Result<(), InputError> {
        let before = out.len();
        let pushed = self.lists.next().and_then(|successors| {
            gap_code::push(self.node, out);
            let mut last = None;
            for &successor in successors {
                let successor = successor as u64;
                let gap = successor - last.unwrap_or(0);
                if successor >= self.nodes || (gap == 0 && last.is_some()) {
                    return Err("a link that cannot be".to_owned());
                }
                gap_code::push(gap, out);
                last = Some(successor);
            }
            out.push(gap_code::END);
            Ok(successors.len() as u64)
        });
        match pushed {
            Ok(links) => {
                self.found += links;
                self.node += 1;
                Ok(())
            }
            Err(detail) => {
                out.truncate(before);
                Err(self.broken(detail))
            }
        }
    }

    /// Returns the error that explains why the next node has no list.
    fn broken(&self, detail: String) -> InputError {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        match failed.take() {
            Some(source) => InputError::Read {
                file: self.basename.clone(),
                offset: self.bytes.bytes(),
                source,
            },
            None => InputError::from(BvGraphError::Damaged {
                file: self.file.clone(),
                node: self.node,
                nodes: self.nodes,
                detail,
            }),
        }
    }

    /// Returns the lists that end within the same [`PIECE_SIZE`] bytes of all coded lists, at most
    /// [`PIECE_RECORDS`].
    fn next_piece(&mut self) -> Coded {
        let section = |end: u64| end.div_ceil(PIECE_SIZE as u64);
        let mut piece = Coded {
            lists: usize::from(!self.ahead.is_empty()),
            bytes: std::mem::take(&mut self.ahead),
        };
        piece.bytes.reserve(PIECE_SIZE);
        while self.error.is_none() && self.node < self.nodes && piece.lists < PIECE_RECORDS {
            let before = piece.bytes.len();
            if let Err(error) = self.push(&mut piece.bytes) {
                self.error = Some(error);
                break;
            }
            let start = self.coded;
            self.coded += (piece.bytes.len() - before) as u64;
            if piece.lists > 0 && section(self.coded) != section(start) {
                self.ahead = piece.bytes.split_off(before);
                break;
            }
            piece.lists += 1;
        }
        piece
    }
}

impl Iterator for Pieces<'_> {
    type Item = Result<Coded, Stop>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Err(interrupted) = self.progress.proceed() {
            return Some(Err(interrupted.into()));
        }
        let piece = self.next_piece();
        if piece.lists > 0 {
            return Some(Ok(piece));
        }
        if self.error.is_none() && self.found != self.links {
            self.error = Some(InputError::from(BvGraphError::Links {
                file: self.file.clone(),
                found: self.found,
                links: self.links,
            }));
            // The error is reported once.
            self.links = self.found;
        }
        self.error.take().map(|error| Err(error.into()))
    }
}

/// The bytes of a file, followed by zeros up to a whole word, as the decoder expects.
struct Padded {
    bytes: BufReader<CountingReader>,
    /// Zeros that are still to come; `None` before the end of the file.
    zeros: Option<usize>,
    failed: Arc<Mutex<Option<io::Error>>>,
    read: u64,
}

impl Read for Padded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(zeros) = &mut self.zeros {
            let count = buffer.len().min(*zeros);
            buffer.iter_mut().take(count).for_each(|byte| *byte = 0);
            *zeros -= count;
            return Ok(count);
        }
        match self.bytes.read(buffer) {
            Ok(0) if !buffer.is_empty() => {
                let odd = (self.read % 4) as usize;
                self.zeros = Some(ZEROS_AFTER + (4 - odd) % 4);
                self.read(buffer)
            }
            Ok(read) => {
                self.read += read as u64;
                Ok(read)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                let kind = error.kind();
                *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                Err(kind.into())
            }
        }
    }
}
