//! Web graphs of hosts and domains, as published by Common Crawl: lists of vertices, edges and
//! ranks, as text.
//!
//! ```text
//! vertices --names, front-coded, in memory--.
//! ranks    --a position for each host-------+--v
//! edges    --lists, checked--> pieces of coded lists --CcGraph, in parallel--> a record for each vertex
//! ```
//!
//! * A vertex is the crawled page `http://host/` with all of its links. The labels of its host are
//!   reversed; it is not changed otherwise.
//! * Files that do not fit each other refuse the batch: a vertex out of order, an edge of an
//!   unlisted vertex, edges of a vertex that are not consecutive, a line without an end.
//! * An invalid host is rejected at its vertex, and links to it are dropped and counted. A rank of a
//!   host that is not a vertex is rejected at its line, after all vertices.
//! * Of two vertices with the same URL the later one counts, as for any records; of two with the
//!   same name, it also gets the rank.
//!
//! A caller may allow records to name pages by vertex ([`Source::number_nodes`]). Then each URL is parsed twice and
//! not once for each link, if the memory is enough for the ids of the vertices, eight bytes each. The caller needs the
//! ids only after it has dropped the names and the ranks.
//!
//! Cost: the names, as in [`node_graph`]; with ranks, four more bytes for each vertex; and the
//! longest list, about a hundred bytes per link.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use crate::display::escape_controls;
use crate::ingest::entries::utf_8;
use crate::ingest::formats::file_source::FormatError;
use crate::ingest::formats::node_graph::FrontCodedList;
use crate::ingest::interner::UrlNumber;
use crate::ingest::location::{Location, MAX_URL, Naming, NodeUrls, parse};
use crate::ingest::source::{
    Block, Blocks, DEFAULT_HELD_BYTES, MAX_LINE, PIECE_RECORDS, Piece, Pieces, Source, Sources,
    Stop, check_held_bytes, max_held_bytes,
};

use crate::ingest::number::integer;
use crate::ingest::open::{Input, InputError};
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::progress::Progress;
use crate::ingest::record::{Attribute, Event, MAX_QUALITY};
use crate::ingest::summary::{
    EXCERPT_CHARS, Fault, MAX_LISTED_REJECTS, Position, RejectReason, excerpt,
};

use super::node_graph::{self, Cursor, NodeNames, Numbers, UrlBudget, read_list};
use seedbank_algorithms::watch::Watch;

/// Bytes of memory for each byte of coded lists: the text of a URL, which is held once in a piece,
/// and four bytes for each link to it.
const EXPANSION: usize = 32;

/// Returns the source for a graph whose edges come in these parts.
pub(super) fn sources(edges: &[Input], vertices: &[Input], ranks: &[Input]) -> Sources {
    vec![Box::new(CcGraph {
        edges: edges.to_vec(),
        vertices: vertices.to_vec(),
        ranks: ranks.to_vec(),
        graph: Arc::default(),
        max_held_bytes: DEFAULT_HELD_BYTES,
        naming: None,
    })]
}

/// A web graph of hosts or of domains.
#[derive(Debug)]
struct CcGraph {
    edges: Vec<Input>,
    vertices: Vec<Input>,
    ranks: Vec<Input>,
    graph: Arc<Graph>,
    /// The most bytes of the names of all vertices, and of the URLs of one list.
    max_held_bytes: usize,
    /// How URLs are normalised, if records may name pages by vertex.
    naming: Option<Naming>,
}

/// What is known of the vertices before the edges are read.
#[derive(Debug, Default)]
struct Graph {
    vertices: Vertices,
    ranks: Ranks,
    max_held_bytes: usize,
    /// `None` if records name pages by URL.
    numbering: Option<Numbering>,
}

impl Source for CcGraph {
    /// Returns the name of the first part of the vertices. Each rejected record is listed with the
    /// part that it is in.
    fn name(&self) -> String {
        self.vertices
            .first()
            .map_or_else(String::new, Input::to_string)
    }

    fn limit_memory(&mut self, bytes: usize) {
        self.max_held_bytes = max_held_bytes(bytes);
    }

    fn number_nodes(&mut self, naming: Naming) {
        self.naming = Some(naming);
    }

