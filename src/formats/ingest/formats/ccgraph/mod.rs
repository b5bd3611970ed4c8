//! Web graphs of hosts and of domains, as Common Crawl publishes them: lists of vertices, edges and
//! ranks, as text.
//!
//! ```text
//! vertices --names, front-coded, in memory--.
//! ranks    --a position for each host-------+--v
//! edges    --lists, checked--> pieces of coded lists --CcGraph, in parallel--> a record for each vertex
//! ```
//!
//! * A vertex is the page `http://host/`, crawled, with all of its links; without edges it has none.
//!   The labels of its host are turned round, and nothing else is done to it.
//! * Files that do not fit each other refuse the batch: a vertex out of its turn, an edge of a vertex
//!   that is not listed, a vertex whose edges do not stand together, a line without an end.
//! * A host that is none is rejected where its vertex stands, and links to it are dropped and
//!   counted. A rank of a host that is no vertex is rejected where it stands, after all vertices.
//! * Of two vertices with one URL the later counts, as of any records; of one name, the rank too.
//!
//! Cost: the names, as [`texts`] has them; with ranks, four bytes more for each vertex; and the
//! longest list, of about a hundred bytes a link.

mod edges;
mod error;
mod host;
mod parts;
mod ranks;
mod vertices;

use std::sync::Arc;

use super::nodes::code::{self, Numbers};
use super::nodes::room::{self, Room};
use super::nodes::texts::{self, Cursor};
use crate::ingest::blocks::{MAX_LINE, line_too_long};
use crate::ingest::interner::UrlNumber;
use crate::ingest::open::Input;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::progress::Progress;
use crate::ingest::record::{Attribute, Event, PageRecord};
use crate::ingest::reject::{Fault, Position};
use crate::ingest::source::{
    DEFAULT_HELD_BYTES, PIECE_RECORDS, Piece, Pieces, Source, Sources, Stop, check_held_bytes,
    max_held_bytes,
};
use crate::ingest::summary::DropReason;
use edges::{Coded, Lists};
use host::push_url;
use ranks::Ranks;
use seedbank_algorithms::watch::Watch;
use vertices::Vertices;

/// How many bytes of memory a byte of coded lists comes to: the text of a URL, which is held once
/// in a piece, and four bytes for each link to it.
const EXPANSION: usize = 32;

/// The source for the graph with these parts of edges.
pub(super) fn sources(edges: &[Input], vertices: Vec<Input>, ranks: Vec<Input>) -> Sources {
    vec![Box::new(CcGraph {
        edges: edges.to_vec(),
        vertices,
        ranks,
        graph: Arc::default(),
        max_held_bytes: DEFAULT_HELD_BYTES,
    })]
}

/// A web graph, of hosts or of domains.
#[derive(Debug)]
struct CcGraph {
    edges: Vec<Input>,
    vertices: Vec<Input>,
    ranks: Vec<Input>,
    graph: Arc<Graph>,
    /// How many bytes the names of all vertices may take, and the URLs of one list.
    max_held_bytes: usize,
}

/// What is known of vertices before the first edge is read.
#[derive(Debug, Default)]
struct Graph {
    vertices: Vertices,
    ranks: Ranks,
    max_held_bytes: usize,
}

impl Source for CcGraph {
    /// The first part of the vertices. Each refused record is listed under the part that it is in.
    fn name(&self) -> String {
        self.vertices
            .first()
            .map_or_else(String::new, Input::to_string)
    }

    fn limit_memory(&mut self, bytes: usize) {
        self.max_held_bytes = max_held_bytes(bytes);
    }

    /// Reads the vertices and the ranks.
    fn prepare(&mut self, watch: &dyn Watch) -> Result<Option<u64>, Stop> {
        // A missing file is told before the others are read.
        let length = parts::length(&self.edges)?;
        parts::length(&self.vertices)?;
        parts::length(&self.ranks)?;
        let vertices = vertices::read(&self.vertices, self.max_held_bytes, watch)?;
        if let Some(input) = self.ranks.first() {
            let names = &vertices.names;
            // A rank each, and to find names that are not sorted a hash and a number each.
            let of_each = if names.is_sorted() { 4 } else { 20 };
            let all = usize::try_from(names.len()).unwrap_or(usize::MAX);
            let held = all.saturating_mul(of_each).saturating_add(names.memory());
            check_held_bytes(input, held, self.max_held_bytes)?;
        }
        let ranks = ranks::read(&self.ranks, &vertices.names, watch)?;
        tracing::debug!(
            vertices = vertices.names.len(),
            bytes = vertices.names.memory(),
            "names of vertices"
        );
        self.graph = Arc::new(Graph {
            vertices,
            ranks,
            max_held_bytes: self.max_held_bytes,
        });
        Ok(length)
    }

    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        let graph = &self.graph;
        let lists = Lists::new(&self.edges, graph.vertices.names.len(), progress);
        let lists = lists.map(move |coded| Ok(of_lists(coded?, Arc::clone(graph))));
        let others = beside(graph).chain(strays(&graph.ranks));
        Ok(Box::new(lists.chain(others.map(Ok))))
    }
}

