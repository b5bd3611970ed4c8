//! Graphs in the BV format (Boldi, Vigna, *The WebGraph framework I*, WWW 2004), as published by
//! LAW: `BASENAME.graph` with `BASENAME.properties`, and a list of URLs.
//!
//! ```text
//! BASENAME.graph --lists, checked, webgraph--> pieces of coded lists --BvGraph, in parallel--> a record for each node
//!                                                        URLS (front-coded, in memory) --^
//! ```
//!
//! * The graph is read once, from start to end: it needs no offsets, and no memory for more than the
//!   lists in the window of the format.
//! * Line n + 1 of the list of URLs is node n. A bad URL is rejected at its line, and links to it
//!   are dropped and counted.
//! * Every node is a crawled page with all of its outlinks.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::ingest::entries::utf_8;
use crate::ingest::formats::file_source::FormatError;
use crate::ingest::formats::node_graph::{FrontCodedList, UrlBudget};
use crate::ingest::location::MAX_URL;
use crate::ingest::open::{CountingReader, Input, InputError, RawReads};
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::progress::Progress;
use crate::ingest::read::catch_panic;
use crate::ingest::record::Event;
use crate::ingest::source::{
    Blocks, DEFAULT_HELD_BYTES, PIECE_RECORDS, PIECE_SIZE, Piece, Pieces, Source, Sources, Stop,
    check_held_bytes, lines, max_held_bytes,
};
use crate::ingest::summary::{Fault, Position};

use super::node_graph::{self, NodeNames, Numbers, read_list};
use dsi_bitstream::dispatch::CodesRead;
use dsi_bitstream::impls::{BufBitReader, WordAdapter};
use dsi_bitstream::traits::{BE, Endianness, LE};
use seedbank_algorithms::watch::Watch;
use webgraph::graphs::bvgraph::sequential::NodeLabels;
use webgraph::graphs::bvgraph::{
    CompFlags, Decode, DynCodesDecoder, get_endianness, parse_properties,
};

/// Bytes of memory for each byte of coded lists: a link takes one or two bytes while its list waits
/// and four when it is parsed, and each URL of a piece is held once.
const EXPANSION: usize = 8;

/// Returns the sources for graphs named by their basenames, which share one list of URLs.
pub(super) fn sources(inputs: &[Input], urls: Option<&Input>) -> Sources {
    let mut sources = Sources::new();
    for input in inputs {
        let basename = match input {
            Input::File(basename) | Input::Pipe(basename, _) => basename.clone(),
            // A graph has several files: it cannot come from standard input or an archive, and none are found under
            // this name.
            Input::Stdin | Input::Member(_) => PathBuf::from("-"),
            // Nor from another machine.
            Input::Remote(file) => PathBuf::from(file.name()),
        };
        sources.push(Box::new(BvGraph {
            basename,
            list: urls.cloned(),
            urls: Arc::new(NodeUrls::Numbered),
            max_held_bytes: DEFAULT_HELD_BYTES,
        }));
    }
    sources
}

/// A graph in the BV format, with the URLs of its nodes, one per line in order; without a list, node
/// n is `http://n<n>.invalid/`.
///
/// Cost: the memory of the front-coded list.
#[derive(Debug)]
struct BvGraph {
    basename: PathBuf,
    list: Option<Input>,
    urls: Arc<NodeUrls>,
    /// The most bytes of the URLs of all nodes, and of the URLs of one list.
    max_held_bytes: usize,
}

impl Source for BvGraph {
    /// Returns the name of the list of URLs, since positions are its lines.
    fn name(&self) -> String {
        self.list
            .as_ref()
            .map_or_else(String::new, Input::to_string)
    }

    fn limit_memory(&mut self, bytes: usize) {
        self.max_held_bytes = max_held_bytes(bytes);
    }

    /// Reads the list of URLs; refuses one whose length is not the number of nodes.
    fn prepare(&mut self, watch: &dyn Watch) -> Result<Option<u64>, Stop> {
        let nodes = Properties::read(&self.basename)?.nodes;
        if let Some(list) = &self.list {
            let urls = read_node_urls(list, self.max_held_bytes, watch)?;
            if urls.len() != nodes {
                let error = BvGraphError::Urls {
                    file: list.to_string(),
                    lines: urls.len(),
                    graph: self.basename.display().to_string(),
                    nodes,
                };
                return Err(error.into());
            }
            self.urls = Arc::new(NodeUrls::Listed(urls));
        }
        let graph = bv_graph_file(&self.basename, "graph");
        Ok(Some(length(&graph)?))
    }

    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        let (urls, max_held_bytes) = (Arc::clone(&self.urls), self.max_held_bytes);
        let pieces = LinkPieces::open(&self.basename, progress)?;
        Ok(Box::new(pieces.map(move |coded| {
            let coded = coded?;
            let urls = Arc::clone(&urls);
            Ok(Piece {
                bytes: coded.bytes.len() as u64,
                records: coded.lists,
                memory: node_graph::memory(&coded.bytes, EXPANSION),
                read: Box::new(move |parser| read(coded.bytes, 0, urls, max_held_bytes, parser)),
            })
        })))
    }
}