    /// Reads the vertices and the ranks.
    fn prepare(&mut self, watch: &dyn Watch) -> Result<Option<u64>, Stop> {
        // A missing file is reported before the others are read.
        let length = total_length(&self.edges)?;
        total_length(&self.vertices)?;
        total_length(&self.ranks)?;
        let vertices = read_vertices(&self.vertices, self.max_held_bytes, watch)?;
        if let Some(input) = self.ranks.first() {
            let names = &vertices.names;
            // A rank each; and a hash and a number each, to find names that are not sorted.
            let rank_bytes = if names.is_sorted() { 4 } else { 20 };
            let all = usize::try_from(names.len()).unwrap_or(usize::MAX);
            let held = all
                .saturating_mul(rank_bytes)
                .saturating_add(names.memory());
            check_held_bytes(input, held, self.max_held_bytes)?;
        }
        let ranks = read_ranks(&self.ranks, &vertices.names, watch)?;
        tracing::debug!(
            vertices = vertices.names.len(),
            bytes = vertices.names.memory(),
            "names of vertices"
        );
        let mut graph = Graph {
            vertices,
            ranks,
            max_held_bytes: self.max_held_bytes,
            numbering: None,
        };
        if let Some(naming) = self.naming
            && self.has_room_for_ids(&graph.vertices)
        {
            graph.numbering = Some(Numbering::new(&graph, naming, watch)?);
        }
        self.graph = Arc::new(graph);
        Ok(length)
    }

    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        // Only the pieces hold the graph, so that its memory is free once they were read.
        let graph = std::mem::take(&mut self.graph);
        let lists = Lists::new(&self.edges, graph.vertices.names.len(), progress);
        let other_pieces = counts_piece(&graph).chain(rejected_rows(&graph));
        let lists = lists.map(move |coded| Ok(list_piece(coded?, Arc::clone(&graph))));
        Ok(Box::new(lists.chain(other_pieces.map(Ok))))
    }
}

impl CcGraph {
    /// Returns whether the id of the page of each vertex fits into the memory, without the names and the ranks.
    fn has_room_for_ids(&self, vertices: &Vertices) -> bool {
        let count = u32::try_from(vertices.names.len());
        count.is_ok_and(|count| {
            (count as usize).saturating_mul(size_of::<u64>()) <= self.max_held_bytes
        })
    }
}

/// Names of pages by vertex.
#[derive(Debug)]
struct Numbering {
    naming: Naming,
    /// Whether the URL of each vertex is valid, a bit for each.
    valid: Vec<u64>,
}

impl Numbering {
    fn new(graph: &Graph, naming: Naming, watch: &dyn Watch) -> Result<Self, Stop> {
        let mut valid = Vec::new();
        for (vertex, _) in graph.valid_locations(naming) {
            watch.proceed()?;
            valid.resize(vertex as usize / 64 + 1, 0_u64);
            if let Some(word) = valid.last_mut() {
                *word |= 1 << (vertex % 64);
            }
        }
        Ok(Self { naming, valid })
    }

    /// Returns the number of the page of a vertex; `None` if its URL is invalid.
    fn number(&self, vertex: u64) -> Option<UrlNumber> {
        let number = u32::try_from(vertex).ok()?;
        let word = self.valid.get(number as usize / 64).copied().unwrap_or(0);
        (word >> (number % 64) & 1 > 0).then_some(number)
    }
}

impl Graph {
    fn valid_locations(&self, naming: Naming) -> impl Iterator<Item = (u32, Location)> {
        let mut names = Names::new(self);
        let count = u32::try_from(self.vertices.names.len()).unwrap_or(u32::MAX);
        (0..count).filter_map(move |vertex| {
            let url = names.own_url(vertex.into()).ok()?;
            Some((vertex, parse(url, naming).ok()?))
        })
    }
}

impl NodeUrls for Graph {
    fn locations(&self) -> Box<dyn Iterator<Item = (u32, Location)> + '_> {
        let numbering = self.numbering.iter();
        Box::new(numbering.flat_map(|numbering| self.valid_locations(numbering.naming)))
    }
}

fn list_piece<'a>(coded: Coded, graph: Arc<Graph>) -> Piece<'a> {
    Piece {
        bytes: coded.text,
        records: coded.lists,
        memory: node_graph::memory(&coded.bytes, EXPANSION),
        read: Box::new(move |parser| {
            parser.summary.blank_lines += coded.blank;
            read(coded.bytes, 0, graph, parser);
        }),
    }
}

/// Reports the counts of the vertices and the ranks, as a piece without records.
fn counts_piece<'a>(graph: &Graph) -> impl Iterator<Item = Piece<'a>> + Send + use<'a> {
    let blank = graph.vertices.blank + graph.ranks.blank;
    std::iter::once(Piece {
        bytes: graph.vertices.bytes + graph.ranks.bytes,
        records: 0,
        memory: 0,
        read: Box::new(move |parser| parser.summary.blank_lines += blank),
    })
}

/// Returns the rejected rows of ranks; those beyond the listed ones are counted.
fn rejected_rows<'a>(graph: &Arc<Graph>) -> impl Iterator<Item = Piece<'a>> + Send + use<'a> {
    let of_rows = Arc::clone(graph);
    let starts = (0..graph.ranks.rejected.len()).step_by(PIECE_RECORDS);
    let listed = starts.map(move |start| {
        let graph = Arc::clone(&of_rows);
        let rows = start..graph.ranks.rejected.len().min(start + PIECE_RECORDS);
        Piece {
            bytes: 0,
            records: rows.len(),
            memory: rows.len() * size_of::<RejectedRow>(),
            read: Box::new(move |parser| {
                for row in graph.ranks.rejected.get(rows).unwrap_or_default() {
                    parser.set_file(row.file.clone());
                    let at = Position::Line(row.line);
                    parser.add(at, Err(row.fault.clone()), &row.text);
                }
            }),
        }
    });
    let counted = graph.ranks.unlisted.clone().into_iter();
    let counted = counted.map(|(reason, count)| Piece {
        bytes: 0,
        // They become no events.
        records: 0,
        memory: 0,
        read: Box::new(move |parser| {
            parser.summary.records += count;
            *parser.summary.rejects.entry(reason).or_default() += count;
        }),
    });
    listed.chain(counted)
}

