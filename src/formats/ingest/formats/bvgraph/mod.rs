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

mod checked_decoder;
mod error;
mod link_lists;
mod node_urls;
mod properties;
mod reject_invalid;

use std::path::PathBuf;
use std::sync::Arc;

pub use properties::file as bv_graph_file;

use super::node_graph::gap_code::{self, Numbers};
use super::node_graph::url_budget;
use super::node_graph::{NodeNames, read_list};
use crate::ingest::open::Input;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::progress::Progress;
use crate::ingest::record::Event;
use crate::ingest::reject::Position;
use crate::ingest::source::{
    DEFAULT_HELD_BYTES, Piece, Pieces, Source, Sources, Stop, max_held_bytes,
};
use error::BvGraphError;
use node_urls::{Cursor, NodeUrls};
use properties::Properties;
use seedbank_algorithms::watch::Watch;

/// Bytes of memory for each byte of coded lists: a link takes one or two bytes while its list waits
/// and four when it is parsed, and each URL of a piece is held once.
const EXPANSION: usize = 8;

/// Returns the sources for graphs named by their basenames, which share one list of URLs.
pub(super) fn sources(inputs: &[Input], urls: Option<&Input>) -> Sources {
    let mut sources = Sources::new();
    for input in inputs {
        let basename = match input {
            Input::File(basename) => basename.clone(),
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
            let urls = node_urls::read(list, self.max_held_bytes, watch)?;
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
        let graph = properties::file(&self.basename, "graph");
        Ok(Some(properties::length(&graph)?))
    }

    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        let (urls, max_held_bytes) = (Arc::clone(&self.urls), self.max_held_bytes);
        let pieces = link_lists::Pieces::open(&self.basename, progress)?;
        Ok(Box::new(pieces.map(move |coded| {
            let coded = coded?;
            let urls = Arc::clone(&urls);
            Ok(Piece {
                bytes: coded.bytes.len() as u64,
                records: coded.lists,
                memory: url_budget::memory(&coded.bytes, EXPANSION),
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
    while let Some(list) = gap_code::first(&coded, at) {
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

#[cfg(test)]
mod tests;