/// Reads the lists from an offset on.
fn read(
    coded: Vec<u8>,
    from: usize,
    urls: Arc<NodeUrls>,
    max_held_bytes: usize,
    parser: &mut PieceParser,
) {
    let mut cursor = Cursor::new(&urls);
    let mut at = from;
    while let Some(list) = node_graph::first(&coded, at) {
        if parser.is_full() {
            drop(cursor);
            parser.continue_with(move |parser| read(coded, at, urls, max_held_bytes, parser));
            return;
        }
        at += list.len() + 1;
        let node = Numbers::new(list).next().unwrap_or_default();
        let record = read_list(list, &mut cursor, max_held_bytes, parser);
        let url = match &record {
            Ok(_) => &[],
            Err(_) => cursor.name(node),
        };
        parser.add(Position::Line(node + 1), record.map(Event::Record), url);
    }
}

// Checks the codes of a graph before `webgraph` uses them.
//
// `webgraph` allocates memory for an outdegree, subtracts, slices and adds as the codes say. With a
// damaged graph, it would panic, loop forever, or abort for lack of memory. So each number is
// compared with what the list so far allows before `webgraph` sees it.

/// The most links, of 8 bytes each, in all lists in memory; far more than in any crawl.
const MAX_HELD: u64 = 32 << 20;

/// A decoder that checks every number.
#[derive(Debug)]
struct CheckedDecoder<D> {
    codes: D,
    nodes: u64,
    /// The number of links in the properties, and how many of them are still to come.
    all_links: u64,
    links: u64,
    shortest_interval: u64,
    /// The outdegrees of the latest nodes, in a ring buffer.
    degrees: Vec<u64>,
    /// The largest outdegree so far in each slot: the memory of a list is reused for the next one
    /// there.
    largest: Vec<u64>,
    /// The sum of the largest outdegrees.
    held: u64,
    node: u64,
    /// Successors of the current node that are still to come.
    left: u64,
    /// Of the list that is copied from: its length, its number of blocks, the next block, and the
    /// end of the last one.
    reference: u64,
    blocks: u64,
    block: u64,
    copied_to: u64,
}

impl<D> CheckedDecoder<D> {
    fn new(codes: D, header: &Properties) -> Self {
        let lists = header.flags.compression_window + 1;
        Self {
            codes,
            nodes: header.nodes,
            all_links: header.links,
            links: header.links,
            shortest_interval: header.flags.min_interval_length as u64,
            degrees: vec![0; lists],
            largest: vec![0; lists],
            held: 0,
            node: 0,
            left: 0,
            reference: 0,
            blocks: 0,
            block: 0,
            copied_to: 0,
        }
    }

    fn place(&self, node: u64) -> usize {
        usize::try_from(node % self.degrees.len() as u64).unwrap_or(0)
    }

    /// Checks the memory for a list before it is allocated.
    fn hold(&mut self, degree: u64) {
        let place = self.place(self.node);
        self.degrees[place] = degree;
        let more = degree.saturating_sub(self.largest[place]);
        self.largest[place] += more;
        self.held += more;
        if self.held > MAX_HELD {
            reject(format!(
                "lists to keep have {} links, more than {MAX_HELD}",
                self.held
            ));
        }
    }

    fn take(&mut self, successors: u64) {
        match self.left.checked_sub(successors) {
            Some(left) => self.left = left,
            None => reject("more links than its outdegree".to_owned()),
        }
    }

    /// Checks a distance between nodes, which is doubled if its lowest bit is the sign.
    fn distance(&self, distance: u64) -> u64 {
        if distance > self.nodes.saturating_mul(2) {
            reject(format!("a link over {distance} nodes"));
        }
        distance
    }
}

impl<D: Decode> Decode for CheckedDecoder<D> {
    fn read_outdegree(&mut self) -> u64 {
        let degree = self.codes.read_outdegree();
        if degree > self.nodes {
            reject(format!("{degree} links in a graph of {} nodes", self.nodes));
        }
        match self.links.checked_sub(degree) {
            Some(links) => self.links = links,
            None => reject(format!("its properties claim {} links", self.all_links)),
        }
        self.hold(degree);
        self.node += 1;
        self.left = degree;
        degree
    }