/// Reads the lists from an offset on.
fn read(coded: Vec<u8>, from: usize, graph: Arc<Graph>, parser: &mut PieceParser) {
    let names = Names::new(&graph);
    let rest = match &graph.numbering {
        Some(numbering) => {
            parser.nodes = Some(Arc::<Graph>::clone(&graph));
            let names = VertexNumbers { names, numbering };
            read_lists(&coded, from, &graph, names, parser)
        }
        None => read_lists(&coded, from, &graph, names, parser),
    };
    if let Some(at) = rest {
        parser.continue_with(move |parser| read(coded, at, graph, parser));
    }
}

/// Reads the lists from an offset on. Returns the offset of the first one that was not read because the parser is
/// full.
fn read_lists(
    coded: &[u8],
    from: usize,
    graph: &Graph,
    mut names: impl NodeNames,
    parser: &mut PieceParser,
) -> Option<usize> {
    let mut at = from;
    while let Some(list) = node_graph::first(coded, at) {
        if parser.is_full() {
            return Some(at);
        }
        at += list.len() + 1;
        let id = Numbers::new(list).next().unwrap_or_default();
        let record = read_list(list, &mut names, graph.max_held_bytes, parser);
        let (file, place) = graph.vertices.place(id);
        let mut name: &[u8] = &[];
        if record.is_err() {
            parser.set_file(file);
            name = names.name(id);
        }
        let record = record.map(|mut record| {
            if let Some(quality) = graph.ranks.quality(id) {
                record.quality = Attribute::Given(quality);
            }
            Event::Record(record)
        });
        parser.add(place, record, name);
    }
    None
}

/// Looks up the names of vertices, which ascend, and of the targets of their links, which ascend in
/// each list.
struct Names<'a> {
    own: Cursor<'a>,
    linked: Cursor<'a>,
    /// The last URL.
    url: String,
}

impl<'a> Names<'a> {
    const fn new(graph: &'a Graph) -> Self {
        let names = &graph.vertices.names;
        Self {
            own: node_graph::Cursor::new(names),
            linked: node_graph::Cursor::new(names),
            url: String::new(),
        }
    }
}

impl NodeNames for Names<'_> {
    fn name(&mut self, node: u64) -> &[u8] {
        self.own.text(node)
    }

    fn own_url(&mut self, node: u64) -> Result<&str, Fault> {
        push_url(self.own.text(node), &mut self.url)?;
        Ok(&self.url)
    }

    fn link_url(&mut self, node: u64, budget: &mut UrlBudget) -> Result<Option<&str>, Fault> {
        let name = self.linked.text(node);
        budget.take(name)?;
        Ok(push_url(name, &mut self.url).ok().map(|()| &*self.url))
    }
}

/// Names pages by vertex. Only invalid names are read.
struct VertexNumbers<'a> {
    names: Names<'a>,
    numbering: &'a Numbering,
}

impl NodeNames for VertexNumbers<'_> {
    fn name(&mut self, node: u64) -> &[u8] {
        self.names.name(node)
    }

    fn own_url(&mut self, node: u64) -> Result<&str, Fault> {
        self.names.own_url(node)
    }

    fn link_url(&mut self, node: u64, budget: &mut UrlBudget) -> Result<Option<&str>, Fault> {
        self.names.link_url(node, budget)
    }

    fn page(&mut self, node: u64, parser: &mut PieceParser) -> Result<UrlNumber, Fault> {
        match self.numbering.number(node) {
            Some(number) => Ok(number),
            None => parser.page(self.names.own_url(node)?),
        }
    }

    fn target(
        &mut self,
        page: UrlNumber,
        node: u64,
        budget: &mut UrlBudget,
        parser: &mut PieceParser,
    ) -> Result<Option<UrlNumber>, Fault> {
        match self.numbering.number(node) {
            Some(number) if number == page => {
                parser.summary.self_links += 1;
                Ok(None)
            }
            Some(number) => Ok(Some(number)),
            None => self.names.target(page, node, budget, parser),
        }
    }
}

// Reads the edges from start to end, and codes them as lists of links in pieces.

/// The approximate size of the coded lists of a piece. Less than of text, since a link takes two or
/// three coded bytes and becomes a URL.
const PIECE_BYTES: usize = 32 << 10;

/// The lists of consecutive vertices, in the code of [`node_graph`].
#[derive(Debug, Default)]
struct Coded {
    bytes: Vec<u8>,
    lists: usize,
    /// Bytes of text that were read for them.
    text: u64,
    /// Blank lines in this text.
    blank: u64,
}