fn of_lists<'a>(coded: Coded, graph: Arc<Graph>) -> Piece<'a> {
    Piece {
        bytes: coded.text,
        records: coded.lists,
        memory: room::memory(&coded.bytes, EXPANSION),
        read: Box::new(move |parser| {
            parser.summary.blank_lines += coded.blank;
            read(coded.bytes, 0, graph, parser);
        }),
    }
}

/// What was counted of the vertices and the ranks, as a piece without records.
fn beside(graph: &Graph) -> impl Iterator<Item = Piece<'_>> + Send {
    let Graph {
        vertices, ranks, ..
    } = graph;
    std::iter::once(Piece {
        bytes: vertices.bytes + ranks.bytes,
        records: 0,
        memory: 0,
        read: Box::new(move |parser| {
            parser.summary.blank_lines += vertices.blank + ranks.blank;
        }),
    })
}

/// The rows of ranks that are refused; those that are too many to be listed are counted.
fn strays(ranks: &Ranks) -> impl Iterator<Item = Piece<'_>> + Send {
    let listed = ranks.strays.chunks(PIECE_RECORDS).map(|strays| Piece {
        bytes: 0,
        records: strays.len(),
        memory: size_of_val(strays),
        read: Box::new(move |parser| {
            for stray in strays {
                parser.set_file(stray.file.clone());
                let at = Position::Line(stray.line);
                parser.add(at, Err(stray.fault.clone()), &stray.text);
            }
        }),
    });
    let counted = ranks.more.iter().map(|(reason, count)| Piece {
        bytes: 0,
        // No event comes of them.
        records: 0,
        memory: 0,
        read: Box::new(move |parser| {
            parser.summary.records += count;
            *parser.summary.rejects.entry(*reason).or_default() += count;
        }),
    });
    listed.chain(counted)
}

/// Reads the lists from a place on.
fn read(coded: Vec<u8>, from: usize, graph: Arc<Graph>, parser: &mut PieceParser) {
    let mut names = Names::of(&graph);
    let mut at = from;
    while let Some(list) = code::first(&coded, at) {
        if parser.is_full() {
            drop(names);
            parser.continue_with(move |parser| read(coded, at, graph, parser));
            return;
        }
        at += list.len() + 1;
        let id = Numbers::of(list).next().unwrap_or_default();
        let said = read_list(list, &mut names, &graph, parser);
        let (file, place) = graph.vertices.place(id);
        let mut name: &[u8] = &[];
        if said.is_err() {
            parser.set_file(file);
            name = names.own.text(id);
        }
        parser.add(place, said, name);
    }
}

/// Looks up the names of vertices, which ascend, and of those that they link to, which ascend in each
/// list.
struct Names<'a> {
    own: Cursor<'a>,
    linked: Cursor<'a>,
    /// The URL that was made of a name at last.
    url: String,
}

impl<'a> Names<'a> {
    const fn of(graph: &'a Graph) -> Self {
        let names = &graph.vertices.names;
        Self {
            own: texts::Cursor::of(names),
            linked: texts::Cursor::of(names),
            url: String::new(),
        }
    }
}

fn read_list(
    list: &[u8],
    names: &mut Names<'_>,
    graph: &Graph,
    parser: &mut PieceParser,
) -> Result<Event<UrlNumber>, Fault> {
    // A line of text may not be longer either: it bounds what a record takes.
    if list.len() > MAX_LINE {
        return Err(line_too_long(list.len() as u64));
    }
    let mut numbers = Numbers::of(list);
    let id = numbers.next().unwrap_or_default();
    push_url(names.own.text(id), &mut names.url)?;
    let page = parser.page(&names.url)?;
    let mut targets = Vec::new();
    let mut room = Room::of(list.len(), graph.max_held_bytes);
    let mut to = 0;
    for gap in numbers {
        to += gap;
        room.take(names.linked.text(to))?;
        match push_url(names.linked.text(to), &mut names.url) {
            Ok(()) => targets.extend(parser.target(page, &names.url)),
            Err(_) => parser.summary.dropped(DropReason::Invalid),
        }
    }
    let mut record = PageRecord::new(page);
    record.outlinks = Some(parser.outlinks(targets));
    if let Some(quality) = graph.ranks.quality(id) {
        record.quality = Attribute::Given(quality);
    }
    Ok(Event::Record(record))
}
