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
use crate::ingest::interner::UrlNumber;
use crate::ingest::location::{Location, Naming, parse};
use crate::ingest::node_urls::NodeUrls;
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
use ranks::{Ranks, RejectedRow};
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
        memory: url_budget::memory(&coded.bytes, EXPANSION),
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
    while let Some(list) = gap_code::first(coded, at) {
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