/// The lists of all vertices, in order; one without edges has an empty list. An error follows after
/// all complete lists before it.
struct Lists<'a> {
    lines: PartLines<'a>,
    vertices: u64,
    /// The vertex whose list is next.
    next: u64,
    /// The edge after those of the lists so far.
    ahead: Option<(u64, u64)>,
    ended: bool,
    /// The links of the current list.
    links: Vec<u64>,
    /// The bytes and blank lines of the pieces so far.
    reported: (u64, u64),
    error: Option<Stop>,
}

impl<'a> Lists<'a> {
    fn new(edges: &'a [Input], vertices: u64, progress: &Progress<'a>) -> Self {
        Self {
            lines: PartLines::new(edges, progress.clone()),
            vertices,
            next: 0,
            ahead: None,
            ended: false,
            links: Vec::new(),
            reported: (0, 0),
            error: None,
        }
    }

    /// Reads the next edge into `ahead`, unless it is there.
    fn look(&mut self, last: u64) -> Result<Option<(u64, u64)>, Stop> {
        if self.ahead.is_some() || self.ended {
            return Ok(self.ahead);
        }
        let Some(line) = self.lines.next()? else {
            self.ended = true;
            return Ok(None);
        };
        let (part, at) = (line.part, line.number);
        let edge = edge(line.text);
        let Some((from, to)) = edge else {
            let error = CcGraphError::Edge {
                line: at,
                text: excerpt(line.text),
                file: self.lines.name(part),
            };
            return Err(error.into());
        };
        let id = from.max(to);
        if id >= self.vertices || from < last {
            let file = self.lines.name(part);
            let error = if from < last {
                CcGraphError::Unsorted {
                    file,
                    line: at,
                    from,
                    after: last,
                }
            } else {
                CcGraphError::Beyond {
                    file,
                    line: at,
                    id,
                    vertices: self.vertices,
                }
            };
            return Err(error.into());
        }
        self.ahead = edge;
        Ok(edge)
    }

    /// Appends the list of the next vertex.
    fn push(&mut self, out: &mut Vec<u8>) -> Result<(), Stop> {
        self.links.clear();
        while let Some((_, to)) = self.look(self.next)?.filter(|(from, _)| *from == self.next) {
            self.ahead = None;
            // A link takes at least one coded byte, so that a longer list is rejected anyway.
            if self.links.len() <= MAX_LINE {
                self.links.push(to);
            }
        }
        if !self.links.is_sorted() {
            self.links.sort_unstable();
        }
        node_graph::push(self.next, out);
        let mut before = 0;
        for to in &self.links {
            node_graph::push(to - before, out);
            before = *to;
        }
        out.push(node_graph::END);
        self.next += 1;
        Ok(())
    }

    fn next_piece(&mut self) -> Coded {
        let mut piece = Coded::default();
        while self.error.is_none()
            && self.next < self.vertices
            && piece.lists < PIECE_RECORDS
            && piece.bytes.len() < PIECE_BYTES
        {
            match self.push(&mut piece.bytes) {
                Ok(()) => piece.lists += 1,
                Err(error) => self.error = Some(error),
            }
        }
        // Without vertices, no list would notice an edge.
        if self.vertices == 0
            && self.error.is_none()
            && let Err(error) = self.look(0)
        {
            self.error = Some(error);
        }
        let now = (self.lines.bytes, self.lines.blank);
        piece.text = now.0 - self.reported.0;
        piece.blank = now.1 - self.reported.1;
        self.reported = now;
        piece
    }
}

impl Iterator for Lists<'_> {
    type Item = Result<Coded, Stop>;

    fn next(&mut self) -> Option<Self::Item> {
        let piece = self.next_piece();
        if piece.lists > 0 {
            return Some(Ok(piece));
        }
        let error = self.error.take();
        // Nothing follows an error.
        if error.is_some() {
            self.next = self.vertices;
            self.ended = true;
        }
        error.map(Err)
    }
}

fn edge(line: &[u8]) -> Option<(u64, u64)> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let (from, to) = line.split_at(tab);
    number(from).zip(to.split_first().and_then(|(_, to)| number(to)))
}

// Errors that refuse a web graph of Common Crawl.