    fn read_reference_offset(&mut self) -> u64 {
        let back = self.codes.read_reference_offset();
        let node = self.node - 1;
        if back > node || back >= self.degrees.len() as u64 {
            reject(format!("a copy of the list {back} nodes before"));
        }
        self.reference = self.degrees[self.place(node - back)];
        back
    }

    fn read_block_count(&mut self) -> u64 {
        let blocks = self.codes.read_block_count();
        if blocks > self.reference + 1 {
            reject(format!("{blocks} blocks of {} links", self.reference));
        }
        (self.blocks, self.block, self.copied_to) = (blocks, 0, 0);
        if blocks == 0 {
            self.take(self.reference);
        }
        blocks
    }

    fn read_block(&mut self) -> u64 {
        let block = self.codes.read_block();
        let length = block.saturating_add(u64::from(self.block > 0));
        let end = self.copied_to.saturating_add(length);
        if end > self.reference {
            reject(format!("a block of {length} links"));
        }
        if self.block.is_multiple_of(2) {
            self.take(length);
        }
        self.copied_to = end;
        self.block += 1;
        // Blocks are alternately copied and skipped; the rest after a last skipped block is copied.
        if self.block == self.blocks && self.blocks.is_multiple_of(2) {
            self.take(self.reference - end);
        }
        block
    }

    fn read_interval_count(&mut self) -> u64 {
        let intervals = self.codes.read_interval_count();
        if intervals.saturating_mul(self.shortest_interval) > self.left {
            reject(format!("{intervals} intervals in {} links", self.left));
        }
        intervals
    }

    fn read_interval_start(&mut self) -> u64 {
        let start = self.codes.read_interval_start();
        self.distance(start)
    }

    fn read_interval_len(&mut self) -> u64 {
        let length = self.codes.read_interval_len();
        self.take(length.saturating_add(self.shortest_interval));
        length
    }

    fn read_first_residual(&mut self) -> u64 {
        let residual = self.codes.read_first_residual();
        self.distance(residual)
    }

    fn read_residual(&mut self) -> u64 {
        let residual = self.codes.read_residual();
        self.distance(residual)
    }
}

// Errors that refuse a graph in the BV format.

#[derive(Debug, thiserror::Error)]
enum BvGraphError {
    #[error("cannot open {file}: a graph consists of BASENAME.graph and BASENAME.properties")]
    Open { file: String, source: io::Error },
    /// The properties do not describe a BV graph, or one of an unknown version.
    #[error("{file} does not describe a graph in the BV format: {detail}")]
    Properties { file: String, detail: String },
    /// The properties claim more nodes than the graph file can contain.
    #[error(
        "{file} has {bytes} bytes, too few for the {nodes} nodes of its properties: it is truncated or belongs to another graph"
    )]
    TooShort {
        file: String,
        bytes: u64,
        nodes: u64,
    },
    /// The properties claim more links than a file of this size can have in any crawl.
    #[error(
        "{file} has {bytes} bytes, and its properties claim {links} links; expected at most {per_byte} links per byte: its properties are damaged or belong to another graph"
    )]
    TooDense {
        file: String,
        bytes: u64,
        links: u64,
        per_byte: u64,
    },
    /// A directory, a device or a pipe. A graph must be a file, since it is examined before it is
    /// read.
    #[error("{file} is not a regular file; copy the graph and its properties to files first")]
    NoFile { file: String },
    #[error(
        "{file} is damaged or truncated at node {node} of {nodes} ({detail}); fetch it and its properties again"
    )]
    Damaged {
        file: String,
        /// The node, from 0.
        node: u64,
        nodes: u64,
        detail: String,
    },
    /// The number of links differs from that in the properties.
    #[error(
        "{file}: expected {links} links according to its properties, found {found}: one of the two files is damaged or belongs to another graph"
    )]
    Links {
        file: String,
        found: u64,
        links: u64,
    },
    /// The number of URLs differs from that of nodes.
    #[error(
        "{file}: expected {nodes} lines, one for each node of {graph}, found {lines}; give the list that belongs to the graph: line n + 1 is the URL of node n"
    )]
    Urls {
        file: String,
        lines: u64,
        graph: String,
        nodes: u64,
    },
}

impl FormatError for BvGraphError {}

// Decodes the lists of a graph from start to end, and codes them again in pieces.
//
// `webgraph` decodes them sequentially, from a file that is read along the way.

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

