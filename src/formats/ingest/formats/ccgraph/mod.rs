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
//! Cost: the names, as in [`front_coded`]; with ranks, four more bytes for each vertex; and the
//! longest list, about a hundred bytes per link.

mod edges;
mod error;
mod host;
mod part_lines;
mod ranks;
mod vertices;

use std::sync::Arc;

use super::node_graph::front_coded::{self, Cursor};
use super::node_graph::gap_code::{self, Numbers};
use super::node_graph::url_budget::{self, UrlBudget};
use super::node_graph::{NodeNames, read_list};
use crate::ingest::open::Input;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::progress::Progress;
use crate::ingest::record::{Attribute, Event};
use crate::ingest::reject::{Fault, Position};
use crate::ingest::source::{
    DEFAULT_HELD_BYTES, PIECE_RECORDS, Piece, Pieces, Source, Sources, Stop, check_held_bytes,
    max_held_bytes,
};
use edges::{Coded, Lists};
use host::push_url;
use ranks::Ranks;
use seedbank_algorithms::watch::Watch;
use vertices::Vertices;

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
}

/// What is known of the vertices before the edges are read.
#[derive(Debug, Default)]
struct Graph {
    vertices: Vertices,
    ranks: Ranks,
    max_held_bytes: usize,
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

    /// Reads the vertices and the ranks.
    fn prepare(&mut self, watch: &dyn Watch) -> Result<Option<u64>, Stop> {
        // A missing file is reported before the others are read.
        let length = part_lines::length(&self.edges)?;
        part_lines::length(&self.vertices)?;
        part_lines::length(&self.ranks)?;
        let vertices = vertices::read(&self.vertices, self.max_held_bytes, watch)?;
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
        let lists = lists.map(move |coded| Ok(list_piece(coded?, Arc::clone(graph))));
        let other_pieces = counts_piece(graph).chain(rejected_rows(&graph.ranks));
        Ok(Box::new(lists.chain(other_pieces.map(Ok))))
    }
}

fn list_piece<'a>(coded: Coded, graph: Arc<Graph>) -> Piece<'a> {
    Piece {
        bytes: coded.text,
        records: coded.lists,
        memory: url_budget::memory(&coded.bytes, EXPANSION),
        read: Box::new(move |parser| {
            parser.summary.blank_lines += coded.blank;
            read(coded.bytes, 0, graph, parser);
        }),
    }
}

/// Reports the counts of the vertices and the ranks, as a piece without records.
fn counts_piece(graph: &Graph) -> impl Iterator<Item = Piece<'_>> + Send {
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

/// Returns the rejected rows of ranks; those beyond the listed ones are counted.
fn rejected_rows(ranks: &Ranks) -> impl Iterator<Item = Piece<'_>> + Send {
    let listed = ranks.rejected.chunks(PIECE_RECORDS).map(|rows| Piece {
        bytes: 0,
        records: rows.len(),
        memory: size_of_val(rows),
        read: Box::new(move |parser| {
            for row in rows {
                parser.set_file(row.file.clone());
                let at = Position::Line(row.line);
                parser.add(at, Err(row.fault.clone()), &row.text);
            }
        }),
    });
    let counted = ranks.unlisted.iter().map(|(reason, count)| Piece {
        bytes: 0,
        // They become no events.
        records: 0,
        memory: 0,
        read: Box::new(move |parser| {
            parser.summary.records += count;
            *parser.summary.rejects.entry(*reason).or_default() += count;
        }),
    });
    listed.chain(counted)
}

/// Reads the lists from an offset on.
fn read(coded: Vec<u8>, from: usize, graph: Arc<Graph>, parser: &mut PieceParser) {
    let mut names = Names::new(&graph);
    let mut at = from;
    while let Some(list) = gap_code::first(&coded, at) {
        if parser.is_full() {
            drop(names);
            parser.continue_with(move |parser| read(coded, at, graph, parser));
            return;
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
            own: front_coded::Cursor::new(names),
            linked: front_coded::Cursor::new(names),
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