/// The files of a graph do not fit each other or are invalid. Lines are numbered from 1.
#[derive(Debug, thiserror::Error)]
enum CcGraphError {
    #[error(
        "line {line} of {file}: expected vertex {id} as id, tab and reversed host, found `{}`; ids count from 0 over all parts, in the order given",
        escape_controls(text)
    )]
    Vertex {
        file: String,
        line: u64,
        id: u64,
        text: String,
    },
    /// An empty line before a vertex: a vertex may be missing.
    #[error("{file}: expected vertex {id}, found an empty line before line {line}")]
    EmptyLine { file: String, line: u64, id: u64 },
    #[error(
        "line {line} of {file}: expected an edge as two ids with a tab between them, found `{}`",
        escape_controls(text)
    )]
    Edge {
        file: String,
        line: u64,
        text: String,
    },
    /// An edge has a vertex that is not in the list.
    #[error(
        "line {line} of {file}: expected a vertex below {vertices}, the number of vertices listed, found {id}; the list is incomplete or belongs to another graph"
    )]
    Beyond {
        file: String,
        line: u64,
        id: u64,
        vertices: u64,
    },
    /// The edges of a vertex are not consecutive.
    #[error(
        "line {line} of {file} has an edge from vertex {from} after edges from vertex {after}; expected edges in ascending order of the source vertex over all parts; give the parts in order"
    )]
    Unsorted {
        file: String,
        line: u64,
        from: u64,
        after: u64,
    },
    /// The last line of a file has no line end.
    #[error("{file} is truncated in line {line}; fetch it again")]
    CutOff { file: String, line: u64 },
    #[error("line {line} of {file}: expected at most {MAX_LINE} bytes, found {bytes}")]
    TooLong { file: String, line: u64, bytes: u64 },
    /// The first line of the ranks does not name their columns.
    #[error(
        "{file} has no ranks: expected tab-separated column names with {position} and {host} on the first line, found `{}`",
        escape_controls(text)
    )]
    Header {
        file: String,
        position: &'static str,
        host: &'static str,
        text: String,
    },
    /// The ranks are incomplete: a position exceeds the number of rows.
    #[error(
        "line {line} of {file}: expected a position of at most {rows}, the number of rows, found {position}: the ranks are incomplete, and qualities depend on their number"
    )]
    IncompleteRanks {
        file: String,
        line: u64,
        position: u64,
        rows: u64,
    },
}

impl FormatError for CcGraphError {
    fn is_truncated(&self) -> bool {
        matches!(self, Self::CutOff { .. })
    }
}

// The page and the quality of a vertex.

/// Writes the URL of the page of a host whose labels are reversed: `http://www.example.com/`
/// for `com.example.www`.
///
/// Rejects a name that is not a host but would be the URL of another page (a port, a path, an
/// escape, an empty label); the rules of URLs decide the rest.
fn push_url(name: &[u8], url: &mut String) -> Result<(), Fault> {
    let name = utf_8(name)?;
    let is_forbidden = |c: char| c <= ' ' || "/\\:@?#%[]\u{7f}".contains(c);
    if name.contains(is_forbidden) || name.split('.').any(str::is_empty) {
        return Err(Fault::new(
            RejectReason::InvalidUrl,
            "expected a host with its labels reversed, such as com.example.www",
        ));
    }
    url.clear();
    url.push_str("http://");
    for (index, label) in name.rsplit('.').enumerate() {
        if index > 0 {
            url.push('.');
        }
        url.push_str(label);
    }
    url.push('/');
    Ok(())
}

/// Returns the quality, in ten-thousandths, of the host at a position from 1 to `rows`: `1 -
/// ln(position) / ln(rows)`, rounded to the nearest.
///
/// The first host has 1, the last 0, and so has a position beyond the last. A single host has 1.
fn quality(position: u64, rows: u64) -> u16 {
    if position <= 1 {
        return MAX_QUALITY;
    }
    if position >= rows {
        return 0;
    }
    let quality = 1.0 - (position as f64).ln() / (rows as f64).ln();
    let steps = (quality * f64::from(MAX_QUALITY)).round();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number from 0 to 10,000, as the position is from 1 to the number of rows"
    )]
    let steps = steps as u16;
    steps.min(MAX_QUALITY)
}

// The lines of a list that comes in parts.

/// A line that is not blank.
struct Line<'t> {
    /// The index of its part.
    part: usize,
    /// Its number in the part, from 1, with blank lines.
    number: u64,
    /// Its text, without the line end.
    text: &'t [u8],
}

/// The lines of all parts, in order, decompressed as they are read.
///
/// A part that ends within a line is refused: half a number is a number, too.
struct PartLines<'a> {
    inputs: &'a [Input],
    progress: Progress<'a>,
    /// Number of parts opened; the last of them is being read.
    opened: usize,
    blocks: Option<Blocks<'a>>,
    block: Block,
    /// The offset of the next line in the block.
    at: usize,
    /// The number of the last line.
    line: u64,
    /// Bytes of text read so far.
    bytes: u64,
    /// Blank lines so far.
    blank: u64,
}

impl<'a> PartLines<'a> {
    fn new(inputs: &'a [Input], progress: Progress<'a>) -> Self {
        Self {
            inputs,
            progress,
            opened: 0,
            blocks: None,
            block: Block::default(),
            at: 0,
            line: 0,
            bytes: 0,
            blank: 0,
        }
    }

    /// Returns the name of a part.
    fn name(&self, part: usize) -> String {
        self.inputs
            .get(part)
            .map_or_else(String::new, Input::to_string)
    }