/// Consecutive lists in the code of [`node_graph`].
#[derive(Debug, Default)]
struct Coded {
    bytes: Vec<u8>,
    lists: usize,
}

/// The lists of a graph in pieces. An error follows after all lists before it.
struct LinkPieces<'a> {
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

impl<'a> LinkPieces<'a> {
    /// Opens a graph.
    fn open(basename: &Path, progress: &Progress<'a>) -> Result<Self, BvGraphError> {
        let header = Properties::read(basename)?;
        let path = bv_graph_file(basename, "graph");
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
            file: bv_graph_file(basename, "properties").display().to_string(),
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
            node_graph::push(self.node, out);
            let mut last = None;
            for &successor in successors {
                let successor = successor as u64;
                let gap = successor - last.unwrap_or(0);
                if successor >= self.nodes || (gap == 0 && last.is_some()) {
                    return Err("a link that cannot be".to_owned());
                }
                node_graph::push(gap, out);
                last = Some(successor);
            }
            out.push(node_graph::END);
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

impl Iterator for LinkPieces<'_> {
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
    bytes: BufReader<CountingReader<'static>>,
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

// The URLs of a graph's nodes, by number.

/// Where the URLs come from.
#[derive(Debug)]
enum NodeUrls {
    /// Node n is `http://n<n>.invalid/`.
    Numbered,
    /// From a list.
    Listed(FrontCodedList),
}

/// Reads a list of URLs, one per line, which may take `max_held_bytes` bytes of memory.
fn read_node_urls(
    input: &Input,
    max_held_bytes: usize,
    watch: &dyn Watch,
) -> Result<FrontCodedList, Stop> {
    watch.stage("urls", input.length()?);
    let progress = Progress::new(watch);
    let mut list = FrontCodedList::default();
    for block in Blocks::new(input.open(&progress)?, progress.clone(), None) {
        let block = block?;
        for line in lines(&block.text) {
            // One byte over the limit suffices for a rejection.
            list.push(line.get(..=MAX_URL).unwrap_or(line));
        }
        if let Some(overlong) = block.overlong {
            let mut line = overlong.head;
            line.resize(MAX_URL + 1, b'?');
            list.push(&line);
        }
        check_held_bytes(input, list.memory(), max_held_bytes)?;
        progress.report();
    }
    Ok(list)
}

/// Looks up URLs, fastest in ascending order.
enum Cursor<'a> {
    /// The last URL.
    Numbered(String),
    Listed(node_graph::Cursor<'a>),
}

impl<'a> Cursor<'a> {
    const fn new(urls: &'a NodeUrls) -> Self {
        match urls {
            NodeUrls::Numbered => Self::Numbered(String::new()),
            NodeUrls::Listed(list) => Self::Listed(node_graph::Cursor::new(list)),
        }
    }
}

impl NodeNames for Cursor<'_> {
    fn name(&mut self, node: u64) -> &[u8] {
        match self {
            Self::Numbered(url) => {
                *url = format!("http://n{node}.invalid/");
                url.as_bytes()
            }
            Self::Listed(list) => list.text(node),
        }
    }

    fn own_url(&mut self, node: u64) -> Result<&str, Fault> {
        utf_8(self.name(node))
    }

    fn link_url(&mut self, node: u64, budget: &mut UrlBudget) -> Result<Option<&str>, Fault> {
        let url = self.name(node);
        budget.take(url)?;
        Ok(std::str::from_utf8(url).ok())
    }
}

// The properties of a graph, checked for plausibility.

/// The largest window, in lists. Far larger than in practice; it bounds the memory.
const MAX_WINDOW: usize = 1 << 16;

/// The most links per byte. Real crawls have 2 to 10. The densest graph that can be distinguished
/// from a hostile file, in which every list copies the previous one, comes near this, and so does
/// the largest compression ratio of gzip.
const MAX_LINKS_PER_BYTE: u64 = 1_000;

/// A number of links that is accepted in a file of any size.
const FEW_LINKS: u64 = 1 << 20;

/// The most bytes of the properties, which have a few hundred.
const MAX_PROPERTIES: u64 = 1 << 20;

struct Properties {
    nodes: u64,
    links: u64,
    flags: CompFlags,
    little_endian: bool,
}

/// Returns the name of a file of a graph. The basename may be that of one of its files.
///
/// `Path::with_extension` is not used, since basenames such as `cnr-2000.v2` contain dots.
#[must_use]
pub fn bv_graph_file(basename: &Path, extension: &str) -> PathBuf {
    let named = ["graph", "properties"]
        .iter()
        .any(|known| basename.extension().is_some_and(|own| own == *known));
    let mut name: OsString = if named {
        basename.with_extension("").into_os_string()
    } else {
        basename.as_os_str().to_owned()
    };
    name.push(".");
    name.push(extension);
    name.into()
}

impl Properties {
    /// Reads the properties and checks them against the size of the graph file.
    fn read(basename: &Path) -> Result<Self, BvGraphError> {
        let path = bv_graph_file(basename, "properties");
        let wrong = |detail: String| BvGraphError::Properties {
            file: path.display().to_string(),
            detail,
        };
        if let Some(detail) = mismatch(&path)? {
            return Err(wrong(detail));
        }
        let endianness = guarded(|| get_endianness(&path)).map_err(wrong)?;
        let endianness = endianness.map_err(|error| wrong(format!("{error:#}")))?;
        let little_endian = endianness == LE::NAME;
        let parsed = guarded(|| {
            if little_endian {
                parse_properties::<LE>(&path)
            } else {
                parse_properties::<BE>(&path)
            }
        });
        let parsed = parsed.map_err(wrong)?;
        let (nodes, links, flags) = parsed.map_err(|error| wrong(format!("{error:#}")))?;
        if flags.compression_window > MAX_WINDOW {
            let window = flags.compression_window;
            return Err(wrong(format!("a windowsize of {window}")));
        }
        let graph = bv_graph_file(basename, "graph");
        let bytes = length(&graph)?;
        // Every outdegree takes at least one bit, which bounds the memory for one list.
        let nodes = nodes as u64;
        if nodes > bytes.saturating_mul(8) {
            return Err(BvGraphError::TooShort {
                file: graph.display().to_string(),
                bytes,
                nodes,
            });
        }
        // A bit or two copy a list, and two numbers are a run of links of any length: without this
        // bound, a small file could cause days of work.
        if links > bytes.saturating_mul(MAX_LINKS_PER_BYTE).max(FEW_LINKS) {
            return Err(BvGraphError::TooDense {
                file: graph.display().to_string(),
                bytes,
                links,
                per_byte: MAX_LINKS_PER_BYTE,
            });
        }
        Ok(Self {
            nodes,
            links,
            flags,
            little_endian,
        })
    }
}

fn length(path: &Path) -> Result<u64, BvGraphError> {
    let metadata = fs::metadata(path).map_err(|source| cannot_open(path, source))?;
    if !metadata.is_file() {
        return Err(BvGraphError::NoFile {
            file: path.display().to_string(),
        });
    }
    Ok(metadata.len())
}

fn cannot_open(path: &Path, source: std::io::Error) -> BvGraphError {
    BvGraphError::Open {
        file: path.display().to_string(),
        source,
    }
}

/// Returns why a file does not have the properties of a graph in the BV format; `None` if it may
/// have them.
fn mismatch(path: &Path) -> Result<Option<String>, BvGraphError> {
    length(path)?;
    let failed = |source| cannot_open(path, source);
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_PROPERTIES + 1).read_to_end(&mut bytes))
        .map_err(failed)?;
    if bytes.len() as u64 > MAX_PROPERTIES {
        return Ok(Some("it is too long".to_owned()));
    }
    let text = String::from_utf8_lossy(&bytes);
    let class = text
        .lines()
        .filter_map(|line| line.split_once('='))
        .find(|(key, _)| key.trim() == "graphclass")
        .map(|(_, class)| class.trim());
    Ok(class
        .filter(|class| !class.ends_with("BVGraph"))
        .map(|class| format!("its graphclass is {class}; only BVGraph can be read")))
}

// Errors within the decoder of `webgraph`.
//
// A [`Decode`](webgraph::graphs::bvgraph::Decode) cannot fail. So an invalid number unwinds the
// stack without calling the panic hook, and [`guarded`] turns that into an error. It does the same
// with a panic of the crates below, which assert on codes that are too long; the message of such a
// panic is not printed.

/// A description of an invalid number.
struct InvalidCode(String);

/// Unwinds the decoding step that [`guarded`] runs.
fn reject(what: String) -> ! {
    resume_unwind(Box::new(InvalidCode(what)))
}

/// Runs a decoding step; an error describes what is invalid.
///
/// After an error, values that the step has changed must not be used.
fn guarded<T>(step: impl FnOnce() -> T) -> Result<T, String> {
    catch_panic(step).map_err(|payload| match payload.downcast() {
        Ok(invalid) => {
            let InvalidCode(what) = *invalid;
            what
        }
        Err(_) => "its bits are not valid codes".to_owned(),
    })
}

#[cfg(test)]
#[path = "bvgraph_tests.rs"]
mod tests;
