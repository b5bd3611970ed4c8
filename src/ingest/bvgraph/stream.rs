//! A graph as a text: a line for each node, its number and its successors.
//!
//! The lists are `webgraph`'s sequential decoding, of a file that is read in pieces.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use dsi_bitstream::dispatch::CodesRead;
use dsi_bitstream::impls::{BufBitReader, WordAdapter};
use dsi_bitstream::traits::{BE, Endianness, LE};
use webgraph::graphs::bvgraph::sequential::NodeLabels;
use webgraph::graphs::bvgraph::{Decode, DynCodesDecoder};

use super::checked::{Checked, guarded};
use super::error::BvGraphError;
use super::header::{Header, cannot_open, file};
use super::lines;

/// Lines are made so many bytes at a time.
const PIECE: usize = 64 << 10;

/// The codes are read in words of four bytes, and one may be looked at after the last.
const ZEROS_AFTER: usize = 16;

/// Opens a graph; `counted` wraps its file.
pub(in crate::ingest) fn text(
    basename: &Path,
    counted: impl FnOnce(Box<dyn Read + Send>) -> Box<dyn Read + Send>,
) -> Result<Box<dyn Read + Send>, BvGraphError> {
    let header = Header::read(basename)?;
    let path = file(basename, "graph");
    let bytes = File::open(&path).map_err(|source| cannot_open(&path, source))?;
    let failed = Arc::default();
    let padded = Padded {
        bytes: BufReader::with_capacity(PIECE, counted(Box::new(bytes))),
        zeros: None,
        failed: Arc::clone(&failed),
        read: 0,
    };
    let lists = if header.little_endian {
        lists::<LE>(padded, &header)
    } else {
        lists::<BE>(padded, &header)
    };
    let lists = lists.map_err(|detail| BvGraphError::Properties {
        file: file(basename, "properties").display().to_string(),
        detail,
    })?;
    Ok(Box::new(GraphText {
        file: path.display().to_string(),
        lists,
        failed,
        nodes: header.nodes,
        links: header.links,
        node: 0,
        found: 0,
        piece: Vec::new(),
        at: 0,
        error: None,
    }))
}

type Codes<E> = BufBitReader<E, WordAdapter<u32, Padded>>;

fn lists<E: Endianness>(padded: Padded, header: &Header) -> Result<Box<dyn Lists>, String>
where
    Codes<E>: CodesRead<E> + Send,
{
    let flags = &header.flags;
    let codes = DynCodesDecoder::new(BufBitReader::new(WordAdapter::new(padded)), flags)
        .map_err(|error| format!("{error:#}"))?;
    let (window, interval) = (flags.compression_window, flags.min_interval_length);
    let checked = Checked::new(codes, header);
    let nodes = usize::try_from(header.nodes).map_err(|error| error.to_string())?;
    Ok(Box::new(NodeLabels::new(checked, nodes, window, interval)))
}

/// The successor lists of the nodes, in order.
trait Lists: Send {
    fn next(&mut self) -> Result<&[usize], String>;
}

impl<D: Decode + Send> Lists for NodeLabels<D> {
    fn next(&mut self) -> Result<&[usize], String> {
        guarded(|| self.next_successors())?.map_err(|error| format!("{error:#}"))
    }
}

struct GraphText {
    file: String,
    lists: Box<dyn Lists>,
    /// Why the file could not be read, which the decoder cannot pass on.
    failed: Arc<Mutex<Option<io::Error>>>,
    nodes: u64,
    links: u64,
    node: u64,
    found: u64,
    piece: Vec<u8>,
    at: usize,
    error: Option<io::Error>,
}

impl GraphText {
    /// Appends the line of the next node.
    fn line(&mut self) -> Result<(), io::Error> {
        let before = self.piece.len();
        let written = self.lists.next().and_then(|successors| {
            lines::push(self.node, &mut self.piece);
            let mut last = None;
            for &successor in successors {
                let successor = successor as u64;
                let gap = successor - last.unwrap_or(0);
                if successor >= self.nodes || (gap == 0 && last.is_some()) {
                    return Err("a link that cannot be".to_owned());
                }
                lines::push(gap, &mut self.piece);
                last = Some(successor);
            }
            self.piece.push(b'\n');
            Ok(successors.len() as u64)
        });
        match written {
            Ok(links) => {
                self.found += links;
                self.node += 1;
                Ok(())
            }
            Err(detail) => {
                self.piece.truncate(before);
                let failed = &mut *self.failed.lock().unwrap_or_else(PoisonError::into_inner);
                Err(failed.take().unwrap_or_else(|| {
                    io::Error::other(BvGraphError::Damaged {
                        file: self.file.clone(),
                        node: self.node,
                        nodes: self.nodes,
                        detail,
                    })
                }))
            }
        }
    }

    fn next_piece(&mut self) {
        self.piece.clear();
        self.at = 0;
        while self.error.is_none() && self.node < self.nodes && self.piece.len() < PIECE {
            self.error = self.line().err();
        }
        if self.error.is_none() && self.piece.is_empty() && self.found != self.links {
            self.error = Some(io::Error::other(BvGraphError::Links {
                file: self.file.clone(),
                found: self.found,
                links: self.links,
            }));
        }
    }
}

impl Read for GraphText {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.piece.len() {
            if self.error.is_none() {
                self.next_piece();
            }
            if self.piece.is_empty() || self.at == self.piece.len() {
                return self.error.take().map_or(Ok(0), Err);
            }
        }
        let read = self.piece.get(self.at..).unwrap_or_default().read(buffer)?;
        self.at += read;
        Ok(read)
    }
}

/// The bytes of a file and zeros up to a whole word, which the decoder takes for granted.
struct Padded {
    bytes: BufReader<Box<dyn Read + Send>>,
    /// Zeros that are still to come, once the file is at its end.
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