    /// Returns the next line; `None` at the end of the last part.
    fn next(&mut self) -> Result<Option<Line<'_>>, Stop> {
        loop {
            let rest = self.block.text.get(self.at..).unwrap_or_default();
            if rest.is_empty() {
                if !self.refill()? {
                    return Ok(None);
                }
                continue;
            }
            self.line += 1;
            let part = self.opened.saturating_sub(1);
            let end = rest.iter().position(|byte| *byte == b'\n');
            let length = end.unwrap_or(rest.len());
            let range = self.at..self.at + length;
            self.at = range.end + usize::from(end.is_some());
            self.bytes += (self.at - range.start) as u64;
            let text = self.block.text.get(range.clone()).unwrap_or_default();
            if text.trim_ascii().is_empty() {
                self.blank += 1;
                continue;
            }
            if end.is_none() {
                let error = CcGraphError::CutOff {
                    file: self.name(part),
                    line: self.line,
                };
                return Err(error.into());
            }
            // Looked up again, since the borrow must not extend over the next iteration.
            let text = self.block.text.get(range).unwrap_or_default();
            return Ok(Some(Line {
                part,
                number: self.line,
                text: text.strip_suffix(b"\r").unwrap_or(text),
            }));
        }
    }

    /// Reads more; `false` at the end of the last part.
    fn refill(&mut self) -> Result<bool, Stop> {
        if let Some(overlong) = self.block.overlong.take() {
            let error = CcGraphError::TooLong {
                file: self.name(self.opened.saturating_sub(1)),
                line: self.line + 1,
                bytes: overlong.bytes,
            };
            return Err(error.into());
        }
        if let Some(block) = self.blocks.as_mut().and_then(Iterator::next) {
            self.block = block?;
            self.at = 0;
            return Ok(true);
        }
        let Some(input) = self.inputs.get(self.opened) else {
            return Ok(false);
        };
        let opened = input.open(&self.progress)?;
        self.blocks = Some(Blocks::new(opened, self.progress.clone(), None));
        self.block = Block::default();
        self.at = 0;
        self.opened += 1;
        self.line = 0;
        Ok(true)
    }
}

/// Parses a number in decimal digits; `None` if it is anything else or exceeds a `u64`.
fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0_u64, |number, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

/// Returns the number of bytes in all inputs; `None` if it is unknown. Refuses a missing input.
fn total_length(inputs: &[Input]) -> Result<Option<u64>, InputError> {
    let mut sum = Some(0);
    for input in inputs {
        let length = input.length()?;
        sum = sum.zip(length).map(|(sum, length)| sum + length);
    }
    Ok(sum)
}

// The list of ranks: the position of each host.

/// The columns of positions by harmonic centrality and of hosts.
const POSITION: &str = "#harmonicc_pos";
const HOST: &str = "#host_rev";

/// A rejected row.
#[derive(Debug)]
struct RejectedRow {
    file: Arc<str>,
    /// Its line, from 1.
    line: u64,
    fault: Fault,
    /// The beginning of the line.
    text: Box<[u8]>,
}

/// The positions of the hosts of a graph.
#[derive(Debug, Default)]
struct Ranks {
    /// By vertex, from 1; 0 if it has none. Empty without ranks.
    positions: Vec<u32>,
    /// Number of rows, including rejected ones.
    rows: u64,
    /// The first rejected rows, at most [`MAX_LISTED_REJECTS`].
    rejected: Vec<RejectedRow>,
    /// The number of further rejected rows.
    unlisted: BTreeMap<RejectReason, u64>,
    /// Bytes of text in the list.
    bytes: u64,
    /// Blank lines in the list.
    blank: u64,
}

impl Ranks {
    /// Returns the quality of a vertex, in ten-thousandths; `None` if it has no rank.
    fn quality(&self, id: u64) -> Option<u16> {
        let position = *self.positions.get(usize::try_from(id).ok()?)?;
        (position > 0).then(|| quality(position.into(), self.rows))
    }

    fn reject(&mut self, file: &Arc<str>, line: u64, text: &[u8], fault: Fault) {
        if self.rejected.len() as u64 >= MAX_LISTED_REJECTS {
            *self.unlisted.entry(fault.reason).or_default() += 1;
            return;
        }
        self.rejected.push(RejectedRow {
            file: Arc::clone(file),
            line,
            fault,
            text: text.get(..EXCERPT_CHARS * 4).unwrap_or(text).into(),
        });
    }
}

/// Reads the ranks of the hosts with these names.
///
/// Cost: four bytes for each host, and 16 more while it runs if the hosts are not sorted.
fn read_ranks(inputs: &[Input], names: &FrontCodedList, watch: &dyn Watch) -> Result<Ranks, Stop> {
    let mut ranks = Ranks::default();
    if inputs.is_empty() {
        return Ok(ranks);
    }
    watch.stage("read ranks", total_length(inputs)?);
    let progress = Progress::new(watch);
    ranks.positions = vec![0; usize::try_from(names.len()).unwrap_or(usize::MAX)];
    let finder = Finder::new(names);
    let files: Vec<Arc<str>> = inputs
        .iter()
        .map(|input| input.to_string().into())
        .collect();
    let mut lines = PartLines::new(inputs, progress.clone());
    let mut columns: Option<(usize, Columns)> = None;
    // The largest position, and where it is.
    let mut largest = (0, 0, 0);
    while let Some(line) = lines.next()? {
        let (part, at, text) = (line.part, line.number, line.text);
        // Each part may begin with a header; without one, the columns of the previous part apply.
        let known = columns.as_ref().map(|(of, _)| *of);
        if known != Some(part) {
            let found = Columns::parse(text).or(columns.take().map(|(_, columns)| columns));
            let is_header = Columns::parse(text).is_some();
            let Some(found) = found else {
                let error = CcGraphError::Header {
                    text: excerpt(text),
                    file: lines.name(part),
                    position: POSITION,
                    host: HOST,
                };
                return Err(error.into());
            };
            columns = Some((part, found));
            if is_header {
                continue;
            }
        }
        let Some((_, columns)) = &columns else {
            continue;
        };
        ranks.rows += 1;
        let row = columns.row(text).and_then(|(position, host)| {
            largest = largest.max((position, part, at));
            let id = finder.find(host);
            let place = id.and_then(|id| ranks.positions.get_mut(usize::try_from(id).ok()?));
            match place {
                None => Err(Fault::new(
                    RejectReason::UnknownHost,
                    "the host is not a vertex of the graph",
                )),
                Some(place) if *place > 0 => Err(Fault::new(
                    RejectReason::RankedTwice,
                    "the host has a rank in an earlier row",
                )),
                Some(place) => {
                    *place = position;
                    Ok(())
                }
            }
        });
        if let (Err(fault), Some(file)) = (row, files.get(part)) {
            ranks.reject(file, at, text, fault);
        }
        if ranks.rows.is_multiple_of(1 << 14) {
            watch.proceed()?;
            progress.report();
        }
    }
    progress.report();
    let (position, part, line) = largest;
    if u64::from(position) > ranks.rows {
        let error = CcGraphError::IncompleteRanks {
            file: lines.name(part),
            line,
            position: position.into(),
            rows: ranks.rows,
        };
        return Err(error.into());
    }
    ranks.bytes = lines.bytes;
    ranks.blank = lines.blank;
    Ok(ranks)
}

/// The positions of columns in a row.
#[derive(Debug)]
struct Columns {
    position: usize,
    host: usize,
    /// Number of columns.
    all: usize,
}

impl Columns {
    /// Parses a header; `None` if the line is not one.
    fn parse(line: &[u8]) -> Option<Self> {
        let names = || line.split(|byte| *byte == b'\t').map(<[u8]>::trim_ascii);
        let place = |name: &str| names().position(|own| own == name.as_bytes());
        Some(Self {
            position: place(POSITION)?,
            host: place(HOST)?,
            all: names().count(),
        })
    }

    /// Returns the position and the host of a row.
    fn row<'t>(&self, line: &'t [u8]) -> Result<(u32, &'t [u8]), Fault> {
        let mut columns = line.split(|byte| *byte == b'\t');
        let (mut position, mut host) = (&b""[..], &b""[..]);
        let mut found = 0;
        for column in columns.by_ref() {
            if found == self.position {
                position = column;
            }
            if found == self.host {
                host = column;
            }
            found += 1;
        }
        if found != self.all {
            let all = self.all;
            return Err(Fault::new(
                RejectReason::Columns,
                format!("expected {all} columns, found {found}"),
            ));
        }
        let name = POSITION.trim_start_matches('#');
        let position = integer(utf_8(position)?, name, u32::MAX.into())?;
        match u32::try_from(position) {
            Ok(position) if position > 0 => Ok((position, host)),
            _ => Err(Fault::new(
                RejectReason::WrongType,
                format!("{name}: positions count from 1"),
            )),
        }
    }
}

/// Finds vertices by name: by binary search if the names are sorted, as published ones are, else by
/// hash.
enum Finder<'a> {
    Sorted(&'a FrontCodedList),
    Hashed {
        names: &'a FrontCodedList,
        hasher: RandomState,
        /// The hash of each name and its vertex, ascending.
        all: Vec<(u64, u64)>,
    },
}

impl<'a> Finder<'a> {
    fn new(names: &'a FrontCodedList) -> Self {
        if names.is_sorted() {
            return Self::Sorted(names);
        }
        let hasher = RandomState::new();
        let mut cursor = Cursor::new(names);
        let pairs = (0..names.len()).map(|id| (hasher.hash_one(cursor.text(id)), id));
        let mut all: Vec<(u64, u64)> = pairs.collect();
        all.sort_unstable();
        Self::Hashed { names, hasher, all }
    }

    /// Returns the last vertex with a name.
    fn find(&self, name: &[u8]) -> Option<u64> {
        match self {
            Self::Sorted(names) => names.find(name),
            Self::Hashed { names, hasher, all } => {
                let hash = hasher.hash_one(name);
                let end = all.partition_point(|(other, _)| *other <= hash);
                let same = all.get(..end).unwrap_or_default().iter().rev();
                let mut cursor = Cursor::new(names);
                same.take_while(|(other, _)| *other == hash)
                    .map(|(_, id)| *id)
                    .find(|id| cursor.text(*id) == name)
            }
        }
    }
}

// The list of vertices, held in memory while the edges are read.

/// The names of all vertices by their ids, and their places.
#[derive(Debug, Default)]
struct Vertices {
    /// The hosts with reversed labels, as written.
    names: FrontCodedList,
    /// The name of each part and its first vertex.
    parts: Vec<(Arc<str>, u64)>,
    /// Bytes of text in the list.
    bytes: u64,
    /// Blank lines at the end of the list or of its parts.
    blank: u64,
}

impl Vertices {
    /// Returns the part in which a vertex is listed, and its line there.
    fn place(&self, id: u64) -> (Arc<str>, Position) {
        let after = self.parts.partition_point(|(_, first)| *first <= id);
        match after.checked_sub(1).and_then(|part| self.parts.get(part)) {
            Some((file, first)) => (Arc::clone(file), Position::Line(id - first + 1)),
            None => (Arc::from(""), Position::Line(id + 1)),
        }
    }
}

/// Reads the vertices, whose names may take `max_held_bytes` bytes of memory. Ids must be consecutive,
/// from 0.
fn read_vertices(
    inputs: &[Input],
    max_held_bytes: usize,
    watch: &dyn Watch,
) -> Result<Vertices, Stop> {
    watch.stage("read hosts", total_length(inputs)?);
    let progress = Progress::new(watch);
    let mut lines = PartLines::new(inputs, progress.clone());
    let mut names = FrontCodedList::default();
    // The first vertex of each part. A part without lines begins with the vertex after it, and so
    // precedes the part that has it.
    let mut firsts: Vec<u64> = Vec::new();
    while let Some(line) = lines.next()? {
        let id = names.len();
        while firsts.len() <= line.part {
            firsts.push(id);
        }
        let first = firsts.last().copied().unwrap_or_default();
        let Line { part, number, text } = line;
        let name = name(text, id);
        let line = number;
        let Some(name) = name else {
            let error = CcGraphError::Vertex {
                text: excerpt(text),
                file: lines.name(part),
                line,
                id,
            };
            return Err(error.into());
        };
        if line != id - first + 1 {
            let file = lines.name(part);
            let error = CcGraphError::EmptyLine { file, line, id };
            return Err(error.into());
        }
        // One byte over the limit suffices for a rejection.
        names.push(name.get(..=MAX_URL).unwrap_or(name));
        if let Some(input) = inputs.get(part) {
            check_held_bytes(input, names.memory(), max_held_bytes)?;
        }
        if id.is_multiple_of(1 << 14) {
            progress.report();
        }
    }
    progress.report();
    let files = inputs.iter().map(|input| Arc::from(input.to_string()));
    Ok(Vertices {
        names,
        parts: files.zip(firsts).collect(),
        bytes: lines.bytes,
        blank: lines.blank,
    })
}

/// Returns the name of the vertex with this id; `None` if the line is anything else.
///
/// A third column is the number of hosts of a domain, which is ignored.
fn name(line: &[u8], id: u64) -> Option<&[u8]> {
    let mut columns = line.split(|byte| *byte == b'\t');
    let listed = columns.next().and_then(number)?;
    let name = columns.next()?;
    let hosts = columns.next();
    let fits = listed == id
        && hosts.is_none_or(|hosts| number(hosts).is_some())
        && columns.next().is_none();
    fits.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(name: &str) -> Option<String> {
        let mut url = String::new();
        push_url(name.as_bytes(), &mut url).ok().map(|()| url)
    }

    #[test]
    fn labels_are_turned_round() {
        for (name, expected) in [
            ("com.example.www", "http://www.example.com/"),
            ("org", "http://org/"),
            ("com.example", "http://example.com/"),
            ("uk.co.b_c.a-", "http://a-.b_c.co.uk/"),
        ] {
            assert_eq!(url(name).as_deref(), Some(expected));
        }
        for name in [
            "",
            ".",
            "com.",
            ".com",
            "com..a",
            "com.a/b",
            "com.a:80",
            "com.u@a",
            "com.a b",
            "com.a%2fb",
            "com.[a",
            "com.a\\b",
            "com.a?b",
            "com.a#b",
            "com.a\tb",
        ] {
            assert_eq!(url(name), None, "{name:?}");
        }
    }

    #[test]
    fn qualities_in_closed_form() {
        for (position, rows, steps) in [
            (1, 1, 10_000),
            (1, 2, 10_000),
            (2, 2, 0),
            (2, 4, 5_000),
            (10, 1_000, 6_667),
            (100, 1_000, 3_333),
            (1_000, 1_000, 0),
            (4, 16, 5_000),
            (8, 16, 2_500),
            (260_000_000, 260_000_000, 0),
        ] {
            assert_eq!(quality(position, rows), steps, "{position} of {rows}");
        }
    }
}
